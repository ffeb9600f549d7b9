"""A contained availability group: its own master and msdb, and what travels with it, with real clients through its listener."""

import contextlib
import socket

import pytest
from group_scripts import EXTERNAL, NODES, PASSWORD, create, join, prepare
from twin_client import PROFILE, Link, fails, run, until

from aglab.twin import spawn_child

WHERE = "SELECT @@SERVERNAME AS server, DB_NAME() AS db, SUSER_SNAME() AS login"


@pytest.fixture(scope="module")
def formed(tmp_path_factory):
    """Contained group cag with database Shop, synchronized on three nodes, and a listener."""
    with spawn_child(tmp_path_factory.mktemp("contained") / "s", profile=PROFILE, bare=True) as twin:
        made = Link(twin)
        prepare(made)
        made.sql("CREATE LOGIN local_only WITH PASSWORD = N'Str0ng-Password'; CREATE DATABASE Shop")
        made.sql("BACKUP DATABASE Shop TO DISK = N'NUL'")
        made.sql(create("cag", "EXTERNAL", "EXTERNAL", "Shop", options=", CONTAINED"))
        for node in NODES[1:]:
            made.sql(join("cag", "EXTERNAL"), node=node)
        made.sql("WAITFOR DELAY '00:00:05'")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            made.ports["listener"] = one.getsockname()[1]
        made.sql(
            "ALTER AVAILABILITY GROUP cag ADD LISTENER N'cag-lsn' (WITH IP ((N'127.0.0.1', N'255.0.0.0')), "
            f"PORT = {made.ports['listener']})"
        )
        made.sql("EXEC twin.snapshot @name = 'formed'")
        yield made


@pytest.fixture
def group(formed):
    """As formed, whoever was primary before."""
    formed.sql("EXEC twin.restore @name = 'formed'")
    return formed


def states(link):
    """Synchronization states of the group's databases, as the primary shows them."""
    return link.rows("SELECT DB_NAME(database_id) AS n, synchronization_state_desc AS s FROM sys.dm_hadr_database_replica_states")


def test_the_group_is_made_seeded_and_listed_with_its_own_master_and_msdb(group):
    """From the instance they are databases like others; the catalogue says that the group is contained."""
    shown = {(row["n"], row["s"]) for row in states(group)}
    assert shown == {(name, "SYNCHRONIZED") for name in ("cag_master", "cag_msdb", "Shop")}
    assert len(states(group)) == 9
    assert group.value("SELECT is_contained FROM sys.availability_groups", node="sql3") is True
    assert group.value("SELECT DB_ID('cag_master')", node="sql2") > 4
    names = [row["name"] for row in group.rows("SELECT name FROM sys.databases", node="sql2")]
    assert {"master", "msdb", "cag_master", "cag_msdb", "Shop"} <= set(names)


def test_the_listener_leads_into_the_environment(group):
    """master is the group's, with id 1; only the group's databases and tempdb are listed; the session says where it is."""
    with contextlib.closing(group.connect("listener")) as inside:
        assert run(inside, WHERE)[0] == [{"server": "sql1", "db": "master", "login": "sa"}]
        listed = run(inside, "SELECT database_id, name FROM sys.databases ORDER BY database_id")[0]
        assert [(row["database_id"], row["name"]) for row in listed][:3] == [(1, "master"), (2, "tempdb"), (4, "msdb")]
        assert {row["name"] for row in listed} == {"master", "tempdb", "msdb", "Shop"}
        logins = run(inside, "SELECT name FROM sys.server_principals WHERE type = 'S'")[0]
        assert [row["name"] for row in logins] == ["sa"]  # administrators are copied, others are not
        mine = run(inside, "SELECT contained_availability_group_id AS g FROM sys.dm_exec_sessions WHERE session_id = @@SPID")[0]
        assert mine[0]["g"] == run(inside, "SELECT group_id AS g FROM sys.availability_groups")[0][0]["g"]
        assert run(inside, "USE msdb; SELECT DB_NAME() AS n, DB_ID() AS i")[0] == [{"n": "msdb", "i": 4}]
        assert run(inside, "SELECT DB_NAME(DB_ID('cag_msdb')) AS n")[0] == [{"n": "msdb"}]
    outside = "SELECT contained_availability_group_id FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
    assert group.value(outside) is None
    with contextlib.closing(group.connect("sql1", "Shop")) as catalogue:  # a database of the group leads there too
        assert len(run(catalogue, "SELECT name FROM sys.databases")[0]) == 4


def test_logins_users_and_jobs_travel_with_the_group(group):
    """What was made through the listener is there after a failover; what was made on the instance stayed behind."""
    with contextlib.closing(group.connect("listener")) as inside:
        run(inside, f"CREATE LOGIN app WITH PASSWORD = N'{PASSWORD}'")
        run(inside, "USE Shop; CREATE TABLE dbo.t (id int); INSERT INTO dbo.t VALUES (1); CREATE USER app FOR LOGIN app")
        run(inside, "USE Shop; ALTER ROLE db_datareader ADD MEMBER app")
        run(inside, "EXEC msdb.dbo.sp_add_job @job_name = N'nightly'")
        run(inside, "EXEC msdb.dbo.sp_add_jobstep @job_name = N'nightly', @step_name = N'one', @command = N'SELECT 1'")
        run(inside, "EXEC msdb.dbo.sp_add_jobserver @job_name = N'nightly'")
    group.sql("EXEC msdb.dbo.sp_add_job @job_name = N'of sql1'")
    assert [row["name"] for row in group.rows("SELECT name FROM msdb.dbo.sysjobs")] == ["of sql1"]
    assert "Login failed" in refused_login(group, "sql1", "app", "master")
    group.sql(EXTERNAL + "ALTER AVAILABILITY GROUP cag FAILOVER", node="sql2")
    until(lambda: reached(group) == "sql2")
    with contextlib.closing(group.connect("listener", "Shop", PASSWORD, user="app")) as app:
        assert run(app, WHERE)[0] == [{"server": "sql2", "db": "Shop", "login": "app"}]
        assert run(app, "SELECT id FROM dbo.t")[0] == [{"id": 1}]
        assert "permission was denied" in fails(app, "DELETE FROM dbo.t")
    with contextlib.closing(group.connect("listener")) as inside:
        steps = "SELECT j.name, s.step_name, s.command FROM msdb.dbo.sysjobs AS j JOIN msdb.dbo.sysjobsteps AS s"
        steps += " ON s.job_id = j.job_id"
        assert run(inside, steps)[0] == [{"name": "nightly", "step_name": "one", "command": "SELECT 1"}]
        assert "not currently running" in fails(inside, "EXEC msdb.dbo.sp_start_job N'nightly'")
    assert not group.rows("SELECT name FROM msdb.dbo.sysjobs", node="sql2")
    assert "Login failed" in refused_login(group, "listener", "local_only", "Shop")


def test_what_waits_for_the_log_is_lost_with_it_by_force(group):
    """A login whose log has not been sent, because the contained master is suspended, is gone after a forced failover."""
    made = "USE master; CREATE LOGIN {0} WITH PASSWORD = N'Str0ng-Password'; USE Shop; CREATE USER {0}"
    with contextlib.closing(group.connect("listener")) as inside:
        run(inside, made.format("kept"))
        group.sql("ALTER DATABASE cag_master SET HADR SUSPEND")
        run(inside, made.format("lost"))
    group.sql(EXTERNAL + "ALTER AVAILABILITY GROUP cag FORCE_FAILOVER_ALLOW_DATA_LOSS", node="sql2")
    until(lambda: reached(group) == "sql2")
    with contextlib.closing(group.connect("listener", "Shop", PASSWORD, user="kept")) as app:
        assert run(app, WHERE)[0][0]["login"] == "kept"
    assert "Login failed" in refused_login(group, "listener", "lost", "Shop")
    users = group.rows("SELECT name FROM sys.database_principals WHERE name IN ('kept', 'lost')", "sql2", "Shop")
    assert {row["name"] for row in users} == {"kept", "lost"}  # the user's own database had been sent


def test_what_belongs_to_the_instance_is_refused_inside(group):
    """Groups, endpoints, databases and configuration are changed from connections to the instance."""
    with contextlib.closing(group.connect("listener")) as inside:
        for text in (
            "ALTER AVAILABILITY GROUP cag SET (DB_FAILOVER = ON)",
            "CREATE DATABASE other",
            "EXEC sp_configure 'remote access', 0",
            "ALTER RESOURCE GOVERNOR RECONFIGURE",
        ):
            assert "connection to the instance" in fails(inside, text), text
        assert run(inside, "EXEC sp_configure 'remote access'")[0]
    with contextlib.closing(group.connect("sql2", "Shop")) as reader:
        assert "read-only" in fails(reader, f"CREATE LOGIN nobody WITH PASSWORD = N'{PASSWORD}'")


def test_system_databases_stay_and_are_used_again(group):
    """47135, 47143; after DROP they are ordinary databases, and another group of this name takes them with REUSE only (47142)."""
    with contextlib.closing(group.connect("listener")) as inside:
        run(inside, f"CREATE LOGIN app WITH PASSWORD = N'{PASSWORD}'")
    with contextlib.closing(group.connect()) as here:
        assert "cannot be removed from contained" in fails(here, "ALTER AVAILABILITY GROUP cag REMOVE DATABASE cag_msdb")
        run(here, "DROP AVAILABILITY GROUP cag")
        again = create("cag", "EXTERNAL", "EXTERNAL", "Shop", options=", {}")
        assert "already exists" in fails(here, again.format("CONTAINED"))
        assert "only be used with contained" in fails(here, again.format("REUSE_SYSTEM_DATABASES"))
        run(here, again.format("CONTAINED REUSE_SYSTEM_DATABASES"))
    inside = group.rows("SELECT name FROM sys.server_principals WHERE type = 'S'", database="Shop")
    assert {row["name"] for row in inside} == {"sa", "app"}


def test_what_does_not_go_with_a_contained_group(group):
    """No distributed group over it (47129); its system databases go into no other (47136); BACKUP of master is of the group's."""
    with contextlib.closing(group.connect("listener")) as inside:
        run(inside, "BACKUP DATABASE master TO DISK = N'NUL'")
    assert group.value("SELECT TOP (1) database_name FROM msdb.dbo.backupset ORDER BY backup_set_id DESC") == "cag_master"
    part = "'{}' WITH (LISTENER_URL = N'TCP://sql1:5022', AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT, FAILOVER_MODE = MANUAL)"
    with contextlib.closing(group.connect()) as here:
        both = f"{part.format('cag')}, {part.format('other')}"
        over = f"CREATE AVAILABILITY GROUP far WITH (DISTRIBUTED) AVAILABILITY GROUP ON {both}"
        assert "on top of Contained Availability Group" in fails(here, over)
        run(here, "DROP AVAILABILITY GROUP cag")
        run(here, create("plain", "NONE", nodes=NODES[:2]))
        assert "exclusion list" in fails(here, "ALTER AVAILABILITY GROUP plain ADD DATABASE cag_master")


def reached(link):
    """The server that the listener leads to now, or nothing while it leads nowhere."""
    with contextlib.suppress(Exception), contextlib.closing(link.connect("listener")) as connection:
        return run(connection, "SELECT @@SERVERNAME AS n")[0][0]["n"]
    return None


def refused_login(link, node, user, database):
    """What a login that is not let in is told."""
    with pytest.raises(Exception) as caught:
        link.connect(node, database, PASSWORD, user=user).close()
    return str(caught.value)
