"""A distributed availability group over sql1 and over sql2 with sql3, by the statements of the documentation."""

import contextlib

from group_scripts import create, join, prepare
from twin_client import fails

ON = """
   AVAILABILITY GROUP ON
      'ag1' WITH (LISTENER_URL = 'tcp://sql1:5022', AVAILABILITY_MODE = {mode}, FAILOVER_MODE = MANUAL, SEEDING_MODE = AUTOMATIC),
      'ag2' WITH (LISTENER_URL = 'tcp://ag2-listener.lab.local:5022', AVAILABILITY_MODE = {mode}, FAILOVER_MODE = MANUAL,
                  SEEDING_MODE = AUTOMATIC);
"""
SYNCHRONOUS = """ALTER AVAILABILITY GROUP [distributedag] MODIFY AVAILABILITY GROUP ON
    'ag1' WITH (AVAILABILITY_MODE = SYNCHRONOUS_COMMIT), 'ag2' WITH (AVAILABILITY_MODE = SYNCHRONOUS_COMMIT);"""
READINESS = """SELECT ag.name, drs.database_id, db_name(drs.database_id) as database_name, drs.group_id, drs.replica_id,
                      drs.synchronization_state_desc, drs.last_hardened_lsn
               FROM sys.dm_hadr_database_replica_states drs
               INNER JOIN sys.availability_groups ag ON drs.group_id = ag.group_id;"""
ROLES = """SELECT ag.[name] AS [AG Name], ag.is_distributed, ar.replica_server_name AS n, ars.role_desc AS r,
                  ars.synchronization_health_desc AS h, ars.connected_state_desc AS c
           FROM sys.availability_groups ag, sys.availability_replicas ar, sys.dm_hadr_availability_replica_states ars
           WHERE ar.replica_id = ars.replica_id AND ag.group_id = ar.group_id AND ag.is_distributed = 1"""


def distributed(link, mode="ASYNCHRONOUS_COMMIT"):
    """Group ag1 on sql1 with database Shop, an empty ag2 on sql2 and sql3, and the distributed group over them."""
    prepare(link)
    link.sql(create("ag1", nodes=("sql1",), databases="[Shop]"))
    link.sql(create("ag2", nodes=("sql2", "sql3")), node="sql2")
    link.sql(join("ag2"), node="sql3")
    listener = "ALTER AVAILABILITY GROUP [ag2] ADD LISTENER N'ag2-listener' (WITH IP ((N'127.0.0.1', N'255.0.0.0')), PORT = {0})"
    link.sql(listener.format(link.ports["sql2"]), node="sql2")
    link.sql("CREATE AVAILABILITY GROUP [distributedag] WITH (DISTRIBUTED)" + ON.format(mode=mode))
    link.sql("ALTER AVAILABILITY GROUP [distributedag] JOIN" + ON.format(mode=mode), node="sql2")
    link.sql("EXEC twin.advance @seconds = 60")  # the forwarder is seeded
    link.sql("EXEC twin.advance @seconds = 60")  # then its secondary


LOCAL = """DECLARE @lag uniqueidentifier = (SELECT group_id FROM sys.availability_groups WHERE is_distributed = 1);
DECLARE @replica uniqueidentifier = (SELECT r.replica_id FROM sys.availability_replicas AS r
    JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id AND s.is_local = 1
    WHERE r.group_id = @lag);
DECLARE @database uniqueidentifier = (SELECT group_database_id FROM sys.dm_hadr_database_replica_states
    WHERE group_id = @lag AND is_local = 1);
SELECT g.name AS g, d.database_name AS d
FROM sys.fn_hadr_distributed_ag_replica(@lag, @replica) AS r
JOIN sys.availability_groups AS g ON g.group_id = r.group_id
CROSS JOIN sys.fn_hadr_distributed_ag_database_replica(@lag, @database) AS f
JOIN sys.availability_databases_cluster AS d ON d.group_database_id = f.group_database_id"""


def ids(link, node):
    """Rows of the table on a node."""
    return [row["id"] for row in link.rows("SELECT id FROM dbo.f ORDER BY id", node=node, database="Shop")]


def lsns(link, node):
    """last_hardened_lsn of the distributed group on a node."""
    return {row["last_hardened_lsn"] for row in link.rows(READINESS, node=node) if row["name"] == "distributedag"}


def refused(link, text, node="sql1", database="master"):
    """The words of the error that a statement ends with."""
    with contextlib.closing(link.connect(node, database)) as connection:
        return fails(connection, text)


def test_the_documented_failover_loses_nothing(bare):
    """Seeding, both groups synchronous, equal LSNs, SET (ROLE = SECONDARY), FORCE on the forwarder, log the other way round."""
    distributed(bare)
    assert ids(bare, "sql2") == ids(bare, "sql3") == [1]
    assert bare.rows(LOCAL) == [{"g": "ag1", "d": "Shop"}]
    assert bare.rows(LOCAL, node="sql2") == [{"g": "ag2", "d": "Shop"}]
    bare.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    assert ids(bare, "sql2") == ids(bare, "sql3") == [1, 2]
    assert "read-only" in refused(bare, "INSERT INTO dbo.f VALUES (3)", "sql2", "Shop")
    for node in ("sql1", "sql2"):
        bare.sql(SYNCHRONOUS, node=node)
    states = {row["synchronization_state_desc"] for row in bare.rows(READINESS) if row["name"] == "distributedag"}
    assert states == {"SYNCHRONIZED"} and lsns(bare, "sql1") == lsns(bare, "sql2")
    assert {row["n"]: (row["r"], row["h"], row["c"]) for row in bare.rows(ROLES)} == {
        "ag1": ("PRIMARY", "HEALTHY", "CONNECTED"),
        "ag2": ("SECONDARY", "HEALTHY", "CONNECTED"),
    }
    bare.sql("ALTER AVAILABILITY GROUP distributedag SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    bare.sql("INSERT INTO dbo.f VALUES (3)", database="Shop")
    bare.sql("ALTER AVAILABILITY GROUP distributedag SET (ROLE = SECONDARY)")
    for node in ("sql1", "sql2"):
        assert "read-only" in refused(bare, "INSERT INTO dbo.f VALUES (9)", node, "Shop")
    assert lsns(bare, "sql1") == lsns(bare, "sql2") and len(lsns(bare, "sql1")) == 1
    bare.sql("ALTER AVAILABILITY GROUP distributedag FORCE_FAILOVER_ALLOW_DATA_LOSS", node="sql2")
    bare.sql("ALTER AVAILABILITY GROUP distributedag SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 0)")
    bare.sql("INSERT INTO dbo.f VALUES (4)", node="sql2", database="Shop")
    assert ids(bare, "sql1") == ids(bare, "sql2") == ids(bare, "sql3") == [1, 2, 3, 4]
    assert {row["n"]: row["r"] for row in bare.rows(ROLES, node="sql2")} == {"ag1": "SECONDARY", "ag2": "PRIMARY"}
    assert "read-only" in refused(bare, "INSERT INTO dbo.f VALUES (9)", "sql1", "Shop")


def test_a_failover_by_force_loses_what_was_not_forwarded(bare):
    """Behind a cut link rows stay on the old primary; after SET (ROLE = SECONDARY) there they are gone, as forced."""
    distributed(bare)
    bare.sql("EXEC twin.cut @node = 'sql1'")
    bare.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    assert ids(bare, "sql2") == [1]
    bare.sql("EXEC twin.advance @seconds = 15")
    bare.sql("ALTER AVAILABILITY GROUP distributedag FORCE_FAILOVER_ALLOW_DATA_LOSS", node="sql2")
    bare.sql("INSERT INTO dbo.f VALUES (3)", node="sql2", database="Shop")
    bare.sql("EXEC twin.heal @node = 'sql1'")
    assert ids(bare, "sql1") == [1, 2]
    bare.sql("ALTER AVAILABILITY GROUP distributedag SET (ROLE = SECONDARY)")
    bare.sql("EXEC twin.advance @seconds = 1")
    assert ids(bare, "sql1") == ids(bare, "sql2") == [1, 3]


def test_a_synchronous_commit_waits_for_the_other_group(bare):
    """While the link is cut a commit waits ten seconds, the session's time-out; with REQUIRED = 1 the database closes instead."""
    distributed(bare, "SYNCHRONOUS_COMMIT")
    bare.sql("EXEC twin.cut @node = 'sql1'")
    elapsed = "DECLARE @t datetime2 = SYSDATETIME(); INSERT INTO dbo.f VALUES (2); SELECT DATEDIFF(ms, @t, SYSDATETIME()) AS ms"
    assert 9_500 <= bare.value(elapsed, database="Shop") <= 10_500
    bare.sql("EXEC twin.heal @node = 'sql1'; EXEC twin.advance @seconds = 1")
    assert ids(bare, "sql3") == [1, 2]
    bare.sql("ALTER AVAILABILITY GROUP distributedag SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    bare.sql("EXEC twin.cut @node = 'sql1'; EXEC twin.advance @seconds = 15")
    assert "lacks a quorum" in refused(bare, "USE Shop; INSERT INTO dbo.f VALUES (3)")


def test_refusals(bare):
    """Errors of the statements, by number."""
    prepare(bare)
    bare.sql(create("ag1", nodes=("sql1",), databases="[Shop]"))
    bare.sql(create("ag2", nodes=("sql2", "sql3")), node="sql2")
    made = "CREATE AVAILABILITY GROUP [distributedag] WITH (DISTRIBUTED)" + ON.format(mode="ASYNCHRONOUS_COMMIT")
    assert "same name already exists" in refused(bare, made.replace("[distributedag]", "[ag1]"))
    automatic = made.replace("FAILOVER_MODE = MANUAL", "FAILOVER_MODE = AUTOMATIC")
    assert "Automatic failover is not supported for distributed" in refused(bare, automatic)
    assert "not found. Rerun the command" in refused(
        bare, "ALTER AVAILABILITY GROUP nosuch JOIN" + ON.format(mode="ASYNCHRONOUS_COMMIT"), "sql2"
    )
    assert "only applies to distributed" in refused(
        bare, "ALTER AVAILABILITY GROUP ag1 MODIFY AVAILABILITY GROUP ON 'ag1' WITH (SEEDING_MODE = MANUAL)"
    )
    bare.sql(made)
    assert "already existing distributed" in refused(bare, made.replace("[distributedag]", "[another]"))
    bare.sql(
        "CREATE DATABASE Extra; BACKUP DATABASE Extra TO DISK = N'NUL'; ALTER AVAILABILITY GROUP ag2 ADD DATABASE Extra", "sql2"
    )
    joining = "ALTER AVAILABILITY GROUP [distributedag] JOIN" + ON.format(mode="ASYNCHRONOUS_COMMIT")
    assert "contains one or more databases" in refused(bare, joining, "sql2")
    bare.sql("ALTER AVAILABILITY GROUP ag2 REMOVE DATABASE Extra", node="sql2")
    bare.sql(joining, node="sql2")
    wrong = "ALTER AVAILABILITY GROUP distributedag MODIFY AVAILABILITY GROUP ON 'ag9' WITH (SEEDING_MODE = MANUAL)"
    assert "Participant availability replica 'ag9' not found" in refused(bare, wrong)
    assert "already" in refused(bare, "ALTER AVAILABILITY GROUP distributedag FORCE_FAILOVER_ALLOW_DATA_LOSS")
    assert "Extra" not in refused(bare, "ALTER AVAILABILITY GROUP distributedag FAILOVER", "sql2")
    for node in ("sql1", "sql2"):
        bare.sql("DROP AVAILABILITY GROUP distributedag", node=node)
        assert bare.rows("SELECT name FROM sys.availability_groups WHERE is_distributed = 1", node=node) == []
    bare.sql("USE Shop; INSERT INTO dbo.f VALUES (2)")


def test_kept_in_a_snapshot(bare):
    """A snapshot brings the distributed group, its marks and its rows back."""
    distributed(bare, "SYNCHRONOUS_COMMIT")
    bare.sql("EXEC twin.snapshot @name = 'distributed'")
    bare.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    bare.sql("EXEC twin.restore @name = 'distributed'")
    assert ids(bare, "sql1") == ids(bare, "sql3") == [1]
    bare.sql("INSERT INTO dbo.f VALUES (3)", database="Shop")
    assert ids(bare, "sql1") == ids(bare, "sql3") == [1, 3]
    assert lsns(bare, "sql1") == lsns(bare, "sql2")
