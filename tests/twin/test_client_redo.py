"""Redo as a client sees it: its threads and waits, a failover that waits for redo, a group without a cluster manager."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.lab.labs import cluster
from aglab.twin import spawn_child
from aglab.twin.cluster import checked_cluster_type

THREADS = "SELECT num_capture_threads, num_redo_threads, num_parallel_redo_threads FROM sys.dm_hadr_db_threads"
TASKS = "SELECT command, cpu_time, wait_type FROM sys.dm_exec_requests WHERE status = N'background'"
WAITS = "SELECT wait_type, wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_type LIKE N'%REDO%'"
QUEUE = "SELECT redo_queue_size, redo_rate, database_state_desc FROM sys.dm_hadr_database_replica_states WHERE is_local = 1"
TYPE = "SELECT cluster_type_desc FROM sys.availability_groups"


@pytest.fixture(scope="module")
def group():
    """A group without a cluster manager, two minutes after its load began."""
    with cluster(profile="hpe-dl380-gen9-ssd", cluster_type="NONE") as made:
        made.start_load()
        made.wait(120)
        made.snapshot("loaded")
        yield made


@pytest.fixture
def loaded(group):
    """The group as it was after two minutes."""
    group.restore("loaded")
    return group


def test_group_without_a_manager(loaded):
    """cluster_type is NONE, a planned FAILOVER is refused with its own error, and the restored group is still of this type."""
    assert loaded.sql(TYPE).value.upper() == "NONE"
    with pytest.raises(Exception, match="CLUSTER_TYPE = NONE"):
        loaded.sql("ALTER AVAILABILITY GROUP [ag1] FAILOVER;", "sql2")


def test_cluster_type_is_checked(tmp_path):
    """Only what a twin can form by itself; the process that is asked for more says so and is gone."""
    assert checked_cluster_type("NONE") == "NONE"
    with pytest.raises(UsageError, match="cluster type"):
        spawn_child(tmp_path / "s", cluster_type="WSFC")


def test_redo_threads_stand_on_secondaries(loaded):
    """One log capture thread on the primary; a redo thread and sixteen workers, half of 32 cores, on a secondary."""
    assert loaded.sql(THREADS, "sql1").table.iloc[0].tolist() == [1, 0, 0]
    assert loaded.sql(THREADS, "sql2").table.iloc[0].tolist() == [0, 1, 16]
    sums = loaded.sql("SELECT num_databases, num_hadr_threads FROM sys.dm_hadr_ag_threads", "sql1").table.iloc[0]
    assert sums.tolist() == [1, 3]  # one capture thread, and a send thread for each of two secondaries


def test_one_thread_is_busy_and_the_workers_wait(loaded):
    """At redo's limit the dispatching thread takes a whole processor; each worker waits nearly all the time."""
    tasks = loaded.sql(TASKS, "sql2").table.set_index("command")
    assert tasks.loc["DB STARTUP", "cpu_time"] == pytest.approx(120_000, rel=0.01)
    workers = tasks.loc["PARALLEL REDO TASK"]
    assert len(workers) == 16 and workers["cpu_time"].max() < 5_000
    waits = loaded.sql(WAITS, "sql2").table.set_index("wait_type")["wait_time_ms"]
    assert waits["PARALLEL_REDO_WORKER_WAIT_WORK"] > 0.9 * 16 * 120_000
    assert waits["REDO_THREAD_PENDING_WORK"] < 1_000
    assert loaded.sql(TASKS, "sql1").table.empty
    old = loaded.sql("SELECT cmd, cpu FROM sys.sysprocesses WHERE cmd LIKE N'DB STARTUP%'", "sql2").table
    assert old["cpu"].tolist() == [tasks.loc["DB STARTUP", "cpu_time"]]


def test_a_snapshot_keeps_the_recovery_queue(loaded):
    """What was queued when the snapshot was taken is queued again after a restore, though nobody had asked before."""
    assert loaded.sql(QUEUE, "sql2").table["redo_queue_size"].iloc[0] > 15_000_000


def test_idle_redo_waits_for_log(loaded):
    """Without load and with nothing queued it is the first thread that waits."""
    loaded.stop_load()
    loaded.wait(1000)
    before = loaded.sql(WAITS, "sql2").table.set_index("wait_type")["wait_time_ms"]
    loaded.wait(60)
    after = loaded.sql(WAITS, "sql2").table.set_index("wait_type")["wait_time_ms"]
    assert after["REDO_THREAD_PENDING_WORK"] - before["REDO_THREAD_PENDING_WORK"] == pytest.approx(60_000, rel=0.01)


def test_failover_waits_for_redo_as_long_as_the_queue_says(loaded):
    """A new primary is RECOVERING for redo_queue_size / redo_rate seconds, then takes rows."""
    queue_kb, rate_kb_s, _ = loaded.sql(QUEUE, "sql2").table.iloc[0]
    expected_s = queue_kb / rate_kb_s
    loaded.sql("ALTER AVAILABILITY GROUP [ag1] OFFLINE;", "sql1")
    loaded.sql("ALTER AVAILABILITY GROUP [ag1] FORCE_FAILOVER_ALLOW_DATA_LOSS;", "sql2")
    state = "SELECT state_desc FROM sys.databases WHERE name = N'OLTP'"
    assert loaded.sql(state, "sql2").value == "RECOVERING"
    loaded.wait(expected_s - 5)
    assert loaded.sql(state, "sql2").value == "RECOVERING"
    loaded.wait(10)
    assert loaded.sql(state, "sql2").value == "ONLINE"


def test_outage_client_measures_crash_and_forced_failover(loaded):
    """Verbs go on without the crashed node; the gap is the time without a primary; nothing that was in step is lost."""
    loaded.stop_load()
    loaded.wait(1000)
    with loaded.commit_client(1.0) as client:
        client.run(5)
        loaded.fault("crash", node="sql1")
        client.run(20, do={10: lambda: loaded.sql("ALTER AVAILABILITY GROUP [ag1] FORCE_FAILOVER_ALLOW_DATA_LOSS;", "sql2")})
        gap = client.outages().iloc[0]
        assert (gap["node_before"], gap["node_after"]) == ("sql1", "sql2")
        assert 8 <= gap["seconds"] <= 12
        assert client.lost("sql2") == []
    loaded.fault("start", node="sql1")
    assert loaded.sql("SELECT @@SERVERNAME", "sql1").value.lower() == "sql1"


def test_a_commit_takes_the_time_of_the_network(loaded):
    """One row on the primary: its own log at 0.05 ms, one round trip more at 10 ms."""
    with loaded.commit_client(0.5) as client:
        near = client.run(2)["latency_ms"].iloc[-1]
        loaded.fault("delay", rtt_us=10_000)
        far = client.run(2)["latency_ms"].iloc[-1]
    assert 0.2 < near < 2 and 10 < far < 12
