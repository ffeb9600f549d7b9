"""What the views and procedures of DBA scripts answer: uses and sizes of indexes, memory, virtual log files, blocking."""

import contextlib
import threading

import pytest
from twin_client import fails, run, until

USES = """SELECT i.name, s.user_seeks, s.user_scans, s.user_lookups, s.user_updates FROM sys.indexes i
LEFT JOIN sys.dm_db_index_usage_stats s ON s.object_id = i.object_id AND s.index_id = i.index_id AND s.database_id = DB_ID()
WHERE i.object_id = OBJECT_ID(N'dbo.t') ORDER BY i.index_id"""


@pytest.fixture
def table(own):
    """A table with a clustered and a nonclustered index, and 1,000 rows."""
    own.sql(
        """CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk PRIMARY KEY, k int NOT NULL, pad char(400) NOT NULL DEFAULT '');
        CREATE INDEX ik ON dbo.t (k); INSERT dbo.t (id, k) SELECT value, value % 100 FROM GENERATE_SERIES(1, 1000)""",
        database="OLTP",
    )
    return own


def test_uses_of_indexes(table):
    """Each statement counts once by how it used an index; an insert updates all; a restart begins anew."""
    table.sql("SELECT pad FROM dbo.t WHERE id = 5", database="OLTP")
    table.sql("SELECT pad FROM dbo.t WHERE k = 7", database="OLTP")
    table.sql("SELECT COUNT(*) FROM dbo.t WHERE pad = 'x'", database="OLTP")
    rows = table.rows(USES, database="OLTP")
    assert rows[0] == {"name": "pk", "user_seeks": 1, "user_scans": 1, "user_lookups": 1, "user_updates": 1}
    assert rows[1]["name"] == "ik" and (rows[1]["user_seeks"], rows[1]["user_updates"]) == (1, 1)


def test_a_snapshot_brings_no_uses_back(own):
    """Uses counted since a snapshot belong to the time taken back: an index that gets the same number starts with none."""
    own.sql("EXEC twin.snapshot @name = 'before'")
    made = "CREATE TABLE dbo.t (id int NOT NULL, k int NOT NULL); CREATE INDEX ik ON dbo.t (k)"
    own.sql(f"{made}; INSERT dbo.t VALUES (1, 1); INSERT dbo.t VALUES (2, 2)", database="OLTP")
    assert own.rows(USES, database="OLTP")[1]["user_updates"] == 2
    own.sql("EXEC twin.restore @name = 'before'")
    own.sql(made, database="OLTP")
    assert own.rows(USES, database="OLTP")[1]["user_updates"] is None


def test_sizes_agree_between_views(table):
    """dm_db_index_physical_stats, dm_db_partition_stats, INDEXPROPERTY and sp_spaceused say the same."""
    physical = table.rows(
        """SELECT i.name, p.page_count, p.index_depth, p.record_count, p.avg_page_space_used_in_percent AS full_pct
        FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(N'dbo.t'), NULL, NULL, N'DETAILED') p JOIN sys.indexes i
        ON i.object_id = p.object_id AND i.index_id = p.index_id ORDER BY p.index_id""",
        database="OLTP",
    )
    assert [row["record_count"] for row in physical] == [1000, 1000] and all(0 < row["full_pct"] <= 100 for row in physical)
    pages = "SELECT in_row_data_page_count AS n FROM sys.dm_db_partition_stats "
    pages += "WHERE object_id = OBJECT_ID(N'dbo.t') ORDER BY index_id"
    assert [row["n"] for row in table.rows(pages, database="OLTP")] == [row["page_count"] for row in physical]
    assert (
        table.value("SELECT INDEXPROPERTY(OBJECT_ID(N'dbo.t'), N'pk', N'IndexDepth')", database="OLTP")
        == physical[0]["index_depth"]
    )
    space = table.rows("EXEC sp_spaceused N'dbo.t'", database="OLTP")[0]
    assert space["data"] == f"{physical[0]['page_count'] * 8} KB" and int(space["rows"]) == 1000
    kb = {key: int(value.split()[0]) for key, value in space.items() if key in ("reserved", "data", "index_size", "unused")}
    assert kb["reserved"] == kb["data"] + kb["index_size"] + kb["unused"]
    both = table.rows("EXEC sp_spaceused @oneresultset = 1", database="OLTP")[0]
    assert both["database_name"] == "OLTP" and "database_size" in both and "index_size" in both


def test_memory_adds_up(own):
    """Clerks come to what the instance has; nodes share it and their schedulers are those of the machine."""
    clerks = own.value("SELECT SUM(pages_kb) FROM sys.dm_os_memory_clerks")
    assert clerks == own.value("SELECT committed_kb FROM sys.dm_os_sys_info")
    own.sql("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY NUMANODE = 0")
    nodes = own.rows(
        "SELECT node_state_desc AS s, online_scheduler_count AS n, cpu_count AS c FROM sys.dm_os_nodes ORDER BY node_id"
    )
    assert [row["s"] for row in nodes] == ["ONLINE", "OFFLINE"] and nodes[0]["n"] == nodes[0]["c"] and nodes[1]["n"] == 0


def test_virtual_log_files(own):
    """dm_db_log_info lists as many as dm_db_log_stats counts; DBCC LOGINFO shows the same; the log of the load moves on."""
    count = "SELECT COUNT(*) FROM sys.dm_db_log_info(DB_ID(N'OLTP'))"
    assert own.value(count) == own.value("SELECT total_vlf_count FROM sys.dm_db_log_stats(DB_ID(N'OLTP'))")
    newest = "SELECT MAX(vlf_sequence_number) FROM sys.dm_db_log_info(DB_ID(N'OLTP')) WHERE vlf_active = 1"
    before = own.value(newest)
    own.sql("EXEC twin.run_workload @seconds = 30")
    assert own.value(newest) > before
    rows = own.rows("DBCC LOGINFO", database="OLTP")
    assert len(rows) == own.value(count) and {row["Status"] for row in rows} <= {0, 2}


def test_shrinking_files(own):
    """To the target, not below what is used; the log that the machines write keeps its size."""
    own.sql(
        """CREATE DATABASE Shop ON (NAME = d, FILENAME = '/var/opt/mssql/data/d.mdf', SIZE = 64MB)
        LOG ON (NAME = l, FILENAME = '/var/opt/mssql/data/l.ldf', SIZE = 64MB)"""
    )
    row = own.rows("DBCC SHRINKFILE (d, 16)", database="Shop")[0]
    assert row["CurrentSize"] == 2048 and row["UsedPages"] <= 2048
    assert own.value("SELECT size FROM sys.database_files WHERE name = N'd'", database="Shop") == 2048
    least = own.rows("DBCC SHRINKFILE (N'd', 0)", database="Shop")[0]
    assert least["CurrentSize"] == max(least["UsedPages"], 128)
    assert own.rows("DBCC SHRINKFILE (2, 32) WITH NO_INFOMSGS", database="Shop")[0]["CurrentSize"] == 4096
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        log = run(connection, "SELECT name FROM sys.database_files WHERE type = 1")[-1][0]["name"]
        with pytest.raises(Exception, match="size is theirs"):
            run(connection, f"DBCC SHRINKFILE ([{log}], 1)")
        with pytest.raises(Exception, match="Could not locate file"):
            run(connection, "DBCC SHRINKFILE (nothing, 1)")
        with pytest.raises(Exception, match="single user mode"):
            run(connection, "DBCC CHECKDB (N'OLTP', REPAIR_REBUILD)")


def test_who_blocks_whom(own):
    """sp_who2, sp_lock, dm_os_waiting_tasks and DBCC INPUTBUFFER tell one story of a blocked session."""
    own.sql("CREATE TABLE dbo.b (a int NOT NULL PRIMARY KEY); INSERT dbo.b VALUES (1)", database="OLTP")
    holder, waiter = own.connect(database="OLTP"), own.connect(database="OLTP")
    first, second = (run(one, "SELECT @@SPID AS n")[-1][0]["n"] for one in (holder, waiter))
    run(holder, "BEGIN TRAN; UPDATE dbo.b SET a = 2")
    thread = threading.Thread(target=run, args=(waiter, "SELECT a FROM dbo.b"))
    thread.start()
    try:
        until(lambda: own.value(f"SELECT COUNT(*) FROM sys.dm_os_waiting_tasks WHERE session_id = {second}"))
        row = next(row for row in own.rows("EXEC sp_who2") if row["SPID"].strip() == str(second))
        assert row["BlkBy"].strip() == str(first) and row["Status"].strip().lower() == "suspended"
        assert {"X", "IX"} <= {row["Mode"] for row in own.rows(f"EXEC sp_lock {first}")}
        assert "WAIT" in {row["Status"] for row in own.rows(f"EXEC sp_lock {second}")}
        assert own.rows(f"DBCC INPUTBUFFER ({second})")[0]["EventInfo"] == "SELECT a FROM dbo.b"
        oldest = {row["REC_NAME"]: row["VALUE"] for row in own.rows("DBCC OPENTRAN (OLTP) WITH TABLERESULTS, NO_INFOMSGS")}
        assert oldest["OLDACT_SPID"] == str(first)
    finally:
        run(holder, "COMMIT")
        thread.join(60)
        holder.close()
        waiter.close()


def test_registry_and_errorlogs(own):
    """xp_instance_regread gives an output or a row; xp_readerrorlog takes a span as text; xp_enumerrorlogs lists the logs."""
    read = "EXEC master.dbo.xp_instance_regread N'HKEY_LOCAL_MACHINE', N'Software\\Microsoft\\MSSQLServer\\MSSQLServer', N'{}'"
    assert own.rows(read.format("LoginMode"))[0]["Data"] == 2
    assert own.value(f"DECLARE @v nvarchar(400); {read.format('DefaultData')}, @v OUTPUT; SELECT @v AS v").startswith("/var/opt")
    every = own.rows("EXEC xp_readerrorlog 0, 1")
    assert every and own.rows("EXEC xp_readerrorlog 0, 1, NULL, NULL, '2000-01-01', '2001-01-01'") == []
    assert own.rows("EXEC xp_readerrorlog 0, 1, NULL, NULL, NULL, NULL, 'desc'")[0] == every[-1]
    assert own.rows("EXEC xp_enumerrorlogs")[0]["Archive #"] == 0
    with contextlib.closing(own.connect()) as connection:
        assert "Conversion failed" in fails(connection, "EXEC xp_readerrorlog 0, 1, NULL, NULL, 'yesterday'")


def test_logins_users_and_roles_by_procedure(own):
    """sp_helplogins, sp_helpuser, sp_helprolemember and sp_helpsrvrolemember see what DDL made; unknown names are errors."""
    own.sql("CREATE LOGIN kim WITH PASSWORD = N'Passwd-1234', CHECK_POLICY = OFF; ALTER SERVER ROLE dbcreator ADD MEMBER kim")
    own.sql("CREATE USER kim FOR LOGIN kim; ALTER ROLE db_datareader ADD MEMBER kim", database="OLTP")
    assert own.sql("EXEC sp_helplogins N'kim'", database="OLTP")[0][0]["LoginName"] == "kim"
    assert own.rows("EXEC sp_helpuser N'kim'", database="OLTP")[0]["RoleName"] == "db_datareader"
    assert {"DbRole": "db_datareader", "MemberName": "kim"}.items() <= own.rows("EXEC sp_helprolemember", database="OLTP")[
        0
    ].items()
    assert "kim" in [row["MemberName"] for row in own.rows("EXEC sp_helpsrvrolemember N'dbcreator'")]
    with contextlib.closing(own.connect()) as connection:
        assert "not a valid login" in fails(connection, "EXEC sp_helplogins N'nobody'")
        assert "not a role" in fails(connection, "EXEC sp_helprole N'nobody'")
        assert "not a known fixed role" in fails(connection, "EXEC sp_helpsrvrolemember N'nobody'")


def test_every_database_by_sp_msforeachdb(own):
    """The command runs once for each database, with its name in place of the mark."""
    names = [row["name"] for rows in own.sql("EXEC sp_MSforeachdb N'SELECT N''?'' AS name'") for row in rows]
    assert names == [row["name"] for row in own.rows("SELECT name FROM sys.databases ORDER BY database_id")]


def test_views_of_old_agree_with_their_successors(table):
    """sysindexes counts the rows and pages that dm_db_partition_stats does; sysfiles has the files, syscomments the texts."""
    old = table.rows("SELECT indid, rows, dpages FROM sysindexes WHERE id = OBJECT_ID(N'dbo.t') ORDER BY indid", database="OLTP")
    new = """SELECT index_id AS indid, row_count AS rows, in_row_data_page_count AS dpages FROM sys.dm_db_partition_stats
        WHERE object_id = OBJECT_ID(N'dbo.t') ORDER BY index_id"""
    assert old == table.rows(new, database="OLTP") and old[0]["rows"] == 1000
    files = table.rows("SELECT name, size FROM sys.database_files ORDER BY file_id", database="OLTP")
    assert table.rows("SELECT name, size FROM sysfiles ORDER BY fileid", database="OLTP") == files
    table.sql("CREATE PROCEDURE dbo.p AS SELECT 42 AS answer", database="OLTP")
    text = table.value("SELECT text FROM syscomments WHERE id = OBJECT_ID(N'dbo.p')", database="OLTP")
    assert text == "CREATE PROCEDURE dbo.p AS SELECT 42 AS answer"
    assert table.value("SELECT COUNT(*) FROM sysusers WHERE name = N'dbo' AND hasdbaccess = 1", database="OLTP") == 1
    used = "SELECT value FROM master..syscurconfigs WHERE config = 1539"
    assert table.value(used) == table.value("SELECT value_in_use FROM sys.configurations WHERE configuration_id = 1539")


def test_the_operating_system_from_a_script(own):
    """xp_cmdshell is off as on a new server; turned on, the twin says that it has none; xp_fileexist knows databases' files."""
    with contextlib.closing(own.connect()) as connection:
        assert "blocked access to procedure 'sys.xp_cmdshell'" in fails(connection, "EXEC xp_cmdshell 'dir'")
        run(
            connection,
            "EXEC sp_configure 'show advanced options', 1; RECONFIGURE; EXEC sp_configure 'xp_cmdshell', 1; RECONFIGURE",
        )
        assert "does not implement xp_cmdshell" in fails(connection, "EXEC master..xp_cmdshell 'dir'")
        assert "Procedure expects parameter '@statement'" in fails(connection, "EXEC sp_executesql 'SELECT 1'")
    path = own.value("SELECT physical_name FROM sys.master_files WHERE database_id = 1 AND file_id = 1")
    assert list(own.rows(f"EXEC xp_fileexist N'{path}'")[0].values()) == [True, False, True]
    assert list(own.rows("EXEC xp_fileexist N'/none/x'")[0].values()) == [False, False, False]
    ticks = own.rows(
        "SELECT cpu_ticks / ms_ticks AS per_ms, ms_ticks - sqlserver_start_time_ms_ticks AS up FROM sys.dm_os_sys_info"
    )[0]
    assert ticks["per_ms"] > 0 and ticks["up"] >= 0


def test_the_last_check_is_remembered(own):
    """DATABASEPROPERTYEX and DBCC DBINFO say when CHECKDB last ran; 1900 before the first, and only for that database."""
    asked = "SELECT CONVERT(varchar(23), DATABASEPROPERTYEX(N'{}', 'LastGoodCheckDbTime'), 121) AS at"
    assert own.value(asked.format("OLTP")) == "1900-01-01 00:00:00.000"
    own.sql("DBCC CHECKDB (N'OLTP') WITH ESTIMATEONLY, NO_INFOMSGS")
    assert own.value(asked.format("OLTP")).startswith("1900")
    own.sql("DBCC CHECKDB (N'OLTP') WITH NO_INFOMSGS")
    at = own.value(asked.format("OLTP"))
    assert not at.startswith("1900") and own.value(asked.format("master")).startswith("1900")
    script = """CREATE TABLE #b (ParentObject varchar(255), [Object] varchar(255), Field varchar(255), Value varchar(255));
    INSERT #b EXEC (N'DBCC DBINFO (N''OLTP'') WITH TABLERESULTS, NO_INFOMSGS');
    SELECT Value FROM #b WHERE Field = 'dbi_dbccLastKnownGood'"""
    assert own.value(script) == at


def test_procedures_of_old_for_members_and_modules(own):
    """sp_addrolemember and its sisters change members as ALTER ROLE does; sp_recompile and sp_refreshview know objects."""
    own.sql("CREATE LOGIN kim WITH PASSWORD = N'Passwd-1234', CHECK_POLICY = OFF; EXEC sp_addsrvrolemember N'kim', N'dbcreator'")
    own.sql("CREATE USER kim FOR LOGIN kim; EXEC sp_addrolemember N'db_datareader', N'kim'", database="OLTP")
    assert own.value("SELECT IS_SRVROLEMEMBER('dbcreator', 'kim')") == 1
    member = "SELECT IS_ROLEMEMBER('db_datareader', 'kim') AS n"
    assert own.value(member, database="OLTP") == 1
    own.sql("EXEC sp_droprolemember N'db_datareader', N'kim'; EXEC sp_dropsrvrolemember N'kim', N'dbcreator'", database="OLTP")
    assert own.value(member, database="OLTP") == 0 and own.value("SELECT IS_SRVROLEMEMBER('dbcreator', 'kim')") == 0
    own.sql("CREATE VIEW dbo.v AS SELECT 1 AS a", database="OLTP")
    own.sql("EXEC sp_refreshview N'dbo.v'; EXEC sp_refreshsqlmodule N'dbo.v'; EXEC sp_recompile N'dbo.v'", database="OLTP")
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        assert "role 'none' does not exist" in fails(connection, "EXEC sp_addrolemember N'none', N'kim'")
        assert "User or role 'none' does not" in fails(connection, "EXEC sp_addrolemember N'db_owner', N'none'")
        assert "not a fixed server role" in fails(connection, "EXEC sp_addsrvrolemember N'kim', N'none'")
        assert "not a valid login" in fails(connection, "EXEC sp_addsrvrolemember N'none', N'sysadmin'")
        for procedure in ("sp_recompile", "sp_refreshview", "sp_refreshsqlmodule"):
            assert "Could not find object 'dbo.none'" in fails(connection, f"EXEC {procedure} N'dbo.none'")


def test_the_running_request_of_a_first_batch_joins(own):
    """A session's first batch has an earlier end of a request: scripts join requests to sessions by start and end."""
    asked = """SELECT COUNT(*) AS n FROM sys.dm_exec_requests r JOIN sys.dm_exec_sessions s ON s.session_id = r.session_id
        AND r.start_time = s.last_request_start_time JOIN sys.sysprocesses p ON p.spid = s.session_id
        AND s.last_request_end_time <= p.last_batch WHERE r.session_id = @@SPID"""
    assert own.value(asked) == 1
