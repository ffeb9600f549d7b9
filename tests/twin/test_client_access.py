"""A database that others use: who waits, who is rolled back, and who gets in."""

import contextlib
import threading

import mssql_python
import pytest
from twin_client import fails, run, until

from aglab.lab.driver import Connection, SqlFailed

ACCESS = "SELECT user_access_desc AS a FROM sys.databases WHERE name = N'Shop'"
WAITS = "SELECT wait_type FROM sys.dm_exec_requests WHERE command LIKE N'ALTER DATABASE%' OR wait_type = N'LCK_M_X'"


@pytest.fixture
def shop(own):
    """A database of its own on sql1."""
    own.sql("CREATE DATABASE Shop")
    own.sql("CREATE TABLE dbo.f (id int); INSERT INTO dbo.f VALUES (1)", database="Shop")
    return own


def test_single_user_waits_for_the_others(shop):
    """Without a termination clause the statement ends when the last other session has left; NO_WAIT is 5070 at once."""
    with contextlib.closing(shop.connect(database="Shop")) as other:
        run(other, "SELECT 1")
        with contextlib.closing(shop.connect()) as mine:
            words = fails(mine, "ALTER DATABASE Shop SET SINGLE_USER WITH NO_WAIT")
            assert "Database state cannot be changed while other users are using the database 'Shop'" in words
            words = fails(mine, "SET LOCK_TIMEOUT 2000; ALTER DATABASE Shop SET SINGLE_USER")
            assert "a lock could not be placed on database 'Shop'" in words
            run(mine, "SET LOCK_TIMEOUT -1")
            waiting = threading.Thread(target=run, args=(mine, "ALTER DATABASE Shop SET SINGLE_USER"))
            waiting.start()
            until(lambda: shop.rows(WAITS) != [])
            assert shop.value(ACCESS) == "MULTI_USER"
            run(other, "USE master")
            waiting.join(timeout=60)
            assert not waiting.is_alive() and shop.value(ACCESS) == "SINGLE_USER"
            run(mine, "ALTER DATABASE Shop SET MULTI_USER")


def test_the_others_are_rolled_back(shop):
    """ROLLBACK IMMEDIATE ends a transaction that is open; ROLLBACK AFTER gives it its seconds first; message 5060 says so."""
    other = shop.connect(database="Shop", autocommit=False)
    other.cursor().execute("INSERT INTO dbo.f VALUES (2)")
    elapsed = "DECLARE @t datetime2 = SYSDATETIME(); {0}; SELECT DATEDIFF(ms, @t, SYSDATETIME()) AS ms"
    ms = shop.value(elapsed.format("ALTER DATABASE Shop SET READ_ONLY WITH ROLLBACK AFTER 7 SECONDS"))
    assert 6_900 <= ms <= 7_500
    with pytest.raises(Exception, match=r"."):
        other.cursor().execute("SELECT 1")
    with contextlib.suppress(Exception):  # the connection is gone
        other.close()
    assert "read-only" in fails(shop.connect(database="Shop"), "INSERT INTO dbo.f VALUES (3)")
    with contextlib.closing(shop.connect(database="Shop")), contextlib.closing(shop.connect()) as mine:
        cursor = mine.cursor()
        cursor.execute("ALTER DATABASE Shop SET OFFLINE WITH ROLLBACK IMMEDIATE")
        said = " ".join(text for _, text in cursor.messages)
        assert "Nonqualified transactions are being rolled back. Estimated rollback completion: 0%." in said
        assert "Estimated rollback completion: 100%." in said
        assert "is offline" in fails(mine, "USE Shop")
    shop.sql("ALTER DATABASE Shop SET ONLINE; ALTER DATABASE Shop SET READ_WRITE")
    assert [row["id"] for row in shop.rows("SELECT id FROM dbo.f", database="Shop")] == [1]


def test_restricted_user_keeps_administrators(shop):
    """RESTRICTED_USER waits for ordinary users only."""
    shop.sql("CREATE LOGIN reader WITH PASSWORD = N'Str0ng-Password'; USE Shop; CREATE USER reader")
    with (
        contextlib.closing(shop.connect(database="Shop")) as admin,
        contextlib.closing(shop.connect(database="Shop", user="reader", password="Str0ng-Password")) as reader,
    ):
        shop.sql("ALTER DATABASE Shop SET RESTRICTED_USER WITH ROLLBACK IMMEDIATE")
        assert run(admin, "SELECT 1 AS one") == [[{"one": 1}]]
        with pytest.raises(Exception, match=r"."):
            run(reader, "SELECT 1")


def test_what_a_group_keeps(shop):
    """Error 1468: the recovery model of a database in a group stays."""
    with contextlib.closing(shop.connect()) as mine:
        for words in ("RECOVERY SIMPLE", "OFFLINE", "READ_ONLY"):
            said = fails(mine, f"ALTER DATABASE OLTP SET {words}")
            assert "because it is involved in a database mirroring session or an availability group" in said
        run(mine, "ALTER DATABASE OLTP SET RECOVERY FULL; ALTER DATABASE Shop SET RECOVERY SIMPLE")


def test_a_database_that_is_not_there(shop):
    """A missing or offline database is 4060 and then 18456, a login's own 4064; the library keeps the first."""
    said = shop.tsql("SELECT 1", password="wrong")
    assert "18456" in said and "4060" not in said
    shop.sql("ALTER DATABASE Shop SET OFFLINE")
    for name in ("Shop", "Nowhere"):
        with pytest.raises(SqlFailed) as caught, Connection("127.0.0.1", shop.ports["sql1"], "sa", shop.twin.password(), name):
            pass
        assert caught.value.number == 4060 and f'Cannot open database "{name}"' in str(caught.value)
        assert "Login failed for user 'sa'." in str(caught.value)
    lines = [row["Text"] for row in shop.rows("EXEC sp_readerrorlog 0, 1, N'Nowhere'")]
    assert any("Failed to open the explicitly specified database 'Nowhere'." in one for one in lines)
    shop.sql("CREATE LOGIN lost WITH PASSWORD = N'Str0ng-Password', DEFAULT_DATABASE = Shop")
    with pytest.raises(Exception, match=r"Login failed|default database"):
        mssql_python.connect(f"Server=127.0.0.1,{shop.ports['sql1']};UID=lost;PWD=Str0ng-Password;TrustServerCertificate=yes")
    lines = [row["Text"] for row in shop.rows("EXEC sp_readerrorlog 0, 1, N'Shop'")]
    assert any("Failed to open the database 'Shop' specified in the login properties." in one for one in lines)
