"""Control of flow, variables, SET, transactions and cursors; what every statement has."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.ast import Node, Query


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
    tables: list[Any] = field(default_factory=list)  # DeclareTable: variables of table types


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


@dataclass(slots=True, eq=False)
class TransactionStatement(Statement):
    kind: str  # BEGIN COMMIT ROLLBACK SAVE
    name: str = ""
    variable: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # COMMIT ... WITH (...)


@dataclass(slots=True, eq=False)
class DeclareCursor(Statement):
    """DECLARE name CURSOR, or SET @variable = CURSOR (``name`` begins with @)."""

    name: str
    query: Query
    options: set[str]
    update_columns: list[str] | None = None  # FOR UPDATE [OF ...]; None: not written


@dataclass(slots=True, eq=False)
class DeclareCursorVariable(Statement):
    names: list[str]


@dataclass(slots=True, eq=False)
class CursorStatement(Statement):
    kind: str  # OPEN FETCH CLOSE DEALLOCATE
    name: str
    direction: str = "NEXT"
    offset: Node | None = None
    into: list[str] = field(default_factory=list)
    is_global: bool = False  # GLOBAL name
