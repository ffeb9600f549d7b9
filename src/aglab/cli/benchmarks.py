"""What ``aglab bench`` measures: simulated hours per second, and round trips through driver, wire and node; or an ablation.

In a checkout the engine is measured beside C and SimPy, in turns in one run (tests/bench). The ratios can be kept in a
history file, one JSON object a line; a ratio that has become much worse than before is told.
"""

from __future__ import annotations

import datetime
import json
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.paths import bundle_root
from aglab.core.progress import Progress

HOUR_S = 3600.0
WIRE_S = 1.0
SIMPY_EVENTS = 50_000
SLOWER_MOST = 1.3  # times worse than its median so far: a ratio beyond is told
REMEMBERED = 10  # entries of the history that count


def measure(what: str, progress: Progress) -> list[dict[str, Any]]:
    """Rows of ``what``, ``value``, ``unit``, ``note``; for ``ablation`` those of :func:`aglab.published.ablation.ablation`.

    Raises
    ------
    UsageError
        Not ``speed``, ``wire`` or ``ablation``.
    MissingError
        ``ablation`` without scipy, ``wire`` without Go or outside a checkout.
    """
    if what not in ("speed", "wire", "ablation"):
        raise unknown_name("benchmark", what, ("speed", "wire", "ablation"))
    if what == "wire":
        from aglab.cli.wire_speed import measure as measure_wire

        return measure_wire()
    if what == "ablation":
        from aglab.published.ablation import ablation

        return ablation(progress)
    rows: list[dict[str, Any]] = []
    steps = (_engine, _wire, _simpy, _beside)
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
    from aglab.lab.login import driver_name

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


def _beside() -> list[dict[str, Any]]:
    """C and SimPy beside the engine: needs a checkout; about half a minute."""
    folder = bundle_root() / "tests" / "bench"
    if not (folder / "bench_engine.py").is_file():
        return []
    sys.path.insert(0, str(folder))
    try:
        from bench_engine import measure as beside  # type: ignore[import-not-found]

        rows: list[dict[str, Any]] = beside(lambda *_: None)
    except ImportError as error:
        return [_row("engine beside C and SimPy", 0.0, "", f"not measured: {error}")]
    finally:
        sys.path.remove(str(folder))
    return rows


def remember(rows: list[dict[str, Any]], path: Path, today: datetime.date) -> list[str]:
    """Append the ratios of ``rows`` to a history file; returns a warning for each that is much worse than its median there.

    Raises
    ------
    UsageError
        The file holds something else, cannot be written, or nothing was measured that could be kept.
    """
    ratios = {row["ratio"]: row["value"] for row in rows if row.get("ratio")}
    if not ratios:
        raise UsageError("no ratio was measured, so nothing is kept", "run it in a checkout with a C compiler and SimPy")
    kept = _history(path)
    warnings = []
    for name, value in ratios.items():
        before = [entry["ratios"][name] for entry in kept[-REMEMBERED:] if name in entry["ratios"]]
        usual = statistics.median(before) if before else value
        worse = value / usual if name == "flow_over_c" else usual / value
        if worse > SLOWER_MOST:
            warnings.append(f"{name} is {value:g}, {worse:.2f} times worse than its median of {usual:g} in {path}")
    entry = {"date": today.isoformat(), "python": platform.python_version(), "machine": platform.machine(), "ratios": ratios}
    try:
        with path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")
    except OSError as error:
        raise UsageError(f"the history file {path} cannot be written: {error.strerror}", "name a file you may write") from None
    return warnings


def _history(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            entry = json.loads(line)
            entries.append({**entry, "ratios": {str(name): float(value) for name, value in entry["ratios"].items()}})
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UsageError(f"line {number} of {path} is not an entry of a bench history", "name another file") from None
    return entries
