"""Contained availability groups on live nodes: their system databases, and who is in their environment.

CREATE AVAILABILITY GROUP ... WITH (CONTAINED) makes ``<group>_master`` and ``<group>_msdb``, empty but for the sysadmin logins of
the instance, and puts them in the group: they are seeded, log is shipped for them and they fail over as any other.
A connection through the group's listener, or with a database of the group as its initial catalogue, is in the group's environment
(:mod:`aglab.tsql.environment`): it authenticates against the contained master, and what it creates there travels with the group.
Source: "What is a contained availability group?", CREATE AVAILABILITY GROUP (SQL Server documentation). It says that most
database, endpoint and group operations belong to connections to the instance, but not what else they get: error 59005 here.
Left out: linked servers, a master key of the contained master's own (TDE uses the instance's).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag.spec import system_databases
from aglab.tsql import Session
from aglab.tsql.environment import Environment, only_at_instance
from aglab.tsql.messages import KNOWLEDGE_PAGE, error
from aglab.tsql.permissions import is_sysadmin
from aglab.twin.keeping import keep_database

if TYPE_CHECKING:
    from aglab.tsql import Command
    from aglab.tsql.instance import Instance
    from aglab.tsql.store.database import Database
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node

FULL = 1  # sys.databases.recovery_model
_INSTANCE_ONLY = (
    *("CREATE AVAILABILITY", "ALTER AVAILABILITY", "DROP AVAILABILITY", "ALTER DATABASE SET HADR", "RESTORE"),
    *("CREATE ENDPOINT", "ALTER ENDPOINT", "DROP ENDPOINT", "ALTER SERVER CONFIGURATION"),
    *("CREATE RESOURCE", "ALTER RESOURCE", "DROP RESOURCE", "CREATE WORKLOAD", "ALTER WORKLOAD", "DROP WORKLOAD"),
)


def seen(node: Node, session: Session) -> Instance:
    """The instance as a session sees it: a contained group's environment, or all of it."""
    return session.environment or node.instance


def check(command: Command, session: Session) -> None:
    """Refuse what belongs to a connection to the instance. Error 59005."""
    environment = session.environment
    if environment is not None and command.name.upper().startswith(_INSTANCE_ONLY):
        raise error(59005, command.name, only_at_instance(environment.group), KNOWLEDGE_PAGE)


def translated(command: Command, session: Session) -> Command:
    """A statement about master or msdb, said in a group's environment, is about the group's own."""
    if session.environment is None or command.target.lower() not in ("master", "msdb"):
        return command
    return replace(command, target=session.environment.database(command.target).name)


# -- making --------------------------------------------------------------------------------------------------------------
def check_names(node: Node, name: str, contained: bool, reuse: bool) -> None:
    """What must be so before the group is made. Errors 47142, 47143."""
    if not contained:
        if reuse:
            raise _refused(47143, name)
        return
    for one in system_databases(name):
        found = node.instance.database(one)
        if found is not None and not (reuse and found.part):
            raise _refused(47142, name, one)


def make_system_databases(node: Node, name: str) -> None:
    """The group's own master and msdb on the replica that creates it; those that are there are used again."""
    for part, one in zip(("master", "msdb"), system_databases(name), strict=True):
        if node.instance.database(one) is None:
            made = node.instance.add_database(one)
            made.part, made.created = part, node.now().replace(microsecond=0)
            if part == "master":
                made.logins.update(_administrators(node.instance))
            keep_database(node, one)
    node.cluster.dirty_rows = True


def _administrators(instance: Instance) -> dict[str, dict[str, Any]]:
    """The logins that a new contained master gets: members of sysadmin."""
    return {name: deepcopy(login) for name, login in instance.logins.items() if is_sysadmin(instance, name)}


def unmake(node: Node, name: str, before: set[str]) -> None:
    """The group could not be made: databases that were made for it go again."""
    for one in system_databases(name):
        if one.lower() not in before and node.instance.database(one) is not None:
            keep_database(node, one, gone=True)
            node.instance.drop_database(one)


def excluded(node: Node, group: Availability, database: Database) -> bool:
    """Whether a database is a contained system database that this group cannot take in (error 47136)."""
    return bool(database.part) and database.name not in group.rules.spec.system


def _refused(number: int, *args: object) -> Exception:
    from aglab.tsql import TsqlError

    found = ag.refuse(number, *args)
    return TsqlError(found.number, found.severity, found.state, found.text)


# -- connecting ------------------------------------------------------------------------------------------------------------
def environment_of(node: Node, group: Availability | None) -> Environment | None:
    """The environment of a group on a node; None where it is not contained, or has not got that far there."""
    if group is None or not ag.contained_here(group.rules, node.name):
        return None
    found = node.environments.get(group.name.lower())
    if found is None or found.group_id != group.rules.id:
        spec = group.rules.spec
        found = Environment(node.instance, group.name, group.rules.id, lambda: spec.databases)
        node.environments[group.name.lower()] = found
    return found


def wanted(node: Node, via: Availability | None, database: str) -> Environment | None:
    """The environment that a login asks for: by the listener that it came in through, or by its initial catalogue."""
    if via is not None:
        return environment_of(node, via)
    return environment_of(node, node.cluster.groups.hosting(node.name, database)) if database else None


def drop_environment(node: Node, group: Availability, caller: Session | None) -> None:
    """The group's role changes here: connections in its environment end, the caller's after its answer."""
    for client in list(node.clients.values()):
        environment = client.session.environment
        if environment is None or environment.group_id != group.rules.id:
            continue
        if client.session is caller:
            client.hang_up_after = True
        else:
            node.drop(client)
