"""Writing rows: conversion to a column, defaults, identity, NOT NULL, CHECK, unique and foreign keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from aglab.core.sqltypes import MAX, SqlType
from aglab.tsql.convert import converter
from aglab.tsql.effects import Message
from aglab.tsql.locks import Resource
from aglab.tsql.messages import TsqlError, error
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import Bound, CompileContext, Frame, OutColumn, Scope, then
from aglab.tsql.runtime import LockNeeded, Runtime
from aglab.tsql.store.database import Database
from aglab.tsql.store.memory import is_memory
from aglab.tsql.store.table import ColumnDef, Index, Row, Table, comparable

Assign = Callable[[Any], Any]


def assigner(source: SqlType | None, table: Table, column: ColumnDef, shown: str) -> Assign | None:
    """How a value becomes a column's: the implicit conversion, and error 2628 instead of silent truncation."""
    target = column.type
    sized = target.name in ("char", "varchar", "nchar", "nvarchar", "binary", "varbinary") and target.length != MAX
    if not sized:
        return converter(source, target, None, False)
    wide = SqlType({"char": "varchar", "nchar": "nvarchar", "binary": "varbinary"}.get(target.name, target.name), length=MAX)
    change = converter(source, wide, None, False)
    if source == target:
        change = None
    length, fixed, binary = target.length, target.name in ("char", "nchar", "binary"), "binary" in target.name
    name = column.name

    def assign(value: Any) -> Any:
        if change is not None:
            value = change(value)
        if len(value) > length:
            kept = value[:length]
            if binary or value[length:].strip(" "):
                raise error(2628, shown, name, kept if not binary else "0x" + kept.hex()[:100])
            value = kept
        if fixed and len(value) < length:
            value = value.ljust(length, b"\0") if binary else value.ljust(length)
        return value

    return assign


@dataclass
class TableWriter:
    """Everything compiled about writing to one table."""

    table: Table
    database: Database | None
    shown: str  # database.schema.name, as error texts show it
    defaults: list[Callable[[Frame], Any] | None]
    computed: list[tuple[int, Callable[[Frame], Any]]]
    checks: list[tuple[str, str, Callable[[Frame], Any]]]
    slot: int
    identity: int | None
    foreign: list[Any]
    children: list[Any]

    @property
    def database_name(self) -> str:
        """ "" for temporary tables and table variables."""
        return self.database.name if self.database is not None else "tempdb"

    def on(self, table: Table) -> TableWriter:
        """The same for another table of the same definition: the next call's table variable."""
        return self if table is self.table else replace(self, table=table)

    def row(self, frame: Frame, provided: dict[int, Any], identity_insert: bool) -> Row:
        """A complete new row from the values provided by ordinal."""
        cells: list[Any] = []
        for ordinal, column in enumerate(self.table.columns):
            if ordinal in provided:
                value = provided[ordinal]
            elif ordinal == self.identity:
                value = None
            else:
                default = self.defaults[ordinal]
                value = default(frame) if default is not None else None
            cells.append(value)
            if column.identity is not None and ordinal not in provided:
                cells[ordinal] = self._identity(frame[0], column)
        if self.identity is not None and self.identity in provided:
            self._follow(provided[self.identity])
        return self.complete(frame, cells, "INSERT")

    def _identity(self, runtime: Runtime, column: ColumnDef) -> Any:
        value = self.table.take_identity()
        runtime.scope_identity = runtime.session.last_identity = value
        change = converter(SqlType("bigint"), column.type, None, False)
        return change(value) if change is not None else value

    def _follow(self, value: Any) -> None:
        column = self.table.columns[self.identity] if self.identity is not None else None
        if value is None or column is None or column.identity is None or self.table.identity_next is None:
            return
        number = int(value)
        step = column.identity[1]
        if (step > 0 and number >= self.table.identity_next) or (step < 0 and number <= self.table.identity_next):
            self.table.identity_next = number + step
        self.table.identity_last = number

    def complete(self, frame: Frame, cells: list[Any], verb: str) -> Row:
        """Computed columns, NOT NULL and CHECK over a new row image."""
        row = tuple(cells)
        if self.computed:
            for ordinal, fn in self.computed:
                frame[self.slot] = tuple(cells)
                cells[ordinal] = fn(frame)
            row = tuple(cells)
        for value, column in zip(row, self.table.columns, strict=True):
            if value is None and not column.nullable:
                raise error(515, column.name, self.shown, verb)
        if self.checks:
            frame[self.slot] = row
            for name, column_name, fn in self.checks:
                if fn(frame) is False:
                    part = f", column '{column_name}'" if column_name else ""
                    raise error(547, verb, "CHECK", name, self.database_name, f"{self.table.schema}.{self.table.name}", part)
        return row

    def verify_unique(self, runtime: Runtime, database_id: int, row_id: int, row: Row) -> None:
        """Errors 2627 and 2601; waits where another session's uncommitted row decides."""
        index = self.table.duplicate(row_id, row)
        if database_id != 2:
            foreign = runtime.instance.locks.locked_rows(database_id, self.table.id, runtime.session.spid, "S")
            if foreign:
                for other in self.table.indexes:
                    if not other.unique:
                        continue
                    key = other.key(row)
                    for held, owner in foreign.items():
                        images = (self.table.rows.get(held), runtime.committed(self.table, held, owner))
                        if any(image is not None and other.key(image) == key for image in images) and held != row_id:
                            if is_memory(self.table):
                                raise error(41325)
                            kind = "KEY" if self.table.clustered else "RID"
                            raise LockNeeded(Resource(kind, database_id, self.table.id, held), "S", False, self.table)
        if index is not None:
            raise duplicate_error(self.table, index, row)

    def verify_parents(self, row: Row, verb: str) -> None:
        """FOREIGN KEY: the referenced row must exist."""
        for key, parent in self.foreign:
            values = [row[ordinal] for ordinal in key.columns]
            if any(value is None for value in values):
                continue
            ordinals = [parent.ordinal(name) for name in key.referenced_columns]
            if not exists(parent, ordinals, values):
                columns = ", ".join(key.referenced_columns)
                part = f", column '{columns}'" if len(key.referenced_columns) == 1 else ""
                raise error(547, verb, "FOREIGN KEY", key.name, self.database_name, parent.full_name, part)

    def verify_children(self, before: Row, after: Row | None, verb: str) -> list[tuple[Any, Table, list[int]]]:
        """FOREIGN KEYs that point here: rows to delete along (CASCADE), or error 547."""
        cascades: list[tuple[Any, Table, list[int]]] = []
        for key, child in self.children:
            ordinals = [self.table.ordinal(name) for name in key.referenced_columns]
            values = [before[o] for o in ordinals if o is not None]
            if after is not None and [comparable(after[o]) for o in ordinals if o is not None] == [comparable(v) for v in values]:
                continue
            found = matching(child, list(key.columns), values)
            if not found:
                continue
            if after is None and key.on_delete == "CASCADE":
                cascades.append((key, child, found))
                continue
            names = ", ".join(child.columns[o].name for o in key.columns)
            part = f", column '{names}'" if len(key.columns) == 1 else ""
            raise error(547, verb, "REFERENCE", key.name, self.database_name, child.full_name, part)
        return cascades


def duplicate_error(table: Table, index: Index, row: Row) -> TsqlError:
    """2627 for a constraint, 2601 for an index, with the key's values; ``ignored`` where INSERT leaves such rows out."""
    values = ", ".join("<NULL>" if row[o] is None else _shown(row[o]) for o in index.columns)
    if index.constraint:
        problem = error(2627, "PRIMARY KEY" if index.primary_key else "UNIQUE KEY", index.name, table.full_name, f"({values})")
    else:
        problem = error(2601, table.full_name, index.name, f"({values})")
    problem.ignored = index.options.get("IGNORE_DUP_KEY") == "ON"
    return problem


def _shown(value: Any) -> str:
    from aglab.tsql.writers import variant_text

    return variant_text(value).rstrip(" ")


def matching(table: Table, ordinals: list[Any], values: list[Any]) -> list[int]:
    """Row ids whose columns have the values; through an index when one begins with these columns."""
    wanted = dict(zip(ordinals, [comparable(value) for value in values], strict=True))
    for index in table.indexes:
        if set(index.columns[: len(ordinals)]) == set(ordinals):
            return list(index.prefix(tuple(wanted[o] for o in index.columns[: len(ordinals)])))
    return [row_id for row_id, row in table.rows.items() if all(comparable(row[o]) == v for o, v in wanted.items())]


def exists(table: Table, ordinals: list[Any], values: list[Any]) -> bool:
    """Whether such a row is there."""
    return bool(matching(table, ordinals, values))


def make_writer(context: CompileContext, table: Table, database: Database | None, private: bool) -> TableWriter:
    """Compile defaults, computed columns and checks of a table."""
    planner = Planner(context)
    slot = context.slot()
    columns = [OutColumn(c.name, c.type, c.nullable, c.case_sensitive) for c in table.columns]
    scope = Scope(sources=[Bound(table.name, (table.schema, table.name), columns, slot)])
    compiler = ExpressionCompiler(context, scope, planner)
    plain = ExpressionCompiler(context, Scope(), planner)
    shown = f"{'tempdb' if private else database.name if database else ''}.{table.schema}.{table.name}"
    defaults: list[Any] = []
    for column in table.columns:
        if column.default is None:
            defaults.append(None)
            continue
        expr = plain.value(column.default)
        change = assigner(expr.type, table, column, shown)
        defaults.append(then(expr.fn, change))
    computed = []
    for ordinal, column in enumerate(table.columns):
        if column.computed is not None:
            computed.append((ordinal, compiler.convert(compiler.value(column.computed), column.type, explicit=True).fn))
    checks = [(c.name, c.column, compiler.condition(c.condition).fn) for c in table.checks if c.enabled]
    identity = next((i for i, column in enumerate(table.columns) if column.identity), None)
    foreign, children = [], []
    if database is not None:
        for key in table.foreign_keys:
            schema, _, name = key.referenced.partition(".")
            parent = database.find(schema, name)
            if isinstance(parent, Table) and key.enabled:
                foreign.append((key, parent))
        for other in database.tables():
            for key in other.foreign_keys:
                if key.enabled and key.referenced.lower() == table.full_name.lower():
                    children.append((key, other))
    return TableWriter(table, database, shown, defaults, computed, checks, slot, identity, foreign, children)


_ = Message
