"""Calls of ODBC that Python's drivers do not offer: cursor types, scrolling, changes by position (ctypes over unixODBC)."""

import contextlib
import ctypes
import ctypes.util
import importlib.util
from pathlib import Path

import pytest

SUCCESS, NO_DATA = 0, 100
ENVIRONMENT, CONNECTION, STATEMENT = 1, 2, 3
CURSOR_TYPE, CONCURRENCY = 6, 7
TYPES = {"forward only": 0, "keyset": 1, "dynamic": 2, "static": 3}
READ_ONLY, LOCK, ROWVERSION, VALUES = 1, 2, 3, 4
DIRECTIONS = {"next": 1, "first": 2, "last": 3, "prior": 4, "absolute": 5, "relative": 6}
UPDATE, DELETE = 2, 3


class OdbcError(Exception):
    """SQLSTATE, native number and words of a diagnostic record."""


class Odbc:
    """A connection; ``statement`` gives scrollable results."""

    def __init__(self, text):
        name = ctypes.util.find_library("odbc")
        if name is None:
            pytest.skip("unixODBC is not installed")
        self.library = ctypes.CDLL(name)
        self.environment, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        self.library.SQLAllocHandle(ctypes.c_short(ENVIRONMENT), None, ctypes.byref(self.environment))
        self.library.SQLSetEnvAttr(self.environment, 200, ctypes.c_void_p(3), 0)
        self.library.SQLAllocHandle(ctypes.c_short(CONNECTION), self.environment, ctypes.byref(self.handle))
        data = text.encode()
        self.check(
            self.library.SQLDriverConnect(self.handle, None, data, ctypes.c_short(len(data)), None, 0, None, 0),
            CONNECTION,
            self.handle,
        )

    def check(self, code, kind, handle):
        """The return code, or the first diagnostic record as an error."""
        code = ctypes.c_short(code).value
        if code in (SUCCESS, 1, NO_DATA):
            return code
        state, words = ctypes.create_string_buffer(6), ctypes.create_string_buffer(1000)
        number, length = ctypes.c_int(), ctypes.c_short()
        self.library.SQLGetDiagRec(
            ctypes.c_short(kind), handle, ctypes.c_short(1), state, ctypes.byref(number), words, ctypes.c_short(1000),
            ctypes.byref(length),
        )  # fmt: skip
        raise OdbcError(state.value.decode(), number.value, words.value.decode())

    def close(self):
        """Disconnect."""
        self.library.SQLDisconnect(self.handle)
        self.library.SQLFreeHandle(ctypes.c_short(CONNECTION), self.handle)
        self.library.SQLFreeHandle(ctypes.c_short(ENVIRONMENT), self.environment)

    @contextlib.contextmanager
    def statement(self, text, kind="forward only", concurrency=READ_ONLY):
        """A result of an int and a text column, bound."""
        made = Scrolled(self, kind, concurrency)
        try:
            made.execute(text)
            yield made
        finally:
            self.library.SQLFreeHandle(ctypes.c_short(STATEMENT), made.handle)


class Scrolled:
    """A statement with a cursor type; ``number`` and ``word`` are the bound columns."""

    def __init__(self, odbc, kind, concurrency):
        self.odbc, self.library, self.handle = odbc, odbc.library, ctypes.c_void_p()
        self.library.SQLAllocHandle(ctypes.c_short(STATEMENT), odbc.handle, ctypes.byref(self.handle))
        self.number, self.word = ctypes.c_int(), ctypes.create_string_buffer(40)
        self.lengths = ctypes.c_ssize_t(4), ctypes.c_ssize_t()
        for attribute, value in ((CURSOR_TYPE, TYPES[kind]), (CONCURRENCY, concurrency)):
            self._check(self.library.SQLSetStmtAttr(self.handle, attribute, ctypes.c_void_p(value), 0))

    def _check(self, code):
        return self.odbc.check(code, STATEMENT, self.handle)

    def _sure(self, code):
        self.odbc.check(-1 if code == 1 else code, STATEMENT, self.handle)

    def execute(self, text):
        """Run it and bind its columns."""
        self._check(self.library.SQLExecDirect(self.handle, text.encode(), -3))
        self._check(self.library.SQLBindCol(self.handle, 1, 4, ctypes.byref(self.number), 4, ctypes.byref(self.lengths[0])))
        self._check(self.library.SQLBindCol(self.handle, 2, 1, self.word, 40, ctypes.byref(self.lengths[1])))

    def fetch(self, direction, offset=0):
        """(number, word), or None at either end."""
        code = self._check(
            self.library.SQLFetchScroll(self.handle, ctypes.c_short(DIRECTIONS[direction]), ctypes.c_ssize_t(offset))
        )
        return None if code == NO_DATA else (self.number.value, self.word.value.decode())

    def put(self, number=None, word=None):
        """Set the bound buffers."""
        self.number.value, self.word.value = (self.number.value if number is None else number), word.encode()
        self.lengths[1].value = len(word)

    def change(self, operation):
        """SQLSetPos on the current row. OdbcError, also for a warning (01001: the row had changed)."""
        self._sure(self.library.SQLSetPos(self.handle, ctypes.c_ulonglong(1), ctypes.c_ushort(operation), ctypes.c_ushort(0)))

    def add(self):
        """SQLBulkOperations SQL_ADD."""
        self._check(self.library.SQLBulkOperations(self.handle, ctypes.c_short(4)))


def microsoft():
    """The path of Microsoft's ODBC driver, which a wheel brings along; None where it does not."""
    spec = importlib.util.find_spec("mssql_python_odbc") or importlib.util.find_spec("mssql_python")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(iter(Path(spec.submodule_search_locations[0]).glob("**/debian_ubuntu/x86_64/lib/libmsodbcsql*")), None)


def freetds():
    """The path of FreeTDS's ODBC driver, or None."""
    folders = ("/usr/lib/x86_64-linux-gnu/odbc", "/usr/lib/aarch64-linux-gnu/odbc")
    return next((path for folder in folders for path in Path(folder).glob("libtdsodbc.so")), None)


def connection_text(driver, link, node="sql1", database="master", **words):
    """A connection string for "microsoft" or "freetds", or a skip."""
    path = microsoft() if driver == "microsoft" else freetds()
    if path is None:
        pytest.skip(f"the ODBC driver of {driver} is not installed")
    port = link.ports[node]
    where = f"Server=127.0.0.1,{port};Encrypt=yes;TrustServerCertificate=yes" if driver == "microsoft" else ""
    where = where or f"Server=127.0.0.1;Port={port};TDS_Version=7.4"
    text = f"Driver={path};{where};UID=sa;PWD={{{link.twin.password()}}};Database={database}"
    return text + "".join(f";{name}={value}" for name, value in words.items())
