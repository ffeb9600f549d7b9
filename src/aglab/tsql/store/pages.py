"""Pages of a table or index: leaves, the levels above them, and how deep a search goes.

A leaf of the rows holds rows of declared width; a leaf of a nonclustered index holds its key, the columns it includes and the
row's locator (clustering key, or 8 bytes of a heap). Each level above holds one key and a page pointer for each page below.
Widths follow "Estimate the size of a clustered index" and its sister pages (SQL Server documentation). Left out: fill factor,
page splits (an update in place keeps pages full), compression, overflow pages.
"""

from __future__ import annotations

from aglab.tsql.store.table import Index, Table, column_bytes

PAGE_BYTES = 8096  # of 8,192: without header
ROW_BYTES = 7  # header, null bitmap and slot of a short index row
POINTER_BYTES = 6 + 5  # page pointer, header and slot of a row above the leaves


def row_bytes(table: Table, index: Index | None) -> int:
    """Width of a leaf row."""
    if index is None or index.clustered:
        return sum(column_bytes(column.type) for column in table.columns) + 9
    wanted = set(index.columns) | set(index.included)
    clustered = table.clustered
    if clustered is not None:
        wanted |= set(clustered.columns)
    locator = 8 if clustered is None else 0
    return sum(column_bytes(table.columns[one].type) for one in wanted) + locator + ROW_BYTES


def rows_per_leaf(table: Table, index: Index | None) -> int:
    """Rows in one leaf page."""
    return max(PAGE_BYTES // row_bytes(table, index), 1)


def leaf_pages(table: Table, index: Index | None, rows: int) -> int:
    """Leaf pages of so many rows; none where there are none."""
    return -(-rows // rows_per_leaf(table, index))


def fan_out(table: Table, index: Index) -> int:
    """Pages that one page of the level above points to."""
    key = sum(column_bytes(table.columns[one].type) for one in index.columns)
    return max(PAGE_BYTES // (key + POINTER_BYTES), 2)


def levels(table: Table, index: Index | None, rows: int) -> list[int]:
    """Pages of each level from the leaves up to the root; a heap has leaves only."""
    pages = leaf_pages(table, index, rows)
    found = [pages]
    while index is not None and pages > 1:
        pages = -(-pages // fan_out(table, index))
        found.append(pages)
    return found


def depth(table: Table, index: Index | None, rows: int) -> int:
    """Pages that a search for one row reads in an index; 0 where there are no rows."""
    return len(levels(table, index, rows)) if rows else 0


def level_pages(table: Table, index: Index | None, rows: int) -> int:
    """Pages above the leaves."""
    return sum(levels(table, index, rows)[1:])
