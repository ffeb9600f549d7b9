"""What availability groups raise for the session AlwaysOn_health, from the rules' effects and from statements.

Events and fields: "Configure extended events for availability groups" (SQL Server documentation); which events and error numbers
the session has: its definition as scripted on servers. ``availability_replica_automatic_failover_validation`` comes from the
rules, ``alwayson_ddl_executed`` from statements; errors are those lines of the errorlog that the session's predicate names. A
primary notes its partners' states (``hadr_db_partner_set_sync_state``: fields and the words of its maps as seen in public event
files), a component that turned ill leaves ``sp_server_diagnostics_component_result`` (:mod:`aglab.twin.faults`). Not raised,
because nothing here causes them: ``lock_redo_blocked`` (redo does not wait for readers), ``ucs_connection_setup`` and
``hadr_trace_message``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.ag import MESSAGES
from aglab.ag.effects import LogLine, SessionEvent
from aglab.ag.spec import SyncState
from aglab.tsql import Command, Session, TsqlError
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node

EVENTS = tuple(
    "alwayson_ddl_executed availability_group_lease_expired availability_replica_automatic_failover_validation "
    "availability_replica_manager_state_change availability_replica_state availability_replica_state_change error_reported "
    "hadr_db_partner_set_sync_state hadr_trace_message lock_redo_blocked sp_server_diagnostics_component_result "
    "ucs_connection_setup".split()
)
LEASE_EXPIRED = 19407
_NUMBERS = (
    *(9691, 35204, 9693, 26024, 28047, 26023, 9692, 28034, 28036, 28048, 28080, 28091, 26022, 9642, 35201, 35202, 35206, 35207),
    *(26069, 26070, 41142, 41144, 1480, 823, 824, 829, 35264, 35265),
)
ERRORS = frozenset([*_NUMBERS, *range(41048, 41056)])
PREDICATE = " OR ".join([*(f"[error_number]=({one})" for one in _NUMBERS), "[error_number]>(41047) AND [error_number]<(41056)"])


def from_effect(group: Availability, effect: Any) -> Iterator[tuple[str, dict[str, object]]]:
    """Events that an effect raises on its node."""
    rules = group.rules
    ids: dict[str, object] = {
        "availability_group_id": str(rules.id).upper(),
        "availability_group_name": rules.name,
    }
    if isinstance(effect, SessionEvent):
        yield effect.name, {**ids, "availability_replica_id": str(rules.replica_id(effect.node)).upper(), **effect.fields}
    elif isinstance(effect, LogLine):
        if effect.number == LEASE_EXPIRED:
            yield "availability_group_lease_expired", ids
        if effect.number in ERRORS:
            yield "error_reported", error_fields(effect.number, MESSAGES[effect.number][0], effect.text)


def partner_state(group: Availability, effect: Any) -> None:
    """hadr_db_partner_set_sync_state on the primary: what it knows of a secondary's copy, and whether commits wait for it."""
    rules = group.rules
    primary = rules.primary()
    node = group.cluster.nodes.get(primary or "")
    if primary is None or node is None or effect.node == primary:
        return
    database = node.instance.database(effect.database)
    copy = rules.nodes[effect.node].databases.get(effect.database)
    waits = (2, "WaitForHarden")
    nothing = (0, "DoNothing")
    moves = effect.new in (SyncState.SYNCHRONIZED, SyncState.SYNCHRONIZING)
    fields: dict[str, object] = {
        "database_id": database.id if database is not None else 0,
        "commit_policy": waits if effect.new == SyncState.SYNCHRONIZED else nothing,
        "commit_policy_target": waits if rules.commits_synchronously(rules.nodes[effect.node]) else nothing,
        "sync_state": (2, "LOG") if moves else (1, "NOT"),
        "sync_log_block": copy.known_hardened if copy is not None else 0,
        "group_id": str(rules.id).upper(),
        "replica_id": str(rules.replica_id(effect.node)).upper(),
        "ag_database_id": str(rules.database_id(effect.database)).upper(),
    }
    node.note_event("hadr_db_partner_set_sync_state", fields, rules.now_s)


def error_fields(number: int, severity: int, text: str) -> dict[str, object]:
    """Fields of ``error_reported``."""
    return {
        "error_number": number,
        "severity": severity,
        "state": 1,
        "user_defined": False,
        "category": "SERVER",
        "destination": "USER",
        "is_intercepted": False,
        "message": text,
    }


def manager(node: Node, state: str) -> None:
    """availability_replica_manager_state_change, where the instance has HADR on."""
    if node.hadr_enabled:
        node.note_event("availability_replica_manager_state_change", {"current_state": state}, node.cluster.clock.now_s)


Handler = Callable[["Node", Command, Session], Iterator[Any]]


def told(handler: Handler) -> Handler:
    """A statement of availability groups, with ``alwayson_ddl_executed`` at its beginning and at its end."""

    def run(node: Node, command: Command, session: Session) -> Iterator[Any]:
        if not node.health.running:
            yield from handler(node, command, session)
            return
        note = _noter(node, command)
        note("BEGIN")
        try:
            yield from handler(node, command, session)
        except TsqlError:
            note("ROLLBACK")
            raise
        note("COMMIT")

    return run


def _noter(node: Node, command: Command) -> Callable[[str], None]:
    action = command.name.split()[0]
    reader = clauses_of(command)
    if command.name == "ALTER DATABASE SET HADR":
        group = next((one for one in node.cluster.groups.here(node.name) if one.holds(command.target) is not None), None)
        name = group.name if group is not None else ""
        statement = f"ALTER DATABASE [{command.target}] SET HADR"
    else:
        name = str(reader.token.value) if reader.token is not None else ""
        statement = " ".join([command.name, *(_written(one) for one in reader.tokens)])

    def note(phase: str) -> None:
        found = node.cluster.groups.on(node.name, name)
        fields: dict[str, object] = {
            "ddl_action": action,
            "ddl_phase": phase,
            "statement": command.text or statement,
            "availability_group_id": str(found.rules.id).upper() if found is not None else "00000000-0000-0000-0000-000000000000",
            "availability_group_name": name,
        }
        node.note_event("alwayson_ddl_executed", fields, node.cluster.clock.now_s)

    return note


def _written(token: Any) -> str:
    from aglab.tsql.lexer import NATIONAL, QUOTED, STRING

    if token.kind == QUOTED:
        return f"[{token.value}]"
    if token.kind in (STRING, NATIONAL):
        return f"N'{token.value}'" if token.kind == NATIONAL else f"'{token.value}'"
    return str(token.value)
