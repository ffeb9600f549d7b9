"""The client side of TDS: connections, batches, result sets and messages, over ``mssql-python`` or ``pyodbc``.

``mssql-python`` is the driver. ``AGLAB_DRIVER=pyodbc`` takes pyodbc instead, with Microsoft's ODBC driver or FreeTDS, whichever
is installed. A batch gives what a query window shows: result sets, messages, or a :class:`SqlFailed`.
"""

from __future__ import annotations

import contextlib
import ctypes
import html
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.core.errors import AglabError, MissingError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

DRIVERS = ("mssql-python", "pyodbc")
LOGIN_TIMEOUT_S = 15
PROBE_S_MAX = 5.0
CANCEL_S_MAX = 5.0
# a state or a layer that drivers put before the server's words: [42S02] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]
_PREFIX = re.compile(r"^(?:\[(?:[0-9A-Z]{5}|Microsoft|unixODBC|FreeTDS|SQL Server|ODBC [^\]]*|Driver Manager|DBNETLIB)\]\s*)+")
_NUMBER = re.compile(r"\((-?\d+)\)")
_SUMMARIES = {1802, 3013, 5069}  # "... statement failed", sent after the message that says why
_LOST = (
    "08S01",
    "08003",
    "08007",
    "communication link",
    "connection is closed",
    "not connected",
    "tcp provider",
    "closed connection",
)


class SqlFailed(AglabError):
    """A T-SQL error as the server sent it.

    Attributes
    ----------
    number : int or None
        SQL Server's message number, where the driver hands it on.
    text : str
        The server's own words.
    """

    def __init__(self, text: str, number: int | None = None, node: str = "", line: int | None = None) -> None:
        self.text = text
        self.number = number
        self.node = node
        self.line = line
        number_text = f"Msg {number}: " if number else ""
        where = f"{node}: " if node else ""
        at = f" (batch that begins on line {line})" if line and line > 1 else ""
        super().__init__(f"{where}{number_text}{text}{at}")


class ConnectionLost(SqlFailed):
    """The connection is gone: the node restarted, was stopped or could not be reached."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where and as whom to log in; ``server`` is ``host,port``."""

    name: str
    server: str
    user: str = "sa"
    password: str = field(default="", repr=False)
    database: str = "master"
    trust_certificate: bool = True
    read_only: bool = False  # ApplicationIntent=ReadOnly
    encrypt: str = "yes"  # or "strict" (TDS 8.0)
    certificate: str = ""  # a file; with strict, the one that the server must show

    def connection_string(self, with_password: bool = False) -> str:
        """As ``mssql-python`` and ODBC take it."""
        words = [f"Server={self.server}", f"UID={self.user}"]
        words += [f"PWD={{{self.password.replace('}', '}}')}}}"] if with_password else []
        words += [
            f"Database={self.database}",
            f"Encrypt={self.encrypt}",
            f"TrustServerCertificate={'yes' if self.trust_certificate else 'no'}",
        ]
        words += [f"ServerCertificate={self.certificate}"] if self.certificate else []
        words += ["ApplicationIntent=ReadOnly"] if self.read_only else []
        return ";".join(words)


@dataclass
class Result:
    """What one batch gave: result sets, messages, rows affected."""

    tables: list[pd.DataFrame] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    @property
    def table(self) -> pd.DataFrame:
        """The first result set.

        Raises
        ------
        AglabError
            There is none.
        """
        if not self.tables:
            raise AglabError("the script returned no result set", "end it with a SELECT")
        return self.tables[0]

    @property
    def value(self) -> Any:
        """The first column of the first row of the first result set; None when it has no row."""
        return None if self.table.empty else self.table.iat[0, 0]

    def __repr__(self) -> str:
        parts = [table.to_string(index=False) for table in self.tables] + self.messages
        return "\n\n".join(parts) or "Commands completed successfully."

    def _repr_html_(self) -> str:
        parts = [table.to_html(index=False, border=0) for table in self.tables]
        parts += [f"<pre>{html.escape(message)}</pre>" for message in self.messages]
        return "".join(parts) or "<pre>Commands completed successfully.</pre>"


def driver_name() -> str:
    """The driver in use: ``AGLAB_DRIVER``, or ``mssql-python``."""
    name = os.environ.get("AGLAB_DRIVER", "").strip().lower() or DRIVERS[0]
    if name not in DRIVERS:
        raise unknown_name("driver (AGLAB_DRIVER)", name, DRIVERS)
    return name


def missing_library() -> str | None:
    """The command that installs what mssql-python needs on this Linux, or None when it is there or not needed."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        ctypes.CDLL("libltdl.so.7")
    except OSError:
        return "sudo apt-get install -y libltdl7   (Fedora: sudo dnf install libtool-ltdl)"
    return None


def _module() -> Any:
    name = driver_name()
    try:
        if name == "pyodbc":
            import pyodbc

            pyodbc.pooling = False
            return pyodbc
        import mssql_python

        mssql_python.pooling(enabled=False)  # a pooled connection outlives a restart or a failover of its node
        return mssql_python
    except ImportError as error:
        remedy = missing_library() or f"pip install {name}"
        raise MissingError(f"the driver {name} cannot be loaded: {error}", remedy) from error


def odbc_driver(names: list[str]) -> str:
    """The ODBC driver to use with pyodbc: Microsoft's newest, else FreeTDS.

    Raises
    ------
    MissingError
        Neither is installed.
    """
    microsoft = sorted((name for name in names if name.startswith("ODBC Driver ")), reverse=True)
    for name in [*microsoft, "FreeTDS"]:
        if name in names:
            return name
    raise MissingError(
        "AGLAB_DRIVER=pyodbc finds no ODBC driver for SQL Server",
        "install tdsodbc (Debian) or Microsoft's ODBC Driver 18, or unset AGLAB_DRIVER",
    )


def _pyodbc_string(target: Target, drivers: list[str]) -> str:
    driver = odbc_driver(drivers)
    if driver == "FreeTDS":
        host, _, port = target.server.partition(",")
        words = [f"Driver={{{driver}}}", f"Server={host}", f"Port={port or 1433}", f"UID={target.user}"]
        words += [f"PWD={{{target.password}}}", f"Database={target.database}", "TDS_Version=7.4", "Encryption=require"]
        return ";".join(words)
    return f"Driver={{{driver}}};{target.connection_string(with_password=True)}"


class Connection:
    """One connection in autocommit mode, as sqlcmd and SSMS have it; ``raw`` is the driver's own DB-API connection.

    Raises
    ------
    MissingError
        The driver or a library it needs is not installed, or the node does not answer.
    SqlFailed
        The login failed.
    """

    def __init__(
        self,
        server: str,
        port: int,
        user: str,
        password: str,
        database: str = "master",
        node: str = "",
        read_only: bool = False,
        trust_certificate: bool = True,
        encrypt: str = "yes",
        certificate: str = "",
    ) -> None:
        where = f"{server},{port}"
        self.target = Target(node or server, where, user, password, database, trust_certificate, read_only, encrypt, certificate)
        self.raw = _open(self.target)
        self._busy = threading.Lock()
        self._cursor: Any = None
        self._closed = False

    def run(self, batch: str, parameters: Sequence[Any] = (), line: int | None = None) -> Result:
        """Send one batch (no GO in it) and take all its result sets and messages.

        Raises
        ------
        SqlFailed
            The batch failed; what it gave before is in the error's ``result``.
        """
        try:
            with self._busy:
                return run_batch(self.raw, batch, line=line, parameters=tuple(parameters), opened=self._takes)
        finally:
            if self._closed:
                self.close()

    def _takes(self, cursor: Any) -> None:
        self._cursor = cursor

    def cursor(self) -> Any:
        """A DB-API cursor of the driver in use."""
        return self.raw.cursor()

    def close(self) -> None:
        """Close it; a connection that is gone already is no error.

        A batch that another thread runs on it is cancelled first. To free the driver's handles under that thread would end the
        process, so a batch that does not end soon keeps the connection: its own thread closes it when the batch has ended.
        """
        self._closed = True
        if not self._busy.acquire(blocking=False):
            _cancel(self._cursor)
            if not self._busy.acquire(timeout=CANCEL_S_MAX):
                return
        try:
            with contextlib.suppress(Exception):
                self.raw.close()
        finally:
            self._busy.release()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _probe(target: Target) -> None:
    """Ask a loopback port whether anybody listens: the drivers take fifteen seconds to find out."""
    host, _, port = target.server.partition(",")
    if host not in ("127.0.0.1", "localhost", "::1"):
        return
    try:
        socket.create_connection((host, int(port or 1433)), timeout=PROBE_S_MAX).close()
    except OSError as error:
        raise MissingError(
            f"node {target.name} does not answer at {target.server} ({error.strerror or error})",
            "aglab status shows what runs; aglab up starts it",
        ) from error


def _open(target: Target) -> Any:
    module = _module()
    _probe(target)
    try:
        if module.__name__ == "pyodbc":
            return module.connect(_pyodbc_string(target, module.drivers()), autocommit=True, timeout=LOGIN_TIMEOUT_S)
        return module.connect(target.connection_string(with_password=True), autocommit=True)
    except Exception as error:
        if not isinstance(error, (module.Error, RuntimeError, OSError)):
            raise
        raise _login_error(error, target) from error


def _login_error(error: Exception, target: Target) -> AglabError:
    number, text = server_text(error)
    library = missing_library()
    if library and "driver" in text.lower():
        return MissingError("mssql-python needs the library libltdl.so.7, which this system lacks", library)
    if "availability" in text.lower() and "database" in text.lower():  # 976, 978, 979, 983: the group refuses, the node answers
        return SqlFailed(text, number, target.name)
    if "login failed" in text.lower() or "cannot open database" in text.lower():
        return SqlFailed(text, number or (18456 if "login failed" in text.lower() else 4060), target.name)
    if "[SQL Server]" in str(error) and "database" in text.lower():  # the server answered: its database takes nobody in
        return SqlFailed(text, number, target.name)
    return MissingError(
        f"node {target.name} does not answer at {target.server}: {text}", "aglab status shows what runs; aglab up starts it"
    )


def server_text(error: BaseException) -> tuple[int | None, str]:
    """Number and words of a driver's error, without the driver's own decoration."""
    text = getattr(error, "ddbc_error", None) or (
        error.args[-1] if error.args and isinstance(error.args[-1], str) else str(error)
    )
    text = _PREFIX.sub("", str(text).strip())
    number = None
    match = re.search(r"\s*\((\d+)\)\s*\(SQL\w+\)$", text.split("; ")[0])
    if match:
        number = int(match.group(1))
        text = text.split("; ")[0][: match.start()]
    return number, text.strip()


def _cancel(cursor: Any) -> None:
    """Ask the server to end what a cursor runs. pyodbc offers it; mssql-python has it on the statement only."""
    with contextlib.suppress(Exception):
        (cursor.cancel if hasattr(cursor, "cancel") else cursor.hstmt._cancel)()


def run_batch(
    connection: Any,
    text: str,
    node: str = "",
    line: int | None = None,
    parameters: tuple[Any, ...] = (),
    opened: Callable[[Any], None] = lambda cursor: None,
) -> Result:
    """Send one batch and take everything it gives.

    Raises
    ------
    SqlFailed
        The first T-SQL error of the batch; result sets before it are in its ``result`` attribute.
    """
    result = Result()
    cursor = connection.cursor()
    opened(cursor)
    try:
        cursor.execute(text, *parameters) if parameters else cursor.execute(text)
        _take(cursor, result)
        while cursor.nextset():
            _take(cursor, result)
    except KeyboardInterrupt:
        _cancel(cursor)
        raise
    except Exception as error:
        raise _sql_error(cursor, error, node, line, result) from error
    finally:
        with contextlib.suppress(Exception):
            cursor.close()
    return result


def _take(cursor: Any, result: Result) -> None:
    import pandas as pd

    result.messages += _messages(cursor)
    if cursor.description:
        names = [str(column[0]) for column in cursor.description]
        rows = [tuple(row) for row in cursor.fetchall()]
        result.tables.append(pd.DataFrame.from_records(rows, columns=names))


def _messages(cursor: Any) -> list[str]:
    texts = [
        _PREFIX.sub("", str(entry[1] if isinstance(entry, tuple) else entry)) for entry in getattr(cursor, "messages", None) or []
    ]
    return [text for text in texts if text]


def _sql_error(cursor: Any, error: Exception, node: str, line: int | None, result: Result) -> Exception:
    module = _module()
    if not isinstance(error, (module.Error, RuntimeError)):
        return error
    number, text = server_text(error)
    lost = any(mark.lower() in str(error).lower() for mark in _LOST)
    if number is None and not lost:
        number = _native_number(cursor)
    made = (ConnectionLost if lost else SqlFailed)(text, number, node, line)
    made.result = result  # type: ignore[attr-defined]
    return made


def _native_number(cursor: Any) -> int | None:
    """mssql-python leaves the number out of its exception; the diagnostic records, or @@ERROR of the session, still have it."""
    with contextlib.suppress(Exception):
        from mssql_python import ddbc_bindings

        for state, _ in ddbc_bindings.DDBCSQLGetAllDiagRecords(cursor.hstmt):  # type: ignore[attr-defined]
            match = _NUMBER.search(state)
            if match and int(match.group(1)) > 0:
                return int(match.group(1))
    with contextlib.suppress(Exception):
        cursor.execute("SELECT @@ERROR")
        number = int(cursor.fetchall()[0][0])
        return None if number in _SUMMARIES else number or None  # the text is that of the first message
    return None
