"""SQL Server Agent's jobs of a contained availability group: its own msdb keeps them and they travel with the group.

None of them runs: which replica's Agent would run them is not modelled. sp_start_job says so with error 22022; what else notifies
the service prints the same words. A job is a transaction of its msdb. Source: the procedures' pages in the SQL Server
documentation; the words of 22022 from reports of the error. Left out: schedules, proxies, operators, categories, notifications,
other owners than the caller: an argument that is not known here is refused. Jobs of an instance: :mod:`.agent`.
"""

from __future__ import annotations

import uuid
from copy import deepcopy
from typing import Any

from aglab.tsql.effects import Message
from aglab.tsql.host import SchemaChange
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.permissions import need_database

NOT_RUNNING = "SQLServerAgent is not currently running so it cannot be notified of this action."
_STEP = {
    "subsystem": "TSQL",
    "command": None,
    "on_success_action": 1,
    "on_success_step_id": 0,
    "on_fail_action": 2,
    "on_fail_step_id": 0,
    "database_name": None,
    "retry_attempts": 0,
    "retry_interval": 0,
    "output_file_name": None,
    "flags": 0,
}


def _known(arguments: Any, *names: str) -> None:
    for one in arguments.items:
        if one.name and one.name.lower().lstrip("@") not in names and not (one.value is None or one.default):
            raise not_implemented(f"{arguments.procedure} with {one.name}")


def _job(executor: Any, arguments: Any, name_at: int = 1) -> dict[str, Any]:
    """The job by @job_name or @job_id. Error 14262."""
    name, key = arguments.value("@job_name", name_at), arguments.value("@job_id", 0 if name_at else 1)
    for job in executor.target.jobs.values():
        if (name is not None and job["name"].lower() == str(name).lower()) or (
            key is not None and str(job["job_id"]) == str(key).lower()
        ):
            return dict(job)
    raise error(14262, "@job_id" if name is None else "@job_name", key if name is None else name)


def _write(executor: Any, name: str, job: dict[str, Any] | None) -> Any:
    """Put, replace or drop a job, as a change of its msdb that commits and rolls back with the transaction."""
    database = executor.target
    executor.runtime.host.check_access(database.name, executor.session, True)
    need_database(executor.runtime.instance, executor.session, database, "CONTROL")

    def work() -> Any:
        change = SchemaChange("drop" if job is None else "put", "job", name, job)
        old = deepcopy(database.jobs.get(name.lower()))
        back = SchemaChange("drop" if old is None else "put", "job", name, old)
        executor._log_schema(database, change, lambda: database.apply_schema(back))
        database.apply_schema(change)
        return None
        yield

    yield from executor.in_transaction(work)


def sp_add_job(executor: Any, arguments: Any) -> Any:
    """@job_name, @enabled, @description, @start_step_id: a job without steps. Error 14261."""
    _known(
        arguments,
        "job_name",
        "enabled",
        "description",
        "start_step_id",
        "job_id",
        "owner_login_name",
        "notify_level_eventlog",
        "category_name",
        "delete_level",
    )
    name = str(arguments.required("@job_name", 0))
    if name.lower() in executor.target.jobs:
        raise error(14261, "@job_name", name)
    now = executor.runtime.host.now().replace(microsecond=0)
    login = executor.runtime.instance.logins.get(executor.session.login.lower(), {})
    job = {
        "job_id": uuid.uuid5(uuid.NAMESPACE_OID, f"{executor.target.name}/{name}/{now}"),
        "name": name,
        "enabled": int(arguments.value("@enabled", 1, default=1)),
        "description": arguments.value("@description", 2) or "No description available.",
        "start_step_id": int(arguments.value("@start_step_id", 3, default=1)),
        "owner_sid": login.get("sid", b"\x01"),
        "date_created": now,
        "date_modified": now,
        "version_number": 1,
        "steps": [],
        "servers": [],
    }
    yield from _write(executor, name, job)
    return 0


def sp_add_jobstep(executor: Any, arguments: Any) -> Any:
    """@job_id or @job_name, @step_name, @subsystem, @command, @database_name ...: a step at the end of a job."""
    _known(arguments, "job_id", "job_name", "step_name", "step_id", *_STEP)
    job = _job(executor, arguments)
    number = arguments.value("@step_id", 2)
    if number is not None and int(number) != len(job["steps"]) + 1:
        raise not_implemented("sp_add_jobstep in front of another step")
    step = {key: arguments.value(f"@{key}", 99, default=value) for key, value in _STEP.items()}
    step |= {
        "step_name": str(arguments.required("@step_name", 3)),
        "step_uid": uuid.uuid5(job["job_id"], str(len(job["steps"]) + 1)),
    }
    job["steps"] = [*job["steps"], step]
    yield from _changed(executor, job)
    return 0


def sp_add_jobserver(executor: Any, arguments: Any) -> Any:
    """@job_id or @job_name, @server_name: the server that a job is for, this one."""
    _known(arguments, "job_id", "job_name", "server_name")
    job = _job(executor, arguments)
    name = str(arguments.value("@server_name", 2) or "(LOCAL)")
    if name.lower() not in ("(local)", executor.runtime.instance.name.lower()):
        raise error(14262, "@server_name", name)
    job["servers"] = [executor.runtime.instance.name]
    yield from _changed(executor, job)
    yield Message(22022, 0, 1, NOT_RUNNING)
    return 0


def sp_update_job(executor: Any, arguments: Any) -> Any:
    """@job_id or @job_name; @new_name, @enabled, @description."""
    _known(arguments, "job_id", "job_name", "new_name", "enabled", "description")
    job = _job(executor, arguments)
    new = arguments.value("@new_name", 2)
    for key, place in (("enabled", 3), ("description", 4)):
        value = arguments.value(f"@{key}", place)
        job[key] = job[key] if value is None else value
    if new is not None:
        if str(new).lower() in executor.target.jobs:
            raise error(14261, "@new_name", new)
        yield from _write(executor, job["name"], None)
        job["name"] = str(new)
    yield from _changed(executor, job)
    return 0


def _changed(executor: Any, job: dict[str, Any]) -> Any:
    job |= {"date_modified": executor.runtime.host.now().replace(microsecond=0), "version_number": job["version_number"] + 1}
    yield from _write(executor, job["name"], job)


def sp_delete_job(executor: Any, arguments: Any) -> Any:
    """@job_id or @job_name"""
    _known(arguments, "job_id", "job_name")
    yield from _write(executor, _job(executor, arguments)["name"], None)
    return 0


def sp_start_job(executor: Any, arguments: Any) -> Any:
    """@job_name or @job_id: error 22022, the service is not there."""
    _job(executor, arguments, name_at=0)
    raise error(22022, NOT_RUNNING)
    yield


PROCEDURES = {
    one.__name__: one for one in (sp_add_job, sp_add_jobstep, sp_add_jobserver, sp_update_job, sp_delete_job, sp_start_job)
}
