"""Transparent data encryption as a client sees it: keys, the scan and its progress, what is refused."""

import contextlib

import pytest
from twin_client import fails

CREATE = "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE tde"
STATE = """SELECT encryption_state_desc AS s, percent_complete AS p, encryption_scan_state_desc AS c
FROM sys.dm_database_encryption_keys"""


def set_up(own):
    """A certificate for keys of databases; the nodes of a group have a master key."""
    own.sql("CREATE CERTIFICATE tde WITH SUBJECT = N'Keys of databases'")


def refused(own, text, database="master"):
    """The words of the error that a statement ends with."""
    with contextlib.closing(own.connect(database=database)) as connection:
        return fails(connection, text)


def test_a_scan_takes_the_time_of_its_bytes(own):
    """Half-way it says 50 percent; then the database is encrypted, on every copy; decryption is a scan again."""
    set_up(own)
    own.sql(CREATE, database="OLTP")
    own.sql("ALTER DATABASE OLTP SET ENCRYPTION ON")
    own.sql("EXEC twin.advance @seconds = 30")
    after_30 = own.rows(STATE)[0]
    assert after_30["s"] == "ENCRYPTION_IN_PROGRESS" and after_30["c"] == "RUNNING" and 0 < after_30["p"] < 100
    assert own.value("SELECT is_encrypted FROM sys.databases WHERE name = N'OLTP'") is True
    rest_s = 30 * (100 - after_30["p"]) / after_30["p"]
    own.sql(f"EXEC twin.advance @seconds = {rest_s - 1:.3f}")
    assert own.rows(STATE)[0]["p"] == pytest.approx(100, abs=100 / (rest_s + 30) * 1.5)
    own.sql("EXEC twin.advance @seconds = 2")
    assert own.rows(STATE) == [{"s": "ENCRYPTED", "p": 0.0, "c": "COMPLETE"}]
    assert own.rows(STATE, node="sql2")[0]["s"] == "ENCRYPTED"
    log = [row["Text"] for row in own.rows("EXEC sys.sp_readerrorlog 0, 1, N'encryption scan'")]
    assert [text.split()[0] for text in log] == ["Beginning", "Database"]
    own.sql("ALTER DATABASE OLTP SET ENCRYPTION OFF")
    assert own.rows(STATE)[0]["s"] == "DECRYPTION_IN_PROGRESS"
    own.sql(f"EXEC twin.advance @seconds = {rest_s + 40:.0f}")
    assert own.rows(STATE)[0]["s"] == "UNENCRYPTED"
    own.sql("DROP DATABASE ENCRYPTION KEY", database="OLTP")
    assert own.rows(STATE) == []


def test_keys_change_and_go_with_their_database(own):
    """Another algorithm, another certificate; a dropped database takes its key along."""
    set_up(own)
    own.sql("CREATE CERTIFICATE other WITH SUBJECT = N'Another'; CREATE DATABASE secret")
    own.sql(CREATE, database="secret")
    own.sql("ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_128", database="secret")
    own.sql("ALTER DATABASE ENCRYPTION KEY ENCRYPTION BY SERVER CERTIFICATE other", database="secret")
    row = own.rows(
        """SELECT k.key_algorithm AS a, k.key_length AS l, c.name AS c FROM sys.dm_database_encryption_keys AS k
        JOIN sys.certificates AS c ON c.thumbprint = k.encryptor_thumbprint"""
    )
    assert row == [{"a": "AES", "l": 128, "c": "other"}]
    assert "cannot be dropped because one or more entities" in refused(own, "DROP CERTIFICATE other")
    own.sql("DROP DATABASE secret")
    assert own.rows(STATE) == []
    own.sql("DROP CERTIFICATE other")


def test_refusals(own):
    """Each step that is missed, and each that comes twice, has its own error."""
    assert "no database encryption key is set" in refused(own, "ALTER DATABASE OLTP SET ENCRYPTION ON")
    assert "Cannot find the certificate 'tde'" in refused(own, CREATE, "OLTP")
    assert "does not exist for this database" in refused(own, "DROP DATABASE ENCRYPTION KEY", "OLTP")
    set_up(own)
    assert "Cannot encrypt a system database." in refused(own, CREATE, "master")
    assert "Cannot encrypt a system database." in refused(own, "ALTER DATABASE msdb SET ENCRYPTION ON")
    assert "Incorrect syntax near 'ROT13'" in refused(own, CREATE.replace("AES_256", "ROT13"), "OLTP")
    own.sql("BACKUP CERTIFICATE tde TO FILE = N'/var/opt/aglab/tde.cer'")
    own.sql(
        "CREATE CERTIFICATE public_only FROM FILE = N'/var/opt/aglab/tde.cer'; CREATE DATABASE two",
        node="sql2",
    )
    with contextlib.closing(own.connect("sql2", "two")) as connection:
        assert "its private key is not present" in fails(connection, CREATE.replace("tde", "public_only"))
    own.sql(CREATE, database="OLTP")
    assert "already exists for this database" in refused(own, CREATE, "OLTP")
    assert "already disabled" in refused(own, "ALTER DATABASE OLTP SET ENCRYPTION OFF")
    own.sql("ALTER DATABASE OLTP SET ENCRYPTION ON")
    assert "scan is in progress" in refused(own, "ALTER DATABASE OLTP SET ENCRYPTION OFF")
    assert "Cannot change database encryption key" in refused(
        own, "ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = AES_128", "OLTP"
    )
    assert "currently in use" in refused(own, "DROP DATABASE ENCRYPTION KEY", "OLTP")
    own.sql("EXEC twin.advance @seconds = 100000")
    assert "already enabled" in refused(own, "ALTER DATABASE OLTP SET ENCRYPTION ON")
