"""Real clients against the canned server: mssql-python (ODBC and its Rust bulk copy), pyodbc with FreeTDS and with Microsoft's
driver, pymssql, SQLAlchemy and FreeTDS tsql. The server runs in a process of its own.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import importlib.util
import shutil
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from wire_canned import TYPES, VARIANTS
from wire_server import PASSWORD

D = decimal.Decimal
HERE = Path(__file__).parent
FREETDS = next(
    (p for d in ("/usr/lib/x86_64-linux-gnu/odbc", "/usr/lib/aarch64-linux-gnu/odbc") for p in Path(d).glob("libtdsodbc.so")),
    None,
)
EXPECTED = [value for _declared, value in TYPES]
PARAMETERS = [
    1,
    2**40,
    "text 漢",
    2.5,
    D("12.34"),
    dt.datetime(2026, 1, 2, 3, 4, 5, 678000),
    dt.date(2026, 1, 2),
    b"\x01\x02",
    uuid.UUID(int=5),
    "x" * 9000,
]


class Server(NamedTuple):
    """Where the canned server listens."""

    port: int
    listener: int
    certificate: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The canned server; at the end it must have had no failure of its own."""
    directory = tmp_path_factory.mktemp("server")
    process = subprocess.Popen(
        [sys.executable, str(HERE / "wire_server.py"), str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    port, listener = map(int, process.stdout.readline().split())
    yield Server(port, listener, directory / "c.pem")
    process.stdin.close()
    failures = process.stdout.read()
    process.wait(20)
    assert failures == ""


def _microsoft_driver() -> Path | None:
    spec = importlib.util.find_spec("mssql_python_odbc") or importlib.util.find_spec("mssql_python")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(iter(Path(spec.submodule_search_locations[0]).glob("**/debian_ubuntu/x86_64/lib/libmsodbcsql*")), None)


def _pyodbc() -> Any:
    pyodbc = pytest.importorskip("pyodbc")
    pyodbc.pooling = False  # unixODBC would hand out a connection of another encryption mode
    return pyodbc


class Client:
    """One way to connect; ``connect(port, **words)`` adds words to the connection string."""

    def __init__(self, name: str) -> None:
        self.name = name

    def connect(self, server: Server, port: int = 0, **words: str) -> Any:
        """Open a connection with autocommit on, or skip where the client is not installed."""
        port = port or server.port
        base = {"UID": "sa", "PWD": "{" + PASSWORD + "}"} | words
        if self.name == "pymssql":
            pymssql = pytest.importorskip("pymssql")
            return pymssql.connect(
                server="127.0.0.1",
                port=str(port),
                user="sa",
                password=PASSWORD,
                database=words.get("Database", ""),
                autocommit=True,
            )
        if self.name == "freetds":
            pyodbc = _pyodbc()
            if FREETDS is None:
                pytest.skip("FreeTDS's ODBC driver (package tdsodbc) is not installed")
            text = f"Driver={FREETDS};Server=127.0.0.1;Port={port};TDS_Version=7.4;"
            return pyodbc.connect(text + "".join(f"{k}={v};" for k, v in base.items()), autocommit=True)
        base = {"Encrypt": "yes", "TrustServerCertificate": "yes"} | base
        tail = ";".join(f"{k}={v}" for k, v in base.items())
        if self.name == "msodbc":
            pyodbc = _pyodbc()
            driver = _microsoft_driver()
            if driver is None:
                pytest.skip("Microsoft's ODBC driver is not installed")
            return pyodbc.connect(f"Driver={driver};Server=127.0.0.1,{port};{tail}", autocommit=True)
        mssql_python = pytest.importorskip("mssql_python")
        mssql_python.pooling(enabled="Pooling" in words)
        tail = tail.replace(";Pooling=yes", "")
        return mssql_python.connect(f"Server=127.0.0.1,{port};{tail}", autocommit=True)


ODBC = ["mssql-python", "msodbc", "freetds"]
ALL = [*ODBC, "pymssql"]


@pytest.fixture
def client(request):
    """The client named by the test's parameter."""
    return Client(request.param)


def ask(connection: Any, text: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement and fetch everything."""
    cursor = connection.cursor()
    cursor.execute(text, *([parameters] if parameters else []))
    return [tuple(row) for row in cursor.fetchall()]


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_connect_and_select(client, server):
    """Every client logs in with a Unicode password, names its database and selects."""
    with contextlib.closing(client.connect(server, Database="OLTP")) as connection:
        assert ask(connection, "SELECT 1") == [(1,)]
        assert ask(connection, "WHOAMI")[0][:2] == ("sa", "OLTP")


@pytest.mark.parametrize(("mode", "encrypted"), [("yes", "True"), ("optional", "False"), ("no", "False"), ("mandatory", "True")])
@pytest.mark.parametrize("client", ["mssql-python", "msodbc"], indirect=True)
def test_encryption_modes(client, mode, encrypted, server):
    """Encrypted whole, or only the login: the server sees which."""
    with contextlib.closing(client.connect(server, Encrypt=mode)) as connection:
        assert ask(connection, "WHOAMI")[0][4] == encrypted


@pytest.mark.parametrize("client", ["mssql-python", "msodbc"], indirect=True)
def test_strict_encryption(client, server):
    """TDS 8 with a pinned certificate."""
    words = {"Encrypt": "strict", "ServerCertificate": str(server.certificate), "TrustServerCertificate": "no"}
    with contextlib.closing(client.connect(server, **words)) as connection:
        assert ask(connection, "WHOAMI")[0][4] == "True"


@pytest.mark.parametrize(("mode", "encrypted"), [("off", "False"), ("request", "False"), ("require", "True")])
@pytest.mark.parametrize("client", ["freetds"], indirect=True)
def test_freetds_encryption(client, mode, encrypted, server):
    """FreeTDS without TLS, with an encrypted login only, and encrypted whole."""
    with contextlib.closing(client.connect(server, Encryption=mode)) as connection:
        assert ask(connection, "WHOAMI")[0][4] == encrypted


@pytest.mark.parametrize("client", ["mssql-python"], indirect=True)
def test_every_type_and_null(client, server):
    """33 types arrive as the values that were sent, and NULL of each."""
    with contextlib.closing(client.connect(server)) as connection:
        rows = ask(connection, "TYPES")
    assert list(rows[0]) == EXPECTED and set(rows[1]) == {None} and rows[2] == rows[0]


@pytest.mark.parametrize("version", ["7.2", "7.3", "7.4"])
def test_every_type_in_older_versions(version, server):
    """pymssql (FreeTDS) reads every type in TDS 7.2, 7.3 and 7.4, as far as its own rounding goes."""
    pymssql = pytest.importorskip("pymssql")
    connection = pymssql.connect(server="127.0.0.1", port=str(server.port), user="sa", password=PASSWORD, tds_version=version)
    with contextlib.closing(connection):
        rows = ask(connection, "TYPES")
    same = [i for i, (got, sent) in enumerate(zip(rows[0], EXPECTED, strict=True)) if got == sent]
    assert len(same) >= 24 and set(rows[1]) == {None} and rows[2] == rows[0]


@pytest.mark.parametrize("client", ["mssql-python"], indirect=True)
def test_variants(client, server):
    """sql_variant of each base type."""
    with contextlib.closing(client.connect(server)) as connection:
        assert [v for _i, v in ask(connection, "VARIANTS")] == VARIANTS


@pytest.mark.parametrize("client", ODBC, indirect=True)
def test_parameters(client, server):
    """Parameters of each type come back through sp_prepexec or sp_executesql as they went."""
    values = [v for v in PARAMETERS if client.name == "mssql-python" or not isinstance(v, uuid.UUID | dt.date | dt.datetime)]
    values += [dt.datetime(2026, 1, 2, 3, 4, 5)]
    with contextlib.closing(client.connect(server)) as connection:
        assert list(ask(connection, "echo " + ", ".join("?" * len(values)), *values)[0]) == values
        assert ask(connection, "echo ?, ?", None, 5) == [(None, 5)]


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_errors_and_the_connection_after_them(client, server):
    """An error reaches the client with its text; the connection works on."""
    with contextlib.closing(client.connect(server)) as connection:
        with pytest.raises(Exception, match=r"Invalid object name 'nowhere'"):
            ask(connection, "ERROR")
        assert ask(connection, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("client", ODBC, indirect=True)
def test_error_in_a_call(client, server):
    """An error inside a prepared statement is raised."""
    with contextlib.closing(client.connect(server)) as connection, pytest.raises(Exception, match="Divide by zero"):
        ask(connection, "ERROR ?", 1)


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_several_results(client, server):
    """Result sets and counts in one batch, in order."""
    with contextlib.closing(client.connect(server)) as connection:
        cursor = connection.cursor()
        cursor.execute("TWO")
        seen = [cursor.fetchall()]
        while cursor.nextset():
            if cursor.description:
                seen.append(cursor.fetchall())
    assert [[tuple(row) for row in rows] for rows in seen if rows] == [[(1,)], [("two",)]]


@pytest.mark.parametrize("client", ["mssql-python"], indirect=True)
def test_print_is_a_message(client, server):
    """PRINT arrives as a diagnostic message."""
    with contextlib.closing(client.connect(server)) as connection:
        cursor = connection.cursor()
        cursor.execute("PRINT")
        assert "hello from the server" in str(cursor.messages)


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_many_rows_and_large_values(client, server):
    """100,000 rows and a value of 10 MB."""
    with contextlib.closing(client.connect(server)) as connection:
        rows = ask(connection, "COUNT 100000")
        assert len(rows) == 100_000 and rows[-1] == (99_999, 199_998)
        assert ask(connection, "BIG 5000000")[0][0] == "漢" * 5_000_000


@pytest.mark.parametrize("client", ["mssql-python", "msodbc"], indirect=True)
def test_large_parameter(client, server):
    """A parameter of 4 MB goes in and out."""
    with contextlib.closing(client.connect(server)) as connection:
        assert ask(connection, "echo ?", "漢" * 2_000_000) == [("漢" * 2_000_000,)]


@pytest.mark.parametrize("client", ODBC, indirect=True)
def test_executemany(client, server):
    """1,000 parameter rows arrive, batched into messages of many calls where the driver does so."""
    with contextlib.closing(client.connect(server)) as connection:
        cursor = connection.cursor()
        if client.name == "msodbc":
            cursor.fast_executemany = True
        cursor.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"r{i}") for i in range(1000)])
        assert ask(connection, "LOADED") == [(1000,)]


@pytest.mark.parametrize("client", ODBC, indirect=True)
def test_transactions(client, server):
    """Autocommit off: begin, commit and rollback travel as transaction manager requests."""
    with contextlib.closing(client.connect(server)) as connection:
        connection.autocommit = False
        ask(connection, "SELECT 1")
        connection.commit()
        ask(connection, "SELECT 1")
        connection.rollback()
        connection.autocommit = True
        kinds = ask(connection, "KINDS")[0][0].split()
    steps = [kind for kind in kinds if kind in ("begin", "commit", "rollback")]
    assert steps[0] == "begin" and steps.index("commit") < steps.index("rollback")


@pytest.mark.parametrize("client", ODBC, indirect=True)
def test_query_timeout(client, server):
    """A time-out cancels by attention; the connection works on."""
    with contextlib.closing(client.connect(server)) as connection:
        connection.timeout = 1
        with pytest.raises(Exception, match=r"(?i)time.?out expired"):
            ask(connection, "WAIT")
        assert ask(connection, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("client", ["msodbc", "freetds"], indirect=True)
def test_cancel_from_another_thread(client, server):
    """Cancel while a statement runs."""
    with contextlib.closing(client.connect(server)) as connection:
        cursor = connection.cursor()
        timer = threading.Timer(0.3, cursor.cancel)
        timer.start()
        with pytest.raises(Exception, match=r"(?i)cancel"):
            cursor.execute("WAIT")
        timer.join()
        assert ask(connection, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("client", ODBC, indirect=True)
def test_abandoned_result(client, server):
    """A cursor closed in the middle of a long result leaves the connection usable."""
    with contextlib.closing(client.connect(server)) as connection:
        cursor = connection.cursor()
        cursor.execute("COUNT 200000")
        assert tuple(cursor.fetchone()) == (0, 0)
        cursor.close()
        assert ask(connection, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("client", ALL, indirect=True)
def test_wrong_password(client, server, monkeypatch):
    """18456 reaches the user."""
    monkeypatch.setattr("test_wire_clients.PASSWORD", "wrong")
    with pytest.raises(Exception, match="Login failed for user 'sa'"):
        client.connect(server)


@pytest.mark.parametrize("client", ODBC, indirect=True)
def test_fatal_error(client, server):
    """A severity 21 error is shown, and the connection is gone."""
    with contextlib.closing(client.connect(server)) as connection:
        with pytest.raises(Exception, match="kill state"):
            ask(connection, "FATAL")
        with pytest.raises(Exception):  # noqa: B017 (each driver has its own class)
            ask(connection, "SELECT 1")


@pytest.mark.parametrize("client", ["mssql-python", "msodbc"], indirect=True)
def test_read_only_routing(client, server):
    """ApplicationIntent=ReadOnly on the listener ends up on the other node."""
    with contextlib.closing(client.connect(server, server.listener, ApplicationIntent="ReadOnly", Database="OLTP")) as connection:
        user, database, _app, name, _encrypted, read_only, _version = ask(connection, "WHOAMI")[0]
    assert (user, database, read_only) == ("sa", "OLTP", "True") and str(server.port) in name


def test_pool_reset(server):
    """A connection from mssql-python's pool comes with RESETCONNECTION, acknowledged."""
    client = Client("mssql-python")
    for _ in range(3):
        with contextlib.closing(client.connect(server, Pooling="yes")) as connection:
            resets = ask(connection, "RESETS")[0][0]
    assert resets >= 1


def test_bulk_copy(server):
    """mssql-python's bulkcopy (its Rust provider): INSERT BULK and message 0x07 on a connection of its own."""
    with contextlib.closing(Client("mssql-python").connect(server)) as connection:
        done = connection.cursor().bulkcopy("t", [(i, f"row {i}", 1.5 * i, D("1.25")) for i in range(1000)], timeout=20)
    assert done["rows_copied"] == 1000


def test_output_parameter(server):
    """pymssql's callproc reads an output parameter."""
    pymssql = pytest.importorskip("pymssql")
    with contextlib.closing(Client("pymssql").connect(server)) as connection:
        assert connection.cursor().callproc("out", (pymssql.output(int),)) == (42,)


def test_sqlalchemy(server):
    """SQLAlchemy connects through pymssql."""
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pytest.importorskip("pymssql")
    url = sqlalchemy.URL.create("mssql+pymssql", "sa", PASSWORD, "127.0.0.1", server.port, "master")
    engine = sqlalchemy.create_engine(url)
    with engine.connect() as connection:
        assert connection.execute(sqlalchemy.text("SELECT 1")).scalar() == 1
    engine.dispose()


def test_tsql(server):
    """FreeTDS's tsql shows rows, errors with their line, and PRINT."""
    if shutil.which("tsql") is None:
        pytest.skip("tsql (package freetds-bin) is not installed")
    command = ["tsql", "-H", "127.0.0.1", "-p", str(server.port), "-U", "sa", "-P", PASSWORD, "-o", "q"]
    done = subprocess.run(command, input="SELECT 1\ngo\nERROR\ngo\nPRINT\ngo\n", capture_output=True, text=True, timeout=30)
    shown = done.stdout + done.stderr
    assert (
        "\n1\n" in shown and "Msg 208 (severity 16, state 1)" in shown and "Line 3" in shown and "hello from the server" in shown
    )
