"""ALTER TABLE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aglab.tsql import ast_statements as st
from aglab.tsql.convert import converter
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.constraints import ConstraintMixin
from aglab.tsql.execute.definitions import add_constraint, computed_type, make_column
from aglab.tsql.execute.placement import settle_index
from aglab.tsql.execute.switching import SwitchMixin
from aglab.tsql.execute.targets import Target
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import Scope
from aglab.tsql.store.database import Database, TableDefinition
from aglab.tsql.store.partitions import Placement
from aglab.tsql.store.table import Table
from aglab.tsql.transactions import Entry


class AlterTableMixin(SwitchMixin, ConstraintMixin):
    """ALTER TABLE."""

    if TYPE_CHECKING:

        def _log_schema(self, database: Database, change: SchemaChange, undo: Callable[[], None]) -> None: ...
        def _check_ddl(self, database: Database, what: str = "ALTER") -> None: ...
        def _bump(self, database: Database | None) -> None: ...
        def place(self, name: tuple[str, ...], line: int) -> tuple[Database, str, str]: ...
        def _table_to_alter(self, name: tuple[str, ...], line: int, number: int = 4902) -> tuple[Table, Database | None]: ...

    def _altertable(self, s: st.AlterTable) -> Effects[Any]:
        self.session.command = "ALTER TABLE"
        yield from self.in_transaction(lambda: self._alter_table(s))
        yield Done(None, "", self.in_procedure)
        return None

    def _alter_table(self, s: st.AlterTable) -> Effects[None]:
        if s.action == "SWITCH":
            yield from self.switch_partition(s)
            return
        table, database = self._table_to_alter(s.name, s.line)
        if database is not None:
            yield from self.acquire(Resource("OBJECT", database.id, table.id), "Sch-M")
        before = TableDefinition(table).clone()
        action = {
            "ADD": self._add,
            "DROP COLUMN": self._drop_columns,
            "DROP CONSTRAINT": self._drop_constraints,
            "ALTER COLUMN": self._alter_column,
            "CHECK": lambda table, s: self.switched(table, database, s),
            "NOCHECK": lambda table, s: self.switched(table, database, s),
            "REBUILD": self._rebuild_table,
        }[s.action]
        try:
            action(table, s)
            if s.action == "ADD":
                self._fill_computed(table, database, s)
                self.added(table, database, before, s)
            if database is not None:
                self._settle_new(database, table, s)
        except BaseException:
            self._restore(table, before)
            raise
        table.modified = self.runtime.now()

        def undo() -> None:
            self._restore(table, before)
            self._bump(database)

        self._bump(database)
        if database is not None:
            self._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)
        elif self.session.transaction is not None:
            self.session.transaction.add(Entry("tempdb", None, 0, None, None, None, undo))

    @staticmethod
    def _settle_new(database: Database, table: Table, s: st.AlterTable) -> None:
        """Place the indexes that ADD made; a clustered key without ON is checked against where the rows lie."""
        for index in table.indexes:
            new = "ON" in index.options or (index.placement is None and not index.clustered)
            if new or (index.clustered and s.action == "ADD"):
                settle_index(database, table, index, s.line)

    @staticmethod
    def _restore(table: Table, before: Table) -> None:
        table.columns, table.indexes, table.options = before.columns, before.indexes, before.options
        table.checks, table.foreign_keys = before.checks, before.foreign_keys
        table.rows, table._ordered, table._last_key = before.rows, False, None
        table.placement, table.counts = before.placement, {}

    def _add(self, table: Table, s: st.AlterTable) -> None:
        for spec in s.columns:
            if table.ordinal(spec.name) is not None:
                raise error(2705, spec.name, table.name, line=s.line)
            column = make_column(self.runtime, spec, table.name)
            if (
                not column.nullable
                and column.default is None
                and column.identity is None
                and column.computed is None
                and table.rows
            ):
                raise error(4901, spec.name, table.name, line=s.line)
            table.columns.append(column)
            context = self.context()
            fn: Callable[[Any], Any] = lambda frame: None  # noqa: E731
            if column.default is not None and (spec.with_values or not column.nullable):
                compiler = ExpressionCompiler(context, Scope(), Planner(context))
                fn = compiler.converted(column.default, column.type).fn
            if column.computed is not None:
                column.type = computed_type(self.runtime, table, spec)
            frame = context.frame(self.runtime)
            if column.identity is not None:
                table.identity_next = column.identity[0]
            rows = {
                rid: (*row, table.take_identity() if column.identity is not None else fn(frame))
                for rid, row in table.rows.items()
            }
            table.replace_rows(rows)
        for constraint in s.constraints:
            add_constraint(self.runtime, table, constraint)

    def _fill_computed(self, table: Table, database: Database | None, s: st.AlterTable) -> None:
        """What ADD made of computed columns, over the rows that are there."""
        if not table.rows or all(spec.computed is None for spec in s.columns):
            return
        context = self.context()
        writer = self.writer(context, Target(table, database))
        frame = context.frame(self.runtime)
        table.replace_rows({rid: writer.complete(frame, list(row), "ALTER TABLE") for rid, row in table.rows.items()})

    def _drop_columns(self, table: Table, s: st.AlterTable) -> None:
        for name in s.names:
            ordinal = table.ordinal(name)
            if ordinal is None:
                if s.if_exists:
                    continue
                raise error(4924, "DROP COLUMN", name, table.name, line=s.line)
            for index in table.indexes:
                if ordinal in index.columns:
                    kind = "object" if index.constraint else "index"
                    problem = error(5074, kind, index.name, "column", name, line=s.line)
                    problem.followed_by = error(4922, "ALTER TABLE DROP COLUMN", name, line=s.line)  # type: ignore[attr-defined]
                    raise problem
            if any(placement is not None and placement.column == ordinal for placement in _placements(table)):
                raise error(5074, "index", table.name, "column", name, line=s.line)
            if table.columns[ordinal].default is not None:
                raise error(5074, "object", table.columns[ordinal].default_name, "column", name, line=s.line)
            del table.columns[ordinal]
            for index in table.indexes:
                index.columns = tuple(c - (c > ordinal) for c in index.columns)
                index.included = tuple(c - (c > ordinal) for c in index.included if c != ordinal)
                index.placement = _shifted(index.placement, ordinal)
            table.placement = _shifted(table.placement, ordinal)
            table.foreign_keys = [
                replace(key, columns=tuple(c - (c > ordinal) for c in key.columns)) for key in table.foreign_keys
            ]
            table.replace_rows({rid: row[:ordinal] + row[ordinal + 1 :] for rid, row in table.rows.items()})

    def _drop_constraints(self, table: Table, s: st.AlterTable) -> None:
        for name in s.names:
            lowered = name.lower()
            index = next((i for i in table.indexes if i.name.lower() == lowered and i.constraint), None)
            if index is not None:
                for other in self.runtime.database.tables():
                    for key in other.foreign_keys:
                        if key.referenced.lower() == table.full_name.lower():
                            raise error(3725, name, other.name, key.name, line=s.line)
                table.indexes.remove(index)
                continue
            checks = [c for c in table.checks if c.name.lower() != lowered]
            keys = [k for k in table.foreign_keys if k.name.lower() != lowered]
            column = next((c for c in table.columns if c.default_name and c.default_name.lower() == lowered), None)
            if column is not None:
                column.default, column.default_text, column.default_name = None, "", ""
            elif len(checks) < len(table.checks) or len(keys) < len(table.foreign_keys):
                table.checks, table.foreign_keys = checks, keys
            elif not s.if_exists:
                raise error(3728, name, line=s.line)

    def _alter_column(self, table: Table, s: st.AlterTable) -> None:
        spec = s.columns[0]
        ordinal = table.ordinal(spec.name)
        if ordinal is None:
            raise error(4924, "ALTER COLUMN", spec.name, table.name, line=s.line)
        old = table.columns[ordinal]
        sql_type = spec.type or old.type
        change = converter(old.type, sql_type, None, False)
        nullable = spec.nullable if spec.nullable is not None else True
        if any(ordinal in index.columns and index.primary_key for index in table.indexes):
            nullable = False
        rows = {}
        for rid, row in table.rows.items():
            value = row[ordinal]
            if value is None and not nullable:
                raise error(515, old.name, f"{self.runtime.database.name}.{table.full_name}", "UPDATE", line=s.line)
            if isinstance(value, str) and sql_type.length > 0 and len(value.rstrip(" ")) > sql_type.length:
                raise error(
                    2628, f"{self.runtime.database.name}.{table.full_name}", old.name, value[: sql_type.length], line=s.line
                )
            rows[rid] = (*row[:ordinal], value if value is None or change is None else change(value), *row[ordinal + 1 :])
        old.type, old.nullable = sql_type, nullable
        if spec.collation:
            old.collation = spec.collation
        table.replace_rows(rows)

    @staticmethod
    def _rebuild_table(table: Table, s: st.AlterTable) -> None:
        """What REBUILD says of storage goes to the rows: the clustered index, or the heap."""
        kept = {name: value for name, value in s.options.items() if name in ("DATA_COMPRESSION", "FILLFACTOR", "PAD_INDEX")}
        (table.clustered.options if table.clustered is not None else table.options).update(kept)


def _placements(table: Table) -> list[Placement | None]:
    return [table.placement, *(index.placement for index in table.indexes)]


def _shifted(placement: Placement | None, gone: int) -> Placement | None:
    """A placement after column ``gone`` went away."""
    if placement is None or placement.column <= gone:
        return placement
    return replace(placement, column=placement.column - 1)
