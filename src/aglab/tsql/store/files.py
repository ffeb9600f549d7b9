"""Which data files hold which pages: proportional fill inside a filegroup, and automatic growth.

A filegroup spreads its pages over its files in proportion to their free space when they were made, that is to their sizes; when
all are full one file grows by its increment, or all with AUTOGROW_ALL_FILES. Source: "Database files and filegroups", "ALTER
DATABASE (Transact-SQL) file and filegroup options" (SQL Server documentation). Left out: the log, extents left by deletes.
"""

from __future__ import annotations

from collections.abc import Iterator

from aglab.tsql.store.database import Database, DataFile
from aglab.tsql.store.pages import leaf_pages, level_pages
from aglab.tsql.store.partitions import filegroups_of, placement_of, rows_by_partition
from aglab.tsql.store.table import Index, Table

SYSTEM_PAGES = 300  # catalogue tables of a small database, in the primary filegroup
HEADER_PAGES = 8  # header, space maps and allocation maps at the start of every data file
MAX_GROWTHS = 10_000


def parts_of(database: Database, table: Table) -> Iterator[tuple[Index | None, int, int, int]]:
    """(index or None for a heap's rows, partition number, filegroup, rows) of every partition of a table and its indexes."""
    bases: list[Index | None] = [] if table.clustered else [None]
    for index in [*bases, *sorted(table.indexes, key=lambda one: one.id)]:
        placement = placement_of(table, index)
        groups = filegroups_of(database, placement)
        for number, rows in enumerate(rows_by_partition(database, table, placement), 1):
            yield index, number, groups[number - 1], rows


def pages_by_filegroup(database: Database) -> dict[int, int]:
    """Pages that tables and indexes take in each filegroup."""
    taken = {number: SYSTEM_PAGES if number == 1 else 0 for number in database.filegroups}
    for table in database.tables():
        if table.options.get("MEMORY_OPTIMIZED"):
            continue  # its rows are in memory, its checkpoint files in a container
        for index, _, group, rows in parts_of(database, table):
            if rows:
                taken[group] = taken.get(group, 0) + leaf_pages(table, index, rows) + level_pages(table, index, rows) + 1
    return taken


def data_files(database: Database, filegroup: int) -> list[DataFile]:
    """The data files of a filegroup."""
    return [one for one in database.files if one.type == 0 and one.filegroup_id == filegroup]


def shares(files: list[DataFile]) -> dict[int, float]:
    """The share of a filegroup's pages that each file takes: proportional fill."""
    room = {one.file_id: max(one.size - HEADER_PAGES, 1) for one in files}
    total = sum(room.values())
    return {file_id: pages / total for file_id, pages in room.items()}


def used_pages(database: Database) -> dict[int, int]:
    """Pages in use of each data file, by file id."""
    used: dict[int, int] = {}
    for group, pages in pages_by_filegroup(database).items():
        files = data_files(database, group)
        for file_id, share in shares(files).items():
            used[file_id] = min(HEADER_PAGES + round(pages * share), next(f.size for f in files if f.file_id == file_id))
    return used


def grow(database: Database) -> list[DataFile]:
    """Grow files of full filegroups as their settings say; the files that grew. A file at MAXSIZE grows no more."""
    grown: list[DataFile] = []
    for group, pages in pages_by_filegroup(database).items():
        files = data_files(database, group)
        everywhere = bool(database.filegroups[group].get("is_autogrow_all_files"))
        for _ in range(MAX_GROWTHS):
            if not files or sum(one.size - HEADER_PAGES for one in files) >= pages:
                break
            ready = sorted((one for one in files if _step(one) > 0), key=lambda one: (one.size, one.file_id))
            if not ready:
                break
            for one in ready if everywhere else ready[:1]:
                one.size += _step(one)
                grown.append(one)
    return grown


def _step(file: DataFile) -> int:
    step = max(file.size * file.growth // 100, 8) if file.is_percent_growth else file.growth
    return step if file.max_size < 0 else min(step, file.max_size - file.size)
