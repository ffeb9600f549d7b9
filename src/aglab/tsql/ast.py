"""Syntax trees: expressions and queries. Statements are in :mod:`aglab.tsql.ast_statements`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aglab.core.sqltypes import SqlType


@dataclass(slots=True, eq=False)
class Node:
    """Base: ``line`` in the batch, counted from 1."""

    line: int


@dataclass(slots=True, eq=False)
class Literal(Node):
    value: Any
    type: SqlType | None  # None is the NULL constant


@dataclass(slots=True, eq=False)
class Variable(Node):
    name: str  # with @, as written


@dataclass(slots=True, eq=False)
class ColumnRef(Node):
    parts: tuple[str, ...]  # last is the column

    @property
    def name(self) -> str:
        return self.parts[-1]


@dataclass(slots=True, eq=False)
class Star(Node):
    qualifier: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Unary(Node):
    op: str  # - + ~
    operand: Node


@dataclass(slots=True, eq=False)
class Binary(Node):
    op: str  # + - * / % & | ^
    left: Node
    right: Node


@dataclass(slots=True, eq=False)
class Case(Node):
    operand: Node | None
    whens: list[tuple[Node, Node]]
    default: Node | None


@dataclass(slots=True, eq=False)
class Cast(Node):
    operand: Node
    type: SqlType
    style: Node | None = None
    lenient: bool = False  # TRY_CAST, TRY_CONVERT


@dataclass(slots=True, eq=False)
class Window(Node):
    partition: list[Node]
    order: list[tuple[Node, bool]]  # expression, descending
    frame: tuple[str, Any, Any] | None = None  # ROWS | RANGE, start, end; each ("UNBOUNDED PRECEDING", None) and so on


@dataclass(slots=True, eq=False)
class Call(Node):
    parts: tuple[str, ...]  # name, or schema and name
    args: list[Node]
    distinct: bool = False
    star: bool = False
    over: Window | None = None
    within: list[tuple[Node, bool]] | None = None

    @property
    def name(self) -> str:
        return self.parts[-1].upper()


@dataclass(slots=True, eq=False)
class RowNumber(Node):
    """The number that the store has for the current row of a table; no text can say it (UPDATE through a query needs it)."""

    source: str


@dataclass(slots=True, eq=False)
class Subquery(Node):
    query: Query


@dataclass(slots=True, eq=False)
class Collate(Node):
    operand: Node
    collation: str


@dataclass(slots=True, eq=False)
class AtTimeZone(Node):
    operand: Node
    zone: Node


# Conditions: they have no value in T-SQL, so they are a family of their own.


@dataclass(slots=True, eq=False)
class Condition(Node):
    pass


@dataclass(slots=True, eq=False)
class Compare(Condition):
    op: str  # = <> < > <= >=
    left: Node
    right: Node


@dataclass(slots=True, eq=False)
class Quantified(Condition):
    op: str
    left: Node
    every: bool  # ALL; else ANY or SOME
    query: Query


@dataclass(slots=True, eq=False)
class Logical(Condition):
    op: str  # AND OR
    left: Node
    right: Node


@dataclass(slots=True, eq=False)
class Not(Condition):
    operand: Node


@dataclass(slots=True, eq=False)
class IsNull(Condition):
    operand: Node
    negated: bool


@dataclass(slots=True, eq=False)
class Distinct(Condition):
    """IS [NOT] DISTINCT FROM"""

    left: Node
    right: Node
    negated: bool


@dataclass(slots=True, eq=False)
class In(Condition):
    operand: Node
    items: list[Node] | None
    query: Query | None
    negated: bool


@dataclass(slots=True, eq=False)
class Between(Condition):
    operand: Node
    low: Node
    high: Node
    negated: bool


@dataclass(slots=True, eq=False)
class Like(Condition):
    operand: Node
    pattern: Node
    escape: Node | None
    negated: bool


@dataclass(slots=True, eq=False)
class Exists(Condition):
    query: Query


@dataclass(slots=True, eq=False)
class UpdatePredicate(Condition):
    """UPDATE(column) in a trigger"""

    column: str


# Queries


@dataclass(slots=True, eq=False)
class SelectItem(Node):
    expression: Node
    alias: str = ""
    variable: str = ""  # SELECT @v = expression
    op: str = "="


@dataclass(slots=True, eq=False)
class OrderItem(Node):
    expression: Node
    descending: bool = False


@dataclass(slots=True, eq=False)
class Query(Node):
    """Common to SELECT, set operations and VALUES."""

    ctes: list[Cte] = field(default_factory=list)
    order: list[OrderItem] = field(default_factory=list)
    offset: Node | None = None
    fetch: Node | None = None
    options: dict[str, Any] = field(default_factory=dict)
    for_clause: tuple[str, dict[str, Any]] | None = None  # ("XML" | "JSON", options)


@dataclass(slots=True, eq=False)
class Top(Node):
    count: Node
    percent: bool = False
    ties: bool = False


@dataclass(slots=True, eq=False)
class Select(Query):
    items: list[SelectItem] = field(default_factory=list)
    distinct: bool = False
    top: Top | None = None
    into: tuple[str, ...] | None = None
    source: Source | None = None
    where: Node | None = None
    group: list[Node] | None = None  # None: no GROUP BY
    grouping_sets: list[list[int]] | None = None  # indices into group
    having: Node | None = None


@dataclass(slots=True, eq=False)
class SetOperation(Query):
    op: str = "UNION"  # UNION, UNION ALL, EXCEPT, INTERSECT
    left: Query | None = None
    right: Query | None = None


@dataclass(slots=True, eq=False)
class Values(Query):
    rows: list[list[Node]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Cte(Node):
    name: str
    columns: list[str]
    query: Query


@dataclass(slots=True, eq=False)
class Source(Node):
    alias: str = ""
    column_aliases: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class TableSource(Source):
    parts: tuple[str, ...] = ()
    hints: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class FunctionSource(Source):
    parts: tuple[str, ...] = ()
    args: list[Node] = field(default_factory=list)
    with_columns: list[tuple[str, SqlType, str, bool]] | None = None  # name, type, path, AS JSON


@dataclass(slots=True, eq=False)
class QuerySource(Source):
    query: Query | None = None


@dataclass(slots=True, eq=False)
class JoinSource(Source):
    kind: str = "INNER"  # INNER LEFT RIGHT FULL CROSS, "CROSS APPLY", "OUTER APPLY"
    left: Source | None = None
    right: Source | None = None
    on: Node | None = None


@dataclass(slots=True, eq=False)
class PivotSource(Source):
    source: Source | None = None
    unpivot: bool = False
    aggregate: Call | None = None
    value_column: str = ""
    name_column: str = ""
    names: list[str] = field(default_factory=list)
