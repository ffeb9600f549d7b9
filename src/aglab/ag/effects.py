"""What :meth:`aglab.ag.Group.apply` says has happened: flat records, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from aglab.ag.spec import DatabaseState, Role, SuspendReason, SyncState


@dataclass(frozen=True, slots=True)
class Refused:
    """SQL Server refuses the statement with this error; the group is as it was."""

    number: int
    severity: int
    state: int
    text: str


@dataclass(frozen=True, slots=True)
class CommitLogged:
    """A commit record went into a primary's log, ending at ``lsn``."""

    id: int
    node: str
    database: str
    lsn: int


@dataclass(frozen=True, slots=True)
class CommitAcknowledged:
    """The client may be told; ``hardened_on``: secondaries that had to have it on disk (the commit participants)."""

    id: int
    node: str
    database: str
    lsn: int
    waited_s: float
    hardened_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitFailed:
    """The client gets an error (or loses its connection: number 0). ``in_doubt``: the record is in the log and may survive."""

    id: int
    node: str
    database: str
    number: int
    text: str
    in_doubt: bool = True


@dataclass(frozen=True, slots=True)
class RoleChanged:
    """A replica's role changed."""

    node: str
    old: Role
    new: Role


@dataclass(frozen=True, slots=True)
class FailedOver:
    """A node became primary in place of another. ``kind``: "planned", "automatic" or "forced".

    ``start_lsn``: database -> end of its log, where the new recovery fork begins. ``exclusive`` False: nobody could make sure
    that no other primary serves clients (documented split-brain risk).
    """

    kind: str
    old: str | None
    new: str
    start_lsn: dict[str, int]
    exclusive: bool = True

    @property
    def claims_no_loss(self) -> bool:
        """Planned and automatic failovers promise to keep every acknowledged commit."""
        return self.kind != "forced"


@dataclass(frozen=True, slots=True)
class SplitBrainRisk:
    """From here on the documentation allows two primaries to serve clients at once."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rewound:
    """A returning copy gave up log that the current primary never had (undo): ``lost`` are the commits in it."""

    node: str
    database: str
    from_lsn: int
    to_lsn: int
    lost: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Connected:
    """The session between primary and secondary is established."""

    primary: str
    secondary: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The session ended; ``timed_out``: after SESSION_TIMEOUT without a message."""

    primary: str
    secondary: str
    timed_out: bool


@dataclass(frozen=True, slots=True)
class SyncStateChanged:
    """A database's synchronization state on a replica changed."""

    node: str
    database: str
    old: SyncState
    new: SyncState


@dataclass(frozen=True, slots=True)
class Suspended:
    """Data movement of a database was suspended on a replica."""

    node: str
    database: str
    reason: SuspendReason


@dataclass(frozen=True, slots=True)
class Resumed:
    """Data movement of a database was resumed on a replica."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class DatabaseStateChanged:
    """A local database changed state; clients are disconnected where it is not ONLINE any more."""

    node: str
    database: str
    old: DatabaseState
    new: DatabaseState


@dataclass(frozen=True, slots=True)
class DatabaseJoined:
    """A copy was joined at ``lsn``; ``seeded``: its content came from the primary through the network or a restored backup."""

    node: str
    database: str
    lsn: int


@dataclass(frozen=True, slots=True)
class DatabaseLeft:
    """A copy no longer belongs to the group."""

    node: str
    database: str


@dataclass(frozen=True, slots=True)
class AvailabilityChanged:
    """User transactions on the primary's databases became possible or impossible (error 988)."""

    node: str
    database: str
    available: bool


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a node's errorlog (``number`` as in sys.messages)."""

    node: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """An event of the AlwaysOn_health Extended Events session."""

    node: str
    name: str
    fields: dict[str, object] = field(default_factory=dict)


Effect = (
    Refused | CommitLogged | CommitAcknowledged | CommitFailed | RoleChanged | FailedOver | SplitBrainRisk | Rewound | Connected
    | Disconnected | SyncStateChanged | Suspended | Resumed | DatabaseStateChanged | DatabaseJoined | DatabaseLeft
    | AvailabilityChanged | LogLine | SessionEvent
)  # fmt: skip
