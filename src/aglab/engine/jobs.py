"""Index rebuild and sockets: how long a rebuild takes at a MAXDOP, and what remote memory costs.

A rebuild's CPU work is shared by MAXDOP threads, up to the cores; it cannot be faster than its pages are written. Online
rebuilds read, sort, write and log every page once. Left out: skew between threads, memory grants, sort spills: the paper's
durations are not monotone in MAXDOP, which none of these explains. With Resource Governor pools bound to NUMA nodes every
access is local; without, a share (s-1)/s of memory is remote on s sockets.
"""

from __future__ import annotations

from collections.abc import Mapping

from aglab.core.quantity import check_number
from aglab.core.units import PAGE_BYTES
from aglab.engine.backup import job_constant
from aglab.hardware import Profile

MAXDOP_MOST = 64  # threads of one parallel plan


def rebuild_s(profile: Profile, pages: float, maxdop: int, overrides: Mapping[str, float] | None = None) -> float:
    """Duration of an online rebuild of ``pages`` pages on an otherwise idle machine (s); ``maxdop`` 0 is every core up to 64."""
    check_number("pages", pages, {"unit": "pages", "low": 1, "high": 1e13, "meaning": "pages of the index"}, "index rebuild")
    limits = {"unit": "", "low": 0, "high": 32767, "meaning": "MAXDOP; 0 for the server's choice", "integer": True}
    asked = int(check_number("maxdop", maxdop, limits, "index rebuild"))
    cores = min(profile.cpu.cores, MAXDOP_MOST)
    threads = min(asked or cores, cores)
    work_s = pages * job_constant("rebuild_us_per_page", overrides) * 1e-6
    write_s = pages * PAGE_BYTES / min(profile.data.write_bytes_s, profile.log.write_bytes_s)
    return max(work_s / threads, write_s)


def local_memory_gain(sockets: int, overrides: Mapping[str, float] | None = None) -> float:
    """Throughput with every access local over throughput with memory spread evenly over ``sockets`` (a ratio >= 1)."""
    limits = {"unit": "sockets", "low": 1, "high": 64, "meaning": "processor packages", "integer": True}
    count = int(check_number("sockets", sockets, limits, "machine"))
    return 1.0 + job_constant("numa_remote_cost", overrides) * (count - 1) / count


def socket_scaling(few: int, many: int, overrides: Mapping[str, float] | None = None) -> float:
    """CPU-bound throughput on ``many`` sockets over that on ``few``, memory spread evenly: never more than their ratio."""
    return many / few * local_memory_gain(few, overrides) / local_memory_gain(many, overrides)
