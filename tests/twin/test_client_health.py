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
