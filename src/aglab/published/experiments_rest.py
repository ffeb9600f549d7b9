"""Single rows that a mechanism answers: pages read alone once memory is warm, the size of a memory-optimized table.

Source of the table's size: "Table and row size in memory-optimized tables" (Microsoft Learn): a row is a header of 24 bytes and
8 for each index, and a body; a hash index takes 8 bytes a bucket, the count rounded up to a power of two. The page says that this
is the least: versions of rows that wait for garbage collection and the allocator's pages come on top.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from aglab.core.units import MIB
from aglab.engine import Flow
from aglab.scenario import Scenario

ROWS, BUCKETS, COLUMN_BYTES = 5000, 1_048_576, 8000
_HEADER, _POINTER, _ALIGN = 24, 8, 8
_BODY_FIXED = 4 + 2 + 2 * 2  # the int key, NULL bits, offsets of one column of variable length


def memory_table_mb(rows: int, buckets: int, column_bytes: int) -> float:
    """Least memory of a table with an int key in one hash index and one variable column (MB of 1,048,576 bytes)."""
    body = math.ceil((_BODY_FIXED + column_bytes) / _ALIGN) * _ALIGN
    actual = 2 ** math.ceil(math.log2(buckets))
    return (rows * (_HEADER + _POINTER + body) + _POINTER * actual) / MIB


@functools.cache
def read_kb() -> float:
    """Size of a data read of the NVDIMM paper's server with a warm buffer pool (KB)."""
    flow = Flow(Scenario.default("hpe-dl380-gen9-nvdimm", 1))
    flow.advance(10.0)
    totals = flow.totals("sql1")
    return totals["data_bytes_read"] / totals["data_reads"] / 1024.0


COMPUTED: dict[str, Callable[[], float]] = {
    "nvdimm-wl-warm-to": read_kb,
    "blog-table-mem": lambda: memory_table_mb(ROWS, BUCKETS, COLUMN_BYTES),
}
