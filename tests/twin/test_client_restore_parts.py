"""Backups and restores of files, filegroups and pages, and a database that comes back piece by piece."""

import pytest
from twin_client import fails

DATA = "N'/var/opt/aglab/{}.bak'"
FILES = "SELECT name AS n, state_desc AS s FROM sys.database_files WHERE type = 0 ORDER BY file_id"


@pytest.fixture
def parts(own):
    """Database Parts in the full model: filegroup late, a table in each filegroup, a full backup."""
    own.sql("CREATE DATABASE Parts; ALTER DATABASE Parts ADD FILEGROUP late")
    own.sql("ALTER DATABASE Parts ADD FILE (NAME = late1, FILENAME = '/v/late1.ndf', SIZE = 8MB) TO FILEGROUP late")
    own.sql("CREATE TABLE dbo.now (id int) ON [PRIMARY]; INSERT dbo.now VALUES (1)", database="Parts")
    own.sql("CREATE TABLE dbo.old (id int) ON late; INSERT dbo.old VALUES (1), (2)", database="Parts")
    own.sql(f"BACKUP DATABASE Parts TO DISK = {DATA.format('full')} WITH INIT")
    return own


def states(link):
    """Data files and their states."""
    return [tuple(row.values()) for row in link.rows(FILES, database="Parts")]


def test_a_filegroup_is_restored_beside_an_open_database(parts):
    """Its tables are closed (8653), the others open, until the tail of the log was backed up and restored."""
    link = parts
    connection = link.connect(database="Parts")
    link.sql(f"BACKUP DATABASE Parts FILEGROUP = 'late' TO DISK = {DATA.format('late')}")
    link.sql("INSERT dbo.old VALUES (3)", database="Parts")
    link.sql(f"RESTORE DATABASE Parts FILEGROUP = 'late' FROM DISK = {DATA.format('late')} WITH NORECOVERY")
    assert states(link) == [("Parts", "ONLINE"), ("late1", "RESTORING")]
    assert "'old' because the table resides in a filegroup" in fails(connection, "SELECT id FROM dbo.old")
    assert "'old' because the table resides in a filegroup" in fails(connection, "INSERT dbo.old VALUES (9)")
    link.sql("INSERT dbo.now VALUES (2)", database="Parts")
    assert "is not permitted because it is not online" in fails(connection, f"BACKUP DATABASE Parts TO DISK = {DATA.format('x')}")
    link.sql("RESTORE DATABASE Parts WITH RECOVERY")
    assert states(link)[1] == ("late1", "RESTORING")
    link.sql(f"BACKUP LOG Parts TO DISK = {DATA.format('tail')}")
    link.sql(f"RESTORE LOG Parts FROM DISK = {DATA.format('tail')} WITH RECOVERY")
    assert states(link) == [("Parts", "ONLINE"), ("late1", "ONLINE")]
    assert [row["id"] for row in link.rows("SELECT id FROM dbo.old ORDER BY id", database="Parts")] == [1, 2, 3]
    kinds = "SELECT restore_type AS t, recovery AS r FROM msdb.dbo.restorehistory WHERE destination_database_name = 'Parts'"
    assert [tuple(row.values()) for row in link.rows(kinds)] == [("G", False), ("L", True)]
    groups = "SELECT DISTINCT filegroup_name AS n FROM msdb.dbo.restorefilegroup ORDER BY 1"
    assert [row["n"] for row in link.rows(groups)] == ["late", "PRIMARY"]
    connection.close()


def test_a_database_comes_back_piece_by_piece(parts):
    """PARTIAL opens the primary filegroup; the other file waits RECOVERY_PENDING for its own restore."""
    link = parts
    link.sql(f"BACKUP LOG Parts TO DISK = {DATA.format('log')}; DROP DATABASE Parts")
    full, log = DATA.format("full"), DATA.format("log")
    link.sql(f"RESTORE DATABASE Parts FILEGROUP = 'PRIMARY' FROM DISK = {full} WITH PARTIAL, NORECOVERY")
    link.sql(f"RESTORE LOG Parts FROM DISK = {log} WITH RECOVERY")
    assert states(link) == [("Parts", "ONLINE"), ("late1", "RECOVERY_PENDING")]
    connection = link.connect(database="Parts")
    assert [row["id"] for row in link.rows("SELECT id FROM dbo.now", database="Parts")] == [1]
    assert "not online" in fails(connection, "SELECT id FROM dbo.old")
    connection.close()
    link.sql(f"RESTORE DATABASE Parts FILEGROUP = 'late' FROM DISK = {full} WITH NORECOVERY")
    link.sql(f"RESTORE LOG Parts FROM DISK = {log} WITH RECOVERY")
    assert states(link) == [("Parts", "ONLINE"), ("late1", "ONLINE")]
    assert [row["id"] for row in link.rows("SELECT id FROM dbo.old ORDER BY id", database="Parts")] == [1, 2]


def test_pages_are_restored_through_the_log(parts):
    """A page restore leaves the file open and ends with the tail of the log."""
    link, full = parts, DATA.format("full")
    link.sql(f"RESTORE DATABASE Parts PAGE = '1:57, 3:80' FROM DISK = {full} WITH NORECOVERY")
    assert states(link)[0] == ("Parts", "ONLINE")
    link.sql(f"BACKUP LOG Parts TO DISK = {DATA.format('tail')}")
    link.sql(f"RESTORE LOG Parts FROM DISK = {DATA.format('tail')} WITH RECOVERY")
    connection = link.connect()
    for pages, words in (
        ("1:57;2:1", "0 pages were correctly"),
        ("1:6", "control page"),
        ("1:999999", "beyond the end of the file"),
    ):
        assert words in fails(connection, f"RESTORE DATABASE Parts PAGE = '{pages}' FROM DISK = {full} WITH NORECOVERY")
    link.sql("ALTER DATABASE Parts SET RECOVERY SIMPLE")
    assert "simple recovery model" in fails(
        connection, f"RESTORE DATABASE Parts PAGE = '1:57' FROM DISK = {full} WITH NORECOVERY"
    )
    connection.close()


def test_partial_and_file_backups_and_their_differentials(parts):
    """backupset.type P, Q, F, G; HEADERONLY says 7, 8, 4, 6; a differential without its base is refused."""
    link, connection = parts, parts.connect()
    to = f"TO DISK = {DATA.format('kinds')}"
    assert "Cannot perform a differential backup for database" in fails(
        connection, f"BACKUP DATABASE Parts READ_WRITE_FILEGROUPS {to} WITH DIFFERENTIAL"
    )
    link.sql("ALTER DATABASE Parts MODIFY FILEGROUP late READ_ONLY")
    link.sql(f"BACKUP DATABASE Parts READ_WRITE_FILEGROUPS {to}")
    link.sql(f"BACKUP DATABASE Parts READ_WRITE_FILEGROUPS {to} WITH DIFFERENTIAL")
    link.sql(f"BACKUP DATABASE Parts FILE = 'late1' {to}")
    link.sql(f"BACKUP DATABASE Parts FILE = 'late1' {to} WITH DIFFERENTIAL")
    heads = link.rows(f"RESTORE HEADERONLY FROM DISK = {DATA.format('kinds')}")
    assert [row["BackupType"] for row in heads] == [7, 8, 4, 6]
    held = "SELECT logical_name AS n FROM msdb.dbo.backupfile f JOIN msdb.dbo.backupset s ON s.backup_set_id = f.backup_set_id "
    assert [row["n"] for row in link.rows(held + "WHERE s.type = 'P' AND f.is_present = 1 AND file_type = 'D'")] == ["Parts"]
    assert [row["n"] for row in link.rows(held + "WHERE s.type = 'G' AND f.is_present = 1 AND file_type = 'D'")] == ["late1"]
    for said, words in (("FILE = 'nosuch'", "is not part of database"), ("FILEGROUP = 'nosuch'", "is not part of database")):
        assert words in fails(connection, f"BACKUP DATABASE Parts {said} {to}")
    link.sql("ALTER DATABASE Parts SET RECOVERY SIMPLE")
    assert "primary filegroup cannot be backed up" in fails(connection, f"BACKUP DATABASE Parts FILEGROUP = 'PRIMARY' {to}")
    connection.close()


def test_what_parts_cannot_do_is_refused(parts):
    """Words of the documentation for each; nothing is left half done."""
    link, connection, full = parts, parts.connect(), DATA.format("full")
    link.sql(f"BACKUP DATABASE Parts FILEGROUP = 'late' TO DISK = {DATA.format('late')}")
    link.sql(f"BACKUP DATABASE Parts FILE = 'Parts' TO DISK = {DATA.format('first')}")
    cases = [
        (f"RESTORE DATABASE Parts FILE = 'late1' FROM DISK = {DATA.format('first')} WITH NORECOVERY", "not backed up in file 1"),
        (f"RESTORE DATABASE New1 FILEGROUP = 'late' FROM DISK = {full} WITH NORECOVERY", "partial restore sequence cannot"),
        (f"RESTORE DATABASE New1 FROM DISK = {DATA.format('late')} WITH NORECOVERY", "RESTORE can only create a database"),
        (f"RESTORE DATABASE Parts FROM DISK = {full} WITH KEEP_REPLICATION, NORECOVERY", "conflicts with option"),
        (f"BACKUP LOG Parts FILE = 'late1' TO DISK = {full}", "not supported for this statement"),
    ]
    for text, words in cases:
        assert words in fails(connection, text)
    assert states(link) == [("Parts", "ONLINE"), ("late1", "ONLINE")]
    move = "MOVE 'Parts' TO '/v/n.mdf', MOVE 'Parts_log' TO '/v/n.ldf', MOVE 'late1' TO '/v/n.ndf'"
    link.sql(f"RESTORE DATABASE New1 FROM DISK = {full} WITH {move}, RESTRICTED_USER, NEW_BROKER")
    assert link.value("SELECT user_access_desc FROM sys.databases WHERE name = 'New1'") == "RESTRICTED_USER"
    connection.close()


def test_msdb_forgets_and_marks_are_kept(parts):
    """sp_delete_backuphistory by date, sp_delete_database_backuphistory by name; a differential still finds its base."""
    link = parts
    link.sql("BEGIN TRAN monthly WITH MARK 'before the change'; INSERT dbo.now VALUES (7); COMMIT", database="Parts")
    marks = "SELECT database_name, mark_name, description, user_name FROM msdb.dbo.logmarkhistory"
    assert [tuple(row.values()) for row in link.rows(marks)] == [("Parts", "monthly", "before the change", "sa")]
    count = "SELECT COUNT(*) FROM msdb.dbo.backupset WHERE database_name = 'Parts'"
    link.sql("EXEC msdb.dbo.sp_delete_backuphistory @oldest_date = '20000101'")
    assert link.value(count) == 1
    link.sql("EXEC msdb.dbo.sp_delete_database_backuphistory N'Parts'")
    assert link.value(count) == 0
    assert link.rows(marks) == []
    link.sql(f"BACKUP DATABASE Parts TO DISK = {DATA.format('diff')} WITH DIFFERENTIAL")
    assert link.value(count) == 1
