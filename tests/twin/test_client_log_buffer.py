"""Persistent log buffer, delayed durability, hybrid buffer pool, single-user mode: what clients see and what the engine does."""

import pytest
from twin_client import Link, fails, until

from aglab.twin import spawn_child

ADD = "ALTER DATABASE [OLTP] ADD LOG FILE (NAME = N'tail', FILENAME = N'/mnt/dax/tail.ldf', SIZE = 179200KB, FILEGROWTH = 0)"
BUFFERS = "SELECT name, size, growth FROM sys.master_files WHERE database_id = DB_ID(N'OLTP') AND is_persistent_log_buffer = 1"
WRITELOG = "SELECT waiting_tasks_count AS n, wait_time_ms AS ms FROM sys.dm_os_wait_stats WHERE wait_type = 'WRITELOG'"
LOG_WRITES = """SELECT s.file_id, s.num_of_writes AS n, s.num_of_bytes_written AS b
                FROM sys.dm_io_virtual_file_stats(DB_ID(N'OLTP'), NULL) AS s
                JOIN sys.database_files AS f ON f.file_id = s.file_id WHERE f.type_desc = 'LOG' ORDER BY s.file_id"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A stand-alone server with persistent memory."""
    with spawn_child(tmp_path_factory.mktemp("pmem") / "s", profile="hpe-dl380-gen9-nvdimm", bare=True) as twin:
        made = Link(twin)
        made.sql("ALTER DATABASE [OLTP] SET TARGET_RECOVERY_TIME = 0 SECONDS")
        made.sql("EXEC twin.snapshot @name = 'as_made'")
        yield made


@pytest.fixture
def pmem(server):
    """That server as new."""
    server.sql("EXEC twin.restore @name = 'as_made'")
    return server


def refused(link, statement, says):
    """The statement fails with these words, in OLTP."""
    connection = link.connect(database="OLTP")
    try:
        assert says in fails(connection, statement)
    finally:
        connection.close()


def commit_ms(link, node="sql1"):
    """WRITELOG for each commit of 20 s of load."""
    before = link.rows(WRITELOG, node)[0]
    link.sql("EXEC twin.run_workload @seconds = 20", node)
    after = link.rows(WRITELOG, node)[0]
    return (after["ms"] - before["ms"]) / max(1, after["n"] - before["n"])


def test_a_log_file_on_the_dax_volume_is_a_log_buffer(pmem):
    """20 MB whatever was asked; WRITELOG falls to microseconds; full blocks go to the old file; a restart changes nothing."""
    slow = commit_ms(pmem)
    first = pmem.rows(LOG_WRITES, database="OLTP")
    pmem.sql(ADD)
    assert pmem.rows(BUFFERS) == [{"name": "tail", "size": 2560, "growth": 0}]
    assert commit_ms(pmem) < 0.05 * slow and slow > 0.2
    log, buffer = pmem.rows(LOG_WRITES, database="OLTP")
    block = (log["b"] - first[0]["b"]) / (log["n"] - first[0]["n"])
    assert 55_000 < block < 62_000 and first[0]["b"] / first[0]["n"] < 40_000
    assert buffer["n"] == 0
    assert any("tail.ldf" in row["Text"] for row in pmem.rows("EXEC sys.sp_readerrorlog 0, 1, N'persistent log buffer'"))
    pmem.sql("EXEC twin.restart_node @node = 'sql1'")
    assert commit_ms(pmem) < 0.05 * slow


def test_a_buffer_is_drained_in_single_user_mode_before_it_goes(pmem):
    """REMOVE FILE needs SINGLE_USER, which the load's users keep it from; they are shut out, and come back with MULTI_USER."""
    pmem.sql(ADD)
    pmem.sql("EXEC twin.start_workload")
    refused(pmem, "ALTER DATABASE [OLTP] REMOVE FILE tail", "single-user mode")
    refused(pmem, "SET LOCK_TIMEOUT 1000; ALTER DATABASE [OLTP] SET SINGLE_USER", "a lock could not be placed on database 'OLTP'")
    refused(pmem, "ALTER DATABASE [OLTP] SET SINGLE_USER WITH NO_WAIT", "while other users are using the database 'OLTP'")
    pmem.sql("ALTER DATABASE [OLTP] SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
    done = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Batch Requests/sec'"
    alone = pmem.value(done)
    pmem.sql("WAITFOR DELAY '00:00:10'")
    assert pmem.value(done) - alone < 10
    pmem.sql("ALTER DATABASE [OLTP] REMOVE FILE tail; ALTER DATABASE [OLTP] SET MULTI_USER")
    pmem.sql("WAITFOR DELAY '00:00:10'")
    assert pmem.value(done) - alone > 10_000 and pmem.rows(BUFFERS) == []
    pmem.sql("EXEC twin.stop_workload")
    assert commit_ms(pmem) > 0.2


def test_the_option_of_later_versions_makes_and_removes_one_too(pmem):
    """PERSISTENT_LOG_BUFFER = ON names a directory on a DAX volume; OFF drains and removes; another directory is refused."""
    refused(
        pmem, "ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = ON (DIRECTORY_NAME = '/var/opt/mssql/data')", "direct access"
    )
    refused(pmem, "ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = ON", "Incorrect syntax near 'PERSISTENT_LOG_BUFFER'")
    pmem.sql("ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = ON (DIRECTORY_NAME = '/mnt/dax')")
    assert [row["size"] for row in pmem.rows(BUFFERS)] == [2560]
    pmem.sql("ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = OFF")
    assert pmem.rows(BUFFERS) == []


def test_what_the_documentation_rules_out_is_refused(pmem):
    """A second buffer; encryption before or after; a drive that a Linux server has not (5133); nothing is left behind."""
    refused(pmem, ADD.replace("/mnt/dax/", "K:\\"), r'Directory lookup for the file "K:\tail.ldf" failed')
    pmem.sql(ADD)
    refused(pmem, ADD.replace("tail", "second"), "has a persistent log buffer already")
    refused(pmem, "ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = ON (DIRECTORY_NAME = '/mnt/dax')", "already")
    refused(pmem, "ALTER DATABASE [OLTP] SET ENCRYPTION ON", "which transparent data encryption excludes")
    pmem.sql("CREATE MASTER KEY; CREATE CERTIFICATE tde WITH SUBJECT = N'Keys of databases'")
    pmem.sql("CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE tde", database="OLTP")
    pmem.sql("ALTER DATABASE [OLTP] SET PERSISTENT_LOG_BUFFER = OFF; ALTER DATABASE [OLTP] SET ENCRYPTION ON")
    refused(pmem, ADD, "transparent data encryption cannot have a persistent log buffer")
    files = "SELECT name FROM sys.database_files ORDER BY file_id"
    assert [row["name"] for row in pmem.rows(files, database="OLTP")] == ["OLTP", "OLTP_log"]


def test_an_ordinary_volume_makes_an_ordinary_log_file(pmem):
    """Elsewhere ADD LOG FILE keeps the size it was asked for, and commits are no quicker."""
    slow = commit_ms(pmem)
    pmem.sql(ADD.replace("/mnt/dax", "/var/opt/mssql/data"))
    assert pmem.rows(BUFFERS) == [] and commit_ms(pmem) == pytest.approx(slow, rel=0.1)
    size = "SELECT size FROM sys.database_files WHERE name = N'tail'"
    assert pmem.value(size, database="OLTP") == 179200 // 8


def test_delayed_durability_takes_the_wait_away_without_a_device(pmem):
    """FORCED: no commit waits; ALLOWED changes nothing for a load that does not ask; both reach sys.databases."""
    slow = commit_ms(pmem)
    pmem.sql("ALTER DATABASE [OLTP] SET DELAYED_DURABILITY = ALLOWED")
    assert commit_ms(pmem) == pytest.approx(slow, rel=0.1)
    pmem.sql("ALTER DATABASE [OLTP] SET DELAYED_DURABILITY = FORCED")
    assert pmem.value("SELECT delayed_durability_desc FROM sys.databases WHERE name = N'OLTP'") == "FORCED"
    assert commit_ms(pmem) == 0
    pmem.sql("ALTER DATABASE [OLTP] SET DELAYED_DURABILITY = DISABLED")
    assert commit_ms(pmem) == pytest.approx(slow, rel=0.1)


def test_hybrid_buffer_pool_is_configured_now_and_in_force_after_a_restart(pmem):
    """is_configured follows the statement, is_enabled the next start; the database option has its own column."""
    pool = "SELECT is_configured, is_enabled FROM sys.server_memory_optimized_hybrid_buffer_pool_configuration"
    pmem.sql("ALTER SERVER CONFIGURATION SET MEMORY_OPTIMIZED HYBRID_BUFFER_POOL = ON")
    assert pmem.rows(pool) == [{"is_configured": True, "is_enabled": False}]
    pmem.sql("EXEC twin.restart_node @node = 'sql1'")
    assert pmem.rows(pool) == [{"is_configured": True, "is_enabled": True}]
    pmem.sql("ALTER DATABASE [OLTP] SET MEMORY_OPTIMIZED = OFF")
    assert pmem.value("SELECT is_memory_optimized_enabled FROM sys.databases WHERE name = N'OLTP'") is False
    refused(pmem, "ALTER SERVER CONFIGURATION SET FAILOVER CLUSTER PROPERTY VerboseLogging = 1", "does not implement")


def test_a_database_whose_buffer_is_gone_waits_for_it(pmem):
    """On a machine without the volume it is RECOVERY PENDING and nobody gets in; back on the first it is online and quick."""
    pmem.sql(ADD)
    quick = commit_ms(pmem)
    pmem.sql("EXEC twin.set_profile @profile = 'hpe-dl380-gen9-ssd'")
    state = "SELECT state_desc FROM sys.databases WHERE name = N'OLTP'"
    assert pmem.value(state) == "RECOVERY_PENDING"
    with pytest.raises(Exception, match="cannot be opened due to inaccessible files"):
        pmem.sql("USE OLTP")
    with pytest.raises(Exception, match=r"Login failed|Cannot open database"):
        pmem.connect(database="OLTP")
    assert pmem.rows("EXEC sys.sp_readerrorlog 0, 1, N'tail.ldf', N'operating system error'")
    transactions = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Batch Requests/sec'"
    before = pmem.value(transactions)
    pmem.sql("EXEC twin.run_workload @seconds = 10")
    assert pmem.value(transactions) - before < 10
    pmem.sql("EXEC twin.set_profile @profile = 'hpe-dl380-gen9-nvdimm'")
    assert pmem.value(state) == "ONLINE" and commit_ms(pmem) == pytest.approx(quick, rel=0.2)


def test_on_a_primary_of_a_group_only_secondaries_use_it(tmp_path):
    """The file is made on every replica with a warning; the primary's WRITELOG stays; a secondary hardens sooner."""
    with spawn_child(tmp_path / "s", profile="hpe-dl380-gen9-nvdimm") as twin:
        link = Link(twin)
        delay = """SELECT SUM(CASE WHEN counter_name LIKE 'Transaction Delay%' THEN cntr_value END) * 1.0
                   / SUM(CASE WHEN counter_name LIKE 'Mirrored Write%' THEN cntr_value END) AS ms
                   FROM sys.dm_os_performance_counters WHERE instance_name = 'OLTP'"""
        slow = commit_ms(link)
        before = link.value(delay)
        link.sql("EXEC twin.snapshot @name = 'plain'")
        link.sql(ADD)
        for node in ("sql1", "sql2", "sql3"):
            assert [row["name"] for row in link.rows(BUFFERS, node)] == ["tail"]
        link.sql("EXEC twin.restart_node @node = 'sql2'", "sql3")
        link.sql("WAITFOR DELAY '00:01:00'")
        assert commit_ms(link) == pytest.approx(slow, rel=0.25)
        assert link.value(delay) < before
        link.sql("EXEC sp_set_session_context N'external_cluster', N'yes'; ALTER AVAILABILITY GROUP ag1 FAILOVER", "sql2")
        until(lambda: link.rows("SELECT 1 AS one FROM sys.databases WHERE name = 'OLTP' AND state_desc = 'ONLINE'", "sql2"))
        link.sql("WAITFOR DELAY '00:01:00'", "sql2")
        assert commit_ms(link, "sql2") == pytest.approx(slow, rel=0.25), "the new primary waits for its log volume too"
