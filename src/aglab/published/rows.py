"""Published rows: read, compare with a Run, score against all experiments."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from aglab.core.errors import UsageError, unknown_name
from aglab.core.paths import bundle_path
from aglab.core.progress import no_progress
from aglab.core.quantity import constants
from aglab.engine.backup import job_constants
from aglab.published.experiments import EXPERIMENTS, K750, READINGS, run_experiment, twin_value
from aglab.published.machines import machines
from aglab.published.orders import judge
from aglab.published.repeats import repeats
from aglab.record import Run

PAPERS = {
    "000": "HPE DL380 Gen9, SQL Server 2016 availability group",
    "001": "HPE NVDIMM",
    "002": "Availability groups 2014 and 2016, in-memory update",
    "003": "HPE DL560 Gen10, SQL Server 2017 on Linux",
    "004": "Dell EqualLogic, OLTP",
}
ROLES = ("input", "fitted", "predicted", "residual")
ROLE_FILES = (  # by mechanism
    "roles.csv",
    "roles_nvdimm.csv",
    "roles_storage.csv",
    "roles_backup.csv",
    "roles_redo.csv",
    "roles_partitions.csv",
    "roles_memory.csv",
    "roles_rest.csv",
    "roles_repeats.csv",
    "roles_rebuild.csv",
)
NOT_BEHAVIOUR = {  # metrics of measured or derived rows that say nothing about how a system runs
    "price_usd": "a price",
    "drive_slots": "a count of slots",
    "raw_capacity_tb": "a capacity",
    "usable_capacity_tb": "a capacity",
    "file_size_gb": "the size of a file",
    "file_size_tb": "the size of a file",
    "link_gbit_per_s": "a link's nominal rate",
}
_COLUMNS = ("paper", "table", "subject", "condition", "metric", "stat", "value", "unit", "kind", "role", "reason", "note")
_COUNTERS = {  # metric of figures.csv -> name a DBA knows
    "cpu_percent": "% Processor Time",
    "batch_requests_per_s": "Batch Requests/sec",
    "transactions_per_s": "Transactions/sec",
    "transactions_per_min": "Transactions/min",
    "log_bytes_flushed_per_s": "Log Bytes Flushed/sec",
    "checkpoint_pages_per_s": "Checkpoint pages/sec",
    "background_writer_pages_per_s": "Background writer pages/sec",
    "transport_bytes_sent_per_s": "Bytes Sent to Transport/sec",
    "replica_bytes_received_per_s": "Bytes Received from Replica/sec",
    "log_bytes_received_per_s": "Log Bytes Received/sec",
    "recovery_queue_kb": "Recovery Queue",
    "redone_bytes_per_s": "Redone Bytes/sec",
    "latency_us": "Avg. Disk sec/Transfer",
    "iops": "Disk Transfers/sec",
    "throughput_bytes_per_s": "Disk Bytes/sec",
    "duration_s": "seconds",
}


@functools.cache
def figures() -> pd.DataFrame:
    """Every published number with its role (``data/published/figures.csv`` and the files of roles); index ``id``."""
    folder = bundle_path("data", "published")
    frame = pd.read_csv(folder / "figures.csv", keep_default_na=False).set_index("id")
    marks = pd.concat([pd.read_csv(folder / name, keep_default_na=False) for name in ROLE_FILES]).set_index("id")
    frame["value"] = pd.to_numeric(frame["value"])
    frame["paper"] = frame["source"].str[:3]
    frame["table"] = frame["where"].str.replace(r"\s*\(L.*\)$", "", regex=True)
    frame["role"] = marks["role"].reindex(frame.index).fillna("")
    frame["reason"] = marks["reason"].reindex(frame.index).fillna("")
    return frame


def roles() -> pd.DataFrame:
    """Rows that have a role."""
    frame = figures()
    return frame[frame["role"] != ""].copy()


def tables(paper: str | None = None) -> list[str]:
    """Names of the tables and figures, as ``published`` takes them."""
    frame = figures()
    if paper is not None:
        frame = frame[frame["paper"] == _paper(paper)]
    return list(dict.fromkeys(frame["table"]))


def _paper(paper: str) -> str:
    if paper not in PAPERS:
        raise unknown_name("paper", str(paper), tuple(PAPERS))
    return paper


def published(table: str, paper: str | None = None) -> pd.DataFrame:
    """The numbers of one table or figure, e.g. ``published("Table 6")``.

    Parameters
    ----------
    table : str
        ``Table 6``, ``Figure 10``, or another name of :func:`tables`; case does not matter.
    paper : str, optional
        ``000`` to ``004``; the first paper that has such a table by default.

    Raises
    ------
    UsageError
        No such table or paper.
    """
    frame = figures()
    if paper is not None:
        frame = frame[frame["paper"] == _paper(paper)]
    wanted = str(table).strip().lower()
    match = frame[frame["table"].str.lower() == wanted]
    if match.empty:
        raise unknown_name("table", str(table), tuple(dict.fromkeys(frame["table"])))
    match = match[match["paper"] == match["paper"].iloc[0]]
    return match[
        ["paper", "table", "subject", "condition", "metric", "stat", "value", "unit", "kind", "role", "reason", "note"]
    ].copy()


def comparison_row(row_id: str, row: Any, twin: float | None) -> dict[str, Any]:
    """One comparison row in the shape that commands and figures share.

    A published change in percent is a ratio of two conditions: its error is that of the ratio, (100 + twin) beside
    (100 + published), since -1 % and -2 % differ by a hundredth and not by half.
    """
    value = float(row["value"])
    error = None
    if twin is not None and row["stat"] == "percent_change":
        error = round(100.0 * (twin - value) / (100.0 + value), 2)
    elif twin is not None and value != 0.0:
        error = round(100.0 * (twin - value) / value, 2)
    elif twin is not None and twin == value:
        error = 0.0
    return {
        "id": row_id,
        "paper": row["paper"],
        "condition": row["condition"],
        "counter": _COUNTERS.get(row["metric"], row["metric"]),
        "metric": row["metric"],
        "subject": row["subject"],
        "stat": row["stat"],
        "role": row["role"],
        "published": value,
        "twin": None if twin is None else round(twin, 3),
        "unit": row["unit"],
        "error_pct": error,
        "reason": row["reason"],
        "where": row["where"],
        "profile": ", ".join(machines(row_id)),
        "repeats": ", ".join(repeats()[row_id].parts) if row_id in repeats() else "",
    }


def rows_for(ids: Iterable[str], runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """Comparison rows of some published rows, read from the experiments' runs."""
    frame = figures()
    result = []
    for row_id in ids:
        row = frame.loc[row_id]
        result.append(comparison_row(row_id, row, twin_value(row_id, str(row["stat"]), runs)))
    return result


def compare(run: Run, table: str, condition: str | None = None, paper: str | None = None) -> pd.DataFrame:
    """A run beside a published table.

    Parameters
    ----------
    run : Run
        From the twin, from containers or from your own servers.
    table : str
        As in :func:`published`.
    condition : str, optional
        Which column of the table; by default the one that fits the run's ``-k`` setting, where the table has one for it.

    Raises
    ------
    UsageError
        Unknown table or condition, or nothing in the table that a run can be compared with.
    """
    frame = published(table, paper)
    conditions = list(dict.fromkeys(frame["condition"]))
    if condition is None and len(conditions) > 1 and K750 in conditions:
        condition = K750 if run.provenance.get("k_mb_s") else next(name for name in conditions if name != K750)
    if condition is not None:
        if condition not in conditions:
            raise unknown_name("condition", condition, tuple(conditions))
        frame = frame[frame["condition"] == condition]
    known = [row_id for row_id in frame.index if row_id in READINGS]
    if not known:
        raise UsageError(f"nothing in {table!r} can be compared with a run", "tables with counters: Table 3, 4, 6, Figure 5, 10")
    return pd.DataFrame(rows_for(known, {READINGS[row_id].experiment: run for row_id in known}))


def fitted_constants() -> list[str]:
    """Names of the flow model's constants that were calibrated on published rows of the availability group."""
    return [name for name, constant in constants().items() if constant.tag.kind == "fitted"]


def all_fitted_constants() -> list[str]:
    """Names of every fitted constant: those of the flow model, and those of jobs and sockets."""
    return fitted_constants() + [name for name, constant in job_constants().items() if constant.tag.kind == "fitted"]


def medians(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Median absolute error (%) by role, and of predicted and residual rows together; rows printed twice count once."""
    result = {}
    groups = {role: {role} for role in ("fitted", "predicted", "residual")} | {
        "predicted and residual": {"predicted", "residual"}
    }
    rows = list(rows)
    for name, wanted in groups.items():
        errors = [abs(row["error_pct"]) for row in once(rows) if row["role"] in wanted and row["error_pct"] is not None]
        if errors:
            result[name] = round(statistics.median(errors), 2)
    return result


def _ids(paper: str | None) -> list[str]:
    """Rows of one paper, or all."""
    frame = figures()
    return [str(row_id) for row_id in (frame.index if paper is None else frame.index[frame["paper"] == paper])]


def once(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Comparison rows without those that print another row again."""
    return [row for row in rows if not row.get("repeats")]


def not_behaviour() -> pd.Series:
    """Measured or derived rows that no twin can answer, and what each is: a price, a capacity."""
    frame = figures()
    frame = frame[frame["kind"].isin(["measured", "derived"]) & (frame["role"] == "")]
    return frame["metric"].map(NOT_BEHAVIOUR).dropna()


def score(
    paper: str | None = None, progress: Callable[..., None] = no_progress, seed: int = 1, more: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """Run every experiment and compare each row that has a role.

    Returns
    -------
    dict
        ``rows``, ``fitted_constants``, ``rows_fitted``, ``median_abs_error_pct`` by role, ``not_behaviour`` (measured or
        derived rows that are prices or capacities), ``orders`` (:func:`aglab.published.orders.judge`).
    """
    frame = roles()
    if paper is not None:
        frame = frame[frame["paper"] == _paper(paper)]
    asked = [part for row_id in frame.index for part in (row_id, *(repeats()[row_id].parts if row_id in repeats() else ()))]
    needed = dict.fromkeys(READINGS[row_id].experiment for row_id in asked if row_id in READINGS)
    runs = {}
    for index, name in enumerate(needed):
        progress(index, len(needed), EXPERIMENTS[name].title)
        runs[name] = run_experiment(name, more, seed)
    progress(len(needed), len(needed), "scored")
    rows = [row for row in rows_for(frame.index, runs) if row["role"] != "input"]
    return {
        "rows": rows,
        "fitted_constants": len(all_fitted_constants()),
        "rows_fitted": sum(row["role"] == "fitted" for row in once(rows)),
        "median_abs_error_pct": medians(rows),
        "not_behaviour": len(not_behaviour().filter(items=_ids(paper))),
        "orders": judge({row["id"]: row["twin"] for row in rows}, _ids(paper)),
    }
