"""Timelines beside the rest of a scenario: what has no place there is refused, what does nothing is said."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow
from aglab.scenario.files import scenario_from

GROUP = {"ag": {"replicas": 3}, "settings": {"duration_s": 60}}


def read(*entries, **tables):
    """A group of three with a timeline."""
    return scenario_from({**GROUP, **tables, "timeline": list(entries)}, "test")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {"simple_recovery": True},
            "simple_recovery=true must be false with 3 replicas (timeline, at_s=5); an availability group",
        ),
        (
            {"backup": {"gb": 1e6}},
            "gb=1e+06 of backup must be <= 2,400, what the data volume holds (timeline, at_s=5)",
        ),
        ({"index_rebuild": {"gb": 5000}}, "gb=5000 of index_rebuild must be <= 2,400"),
        ({"seeding": {"to": "sql9"}}, "to of seeding (timeline, at_s=5): node 'sql9' is not known"),
        ({"seeding": {"gb": 5}}, "to of seeding (timeline, at_s=5): node '' is not known"),
    ],
)
def test_an_entry_without_a_place_is_refused(entry, expected):
    """When the scenario is read, with field, value and limit."""
    with pytest.raises(UsageError) as error:
        read({"at_s": 5, **entry})
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([{"at_s": 60, "k_mb_s": 5}], ["k_mb_s comes after the end of the run, duration_s=60 (timeline, at_s=60)"]),
        ([{"at_s": 5, "primary": "sql1"}], ["primary='sql1' is the primary already: nothing changes (timeline, at_s=5)"]),
        ([{"at_s": 5, "primary": "sql2"}, {"at_s": 9, "primary": "sql1"}], []),
        ([{"at_s": 5, "node": "sql1", "connected": False}], ["connected is of secondaries, and sql1 is the primary"]),
        (
            [{"at_s": 5, "primary": "sql2"}, {"at_s": 9, "node": "sql2", "suspended": True}],
            ["suspended is of secondaries, and sql2"],
        ),
        ([{"at_s": 5, "primary": "sql2"}, {"at_s": 9, "node": "sql1", "suspended": True}], []),
    ],
)
def test_an_entry_that_does_nothing_is_said(entries, expected):
    """Beyond the end, to the node that has the role, of a secondary where the primary is; after a failover it is another's."""
    found = read(*entries).warnings()
    assert len(found) == len(expected) and all(text in line for text, line in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"k": 50, "checkpoint": "indirect"}, "k_mb_s=50 throttles automatic checkpoints, and target_recovery_s=60 makes them"),
        ({"replicas": 1, "log_stream_compression": "on"}, "log_stream_compression='on' does nothing on a standalone server"),
        ({"log_max_gb": 800}, "log_max_gb=800 does nothing: log_growth_mb=0"),
        ({"settings.soft_numa": "off"}, "soft_numa='off' only changes which cores affinity_nodes names"),
        ({"sockets": 1, "memory_placement": "local"}, "memory_placement='local' does nothing with one socket"),
    ],
)
def test_a_setting_that_does_nothing_is_said(settings, expected):
    """One warning, with the value that takes its effect away; without that value there is none."""
    (only,) = read().with_settings(settings).warnings()
    assert expected in only
    assert read().with_settings({"k": 50, "log_growth_mb": 64, "log_max_gb": 800, "memory_placement": "local"}).warnings() == []


def test_more_samples_than_memory_holds_are_refused():
    """A run of years a second at a time is one clear line, and the remedy it names is accepted."""
    with pytest.raises(UsageError, match=r"duration_s=1e\+08 with sample_s=1 must keep <= 1,000,000 samples.*sample_s to 100"):
        read().with_settings({"duration_s": 1e8})
    assert read().with_settings({"duration_s": 1e8, "sample_s": 100}).settings.duration_s == 1e8


def test_a_restore_ends_as_a_restore():
    """The event of its end has its name."""
    flow = Flow(read().with_settings({"noise": 0}))
    flow.change(restore={"gb": 1})
    flow.advance(20)
    assert [event["event"] for event in flow.state.events] == ["restore", "restore_ended"]
