"""One database's log as the whole group knows it: positions, recovery forks, commit records.

A position is the number of log bytes since the database was created, so LSNs only grow along a fork. Every change of primary
starts a new recovery fork at the end of the new primary's log. What a copy contains follows from its fork and
how far it has hardened: the lineage of the fork says up to where each ancestor counts. Nothing here knows rows.

Source: "Recovery paths" and "Failover and failover modes" (SQL Server documentation).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

VLF_BYTES = 256 * 1024 * 1024
BLOCK_BYTES = 512
FIRST_VLF = 38
FIRST_BLOCK = 16
COMMITS_KEPT_MAX = 200_000


def lsn_decimal(position_bytes: float, slot: int = 1) -> Decimal:
    """The numeric(25,0) log sequence number of a byte position: virtual log file, 512-byte block, slot.

    >>> lsn_decimal(0), lsn_decimal(1024 * 1024)
    (Decimal('38000000001600001'), Decimal('38000000206400001'))
    """
    position = max(0, int(position_bytes))
    vlf = FIRST_VLF + position // VLF_BYTES
    block = position % VLF_BYTES // BLOCK_BYTES + FIRST_BLOCK
    return Decimal(vlf * 10**15 + block * 10**5 + slot)


def lsn_text(position_bytes: float, slot: int = 1) -> str:
    """The same as the errorlog prints it: ``(38:16:1)``."""
    position = max(0, int(position_bytes))
    return f"({FIRST_VLF + position // VLF_BYTES}:{position % VLF_BYTES // BLOCK_BYTES + FIRST_BLOCK}:{slot})"


@dataclass(slots=True)
class Fork:
    """A recovery fork: it left ``parent`` at ``start``. ``backed_up``: a log backup was taken on it."""

    id: int
    parent: int | None
    start: int
    backed_up: bool = False


@dataclass(slots=True)
class LoggedCommit:
    """A commit record: it ends at ``lsn`` on ``fork``."""

    id: int
    fork: int
    lsn: int
    at_s: float


@dataclass(slots=True)
class Ledger:
    """Forks and commit records of one database."""

    forks: list[Fork] = field(default_factory=lambda: [Fork(0, None, 0)])
    commits: list[LoggedCommit] = field(default_factory=list)

    def branch(self, parent: int, at_lsn: int) -> int:
        """A new fork; returns its id."""
        self.forks.append(Fork(len(self.forks), parent, at_lsn))
        return len(self.forks) - 1

    def lineage(self, fork: int) -> list[int]:
        """The fork and its ancestors, youngest first."""
        path = [fork]
        while (parent := self.forks[path[-1]].parent) is not None:
            path.append(parent)
        return path

    def extents(self, fork: int, end_lsn: int) -> dict[int, int]:
        """Fork -> up to where its log belongs to a copy on ``fork`` that ends at ``end_lsn``."""
        limits: dict[int, int] = {}
        limit = end_lsn
        for one in self.lineage(fork):
            limits[one] = limit
            limit = min(limit, self.forks[one].start)
        return limits

    def common_lsn(self, fork_one: int, end_one: int, fork_other: int, end_other: int) -> int:
        """Up to where two copies hold the same log."""
        if fork_one == fork_other:
            return min(end_one, end_other)
        one, other = self.extents(fork_one, end_one), self.extents(fork_other, end_other)
        youngest_shared = next(fork for fork in one if fork in other)
        return min(one[youngest_shared], other[youngest_shared])

    def forks_apart(self, fork_from: int, fork_to: int) -> list[int]:
        """Forks that a copy on ``fork_from`` has to follow to reach ``fork_to``, youngest first."""
        own = set(self.lineage(fork_from))
        return [one for one in self.lineage(fork_to) if one not in own]

    def log_commit(self, id_: int, fork: int, lsn: int, at_s: float) -> None:
        """Record a commit; old records go first when there are too many (their fate is long known)."""
        self.commits.append(LoggedCommit(id_, fork, lsn, at_s))
        if len(self.commits) > COMMITS_KEPT_MAX:
            del self.commits[: COMMITS_KEPT_MAX // 2]

    def forget_below(self, lsn: int) -> None:
        """Drop commit records that every copy has redone and shares; the last one stays, the DMVs show it."""
        commits = self.commits
        keep = 0
        while keep < len(commits) - 1 and commits[keep + 1].lsn <= lsn:
            keep += 1
        if keep:
            del commits[:keep]

    def commits_between(self, fork: int, from_lsn: int, to_lsn: int) -> tuple[int, ...]:
        """Ids of the commits that a copy on ``fork`` ending at ``to_lsn`` holds above ``from_lsn``."""
        limits = self.extents(fork, to_lsn)
        return tuple(one.id for one in self.commits if from_lsn < one.lsn <= limits.get(one.fork, -1))

    def last_commit(self, fork: int, end_lsn: int) -> LoggedCommit | None:
        """The youngest commit that a copy holds."""
        limits = self.extents(fork, end_lsn)
        for one in reversed(self.commits):
            if one.lsn <= limits.get(one.fork, -1):
                return one
        return None
