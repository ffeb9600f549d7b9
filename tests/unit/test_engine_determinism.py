"""The same seed gives the same bytes on one thread and on two; a long run needs no more memory than a short one."""

from __future__ import annotations

import hashlib
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from aglab.engine import COMPILED, Flow
from aglab.engine.events import run_events
from aglab.scenario import Scenario


def digest(seed: int) -> str:
    """Of everything a run leaves behind, and of an event run from there."""
    flow = Flow(Scenario.default(replicas=3).with_settings({"noise": 0.05, "k": 750}), seed=seed)
    block = flow.advance(30)
    flow.change(users=60.0)
    flow.advance(30)
    found = hashlib.sha256(block.values.tobytes())
    for part in (flow.state.st, flow.state.seg, flow.state.cl, flow.state.tot, flow.state.jb):
        found.update(part.tobytes())
    found.update(repr(run_events(flow, 0.01, seed=seed, warmup_s=0.01)).encode())
    return found.hexdigest()


def test_one_thread_and_two_give_the_same_bytes():
    """Runs share nothing: their digests do not depend on what runs beside them."""
    seeds = [1, 2, 3, 4, 1, 2]
    seen = []
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            seen.append(list(pool.map(digest, seeds)))
    assert seen[0] == seen[1]
    assert seen[0][0] == seen[0][4] and len(set(seen[0])) == 4


def test_time_may_be_cut_anywhere():
    """One long advance is many short ones, byte for byte: nothing that the solver remembers is lost between them."""
    scenario = Scenario.default(replicas=3).with_settings(noise=0.05)
    whole, parts = Flow(scenario), Flow(scenario)
    whole.advance(40)
    for _ in range(20):
        parts.advance(2)
    assert whole.state.tot.tobytes() == parts.state.tot.tobytes()
    assert whole.state.cl.tobytes() == parts.state.cl.tobytes()


@pytest.mark.skipif(not COMPILED, reason="days of simulated time take minutes in plain Python")
def test_memory_is_flat_in_simulated_time():
    """Two days take no more memory than four hours when samples are an hour apart; only samples are kept."""
    peaks = []
    scenario = Scenario.default(replicas=3).with_settings({"sample_s": 3600, "log_gb": 1e6})
    for hours in (4, 48):
        flow = Flow(scenario)
        flow.advance(3600)
        tracemalloc.start()
        flow.advance(hours * 3600.0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    kept = 44 * 3 * 64 * 8 * 4  # the samples themselves, and copies on the way
    assert peaks[1] <= peaks[0] * 1.2 + kept
