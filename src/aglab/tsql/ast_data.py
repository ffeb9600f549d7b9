"""Statements that read and write rows, and calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.ast import Node, Query, Source, TableSource, Top
from aglab.tsql.ast_control import Statement


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
class InsertBulk(Statement):
    target: TableSource
    columns: list[tuple[str, SqlType]]
    options: dict[str, Any]  # ORDER: [(column, descending)]


@dataclass(slots=True, eq=False)
class BulkInsert(Statement):
    target: TableSource
    file: str


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
class Execute(Statement):
    """EXEC name args; ``name`` may be a variable; ``text`` is EXEC ('...')."""

    name: tuple[str, ...]
    variable: str = ""
    text: Node | None = None
    args: list[tuple[str, Node | None, bool]] = field(default_factory=list)  # @name or "", expression (None: DEFAULT), output
    status: str = ""
