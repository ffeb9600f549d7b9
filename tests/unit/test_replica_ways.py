"""A replica may have a way of its own to the others: round trip, bandwidth, losses, mode."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, steady
from aglab.engine.events import run_events
from aglab.scenario import Scenario
from aglab.scenario.files import scenario_from


def group(*replicas, **tables) -> Scenario:
    """Three replicas of the default machine without noise; entries of [[replicas]]."""
    table = {"ag": {"replicas": 3}, "set": {"noise": 0, "k": 50}, "replicas": list(replicas), **tables}
    return scenario_from(table, "test")


def rate(scenario: Scenario, node: str, total: str = "log_bytes_received", seconds: float = 5.0) -> float:
    """Growth of a total per second."""
    flow = Flow(scenario)
    flow.advance(seconds)
    return flow.totals(node)[total] / seconds


def test_a_way_that_is_the_networks_changes_nothing():
    """Said or not said, it is the same run, bit for bit."""
    network = group().profile.network
    plain, said = Flow(group()), Flow(group({"name": "sql3", "rtt_us": network.rtt_us}))
    plain.advance(3)
    said.advance(3)
    assert plain.state.tot.tobytes() == said.state.tot.tobytes()


def test_a_far_asynchronous_replica_costs_commits_nothing_and_lags():
    """Throughput is that of a near one; it is sent what its way carries, and the others are not held up."""
    near, far = ({"name": "sql3", "mode": "async", **way} for way in ({}, {"rtt_us": 40000, "bandwidth_gbit_s": 0.1}))
    assert rate(group(far), "sql1", "transactions") == rate(group(near), "sql1", "transactions")
    assert rate(group(far), "sql3") == pytest.approx(0.1e9 / 8, rel=1e-6)
    assert rate(group(far), "sql2") == rate(group(near), "sql2")


def test_a_far_synchronous_replica_is_waited_for():
    """The slowest of them decides; a nearer one beside it does not."""
    rates = [steady(group({"name": "sql3", "rtt_us": rtt})).throughput_s for rtt in (50, 1000, 5000, 40000)]
    assert rates == sorted(rates, reverse=True) and rates[-1] < 0.2 * rates[0]
    both = group(*({"name": name, "rtt_us": 5000} for name in ("sql2", "sql3")))
    assert steady(both).throughput_s == pytest.approx(rates[2], rel=1e-9)
    assert steady(group({"name": "sql3", "bandwidth_gbit_s": 0.1})).log_bytes_s <= 0.1e9 / 8


def test_losses_over_a_long_round_trip_bound_one_connection():
    """After Mathis: segment over round trip times the root of 1.5 over the share lost."""
    far = group({"name": "sql3", "mode": "async", "rtt_us": 40000, "loss": 0.0001})
    assert rate(far, "sql3") == pytest.approx(1460 / 0.04 * (1.5 / 0.0001) ** 0.5, rel=1e-6)


def test_a_far_primary_has_the_way_to_all():
    """After a failover to it the others are as far from it as it was from them; seeding goes that way too."""
    scenario = group({"name": "sql3", "mode": "async", "bandwidth_gbit_s": 0.05})
    flow = Flow(scenario)
    flow.advance(1)
    flow.change(primary="sql3")
    before = flow.totals("sql2")["log_bytes_received"]
    flow.advance(5)
    assert 0 < flow.totals("sql2")["log_bytes_received"] - before <= 5 * 0.05e9 / 8 * 1.001
    seeded = Flow(scenario.with_settings(users=0))
    seeded.change(seeding={"to": "sql3", "gb": 0.1})
    seeded.advance(30)
    (end,) = (event for event in seeded.state.events if event["event"] == "seeding_ended")
    assert end["mb_s"] <= 0.05e3 / 8
    near = scenario.way("sql1", "sql2"), scenario.way("sql2", "sql3")
    assert near[0] == scenario.profile.network and near[1].bandwidth_gbit_s == 0.05


def test_a_rebuild_makes_no_more_log_than_a_far_synchronous_replica_takes():
    """The job's log goes the same way as the load's."""
    flow = Flow(group({"name": "sql3", "bandwidth_gbit_s": 0.5}).with_settings(users=0))
    flow.change(index_rebuild={"gb": 50})
    flow.advance(20)
    assert 0 < flow.totals("sql3")["log_bytes_received"] / 20 <= 0.5e9 / 8 * 1.001
    assert flow.gauges("sql3")["log_send_queue_kb"] * 1024 < 0.1 * flow.totals("sql3")["log_bytes_received"]


def test_replicas_keep_their_ways_when_others_join():
    """A change of their number adds near ones, or takes the last away."""
    far = group({"name": "sql2", "rtt_us": 9000})
    assert [replica.rtt_us for replica in far.with_settings(replicas=5).replicas] == [0, 9000, 0, 0, 0]
    assert [replica.rtt_us for replica in far.with_settings(replicas=2).replicas] == [0, 9000]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([{"name": "sql4"}], "name of entry 1 of replicas in test: node 'sql4' is not known"),
        ([{"rtt_us": 5}], "name of entry 1 of replicas in test: node '' is not known"),
        ([{"name": "sql3", "mode": "semi"}], "mode of replica sql3 in test 'semi' is not known"),
        ([{"name": "sql3", "rtt": 5}], "key of replica sql3 in test 'rtt' is not known; did you mean 'rtt_us'?"),
        ([{"name": "sql3", "loss": 0.9}], "loss=0.9 must be <= 0.2 (replica 'sql3')"),
        ({"name": "sql3"}, "replicas of test must be a list of tables"),
    ],
)
def test_a_wrong_entry_is_one_clear_error(entries, expected):
    """Name, mode, key and range."""
    with pytest.raises(UsageError) as error:
        scenario_from({"ag": {"replicas": 3}, "replicas": entries}, "test")
    assert expected in str(error.value)


def test_event_by_event_all_replicas_are_alike():
    """The microscope refuses a way of its own instead of leaving it out."""
    with pytest.raises(UsageError, match="replica sql3 has a way of its own"):
        run_events(Flow(group({"name": "sql3", "rtt_us": 5000})), seconds=0.01)
