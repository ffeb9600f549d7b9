"""The flagship experiment: what throttling checkpoints does, beside Table 6, and what it costs.

Three arms: automatic checkpoints, automatic with -k, and indirect checkpoints of 60 s, where -k does nothing. First on a
standalone server, as Table 6 is taken; then with two synchronous secondaries, which the paper does not print: a prediction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aglab.core.progress import no_progress
from aglab.engine import Flow
from aglab.published.experiments import EXPERIMENTS, PAPER
from aglab.published.repeats import repeats
from aglab.published.rows import comparison_row, fitted_constants, medians, roles, rows_for
from aglab.record import Run
from aglab.scenario import Scenario

RUN_S = 600.0
COST_S = 1200.0
THROTTLES_MB_S = (100, 250, 500, 750, 1000, 0)
_SHOWN = (
    ("cpu_percent", "Processor(_Total)\\% Processor Time", "%"),
    ("transactions_per_s", "SQLServer:Databases(OLTP)\\Transactions/sec", "tx/s"),
    ("log_bytes_flushed_per_s", "SQLServer:Databases(OLTP)\\Log Bytes Flushed/sec", "B/s"),
    ("checkpoint_pages_per_s", "SQLServer:Buffer Manager\\Checkpoint pages/sec", "pages/s"),
    ("background_writer_pages_per_s", "SQLServer:Buffer Manager\\Background writer pages/sec", "pages/s"),
)


def arms(settings: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Settings of the three arms; ``k`` in ``settings`` is the throttle of the second and third."""
    rest = {key: value for key, value in settings.items() if key not in ("k", "settings.k_mb_s")}
    k = settings.get("k", settings.get("settings.k_mb_s", 750))
    return {
        "automatic": {**rest, "k": 0},
        "automatic-k": {**rest, "k": k},
        "indirect-k": {"checkpoint": "indirect", **rest, "k": k},
    }


def _fitted_rows() -> list[str]:
    frame = roles()
    return list(frame.index[(frame["role"] == "fitted") & (frame["paper"] == PAPER)])


def demo(
    progress: Callable[..., None] = no_progress,
    settings: Mapping[str, object] | None = None,
    seed: int = 1,
    out: str | Path | None = None,
) -> dict[str, Any]:
    """Run the experiment.

    Parameters
    ----------
    progress : callable
        ``progress(done, total, label)``.
    settings : dict, optional
        Changed inputs, as :meth:`aglab.scenario.Scenario.with_settings` takes them (``k``, ``users``, ``cores``, ...).
    seed : int
    out : path, optional
        Folder to save the runs in.

    Returns
    -------
    dict
        ``published``: comparison rows of Table 6; ``with_two_secondaries``: the same counters predicted for the group;
        ``constants``, ``rows_fitted``: how many; ``median_abs_error_pct``; ``runs``: name -> Run; ``saved``: name -> path;
        ``costs``: what each throttle costs; ``settings``, ``seconds``, ``label``.
    """
    begin = time.perf_counter()
    chosen = dict(settings or {})
    plans = {
        (place, arm): EXPERIMENTS[base].scenario(values)
        for place, base in (("standalone", "t6-default"), ("group", "ag-k750"))
        for arm, values in arms(_layout_free(chosen, place)).items()
    }
    total = float(len(plans) + len(THROTTLES_MB_S) + 1)
    runs: dict[str, Run] = {}
    progress(0.0, total, "starting the engine (compiled once, then cached)")
    for done, ((place, arm), scenario) in enumerate(plans.items()):
        progress(done, total, f"{place}: {arm}")
        runs[f"{place}-{arm}"] = Flow(scenario, seed).run(RUN_S)
    costs = cost_rows(plans["standalone", "automatic"], plans["standalone", "indirect-k"], seed, progress, len(plans), total)
    saved = {}
    if out is not None:
        saved = {name: str(run.save(Path(out) / name)) for name, run in runs.items()}
    progress(total, total, "done")
    rows = table_rows(runs)
    return {
        "published": rows,
        "with_two_secondaries": predictions(runs),
        "constants": len(fitted_constants()),
        "rows_fitted": sum(str(name) not in repeats() for name in _fitted_rows()),
        "median_abs_error_pct": medians(rows),
        "runs": runs,
        "saved": saved,
        "costs": costs,
        "settings": chosen,
        "label": runs["standalone-automatic"].label,
        "seconds": round(time.perf_counter() - begin, 3),
    }


def _layout_free(settings: Mapping[str, object], place: str) -> dict[str, object]:
    """Settings without those the experiment itself sets; a standalone server has no replicas to choose."""
    drop = {"replicas"} if place == "group" else {"replicas", "mode"}
    return {key: value for key, value in settings.items() if key not in drop}


def table_rows(runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """Comparison rows of Table 6, and of the indirect arm, which the paper does not print."""
    frame = roles()
    ids = [row_id for row_id in frame.index if str(row_id).startswith("hpe380-t6-")]
    named = {"t6-default": runs["standalone-automatic"], "t6-k750": runs["standalone-automatic-k"]}
    return rows_for(ids, named)


def predictions(runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """Table 6 with two synchronous secondaries: twin only, role predicted, nothing published to compare with."""
    rows = []
    for arm in ("automatic", "automatic-k", "indirect-k"):
        summary = runs[f"group-{arm}"].summary()["sql1"]
        for metric, path, unit in _SHOWN:
            for stat, value in summary[path].items():
                row: dict[str, Any] = {
                    "paper": "000",
                    "condition": arm,
                    "metric": metric,
                    "subject": "three synchronous replicas",
                    "stat": stat,
                }
                row |= {"role": "predicted", "value": 0.0, "unit": unit, "reason": "not published", "where": "Table 6"}
                shown = comparison_row(f"group-{arm}-{metric}-{stat}", row, value)
                rows.append({**shown, "published": None, "error_pct": None})
    return rows


def cost_rows(
    base: Scenario, indirect: Scenario, seed: int, progress: Callable[..., None], done: int, total: float
) -> list[dict[str, Any]]:
    """What each throttle gives and costs on a standalone server."""
    rows = []
    for k in THROTTLES_MB_S:
        progress(done, total, f"cost of -k{k}" if k else "cost of no throttle")
        rows.append(cost_row(base.with_settings(k=k), f"-k{k}" if k else "no throttle", float(k), seed))
        done += 1
    progress(done, total, "cost of indirect checkpoints")
    rows.append(cost_row(indirect, "indirect 60 s", 0.0, seed))
    return rows


def cost_row(scenario: Scenario, label: str, k_mb_s: float, seed: int) -> dict[str, Any]:
    """One throttle: throughput beside recovery time and log that a crash recovery would still need.

    ``recovery_s_max`` is the longest crash recovery the run could have needed: log since the last finished
    checkpoint began, at the rate recovery replays it. That log cannot be reused either (``log_kept_gb_max``).
    """
    flow = Flow(scenario, seed)
    flow.advance(scenario.settings.warmup_s)
    before = flow.totals("sql1")
    recovery, kept, rates = [], [], []
    step_s = 2.0
    last = before["transactions"]
    for _ in range(round(COST_S / step_s)):
        flow.advance(step_s)
        now = flow.gauges("sql1")
        recovery.append(now["recovery_estimate_s"])
        kept.append(now["log_since_checkpoint_kb"] * 1024 / 1e9)
        count = flow.totals("sql1")["transactions"]
        rates.append((count - last) / step_s)
        last = count
    after = flow.totals("sql1")
    written = after["checkpoint_pages"] - before["checkpoint_pages"]
    background = after["background_writer_pages"] - before["background_writer_pages"]
    return {
        "arm": label,
        "k_mb_s": k_mb_s,
        "transactions_per_s": round((after["transactions"] - before["transactions"]) / COST_S, 1),
        "transactions_per_s_min": round(min(rates), 1),
        "checkpoint_pages_per_s": round(written / COST_S, 1),
        "background_writer_pages_per_s": round(background / COST_S, 1),
        "checkpoints": int(flow.gauges("sql1")["checkpoints"]),
        "recovery_s_avg": round(sum(recovery) / len(recovery), 1),
        "recovery_s_max": round(max(recovery), 1),
        "log_kept_gb_max": round(max(kept), 2),
    }
