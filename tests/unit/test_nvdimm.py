"""The tail of the log on persistent memory: what it changes, what it cannot, and the published rows."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, steady
from aglab.published import score
from aglab.published.experiments_nvdimm import BASE_S, PROFILES, baseline, gain
from aglab.scenario import Scenario


@pytest.mark.parametrize("media", sorted(PROFILES))
def test_the_baseline_is_the_published_one(media):
    """Input, not result: the throughput without NVDIMM is met exactly, processors at most 77.5 % busy."""
    found = steady(baseline(media))
    assert found.throughput_s == pytest.approx(BASE_S[media], rel=1e-6)
    assert found.cpu_util <= 0.7751


def test_the_gain_is_larger_where_the_old_log_was_slower():
    """SSDs gain more than PCIe flash, as published; each gain is below the log's share of the response time."""
    assert gain("ssd") > 2 * gain("pcie") > 0
    for media in PROFILES:
        found = steady(baseline(media))
        assert gain(media) / 100 <= found.commit_s / (found.response_s - found.commit_s)
    rows = [row for row in score("001")["rows"] if row["role"] == "predicted"]
    assert len(rows) >= 5 and all(abs(row["error_pct"]) < 15 for row in rows)


def test_the_setting_is_off_by_default_and_reaches_a_run():
    """Without it nothing changes; with it commits wait for microseconds in a Flow as well."""
    scenario = Scenario.default("hpe-dl380-gen9-nvdimm", 1).with_settings(noise=0, k=750)
    assert scenario.settings.tail_of_log_us == 0
    plain, quick = Flow(scenario), Flow(scenario.with_settings(tail_of_log_us=3))
    plain.advance(20)
    quick.advance(20)
    waits = [flow.totals("sql1")["wait_ms.WRITELOG"] / flow.totals("sql1")["transactions"] for flow in (plain, quick)]
    assert waits[1] < 0.1 * waits[0]
    assert quick.totals("sql1")["transactions"] > plain.totals("sql1")["transactions"]


@pytest.mark.parametrize("media", sorted(PROFILES))
def test_the_profile_runs_the_papers_baseline(media):
    """The demands written in the profile are those the published baseline gives: the twin's load starts where the paper did."""
    suggested = Scenario.default(PROFILES[media], 1)
    wanted = baseline(media)
    assert suggested.workload.cpu_us == pytest.approx(wanted.workload.cpu_us, rel=1e-5)
    assert suggested.workload.think_us == pytest.approx(wanted.workload.think_us, rel=1e-5)
    assert steady(suggested).throughput_s == pytest.approx(BASE_S[media], rel=1e-5)


def test_a_log_buffer_comes_and_goes_while_a_flow_runs():
    """Set on a running flow it equals a flow built with it; taken away it is as before; a copy made before goes on without."""
    scenario = Scenario.default("hpe-dl380-gen9-nvdimm", 1).with_settings(noise=0, k=750)
    flow, built = Flow(scenario), Flow(scenario.with_settings(tail_of_log_us=3))
    flow.advance(10)
    twin = flow.copy()
    before = rate(flow)
    flow.change("sql1", tail_of_log_us=3)
    built.advance(20)
    assert rate(flow) == pytest.approx(rate(built), rel=0.01) and rate(flow) > 1.1 * before
    assert rate(twin) == pytest.approx(before, rel=0.01)
    flow.retune(scenario.with_settings(recovery_interval_min=5))
    assert rate(flow) > 1.1 * before, "other inputs changed; the log buffer is still there"
    flow.change(tail_of_log_us=0)
    assert rate(flow) == pytest.approx(before, rel=0.01)


def rate(flow, seconds=10):
    """Transactions a second over the next seconds."""
    done = flow.totals("sql1")["transactions"]
    flow.advance(seconds)
    return (flow.totals("sql1")["transactions"] - done) / seconds


def test_full_blocks_follow_to_the_volume():
    """With a log buffer the volume gets as many bytes as before in blocks of 60 KB, each at the volume's own latency."""
    scenario = Scenario.default("hpe-dl380-gen9-nvdimm", 1).with_settings(noise=0, k=750)
    plain, quick = Flow(scenario), Flow(scenario.with_settings(tail_of_log_us=3))
    for flow in (plain, quick):
        flow.advance(20)
    old, new = (flow.totals("sql1") for flow in (plain, quick))
    assert new["log_bytes_written"] == pytest.approx(new["log_bytes_flushed"])
    assert new["log_bytes_written"] / new["log_writes"] == pytest.approx(60 * 1024, rel=0.01)
    assert old["log_bytes_written"] / old["log_writes"] < 40_000
    assert new["log_write_stall_ms"] / new["log_writes"] > old["log_write_stall_ms"] / old["log_writes"] > 0.1


def test_delayed_durability_waits_for_nothing():
    """No WRITELOG, no wait for a synchronous secondary, as much log as before; never slower than a log buffer."""
    scenario = Scenario.default("hpe-dl380-gen9-nvdimm", 3).with_settings(noise=0, k=750)
    flows = [Flow(scenario.with_settings(delayed_durability=mode)) for mode in ("DISABLED", "FORCED")]
    for flow in flows:
        flow.advance(20)
    full, lazy = (flow.totals("sql1") for flow in flows)
    for wait in ("WRITELOG", "HADR_SYNC_COMMIT"):
        assert full[f"wait_ms.{wait}"] > 0 and lazy[f"wait_ms.{wait}"] == lazy[f"wait_count.{wait}"] == 0
    assert lazy["mirrored_write_transactions"] == 0 and lazy["log_bytes_flushed"] > full["log_bytes_flushed"]
    alone = Scenario.default("hpe-dl380-gen9-nvdimm", 1)
    buffer = steady(alone.with_settings(tail_of_log_us=3)).throughput_s
    assert steady(alone.with_settings(delayed_durability="FORCED")).throughput_s >= buffer


def test_a_secondary_with_a_log_buffer_hardens_sooner():
    """The primary's own log write is as before; what it waits for is the secondary."""
    scenario = Scenario.default("hpe-dl380-gen9-nvdimm", 3).with_settings(noise=0, k=750)
    plain, quick = Flow(scenario), Flow(scenario)
    for name in ("sql2", "sql3"):
        quick.change(name, tail_of_log_us=3)
    for flow in (plain, quick):
        flow.advance(20)
    waits = [flow.totals("sql1")["wait_ms.HADR_SYNC_COMMIT"] / flow.totals("sql1")["transactions"] for flow in (plain, quick)]
    assert waits[1] < waits[0] - 0.1


def test_a_slow_copy_is_refused_and_never_makes_the_log_slower():
    """Longer than a millisecond is not memory; a copy slower than the volume changes its latency to nothing worse."""
    scenario = Scenario.default("hpe-dl380-gen9-nvdimm-pcie", 1)
    with pytest.raises(UsageError, match="tail_of_log_us=2000 must be <= 1000 us"):
        scenario.with_settings(tail_of_log_us=2000)
    assert steady(scenario.with_settings(tail_of_log_us=900)).throughput_s >= steady(scenario).throughput_s
