"""The driver and the way in: which driver is there, what it needs, where and as whom to log in, and why a login failed.

``mssql-python`` is the driver. ``AGLAB_DRIVER=pyodbc`` takes pyodbc instead, with Microsoft's ODBC driver or FreeTDS, whichever
is installed.
"""

from __future__ import annotations

import ctypes
import os
import re
import socket
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from aglab.core.errors import AglabError, MissingError, unknown_name
from aglab.lab.results import SqlFailed

DRIVERS = ("mssql-python", "pyodbc")
LOGIN_TIMEOUT_S = 15
PROBE_S_MAX = 5.0
# a state or a layer that drivers put before the server's words: [42S02] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]
PREFIX = re.compile(r"^(?:\[(?:[0-9A-Z]{5}|Microsoft|unixODBC|FreeTDS|SQL Server|ODBC [^\]]*|Driver Manager|DBNETLIB)\]\s*)+")


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


def driver_module() -> Any:
    """The driver's module, ready to connect."""
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


def probe(target: Target) -> None:
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


def _connected(target: Target) -> Any:
    module = driver_module()
    if module.__name__ == "pyodbc":
        return module.connect(_pyodbc_string(target, module.drivers()), autocommit=True, timeout=LOGIN_TIMEOUT_S)
    return module.connect(target.connection_string(with_password=True), autocommit=True)


def open_raw(target: Target) -> Any:
    """The driver's own DB-API connection, in autocommit mode.

    Raises
    ------
    MissingError
        The driver or a library it needs is not installed, or the node does not answer.
    SqlFailed
        The login failed.
    """
    module = driver_module()
    probe(target)
    try:
        return _connected(target)
    except Exception as error:
        if not isinstance(error, (module.Error, RuntimeError, OSError)):
            raise
        raise _login_error(error, target) from error


def _logs_in_elsewhere(target: Target) -> bool:
    """Whether a login that failed succeeds in master: then its database was what failed (4060), not its password (18456)."""
    if target.database.lower() == "master":
        return False
    try:
        _connected(replace(target, database="master")).close()
    except (driver_module().Error, RuntimeError, OSError):
        return False
    return True


def _login_error(error: Exception, target: Target) -> AglabError:
    number, text = server_text(error)
    library = missing_library()
    if library and "driver" in text.lower():
        return MissingError("mssql-python needs the library libltdl.so.7, which this system lacks", library)
    if "availability" in text.lower() and "database" in text.lower():  # 976, 978, 979, 983: the group refuses, the node answers
        return SqlFailed(text, number, target.name)
    if "login failed" in text.lower() and "cannot open" not in text.lower() and _logs_in_elsewhere(target):
        missing = f'Cannot open database "{target.database}" requested by the login. The login failed.'
        return SqlFailed(f"{missing} {text}", 4060, target.name)  # the driver keeps the second error only
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
    text = PREFIX.sub("", str(text).strip())
    number = None
    match = re.search(r"\s*\((\d+)\)\s*\(SQL\w+\)$", text.split("; ")[0])
    if match:
        number = int(match.group(1))
        text = text.split("; ")[0][: match.start()]
    return number, text.strip()
