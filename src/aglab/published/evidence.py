"""Evidence for the calibration: ``python -m aglab.published.evidence`` (needs scipy; minutes of computing).

Three questions a fit does not answer by itself, each about the constants of :mod:`aglab.published.calibrate`:

- *Is a constant known?* Its profile likelihood: the constant is held a step away from its value and all others are fitted
  again; the rise of the loss says how much the rows mind. ``rows_rise`` leaves the priors out: where it is small, the value
  comes from the prior and not from the paper.
- *Does the fit predict?* Leave one table out: fit without the rows of one table, then predict that table.
- *How sure is a prediction?* Constants are drawn from the fit's own covariance (normal in the logarithm), every experiment is
  run with each draw, and each row is given the scatter that the fitted rows themselves show. The 10th to 90th percentile is
  the 80 % interval; how many published values lie inside is reported by role.

The loss is not smooth: where a run ends within a checkpoint moves averages by tenths of a percent, so a rise below about one
says nothing, and a fit stops where the roughness hides the slope. Left out: noise of the mix (runs are quiet, so minima and
maxima have no interval), papers 001, 003 and 004 (closed forms), and errors that all rows of the paper share. Writes
``data/calibration/evidence.json`` with what it rests on, so that a later change of the model shows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from aglab.core.paths import bundle_path
from aglab.core.progress import no_progress
from aglab.core.quantity import constants
from aglab.engine.layout import Array
from aglab.published.calibrate import FREE, RUN_S, TOLERANCE, bounds, calibrated, experiment_runs, fitted_rows, residuals
from aglab.published.experiments import EXPERIMENTS, PAPER, READINGS, twin_value
from aglab.published.fitting import minimise, processes, shown_progress, square
from aglab.published.rows import roles

STEPS = (-2.0, 2.0)  # in units of a constant's spread
DRAWS = 40
COVERED = 0.8
SAME = 1e-3  # relative: twin values closer than this are the same model

Row = tuple[str, str, float]


def basis() -> dict[str, Any]:
    """What the evidence rests on: constants, published values with their roles, and the model's answer for each averaged row."""
    frame = _averaged()
    asked = [(str(row_id), str(stat)) for row_id, stat in zip(frame.index, frame["stat"], strict=True)]
    return {
        "constants": {free.name: constants()[free.name].value for free in FREE},
        "published": {str(row_id): [str(row["role"]), float(row["value"])] for row_id, row in frame.iterrows()},
        "twin": _twins(calibrated(), asked),
    }


def stale(found: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What has changed between the ``basis`` of stored evidence and that of the model as it is; empty when nothing has."""
    changed = [f"{part}: {name}" for part in ("constants", "published") for name in _differing(found[part], now[part])]
    old, new = found["twin"], now["twin"]
    moved = [name for name in new if abs(old.get(name, math.inf) / new[name] - 1.0) > SAME]
    return changed + [f"twin: {name}" for name in moved]


def _differing(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [name for name in {**old, **new} if old.get(name) != new.get(name)]


def _averaged() -> Any:
    """Rows of the paper that a run answers, without minima and maxima: those depend on noise."""
    frame = roles()
    return frame[(frame["paper"] == PAPER) & frame.index.isin(list(READINGS)) & ~frame["stat"].isin(["min", "max"])]


def refit(rows: list[Row], start: Array, held: int | None = None) -> Any:
    """Fit all constants, or all but the one at index ``held``, to ``rows``; scipy's result, ``x`` of full length.

    Raises
    ------
    MissingError
        scipy is not installed.
    """
    moving = [index for index in range(len(FREE)) if index != held]
    low, high = (side[moving] for side in bounds())

    def whole(part: Array) -> Array:
        point = start.copy()
        point[moving] = part
        return point

    def loss(part: Array) -> Array:
        return residuals(whole(part), rows, RUN_S)

    found = minimise(loss, start[moving], (low, high), 5)
    found.x = whole(found.x)
    return found


def profile(index: int, best: Array, spread: float, rows: list[Row]) -> dict[str, Any]:
    """Rise of the loss when the constant at ``index`` is held off its value and the others are fitted again."""
    least = residuals(best, rows, RUN_S)
    points = []
    for step in STEPS:
        start = best.copy()
        start[index] += step * spread
        moved = refit(rows, start, held=index).fun
        points.append(
            {
                "value": float(f"{math.exp(start[index]):.4g}"),
                "rise": round(square(moved) - square(least), 2),
                "rows_rise": round(square(moved[: len(rows)]) - square(least[: len(rows)]), 2),
            }
        )
    known = "rows" if min(points[0]["rows_rise"], points[-1]["rows_rise"]) > 1.0 else "prior"
    return {"name": FREE[index].name, "value": float(f"{math.exp(best[index]):.4g}"), "known_from": known, "points": points}


def by_table(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows of each table or figure."""
    where, found = roles()["table"], dict[str, list[Row]]()
    for row in rows:
        found.setdefault(str(where[row[0]]), []).append(row)
    return found


def left_out(table: str, best: Array, rows: list[Row]) -> dict[str, Any]:
    """Fit without one table's rows, then predict them; every row's error with the table in the fit and without."""
    out = by_table(rows)[table]
    moved = refit([row for row in rows if row not in out], best).x
    inside, outside = _errors(best, out), _errors(moved, out)
    errors: list[dict[str, Any]] = [
        {"id": row[0], "with_pct": round(100 * inside[row[0]], 2), "without_pct": round(100 * outside[row[0]], 2)} for row in out
    ]
    median = float(np.median([abs(error["without_pct"]) for error in errors]))
    return {"table": table, "rows": len(out), "median_abs_error_pct": round(median, 2), "errors": errors}


def _errors(point: Array, rows: list[Row]) -> dict[str, float]:
    twins = _twins(point, [(row_id, stat) for row_id, stat, _ in rows])
    return {row_id: twins[row_id] / value - 1.0 for row_id, _, value in rows}


def _twins(point: Array, rows: Sequence[tuple[str, str]]) -> dict[str, float]:
    values = {free.name: math.exp(x) for free, x in zip(FREE, point, strict=True)}
    runs = experiment_runs(values, tuple(EXPERIMENTS), RUN_S)
    return {row_id: twin_value(row_id, stat, runs) or math.nan for row_id, stat in rows}


def intervals(best: Any, rows: list[Row], draws: int = DRAWS, seed: int = 1) -> dict[str, Any]:
    """80 % intervals of every averaged row of the paper that is run, and the share of published values inside, by role."""
    frame = _averaged()
    asked = [(str(row_id), str(stat)) for row_id, stat in zip(frame.index, frame["stat"], strict=True)]
    scatter = math.sqrt(float((np.array(best.fun[: len(rows)]) ** 2).mean())) * TOLERANCE
    generator = np.random.default_rng(seed)
    covariance = np.linalg.pinv(best.jac.T @ best.jac)
    points = generator.multivariate_normal(best.x, covariance, size=draws, method="eigh")
    samples: dict[str, list[float]] = {row_id: [] for row_id, _ in asked}
    for point in points:
        for row_id, twin in _twins(point, asked).items():
            samples[row_id] += [twin * math.exp(error) for error in generator.normal(0.0, scatter, size=25)]
    found: list[dict[str, Any]] = []
    for row_id, _ in asked:
        low, high = (float(value) for value in np.quantile(samples[row_id], [(1 - COVERED) / 2, (1 + COVERED) / 2]))
        value = float(frame.loc[row_id, "value"])
        inside = bool(low <= value <= high)
        found.append({"id": row_id, "role": str(frame.loc[row_id, "role"]), "low": low, "high": high, "inside": inside})
    coverage = {}
    for role in ("fitted", "predicted", "residual"):
        of_role = [row["inside"] for row in found if row["role"] == role]
        if of_role:
            coverage[role] = {"rows": len(of_role), "inside": sum(of_role)}
    return {"share": COVERED, "draws": draws, "row_scatter_pct": round(100 * scatter, 2), "coverage": coverage, "rows": found}


def evidence(progress: Callable[..., None] = no_progress, workers: int | None = None) -> dict[str, Any]:
    """Everything above, on every processor or ``workers``; the result does not depend on how many."""
    rows = fitted_rows()
    best = refit(rows, calibrated())
    spreads = np.sqrt(np.diag(np.linalg.pinv(best.jac.T @ best.jac)))
    with ProcessPoolExecutor(workers or processes()) as pool:
        jobs = [pool.submit(profile, index, best.x, float(spreads[index]), rows) for index in range(len(FREE))]
        jobs += [pool.submit(left_out, table, best.x, rows) for table in by_table(rows)]
        last = pool.submit(intervals, best, rows)
        for done, _ in enumerate(as_completed([*jobs, last]), start=1):
            progress(done, len(jobs) + 1, "profiles, tables left out, intervals")
    found = [job.result() for job in jobs]
    return {
        "basis": basis(),
        "profiles": found[: len(FREE)],
        "leave_one_table_out": found[len(FREE) :],
        "intervals": last.result(),
    }


def stored() -> dict[str, Any]:
    """The evidence file as it was written last; see :func:`stale`."""
    loaded: dict[str, Any] = json.loads(bundle_path("data", "calibration", "evidence.json").read_text(encoding="utf-8"))
    return loaded


def main() -> int:
    """Compute and write ``data/calibration/evidence.json``."""
    from aglab.record.files import write_text

    path = bundle_path("data", "calibration") / "evidence.json"
    with shown_progress("evidence") as progress:
        found = evidence(progress)
    write_text(path, json.dumps(found, indent=1) + "\n")
    print(f"-> {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
