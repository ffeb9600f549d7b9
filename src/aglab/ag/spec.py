"""What an availability group is configured to be: cluster type, replicas, options and their limits.

Source: CREATE and ALTER AVAILABILITY GROUP (SQL Server documentation). Codes are those of sys.availability_groups and
sys.availability_replicas. Limits are SQL Server 2022's Enterprise limits: nine replicas, five of them synchronous, five in the
automatic failover set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ClusterType(StrEnum):
    """Who arbitrates: a Windows cluster (emulated node majority), another manager such as Pacemaker, or nobody."""

    WSFC = "WSFC"
    EXTERNAL = "EXTERNAL"
    NONE = "NONE"


class AvailabilityMode(StrEnum):
    """Whether the primary waits for a replica's log, or the replica holds configuration only."""

    SYNCHRONOUS = "SYNCHRONOUS_COMMIT"
    ASYNCHRONOUS = "ASYNCHRONOUS_COMMIT"
    CONFIGURATION_ONLY = "CONFIGURATION_ONLY"


class FailoverMode(StrEnum):
    """Who may start a failover of a replica."""

    AUTOMATIC = "AUTOMATIC"
    MANUAL = "MANUAL"
    EXTERNAL = "EXTERNAL"


class Role(StrEnum):
    """What a replica is; NONE where the instance hosts no replica of the group (the errorlog says NOT_AVAILABLE)."""

    PRIMARY = "PRIMARY"
    SECONDARY = "SECONDARY"
    RESOLVING = "RESOLVING"
    NONE = "NOT_AVAILABLE"


class OperationalState(StrEnum):
    """operational_state_desc of sys.dm_hadr_availability_replica_states."""

    PENDING_FAILOVER = "PENDING_FAILOVER"
    PENDING = "PENDING"
    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    FAILED = "FAILED"
    FAILED_NO_QUORUM = "FAILED_NO_QUORUM"


class SyncState(StrEnum):
    """synchronization_state_desc of sys.dm_hadr_database_replica_states."""

    NOT_SYNCHRONIZING = "NOT SYNCHRONIZING"
    SYNCHRONIZING = "SYNCHRONIZING"
    SYNCHRONIZED = "SYNCHRONIZED"
    REVERTING = "REVERTING"
    INITIALIZING = "INITIALIZING"


class SuspendReason(StrEnum):
    """suspend_reason_desc of sys.dm_hadr_database_replica_states."""

    USER = "SUSPEND_FROM_USER"
    PARTNER = "SUSPEND_FROM_PARTNER"
    REDO = "SUSPEND_FROM_REDO"
    CAPTURE = "SUSPEND_FROM_CAPTURE"
    APPLY = "SUSPEND_FROM_APPLY"
    RESTART = "SUSPEND_FROM_RESTART"
    UNDO = "SUSPEND_FROM_UNDO"
    REVALIDATION = "SUSPEND_FROM_REVALIDATION"
    XRF_UPDATE = "SUSPEND_FROM_XRF_UPDATE"


class DatabaseState(StrEnum):
    """database_state_desc, as sys.databases names it."""

    ONLINE = "ONLINE"
    RESTORING = "RESTORING"
    RECOVERING = "RECOVERING"
    RECOVERY_PENDING = "RECOVERY_PENDING"
    SUSPECT = "SUSPECT"
    EMERGENCY = "EMERGENCY"
    OFFLINE = "OFFLINE"


CLUSTER_CODE = {ClusterType.WSFC: 0, ClusterType.NONE: 1, ClusterType.EXTERNAL: 2}  # as SMO reads cluster_type
MODE_CODE = {AvailabilityMode.ASYNCHRONOUS: 0, AvailabilityMode.SYNCHRONOUS: 1, AvailabilityMode.CONFIGURATION_ONLY: 4}
FAILOVER_CODE = {FailoverMode.AUTOMATIC: 0, FailoverMode.MANUAL: 1, FailoverMode.EXTERNAL: 2}
ROLE_CODE = {Role.RESOLVING: 0, Role.PRIMARY: 1, Role.SECONDARY: 2}
OPERATIONAL_CODE = {one: number for number, one in enumerate(OperationalState)}
SYNC_CODE = {one: number for number, one in enumerate(SyncState)}
SUSPEND_CODE = {one: number for number, one in enumerate(SuspendReason)}
STATE_CODE = {one: number for number, one in enumerate(DatabaseState)}
HEALTH_DESC = ("NOT_HEALTHY", "PARTIALLY_HEALTHY", "HEALTHY")
BACKUP_PREFERENCES = ("PRIMARY", "SECONDARY_ONLY", "SECONDARY", "NONE")
PRIMARY_CONNECTIONS = {"ALL": 2, "READ_WRITE": 3}
SECONDARY_CONNECTIONS = {"NO": 0, "READ_ONLY": 1, "ALL": 2}

REPLICAS_MAX = 9
SYNCHRONOUS_MAX = 5
AUTOMATIC_MAX = 5
BASIC_REPLICAS_MAX = 2
BASIC_DATABASES_MAX = 1
SESSION_TIMEOUT_S_MIN = 5
HEALTH_CHECK_TIMEOUT_MS_MIN = 15000
BACKUP_PRIORITY_MAX = 100


@dataclass
class ReplicaSpec:
    """One replica as CREATE AVAILABILITY GROUP ... REPLICA ON describes it.

    ``read_only_routing_list``: replica names, a nested tuple is a load-balanced set (round robin inside the set).
    """

    name: str
    endpoint_url: str = ""
    availability_mode: AvailabilityMode = AvailabilityMode.SYNCHRONOUS
    failover_mode: FailoverMode = FailoverMode.MANUAL
    session_timeout_s: int = 10
    backup_priority: int = 50
    seeding_mode: str = "MANUAL"
    primary_connections: str = "ALL"
    secondary_connections: str = "NO"
    read_only_routing_url: str | None = None
    read_only_routing_list: tuple[str | tuple[str, ...], ...] = ()
    read_write_routing_url: str | None = None

    def __post_init__(self) -> None:
        self.endpoint_url = self.endpoint_url or f"TCP://{self.name}:5022"

    @property
    def synchronous(self) -> bool:
        """Whether it takes part in synchronous commit."""
        return self.availability_mode == AvailabilityMode.SYNCHRONOUS

    @property
    def holds_data(self) -> bool:
        """False for a CONFIGURATION_ONLY replica."""
        return self.availability_mode != AvailabilityMode.CONFIGURATION_ONLY


@dataclass
class Listener:
    """An availability group listener."""

    dns_name: str
    port: int = 1433
    addresses: tuple[tuple[str, str], ...] = ()  # (address, mask)
    dhcp: bool = False


@dataclass
class Timing:
    """Delays that belong to the cluster, not to the group.

    ``failure_detection_s``: from a crash or partition to the cluster's reaction (heartbeat threshold; the lease that stops an old
    primary by then is folded in). ``undo_bytes_s``: speed at which REVERTING fetches pages; 0 means it ends at the next tick.
    """

    failure_detection_s: float = 10.0
    undo_bytes_s: float = 0.0


def system_databases(group: str) -> tuple[str, str]:
    """The names of the master and msdb of a contained availability group.

    >>> system_databases("ag1")
    ('ag1_master', 'ag1_msdb')
    """
    return f"{group}_master", f"{group}_msdb"


@dataclass
class GroupSpec:
    """The options of CREATE AVAILABILITY GROUP. Distributed groups are not among them: :mod:`aglab.ag.distributed`."""

    name: str = "ag1"
    cluster_type: ClusterType = ClusterType.EXTERNAL
    replicas: list[ReplicaSpec] = field(default_factory=list)
    databases: list[str] = field(default_factory=list)
    required_synchronized_secondaries_to_commit: int = 0
    db_failover: bool = False
    dtc_support: bool = False
    failure_condition_level: int = 3
    health_check_timeout_ms: int = 30000
    automated_backup_preference: str = "SECONDARY"
    basic: bool = False
    distributed: bool = False
    contained: bool = False  # with system databases of its own, named after the group
    listener: Listener | None = None

    @property
    def system(self) -> tuple[str, ...]:
        """The contained system databases; none where the group is not contained."""
        return system_databases(self.name) if self.contained else ()
