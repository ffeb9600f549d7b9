"""An availability group formed by T-SQL on bare nodes, as a DBA types it."""

import contextlib

import psutil
import pytest
from group_scripts import NODES, PASSWORD, build, create, join, own_certificate, prepare, trust
from twin_client import PROFILE, Link, fails, run

from aglab.twin import spawn_child

STATES = """SELECT r.replica_server_name AS n, d.synchronization_state_desc AS s FROM sys.dm_hadr_database_replica_states AS d
            JOIN sys.availability_replicas AS r ON r.replica_id = d.replica_id"""
CONNECTED = """SELECT r.replica_server_name AS n, s.connected_state_desc AS s FROM sys.dm_hadr_availability_replica_states AS s
               JOIN sys.availability_replicas AS r ON r.replica_id = s.replica_id"""
ALL_IN_STEP = dict.fromkeys(NODES, "SYNCHRONIZED")


def named(link, text, node="sql1"):
    """A two-column answer as a dict."""
    return {row["n"]: row["s"] for row in link.rows(text, node=node)}


def refused(link, text, node="sql1", database="master"):
    """The words of the error that a statement ends with."""
    with contextlib.closing(link.connect(node, database)) as connection:
        return fails(connection, text)


def test_a_group_formed_step_by_step(bare):
    """Certificates, endpoints, group, join, backup, seeding: the rows of sql1 arrive, and commits reach every copy."""
    build(bare, database="Shop")
    assert named(bare, STATES) == {"sql1": "SYNCHRONIZED", "sql2": "NOT SYNCHRONIZING", "sql3": "NOT SYNCHRONIZING"}
    running = bare.rows("SELECT role_desc AS r, transferred_size_bytes AS b FROM sys.dm_hadr_physical_seeding_stats")
    assert [row["r"] for row in running] == ["Source", "Source"]
    bare.sql("WAITFOR DELAY '00:00:01'")
    assert named(bare, STATES) == ALL_IN_STEP and not bare.rows("SELECT role_desc FROM sys.dm_hadr_physical_seeding_stats")
    done = bare.rows("SELECT current_state AS s, number_of_attempts AS a FROM sys.dm_hadr_automatic_seeding")
    assert {(row["s"], row["a"]) for row in done} == {("COMPLETED", 1)}
    bare.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    for node in NODES:
        assert [row["id"] for row in bare.rows("SELECT id FROM dbo.f ORDER BY id", node=node, database="Shop")] == [1, 2]
    assert "read-only" in refused(bare, "INSERT INTO dbo.f VALUES (3)", "sql2", "Shop")
    assert bare.value("SELECT cluster_type_desc FROM sys.availability_groups", node="sql3") == "none"
    shown = "SELECT encryption_algorithm_desc FROM sys.database_mirroring_endpoints"
    assert bare.value(shown, node="sql2") == "AES"


def test_seeding_takes_the_time_that_its_bytes_take(bare):
    """The load's database (500 GB) arrives at the time that the view estimates, two streams sharing the source."""
    build(bare)
    row = bare.rows(
        "SELECT database_size_bytes AS size, transfer_rate_bytes_per_second AS rate, DATEDIFF(second, start_time_utc, "
        "estimate_time_complete_utc) AS s FROM sys.dm_hadr_physical_seeding_stats"
    )[0]
    assert row["size"] > 1e11 and abs(row["s"] - row["size"] / row["rate"]) <= 1
    bare.sql(f"EXEC twin.advance @seconds = {row['s'] // 2}")
    half = bare.rows("SELECT transferred_size_bytes AS b FROM sys.dm_hadr_physical_seeding_stats")
    assert len(half) == 2 and all(0.45 < one["b"] / row["size"] < 0.55 for one in half)
    assert bare.value("SELECT COUNT(*) FROM sys.databases WHERE name = N'OLTP'", node="sql2") == 0
    bare.sql(f"EXEC twin.advance @seconds = {row['s'] // 2 + 2}")
    assert bare.value("SELECT COUNT(*) FROM sys.databases WHERE name = N'OLTP'", node="sql2") == 1
    assert named(bare, STATES) == ALL_IN_STEP
    before = bare.value("SELECT last_hardened_lsn FROM sys.dm_hadr_database_replica_states WHERE is_local = 1")
    bare.sql("EXEC twin.run_workload @seconds = 5")
    after = bare.rows("SELECT last_hardened_lsn AS l FROM sys.dm_hadr_database_replica_states WHERE is_local = 0")
    assert all(one["l"] > before for one in after) and named(bare, STATES) == ALL_IN_STEP


@pytest.mark.parametrize(
    ("spoil", "text", "words"),
    [
        ("", create().replace("N'sql1'", "N'sql9'"), "maps to the instance"),
        ("", create(databases="nosuch"), "does not exist on this SQL Server instance"),
        ("", create(databases="master"), "Specify only user databases"),
        ("", create(databases="Shop, shop"), "more than once"),
        ("ALTER DATABASE Shop SET RECOVERY SIMPLE", create(databases="Shop"), "not in full recovery mode"),
        (
            "ALTER DATABASE Shop SET RECOVERY SIMPLE; ALTER DATABASE Shop SET RECOVERY FULL",
            create(databases="Shop"),
            "have not been backed up",
        ),
        ("", create(databases="OLTP"), "have not been backed up"),
        ("", create(failover="AUTOMATIC"), "only supports MANUAL failover mode"),
        ("", create(cluster_type="EXTERNAL"), "only supports EXTERNAL failover mode"),
        ("", create(options=", NO_SUCH = 1"), "'NO_SUCH' is not a recognized CREATE AVAILABILITY GROUP option"),
        ("", create(options=", FAILURE_CONDITION_LEVEL = 9"), "out of the valid range"),
        ("", create(options=", DISTRIBUTED"), "Incorrect syntax near 'FOR'"),
        ("", create().replace("TCP://sql1:5022", "sql1"), "endpoint URL 'sql1' is invalid"),
        ("", create().replace("ENDPOINT_URL = N'TCP://sql1:5022', ", ""), "endpoint URL was not specified"),
        ("", create().replace("FAILOVER_MODE = MANUAL, ", "", 1), "FAILOVER_MODE option has not been specified"),
        ("", create(extra=", PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = (N'sql9'))"), "does not exist. Only availability replicas"),
        ("", create(extra=", SESSION_TIMEOUT = 1"), "minimum value for session timeout"),
        ("", join(), "Download configuration timeout"),
        ("", "ALTER AVAILABILITY GROUP ag1 JOIN", "does not exist"),
        ("", "ALTER AVAILABILITY GROUP ag1 ADD DATABASE Shop", "Cannot alter the availability group 'ag1'"),
        ("", "DROP AVAILABILITY GROUP ag1", "Cannot drop the availability group 'ag1'"),
        ("", "ALTER DATABASE Shop SET HADR SUSPEND", "not joined to an availability group"),
        ("", "ALTER DATABASE Shop SET HADR AVAILABILITY GROUP = ag1", "Cannot alter the availability group 'ag1'"),
    ],
)
def test_a_missing_prerequisite_is_refused(bare, spoil, text, words):
    """Each in SQL Server's own words; nothing is left of the attempt."""
    if spoil:
        bare.sql(spoil)
    assert words in refused(bare, text)
    assert not bare.rows("SELECT name FROM sys.availability_groups")


def test_ddl_belongs_in_master_and_needs_hadr(bare):
    """35208 in another database; 35221 where the instance was started without HADR."""
    assert "using the master database" in refused(bare, create(), database="Shop")
    bare.sql("EXEC twin.set_hadr @node = 'sql2', @enabled = 0; EXEC twin.restart_node @node = 'sql2'")
    assert bare.value("SELECT SERVERPROPERTY('IsHadrEnabled')", node="sql2") == 0
    assert "replica manager is disabled" in refused(bare, create(), node="sql2")
    bare.sql("EXEC twin.set_hadr @node = 'sql2', @enabled = 1; EXEC twin.restart_node @node = 'sql2'")
    assert bare.value("SELECT SERVERPROPERTY('IsHadrEnabled')", node="sql2") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'short'", "not complex enough"),
        ("CREATE CERTIFICATE c WITH SUBJECT = 'x'", "create a master key"),
        ("CREATE CERTIFICATE c FROM FILE = '/no/such.cer'", "not valid or does not exist"),
        ("CREATE CERTIFICATE c AUTHORIZATION nobody FROM FILE = '/no/such.cer'", "'nobody'"),
        ("DROP MASTER KEY", "##MS_DatabaseMasterKey##"),
        ("DROP CERTIFICATE c", "'c', because it does not exist"),
        ("BACKUP CERTIFICATE c TO FILE = '/x.cer'", "'c', because it does not exist"),
        ("ALTER ENDPOINT e STATE = STARTED", "Cannot alter the endpoint 'e'"),
        ("GRANT CONNECT ON ENDPOINT::e TO sa", "Cannot find the endpoint 'e'"),
        ("GRANT SELECT ON dbo.f TO sa", "Cannot find the object 'f'"),
        ("CREATE USER u FOR LOGIN nobody", "'nobody' is not a valid login"),
        ("DROP LOGIN nobody", "Cannot drop the login 'nobody'"),
        ("DROP USER nobody", "Cannot drop the user 'nobody'"),
        ("CREATE LOGIN l WITH PASSWORD = 'x'", "not complex enough"),
        ("CREATE LOGIN sa WITH PASSWORD = 'Str0ng-Password'", "'sa' already exists"),
    ],
)
def test_keys_and_logins_refuse(bare, text, words):
    """The errors of the statements that come before the group."""
    assert words in refused(bare, text)


def test_keys_in_order(bare):
    """Doubles, files that exist, private keys that are not there and wrong passwords are refused; drops undo everything."""
    bare.sql(own_certificate("sql1"))
    for text, words in (
        ("CREATE MASTER KEY ENCRYPTION BY PASSWORD = N'Str0ng-Password'", "already a master key"),
        ("CREATE CERTIFICATE sql1_certificate WITH SUBJECT = 'x'", "already exists"),
        ("BACKUP CERTIFICATE sql1_certificate TO FILE = N'/var/opt/aglab/sql1.cer'", "Cannot write into file"),
        ("CREATE ENDPOINT other STATE = STARTED AS TCP (LISTENER_PORT = 5023) FOR DATABASE_MIRRORING (ROLE = ALL, "
         "AUTHENTICATION = CERTIFICATE sql1_certificate)", "Only one endpoint"),
        ("DROP CERTIFICATE sql1_certificate", "cannot be dropped"),
        ("DROP MASTER KEY", "encrypted by it"),
        ("ALTER ENDPOINT Hadr_endpoint", "did not contain any values"),
    ):  # fmt: skip
        assert words in refused(bare, text)
    key = "WITH PRIVATE KEY (FILE = N'/var/opt/aglab/sql1.pvk', {} BY PASSWORD = N'{}')"
    bare.sql("BACKUP CERTIFICATE sql1_certificate TO FILE = N'/var/opt/aglab/a.cer' " + key.format("ENCRYPTION", PASSWORD))
    bare.sql(f"CREATE MASTER KEY ENCRYPTION BY PASSWORD = N'{PASSWORD}'", node="sql2")
    take = "CREATE CERTIFICATE shared FROM FILE = N'/var/opt/aglab/a.cer' "
    assert "password is invalid" in refused(bare, take + key.format("DECRYPTION", "Wr0ng-Password"), "sql2")
    bare.sql(take, node="sql2")
    assert "private key cannot be found" in refused(
        bare, "BACKUP CERTIFICATE shared TO FILE = N'/b.cer' " + key.format("ENCRYPTION", PASSWORD), "sql2"
    )
    bare.sql("DROP CERTIFICATE shared; " + take + key.format("DECRYPTION", PASSWORD), node="sql2")
    same = "SELECT thumbprint FROM sys.certificates"
    assert bare.value(same, node="sql2") == bare.value(same)
    bare.sql("DROP ENDPOINT Hadr_endpoint; DROP CERTIFICATE sql1_certificate; DROP MASTER KEY")
    assert not bare.rows("SELECT name FROM sys.certificates") and not bare.rows("SELECT name FROM sys.symmetric_keys")


def test_one_certificate_shared_by_all_nodes(bare):
    """Copied with its private key, one certificate is trust enough: nobody needs a login."""
    key = f"WITH PRIVATE KEY (FILE = N'/var/opt/aglab/one.pvk', {{}} BY PASSWORD = N'{PASSWORD}')"
    endpoint = """CREATE ENDPOINT Hadr_endpoint STATE = STARTED AS TCP (LISTENER_PORT = 5022)
        FOR DATABASE_MIRRORING (ROLE = ALL, AUTHENTICATION = CERTIFICATE one, ENCRYPTION = REQUIRED ALGORITHM AES)"""
    bare.sql(f"CREATE MASTER KEY ENCRYPTION BY PASSWORD = N'{PASSWORD}'; CREATE CERTIFICATE one WITH SUBJECT = N'all nodes'")
    bare.sql(f"BACKUP CERTIFICATE one TO FILE = N'/var/opt/aglab/one.cer' {key.format('ENCRYPTION')}; {endpoint}")
    for node in NODES[1:]:
        bare.sql(f"CREATE MASTER KEY ENCRYPTION BY PASSWORD = N'{PASSWORD}'", node=node)
        bare.sql(
            f"CREATE CERTIFICATE one FROM FILE = N'/var/opt/aglab/one.cer' {key.format('DECRYPTION')}; {endpoint}", node=node
        )
    bare.sql(create())
    for node in NODES[1:]:
        bare.sql(join(), node=node)
    assert named(bare, CONNECTED) == dict.fromkeys(NODES, "CONNECTED")


def test_endpoints_that_do_not_accept_each_other(bare):
    """Without CONNECT, without the peer's certificate or stopped, no session; the errorlog says why; mended, it stands."""
    build(bare, database="Shop")
    bare.sql("WAITFOR DELAY '00:00:01'")
    bare.sql("ALTER ENDPOINT Hadr_endpoint STATE = STOPPED", node="sql3")
    assert named(bare, CONNECTED)["sql3"] == "DISCONNECTED" and named(bare, STATES)["sql3"] == "NOT SYNCHRONIZING"
    bare.sql("INSERT INTO dbo.f VALUES (7)", database="Shop")
    bare.sql("ALTER ENDPOINT Hadr_endpoint STATE = STARTED", node="sql3")
    bare.sql("WAITFOR DELAY '00:00:01'")
    assert named(bare, STATES) == ALL_IN_STEP
    assert bare.value("SELECT COUNT(*) FROM dbo.f", node="sql3", database="Shop") == 2
    bare.sql("REVOKE CONNECT ON ENDPOINT::Hadr_endpoint FROM sql2_login")
    assert named(bare, CONNECTED) == {"sql1": "CONNECTED", "sql2": "DISCONNECTED", "sql3": "CONNECTED"}
    assert bare.rows("EXEC sp_readerrorlog 0, 1, N'sql2_login', N'CONNECT permission'")
    bare.sql("GRANT CONNECT ON ENDPOINT::Hadr_endpoint TO sql2_login")
    bare.sql("DROP CERTIFICATE sql1_certificate", node="sql3")
    assert named(bare, CONNECTED)["sql3"] == "DISCONNECTED"
    assert bare.rows("EXEC sp_readerrorlog 0, 1, N'Certificate not found'", node="sql3")
    bare.sql("CREATE CERTIFICATE sql1_certificate AUTHORIZATION sql1_user FROM FILE = N'/var/opt/aglab/sql1.cer'", node="sql3")
    bare.sql("WAITFOR DELAY '00:00:01'")
    assert named(bare, STATES) == ALL_IN_STEP


def test_join_needs_endpoints(bare):
    """A secondary whose endpoint the primary does not accept cannot join, and can after it is trusted."""
    for node in NODES:
        bare.sql(own_certificate(node), node=node)
    bare.sql(create())
    assert "Download configuration timeout" in refused(bare, join(), "sql2")
    bare.sql(trust("sql2"))
    bare.sql(trust("sql1"), node="sql2")
    bare.sql(join(), node="sql2")
    assert named(bare, CONNECTED) == {"sql1": "CONNECTED", "sql2": "CONNECTED", "sql3": "DISCONNECTED"}
    assert "already exists on this instance" in refused(bare, join(), "sql2")


def test_seeding_needs_permission_and_an_empty_place(bare):
    """Without GRANT CREATE ANY DATABASE, or where a database of that name exists, seeding fails and says so; then it goes on."""
    prepare(bare)
    bare.sql(create(databases="Shop"))
    bare.sql("ALTER AVAILABILITY GROUP ag1 JOIN WITH (CLUSTER_TYPE = NONE)", node="sql2")
    state = "SELECT current_state AS c, failure_state_desc AS f FROM sys.dm_hadr_automatic_seeding"
    assert [row["c"] for row in bare.rows(state)] == ["FAILED"]
    bare.sql("CREATE DATABASE Shop", node="sql2")
    bare.sql("ALTER AVAILABILITY GROUP ag1 GRANT CREATE ANY DATABASE", node="sql2")
    assert [(row["c"], "exists" in row["f"]) for row in bare.rows(state)] == [("FAILED", True)]
    bare.sql("DROP DATABASE Shop", node="sql2")
    bare.sql("ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql2' WITH (SEEDING_MODE = AUTOMATIC); WAITFOR DELAY '00:00:01'")
    assert named(bare, STATES)["sql2"] == "SYNCHRONIZED"
    assert "joined to an availability group" in refused(bare, "DROP DATABASE Shop", "sql2")


def test_two_groups_and_several_databases(bare):
    """Each group has its own primary, databases and rows; a database belongs to one of them only."""
    build(bare, database="Shop")
    bare.sql("CREATE DATABASE Books; BACKUP DATABASE Books TO DISK = N'NUL'", node="sql2")
    bare.sql("CREATE TABLE dbo.b (id int); INSERT INTO dbo.b VALUES (5)", node="sql2", database="Books")
    bare.sql(create("ag2", databases="Books"), node="sql2")
    for node in ("sql1", "sql3"):
        bare.sql(join("ag2"), node=node)
    bare.sql("WAITFOR DELAY '00:00:02'")
    assert [row["name"] for row in bare.rows("SELECT name FROM sys.availability_groups ORDER BY name")] == ["ag1", "ag2"]
    assert bare.value("SELECT id FROM dbo.b", node="sql3", database="Books") == 5
    bare.sql("INSERT INTO dbo.b VALUES (6)", node="sql2", database="Books")
    assert bare.value("SELECT COUNT(*) FROM dbo.b", node="sql1", database="Books") == 2
    assert "joined to another availability group" in refused(bare, "ALTER AVAILABILITY GROUP ag1 ADD DATABASE Books")
    bare.sql("CREATE DATABASE Third; BACKUP DATABASE Third TO DISK = N'NUL'; ALTER AVAILABILITY GROUP ag1 ADD DATABASE Third")
    bare.sql("WAITFOR DELAY '00:00:02'")
    assert {row["n"] for row in bare.rows(STATES)} == set(NODES) and len(bare.rows(STATES)) == 7
    bare.sql("DROP AVAILABILITY GROUP ag2", node="sql2")
    bare.sql("INSERT INTO dbo.b VALUES (7)", node="sql2", database="Books")
    assert "ag2" in refused(bare, "ALTER AVAILABILITY GROUP ag2 OFFLINE", "sql2")


def test_group_and_trust_outlive_the_process(tmp_path):
    """Endpoints, certificates, logins, a group, a seeding under way and rows survive an orderly end and a kill."""
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        build(link)
        link.sql("EXEC twin.advance @seconds = 60")
        moved = link.value("SELECT MIN(transferred_size_bytes) FROM sys.dm_hadr_physical_seeding_stats")
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        assert 0 < moved <= link.value("SELECT MIN(transferred_size_bytes) FROM sys.dm_hadr_physical_seeding_stats")
        with contextlib.closing(link.connect("sql2", user="sql1_login", password=PASSWORD)) as connection:
            assert run(connection, "SELECT SUSER_SNAME() AS n")[0][0]["n"] == "sql1_login"
        link.sql("EXEC twin.advance @seconds = 600")
        assert named(link, STATES) == ALL_IN_STEP
        link.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="OLTP")
        psutil.Process(twin.process_id).kill()
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        assert named(link, STATES) == ALL_IN_STEP
        assert link.value("SELECT id FROM dbo.f", node="sql3", database="OLTP") == 1
        link.sql("EXEC twin.run_workload @seconds = 2")


def test_three_automatic_targets_on_an_emulated_windows_cluster(bare):
    """CLUSTER_TYPE = WSFC, every replica AUTOMATIC: the primary dies and one of two synchronized secondaries takes over."""
    build(bare, "WSFC", "AUTOMATIC", "Shop")
    bare.sql("WAITFOR DELAY '00:00:01'")
    assert named(bare, STATES) == ALL_IN_STEP
    assert bare.value("SELECT cluster_name FROM sys.dm_hadr_cluster") and bare.value(
        "SELECT COUNT(*) FROM sys.availability_replicas WHERE failover_mode_desc = N'AUTOMATIC'"
    ) == len(NODES)
    bare.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    bare.sql("EXEC twin.crash @node = 'sql1'; EXEC twin.advance @seconds = 60", node="sql3")
    role = "SELECT role_desc FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
    roles = {node: bare.value(role, node) for node in NODES[1:]}
    assert sorted(roles.values()) == ["PRIMARY", "SECONDARY"]
    taker = next(node for node, one in roles.items() if one == "PRIMARY")
    assert bare.value("SELECT COUNT(*) FROM dbo.f", node=taker, database="Shop") == 2
    bare.sql("EXEC twin.start @node = 'sql1'; EXEC twin.advance @seconds = 60", node=taker)
    assert bare.value(role) == "SECONDARY"


def test_an_old_primary_is_thrown_out_and_comes_back_as_a_new_secondary(bare):
    """CLUSTER_TYPE = NONE: forced failover, REMOVE REPLICA, then OFFLINE, DROP and a seeding of its own for the old primary."""
    build(bare, database="Shop")
    bare.sql("WAITFOR DELAY '00:00:01'")
    bare.sql("ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS", node="sql2")
    bare.sql("ALTER AVAILABILITY GROUP ag1 REMOVE REPLICA ON N'sql1'", node="sql2")
    bare.sql("ALTER DATABASE Shop SET HADR RESUME", node="sql3")
    bare.sql("INSERT INTO dbo.f VALUES (2)", node="sql2", database="Shop")
    bare.sql("INSERT INTO dbo.f VALUES (99)", database="Shop")  # nobody keeps the old primary from this
    bare.sql("ALTER AVAILABILITY GROUP ag1 OFFLINE; DROP AVAILABILITY GROUP ag1")
    bare.sql("DROP DATABASE Shop")
    replica = create(nodes=("sql1",)).split("REPLICA ON ")[1]
    bare.sql(f"ALTER AVAILABILITY GROUP ag1 ADD REPLICA ON {replica}", node="sql2")
    bare.sql(join())
    bare.sql("WAITFOR DELAY '00:00:05'")
    assert named(bare, STATES, "sql2") == ALL_IN_STEP
    assert [row["id"] for row in bare.rows("SELECT id FROM dbo.f ORDER BY id", database="Shop")] == [1, 2]
    assert "already contains an availability replica" in refused(
        bare, f"ALTER AVAILABILITY GROUP ag1 ADD REPLICA ON {replica}", "sql2"
    )


def test_a_copy_leaves_and_a_dropped_group_leaves_copies_restoring(bare):
    """SET HADR OFF, REMOVE DATABASE and DROP leave secondaries RESTORING and the primary's database online."""
    build(bare, database="Shop")
    bare.sql("WAITFOR DELAY '00:00:01'")
    state = "SELECT state_desc FROM sys.databases WHERE name = N'Shop'"
    bare.sql("ALTER DATABASE Shop SET HADR OFF", node="sql2")
    assert bare.value(state, "sql2") == "RESTORING"
    bare.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
    bare.sql("BACKUP LOG Shop TO DISK = N'NUL'")
    bare.sql("ALTER DATABASE Shop SET HADR AVAILABILITY GROUP = ag1; WAITFOR DELAY '00:00:01'", node="sql2")
    assert bare.value("SELECT COUNT(*) FROM dbo.f", "sql2", "Shop") == 2 and named(bare, STATES) == ALL_IN_STEP
    bare.sql("DROP AVAILABILITY GROUP ag1", node="sql3")
    assert bare.value(state, "sql3") == "RESTORING"
    with pytest.raises(Exception, match=r"(?i)restor"):
        bare.connect("sql3", "Shop")
    bare.sql("DROP AVAILABILITY GROUP ag1")
    assert bare.value(state) == "ONLINE" and not bare.rows("SELECT name FROM sys.availability_groups")
    bare.sql("INSERT INTO dbo.f VALUES (3)", database="Shop")
    assert bare.value("SELECT COUNT(*) FROM dbo.f", database="Shop") == 3


def test_the_health_session_keeps_role_changes_while_it_runs(bare):
    """AlwaysOn_health: started by T-SQL, read from its file, started with the instance when told so."""
    read = (
        "SELECT object_name AS o, event_data AS d FROM sys.fn_xe_file_target_read_file(N'AlwaysOn_health*.xel', NULL, NULL, NULL)"
    )
    bare.sql(create(databases="Shop"))
    assert not bare.rows(read)
    bare.sql("DROP AVAILABILITY GROUP ag1")
    bare.sql("ALTER EVENT SESSION AlwaysOn_health ON SERVER STATE = START")
    bare.sql("ALTER EVENT SESSION AlwaysOn_health ON SERVER WITH (STARTUP_STATE = ON)")
    bare.sql(create(databases="Shop"))
    rows = bare.rows(read)
    assert {row["o"] for row in rows} == {"availability_replica_state_change", "alwayson_ddl_executed", "error_reported"}
    states = [row["d"] for row in rows if row["o"] == "availability_replica_state_change"]
    assert 'name="current_state"><value>PRIMARY_NORMAL' in states[-1]
    bare.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert bare.value("SELECT startup_state FROM sys.server_event_sessions WHERE name = N'AlwaysOn_health'")
    assert len(bare.rows(read)) > len(rows)
    assert not bare.rows(read.replace("AlwaysOn_health", "other"))
    assert "Cannot alter the event session 'nosuch'" in refused(bare, "ALTER EVENT SESSION nosuch ON SERVER STATE = START")
    assert "ADD or DROP" in refused(bare, "ALTER EVENT SESSION AlwaysOn_health ON SERVER ADD EVENT sqlserver.x")
