"""One SQL Server instance as the interpreter sees it: databases with rows, settings, logins, sessions, locks.

The node owns exactly one and reads or changes it directly; statements change it through the interpreter.
"""

from __future__ import annotations

import itertools
from typing import Any

from aglab.tsql.catalog.configurations import Configuration, default_configurations
from aglab.tsql.locks import LockManager
from aglab.tsql.query.reads import BufferPool, Uses
from aglab.tsql.query.statistics import StatementCache
from aglab.tsql.session import Session
from aglab.tsql.store.database import Database
from aglab.tsql.store.memory import is_durable

VERSION = (
    "Microsoft SQL Server 2022 (RTM-CU14) (KB5038325) - 16.0.4135.4 (X64) - emulated by aglab twin\n"
    "\tSIMULATED: this is not Microsoft SQL Server\n\tDeveloper Edition (64-bit) (aglab twin)"
)
FIRST_USER_SPID = 51
SYSTEM_DATABASES = ("master", "tempdb", "model", "msdb")


class Instance:
    """Databases, configurations, trace flags, logins, sessions and the lock manager of one node.

    Parameters
    ----------
    name : str
        Server name: @@SERVERNAME.
    user_databases : tuple of str
        Databases created at the start, besides the four system databases.
    """

    def __init__(self, name: str = "sql1", user_databases: tuple[str, ...] = ()) -> None:
        self.name = name
        self.version = VERSION
        self.properties: dict[str, Any] = {}  # SERVERPROPERTY names (as documented) -> values the node wants shown
        self.databases: dict[str, Database] = {}
        self.configurations: dict[str, Configuration] = default_configurations()
        self.trace_flags: set[int] = set()
        self.logins: dict[str, dict[str, Any]] = {"sa": {"name": "sa", "principal_id": 1, "sid": b"\x01", "type": "S"}}
        self.sessions: dict[int, Session] = {}
        self.locks = LockManager(self._deadlock_cost)
        self.startup_parameters: list[str] = []
        self.commit_serial = 0  # transactions that committed rows of memory-optimized tables
        self.memory_commits: dict[tuple[int, int, int], int] = {}  # (database, table, row) -> serial of its last commit
        self.observer: Any = None  # called as observer(runtime) before a statement, gives what to call at its end; None: nobody
        self.protected_modules: set[int] = set()  # objects of master that Resource Governor uses
        self.statements = StatementCache()
        self.index_uses: Uses = {}  # since the start
        self.pool = BufferPool()
        self._transaction_ids = itertools.count(1000)
        self._next_database_id = itertools.count(1)
        for database in SYSTEM_DATABASES + user_databases:
            self.add_database(database)

    def add_database(self, name: str) -> Database:
        """A new, empty database."""
        used = {database.id for database in self.databases.values()}
        number = next(n for n in itertools.count(1) if n not in used)
        database = Database(name, number)
        self.databases[name.lower()] = database
        return database

    def database(self, name: str) -> Database | None:
        """The database by name, in any case."""
        return self.databases.get(name.lower())

    def by_id(self, number: int) -> Database | None:
        """The database by its id."""
        return next((one for one in self.databases.values() if one.id == number), None)

    def shown(self, database: Database) -> tuple[str, int]:
        """Name and id of a database as a connection sees them; another for a contained group's environment."""
        return database.name, database.id

    def schema_version(self) -> tuple[int, int]:
        """What changes with every definition of any database: cached plans look at it."""
        version = 0
        for database in self.databases.values():
            version += database.version
        return version, len(self.databases)

    def drop_database(self, name: str) -> None:
        """Forget a database."""
        del self.databases[name.lower()]
        for session in self.sessions.values():
            if session.login_database.lower() == name.lower():
                session.login_database = "master"

    def open_session(self, login: str = "sa", database: str = "master", **properties: Any) -> Session:
        """A new session with the lowest free session id from 51."""
        spid = next(n for n in itertools.count(FIRST_USER_SPID) if n not in self.sessions)
        session = Session(spid, login=login, database=database, **properties)
        self.sessions[spid] = session
        return session

    def close_session(self, session: Session) -> None:
        """Roll back what is open, release its locks and forget the session."""
        self.locks.cancel(session.spid)
        if session.transaction is not None:
            session.transaction.rollback_to(0)
            session.transaction = None
        session.trancount = 0
        self.locks.release_all(session.spid, everything=True)
        session.temp_tables.clear()
        self.sessions.pop(session.spid, None)

    def restarted(self, cold: bool) -> None:
        """Forget what an instance keeps in memory only: cached statements and (``cold``) the pages of its tables."""
        self.statements.clear()
        self.index_uses.clear()
        self.pool = BufferPool()
        self.memory_commits = {}
        if cold:
            self.pool.drop()
            for database in self.databases.values():
                for table in database.tables():
                    if not is_durable(table):
                        table.truncate()

    def next_transaction_id(self) -> int:
        """A transaction id, never used before."""
        return next(self._transaction_ids)

    def configuration(self, name: str) -> int:
        """The value in use of a configuration option."""
        return self.configurations[name].value_in_use

    def trace_flag_on(self, flag: int, session: Session | None = None) -> bool:
        """Whether the flag is on globally or in the session."""
        return flag in self.trace_flags or (session is not None and flag in session.trace_flags)

    def _deadlock_cost(self, spid: int) -> tuple[int, int]:
        session = self.sessions.get(spid)
        if session is None:
            return (0, 0)
        used = session.transaction.log_bytes if session.transaction is not None else 0
        return (session.options.deadlock_priority, used)
