"""Syntax trees of statements: all of them by one name; here are those of administration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aglab.tsql.ast import Node
from aglab.tsql.ast_control import (
    Block,
    Break,
    Continue,
    CursorStatement,
    Declare,
    DeclareCursor,
    DeclareCursorVariable,
    Goto,
    IdentityInsert,
    If,
    Label,
    Print,
    RaisError,
    Return,
    SetIsolation,
    SetOption,
    SetVariable,
    Statement,
    Throw,
    TransactionStatement,
    TryCatch,
    Use,
    WaitFor,
    While,
)
from aglab.tsql.ast_data import (
    Assignment,
    BulkInsert,
    Delete,
    Execute,
    Insert,
    InsertBulk,
    Merge,
    MergeClause,
    Output,
    QueryStatement,
    Truncate,
    Update,
)
from aglab.tsql.ast_definitions import (
    AlterDatabase,
    AlterIndex,
    AlterTable,
    ColumnSpec,
    ConstraintSpec,
    CreateDatabase,
    CreateIndex,
    CreateModule,
    CreateSchema,
    CreateTable,
    CreateType,
    DeclareTable,
    Drop,
    Parameter,
    Partitioning,
)


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


__all__ = [
    "AdminStatement",
    "AlterDatabase",
    "AlterIndex",
    "AlterTable",
    "Assignment",
    "Block",
    "Break",
    "BulkInsert",
    "Checkpoint",
    "ColumnSpec",
    "ConstraintSpec",
    "Continue",
    "CreateDatabase",
    "CreateIndex",
    "CreateModule",
    "CreateSchema",
    "CreateTable",
    "CreateType",
    "CursorStatement",
    "Dbcc",
    "Declare",
    "DeclareCursor",
    "DeclareCursorVariable",
    "DeclareTable",
    "Delete",
    "Drop",
    "Execute",
    "Goto",
    "IdentityInsert",
    "If",
    "Insert",
    "InsertBulk",
    "Kill",
    "Label",
    "Merge",
    "MergeClause",
    "Output",
    "Parameter",
    "Partitioning",
    "Print",
    "QueryStatement",
    "RaisError",
    "Reconfigure",
    "Return",
    "SetIsolation",
    "SetOption",
    "SetVariable",
    "Statement",
    "Throw",
    "TransactionStatement",
    "Truncate",
    "TryCatch",
    "Update",
    "Use",
    "WaitFor",
    "While",
]
