"""Partition functions, partition schemes, and where a row of a table or index lies.

A function cuts the values of one column into ranges; a scheme names a filegroup for each range; a table or index is placed on
a filegroup or on a scheme with a column. A partition has no storage of its own here: a row's partition is computed from its
value, counts are kept beside the rows. NULL lies in the first range. Source: "Partitioned tables and indexes", "CREATE PARTITION
FUNCTION", "ALTER PARTITION FUNCTION" (SQL Server documentation).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.store.table import Index, Row, Table, comparable

if TYPE_CHECKING:
    from aglab.tsql.store.database import Database

FIRST_FUNCTION_ID = 65536
FIRST_SCHEME_ID = 65601
MAX_PARTITIONS = 15_000


@dataclass(frozen=True)
class Placement:
    """A data space (filegroup or partition scheme) and, on a scheme, the ordinal of the partitioning column."""

    space: int
    column: int = -1


@dataclass(frozen=True)
class PartitionFunction:
    """RANGE LEFT (a boundary belongs to the range on its left) or RANGE RIGHT; ``boundaries`` ascend."""

    id: int
    name: str
    type: SqlType
    right: bool
    boundaries: tuple[Any, ...]
    created: Any = None
    modified: Any = None

    @property
    def count(self) -> int:
        """How many ranges there are."""
        return len(self.boundaries) + 1

    def number(self, value: Any) -> int:
        """The range (1 and up) that a value lies in."""
        if value is None:
            return 1
        value = comparable(value)
        return 1 + (bisect_right(self._keys, value) if self.right else bisect_left(self._keys, value))

    @cached_property
    def _keys(self) -> list[Any]:
        return [comparable(boundary) for boundary in self.boundaries]

    def between(self, low: Any, high: Any) -> range:
        """The ranges that values from ``low`` to ``high`` can lie in (None is open)."""
        first = 1 if low is None else self.number(low)
        last = self.count if high is None else self.number(high)
        return range(first, last + 1)

    def split(self, value: Any, now: Any) -> PartitionFunction:
        """With one more boundary."""
        ordered = sorted((*self.boundaries, value), key=comparable)
        return replace(self, boundaries=tuple(ordered), modified=now)

    def merge(self, ordinal: int, now: Any) -> PartitionFunction:
        """Without boundary ``ordinal`` (0 and up)."""
        return replace(self, boundaries=self.boundaries[:ordinal] + self.boundaries[ordinal + 1 :], modified=now)

    def find(self, value: Any) -> int | None:
        """The ordinal (0 and up) of a boundary."""
        wanted = comparable(value)
        return next((n for n, boundary in enumerate(self.boundaries) if comparable(boundary) == wanted), None)


@dataclass(frozen=True)
class PartitionScheme:
    """A filegroup id for each range of a function, and the one that the next SPLIT uses."""

    id: int
    name: str
    function: str
    filegroups: tuple[int, ...]
    next_used: int | None = None


def function_of(database: Database, placement: Placement | None) -> PartitionFunction | None:
    """The function that cuts a placement; None on a plain filegroup."""
    scheme = scheme_of(database, placement)
    return database.partition_functions[scheme.function.lower()] if scheme is not None else None


def scheme_of(database: Database, placement: Placement | None) -> PartitionScheme | None:
    """The scheme of a placement; None on a plain filegroup."""
    if placement is None or placement.column < 0:
        return None
    return next((one for one in database.partition_schemes.values() if one.id == placement.space), None)


def placement_of(table: Table, index: Index | None) -> Placement:
    """Where an index (None, or the clustered one: the rows themselves) lies; the primary filegroup where nothing was said."""
    own = index.placement if index is not None and not index.clustered else None
    return own or table.placement or Placement(1)


def filegroups_of(database: Database, placement: Placement) -> tuple[int, ...]:
    """The filegroup of each partition, in order."""
    scheme = scheme_of(database, placement)
    return scheme.filegroups if scheme is not None else (placement.space,)


def is_online(database: Database, table: Table) -> bool:
    """Whether each filegroup of the table's rows has all of its files online."""
    closed = {file.filegroup_id for file in database.files if file.state and file.type == 0}
    return not closed or closed.isdisjoint(filegroups_of(database, placement_of(table, None)))


def partition_of(database: Database, placement: Placement, row: Row) -> int:
    """The partition (1 and up) of a row."""
    function = function_of(database, placement)
    return function.number(row[placement.column]) if function is not None else 1


def rows_by_partition(database: Database | None, table: Table, placement: Placement) -> list[int]:
    """Row counts in partition order; counted once and then kept in step by the table itself."""
    function = function_of(database, placement) if database is not None else None
    if function is None:
        return [len(table.rows)]
    kept = table.counts.get(placement)
    if kept is None or kept[0] is not function:
        counts = [0] * function.count
        for row in table.rows.values():
            counts[function.number(row[placement.column]) - 1] += 1
        kept = table.counts[placement] = (function, counts)
    return kept[1]


def aligned(database: Database, table: Table, index: Index) -> bool:
    """Whether an index is cut like its table: the same ranges over the same column."""
    mine, its = placement_of(table, index), placement_of(table, None)
    if mine.column != its.column:
        return False
    one, other = function_of(database, mine), function_of(database, its)
    if one is None or other is None:
        return one is other
    return (one.type, one.right, one.boundaries) == (other.type, other.right, other.boundaries)


def users_of(database: Database, space: int) -> list[tuple[Table, Index | None]]:
    """The tables (None) and indexes that lie on a data space."""
    found: list[tuple[Table, Index | None]] = []
    for table in database.tables():
        if placement_of(table, None).space == space:
            found.append((table, table.clustered))
        found += [(table, i) for i in table.indexes if not i.clustered and placement_of(table, i).space == space]
    return found
