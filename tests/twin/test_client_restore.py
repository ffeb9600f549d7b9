"""Restores to a point in time, and a database that is read between log backups."""

import pytest
from twin_client import fails

ROWS = "SELECT id FROM dbo.f ORDER BY id"
FULL, LOG = "N'/var/opt/aglab/s.bak'", "N'/var/opt/aglab/s.trn'"


@pytest.fixture
def backed_up(own):
    """Database Shop with a row before its full backup, and three, ten seconds apart, before the log backup; the times."""
    own.sql("CREATE DATABASE Shop")
    own.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="Shop")
    own.sql(f"BACKUP DATABASE Shop TO DISK = {FULL}")
    times = [own.value("SELECT CONVERT(varchar(30), SYSDATETIME(), 126)")]
    for number in (2, 3, 4):
        own.sql("WAITFOR DELAY '00:00:10'")
        own.sql(f"INSERT INTO dbo.f VALUES ({number})", database="Shop")
        own.sql("WAITFOR DELAY '00:00:05'")
        times.append(own.value("SELECT CONVERT(varchar(30), SYSDATETIME(), 126)"))
    own.sql("WAITFOR DELAY '00:00:10'")
    own.sql(f"BACKUP LOG Shop TO DISK = {LOG}; DROP DATABASE Shop")
    return own, times


def test_stopat_brings_back_what_was_committed_by_then(backed_up):
    """RESTORE LOG ... WITH STOPAT: later rows are not there; too early a point is refused."""
    link, times = backed_up
    link.sql(f"RESTORE DATABASE Shop FROM DISK = {FULL} WITH NORECOVERY")
    connection = link.connect()
    assert "too early" in fails(connection, f"RESTORE LOG Shop FROM DISK = {LOG} WITH STOPAT = '2020-01-01T00:00:00'")
    assert "converting date" in fails(connection, f"RESTORE LOG Shop FROM DISK = {LOG} WITH STOPAT = 'soon'")
    connection.close()
    link.sql(f"RESTORE LOG Shop FROM DISK = {LOG} WITH STOPAT = '{times[2]}', RECOVERY")
    assert [row["id"] for row in link.rows(ROWS, database="Shop")] == [1, 2, 3]


def test_stopat_beyond_the_backup_restores_all(backed_up):
    """A point after the end of the log backup changes nothing; one before the end of the full backup is refused."""
    link, _ = backed_up
    connection = link.connect()
    assert "too early to allow" in fails(
        connection, f"RESTORE DATABASE Shop FROM DISK = {FULL} WITH STOPAT = '2020-01-01T00:00:00'"
    )
    connection.close()
    link.sql(f"RESTORE DATABASE Shop FROM DISK = {FULL} WITH NORECOVERY")
    link.sql(f"RESTORE LOG Shop FROM DISK = {LOG} WITH STOPAT = '2099-01-01T00:00:00'")
    assert [row["id"] for row in link.rows(ROWS, database="Shop")] == [1, 2, 3, 4]


def test_standby_is_read_between_log_backups(backed_up):
    """WITH STANDBY: readable, not writable, and the next log backup follows; RECOVERY opens it."""
    link, _ = backed_up
    link.sql(f"RESTORE DATABASE Shop FROM DISK = {FULL} WITH STANDBY = N'/var/opt/aglab/s.undo'")
    state = "SELECT state_desc AS s, is_in_standby AS b, is_read_only AS r FROM sys.databases WHERE name = N'Shop'"
    assert link.rows(state) == [{"s": "ONLINE", "b": True, "r": True}]
    assert [row["id"] for row in link.rows(ROWS, database="Shop")] == [1]
    connection = link.connect(database="Shop")
    assert "read-only" in fails(connection, "INSERT INTO dbo.f VALUES (9)")
    connection.close()
    link.sql(f"RESTORE LOG Shop FROM DISK = {LOG} WITH STANDBY = N'/var/opt/aglab/s.undo'")
    assert [row["id"] for row in link.rows(ROWS, database="Shop")] == [1, 2, 3, 4]
    link.sql("RESTORE DATABASE Shop WITH RECOVERY")
    assert link.rows(state) == [{"s": "ONLINE", "b": False, "r": False}]
    link.sql("INSERT INTO dbo.f VALUES (5)", database="Shop")


def test_a_log_backup_without_times_says_so(backed_up):
    """After the cluster was restored from a snapshot the commits before it have no times: STOPAT is refused, the rest is not."""
    link, _ = backed_up
    link.sql("CREATE DATABASE Other")
    link.sql("CREATE TABLE dbo.f (id int)", database="Other")
    link.sql("BACKUP DATABASE Other TO DISK = N'/var/opt/aglab/o.bak'")
    link.sql("EXEC twin.snapshot @name = 'between'; EXEC twin.restore @name = 'between'")
    link.sql("INSERT INTO dbo.f VALUES (1); WAITFOR DELAY '00:00:05'", database="Other")
    now = link.value("SELECT CONVERT(varchar(30), SYSDATETIME(), 126)")
    link.sql("WAITFOR DELAY '00:00:10'; BACKUP LOG Other TO DISK = N'/var/opt/aglab/o.trn'; DROP DATABASE Other")
    link.sql("RESTORE DATABASE Other FROM DISK = N'/var/opt/aglab/o.bak' WITH NORECOVERY")
    connection = link.connect()
    text = "RESTORE LOG Other FROM DISK = N'/var/opt/aglab/o.trn'"
    assert "without STOPAT" in fails(connection, f"{text} WITH STOPAT = '{now}'")
    connection.close()
    link.sql(text)
    assert [row["id"] for row in link.rows(ROWS, database="Other")] == [1]


def test_a_restore_stops_at_a_mark(own):
    """STOPATMARK includes the transaction begun WITH MARK, STOPBEFOREMARK leaves it out; an unknown one is waited for."""
    own.sql("CREATE DATABASE Shop")
    own.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="Shop")
    own.sql("BACKUP DATABASE Shop TO DISK = N'/var/opt/aglab/m.bak'; INSERT INTO Shop.dbo.f VALUES (2)")
    own.sql(
        "BEGIN TRANSACTION prices WITH MARK N'New prices'; INSERT INTO dbo.f VALUES (3); COMMIT TRANSACTION prices",
        database="Shop",
    )
    own.sql("INSERT INTO Shop.dbo.f VALUES (4); BACKUP LOG Shop TO DISK = N'/var/opt/aglab/m.trn'; DROP DATABASE Shop")
    for words, ids in (("STOPATMARK", [1, 2, 3]), ("STOPBEFOREMARK", [1, 2])):
        own.sql("RESTORE DATABASE Shop FROM DISK = N'/var/opt/aglab/m.bak' WITH NORECOVERY, REPLACE")
        own.sql(f"RESTORE LOG Shop FROM DISK = N'/var/opt/aglab/m.trn' WITH {words} = N'prices', RECOVERY")
        assert [row["id"] for row in own.rows(ROWS, database="Shop")] == ids
    own.sql("RESTORE DATABASE Shop FROM DISK = N'/var/opt/aglab/m.bak' WITH NORECOVERY, REPLACE")
    own.sql("RESTORE LOG Shop FROM DISK = N'/var/opt/aglab/m.trn' WITH STOPATMARK = N'nosuch', RECOVERY")
    assert own.value("SELECT state_desc FROM sys.databases WHERE name = N'Shop'") == "RESTORING"
    connection = own.connect()
    assert "lsn:" in fails(
        connection, "RESTORE LOG Shop FROM DISK = N'/var/opt/aglab/m.trn' WITH STOPATMARK = N'lsn:15000000040000037'"
    )
    own.sql("RESTORE DATABASE Shop WITH RECOVERY")
    assert [row["id"] for row in own.rows(ROWS, database="Shop")] == [1, 2, 3, 4]
    connection.close()
