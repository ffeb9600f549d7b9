"""What is there after a crash, of a node or of the whole process: definitions, logins, commits; and what may be lost."""

import psutil
import pytest
from group_scripts import PASSWORD, create, join, prepare
from twin_client import PROFILE, Link

from aglab.twin import spawn_child

COUNT = "SELECT COUNT(*) AS n FROM dbo.f"


def test_definitions_survive_a_killed_process(tmp_path):
    """A database, a login, a user and a grant are there although the process was killed right after the answer."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        link.sql("CREATE DATABASE Gone; CREATE DATABASE Shop")
        link.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="Shop")
        link.sql(f"DROP DATABASE Gone; CREATE LOGIN ann WITH PASSWORD = N'{PASSWORD}'")
        link.sql("CREATE USER ann FOR LOGIN ann; GRANT SELECT ON dbo.f TO ann", database="Shop")
        psutil.Process(twin.process_id).kill()
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        assert {"Shop"} == {row["name"] for row in link.rows("SELECT name FROM sys.databases WHERE database_id > 5")}
        assert link.value(COUNT, database="Shop") == 1
        connection = link.connect(database="Shop", password=PASSWORD, user="ann")
        assert connection.cursor().execute("SELECT id FROM dbo.f").fetchall()[0][0] == 1
        connection.close()


def test_what_a_contained_group_was_given_survives_a_killed_process(tmp_path):
    """A login and a job of the group, made just before the kill, are there and are still the group's, on its replicas too."""
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        prepare(link)
        link.sql("CREATE DATABASE Shop; BACKUP DATABASE Shop TO DISK = N'NUL'")
        link.sql(create("cag", "NONE", "MANUAL", "Shop", options=", CONTAINED"))
        link.sql(join("cag"), node="sql2")
        link.sql("WAITFOR DELAY '00:00:05'")
        inside = f"USE master; CREATE LOGIN ann WITH PASSWORD = N'{PASSWORD}'; USE Shop; CREATE USER ann"
        link.sql(inside + "; EXEC msdb.dbo.sp_add_job @job_name = N'nightly'", database="Shop")
        link.sql("EXEC msdb.dbo.sp_add_job @job_name = N'of the instance'")
        psutil.Process(twin.process_id).kill()
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        for node in ("sql1", "sql2"):
            link.connect(node, "Shop", PASSWORD, user="ann").close()
        assert link.value("SELECT name FROM msdb.dbo.sysjobs", database="Shop") == "nightly"
        assert link.value("SELECT name FROM msdb.dbo.sysjobs") == "of the instance"


@pytest.mark.parametrize(
    ("safe", "left"),
    [
        ("", 1),
        ("EXEC sp_flush_log", 3),
        ("CHECKPOINT", 3),
        ("BACKUP DATABASE Shop TO DISK = N'NUL'", 3),
        ("ALTER DATABASE Shop SET DELAYED_DURABILITY = DISABLED; INSERT INTO dbo.f VALUES (4)", 4),
        ("DECLARE @i int = 0; WHILE @i < 100 BEGIN UPDATE dbo.f SET t = REPLICATE(CHAR(65 + @i % 26), 900); SET @i += 1 END", 3),
    ],
)
def test_forced_delayed_durability_may_lose_commits(own, safe, left):
    """A crash takes back what was acknowledged and not yet written; each documented way to write it is enough."""
    own.sql("CREATE DATABASE Shop", node="sql2")
    own.sql("CREATE TABLE dbo.f (id int, t varchar(900)); INSERT INTO dbo.f VALUES (1, '')", "sql2", "Shop")
    own.sql("ALTER DATABASE Shop SET DELAYED_DURABILITY = FORCED", node="sql2")
    own.sql("INSERT INTO dbo.f VALUES (2, ''); INSERT INTO dbo.f VALUES (3, '')", "sql2", "Shop")
    if safe:
        own.sql(safe.replace("VALUES (4)", "VALUES (4, '')"), "sql2", "Shop")
    own.sql("EXEC twin.crash @node = 'sql2'; EXEC twin.start @node = 'sql2'")
    assert own.value(COUNT, "sql2", "Shop") == left


def test_allowed_delays_only_what_asks_for_it(own):
    """ALLOWED: COMMIT ... WITH (DELAYED_DURABILITY = ON) may be lost, any other commit is kept; DISABLED delays none."""
    own.sql("CREATE DATABASE Shop; ALTER DATABASE Shop SET DELAYED_DURABILITY = ALLOWED", node="sql2")
    own.sql("CREATE TABLE dbo.f (id int, t varchar(900)); INSERT INTO dbo.f VALUES (1, '')", "sql2", "Shop")
    lazily = "BEGIN TRAN; INSERT INTO dbo.f VALUES ({}, ''); COMMIT TRAN WITH (DELAYED_DURABILITY = ON)"
    own.sql(lazily.format(2), "sql2", "Shop")
    own.sql("BEGIN TRAN; INSERT INTO dbo.f VALUES (3, ''); COMMIT TRAN WITH (DELAYED_DURABILITY = OFF)", "sql2", "Shop")
    own.sql(lazily.format(4), "sql2", "Shop")
    own.sql("EXEC twin.crash @node = 'sql2'; EXEC twin.start @node = 'sql2'")
    assert own.value(COUNT, "sql2", "Shop") == 3
    own.sql("ALTER DATABASE Shop SET DELAYED_DURABILITY = DISABLED", node="sql2")
    own.sql(lazily.format(5), "sql2", "Shop")
    own.sql("EXEC twin.crash @node = 'sql2'; EXEC twin.start @node = 'sql2'")
    assert own.value(COUNT, "sql2", "Shop") == 4


def test_an_orderly_stop_writes_what_was_delayed(own):
    """SHUTDOWN or a stop of the service loses nothing here."""
    own.sql("CREATE DATABASE Shop; ALTER DATABASE Shop SET DELAYED_DURABILITY = FORCED", node="sql2")
    own.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", "sql2", "Shop")
    own.sql("EXEC twin.stop @node = 'sql2'; EXEC twin.start @node = 'sql2'")
    assert own.value(COUNT, "sql2", "Shop") == 1


def test_a_group_that_is_created_again_has_identifiers_of_its_own(own):
    """Group, replica and database ids differ from those of the group that was dropped."""
    ids = "SELECT CAST(group_id AS varchar(40)) AS n FROM sys.availability_groups"
    replica = "SELECT CAST(replica_id AS varchar(40)) AS n FROM sys.availability_replicas WHERE replica_server_name = N'sql1'"
    before = own.value(ids), own.value(replica)
    for node in ("sql3", "sql2", "sql1"):
        own.sql("DROP AVAILABILITY GROUP ag1", node=node)
    own.sql("BACKUP DATABASE OLTP TO DISK = N'NUL'")
    own.sql(create(databases="OLTP"))
    after = own.value(ids), own.value(replica)
    assert not set(before) & set(after)
    own.sql("EXEC twin.snapshot @name = 'again'")
    own.sql("EXEC twin.restore @name = 'again'")
    assert (own.value(ids), own.value(replica)) == after


def test_a_copy_joins_by_restored_backups(tmp_path):
    """SEEDING_MODE = MANUAL: full and log backups restored WITH NORECOVERY, then SET HADR; a missing log backup is 1478."""
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        link = Link(twin)
        link.sql("CREATE DATABASE Shop")
        link.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="Shop")
        link.sql("BACKUP DATABASE Shop TO DISK = N'/var/opt/aglab/shop.bak'")
        prepare(link)
        link.sql(create(databases="Shop").replace("SEEDING_MODE = AUTOMATIC", "SEEDING_MODE = MANUAL"))
        link.sql(join(), node="sql2")
        link.sql("WAITFOR DELAY '00:00:02'")
        assert not link.rows("SELECT name FROM sys.databases WHERE name = N'Shop'", node="sql2")
        link.sql("INSERT INTO dbo.f VALUES (2)", database="Shop")
        link.sql("BACKUP LOG Shop TO DISK = N'/var/opt/aglab/shop.trn'")
        link.sql("INSERT INTO dbo.f VALUES (3)", database="Shop")
        link.sql("RESTORE DATABASE Shop FROM DISK = N'/var/opt/aglab/shop.bak' WITH NORECOVERY", node="sql2")
        with pytest.raises(Exception, match="insufficient transaction log data"):
            link.sql("ALTER DATABASE Shop SET HADR AVAILABILITY GROUP = ag1", node="sql2")
        link.sql("RESTORE LOG Shop FROM DISK = N'/var/opt/aglab/shop.trn' WITH NORECOVERY", node="sql2")
        link.sql("ALTER DATABASE Shop SET HADR AVAILABILITY GROUP = ag1; WAITFOR DELAY '00:00:02'", node="sql2")
        assert link.value(COUNT, "sql2", "Shop") == 3
        link.sql("INSERT INTO dbo.f VALUES (4)", database="Shop")
        assert link.value(COUNT, "sql2", "Shop") == 4
