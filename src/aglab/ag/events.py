"""What happens to a group: the argument of :meth:`aglab.ag.Group.apply`.

Positions are bytes of log since the database was created (``*_lsn`` here, log sequence numbers at the DMVs' edge). ``node`` is
where it happens or where the statement runs. Statements that SQL Server refuses come back as
:class:`~aglab.ag.effects.Refused`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aglab.ag.spec import DatabaseState, Listener, ReplicaSpec, SuspendReason

# --- work on the primary --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Commit:
    """A transaction's commit record is in the primary's log on disk; ``id`` comes back when it may be acknowledged."""

    node: str
    database: str
    id: int
    log_bytes: int = 1024


@dataclass(frozen=True, slots=True)
class WriteLog:
    """Log that nobody waits for: uncommitted work, checkpoints, maintenance."""

    node: str
    database: str
    log_bytes: int


@dataclass(frozen=True, slots=True)
class LogBackup:
    """BACKUP LOG on the primary up to its end of log."""

    node: str
    database: str


# --- data movement: ``to_lsn`` None means "all there is"; a position beyond what is possible is clamped ----------------


@dataclass(frozen=True, slots=True)
class Send:
    """The primary has sent the database's log to a secondary up to a position."""

    node: str
    database: str
    to_lsn: int | None = None


@dataclass(frozen=True, slots=True)
class Receive:
    """A secondary has received log (in memory)."""

    node: str
    database: str
    to_lsn: int | None = None


@dataclass(frozen=True, slots=True)
class Harden:
    """A secondary has written log to its disk; the acknowledgement travels at once if the link carries it."""

    node: str
    database: str
    to_lsn: int | None = None


@dataclass(frozen=True, slots=True)
class Redo:
    """A secondary has redone log (or a new primary finishes rolling forward)."""

    node: str
    database: str
    to_lsn: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Send, receive, harden and redo in one: absolute positions as an engine reports them; None leaves one alone."""

    node: str
    database: str
    sent_lsn: int | None = None
    received_lsn: int | None = None
    hardened_lsn: int | None = None
    redone_lsn: int | None = None


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Everything that can move to a secondary moves: send, receive, harden, redo all there is (None: all of them)."""

    node: str | None = None
    database: str | None = None


@dataclass(frozen=True, slots=True)
class SeedDone:
    """Automatic seeding of a secondary's database has copied the last byte."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class SeedFailed:
    """Automatic seeding of a secondary's database cannot be done there; it waits for another start."""

    node: str
    database: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passes: session timeouts, the cluster's reaction to failures, undo."""


# --- faults ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crash:
    """The instance ends at once (also SHUTDOWN)."""

    node: str


@dataclass(frozen=True, slots=True)
class Start:
    """The instance starts again."""

    node: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Messages between two nodes are lost until :class:`Heal`."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Heal:
    """Messages between two nodes pass again."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The pairs of instances whose database mirroring endpoints do not accept each other; all others do.

    An endpoint that is stopped, missing or does not know the other's certificate closes the session at once; the cluster's own
    messages still pass.
    """

    closed: frozenset[frozenset[str]]


@dataclass(frozen=True, slots=True)
class HealthFault:
    """sp_server_diagnostics reports a fault of FAILURE_CONDITION_LEVEL ``level`` (1-5) on the primary; 0: all is well again."""

    node: str
    level: int


@dataclass(frozen=True, slots=True)
class DatabaseFault:
    """A database leaves ONLINE for ``state`` (ONLINE: it is repaired)."""

    node: str
    database: str
    state: DatabaseState = DatabaseState.SUSPECT


@dataclass(frozen=True, slots=True)
class MovementFault:
    """Data movement stops by itself on a secondary (redo, apply, undo error ...)."""

    node: str
    database: str
    reason: SuspendReason = SuspendReason.REDO


@dataclass(frozen=True, slots=True)
class ForceQuorum:
    """The Windows cluster is started with /forcequorum on a node."""

    node: str


# --- statements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Suspend:
    """ALTER DATABASE ... SET HADR SUSPEND."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class Resume:
    """ALTER DATABASE ... SET HADR RESUME."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class Failover:
    """ALTER AVAILABILITY GROUP ... FAILOVER on the target; ``external_cluster``: SESSION_CONTEXT(N'external_cluster') is yes."""

    node: str
    external_cluster: bool = False


@dataclass(frozen=True, slots=True)
class ForceFailover:
    """ALTER AVAILABILITY GROUP ... FORCE_FAILOVER_ALLOW_DATA_LOSS on the target."""

    node: str
    external_cluster: bool = False


@dataclass(frozen=True, slots=True)
class Offline:
    """ALTER AVAILABILITY GROUP ... OFFLINE."""

    node: str


@dataclass(frozen=True, slots=True)
class SetRoleSecondary:
    """ALTER AVAILABILITY GROUP ... SET (ROLE = SECONDARY)."""

    node: str


@dataclass(frozen=True, slots=True)
class Join:
    """ALTER AVAILABILITY GROUP ... JOIN [WITH (CLUSTER_TYPE = ...)]."""

    node: str
    cluster_type: str = ""


@dataclass(frozen=True, slots=True)
class GrantCreateDatabase:
    """ALTER AVAILABILITY GROUP ... GRANT (or DENY) CREATE ANY DATABASE."""

    node: str
    grant: bool = True


@dataclass(frozen=True, slots=True)
class AddReplica:
    """ALTER AVAILABILITY GROUP ... ADD REPLICA ON."""

    node: str
    replica: ReplicaSpec


@dataclass(frozen=True, slots=True)
class RemoveReplica:
    """ALTER AVAILABILITY GROUP ... REMOVE REPLICA ON."""

    node: str
    replica: str


@dataclass(frozen=True, slots=True)
class ModifyReplica:
    """ALTER AVAILABILITY GROUP ... MODIFY REPLICA ON: field name of :class:`ReplicaSpec` -> value."""

    node: str
    replica: str
    changes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SetOption:
    """ALTER AVAILABILITY GROUP ... SET (option): field name of :class:`GroupSpec` -> value."""

    node: str
    changes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class AddDatabase:
    """ALTER AVAILABILITY GROUP ... ADD DATABASE; ``size_bytes`` is what seeding has to copy."""

    node: str
    database: str
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class RemoveDatabase:
    """ALTER AVAILABILITY GROUP ... REMOVE DATABASE."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class JoinDatabase:
    """ALTER DATABASE ... SET HADR AVAILABILITY GROUP on a secondary; ``restored_lsn``: how far backups were restored there.

    None: up to the primary's last log backup.
    """

    node: str
    database: str
    restored_lsn: int | None = None


@dataclass(frozen=True, slots=True)
class UnjoinDatabase:
    """ALTER DATABASE ... SET HADR OFF on a secondary."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class DropCopy:
    """DROP DATABASE on an instance whose copy has left the group."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class SetListener:
    """ADD, MODIFY or REMOVE LISTENER: the listener as it shall be, None to remove it."""

    node: str
    listener: Listener | None


@dataclass(frozen=True, slots=True)
class Drop:
    """DROP AVAILABILITY GROUP on a node."""

    node: str


Event = (
    Commit | WriteLog | LogBackup | Send | Receive | Harden | Redo | Progress | CatchUp | SeedDone | SeedFailed | Tick
    | Crash | Start | Cut | Heal | Endpoints | HealthFault | DatabaseFault | MovementFault | ForceQuorum | Suspend | Resume
    | Failover | ForceFailover | Offline | SetRoleSecondary | Join | GrantCreateDatabase | AddReplica | RemoveReplica
    | ModifyReplica | SetOption | AddDatabase | RemoveDatabase | JoinDatabase | UnjoinDatabase | DropCopy | SetListener | Drop
)  # fmt: skip
