"""Pages that user sessions make dirty, and the writes that bring them to the data files.

Every committed row change dirties the page of the row and one page of each index whose entry changed, in the filegroup of that
partition. A checkpoint (the statement, or the background once pages are older than the database's recovery target) writes each
dirty page once; neighbours go out in one write of at most 32 pages. Pages are neighbours inside an extent of eight, and beyond
it only where one partition has its file to itself: tables that share a file take turns in taking extents.

Source: "Writing pages", "Pages and extents architecture guide", "Database checkpoints" (SQL Server documentation). Assumed: a
page follows from the rank of its key (in a heap from the order in which rows came; in an index of more than 100,000 keys it is
any leaf), and pages are full. Left out: the lazy writer, eager writes of bulk loads.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.tsql import CommitRecord
from aglab.tsql.host import RowChange
from aglab.tsql.store.files import data_files, grow, parts_of, shares
from aglab.tsql.store.memory import is_memory
from aglab.tsql.store.pages import leaf_pages, rows_per_leaf
from aglab.tsql.store.partitions import filegroups_of, partition_of, placement_of
from aglab.tsql.store.table import Index, Table

if TYPE_CHECKING:
    from aglab.tsql.store.database import Database, DataFile
    from aglab.twin.node import Node

PAGES_PER_WRITE = 32  # a gathered write: 256 KB
EXTENT = 8
RANKED_MAX = 100_000  # beyond it, keeping keys in order costs more than it shows
AUTOMATIC_S = 60.0  # target of an automatic checkpoint with recovery interval 0
_STRIDE = 0.6180339887498949  # deals extents to files in proportion to their share, evenly at any length

Page = tuple[int, int, int, int]  # table, index, partition, number


@dataclass
class FileTotals:
    """What was written to one file since the start."""

    writes: int = 0
    pages: int = 0
    stall_ms: float = 0.0


@dataclass
class PageWrites:
    """Dirty pages and file totals of one node's user databases."""

    dirty: dict[str, dict[int, set[Page]]] = field(default_factory=dict)  # database -> file id -> pages
    since_s: dict[str, float] = field(default_factory=dict)  # when the oldest of them became dirty
    totals: dict[tuple[str, int], FileTotals] = field(default_factory=dict)

    def committed(self, node: Node, record: CommitRecord) -> None:
        """Note the pages that a transaction changed; files that are full grow."""
        database = node.instance.database(record.database)
        if database is None:
            return
        self.sweep(node, database)
        books: dict[str, _TableBook] = {}
        for change in record.changes:
            if not isinstance(change, RowChange):
                continue
            book = books.get(change.table)
            if book is None:
                schema, _, name = change.table.partition(".")
                table = database.find(schema, name)
                if not isinstance(table, Table) or is_memory(table):
                    continue
                book = books[change.table] = _TableBook(database, table)
            for file_id, page in book.pages(change):
                self._note(node, database.name, file_id, page)
        if books:
            grow(database)

    def rebuilt(self, node: Node, database: Database, table: Table, index_name: str, number: int | None) -> None:
        """ALTER INDEX REBUILD writes every page of the index, or of one partition of it."""
        book = _TableBook(database, table)
        for index, partition, group, rows in parts_of(database, table):
            named = index_name.upper() == "ALL" or (index is not None and index.name.lower() == index_name.lower())
            if named and number in (None, partition):
                for page in range(leaf_pages(table, index, rows)):
                    key = (table.id, index.id if index is not None else 0, partition, page)
                    self._note(node, database.name, book.file(group, page), key)

    def _note(self, node: Node, database: str, file_id: int, page: Page) -> None:
        if not file_id:
            return
        if not self.dirty.get(database):
            self.since_s[database] = node.now_s()
        self.dirty.setdefault(database, {}).setdefault(file_id, set()).add(page)

    def sweep(self, node: Node, database: Database) -> None:
        """Write what is older than the recovery target."""
        target_s = float(database.options["target_recovery_time_in_seconds"]) or AUTOMATIC_S
        if database.name in self.since_s and node.now_s() - self.since_s[database.name] >= target_s:
            self.checkpoint(node, database.name)

    def checkpoint(self, node: Node, database: str) -> None:
        """Write every dirty page of a database."""
        name = next((one for one in self.dirty if one.lower() == database.lower()), None)
        if name is None:
            return
        self.since_s.pop(name, None)
        write_ms = node.profile.data.write_latency_us / 1000.0
        for file_id, pages in self.dirty.pop(name).items():
            total = self.totals.setdefault((name, file_id), FileTotals())
            writes = sum(1 for _ in runs(pages))
            total.writes += writes
            total.pages += len(pages)
            total.stall_ms += writes * write_ms


def runs(pages: set[Page]) -> Iterator[int]:
    """Lengths of the writes that bring out a file's dirty pages in order."""
    shared = len({page[:3] for page in pages}) > 1
    longest = EXTENT if shared else PAGES_PER_WRITE
    length, last = 0, (0, 0, 0, -2)
    for page in sorted(pages):
        follows = page[:3] == last[:3] and page[3] == last[3] + 1
        if follows and length < longest and not (shared and page[3] % EXTENT == 0):
            length += 1
        else:
            if length:
                yield length
            length = 1
        last = page
    if length:
        yield length


class _TableBook:
    """Where the rows and index entries of one table lie."""

    def __init__(self, database: Database, table: Table) -> None:
        self.database, self.table = database, table
        self.bases: list[Index | None] = [table.clustered, *(one for one in table.indexes if not one.clustered)]
        self.placements = [placement_of(table, one) for one in self.bases]
        self.groups = [filegroups_of(database, one) for one in self.placements]
        self.rows = [rows_per_leaf(table, one) for one in self.bases]
        self.files: dict[int, list[tuple[float, int]]] = {}

    def pages(self, change: RowChange) -> Iterator[tuple[int, Page]]:
        """(file id, page) of every page that a change touches."""
        for place, index in enumerate(self.bases):
            nonclustered = index is not None and not index.clustered
            images = [image for image in (change.before, change.after) if image is not None]
            if nonclustered and index is not None and len(images) == 2 and index.key(images[0]) == index.key(images[1]):
                continue
            for image in images if nonclustered else images[-1:]:
                partition = partition_of(self.database, self.placements[place], image)
                number = self._page(place, index, image, change.row_id)
                key = (self.table.id, index.id if index is not None else 0, partition, number)
                yield self.file(self.groups[place][partition - 1], number), key

    def _page(self, place: int, index: Index | None, image: Any, row_id: int) -> int:
        """The leaf of a row or an index entry in its partition; ranks run through all partitions of a clustered index."""
        if index is None:
            return (row_id - 1) // self.rows[place]
        cut = 1 if index.clustered else len(self.groups[place])
        if len(index.entries) <= RANKED_MAX:
            per_key = max(len(self.table.rows) / max(len(index.entries), 1), 1.0)
            return int(bisect_left(index.sorted_keys(), index.key(image)) * per_key / cut) // self.rows[place]
        leaves = max(-(-len(self.table.rows) // self.rows[place] // cut), 1)
        return zlib.crc32(repr(index.key(image)).encode()) % leaves

    def file(self, group: int, page: int) -> int:
        """The file of a filegroup that a page lies in; 0 where the filegroup has none."""
        edges = self.files.get(group)
        if edges is None:
            edges, edge = [], 0.0
            files: list[DataFile] = data_files(self.database, group)
            for file_id, share in shares(files).items():
                edge += share
                edges.append((edge, file_id))
            self.files[group] = edges
        if len(edges) < 2:
            return edges[0][1] if edges else 0
        spot = (page // EXTENT * _STRIDE) % 1.0
        return next((file_id for edge, file_id in edges if spot < edge), edges[-1][1])
