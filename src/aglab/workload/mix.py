"""Several workloads as one: the demands of an average transaction of a mix.

One population of users draws each transaction from the mix. Times, processor work and touches are averaged by share; what is
declared *per transaction that writes* (log, pages dirtied) is averaged over those that write. Hot sets and data add up: the
workloads use different tables. Left out: locks between them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from aglab.core.errors import UsageError
from aglab.core.quantity import Tag, check_number
from aglab.workload.model import Workload

_SHARE = {"unit": "", "low": 0.0, "high": 1.0, "meaning": "share of the transactions"}
_OVER_ALL = (
    "think_us",
    "cpu_us",
    "cold_touches_per_tx",
    "batches_per_tx",
    "pages_per_checkpoint_write",
    "tempdb_objects_per_tx",
    "tempdb_kb_per_tx",
    "sort_kb_per_tx",
)
_OVER_WRITERS = ("log_bytes_per_tx", "page_touches_per_tx", "version_kb_per_tx")


def mixed(shares: Mapping[str, Any] | Mapping[Workload, Any], where: str = "workload") -> Workload:
    """The workload of a mix.

    Parameters
    ----------
    shares : dict
        Name of a workload (or the workload) -> share of the transactions, from 0 to 1; together 1.

    Raises
    ------
    UsageError
        An unknown workload, a share out of range, or shares that do not add up to 1.
    """
    if not isinstance(shares, Mapping) or not shares:
        raise UsageError(f"mix={shares!r} must be a table ({where})", 'write mix = { "tpcc-like" = 0.8, "tpce-like" = 0.2 }')
    parts = [
        (
            job if isinstance(job, Workload) else Workload.load(str(job)),
            float(check_number(f"mix.{job if isinstance(job, str) else job.name}", share, _SHARE, where)),
        )
        for job, share in shares.items()
    ]
    total = math.fsum(share for _, share in parts)
    if abs(total - 1.0) > 1e-6:
        raise UsageError(f"shares of the mix add up to {total:g} and must add up to 1 ({where})", "correct one of them")
    writes = math.fsum(share * (1.0 - job.read_only_share) for job, share in parts)

    def average(name: str) -> float:
        return math.fsum(share * getattr(job, name) for job, share in parts)

    def of_writers(name: str) -> float:
        part = math.fsum(share * (1.0 - job.read_only_share) * getattr(job, name) for job, share in parts)
        return part / writes if writes > 0.0 else 0.0

    first = parts[0][0]
    values: dict[str, Any] = {name: average(name) for name in _OVER_ALL} | {name: of_writers(name) for name in _OVER_WRITERS}
    title = " + ".join(f"{share:.0%} {job.title or job.name}" for job, share in parts)
    source = Tag("assumed", "averaged over the mix")
    return dataclasses.replace(
        first,
        **values,
        read_only_share=1.0 - writes,
        hot_pages_per_warehouse=math.fsum(job.hot_pages for job, _ in parts) / first.warehouses,
        data_mb_per_warehouse=math.fsum(job.data_mb_per_warehouse * job.warehouses for job, _ in parts) / first.warehouses,
        name=" + ".join(job.name for job, _ in parts),
        title=title,
        tags={spec.name: source for spec in dataclasses.fields(first) if spec.metadata},
    )
