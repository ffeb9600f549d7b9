"""AlwaysOn_health and system_health, read with the queries of the documentation."""

import contextlib
import threading

import pytest
from twin_client import run, until

FILES = """DECLARE @FileName NVARCHAR(4000);
SELECT @FileName = target_data.value('(EventFileTarget/File/@name)[1]', 'nvarchar(4000)')
FROM (SELECT CAST(target_data AS XML) target_data FROM sys.dm_xe_sessions s
      JOIN sys.dm_xe_session_targets t ON s.address = t.event_session_address
      WHERE s.name = N'AlwaysOn_health' AND t.target_name = N'event_file') ft;
"""
DDL = (
    FILES
    + """
SELECT XEData.value('(event/@timestamp)[1]', 'datetime2(3)') AS event_timestamp,
       XEData.value('(event/data[@name="ddl_action"]/value)[1]', 'varchar(20)') AS action,
       XEData.value('(event/data[@name="ddl_phase"]/value)[1]', 'varchar(20)') AS phase,
       XEData.value('(event/data[@name="availability_group_name"]/value)[1]', 'varchar(20)') AS [group],
       XEData.value('(event/data[@name="statement"]/value)[1]', 'varchar(max)') AS statement
FROM (SELECT CAST(event_data AS XML) XEData, * FROM sys.fn_xe_file_target_read_file(@FileName, NULL, NULL, NULL)
      WHERE object_name = 'alwayson_ddl_executed') event_data
WHERE XEData.value('(event/data[@name="ddl_action"]/value)[1]', 'varchar(20)') = 'ALTER' ORDER BY event_timestamp"""
)
ERRORS = """WITH cte_HADR AS (SELECT object_name, CONVERT(XML, event_data) AS data
    FROM sys.fn_xe_file_target_read_file('AlwaysOn*.xel', null, null, null) WHERE object_name = 'error_reported')
SELECT data.value('(/event/@timestamp)[1]', 'datetime') AS [timestamp],
       data.value('(/event/data[@name=''error_number''])[1]', 'int') AS [error_number],
       data.value('(/event/data[@name=''message''])[1]', 'varchar(max)') AS [message]
FROM cte_HADR"""
STATES = """SELECT xed.value('(data[@name="previous_state"]/value)[1]', 'varchar(60)') AS was,
       xed.value('(data[@name="current_state"]/value)[1]', 'varchar(60)') AS [is]
FROM (SELECT CAST(event_data AS XML) AS x FROM sys.fn_xe_file_target_read_file('AlwaysOn*.xel', null, null, null)) AS f
CROSS APPLY f.x.nodes('/event[@name="availability_replica_state_change"]') AS T(xed)"""
DEADLOCKS = """SELECT xdr.value('@timestamp', 'datetime') AS [Date], xdr.query('.') AS [Event_Data]
FROM (SELECT CAST([target_data] AS XML) AS Target_Data FROM sys.dm_xe_session_targets AS xt
      INNER JOIN sys.dm_xe_sessions AS xs ON xs.address = xt.event_session_address
      WHERE xs.name = N'system_health' AND xt.target_name = N'ring_buffer') AS XML_Data
CROSS APPLY Target_Data.nodes('RingBufferTarget/event[@name="xml_deadlock_report"]') AS XEventData(xdr)
ORDER BY [Date] DESC"""
VICTIMS = """SELECT CAST(event_data AS XML).value('(//victim-list/victimProcess/@id)[1]', 'varchar(20)') AS v
FROM sys.fn_xe_file_target_read_file('system_health*.xel', null, null, null) WHERE object_name = 'xml_deadlock_report'"""


@pytest.fixture
def watched(own):
    """The session runs on every node."""
    for node in ("sql1", "sql2", "sql3"):
        own.sql("ALTER EVENT SESSION AlwaysOn_health ON SERVER STATE = START", node=node)
    return own


def test_a_failover_leaves_its_events(watched):
    """State changes, the statement with its phases, error 1480 and 35202: the new primary's file has them all."""
    manager = "EXEC sp_set_session_context N'external_cluster', N'yes'; "
    with contextlib.closing(watched.connect("sql2")) as connection:
        with pytest.raises(Exception, match="EXTERNAL cluster type"):
            run(connection, "ALTER AVAILABILITY GROUP [ag1] FAILOVER")
        run(connection, manager + "ALTER AVAILABILITY GROUP [ag1] FAILOVER")
    watched.sql("EXEC twin.advance @seconds = 20")
    told = watched.rows(DDL, node="sql2")
    assert [row["phase"] for row in told] == ["BEGIN", "ROLLBACK", "BEGIN", "COMMIT"]
    assert {row["group"] for row in told} == {"ag1"} and told[0]["statement"] == "ALTER AVAILABILITY GROUP [ag1] FAILOVER"
    assert {row["is"] for row in watched.rows(STATES, node="sql2")} >= {"RESOLVING_NORMAL", "PRIMARY_PENDING", "PRIMARY_NORMAL"}
    errors = watched.rows(ERRORS, node="sql2")
    assert {row["error_number"] for row in errors} >= {1480, 35202}
    assert any('database "OLTP" is changing roles' in row["message"] for row in errors if row["error_number"] == 1480)
    names = watched.rows("""SELECT e.name AS n FROM sys.server_event_sessions AS s JOIN sys.server_event_session_events AS e
        ON e.event_session_id = s.event_session_id WHERE s.name = N'AlwaysOn_health'""")
    assert {"availability_group_lease_expired", "error_reported", "sp_server_diagnostics_component_result"} <= {
        row["n"] for row in names
    }


def test_suspended_movement_and_an_automatic_failover(watched):
    """35264 and 35265 are kept; before an automatic failover the candidates are validated."""
    watched.sql("ALTER DATABASE OLTP SET HADR SUSPEND", node="sql3")
    watched.sql("ALTER DATABASE OLTP SET HADR RESUME", node="sql3")
    assert {row["error_number"] for row in watched.rows(ERRORS, node="sql3")} >= {35264, 35265}
    watched.sql("ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    watched.sql("EXEC twin.crash @node = 'sql1'", node="sql2")
    watched.sql("EXEC twin.advance @seconds = 30", node="sql2")
    validated = """SELECT COUNT(*) AS n FROM sys.fn_xe_file_target_read_file('AlwaysOn*.xel', null, null, null)
        WHERE object_name = 'availability_replica_automatic_failover_validation'"""
    assert watched.value(validated, node="sql2") >= 1


def test_a_deadlock_graph_is_found_as_documented(own):
    """Two sessions that lock two rows crosswise: ring buffer and file name the same victim."""
    own.sql(
        "CREATE TABLE dbo.pair (id int NOT NULL PRIMARY KEY, n int); INSERT INTO dbo.pair VALUES (1, 0), (2, 0)", database="OLTP"
    )
    change = "UPDATE dbo.pair SET n = n + 1 WHERE id = "
    with contextlib.closing(own.connect(database="OLTP")) as one, contextlib.closing(own.connect(database="OLTP")) as other:
        run(one, f"BEGIN TRANSACTION; {change} 1")
        run(other, f"BEGIN TRANSACTION; {change} 2")
        failed = []

        def cross():
            try:
                run(one, f"{change} 2")
            except Exception as error:
                failed.append(str(error))

        waiting = threading.Thread(target=cross)
        waiting.start()
        until(lambda: own.rows("SELECT session_id FROM sys.dm_exec_requests WHERE wait_type LIKE N'LCK%'") != [])
        try:
            run(other, f"{change} 1")
        except Exception as error:
            failed.append(str(error))
        waiting.join(timeout=60)
        assert len(failed) == 1 and "deadlock victim" in failed[0]
    graphs = own.rows(DEADLOCKS)
    assert len(graphs) == 1 and "<process-list>" in graphs[0]["Event_Data"] and graphs[0]["Date"] is not None
    assert own.value(VICTIMS) in graphs[0]["Event_Data"]


COMPONENTS = """SELECT x.e.value('(/event/data[@name="component_name"]/value)[1]', 'sysname') AS n,
    x.e.value('(/event/data[@name="state"]/text)[1]', 'sysname') AS s
FROM (SELECT CAST(event_data AS xml) AS e, object_name
      FROM sys.fn_xe_file_target_read_file('{}*.xel', NULL, NULL, NULL)) AS x
WHERE x.object_name = 'sp_server_diagnostics_component_result'"""
PRIMARY = "SELECT primary_replica AS p FROM sys.dm_hadr_availability_group_states"


def health(link, node="sql1"):
    """component_name and state_desc of sp_server_diagnostics."""
    rows = link.rows("EXEC sp_server_diagnostics", node=node)
    assert list(rows[0]) == ["create_time", "component_type", "component_name", "state", "state_desc", "data"]
    return {row["component_name"]: row["state_desc"] for row in rows}


def test_a_well_instance_reports_five_components_and_its_groups(own):
    """Every component is clean, events has no state; it takes five seconds, and data is XML; an interval is 5 s or more."""
    clean = dict.fromkeys(("system", "resource", "query_processing", "io_subsystem", "ag1"), "clean")
    before = own.value("SELECT SYSDATETIME() AS t")
    assert health(own) == {**clean, "events": "unknown"}
    assert (own.value("SELECT SYSDATETIME() AS t") - before).total_seconds() >= 5
    kept = """CREATE TABLE #d (t datetime, k sysname, n sysname, s int, d sysname, data xml);
        INSERT INTO #d EXEC sp_server_diagnostics;
        SELECT data.value('(/system/@systemCpuUtilization)[1]', 'bigint') AS cpu FROM #d WHERE n = 'system'"""
    assert own.rows(kept)[0]["cpu"] >= 0
    with contextlib.closing(own.connect()) as connection, pytest.raises(Exception, match="at least 5 seconds"):
        run(connection, "EXEC sp_server_diagnostics @repeat_interval = 4")


def test_the_failure_condition_level_says_what_moves_the_group(watched):
    """At level 3 an error of query_processing is only reported, an error of system fails over; both leave their events."""
    watched.sql("ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    watched.sql("EXEC twin.sicken @node = 'sql1', @component = 'query_processing'")
    assert health(watched)["query_processing"] == "error"
    assert watched.value(PRIMARY) == "sql1"
    watched.sql("EXEC twin.sicken @node = 'sql1', @component = 'system'", node="sql3")
    assert watched.value(PRIMARY, node="sql3") == "sql2"
    told = [(row["n"], row["s"]) for row in watched.rows(COMPONENTS.format("AlwaysOn_health"))]
    assert told == [("query_processing", "ERROR"), ("system", "ERROR"), ("query_processing", "ERROR")]
    assert ("io_subsystem", "CLEAN") in {(row["n"], row["s"]) for row in watched.rows(COMPONENTS.format("system_health"))}
    watched.sql("EXEC twin.cure @node = 'sql1'")
    assert health(watched)["system"] == "clean"


def test_a_stricter_level_counts_what_was_only_reported(own):
    """An error of resource does nothing at level 3; the group moves as soon as the level is 4."""
    own.sql("ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    own.sql("EXEC twin.sicken @node = 'sql1', @component = 'resource'")
    own.sql("EXEC twin.advance @seconds = 60")
    assert own.value(PRIMARY) == "sql1"
    own.sql("ALTER AVAILABILITY GROUP ag1 SET (FAILURE_CONDITION_LEVEL = 4)")
    assert own.value(PRIMARY, node="sql3") == "sql2"


def test_an_instance_that_does_not_answer_is_given_the_health_check_timeout(own):
    """At level 2 the group moves when HEALTH_CHECK_TIMEOUT (30 s) has passed, unless the instance answers before."""
    own.sql("ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1, FAILURE_CONDITION_LEVEL = 2)")
    ill = "EXEC twin.sicken @node = 'sql1', @component = 'unresponsive'"
    own.sql(
        ill + "; EXEC twin.advance @seconds = 20; EXEC twin.cure @node = 'sql1'; EXEC twin.advance @seconds = 40", node="sql3"
    )
    assert own.value(PRIMARY, node="sql3") == "sql1"
    own.sql(ill + "; EXEC twin.advance @seconds = 31", node="sql3")
    assert own.value(PRIMARY, node="sql3") == "sql2"
    with contextlib.closing(own.connect()) as connection, pytest.raises(Exception, match="component"):
        run(connection, "EXEC twin.sicken @node = 'sql1', @component = 'coffee'")


def test_the_primary_notes_how_its_partners_stand_and_long_waits_are_kept(watched):
    """hadr_db_partner_set_sync_state on SUSPEND and RESUME of a secondary; wait_info for a lock that took more than 30 s."""
    watched.sql("ALTER DATABASE OLTP SET HADR SUSPEND", node="sql3")
    watched.sql("ALTER DATABASE OLTP SET HADR RESUME", node="sql3")
    watched.sql("WAITFOR DELAY '00:00:05'")
    partner = """SELECT x.e.value('(/event/data[@name="sync_state"]/text)[1]', 'sysname') AS s,
        x.e.value('(/event/data[@name="commit_policy"]/text)[1]', 'sysname') AS p
    FROM (SELECT CAST(event_data AS xml) AS e, object_name
          FROM sys.fn_xe_file_target_read_file('AlwaysOn*.xel', NULL, NULL, NULL)) AS x
    WHERE x.object_name = 'hadr_db_partner_set_sync_state'"""
    seen = [(row["s"], row["p"]) for row in watched.rows(partner)]
    assert seen[0] == ("NOT", "DoNothing") and seen[-1] == ("LOG", "WaitForHarden")
    watched.sql("CREATE TABLE dbo.one (id int NOT NULL PRIMARY KEY); INSERT INTO dbo.one VALUES (1)", database="OLTP")
    with contextlib.closing(watched.connect(database="OLTP")) as one:
        run(one, "BEGIN TRANSACTION; UPDATE dbo.one SET id = 2")
        with contextlib.closing(watched.connect(database="OLTP")) as other, pytest.raises(Exception, match="time out"):
            run(other, "SET LOCK_TIMEOUT 40000; UPDATE dbo.one SET id = 3")
    waited = """SELECT x.e.value('(/event/data[@name="duration"]/value)[1]', 'bigint') AS ms
    FROM (SELECT CAST(event_data AS xml) AS e, object_name
          FROM sys.fn_xe_file_target_read_file('system_health*.xel', NULL, NULL, NULL)) AS x
    WHERE x.object_name = 'wait_info' AND x.e.value('(/event/data[@name="wait_type"]/value)[1]', 'sysname') LIKE 'LCK%'"""
    assert watched.value(waited) >= 40000
