"""Calibrate the constants of jobs and sockets: ``python -m aglab.published.calibrate_jobs`` (needs scipy).

Four backup constants on seven rates (Table 10 and one row of Table 12), least squares of log errors with wide priors. The
cost of a rebuilt page, what a pair of a rebuild's threads adds to it, and the cost of remote memory follow from one row each
(Table 13 at MAXDOP 1 and at 0, Figure 4) in closed form.
Writes ``data/calibration/jobs.toml``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from aglab.core.paths import bundle_path
from aglab.core.quantity import Constant, read_constants
from aglab.engine.job_rows import rebuild_threads
from aglab.engine.layout import Array
from aglab.published.experiments_backup import OPTIONS, rate
from aglab.published.experiments_rebuild import PAGES, one_volume
from aglab.published.fitting import solver
from aglab.published.rows import figures

PRIORS = {  # name -> centre, log width, why
    "backup_target_mb_s": (450.0, 0.3, "a mirrored pair of SATA SSDs"),
    "compress_mb_s_per_ghz": (20.0, 0.7, "fast dictionary compression on one core"),
    "compression_ratio": (3.0, 0.4, "text and numbers of OLTP tables"),
    "io_turn_ms": (0.2, 0.7, "a share of the scheduler's quantum of 4 ms"),
}
TOLERANCE = 0.02
ROWS = [("t10", sockets, case, False) for sockets in (2, 4) for case in OPTIONS] + [("t12", 2, "default", True)]


def residuals(point: Array) -> Array:
    """Log errors of the fitted rates, then distances from the priors, in units of their tolerance."""
    values = {name: math.exp(x) for name, x in zip(PRIORS, point, strict=True)}
    frame = figures()
    errors = [
        math.log(rate(sockets, case, loaded, values).rate_mb_s / frame.loc[f"dl560-{table}-{sockets}s-{case}-mbps", "value"])
        / TOLERANCE
        for table, sockets, case, loaded in ROWS
    ]
    priors = [(x - math.log(centre)) / width for x, (centre, width, _) in zip(point, PRIORS.values(), strict=True)]
    return np.array([*errors, *priors])


def fit() -> dict[str, float]:
    """Every fitted constant of the file.

    Raises
    ------
    MissingError
        scipy is not installed.
    """
    least_squares = solver()
    start = np.array([math.log(centre) for centre, _, _ in PRIORS.values()])
    found = least_squares(residuals, start, diff_step=1e-3, xtol=1e-8)
    values = {name: math.exp(x) for name, x in zip(PRIORS, found.x, strict=True)}
    frame = figures()
    one, all_cores = (float(frame.loc[f"dl560-t13-dop{maxdop}-duration", "value"]) for maxdop in ("01", "00"))
    threads = rebuild_threads(one_volume(), 0)
    values["rebuild_us_per_page"] = one / PAGES * 1e6
    values["rebuild_crosstalk"] = (all_cores / one * threads - 1.0) / (threads * (threads - 1))
    values["numa_remote_cost"] = float(frame.loc["dl560-rg-gain-2s", "value"]) / 100.0 * 2.0
    return values


def write(path: Path, found: Mapping[str, float]) -> None:
    """Write the file again with fitted values to four digits; the rest stays."""
    from aglab.published.calibrate import constant_lines
    from aglab.record.files import write_text

    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("#")]
    for name, entry in read_constants(path).items():
        value = float(f"{found[name]:.4g}") if name in found else entry.value
        lines += constant_lines(Constant(name, value, entry.unit, entry.meaning, entry.tag, entry.low, entry.high), None)
    write_text(path, "\n".join(lines) + "\n")


def main() -> int:
    """Fit, write, and print what was found."""
    path = bundle_path("data", "calibration", "jobs.toml")
    found = fit()
    write(path, found)
    for name, value in found.items():
        print(f"{name:24s} {value:10.4g}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
