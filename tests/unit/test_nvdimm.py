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
    rows = score("001")["rows"]
    assert len(rows) == 5 and all(abs(row["error_pct"]) < 15 for row in rows)


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


def test_a_slow_copy_is_refused_and_never_makes_the_log_slower():
    """Longer than a millisecond is not memory; a copy slower than the volume changes its latency to nothing worse."""
    scenario = Scenario.default("hpe-dl380-gen9-nvdimm-pcie", 1)
    with pytest.raises(UsageError, match="tail_of_log_us=2000 must be <= 1000 us"):
        scenario.with_settings(tail_of_log_us=2000)
    assert steady(scenario.with_settings(tail_of_log_us=900)).throughput_s >= steady(scenario).throughput_s
