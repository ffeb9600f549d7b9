"""Drives that fail: what the others have to do, spares, rebuilds, and a drive too many."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, simulate
from aglab.engine import layout as at
from aglab.engine.drives import VolumeLost
from aglab.hardware import Profile
from aglab.hardware.degraded import degraded, read_burden, rebuild_s, write_burden
from aglab.scenario import Scenario
from aglab.scenario.changes import Change

SMALL = {"noise": 0, "log_gb": 1e4, "k": 50, "users": 20}


def server(raid: str = "10", devices: int = 8, spares: int = 0, **more) -> Scenario:
    """A standalone server whose data volume has so many devices, small enough to be rebuilt soon."""
    volume = {"raid": raid, "data_ssds": devices, "hardware.data.spares": spares, "hardware.data.capacity_gb": 100}
    return Scenario.default(replicas=1).with_settings({**SMALL, "warehouses": 500, **volume, **more})


@pytest.mark.parametrize(
    ("drives", "sources", "failed", "times"),
    [(2, 1, 1, 2), (8, 7, 1, 2), (8, 6, 1, 1 + 6 / 7), (8, 6, 2, 3), (8, 7, 0, 1)],
)
def test_peers_of_a_failed_drive_read_for_it(drives, sources, failed, times):
    """A mirror's partner and each drive of RAID 5 read twice as much, of RAID 6 that lacks two three times."""
    assert read_burden(drives, sources, failed) == pytest.approx(times)


@pytest.mark.parametrize(("drives", "parity", "failed"), [(5, 1, 1), (12, 1, 1), (8, 2, 1), (6, 2, 2), (12, 2, 2)])
def test_small_writes_of_a_degraded_set_are_counted_out(drives, parity, failed):
    """The same as trying every page of the stripe with every set of failed drives."""
    import itertools

    total, tried, data = 0, 0, drives - parity
    for gone in itertools.combinations(range(drives), failed):  # roles: 0 to data - 1 are pages, the rest is parity
        alive = parity - sum(one >= data for one in gone)
        for page in range(data):
            others = sum(one < data and one != page for one in gone)
            if page not in gone:
                total += 2 * (1 + alive) if alive else 1
            else:
                total += (data - 1 - others) + (alive if others else 0) + alive
            tried += 1
    expected = max(1.0, total / tried / (drives - failed) / (2 * (1 + parity) / drives))
    assert write_burden(drives, parity, failed) == pytest.approx(expected)


def test_nothing_failed_is_the_volume_itself():
    """No rate is touched."""
    volume = Profile.load("hpe-dl380-gen9-ssd").data
    assert degraded(volume, frozenset()) is volume


def test_without_a_spare_the_set_stays_degraded():
    """Reads are slower from the failure on and stay so; the twin of it without failure is not."""
    hurt, sound = (Flow(server("5", data_read_iops=2000, memory=8, users=100)) for _ in range(2))
    hurt.change(drive_failure="data")
    for flow in (hurt, sound):
        flow.advance(60)
    assert hurt.totals("sql1")["transactions"] < 0.9 * sound.totals("sql1")["transactions"]
    assert hurt.state.drives[0, "data"].failed == {1} and not any(e["event"] == "drive_rebuilt" for e in hurt.state.events)


def test_a_rebuild_takes_capacity_over_its_share_and_ends_as_new():
    """The spare is written at the share's rate; while that goes on the set is slower than degraded, afterwards as before."""
    scenario = server("10", spares=1)
    flow = Flow(scenario)
    before = flow.params.hw.copy()
    flow.advance(0.25)
    flow.change(drive_failure={"volume": "data", "drive": 3})
    alone = Flow(server("10"))
    alone.change(drive_failure={"volume": "data", "drive": 3})
    assert flow.params.hw[0, at.H_READ_S] > alone.params.hw[0, at.H_READ_S] > before[0, at.H_READ_S]
    volume = scenario.profile.data
    expected = volume.capacity_gb * 1e3 / (0.3 * min(volume.read_mb_s, volume.write_mb_s))
    assert rebuild_s(volume) == pytest.approx(expected)
    flow.advance(expected + 5)
    ended = next(event for event in flow.state.events if event["event"] == "drive_rebuilt")
    assert ended["seconds"] == pytest.approx(expected, abs=1e-5) and ended["time_s"] == pytest.approx(0.25 + expected, abs=1e-5)
    assert ended["drive"] == 3 and flow.now_s == pytest.approx(expected + 5.25)
    assert np.array_equal(flow.params.hw, before)


def test_a_new_drive_is_rebuilt_or_becomes_a_spare():
    """After a failure without spare the replaced drive is written; put in before, it waits."""
    late, early = Flow(server("5", 4)), Flow(server("5", 4))
    late.change(drive_failure="data")
    late.change(drive_replaced="data")
    early.change(drive_replaced={"volume": "data"})
    early.change(drive_failure="data")
    assert late.state.drives == early.state.drives and late.state.drives[0, "data"].rebuilding == 1


def test_two_failures_of_raid_6_are_rebuilt_one_after_the_other():
    """The second rebuild begins when the first ends; reads are served all the time."""
    flow = Flow(server("6", 6, spares=2))
    flow.change(drive_failure="data")
    flow.change(drive_failure={"volume": "data", "drive": 5})
    flow.advance(2 * rebuild_s(flow.scenario.profile.data) + 1)
    ended = [event["drive"] for event in flow.state.events if event["event"] == "drive_rebuilt"]
    assert ended == [1, 5] and flow.state.drives[0, "data"].failed == frozenset()
    assert flow.totals("sql1")["transactions"] > 0


@pytest.mark.parametrize(
    ("raid", "devices", "drives"),
    [("0", 4, [1]), ("1", 2, [1, 2]), ("10", 8, [3, 4]), ("5", 5, [1, 5]), ("50", 8, [1, 4]), ("6", 6, [1, 2, 3])],
)
def test_a_drive_too_many_loses_the_volume(raid, devices, drives):
    """The last of these failures ends the run with what failed, where, and what to do."""
    flow = Flow(server(raid, devices, users=1, warehouses=1))
    for drive in drives[:-1]:
        flow.change(drive_failure={"volume": "data", "drive": drive})
    with pytest.raises(VolumeLost, match=rf"data volume of sql1 is lost at 0 s.*RAID {raid} of {devices}.*{drives[-1]}; restore"):
        flow.change(drive_failure={"volume": "data", "drive": drives[-1]})


@pytest.mark.parametrize(("raid", "drives"), [("10", [1, 3, 5, 8]), ("50", [1, 8])])
def test_failures_in_different_sets_are_borne(raid, drives):
    """Each pair, and each half of RAID 50, has its own redundancy."""
    flow = Flow(server(raid, 8))
    for drive in drives:
        flow.change(drive_failure={"volume": "data", "drive": drive})
    assert flow.state.drives[0, "data"].failed == set(drives)


def test_a_timeline_fails_drives_and_ends_with_a_lost_volume():
    """Events carry the drive; the run that loses its volume is an error and no result."""
    change = Change(2.0, {"drive_failure": {"volume": "log"}})
    told = simulate(dataclasses.replace(server(duration_s=4, warmup_s=0), timeline=(change,)))
    assert told["events"][0] == {"time_s": 2.0, "event": "drive_failure", "value": {"volume": "log"}}
    scenario = dataclasses.replace(server("0", duration_s=4, warmup_s=0), timeline=(Change(1.0, {"drive_failure": "data"}),))
    with pytest.raises(VolumeLost, match="lost at 1 s"):
        simulate(scenario)


def test_a_job_finds_what_the_drives_leave():
    """A backup that begins on a degraded set, or meets the failure, runs slower than one on a sound set."""
    rates = []
    for before, after in ((False, False), (True, False), (False, True)):
        flow = Flow(server("5", 4, users=0, **{"hardware.data.read_mb_s": 100, "hardware.data.read_iops": 20000}))
        if before:
            flow.change(drive_failure="data")
        flow.change(backup={"devices": 8, "gb": 1000})
        flow.advance(1)
        if after:
            flow.change(drive_failure="data")
        flow.advance(1)
        rates.append(flow.state.jb[0, 0, at.J_RATE])
    assert rates[1] == pytest.approx(rates[2]) and rates[1] < 0.6 * rates[0]


def test_other_inputs_keep_what_has_failed():
    """After retune the set still lacks its drive; a copy of the flow goes its own way."""
    flow = Flow(server("5", 4))
    flow.change(drive_failure="data")
    slow = flow.params.hw[0, at.H_READ_S]
    other = flow.copy()
    flow.retune(flow.scenario.with_settings(users=5))
    assert flow.params.hw[0, at.H_READ_S] == slow
    other.change(drive_replaced="data")
    assert flow.state.drives[0, "data"].rebuilding == 0 and other.state.drives[0, "data"].rebuilding == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"drive_failure": 3}, "drive_failure=3 must be a volume or a table"),
        ({"drive_failure": "tempdb"}, "volume (drive) 'tempdb' is not known"),
        ({"drive_failure": {"disk": 1}}, "key of drive_failure"),
        ({"drive_failure": {"drive": 9}}, "drive=9 of the data volume of sql1 must be a drive that works: 1 to 8"),
        ({"drive_replaced": {"drive": 2}}, "drive=2 of the data volume of sql1 has not failed"),
    ],
)
def test_drives_that_cannot_be_are_refused(change, words):
    """What, value, limit, where and remedy."""
    with pytest.raises(UsageError) as error:
        Flow(server()).change(**change)
    assert words in str(error.value)


def test_a_drive_fails_once():
    """The same drive again is refused, and the message names it."""
    flow = Flow(server())
    flow.change(drive_failure="data")
    with pytest.raises(UsageError, match="1 to 8 without 1"):
        flow.change(drive_failure={"drive": 1})
