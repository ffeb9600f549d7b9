"""What msdb's procedures of schedules do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Session, error, not_implemented
from aglab.twin.agent import schedules
from aglab.twin.agent.finding import job_of, owner_of, schedule_of

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
_TIMES = {
    "enabled": 1,
    "freq_type": 1,
    "freq_interval": 0,
    "freq_subday_type": 0,
    "freq_subday_interval": 0,
    "freq_relative_interval": 0,
    "freq_recurrence_factor": 0,
    "active_start_date": None,
    "active_end_date": 99991231,
    "active_start_time": 0,
    "active_end_time": 235959,
}


def _times(given: Row, now: int) -> Row:
    found: dict[str, Any] = {key: given.get(key, default) for key, default in _TIMES.items()}
    found["active_start_date"] = found["active_start_date"] or now
    kind = found["freq_type"]
    if kind in (32, 128):
        raise not_implemented(f"schedules of @freq_type {kind} ({'monthly relative' if kind == 32 else 'when the CPU is idle'})")
    if kind not in schedules.KNOWN:
        raise error(14266, "@freq_type", "0x1, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80")
    if found["freq_subday_type"] not in (0, 1, 2, 4, 8):
        raise error(14266, "@freq_subday_type", "0x1, 0x2, 0x4, 0x8")
    low, high = {4: (1, 2**31), 8: (1, 127), 16: (1, 31)}.get(kind, (0, 2**31))
    if not low <= found["freq_interval"] <= high:
        raise error(14278, f"@freq_interval must be at least {low}" + (f" and at most {high}" if high < 2**31 else ""))
    for key in ("active_start_date", "active_end_date"):
        if schedules.date_of(found[key]) is None:
            raise error(14287, f"@{key}", "date")
    for key in ("active_start_time", "active_end_time"):
        if schedules.seconds_of(found[key]) is None:
            raise error(14287, f"@{key}", "time")
    return found


def _new_schedule(node: Node, session: Session, name: str, given: Row, made: Row) -> Row:
    if not name.strip():
        raise error(14287, "@schedule_name", "value")
    times = _times(given, schedules.date_number(node.now()))
    number, uid = node.agent.new_id(node, "schedule")
    owner = owner_of(node, session, given)
    one = {"id": number, "uid": uid, "name": name, "owner": owner, "created_s": node.now_s(), **times}
    node.agent.schedules.append(one)
    made["SCHEDULE_ID"], made["SCHEDULE_UID"] = number, uuid.UUID(uid)
    return one


def _add_schedule(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    _new_schedule(node, session, str(given.get("schedule_name", "")), given, made)
    yield from ()


def _add_job_schedule(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    job["schedules"].append(_new_schedule(node, session, str(given.get("name", "")), given, made)["id"])
    yield from ()


def _update_schedule(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    one = schedule_of(node, given, "name")
    one.update(_times({key: one[key] for key in _TIMES} | given, one["active_start_date"]))
    one["name"] = str(given.get("new_name", one["name"]))
    yield from ()


def _attach(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job, one = job_of(node, session, given), schedule_of(node, given)
    if one["id"] not in job["schedules"]:
        job["schedules"].append(one["id"])
    yield from ()


def _detach(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job, one = job_of(node, session, given), schedule_of(node, given)
    if one["id"] not in job["schedules"]:
        raise error(14374, one["name"], job["name"])
    job["schedules"].remove(one["id"])
    if int(given.get("delete_unused_schedule", 0)) and not any(one["id"] in other["schedules"] for other in node.agent.jobs):
        node.agent.schedules.remove(one)
    yield from ()


def _delete_schedule(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    one = schedule_of(node, given)
    users = [job for job in node.agent.jobs if one["id"] in job["schedules"]]
    if users and not int(given.get("force_delete", 0)):
        raise error(14372)
    for job in users:
        job["schedules"].remove(one["id"])
    node.agent.schedules.remove(one)
    yield from ()


PROCEDURES = {
    "sp_add_schedule": _add_schedule,
    "sp_add_jobschedule": _add_job_schedule,
    "sp_update_schedule": _update_schedule,
    "sp_attach_schedule": _attach,
    "sp_detach_schedule": _detach,
    "sp_delete_schedule": _delete_schedule,
}
