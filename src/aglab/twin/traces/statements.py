"""CREATE, ALTER and DROP EVENT SESSION ... ON SERVER.

Errors 15151, 25623, 25625, 25629, 25631, 25642, 25653, 25704, 25705 as "Database Engine events and errors (23000 to 25999)" gives
them; 25623 names the object as package.name. What a server says of an option that it does not know is not confirmed: 155 here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session
from aglab.tsql.messages import error, not_implemented
from aglab.twin import health_session
from aglab.twin.clauses import Clauses
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import clauses_of
from aglab.twin.traces.catalogue import ACTIONS, CUSTOMIZABLE, EVENTS, TARGETS
from aglab.twin.traces.predicates import predicate
from aglab.twin.traces.sessions import EventSession, Watched

if TYPE_CHECKING:
    from aglab.twin.node import Node

SYSTEM = ("system_health", "alwayson_health")
PACKAGES = ("sqlserver", "package0")


def _size(reader: Clauses) -> str:
    value = str(reader.number())
    for unit in ("KB", "MB", "SECONDS", "MINUTES"):
        if reader.accept(unit):
            return f"{value} {unit}"
    return value


_OPTIONS = {
    "MAX_MEMORY": _size,
    "EVENT_RETENTION_MODE": lambda one: one.choice("ALLOW_SINGLE_EVENT_LOSS", "ALLOW_MULTIPLE_EVENT_LOSS", "NO_EVENT_LOSS"),
    "MAX_DISPATCH_LATENCY": lambda one: "INFINITE" if one.accept("INFINITE") else _size(one),
    "MAX_EVENT_SIZE": _size,
    "MEMORY_PARTITION_MODE": lambda one: one.choice("NONE", "PER_NODE", "PER_CPU"),
    "TRACK_CAUSALITY": Clauses.switch,
    "STARTUP_STATE": Clauses.switch,
}


def create(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE EVENT SESSION name ON SERVER ADD EVENT ... [ADD TARGET ...] [WITH (...)]"""
    reader, traces = clauses_of(command), node.traces
    made = EventSession(traces.next_id(), reader.name())
    _on_server(reader)
    if made.name.lower() in traces.sessions or made.name.lower() in SYSTEM:
        raise error(25631, "event session", made.name)
    if not reader.at("ADD", "EVENT"):
        raise reader.wrong()
    _clauses(reader, made, command.name)
    traces.sessions[made.name.lower()] = made
    return _kept(node)


def alter(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER EVENT SESSION name ON SERVER ADD | DROP EVENT | TARGET ... | WITH (...) | STATE = START | STOP"""
    reader = clauses_of(command)
    name = reader.name()
    if name.lower() == health_session.NAME.lower():
        return health_session.alter_event_session(node, command, session)
    found = _found(node, name, "alter")
    _on_server(reader)
    if reader.accept("STATE", "="):
        state = reader.choice("START", "STOP")
        reader.end()
        if found.running == (state == "START"):
            raise error(25705 if found.running else 25704)
        found.start(node.now_s()) if state == "START" else found.stop()
    else:
        if reader.token is None:
            raise reader.wrong()
        draft = EventSession.from_dict(found.to_dict())
        draft.kept = found.kept
        _clauses(reader, draft, command.name)
        node.traces.sessions[found.name.lower()] = draft
    return _kept(node)


def drop(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP EVENT SESSION name ON SERVER"""
    reader = clauses_of(command)
    name = reader.name()
    if name.lower() in SYSTEM:
        raise not_implemented(f"DROP EVENT SESSION {name} (a session of the instance itself)")
    found = _found(node, name, "drop")
    _on_server(reader)
    reader.end()
    del node.traces.sessions[found.name.lower()]
    return _kept(node)


def _kept(node: Node) -> Iterator[Any]:
    node.traces.changed()
    node.listen()
    node.cluster.dirty = True
    yield from ()


def _found(node: Node, name: str, verb: str) -> EventSession:
    found = node.traces.sessions.get(name.lower())
    if found is None:
        raise refusal(15151, verb, "event session", name)
    return found


def _on_server(reader: Clauses) -> None:
    reader.expect("ON")
    if reader.accept("DATABASE"):
        raise not_implemented("EVENT SESSION ... ON DATABASE (SQL Server has them ON SERVER)")
    reader.expect("SERVER")


def _clauses(reader: Clauses, made: EventSession, what: str) -> None:
    while reader.token is not None and not reader.at(";"):
        if reader.accept("ADD", "EVENT"):
            _event(reader, made)
        elif reader.accept("ADD", "TARGET"):
            _target(reader, made)
        elif reader.accept("DROP", "EVENT"):
            _drop(made.events, "event", _object(reader, "event", EVENTS))
        elif reader.accept("DROP", "TARGET"):
            _drop(made.targets, "target", _object(reader, "target", TARGETS))
        elif reader.accept("WITH"):
            made.options |= reader.options(_OPTIONS, what)
            made.startup = bool(made.options.get("STARTUP_STATE", made.startup))
        else:
            raise reader.wrong()
        reader.accept(",")
    reader.end()
    if not made.events:
        raise reader.wrong()


def _drop(book: dict[str, Any], kind: str, name: str) -> None:
    if name not in book:
        raise error(25653, kind, name)
    del book[name]


def _object(reader: Clauses, kind: str, known: Any) -> str:
    """package.name of an event, action or target. Error 25623."""
    package = reader.name()
    reader.expect(".")
    name = reader.name()
    if package.lower() not in PACKAGES or name.lower() not in known:
        raise error(25623, kind, f"{package}.{name}")
    return name.lower()


def _event(reader: Clauses, made: EventSession) -> None:
    name = _object(reader, "event", EVENTS)
    if name in made.events:
        raise error(25625, "event", name)
    watched = Watched(name)
    if reader.accept("("):
        if reader.accept("SET"):
            reader.listed(lambda: _attribute(reader, name))
        if reader.accept("ACTION"):
            reader.expect("(")
            watched.actions = reader.listed(lambda: _object(reader, "action", ACTIONS))
            reader.expect(")")
        if reader.accept("WHERE"):
            first = reader.place
            predicate(reader, frozenset([*EVENTS[name], *ACTIONS]))
            watched.where = " ".join(_written(token) for token in reader.tokens[first : reader.place])
        reader.expect(")")
    made.events[name] = watched


def _written(token: Any) -> str:
    """A token as text that reads back the same."""
    from aglab.tsql.lexer import NATIONAL, QUOTED, STRING

    if token.kind in (STRING, NATIONAL):
        return "N'" + str(token.value).replace("'", "''") + "'"
    return f"[{str(token.value).replace(']', ']]')}]" if token.kind == QUOTED else str(token.value)


def _attribute(reader: Clauses, event: str) -> None:
    name = reader.name()
    if name.lower() not in CUSTOMIZABLE:
        raise error(25629, "event", event, name)
    reader.expect("=")
    bracket = reader.accept("(")
    reader.number()
    if bracket:
        reader.expect(")")


def _target(reader: Clauses, made: EventSession) -> None:
    name = _object(reader, "target", TARGETS)
    if name in made.targets:
        raise error(25625, "target", name)
    said: dict[str, Any] = {}
    if reader.accept("("):
        reader.expect("SET")
        for key, value in reader.listed(lambda: _parameter(reader, name)):
            said[key] = value
        reader.expect(")")
    if name == "event_file" and "filename" not in said:
        raise error(25642, "target", name)
    made.targets[name] = said


def _parameter(reader: Clauses, target: str) -> tuple[str, Any]:
    name = reader.name()
    if name.lower() not in TARGETS[target]:
        raise error(25629, "target", target, name)
    reader.expect("=")
    bracket = reader.accept("(")
    value: Any = reader.text() if name.lower() == "filename" else reader.number()
    if bracket:
        reader.expect(")")
    return name.lower(), value


COMMANDS = {"CREATE EVENT SESSION": create, "ALTER EVENT SESSION": alter, "DROP EVENT SESSION": drop}
