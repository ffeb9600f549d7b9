"""A backup as a job of the running engine: timeline, contention, progress, ends, and no trace where there is none."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, simulate
from aglab.engine import layout as at
from aglab.engine.backup import BackupJob, Busy, backup_rate
from aglab.engine.running import progress, stop
from aglab.engine.steady import steady
from aglab.hardware import Profile
from aglab.scenario import Change, Scenario
from aglab.scenario.files import scenario_from

PLAIN = BackupJob(gb=20)
TUNED = BackupJob(devices=4, maxtransfersize=65536, buffercount=64, compression=True, checksum=True, gb=20)
AGGRESSIVE = BackupJob(devices=8, maxtransfersize=4194304, buffercount=256, compression=True, checksum=True, gb=20)


def flow(**settings) -> Flow:
    """One server, no noise."""
    return Flow(Scenario.default("hpe-dl380-gen9-ssd", 1).with_settings({"noise": 0, "recovery_model": "SIMPLE", **settings}))


@pytest.mark.parametrize("job", [PLAIN, TUNED, AGGRESSIVE])
def test_on_an_idle_machine_the_flow_and_the_formula_agree(job):
    """The running job ends when the closed form says, but for the processor time of idle services."""
    idle = flow(users=0)
    idle.change(backup=job)
    expected = backup_rate(idle.scenario.profile, job).seconds(20)
    while progress(idle, 0, "data").running:
        idle.advance(0.1)
    ended = idle.state.events[-1]
    assert ended["event"] == "backup_ended" and ended["seconds"] == pytest.approx(expected, rel=5e-3)
    assert idle.totals("sql1")["backup_bytes"] == pytest.approx(20e9)


def test_a_load_slows_the_backup_and_a_backup_the_load():
    """Both ways, and when it is over the load is what it was; without checkpoints, which take the volume for themselves."""
    busy = flow(log_gb=1e5, **{"constants.recovery_interval_s": 36000.0})
    before = busy.advance(200).values
    x = lambda values: values[:, 2].mean()  # noqa: E731
    busy.change(backup=AGGRESSIVE)
    during = busy.advance(5).values
    left = progress(busy, 0, "data")
    alone = backup_rate(busy.scenario.profile, AGGRESSIVE).rate_mb_s
    assert left.running and 0 < left.percent < 100 and left.rate_bytes_s < alone * 1e6
    loaded = backup_rate(busy.scenario.profile, AGGRESSIVE, busy=Busy(cpu=0.78))
    assert left.rate_bytes_s == pytest.approx(loaded.rate_mb_s * 1e6, rel=0.1)
    assert x(during) < 0.95 * x(before)
    while progress(busy, 0, "data").running:
        busy.advance(1)
    busy.advance(200)
    assert x(busy.advance(60).values) == pytest.approx(x(before[-60:]), rel=0.05)


def test_a_backup_on_a_secondary_leaves_the_primary_alone():
    """Its processors work there; the primary's throughput is unchanged to the bit."""
    runs = []
    for job in (None, AGGRESSIVE):
        group = Flow(Scenario.default("hpe-dl380-gen9-ssd", 3).with_settings({"noise": 0}))
        group.advance(5)
        if job:
            group.change("sql2", backup=job)
        group.advance(5)
        runs.append(group)
    quiet, working = runs
    assert quiet.totals("sql1") == working.totals("sql1")
    assert working.totals("sql2")["cpu_ms"] > 2 * quiet.totals("sql2")["cpu_ms"]
    assert working.totals("sql2")["backup_bytes"] > 0 == working.totals("sql1")["backup_bytes"]


def test_a_log_backup_reads_the_log_volume_and_frees_the_log():
    """Log writes wait behind its transfers; at its end the log is backed up."""
    running = flow(recovery_model="FULL", target_recovery_s=60)
    running.advance(120)
    lat = running.totals("sql1")
    alone = lat["log_write_stall_ms"] / lat["log_writes"]
    used = running.gauges("sql1")["lsn_end"] - running.gauges("sql1")["lsn_backup"]
    running.change(backup={"volume": "log", "maxtransfersize": 4194304, "buffercount": 64})
    running.advance(1)
    now = running.totals("sql1")
    beside = (now["log_write_stall_ms"] - lat["log_write_stall_ms"]) / (now["log_writes"] - lat["log_writes"])
    assert beside > 1.2 * alone
    while progress(running, 0, "log").running:
        running.advance(0.1)
    gauges = running.gauges("sql1")
    assert gauges["lsn_end"] - gauges["lsn_backup"] < 0.2 * used


def test_smaller_transfers_are_kinder_to_reads():
    """At about the same rate, a page read waits longer behind 4 MB than behind 64 KB."""
    waits = []
    for size in (65536, 4194304):
        running = flow(target_recovery_s=60)
        running.advance(90)
        running.change(backup=BackupJob(devices=4, maxtransfersize=size, buffercount=64, target_mb_s=3000))
        before = running.totals("sql1")
        running.advance(5)
        after = running.totals("sql1")
        waits.append(
            (after["wait_ms.PAGEIOLATCH_SH"] - before["wait_ms.PAGEIOLATCH_SH"])
            / (after["wait_count.PAGEIOLATCH_SH"] - before["wait_count.PAGEIOLATCH_SH"])
        )
    assert waits[1] > waits[0] + 0.1  # ms


def test_a_timeline_starts_backups(tmp_path):
    """``[[timeline]] backup = { ... }`` runs, is told in the events, and shows in the counter."""
    scenario = scenario_from(
        {
            "profile": "hpe-dl380-gen9-ssd",
            "settings": {"duration_s": 60, "warmup_s": 10},
            "timeline": [{"at_s": 20, "backup": {"devices": 4, "compression": True, "gb": 10}}],
        },
        "test",
    )
    result = simulate(scenario)
    names = [event["event"] for event in result["events"]]
    assert names == ["backup", "backup_ended"]
    assert result["events"][0]["value"] == {"devices": 4, "compression": True, "gb": 10.0}
    column = result["run"].counters["sql1", "SQLServer:Databases(OLTP)\\Backup/Restore Throughput/sec"]
    assert column.loc[:20].sum() == 0 and column.sum() == pytest.approx(10e9, rel=1e-6)


def test_two_backups_of_one_volume_do_not_run_at_once():
    """The second is refused until the first ends or is stopped; a restart ends it too."""
    busy = flow(users=0)
    busy.change(backup=True)
    with pytest.raises(UsageError, match="data volume of sql1"):
        busy.change(backup=True)
    busy.change(backup={"volume": "log"})
    stop(busy, 0, "data")
    busy.change(backup=True)
    busy.change(restart=True)
    assert not busy.state.jb[:, :, at.J_LEFT].any()
    busy.advance(1)
    assert all(event["event"] != "backup_ended" or event["seconds"] >= 0 for event in busy.state.events)


def test_a_copy_goes_on_with_the_backup():
    """Copied in the middle, both end at the same time with the same bytes."""
    one = flow()
    one.advance(5)
    one.change(backup=TUNED)
    one.advance(3.3)
    other = one.copy()
    for each in (one, other):
        each.advance(60)
    assert np.array_equal(one.state.tot, other.state.tot) and one.state.events == other.state.events
    assert one.state.events[-1]["event"] == "backup_ended"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"device": 4}, "did you mean 'devices'"),
        ({"devices": 65}, "devices=65 must be <= 64"),
        ({"compression": "yes"}, "compression='yes' must be true or false"),
        ({"ratio": 0.5}, "ratio=0.5 must be >= 1"),
        ({"restore": True, "volume": "log"}, "restore=true goes with volume='data'"),
        (7, "backup=7 must be a table"),
    ],
)
def test_a_backup_that_cannot_be_is_refused(value, message):
    """Key, value, limit and remedy; nothing starts."""
    busy = flow()
    with pytest.raises(UsageError, match=message):
        busy.change(backup=value)
    assert not busy.state.jb.any()


def test_a_scenario_keeps_its_timeline_of_jobs():
    """A job in a Change is checked like any other value."""
    base = dataclasses.replace(Scenario.default("hpe-dl380-gen9-ssd", 1), timeline=(Change(1.0, {"backup": PLAIN}),))
    run = Flow(base.with_settings({"duration_s": 10, "warmup_s": 0, "noise": 0})).run()
    assert run.events[0]["value"] == {"gb": 20.0}


def test_one_user_gets_through_beside_a_backup_that_could_take_every_processor():
    """Two slow cores, six buffers to compress: the backup slows a single user down and never stops them."""
    profile = Profile.load("hpe-dl380-gen9-ssd")
    small = dataclasses.replace(profile, cpu=dataclasses.replace(profile.cpu, cores_per_socket=1, ghz=2.0))
    scenario = Scenario.default(small, 1).with_settings(users=1)
    alone, beside = steady(scenario), steady(scenario, job=BackupJob(compression=True))
    assert 0.05 * alone.throughput_s < beside.throughput_s < alone.throughput_s
    assert beside.cpu_util < 1.0
