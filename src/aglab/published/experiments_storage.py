"""Rows of paper 004 that the spindle model answers: an array driven by IOMeter within 20 ms.

No constant is fitted to these rows, but they are no blind predictions either: seek times, cache, destage batch and alignment of
``data/arrays`` are assumptions, and were chosen when the published results were known. The RAID study stores the same 1,200 GB at
each level, so parity levels are less full; printed fill percentages are taken as they stand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from aglab.hardware import DiskArray
from aglab.hardware.spindles import sustained

ARRAY = "dell-ps6100xv"
READ_SHARE = 0.7
FULL = 0.85


def iometer_iops(io_kb: float, fill: float, raid: str = "10") -> float:
    """IOPS of one array at 70 % reads within 20 ms; ``fill`` is that of RAID 10, other levels hold the same data."""
    mirrored = DiskArray.load(ARRAY)
    array = dataclasses.replace(mirrored, raid=raid)
    return sustained(array, io_kb, READ_SHARE, fill * mirrored.usable_gb / array.usable_gb).iops


def raid_gain(raid: str) -> float:
    """How much more RAID 10 sustains than another level (%)."""
    return 100.0 * (iometer_iops(8, FULL) / iometer_iops(8, FULL, raid) - 1.0)


def database_iops() -> float:
    """IOPS of the array under the database. The model has no stop before the array's own limit, so it is that limit."""
    return iometer_iops(8, FULL)


def database_gap() -> float:
    """The database's IOPS beside IOMeter's (%): zero as long as :func:`database_iops` knows no other limit."""
    return 100.0 * (database_iops() / iometer_iops(8, FULL) - 1.0)


COMPUTED: dict[str, Callable[[], float]] = {
    **{
        f"eql-iops-{kb}k-{percent}pct": lambda kb=kb, percent=percent: iometer_iops(kb, percent / 100)  # type: ignore[misc]
        for kb in (8, 64)
        for percent in (40, 62, 85)
    },
    "eql-iom-iops-ref": lambda: iometer_iops(8, FULL),
    "eql-raid10-vs-50": lambda: raid_gain("50"),
    "eql-raid10-vs-6": lambda: raid_gain("6"),
    "eql-tpce-iops": database_iops,
    "eql-iom-vs-db-gap": database_gap,
}
