"""Index rebuild, integrity check, seeding, restore as jobs of the running engine."""

from __future__ import annotations

import dataclasses

import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, simulate
from aglab.engine import layout as at
from aglab.engine.job_rows import job_rate
from aglab.engine.running import progress
from aglab.engine.steady import steady
from aglab.hardware import Profile
from aglab.published.experiments_rebuild import MAXDOPS, alone_s, limits_s, one_volume
from aglab.published.rows_read import published_value
from aglab.scenario import Scenario
from aglab.scenario.files import scenario_from
from aglab.scenario.jobs import BackupJob
from aglab.scenario.maintenance import IndexRebuild, IntegrityCheck, Seeding

DL380 = Profile.load("hpe-dl380-gen9-ssd")
REBUILD = IndexRebuild(gb=20, maxdop=4)
CHECK = IntegrityCheck(gb=20, maxdop=8)


def flow(replicas: int = 1, **settings) -> Flow:
    """Servers without noise."""
    return Flow(Scenario.default("hpe-dl380-gen9-ssd", replicas).with_settings({"noise": 0, **settings}))


def finish(running: Flow) -> dict:
    """Advance until the job on the primary's data volume is over; its last event."""
    for _ in range(100_000):
        if not progress(running, 0, "data").running:
            return running.state.events[-1]
        running.advance(0.1)
    raise AssertionError("the job does not end")


@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("index_rebuild", REBUILD),
        ("index_rebuild", IndexRebuild(gb=20, cached=1)),
        ("index_rebuild", IndexRebuild(gb=20, online=False, maxdop=2)),
        ("integrity_check", CHECK),
        ("integrity_check", IntegrityCheck(gb=20, physical_only=True)),
        ("restore", BackupJob(gb=20, devices=4, restore=True)),
    ],
)
def test_on_an_idle_machine_the_flow_and_the_formula_agree(name, job):
    """The running job ends when the closed form says."""
    idle = flow(users=0)
    idle.change(**{name: job})
    ended = finish(idle)
    assert ended["event"].endswith("_ended") and ended["seconds"] == pytest.approx(job_rate(DL380, job).seconds(20), rel=5e-3)


def test_seeding_alone_takes_what_its_slowest_part_takes():
    """Read, network, write: the least of them, on both nodes, with the target's side ending with the source's."""
    job = Seeding(to="sql2", gb=20)
    idle = flow(2, users=0)
    idle.change(seeding=job)
    ended = finish(idle)
    assert ended["event"] == "seeding_ended" and ended["seconds"] == pytest.approx(job_rate(DL380, job).seconds(20), rel=5e-3)
    idle.advance(1)
    assert idle.totals("sql1")["data_bytes_read"] == pytest.approx(20e9)
    assert idle.totals("sql2")["data_bytes_written"] == pytest.approx(20e9)
    slow = {"bandwidth_gbit_s": 1}
    thin = Scenario.default("hpe-dl380-gen9-ssd", 2).with_settings(slow).profile
    assert job_rate(thin, job).limit == "network" and job_rate(thin, job).rate_mb_s == pytest.approx(125)
    packed = dataclasses.replace(job, compression=True)
    assert job_rate(thin, packed).rate_mb_s > 1.5 * job_rate(thin, job).rate_mb_s


def test_a_rebuild_shares_its_work_up_to_the_cores_and_the_volume():
    """Twice the threads, half the time, until pages are not read and written faster; MAXDOP 0 is every core up to 64."""
    machine = Profile.load("hpe-dl560-gen10-4p")
    apart = {"rebuild_crosstalk": 0.0}
    rates = {maxdop: job_rate(machine, IndexRebuild(gb=80, maxdop=maxdop), overrides=apart) for maxdop in (0, 1, 2, 64)}
    alone = {maxdop: one.seconds(80) for maxdop, one in rates.items()}
    assert alone[1] == pytest.approx(2 * alone[2]) and alone[0] == alone[64] < alone[2]
    data = machine.data
    both_ways = 80e9 * (1 / (data.devices * data.read_mb_s * 1e6) + 1 / data.write_bytes_s)
    slow = {"rebuild_us_per_page": 0.001}
    assert job_rate(machine, IndexRebuild(gb=80, maxdop=8), overrides=slow).seconds(80) == pytest.approx(both_ways)


def test_table_13_runs_on_the_drives_of_one_database():
    """Half of the drives; MAXDOP 1 and 0 are met, and no part of the machine explains any of them."""
    assert one_volume().data.devices == 4 and Profile.load("hpe-dl560-gen10-4p").data.devices == 8
    assert alone_s(1) == pytest.approx(published_value("dl560-t13-dop01-duration"), rel=1e-3)
    assert all(max(limits_s(maxdop).values()) == pytest.approx(alone_s(maxdop)) for maxdop in MAXDOPS)
    assert alone_s(0) == pytest.approx(published_value("dl560-t13-dop00-duration"), rel=2e-3)
    parts = ("data volume", "log")
    assert max(limits_s(0)[part] for part in parts) < 0.25 * published_value("dl560-t13-dop16-duration")


def test_threads_of_a_rebuild_get_in_each_others_way():
    """p threads do p / (1 + k p (p - 1)) times the work of one: most at the root of 1 / k; a check knows none of it."""
    machine = Profile.load("hpe-dl560-gen10-4p")

    def gain(threads, k):
        over = {"rebuild_crosstalk": k}
        one, many = (job_rate(machine, IndexRebuild(maxdop=p), overrides=over).limits["threads"] for p in (1, threads))
        return many / one

    assert [gain(p, 0.01) for p in (2, 10, 40)] == pytest.approx([p / (1 + 0.01 * p * (p - 1)) for p in (2, 10, 40)])
    assert gain(10, 0.01) == max(gain(p, 0.01) for p in range(1, 60))
    check = IntegrityCheck(maxdop=40)
    assert job_rate(machine, check, overrides={"rebuild_crosstalk": 0.05}).rate_mb_s == job_rate(machine, check).rate_mb_s


def test_each_limit_of_a_rebuild_can_hold():
    """Threads with few or too many; volumes where threads do not meet; the log where it is slow, not when minimally logged."""
    assert job_rate(DL380, IndexRebuild(maxdop=1)).limit == "threads" == job_rate(DL380, IndexRebuild()).limit
    assert job_rate(DL380, IndexRebuild(), overrides={"rebuild_crosstalk": 0.0}).limit in ("data volume", "log")
    slow = Scenario.default("hpe-dl380-gen9-ssd", 1).with_settings({"hardware.log.write_mb_s": 50}).profile
    assert job_rate(slow, IndexRebuild(maxdop=8)).limit == "log"
    assert job_rate(slow, IndexRebuild(maxdop=8, logged="minimal")).limit != "log"


def test_a_rebuild_makes_log_that_every_replica_receives():
    """A page image for each page; sent, received and redone, and none of it counts as a transaction."""
    group = flow(2, users=0)
    group.change(index_rebuild=REBUILD)
    finish(group)
    group.advance(400)
    made = 20e9 * 8300 / 8192
    assert group.totals("sql1")["log_bytes_flushed"] == pytest.approx(made, rel=1e-3)
    assert group.totals("sql2")["redone_bytes"] == pytest.approx(made, rel=1e-3)
    assert group.totals("sql2")["transactions"] == pytest.approx(0, abs=1e-3) and group.totals("sql1")["transactions"] == 0
    plain = flow(1, users=0, recovery_model="SIMPLE")
    plain.change(index_rebuild=IndexRebuild(gb=20, logged="minimal"))
    finish(plain)
    assert plain.totals("sql1")["log_bytes_flushed"] == 0


def test_a_load_and_a_rebuild_slow_each_other():
    """Both ways, more so with more threads."""
    alone = flow()
    alone.advance(30)
    before = alone.totals("sql1")["transactions"]
    lost = []
    for maxdop in (1, 32):
        busy = flow()
        busy.change(index_rebuild=IndexRebuild(gb=500, maxdop=maxdop))
        busy.advance(30)
        lost.append(1 - busy.totals("sql1")["transactions"] / before)
        assert progress(busy, 0, "data").rate_bytes_s <= 1e6 * job_rate(DL380, IndexRebuild(maxdop=maxdop)).rate_mb_s * 1.001
    assert 0 < lost[0] < lost[1] < 0.95


def test_an_offline_rebuild_stops_its_users_and_lets_them_go():
    """Nothing gets through until its end, everything afterwards."""
    busy = flow()
    busy.change(index_rebuild=IndexRebuild(gb=20, online=False))
    assert steady(busy.scenario, job=IndexRebuild(online=False)).throughput_s == 0
    finish(busy)
    held = busy.totals("sql1")["transactions"]
    busy.advance(10)
    assert held < 0.01 * (busy.totals("sql1")["transactions"] - held)


@pytest.mark.parametrize(("resumable", "kept"), [(False, True), (True, False)])
def test_one_long_transaction_keeps_the_log(resumable, kept):
    """A log backup frees what a resumable rebuild has made, and nothing of what one transaction has made."""
    busy = flow(target_recovery_s=5, version="2017")
    busy.advance(20)
    busy.change(index_rebuild=IndexRebuild(gb=200, maxdop=1, resumable=resumable))
    busy.advance(60)
    busy.change(log_backup=True)
    busy.advance(20)
    made = (busy.gauges("sql1")["lsn_end"] - busy.state.st[0, at.S_OLDEST]) if kept else 0
    used = busy.gauges("sql1")["log_used_kb"] * 1024
    assert used >= made
    assert (used > 0.9 * (busy.totals("sql1")["log_bytes_flushed"] * 80 / 100)) == kept


def test_a_resumable_rebuild_goes_on_after_pause_restart_and_failover():
    """What was done stays done; one that cannot be resumed begins anew."""
    group = flow(2, users=0, **{"version": "2022"})
    group.change(index_rebuild=IndexRebuild(gb=50, maxdop=2, resumable=True))
    group.advance(10)
    left = progress(group, 0, "data").left_bytes
    group.change(index_pause=True)
    group.advance(10)
    group.change(index_resume=True)
    assert progress(group, 0, "data").left_bytes == left
    group.advance(1)
    group.change("sql1", restart=True)
    assert not progress(group, 0, "data").running
    group.advance(60)
    group.change(primary="sql2")
    group.change(index_resume=True)
    assert progress(group, 1, "data").left_bytes < left
    single = flow(users=0)
    single.change(index_rebuild=REBUILD)
    single.advance(1)
    single.change(restart=True)
    assert single.state.events[-2]["event"] == "index_rebuild_failed"
    with pytest.raises(UsageError, match="no paused rebuild"):
        single.change(index_resume=True)
    with pytest.raises(UsageError, match="no resumable rebuild runs on sql1"):
        single.change(index_pause=True)


def test_a_failover_ends_seeding_and_rebuild_and_leaves_a_check_alone():
    """What writes ends with the role, on both sides; what reads goes on."""
    group = flow(3)
    group.advance(5)
    group.change(seeding=Seeding(to="sql3", gb=100))
    group.change("sql2", integrity_check=IntegrityCheck(gb=900))
    group.advance(2)
    assert progress(group, 2, "data").running
    group.change(primary="sql2")
    assert not progress(group, 0, "data").running and not progress(group, 2, "data").running
    assert progress(group, 1, "data").running
    assert "seeding_failed" in [event["event"] for event in group.state.events]


def test_jobs_run_from_a_timeline():
    """Each starts at its time and is told at its end."""
    timeline = [
        {"at_s": 5, "index_rebuild": {"gb": 2, "maxdop": 8}},
        {"at_s": 5, "node": "sql2", "integrity_check": {"gb": 5}},
        {"at_s": 40, "seeding": {"to": "sql2", "gb": 5, "compression": True}},
    ]
    table = {"settings": {"duration_s": 80, "warmup_s": 5}, "ag": {"replicas": 2}, "timeline": timeline}
    names = [event["event"] for event in simulate(scenario_from(table, "test"))["events"]]
    assert sorted(names) == sorted([*JOB_NAMES, *(f"{name}_ended" for name in JOB_NAMES)])


JOB_NAMES = ("index_rebuild", "integrity_check", "seeding")


@pytest.mark.parametrize(
    ("replicas", "name", "value", "message"),
    [
        (1, "index_rebuild", {"max_dop": 4}, "did you mean 'maxdop'"),
        (1, "index_rebuild", {"maxdop": -1}, "maxdop=-1 must be >= 0"),
        (1, "index_rebuild", {"online": 1}, "online=1 must be true or false"),
        (1, "index_rebuild", {"online": False, "resumable": True}, "resumable=true goes with online=true"),
        (1, "index_rebuild", {"resumable": True}, "needs version 2017 or later, not 2016 RTM"),
        (2, "index_rebuild", {"logged": "minimal"}, "needs a standalone server, and there are 2 replicas"),
        (1, "index_rebuild", {"cached": 2}, "cached=2 must be <= 1"),
        (1, "integrity_check", 3, "integrity_check=3 must be a table or true"),
        (2, "seeding", {"to": "sql9"}, "did you mean 'sql"),
        (2, "seeding", {"to": "sql1"}, "to='sql1' must be a secondary"),
        (2, "seeding", {"to": 2}, "to=2 must be the name of a node"),
        (2, "seeding", {"to": "sql2", "ratio": 0.5}, "ratio=0.5 must be >= 1"),
    ],
)
def test_a_job_that_cannot_be_is_refused(replicas, name, value, message):
    """Key, value, limit and remedy; nothing starts."""
    group = flow(replicas, version="2016 RTM")
    with pytest.raises(UsageError, match=message):
        group.change(**{name: value})
    assert not group.state.jb.any()


def test_a_node_has_one_job_on_its_data_volume():
    """The second is refused, by what runs."""
    group = flow(2)
    group.change("sql2", integrity_check=True)
    with pytest.raises(UsageError, match="a integrity check of the data volume of sql2 runs"):
        group.change(seeding={"to": "sql2"})
    assert not group.state.jb[0].any()
