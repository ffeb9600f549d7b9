"""Rows of Table 14, paper 003: requests of a load of 25 % CPU before and during an online index rebuild, MAXDOP 0 and 16.

The load is given its rate before the rebuild at 25 % CPU (both inputs), as for backups; the rebuild is that of Table 13 (its
pages, its CPU per page) and runs beside it by the rules of :mod:`aglab.engine.sharing`. Nothing is fitted. Durations and
minima are residuals: single runs are not monotone in MAXDOP, and the twin has one rate for a whole rebuild.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from aglab.core.units import PAGE_BYTES
from aglab.engine import steady
from aglab.engine.job_rows import job_rate
from aglab.engine.steady import Steady
from aglab.published.experiments_backup import PAGES, load_of, machine
from aglab.published.rows_read import published_value
from aglab.scenario.maintenance import IndexRebuild

LOAD_CPU = 0.25
INDEX_GB = PAGES * PAGE_BYTES / 1e9


def rebuild(maxdop: int) -> IndexRebuild:
    """The rebuild of Table 13."""
    return IndexRebuild(gb=INDEX_GB, maxdop=maxdop)


@functools.cache
def during(maxdop: int) -> tuple[float, Steady]:
    """Requests/s before, and the load beside the rebuild."""
    before = published_value(f"dl560-t14-dop{maxdop:02d}-before")
    return before, steady(load_of(machine(4), before, LOAD_CPU), job=rebuild(maxdop))


def rate(maxdop: int) -> float:
    """Requests/s during the rebuild."""
    return during(maxdop)[1].throughput_s


def change(maxdop: int) -> float:
    """Percent by which the rebuild changes the load."""
    return 100.0 * (rate(maxdop) / during(maxdop)[0] - 1.0)


def duration_s(maxdop: int) -> float:
    """How long the rebuild takes beside the load."""
    return INDEX_GB * 1e3 / during(maxdop)[1].backup_mb_s


def _alone_s(maxdop: int) -> float:
    return job_rate(machine(4), rebuild(maxdop)).seconds(INDEX_GB)


def _fewer_threads() -> float:
    return 100.0 * (duration_s(16) / duration_s(0) - 1.0)


def _rows() -> dict[str, Callable[[], float]]:
    rows: dict[str, Callable[[], float]] = {}
    for maxdop in (0, 16):
        name = f"dl560-t14-dop{maxdop:02d}"
        for stat in ("avg", "min"):
            rows[f"{name}-during-{stat}"] = functools.partial(rate, maxdop)
            rows[f"{name}-during-{stat}-pct"] = functools.partial(change, maxdop)
        rows[f"{name}-duration"] = functools.partial(duration_s, maxdop)
    return rows


COMPUTED: dict[str, Callable[[], float]] = {
    **_rows(),
    "dl560-t14-dop16-duration-pct": _fewer_threads,
    "dl560-ix-gain-analysis": _fewer_threads,
    "dl560-ix-speedup": lambda: _alone_s(0) / _alone_s(16),
}
