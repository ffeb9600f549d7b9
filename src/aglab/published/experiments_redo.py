"""Rows of paper 000 about redo: the rate that redo can sustain, the longest recovery, and how long a log file lasts.

All three are read from the run of the three-replica group, where redo runs at the limit of one database. The last one is a
residual: the paper prints 90 minutes, and its own rates give 47 where no log can be reused and 62 where redone log can; nothing
printed gives 90.
"""

from __future__ import annotations

from collections.abc import Callable

from aglab.core.counters import BY_KEY
from aglab.core.quantity import constants
from aglab.record import Run
from aglab.scenario import Scenario

EXPERIMENT = "ag-k750"
PROFILE = "hpe-dl380-gen9-ssd"


def _mean(run: Run, key: str) -> float:
    return float(run.series(BY_KEY[key].path(str(run.provenance.get("database", "OLTP"))), "sql2").mean())


def log_file_bytes() -> float:
    """Size of the log file."""
    return float(Scenario.default(PROFILE, 3).settings.log_file_gb) * 1e9


def sustained_tx_min(run: Run) -> float:
    """Transactions a minute at which the recovery queue does not grow: what redo applies."""
    return 60.0 * _mean(run, "transactions_per_s")


def recovery_s_max(run: Run) -> float:
    """Redo of a whole log file: no recovery queue is longer."""
    return log_file_bytes() / _mean(run, "redone_bytes_per_s")


def log_lasts_s(run: Run) -> float | None:
    """Until the log file is full when log is backed up, and kept only for redo on the secondaries; None where redo keeps up."""
    growth = _mean(run, "log_bytes_received_per_s") - _mean(run, "redone_bytes_per_s")
    return log_file_bytes() / growth if growth > 0 else None


def dispatcher_busy_percent(run: Run) -> float:
    """How busy the thread that hands out log to redo workers is (%): the log redone beside the most it hands out."""
    return 100.0 * min(1.0, _mean(run, "redone_bytes_per_s") / constants()["redo_bytes_s_2016"].value)


FROM_RUN: dict[str, Callable[[Run], float | None]] = {
    "hpe380-claim-ha-sustained-tpm": sustained_tx_min,
    "hpe380-claim-recovery-max": recovery_s_max,
    "hpe380-logfill-duration": log_lasts_s,
    "hpe380-f12-hot-core": dispatcher_busy_percent,
}
