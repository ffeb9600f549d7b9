"""The documented failover procedures, step by step, and what happens where a step is left out.

Sources: "Fail over an availability group on Linux", "Perform a forced manual failover", "WSFC disaster recovery through forced
quorum" (SQL Server documentation).
"""

import contextlib

import pytest
from group_scripts import EXTERNAL as MANAGER
from group_scripts import NODES, build
from twin_client import PROFILE, Link, fails, run

from aglab.twin import spawn_child

ROLE = "SELECT role_desc FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
STATES = """SELECT r.replica_server_name AS n, d.synchronization_state_desc AS s FROM sys.dm_hadr_database_replica_states AS d
            JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id"""
FORCE = "ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS"
OFFLINE = "ALTER AVAILABILITY GROUP ag1 OFFLINE"
SECONDARY = "ALTER AVAILABILITY GROUP ag1 SET (ROLE = SECONDARY)"
RESUME = "ALTER DATABASE Shop SET HADR RESUME"
HEALTH = "SELECT event_data AS d FROM sys.fn_xe_file_target_read_file(N'AlwaysOn_health*.xel', NULL, NULL, NULL)"


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """Three nodes with a snapshot of group ag1 over database Shop for each cluster type."""
    with spawn_child(tmp_path_factory.mktemp("procedures") / "s", profile=PROFILE, bare=True) as twin:
        made = Link(twin)
        made.sql("CREATE DATABASE Shop; BACKUP DATABASE Shop TO DISK = N'NUL'")
        made.sql("CREATE TABLE dbo.f (id int NOT NULL PRIMARY KEY); INSERT INTO dbo.f VALUES (1)", database="Shop")
        for node in NODES:
            made.sql("ALTER EVENT SESSION AlwaysOn_health ON SERVER STATE = START", node=node)
        made.sql("EXEC twin.snapshot @name = 'bare'")
        for kind, failover in (("NONE", "MANUAL"), ("EXTERNAL", "EXTERNAL"), ("WSFC", "AUTOMATIC")):
            made.sql("EXEC twin.restore @name = 'bare'")
            build(made, kind, failover, "Shop")
            made.sql("WAITFOR DELAY '00:00:02'")
            made.sql(f"EXEC twin.snapshot @name = '{kind}'")
        yield made


@pytest.fixture
def group(clusters):
    """Brings a cluster type's group back."""

    def restored(kind):
        for node in NODES:  # a test may have left some of them down
            with contextlib.suppress(Exception):
                clusters.sql(f"EXEC twin.restore @name = '{kind}'", node=node)
                break
        return clusters

    return restored


def ids(link, node):
    """The rows on a node."""
    return [row["id"] for row in link.rows("SELECT id FROM dbo.f ORDER BY id", node=node, database="Shop")]


def states(link, node):
    """Synchronization states as a node shows them."""
    return {row["n"]: row["s"] for row in link.rows(STATES, node=node)}


def refused(link, text, node, database="master"):
    """The words of the error that a statement ends with."""
    with contextlib.closing(link.connect(node, "master")) as connection:
        if database != "master":
            run(connection, f"USE [{database}]")
        return fails(connection, text)


def roles(link):
    """The role of every node that answers."""
    return [link.value(ROLE, node) for node in NODES]


def test_planned_failover_without_a_cluster_manager(group):
    """CLUSTER_TYPE = NONE: synchronous, required 1, OFFLINE, force on the target, ROLE = SECONDARY, RESUME: nothing is lost."""
    link = group("NONE")
    assert "CLUSTER_TYPE = NONE" in refused(link, "ALTER AVAILABILITY GROUP ag1 FAILOVER", "sql2")
    link.sql("ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    link.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    assert set(states(link, "sql1").values()) == {"SYNCHRONIZED"}
    assert "Failover of the availability group" in refused(link, SECONDARY, "sql1")  # 41104: OFFLINE comes first
    link.sql(OFFLINE)
    assert "PRIMARY or SECONDARY role" in refused(link, "USE Shop", "sql1")
    link.sql(FORCE, node="sql2")
    assert "lacks a quorum" in refused(link, "USE Shop", "sql2")  # required: one synchronized secondary, and there is none yet
    assert roles(link)[0] == "RESOLVING"  # the old primary waits to be told
    link.sql(SECONDARY)
    for node in ("sql1", "sql3"):
        assert states(link, node)[node] == "NOT SYNCHRONIZING"  # a forced failover suspends every secondary
        link.sql(RESUME, node=node)
    link.sql("WAITFOR DELAY '00:00:05'", node="sql2")
    assert roles(link) == ["SECONDARY", "PRIMARY", "SECONDARY"]
    link.sql("INSERT INTO dbo.f VALUES (3)", node="sql2", database="Shop")
    assert ids(link, "sql1") == ids(link, "sql2") == ids(link, "sql3") == [1, 2, 3]
    assert set(states(link, "sql2").values()) == {"SYNCHRONIZED"}


def test_without_offline_both_take_writes(group):
    """The step OFFLINE left out: two primaries, each with rows that the other lacks; the newer one's stay."""
    link = group("NONE")
    link.sql(FORCE, node="sql2")
    assert roles(link)[:2] == ["PRIMARY", "PRIMARY"]
    link.sql("INSERT INTO dbo.f VALUES (10)", node="sql1", database="Shop")
    link.sql("INSERT INTO dbo.f VALUES (20)", node="sql2", database="Shop")
    link.sql(OFFLINE)
    link.sql(SECONDARY)
    link.sql(RESUME, node="sql1")
    link.sql("WAITFOR DELAY '00:00:05'", node="sql2")
    assert ids(link, "sql1") == ids(link, "sql2") == [1, 20]


def test_without_synchronous_commit_rows_are_lost(group):
    """The step SYNCHRONOUS_COMMIT left out: what the suspended or asynchronous target had not received is gone."""
    link = group("NONE")
    link.sql("ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql2' WITH (AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT)")
    link.sql("EXEC twin.cut @node = 'sql2'")
    link.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    link.sql(OFFLINE)
    link.sql(f"EXEC twin.heal @node = 'sql2'; {FORCE}", node="sql2")
    assert ids(link, "sql2") == [1]


def test_automatic_failover_by_a_cluster_manager(group):
    """CLUSTER_TYPE = EXTERNAL with REQUIRED 1: the manager promotes a synchronized replica; the old primary follows."""
    link = group("EXTERNAL")
    assert "EXTERNAL cluster type" in refused(link, "ALTER AVAILABILITY GROUP ag1 FAILOVER", "sql2")
    link.sql("ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    link.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    link.sql("EXEC twin.crash @node = 'sql1'; EXEC twin.advance @seconds = 60", node="sql3")
    now = {node: link.value(ROLE, node) for node in ("sql2", "sql3")}
    assert sorted(now.values()) == ["PRIMARY", "SECONDARY"]
    taker = next(node for node, role in now.items() if role == "PRIMARY")
    assert ids(link, taker) == [1, 2]
    link.sql("EXEC twin.start @node = 'sql1'; EXEC twin.advance @seconds = 60", node=taker)
    assert link.value(ROLE) == "SECONDARY" and ids(link, "sql1") == [1, 2]


def test_without_required_secondaries_the_manager_does_not_promote(group):
    """REQUIRED 0 left as it is: no replica is promoted by itself, since one may lack what the primary acknowledged alone."""
    link = group("EXTERNAL")
    link.sql("EXEC twin.crash @node = 'sql1'; EXEC twin.advance @seconds = 120", node="sql3")
    assert "PRIMARY" not in {link.value(ROLE, node) for node in ("sql2", "sql3")}
    link.sql(MANAGER + FORCE, node="sql2")
    assert ids(link, "sql2") == [1]


def test_an_isolated_primary_loses_quorum(group):
    """CLUSTER_TYPE = WSFC: the primary in the minority goes to RESOLVING, the majority fails over; errorlog and events say so."""
    link = group("WSFC")
    link.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    link.sql("EXEC twin.cut @node = 'sql1'; EXEC twin.advance @seconds = 60", node="sql2")
    assert link.value(ROLE) == "RESOLVING"
    assert "PRIMARY or SECONDARY role" in refused(link, "USE Shop", "sql1")
    assert link.rows("EXEC sp_readerrorlog 0, 1, N'lease'")
    taker = next(node for node in ("sql2", "sql3") if link.value(ROLE, node) == "PRIMARY")
    assert ids(link, taker) == [1, 2]
    link.sql("INSERT INTO dbo.f VALUES (3)", node=taker, database="Shop")
    events = " ".join(row["d"] for row in link.rows(HEALTH))
    assert "availability_replica_state_change" in events and "RESOLVING_NORMAL" in events
    link.sql("EXEC twin.heal @node = 'sql1'; EXEC twin.advance @seconds = 60", node=taker)
    assert link.value(ROLE) == "SECONDARY" and ids(link, "sql1") == [1, 2, 3]


def test_forced_quorum_and_the_way_back(group):
    """Two of three nodes gone: no role, failover refused (41131) until quorum is forced; the others come back suspended."""
    link = group("WSFC")
    link.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    link.sql("EXEC twin.crash @node = 'sql1'; EXEC twin.crash @node = 'sql2'; EXEC twin.advance @seconds = 60", node="sql3")
    assert link.value(ROLE, "sql3") == "RESOLVING"
    assert "Failed to bring availability group" in refused(link, FORCE, "sql3")
    link.sql("EXEC twin.force_quorum @node = 'sql3'", node="sql3")
    assert link.value("SELECT quorum_state_desc FROM sys.dm_hadr_cluster", "sql3") == "FORCED_QUORUM"
    link.sql(FORCE, node="sql3")
    assert link.value(ROLE, "sql3") == "PRIMARY" and ids(link, "sql3") == [1, 2]
    link.sql("EXEC twin.start @node = 'sql1'; EXEC twin.start @node = 'sql2'; EXEC twin.advance @seconds = 60", node="sql3")
    assert roles(link) == ["SECONDARY", "SECONDARY", "PRIMARY"]
    assert states(link, "sql1")["sql1"] == "NOT SYNCHRONIZING"
    link.sql("INSERT INTO dbo.f VALUES (3)", node="sql3", database="Shop")
    for node in ("sql1", "sql2"):
        link.sql(RESUME, node=node)
    link.sql("EXEC twin.advance @seconds = 5", node="sql3")
    assert ids(link, "sql1") == ids(link, "sql2") == ids(link, "sql3") == [1, 2, 3]


def test_a_lagging_target_refuses_a_planned_failover(group):
    """FAILOVER on a replica that is not synchronized is 41142; the forced one goes through and says what it costs."""
    link = group("WSFC")
    link.sql("ALTER DATABASE Shop SET HADR SUSPEND", node="sql2")
    link.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    assert "cannot become the primary replica" in refused(link, "ALTER AVAILABILITY GROUP ag1 FAILOVER", "sql2")
    link.sql(FORCE, node="sql2")
    assert ids(link, "sql2") == [1]
    assert states(link, "sql3")["sql3"] == "NOT SYNCHRONIZING"
