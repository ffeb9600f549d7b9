"""Laws a right engine obeys, over random machines and workloads (numbers as in the design's list of laws).

Strict for the closed network in balance, 1 % slack for time-stepped runs. ``AGLAB_LAW_EXAMPLES`` sets how many random cases
each law of the balance tries; laws of runs try a quarter of them.
"""

from __future__ import annotations

import dataclasses
import itertools
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aglab.engine import Flow, steady
from aglab.engine import layout as at
from aglab.scenario import Scenario

_MANY = int(os.environ.get("AGLAB_LAW_EXAMPLES", "60"))
_PATIENT = [HealthCheck.too_slow, HealthCheck.filter_too_much]
EXAMPLES = settings(max_examples=_MANY, deadline=None, suppress_health_check=_PATIENT)
RUNS = settings(
    max_examples=max(1, _MANY // 4), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
TIGHT = 1e-6


@st.composite
def scenarios(draw, replicas=None) -> Scenario:
    """A random machine, workload and layout."""
    number = draw(st.integers(1, 4)) if replicas is None else replicas
    base = Scenario.default(replicas=number)
    inputs = {
        "noise": 0.0,
        "users": draw(st.sampled_from([1, 2, 7, 30, 120, 400])),
        "cores": draw(st.sampled_from([2, 4, 8, 32, 64])),
        "ghz": draw(st.floats(1.5, 4.5)),
        "threads_per_core": draw(st.sampled_from([1, 2])),
        "ht_yield": draw(st.floats(1.0, 1.6)),
        "ssds": draw(st.sampled_from([4, 6, 12])),
        "log_write_us": draw(st.floats(5, 2000)),
        "rtt_us": draw(st.floats(0, 5000)),
        "bandwidth_gbit_s": draw(st.floats(1, 100)),
        "cpu_us": draw(st.floats(20, 3000)),
        "think_us": draw(st.floats(0, 20000)),
        "log_bytes_per_tx": draw(st.floats(100, 50000)),
        "cold_touches_per_tx": draw(st.floats(0, 5)),
        "page_touches_per_tx": draw(st.floats(0.1, 20)),
        "hot_pages": draw(st.floats(1e4, 1e7)),
        "read_only_share": draw(st.sampled_from([0.0, 0.3, 0.9])),
        "k": draw(st.sampled_from([0, 100, 750])),
        "target_recovery_s": draw(st.sampled_from([0, 0, 60])),
        "log_gb": 1e5,
        "version": draw(st.sampled_from(["2014", "2016 RTM", "2022"])),
    }
    return base.with_settings(inputs)


def writer(scenario: Scenario) -> float:
    """A page writer's rate for the closed network: the throttle, or as fast as the volume takes."""
    return scenario.settings.k_pages_s or 1e9


@EXAMPLES
@given(scenarios())
def test_law_1_little(scenario):
    """N = X * R, and the parts of R add up to it."""
    result = steady(scenario, writer(scenario))
    assert result.throughput_s * result.response_s == pytest.approx(scenario.settings.users, rel=TIGHT)
    assert sum(result.parts_s.values()) <= result.response_s * (1 + TIGHT)


@EXAMPLES
@given(scenarios())
def test_law_2_utilisation(scenario):
    """No station is busier than it can be, and X is bounded by N over the sum of demands."""
    result = steady(scenario, writer(scenario))
    assert 0 <= result.cpu_util <= 1 + TIGHT and 0 <= result.data_util <= 1 + TIGHT
    assert result.log_bytes_s <= scenario.profile.log.write_bytes_s * (1 + TIGHT)
    least = result.think_s + scenario.workload.cpu_us * 1e-6 / scenario.profile.cpu.speed
    assert result.throughput_s <= scenario.settings.users / least * (1 + TIGHT)


@RUNS
@given(scenarios(), st.integers(0, 1000))
def test_laws_3_and_4_flow_is_conserved(scenario, seed):
    """Log flushed is sent to each replica and received; queues grow by in minus out; no page is written undirtied."""
    flow = Flow(scenario.with_settings(noise=0.05), seed=seed)
    flow.advance(30)
    primary = flow.totals("sql1")
    assert np.isfinite(flow.state.tot).all() and np.isfinite(flow.state.st).all()
    received = 0.0
    for name in flow.names[1:]:
        now, total = flow.gauges(name), flow.totals(name)
        received += total["log_bytes_received"]
        sent = primary["log_bytes_flushed"] - now["log_send_queue_kb"] * 1024
        assert total["log_bytes_received"] == pytest.approx(sent, rel=1e-9, abs=1e-3)
        waiting = total["log_bytes_received"] - total["redone_bytes"]
        assert now["recovery_queue_kb"] * 1024 == pytest.approx(waiting, rel=1e-9, abs=1e-3)
        assert now["log_send_queue_kb"] >= 0 and now["recovery_queue_kb"] >= 0
    assert primary["bytes_sent_to_transport"] == pytest.approx(received, rel=1e-12)
    for name in flow.names:
        total = flow.totals(name)
        assert total["checkpoint_pages"] + total["background_writer_pages"] == pytest.approx(total["page_writes"])
        warm = scenario.workload.hot_pages if scenario.settings.target_recovery_s else 0.0
        assert total["page_writes"] <= total["pages_dirtied"] + warm + 1e-6
        assert (flow.state.st[:, at.S_LEFT] >= 0).all()


@EXAMPLES
@given(scenarios(), st.sampled_from([("rtt_us", 5000.0, 20000.0), ("log_write_us", 2000.0, 9000.0)]))
def test_law_5_commit_distance_never_helps(scenario, change):
    """A longer round trip or a slower log never raises throughput; one more synchronous replica does not either."""
    key, least, more = change
    assume(least >= 0)
    near = steady(scenario).throughput_s
    assert steady(scenario.with_settings({key: more})).throughput_s <= near * (1 + TIGHT)
    one_more = scenario.with_settings(replicas=len(scenario.replicas) + 1)
    assert steady(one_more).throughput_s <= near * (1 + TIGHT)


@EXAMPLES
@given(scenarios(replicas=3))
def test_law_5_asynchronous_commit_ignores_the_round_trip(scenario):
    """Asynchronous replicas do not make a commit wait; a transaction that only reads never waits."""
    loose = scenario.with_settings(mode="async")
    assert steady(loose).throughput_s == steady(loose.with_settings(rtt_us=1e5)).throughput_s
    reader = scenario.with_settings(read_only_share=1.0)
    assert steady(reader).commit_s == 0.0
    assert steady(reader).throughput_s == steady(reader.with_settings(rtt_us=1e5, log_write_us=9000)).throughput_s


@EXAMPLES
@given(scenarios(replicas=1))
def test_law_6_group_commit(scenario):
    """Commits per flush rise with load, a block holds 60 KB at most, and one user alone waits for one flush."""
    scenario = scenario.with_settings(read_only_share=0)
    assume(scenario.workload.log_bytes_per_tx <= 60 * 1024)
    per_flush, sizes = [], []
    for users in (2, 8, 32, 128):
        result = steady(scenario.with_settings(users=users))
        per_flush.append(result.throughput_s / result.log_flushes_s)
        sizes.append(result.log_bytes_s / result.log_flushes_s)
    assert all(b >= a * (1 - TIGHT) for a, b in itertools.pairwise(per_flush))
    assert max(sizes) <= 60 * 1024 * (1 + TIGHT)
    alone = steady(scenario.with_settings(users=1))
    flush = (
        scenario.profile.log.write_latency_us * 1e-6
    ) + scenario.workload.log_bytes_per_tx / scenario.profile.log.write_bytes_s
    assert alone.commit_s >= flush * (1 - 1e-9)
    assert alone.commit_s == pytest.approx(flush, rel=0.2)


@EXAMPLES
@given(scenarios(replicas=1), st.floats(1.05, 8))
def test_law_9_a_faster_log_helps_within_its_share(scenario, factor):
    """The gain of a faster log is never negative and never more than the log's share of R."""
    before = steady(scenario)
    faster = steady(scenario.with_settings(log_write_us=scenario.profile.log.write_latency_us / factor))
    gain = faster.throughput_s / before.throughput_s
    assert gain >= 1 - TIGHT
    assert gain <= before.response_s / max(before.response_s - before.commit_s, 1e-12) * (1 + TIGHT)


@RUNS
@given(scenarios(replicas=1))
def test_law_11_a_throttle_moves_writes_in_time(scenario):
    """Under automatic checkpoints -k caps the pages of every second; where it bites, the peak falls."""
    scenario = scenario.with_settings(target_recovery_s=0)
    cap = 200 * 128
    pages = {}
    for k in (0, 200):
        flow = Flow(scenario.with_settings(k=k))
        block = flow.advance(240)
        pages[k] = block.values[:, block.columns.index(("sql1", "checkpoint_pages_per_s"))]
    assert pages[200].max() <= cap * (1 + 1e-9)
    if pages[0].max() > cap:
        assert pages[200].max() < pages[0].max()


def test_law_11_the_variance_falls_too():
    """On the paper's machine the throttle lowers the variance of pages written and of throughput."""
    spread = {}
    for k in (0, 750):
        flow = Flow(Scenario.default(replicas=1).with_settings(k=k))
        block = flow.advance(600)
        for key in ("checkpoint_pages_per_s", "transactions_per_s"):
            spread[k, key] = block.values[:, block.columns.index(("sql1", key))].std()
    assert spread[750, "checkpoint_pages_per_s"] < 0.6 * spread[0, "checkpoint_pages_per_s"]
    assert spread[750, "transactions_per_s"] < 0.1 * spread[0, "transactions_per_s"]


@EXAMPLES
@given(scenarios(), st.floats(1, 3e5))
def test_law_13_background_work_never_helps(scenario, pages_s):
    """A page writer never raises foreground throughput, and a faster one never helps either."""
    idle = steady(scenario).throughput_s
    some = steady(scenario, pages_s).throughput_s
    more = steady(scenario, pages_s * 2).throughput_s
    assert some <= idle * (1 + TIGHT) and more <= some * (1 + TIGHT)


@EXAMPLES
@given(scenarios(replicas=3))
def test_law_14_no_distance_no_cost(scenario):
    """Zero round trip, endless bandwidth and no overhead: three replicas are as fast as one."""
    free = {"rtt_us": 0, "bandwidth_gbit_s": 10000, "version": "2022"}
    free |= {f"constants.{name}": 0 for name in ("sync_overhead_us", "send_ns_per_byte")}
    free["constants.transport_bytes_s_2016"] = 1e13
    one = steady(scenario.with_settings({**free, "replicas": 1})).throughput_s
    three = steady(scenario.with_settings(free)).throughput_s
    assert three == pytest.approx(one, rel=2e-3) and three <= one * (1 + TIGHT)


@RUNS
@given(scenarios(replicas=3), st.integers(0, 100))
def test_law_15_identical_replicas_are_exchangeable(scenario, seed):
    """What happens to sql2 happens to sql3; cutting one or the other off is the same to the primary."""
    flow = Flow(scenario, seed=seed)
    flow.advance(10)
    assert flow.totals("sql2") == flow.totals("sql3")
    left, right = flow.copy(), flow.copy()
    left.change("sql2", connected=False)
    right.change("sql3", connected=False)
    left.advance(10)
    right.advance(10)
    assert left.totals("sql1") == right.totals("sql1")
    assert left.totals("sql2") == right.totals("sql3")


@RUNS
@given(scenarios(), st.integers(0, 100))
def test_runs_are_finite_and_reproducible(scenario, seed):
    """No NaN, no negative counter, and the same seed gives the same state."""
    noisy = scenario.with_settings(noise=0.1)
    first, second = Flow(noisy, seed=seed), Flow(noisy, seed=seed)
    block = first.advance(20)
    second.advance(20)
    assert np.isfinite(block.values).all() and (block.values >= 0).all()
    assert np.array_equal(first.state.tot, second.state.tot)
    assert dataclasses.asdict(steady(noisy)) == dataclasses.asdict(steady(noisy))
