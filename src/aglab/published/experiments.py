"""Which experiment a published row belongs to, and how the row is read from the experiment's Run.

An experiment is a scenario; a row is a counter of one node and a statistic over the run's samples. Table 6 is taken as a
standalone server: at 99,149 tx/s with 77.9 % CPU it cannot be the availability group of Table 3 (71,171 tx/s, 80.8 %).
Tables 3 and 4 and Figures 5 and 10 are the three-replica group with -k750, as the paper's startup options say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from aglab.core.counters import BY_KEY
from aglab.engine import Flow
from aglab.published import (
    experiments_backup,
    experiments_memory,
    experiments_nvdimm,
    experiments_partitions,
    experiments_rebuild,
    experiments_redo,
    experiments_rest,
    experiments_storage,
)
from aglab.published.repeats import repeated, repeats
from aglab.record import Run
from aglab.scenario import Scenario

PAPER = "000"
DEFAULT = "default checkpoint"
K750 = "-k750"
RUN_S = 600.0


@dataclass(frozen=True)
class Experiment:
    """One scenario of a paper: ``settings`` over the profile's default with ``replicas`` replicas."""

    name: str
    title: str
    replicas: int
    settings: Mapping[str, object]

    def scenario(self, more: Mapping[str, object] | None = None) -> Scenario:
        """The scenario, with further settings on top."""
        return Scenario.default("hpe-dl380-gen9-ssd", self.replicas).with_settings({**self.settings, **(more or {})})


EXPERIMENTS: dict[str, Experiment] = {
    e.name: e
    for e in (
        Experiment("t6-default", "automatic checkpoint", 1, {"k": 0}),
        Experiment("t6-k750", "automatic checkpoint, -k750", 1, {"k": 750}),
        Experiment("ag-k750", "three synchronous replicas, -k750", 3, {"k": 750}),
    )
}


@dataclass(frozen=True)
class Reading:
    """How a row is read: experiment, node, counter key, and a factor from the counter's unit to the paper's."""

    experiment: str
    key: str
    node: str = "sql1"
    factor: float = 1.0

    def series(self, run: Run) -> pd.Series:
        """The counter's samples in the paper's unit."""
        path = BY_KEY[self.key].path(str(run.provenance.get("database", "OLTP")))
        return run.series(path, self.node) * self.factor


_STATS: dict[str, Callable[[pd.Series], float]] = {
    "avg": lambda samples: float(samples.mean()),
    "min": lambda samples: float(samples.min()),
    "max": lambda samples: float(samples.max()),
}

_T6 = {"cpu": "cpu_percent", "tps": "transactions_per_s", "logflush": "log_bytes_flushed_per_s", "ckpt": "checkpoint_pages_per_s"}


def _readings() -> dict[str, Reading]:
    readings = {}
    for arm, experiment in (("default", "t6-default"), ("k750", "t6-k750")):
        for short, key in _T6.items():
            for stat in _STATS:
                readings[f"hpe380-t6-{short}-{arm}-{stat}"] = Reading(experiment, key)
    readings["hpe380-k-tps-on"] = Reading("t6-k750", "transactions_per_s")
    readings["hpe380-k-tps-off"] = Reading("t6-default", "transactions_per_s")
    group: dict[str, tuple[str, str, float]] = {
        "t3-cpu": ("cpu_percent", "sql1", 1.0),
        "t3-tps": ("transactions_per_s", "sql1", 1.0),
        "t3-tpm": ("transactions_per_s", "sql1", 60.0),
        "t3-log-flush": ("log_bytes_flushed_per_s", "sql1", 1.0),
        "t3-transport": ("bytes_sent_to_transport_per_s", "sql1", 1.0),
        "t4-data-latency-us": ("data_transfer_latency_s", "sql1", 1e6),
        "t4-data-iops": ("data_transfers_per_s", "sql1", 1.0),
        "t4-data-throughput-bytes-per-s": ("data_bytes_per_s", "sql1", 1.0),
        "t4-log-latency-us": ("log_write_latency_s", "sql1", 1e6),
        "t4-log-iops": ("log_transfers_per_s", "sql1", 1.0),
        "t4-log-throughput-bytes-per-s": ("log_bytes_per_s", "sql1", 1.0),
        "f10-primary-cpu": ("cpu_percent", "sql1", 1.0),
        "f10-primary-transport": ("bytes_sent_to_transport_per_s", "sql1", 1.0),
        "f10-primary-logflush": ("log_bytes_flushed_per_s", "sql1", 1.0),
        "f10-primary-tps": ("transactions_per_s", "sql1", 1.0),
        "f10-sec-cpu": ("cpu_percent", "sql2", 1.0),
        "f10-sec-recv-replica": ("bytes_received_from_replica_per_s", "sql2", 1.0),
        "f10-sec-logrecv": ("log_bytes_received_per_s", "sql2", 1.0),
        "f10-sec-recovery-queue": ("recovery_queue_kb", "sql2", 1.0),
        "f10-sec-redone": ("redone_bytes_per_s", "sql2", 1.0),
        "f10-sec-tps": ("transactions_per_s", "sql2", 1.0),
    }
    for stat in _STATS:
        group[f"f5-data-throughput-{stat}"] = ("data_bytes_per_s", "sql1", 1.0)
        group[f"f5-log-throughput-{stat}"] = ("log_bytes_per_s", "sql1", 1.0)
    for short, (key, node, factor) in group.items():
        readings[f"hpe380-{short}"] = Reading("ag-k750", key, node, factor)
    return readings


READINGS: dict[str, Reading] = _readings()
_SUMS = {  # rows that add up two others
    "hpe380-t4-total-iops": ("hpe380-t4-data-iops", "hpe380-t4-log-iops"),
    "hpe380-t4-total-throughput": ("hpe380-t4-data-throughput-bytes-per-s", "hpe380-t4-log-throughput-bytes-per-s"),
}


COMPUTED: dict[str, Callable[[], float]] = {
    **experiments_storage.COMPUTED,
    **experiments_nvdimm.COMPUTED,
    **experiments_backup.COMPUTED,
    **experiments_partitions.COMPUTED,
    **experiments_memory.COMPUTED,
    **experiments_rest.COMPUTED,
    **experiments_rebuild.COMPUTED,
}
"""Rows that a mechanism answers without a run: an array, a backup, a log on persistent memory."""


def run_experiment(name: str, more: Mapping[str, object] | None = None, seed: int = 1, seconds: float = RUN_S) -> Run:
    """Run one experiment of :data:`EXPERIMENTS`."""
    return Flow(EXPERIMENTS[name].scenario(more), seed=seed).run(seconds)


def twin_value(row_id: str, stat: str, runs: Mapping[str, Run]) -> float | None:
    """What the twin says for a published row, or None when no experiment gives it."""
    if row_id in repeats():
        return repeated(row_id, lambda part: twin_value(part, "avg", runs))
    if row_id in COMPUTED:
        return COMPUTED[row_id]()
    if row_id == "hpe380-k-pages":
        return EXPERIMENTS["t6-k750"].scenario().settings.k_pages_s
    if row_id in _SUMS:
        parts = [twin_value(part, stat, runs) for part in _SUMS[row_id]]
        return None if None in parts else float(sum(part for part in parts if part is not None))
    if row_id in experiments_redo.FROM_RUN:
        run = runs.get(experiments_redo.EXPERIMENT)
        return None if run is None else experiments_redo.FROM_RUN[row_id](run)
    reading = READINGS.get(row_id)
    if reading is None or reading.experiment not in runs:
        return None
    return _STATS.get(stat, _STATS["avg"])(reading.series(runs[reading.experiment]))
