"""The availability group of a twin, and how its state reads in SQL Server's codes.

The group is what ``aglab up`` forms: ag1, cluster type EXTERNAL, synchronous commit on every replica, sql1 primary.
Identifiers are derived from names, so that two runs of a lab print the same. Byte positions of the engine's log become
SQL Server log sequence numbers: virtual log file, 512-byte block, slot.
"""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

NAMESPACE = uuid.UUID("5f3c1e0a-7a52-4d57-9a44-1f3a6f8d2b10")
VLF_BYTES = 256 * 1024 * 1024
FIRST_VLF = 38
SYNCHRONOUS, ASYNCHRONOUS = 1, 0

MODE_DESC = {0: "ASYNCHRONOUS_COMMIT", 1: "SYNCHRONOUS_COMMIT", 4: "CONFIGURATION_ONLY"}
FAILOVER_DESC = {0: "AUTOMATIC", 1: "MANUAL", 2: "EXTERNAL"}
ROLE_DESC = {0: "RESOLVING", 1: "PRIMARY", 2: "SECONDARY"}
SYNC_DESC = {0: "NOT SYNCHRONIZING", 1: "SYNCHRONIZING", 2: "SYNCHRONIZED", 3: "REVERTING", 4: "INITIALIZING"}
HEALTH_DESC = {0: "NOT_HEALTHY", 1: "PARTIALLY_HEALTHY", 2: "HEALTHY"}
CONNECT_DESC = {0: "NO", 1: "READ_ONLY", 2: "ALL", 3: "READ_WRITE"}


def identifier(*parts: str) -> uuid.UUID:
    """A GUID that follows from names."""
    return uuid.uuid5(NAMESPACE, "/".join(parts))


def lsn(position_bytes: float, slot: int = 1) -> Decimal:
    """The log sequence number, numeric(25,0), of a byte position in the log.

    >>> lsn(0), lsn(1024 * 1024)
    (Decimal('38000000001600001'), Decimal('38000000206400001'))
    """
    position = max(0, int(position_bytes))
    vlf = FIRST_VLF + position // VLF_BYTES
    block = position % VLF_BYTES // 512 + 16
    return Decimal(vlf * 10**15 + block * 10**5 + slot)


@dataclass
class Replica:
    """One replica of the group."""

    name: str
    availability_mode: int = SYNCHRONOUS
    failover_mode: int = 2
    session_timeout: int = 10
    primary_connections: int = 2
    secondary_connections: int = 2
    backup_priority: int = 50
    seeding_mode: int = 0  # AUTOMATIC
    connected: bool = True
    suspended: bool = False
    suspend_reason: int | None = None

    @property
    def endpoint_url(self) -> str:
        """Where the database mirroring endpoint listens."""
        return f"TCP://{self.name}:5022"


@dataclass
class Group:
    """The availability group. ``since_s``: when it was formed, on the cluster's clock."""

    name: str = "ag1"
    database: str = "OLTP"
    primary: str = "sql1"
    replicas: list[Replica] = field(default_factory=list)
    cluster_type: int = 2  # 0 WSFC, 1 NONE, 2 EXTERNAL
    required_synchronized_secondaries_to_commit: int = 0
    db_failover: bool = True
    since_s: float = 0.0

    @property
    def id(self) -> uuid.UUID:
        """group_id."""
        return identifier("group", self.name)

    @property
    def database_id(self) -> uuid.UUID:
        """group_database_id."""
        return identifier("group", self.name, "database", self.database)

    def replica_id(self, name: str) -> uuid.UUID:
        """replica_id."""
        return identifier("group", self.name, "replica", name)

    def replica(self, name: str) -> Replica | None:
        """The replica on a node, or None."""
        return next((one for one in self.replicas if one.name == name), None)

    def role(self, name: str) -> int:
        """1 primary, 2 secondary."""
        return 1 if name == self.primary else 2

    def synchronization_state(self, name: str) -> int:
        """0 NOT SYNCHRONIZING, 1 SYNCHRONIZING, 2 SYNCHRONIZED."""
        replica = self.replica(name)
        if replica is None or replica.suspended or not replica.connected:
            return 0
        if name == self.primary:
            return 2 if replica.availability_mode == SYNCHRONOUS else 1
        return 2 if replica.availability_mode == SYNCHRONOUS else 1

    def synchronization_health(self, name: str) -> int:
        """2 HEALTHY when the state is what the mode asks for, else 0 or 1."""
        replica = self.replica(name)
        state = self.synchronization_state(name)
        if replica is None or state == 0:
            return 0
        wanted = 2 if replica.availability_mode == SYNCHRONOUS else 1
        return 2 if state >= wanted else 1

    def group_health(self) -> int:
        """Worst health of any replica, as the group shows it."""
        health = [self.synchronization_health(one.name) for one in self.replicas]
        if all(one == 2 for one in health):
            return 2
        return 1 if any(one == 2 for one in health) else 0

    def to_dict(self) -> dict[str, Any]:
        """For the state file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Group:
        """The inverse of :meth:`to_dict`."""
        return cls(**{**content, "replicas": [Replica(**one) for one in content["replicas"]]})


def form(names: list[str], database: str, since_s: float) -> Group:
    """Group ag1 over the nodes, the first one primary."""
    return Group(database=database, primary=names[0], replicas=[Replica(name) for name in names], since_s=since_s)


def time_at(epoch: dt.datetime, seconds: float) -> dt.datetime:
    """A datetime (3 ms grain, as type datetime has) of a clock reading."""
    moment = epoch + dt.timedelta(seconds=seconds)
    return moment.replace(microsecond=moment.microsecond // 10000 * 10000)
