"""The client side of TDS: connections, batches, result sets and messages, over ``mssql-python`` or ``pyodbc``.

:mod:`aglab.lab.login` chooses the driver and logs in. A batch gives what a query window shows: result sets, messages, or a
:class:`SqlFailed`.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

from aglab.lab.login import PREFIX, Target, driver_module, open_raw, server_text
from aglab.lab.results import ConnectionLost, Result, SqlFailed

CANCEL_S_MAX = 5.0
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
        self.raw = open_raw(self.target)
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

    result.messages += messages(cursor)
    if cursor.description:
        names = [str(column[0]) for column in cursor.description]
        rows = [tuple(row) for row in cursor.fetchall()]
        result.tables.append(pd.DataFrame.from_records(rows, columns=names))


def messages(cursor: Any) -> list[str]:
    """What the server said besides result sets, without the driver's decoration."""
    texts = [
        PREFIX.sub("", str(entry[1] if isinstance(entry, tuple) else entry)) for entry in getattr(cursor, "messages", None) or []
    ]
    return [text for text in texts if text]


def _sql_error(cursor: Any, error: Exception, node: str, line: int | None, result: Result) -> Exception:
    module = driver_module()
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
