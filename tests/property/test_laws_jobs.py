"""Laws 12 and 13 for each job that shares the machine, over random machines, options and loads.

``AGLAB_LAW_EXAMPLES`` sets how many random cases each law tries.
"""

from __future__ import annotations

import dataclasses
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aglab.engine import Flow, steady
from aglab.engine.backup import Busy
from aglab.engine.job_rows import job_rate
from aglab.scenario import Scenario
from aglab.scenario.jobs import BackupJob
from aglab.scenario.maintenance import IndexRebuild, IntegrityCheck, Job, Seeding

_MANY = int(os.environ.get("AGLAB_LAW_EXAMPLES", "40"))
EXAMPLES = settings(max_examples=_MANY, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RUNS = settings(max_examples=max(1, _MANY // 4), deadline=None, suppress_health_check=[HealthCheck.too_slow])
TIGHT = 1e-6
SLACK = 0.01  # of time-stepped runs


@st.composite
def servers(draw) -> Scenario:
    """A random machine and load, alone or with secondaries."""
    return Scenario.default(replicas=draw(st.integers(1, 3))).with_settings(
        {
            "noise": 0.0,
            "users": draw(st.sampled_from([1, 7, 40, 150])),
            "cores": draw(st.sampled_from([2, 8, 32, 128])),
            "threads_per_core": draw(st.sampled_from([1, 2])),
            "ssds": draw(st.sampled_from([4, 6, 12])),
            "log_write_us": draw(st.floats(20, 1500)),
            "hardware.log.write_mb_s": draw(st.floats(40, 2000)),
            "rtt_us": draw(st.floats(0, 3000)),
            "bandwidth_gbit_s": draw(st.floats(1, 80)),
            "cpu_us": draw(st.floats(50, 1500)),
            "think_us": draw(st.floats(0, 10000)),
            "log_bytes_per_tx": draw(st.floats(200, 20000)),
            "cold_touches_per_tx": draw(st.floats(0, 5)),
            "mode": draw(st.sampled_from(["sync", "async"])),
            "version": draw(st.sampled_from(["2014", "2017", "2022"])),
            "log_gb": 1e5,
        }
    )


jobs: st.SearchStrategy[Job] = st.one_of(
    st.builds(
        IndexRebuild,
        maxdop=st.sampled_from([0, 1, 4, 64]),
        cached=st.floats(0, 1),
        resumable=st.booleans(),
        logged=st.sampled_from(["full", "minimal"]),
    ),
    st.builds(IntegrityCheck, maxdop=st.sampled_from([0, 1, 16]), physical_only=st.booleans()),
    st.builds(Seeding, to=st.just("sql2"), compression=st.booleans(), ratio=st.sampled_from([0.0, 1.0, 6.0])),
    st.builds(BackupJob, restore=st.just(True), devices=st.integers(1, 8), compression=st.booleans()),
    st.builds(BackupJob, volume=st.just("log"), compression=st.booleans()),
)
busies = st.builds(Busy, cpu=st.floats(0, 0.95), data=st.floats(0, 0.9))


@EXAMPLES
@given(servers(), jobs, busies)
def test_law_12_a_job_obeys_each_limit(scenario, job, busy):
    """Its rate is the least of its limits, and none of them is more than the part can do."""
    profile = scenario.profile
    found = job_rate(profile, job, busy)
    assert 0 < found.rate_mb_s == min(found.limits.values()) == found.limits[found.limit]
    assert found.cpu_cores <= profile.cpu.cores * profile.cpu.ht_yield * (1 + TIGHT)
    if isinstance(job, IndexRebuild):
        assert found.rate_mb_s <= profile.data.write_bytes_s / 1e6 * (1 + TIGHT)
        if job.logged == "full":
            assert found.rate_mb_s <= profile.log.write_bytes_s / 1e6
    if isinstance(job, Seeding):
        packed = job.ratio or 4.0
        assert found.rate_mb_s <= profile.network.bytes_s / 1e6 * (packed if job.compression else 1.0) * (1 + TIGHT)
        assert found.rate_mb_s <= profile.data.write_bytes_s / 1e6 * (1 + TIGHT)


@EXAMPLES
@given(servers(), jobs, busies)
def test_law_12_a_less_busy_machine_never_slows_a_job(scenario, job, busy):
    """Nor do more threads, as long as they do not get in each other's way; where they do, no job is faster."""
    rate = job_rate(scenario.profile, job, busy).rate_mb_s
    apart = {"rebuild_crosstalk": 0.0}
    assert job_rate(scenario.profile, job).rate_mb_s >= rate * (1 - TIGHT)
    if isinstance(job, (IndexRebuild, IntegrityCheck)) and job.maxdop:
        more = dataclasses.replace(job, maxdop=job.maxdop * 2)
        alone = job_rate(scenario.profile, job, busy, apart).rate_mb_s
        assert rate <= alone * (1 + TIGHT)
        assert job_rate(scenario.profile, more, busy, apart).rate_mb_s >= alone * (1 - TIGHT)


@EXAMPLES
@given(servers(), jobs)
def test_law_13_a_job_never_raises_throughput(scenario, job):
    """What the load gets beside a job is at most what it gets alone, and never nothing."""
    alone = steady(scenario)
    beside = steady(scenario, job=job)
    assert 0 < beside.throughput_s <= alone.throughput_s * (1 + TIGHT)
    assert beside.cpu_util < 1 and beside.data_util < 1
    idle = job_rate(scenario.profile, job, overrides=scenario.overrides).rate_mb_s
    assert 0 < beside.backup_mb_s <= idle * (1 + TIGHT)


@RUNS
@given(servers(), jobs)
def test_law_13_a_job_never_raises_throughput_of_a_run(scenario, job):
    """The same over a run of half a minute, where log is conserved with the job's log in it."""
    if (isinstance(job, Seeding) and len(scenario.replicas) < 2) or getattr(job, "resumable", False):
        job = IntegrityCheck()
    if len(scenario.replicas) > 1 and getattr(job, "logged", "") == "minimal":
        job = dataclasses.replace(job, logged="full")
    name = {"IndexRebuild": "index_rebuild", "IntegrityCheck": "integrity_check", "Seeding": "seeding"}
    alone, beside = Flow(scenario), Flow(scenario)
    for flow in (alone, beside):
        flow.advance(2)
    beside.change(**{name.get(type(job).__name__, "backup"): job})
    for flow in (alone, beside):
        flow.advance(28)
    assert beside.totals("sql1")["transactions"] <= alone.totals("sql1")["transactions"] * (1 + SLACK)
    primary = beside.totals("sql1")
    for node in beside.names[1:]:
        now = beside.gauges(node)
        sent = primary["log_bytes_flushed"] - now["log_send_queue_kb"] * 1024
        assert abs(beside.totals(node)["log_bytes_received"] - sent) <= 1e-9 * sent + 1e-3
        assert now["log_send_queue_kb"] >= 0 and now["recovery_queue_kb"] >= 0
