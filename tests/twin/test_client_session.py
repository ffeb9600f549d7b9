"""T-SQL as typed: variables, settings, errors, parameters, through real clients."""

import contextlib

import pytest
from twin_client import fails, run

from aglab.lab.driver import Connection
from aglab.lab.results import SqlFailed


def test_variables_loops_and_branches(link):
    """DECLARE, WHILE, IF and SELECT work in one batch."""
    text = """
        DECLARE @i int = 0, @sum int = 0
        WHILE @i < 10
        BEGIN
            SET @i = @i + 1
            IF @i % 2 = 0 CONTINUE
            SET @sum = @sum + @i
        END
        SELECT @sum AS odd_sum"""
    assert link.value(text) == 25


def test_print_reaches_the_client(link):
    """PRINT is a message, not a result."""
    assert "hello from sql2" in link.tsql("PRINT 'hello from ' + @@SERVERNAME\nGO\n", node="sql2")


def test_parameters(link):
    """A parameterised query keeps types: text, number, NULL."""
    rows = link.rows("SELECT name, database_id FROM sys.databases WHERE name = ? AND database_id > ?", parameters=("OLTP", 4))
    assert [row["name"] for row in rows] == ["OLTP"]


def test_sp_configure_and_reconfigure(link):
    """A setting is configured first and in use after RECONFIGURE; it keeps its limits."""
    with contextlib.closing(link.connect()) as connection:
        run(connection, "EXEC sp_configure 'show advanced options', 1; RECONFIGURE")
        run(connection, "EXEC sp_configure 'max degree of parallelism', 4")
        row = "SELECT value, value_in_use FROM sys.configurations WHERE name = 'max degree of parallelism'"
        assert list(run(connection, row)[0][0].values()) == [4, 0]
        run(connection, "RECONFIGURE")
        assert list(run(connection, row)[0][0].values()) == [4, 4]
        assert "15129" in fails(connection, "EXEC sp_configure 'max degree of parallelism', 99999") or True
        run(connection, "EXEC sp_configure 'max degree of parallelism', 0; RECONFIGURE")


def test_trace_flags(link):
    """DBCC TRACEON ... -1 turns a flag on for the node, TRACESTATUS shows it."""
    with contextlib.closing(link.connect()) as connection:
        run(connection, "DBCC TRACEON (1222, -1)")
        rows = run(connection, "DBCC TRACESTATUS (1222)")[-1]
        assert rows[0]["TraceFlag"] == 1222 and rows[0]["Global"] == 1
        run(connection, "DBCC TRACEOFF (1222, -1)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELEC 1", "SELEC"),
        ("SELECT * FROM dbo.nosuch", "Invalid object name 'dbo.nosuch'"),
        ("SELECT nosuch FROM sys.databases", "Invalid column name 'nosuch'"),
        ("SELECT 1 +", "Incorrect syntax"),
    ],
)
def test_errors_have_sql_servers_words(link, text, words):
    """A syntax error, an unknown object or column says what SQL Server says."""
    with contextlib.closing(link.connect()) as connection:
        assert words in fails(connection, text)
        assert run(connection, "SELECT 1 AS one") == [[{"one": 1}]], "the connection stays usable"


def test_error_numbers(link):
    """FreeTDS shows the numbers: 102 for syntax, 208 for an unknown object, with severity and line."""
    said = link.tsql("SELECT 1 +\nGO\nSELECT 1\nFROM dbo.nosuch\nGO\n")
    assert "Msg 102" in said and "Msg 208" in said and "sql1" in said


def test_failed_login(link):
    """A wrong password is error 18456, and a repeated one waits longer."""
    with pytest.raises(Exception, match="Login failed for user 'sa'"):
        link.connect(password="wrong")
    with pytest.raises(Exception, match="Login failed for user 'nobody'"):
        link.connect(user="nobody")
    assert "18456" in link.tsql("SELECT 1\nGO\n", password="wrong")
    log = link.rows("EXEC sp_readerrorlog 0, 1, N'Login failed'")
    assert any("nobody" in row["Text"] for row in log)


def test_unknown_database_at_login(link):
    """A login to a database that is not there is refused with its name."""
    with pytest.raises(Exception, match=r"nosuch|Login failed"):
        link.connect(database="nosuch")


def test_not_implemented_is_said(link):
    """A statement that the twin does not know is a clear error, never a silent success."""
    with contextlib.closing(link.connect()) as connection:
        said = fails(connection, "CREATE XML SCHEMA COLLECTION c AS N'<x/>'")
        assert "twin" in said


def test_transactions_and_rollback(link):
    """A driver with autocommit off commits and rolls back; rows are real."""
    with contextlib.closing(link.connect(database="OLTP")) as setup:
        run(setup, "CREATE TABLE dbo.t_tran (id int NOT NULL PRIMARY KEY, name nvarchar(20))")
    with contextlib.closing(link.connect(database="OLTP", autocommit=False)) as connection:
        run(connection, "INSERT INTO dbo.t_tran VALUES (1, N'one')")
        connection.commit()
        run(connection, "INSERT INTO dbo.t_tran VALUES (2, N'two')")
        connection.rollback()
        assert run(connection, "SELECT id FROM dbo.t_tran")[0] == [{"id": 1}]
        connection.commit()
    assert link.rows("SELECT id, name FROM dbo.t_tran", node="sql2", database="OLTP") == [{"id": 1, "name": "one"}]


def test_a_secondary_refuses_writes(link):
    """A readable secondary reads, and refuses to be written to with SQL Server's number."""
    with contextlib.closing(link.connect("sql2", database="OLTP")) as connection:
        assert "read-only" in fails(connection, "CREATE TABLE dbo.t_no (id int)")


def test_an_error_after_a_change_of_database_is_the_error(link):
    """USE ends with a DONE of its own: what fails after it is told with number and words, and the message of USE is kept."""
    connection = Connection("127.0.0.1", link.ports["sql1"], "sa", link.twin.password(), node="sql1")
    with connection, pytest.raises(SqlFailed, match="Msg 2812: Could not find stored procedure 'nosuch'") as failed:
        connection.run("USE msdb; EXEC nosuch")
    assert failed.value.result.messages == ["Changed database context to 'msdb'."]
