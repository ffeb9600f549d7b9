"""A RAID set that lacks drives: what each of the others has to do, and a rebuild onto a spare.

Everything follows from who holds what. A read of a failed drive's page goes to the mirror's partner, or to as many peers as the
data of one stripe had; parity lies on all drives in turn, so their share is the same for each. A gathered write of whole stripes
asks no more of the drives that are left. A small write on a parity level does what is left to do of read-modify-write, or works
the stripe out where its own drive has failed. The volume does what its busiest drive does: drives of whole sets are no
help to the other. A rebuild reads the whole capacity of each peer and writes the spare, and takes a fixed share of their time.

An unthrottled checkpoint backs off by its own latency: on a degraded set it writes more slowly and for longer, and transactions
may for that time be faster than beside its full rate.

Sources: Patterson, Gibson and Katz 1988 for parity levels and their rebuild; Dell OpenManage, "Set Rebuild Rate" (a share of the
resources, 0 to 100 %); the 30 % by default are [assumed]. Left out: reads that a half-filled spare could serve, copy-back, the
controller's own limits, an array that stripes over several sets of parity (RAID 50 is two sets, RAID 10 pairs).
"""

from __future__ import annotations

import dataclasses
import math

from aglab.hardware.parts import Volume

_PIECE_MB = 0.0625  # of one transfer of a rebuild: a stripe unit of 64 KB [assumed]
_PARITY = {"5": 1, "50": 1, "6": 2}  # drives' worth in one set


def sets_of(volume: Volume) -> list[range]:
    """Drives (from 1) of each set that has its own redundancy."""
    if volume.raid in ("1", "10"):
        return [range(first, first + 2) for first in range(1, volume.devices + 1, 2)]
    half = volume.devices // 2 if volume.raid == "50" else volume.devices
    return [range(first, first + half) for first in range(1, volume.devices + 1, half)]


def lost_set(volume: Volume, failed: frozenset[int]) -> list[int]:
    """Failed drives of the first set that has lost data, or none."""
    bears = 0 if volume.raid == "0" else _PARITY.get(volume.raid, 1)
    for drives in sets_of(volume):
        gone = sorted(failed.intersection(drives))
        if len(gone) > bears:
            return gone
    return []


def read_burden(drives: int, sources: int, failed: int) -> float:
    """Reads of one drive that is left, over those of a whole set; ``sources`` are read for each page of a failed one."""
    own = drives - failed
    return (own + failed * sources) / own


def write_burden(drives: int, parity: int, failed: int) -> float:
    """Operations of a small write on one drive that is left, over those of a whole set of a parity level; never below 1.

    Which parts of the stripe the failed drives hold is counted out: the page itself or not, and how much of its parity.
    """
    whole = 2.0 * (1 + parity) / drives
    data = drives - parity
    total, ways = 0.0, math.comb(drives, failed)
    for own in (0, 1):
        for parities in range(min(parity, failed - own) + 1 if failed >= own else 0):
            others = failed - own - parities
            if others > data - 1:
                continue
            chance = math.comb(parity, parities) * math.comb(data - 1, others) / ways
            alive = parity - parities
            if not own:
                operations = 2.0 * (1 + alive) if alive else 1.0
            else:  # the stripe's other pages, with parity for those that failed, give the new parity
                operations = (data - 1 - others) + (alive if others else 0) + alive
            total += chance * operations
    return max(1.0, total / (drives - failed) / whole)


def degraded(volume: Volume, failed: frozenset[int], rebuilding: bool = False) -> Volume:
    """The volume with the rates that are left of each device; the same volume where nothing has failed.

    ``failed`` must leave the data readable (:func:`lost_set`).
    """
    if not failed:
        return volume
    reads, writes, behind = 1.0, 1.0, 0.0
    for drives in sets_of(volume):
        gone, count = len(failed.intersection(drives)), len(drives)
        if not gone:
            continue
        parity = _PARITY.get(volume.raid, 0)
        sources = count - parity if parity else 1
        reads = max(reads, read_burden(count, sources, gone))
        if parity:
            writes = max(writes, write_burden(count, parity, gone))
        slowest = 2.0 * sources / (sources + 1.0)  # mean of the slowest of so many reads of 0 to twice the mean
        behind += gone / volume.devices * (slowest - 1.0)
    left = 1.0 - volume.rebuild_share if rebuilding else 1.0
    piece_us = 0.5 * volume.rebuild_share * _PIECE_MB / volume.read_mb_s * 1e6 if rebuilding else 0.0
    return dataclasses.replace(
        volume,
        read_iops=max(1.0, volume.read_iops / reads * left),
        read_mb_s=max(0.1, volume.read_mb_s / reads * left),
        write_iops=max(1.0, volume.write_iops / writes * left),
        write_mb_s=max(0.1, volume.write_mb_s * left),
        read_latency_us=min(1e6, volume.read_latency_us * (1.0 + behind) + piece_us),
    )


def rebuild_s(volume: Volume) -> float:
    """Time to write a spare (s): the capacity of a device over what the share of its time moves."""
    mb_s = volume.rebuild_mb_s or min(volume.read_mb_s, volume.write_mb_s)
    return volume.capacity_gb * 1e3 / (volume.rebuild_share * mb_s)
