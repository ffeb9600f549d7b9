"""What a deadlock leaves behind: trace flags 1204 and 1222 in the errorlog, and the report that system_health keeps.

Every deadlock is kept as an ``xml_deadlock_report`` in the ring buffer of the session system_health
(sys.dm_xe_session_targets), as SQL Server does without being asked. With trace flag 1222, 1204 or both on globally it is written
to the errorlog too, a line at a time. Left out, because the twin has no such thing: addresses of owners and tasks, the
transaction's XDES, statement offsets and SQL handles. A frame's statement is the line it begins on. The forms are those of
"Deadlocks guide" in SQL Server's documentation, sections on trace flags 1204 and 1222 and on the deadlock graph; not compared
with a real server.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from aglab.tsql.locks import Deadlock, Participant, Resource
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.tsql.session import Session
    from aglab.twin.node import Node

REPORTS_KEPT = 100
TEXT_MAX = 4000
_ISOLATION = {1: "read uncommitted", 2: "read committed", 3: "repeatable read", 4: "serializable", 5: "snapshot"}
_KINDS = {"KEY": "keylock", "RID": "ridlock", "OBJECT": "objectlock", "APPLICATION": "applicationlock"}
Pairs = dict[str, object]


def note(node: Node, deadlock: Deadlock) -> None:
    """Keep the report, and write what the trace flags ask for."""
    node.deadlock_reports = [*node.deadlock_reports[1 - REPORTS_KEPT :], (node.now(), xml(node, deadlock))]
    flags = node.instance.trace_flags
    lines = list_1222(node, deadlock) if 1222 in flags else []
    if 1204 in flags:
        lines += graph_1204(node, deadlock)
    for line in lines:
        node.log_line(line, "spid23s")


def list_1222(node: Node, deadlock: Deadlock) -> list[str]:
    """Trace flag 1222: first the victim, then processes, then resources."""
    lines = ["deadlock-list", f" deadlock victim={_process_id(deadlock.victim)}", "  process-list"]
    for one in deadlock.participants:
        session = node.instance.sessions[one.spid]
        lines.append("   process " + _plain(_process(node, one, session)))
        lines += ["    executionStack", f"     frame {_plain(_frame(session))}", f"     {_statement(node, session)}"]
        lines += ["    inputbuf", *(f"     {text}" for text in _input(session).splitlines())]
    lines.append("  resource-list")
    for one in _by_resource(deadlock):
        lines.append(f"   {_KINDS.get(one.resource.kind, 'lock')} {_plain(_resource(node, one))}")
        lines.append("    owner-list")
        lines += [f"     owner id={_process_id(spid)} mode={mode}" for spid, mode in one.owners]
        lines.append("    waiter-list")
        lines += [
            f"     waiter id={_process_id(w.spid)} mode={w.mode} requestType=wait" for w in _waiters(deadlock, one.resource)
        ]
    return lines


def graph_1204(node: Node, deadlock: Deadlock) -> list[str]:
    """Trace flag 1204: one node for each resource of the cycle, the victim last."""
    lines = ["Deadlock encountered .... Printing deadlock information", "Wait-for graph"]
    for number, one in enumerate(deadlock.participants, 1):
        lines += [f"Node:{number}", f"{one.resource.description()} Mode:{one.owners[0][1] if one.owners else one.mode}"]
        for spid, mode in one.owners:
            owner = node.instance.sessions[spid]
            lines += [
                " Grant List 0:",
                f"   Owner: Mode: {mode} SPID:{spid} ECID:0",
                f"   SPID: {spid} ECID: 0 Statement Type: {owner.command} Line #: {owner.frame[1]}",
                f"   Input Buf: Language Event: {_input(owner)}",
            ]
        lines += [" Requested By:", f"   {_requester(node, one)}"]
    victim = next(one for one in deadlock.participants if one.spid == deadlock.victim)
    return [*lines, "Victim Resource Owner:", f" {_requester(node, victim)}"]


def xml(node: Node, deadlock: Deadlock) -> str:
    """The deadlock graph as ``xml_deadlock_report`` carries it."""
    out = ["<deadlock>", f'<victim-list><victimProcess id="{_process_id(deadlock.victim)}"/></victim-list>', "<process-list>"]
    for one in deadlock.participants:
        session = node.instance.sessions[one.spid]
        out.append(f"<process{_attributes(_process(node, one, session))}><executionStack>")
        out.append(f"<frame{_attributes(_frame(session))}>{escape(_statement(node, session))}</frame></executionStack>")
        out.append(f"<inputbuf>{escape(_input(session))}</inputbuf></process>")
    out.append("</process-list><resource-list>")
    for one in _by_resource(deadlock):
        kind = _KINDS.get(one.resource.kind, "lock")
        owners = "".join(f'<owner id="{_process_id(spid)}" mode="{mode}"/>' for spid, mode in one.owners)
        waiters = "".join(
            f'<waiter id="{_process_id(w.spid)}" mode="{w.mode}" requestType="wait"/>' for w in _waiters(deadlock, one.resource)
        )
        out.append(f"<{kind}{_attributes(_resource(node, one))}><owner-list>{owners}</owner-list>")
        out.append(f"<waiter-list>{waiters}</waiter-list></{kind}>")
    return "".join([*out, "</resource-list></deadlock>"])


def event_xml(moment: dt.datetime, report: str) -> str:
    """One report as an event."""
    return (
        f'<event name="xml_deadlock_report" package="sqlserver" timestamp="{_utc(moment)}"><data name="xml_report">'
        f'<type name="xml" package="package0"/><value>{report}</value></data></event>'
    )


def ring_buffer(node: Node) -> str:
    """The events of system_health's ring buffer: deadlocks, then what the health check and long waits left."""
    from aglab.twin.health_session import event_xml as written

    events = "".join(event_xml(moment, report) for moment, report in node.deadlock_reports)
    others = node.system_health.events
    events += "".join(written(one, EPOCH + dt.timedelta(seconds=one["at_s"])) for one in others)
    count = len(node.deadlock_reports) + len(others)
    return f'<RingBufferTarget truncated="0" eventCount="{count}" eventsPerSec="0">{events}</RingBufferTarget>'


def _by_resource(deadlock: Deadlock) -> list[Participant]:
    return list({one.resource: one for one in deadlock.participants}.values())


def _waiters(deadlock: Deadlock, resource: Resource) -> list[Participant]:
    return [one for one in deadlock.participants if one.resource == resource]


def _process_id(spid: int) -> str:
    return f"process{spid:x}"


def _process(node: Node, one: Participant, session: Session) -> Pairs:
    transaction = session.transaction
    database = node.instance.database(session.database)
    waited = 0 if not session.wait_type else round((node.now_s() - session.wait_started_s) * 1000)
    isolation = session.options.isolation
    timeout = session.options.lock_timeout_ms
    return {
        "id": _process_id(one.spid),
        "taskpriority": 0,
        "logused": transaction.log_bytes if transaction else 0,
        "waitresource": one.resource.description(),
        "waittime": waited,
        "ownerId": transaction.id if transaction else 0,
        "transactionname": (transaction.name or "user_transaction") if transaction and transaction.explicit else session.command,
        "lasttranstarted": _stamp(EPOCH + dt.timedelta(seconds=transaction.began_s)) if transaction else "",
        "lockMode": one.mode,
        "status": "suspended",
        "spid": one.spid,
        "sbid": 0,
        "ecid": 0,
        "priority": session.options.deadlock_priority,
        "trancount": session.trancount,
        "lastbatchstarted": _stamp(session.last_request_start),
        "lastbatchcompleted": _stamp(session.last_request_end),
        "clientapp": session.program_name,
        "hostname": session.host_name,
        "loginname": session.login,
        "isolationlevel": f"{_ISOLATION[isolation]} ({isolation})",
        "currentdb": database.id if database else 0,
        "currentdbname": session.database,
        "lockTimeout": timeout if timeout >= 0 else 4294967295,
    }


def _frame(session: Session) -> Pairs:
    procedure, line = session.frame
    return {"procname": f"{session.database}.{_qualified(procedure)}" if procedure else "adhoc", "line": line}


def _qualified(procedure: str) -> str:
    return procedure if "." in procedure else f"dbo.{procedure}"


def _statement(node: Node, session: Session) -> str:
    """The line that the statement begins on."""
    procedure, line = session.frame
    text = session.current_text
    if procedure:
        database = node.instance.database(session.database)
        schema, _, name = _qualified(procedure).partition(".")
        found = database.find(schema, name) if database else None
        text = getattr(found, "text", "")
    lines = text.splitlines()
    return lines[line - 1].strip()[:TEXT_MAX] if 0 < line <= len(lines) else "unknown"


def _resource(node: Node, one: Participant) -> Pairs:
    resource = one.resource
    mode = one.owners[0][1] if one.owners else one.mode
    database = next((found for found in node.instance.databases.values() if found.id == resource.database_id), None)
    table = next((found for found in database.tables() if found.id == resource.object_id), None) if database else None
    name = f"{database.name if database else ''}.{table.full_name if table else resource.object_id}"
    pairs: Pairs = {"dbid": resource.database_id, "objectname": name}
    if resource.kind == "KEY":
        index = table.clustered if table else None
        pairs = {"hobtid": _hobt(resource, 1), **pairs, "indexname": index.name if index else ""}
    pairs |= {"id": f"lock{resource.object_id:x}{resource.key if isinstance(resource.key, str) else f'{resource.key:x}'}"}
    return pairs | {"mode": mode, "associatedObjectId": _hobt(resource, 1 if resource.kind == "KEY" else 0)}


def _hobt(resource: Resource, index_id: int) -> int:
    """As sys.partitions shows it."""
    return 72057594000000000 + resource.object_id * 16 + index_id


def _requester(node: Node, one: Participant) -> str:
    session = node.instance.sessions[one.spid]
    used = session.transaction.log_bytes if session.transaction else 0
    return f"ResType:LockOwner Mode: {one.mode} SPID:{one.spid} ECID:0 Cost:({session.options.deadlock_priority}/{used})"


def _input(session: Session) -> str:
    return session.current_text.strip()[:TEXT_MAX]


def _plain(pairs: Pairs) -> str:
    return " ".join(f"{name}={value}" for name, value in pairs.items())


def _attributes(pairs: Pairs) -> str:
    return "".join(f" {name}={quoteattr(str(value))}" for name, value in pairs.items())


def _stamp(moment: dt.datetime | None) -> str:
    return "1900-01-01T00:00:00" if moment is None else moment.isoformat(timespec="milliseconds")


def _utc(moment: dt.datetime) -> str:
    return moment.isoformat(timespec="milliseconds") + "Z"
