"""The 59 commands, scripts and messages that the papers print or describe: each T-SQL row as corrected and as printed.

``ROWS`` gives every row its test here, a test in another file, or why it is no T-SQL. Ids are those of the project's inventory:
paper (000 to 004) and number.
"""

import contextlib
import re
from pathlib import Path

import pytest
from twin_client import fails, run

HERE = Path(__file__).parents[2]
PASSWORD = "Passwd1234"

WINDOWS = "a Windows or Linux tool, no T-SQL"
MACHINE = "hardware, firmware or network: no T-SQL"
LOAD = "a load generator outside the server: the twin's own load stands for it"
ROWS = {
    "C000-01": "test_error_41105_is_in_sys_messages",
    "C000-02": "tests/twin/test_client_backup.py::test_the_printed_script_runs_and_leaves_its_history",
    "C000-03": "test_log_backup_frees_the_log",
    "C000-04": "test_transfer_size_has_its_limit",
    "C000-05": WINDOWS,
    "C000-06": "test_scoped_maxdop_leaves_the_instance_alone",
    "C000-07": "test_mixed_pages_are_off_by_default",
    "C000-08": "test_autogrow_all_files",
    "C000-09": "test_sp_configure_list",
    "C000-10": "tests/twin/test_client_settings.py::test_restart_with_k_reaches_errorlog_and_engine",
    "C000-11": WINDOWS,
    "C000-12": MACHINE,
    "C000-13": MACHINE,
    "C000-14": WINDOWS,
    "C000-15": "tests/twin/test_client_build.py::test_seeding_takes_the_time_that_its_bytes_take",
    "C000-16": "test_a_basic_group_takes_one_database",
    "C000-17": "tests/twin/test_client_build.py::test_seeding_needs_permission_and_an_empty_place",
    "C000-18": "test_redo_threads_in_sysprocesses",
    "C000-19": "test_counters_of_the_tables",
    "C000-20": "tests/twin/test_workload_rows.py::test_a_deadlock_is_written_where_a_dba_looks",
    "C000-21": "tests/twin/test_client_settings.py::test_target_recovery_time_moves_pages_between_writers",
    "C001-01": WINDOWS,
    "C001-02": WINDOWS,
    "C001-03": "test_trace_flags_are_shown",
    "C001-04": "test_a_second_log_file",
    "C001-05": WINDOWS,
    "C001-06": WINDOWS,
    "C001-07": WINDOWS,
    "C001-08": WINDOWS,
    "C001-09": WINDOWS,
    "C001-10": WINDOWS,
    "C001-11": WINDOWS,
    "C001-12": "test_instance_practice",
    "C001-13": LOAD,
    "C002-01": "test_memory_optimized_table_of_the_blog",
    "C002-02": "test_memory_optimized_table_of_the_blog",
    "C002-03": "test_native_procedure_of_the_blog",
    "C002-04": "test_counters_of_the_tables",
    "C002-05": "test_log_file_statistics",
    "C003-01": "test_workload_login",
    "C003-02": "test_resource_governor_scripts",
    "C003-03": "test_resource_governor_scripts",
    "C003-04": "test_classifier_as_printed_and_as_corrected",
    "C003-05": "test_batch_requests_loop",
    "C003-06": "test_six_backup_scenarios",
    "C003-07": "test_online_rebuild_sweep",
    "C003-08": "test_host_settings_in_tsql",
    "C003-09": WINDOWS,
    "C003-10": "test_reset_by_restore",
    "C003-11": WINDOWS,
    "C004-01": "test_top_queries_as_printed_and_as_corrected",
    "C004-02": "tests/twin/test_client_traces.py::test_the_four_profiler_events",
    "C004-03": "tests/tsql/test_partitions.py",
    "C004-04": "test_file_layout",
    "C004-05": MACHINE,
    "C004-06": LOAD,
    "C004-07": "test_log_file_statistics",
    "C004-08": "test_growth_settings",
    "C004-09": MACHINE,
}


def test_every_row_has_its_test_or_its_reason():
    """59 rows; a test that is named exists."""
    assert len(ROWS) == 59
    for row, kept in ROWS.items():
        if kept.startswith("test_"):
            assert kept in globals(), (row, kept)
        elif kept.startswith("tests/"):
            path, _, name = kept.partition("::")
            assert f"def {name}" in (HERE / path).read_text(encoding="utf-8"), (row, kept)


def refused(link, text, database="master"):
    """Number, severity and words of the error that a statement ends with, as TRY ... CATCH sees it."""
    with contextlib.closing(link.connect(database=database)) as connection:
        return fails(connection, text)


def caught(link, text, database="master"):
    """(number, severity) of an error inside a statement."""
    quoted = text.replace("'", "''")
    inside = f"BEGIN TRY EXEC (N'{quoted}') END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS n, ERROR_SEVERITY() AS s END CATCH"
    row = link.rows(inside, database=database)[0]
    return row["n"], row["s"]


# -- 000 -------------------------------------------------------------------------------------------------------------------
def test_error_41105_is_in_sys_messages(link):
    """The id, its severity, its words, and the remedy: disable, then enable."""
    row = link.rows("SELECT severity, text FROM sys.messages WHERE message_id = 41105 AND language_id = 1033")[0]
    assert row["severity"] == 16
    text = row["text"]
    assert "The resource type is not registered in the WSFC cluster." in text
    assert text.index("disable") < text.index("enable Always On")


def test_log_backup_frees_the_log(own):
    """As printed; it needs a full backup before it (4214), and then nothing waits for a log backup."""
    own.sql("CREATE DATABASE chain")
    script = "BACKUP LOG {} TO DISK = 'NUL:' WITH MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 16, COMPRESSION, CHECKSUM, STATS = 10"
    assert "BACKUP LOG cannot be performed because there is no current database backup" in refused(own, script.format("chain"))
    own.sql("EXEC twin.run_workload @seconds = 60")
    waits = "SELECT log_reuse_wait_desc AS w FROM sys.databases WHERE name = N'OLTP'"
    assert own.value(waits) == "LOG_BACKUP"
    own.sql("BACKUP DATABASE OLTP TO DISK = 'NUL:'")
    own.sql(script.format("OLTP"))
    assert own.value(waits) != "LOG_BACKUP"


def test_transfer_size_has_its_limit(own):
    """Eight devices, 4 MB, 256 buffers run; a transfer size beyond 4 MB is refused."""
    devices = ", ".join(["DISK = 'NUL:'"] * 8)
    own.sql(f"BACKUP DATABASE master TO {devices} WITH MAXTRANSFERSIZE = 4194304, BUFFERCOUNT = 256")
    assert "not within range for the MaxTransferSize parameter" in refused(
        own, "BACKUP DATABASE master TO DISK = 'NUL:' WITH MAXTRANSFERSIZE = 8388608"
    )


def test_scoped_maxdop_leaves_the_instance_alone(own):
    """MAXDOP 1 in the database, 0 in sp_configure."""
    own.sql("ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 1", database="OLTP")
    scoped = "SELECT value FROM sys.database_scoped_configurations WHERE name = N'MAXDOP'"
    assert own.value(scoped, database="OLTP") == 1 and own.value(scoped, database="master") == 0
    assert own.value("SELECT value_in_use FROM sys.configurations WHERE name = N'max degree of parallelism'") == 0
    assert caught(own, "ALTER DATABASE SCOPED CONFIGURATION SET NOSUCH = 1", "OLTP")[0] == 102


def test_mixed_pages_are_off_by_default(own):
    """The paper says ON by default; the catalogue says off, and on when it is set."""
    mixed = "SELECT is_mixed_page_allocation_on AS m FROM sys.databases WHERE name = N'OLTP'"
    assert own.value(mixed) is False
    own.sql("ALTER DATABASE OLTP SET MIXED_PAGE_ALLOCATION ON")
    assert own.value(mixed) is True


def test_autogrow_all_files(own):
    """MODIFY FILEGROUP ... AUTOGROW_ALL_FILES is kept, and an unknown filegroup is refused."""
    own.sql("ALTER DATABASE OLTP MODIFY FILEGROUP [PRIMARY] AUTOGROW_ALL_FILES")
    assert own.value("SELECT is_autogrow_all_files FROM sys.filegroups WHERE name = N'PRIMARY'", database="OLTP") is True
    assert caught(own, "ALTER DATABASE OLTP MODIFY FILEGROUP nosuch AUTOGROW_ALL_FILES")[0] == 5014


SETTINGS = {
    "backup checksum default": 1,
    "remote access": 1,
    "remote admin connections": 1,
    "min server memory (MB)": 120000,
    "max server memory (MB)": 120000,
    "backup compression default": 1,
    "max degree of parallelism": 0,
}


def test_sp_configure_list(own):
    """Each setting of the list is configured, comes in use with RECONFIGURE, and the two backup defaults act on a backup."""
    assert "may be an advanced option" in refused(own, "EXEC sp_configure 'max server memory (MB)', 120000")
    own.sql("EXEC sp_configure 'show advanced options', 1; RECONFIGURE")
    for name, value in SETTINGS.items():
        own.sql(f"EXEC sp_configure '{name}', {value}")
    own.sql("RECONFIGURE")
    kept = {row["name"]: (row["value"], row["value_in_use"]) for row in own.rows("SELECT * FROM sys.configurations")}
    assert {name: kept[name] for name in SETTINGS} == {
        name: (value, value if name != "remote access" else kept[name][1]) for name, value in SETTINGS.items()
    }
    assert "is not a valid value" in refused(own, "EXEC sp_configure 'max server memory (MB)', 10")
    own.sql("BACKUP DATABASE master TO DISK = 'NUL:'")
    row = own.rows(
        """SELECT TOP (1) has_backup_checksums AS c, compressed_backup_size AS s, backup_size AS b FROM msdb.dbo.backupset
        ORDER BY backup_set_id DESC"""
    )[0]
    assert row["c"] is True and row["s"] < row["b"]


def test_a_basic_group_takes_one_database(link):
    """WITH (BASIC) with two databases is refused before anything is made."""
    text = """CREATE AVAILABILITY GROUP b WITH (BASIC, CLUSTER_TYPE = NONE) FOR DATABASE a1, a2 REPLICA ON
        N'sql1' WITH (ENDPOINT_URL = N'TCP://sql1:5022', AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL)"""
    before = link.value("SELECT COUNT(*) FROM sys.availability_groups")
    assert refused(link, text)
    assert link.value("SELECT COUNT(*) FROM sys.availability_groups") == before


def test_redo_threads_in_sysprocesses(own):
    """The printed columns; on a secondary under load the redo commands and their waits; the misprinted name is error 208."""
    columns = "cmd, spid, kpid, blocked, waittype, waittime, lastwaittype, waitresource, dbid, uid, cpu, physical_io, memusage"
    own.sql("EXEC twin.run_workload @seconds = 60")
    rows = own.rows(f"SELECT {columns} FROM sys.sysprocesses WHERE cmd LIKE N'%REDO%' OR cmd LIKE N'DB STARTUP%'", node="sql2")
    commands = {row["cmd"].strip() for row in rows}
    assert {"DB STARTUP", "PARALLEL REDO TASK"} <= commands
    waits = {row["lastwaittype"].strip() for row in rows}
    assert "PARALLEL_REDO_WORKER_WAIT_WORK" in waits
    assert caught(own, "SELECT cmd FROM sys.sysprocess") == (208, 16)


COUNTERS = {
    "Databases": ["Log Bytes Flushed/sec", "Transactions/sec", "Percent Log Used"],
    "Availability Replica": ["Bytes Sent to Transport/sec", "Bytes Received from Replica/sec", "Bytes Sent to Replica/sec"],
    "Database Replica": ["Log Bytes Received/sec", "Redone Bytes/sec", "Recovery Queue", "Mirrored Write Transactions/sec"],
    "Buffer Manager": ["Checkpoint pages/sec"],
    "SQL Statistics": ["Batch Requests/sec"],
}


def test_counters_of_the_tables(own):
    """Every SQL Server counter that the tables print is in the view, and the cumulative ones grow under load."""
    read = "SELECT RTRIM(object_name) AS o, RTRIM(counter_name) AS c, cntr_value AS v FROM sys.dm_os_performance_counters"
    found = {(row["o"].partition(":")[2], row["c"]) for row in own.rows(read)}
    for item, names in COUNTERS.items():
        for name in names:
            assert (item, name) in found, (item, name)
    flushed = f"{read} WHERE counter_name = N'Log Bytes Flushed/sec' AND instance_name = N'OLTP'"
    before = own.rows(flushed)[0]["v"]
    own.sql("EXEC twin.run_workload @seconds = 10")
    assert own.rows(flushed)[0]["v"] > before


# -- 001 -------------------------------------------------------------------------------------------------------------------
def test_trace_flags_are_shown(own):
    """-T9921 and -T834 of the startup options stand in DBCC TRACESTATUS."""
    own.sql("EXEC twin.restart_node @node = 'sql1', @startup_options = '-T9921 -T834'", node="sql2")
    assert {row["TraceFlag"] for row in own.rows("DBCC TRACESTATUS (-1)")} >= {9921, 834}


def test_a_second_log_file(own):
    """The tail file as printed needs the drive (5133); on a folder that is there it is an ordinary second log file."""
    own.sql("CREATE DATABASE tpcc_05")
    script = r"""ALTER DATABASE [tpcc_05] ADD LOG FILE
        ( NAME = N'TOL_05', FILENAME = N'{}tail_05.ldf' , SIZE = 179200KB , FILEGROWTH = 0)"""
    assert "operating system error 2" in refused(own, script.format("K:\\"))
    own.sql(script.format("/var/opt/mssql/data/"))
    files = own.rows(
        "SELECT name, growth, size FROM sys.database_files WHERE type_desc = N'LOG' ORDER BY file_id", database="tpcc_05"
    )
    assert files[1] == {"name": "TOL_05", "growth": 0, "size": 179200 // 8} and len(files) == 2


def test_instance_practice(own):
    """MAXDOP 1 for the instance and the database, max server memory below the machine's: read back."""
    own.sql("EXEC sp_configure 'show advanced options', 1; RECONFIGURE")
    own.sql("EXEC sp_configure 'max degree of parallelism', 1; EXEC sp_configure 'max server memory (MB)', 100000; RECONFIGURE")
    assert own.value("SELECT value_in_use FROM sys.configurations WHERE name = N'max degree of parallelism'") == 1
    assert own.value("SELECT committed_target_kb FROM sys.dm_os_sys_info") == 100000 * 1024


# -- 002 -------------------------------------------------------------------------------------------------------------------
CONTAINER = """ALTER DATABASE OLTP ADD FILEGROUP fx CONTAINS MEMORY_OPTIMIZED_DATA;
ALTER DATABASE OLTP ADD FILE (NAME = N'fx1', FILENAME = N'/var/opt/mssql/data/fx1') TO FILEGROUP fx"""
TABLE = """CREATE TABLE [dbo].[insert_in_memory0] ([id] [int] IDENTITY(1,1) NOT NULL,
[col1] [varchar](8000) COLLATE French_CI_AS NULL, PRIMARY KEY NONCLUSTERED HASH ([id]) WITH (BUCKET_COUNT = 1048576))
WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA)"""
FILL = "INSERT INTO dbo.insert_in_memory0 (col1) SELECT REPLICATE('a', 8000) FROM GENERATE_SERIES(1, 5000)"
PROCEDURE = """CREATE PROCEDURE [dbo].[pr_always_workload_upd_xtp] WITH NATIVE_COMPILATION, SCHEMABINDING, EXECUTE AS OWNER
AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
declare @i int; declare @i2 int; declare @i3 int;
set @i = rand() * 1000
set @i2 = rand() * 10
set @i3 = @i * @i2;
update [dbo].[insert_in_memory0] set col1 = 'ttt' where id = @i3;
END"""


def test_memory_optimized_table_of_the_blog(own):
    """Refused without a container (41337); then 5,000 rows of 8,000 characters: 8 MB of index, 40 MB and more of rows."""
    assert "must have a MEMORY_OPTIMIZED_FILEGROUP" in refused(own, TABLE, "OLTP")
    own.sql(CONTAINER)
    own.sql(TABLE, database="OLTP")
    own.sql(FILL, database="OLTP")
    memory = own.rows(
        """SELECT memory_allocated_for_table_kb / 1024 AS t, memory_allocated_for_indexes_kb / 1024 AS i,
        memory_used_by_table_kb / 1024 AS u FROM sys.dm_db_xtp_table_memory_stats
        WHERE object_id = OBJECT_ID('insert_in_memory0')""",
        database="OLTP",
    )[0]
    assert memory["i"] == 8 and 38 <= memory["u"] < memory["t"] < 63  # the blog prints 63 MB for both together
    own.sql("EXEC twin.advance @seconds = 5")
    assert own.value("SELECT COUNT(*) FROM dbo.insert_in_memory0", node="sql2", database="OLTP") == 5000


def test_native_procedure_of_the_blog(own):
    """About 77 of 100 calls touch a row: the product of two random numbers is 0 or above 5,000 in the others."""
    own.sql(CONTAINER)
    own.sql(TABLE, database="OLTP")
    own.sql(FILL.replace("8000", "1"), database="OLTP")
    own.sql(PROCEDURE, database="OLTP")
    hits = own.value(
        """SET NOCOUNT ON; DECLARE @n int = 0, @hits int = 0;
        WHILE @n < 100 BEGIN
            EXEC dbo.pr_always_workload_upd_xtp; SET @n += 1;
            UPDATE dbo.insert_in_memory0 SET col1 = 'a' WHERE col1 = 'ttt'; SET @hits += @@ROWCOUNT;
        END SELECT @hits AS hits""",
        database="OLTP",
    )
    assert 55 < hits < 95  # five standard deviations to each side


def test_log_file_statistics(own):
    """Writes of the log file and their stall grow under load: milliseconds for each write from two readings."""
    read = """SELECT f.num_of_writes AS n, f.io_stall_write_ms AS s FROM sys.dm_io_virtual_file_stats(DB_ID('OLTP'), 2) AS f"""
    before = own.rows(read)[0]
    own.sql("EXEC twin.run_workload @seconds = 30")
    after = own.rows(read)[0]
    writes = after["n"] - before["n"]
    assert writes > 0 and 0 < (after["s"] - before["s"]) / writes < 50


# -- 003 -------------------------------------------------------------------------------------------------------------------
LOGIN = """IF NOT EXISTS (SELECT loginname FROM master.dbo.syslogins WHERE name = '{0}')
    CREATE LOGIN {0} WITH PASSWORD = '{1}', DEFAULT_DATABASE = master, DEFAULT_LANGUAGE = us_english,
    CHECK_EXPIRATION = OFF, CHECK_POLICY = OFF
ELSE
    ALTER LOGIN {0} WITH PASSWORD = '{1}'"""
POOL = """IF EXISTS ( SELECT name FROM sys.resource_governor_resource_pools WHERE name = '{0}' )
    ALTER RESOURCE POOL {0} WITH({1})
ELSE
    CREATE RESOURCE POOL {0} WITH({1})"""
POOL_OPTIONS = """min_cpu_percent = 0, max_cpu_percent = 100, min_memory_percent = 0, max_memory_percent = 100,
    cap_cpu_percent = 100, AFFINITY NUMANODE = (0), min_iops_per_volume = 0, max_iops_per_volume = 0"""
GROUP = """IF EXISTS ( SELECT name FROM sys.resource_governor_workload_groups WHERE name = '{0}' )
    ALTER WORKLOAD GROUP {0} WITH({2}) USING {1}
ELSE
    CREATE WORKLOAD GROUP {0} WITH({2}) USING {1}"""
GROUP_OPTIONS = """group_max_requests = 0, importance = High, request_max_cpu_time_sec = 0,
    request_max_memory_grant_percent = 25, request_memory_grant_timeout_sec = 0, MAX_DOP = 1"""
CLASSIFIER = """CREATE FUNCTION dbo.OLTP_Classifier() RETURNS sysname WITH SCHEMABINDING AS
BEGIN
    DECLARE @WorkloadGroup AS SYSNAME
    IF(SUSER_NAME() = 'DB01User')
        SET @WorkloadGroup = 'gDB01QueryStream'
    ELSE IF (SUSER_NAME() = 'DB02User')
        SET @WorkloadGroup = 'gDB02QueryStream'
    RETURN @WorkloadGroup
END"""
WHOSE = """SELECT g.name AS g FROM sys.dm_exec_sessions AS s JOIN sys.dm_resource_governor_workload_groups AS g
ON g.group_id = s.group_id WHERE s.session_id = @@SPID"""


def test_workload_login(own):
    """The script creates the login, then alters it: twice in a row, and the login comes in."""
    for _ in range(2):
        own.sql(LOGIN.format("DB01User", PASSWORD))
        own.sql("ALTER LOGIN DB01User ENABLE")
        own.sql("ALTER SERVER ROLE sysadmin ADD MEMBER DB01User")
    assert own.value("SELECT IS_SRVROLEMEMBER(N'sysadmin', N'DB01User') AS m") == 1
    with contextlib.closing(own.connect(user="DB01User", password=PASSWORD)) as connection:
        assert run(connection, "SELECT SUSER_NAME() AS n")[-1] == [{"n": "DB01User"}]


def governor(own, digit="0"):
    """Pools and groups for two databases; ``digit`` is what stands between DB and the number."""
    for number in (1, 2):
        own.sql(LOGIN.format(f"DB{digit}{number}User", PASSWORD))
        own.sql(f"ALTER SERVER ROLE sysadmin ADD MEMBER DB{digit}{number}User")
        own.sql(POOL.format(f"pDB{digit}{number}Queries", POOL_OPTIONS))
        own.sql("ALTER RESOURCE GOVERNOR RECONFIGURE;")
        own.sql(GROUP.format(f"gDB{digit}{number}QueryStream", f"pDB{digit}{number}Queries", GROUP_OPTIONS))
        own.sql("ALTER RESOURCE GOVERNOR RECONFIGURE;")


def test_resource_governor_scripts(own):
    """Pool and group scripts run, and run again as ALTER; what they ask for is in the views."""
    governor(own)
    governor(own)
    rows = own.rows(
        """SELECT g.name AS g, p.name AS p, g.importance AS i, g.max_dop AS d FROM sys.dm_resource_governor_workload_groups AS g
        JOIN sys.dm_resource_governor_resource_pools AS p ON p.pool_id = g.pool_id WHERE g.group_id > 2 ORDER BY g.name"""
    )
    assert rows == [{"g": f"gDB0{number}QueryStream", "p": f"pDB0{number}Queries", "i": "High", "d": 1} for number in (1, 2)]


def test_classifier_as_printed_and_as_corrected(own):
    """As printed the registered name does not exist (10902); corrected, each login's sessions are in its group."""
    governor(own)
    own.sql(CLASSIFIER)
    printed = "ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION=dbo.TPCEClassifier);"
    assert "'dbo.TPCEClassifier' does not exist in master database" in refused(own, printed)
    assert caught(own, printed) == (10902, 16)
    own.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION=dbo.OLTP_Classifier); ALTER RESOURCE GOVERNOR RECONFIGURE")
    for number in (1, 2):
        with contextlib.closing(own.connect(user=f"DB0{number}User", password=PASSWORD)) as connection:
            assert run(connection, WHOSE)[-1] == [{"g": f"gDB0{number}QueryStream"}]
    assert own.value(WHOSE) == "default"


def test_the_letter_o_never_matches(own):
    """As printed the login has a letter O where the classifier has a zero: its sessions are in the default group."""
    governor(own, digit="O")
    own.sql(CLASSIFIER)
    own.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION=dbo.OLTP_Classifier); ALTER RESOURCE GOVERNOR RECONFIGURE")
    with contextlib.closing(own.connect(user="DBO1User", password=PASSWORD)) as connection:
        assert run(connection, WHOSE)[-1] == [{"g": "default"}]


LOOP = """DECLARE @v1 BIGINT, @delay SMALLINT = {}, @time DATETIME, @cnt INT = 0;
WHILE @cnt < 3
BEGIN
    SELECT @time = DATEADD(SECOND, @delay, '00:00:00');
    SELECT @v1 = cntr_value FROM master.sys.dm_os_performance_counters WHERE counter_name = 'Batch Requests/sec';
    WAITFOR DELAY @time;
    SELECT (cntr_value - @v1)/@delay AS rate FROM master.sys.dm_os_performance_counters WHERE counter_name='Batch Requests/sec';
    SET @cnt = @cnt + 1;
END;"""


@pytest.mark.parametrize("delay_s", [5, 300])
def test_batch_requests_loop(own, delay_s):
    """The printed loop gives one rate for each round, alike under a steady load, at 5 and at 300 seconds."""
    own.sql("EXEC twin.start_workload; EXEC twin.advance @seconds = 60")
    rates = [rows[0]["rate"] for rows in own.sql(LOOP.format(delay_s))]
    assert len(rates) == 3 and min(rates) > 0 and max(rates) < 1.2 * min(rates)


def test_six_backup_scenarios(own):
    """Plain, compressed, compressed with large transfers, idle and under load: large transfers cost no time, load gives none."""
    tuned = "COMPRESSION, BLOCKSIZE = 65536, MAXTRANSFERSIZE = 4194304, BUFFERCOUNT = 300"
    last = """SELECT TOP (1) DATEDIFF(millisecond, backup_start_date, backup_finish_date) AS ms FROM msdb.dbo.backupset
        ORDER BY backup_set_id DESC"""
    times: list[list[int]] = []
    for load in ("SELECT 1 AS idle", "EXEC twin.start_workload"):
        own.sql(load)
        taken: list[int] = []
        for options in ("COPY_ONLY", f"COPY_ONLY, {tuned.partition(',')[0]}", f"COPY_ONLY, {tuned}"):
            own.sql(f"BACKUP DATABASE OLTP TO DISK = N'/var/opt/mssql/data/b.bak' WITH FORMAT, {options}")
            taken.append(own.value(last))
        assert taken[1] >= taken[2] > 0, load
        times.append(taken)
    assert all(idle <= loaded for idle, loaded in zip(*times, strict=True))


def test_online_rebuild_sweep(own):
    """Each degree of the sweep runs; a degree that is none is refused."""
    own.sql("CREATE TABLE dbo.r (id int NOT NULL PRIMARY KEY, pad char(100)); INSERT INTO dbo.r VALUES (1, 'x')", database="OLTP")
    for degree in (1, 48, 32, 24, 16, 8, 0):
        own.sql(f"ALTER INDEX ALL ON dbo.r REBUILD WITH (ONLINE = ON, MAXDOP = {degree})", database="OLTP")
    assert caught(own, "ALTER INDEX nosuch ON dbo.r REBUILD WITH (ONLINE = ON)", "OLTP")[0] == 2727


def test_host_settings_in_tsql(own):
    """Soft-NUMA off and more tempdb files are T-SQL; soft-NUMA comes in force with the next start."""
    shown = "SELECT softnuma_configuration_desc AS s FROM sys.dm_os_sys_info"
    own.sql("ALTER SERVER CONFIGURATION SET SOFTNUMA ON")
    assert own.value(shown) == "OFF"
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert own.value(shown) == "ON"
    own.sql("ALTER SERVER CONFIGURATION SET SOFTNUMA OFF")
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert own.value(shown) == "OFF"
    own.sql("ALTER DATABASE tempdb ADD FILE (NAME = tempdev2, FILENAME = '/var/opt/mssql/data/tempdb2.ndf', SIZE = 8MB)")
    assert own.value("SELECT COUNT(*) FROM sys.master_files WHERE database_id = 2 AND type = 0") == 2


def test_reset_by_restore(own):
    """A database goes back to its rows before a run."""
    own.sql("CREATE DATABASE run")
    own.sql("CREATE TABLE dbo.t (id int); INSERT INTO dbo.t VALUES (1)", database="run")
    own.sql("BACKUP DATABASE run TO DISK = N'run.bak' WITH INIT")
    own.sql("INSERT INTO dbo.t VALUES (2)", database="run")
    own.sql("RESTORE DATABASE run FROM DISK = N'run.bak' WITH REPLACE")
    assert own.value("SELECT COUNT(*) FROM dbo.t", database="run") == 1


# -- 004 -------------------------------------------------------------------------------------------------------------------
TOP20 = """SELECT TOP 20 SUBSTRING (qt.text, (qs.statement_start_offset/2)+1,((CASE qs.statement_end_offset WHEN -1 THEN
DATALENGTH(qt.text) ELSE qs.statement_end_offset END - qs.statement_start_offset)/2) +1) {}, qs.execution_count,
qs.total_logical_reads, qs.last_logical_reads, qs.min_logical_reads, qs.max_logical_reads, qs.total_elapsed_time,
qs.last_elapsed_time,qs.min_elapsed_time, qs.max_elapsed_time, qs.last_execution_time, qp.query_plan{} FROM
sys.dm_exec_query_stats qs CROSS APPLY sys.dm_exec_sql_text(qs.sql_handle) qt CROSS APPLY
sys.dm_exec_query_plan(qs.plan_handle) qp WHERE qt.encrypted=0 ORDER BY qs.total_logical_reads DESC"""


def test_top_queries_as_printed_and_as_corrected(own):
    """The comma before FROM is error 156 at severity 15; without it the statement with the most reads comes first."""
    assert "Incorrect syntax near the keyword 'FROM'." in refused(own, TOP20.format("", ","))
    assert caught(own, TOP20.format("", ",")) == (156, 15)
    own.sql("CREATE TABLE dbo.E_Trade (T_ID int NOT NULL PRIMARY KEY, pad char(4000) NOT NULL DEFAULT 'x')", database="OLTP")
    own.sql("INSERT INTO dbo.E_Trade (T_ID) SELECT value FROM GENERATE_SERIES(1, 300)", database="OLTP")
    own.sql("DBCC FREEPROCCACHE")
    own.sql("SELECT COUNT(*) AS n FROM dbo.E_Trade WHERE pad = 'x'", database="OLTP")
    rows = own.rows(TOP20.format("AS statement", ""))
    assert re.search("E_Trade", rows[0]["statement"]) and rows[0]["total_logical_reads"] >= 150
    assert "E_Trade" in rows[0]["query_plan"]


def test_file_layout(own):
    """Files of one size in a default filegroup fill alike."""
    own.sql("CREATE DATABASE layout; ALTER DATABASE layout ADD FILEGROUP fg")
    for number in range(3):
        own.sql(
            f"ALTER DATABASE layout ADD FILE (NAME = f{number}, FILENAME = N'/var/opt/mssql/data/f{number}.ndf', SIZE = 8MB)"
            " TO FILEGROUP fg"
        )
    own.sql("ALTER DATABASE layout MODIFY FILEGROUP fg DEFAULT")
    own.sql("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, pad char(4000) NOT NULL DEFAULT 'x')", database="layout")
    own.sql("INSERT INTO dbo.t (id) SELECT value FROM GENERATE_SERIES(1, 900)", database="layout")
    used = [
        row["u"]
        for row in own.rows(
            "SELECT allocated_extent_page_count AS u FROM sys.dm_db_file_space_usage WHERE filegroup_id = 2", database="layout"
        )
    ]
    assert len(used) == 3 and max(used) - min(used) <= 1 and min(used) > 100


def test_growth_settings(own):
    """MODIFY FILE sets size and growth; a smaller size is refused (5039)."""
    own.sql("CREATE DATABASE grown")
    own.sql("ALTER DATABASE grown MODIFY FILE (NAME = grown, SIZE = 150MB, FILEGROWTH = 20MB)")
    row = own.rows("SELECT size, growth, is_percent_growth FROM sys.database_files WHERE file_id = 1", database="grown")[0]
    assert row == {"size": 150 * 128, "growth": 20 * 128, "is_percent_growth": False}
    own.sql("ALTER DATABASE grown MODIFY FILE (NAME = grown, FILEGROWTH = 10%)")
    assert own.value("SELECT is_percent_growth FROM sys.database_files WHERE file_id = 1", database="grown") is True
    assert caught(own, "ALTER DATABASE grown MODIFY FILE (NAME = grown, SIZE = 10MB)")[0] == 5039
