"""The microscope of storage: an array or an SSD volume request by request, alone or under the load of a running flow.

Where the closed forms (:func:`aglab.hardware.spindles.sustained`, :meth:`aglab.hardware.Volume.random_iops`) take means, heads
move here, queues form, and the cache fills. Parity updates that meet in the cache are taken at the closed form's mean. Left out:
links (the closed form has their limit), read hits in the cache, a rebuild.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglab.core.errors import UsageError
from aglab.core.quantity import check_number
from aglab.engine import array_kernel as at
from aglab.engine.flow import Flow
from aglab.hardware import DiskArray, Volume
from aglab.hardware.spindles import drives_per_request, operations_per_write, stroke

_CHUNK = 1 << 16
_TOKENS_OPEN = 4096
_QUEUE_SHARE, _QUEUE_LEAST = 8, 512  # a drive's queue holds so many times its share of all operations, and at least so many
_NANOS = 1e9


@dataclass(frozen=True)
class ArrayRun:
    """What happened in ``seconds`` after the warm-up; latencies in seconds, ``busy`` the mean share of a device's time."""

    seconds: float
    iops: float
    read_s: float
    write_s: float
    busy: float
    lost: int
    digest: int


def run_array(
    device: DiskArray | Volume,
    io_kb: float = 8.0,
    read_share: float = 0.7,
    *,
    fill: float = 0.62,
    outstanding: int = 0,
    arrivals_s: float = 0.0,
    cache_us: float = 0.0,
    seconds: float = 2.0,
    warmup_s: float = 1.0,
    seed: int = 1,
) -> ArrayRun:
    """Drive an array of spindles, or a volume of flash devices.

    Parameters
    ----------
    device : DiskArray or Volume
        Spindles have their controller's cache; a volume has one only with ``cache_us``.
    io_kb, read_share, fill : float
        Size of a request, share of reads, and (spindles) data over usable capacity.
    outstanding : int
        Requests a host keeps outstanding; give this, or ``arrivals_s``.
    arrivals_s : float
        Requests that come at random times, per second.
    cache_us : float
        A mirrored write-back cache in front of a volume (NVDIMM): time of a write that it takes; 0 for none.

    Raises
    ------
    UsageError
        A value out of range, or both or none of ``outstanding`` and ``arrivals_s``.
    """
    for name, value, unit, low, high, meaning in (
        ("io_kb", io_kb, "KB", 0.5, 1024, "size of a request"),
        ("read_share", read_share, "", 0, 1, "reads among the requests"),
        ("fill", fill, "", 0.001, 1, "data over usable capacity"),
        ("outstanding", outstanding, "requests", 0, 100000, "requests a host keeps outstanding"),
        ("arrivals_s", arrivals_s, "/s", 0, 1e7, "requests that come at random times"),
        ("cache_us", cache_us, "us", 0, 1e6, "time of a write that the cache takes"),
        ("seconds", seconds, "s", 1e-3, 600, "simulated time; event by event is slow"),
        ("warmup_s", warmup_s, "s", 0, 600, "time before counting begins"),
    ):
        check_number(name, value, {"unit": unit, "low": low, "high": high, "meaning": meaning}, "array events")
    if (outstanding > 0) == (arrivals_s > 0):
        raise UsageError(
            f"outstanding={outstanding} and arrivals_s={arrivals_s:g}: one of them must be > 0 (array events)",
            "a host keeps so many requests outstanding, or sends so many a second",
        )
    spindles = isinstance(device, DiskArray)
    par = _spindles(device, io_kb, fill) if isinstance(device, DiskArray) else _flash(device, io_kb, cache_us)
    par[at.A_READ_SHARE] = read_share
    par[at.A_GAP] = _NANOS / arrivals_s if arrivals_s else 0.0
    channels = 1 if spindles else _channels(device)  # type: ignore[arg-type]
    return _run(par, channels, outstanding or _TOKENS_OPEN, seconds, warmup_s, seed)


def _spindles(array: DiskArray, io_kb: float, fill: float) -> Any:
    """``par`` of an array of drives."""
    spindle, par = array.spindle, np.zeros(at.A_SIZE)
    tracks, span = stroke(spindle, fill), drives_per_request(array, io_kb)
    par[at.A_DEVICES], par[at.A_SPINDLE] = array.active, 1.0
    par[at.A_SPAN] = min(span, float(array.active))
    par[at.A_WRITE_OPS] = operations_per_write(array, io_kb, fill)
    par[at.A_COPIES] = 2.0 if array.raid in ("1", "10") else 1.0
    par[at.A_SEEK_MIN] = spindle.seek_min_ms * 1e6
    par[at.A_SEEK_SPAN] = spindle.seek_span_ms * math.sqrt(tracks) * 1e6
    par[at.A_TURN] = 0.5 * spindle.rotation_ms * 1e6
    rate_mb_s = 0.5 * (spindle.outer_mb_s + spindle.inner_mb_s) * fill / tracks
    par[at.A_TRANSFER] = io_kb / span * 1.024 / rate_mb_s * 1e6
    cached = array.cache_gb * array.dirty_share > 0
    par[at.A_CACHE_NS] = max(1.0, array.cache_write_ms * 1e6) if cached else 0.0
    room = array.cache_gb * array.dirty_share * 1e6 / io_kb / array.active
    par[at.A_ROOM] = max(1.0, min(float(array.destage_batch), room))
    return par


def _flash(volume: Volume, io_kb: float, cache_us: float) -> Any:
    """``par`` of a volume: each device has as many channels as its reads need to reach their rate at their latency."""
    par = np.zeros(at.A_SIZE)
    channels = _channels(volume)
    read_s = max(1.0 / volume.read_iops, io_kb * 1024 / (volume.read_mb_s * 1e6))
    write_s = max(1.0 / volume.write_iops, io_kb * 1024 / (volume.write_mb_s * 1e6))
    par[at.A_DEVICES], par[at.A_SPAN] = volume.devices, 1.0
    par[at.A_WRITE_OPS] = volume.write_penalty
    par[at.A_COPIES] = 2.0 if volume.raid in ("1", "10") else 1.0
    par[at.A_READ_NS] = channels * read_s * _NANOS
    par[at.A_WRITE_NS] = channels * write_s * _NANOS
    par[at.A_CACHE_NS] = cache_us * 1e3
    par[at.A_ROOM] = 8.0 * channels
    return par


def _channels(volume: Volume) -> int:
    return max(1, round(volume.read_iops * volume.read_latency_us * 1e-6))


def _run(par: Any, channels: int, tokens: int, seconds: float, warmup_s: float, seed: int) -> ArrayRun:
    devices = int(par[at.A_DEVICES])
    each = (math.ceil(par[at.A_SPAN]) + 1) * math.ceil(par[at.A_WRITE_OPS])
    slots = min(tokens * each, _QUEUE_SHARE * tokens * each // devices + _QUEUE_LEAST) + int(par[at.A_ROOM]) + each
    most = 4 * (each + math.ceil(par[at.A_SPAN])) + 32
    heap = np.zeros((devices * channels + 2 * tokens + 8, 3), np.int64)
    num = np.zeros(at.M_SIZE, np.int64)
    left, begun, blocked = (np.zeros(tokens, np.int64) for _ in range(3))
    qlen = np.zeros((devices, 2), np.int64)
    qpos, qown = np.zeros((devices, 2, slots)), np.zeros((devices, 2, slots), np.int64)
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    head, idle = random.random(devices), np.full(devices, channels, np.int64)
    draws = random.random(max(_CHUNK, tokens * most))
    at.begin_array(tokens, heap, num, par, left, blocked, qlen, qpos, qown, head, idle, draws)
    before = num.copy()
    for until_s in (warmup_s, warmup_s + seconds):
        before = num.copy()
        done = 0
        while not done:
            draws = random.random(max(_CHUNK, 4 * most))
            num[at.M_DRAW] = 0
            done = at.advance_array(
                int(until_s * _NANOS), most, heap, num, par, left, begun, blocked, qlen, qpos, qown, head, idle, draws
            )
    if num[at.M_OVER]:
        raise UsageError(
            f"a drive's queue grew beyond {slots} operations (array events): the load is more than the array does",
            "lower arrivals_s or outstanding, or give the array more drives",
        )
    change = (num - before).astype(float)
    ios, reads = change[at.M_DONE], change[at.M_READS]
    return ArrayRun(
        seconds=seconds,
        iops=float(ios / seconds),
        read_s=float(change[at.M_READ_NS] / reads / _NANOS) if reads else 0.0,
        write_s=float(change[at.M_WRITE_NS] / (ios - reads) / _NANOS) if ios > reads else 0.0,
        busy=float(change[at.M_BUSY_NS] / (devices * channels * seconds * _NANOS)),
        lost=int(change[at.M_LOST]),
        digest=int(num[at.M_HASH]),
    )


def load_of(flow: Flow, node: str | None = None, seconds: float = 5.0) -> tuple[float, float, float]:
    """What a flow asks of a node's data volume from now on: requests/s, share of reads, mean KB of a request.

    A copy of the flow is advanced; the flow itself stays where it is.
    """
    node = node or flow.primary
    ahead = flow.copy()
    before = ahead.totals(node)
    ahead.advance(seconds)
    after = ahead.totals(node)
    change = {name: after[name] - before[name] for name in after}
    ios = change["data_reads"] + change["data_writes"]
    if ios <= 0:
        raise UsageError(
            f"the load of {node!r} asks nothing of its data volume (array events)", "give it users, or a smaller memory"
        )
    size_kb = (change["data_bytes_read"] + change["data_bytes_written"]) / ios / 1024.0
    return ios / seconds, change["data_reads"] / ios, size_kb
