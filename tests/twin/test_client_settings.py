"""Settings reach the engine: -k, TARGET_RECOVERY_TIME, restarts, snapshots, links."""

import contextlib
import os
import signal

import psutil
import pytest
from twin_client import PROFILE, Link, fails, run, until

from aglab.core.paths import bundle_path
from aglab.twin import spawn_child


def pages(link, name):
    """Total of a Buffer Manager counter on sql1."""
    return link.value(f"SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = '{name}'")


def test_target_recovery_time_moves_pages_between_writers(own):
    """Indirect checkpoints write through the background writer, automatic ones through the checkpoint; both views agree."""
    own.sql("EXEC twin.run_workload @seconds = 120")
    assert pages(own, "Background writer pages/sec") > 0
    checkpointed = pages(own, "Checkpoint pages/sec")
    own.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS")
    written = pages(own, "Background writer pages/sec")
    for node in ("sql1", "sql2", "sql3"):
        assert own.value("SELECT target_recovery_time_in_seconds FROM sys.databases WHERE name = N'OLTP'", node) == 0
    own.sql("EXEC twin.run_workload @seconds = 300")
    assert pages(own, "Checkpoint pages/sec") > checkpointed
    assert pages(own, "Background writer pages/sec") == pytest.approx(written, rel=0.05)


def test_restart_with_k_reaches_errorlog_and_engine(own):
    """-k750 stands in the errorlog's startup parameters and caps checkpoint writes at 96,000 pages a second."""
    own.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS")
    own.sql("EXEC twin.run_workload @seconds = 400")
    key = "SQLServer:Buffer Manager\\Checkpoint pages/sec"
    free = max(row[key] for row in own.rows("EXEC twin.recording @seconds = 300") if row["node"] == "sql1")
    own.sql("EXEC twin.restart_node @node = 'sql1', @startup_options = '-k750 -T1204'", node="sql2")
    log = own.rows("EXEC sys.sp_readerrorlog 0, 1, N'startup parameters'")
    assert len(log) == 1 and "-k750" in log[0]["Text"] and "-T1204" in log[0]["Text"]
    assert pages(own, "Checkpoint pages/sec") == 0
    own.sql("EXEC twin.run_workload @seconds = 400")
    throttled = max(row[key] for row in own.rows("EXEC twin.recording @seconds = 300") if row["node"] == "sql1")
    assert free > 96_000 * 1.02 and 0 < throttled <= 96_000 * 1.001


def test_restart_drops_clients_and_answers_its_caller(own):
    """A restart ends other sessions of that node, rolls back their work, and answers the one who asked, even on that node."""
    own.sql("CREATE TABLE dbo.r (id int)", database="OLTP")
    with contextlib.closing(own.connect(database="OLTP")) as victim:
        run(victim, "BEGIN TRAN; INSERT INTO dbo.r VALUES (1)")
        own.sql("EXEC twin.restart_node @node = 'sql1'")
        fails(victim, "SELECT 1")
    until(lambda: own.rows("SELECT id FROM dbo.r", database="OLTP") == [])


def test_snapshot_and_restore_through_sql(own):
    """A class resets to a chapter's start: rows, settings and clock come back."""
    own.sql("CREATE TABLE dbo.s (id int); INSERT INTO dbo.s VALUES (1)", database="OLTP")
    own.sql("EXEC twin.snapshot @name = 'start'")
    clock = own.value("EXEC twin.status")
    own.sql("INSERT INTO dbo.s VALUES (2); ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS", database="OLTP")
    own.sql("EXEC twin.run_workload @seconds = 600")
    own.sql("EXEC twin.restore @name = 'start'")
    assert own.rows("SELECT id FROM dbo.s", database="OLTP") == [{"id": 1}] and own.value("EXEC twin.status") == clock
    assert own.value("SELECT target_recovery_time_in_seconds FROM sys.databases WHERE name = N'OLTP'") == 60


def test_cut_and_heal_a_link(own):
    """A cut replica is DISCONNECTED and NOT SYNCHRONIZING, its queue grows; healed it catches up, user rows too."""
    own.sql("CREATE TABLE dbo.c (id int)", database="OLTP")
    own.sql("EXEC twin.cut @node = 'sql3'")
    state = """SELECT d.synchronization_state_desc AS s, d.log_send_queue_size AS q FROM sys.dm_hadr_database_replica_states AS d
               JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id WHERE r.replica_server_name = 'sql3'"""
    own.sql("INSERT INTO dbo.c VALUES (1)", database="OLTP")
    own.sql("EXEC twin.run_workload @seconds = 5")
    row = own.rows(state)[0]
    assert row["s"] == "NOT SYNCHRONIZING" and row["q"] > 0
    assert own.rows("SELECT id FROM dbo.c", node="sql3", database="OLTP") == []
    own.sql("EXEC twin.heal @node = 'sql3'")
    own.sql("EXEC twin.advance @seconds = 60")
    assert own.rows(state) == [{"s": "SYNCHRONIZED", "q": 0}]
    assert own.rows("SELECT id FROM dbo.c", node="sql3", database="OLTP") == [{"id": 1}]


def test_the_steps_of_chapter_16_run(own):
    """Every visible T-SQL step of the first chapter runs as it is printed."""
    own.sql("EXEC twin.start_workload")
    for path in sorted(bundle_path("labs", "16-checkpoint-throttle").glob("*.sql")):
        with contextlib.closing(own.connect()) as connection:
            sets = run(connection, path.read_text(encoding="utf-8"))
            assert sets and all(rows for rows in sets), path.name


def test_a_killed_process_keeps_what_was_committed(tmp_path):
    """Rows, settings and startup options that were acknowledged are there after the process was killed without a word."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        link.sql("CREATE TABLE dbo.k (id int NOT NULL PRIMARY KEY, name nvarchar(30))", database="OLTP")
        link.sql("EXEC twin.restart_node @node = 'sql1', @startup_options = '-k750'", node="sql2")
        link.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS")
        for number in range(20):
            link.sql("INSERT INTO dbo.k VALUES (?, ?)", database="OLTP", parameters=(number, f"größe {number}"))
        open_work = link.connect(database="OLTP")
        run(open_work, "BEGIN TRAN; INSERT INTO dbo.k VALUES (99, N'never committed')")
        psutil.Process(twin.process_id).kill()
        with contextlib.suppress(Exception):
            open_work.close()
    with spawn_child(tmp_path / "s") as twin:
        link = Link(twin)
        rows = link.rows("SELECT id, name FROM dbo.k ORDER BY id", database="OLTP")
        assert rows == [{"id": number, "name": f"größe {number}"} for number in range(20)]
        assert link.rows("SELECT id FROM dbo.k ORDER BY id", node="sql3", database="OLTP") == [
            {"id": number} for number in range(20)
        ]
        assert link.value("SELECT target_recovery_time_in_seconds FROM sys.databases WHERE name = N'OLTP'") == 0
        assert link.rows("EXEC sp_readerrorlog 0, 1, N'-k750'")


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is how a POSIX system ends a process")
def test_termination_saves(tmp_path):
    """A terminated twin saves before it goes: the clock too."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        Link(twin).sql("EXEC twin.advance @seconds = 1234")
        os.kill(twin.process_id, signal.SIGTERM)
        psutil.Process(twin.process_id).wait(20)
    with spawn_child(tmp_path / "s") as twin:
        assert Link(twin).value("EXEC twin.status") == 1234.0


def test_shutdown_through_sql(fresh):
    """EXEC twin.shutdown answers, then the process ends."""
    fresh.sql("EXEC twin.shutdown")
    until(lambda: not fresh.twin.alive, 20)
