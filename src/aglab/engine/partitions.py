"""What cutting a table, and spreading its files, does to I/O: heat, gathered writes, searches, and whose drives they are.

Four mechanisms, none with a fitted constant:

- *Heat.* Ranges of a growing key get even rows, not even work: the share of the work on the newest rows falls on one range.
- *Gathered writes.* A checkpoint writes neighbouring dirty pages in one I/O of at most 32 pages. With a share d of the pages
  dirty, a run of neighbours ends after each page with chance 1 - d; where tables share a file, also at the end of an extent of 8.
- *Searches.* An index that is cut like its table is a B-tree for each range: a search without the partitioning column looks into
  all of them.
- *Whose drives.* On an array that deals every volume over all its drives, files add none. Where each volume has its own drives,
  the hottest volume is full first: the whole sustains the rate of one volume over its share of the work.

Sources: "Writing pages", "Pages and extents architecture guide", "Partitioned tables and indexes" (SQL Server documentation);
BP1032 for the array and its findings. Left out: uneven heat inside a range, locks, plans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from aglab.core.quantity import check_number
from aglab.hardware.arrays import DiskArray
from aglab.hardware.spindles import sustained

PAGES_PER_WRITE = 32
EXTENT = 8
IO_KB = 8.0
READ_SHARE = 0.7  # of the paper's database tests
FILL = 0.85


@dataclass(frozen=True)
class Layout:
    """What a layout comes to.

    ``iops`` sustained within 20 ms at 8 KB and 70 % reads, ``busiest`` the share of the work on the busiest range, ``writes``
    I/Os for 100 dirty pages, ``aligned_pages`` and ``apart_pages`` read by one search through an index that is cut, or is not.
    """

    iops: float
    busiest: float
    writes: float
    aligned_pages: int
    apart_pages: int


def heat(ranges: int, newest: float) -> float:
    """Share of the work on the newest of even ranges; ``newest`` of the work goes to the newest rows, the rest anywhere."""
    return newest + (1.0 - newest) / ranges


def writes_per_page(dirty: float, own_file: bool) -> float:
    """Writes for each dirty page when a share ``dirty`` of the pages, anywhere, is dirty."""
    if dirty <= 0.0:
        return 1.0
    if own_file:  # runs go on across extents, up to 32 pages
        return (1.0 - dirty) / -math.expm1(PAGES_PER_WRITE * math.log(dirty)) if dirty < 1.0 else 1.0 / PAGES_PER_WRITE
    return (1.0 + (EXTENT - 1) * (1.0 - dirty)) / EXTENT


def search_pages(rows: float, ranges: int, leaf_rows: float, fan_out: float) -> int:
    """Pages of one search that looks into each of ``ranges`` B-trees of even size."""
    leaves = max(rows / ranges / leaf_rows, 1.0)
    return ranges * (1 + (math.ceil(math.log(leaves, fan_out) - 1e-12) if leaves > 1.0 else 0))


def layout(
    array: DiskArray,
    ranges: int,
    newest: float,
    dirty: float,
    pooled: bool,
    own_files: bool,
    rows: float = 1e8,
    leaf_rows: float = 400.0,
    fan_out: float = 400.0,
) -> Layout:
    """One layout of one table.

    Parameters
    ----------
    array : DiskArray
        The drives, all of them.
    ranges : int
        Even ranges, each on a volume of its own.
    newest, dirty : float
        Share of the work on the newest rows; share of the table's pages dirty when a checkpoint comes.
    pooled : bool
        The array deals every volume over all drives; else the drives are divided among the volumes.
    own_files : bool
        Each range has a file to itself.
    rows, leaf_rows, fan_out : float
        Size of the table; index rows in a page; pages that a page above points to.

    Raises
    ------
    UsageError
        A value out of range.
    """
    for name, value, low, high, meaning in (
        ("ranges", ranges, 1, 15_000, "partitions"),
        ("newest", newest, 0, 1, "share of the work on the newest rows"),
        ("dirty", dirty, 0, 1, "share of the pages that are dirty"),
        ("rows", rows, 1, 1e12, "rows of the table"),
    ):
        check_number(name, value, {"unit": "", "low": low, "high": high, "meaning": meaning}, "layout")
    whole = sustained(array, IO_KB, READ_SHARE, FILL).iops
    busiest = heat(ranges, newest)
    return Layout(
        iops=whole if pooled else whole / ranges / busiest,
        busiest=busiest,
        writes=100.0 * writes_per_page(dirty, own_files),
        aligned_pages=search_pages(rows, ranges, leaf_rows, fan_out),
        apart_pages=search_pages(rows, 1, leaf_rows, fan_out),
    )


def cached_write_ms(array: DiskArray, iops: float) -> float:
    """Latency of a write to one array (ms): that of its cache as long as the drives keep up with destaging, else infinite."""
    limit = sustained(array, IO_KB, READ_SHARE, FILL).iops
    return array.cache_write_ms if iops < limit else math.inf
