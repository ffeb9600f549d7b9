"""Ablation: take one mechanism out of the flow model, fit the rest again, and see what breaks.

``python -m aglab.published.ablation`` (or ``make ablation``) keeps the table in ``data/calibration/ablation.toml`` for the book
to read. A mechanism earns its place when the rows cannot be met without it, whatever the other constants do. The fit is that of
:mod:`aglab.published.calibrate` with the removed mechanism's constant held. It begins twice, at the calibrated values and at the
priors' centres, and the better end counts; the whole model is fitted again in the same way, so that no removal is better only
because of where its fit began. ``loss`` is the sum of squared errors of the fitted rows in units of 2 %, plus the distance from
the priors. It is the rows of the availability group (paper 000) that are fitted again: arrays, backups and the NVDIMM have
mechanisms of their own, which this does not touch.

The kept table also holds each mechanism's loss *before* anything is fitted again, which takes seconds to compute: an engine or a
calibration that gives other losses, or other rows to compare, has outlived its table (:func:`moved`).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aglab.core.errors import unknown_name
from aglab.core.paths import bundle_path
from aglab.core.progress import no_progress
from aglab.core.quantity import constants, load_toml
from aglab.engine import Flow
from aglab.engine.layout import Array
from aglab.published.calibrate import FREE, LOG_GB, TOLERANCE, Free, bounds, fitted_rows
from aglab.published.experiments import EXPERIMENTS, PAPER, twin_value
from aglab.published.fitting import all_of, minimise, shown_progress, solver, square
from aglab.published.rows import medians, roles, rows_for
from aglab.record import Run
from aglab.record.files import write_text

RUN_S = 900.0  # shorter than the calibration's, for the whole model as well
STEPS_MAX = 8  # of one fit; a bound on time
STORED = ("data", "calibration", "ablation.toml")
SAME = 1e-3  # relative: what two platforms may differ by
BEGIN = ("calibrated", "priors")


@dataclass(frozen=True)
class Mechanism:
    """What is taken out: settings that remove it, and the constants that mean nothing without it."""

    name: str
    title: str
    settings: Mapping[str, object]
    held: tuple[str, ...] = ()


MECHANISMS: tuple[Mechanism, ...] = (
    Mechanism(
        "coalescing",
        "a page dirtied again before its sweep is written once",
        {"workload.hot_pages_per_warehouse": 5500},
        ("hot_pages_per_warehouse",),
    ),
    Mechanism("backoff", "back-off of checkpoints at 50 ms (20 ms instead)", {"constants.backoff_ms_2016": 20}),
    Mechanism("bursts", "page writes come in bursts", {"constants.write_burst_pages": 1}, ("write_burst_pages",)),
    Mechanism(
        "gathering",
        "neighbouring pages in one write",
        {"workload.pages_per_checkpoint_write": 1},
        ("pages_per_checkpoint_write",),
    ),
    Mechanism("hyperthreading", "a second thread adds 30 % of a core", {"ht_yield": 1.0}),
    Mechanism("turnaround", "turn-around of the log writer", {"constants.log_turnaround_us": 0}, ("log_turnaround_us",)),
    Mechanism("sending", "CPU of capturing and sending log", {"constants.send_ns_per_byte": 0}, ("send_ns_per_byte",)),
    Mechanism("overhead", "overhead of a synchronous commit", {"constants.sync_overhead_us": 0}, ("sync_overhead_us",)),
    Mechanism("redo", "redo bound by its dispatcher", {"constants.redo_bytes_s_2016": 1e9}, ("redo_bytes_s_2016",)),
)


def ablation(
    progress: Callable[..., None] = no_progress,
    names: tuple[str, ...] | None = None,
    run_s: float = RUN_S,
    steps_max: int = STEPS_MAX,
    workers: int | None = None,
) -> list[dict[str, Any]]:
    """One row per mechanism, first the whole model; on every processor, or ``workers``.

    Returns
    -------
    list of dict
        ``name``, ``title``, ``loss``, ``loss_not_refitted``, ``start`` (where the better fit began), ``other_loss`` (where the
        other ended), ``fitted_median_abs_error_pct``, ``predicted_median_abs_error_pct``, ``worst_id``, ``worst_error_pct`` (of
        the fitted rows), ``rows`` (with an error).

    Raises
    ------
    UsageError
        Unknown mechanism.
    MissingError
        scipy is not installed.
    """
    known = {mechanism.name: mechanism for mechanism in MECHANISMS}
    for name in names or ():
        if name not in known:
            raise unknown_name("mechanism", name, tuple(known))
    solver()
    whole = Mechanism("none", "the whole model", {})
    chosen = [whole, *(known[name] for name in (names or tuple(known)))]
    if not steps_max:
        rows = []
        for done, mechanism in enumerate(chosen):
            progress(done, len(chosen), mechanism.title)
            rows.append(_row(mechanism, {"calibrated": _begin(mechanism, "calibrated")}, run_s))
        progress(len(chosen), len(chosen), "done")
        return rows
    jobs = [(mechanism, start, run_s, steps_max) for mechanism in chosen for start in BEGIN]
    ends = all_of(_end, jobs, progress, "mechanisms taken out, two fits of each", workers)
    found = {(mechanism.name, start): point for (mechanism, start, _, _), point in zip(jobs, ends, strict=True)}
    return [_row(one, {start: found[one.name, start] for start in BEGIN}, run_s) for one in chosen]


def _free(mechanism: Mechanism) -> list[Free]:
    return [entry for entry in FREE if entry.name not in mechanism.held]


def _begin(mechanism: Mechanism, start: str) -> Array:
    """Where a fit begins: the calibrated constants, or the priors' centres."""
    free = _free(mechanism)
    return np.array([math.log(constants()[one.name].value if start == "calibrated" else one.centre) for one in free])


def _end(mechanism: Mechanism, start: str, run_s: float, steps_max: int) -> Array:
    """Where a fit without the mechanism ends."""
    free, fitted = _free(mechanism), fitted_rows()
    keep = [FREE.index(one) for one in free]
    low, high = (side[keep] for side in bounds())
    found = minimise(lambda x: _errors(x, free, mechanism, fitted, run_s), _begin(mechanism, start), (low, high), steps_max)
    point: Array = found.x
    return point


def _row(mechanism: Mechanism, ends: Mapping[str, Array], run_s: float) -> dict[str, Any]:
    free, fitted = _free(mechanism), fitted_rows()

    def loss(point: Array) -> float:
        return square(_errors(point, free, mechanism, fitted, run_s))

    begin = _begin(mechanism, "calibrated")
    not_refitted = loss(begin)
    losses = {start: loss(point) for start, point in ends.items()}
    start = min(losses, key=lambda name: losses[name])
    point = ends[start]
    if not_refitted < losses[start]:  # a fit stops where the roughness hides the slope
        point, losses[start] = begin, not_refitted
    runs = _runs(point, free, mechanism, run_s, tuple(EXPERIMENTS))
    frame = roles()
    ids = frame[(frame["paper"] == PAPER) & (frame["role"] != "input")].index
    found = [row for row in rows_for(ids, runs) if row["error_pct"] is not None]
    by_role = medians(found)
    worst = max((row for row in found if row["role"] == "fitted"), key=lambda row: abs(row["error_pct"]))
    return {
        "name": mechanism.name,
        "title": mechanism.title,
        "loss": round(losses[start], 2),
        "loss_not_refitted": round(not_refitted, 2),
        "start": start,
        "other_loss": round(max(losses.values()), 2),
        "fitted_median_abs_error_pct": by_role["fitted"],
        "predicted_median_abs_error_pct": by_role["predicted"],
        "worst_id": worst["id"],
        "worst_error_pct": worst["error_pct"],
        "rows": len(found),
    }


def _runs(point: Array, free: list[Free], mechanism: Mechanism, run_s: float, names: tuple[str, ...]) -> dict[str, Run]:
    values = {entry.key: math.exp(x) for entry, x in zip(free, point, strict=True)}
    settings = {"noise": 0.0, "log_gb": LOG_GB, **values, **mechanism.settings}
    return {name: Flow(EXPERIMENTS[name].scenario(settings)).run(run_s) for name in names}


def _errors(point: Array, free: list[Free], mechanism: Mechanism, fitted: list[tuple[str, str, float]], run_s: float) -> Array:
    runs = _runs(point, free, mechanism, run_s, ("t6-default", "ag-k750"))
    errors = [math.log((twin_value(row_id, stat, runs) or 1e-9) / value) / TOLERANCE for row_id, stat, value in fitted]
    priors = [(x - math.log(entry.centre)) / entry.width for x, entry in zip(point, free, strict=True)]
    return np.array([*errors, *priors])


def stored() -> list[dict[str, Any]]:
    """The kept table, in the shape of :func:`ablation`.

    Raises
    ------
    UsageError
        The file is missing or damaged.
    """
    rows: list[dict[str, Any]] = load_toml(bundle_path(*STORED), "ablation")["mechanism"]
    return rows


def moved(kept: list[dict[str, Any]], now: list[dict[str, Any]]) -> dict[str, tuple[Any, Any]]:
    """What no longer holds of a kept table: ``name -> ((loss before refitting, rows) kept, and now)``; empty when current."""
    nothing = (math.nan, 0)
    old = {row["name"]: (row["loss_not_refitted"], row["rows"]) for row in kept}
    new = {row["name"]: (row["loss_not_refitted"], row["rows"]) for row in now}
    pairs = {name: (old.get(name, nothing), new.get(name, nothing)) for name in (*old, *new)}

    def same(one: tuple[float, int], other: tuple[float, int]) -> bool:
        return one[1] == other[1] and math.isclose(one[0], other[0], rel_tol=SAME, abs_tol=0.02)

    return {name: pair for name, pair in pairs.items() if not same(*pair)}


def write(path: Path, rows: list[dict[str, Any]], took_s: float) -> None:
    """Keep a table."""
    lines = [
        "# Ablation of the flow model, written by `python -m aglab.published.ablation`; do not edit by hand.",
        f"# Runs of {RUN_S:g} s, at most {STEPS_MAX} steps of each fit; {took_s:.0f} s on the machine that wrote it.",
    ]
    for row in rows:
        lines += ["", "[[mechanism]]", *(f"{key} = {json.dumps(value)}" for key, value in row.items())]
    write_text(path, "\n".join(lines) + "\n")


def main() -> int:
    """Run, keep, and print the table."""
    begin = time.perf_counter()
    with shown_progress("ablation") as progress:
        rows = ablation(progress)
    took = time.perf_counter() - begin
    path = bundle_path(*STORED)
    write(path, rows, took)
    print(f"{len(rows)} rows in {took:.0f} s -> {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
