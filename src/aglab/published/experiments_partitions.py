"""Rows of paper 004 on files and partitions: what the mechanisms of :mod:`aglab.engine.partitions` say to them.

Four users load one array far below its limit (its own figure: 80 users make 3,287 I/Os a second), so outside checkpoints a write
ends in the controller's cache, partitioned or not; during a checkpoint SQL Server raises outstanding writes until its back-off
stops it, whatever file they go to. The model therefore sees no change in write latency; the paper measured one. Roles were set
before anything was computed, and nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Callable

from aglab.engine.partitions import cached_write_ms
from aglab.hardware import DiskArray

ARRAY = "dell-ps6100xv"
USERS = 4
IOPS_PER_USER = 3287 / 80  # section 6.3: 80 users


def write_latency_change() -> float:
    """Change of write latency when a table is cut into four on one array (%)."""
    array = DiskArray.load(ARRAY)
    load = USERS * IOPS_PER_USER
    return 100.0 * (cached_write_ms(array, load) / cached_write_ms(array, load) - 1.0)


COMPUTED: dict[str, Callable[[], float]] = {
    "eql-part4-data-write": write_latency_change,
    "eql-part4-log-write": write_latency_change,
}
