"""Listeners and routing of an availability group, with a real client."""

import contextlib
import socket

import pytest
from group_scripts import EXTERNAL, NODES, build
from twin_client import PROFILE, Link, fails, run, until

from aglab.twin import spawn_child


@pytest.fixture(scope="module")
def formed(tmp_path_factory):
    """A group of cluster type EXTERNAL whose database Shop is synchronized everywhere."""
    with spawn_child(tmp_path_factory.mktemp("listener") / "s", profile=PROFILE, bare=True) as twin:
        made = Link(twin)
        made.sql("CREATE DATABASE Shop; BACKUP DATABASE Shop TO DISK = N'NUL'")
        build(made, "EXTERNAL", "EXTERNAL", "Shop")
        made.sql("WAITFOR DELAY '00:00:01'")
        made.sql("EXEC twin.snapshot @name = 'formed'")
        yield made


@pytest.fixture
def group(formed):
    """As formed, whoever was primary before."""
    formed.sql("EXEC twin.restore @name = 'formed'")
    return formed


def free_port():
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(link, port, intent="", database="Shop", address="127.0.0.1"):
    """The server's name that a login at an address reaches."""
    import mssql_python

    mssql_python.pooling(enabled=False)
    text = f"Server={address},{port};UID=sa;PWD={link.twin.password()};Database={database};TrustServerCertificate=yes;Encrypt=yes"
    text += f";ApplicationIntent={intent}" if intent else ""
    with contextlib.closing(mssql_python.connect(text, autocommit=True)) as connection:
        return run(connection, "SELECT @@SERVERNAME AS n")[0][0]["n"]


def refused(link, text, node="sql1"):
    """The words of the error that a statement ends with."""
    with contextlib.closing(link.connect(node)) as connection:
        return fails(connection, text)


def listen(link, port, node="sql1", address="127.0.0.1"):
    """ADD LISTENER at an address of loopback."""
    link.sql(
        f"ALTER AVAILABILITY GROUP ag1 ADD LISTENER N'ag1-lsn' (WITH IP ((N'{address}', N'255.0.0.0')), PORT = {port})", node=node
    )


def test_the_address_leads_to_the_primary_and_follows_a_failover(group):
    """Before and after a failover a client that knows only the listener reaches whoever is primary."""
    port = free_port()
    listen(group, port)
    assert ask(group, port) == "sql1"
    shown = group.rows("SELECT dns_name AS d, port AS p FROM sys.availability_group_listeners", node="sql3")
    assert shown == [{"d": "ag1-lsn", "p": port}]
    assert group.value("SELECT COUNT(*) FROM sys.dm_tcp_listener_states WHERE port = " + str(port)) == 1
    group.sql(EXTERNAL + "ALTER AVAILABILITY GROUP ag1 FAILOVER", node="sql2")
    until(lambda: ask(group, port) == "sql2")
    group.sql("ALTER AVAILABILITY GROUP ag1 REMOVE LISTENER N'ag1-lsn'", node="sql2")
    with pytest.raises(OSError):
        until(lambda: socket.create_connection(("127.0.0.1", port), timeout=1).close())
    assert not group.rows("SELECT dns_name FROM sys.availability_group_listeners")


def test_read_intent_takes_turns_over_the_routing_list(group):
    """A balanced set is used round robin; a replica that is gone is left out; without a reader the primary answers."""
    port = free_port()
    listen(group, port)
    assert ask(group, port, "ReadOnly") == "sql1"
    for node in NODES:
        group.sql(
            f"ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'{node}' WITH "
            f"(SECONDARY_ROLE (READ_ONLY_ROUTING_URL = N'TCP://{node}:1433'))"
        )
    group.sql(
        "ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql1' WITH "
        "(PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = ((N'sql2', N'sql3'), N'sql1')))"
    )
    lists = "SELECT routing_priority AS p FROM sys.availability_read_only_routing_lists ORDER BY routing_priority"
    assert [row["p"] for row in group.rows(lists)] == [1, 1, 2]
    assert {ask(group, port, "ReadOnly") for _ in range(4)} == {"sql2", "sql3"}
    assert ask(group, port) == "sql1" and ask(group, port, "ReadOnly", "master") == "sql1"
    assert ask(group, group.ports["sql1"], "ReadOnly") == "sql1"  # not through the listener: no routing
    group.sql("ALTER DATABASE Shop SET HADR SUSPEND", node="sql3")
    assert {ask(group, port, "ReadOnly") for _ in range(3)} == {"sql2"}
    twice = "PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = (N'sql2', N'sql2'))"
    assert "duplicate availability replica" in refused(
        group, f"ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql1' WITH ({twice})"
    )
    assert "required format" in refused(
        group, "ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql2' WITH (SECONDARY_ROLE (READ_ONLY_ROUTING_URL = N'sql2'))"
    )


def test_a_listener_with_dhcp_has_an_address(group):
    """WITH DHCP: the listener answers on the address that it was given, and the view says where it comes from."""
    port = free_port()
    group.sql(f"ALTER AVAILABILITY GROUP ag1 ADD LISTENER N'leased' (WITH DHCP ON (N'127.0.0.0', N'255.0.0.0'), PORT = {port})")
    row = group.rows("SELECT ip_address AS i, is_dhcp AS d FROM sys.availability_group_listener_ip_addresses")[0]
    assert row == {"i": "127.0.0.1", "d": True}
    assert group.value("SELECT dns_name FROM sys.availability_group_listeners") == "leased"
    with socket.create_connection((row["i"], port), timeout=5):
        pass


def test_an_address_that_cannot_be_had(group):
    """A port in use and an address off loopback are clear errors, and no listener is left."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place = taken.getsockname()[1]
        text = f"ALTER AVAILABILITY GROUP ag1 ADD LISTENER N'l' (WITH IP ((N'127.0.0.1', N'')), PORT = {place})"
        assert "cannot be opened" in refused(group, text)
    assert "not on loopback" in refused(group, "ALTER AVAILABILITY GROUP ag1 ADD LISTENER N'l' (WITH IP ((N'10.1.2.3', N'')))")
    assert not group.rows("SELECT dns_name FROM sys.availability_group_listeners")
    assert "Cannot remove the listener 'l'" in refused(group, "ALTER AVAILABILITY GROUP ag1 REMOVE LISTENER N'l'")
    port = free_port()
    listen(group, port)
    moved = free_port()
    group.sql(f"ALTER AVAILABILITY GROUP ag1 MODIFY LISTENER N'ag1-lsn' (PORT = {moved})")
    assert "already has a listener" in refused(
        group, f"ALTER AVAILABILITY GROUP ag1 ADD LISTENER N'two' (WITH IP ((N'127.0.0.1', N'')), PORT = {port})"
    )
    assert ask(group, moved) == "sql1"


def test_a_listener_comes_back_with_the_process(tmp_path):
    """The address is bound again when the twin starts from its state; writes at a secondary can be led to the primary."""
    port = free_port()
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        link.sql("CREATE DATABASE Shop; BACKUP DATABASE Shop TO DISK = N'NUL'")
        build(link, "EXTERNAL", "EXTERNAL", "Shop")
        listen(link, port)
        link.sql(
            "ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql1' WITH (PRIMARY_ROLE (READ_WRITE_ROUTING_URL = N'TCP://sql1:1433'));"
            "WAITFOR DELAY '00:00:01'"
        )
        assert ask(link, link.ports["sql2"]) == "sql1" and ask(link, link.ports["sql2"], "ReadOnly") == "sql2"
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        assert ask(Link(twin), port) == "sql1"


def test_without_a_cluster_the_listener_stays_where_it_was_made(tmp_path):
    """CLUSTER_TYPE = NONE: at the instance's own address; read intent is routed there, and nobody moves it after a failover."""
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        link.sql("CREATE DATABASE Shop; BACKUP DATABASE Shop TO DISK = N'NUL'")
        build(link, database="Shop")
        link.sql("WAITFOR DELAY '00:00:01'")
        for node in NODES:
            link.sql(
                f"ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'{node}' WITH "
                f"(SECONDARY_ROLE (READ_ONLY_ROUTING_URL = N'TCP://{node}:1433'))"
            )
        link.sql(
            "ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql1' WITH (PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = (N'sql2')))"
        )
        listen(link, link.ports["sql1"])
        assert ask(link, link.ports["sql1"], "ReadOnly") == "sql2" and ask(link, link.ports["sql1"]) == "sql1"
        link.sql("ALTER AVAILABILITY GROUP ag1 OFFLINE")
        link.sql("ALTER AVAILABILITY GROUP ag1 FORCE_FAILOVER_ALLOW_DATA_LOSS", node="sql2")
        with pytest.raises(Exception, match=r"(?i)not accessible|unable|login|983"):
            ask(link, link.ports["sql1"], "ReadOnly")


def test_what_cannot_be_is_refused_with_the_documented_error(group):
    """47120, 1468 for a new name; a database that has joined already is only told so (41145), not that it lacks log (1408)."""
    wrong = "ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON N'sql2' WITH (PRIMARY_ROLE (READ_WRITE_ROUTING_URL = N'http://x'))"
    assert "READ_WRITE_ROUTING_URL 'http://x'" in refused(group, wrong)
    assert "involved in a database mirroring session or an availability group" in refused(
        group, "ALTER DATABASE Shop MODIFY NAME = Store"
    )
    with contextlib.closing(group.connect("sql2")) as connection:
        cursor = connection.cursor()
        cursor.execute("ALTER DATABASE Shop SET HADR AVAILABILITY GROUP = ag1")
        assert "has already joined the availability group" in str(cursor.messages)


def test_log_that_a_suspended_replica_needs_is_kept(group):
    """log_reuse_wait_desc of a user's database is AVAILABILITY_REPLICA after a log backup, until the replica has redone it."""
    reason = "SELECT log_reuse_wait_desc FROM sys.databases WHERE name = 'Shop'"
    group.sql("ALTER DATABASE Shop SET HADR SUSPEND", node="sql3")
    group.sql("CREATE TABLE dbo.n (id int); INSERT INTO dbo.n SELECT value FROM GENERATE_SERIES(1, 500)", database="Shop")
    assert group.value(reason) == "LOG_BACKUP"
    group.sql("BACKUP LOG Shop TO DISK = N'NUL'")
    assert group.value(reason) == "AVAILABILITY_REPLICA"
    assert group.value(reason, node="sql2") == "NOTHING"
    group.sql("ALTER DATABASE Shop SET HADR RESUME", node="sql3")
    group.sql("WAITFOR DELAY '00:00:05'")
    assert group.value(reason) == "NOTHING"
