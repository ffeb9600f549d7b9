"""Rows of the Extended Events views for sessions of the instance and of users.

Columns: "Extended Events catalog views", "Extended Events dynamic management views" (SQL Server documentation).
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from aglab.twin import deadlocks, health_events, health_session
from aglab.twin.clock import EPOCH
from aglab.twin.traces.catalogue import ACTIONS, EVENTS, TARGETS
from aglab.twin.traces.sessions import EventSession, event_xml, file_xml, ring_xml

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
_SYSTEM_HEALTH = (0x5EA17).to_bytes(8, "big")
_ALWAYSON = (0x5EA18).to_bytes(8, "big")
_PACKAGE = uuid.UUID("655fd93f-3364-40d5-b2ba-330f7ffb6491")  # sqlserver, the same in every version
_RETENTION = {"ALLOW_SINGLE_EVENT_LOSS": "S", "ALLOW_MULTIPLE_EVENT_LOSS": "M", "NO_EVENT_LOSS": "N"}


def _address(session: EventSession) -> bytes:
    return (0x5EB00 + session.id).to_bytes(8, "big")


def _session(address: bytes, name: str, started_s: float) -> Row:
    return {
        "address": address,
        "name": name,
        "pending_buffers": 0,
        "total_regular_buffers": 3,
        "regular_buffer_size": 1310489,
        "total_large_buffers": 0,
        "large_buffer_size": 0,
        "total_buffer_size": 3931467,
        "buffer_policy_flags": 0,
        "buffer_policy_desc": "drop_event",
        "flags": 1,
        "flag_desc": "flush_on_close",
        "dropped_event_count": 0,
        "dropped_buffer_count": 0,
        "blocked_event_fire_time": 0,
        "create_time": EPOCH + dt.timedelta(seconds=started_s),
        "largest_event_dropped_size": 0,
        "session_source": "server",
    }


def dm_sessions(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_xe_sessions: those that run"""
    yield _session(_SYSTEM_HEALTH, "system_health", node.started_s)
    if node.health.running:
        yield _session(_ALWAYSON, health_session.NAME, node.started_s)
    for one in _running(node):
        yield _session(_address(one), one.name, one.started_s)


def _running(node: Node) -> list[EventSession]:
    return [one for one in node.traces.sessions.values() if one.running]


def dm_targets(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_xe_session_targets: ring buffers with their events, files by name"""
    common = {"target_package_guid": uuid.UUID(int=0), "execution_duration_ms": 0}
    yield {
        **common,
        "event_session_address": _SYSTEM_HEALTH,
        "target_name": "ring_buffer",
        "execution_count": len(node.deadlock_reports),
        "target_data": deadlocks.ring_buffer(node),
    }
    files = [(_SYSTEM_HEALTH, health_session.SYSTEM_FILE, len(node.deadlock_reports))]
    files += [(_ALWAYSON, health_session.FILE, len(node.health.events))] if node.health.running else []
    for address, file, count in files:
        yield {
            **common,
            "event_session_address": address,
            "target_name": "event_file",
            "execution_count": count,
            "target_data": f'<EventFileTarget truncated="0"><File name="{file}"/></EventFileTarget>',
        }
    for one in _running(node):
        for target in one.targets:
            yield {
                **common,
                "event_session_address": _address(one),
                "target_name": target,
                "execution_count": len(one.kept.get(target, [])),
                "target_data": ring_xml(one) if target == "ring_buffer" else file_xml(one),
            }


def sessions(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.server_event_sessions"""
    yield from health_session.event_sessions(node, arguments)
    for one in node.traces.sessions.values():
        said = one.options
        mode = said.get("EVENT_RETENTION_MODE", "ALLOW_SINGLE_EVENT_LOSS")
        latency = str(said.get("MAX_DISPATCH_LATENCY", "30 SECONDS"))
        partition = said.get("MEMORY_PARTITION_MODE", "NONE")
        yield {
            "event_session_id": one.id,
            "name": one.name,
            "event_retention_mode": _RETENTION[mode],
            "event_retention_mode_desc": mode,
            "max_dispatch_latency": 0 if latency == "INFINITE" else int(latency.split()[0]),
            "max_memory": _kb(said.get("MAX_MEMORY", "4096 KB")),
            "max_event_size": _kb(said.get("MAX_EVENT_SIZE", "0 KB")),
            "memory_partition_mode": {"NONE": "N", "PER_NODE": "P", "PER_CPU": "C"}[partition],
            "memory_partition_mode_desc": partition,
            "track_causality": bool(said.get("TRACK_CAUSALITY", False)),
            "startup_state": one.startup,
        }


def _kb(text: str) -> int:
    number, _, unit = str(text).partition(" ")
    return int(number) * (1024 if unit == "MB" else 1)


def session_events(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.server_event_session_events"""
    for number, name in enumerate(health_events.EVENTS, 1):
        yield {
            "event_session_id": health_session.SESSION_ID,
            "event_id": number,
            "name": name,
            "package": "ucs" if name.startswith("ucs_") else "sqlserver",
            "module": None,
            "predicate": health_events.PREDICATE if name == "error_reported" else None,
            "predicate_xml": None,
        }
    for one in node.traces.sessions.values():
        for number, event in enumerate(one.events.values(), 1):
            yield {
                "event_session_id": one.id,
                "event_id": number,
                "name": event.name,
                "package": "sqlserver",
                "module": None,
                "predicate": event.where or None,
                "predicate_xml": None,
            }


def session_actions(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.server_event_session_actions"""
    for one in node.traces.sessions.values():
        for number, event in enumerate(one.events.values(), 1):
            for action in event.actions:
                yield {"event_session_id": one.id, "event_id": number, "name": action, "package": "sqlserver", "module": None}


def session_targets(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.server_event_session_targets"""
    for one in node.traces.sessions.values():
        for number, target in enumerate(one.targets, len(one.events) + 1):
            yield {"event_session_id": one.id, "target_id": number, "name": target, "package": "package0", "module": None}


def objects(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_xe_objects: the events, actions and targets that the twin has"""
    for kind, names in (("event", EVENTS), ("action", ACTIONS), ("target", TARGETS)):
        for name in names:
            yield {"name": name, "object_type": kind, "package_guid": _PACKAGE, "description": ""}


def read_file(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.fn_xe_file_target_read_file(path, ...): the events of the files that fit, each file oldest first"""
    yield from health_session.read_file(node, arguments)
    pattern = str(arguments[0] or "") if arguments else ""
    for one in node.traces.sessions.values():
        file = one.file
        if "event_file" not in one.targets or not fnmatch(_leaf(file), _leaf(pattern)):
            continue
        for number, event in enumerate(one.kept.get("event_file", [])):
            yield {
                "object_name": event["name"],
                "event_data": event_xml(event),
                "file_name": file,
                "file_offset": number,
                "timestamp_utc": dt.datetime.fromisoformat(event["at"]),
            }


def _leaf(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].lower()


VIEWS: dict[str, Callable[[Node, tuple[Any, ...]], Iterable[Row]]] = {
    "sys.dm_xe_sessions": dm_sessions,
    "sys.dm_xe_session_targets": dm_targets,
    "sys.dm_xe_objects": objects,
    "sys.server_event_sessions": sessions,
    "sys.server_event_session_events": session_events,
    "sys.server_event_session_actions": session_actions,
    "sys.server_event_session_targets": session_targets,
    "sys.fn_xe_file_target_read_file": read_file,
}
