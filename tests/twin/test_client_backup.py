"""BACKUP and RESTORE as a DBA's client sees them: messages, history, time beside the load, rows that come back."""

import contextlib
import threading

import pytest
from twin_client import Link, fails, run, until

from aglab.twin import spawn_child

SCRIPT = """BACKUP DATABASE OLTP TO DISK = 'NUL:', DISK = 'NUL:', DISK = 'NUL:', DISK = 'NUL:'
WITH MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 64, COMPRESSION, CHECKSUM, STATS = 10"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Three stand-alone nodes; each test makes databases of its own."""
    with spawn_child(tmp_path_factory.mktemp("bare") / "s", profile="hpe-dl380-gen9-ssd", bare=True) as twin:
        yield Link(twin)


def fill(link, name, rows=(1, 2)):
    """A database with one table of numbers."""
    link.sql(f"CREATE DATABASE {name}")
    link.sql("CREATE TABLE dbo.t (id int PRIMARY KEY)", database=name)
    add(link, name, *rows)


def add(link, name, *rows):
    """More numbers."""
    link.sql(";".join(f"INSERT dbo.t VALUES ({one})" for one in rows), database=name)


def ids(link, name):
    """The numbers that are there."""
    return [row["id"] for row in link.rows("SELECT id FROM dbo.t ORDER BY id", database=name)]


def messages(link, text, node="sql1"):
    """What the server prints, without the driver's prefix."""
    with contextlib.closing(link.connect(node)) as connection:
        cursor = connection.cursor()
        cursor.execute(text)
        found = [one[1].rpartition("]")[2] for one in cursor.messages]
        while cursor.nextset():
            found += [one[1].rpartition("]")[2] for one in cursor.messages]
        return found


def refused(link, text, node="sql1", database="master"):
    """The words of the error that a statement ends with."""
    with contextlib.closing(link.connect(node, database)) as connection:
        return fails(connection, text)


def test_the_printed_script_runs_and_leaves_its_history(bare):
    """Four families, compressed, checksummed, 64 KB transfers: as the paper's script asks; progress in steps of ten."""
    printed = messages(bare, SCRIPT)
    assert printed[:3] == ["10 percent processed.", "20 percent processed.", "30 percent processed."]
    assert printed[-1].startswith("BACKUP DATABASE successfully processed 6400000") and "MB/sec)." in printed[-1]
    row = bare.rows(
        "SELECT TOP 1 b.type, b.has_backup_checksums, m.is_compressed, m.media_family_count, b.backup_size, "
        "b.compressed_backup_size, "
        "DATEDIFF(SECOND, b.backup_start_date, b.backup_finish_date) AS seconds FROM msdb.dbo.backupset AS b "
        "JOIN msdb.dbo.backupmediaset AS m ON m.media_set_id = b.media_set_id WHERE b.database_name = 'OLTP' "
        "ORDER BY b.backup_set_id DESC"
    )[0]
    assert (row["type"], row["has_backup_checksums"], row["is_compressed"], row["media_family_count"]) == ("D", True, True, 4)
    assert float(row["backup_size"] / row["compressed_backup_size"]) == pytest.approx(3.163, rel=1e-3) and row["seconds"] > 60
    families = bare.rows(
        "SELECT physical_device_name, physical_block_size FROM msdb.dbo.backupmediafamily WHERE media_set_id = "
        "(SELECT MAX(media_set_id) FROM msdb.dbo.backupset WHERE database_name = 'OLTP')"
    )
    assert [one["physical_device_name"] for one in families] == ["NUL"] * 4


def test_rows_come_back_from_a_chain(bare):
    """Full, log, log: the copy has what was there at the end of the log restored last; the wrong order is error 4305."""
    fill(bare, "chain")
    bare.sql("BACKUP DATABASE chain TO DISK = '/backup/chain.bak'")
    for one in (3, 4):
        add(bare, "chain", *range(one * 10, one * 10 + 9))
        bare.sql("BACKUP LOG chain TO DISK = '/backup/chain.trn'")
    bare.sql(
        "RESTORE DATABASE copied FROM DISK = '/backup/chain.bak' WITH NORECOVERY, "
        "MOVE 'chain' TO '/d/copied.mdf', MOVE 'chain_log' TO '/d/copied.ldf'"
    )
    assert "in the middle of a restore" in refused(bare, "SELECT * FROM copied.dbo.t")
    assert "too recent to apply" in refused(bare, "RESTORE LOG copied FROM DISK = '/backup/chain.trn' WITH FILE = 2")
    bare.sql("RESTORE LOG copied FROM DISK = '/backup/chain.trn' WITH NORECOVERY")
    bare.sql("RESTORE DATABASE copied WITH RECOVERY")
    assert ids(bare, "copied") == [1, 2, *range(30, 39)]
    assert "no files are ready to rollforward" in refused(
        bare, "RESTORE LOG copied FROM DISK = '/backup/chain.trn' WITH FILE = 2"
    )
    heads = bare.rows("RESTORE HEADERONLY FROM DISK = '/backup/chain.trn'")
    assert [(one["Position"], one["BackupTypeDescription"]) for one in heads] == [(1, "TRANSACTION LOG"), (2, "TRANSACTION LOG")]
    assert heads[0]["LastLSN"] == heads[1]["FirstLSN"]


def test_a_differential_needs_its_base(bare):
    """It restores on its own full backup only; another full breaks the tie, a copy-only one does not."""
    fill(bare, "diff")
    assert "current database backup does not exist" in refused(bare, "BACKUP DATABASE diff TO DISK = 'd' WITH DIFFERENTIAL")
    bare.sql("BACKUP DATABASE diff TO DISK = 'diff_full'")
    bare.sql("BACKUP DATABASE diff TO DISK = 'diff_copy' WITH COPY_ONLY")
    add(bare, "diff", 3)
    bare.sql("BACKUP DATABASE diff TO DISK = 'diff_one' WITH DIFFERENTIAL")
    moves = "MOVE 'diff' TO '/d/d2.mdf', MOVE 'diff_log' TO '/d/d2.ldf', NORECOVERY"
    bare.sql(f"RESTORE DATABASE diff2 FROM DISK = 'diff_copy' WITH {moves}")
    assert "correct earlier state" in refused(bare, "RESTORE DATABASE diff2 FROM DISK = 'diff_one'")
    bare.sql("DROP DATABASE diff2")
    bare.sql(f"RESTORE DATABASE diff2 FROM DISK = 'diff_full' WITH {moves}")
    bare.sql("RESTORE DATABASE diff2 FROM DISK = 'diff_one' WITH RECOVERY")
    assert ids(bare, "diff2") == [1, 2, 3]


def test_a_restore_over_a_database_takes_care(bare):
    """In use: 3101; unsaved tail: 3159; another database's: 3154; REPLACE overrides the last two."""
    fill(bare, "care")
    fill(bare, "other", (7,))
    bare.sql("BACKUP DATABASE care TO DISK = 'care'")
    with contextlib.closing(bare.connect(database="care")) as inside:
        run(inside, "SELECT 1")
        assert "database is in use" in refused(bare, "RESTORE DATABASE care FROM DISK = 'care'")
    until(lambda: bare.value("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE database_id = DB_ID('care')") == 0)
    add(bare, "care", 3)
    assert "tail of the log" in refused(bare, "RESTORE DATABASE care FROM DISK = 'care'")
    bare.sql("BACKUP LOG care TO DISK = 'care_tail' WITH NORECOVERY")
    bare.sql("RESTORE DATABASE care FROM DISK = 'care' WITH NORECOVERY")
    bare.sql("RESTORE LOG care FROM DISK = 'care_tail'")
    assert ids(bare, "care") == [1, 2, 3]
    assert "other than the existing" in refused(bare, "RESTORE DATABASE other FROM DISK = 'care'")
    bare.sql("RESTORE DATABASE other FROM DISK = 'care' WITH REPLACE")
    assert ids(bare, "other") == [1, 2]
    assert "WITH MOVE" in refused(bare, "RESTORE DATABASE third FROM DISK = 'care'")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "BACKUP DATABASE OLTP TO DISK = 'NUL' WITH MAXTRANSFERSIZE = 8388608",
            "'8388608' is not within range for the MaxTransferSize",
        ),
        ("BACKUP DATABASE OLTP TO DISK = 'NUL' WITH MAXTRANSFERSIZE = 70000", "Invalid value specified for MAXTRANSFERSIZE"),
        ("BACKUP DATABASE OLTP TO DISK = 'NUL' WITH BUFFERCOUNT = 0", "'0' is not within range for the BufferCount"),
        ("BACKUP DATABASE OLTP TO DISK = 'NUL' WITH BLOCKSIZE = 1000", "must supply a value that is a power of 2"),
        ("BACKUP DATABASE OLTP TO DISK = 'NUL' WITH INIT, NOINIT", "Option 'init' conflicts with option(s) 'noinit'"),
        ("BACKUP DATABASE OLTP TO DISK = 'NUL' WITH REPLACE", "(replace) are not supported"),
        ("BACKUP DATABASE OLTP TO DISK = 'NUL' WITH NORECOVERY", "(norecovery) are not supported"),
        ("BACKUP DATABASE OLTP TO DISK = ''", "Invalid zero-length device name"),
        (f"BACKUP DATABASE OLTP TO DISK = '{'x' * 300}'", "exceeds supported limit"),
        (f"BACKUP DATABASE OLTP TO {', '.join(['DISK = ' + chr(39) + 'NUL' + chr(39)] * 65)}", "only 64 are allowed"),
        ("BACKUP DATABASE OLTP TO DISK = 'NUL', TAPE = 'x'", "same general class"),
        ("BACKUP DATABASE OLTP TO TAPE = 'x'", "TAPE is not a device"),
        ("BACKUP DATABASE OLTP TO tape_robot", "Backup device 'tape_robot' does not exist"),
        ("BACKUP DATABASE OLTP TO DISK = 'a' MIRROR TO DISK = 'b'", "mirroring is not available"),
        ("BACKUP DATABASE tempdb TO DISK = 'NUL'", "not allowed on database tempdb"),
        ("BACKUP DATABASE master TO DISK = 'NUL' WITH DIFFERENTIAL", "only perform a full backup of the master"),
        ("BACKUP DATABASE OLTP FILEGROUP = 'nosuch' TO DISK = 'NUL'", '"nosuch" is not part of database'),
        ("RESTORE HEADERONLY FROM DISK = 'nosuch'", "Cannot open backup device"),
        ("RESTORE DATABASE tempdb FROM DISK = 'nosuch'", "Cannot open backup device"),
        ("RESTORE DATABASE OLTP WITH RECOVERY", "already fully recovered"),
        ("RESTORE DATABASE nosuch WITH RECOVERY", "does not exist"),
        ("RESTORE LOG nosuch FROM DISK = 'nosuch'", "Cannot open backup device"),
    ],
)
def test_what_cannot_be_is_refused_with_sql_servers_words(bare, statement, words):
    """The error that a real server gives; nothing enters the history."""
    before = bare.value("SELECT COUNT(*) FROM msdb.dbo.backupset")
    assert words in refused(bare, statement)
    assert bare.value("SELECT COUNT(*) FROM msdb.dbo.backupset") == before


def test_media_keep_their_shape(bare):
    """Two families need both; a file formatted without compression takes no compressed set; FORMAT begins anew."""
    fill(bare, "media")
    bare.sql("BACKUP DATABASE media TO DISK = 'm1', DISK = 'm2'")
    assert "has 2 media families but only 1" in refused(bare, "RESTORE DATABASE media FROM DISK = 'm1' WITH REPLACE")
    assert "support 2 media families" in refused(bare, "BACKUP DATABASE media TO DISK = 'm1'")
    assert "incompatible structure" in refused(bare, "BACKUP DATABASE media TO DISK = 'm1', DISK = 'm2' WITH COMPRESSION")
    bare.sql("BACKUP DATABASE media TO DISK = 'm1', DISK = 'm2'")
    bare.sql("RESTORE VERIFYONLY FROM DISK = 'm2', DISK = 'm1' WITH FILE = 2")
    assert "Cannot find file ID 3" in refused(bare, "RESTORE VERIFYONLY FROM DISK = 'm2', DISK = 'm1' WITH FILE = 3")
    assert "does not contain checksum" in refused(bare, "RESTORE VERIFYONLY FROM DISK = 'm2', DISK = 'm1' WITH CHECKSUM")
    assert bare.rows("RESTORE LABELONLY FROM DISK = 'm2'")[0]["FamilySequenceNumber"] == 2
    files = bare.rows("RESTORE FILELISTONLY FROM DISK = 'm1', DISK = 'm2'")
    assert [(one["LogicalName"], one["Type"]) for one in files] == [("media", "D"), ("media_log", "L")]
    bare.sql("BACKUP DATABASE media TO DISK = 'm1' WITH FORMAT, COMPRESSION")
    assert len(bare.rows("RESTORE HEADERONLY FROM DISK = 'm1'")) == 1
    assert "other than the existing" in refused(bare, "RESTORE DATABASE OLTP FROM DISK = 'm1'")
    assert "not part of database" in refused(bare, "RESTORE DATABASE m3 FROM DISK = 'm1' WITH MOVE 'x' TO 'y'")
    assert "was created by BACKUP DATABASE" not in refused(bare, "RESTORE LOG media FROM DISK = 'm1'")


def test_server_defaults_decide_where_the_statement_is_silent(bare):
    """backup compression default and backup checksum default."""
    fill(bare, "defaults")
    configure = "EXEC sp_configure 'show advanced options', 1; RECONFIGURE; EXEC sp_configure '{}', {}; RECONFIGURE"
    options = ("backup compression default", "backup checksum default")
    for value in (1, 0):
        for option in options:
            bare.sql(configure.format(option, value))
        bare.sql("BACKUP DATABASE defaults TO DISK = 'NUL'")
        row = bare.rows(
            "SELECT TOP 1 has_backup_checksums, compression_algorithm FROM msdb.dbo.backupset ORDER BY backup_set_id DESC"
        )[0]
        assert (row["has_backup_checksums"], row["compression_algorithm"]) == (bool(value), "MS_XPRESS" if value else None)


def test_another_session_watches_the_progress_and_a_cancel_ends_it(bare):
    """percent_complete grows; KILL ends the backup, nothing enters the history and the next one runs."""
    before = bare.value("SELECT COUNT(*) FROM msdb.dbo.backupset")
    backing = bare.connect()
    spid = run(backing, "SELECT @@SPID AS spid")[0][0]["spid"]
    seen = []
    watcher = bare.connect()
    for connection in (backing, watcher):
        run(connection, "EXEC twin.enroll")

    def back_up():
        with contextlib.suppress(Exception):
            run(backing, "BACKUP DATABASE OLTP TO DISK = '/backup/watched.bak' WITH INIT")

    thread = threading.Thread(target=back_up)
    thread.start()
    watched = f"SELECT percent_complete AS done, command, wait_type FROM sys.dm_exec_requests WHERE session_id = {spid}"
    until(lambda: run(watcher, watched)[0])
    for _ in range(3):
        run(watcher, "WAITFOR DELAY '00:00:30'")
        seen += run(watcher, watched)[0]
    assert [one["command"] for one in seen] == ["BACKUP DATABASE"] * 3 and seen[0]["wait_type"] == "BACKUPIO"
    assert 0 < seen[0]["done"] < seen[1]["done"] < seen[2]["done"] < 100
    run(watcher, f"KILL {spid}")
    thread.join(20)
    assert not thread.is_alive()
    watcher.close()
    assert bare.value("SELECT COUNT(*) FROM msdb.dbo.backupset") == before
    assert "Cannot open backup device" in refused(bare, "RESTORE HEADERONLY FROM DISK = '/backup/watched.bak'")
    bare.sql(SCRIPT)


def test_the_load_and_the_backup_feel_each_other(bare):
    """Beside a load the same statement takes longer, and the load does less meanwhile; the counter shows the bytes."""
    seconds = (
        "SELECT TOP 1 DATEDIFF(SECOND, backup_start_date, backup_finish_date) FROM msdb.dbo.backupset ORDER BY backup_set_id DESC"
    )
    counter = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = '{}' AND instance_name = 'OLTP'"
    bare.sql(SCRIPT)
    idle = bare.value(seconds)
    bare.sql("EXEC twin.start_workload @users = 100; WAITFOR DELAY '00:01:00'")
    work = counter.format("Transactions/sec")
    first = bare.value(work)
    bare.sql("WAITFOR DELAY '00:01:00'")
    alone = (bare.value(work) - first) / 60
    bytes_before, first = bare.value(counter.format("Backup/Restore Throughput/sec")), bare.value(work)
    bare.sql(SCRIPT)
    busy = bare.value(seconds)
    beside = (bare.value(work) - first) / busy
    bare.sql("EXEC twin.stop_workload")
    assert busy > 1.1 * idle and beside < 0.9 * alone
    moved = bare.value(counter.format("Backup/Restore Throughput/sec")) - bytes_before
    assert moved == pytest.approx(64000000 * 8192, rel=1e-6)


def test_a_copy_only_log_backup_frees_no_log(bare):
    """log_reuse_wait stays LOG_BACKUP after it, and is gone after a regular one."""
    waits = "SELECT log_reuse_wait_desc FROM sys.databases WHERE name = 'OLTP'"
    bare.sql("BACKUP DATABASE OLTP TO DISK = 'NUL'; EXEC twin.run_workload @seconds = 30, @users = 20")
    settle = "CHECKPOINT; WAITFOR DELAY '00:01:30'"
    bare.sql(f"BACKUP LOG OLTP TO DISK = 'NUL' WITH COPY_ONLY; {settle}", database="OLTP")
    assert bare.value(waits) == "LOG_BACKUP"
    bare.sql(f"BACKUP LOG OLTP TO DISK = 'NUL'; {settle}", database="OLTP")
    assert bare.value(waits) != "LOG_BACKUP"


def test_trace_flags_tell_the_buffers(bare):
    """3213 with 3605: buffers, sets and space of a compressed backup in the errorlog."""
    fill(bare, "flags")
    bare.sql("DBCC TRACEON(3213, 3605, -1)")
    bare.sql("BACKUP DATABASE flags TO DISK = 'NUL' WITH COMPRESSION, MAXTRANSFERSIZE = 4194304, BUFFERCOUNT = 300")
    bare.sql("DBCC TRACEOFF(3213, 3605, -1)")
    lines = [row["Text"] for row in bare.rows("EXEC sp_readerrorlog 0, 1, 'buffer'")]
    assert any("Total buffer space:         3600 MB" in line for line in lines), lines


def test_a_filegroup_is_a_part(bare):
    """BACKUP DATABASE ... FILEGROUP is of type F; the primary one cannot be restored into an open database."""
    fill(bare, "parts")
    bare.sql("BACKUP DATABASE parts FILEGROUP = 'PRIMARY' TO DISK = 'parts'")
    assert bare.value("SELECT type FROM msdb.dbo.backupset WHERE database_name = 'parts'") == "F"
    kinds = bare.rows(
        "SELECT f.file_type, f.is_present FROM msdb.dbo.backupfile AS f JOIN msdb.dbo.backupset AS b "
        "ON b.backup_set_id = f.backup_set_id WHERE b.database_name = 'parts' ORDER BY f.file_number"
    )
    assert [(one["file_type"], one["is_present"]) for one in kinds] == [("D", True), ("L", True)]
    assert "tail of the log" in refused(bare, "RESTORE DATABASE parts FILEGROUP = 'PRIMARY' FROM DISK = 'parts'")


def test_secondaries_take_copy_only_and_log_backups(own):
    """3059 for anything else; the preference function points at one replica."""
    assert "secondary replica" in refused(own, "BACKUP DATABASE OLTP TO DISK = 'NUL'", node="sql2")
    assert "secondary replica" in refused(own, "BACKUP LOG OLTP TO DISK = 'NUL' WITH COPY_ONLY", node="sql2")
    own.sql("BACKUP DATABASE OLTP TO DISK = 'NUL' WITH COPY_ONLY", node="sql2")
    own.sql("BACKUP LOG OLTP TO DISK = 'NUL'", node="sql2")
    kinds = own.rows("SELECT type, is_copy_only, server_name FROM msdb.dbo.backupset", node="sql2")
    assert [(one["type"], one["is_copy_only"], one["server_name"]) for one in kinds] == [
        ("D", True, "sql2"),
        ("L", False, "sql2"),
    ]
    asked = "SELECT sys.fn_hadr_backup_is_preferred_replica('OLTP') AS here"
    assert [own.value(asked, node=name) for name in ("sql1", "sql2", "sql3")] == [0, 1, 0]
    own.sql("ALTER AVAILABILITY GROUP ag1 MODIFY REPLICA ON 'sql3' WITH (BACKUP_PRIORITY = 90)")
    assert [own.value(asked, node=name) for name in ("sql1", "sql2", "sql3")] == [0, 0, 1]
    assert own.value("SELECT sys.fn_hadr_backup_is_preferred_replica('master')", node="sql2") == 1
    own.sql("BACKUP DATABASE OLTP TO DISK = 'ag_full'")
    assert "joined an availability group" in refused(own, "RESTORE DATABASE OLTP FROM DISK = 'ag_full' WITH REPLACE")


def test_backups_and_history_survive_a_restart_of_the_twin(tmp_path):
    """The files lie in the state directory only, and a new process restores from them."""
    place = tmp_path / "s"
    with spawn_child(place, bare=True) as twin:
        link = Link(twin)
        fill(link, "kept", (5, 6))
        link.sql("BACKUP DATABASE kept TO DISK = '../../../outside.bak', DISK = 'C:\\other\\second.bak'")
        link.sql("DROP DATABASE kept")
    inside = [one.relative_to(place).parts[0] for one in place.rglob("*.bak")]
    assert inside == ["backups"] * 2 and {one.name for one in tmp_path.iterdir()} == {"s"}
    with spawn_child(place, bare=True) as twin:
        link = Link(twin)
        assert link.value("SELECT COUNT(*) FROM msdb.dbo.backupset") == 1
        link.sql("RESTORE DATABASE kept FROM DISK = '../../../outside.bak', DISK = 'C:\\other\\second.bak'")
        assert ids(link, "kept") == [5, 6]
        damaged = next(place.rglob("*.bak"))
        for one in place.rglob("*.bak"):
            one.write_bytes(b"not a backup")
        assert damaged.exists()
        assert "incorrectly formed" in refused(link, "RESTORE HEADERONLY FROM DISK = '../../../outside.bak'")
