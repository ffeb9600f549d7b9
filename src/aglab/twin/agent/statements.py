"""What msdb's procedures of jobs and their steps do."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session, error, info, not_implemented
from aglab.tsql.permissions import database_roles, user_of
from aglab.twin.agent import schedule_statements
from aglab.twin.agent.finding import category_of, job_of, owner_of
from aglab.twin.keeping import keep_agent

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
ROLES = {"SQLAgentUserRole", "SQLAgentReaderRole", "SQLAgentOperatorRole"}
_STEP = {  # parameter -> (name here, default)
    "command": ("command", ""),
    "on_success_action": ("success", 1),
    "on_success_step_id": ("success_step", 0),
    "on_fail_action": ("fail", 2),
    "on_fail_step_id": ("fail_step", 0),
    "database_name": ("database", "master"),
    "retry_attempts": ("retries", 0),
    "retry_interval": ("retry_minutes", 0),
    "flags": ("flags", 0),
}


def agent(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """One of msdb's procedures."""
    name = command.target
    if not session.is_sysadmin:
        msdb = node.instance.database("msdb")
        assert msdb is not None
        user = user_of(node.instance, msdb, session.login) or "guest"
        if not ROLES & set(database_roles(msdb, user)):
            raise error(229, "EXECUTE", name, "msdb", "dbo")
    given = {key: value for key, value in command.options["GIVEN"].items() if value is not None}
    yield from _PROCEDURES[name](node, session, given, command.options["MADE"])
    node.cluster.dirty = True
    node.agent.arm(node)
    keep_agent(node)


# -- jobs ----------------------------------------------------------------------------------------------------
def _add_job(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    name = str(given.get("job_name", "")).strip()
    if not name:
        raise error(14287, "@job_name", "value")
    if node.agent.job(name, None) is not None:
        raise error(14261, "@job_name", name)
    _, number = node.agent.new_id(node, "job")
    node.agent.jobs.append(
        {
            "id": number,
            "name": name,
            "enabled": int(given.get("enabled", 1)),
            "description": given.get("description", "No description available."),
            "start_step": int(given.get("start_step_id", 1)),
            "category": category_of(node, given),
            "owner": owner_of(node, session, given),
            "notify_eventlog": int(given.get("notify_level_eventlog", 2)),
            "delete_level": int(given.get("delete_level", 0)),
            "created_s": node.now_s(),
            "modified_s": node.now_s(),
            "version": 1,
            "server": False,
            "steps": [],
            "schedules": [],
            "last": None,
        }
    )
    made["JOB_ID"] = uuid.UUID(number)
    yield from ()


def _update_job(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    if "new_name" in given:
        other = node.agent.job(str(given["new_name"]), None)
        if other is not None and other is not job:
            raise error(14261, "@new_name", given["new_name"])
        job["name"] = str(given["new_name"])
    for parameter, key in (
        ("enabled", "enabled"),
        ("description", "description"),
        ("start_step_id", "start_step"),
        ("notify_level_eventlog", "notify_eventlog"),
        ("delete_level", "delete_level"),
    ):
        if parameter in given:
            job[key] = given[parameter]
    if "category_name" in given:
        job["category"] = category_of(node, given)
    if "owner_login_name" in given:
        job["owner"] = owner_of(node, session, given)
    _changed(node, job)
    yield from ()


def _changed(node: Node, job: Row) -> None:
    job["modified_s"], job["version"] = node.now_s(), job["version"] + 1


def _delete_job(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job, agent = job_of(node, session, given), node.agent
    if (run := agent.running.pop(job["id"], None)) is not None:
        run.cancel(f"User {session.login}")
    agent.jobs.remove(job)
    if int(given.get("delete_history", 1)):
        agent.history = [one for one in agent.history if one["job"] != job["id"]]
    if int(given.get("delete_unused_schedule", 1)):
        used = {number for one in agent.jobs for number in one["schedules"]}
        agent.schedules = [one for one in agent.schedules if one["id"] in used or one["id"] not in job["schedules"]]
    yield from ()


def _add_server(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    server = str(given.get("server_name", "(local)"))
    if server.lower() not in ("(local)", "(LOCAL)", node.name.lower(), "local"):
        raise error(14262, "@server_name", server)
    if job["server"]:
        raise error(14269, job["name"], node.name)
    job["server"] = True
    yield from ()


def _delete_server(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job_of(node, session, given)["server"] = False
    yield from ()


# -- steps ----------------------------------------------------------------------------------------------------
def _step_facts(node: Node, given: Row) -> Row:
    subsystem = str(given.get("subsystem", "TSQL"))
    if subsystem.upper() != "TSQL":
        raise not_implemented(f"job steps of subsystem {subsystem} (only TSQL)")
    for parameter in ("on_success_action", "on_fail_action"):
        if not 1 <= int(given.get(parameter, 1)) <= 4:
            raise error(14266, f"@{parameter}", "1, 2, 3, 4")
    database = given.get("database_name")
    if database is not None and node.instance.database(str(database)) is None:
        raise error(14262, "@database_name", database)
    if "database_user_name" in given:
        raise not_implemented("@database_user_name of a job step")
    return {key: given[parameter] for parameter, (key, _) in _STEP.items() if parameter in given}


def _add_step(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    name = str(given.get("step_name", "")).strip()
    if not name:
        raise error(14287, "@step_name", "value")
    if any(one["name"].lower() == name.lower() for one in job["steps"]):
        raise error(14261, "@step_name", name)
    number = int(given.get("step_id", len(job["steps"]) + 1))
    if not 1 <= number <= len(job["steps"]) + 1:
        raise error(14266, "@step_id", f"1..{len(job['steps']) + 1}")
    facts = dict(_STEP.values()) | _step_facts(node, given)
    for one in job["steps"]:
        one["number"] += one["number"] >= number
    _, uid = node.agent.new_id(node, "step")
    job["steps"].insert(number - 1, {"number": number, "name": name, "uid": uid, "last": None, **facts})
    made["STEP_UID"] = uuid.UUID(uid)
    _changed(node, job)
    yield from ()


def _step(job: Row, given: Row) -> Row:
    found = next((one for one in job["steps"] if one["number"] == given.get("step_id")), None)
    if found is None:
        raise error(14262, "@step_id", given.get("step_id", ""))
    return found


def _update_step(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    step = _step(job, given)
    step.update(_step_facts(node, given))
    step["name"] = str(given.get("step_name", step["name"]))
    _changed(node, job)
    yield from ()


def _delete_step(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    job["steps"] = [] if given.get("step_id") == 0 else [one for one in job["steps"] if one is not _step(job, given)]
    for number, one in enumerate(job["steps"], start=1):
        one["number"] = number
    _changed(node, job)
    yield from ()


# -- running ----------------------------------------------------------------------------------------------------
def _refused(what: str, job: Row, session: Session, why: str) -> Exception:
    """Error 22022, as public reports of it have its words."""
    said = f"Request to {what} job {job['name']} (from User {session.login}) refused because {why}."
    return error(22022, f"SQLServerAgent Error: {said}")


def _start(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    if not job["server"]:
        raise error(14256, job["name"], job["id"].upper())
    if not job["steps"]:
        raise error(14528, job["name"])
    first = 0
    if "step_name" in given:
        named = [one["number"] for one in job["steps"] if one["name"].lower() == str(given["step_name"]).lower()]
        if not named:
            raise error(14262, "@step_name", given["step_name"])
        first = named[0]
    if job["id"] in node.agent.running:
        why = f"the job is already running from a request by User {session.login}"
        raise _refused("run", job, session, why)
    node.agent.start(node, job, f"User {session.login}", 4, first)
    if int(given.get("output_flag", 1)):
        yield info(14243, job["name"])


def _stop(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    job = job_of(node, session, given)
    run = node.agent.running.get(job["id"])
    if run is None:
        raise _refused("stop", job, session, "the job is not currently running")
    run.cancel(f"User {session.login}")
    yield info(14254, job["name"])


def _purge(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    if "oldest_date" in given:
        raise not_implemented("@oldest_date of sp_purge_jobhistory")
    job = job_of(node, session, given) if {"job_name", "job_id"} & set(given) else None
    if job is None and not session.is_sysadmin:
        raise error(229, "EXECUTE", "sp_purge_jobhistory", "msdb", "dbo")
    node.agent.history = [one for one in node.agent.history if job is not None and one["job"] != job["id"]]
    yield from ()


def _add_category(node: Node, session: Session, given: Row, made: Row) -> Iterator[Any]:
    name = str(given.get("name", ""))
    if str(given.get("class", "JOB")).upper() != "JOB":
        raise not_implemented("categories of alerts and operators")
    if name.lower() in {one.lower() for one in node.agent.categories.values()}:
        raise error(14261, "@name", name)
    node.agent.categories[max(99, *node.agent.categories) + 1] = name
    yield from ()


_PROCEDURES: dict[str, Callable[[Node, Session, Row, Row], Iterator[Any]]] = {
    "sp_add_job": _add_job,
    "sp_update_job": _update_job,
    "sp_delete_job": _delete_job,
    "sp_add_jobstep": _add_step,
    "sp_update_jobstep": _update_step,
    "sp_delete_jobstep": _delete_step,
    **schedule_statements.PROCEDURES,
    "sp_add_jobserver": _add_server,
    "sp_delete_jobserver": _delete_server,
    "sp_start_job": _start,
    "sp_stop_job": _stop,
    "sp_purge_jobhistory": _purge,
    "sp_add_category": _add_category,
}
COMMANDS = {"AGENT": agent}
