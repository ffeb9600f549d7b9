"""What ``aglab bench`` measures: simulated hours per second, and round trips through driver, wire and node; or an ablation."""

from __future__ import annotations

import time
from typing import Any

from aglab.core.errors import unknown_name
from aglab.core.progress import Progress

HOUR_S = 3600.0
WIRE_S = 1.0
SIMPY_EVENTS = 50_000


def measure(what: str, progress: Progress) -> list[dict[str, Any]]:
    """Rows of ``what``, ``value``, ``unit``, ``note``; for ``ablation`` those of :func:`aglab.published.ablation.ablation`.

    Raises
    ------
    UsageError
        Neither ``speed`` nor ``ablation``.
    MissingError
        ``ablation`` without scipy.
    """
    if what not in ("speed", "ablation"):
        raise unknown_name("benchmark", what, ("speed", "ablation"))
    if what == "ablation":
        from aglab.published.ablation import ablation

        return ablation(progress)
    rows: list[dict[str, Any]] = []
    steps = (_engine, _wire, _simpy)
    for done, step in enumerate(steps):
        progress(done, len(steps), (step.__doc__ or "").split(":")[0])
        rows += step()
    progress(len(steps), len(steps), "done")
    return rows


def _row(what: str, value: float, unit: str, note: str = "") -> dict[str, Any]:
    return {"what": what, "value": round(value, 3), "unit": unit, "note": note}


def _engine() -> list[dict[str, Any]]:
    """flow engine: one hour of three replicas, ticks of 0.1 s."""
    from aglab.engine import COMPILED, Flow
    from aglab.scenario import Scenario

    scenario = Scenario.default(replicas=3)
    begin = time.perf_counter()
    Flow(scenario).advance(60.0)
    first = time.perf_counter() - begin
    flow = Flow(scenario)
    span = HOUR_S if COMPILED else 60.0
    begin = time.perf_counter()
    flow.advance(span)
    took = time.perf_counter() - begin
    path = "Numba" if COMPILED else "plain Python"
    return [
        _row("first minute of the engine", first * 1000, "ms", f"{path}, loading included"),
        _row("engine, three replicas", span / took, "x real time", f"{path}, {span:g} s in {took * 1000:.0f} ms"),
    ]


def _wire() -> list[dict[str, Any]]:
    """wire: SELECT 1 through driver, TLS, node and interpreter."""
    from aglab.lab import cluster
    from aglab.lab.driver import driver_name

    begin = time.perf_counter()
    with cluster(bare=True) as nodes:
        started = time.perf_counter() - begin
        with nodes.connect() as connection:
            cursor = connection.cursor()
            count = 0
            begin = time.perf_counter()
            while time.perf_counter() - begin < WIRE_S:
                cursor.execute("SELECT 1")
                cursor.fetchall()
                count += 1
            took = time.perf_counter() - begin
    return [
        _row("three nodes, from nothing to ready", started, "s"),
        _row("SELECT 1, one connection", count / took, "round trips/s", driver_name()),
    ]


def _simpy() -> list[dict[str, Any]]:
    """SimPy: events a second, for comparison."""
    try:
        import simpy
    except ImportError:
        return []
    environment = simpy.Environment()

    def clock() -> Any:
        for _ in range(SIMPY_EVENTS):
            yield environment.timeout(1)

    environment.process(clock())
    begin = time.perf_counter()
    environment.run()
    return [_row("SimPy, timeouts", SIMPY_EVENTS / (time.perf_counter() - begin), "events/s", "for comparison")]
