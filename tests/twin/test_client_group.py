"""Failover, faults and access rules of the availability group, as a client sees them."""

import contextlib

import psutil
import pytest
from group_scripts import EXTERNAL
from twin_client import PROFILE, Link, fails, run

from aglab.twin import spawn_child

ROLE = "SELECT role_desc FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
LOST = r"."  # each driver says in its own words that the connection is gone
STATES = """SELECT r.replica_server_name AS n, d.synchronization_state_desc AS s FROM sys.dm_hadr_database_replica_states AS d
            JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id"""


@pytest.fixture
def own(own):
    """As everywhere, and left with sql1 primary for the tests that change nothing."""
    yield own
    own.sql("EXEC twin.restore @name = 'as_made'", node="sql2")


def states(own, node="sql1"):
    """Synchronization state by replica."""
    return {row["n"]: row["s"] for row in own.rows(STATES, node=node)}


def refused(own, text, node="sql1", database="master"):
    """The words of the error that a statement ends with."""
    with contextlib.closing(own.connect(node)) as connection:
        try:
            run(connection, f"USE [{database}]")
        except Exception as error:
            return str(error)
        return fails(connection, text)


def ids(own, node):
    """Rows of the test's table on a node."""
    return [row["id"] for row in own.rows("SELECT id FROM dbo.f ORDER BY id", node=node, database="OLTP")]


def test_planned_failover_keeps_every_row(own):
    """FAILOVER on a synchronized secondary: roles change, the old primary's clients are gone, every committed row is there."""
    own.sql("CREATE TABLE dbo.f (id int NOT NULL PRIMARY KEY)", database="OLTP")
    own.sql("EXEC twin.run_workload @seconds = 5")
    for number in range(5):
        own.sql("INSERT INTO dbo.f VALUES (?)", database="OLTP", parameters=(number,))
    open_work = own.connect(database="OLTP", autocommit=False)
    open_work.cursor().execute("INSERT INTO dbo.f VALUES (99)")
    assert "EXTERNAL cluster type" in refused(own, "ALTER AVAILABILITY GROUP ag1 FAILOVER", "sql2")
    own.sql(EXTERNAL + "ALTER AVAILABILITY GROUP [ag1] FAILOVER", node="sql2")
    with pytest.raises(Exception, match=LOST):
        open_work.cursor().execute("SELECT 1")
    own.sql("EXEC twin.advance @seconds = 30")
    assert [own.value(ROLE, node) for node in ("sql1", "sql2", "sql3")] == ["SECONDARY", "PRIMARY", "SECONDARY"]
    assert ids(own, "sql2") == ids(own, "sql1") == ids(own, "sql3") == [0, 1, 2, 3, 4]
    own.sql("INSERT INTO dbo.f VALUES (5)", node="sql2", database="OLTP")
    assert ids(own, "sql1")[-1] == 5 and "read-only" in refused(own, "INSERT INTO dbo.f VALUES (6)", "sql1", "OLTP")
    assert set(states(own, "sql2").values()) == {"SYNCHRONIZED"}
    own.sql("EXEC twin.run_workload @seconds = 5", node="sql2")
    lines = [row["Text"] for row in own.rows("EXEC sp_readerrorlog 0, 1, N'PRIMARY_NORMAL'", node="sql2")]
    assert any("'PRIMARY_PENDING' to 'PRIMARY_NORMAL'" in one for one in lines)


def test_forced_failover_loses_what_was_not_hardened(own):
    """Rows that the target had not hardened are gone on every replica; suspended ones come back with RESUME."""
    own.sql("CREATE TABLE dbo.f (id int NOT NULL PRIMARY KEY)", database="OLTP")
    own.sql("INSERT INTO dbo.f VALUES (1)", database="OLTP")
    own.sql("ALTER DATABASE [OLTP] SET HADR SUSPEND", node="sql3")
    assert states(own)["sql3"] == "NOT SYNCHRONIZING"
    own.sql("INSERT INTO dbo.f VALUES (2)", database="OLTP")
    own.sql("ALTER DATABASE [OLTP] SET HADR SUSPEND", node="sql2")
    own.sql("INSERT INTO dbo.f VALUES (3)", database="OLTP")
    assert ids(own, "sql1") == [1, 2, 3]
    assert "not accessible" in refused(own, "SELECT id FROM dbo.f", "sql3", "OLTP")
    with pytest.raises(Exception, match="not accessible"):  # the login's own database, too
        own.connect("sql3", "OLTP")
    own.sql(EXTERNAL + "ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS", node="sql2")
    own.sql("EXEC twin.advance @seconds = 1")
    assert ids(own, "sql2") == [1, 2]
    for node in ("sql1", "sql3"):
        assert states(own, node)[node] == "NOT SYNCHRONIZING"
        own.sql("ALTER DATABASE [OLTP] SET HADR RESUME", node=node)
    own.sql("INSERT INTO dbo.f VALUES (4)", node="sql2", database="OLTP")
    own.sql("EXEC twin.advance @seconds = 5")
    assert ids(own, "sql1") == ids(own, "sql2") == ids(own, "sql3") == [1, 2, 4]
    assert set(states(own, "sql2").values()) == {"SYNCHRONIZED"}


def test_a_replica_that_followed_an_asynchronous_primary_waits_as_primary_itself(own):
    """The load's commits wait for others again once a replica leads that commits synchronously, whatever it followed before."""
    waited = "SELECT wait_time_ms FROM sys.dm_os_wait_stats WHERE wait_type = 'HADR_SYNC_COMMIT'"
    own.sql("ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql1' WITH (AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT)")
    own.sql("EXEC twin.start_workload @users = 10; WAITFOR DELAY '00:00:05'")
    assert own.value(waited) == 0
    own.sql("EXEC twin.stop_workload")
    own.sql(EXTERNAL + "ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS", node="sql2")
    own.sql("ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql1' WITH (AVAILABILITY_MODE = SYNCHRONOUS_COMMIT)", node="sql2")
    for node in ("sql1", "sql3"):
        own.sql("ALTER DATABASE [OLTP] SET HADR RESUME", node=node)
    own.sql("EXEC twin.advance @seconds = 5", node="sql2")
    assert set(states(own, "sql2").values()) == {"SYNCHRONIZED"}
    own.sql("EXEC twin.start_workload @users = 10; WAITFOR DELAY '00:00:05'", node="sql2")
    assert own.value(waited, node="sql2") > 1000


def test_a_commit_waits_for_a_silent_replica_until_the_session_times_out(own):
    """Inside SESSION_TIMEOUT a replica that was cut off is still waited for; after it the primary goes on alone."""
    own.sql("CREATE TABLE dbo.f (id int NOT NULL PRIMARY KEY)", database="OLTP")
    own.sql("EXEC twin.cut @node = 'sql3'")
    assert states(own)["sql3"] == "SYNCHRONIZED"
    begun = own.value("SELECT SYSDATETIME()")
    own.sql("INSERT INTO dbo.f VALUES (1)", database="OLTP")
    assert 9.5 <= (own.value("SELECT SYSDATETIME()") - begun).total_seconds() <= 10.5
    assert states(own) == {"sql1": "SYNCHRONIZED", "sql2": "SYNCHRONIZED", "sql3": "NOT SYNCHRONIZING"}
    assert own.rows("EXEC sp_readerrorlog 0, 1, N'connection timeout'")
    assert "35206" in str(own.rows("SELECT last_connect_error_number AS n FROM sys.dm_hadr_availability_replica_states"))
    own.sql("EXEC twin.heal @node = 'sql3'")
    own.sql("EXEC twin.advance @seconds = 15")
    assert ids(own, "sql3") == [1] and states(own)["sql3"] == "SYNCHRONIZED"


def test_a_crashed_primary_and_its_return(own):
    """Without its primary the group waits; the node that comes back first takes its role again with every row."""
    own.sql("CREATE TABLE dbo.f (id int NOT NULL PRIMARY KEY); INSERT INTO dbo.f VALUES (1)", database="OLTP")
    own.sql("EXEC twin.crash @node = 'sql1'", node="sql2")
    with pytest.raises(Exception, match=LOST):
        own.sql("SELECT 1", node="sql1")
    own.sql("EXEC twin.advance @seconds = 15", node="sql2")
    own.sql("EXEC twin.start @node = 'sql1'", node="sql2")
    own.sql("EXEC twin.advance @seconds = 15", node="sql2")
    assert own.value(ROLE) == "PRIMARY" and ids(own, "sql1") == ids(own, "sql2") == [1]
    own.sql("EXEC twin.stop @node = 'sql3'")
    own.sql("INSERT INTO dbo.f VALUES (2)", database="OLTP")
    own.sql("EXEC twin.start @node = 'sql3'")
    own.sql("EXEC twin.advance @seconds = 15")
    assert ids(own, "sql3") == [1, 2]
    assert "runs this session" in refused(own, "EXEC twin.crash @node = 'sql1'")
    assert "runs this session" in refused(own, "EXEC twin.stop @node = 'sql1'")


def test_modes_and_required_secondaries(own):
    """Modes change the states; with fewer synchronized secondaries than required the database is closed (988)."""
    own.sql("CREATE TABLE dbo.f (id int)", database="OLTP")
    own.sql("ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql3' WITH (AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT)")
    assert states(own)["sql3"] == "SYNCHRONIZING"
    own.sql("ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 1)")
    column = "SELECT required_synchronized_secondaries_to_commit FROM sys.availability_groups"
    assert own.value(column) == 1
    assert "ag1" in refused(own, "ALTER AVAILABILITY GROUP ag1 SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 5)")
    own.sql("ALTER DATABASE [OLTP] SET HADR SUSPEND", node="sql2")
    assert "quorum" in refused(own, "INSERT INTO dbo.f VALUES (1)", "sql1", "OLTP")
    own.sql("ALTER DATABASE [OLTP] SET HADR RESUME", node="sql2")
    own.sql("EXEC twin.advance @seconds = 1")
    own.sql("INSERT INTO dbo.f VALUES (1)", database="OLTP")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ALTER AVAILABILITY GROUP nosuch FAILOVER", "does not exist"),
        ("ALTER AVAILABILITY GROUP ag1 FAILOVER", "Cannot failover"),
        ("ALTER AVAILABILITY GROUP ag1 SET (ROLE = SECONDARY)", "ag1"),
        ("ALTER AVAILABILITY GROUP ag1 ADD LISTENER N'x' (WITH IP ((N'10.0.0.9', N'255.0.0.0')))", "loopback"),
        ("ALTER AVAILABILITY GROUP ag1 ADD DATABASE nosuch", "does not exist"),
        ("ALTER AVAILABILITY GROUP ag1 SET (NO_SUCH = 1)", "NO_SUCH"),
        ("ALTER AVAILABILITY GROUP ag1 SET (FAILURE_CONDITION_LEVEL = x)", "x"),
        ("ALTER DATABASE [OLTP] SET HADR OFF", "OLTP"),
    ],
)
def test_statements_that_are_refused(link, text, words):
    """Each refusal has SQL Server's words, or names what the twin does not know."""
    assert words.lower() in refused(link, text).lower()


def test_databases_join_and_leave(own):
    """ADD DATABASE seeds every secondary; REMOVE DATABASE leaves their copies RESTORING (927)."""
    own.sql("CREATE DATABASE Shop")
    own.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="Shop")
    assert "have not been backed up" in refused(own, "ALTER AVAILABILITY GROUP ag1 ADD DATABASE Shop")
    own.sql("BACKUP DATABASE Shop TO DISK = N'NUL'")
    own.sql("ALTER AVAILABILITY GROUP ag1 ADD DATABASE Shop")
    assert states(own)["sql2"] == "NOT SYNCHRONIZING"
    own.sql("WAITFOR DELAY '00:00:01'")
    assert own.value("SELECT id FROM dbo.f", node="sql2", database="Shop") == 1
    own.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    assert len(own.rows("SELECT id FROM dbo.f", node="sql3", database="Shop")) == 2
    own.sql("ALTER AVAILABILITY GROUP ag1 REMOVE DATABASE Shop")
    with pytest.raises(Exception, match=r"(?i)restor"):
        own.sql("SELECT id FROM dbo.f", node="sql2", database="Shop")
    own.sql("INSERT INTO dbo.f VALUES (3)", database="Shop")


def test_snapshot_keeps_roles(own):
    """A snapshot taken after a failover brings back roles, engine and rows."""
    own.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="OLTP")
    own.sql(EXTERNAL + "ALTER AVAILABILITY GROUP ag1 FAILOVER", node="sql2")
    own.sql("EXEC twin.advance @seconds = 5")
    own.sql("EXEC twin.snapshot @name = 'after'")
    own.sql(EXTERNAL + "ALTER AVAILABILITY GROUP ag1 FAILOVER", node="sql1")
    assert own.value(ROLE, "sql1") == "PRIMARY"
    own.sql("EXEC twin.restore @name = 'after'")
    assert own.value(ROLE, "sql2") == "PRIMARY" and ids(own, "sql2") == [1]
    with contextlib.closing(own.connect("sql2", "OLTP")) as connection:
        run(connection, "INSERT INTO dbo.f VALUES (2)")
    assert ids(own, "sql1") == [1, 2]


def test_roles_and_waiting_rows_survive_a_killed_process(tmp_path):
    """After a failover and with rows that a suspended replica lacks, a process killed without a word comes back the same."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        link.sql("CREATE TABLE dbo.f (id int)", database="OLTP")
        link.sql(EXTERNAL + "ALTER AVAILABILITY GROUP ag1 FAILOVER", node="sql2")
        link.sql("ALTER DATABASE [OLTP] SET HADR SUSPEND", node="sql3")
        link.sql("INSERT INTO dbo.f VALUES (1)", node="sql2", database="OLTP")
        psutil.Process(twin.process_id).kill()
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        assert link.value(ROLE, "sql2") == "PRIMARY" and ids(link, "sql2") == ids(link, "sql1") == [1]
        link.sql("ALTER DATABASE [OLTP] SET HADR RESUME", node="sql3")
        link.sql("EXEC twin.advance @seconds = 5")
        assert ids(link, "sql3") == [1]
