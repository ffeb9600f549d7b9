"""One connection's state: login, database, SET options, transaction, temporary tables, prepared statements.

A session outlives its batches. The interpreter changes it; catalogue views (sys.dm_exec_sessions, sys.sysprocesses) and
DBCC USEROPTIONS read it.
"""

from __future__ import annotations

import datetime
import itertools
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aglab.tsql.store.table import Table
    from aglab.tsql.transactions import Transaction

ISOLATION_LEVELS = {1: "read uncommitted", 2: "read committed", 3: "repeatable read", 4: "serializable", 5: "snapshot"}
ISOLATION_BY_NAME = {name.upper(): level for level, name in ISOLATION_LEVELS.items()}


@dataclass
class Options:
    """SET options of a session; the defaults are those that ODBC and .NET drivers set."""

    ansi_nulls: bool = True
    ansi_padding: bool = True
    ansi_warnings: bool = True
    ansi_null_dflt_on: bool = True
    arithabort: bool = True
    concat_null_yields_null: bool = True
    quoted_identifier: bool = True
    numeric_roundabort: bool = False
    implicit_transactions: bool = False
    cursor_close_on_commit: bool = False
    nocount: bool = False
    xact_abort: bool = False
    noexec: bool = False
    parseonly: bool = False
    fmtonly: bool = False
    showplan_xml: bool = False
    statistics_io: bool = False
    statistics_time: bool = False
    rowcount: int = 0
    textsize: int = 2147483647
    lock_timeout_ms: int = -1
    deadlock_priority: int = 0
    datefirst: int = 7
    dateformat: str = "mdy"
    language: str = "us_english"
    isolation: int = 2
    identity_insert: str = ""


@dataclass
class Session:
    """A connection as the server sees it.

    ``login_time`` and ``last_request_*`` are wall datetimes of the node's clock.
    """

    spid: int
    login: str = "sa"
    database: str = "master"
    host_name: str = ""
    program_name: str = ""
    client_interface: str = "ODBC"
    is_sysadmin: bool = True
    read_only_intent: bool = False
    impersonated: list[tuple[str, bool]] = field(default_factory=list)  # logins under EXECUTE AS, outermost first, and sysadmin
    login_time: datetime.datetime | None = None
    last_request_start: datetime.datetime | None = None
    last_request_end: datetime.datetime | None = None
    status: str = "sleeping"  # running, sleeping, suspended
    command: str = "AWAITING COMMAND"
    wait_type: str = ""
    wait_resource: str = ""
    wait_started_s: float = 0.0
    blocked_by: int = 0
    current_text: str = ""
    reads: int = 0
    reads_now: Any = None  # aglab.tsql.query.reads.StatementReads of the running statement
    writes: int = 0
    logical_reads: int = 0
    row_count: int = 0
    error: int = 0
    options: Options = field(default_factory=Options)
    transaction: Transaction | None = None
    trancount: int = 0
    temp_tables: dict[str, Table] = field(default_factory=dict)
    temp_version: int = 0
    serial: int = field(default_factory=itertools.count(1).__next__)  # never reused, as a session id is
    prepared: dict[int, tuple[str, str]] = field(default_factory=dict)  # handle -> (parameter declaration, text)
    next_handle: int = 1
    context_info: bytes | None = None
    session_context: dict[str, Any] = field(default_factory=dict)
    last_identity: int | None = None
    trace_flags: set[int] = field(default_factory=set)
    cursors: dict[str, Any] = field(default_factory=dict)  # GLOBAL ones by lower-case name
    api_cursors: dict[int, Any] = field(default_factory=dict)  # by handle: those that drivers open
    every_cursor: Any = field(default_factory=weakref.WeakValueDictionary)  # by handle, LOCAL ones too, while they exist
    cursor_options: dict[int, tuple[int, int]] = field(default_factory=dict)  # of sp_cursorprepare: scrollopt and ccopt
    cursor_rows: int = 0  # @@CURSOR_ROWS
    fetch_status: int = 0  # @@FETCH_STATUS
    group_id: int = 2
    killed: bool = False
    stop_asked: bool = False  # set by another thread: what the running statement computes has no reader any more
    visited: int = 0  # rows that the running statement has looked at, each time that it did
    bulk: Any = None  # aglab.tsql.execute.bulk.BulkPlan between an INSERT BULK and its rows
    environment: Any = None  # aglab.tsql.environment.Environment of a contained availability group
    login_database: str = ""  # where the login began, and where RESETCONNECTION returns to
    progress: Any = None  # while a long operation runs: a function that gives percent done and milliseconds left
    frame: tuple[str, int] = ("", 0)  # procedure ("" for a batch) and line of the statement that last asked for a lock
    null_eliminated: bool = False  # an aggregate of the running statement met NULL: warning 8153

    def __post_init__(self) -> None:
        self.login_database = self.login_database or self.database

    def reset(self) -> None:
        """What RESETCONNECTION does besides rolling back: the login's database, options, temp tables, prepared handles."""
        self.database = self.login_database
        if self.impersonated:
            self.login, self.is_sysadmin = self.impersonated[0]
            self.impersonated.clear()
        self.options = Options()
        self.temp_tables.clear()
        self.temp_version += 1
        self.prepared.clear()
        self.cursors.clear()
        self.api_cursors.clear()
        self.cursor_rows = self.fetch_status = 0
        self.context_info = None
        self.session_context.clear()
        self.trace_flags.clear()
        self.bulk = None
        self.row_count = 0
        self.error = 0
        self.last_identity = None
