"""What administration leaves outlives the process: pools, classifier, event sessions, keys, memory-optimized tables."""

from twin_client import PROFILE, Link

from aglab.twin import spawn_child

SET_UP = """CREATE RESOURCE POOL p WITH (CAP_CPU_PERCENT = 30, AFFINITY SCHEDULER = (0 TO 3));
CREATE WORKLOAD GROUP g WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = 12.5) USING p;
CREATE EVENT SESSION kept ON SERVER ADD EVENT sqlserver.sql_batch_completed (WHERE batch_text <> N'it''s [not] "this"')
    ADD TARGET package0.event_file (SET filename = N'kept.xel') WITH (STARTUP_STATE = ON);
CREATE CERTIFICATE tde WITH SUBJECT = N'Keys'; CREATE DATABASE secret;
ALTER DATABASE secret ADD FILEGROUP fx CONTAINS MEMORY_OPTIMIZED_DATA;
ALTER DATABASE secret ADD FILE (NAME = fx1, FILENAME = N'/var/opt/mssql/data/fx1') TO FILEGROUP fx;
ALTER SERVER CONFIGURATION SET SOFTNUMA ON"""
CLASSIFIER = "CREATE FUNCTION dbo.f() RETURNS sysname WITH SCHEMABINDING AS BEGIN RETURN N'g' END"
READ = """SELECT (SELECT cap_cpu_percent FROM sys.dm_resource_governor_resource_pools WHERE name = N'p') AS cap,
(SELECT scheduler_mask FROM sys.dm_resource_governor_resource_pool_affinity) AS mask,
(SELECT request_max_memory_grant_percent_numeric FROM sys.dm_resource_governor_workload_groups WHERE name = N'g') AS memory,
(SELECT g.name FROM sys.dm_exec_sessions AS s JOIN sys.dm_resource_governor_workload_groups AS g ON g.group_id = s.group_id
 WHERE s.session_id = @@SPID) AS mine,
(SELECT startup_state FROM sys.server_event_sessions WHERE name = N'kept') AS startup,
(SELECT e.predicate FROM sys.server_event_session_events AS e JOIN sys.server_event_sessions AS s
 ON s.event_session_id = e.event_session_id WHERE s.name = N'kept') AS predicate,
(SELECT encryption_state_desc FROM sys.dm_database_encryption_keys) AS encryption,
(SELECT softnuma_configuration FROM sys.dm_os_sys_info) AS numa"""


def test_administration_outlives_the_process(tmp_path):
    """One process sets everything up and ends; the next one answers the same, and goes on collecting and encrypting."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        for statement in (SET_UP, CLASSIFIER):
            link.sql(statement)
        link.sql(
            "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE tde", database="secret"
        )
        link.sql(
            "CREATE TABLE dbo.m (id int NOT NULL PRIMARY KEY NONCLUSTERED) WITH (MEMORY_OPTIMIZED = ON)",
            database="secret",
        )
        link.sql("INSERT INTO dbo.m VALUES (1), (2)", database="secret")
        link.sql("ALTER DATABASE secret SET ENCRYPTION ON; EXEC twin.advance @seconds = 60")
        link.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = dbo.f); ALTER RESOURCE GOVERNOR RECONFIGURE")
        link.sql("ALTER EVENT SESSION kept ON SERVER STATE = START")
        link.sql("SELECT N'before' AS w")
        before = link.rows(READ)
        assert before[0] == {
            "cap": 30,
            "mask": 15,
            "memory": 12.5,
            "mine": "g",
            "startup": True,
            "predicate": "batch_text <> N'it''s [not] \"this\"'",
            "encryption": "ENCRYPTED",
            "numa": 0,
        }
    with spawn_child(tmp_path / "s") as twin:
        link = Link(twin)
        assert link.rows(READ) == before
        assert link.value("SELECT COUNT(*) FROM dbo.m", database="secret") == 2
        link.sql("SELECT N'after' AS w")
        texts = link.rows("SELECT event_data AS e FROM sys.fn_xe_file_target_read_file(N'kept*.xel', NULL, NULL, NULL)")
        assert any("before" in row["e"] for row in texts) and any("after" in row["e"] for row in texts)
