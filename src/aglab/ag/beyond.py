"""What an availability group asks of the distributed availability group on top of it; here the answers where there is none."""

from __future__ import annotations

from typing import Any

from aglab.ag.state import DatabaseReplica


class Beyond:
    """No distributed group: the group's primary takes changes and waits for nobody outside."""

    def fed(self) -> bool:
        """Whether the group's primary is closed for changes: it takes its log from another group, or waits for a new role."""
        return False

    def hardened(self, node: str, database: str, lsn: int) -> bool:
        """Whether a synchronized partner group has ``node``'s log up to ``lsn`` on disk: the commit may be acknowledged."""
        return True

    def open(self, database: str) -> bool:
        """Whether the distributed group's REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT is met."""
        return True

    def copies(self, database: str) -> list[DatabaseReplica]:
        """Copies in other groups that still need this database's log."""
        return []

    def seeded(self, group: Any, database: str) -> None:
        """The copy on the forwarder of ``group`` has been seeded."""


NOTHING = Beyond()
