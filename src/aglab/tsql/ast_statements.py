"""Syntax trees of statements."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.ast import Node, OrderItem, Query, Select, Source, TableSource, Top


@dataclass(slots=True, eq=False)
class Statement(Node):
    """``start`` and ``end`` are offsets in the batch's text; ``plan`` caches what the compiler made of it."""

    start: int = field(default=0, kw_only=True)
    end: int = field(default=0, kw_only=True)
    plan: Any = field(default=None, kw_only=True, repr=False)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Without the plan: a procedure is kept as it was written, also after a tree was shared and had run."""
        return None, {one.name: getattr(self, one.name) for one in fields(self) if one.name != "plan"} | {"plan": None}


@dataclass(slots=True, eq=False)
class ColumnSpec(Node):
    """A column in CREATE TABLE, DECLARE TABLE, ALTER TABLE ADD."""

    name: str
    type: SqlType | None
    nullable: bool | None = None
    identity: tuple[int, int] | None = None
    default: Node | None = None
    default_text: str = ""
    default_name: str = ""
    computed: Node | None = None
    computed_text: str = ""
    collation: str = ""
    rowguid: bool = False


@dataclass(slots=True, eq=False)
class ConstraintSpec(Node):
    """PRIMARY KEY, UNIQUE, CHECK, FOREIGN KEY, DEFAULT or an inline INDEX."""

    kind: str
    name: str = ""
    columns: list[tuple[str, bool]] = field(default_factory=list)  # name, descending
    clustered: bool | None = None
    expression: Node | None = None
    text: str = ""
    referenced: tuple[str, ...] = ()
    referenced_columns: list[str] = field(default_factory=list)
    on_delete: str = "NO_ACTION"
    on_update: str = "NO_ACTION"
    unique: bool = False
    included: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Parameter(Node):
    """A parameter of a procedure or function; ``default`` None means required."""

    name: str
    type: SqlType
    default: Node | None = None
    output: bool = False
    readonly: bool = False


# control of flow


@dataclass(slots=True, eq=False)
class Block(Statement):
    body: list[Statement]


@dataclass(slots=True, eq=False)
class If(Statement):
    condition: Node
    then: Statement
    otherwise: Statement | None


@dataclass(slots=True, eq=False)
class While(Statement):
    condition: Node
    body: Statement


@dataclass(slots=True, eq=False)
class Break(Statement):
    pass


@dataclass(slots=True, eq=False)
class Continue(Statement):
    pass


@dataclass(slots=True, eq=False)
class Return(Statement):
    value: Node | None


@dataclass(slots=True, eq=False)
class Goto(Statement):
    label: str


@dataclass(slots=True, eq=False)
class Label(Statement):
    name: str


@dataclass(slots=True, eq=False)
class TryCatch(Statement):
    body: list[Statement]
    handler: list[Statement]


@dataclass(slots=True, eq=False)
class Throw(Statement):
    number: Node | None
    text: Node | None
    state: Node | None


@dataclass(slots=True, eq=False)
class RaisError(Statement):
    message: Node
    severity: Node
    state: Node
    args: list[Node]
    options: set[str]


@dataclass(slots=True, eq=False)
class Print(Statement):
    expression: Node


@dataclass(slots=True, eq=False)
class WaitFor(Statement):
    kind: str  # DELAY or TIME
    value: Node


@dataclass(slots=True, eq=False)
class Declare(Statement):
    items: list[tuple[str, SqlType, Node | None]]


@dataclass(slots=True, eq=False)
class DeclareTable(Statement):
    name: str
    columns: list[ColumnSpec]
    constraints: list[ConstraintSpec]


@dataclass(slots=True, eq=False)
class SetVariable(Statement):
    name: str
    op: str
    expression: Node


@dataclass(slots=True, eq=False)
class SetOption(Statement):
    names: list[str]  # upper case
    value: Any  # True/False, int, str or an expression


@dataclass(slots=True, eq=False)
class SetIsolation(Statement):
    level: str


@dataclass(slots=True, eq=False)
class IdentityInsert(Statement):
    table: tuple[str, ...]
    on: bool


@dataclass(slots=True, eq=False)
class Use(Statement):
    database: str


# queries and data


@dataclass(slots=True, eq=False)
class QueryStatement(Statement):
    query: Query


@dataclass(slots=True, eq=False)
class Output:
    items: list[Any]
    into: tuple[str, ...] | None = None
    into_columns: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Insert(Statement):
    target: TableSource
    columns: list[str]
    query: Query | None  # Values, Select, ...; None is DEFAULT VALUES unless execute is set
    execute: Execute | None = None
    output: Output | None = None
    top: Top | None = None
    ctes: list[Any] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Assignment(Node):
    column: str
    op: str
    expression: Node | None  # None: DEFAULT
    variable: str = ""


@dataclass(slots=True, eq=False)
class Update(Statement):
    target: TableSource
    assignments: list[Assignment]
    source: Source | None
    where: Node | None
    output: Output | None = None
    top: Top | None = None
    ctes: list[Any] = field(default_factory=list)
    cursor: str = ""


@dataclass(slots=True, eq=False)
class Delete(Statement):
    target: TableSource
    source: Source | None
    where: Node | None
    output: Output | None = None
    top: Top | None = None
    ctes: list[Any] = field(default_factory=list)
    cursor: str = ""


@dataclass(slots=True, eq=False)
class MergeClause(Node):
    matched: str  # MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE
    condition: Node | None
    action: str  # UPDATE, DELETE, INSERT
    assignments: list[Assignment] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    values: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Merge(Statement):
    target: TableSource
    source: Source
    on: Node
    clauses: list[MergeClause]
    output: Output | None = None
    ctes: list[Any] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Truncate(Statement):
    table: tuple[str, ...]
    partitions: list[tuple[Node, Node | None]] = field(default_factory=list)  # single numbers and ranges


@dataclass(slots=True, eq=False)
class Partitioning(Statement):
    """CREATE, DROP, SPLIT, MERGE of a partition FUNCTION; CREATE, DROP, NEXT USED of a SCHEME."""

    action: str
    kind: str
    name: str
    type: SqlType | None = None
    right: bool = False
    values: list[Node] = field(default_factory=list)
    function: str = ""
    all: bool = False
    filegroups: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Execute(Statement):
    """EXEC name args; ``name`` may be a variable; ``text`` is EXEC ('...')."""

    name: tuple[str, ...]
    variable: str = ""
    text: Node | None = None
    args: list[tuple[str, Node | None, bool]] = field(default_factory=list)  # @name or "", expression (None: DEFAULT), output
    status: str = ""


# transactions


@dataclass(slots=True, eq=False)
class TransactionStatement(Statement):
    kind: str  # BEGIN COMMIT ROLLBACK SAVE
    name: str = ""
    variable: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # COMMIT ... WITH (...)


# definitions


@dataclass(slots=True, eq=False)
class CreateTable(Statement):
    name: tuple[str, ...]
    columns: list[ColumnSpec]
    constraints: list[ConstraintSpec]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class AlterTable(Statement):
    name: tuple[str, ...]
    action: str  # ADD, DROP COLUMN, DROP CONSTRAINT, ALTER COLUMN, CHECK, NOCHECK, REBUILD, SWITCH, SET
    columns: list[ColumnSpec] = field(default_factory=list)
    constraints: list[ConstraintSpec] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    if_exists: bool = False
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class CreateIndex(Statement):
    name: str
    table: tuple[str, ...]
    columns: list[tuple[str, bool]]
    unique: bool
    clustered: bool
    included: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    where: Node | None = None


@dataclass(slots=True, eq=False)
class AlterIndex(Statement):
    name: str  # or ALL
    table: tuple[str, ...]
    action: str  # REBUILD REORGANIZE DISABLE PAUSE RESUME ABORT SET
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Drop(Statement):
    kind: str  # TABLE, PROCEDURE, FUNCTION, VIEW, INDEX, DATABASE, SCHEMA, LOGIN, USER, ...
    names: list[tuple[str, ...]]
    if_exists: bool = False
    on: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class CreateModule(Statement):
    """CREATE [OR ALTER] PROCEDURE, FUNCTION, VIEW or TRIGGER; the text is kept in the catalogue."""

    kind: str
    action: str  # CREATE, ALTER, CREATE OR ALTER
    name: tuple[str, ...]
    parameters: list[Parameter]
    body: list[Statement]
    text: str = ""
    returns: SqlType | None = None
    returns_query: Query | None = None
    columns: list[str] = field(default_factory=list)
    options: set[str] = field(default_factory=set)
    atomic: dict[str, Any] | bool = False  # the options of BEGIN ATOMIC WITH (...)
    returns_table: tuple[str, list[ColumnSpec]] | None = None
    on_table: tuple[str, ...] = ()
    events: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class CreateSchema(Statement):
    name: str


@dataclass(slots=True, eq=False)
class CreateDatabase(Statement):
    name: str
    files: list[dict[str, Any]] = field(default_factory=list)
    log_files: list[dict[str, Any]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    collation: str = ""


@dataclass(slots=True, eq=False)
class AlterDatabase(Statement):
    """ALTER DATABASE: SET options, files, filegroups, rename, collate; ``name`` CURRENT is the session's database."""

    name: str
    action: str  # SET, ADD FILE, ADD LOG FILE, MODIFY FILE, ..., MODIFY NAME, COLLATE, SCOPED CONFIGURATION
    options: list[tuple[str, Any]] = field(default_factory=list)
    detail: dict[str, Any] = field(default_factory=dict)


# administration


@dataclass(slots=True, eq=False)
class Checkpoint(Statement):
    duration: Node | None


@dataclass(slots=True, eq=False)
class Reconfigure(Statement):
    override: bool


@dataclass(slots=True, eq=False)
class Dbcc(Statement):
    command: str
    args: list[Any]
    options: set[str]


@dataclass(slots=True, eq=False)
class Kill(Statement):
    spid: Node


@dataclass(slots=True, eq=False)
class AdminStatement(Statement):
    """A statement that only the node can carry out: ``name``, ``target`` and options as :class:`aglab.tsql.host.Command`."""

    name: str
    target: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    text: str = ""


# cursors


@dataclass(slots=True, eq=False)
class DeclareCursor(Statement):
    name: str
    query: Query
    options: set[str]


@dataclass(slots=True, eq=False)
class CursorStatement(Statement):
    kind: str  # OPEN FETCH CLOSE DEALLOCATE
    name: str
    direction: str = "NEXT"
    offset: Node | None = None
    into: list[str] = field(default_factory=list)


__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__]
_ = (OrderItem, Select)
