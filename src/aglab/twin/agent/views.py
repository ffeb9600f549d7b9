"""msdb's tables of jobs."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.twin.agent.schedules import date_number, duration_number, time_number
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
SESSION = 1  # msdb.dbo.syssessions: each start of the Agent is one; the twin counts none


def _at(seconds: float | None) -> dt.datetime | None:
    return None if seconds is None else EPOCH + dt.timedelta(seconds=round(seconds, 3))


def _run(last: Row | None) -> tuple[int, int, int]:
    """Date, time and duration of a last run, as numbers; zeros before the first."""
    if not last:
        return 0, 0, 0
    moment = EPOCH + dt.timedelta(seconds=last["at_s"])
    return date_number(moment), time_number(moment), duration_number(last["seconds"])


def sysjobs(node: Node) -> Iterator[Row]:
    """msdb.dbo.sysjobs"""
    for one in node.agent.jobs:
        yield {
            "job_id": uuid.UUID(one["id"]),
            "originating_server_id": 0,
            "originating_server": node.name,
            "name": one["name"],
            "enabled": one["enabled"],
            "description": one["description"],
            "start_step_id": one["start_step"],
            "category_id": one["category"],
            "owner_sid": (node.instance.logins.get(one["owner"].lower()) or {}).get("sid") or b"\x01",
            "notify_level_eventlog": one["notify_eventlog"],
            "notify_level_email": 0,
            "notify_level_netsend": 0,
            "notify_level_page": 0,
            "notify_email_operator_id": 0,
            "notify_netsend_operator_id": 0,
            "notify_page_operator_id": 0,
            "delete_level": one["delete_level"],
            "date_created": _at(one["created_s"]),
            "date_modified": _at(one["modified_s"]),
            "version_number": one["version"],
        }


def sysjobsteps(node: Node) -> Iterator[Row]:
    """msdb.dbo.sysjobsteps"""
    for job in node.agent.jobs:
        for step in job["steps"]:
            date, time, duration = _run(step["last"])
            yield {
                "job_id": uuid.UUID(job["id"]),
                "step_id": step["number"],
                "step_name": step["name"],
                "subsystem": "TSQL",
                "command": step["command"],
                "flags": step["flags"],
                "cmdexec_success_code": 0,
                "on_success_action": step["success"],
                "on_success_step_id": step["success_step"],
                "on_fail_action": step["fail"],
                "on_fail_step_id": step["fail_step"],
                "database_name": step["database"],
                "retry_attempts": step["retries"],
                "retry_interval": step["retry_minutes"],
                "os_run_priority": 0,
                "last_run_outcome": step["last"]["status"] if step["last"] else 5,
                "last_run_duration": duration,
                "last_run_retries": step["last"]["retries"] if step["last"] else 0,
                "last_run_date": date,
                "last_run_time": time,
                "step_uid": uuid.UUID(step["uid"]),
            }


def sysjobservers(node: Node) -> Iterator[Row]:
    """msdb.dbo.sysjobservers"""
    for one in node.agent.jobs:
        if one["server"]:
            date, time, duration = _run(one["last"])
            yield {
                "job_id": uuid.UUID(one["id"]),
                "server_id": 0,
                "last_run_outcome": one["last"]["status"] if one["last"] else 5,
                "last_outcome_message": one["last"]["message"] if one["last"] else None,
                "last_run_date": date,
                "last_run_time": time,
                "last_run_duration": duration,
            }


def sysschedules(node: Node) -> Iterator[Row]:
    """msdb.dbo.sysschedules"""
    for one in node.agent.schedules:
        yield {
            **{key: value for key, value in one.items() if key.startswith(("freq_", "active_"))},
            "schedule_id": one["id"],
            "schedule_uid": uuid.UUID(one["uid"]),
            "originating_server_id": 0,
            "name": one["name"],
            "owner_sid": (node.instance.logins.get(one["owner"].lower()) or {}).get("sid") or b"\x01",
            "enabled": one["enabled"],
            "date_created": _at(one["created_s"]),
            "date_modified": _at(one["created_s"]),
            "version_number": 1,
        }


def sysjobschedules(node: Node) -> Iterator[Row]:
    """msdb.dbo.sysjobschedules"""
    from aglab.twin.agent.schedules import next_run

    for job in node.agent.jobs:
        for one in node.agent.schedules_of(job):
            due = next_run(one, node.now())
            date, time = (date_number(due), time_number(due)) if due is not None else (0, 0)
            yield {"schedule_id": one["id"], "job_id": uuid.UUID(job["id"]), "next_run_date": date, "next_run_time": time}


def sysjobhistory(node: Node) -> Iterator[Row]:
    """msdb.dbo.sysjobhistory"""
    for one in node.agent.history:
        date, time, duration = _run(one)
        yield {
            "instance_id": one["id"],
            "job_id": uuid.UUID(one["job"]),
            "step_id": one["step"],
            "step_name": one["name"],
            "sql_message_id": one["number"],
            "sql_severity": one["severity"],
            "message": one["message"],
            "run_status": one["status"],
            "run_date": date,
            "run_time": time,
            "run_duration": duration,
            "operator_id_emailed": 0,
            "operator_id_netsent": 0,
            "operator_id_paged": 0,
            "retries_attempted": one["retries"],
            "server": one["server"],
        }


def sysjobactivity(node: Node) -> Iterator[Row]:
    """msdb.dbo.sysjobactivity"""
    for job in node.agent.jobs:
        known = node.agent.activity.get(job["id"], {})
        due = node.agent.next_of(job, node.now())
        yield {
            "session_id": SESSION,
            "job_id": uuid.UUID(job["id"]),
            "run_requested_date": _at(known.get("requested_s")),
            "run_requested_source": str(known["source"]) if "source" in known else None,
            "start_execution_date": _at(known.get("started_s")),
            "last_executed_step_id": known.get("step") or None,
            "last_executed_step_date": _at(known.get("step_s")),
            "stop_execution_date": _at(known.get("stopped_s")),
            "job_history_id": known.get("history"),
            "next_scheduled_run_date": due[0] if due is not None else None,
        }


def syscategories(node: Node) -> Iterator[Row]:
    """msdb.dbo.syscategories"""
    for number, name in sorted(node.agent.categories.items()):
        kind = 2 if number == 2 else 3 if number == 98 else 1
        yield {"category_id": number, "category_class": 1, "category_type": kind, "name": name}


def syssessions(node: Node) -> Iterator[Row]:
    """msdb.dbo.syssessions"""
    yield {"session_id": SESSION, "agent_start_date": _at(node.started_s)}


VIEWS: dict[str, Callable[[Node], Iterator[Row]]] = {
    f"agent.{one.__name__}": one  # what the catalogue asks the node for, where the msdb is the instance's
    for one in (
        sysjobs,
        sysjobsteps,
        sysjobservers,
        sysschedules,
        sysjobschedules,
        sysjobhistory,
        sysjobactivity,
        syscategories,
        syssessions,
    )
}
