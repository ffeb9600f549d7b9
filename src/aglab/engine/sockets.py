"""Sockets: what memory of another socket costs.

With Resource Governor pools bound to NUMA nodes every access is local; without, a share (s-1)/s of memory is remote on s sockets.
"""

from __future__ import annotations

from collections.abc import Mapping

from aglab.core.quantity import check_number
from aglab.engine.backup import job_constant


def local_memory_gain(sockets: int, overrides: Mapping[str, float] | None = None) -> float:
    """Throughput with every access local over throughput with memory spread evenly over ``sockets`` (a ratio >= 1)."""
    limits = {"unit": "sockets", "low": 1, "high": 64, "meaning": "processor packages", "integer": True}
    count = int(check_number("sockets", sockets, limits, "machine"))
    return 1.0 + job_constant("numa_remote_cost", overrides) * (count - 1) / count


def socket_scaling(few: int, many: int, overrides: Mapping[str, float] | None = None) -> float:
    """CPU-bound throughput on ``many`` sockets over that on ``few``, memory spread evenly: never more than their ratio."""
    return many / few * local_memory_gain(few, overrides) / local_memory_gain(many, overrides)
