"""The client side without a server: batches, connection strings, drivers, errors in the server's own words."""

from __future__ import annotations

import builtins
import doctest

import pytest

from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.lab import batches as batches_module
from aglab.lab import driver, login
from aglab.lab.batches import batches, split_batches
from aglab.lab.login import Target
from aglab.lab.results import ConnectionLost, Result, SqlFailed


def test_documented_examples_run():
    """Every example in a docstring is true."""
    assert doctest.testmod(batches_module).failed == 0


@pytest.mark.parametrize(
    ("script", "texts"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1\nGO", ["SELECT 1"]),
        ("SELECT 1\r\n  go  \r\nSELECT 2\r\nGO\r\n", ["SELECT 1", "SELECT 2"]),
        ("GO\nGO\n\n", []),
        ("SELECT 1\nGO 3", ["SELECT 1"] * 3),
        ("SELECT 1\nGO 0\nSELECT 2", ["SELECT 2"]),
        ("SELECT 1\nGO -- next\nSELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 GO\nSELECT 2", ["SELECT 1 GO\nSELECT 2"]),
        ("GOTO done\ndone: PRINT 1", ["GOTO done\ndone: PRINT 1"]),
        ("/* a\nGO\n*/ SELECT 1", ["/* a\nGO\n*/ SELECT 1"]),
        ("/* a /* b */\nGO\n*/ SELECT 1", ["/* a /* b */\nGO\n*/ SELECT 1"]),
        ("PRINT 'a\nGO\nb'", ["PRINT 'a\nGO\nb'"]),
        ("PRINT 'it''s'\nGO\nPRINT 2", ["PRINT 'it''s'", "PRINT 2"]),
        ("SELECT [a'b]\nGO\nSELECT 2", ["SELECT [a'b]", "SELECT 2"]),
        ("-- it's\nGO\nSELECT 2", ["-- it's", "SELECT 2"]),
        ('SELECT "a--b"\nGO\nSELECT 2', ['SELECT "a--b"', "SELECT 2"]),
    ],
)
def test_go_separates_batches_where_sqlcmd_would(script, texts):
    """GO on a line of its own ends a batch, but not inside comments, strings or delimited names."""
    assert split_batches(script) == texts


def test_batches_know_their_line_and_refuse_absurd_counts():
    """Each batch knows where it begins; a count beyond reason is refused with its line."""
    assert [batch.line for batch in batches("\nSELECT 1\nGO\n\nSELECT 2")] == [2, 5]
    with pytest.raises(UsageError, match="GO 100001 on line 2"):
        batches("SELECT 1\nGO 100001")


def test_connection_strings_hide_the_password_unless_asked():
    """The shown string has no password; braces in a password are escaped."""
    target = Target("sql1", "127.0.0.1,1433", password="a}b;c")
    assert "PWD" not in target.connection_string()
    assert "a}b" not in repr(target)
    assert "PWD={a}}b;c};" in target.connection_string(with_password=True)
    assert "TrustServerCertificate=no" in Target("x", "y", trust_certificate=False).connection_string()


def test_pyodbc_takes_microsofts_driver_before_freetds():
    """The newest of Microsoft's, else FreeTDS, else a clear refusal."""
    names = ["FreeTDS", "ODBC Driver 17 for SQL Server", "ODBC Driver 18 for SQL Server"]
    assert login.odbc_driver(names) == "ODBC Driver 18 for SQL Server"
    target = Target("sql1", "127.0.0.1,1433", password="p")
    assert login._pyodbc_string(target, names).startswith("Driver={ODBC Driver 18 for SQL Server};Server=127.0.0.1,1433;")
    assert "Port=1433;" in login._pyodbc_string(target, ["FreeTDS"])
    with pytest.raises(MissingError, match="no ODBC driver"):
        login.odbc_driver(["SQLite"])


def test_the_driver_is_chosen_by_name(monkeypatch):
    """AGLAB_DRIVER chooses; anything else is named and refused."""
    assert login.driver_name() == "mssql-python"
    monkeypatch.setenv("AGLAB_DRIVER", " PYODBC ")
    assert login.driver_name() == "pyodbc"
    monkeypatch.setenv("AGLAB_DRIVER", "jdbc")
    with pytest.raises(UsageError, match="jdbc"):
        login.driver_name()


class Error(Exception):
    """What the fake driver raises."""


class FakeCursor:
    """Plays back a list of steps: (description, rows, messages) or an exception."""

    def __init__(self, steps):
        self.steps, self.description, self.messages, self.closed = list(steps), None, [], False

    def _next(self):
        step = self.steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        self.description, self.rows, self.messages = step

    def execute(self, text, *parameters):
        self.executed = (text, parameters)
        self._next()

    def nextset(self):
        if not self.steps:
            return False
        self._next()
        return True

    def fetchall(self):
        return self.rows

    def cancel(self):
        self.cancelled = True

    def close(self):
        self.closed = True


class FakeModule:
    """A DB-API module whose connections play back steps."""

    __name__ = "mssql_python"
    Error = Error

    def __init__(self, steps=(), refuses=None):
        self.cursor_made, self.refuses = FakeCursor(steps), refuses

    def connect(self, text, autocommit=False):
        assert autocommit
        if self.refuses:
            raise self.refuses
        return self

    def cursor(self):
        return self.cursor_made

    def close(self):
        raise Error("closed already")


@pytest.fixture
def opened(monkeypatch):
    """Opens a connection over a fake driver."""

    def make(*steps, refuses=None):
        module = FakeModule(steps, refuses)
        monkeypatch.setattr(login, "driver_module", lambda: module)
        monkeypatch.setattr(driver, "driver_module", lambda: module)
        monkeypatch.setattr(login, "probe", lambda target: None)
        return driver.Connection("127.0.0.1", 1433, "sa", "x", node="sql1"), module.cursor_made

    return make


X = [("x", int)]


def test_a_batch_gives_every_result_set_and_message(opened):
    """Result sets in order, messages without the driver's decoration, parameters handed on."""
    printed = ("[01000] (0)", "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]hello")
    connection, cursor = opened((X, [(1,)], []), (None, [], [printed, "[OLTP] is fine"]), (X, [(2,), (3,)], []))
    with connection:
        result = connection.run("SELECT ?", [7])
    assert cursor.executed == ("SELECT ?", (7,))
    assert [list(table["x"]) for table in result.tables] == [[1], [2, 3]]
    assert result.messages == ["hello", "[OLTP] is fine"]
    assert result.value == 1
    assert cursor.closed


def test_a_result_shows_itself():
    """Text and HTML, safe for what a server says; a script without results says what SSMS says."""
    assert repr(Result()) == "Commands completed successfully."
    assert "completed" in Result()._repr_html_()
    assert "&lt;b&gt;" in Result([], ["<b>"])._repr_html_()
    with pytest.raises(AglabError, match="no result set"):
        _ = Result().table


def test_an_error_keeps_what_came_before_and_its_number(opened):
    """The server's words and number; results before the error are not lost; the batch's line is named."""
    failed = Error(
        "[42S02] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]Invalid object name 'x'. (208) (SQLExecDirectW)"
    )
    connection, _ = opened((X, [(1,)], []), failed)
    with pytest.raises(SqlFailed, match=r"Msg 208: Invalid object name 'x'\. \(batch that begins on line 4\)") as caught:
        connection.run("SELECT 1; SELECT * FROM x", line=4)
    assert caught.value.number == 208
    assert len(caught.value.result.tables) == 1


def test_a_number_the_driver_leaves_out_is_asked_for(opened):
    """Where the exception has no number, @@ERROR of the session gives it; 0 means there is none."""
    failed = Error("Driver Error: x")
    failed.ddbc_error = "[Microsoft][SQL Server]Divide by zero error encountered."
    for asked, number in ((8134, 8134), (0, None)):
        connection, _ = opened(failed, (X, [(asked,)], []))
        with pytest.raises(SqlFailed, match="Divide by zero") as caught:
            connection.run("SELECT 1/0")
        assert caught.value.number == number


def test_a_lost_connection_is_told_apart(opened):
    """A node that went away is no T-SQL error."""
    connection, _ = opened(Error("[08S01] Communication link failure"))
    with pytest.raises(ConnectionLost):
        connection.run("SELECT 1")


def test_other_exceptions_pass_and_ctrl_c_cancels(opened):
    """Ctrl-C cancels the batch on the server; a defect is not dressed up as a T-SQL error."""
    connection, cursor = opened(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        connection.run("WAITFOR DELAY '01:00'")
    assert cursor.cancelled
    connection, _ = opened(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        connection.run("SELECT 1")


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (Error("[28000] [Microsoft][SQL Server]Login failed for user 'sa'."), SqlFailed, "Msg 18456"),
        (Error('[Microsoft][SQL Server]Cannot open database "x" requested by the login.'), SqlFailed, "Msg 4060"),
        (Error("TCP Provider: refused"), MissingError, "node sql1 does not answer at 127.0.0.1,1433"),
        (OSError("refused"), MissingError, "aglab up"),
    ],
)
def test_a_refused_login_says_why(opened, error, kind, words):
    """A wrong password is an error of the login, a silent port one of the machine."""
    with pytest.raises(kind, match=words):
        opened(refuses=error)
    with pytest.raises(ZeroDivisionError):
        opened(refuses=ZeroDivisionError())


def test_a_silent_loopback_port_is_found_at_once():
    """Nobody listens: said without waiting for the driver; other hosts are left to the driver."""
    with pytest.raises(MissingError, match=r"node sql1 does not answer at 127\.0\.0\.1,1 "):
        login.probe(Target("sql1", "127.0.0.1,1"))
    login.probe(Target("sql1", "server.example,1"))


def test_missing_libraries_are_named(monkeypatch, opened):
    """Without libltdl the driver cannot load its own driver: the one command is said."""
    monkeypatch.setattr(login, "missing_library", lambda: "sudo apt-get install -y libltdl7")
    with pytest.raises(MissingError, match="apt-get install -y libltdl7"):
        opened(refuses=RuntimeError("Failed to load the driver"))


def test_a_driver_that_is_not_installed(monkeypatch):
    """pyodbc chosen but absent: named, with the command that gets it."""
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "pyodbc":
            raise ImportError("No module named 'pyodbc'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setenv("AGLAB_DRIVER", "pyodbc")
    with pytest.raises(MissingError, match="pyodbc"):
        login.driver_module()
