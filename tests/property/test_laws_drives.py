"""Laws of RAID sets that lack drives, over random volumes: never faster, and every rebuild ends.

``AGLAB_LAW_EXAMPLES`` sets how many random cases each law tries.
"""

from __future__ import annotations

import dataclasses
import itertools
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aglab.engine import Flow, steady
from aglab.engine.drives import profile_of
from aglab.hardware.degraded import degraded, lost_set, rebuild_s
from aglab.scenario import Scenario

MANY = int(os.environ.get("AGLAB_LAW_EXAMPLES", "40"))
EXAMPLES = settings(max_examples=MANY, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RUNS = settings(max_examples=max(1, MANY // 4), deadline=None, suppress_health_check=[HealthCheck.too_slow])
TIGHT = 1e-6


@st.composite
def scenarios(draw) -> Scenario:
    """A random server that reads and writes its data volume, of any level that bears a failure."""
    return Scenario.default(replicas=1).with_settings(
        {
            "noise": 0,
            "users": draw(st.sampled_from([1, 20, 200])),
            "k": draw(st.sampled_from([0, 50, 500])),
            "raid": draw(st.sampled_from(["10", "5", "50", "6"])),
            "data_ssds": 2 * draw(st.integers(3, 12)),
            "data_read_iops": draw(st.floats(100, 50000)),
            "hardware.data.write_iops": draw(st.floats(100, 50000)),
            "hardware.data.read_latency_us": draw(st.floats(50, 9000)),
            "hardware.data.spares": draw(st.integers(0, 1)),
            "hardware.data.rebuild_share": draw(st.floats(0.05, 0.9)),
            "warehouses": 1000,
            "memory": draw(st.sampled_from([8, 64, 256])),
            "cold_touches_per_tx": draw(st.floats(0, 10)),
            "log_gb": 1e5,
        }
    )


def with_data(scenario: Scenario, volume) -> Scenario:
    """The scenario on another data volume."""
    return dataclasses.replace(scenario, profile=dataclasses.replace(scenario.profile, data=volume))


@EXAMPLES
@given(scenarios(), st.integers(1, 6), st.sampled_from([0.0, 100.0, 1000.0]))
def test_degraded_is_never_faster_and_rebuilding_not_either(scenario, drive, pages_s):
    """Sound, lacking a drive, lacking it and rebuilding: each is no faster than the one before, or has written less meanwhile.

    A writer that saturates the volume backs off by its own latency: on a slower one it leaves reads more room, and takes longer.
    """
    volume = scenario.profile.data
    made = [volume, *(degraded(volume, frozenset({drive}), rebuilding) for rebuilding in (False, True))]
    found = [steady(with_data(scenario, one), pages_s) for one in made]
    for before, after in itertools.pairwise(found):
        owed = after.write_pages_s < before.write_pages_s * (1 - TIGHT)
        assert after.throughput_s <= before.throughput_s * (1 + TIGHT) or (owed and pages_s > 0)
    assert found[-1].throughput_s > 0


@EXAMPLES
@given(scenarios(), st.sets(st.integers(1, 6), min_size=2, max_size=4))
def test_each_further_failure_that_is_borne_costs_no_less(scenario, drives):
    """Rates of what is left fall with each drive, in whatever order they fail."""
    volume, gone = scenario.profile.data, frozenset()
    before = volume
    for drive in sorted(drives):
        if lost_set(volume, gone | {drive}):
            break
        gone |= {drive}
        after = degraded(volume, gone)
        assert after.random_iops(0.7) <= before.random_iops(0.7) * (1 + TIGHT)
        assert after.gathered_write_s(4) >= before.gathered_write_s(4) * (1 - TIGHT)
        assert after.read_latency_us >= before.read_latency_us * (1 - TIGHT)
        before = after


@RUNS
@given(scenarios(), st.floats(0, 5), st.integers(1, 6))
def test_a_rebuild_ends_and_without_a_spare_nothing_does(scenario, at_s, drive):
    """With a spare the set is sound after capacity over rate; without one it never is."""
    small = scenario.with_settings({"warehouses": 1, "users": 2, "hardware.data.capacity_gb": 2.0})
    flow = Flow(small)
    flow.advance(round(at_s, 2))
    flow.change(drive_failure={"volume": "data", "drive": drive})
    flow.advance(round(rebuild_s(small.profile.data) + 1, 1))
    assert (profile_of(flow, 0) == small.profile) == (small.profile.data.spares > 0)
