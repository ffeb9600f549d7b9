"""Rows of Tables 13 and 14, paper 003: an online index rebuild alone at each MAXDOP, and beside a load of 25 % CPU at 0 and 16.

The rebuild reads, sorts, writes and logs each page of the printed count. Its database lies on one of the machine's two data
volumes (Table 4: four of the eight drives, RAID 10), beside half of the load's I/O. The CPU of a page is fitted at MAXDOP 1, and
what a pair of threads adds to it at MAXDOP 0; all other durations are predictions, but not blind ones: the form of the law was
chosen when they were known. The load is given its rate before the rebuild at 25 % CPU (both inputs), as for backups, and runs
beside it by the rules of :mod:`aglab.engine.sharing`. Minima are residuals: the twin has one rate for a whole rebuild.
:func:`limits_s` says what each part of the machine alone would take.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping

from aglab.core.units import PAGE_BYTES
from aglab.engine import steady
from aglab.engine.job_rows import job_rate
from aglab.engine.steady import Steady
from aglab.hardware import Profile
from aglab.published.experiments_backup import load_of, machine
from aglab.published.rows_read import published_value
from aglab.scenario.maintenance import IndexRebuild

LOAD_CPU = 0.25
PAGES = 11_442_956
MAXDOPS = (1, 8, 16, 24, 32, 48, 0)
VOLUMES = 2  # /DATA01 and /DATA02, two databases on each
INDEX_GB = PAGES * PAGE_BYTES / 1e9


@functools.cache
def one_volume() -> Profile:
    """The server with four sockets and what belongs to one of its data volumes: drives, databases, their part of the memory."""
    whole = machine(4)
    memory, suggested = whole.memory, whole.suggested
    return dataclasses.replace(
        whole,
        data=dataclasses.replace(whole.data, devices=whole.data.devices // VOLUMES),
        memory=dataclasses.replace(memory, max_server_memory_mb=memory.max_server_memory_mb / VOLUMES),
        suggested=dataclasses.replace(suggested, warehouses=suggested.warehouses // VOLUMES),
    )


def rebuild(maxdop: int) -> IndexRebuild:
    """The rebuild of Table 13."""
    return IndexRebuild(gb=INDEX_GB, maxdop=maxdop)


@functools.cache
def during(maxdop: int) -> tuple[float, Steady]:
    """Requests/s before, and the load beside the rebuild."""
    before = published_value(f"dl560-t14-dop{maxdop:02d}-before")
    return before, steady(load_of(one_volume(), before, LOAD_CPU, 1.0 / VOLUMES), job=rebuild(maxdop))


def rate(maxdop: int) -> float:
    """Requests/s during the rebuild."""
    return during(maxdop)[1].throughput_s


def change(maxdop: int) -> float:
    """Percent by which the rebuild changes the load."""
    return 100.0 * (rate(maxdop) / during(maxdop)[0] - 1.0)


def duration_s(maxdop: int) -> float:
    """How long the rebuild takes beside the load."""
    return INDEX_GB * 1e3 / during(maxdop)[1].backup_mb_s


def alone_s(maxdop: int, overrides: Mapping[str, float] | None = None) -> float:
    """How long it takes on the idle machine."""
    return job_rate(one_volume(), rebuild(maxdop), overrides=overrides).seconds(INDEX_GB)


def limits_s(maxdop: int) -> dict[str, float]:
    """How long it would take if one part of the machine alone set its pace (s): data volume, processors, threads, log."""
    return {name: INDEX_GB * 1e3 / mb_s for name, mb_s in job_rate(one_volume(), rebuild(maxdop)).limits.items()}


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
    for maxdop in MAXDOPS:
        rows[f"dl560-t13-dop{maxdop:02d}-duration"] = functools.partial(alone_s, maxdop)
    return rows


COMPUTED: dict[str, Callable[[], float]] = {
    **_rows(),
    "dl560-t14-dop16-duration-pct": _fewer_threads,
    "dl560-ix-gain-analysis": _fewer_threads,
    "dl560-ix-speedup": lambda: alone_s(0) / alone_s(16),
}
