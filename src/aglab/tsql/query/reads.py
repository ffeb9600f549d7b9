"""Pages that a statement reads: logical reads by table, partitions it does not have to touch, pages that were not in memory.

A scan reads every leaf of the partitions that the condition on the partitioning column leaves; it takes the narrowest index that
covers the columns asked for. A seek reads one page per level in each partition it has to look into, further leaves for further
rows, and a search of the rows for each row that the index does not cover. Everything stays in memory once read (the pool is
larger than the labs' tables) until DBCC DROPCLEANBUFFERS or a restart. Source: "SET STATISTICS IO", "Partitioned tables and
indexes" (SQL Server documentation); levels and widths in :mod:`aglab.tsql.store.pages`. Left out: worktables, lob pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aglab.tsql.store.database import Database
from aglab.tsql.store.pages import depth, leaf_pages, rows_per_leaf
from aglab.tsql.store.partitions import function_of, placement_of, rows_by_partition
from aglab.tsql.store.table import Index, Table

Uses = dict[tuple[int, int, int], dict[str, tuple[int, Any]]]  # (database, table, index) -> kind of use -> count, last time
Window = dict[int, tuple[Callable[[Any], Any] | None, Callable[[Any], Any] | None]]  # column -> lowest, highest value asked for


@dataclass
class TableReads:
    """What one statement read of one table."""

    table: Table
    scans: int = 0
    logical: int = 0
    physical: float = 0.0
    ahead: float = 0.0
    operators: dict[tuple[str, str], set[int]] = field(default_factory=dict)  # (operator, index) -> partitions
    written: bool = False


class BufferPool:
    """Pages of each partition that are in memory; what was never dropped is there."""

    def __init__(self) -> None:
        self.cold = False
        self.held: dict[tuple[int, int, int, int], float] = {}
        self.read: dict[tuple[int, int], float] = {}  # (database id, filegroup) -> pages read from its files

    def drop(self) -> None:
        """DBCC DROPCLEANBUFFERS, or a start."""
        self.cold, self.held = True, {}

    def missing(self, key: tuple[int, int, int, int], pages: int, total: int) -> float:
        """How many of ``pages`` pages of a partition of ``total`` must be read (the mean, if any page is as likely)."""
        if not self.cold or total <= 0:
            return 0.0
        held = self.held.get(key, 0.0)
        absent = min(pages, total) * max(1.0 - held / total, 0.0)
        self.held[key] = min(held + absent, float(total))
        return absent


class StatementReads:
    """The reads of one running statement."""

    def __init__(self, pool: BufferPool) -> None:
        self.pool = pool
        self.tables: dict[int, TableReads] = {}

    def of(self, table: Table) -> TableReads:
        """The entry of a table."""
        found = self.tables.get(id(table))
        if found is None:
            found = self.tables[id(table)] = TableReads(table)
        return found

    def total(self) -> int:
        """Logical reads of all tables."""
        return sum(one.logical for one in self.tables.values())

    def scan(self, table: Table, database: Database | None, used: set[int], window: Window, frame: Any) -> None:
        """A scan of a table or of the narrowest index that covers it."""
        choices = [_parts(table, database, index, window, frame) for index in _covering(table, used)]
        best = min(choices, key=lambda one: one.pages)
        entry = self.of(table)
        entry.scans += max(len(best.numbers), 1)
        entry.logical += best.pages + sum(depth(table, best.index, best.counts[n - 1]) - 1 for n in best.live)
        kind = "Table Scan" if best.index is None else "Clustered Index Scan" if best.index.clustered else "Index Scan"
        entry.operators.setdefault((kind, best.name), set()).update(best.numbers)
        for number in best.live if self.pool.cold else ():
            pages = leaf_pages(table, best.index, best.counts[number - 1])
            entry.ahead += self._absent(table, database, best, number, pages, pages)

    def seek(
        self,
        table: Table,
        database: Database | None,
        index: Index,
        width: int,
        found: int,
        used: set[int],
        window: Window,
        frame: Any,
    ) -> None:
        """A seek with ``width`` equal key columns that found ``found`` rows."""
        parts = _parts(table, database, index, window, frame)
        entry = self.of(table)
        single = index.unique and width == len(index.columns)
        if not single or len(parts.numbers) > 1:
            entry.scans += len(parts.numbers)
        probes = sum(depth(table, index, parts.counts[n - 1]) for n in parts.live)
        leaves = max(-(-found // rows_per_leaf(table, index)) - 1, 0)
        entry.logical += probes + leaves
        kind = "Clustered Index Seek" if index.clustered else "Index Seek"
        entry.operators.setdefault((kind, index.name), set()).update(parts.numbers)
        if self.pool.cold:
            for number in parts.live:
                pages = 1 + leaves // len(parts.live)
                total = leaf_pages(table, index, parts.counts[number - 1])
                absent = self._absent(table, database, parts, number, pages, total)
                if leaves:  # a long range is read ahead of the search
                    entry.ahead += absent
                else:
                    entry.physical += absent
        if found and not index.clustered and not used <= covered(table, index):
            self._lookup(entry, table, database, found)

    def _lookup(self, entry: TableReads, table: Table, database: Database | None, found: int) -> None:
        base = table.clustered
        parts = _parts(table, database, base, {}, None)
        largest = max(parts.counts, default=0)
        entry.logical += found * (1 if base is None else depth(table, base, largest))
        kind = "RID Lookup" if base is None else "Key Lookup"
        entry.operators.setdefault((kind, parts.name), set()).update(parts.live)
        for number in parts.live if self.pool.cold else ():
            pages = -(-found // len(parts.live))
            total = leaf_pages(table, base, parts.counts[number - 1])
            entry.physical += self._absent(table, database, parts, number, pages, total)

    def write(self, table: Table, before: Any, after: Any) -> None:
        """The pages that a change of one row visits: every index for a new or a deleted row, twice where a key moves."""
        pages = 0 if table.clustered else 1
        for index in table.indexes:
            if before is not None and after is not None:
                if index.clustered or index.key(before) == index.key(after):
                    continue
                pages += 2 * _kept_depth(table, index)
            else:
                pages += _kept_depth(table, index)
        entry = self.of(table)
        entry.logical += pages
        entry.written = True

    def note_uses(self, uses: Uses, now: Any) -> None:
        """Count a statement once for each way in which it used an index of a table (sys.dm_db_index_usage_stats)."""
        for entry in self.tables.values():
            database_id = getattr(entry.table, "database_id", 2)
            if database_id == 2:
                continue
            ids = {index.name: index.id for index in entry.table.indexes}
            found = [
                (ids.get(name, 0), "lookups" if "Lookup" in kind else "seeks" if "Seek" in kind else "scans")
                for kind, name in entry.operators
            ]
            if entry.written:
                found += [(number, "updates") for number in (ids.values() if entry.table.clustered else (0, *ids.values()))]
            for number, kind in found:
                kept = uses.setdefault((database_id, entry.table.id, number), {})
                kept[kind] = (kept.get(kind, (0, None))[0] + 1, now)

    def _absent(self, table: Table, database: Database | None, parts: _Parts, number: int, pages: int, total: int) -> float:
        where = database.id if database is not None else 2
        absent = self.pool.missing((where, table.id, parts.id, number), pages, total)
        if database is not None and absent:
            from aglab.tsql.store.partitions import filegroups_of

            group = filegroups_of(database, placement_of(table, parts.index))[number - 1]
            self.pool.read[(where, group)] = self.pool.read.get((where, group), 0.0) + absent
        return absent


def _use(operator: str) -> str:
    return "lookups" if "Lookup" in operator else "seeks" if "Seek" in operator else "scans"


@dataclass
class _Parts:
    """The partitions of one index (None: heap) that a statement looks into."""

    index: Index | None
    numbers: Sequence[int]
    counts: list[int]
    pages: int

    @property
    def name(self) -> str:
        return self.index.name if self.index is not None else ""

    @property
    def id(self) -> int:
        return self.index.id if self.index is not None else 0

    @property
    def live(self) -> list[int]:
        """Those that have rows: an empty partition has no page."""
        return [number for number in self.numbers if self.counts[number - 1]]


def _parts(table: Table, database: Database | None, index: Index | None, window: Window, frame: Any) -> _Parts:
    placement = placement_of(table, index)
    function = function_of(database, placement) if database is not None and placement.column >= 0 else None
    if function is None or database is None:
        rows = len(table.rows)
        return _Parts(index, (1,), [rows], leaf_pages(table, index, rows))
    counts = rows_by_partition(database, table, placement)
    numbers: Sequence[int] = range(1, function.count + 1)
    asked = window.get(placement.column)
    if asked is not None:
        low, high = (None if fn is None else fn(frame) for fn in asked)
        nothing = (asked[0] is not None and low is None) or (asked[1] is not None and high is None)
        numbers = () if nothing else function.between(low, high)
    return _Parts(index, numbers, counts, sum(leaf_pages(table, index, counts[number - 1]) for number in numbers))


def covered(table: Table, index: Index) -> set[int]:
    """The columns that an index answers: its key, what it includes, the clustering key, the partitioning column."""
    found = set(index.columns) | set(index.included)
    if table.clustered is not None:
        found |= set(table.clustered.columns)
    cut = placement_of(table, index).column
    return found | {cut} if cut >= 0 else found


def _covering(table: Table, used: set[int]) -> Iterable[Index | None]:
    usable = [one for one in table.indexes if not one.clustered and not one.options.get("DISABLED")]
    return [table.clustered, *(one for one in usable if used <= covered(table, one))]


def _kept_depth(table: Table, index: Index) -> int:
    """The depth of an index, worked out anew when its rows have doubled."""
    size = len(table.rows).bit_length()
    if index.depth_kept[0] != size:
        index.depth_kept = (size, depth(table, index, max(len(table.rows), 1)))
    return index.depth_kept[1]
