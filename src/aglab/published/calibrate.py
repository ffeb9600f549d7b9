"""Calibrate the constants: ``python -m aglab.published.calibrate`` (needs scipy).

Least squares over the rows of role ``fitted`` and no others: each row's log error at a tolerance of 2 %, and each constant's
distance from a value that can be argued without the papers, at a width that says how sure that argument is (a log-normal
prior). The priors settle what the rows leave open, such as users against think time. Fits begin at the kept constants, at the
priors' centres and at seeded points of the plausible ranges; the best is kept. Writes ``data/calibration/constants.toml``,
where a constant that is not fitted keeps its line, and ``starts.toml``: where every start ended. Ten minutes on two processors.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aglab.core.paths import bundle_path
from aglab.core.progress import no_progress
from aglab.core.quantity import Constant, Tag, constants, load_toml, read_constants
from aglab.engine import Flow
from aglab.engine.layout import Array
from aglab.published.experiments import EXPERIMENTS, READINGS, twin_value
from aglab.published.fitting import all_of, hypercube, jacobian, minimise, shown_progress, solver, square
from aglab.published.rows import roles
from aglab.record import Run

TOLERANCE = 0.02
RUN_S = 2400.0  # long: where a run ends within a checkpoint moves an average of 30 minutes by more than 1 %
STARTS = 14  # beside the kept constants and the priors' centres
STEPS_MAX = 25  # of one fit
ROUGH = 0.05  # of the loss: a gain that is none
SAME_LOSS = 0.5
ENDS = ("data", "calibration", "starts.toml")
LOG_GB = 1e5  # nothing backs the log up here: a full log would stop a long run


@dataclass(frozen=True)
class Free:
    """A constant to fit: the scenario key it sets, its prior (centre, log width) and where that comes from."""

    name: str
    key: str
    centre: float
    width: float
    because: str
    tag: str


FREE: tuple[Free, ...] = (
    Free("users", "users", 128, 0.3, "two per logical processor", "Table 6 default, Table 3"),
    Free("think_us", "think_us", 400, 0.7, "a local round trip and a procedure call", "Table 6 default, Table 3"),
    Free("cpu_us_per_tx", "cpu_us", 400, 0.5, "32 cores busy at some 80,000 tx/s", "Table 6 default, Table 3"),
    Free("page_touches_per_tx", "page_touches_per_tx", 4, 0.5, "rows a TPC-C-like mix changes", "Table 6 default, Table 4"),
    Free(
        "hot_pages_per_warehouse",
        "workload.hot_pages_per_warehouse",
        700,
        0.5,
        "a tenth of stock, customer",
        "Table 6 default, Table 4",
    ),
    Free("cold_touches_per_tx", "cold_touches_per_tx", 0.8, 0.5, "a read or so that misses hot pages", "Table 4"),
    Free("log_bytes_per_tx", "log_bytes_per_tx", 3000, 0.3, "log over transactions, any column", "Table 3, Table 6 default"),
    Free("pages_per_checkpoint_write", "workload.pages_per_checkpoint_write", 3, 0.7, "scattered dirty pages", "Table 4"),
    Free("write_burst_pages", "constants.write_burst_pages", 300, 0.7, "a hundred outstanding writes of three pages", "Table 4"),
    Free("log_write_us", "log_write_us", 150, 0.4, "mirrored SSDs behind a controller cache", "Table 4"),
    Free("log_turnaround_us", "constants.log_turnaround_us", 50, 0.7, "two thread switches", "Table 4"),
    Free("send_ns_per_byte", "constants.send_ns_per_byte", 20, 0.7, "capture, copy, checksum, TCP", "Table 3"),
    Free("receive_ns_per_byte", "constants.receive_ns_per_byte", 15, 0.7, "TCP, copy, log write", "Figure 10"),
    Free("sync_overhead_us", "constants.sync_overhead_us", 300, 0.7, "a few thread switches on three machines", "Table 3"),
    Free("redo_bytes_s_2016", "constants.redo_bytes_s_2016", 60e6, 0.5, "one busy core", "Figure 10"),
)


def experiment_runs(
    values: Mapping[str, float], names: tuple[str, ...] = ("t6-default", "ag-k750"), seconds: float = RUN_S
) -> dict[str, Run]:
    """The experiments of the fitted rows with constants at ``values`` (by name)."""
    settings: dict[str, object] = {
        "noise": 0.0,
        "log_gb": LOG_GB,
        **{free.key: values[free.name] for free in FREE if free.name in values},
    }
    return {name: Flow(EXPERIMENTS[name].scenario(settings)).run(seconds) for name in names}


def residuals(point: Array, rows: list[tuple[str, str, float]], seconds: float = RUN_S) -> Array:
    """Errors of the fitted rows, then distances from the priors (all in units of their tolerance)."""
    values = {free.name: math.exp(x) for free, x in zip(FREE, point, strict=True)}
    runs = experiment_runs(values, seconds=seconds)
    errors = []
    for row_id, stat, value in rows:
        twin = twin_value(row_id, stat, runs)
        errors.append(math.log((twin or 1e-9) / value) / TOLERANCE)
    priors = [(x - math.log(free.centre)) / free.width for free, x in zip(FREE, point, strict=True)]
    return np.array([*errors, *priors])


def fitted_rows() -> list[tuple[str, str, float]]:
    """(id, stat, value) of the rows of role ``fitted``."""
    frame = roles()
    chosen = frame[(frame["role"] == "fitted") & frame.index.isin(list(READINGS))]
    return [(str(index), str(row["stat"]), float(row["value"])) for index, row in chosen.iterrows()]


def bounds() -> tuple[Array, Array]:
    """Logarithms of the plausible range of every constant of :data:`FREE`, as a scenario demands it."""
    known = [constants()[free.name] for free in FREE]
    low = [math.log(max(one.low, 1e-3 * free.centre)) for one, free in zip(known, FREE, strict=True)]
    return np.array(low), np.array([math.log(one.high) for one in known])


def calibrated() -> Array:
    """The kept constants as the point that :func:`residuals` takes."""
    return np.array([math.log(constants()[free.name].value) for free in FREE])


def starts(count: int = STARTS, seed: int = 1) -> dict[str, Array]:
    """Where fits begin: the kept constants, the priors' centres, and ``count`` points spread over the plausible ranges.

    Points lie within two widths of a prior, so far as its constant's plausible range goes.
    """
    centres = np.array([math.log(free.centre) for free in FREE])
    widths = np.array([free.width for free in FREE])
    low, high = bounds()
    spread = hypercube(np.maximum(low, centres - 2.0 * widths), np.minimum(high, centres + 2.0 * widths), count, seed)
    return {"kept": calibrated(), "priors": centres, **{f"spread {index + 1}": point for index, point in enumerate(spread)}}


def fit_from(start: Array, rows: list[tuple[str, str, float]] | None = None, steps_max: int = STEPS_MAX) -> Any:
    """One fit of all of :data:`FREE`; scipy's result."""
    asked = rows or fitted_rows()
    return minimise(lambda point: residuals(point, asked), start, bounds(), steps_max)


@dataclass(frozen=True)
class Fit:
    """Constants found (name -> value and relative standard error), their loss, and where every start ended."""

    constants: Mapping[str, tuple[float, float]]
    loss: float
    starts: tuple[dict[str, Any], ...]


def fit(progress: Callable[..., None] = no_progress, begin: Mapping[str, Array] | None = None, steps_max: int = STEPS_MAX) -> Fit:
    """Fit all of :data:`FREE` from every start and keep the best.

    The kept constants stay where no start is better by more than :data:`ROUGH`, so that a second fit finds what the first did.

    Raises
    ------
    MissingError
        scipy is not installed.
    """
    solver()
    rows, begin = fitted_rows(), dict(begin or starts())
    ends = all_of(fit_from, [(point, rows, steps_max) for point in begin.values()], progress, "fits")
    best = min(ends, key=lambda one: square(one.fun))
    point, loss = best.x, square(best.fun)
    if "kept" in begin and square(residuals(begin["kept"], rows)) < loss + ROUGH:
        point = begin["kept"]
        loss = square(residuals(point, rows))
    found = jacobian(lambda x: residuals(x, rows), point)
    spread = np.sqrt(np.diag(np.linalg.pinv(found.T @ found)))
    ended = []
    for (name, first), end in zip(begin.items(), ends, strict=True):
        away = np.abs(end.x - point) / spread
        far = int(np.argmax(away))
        ended.append(
            {
                "start": name,
                "loss_at_start": float(f"{square(residuals(first, rows)):.4g}"),
                "loss": round(square(end.fun), 2),
                "rise": round(square(end.fun) - loss, 2),
                "away": round(float(away[far]), 2),
                "constant": FREE[far].name,
                "runs": int(end.nfev),
            }
        )
    values = {free.name: (math.exp(x), float(s)) for free, x, s in zip(FREE, point, spread, strict=True)}
    return Fit(values, round(loss, 2), tuple(ended))


def same_optimum(ended: Mapping[str, Any]) -> bool:
    """Whether a start ended at the best one: no constant further off than its standard error, the loss within the roughness."""
    return bool(ended["away"] <= 1.0 and ended["rise"] <= SAME_LOSS)


def stored_starts() -> dict[str, Any]:
    """``loss`` of the kept constants and where every ``start`` ended, as the calibration wrote them."""
    return load_toml(bundle_path(*ENDS), "calibration starts")


def write_starts(path: Path, found: Fit) -> None:
    """Keep where every start ended."""
    from aglab.record.files import write_text

    lines = [
        "# Where every start of the calibration ended, written by `python -m aglab.published.calibrate`; do not edit by hand.",
        "# rise: loss above the kept one's; away: the constant furthest from its kept value, in standard errors; runs: steps.",
        f"loss = {found.loss}",
    ]
    for one in found.starts:
        lines += ["", "[[start]]", *(f"{key} = {json.dumps(value)}" for key, value in one.items())]
    write_text(path, "\n".join(lines) + "\n")


def write(path: Path, found: Mapping[str, tuple[float, float]]) -> None:
    """Write the constants file: fitted values to four digits, the rest as it was."""
    from aglab.record.files import write_text

    known = read_constants(path)
    lines = [
        "# Constants of the flow model. Written by `python -m aglab.published.calibrate`; do not edit fitted values by hand.",
        '# tag: "fitted: rows" calibrated on published rows of role fitted; "doc", "spec" documented; "assumed" our judgement.',
        "# spread: relative standard error of a fitted value (half of a 68 % interval), priors included.",
    ]
    for name, entry in known.items():
        spread = None
        if name in found:
            free = next(free for free in FREE if free.name == name)
            entry = Constant(
                name, float(f"{found[name][0]:.4g}"), entry.unit, entry.meaning, Tag("fitted", free.tag), entry.low, entry.high
            )
            spread = found[name][1]
        lines += constant_lines(entry, spread)
    write_text(path, "\n".join(lines) + "\n")


def constant_lines(entry: Constant, spread: float | None) -> list[str]:
    """One constant as lines of its file."""
    tag = f"{entry.tag.kind}: {entry.tag.source}" if entry.tag.source else entry.tag.kind
    lines = [
        "",
        f"[constants.{entry.name}]",
        f"value = {entry.value!r}",
        f'unit = "{entry.unit}"',
        f'meaning = "{entry.meaning}"',
    ]
    lines += [f'tag = "{tag}"', f"low = {entry.low!r}", f"high = {entry.high!r}"]
    if spread is not None:
        lines.append(f"spread = {spread:.3f}")
    return lines


def main() -> int:
    """Fit, write, and print what was found; then the constants of jobs."""
    path = bundle_path("data", "calibration", "constants.toml")
    with shown_progress("fits") as progress:
        found = fit(progress)
    write(path, found.constants)
    write_starts(bundle_path(*ENDS[:-1]) / ENDS[-1], found)
    for name, (value, spread) in found.constants.items():
        print(f"{name:30s} {value:14.6g}  +/- {100 * spread:5.1f} %")
    print(f"{len(found.constants)} constants on {len(fitted_rows())} rows, loss {found.loss} -> {path}")
    for one in found.starts:
        print("{start:10s} loss {loss_at_start:10.4g} -> {loss:8.2f}, {constant} {away:.2f} standard errors away".format(**one))
    print(f"{sum(map(same_optimum, found.starts))} of {len(found.starts)} starts end at the same optimum")
    from aglab.published import calibrate_jobs

    return calibrate_jobs.main()


if __name__ == "__main__":
    raise SystemExit(main())
