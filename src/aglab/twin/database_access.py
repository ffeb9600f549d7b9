"""Changes of a database's state that other users stand in the way of: they wait, give up, or roll the others back.

ALTER DATABASE ... SET SINGLE_USER, RESTRICTED_USER, OFFLINE and READ_ONLY: without a termination clause the statement waits until
the sessions that do not qualify have left (or LOCK_TIMEOUT has passed, then 5061); WITH NO_WAIT it fails at once (5070), WITH
ROLLBACK AFTER n SECONDS or ROLLBACK IMMEDIATE it ends them, with message 5060 at the start and at the end. Error 1468: the option
cannot be changed for a database in an availability group (for RECOVERY and the broker as documented; that OFFLINE and READ_ONLY
belong to it could not be confirmed). The load's users count as users of its database, and never leave by themselves.
Source: "ALTER DATABASE SET options" (SQL Server documentation); the wait's type is that of the database lock it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session
from aglab.tsql.effects import Message, Wait
from aglab.tsql.messages import error
from aglab.tsql.permissions import database_roles, server_roles, user_of

if TYPE_CHECKING:
    from aglab.twin.clients import Client
    from aglab.twin.node import Node

GROUP_KEEPS = ("OFFLINE", "READ_ONLY", "ENABLE_BROKER", "DISABLE_BROKER", "NEW_BROKER")
ROLLING_BACK = "Nonqualified transactions are being rolled back. Estimated rollback completion: {0}%."


def _problem(number: int, database: str) -> Exception:
    problem = error(number, database)
    problem.followed_by = error(5069)  # type: ignore[attr-defined]
    return problem


def _qualifies(node: Node, client: Client, option: str, database: str) -> bool:
    """Whether a session may stay: RESTRICTED_USER keeps administrators and the database's owners."""
    if option != "RESTRICTED_USER":
        return False
    login = client.session.login
    if client.session.is_sysadmin or "dbcreator" in server_roles(node.instance, login):
        return True
    found = node.instance.database(database)
    user = user_of(node.instance, found, login) if found is not None else None
    return found is not None and user is not None and (user == "dbo" or "db_owner" in database_roles(found, user))


def _others(node: Node, session: Session, option: str, database: str) -> list[Client]:
    return [
        client
        for client in node.clients.values()
        if client.session is not session
        and client.session.database.lower() == database.lower()
        and not _qualifies(node, client, option, database)
    ]


def _loaded(node: Node, database: str) -> bool:
    cluster = node.cluster
    return database.lower() == node.database_name.lower() and node.name == cluster.primary and cluster.plant.users > 0


def settle_users(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """Have the others leave before the option is set. ``FOR``: the option; ``TERMINATION``, ``AFTER_S`` as written."""
    option, database = str(command.options["FOR"]), command.target
    group = node.cluster.groups.hosting(node.name, database)
    in_group = group is not None and group.rules.nodes[node.name].member and group.holds(database) is not None
    if in_group and (option in GROUP_KEEPS or (option == "RECOVERY" and command.options.get("VALUE") != "FULL")):
        raise _problem(1468, database)
    if option not in ("SINGLE_USER", "RESTRICTED_USER", "OFFLINE", "READ_ONLY"):
        return
    loaded = option != "RESTRICTED_USER"  # the load's users are the owner's

    def free() -> bool:
        return not _others(node, session, option, database) and not (loaded and _loaded(node, database))

    if free():
        return
    termination = command.options.get("TERMINATION")
    if termination == "NO_WAIT":
        raise _problem(5070, database)
    if termination is None:
        yield from _wait(node, session, database, free)
        return
    if after_s := float(command.options.get("AFTER_S", 0.0)):
        until_s = node.cluster.clock.now_s + after_s
        yield Wait(
            "operation", until_s, "LCK_M_X", _resource(node, database), lambda: free() or node.cluster.clock.now_s >= until_s
        )
    if free():
        return
    yield Message(5060, 0, 1, ROLLING_BACK.format(0))
    for client in _others(node, session, option, database):
        node.drop(client)
    yield Message(5060, 0, 1, ROLLING_BACK.format(100))


def _resource(node: Node, database: str) -> str:
    found = node.instance.database(database)
    return f"DATABASE: {found.id if found is not None else 0}:0"


def _wait(node: Node, session: Session, database: str, free: Any) -> Iterator[Any]:
    limit_ms = session.options.lock_timeout_ms
    until_s = node.cluster.clock.now_s + limit_ms / 1000 if limit_ms >= 0 else None

    def done() -> bool:
        return free() or (until_s is not None and node.cluster.clock.now_s >= until_s)

    yield Wait("operation", until_s, "LCK_M_X", _resource(node, database), done)
    if not free():
        raise _problem(5061, database)
