"""Mechanisms that papers 001 to 004 need, each taken out: what its rows then say.

The ablation of :mod:`aglab.published.ablation` fits the constants of the availability group again without a mechanism. These
mechanisms have no constant in that fit (the remote memory's and the job's are fitted on rows of their own), so nothing is fitted:
the rows that a mechanism is about are computed with it and without it. Where they hardly move, the papers do not show it.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aglab.core.progress import no_progress
from aglab.core.quantity import constants
from aglab.engine import steady
from aglab.engine.sockets import local_memory_gain, socket_scaling
from aglab.hardware import DiskArray
from aglab.hardware.spindles import sustained
from aglab.published import experiments_memory as memory
from aglab.published import experiments_rebuild as rebuild
from aglab.published.experiments import READINGS, run_experiment, twin_value
from aglab.published.experiments_backup import backup_job, load_of, machine
from aglab.published.experiments_nvdimm import baseline
from aglab.published.experiments_storage import ARRAY, FULL, READ_SHARE
from aglab.published.rows import comparison_row, figures
from aglab.published.rows_read import published_value

REDO = "ag-k750"
RUN_S = 900.0


@dataclass(frozen=True)
class Removal:
    """A mechanism, the paper that shows it, and its rows without it (id -> value)."""

    name: str
    title: str
    paper: str
    without: Callable[[], Mapping[str, float]]


def _array(change: Callable[[DiskArray], DiskArray]) -> dict[str, float]:
    """Rows of the array with each level changed; the fill stays that of the level."""
    mirrored = DiskArray.load(ARRAY)

    def iops(kb: float, fill: float, raid: str = mirrored.raid) -> float:
        level = dataclasses.replace(mirrored, raid=raid)
        return sustained(change(level), kb, READ_SHARE, fill * mirrored.usable_gb / level.usable_gb).iops

    rows = {f"eql-iops-{kb}k-{percent}pct": iops(kb, percent / 100) for kb in (8, 64) for percent in (40, 62, 85)}
    gains = {f"eql-raid10-vs-{raid}": 100.0 * (iops(8, FULL) / iops(8, FULL, raid) - 1.0) for raid in ("50", "6")}
    return {**rows, **gains}


def _no_penalty() -> dict[str, float]:
    return _array(lambda level: dataclasses.replace(level, raid="0"))


def _no_cache() -> dict[str, float]:
    return _array(lambda level: dataclasses.replace(level, cache_gb=0.0))


def _no_remote() -> dict[str, float]:
    free = {"numa_remote_cost": 0.0}
    gains = {f"dl560-rg-gain-{sockets}s": 100.0 * (local_memory_gain(sockets, free) - 1.0) for sockets in (2, 4)}
    return {**gains, "dl560-scale-gain": 100.0 * (socket_scaling(2, 4, free) - 1.0)}


def _no_quantum() -> dict[str, float]:
    rows = {}
    for sockets in (2, 4):
        name = f"dl560-t11-{sockets}s-switches"
        load = load_of(machine(sockets), published_value(f"{name}-before"))
        load = dataclasses.replace(load, overrides={**load.overrides, "quantum_ms": 0.0})
        rows[f"{name}-during"] = steady(load, job=backup_job("switches")).throughput_s
    return rows


def _no_crosstalk() -> dict[str, float]:
    apart = {"rebuild_crosstalk": 0.0}
    return {f"dl560-t13-dop{maxdop:02d}-duration": rebuild.alone_s(maxdop, apart) for maxdop in rebuild.MAXDOPS}


def _no_tail() -> dict[str, float]:
    return {f"nvdimm-{media}-pmm": steady(baseline(media)).throughput_s for media in ("ssd", "pcie")}


def _one_transport() -> dict[str, float]:
    both = (("constants.transport_bytes_s_2014", constants()["transport_bytes_s_2016"].value),)
    return {
        "blog-tps-ratio": memory.ratio("transactions_per_s", more=both),
        "blog-log-stream-ratio": memory.ratio("log_bytes_received_per_s", "sql2", more=both),
    }


def _rows_on_pages() -> dict[str, float]:
    pages = (("page_touches_per_tx", 1.0), ("cold_touches_per_tx", 0.0), ("workload.hot_pages_per_warehouse", 5000.0))
    return {
        "blog-tps-ratio": memory.ratio("transactions_per_s", more=pages),
        "blog-log-stream-ratio": memory.ratio("log_bytes_received_per_s", "sql2", more=pages),
    }


def _newest_redo() -> dict[str, float]:
    runs = {REDO: run_experiment(REDO, {"version": "2022", "noise": 0.0}, seconds=RUN_S)}
    ids = [row_id for row_id, reading in READINGS.items() if reading.experiment == REDO and "redone" in reading.key]
    found = {row_id: twin_value(row_id, "avg", runs) for row_id in (*ids, "hpe380-claim-recovery-max")}
    return {row_id: value for row_id, value in found.items() if value is not None}


REMOVALS: tuple[Removal, ...] = (
    Removal("redo-version", "redo by version: 2022's pool for 2016's dispatcher", "000", _newest_redo),
    Removal("tail", "the tail of the log in persistent memory", "001", _no_tail),
    Removal("transport", "transport by version: 2014 as fast as 2016", "002", _one_transport),
    Removal("in-memory", "rows outside pages: each update dirties one", "002", _rows_on_pages),
    Removal("remote", "remote memory costs more", "003", _no_remote),
    Removal("quantum", "a backup's worker keeps its scheduler for a quantum", "003", _no_quantum),
    Removal("crosstalk", "threads of a rebuild get in each other's way", "003", _no_crosstalk),
    Removal("penalty", "a write costs what RAID asks", "004", _no_penalty),
    Removal("cache", "a write-back cache that sorts writes", "004", _no_cache),
)


def removals(progress: Callable[..., None] = no_progress) -> list[dict[str, Any]]:
    """One row per mechanism.

    Returns
    -------
    list of dict
        ``name``, ``title``, ``paper``, ``rows`` (how many), ``with_pct`` and ``without_pct`` (median absolute error, %),
        ``worst_id`` and ``worst_error_pct`` (of its rows, without it).
    """
    frame = figures()
    runs = {REDO: run_experiment(REDO, {"noise": 0.0}, seconds=RUN_S)}
    found = []
    for done, one in enumerate(REMOVALS):
        progress(done, len(REMOVALS), f"without: {one.title}")

        def error(row_id: str, value: float | None) -> float:
            made = comparison_row(row_id, frame.loc[row_id], value)["error_pct"]
            return float(made)

        without = {row_id: error(row_id, value) for row_id, value in one.without().items()}
        kept = [abs(error(row_id, twin_value(row_id, str(frame.loc[row_id, "stat"]), runs))) for row_id in without]
        worst = max(without, key=lambda row_id: abs(without[row_id]))
        found.append(
            {
                "name": one.name,
                "title": one.title,
                "paper": one.paper,
                "rows": len(without),
                "with_pct": round(statistics.median(kept), 2),
                "without_pct": round(statistics.median(abs(value) for value in without.values()), 2),
                "worst_id": worst,
                "worst_error_pct": round(without[worst], 2),
            }
        )
    progress(len(REMOVALS), len(REMOVALS), "done")
    return found
