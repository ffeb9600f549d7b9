"""The microscope: the log pipeline event by event, started from what the flow found.

Times of a transaction that are not processor or commit come from the flow's solution (think time, data reads); processors,
group commit, log blocks and the way to the replicas are simulated. Left out: page writers, log-full, redo. Processors busy
with sending and background work are taken away as whole ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aglab.core.errors import UsageError
from aglab.core.quantity import check_number
from aglab.engine import layout as at
from aglab.engine.flow import Flow
from aglab.engine.jit import plain
from aglab.engine.logpath import harden_idle, log_turn
from aglab.engine.params import build
from aglab.engine.pipeline import (
    HIST,
    N_BYTES,
    N_COMMIT_NS,
    N_COMMITS,
    N_DRAW,
    N_EVENTS,
    N_FLUSHES,
    N_FREE,
    N_HASH,
    N_HEAP,
    N_OPEN,
    N_READY,
    N_SEQ,
    N_SIZE,
    N_TX,
    NOTHING,
    P_SIZE,
    P_THINK,
    PRIORITY_BITS,
    Floats,
    Ints,
    advance_events,
)
from aglab.engine.steady import Steady, steady
from aglab.scenario import Scenario

_CHUNK = 1 << 18  # draws at a time


@dataclass(frozen=True)
class EventRun:
    """What happened in ``seconds`` after the warm-up. Rates per second, times in seconds; ``digest`` of the event order."""

    seconds: float
    throughput_s: float
    commits_s: float
    flushes_s: float
    log_bytes_s: float
    commit_s: float
    commit_median_s: float
    commit_p99_s: float
    events: int
    digest: int
    flow: Steady

    @property
    def commits_per_flush(self) -> float:
        """Size of a group."""
        return self.commits_s / self.flushes_s if self.flushes_s else 0.0


def run_events(start: Scenario | Flow, seconds: float = 1.0, seed: int = 1, warmup_s: float = 0.2) -> EventRun:
    """Simulate the log pipeline of a scenario, or of a running flow at its present number of users.

    Parameters
    ----------
    start : Scenario or Flow
    seconds : float
        Simulated time, after ``warmup_s``.
    seed : int
        Same seed, same run: compiled or not.

    Raises
    ------
    UsageError
        ``seconds`` out of range, or no user.
    """
    limits = {"unit": "s", "low": 1e-3, "high": 600, "meaning": "simulated time; event by event is slow"}
    seconds = float(check_number("seconds", seconds, limits, "events"))
    limits = {"unit": "s", "low": 0, "high": 60, "meaning": "time before counting begins"}
    warmup_s = float(check_number("warmup_s", warmup_s, limits, "events"))
    scenario = start if isinstance(start, Scenario) else _as_it_runs(start)
    limits = {"unit": "users", "low": 1, "high": 1e5, "meaning": "concurrent users"}
    users = round(float(check_number("users", scenario.settings.users, limits, "events")))
    found = steady(scenario)
    par, per_byte = _parameters(scenario, found)
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
    heap, num, user, block, free, queue, hist = _fresh(users)
    _lay_down(heap, num, (random.standard_exponential(users) * par[P_THINK] + 0.5).astype(np.int64))
    counted = num.copy()
    draws = np.empty(max(_CHUNK, 8 * users))  # filled again and again: fresh memory costs as much as the draws
    for until_s in (warmup_s, warmup_s + seconds):
        counted = num.copy()
        hist[:] = 0
        done = 0
        while not done:
            random.standard_exponential(out=draws)
            num[N_DRAW] = 0
            until = int(until_s * 1e9)
            done = advance_events(until, heap, num, par, per_byte, user, block, free, queue, draws, hist)
    return _told(num, counted, hist, seconds, found)


def _lay_down(heap: Ints, num: Ints, times: Ints) -> None:
    """The first event of each user. In time order they are a heap already."""
    order = np.argsort(times, kind="stable")
    count = len(times)
    heap[:count, 0] = times[order]
    heap[:count, 1] = (1 << PRIORITY_BITS) + np.arange(count)
    heap[:count, 2] = order  # kind 0: they have thought
    num[N_HEAP] = num[N_SEQ] = count


def _as_it_runs(flow: Flow) -> Scenario:
    return flow.scenario.with_settings(users=float(flow.state.cl[at.K_USERS]))


def _parameters(scenario: Scenario, found: Steady) -> tuple[Ints, Floats]:
    """Times in ns and ns per byte of the pipeline, from the engine's arrays and the flow's solution."""
    for replica in scenario.replicas:
        if replica.far:
            raise UsageError(
                f"replica {replica.name} has a way of its own, and event by event all replicas are alike (events)",
                "leave rtt_us, bandwidth_gbit_s and loss of [[replicas]] out",
            )
    params = build(scenario)
    here, ct, wl = params.hw[0], params.ct, params.wl
    others = len(scenario.replicas) - 1
    sync = sum(replica.availability_mode == "SYNCHRONOUS_COMMIT" for replica in scenario.replicas[1:])
    servers = here[at.H_SERVERS]
    elsewhere = max(0.0, found.cpu_util * servers - found.throughput_s * found.cpu_s)
    share = wl[at.W_WRITE_SHARE]
    nanos = 1e9
    values = [
        (found.think_s + found.read_s) * nanos,
        found.cpu_s * nanos,
        max(1.0, servers - elsewhere),
        plain(harden_idle)(here) * nanos,
        plain(log_turn)(here, ct) * nanos,
        ct[at.C_LOG_BLOCK],
        wl[at.W_LOG] / share if share > 0 else 0.0,
        max(1.0, ct[at.C_LOG_IOS]),
        1.0 if sync else 0.0,
        here[at.H_RTT] * nanos / 2,
        plain(harden_idle)(here) * nanos,
        ct[at.C_SYNC_OVERHEAD] * nanos,
        share * 1e6,
    ]
    par = np.array([round(value) for value in values], np.int64)
    assert len(par) == P_SIZE
    send = min(here[at.H_NET_BW] / others, ct[at.C_TRANSPORT_CAP]) if others else 1e18
    per_byte = np.array([nanos / here[at.H_LOG_BW], nanos / send, nanos / here[at.H_LOG_BW]])
    return par, per_byte


def _told(num: Ints, before: Ints, hist: Ints, seconds: float, found: Steady) -> EventRun:
    change = (num - before).astype(float)
    commits = float(change[N_COMMITS])
    below = np.cumsum(hist)
    half, tail = (int(np.searchsorted(below, share * below[-1])) for share in (0.5, 0.99))
    return EventRun(
        seconds=seconds,
        throughput_s=float(change[N_TX] / seconds),
        commits_s=commits / seconds,
        flushes_s=float(change[N_FLUSHES] / seconds),
        log_bytes_s=float(change[N_BYTES] / seconds),
        commit_s=float(change[N_COMMIT_NS] / commits / 1e9) if commits else 0.0,
        commit_median_s=min(half, HIST - 1) / 1e6 if commits else 0.0,
        commit_p99_s=min(tail, HIST - 1) / 1e6 if commits else 0.0,
        events=int(num[N_EVENTS]),
        digest=int(num[N_HASH]),
        flow=found,
    )


def _fresh(users: int) -> tuple[Any, ...]:
    """Arrays of a start where every user begins to think: heap, num, user, block, free, queue, hist."""
    num = np.zeros(N_SIZE, np.int64)
    num[N_OPEN] = NOTHING
    num[N_READY] = 1
    num[N_FREE] = users + 2
    heap = np.zeros((3 * users + 16, 3), np.int64)
    user = np.full((users, 2), NOTHING, np.int64)
    block = np.zeros((users + 2, 2), np.int64)
    free = np.arange(users + 2, dtype=np.int64)
    return heap, num, user, block, free, np.zeros(users, np.int64), np.zeros(HIST, np.int64)
