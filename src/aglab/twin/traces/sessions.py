"""Event sessions of one instance: what each collects, and what its targets have kept.

A ring buffer keeps the newest events up to its limit and is emptied when the session stops; an event file keeps them until its
session is dropped. Source: CREATE EVENT SESSION, "Targets for Extended Events" (SQL Server documentation). Left out: buffers and
dispatch latency: an event is in its targets at once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from aglab.tsql.lexer import tokenize
from aglab.twin.clauses import Clauses
from aglab.twin.traces.catalogue import ACTIONS, EVENTS
from aglab.twin.traces.predicates import Test, predicate

if TYPE_CHECKING:
    from aglab.tsql import Session
    from aglab.twin.node import Node

RING_EVENTS_MAX = 1000  # of a ring_buffer without max_events_limit
FILE_EVENTS_MAX = 20_000
TEXT_MAX = 8000  # characters of a text that an event keeps
FIRST_ID = 65538  # after AlwaysOn_health and system_health
FOLDER = "/var/opt/mssql/log/"


@dataclass
class Watched:
    """An event of a session: its actions, and its predicate as text (compiled when it is first asked)."""

    name: str
    actions: list[str] = field(default_factory=list)
    where: str = ""
    test: Test | None = field(default=None, compare=False, repr=False)

    def wants(self, values: dict[str, Any]) -> bool:
        """Whether the predicate holds."""
        if not self.where:
            return True
        if self.test is None:
            self.test = predicate(Clauses(tokenize(self.where)[:-1]), frozenset([*EVENTS[self.name], *ACTIONS]))
        return self.test(values)


@dataclass
class EventSession:
    """A session: ``targets`` by name with their parameters, ``kept`` by target."""

    id: int
    name: str
    events: dict[str, Watched] = field(default_factory=dict)
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    startup: bool = False
    running: bool = False
    started_s: float = 0.0
    kept: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def start(self, now_s: float) -> None:
        """STATE = START: ring buffers begin empty."""
        self.running, self.started_s = True, now_s
        self.kept["ring_buffer"] = []

    def stop(self) -> None:
        """STATE = STOP: what was in memory is gone, a file stays."""
        self.running = False
        self.kept.pop("ring_buffer", None)

    def keep(self, event: dict[str, Any]) -> None:
        """Give an event to every target."""
        for target, said in self.targets.items():
            book = self.kept.setdefault(target, [])
            book.append(event)
            most = int(said.get("max_events_limit", RING_EVENTS_MAX)) if target == "ring_buffer" else FILE_EVENTS_MAX
            del book[: -most or len(book)]

    @property
    def file(self) -> str:
        """The event file's name as written, with its place in the log folder and the part that a server adds."""
        name = str(self.targets.get("event_file", {}).get("filename", ""))
        stem = name[:-4] if name.lower().endswith(".xel") else name
        return f"{'' if '/' in stem or chr(92) in stem else FOLDER}{stem}_0_133806240000000000.xel"

    def to_dict(self) -> dict[str, Any]:
        """For the state file; ring buffers are memory and are left out."""
        plain = {name: getattr(self, name) for name in ("id", "name", "targets", "options", "startup", "running", "started_s")}
        events = [[one.name, one.actions, one.where] for one in self.events.values()]
        return {**plain, "events": events, "file": self.kept.get("event_file", [])}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> EventSession:
        """The inverse."""
        rest = {key: value for key, value in content.items() if key not in ("events", "file")}
        made = cls(**rest)
        made.events = {name: Watched(name, list(actions), where) for name, actions, where in content["events"]}
        made.kept = {"event_file": list(content["file"])} if content["file"] else {}
        return made


class Traces:
    """The event sessions of an instance."""

    def __init__(self) -> None:
        self.sessions: dict[str, EventSession] = {}
        self.watched: frozenset[str] = frozenset()  # events that a running session collects: nothing else costs anything

    def changed(self) -> None:
        """After a change of any session."""
        running = [one for one in self.sessions.values() if one.running]
        self.watched = frozenset(name for one in running for name in one.events)

    def next_id(self) -> int:
        """A free session id."""
        return max([FIRST_ID - 1, *(one.id for one in self.sessions.values())]) + 1

    def restarted(self, now_s: float) -> None:
        """A start of the instance: only sessions with STARTUP_STATE = ON run."""
        for one in self.sessions.values():
            one.stop()
            if one.startup:
                one.start(now_s)
        self.changed()

    def note(self, node: Node, session: Session, name: str, **values: Any) -> None:
        """Raise an event: keep it where a running session collects it and its predicate holds."""
        actions = {action: read(node, session) for action, read in ACTIONS.items()}
        for one in self.sessions.values():
            watched = one.events.get(name) if one.running else None
            if watched is None or not watched.wants({**actions, **values}):
                continue
            fields = {key: _cut(value) for key, value in values.items()}
            taken = {action: _cut(actions[action]) for action in watched.actions}
            one.keep({"name": name, "at": node.now().isoformat(), "fields": fields, "actions": taken})

    def to_list(self) -> list[dict[str, Any]]:
        """For the state file."""
        return [one.to_dict() for one in self.sessions.values()]

    @classmethod
    def from_list(cls, content: list[dict[str, Any]]) -> Traces:
        """The inverse."""
        made = cls()
        made.sessions = {one["name"].lower(): EventSession.from_dict(one) for one in content}
        made.changed()
        return made


def _cut(value: Any) -> Any:
    return value[:TEXT_MAX] if isinstance(value, str) and not value.startswith("<ShowPlanXML") else value


def event_xml(event: dict[str, Any]) -> str:
    """One event as targets show it."""
    stamp = dt.datetime.fromisoformat(event["at"]).isoformat(timespec="milliseconds")
    inside = "".join(_part("data", event["fields"])) + "".join(_part("action", event["actions"]))
    return f'<event name={quoteattr(event["name"])} package="sqlserver" timestamp="{stamp}Z">{inside}</event>'


def _part(tag: str, values: dict[str, Any]) -> Iterator[str]:
    package = ' package="sqlserver"' if tag == "action" else ""
    for name, value in values.items():
        shown = value if name == "showplan_xml" else escape(str(int(value) if isinstance(value, bool) else value))
        yield f"<{tag} name={quoteattr(name)}{package}><value>{shown}</value></{tag}>"


def ring_xml(session: EventSession) -> str:
    """What sys.dm_xe_session_targets shows of a ring buffer."""
    events = session.kept.get("ring_buffer", [])
    inside = "".join(event_xml(one) for one in events)
    return f'<RingBufferTarget truncated="0" eventCount="{len(events)}" eventsPerSec="0">{inside}</RingBufferTarget>'


def file_xml(session: EventSession) -> str:
    """What sys.dm_xe_session_targets shows of an event file."""
    return f'<EventFileTarget truncated="0"><File name={quoteattr(session.file)}/></EventFileTarget>'
