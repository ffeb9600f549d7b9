"""Definitions: tables, indexes, modules, databases and their parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.ast import Node, Query
from aglab.tsql.ast_control import Statement
from aglab.tsql.store.user_types import UserType


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
    user_type: str = ""  # schema.name of an alias type
    with_values: bool = False  # DEFAULT ... WITH VALUES: also for the rows that are there


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
    user_type: str = ""  # schema.name
    table: UserType | None = None  # a table type


@dataclass(slots=True, eq=False)
class DeclareTable(Statement):
    name: str
    columns: list[ColumnSpec]
    constraints: list[ConstraintSpec]
    type_name: str = ""  # schema.name of a table type


@dataclass(slots=True, eq=False)
class CreateType(Statement):
    name: tuple[str, ...]
    base: SqlType | None  # None: a table type
    nullable: bool = True
    columns: list[ColumnSpec] = field(default_factory=list)
    constraints: list[ConstraintSpec] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


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
