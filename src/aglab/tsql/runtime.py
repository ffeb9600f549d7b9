"""What compiled code reaches while a statement runs: the session, its variables, the node, the statement's own moment."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.effects import Cancelled
from aglab.tsql.locks import Resource
from aglab.tsql.messages import TsqlError, error
from aglab.tsql.store.table import Row, Table

if TYPE_CHECKING:
    from aglab.tsql.host import Host
    from aglab.tsql.instance import Instance
    from aglab.tsql.session import Session
    from aglab.tsql.store.database import Database

MAX_NESTING = 32
VISITED_MAX = 20_000_000  # some 20 seconds


class LockNeeded(Exception):
    """The statement touched a row that another session has locked: take the lock (or wait for it), then run it again."""

    def __init__(self, resource: Resource, mode: str, keep: bool, table: Table | None = None) -> None:
        super().__init__(resource.description())
        self.resource = resource
        self.mode = mode
        self.keep = keep
        self.table = table
        self.nowait = False  # hint NOWAIT: error 1222 instead of a wait


class Signature:
    """Names and types, hashed once: a plan is looked up for every statement that runs."""

    __slots__ = ("_content", "_hash")

    def __init__(self, content: tuple[Any, ...]) -> None:
        self._content = content
        self._hash = hash(content)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Signature) and self._content == other._content)


EMPTY = Signature(((), ()))


@dataclass
class Variables:
    """The variables of one batch or procedure call: values and declared types by lower-case name."""

    values: dict[str, Any] = field(default_factory=dict)
    types: dict[str, SqlType] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    readonly: set[str] = field(default_factory=set)  # table-valued parameters
    _known: tuple[int, int, Signature] = field(default=(0, 0, EMPTY), repr=False)

    def signature(self) -> Signature:
        """What a cached plan depends on: names and types. A name keeps its type, so it changes only when one is added."""
        types, declared, signature = self._known
        if types != len(self.types) or declared != len(self.tables):
            tables = tuple((name, tuple((c.name, c.type) for c in table.columns)) for name, table in self.tables.items())
            signature = Signature((tuple(self.types.items()), tables))
            self._known = (len(self.types), len(self.tables), signature)
        return signature


@dataclass
class Runtime:
    """One running scope (batch or procedure)."""

    host: Host
    session: Session
    variables: Variables
    procedure: str = ""
    procedure_id: int = 0
    nesting: int = 0
    catching: list[TsqlError] = field(default_factory=list)  # errors of the CATCH blocks that are running, innermost last
    scope_identity: int | None = None
    moment: datetime.datetime | None = None
    tracked: list[tuple[Table, int, str]] | None = None  # rows that must stay locked after the statement: (table, row id, mode)
    function_depth: int = 0
    native: bool = False  # inside a natively compiled module
    text: str = ""  # what the statements of this scope stand in
    text_start: int = 0  # where that text begins in what was parsed
    cursors: dict[str, Any] = field(default_factory=dict)  # LOCAL ones of this scope by lower-case name
    cursor_variables: dict[str, Any] = field(default_factory=dict)  # @name -> its cursor, or None
    caller: Runtime | None = None  # of a system procedure: the scope that called it

    @property
    def instance(self) -> Instance:
        return self.session.environment or self.host.instance

    @property
    def database(self) -> Database:
        database = self.instance.database(self.session.database)
        assert database is not None
        return database

    def now(self) -> datetime.datetime:
        """The statement's moment: every call in one statement sees the same."""
        if self.moment is None:
            self.moment = self.host.now()
        return self.moment

    def visit(self, rows: int) -> None:
        """Count rows that a scan or a join is about to go through.

        Nobody else is served while a statement computes. It ends here when its client has asked for that (Cancelled), or beyond
        the limit (error 59003), which a join of everything with everything reaches.
        """
        session = self.session
        session.visited += rows
        if session.stop_asked:
            raise Cancelled
        if session.visited > VISITED_MAX:
            raise error(59003, "the number of rows that it goes through", VISITED_MAX)

    # --- reading rows that others may have locked ---------------------------------------------------------------------------

    def uncommitted(self, table: Table) -> dict[int, Row | None]:
        """Rows that other sessions' open transactions changed, as they were before."""
        images: dict[int, Row | None] = {}
        for session in self.instance.sessions.values():
            if session is self.session or session.transaction is None:
                continue
            for entry in session.transaction.entries:
                if entry.table is table:
                    images.setdefault(entry.row_id, entry.before)
        return images

    def committed(self, table: Table, row_id: int, owner: int) -> Row | None:
        """A locked row as it was before its owner's transaction touched it (None: it did not exist)."""
        session = self.instance.sessions.get(owner)
        if session is not None and session.transaction is not None:
            for entry in session.transaction.entries:
                if entry.table is table and entry.row_id == row_id:
                    return entry.before
        return table.rows.get(row_id)
