"""Laws of the pipeline's settings and of processors: law 7, and that no restriction ever helps.

``AGLAB_LAW_EXAMPLES`` sets how many random cases each law tries.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aglab.engine import Flow, steady
from aglab.engine.versions import redo_bytes_s
from aglab.scenario import Scenario

_MANY = int(os.environ.get("AGLAB_LAW_EXAMPLES", "40"))
EXAMPLES = settings(max_examples=_MANY, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RUNS = settings(max_examples=max(1, _MANY // 4), deadline=None, suppress_health_check=[HealthCheck.too_slow])
TIGHT = 1e-6


@st.composite
def groups(draw) -> Scenario:
    """A random group of two or three replicas far or near, under a random load."""
    return Scenario.default(replicas=draw(st.integers(2, 3))).with_settings(
        {
            "noise": 0.0,
            "k": 750,
            "users": draw(st.sampled_from([1, 20, 120, 400])),
            "cores": draw(st.sampled_from([2, 8, 32, 64])),
            "threads_per_core": draw(st.sampled_from([1, 2])),
            "log_write_us": draw(st.floats(10, 1500)),
            "rtt_us": draw(st.floats(10, 200_000)),
            "bandwidth_gbit_s": draw(st.floats(0.1, 80)),
            "cpu_us": draw(st.floats(50, 1500)),
            "think_us": draw(st.floats(0, 5000)),
            "log_bytes_per_tx": draw(st.floats(200, 50000)),
            "mode": draw(st.sampled_from(["sync", "async"])),
            "version": draw(st.sampled_from(["2014", "2017", "2022"])),
            "log_stream_compression": draw(st.sampled_from(["off", "default", "on"])),
            "log_gb": 1e5,
        }
    )


@RUNS
@given(groups(), st.sampled_from([1, 8, 100, 8192]))
def test_law_7_no_more_than_a_gate_of_messages_goes_out_in_a_round_trip(scenario, gate):
    """Send rate <= gate * message / round trip, a message being the log of one flush."""
    scenario = scenario.with_settings({"constants.send_gate_messages": gate})
    flow = Flow(scenario)
    flow.advance(3)
    for _ in range(20):
        before = flow.totals("sql1")
        flow.advance(scenario.settings.tick_s)
        after = flow.totals("sql1")
        made = after["log_bytes_flushed"] - before["log_bytes_flushed"]
        flushes = after["log_flushes"] - before["log_flushes"]
        message = made / flushes if flushes > 0 else 61440.0
        limit = gate * max(message, 1.0) / (scenario.profile.network.rtt_us * 1e-6)
        for name in flow.names[1:]:
            assert flow.gauges(name)["log_send_rate_kb_s"] * 1024 <= limit * (1 + 1e-6)


@EXAMPLES
@given(groups(), st.sampled_from([1, 8, 100]))
def test_law_7_holds_for_what_commits_wait_for(scenario, gate):
    """In balance a synchronous group makes no more log than goes through the gate; a narrower gate never helps."""
    scenario = scenario.with_settings({"mode": "sync", "constants.send_gate_messages": gate})
    found = steady(scenario)
    log_tx = scenario.workload.log_bytes_per_tx
    assert found.log_bytes_s <= gate * max(61440.0, log_tx) / (scenario.profile.network.rtt_us * 1e-6) * (1 + TIGHT)
    wider = steady(scenario.with_settings({"constants.send_gate_messages": gate * 4}))
    assert found.throughput_s <= wider.throughput_s * (1 + TIGHT)


@EXAMPLES
@given(groups(), st.floats(0.1, 1), st.floats(0.1, 1))
def test_a_cap_never_raises_throughput(scenario, first, second):
    """Nor does affinity to fewer cores; memory that is local never lowers it."""
    low, high = sorted((first, second))
    capped = [steady(scenario.with_settings(cpu_cap=share)).throughput_s for share in (low, high, 1.0)]
    assert capped[0] <= capped[1] * (1 + TIGHT) and capped[1] <= capped[2] * (1 + TIGHT)
    cores = scenario.profile.cpu.cores
    bound = steady(scenario.with_settings(affinity_cores=low * cores)).throughput_s
    assert bound == pytest.approx(capped[0], rel=1e-9)
    assert steady(scenario.with_settings(memory_placement="local")).throughput_s >= capped[2] * (1 - TIGHT)


@EXAMPLES
@given(groups(), st.floats(1e-6, 0.1))
def test_lost_packets_never_help(scenario, loss):
    """More of them even less."""
    rates = [steady(scenario.with_settings(loss=share)).throughput_s for share in (0.0, loss, 2 * loss)]
    assert rates[1] <= rates[0] * (1 + TIGHT) and rates[2] <= rates[1] * (1 + TIGHT)


@EXAMPLES
@given(groups(), st.integers(1, 60))
def test_more_databases_never_redo_faster(scenario, databases):
    """One database's redo among many is at most what it is alone; together no more than threads for all."""
    scenario = scenario.with_settings(cores=64)
    alone = redo_bytes_s(scenario)
    shared = redo_bytes_s(scenario.with_settings(redo_databases=databases))
    more = redo_bytes_s(scenario.with_settings(redo_databases=databases * 2))
    assert more <= shared <= alone
