"""Settings of the way to the secondaries, of redo, of processors and of the log file."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, simulate, steady
from aglab.engine import layout as at
from aglab.engine.jit import plain
from aglab.engine.logfile import reuse_wait, vlfs_of
from aglab.engine.versions import redo_bytes_s, redo_workers
from aglab.scenario import Scenario


def base(replicas: int = 2, **settings) -> Scenario:
    """The paper's machine without noise."""
    return Scenario.default("hpe-dl380-gen9-ssd", replicas).with_settings({"noise": 0, "log_gb": 1e4, "k": 750, **settings})


def test_flow_control_bounds_what_goes_out_in_a_round_trip():
    """Beyond the gate a longer round trip sends less, and the queue of an asynchronous replica grows."""
    far = {"mode": "async", "rtt_us": 200_000, "constants.send_gate_messages": 100}
    flow = Flow(base(**far))
    flow.advance(20)
    message = flow.totals("sql1")["log_bytes_flushed"] / flow.totals("sql1")["log_flushes"]
    assert flow.gauges("sql2")["log_send_rate_kb_s"] * 1024 == pytest.approx(100 * message / 0.2, rel=0.05)
    assert flow.gauges("sql2")["log_send_queue_kb"] > 1e5
    free = Flow(base(**{**far, "constants.send_gate_messages": 0}))
    free.advance(20)
    assert free.gauges("sql2")["log_send_queue_kb"] < 1e4
    assert steady(base(rtt_us=0, **{"constants.send_gate_messages": 1})) == steady(
        base(rtt_us=0, **{"constants.send_gate_messages": 0})
    )


def test_lost_packets_bound_a_connection():
    """A hundredth of the loss, ten times the rate; none on a network without loss or distance."""
    network = base(loss=0.01, rtt_us=10_000).profile.network
    assert network.connection_bytes_s == pytest.approx(1460 / 0.01 * (1.5 / 0.01) ** 0.5)
    assert base(loss=0.0001, rtt_us=10_000).profile.network.connection_bytes_s == pytest.approx(10 * network.connection_bytes_s)
    assert base(loss=0.01, rtt_us=0).profile.network.connection_bytes_s == network.bytes_s
    lossy, clean = (steady(base(rtt_us=2000, loss=loss)).throughput_s for loss in (0.01, 0.0))
    assert lossy < 0.5 * clean


def test_compression_helps_a_thin_network_and_costs_processors():
    """Which replicas are compressed follows from version and mode."""
    thin = {"bandwidth_gbit_s": 0.5}
    off, on = (steady(base(**thin, log_stream_compression=choice)) for choice in ("off", "on"))
    assert on.throughput_s > 1.5 * off.throughput_s
    fat_off, fat_on = (steady(base(log_stream_compression=choice)) for choice in ("off", "on"))
    assert fat_on.throughput_s < fat_off.throughput_s
    assert steady(base(log_stream_compression="default")) == fat_off
    old = [steady(base(version="2014", log_stream_compression=choice)).throughput_s for choice in ("default", "on")]
    assert old[0] == old[1]
    queues = []
    for choice in ("off", "default"):
        flow = Flow(base(mode="async", log_stream_compression=choice, **thin))
        flow.advance(30)
        queues.append(flow.gauges("sql2")["log_send_queue_kb"])
    assert queues[1] < 0.5 * queues[0]


def test_commits_wait_for_the_secondaries_that_are_required():
    """With one of two cut off: one required goes on, two required stop; they go on when it is back in step."""
    for required, runs in ((1, True), (2, False)):
        flow = Flow(base(3, version="2022", required_synchronized_secondaries=required))
        flow.advance(10)
        before = flow.totals("sql1")["transactions"]
        flow.change("sql3", connected=False)
        flow.advance(10)
        assert (flow.totals("sql1")["transactions"] > 1.5 * before) == runs
        held = flow.totals("sql1")["transactions"]
        flow.change("sql3", connected=True)
        flow.advance(10)
        assert flow.totals("sql1")["transactions"] > held + 0.5 * before


@pytest.mark.parametrize(
    ("version", "cores", "databases", "workers"),
    [
        ("2014", 64, 1, 1),
        ("2016 RTM", 32, 1, 16),
        ("2017", 8, 1, 4),
        ("2019", 64, 6, 16),
        ("2019", 64, 7, 1),
        ("2017", 2, 1, 1),
        ("2022", 64, 4, 16),
    ],
)
def test_redo_workers_follow_version_cores_and_databases(version, cores, databases, workers):
    """At most 16 for a database and 100 for an instance; a shared pool since 2022."""
    scenario = base(version=version, cores=cores, redo_databases=databases)
    assert redo_workers(scenario) == workers
    alone = base(version=version, cores=cores)
    assert redo_bytes_s(scenario) <= redo_bytes_s(alone)


def test_the_database_beyond_the_thread_limit_redoes_with_one_thread():
    """It falls behind where the others keep up."""
    rates = []
    for databases in (1, 7):
        flow = Flow(base(version="2017", cores=64, redo_databases=databases, log_bytes_per_tx=2000))
        flow.advance(30)
        rates.append(flow.gauges("sql2")["redo_rate_kb_s"] * 1024)
    assert rates[0] > 100e6 and rates[1] == pytest.approx(45e6, rel=0.01)


def test_fewer_processors_and_local_memory():
    """Affinity and cap take capacity, pools of local memory save processor time; a cap does not slow one user alone."""
    full = steady(base(1)).throughput_s
    half, capped = steady(base(1, affinity_cores=16)), steady(base(1, cpu_cap=0.5))
    assert half.throughput_s == capped.throughput_s < 0.75 * full
    assert steady(base(1, memory_placement="local")).throughput_s > full
    one = {"users": 1, "cpu_us": 300}
    assert steady(base(1, cpu_cap=0.25, **one)).throughput_s == pytest.approx(steady(base(1, **one)).throughput_s, rel=0.01)
    run = Flow(base(1, cpu_cap=0.5)).run(20)
    assert 30 < run.series("% Processor Time", "sql1").mean() <= 50


def test_a_log_file_grows_and_its_users_wait_for_zeros():
    """Growth ends at the limit; larger steps are fewer stalls and fewer virtual log files; then the log is full."""
    found = {}
    for growth in (64, 1024):
        flow = Flow(base(1, version="2019", log_gb=1, log_growth_mb=growth, log_max_gb=60))
        flow.advance(60)
        totals = flow.totals("sql1")
        found[growth] = (totals["log_growths"], flow.gauges("sql1")["log_vlfs_grown"])
        assert flow.gauges("sql1")["log_size_kb"] * 1024 == pytest.approx(1e9 + totals["log_growths"] * growth * 1048576)
        assert totals["log_full_ms"] == 0 and flow.gauges("sql1")["percent_log_used"] <= 101
    assert found[64][0] > 10 * found[1024][0] and found[64][1] > found[1024][1]
    free = Flow(base(1, version="2019"))
    free.advance(60)
    assert totals["transactions"] < free.totals("sql1")["transactions"]
    instant = Flow(base(1, version="2022", log_gb=1, log_growth_mb=64))
    instant.advance(30)
    assert instant.state.st[0, at.S_STALL] == 0 < instant.totals("sql1")["log_growths"]


def test_virtual_log_files_are_counted_by_the_documented_rule():
    """By the increment and the size of the file, and by version up to 64 MB."""
    mb = 1048576.0
    counts = [plain(vlfs_of)(growth * mb, 512 * mb, 1.0) for growth in (32, 64, 512, 2048)]
    assert counts == [1, 4, 8, 16]
    assert plain(vlfs_of)(64 * mb, 128 * mb, 0.0) == 1


def test_a_full_log_says_why():
    """The run goes on, transactions wait, and the result names the reason."""
    scenario = base(1, log_gb=2, duration_s=60, warmup_s=0, target_recovery_s=1)
    result = simulate(scenario)
    assert result["log_reuse_wait"] == {"sql1": "LOG_BACKUP"}
    assert any("9002, log_reuse_wait_desc LOG_BACKUP" in note for note in result["warnings"])
    assert any("waited" in note and "for a full log" in note for note in result["warnings"])
    group = Flow(base(2, log_gb=5, log_backup_every_s=5, target_recovery_s=1))
    group.change("sql2", suspended=True)
    group.advance(120)
    assert reuse_wait(group, "sql1") == "AVAILABILITY_REPLICA" and group.totals("sql1")["log_full_ms"] > 0
    busy = Flow(base(1, log_backup_every_s=1, target_recovery_s=1, version="2017"))
    busy.change(index_rebuild={"gb": 500, "maxdop": 1})
    busy.advance(60)
    assert reuse_wait(busy, "sql1") == "ACTIVE_TRANSACTION"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"required_synchronized_secondaries": 2, "version": "2022"}, "must be <= 1, the secondaries there are"),
        ({"required_synchronized_secondaries": 1, "version": "2016"}, "needs version 2017 or later, not 2016"),
        ({"log_stream_compression": "yes"}, "log_stream_compression"),
        ({"redo_databases": 0}, "redo_databases=0 must be >= 1"),
        ({"log_gb": 5, "log_max_gb": 4}, "log_max_gb=4 must be >= log_file_gb=5"),
        ({"log_growth_mb": -1}, "log_growth_mb=-1 must be >= 0"),
        ({"affinity_cores": 64}, "affinity_cores=64 must be <= 32"),
        ({"cpu_cap": 0}, "cpu_cap=0 must be >= 0.01"),
        ({"loss": 0.5}, "loss=0.5 must be <= 0.2"),
        ({"memory_placement": "near"}, "memory_placement"),
        ({"constants.send_gate_messages": -1}, "must be >= 0"),
    ],
)
def test_what_cannot_be_is_refused(settings, message):
    """Field, value, limit."""
    with pytest.raises(UsageError, match=message):
        base(2, **settings)
