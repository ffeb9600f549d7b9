"""Laws of tempdb over random machines and demands: no file too many, no demand for nothing.

``AGLAB_LAW_EXAMPLES`` sets how many random cases each law tries.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aglab.engine import steady
from aglab.scenario import Scenario

EXAMPLES = settings(
    max_examples=int(os.environ.get("AGLAB_LAW_EXAMPLES", "30")), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TIGHT = 1e-6


@st.composite
def scenarios(draw) -> Scenario:
    """A random machine whose transactions use tempdb in every way."""
    return Scenario.default(replicas=draw(st.integers(1, 2))).with_settings(
        {
            "noise": 0,
            "users": draw(st.sampled_from([1, 8, 60, 300])),
            "cores": draw(st.sampled_from([2, 8, 32])),
            "ssds": draw(st.sampled_from([4, 8])),
            "cpu_us": draw(st.floats(50, 3000)),
            "version": draw(st.sampled_from(["2014", "2016", "2019", "2022"])),
            "tempdb_files": draw(st.integers(1, 16)),
            "tempdb_kb_per_tx": draw(st.floats(0, 500)),
            "workload.tempdb_objects_per_tx": draw(st.floats(0, 5)),
            "workload.sort_kb_per_tx": draw(st.sampled_from([0.0, 100.0, 4000.0])),
            "workload.version_kb_per_tx": draw(st.floats(0, 20)),
            "tempdb.sort_grant_kb": draw(st.floats(10, 5000)),
            "tempdb.latch_us": draw(st.floats(0.1, 20)),
            "tempdb.devices": draw(st.sampled_from([0, 2, 6])),
            "tempdb.row_versioning": draw(st.sampled_from(["off", "on"])),
        }
    )


@EXAMPLES
@given(scenarios(), st.integers(1, 8))
def test_more_files_are_never_slower(scenario, more):
    """Another file takes changes from the pages of the others."""
    files = scenario.tempdb.files + more
    assert steady(scenario.with_settings({"tempdb_files": files})).throughput_s >= steady(scenario).throughput_s * (1 - TIGHT)


@EXAMPLES
@given(
    scenarios(),
    st.sampled_from(
        ["tempdb_kb_per_tx", "workload.tempdb_objects_per_tx", "workload.sort_kb_per_tx", "workload.version_kb_per_tx"]
    ),
    st.floats(1.1, 10),
)
def test_more_of_tempdb_is_never_faster(scenario, key, times):
    """Any demand raised, throughput does not rise."""
    before = getattr(scenario.workload, key.rpartition(".")[2])
    more = scenario.with_settings({key: times * before})
    assert steady(more).throughput_s <= steady(scenario).throughput_s * (1 + TIGHT)


@EXAMPLES
@given(scenarios(), st.sampled_from([("tempdb.latch_us", 3.0), ("tempdb.sort_grant_kb", 0.3)]))
def test_a_longer_latch_and_a_smaller_grant_never_help(scenario, change):
    """Neither raises throughput."""
    key, times = change
    value = getattr(scenario.tempdb, key.partition(".")[2])
    assert steady(scenario.with_settings({key: times * value})).throughput_s <= steady(scenario).throughput_s * (1 + TIGHT)


@EXAMPLES
@given(scenarios())
def test_little_holds_with_tempdb(scenario):
    """N = X * R, and the parts of R, tempdb's among them, add up to it."""
    result = steady(scenario)
    assert result.throughput_s * result.response_s == pytest.approx(scenario.settings.users, rel=TIGHT)
    assert sum(result.parts_s.values()) <= result.response_s * (1 + TIGHT)


@EXAMPLES
@given(scenarios(), st.sampled_from([("2014", "2016"), ("2016", "2019"), ("2019", "2022")]))
def test_a_later_version_waits_no_longer_for_allocation_pages(scenario, pair):
    """Fewer pages are held alone from version to version (trace flag 1118 off, objects of more than a few pages)."""
    big = scenario.with_settings({"tempdb_kb_per_tx": 64 * max(1.0, scenario.workload.tempdb_objects_per_tx)})
    old, new = (page_wait(big.with_settings({"version": version})) for version in pair)
    assert new <= old * (1 + TIGHT)


def page_wait(scenario: Scenario) -> float:
    """Changes of allocation pages that exclude each other, in one transaction."""
    from aglab.engine.tempdb import page_changes

    return sum(page_changes(scenario))
