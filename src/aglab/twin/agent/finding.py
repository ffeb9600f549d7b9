"""What the procedures' parameters name: jobs, schedules, owners, categories."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from aglab.tsql import Session, error

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]


def job_of(node: Node, session: Session, given: Row) -> Row:
    """The job that @job_id or @job_name names. Errors 14262, 14294."""
    name, number = given.get("job_name"), given.get("job_id")
    if (name is None) == (number is None):
        raise error(14294, "@job_id", "@job_name")
    key = str(uuid.UUID(str(number))) if number is not None else None
    found = node.agent.job(name, key)
    if found is None or not (session.is_sysadmin or found["owner"].lower() == session.login.lower()):
        raise error(14262, "@job_id" if number is not None else "@job_name", number if number is not None else name)
    return found


def schedule_of(node: Node, given: Row, by_name: str = "schedule_name") -> Row:
    name, number = given.get(by_name), given.get("schedule_id")
    if (name is None) == (number is None):
        raise error(14373, "@schedule_id", f"@{by_name}")
    for one in node.agent.schedules:
        if one["id"] == number or (name is not None and one["name"].lower() == str(name).lower()):
            return one
    raise error(14262, "@schedule_id" if number is not None else f"@{by_name}", number if number is not None else name)


def owner_of(node: Node, session: Session, given: Row) -> str:
    owner = str(given.get("owner_login_name", session.login))
    login = node.instance.logins.get(owner.lower())
    if login is None:
        raise error(14234, "@owner_login_name", "sp_helplogins (excluding Windows NT groups)")
    if owner.lower() != session.login.lower() and not session.is_sysadmin:
        raise error(14515)
    return str(login.get("name", owner))


def category_of(node: Node, given: Row) -> int:
    if "category_name" not in given:
        return int(given.get("category_id", 0))
    for number, name in node.agent.categories.items():
        if name.lower() == str(given["category_name"]).lower():
            return number
    raise error(14234, "@category_name", "sp_help_category")
