"""The Extended Events session AlwaysOn_health: started or not, started with the instance or not, and the events in its file.

Which events are raised: :mod:`aglab.twin.health_events`. The file of system_health has its deadlock graphs, waits that took long,
and what the health check found when a component turned ill or well; the checks every five minutes that find all well leave
nothing here. Sources: "Extended Events for availability groups", sys.fn_xe_file_target_read_file, ALTER EVENT SESSION (SQL Server
documentation). Every instance has the session; it is stopped until somebody starts it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from aglab.tsql import Command, Session
from aglab.tsql.messages import not_implemented
from aglab.twin import deadlocks
from aglab.twin.clauses import Clauses
from aglab.twin.clock import EPOCH
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.twin.node import Node

NAME = "AlwaysOn_health"
SESSION_ID = 65536
SYSTEM_FILE = "/var/opt/mssql/log/system_health_0_133806240000000000.xel"
FILE = "/var/opt/mssql/log/AlwaysOn_health_0_133806240000000000.xel"
EVENTS_MAX = 1000
Row = dict[str, Any]


@dataclass
class HealthSession:
    """State of the session on one instance; an event is its name, its time and its fields."""

    running: bool = False
    startup: bool = False
    events: list[dict[str, Any]] = field(default_factory=list)

    def note(self, name: str, fields: dict[str, object], at_s: float) -> None:
        """Keep an event, the newest :data:`EVENTS_MAX`, while the session runs."""
        if self.running:
            kept = {key: [str(one) for one in value] if isinstance(value, tuple) else str(value) for key, value in fields.items()}
            self.events.append({"name": name, "at_s": at_s, "fields": kept})
            del self.events[:-EVENTS_MAX]

    def to_dict(self) -> dict[str, Any]:
        """For the state file."""
        return asdict(self)


def alter_event_session(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER EVENT SESSION AlwaysOn_health ON SERVER WITH (STARTUP_STATE = ON | OFF) | STATE = START | STOP"""
    reader = clauses_of(command)
    name = reader.name()
    reader.expect("ON", "SERVER")
    if name.lower() != NAME.lower():
        raise refusal(15151, "alter", "event session", name)
    while not (reader.token is None or reader.at(";")):
        if reader.accept("WITH"):
            said = reader.options({"STARTUP_STATE": Clauses.switch}, "ALTER EVENT SESSION")
            node.health.startup = said["STARTUP_STATE"]
        elif reader.accept("STATE", "="):
            node.health.running = reader.choice("START", "STOP") == "START"
        else:
            raise not_implemented("ALTER EVENT SESSION ... ADD or DROP")
    reader.end()
    node.cluster.dirty = True
    yield from ()


def event_sessions(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.server_event_sessions"""
    for number, (name, startup) in enumerate(((NAME, node.health.startup), ("system_health", True)), start=65536):
        yield {
            "event_session_id": number,
            "name": name,
            "event_retention_mode": "S",
            "event_retention_mode_desc": "ALLOW_SINGLE_EVENT_LOSS",
            "max_dispatch_latency": 30,
            "max_memory": 4096,
            "max_event_size": 0,
            "memory_partition_mode": "N",
            "memory_partition_mode_desc": "NONE",
            "track_causality": False,
            "startup_state": startup,
        }


def read_file(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.fn_xe_file_target_read_file(path, ...): the events of AlwaysOn_health, oldest first"""
    pattern = str(arguments[0] or "") if arguments else ""
    if fnmatch(SYSTEM_FILE.rsplit("/", 1)[-1].lower(), pattern.rsplit("/", 1)[-1].lower()):
        for number, (moment, report) in enumerate(node.deadlock_reports):
            yield {
                "object_name": "xml_deadlock_report",
                "event_data": deadlocks.event_xml(moment, report),
                "file_name": SYSTEM_FILE,
                "file_offset": number,
                "timestamp_utc": moment,
            }
        yield from _rows(node.system_health, SYSTEM_FILE)
    if not fnmatch(FILE.rsplit("/", 1)[-1].lower(), pattern.rsplit("/", 1)[-1].lower()):
        return
    yield from _rows(node.health, FILE)


def _rows(session: HealthSession, file: str) -> Iterator[Row]:
    for number, event in enumerate(session.events):
        at = EPOCH + dt.timedelta(seconds=event["at_s"])
        yield {
            "object_name": event["name"],
            "event_data": event_xml(event, at),
            "file_name": file,
            "file_offset": number,
            "timestamp_utc": at,
        }


def event_xml(event: dict[str, Any], at: dt.datetime) -> str:
    """An event as XML; a field of a map has a number and its text."""
    data = "".join(f"<data name={quoteattr(key)}>{_value(key, value)}</data>" for key, value in event["fields"].items())
    stamp = at.isoformat(timespec="milliseconds")
    return f'<event name={quoteattr(event["name"])} package="sqlserver" timestamp="{stamp}Z">{data}</event>'


def _value(key: str, value: Any) -> str:
    if isinstance(value, list):
        return f"<value>{escape(value[0])}</value><text>{escape(value[1])}</text>"
    return f"<value>{value if key == 'data' else escape(value)}</value>"  # data is XML already
