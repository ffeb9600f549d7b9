"""Why a HammerDB run failed, and what to do: the words of driver, server and bcp, matched to causes.

Sources: issues 133, 390, 496, 595, 625, 651, 774 and 908 of TPC-Council/HammerDB for the words of the driver; the page "Database
Engine events and errors" of Microsoft's documentation for the server's numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aglab.core.errors import AglabError, MissingError

# (what the words look like, cause, remedy); the first that matches any line wins, so the particular stands before the general
CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r'couldn\'t execute "?bcp|A valid table name is required',
        "the build called bcp, which is not there or cannot log in",
        "leave mssqls_use_bcp false, as the generated script does",
    ),
    (
        r"certificate verify failed|certificate chain was issued",
        "the driver does not trust the server's certificate",
        "keep mssqls_trust_server_cert true and mssqls_use_bcp false, or install the certificate where HammerDB runs",
    ),
    (
        r"Login failed for user|NativeError = 18456|\b18456\b",
        "the server refuses the login",
        "check user and password; an old data volume keeps the password it was made with",
    ),
    (
        r"Can't open lib|Data source name not found|IM002|can't find package tdbc|couldn't load library|libodbc",
        "HammerDB finds no ODBC driver of that name",
        "install msodbcsql18 and compare the name with odbcinst -q -d",
    ),
    (
        r"Cannot open database|NativeError = 4060",
        "the database is not there, or not on this node",
        "build the schema first, and point the run at the primary replica",
    ),
    (
        r"participating in an availability group|not accessible for queries|NativeError = (976|983|978)",
        "this node is a secondary replica",
        "point the run at the primary replica or the listener",
    ),
    (
        r"currently joined to an availability group|NativeError = 3752",
        "a database in an availability group cannot be dropped",
        "ALTER AVAILABILITY GROUP ... REMOVE DATABASE first",
    ),
    (
        r"already exists. Choose a different database name|NativeError = 1801",
        "the database is already there",
        "delete the schema first, or run without building",
    ),
    (
        r"transaction log for database .* is full|NativeError = 9002",
        "the server's log file is full",
        "look at log_reuse_wait_desc in sys.databases; back up the log, or let the secondary catch up",
    ),
    (
        r"Could not allocate space|NativeError = 1105|NativeError = 1101",
        "the data files are full",
        "take fewer warehouses, or give the files room",
    ),
    (
        r"Communication link failure|connection is broken|SHUTDOWN is in progress|08S01|TCP Provider: Error code 0x(68|274[0-9])",
        "the connection was lost in the middle: a failover or a restart ends every virtual user, and HammerDB does not reconnect",
        "start the run again; for outage labs use a client that reconnects",
    ),
    (
        r"Login timeout expired|delay in prelogin|Timeout error \[258\]|server was not found|error code 0x2749|08001",
        "the server did not answer",
        "check name and port as HammerDB's machine sees them; with many virtual users start fewer at once",
    ),
    (
        r"NativeError = 1205|deadlocked on",
        "a virtual user was a deadlock victim",
        "expected now and then; set mssqls_raiseerror false to let it go on, and read the deadlock graph",
    ),
    (
        r"can't use empty string as operand|expected integer but got",
        "the schema is there but its tables are empty: an earlier build did not end",
        "delete the schema and build it again",
    ),
)


class HammerDBError(AglabError):
    """A build or run that did not do what it should; ``said`` holds HammerDB's own words."""

    def __init__(self, message: str, remedy: str, said: Sequence[str] = ()) -> None:
        super().__init__(message, remedy)
        self.said = list(said)


def why(errors: Sequence[str]) -> tuple[str, str]:
    """(cause, remedy) for the words that virtual users or driver left; the words themselves where none is known."""
    for pattern, cause, remedy in CAUSES:
        if any(re.search(pattern, line) for line in errors):
            return cause, remedy
    first = errors[0] if errors else "HammerDB gave no reason"
    return first, "read HammerDB's own output; run again with one virtual user"


def not_found(where: str) -> MissingError:
    """hammerdbcli is not where it was looked for."""
    return MissingError(
        f"hammerdbcli was not found in {where}",
        "install HammerDB (https://www.hammerdb.com) or start its container, and give its folder",
    )
