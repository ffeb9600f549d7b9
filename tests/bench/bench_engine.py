"""Speed of the engine beside C and SimPy, measured in turns in one run: ``aglab bench`` in a checkout.

CPU seconds, the best of several turns: on a busy machine single times mean little, ratios of neighbours do. The C version is
the same source (:mod:`c_version`). SimPy runs the same models for less simulated time; draws count on both sides.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import c_version

from aglab.engine import Flow, events, flow
from aglab.engine.pipeline import advance_events
from aglab.engine.tick import advance
from aglab.scenario import Scenario

HOUR_S = 3600.0
TURNS = 7
PIPELINE_S = 2.0  # simulated
PROCESSORS_S = 30.0
SIMPY_SHARE = 0.02  # of that is enough for SimPy
USERS, THINK_S, SERVICE_S, SERVERS = 60, 9e-3, 1e-3, 8
COLD = """
import time
from aglab.engine import Flow
from aglab.scenario import Scenario
Flow(Scenario.default(replicas=3)).advance(60)
print(time.process_time())
"""
Row = dict[str, Any]


def best(turns: int, *calls: Callable[[], Any]) -> list[float]:
    """Least CPU seconds of each call, taken in turns."""
    least = [float("inf")] * len(calls)
    for _ in range(turns):
        for index, call in enumerate(calls):
            begin = time.process_time()
            call()
            least[index] = min(least[index], time.process_time() - begin)
    return least


def row(what: str, value: float, unit: str, note: str = "", key: str = "") -> Row:
    """One line of the table; ``key`` names a ratio for the history."""
    made = {"what": what, "value": round(value, 3), "unit": unit, "note": note}
    return {**made, "ratio": key} if key else made


def noisy() -> Scenario:
    """The case that is timed: three replicas, throttled checkpoints, a wandering transaction mix."""
    return Scenario.default(replicas=3).with_settings({"k": 750, "log_gb": 1e5, "noise": 0.02})


def with_kernel(room: Any, name: str, kernel: Any, call: Callable[[], Any]) -> Callable[[], Any]:
    """``call`` with another kernel in place of ``room.name``."""

    def run() -> Any:
        kept = getattr(room, name)
        setattr(room, name, kernel)
        try:
            return call()
        finally:
            setattr(room, name, kept)

    return run


def flow_rows(folder: Path, turns: int = TURNS) -> list[Row]:
    """One hour of three replicas at ticks of 0.1 s, ours and C in turns.

    Secondaries that are alike are computed once, on both sides; a row with one asynchronous secondary says what two cost.
    """
    scenario = noisy()

    def hour() -> None:
        Flow(scenario).advance(HOUR_S)

    def unlike() -> None:
        one = Flow(scenario)
        one.change(one.names[-1], availability_mode="ASYNCHRONOUS_COMMIT")
        one.advance(HOUR_S)

    hour()
    if c_version.compiler() is None:
        ours, apart = best(turns, hour, unlike)
        return [row("noisy hour", ours * 1e3, "ms CPU", "no C compiler to compare with"), _unlike(apart)]
    in_c = with_kernel(flow, "run_ticks", c_version.build(advance, folder, 3), hour)
    ours, theirs, apart = best(turns, hour, in_c, unlike)
    return [
        row("noisy hour, three replicas", ours * 1e3, "ms CPU", f"{HOUR_S / ours:,.0f} x real time"),
        _unlike(apart),
        row("the same in C", theirs * 1e3, "ms CPU", f"{HOUR_S / theirs:,.0f} x real time"),
        row("noisy hour over C", ours / theirs, "x the time", "at most 1.2", "flow_over_c"),
    ]


def _unlike(seconds: float) -> Row:
    return row("with secondaries that differ", seconds * 1e3, "ms CPU", f"{HOUR_S / seconds:,.0f} x real time")


def event_rows(folder: Path, turns: int = TURNS) -> list[Row]:
    """The log pipeline of three replicas, and 60 users on 8 processors: ours, C and SimPy in turns."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "oracle"))  # the models that the tests use
    from simpy_models import simpy_pipeline, simulate_processors
    from test_queues import processors_only

    pipeline = Scenario.default(replicas=3).with_settings({"users": USERS, "constants.base_cpu_cores": 0})
    found = events.run_events(pipeline, 0.01).flow
    busy_elsewhere = max(0.0, found.cpu_util * 64 - found.throughput_s * found.cpu_s)
    servers = round(max(1.0, 64 - busy_elsewhere))
    think = found.think_s + found.read_s
    closed = processors_only(USERS, THINK_S * 1e6, SERVICE_S * 1e6, SERVERS)
    cases = (
        ("log pipeline", pipeline, PIPELINE_S, lambda s: simpy_pipeline(pipeline, think, found.cpu_s, servers, s, 7)),
        ("M/M/8", closed, PROCESSORS_S, lambda s: simulate_processors(USERS, THINK_S, SERVICE_S, SERVERS, s, 7)),
    )
    kernel = c_version.build(advance_events, folder) if c_version.compiler() else None
    rows = []
    for name, scenario, seconds, simpy_model in cases:

        def ours(scenario: Scenario = scenario, seconds: float = seconds) -> Any:
            return events.run_events(scenario, seconds)

        def theirs(model: Any = simpy_model, seconds: float = seconds) -> None:
            model(seconds * SIMPY_SHARE)

        count = ours().events
        calls: list[Callable[[], Any]] = [ours, theirs]
        if kernel is not None:
            calls.append(with_kernel(events, "advance_events", kernel, ours))
        times = best(turns, *calls)
        key = name.split()[-1].replace("/", "").lower()
        rows.append(row(f"events, {name}", count / times[0] / 1e6, "million/s"))
        ratio = times[1] / SIMPY_SHARE / times[0]
        rows.append(row(f"events over SimPy, {name}", ratio, "x the speed", "at least 80", f"{key}_over_simpy"))
        if kernel is not None:
            rows.append(row(f"events over C, {name}", times[2] / times[0], "x the speed", "at least 0.55", f"{key}_over_c"))
    return rows


def thousand_rows(count: int = 24) -> list[Row]:
    """Many one-hour scenarios on two threads."""
    scenario = noisy()
    Flow(scenario).advance(1.0)
    begin, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda seed: Flow(scenario, seed).advance(HOUR_S).time_s[-1], range(count)))
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    note = f"{cpu / 2 * 1000 / count:.1f} s of each processor's time; from {count}"
    return [row("1,000 noisy hours on 2 threads", wall * 1000 / count, "s", note)]


def cold_rows() -> list[Row]:
    """A fresh interpreter to the first simulated minute, kernels cached."""
    times = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True, env=os.environ)
        times.append(float(done.stdout))
    return [row("first result of a cold process", min(times), "s CPU", f"at most 1.0; median {statistics.median(times):.2f}")]


def measure(progress: Callable[..., None], turns: int = TURNS) -> list[Row]:
    """All rows."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="aglab-bench-") as folder:
        steps: tuple[tuple[str, Callable[[], list[Row]]], ...] = (
            ("an hour in C", lambda: flow_rows(Path(folder), turns)),
            ("events in C and SimPy", lambda: event_rows(Path(folder), turns)),
            ("two threads", thousand_rows),
            ("a cold process", cold_rows),
        )
        for done, (name, step) in enumerate(steps):
            progress(done, len(steps), name)
            rows += step()
    return rows


if __name__ == "__main__":
    for one in measure(lambda *_: None):
        print(f"{one['what']:38s} {one['value']:12,.2f} {one['unit']:12s} {one['note']}")
