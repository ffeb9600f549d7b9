"""ALTER AVAILABILITY GROUP and ALTER DATABASE ... SET HADR on a live group: the clauses the twin reads, as events of the rules.

Understood: FAILOVER, FORCE_FAILOVER_ALLOW_DATA_LOSS, OFFLINE, SET (ROLE = SECONDARY | option = value), MODIFY REPLICA ON,
ADD and REMOVE DATABASE; SET HADR SUSPEND, RESUME, OFF. Any other clause is the clear error of an unknown statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.ag import AvailabilityMode, FailoverMode, events
from aglab.tsql import Command, Session, TsqlError
from aglab.tsql.messages import error, not_implemented

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node

UNKNOWN_GROUP = "Cannot alter the availability group '{0}', because it does not exist or you do not have permission."
_REPLICA_OPTIONS = {
    "AVAILABILITY_MODE": ("availability_mode", AvailabilityMode),
    "FAILOVER_MODE": ("failover_mode", FailoverMode),
    "SEEDING_MODE": ("seeding_mode", str),
    "SESSION_TIMEOUT": ("session_timeout_s", int),
    "BACKUP_PRIORITY": ("backup_priority", int),
}
_GROUP_OPTIONS = {
    "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT": ("required_synchronized_secondaries_to_commit", int),
    "FAILURE_CONDITION_LEVEL": ("failure_condition_level", int),
    "HEALTH_CHECK_TIMEOUT": ("health_check_timeout_ms", int),
}


def alter_group(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER AVAILABILITY GROUP."""
    group = node.cluster.group
    if group is None or group.name.lower() != command.target.lower():
        raise TsqlError(15151, 16, 1, UNKNOWN_GROUP.format(command.target))
    tokens = list(command.options.get("TOKENS", ()))[1:]
    words = [str(one.value).upper() for one in tokens]
    names = [str(one.value) for one in tokens]
    group.tell(_event(node.name, group, words, names, session), caller=session)
    group.rows.settle()
    _finish_seeding(group)
    yield from ()


def _event(here: str, group: Availability, words: list[str], names: list[str], session: Session) -> Any:
    external = str(session.session_context.get("external_cluster") or "").lower() in ("yes", "1", "true")
    match words:
        case ["FAILOVER"]:
            return events.Failover(here, external)
        case ["FORCE_FAILOVER_ALLOW_DATA_LOSS"]:
            return events.ForceFailover(here, external)
        case ["OFFLINE"]:
            return events.Offline(here)
        case ["SET", "(", "ROLE", "=", "SECONDARY", ")"]:
            return events.SetRoleSecondary(here)
        case ["SET", "(", *_, ")"]:
            return events.SetOption(here, _options(words[2:-1], _GROUP_OPTIONS))
        case ["MODIFY", "REPLICA", "ON", _, "WITH", "(", *_, ")"]:
            return events.ModifyReplica(here, names[3].lower(), _options(words[6:-1], _REPLICA_OPTIONS))
        case ["ADD", "DATABASE", _]:
            return _add(here, group, names[2])
        case ["REMOVE", "DATABASE", _]:
            return events.RemoveDatabase(here, group.holds(names[2]) or names[2])
    raise not_implemented(f"ALTER AVAILABILITY GROUP ... {' '.join(words[:2])}")


def _options(words: list[str], known: dict[str, tuple[str, Any]]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    parts = " ".join(words).split(",")
    for part in parts:
        name, _, value = (one.strip() for one in part.partition("="))
        if name not in known:
            raise not_implemented(f"ALTER AVAILABILITY GROUP ... {name}")
        field, kind = known[name]
        try:
            changes[field] = kind(value)
        except ValueError:
            raise error(102, value) from None
    return changes


def _add(here: str, group: Availability, name: str) -> Any:
    database = group.cluster.nodes[here].instance.database(name)
    if database is None:
        raise error(911, name)
    size_bytes = sum(file.size for file in database.files) * 8192
    return events.AddDatabase(here, group.holds(database.name) or database.name, size_bytes)


def _finish_seeding(group: Availability) -> None:
    """Automatic seeding copies the tables and joins the copy."""
    for name, state in group.rules.nodes.items():
        for database, copy in list(state.databases.items()):
            primary = group.rules.primary()
            if copy.seeding == "SEEDING" and state.connected and primary is not None:
                nodes = group.cluster.nodes
                nodes[primary].note_membership()
                group.cluster.copy_database(nodes[primary], nodes[name], database)
                group.act(events.SeedDone(name, database))
                nodes[name].note_membership()


def set_hadr(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER DATABASE ... SET HADR SUSPEND | RESUME | OFF."""
    group = node.cluster.group
    database = group.holds(command.target) if group is not None else None
    if group is None or database is None:
        text = (
            f"Cannot complete this ALTER DATABASE <database-name> SET HADR operation on database '{command.target}'. "
            "The database is not joined to an availability group. After the database has joined the availability group, retry "
            "the command."
        )
        raise TsqlError(35242, 16, 16, text)
    said = {str(one).upper() for pair in command.options.items() for one in pair}
    if "OFF" in said:
        group.tell(events.UnjoinDatabase(node.name, database), caller=session)
    elif "SUSPEND" in said:
        group.tell(events.Suspend(node.name, database), caller=session)
    elif "RESUME" in said:
        group.tell(events.Resume(node.name, database), caller=session)
    else:
        raise not_implemented("ALTER DATABASE ... SET HADR AVAILABILITY GROUP")
    yield from ()
