"""Rows of paper 002: an in-memory update load on availability groups of SQL Server 2014 and 2016.

The paper prints ratios in prose; its counters are pictures. The same workload (``in-memory-update``) runs on two replicas of the
same machine with either version's transport. Roles and the demands were set before anything was computed, nothing is fitted.
Left out: other builds' differences in the engine itself, and the host's processors that replicas and client take from each other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from aglab.core.counters import BY_KEY
from aglab.engine import Flow
from aglab.record import Run
from aglab.scenario import Scenario

PROFILE = "laptop-hyperv"
WORKLOAD = "in-memory-update"
OLD, NEW = "2014", "2016 RTM"
RUN_S = 60.0


More = tuple[tuple[str, float], ...]  # other settings, by scenario key


@functools.cache
def group(version: str, more: More = ()) -> Run:
    """Two synchronous replicas of one version under the load."""
    base = Scenario.default(PROFILE, 2, WORKLOAD)
    return Flow(base.with_settings({"version": version, "noise": 0, "warmup_s": 5, **dict(more)})).run(RUN_S)


def mean(version: str, key: str, node: str = "sql1", more: More = ()) -> float:
    """Average of one counter of a version's run, in the counter's unit."""
    return float(group(version, more).series(BY_KEY[key].path("OLTP"), node).mean())


def ratio(key: str, node: str = "sql1", more: More = ()) -> float:
    """A counter's average, new version over old."""
    return mean(NEW, key, node, more) / mean(OLD, key, node, more)


def log_latency_ms() -> float:
    """Latency of a log write, the highest of both versions and both replicas (ms)."""
    return 1e3 * max(mean(version, "log_write_latency_s", node) for version in (OLD, NEW) for node in ("sql1", "sql2"))


COMPUTED: dict[str, Callable[[], float]] = {
    "blog-tps-ratio": lambda: ratio("transactions_per_s"),
    "blog-log-stream-ratio": lambda: ratio("log_bytes_received_per_s", "sql2"),
    "blog-log-latency": log_latency_ms,
}
