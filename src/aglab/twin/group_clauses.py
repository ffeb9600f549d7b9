"""The clauses of CREATE and ALTER AVAILABILITY GROUP as specifications of the rules (:mod:`aglab.ag.spec`).

Option names and values: the statements' pages in the SQL Server documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.ag import AvailabilityMode, ClusterType, FailoverMode, Listener, ReplicaSpec
from aglab.ag.spec import BACKUP_PREFERENCES
from aglab.tsql.messages import error, not_implemented
from aglab.twin.clauses import Clauses
from aglab.twin.endpoints import parsed_url
from aglab.twin.security_messages import refusal

LEASED = ("127.0.0.1", "255.0.0.0")  # the address that every listener WITH DHCP gets
Reader = Callable[[Clauses], Any]
_MODES = ("SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT", "CONFIGURATION_ONLY")


def _routing_list(reader: Clauses) -> tuple[Any, ...]:
    """NONE, or replicas in order; replicas in parentheses of their own take turns."""
    reader.accept("=")
    if reader.accept("NONE"):
        return ()
    reader.expect("(")
    if reader.accept("NONE"):
        reader.expect(")")
        return ()

    def part() -> Any:
        if reader.accept("("):
            names = reader.listed(reader.text)
            reader.expect(")")
            return tuple(name.lower() for name in names)
        return reader.text().lower()

    found = tuple(reader.listed(part))
    reader.expect(")")
    return found


def _url(reader: Clauses) -> str | None:
    return None if reader.accept("NONE") else reader.text()


def _primary_role(reader: Clauses) -> dict[str, Any]:
    known: dict[str, Reader] = {
        "ALLOW_CONNECTIONS": lambda one: one.choice("READ_WRITE", "ALL"),
        "READ_ONLY_ROUTING_LIST": _routing_list,
        "READ_WRITE_ROUTING_URL": _url,
    }
    said = reader.options(known, "PRIMARY_ROLE")
    fields = {
        "ALLOW_CONNECTIONS": "primary_connections",
        "READ_ONLY_ROUTING_LIST": "read_only_routing_list",
        "READ_WRITE_ROUTING_URL": "read_write_routing_url",
    }
    return {fields[name]: value for name, value in said.items()}


def _secondary_role(reader: Clauses) -> dict[str, Any]:
    known: dict[str, Reader] = {
        "ALLOW_CONNECTIONS": lambda one: one.choice("NO", "READ_ONLY", "ALL"),
        "READ_ONLY_ROUTING_URL": _url,
    }
    said = reader.options(known, "SECONDARY_ROLE")
    fields = {"ALLOW_CONNECTIONS": "secondary_connections", "READ_ONLY_ROUTING_URL": "read_only_routing_url"}
    return {fields[name]: value for name, value in said.items()}


_REPLICA: dict[str, Reader] = {
    "ENDPOINT_URL": Clauses.text,
    "AVAILABILITY_MODE": lambda one: AvailabilityMode(one.choice(*_MODES)),
    "FAILOVER_MODE": lambda one: FailoverMode(one.choice("AUTOMATIC", "MANUAL", "EXTERNAL")),
    "SEEDING_MODE": lambda one: one.choice("AUTOMATIC", "MANUAL"),
    "BACKUP_PRIORITY": Clauses.number,
    "SESSION_TIMEOUT": Clauses.number,
    "PRIMARY_ROLE": _primary_role,
    "SECONDARY_ROLE": _secondary_role,
}
_REPLICA_FIELDS = {
    "ENDPOINT_URL": "endpoint_url",
    "AVAILABILITY_MODE": "availability_mode",
    "FAILOVER_MODE": "failover_mode",
    "SEEDING_MODE": "seeding_mode",
    "BACKUP_PRIORITY": "backup_priority",
    "SESSION_TIMEOUT": "session_timeout_s",
}


def replica_changes(reader: Clauses, replica: str, what: str) -> dict[str, Any]:
    """``WITH (...)`` of a replica: fields of :class:`ReplicaSpec`. Errors 155, 19401, 35232, 47120."""
    said = reader.options(_REPLICA, what)
    changes: dict[str, Any] = {}
    for name, value in said.items():
        if isinstance(value, dict):
            changes |= value
        else:
            changes[_REPLICA_FIELDS[name]] = value
    if "endpoint_url" in changes and parsed_url(changes["endpoint_url"]) is None:
        raise refusal(35232, changes["endpoint_url"])
    for field, number in (("read_only_routing_url", 19401), ("read_write_routing_url", 47120)):
        url = changes.get(field)
        if url is not None and parsed_url(url) is None:
            raise refusal(number, url, replica)
    return changes


def replica(reader: Clauses, what: str) -> ReplicaSpec:
    """``N'sql1' WITH (...)``. Errors 35236, 41197."""
    name = reader.text_or_name()
    reader.expect("WITH")
    changes = replica_changes(reader, name, what)
    if "endpoint_url" not in changes:
        raise refusal(35236, name)
    if "availability_mode" not in changes:
        raise not_implemented(f"{what} without AVAILABILITY_MODE")
    if "failover_mode" not in changes:
        if changes["availability_mode"] != AvailabilityMode.CONFIGURATION_ONLY:
            raise refusal(41197, name)
        changes["failover_mode"] = FailoverMode.MANUAL
    return ReplicaSpec(name.lower(), **changes)


def _plain_options() -> dict[str, Reader]:
    return {
        "AUTOMATED_BACKUP_PREFERENCE": lambda one: one.choice(*BACKUP_PREFERENCES),
        "FAILURE_CONDITION_LEVEL": Clauses.number,
        "HEALTH_CHECK_TIMEOUT": Clauses.number,
        "DB_FAILOVER": Clauses.switch,
        "DTC_SUPPORT": lambda one: one.choice("PER_DB", "NONE") == "PER_DB",
        "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT": Clauses.number,
    }


_GROUP_FIELDS = {
    "AUTOMATED_BACKUP_PREFERENCE": "automated_backup_preference",
    "FAILURE_CONDITION_LEVEL": "failure_condition_level",
    "HEALTH_CHECK_TIMEOUT": "health_check_timeout_ms",
    "DB_FAILOVER": "db_failover",
    "DTC_SUPPORT": "dtc_support",
    "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT": "required_synchronized_secondaries_to_commit",
    "BASIC": "basic",
    "CONTAINED": "contained",
    "REUSE_SYSTEM_DATABASES": "reuse",
    "CLUSTER_TYPE": "cluster_type",
    "DISTRIBUTED": "distributed",
}


def group_options(reader: Clauses) -> dict[str, Any]:
    """``WITH (...)`` of CREATE AVAILABILITY GROUP: fields of :class:`GroupSpec`."""
    known: dict[str, Reader] = {
        **_plain_options(),
        "BASIC": lambda one: True,
        "CLUSTER_TYPE": lambda one: ClusterType(one.choice("WSFC", "EXTERNAL", "NONE")),
        "DISTRIBUTED": lambda one: True,
        "CONTAINED": _contained,
        "REUSE_SYSTEM_DATABASES": lambda one: True,
        "CLUSTER_CONNECTION_OPTIONS": _unknown("CLUSTER_CONNECTION_OPTIONS"),
    }
    said = reader.options(known, "CREATE AVAILABILITY GROUP")
    if said.get("CONTAINED") == "REUSE":
        said |= {"CONTAINED": True, "REUSE_SYSTEM_DATABASES": True}
    return {_GROUP_FIELDS[name]: value for name, value in said.items()}


def _contained(reader: Clauses) -> Any:
    """CONTAINED [REUSE_SYSTEM_DATABASES]; with a comma between them they are two options."""
    return "REUSE" if reader.accept("REUSE_SYSTEM_DATABASES") else True


def _unknown(word: str) -> Reader:
    def refuse(reader: Clauses) -> Any:
        raise not_implemented(f"CREATE AVAILABILITY GROUP ... WITH ({word})")

    return refuse


def set_options(reader: Clauses) -> dict[str, Any]:
    """``SET (...)`` of ALTER AVAILABILITY GROUP: fields of :class:`GroupSpec`."""
    said = reader.options(_plain_options(), "ALTER AVAILABILITY GROUP")
    return {_GROUP_FIELDS[name]: value for name, value in said.items()}


def listener(reader: Clauses) -> Listener:
    """``N'name' (WITH IP ((N'address', N'mask'), ...) [, PORT = n])`` or ``(PORT = n)`` alone."""
    name = reader.text()
    reader.expect("(")
    addresses: tuple[tuple[str, str], ...] = ()
    port, dhcp = 1433, False
    if reader.accept("WITH"):
        if reader.accept("DHCP"):
            if reader.accept("ON"):
                _address(reader)  # the subnet; there is one network here
            addresses, dhcp = (LEASED,), True
        else:
            reader.expect("IP")
            reader.expect("(")
            addresses = tuple(reader.listed(lambda: _address(reader)))
            reader.expect(")")
        if reader.accept(","):
            reader.expect("PORT", "=")
            port = reader.number()
    else:
        reader.expect("PORT", "=")
        port = reader.number()
    reader.expect(")")
    return Listener(name, port, addresses, dhcp)


def _address(reader: Clauses) -> tuple[str, str]:
    reader.expect("(")
    address, mask = reader.text(), ""
    if reader.accept(","):
        mask = reader.text()
    reader.expect(")")
    return address, mask


__all__ = ["error", "group_options", "listener", "replica", "replica_changes", "set_options"]
