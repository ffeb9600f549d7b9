"""The two availability groups of a distributed group: their options, and what each keeps of it and answers its rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aglab.ag.beyond import Beyond
from aglab.ag.group import Group
from aglab.ag.spec import AvailabilityMode, FailoverMode, Role
from aglab.ag.state import DatabaseReplica

if TYPE_CHECKING:
    from aglab.ag.forwarding import Forwarding


@dataclass(frozen=True)
class Participant:
    """One availability group as CREATE or ALTER AVAILABILITY GROUP ... AVAILABILITY GROUP ON describes it."""

    group: str
    listener_url: str = ""
    availability_mode: AvailabilityMode = AvailabilityMode.ASYNCHRONOUS
    failover_mode: FailoverMode = FailoverMode.MANUAL
    seeding_mode: str = "MANUAL"


@dataclass
class Side(Beyond):
    """One of the two groups: what its instances keep of the distributed group, and what its rules ask (:class:`Beyond`)."""

    name: str
    group: Group | None = None
    joined: bool = False
    role: Role = Role.NONE
    participants: dict[str, Participant] = field(default_factory=dict)  # by lower-case group name, as this side keeps them
    required: int = 0  # REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT
    over: Forwarding | None = None

    @property
    def primary(self) -> str | None:
        """The replica of this group that takes part: its serving primary."""
        return self.group.primary() if self.group is not None else None

    def copy(self, database: str) -> DatabaseReplica | None:
        """The database on that replica."""
        node = self.primary
        return self.group.nodes[node].databases.get(database) if self.group is not None and node is not None else None

    def held(self, database: str) -> DatabaseReplica | None:
        """The same, where it has joined."""
        copy = self.copy(database)
        return copy if copy is not None and copy.joined else None

    def fed(self) -> bool:
        """See :class:`Beyond`."""
        return self.joined and self.role != Role.PRIMARY

    def hardened(self, node: str, database: str, lsn: int) -> bool:
        """See :class:`Beyond`; a second primary of the same group (nobody arbitrates) is not the one that is followed."""
        over = self.over
        if over is None or self.role != Role.PRIMARY or database not in over.synchronized or node != self.primary:
            return True
        return over.hardened_beyond(database, lsn)

    def open(self, database: str) -> bool:
        """See :class:`Beyond`."""
        return self.over is None or self.role != Role.PRIMARY or self.over.enough(self, database)

    def copies(self, database: str) -> list[DatabaseReplica]:
        """See :class:`Beyond`."""
        other = self.over.other(self) if self.over is not None else None
        if other is None or other.group is None or not other.joined or other.role == Role.PRIMARY:
            return []
        return [one for one in other.group.copies(database).values() if one.joined]

    def seeded(self, group: Group, database: str) -> None:
        """See :class:`Beyond`."""
        if self.over is not None:
            self.over.seeded(group, database)
