"""What an array of spindles sustains, from its mechanics.

A random request costs a seek, half a revolution and the transfer. Data that fills part of the array lies on the outer
tracks: seeks are shorter there and transfers faster. A drive with several requests waiting takes the nearest first, so
seeks shrink with the depth of its queue; writes wait in the controller's cache and are destaged sorted. A request that
starts on any sector crosses a stripe unit with a known probability and then costs two drives an operation. RAID says how
many operations a small write costs; writes of one stripe that meet in the cache share their parity updates. Queue depth
is raised until read latency reaches its cap: drives are never idle there, which is the highest rate within the cap.

Sources: BP1032 for the array; seek curve, zones and elevator as in textbooks of disk modelling (Ruemmler and Wilkes
1994); write penalty of small writes 2, 4 and 6 as RAID defines it. Left out: read hits in the cache (random data),
rotational ordering, a rebuild. No constant was fitted.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from aglab.core.errors import UsageError
from aglab.core.quantity import check_number
from aglab.hardware.arrays import DiskArray, Spindle
from aglab.hardware.parts import SERVICE_SQUARES

CAP_MS = 20.0
_MEAN_ROOT = 8.0 / 15.0  # mean of sqrt(d) between two random points of a line of length 1
_STEPS = 80


@dataclass(frozen=True)
class Sustained:
    """What an array (or a group of equal arrays) sustains within a latency cap.

    ``limit`` says what stops it: ``spindles``, or ``links``. ``outstanding`` is the queue depth at which read latency is
    the cap (reads only: writes end in the cache). Rates are of the whole group.
    """

    iops: float
    mb_s: float
    read_ms: float
    outstanding: float
    disk_ops_per_io: float
    read_service_ms: float
    write_service_ms: float
    limit: str


def stroke(spindle: Spindle, fill: float) -> float:
    """Share of the tracks, from the outer edge, that hold a share ``fill`` of the drive's data."""
    outer, inner = spindle.outer_mb_s, spindle.inner_mb_s
    mean = 0.5 * (outer + inner)
    slope = outer - inner
    if slope < 1e-9 * outer:
        return fill
    return (outer - math.sqrt(max(0.0, outer * outer - 2.0 * slope * mean * fill))) / slope


def service_ms(spindle: Spindle, fill: float, waiting: float, kb: float) -> float:
    """Time of one operation of ``kb`` when the drive picks the nearest of ``waiting`` requests (ms).

    With one request the seek is between random points; with n sorted ones the distance is that between neighbours.
    """
    tracks = stroke(spindle, fill)
    shrink = math.sqrt(3.0 / (2.0 + max(1.0, waiting)))
    seek = spindle.seek_min_ms + spindle.seek_span_ms * _MEAN_ROOT * shrink * math.sqrt(tracks)
    rate_mb_s = 0.5 * (spindle.outer_mb_s + spindle.inner_mb_s) * fill / tracks
    return seek + 0.5 * spindle.rotation_ms + kb * 1.024 / rate_mb_s


def drives_per_request(array: DiskArray, io_kb: float) -> float:
    """Drives a request of ``io_kb`` works on: one, and one more for each stripe unit it crosses (mean)."""
    return 1.0 + max(0.0, io_kb - array.align_bytes / 1024.0) / array.stripe_kb


def operations_per_write(array: DiskArray, io_kb: float, fill: float) -> float:
    """Disk operations of one small write: mirrors 2; parity reads and writes data and parity, parity shared in the cache."""
    if array.raid in ("1", "10"):
        return 2.0
    if not array.parity:
        return 1.0
    parity_ops = 4.0 if array.raid == "6" else 2.0
    sets = 2 if array.raid == "50" else 1
    stripe_kb = (array.active - array.parity) / sets * array.stripe_kb
    dirty = array.cache_gb * array.dirty_share * 1e6 / io_kb
    met = dirty * stripe_kb / (fill * array.usable_gb * 1e6)
    shared = met / -math.expm1(-met) if met > 1e-9 else 1.0
    return 2.0 + parity_ops / shared


def sustained(
    array: DiskArray, io_kb: float, read_share: float, fill: float, cap_ms: float = CAP_MS, arrays: int = 1, spread: bool = False
) -> Sustained:
    """The highest rate of random I/O within a latency cap.

    Parameters
    ----------
    array : DiskArray
    io_kb : float
        Size of a request.
    read_share : float
        Reads among the requests, 0 to 1.
    fill : float
        Data over usable capacity of one array, 0 to 1.
    cap_ms : float
        Latency at which queue depth is raised no further.
    arrays : int
        Equal arrays in one group, the data spread evenly.
    spread : bool
        True: ``fill`` is that of a single array and the same data is spread over all, so each is emptier.
        False: every array is filled to ``fill``.

    Raises
    ------
    UsageError
        A value out of range, or a cap below the time of a single read.
    """
    for name, value, unit, low, high, meaning in (
        ("io_kb", io_kb, "KB", 0.5, 65536, "size of a request"),
        ("read_share", read_share, "", 0, 1, "reads among the requests"),
        ("fill", fill, "", 0.001, 1, "data over usable capacity"),
        ("cap_ms", cap_ms, "ms", 0.01, 1e5, "latency that is still accepted"),
        ("arrays", arrays, "arrays", 1, 1000, "equal arrays of one group"),
    ):
        check_number(name, value, {"unit": unit, "low": low, "high": high, "meaning": meaning}, "storage")
    each = fill / arrays if spread else fill
    one = _one_array(array, float(io_kb), float(read_share), max(each, 0.001), float(cap_ms))
    return dataclasses.replace(one, iops=one.iops * arrays, mb_s=one.mb_s * arrays, outstanding=one.outstanding * arrays)


def _one_array(array: DiskArray, io_kb: float, reads: float, fill: float, cap_ms: float) -> Sustained:
    drives = drives_per_request(array, io_kb)
    op_kb = io_kb / drives
    alone_ms = service_ms(array.spindle, fill, 1.0, op_kb)
    if reads > 0 and cap_ms < alone_ms:
        raise UsageError(
            f"cap_ms={cap_ms:g} must be >= {alone_ms:.2f} ms, one read of {io_kb:g} KB (array {array.name})", "raise the cap"
        )
    write_ops = operations_per_write(array, io_kb, fill) * drives
    batch = min(float(array.destage_batch), array.cache_gb * array.dirty_share * 1e6 / io_kb / array.active)
    write_ms = service_ms(array.spindle, fill, batch, op_kb)

    def busy_ms(iops: float) -> tuple[float, float]:
        waiting = iops * reads * drives / array.active * cap_ms * 1e-3
        read_ms = service_ms(array.spindle, fill, waiting, op_kb)
        return reads * drives * read_ms + (1.0 - reads) * write_ops * write_ms, read_ms

    low, high = 0.0, array.active * 1e3 / max(1e-9, 0.5 * array.spindle.rotation_ms * drives) * 2.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if middle * busy_ms(middle)[0] < array.active * 1e3:
            low = middle
        else:
            high = middle
    iops = low
    link_bytes_s = array.links * array.link_gbit_s * 1e9 / 8 * array.link_efficiency
    most = link_bytes_s / (io_kb * 1024.0 * max(reads, 1.0 - reads))
    limit = "spindles"
    if most < iops:
        iops, limit = most, "links"
    total_ms, read_ms = busy_ms(iops)
    latency = cap_ms if limit == "spindles" else min(cap_ms, read_latency_ms(array, io_kb, reads, fill, iops))
    ops = total_ms and reads * drives + (1.0 - reads) * write_ops
    return Sustained(
        iops=iops,
        mb_s=iops * io_kb * 1.024e-3,
        read_ms=latency if reads > 0 else 0.0,
        outstanding=iops * reads * latency * 1e-3,
        disk_ops_per_io=ops,
        read_service_ms=read_ms,
        write_service_ms=write_ms,
        limit=limit,
    )


def read_latency_ms(array: DiskArray, io_kb: float, read_share: float, fill: float, iops: float) -> float:
    """Read latency of one array at a load (ms): reads pass destaged writes, but wait for the operation under way.

    Infinite when reads alone keep the drives busy or drives cannot keep up with destaging.
    """
    drives = drives_per_request(array, io_kb)
    op_kb = io_kb / drives
    read_ms = service_ms(array.spindle, fill, 1.0, op_kb)
    write_ms = service_ms(array.spindle, fill, float(array.destage_batch), op_kb)
    write_ops = operations_per_write(array, io_kb, fill) * drives
    by_reads = iops * read_share * drives * read_ms / (array.active * 1e3)
    by_writes = iops * (1.0 - read_share) * write_ops * write_ms / (array.active * 1e3)
    if by_reads + by_writes >= 1.0:
        return math.inf
    residual = 0.5 * SERVICE_SQUARES * (by_reads * read_ms + by_writes * write_ms)
    return read_ms + residual / (1.0 - by_reads)
