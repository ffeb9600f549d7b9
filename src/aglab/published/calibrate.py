"""Calibrate the constants: ``python -m aglab.published.calibrate`` (needs scipy).

Least squares over the rows of role ``fitted`` and no others: each row's log error at a tolerance of 2 %, and each constant's
distance from a value that can be argued without the papers, at a width that says how sure that argument is (a log-normal
prior). The priors settle what the rows leave open, such as users against think time. Writes
``data/calibration/constants.toml``; a constant that is not fitted keeps its line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aglab.core.errors import MissingError
from aglab.core.paths import bundle_path
from aglab.core.quantity import Constant, Tag, read_constants
from aglab.engine import Flow
from aglab.engine.layout import Array
from aglab.published.experiments import EXPERIMENTS, READINGS, twin_value
from aglab.published.rows import roles
from aglab.record import Run

TOLERANCE = 0.02
RUN_S = 1800.0
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


def solver() -> Callable[..., Any]:
    """scipy's ``least_squares``, which every fit of this room uses.

    Raises
    ------
    MissingError
        scipy is not installed.
    """
    try:
        from scipy.optimize import least_squares
    except ImportError as error:
        raise MissingError("scipy is not installed", "pip install 'aglab[calibrate]'") from error
    found: Callable[..., Any] = least_squares
    return found


def fit() -> dict[str, tuple[float, float]]:
    """Fit all of :data:`FREE`; name -> (value, relative standard error).

    Raises
    ------
    MissingError
        scipy is not installed.
    """
    least_squares = solver()
    start = np.array([math.log(free.centre) for free in FREE])
    found = least_squares(residuals, start, args=(fitted_rows(),), diff_step=5e-3, xtol=1e-6, ftol=1e-6, loss="linear")
    spread = np.sqrt(np.diag(np.linalg.pinv(found.jac.T @ found.jac)))
    return {free.name: (math.exp(x), float(s)) for free, x, s in zip(FREE, found.x, spread, strict=True)}


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
    found = fit()
    write(path, found)
    for name, (value, spread) in found.items():
        print(f"{name:30s} {value:14.6g}  +/- {100 * spread:5.1f} %")
    print(f"{len(found)} constants on {len(fitted_rows())} rows -> {path}")
    from aglab.published import calibrate_jobs

    return calibrate_jobs.main()


if __name__ == "__main__":
    raise SystemExit(main())
