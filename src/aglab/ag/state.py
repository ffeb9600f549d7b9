"""The state of a group: what each node holds, and the configuration record (view) that roles are decided by.

A :class:`View` is what SQL Server keeps in the Windows cluster's database, or (EXTERNAL, NONE) in each instance's master: who is
primary, which secondary databases are failover ready. It is immutable; nodes share it by reference and adopt a newer
one when they meet it. ``epoch`` grows with every change of primary, ``sequence`` with every other change.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from aglab.ag.spec import DatabaseState, OperationalState, ReplicaSpec, Role, SuspendReason, SyncState

Key = tuple[str, str]  # (node, database)


@dataclass(frozen=True, slots=True)
class View:
    """One version of the group's configuration record.

    ``ready``: secondary databases marked synchronized (is_failover_ready). ``pending_suspend``: databases to be suspended
    when their replica next reaches the primary, after a forced failover. ``offline``: the whole group was taken offline.
    """

    epoch: int = 1
    sequence: int = 1
    primary: str | None = None
    ready: frozenset[Key] = frozenset()
    pending_suspend: frozenset[Key] = frozenset()
    offline: bool = False

    @property
    def version(self) -> tuple[int, int]:
        """Newer versions compare greater."""
        return (self.epoch, self.sequence)

    @property
    def sequence_number(self) -> int:
        """sequence_number of sys.availability_groups."""
        return (self.epoch << 32) + self.sequence

    def next(self, **changes: object) -> View:
        """The same epoch, one change later."""
        return replace(self, sequence=self.sequence + 1, **changes)  # type: ignore[arg-type]


@dataclass(slots=True)
class DatabaseReplica:
    """One copy of one database. Positions are bytes of log; see :mod:`aglab.ag.ledger`.

    On a primary all positions are its end of log. ``sent`` and ``known_hardened`` are the primary's knowledge of a secondary's
    copy. ``undo_lsn``: INITIALIZING ends when the log is hardened up to here.
    """

    joined: bool = False
    fork: int = 0
    sent: int = 0
    received: int = 0
    hardened: int = 0
    redone: int = 0
    known_hardened: int = 0
    suspended: SuspendReason | None = None
    sync_state: SyncState = SyncState.NOT_SYNCHRONIZING
    database_state: DatabaseState = DatabaseState.ONLINE
    moving: bool = False  # the session carries this database's log
    caught_up: bool = False  # known_hardened reached the end of log since movement began
    undo_lsn: int | None = None
    revert_done_s: float | None = None
    recovery_lsn: int = 0
    backed_up: int = 0  # end of the last log backup, on a primary
    available: bool = True  # user transactions can commit, on a primary
    sent_s: float = 0.0
    received_s: float = 0.0
    hardened_s: float = 0.0
    redone_s: float = 0.0
    caught_up_s: float = 0.0  # when the copy last held all of the primary's log
    seeding: str | None = None  # current_state of sys.dm_hadr_automatic_seeding
    seeding_started_s: float = 0.0
    seeding_ended_s: float = 0.0
    seeding_attempts: int = 0
    seeding_failure: str | None = None
    size_bytes: int = 0


@dataclass(slots=True)
class NodeState:
    """One instance. ``connected``: its session with the primary stands; ``silent_since_s``: when messages stopped."""

    name: str
    up: bool = True
    member: bool = False  # hosts a replica of the group (the JOIN or CREATE has run here)
    joined_once: bool = False  # has been a member since its replica was added: it counts for a majority
    role: Role = Role.NONE
    operational: OperationalState = OperationalState.OFFLINE
    view: View = field(default_factory=View)
    databases: dict[str, DatabaseReplica] = field(default_factory=dict)
    connected: bool = False
    silent_since_s: float | None = None
    has_quorum: bool = True
    offline: bool = False  # taken offline here by ALTER AVAILABILITY GROUP ... OFFLINE
    superseded: bool = False  # still in the primary role although a newer primary exists (EXTERNAL without a manager)
    may_create_databases: bool = False
    orphan: ReplicaSpec | None = None  # removed from the group elsewhere, not noticed yet
    last_error: tuple[int, str, float] | None = None  # last connection error of this replica, as the primary saw it
    role_since_s: float = 0.0

    @property
    def serves(self) -> bool:
        """A live primary."""
        return self.up and self.role == Role.PRIMARY and not self.superseded


@dataclass(slots=True)
class PendingCommit:
    """A commit that waits to be acknowledged."""

    id: int
    node: str
    database: str
    lsn: int
    since_s: float
