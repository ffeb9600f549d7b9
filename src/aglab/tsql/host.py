"""What a node answers to the interpreter, and what it is told.

The interpreter owns T-SQL; the node owns time, engine, availability group and sockets. A node implements
:class:`Host` and keeps one :class:`~aglab.tsql.instance.Instance` (databases with rows, configurations, trace flags, logins,
sessions, locks). Every hook that may take virtual time is a generator of effects (``yield Wait(...)``, ``yield Message(...)``)
or returns None for "nothing to do, no time passes".
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from aglab.core.sqltypes import SqlType
from aglab.tsql.effects import Effect

if TYPE_CHECKING:
    from aglab.tsql.instance import Instance
    from aglab.tsql.session import Session

Effects = Generator[Effect, Any, Any]
ViewRow = Mapping[str, Any] | Sequence[Any]
Wanted = Mapping[str, frozenset[Any]]  # column in lower case -> its values, as the collation compares them
NOTHING_WANTED: Wanted = {}


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row change of a committed transaction: ``before`` None is an insert, ``after`` None a delete."""

    table: str  # schema.name
    row_id: int
    before: tuple[Any, ...] | None
    after: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A DDL statement's effect, shipped in order with the rows: apply it with ``Database.apply_schema``."""

    action: str  # "put" or "drop"
    kind: str  # "table", "procedure", "function", "view", "schema", "truncate", "option", "users", "logins", "job"
    name: str
    definition: Any = None


@dataclass(slots=True)
class CommitRecord:
    """What one transaction commits in one database, in log order.

    ``log_bytes`` is the log generated, record headers and commit record included.
    """

    database: str
    transaction_id: int
    session_id: int
    changes: list[RowChange | SchemaChange]
    log_bytes: int
    began_s: float = 0.0
    delayed: bool = False  # COMMIT WITH (DELAYED_DURABILITY = ON)
    memory_only: bool = False  # nothing but rows of memory-optimized tables: not in Databases:Transactions/sec
    mark: tuple[str, str] | None = None  # BEGIN TRANSACTION name WITH MARK 'description'


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that took effect.

    ``scope``: "configuration" (value_in_use changed), "database" (an ALTER DATABASE SET option), "trace_flag" (value True/False),
    "scoped_configuration", "create_database", "drop_database", "file", "filegroup". ``detail`` holds the parsed clause.
    """

    scope: str
    name: str
    value: Any = None
    database: str = ""
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Command:
    """An administrative statement that the node carries out.

    ``name``: "CHECKPOINT", "BACKUP DATABASE", "CREATE AVAILABILITY GROUP", "ALTER DATABASE SET HADR", "SHUTDOWN", "KILL", ...
    ``target``: what it is about (a database, a group). ``options``: upper-case option -> value.
    ``text``: the statement as typed.
    """

    name: str
    target: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class AdapterParameter:
    """A parameter of a procedure in schema ``twin``; ``default`` is used when the caller leaves it out."""

    name: str  # without @
    type: SqlType
    default: Any = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class AdapterProcedure:
    """A procedure in schema ``twin``: ``call(session, **arguments)`` yields effects and returns the status (or None).

    ``call`` may also be an ordinary function that returns a list of effects or None.
    """

    name: str
    parameters: tuple[AdapterParameter, ...]
    call: Callable[..., Effects | list[Effect] | None]
    summary: str = ""


@runtime_checkable
class Host(Protocol):
    """A node."""

    instance: Instance

    def now_s(self) -> float:
        """Seconds of the node's clock since its start."""

    def now(self) -> datetime.datetime:
        """The node's local wall time (naive): what SYSDATETIME() shows."""

    def statement_begins(self) -> None:
        """A statement reads everything at one moment, as far as a node can keep its clock still meanwhile."""

    def server_property(self, name: str) -> Any:
        """SERVERPROPERTY(name) where the node knows better than ``instance.properties``; None otherwise."""

    def view_rows(
        self, view: str, arguments: tuple[Any, ...], session: Session, wanted: Wanted = NOTHING_WANTED
    ) -> Iterable[ViewRow] | None:
        """Rows of a system view or function, by its name in lower case ("sys.dm_os_wait_stats").

        A mapping may leave columns out (NULL); a sequence holds all columns in the catalogue's order. None: the node has no
        such rows; the interpreter then uses its own provider, or says clearly that there is none. The statement keeps only rows
        with a value of ``wanted`` in each of its columns: the node may leave out others, and need not.
        """

    def changed(self, change: Change, session: Session) -> Effects | None:
        """A setting took effect."""

    def administer(self, command: Command, session: Session) -> Effects | None:
        """Carry out a statement; None: not implemented, the interpreter raises a clear error."""

    def commit(self, record: CommitRecord, session: Session) -> Effects | None:
        """Make a transaction durable: charge the log, wait for group commit and for synchronous secondaries.

        Locks are held until this ends. A TsqlError raised here ends the statement with that error.
        """

    def volume_kind(self, path: str) -> str | None:
        """What a path lies on: ``dax`` (direct access to persistent memory), ``block``, or None: there is no such directory."""

    def replicates(self, database: str) -> bool:
        """Whether an availability group replicates the database."""

    def check_access(self, database: str, session: Session, for_write: bool, rows: bool = True) -> None:
        """Raise a TsqlError (976, 3906, 983 ...) where the database's role forbids it.

        ``rows`` False: what is written is an option or a file, which a full log (9002) does not stop: that is how it is mended.
        """

    def adapter(self, name: str) -> AdapterProcedure | None:
        """The procedure of schema ``twin`` by its bare name in lower case."""

    def batch_started(self, session: Session, text: str) -> None:
        """A batch or RPC begins (Batch Requests/sec counts these)."""

    def error_log(self, text: str) -> None:
        """A line for the errorlog."""

    def kill(self, spid: int) -> None:
        """End another session's connection (KILL)."""
