"""CREATE, ALTER, DROP of tables, indexes, schemas and modules."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql import ast_statements as st
from aglab.tsql.convert import converter
from aglab.tsql.effects import Done
from aglab.tsql.execute.base import BaseExecutor, Effects
from aglab.tsql.execute.dml import DmlMixin, Target
from aglab.tsql.host import SchemaChange
from aglab.tsql.locks import Resource
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import Bound, CompileContext, OutColumn, Scope
from aglab.tsql.runtime import Runtime
from aglab.tsql.store.database import Database, Module, TableDefinition
from aglab.tsql.store.table import CheckConstraint, ColumnDef, ForeignKey, Index, Table
from aglab.tsql.transactions import Entry

DDL_LOG_BYTES = 2000  # what a small catalogue change logs


def system_name(prefix: str, table: str, column: str = "") -> str:
    """A name as SQL Server makes one for an unnamed constraint, without its randomness."""
    tail = f"{zlib.crc32(f'{prefix}/{table}/{column}'.encode()):08X}"
    shown = "__".join(part for part in (prefix, table[:9], column[:5]) if part)
    return f"{shown}__{tail}"


def make_column(runtime: Runtime, spec: st.ColumnSpec, table_name: str) -> ColumnDef:
    """A column from its declaration. Errors 2749, 8147."""
    sql_type = spec.type or SqlType("int")
    if spec.identity is not None:
        if sql_type.name not in ("int", "bigint", "smallint", "tinyint", "decimal", "numeric") or sql_type.scale:
            raise error(2749, spec.name, line=spec.line)
        if spec.nullable:
            raise error(8147, spec.name, table_name, line=spec.line)
    nullable = spec.nullable if spec.nullable is not None else spec.identity is None
    return ColumnDef(
        spec.name,
        sql_type,
        nullable,
        spec.identity,
        spec.default,
        spec.default_text,
        spec.default_name or (system_name("DF", table_name, spec.name) if spec.default is not None else ""),
        spec.computed,
        spec.computed_text,
        spec.collation or runtime.database.collation,
        spec.rowguid,
    )


def build_table(
    runtime: Runtime, columns: list[st.ColumnSpec], constraints: list[st.ConstraintSpec], schema: str, name: str, object_id: int
) -> Table:
    """A table from its declaration. Errors 2705, 2744, 1911, 1779."""
    seen: set[str] = set()
    for spec in columns:
        if spec.name.lower() in seen:
            raise error(2705, spec.name, name, line=spec.line)
        seen.add(spec.name.lower())
    if sum(1 for spec in columns if spec.identity) > 1:
        raise error(2744, name, line=columns[0].line)
    table = Table(object_id, schema or "dbo", name, [make_column(runtime, spec, name) for spec in columns])
    for ordinal, spec in enumerate(columns):
        if spec.computed is not None:
            table.columns[ordinal].type = _computed_type(runtime, table, spec)
    for constraint in constraints:
        add_constraint(runtime, table, constraint)
    return table


def _computed_type(runtime: Runtime, table: Table, spec: st.ColumnSpec) -> SqlType:
    context = CompileContext(runtime.host, runtime.session, runtime.database, runtime.variables)
    columns = [OutColumn(c.name, c.type, c.nullable) for c in table.columns]
    scope = Scope(sources=[Bound(table.name, (table.name,), columns, context.slot())])
    assert spec.computed is not None
    return ExpressionCompiler(context, scope, Planner(context)).value(spec.computed).type or SqlType("int")


def add_constraint(runtime: Runtime, table: Table, spec: st.ConstraintSpec) -> None:
    """Attach a constraint or inline index to a table."""
    ordinals: list[int] = []
    for name, _ in spec.columns:
        ordinal = table.ordinal(name)
        if ordinal is None:
            raise error(1911, name, line=spec.line)
        ordinals.append(ordinal)
    names = (
        {index.name.lower() for index in table.indexes}
        | {c.name.lower() for c in table.checks}
        | {k.name.lower() for k in table.foreign_keys}
    )
    if spec.name and spec.name.lower() in names:
        raise error(2714, spec.name, line=spec.line, state=5)
    if spec.kind in ("PRIMARY KEY", "UNIQUE", "INDEX"):
        primary = spec.kind == "PRIMARY KEY"
        if primary and any(index.primary_key for index in table.indexes):
            raise error(1779, table.name, line=spec.line)
        clustered = spec.clustered if spec.clustered is not None else primary and table.clustered is None
        if clustered and table.clustered is not None:
            raise error(1902, table.name, table.clustered.name, line=spec.line)
        if primary:
            for ordinal in ordinals:
                table.columns[ordinal].nullable = False
        name = spec.name or system_name("PK" if primary else "UQ", table.name, "" if primary else spec.columns[0][0])
        index = Index(
            name,
            tuple(ordinals),
            tuple(d for _, d in spec.columns),
            spec.kind != "INDEX" or spec.unique,
            bool(clustered),
            primary,
            spec.kind != "INDEX",
            options=dict(spec.options),
        )
        table.add_index(index)
        check_index(table, index, spec.line)
    elif spec.kind == "CHECK":
        column = spec.columns[0][0] if spec.columns else ""
        table.checks.append(
            CheckConstraint(spec.name or system_name("CK", table.name, column), spec.expression, spec.text, column)
        )
    elif spec.kind == "DEFAULT":
        column_def = table.columns[ordinals[0]]
        column_def.default, column_def.default_text = spec.expression, spec.text
        column_def.default_name = spec.name or system_name("DF", table.name, column_def.name)
    else:
        _foreign_key(runtime, table, spec, ordinals)


def _foreign_key(runtime: Runtime, table: Table, spec: st.ConstraintSpec, ordinals: list[int]) -> None:
    schema = spec.referenced[-2] if len(spec.referenced) > 1 else ""
    parent = runtime.database.find(schema, spec.referenced[-1])
    name = spec.name or system_name("FK", table.name, spec.columns[0][0] if spec.columns else "")
    if spec.referenced[-1].lower() == table.name.lower():
        parent = table
    if not isinstance(parent, Table):
        raise error(1767, name, ".".join(spec.referenced), line=spec.line)
    columns = tuple(spec.referenced_columns)
    if not columns:
        key = next((index for index in parent.indexes if index.primary_key), None)
        columns = tuple(parent.columns[o].name for o in key.columns) if key else ()
    wanted = {parent.ordinal(column) for column in columns}
    if not columns or not any(index.unique and set(index.columns) == wanted for index in parent.indexes):
        raise error(1776, ".".join(spec.referenced), name, line=spec.line)
    table.foreign_keys.append(ForeignKey(name, tuple(ordinals), parent.full_name, columns, spec.on_delete, spec.on_update))


def check_index(table: Table, index: Index, line: int) -> None:
    """Error 1505 when existing rows break a unique index (which is taken off again)."""
    if not index.unique:
        return
    for ids in index.entries.values():
        if len(ids) > 1:
            row = table.rows[next(iter(ids))]
            table.indexes.remove(index)
            values = ", ".join("<NULL>" if row[o] is None else str(row[o]) for o in index.columns)
            raise error(1505, table.full_name, index.name, f"({values})", line=line)


def create_from_columns(executor: DmlMixin, name: tuple[str, ...], columns: list[OutColumn], line: int) -> Effects[Target]:
    """The table that SELECT INTO makes."""
    specs = [
        st.ColumnSpec(
            line,
            c.name,
            SqlType("nvarchar", length=128) if c.type.name == "sql_variant" else c.type,
            c.nullable,
            identity=(1, 1) if c.identity and c.type.name in ("int", "bigint", "smallint", "tinyint") else None,
        )
        for c in columns
    ]
    statement = st.CreateTable(line, name, specs, [])
    return (yield from executor.create_table(statement))  # type: ignore[attr-defined]


class DdlMixin(BaseExecutor):
    """Definitions."""

    def _log_schema(self, database: Database, change: SchemaChange, undo: Callable[[], None]) -> None:
        transaction = self.session.transaction
        assert transaction is not None
        transaction.add(Entry(database.name, None, 0, None, None, change, undo, DDL_LOG_BYTES))

    def _check_ddl(self, database: Database) -> None:
        self.runtime.host.check_access(database.name, self.session, True)
        if database.options["is_read_only"]:
            raise error(3906, database.name)

    def place(self, name: tuple[str, ...], line: int) -> tuple[Database, str, str]:
        """Database, schema and bare name of an object to create. Error 2760."""
        database = self.runtime.database
        if len(name) > 2 and name[-3]:
            found = self.runtime.instance.database(name[-3])
            if found is None:
                raise error(911, name[-3], line=line)
            database = found
        schema = name[-2] if len(name) > 1 and name[-2] else "dbo"
        known = database.schema_name(schema)
        if known is None or known.lower() in ("sys", "information_schema"):
            raise error(2760, schema, line=line)
        return database, known, name[-1]

    # --- tables -------------------------------------------------------------------------------------------------------------

    def _createtable(self, s: st.CreateTable) -> Effects[Any]:
        self.session.command = "CREATE TABLE"
        yield from self.in_transaction(lambda: self.create_table(s))
        yield Done(None, "", self.in_procedure)
        return None

    def create_table(self, s: st.CreateTable) -> Effects[Target]:
        """Create a permanent or temporary table."""
        name = s.name[-1]
        if name.startswith("##"):
            raise not_implemented("global temporary tables (##)", s.line)
        if name.startswith("#"):
            temp = self.session.temp_tables
            if name.lower() in temp:
                raise error(2714, name, line=s.line)
            tempdb = self.runtime.instance.database("tempdb")
            assert tempdb is not None
            table = build_table(self.runtime, s.columns, s.constraints, "dbo", name, -tempdb.next_object_id())
            temp[name.lower()] = table
            self.session.temp_version += 1
            owner = getattr(self, "temp_owner", None)
            if owner is not None:
                owner.append(name.lower())
            transaction = self.session.transaction
            if transaction is not None:
                transaction.add(Entry("tempdb", None, 0, None, None, None, lambda: self._forget(name.lower()), 0))
            return Target(table, None)
        database, schema, bare = self.place(s.name, s.line)
        self._check_ddl(database)
        if database.find(schema, bare) is not None:
            raise error(2714, bare, line=s.line)
        table = build_table(self.runtime, s.columns, s.constraints, schema, bare, database.next_object_id())
        table.database_id = database.id  # type: ignore[attr-defined]
        table.created = table.modified = self.runtime.now()
        table.options.update({key: value in (True, "ON") for key, value in s.options.items() if key == "MEMORY_OPTIMIZED"})
        database.put(table)
        yield from self.acquire(Resource("OBJECT", database.id, table.id), "Sch-M")
        self._log_schema(
            database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), lambda: database.drop(table)
        )
        return Target(table, database)

    def _forget(self, name: str) -> None:
        self.session.temp_tables.pop(name, None)
        self.session.temp_version += 1

    def _table_to_alter(self, name: tuple[str, ...], line: int, number: int = 4902) -> tuple[Table, Database | None]:
        if name[-1].startswith("#"):
            table = self.session.temp_tables.get(name[-1].lower())
            if table is None:
                raise error(number, name[-1], line=line)
            return table, None
        database, schema, bare = self.place(name, line)
        item = database.find(schema, bare)
        if not isinstance(item, Table):
            raise error(number, ".".join(name), line=line)
        self._check_ddl(database)
        return item, database

    def _altertable(self, s: st.AlterTable) -> Effects[Any]:
        self.session.command = "ALTER TABLE"
        yield from self.in_transaction(lambda: self._alter_table(s))
        yield Done(None, "", self.in_procedure)
        return None

    def _alter_table(self, s: st.AlterTable) -> Effects[None]:
        table, database = self._table_to_alter(s.name, s.line)
        if database is not None:
            yield from self.acquire(Resource("OBJECT", database.id, table.id), "Sch-M")
        before = TableDefinition(table).clone()
        action = {
            "ADD": self._add,
            "DROP COLUMN": self._drop_columns,
            "DROP CONSTRAINT": self._drop_constraints,
            "ALTER COLUMN": self._alter_column,
            "CHECK": self._enable,
            "NOCHECK": self._enable,
            "REBUILD": lambda table, s: None,
        }[s.action]
        try:
            action(table, s)
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

    def _bump(self, database: Database | None) -> None:
        if database is not None:
            database.version += 1
        else:
            self.session.temp_version += 1

    @staticmethod
    def _restore(table: Table, before: Table) -> None:
        table.columns, table.indexes = before.columns, before.indexes
        table.checks, table.foreign_keys = before.checks, before.foreign_keys
        table.rows, table._ordered, table._last_key = before.rows, False, None

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
            if column.default is not None and not (column.nullable and spec.nullable is not False):
                compiler = ExpressionCompiler(context, Scope(), Planner(context))
                fn = compiler.converted(column.default, column.type).fn
            if column.computed is not None:
                column.type = _computed_type(self.runtime, table, spec)
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
            if table.columns[ordinal].default is not None:
                raise error(5074, "object", table.columns[ordinal].default_name, "column", name, line=s.line)
            del table.columns[ordinal]
            for index in table.indexes:
                index.columns = tuple(c - (c > ordinal) for c in index.columns)
                index.included = tuple(c - (c > ordinal) for c in index.included if c != ordinal)
            for key in table.foreign_keys:
                key.columns = tuple(c - (c > ordinal) for c in key.columns)
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

    def _enable(self, table: Table, s: st.AlterTable) -> None:
        for check in table.checks:
            if s.names == ["ALL"] or check.name.lower() == s.names[0].lower():
                check.enabled = s.action == "CHECK"

    # --- indexes ------------------------------------------------------------------------------------------------------------

    def _createindex(self, s: st.CreateIndex) -> Effects[Any]:
        yield from self.in_transaction(lambda: self._create_index(s))
        yield Done(None, "", self.in_procedure)
        return None

    def _create_index(self, s: st.CreateIndex) -> Effects[None]:
        table, database = self._table_to_alter(s.table, s.line, 1088)
        if s.where is not None:
            raise not_implemented("filtered indexes (CREATE INDEX ... WHERE)", s.line)
        if any(index.name.lower() == s.name.lower() for index in table.indexes):
            raise error(1913, s.name, ".".join(s.table), line=s.line)
        if s.clustered and table.clustered is not None:
            raise error(1902, table.name, table.clustered.name, line=s.line)
        if database is not None:
            yield from self.acquire(Resource("OBJECT", database.id, table.id), "Sch-M")
        ordinals = []
        for name in [column for column, _ in s.columns] + s.included:
            ordinal = table.ordinal(name)
            if ordinal is None:
                raise error(1911, name, line=s.line)
            ordinals.append(ordinal)
        keys = len(s.columns)
        index = Index(
            s.name,
            tuple(ordinals[:keys]),
            tuple(d for _, d in s.columns),
            s.unique,
            s.clustered,
            included=tuple(ordinals[keys:]),
            options=dict(s.options),
        )
        table.add_index(index)
        check_index(table, index, s.line)

        def undo() -> None:
            table.indexes.remove(index)
            self._bump(database)

        self._bump(database)
        if database is not None:
            self._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)

    def _alterindex(self, s: st.AlterIndex) -> Effects[Any]:
        table, database = self._table_to_alter(s.table, s.line, 1088)
        found = [i for i in table.indexes if s.name == "ALL" or i.name.lower() == s.name.lower()]
        if not found and s.name != "ALL":
            raise error(2727, s.name, line=s.line)
        if s.action in ("PAUSE", "RESUME", "ABORT"):
            raise not_implemented(f"ALTER INDEX ... {s.action}", s.line)
        from aglab.tsql.host import Command

        if database is not None and s.action in ("REBUILD", "REORGANIZE"):
            command = Command(
                "ALTER INDEX",
                database.name,
                {"ACTION": s.action, "TABLE": table.full_name, "INDEX": s.name, "PAGES": table.size_pages(), **s.options},
            )
            effects = self.runtime.host.administer(command, self.session)
            if effects is not None:
                yield from effects
        for index in found:
            if s.action == "DISABLE":
                index.options["DISABLED"] = True
            elif s.action == "REBUILD":
                index.options.pop("DISABLED", None)
            elif s.action == "SET":
                index.options.update(s.options)
        self._bump(database)
        yield Done(None, "", self.in_procedure)
        return None

    # --- modules and schemas ------------------------------------------------------------------------------------------------

    def _createschema(self, s: st.CreateSchema) -> Effects[Any]:
        database = self.runtime.database
        if database.schema_name(s.name) is not None:
            raise error(2714, s.name, line=s.line)

        def work() -> Effects[None]:
            self._check_ddl(database)
            number = max([*database.schemas.values(), 4]) + 1
            database.schemas[s.name] = number
            database.version += 1

            def undo() -> None:
                database.schemas.pop(s.name, None)

            self._log_schema(database, SchemaChange("put", "schema", s.name, number), undo)
            return None
            yield

        yield from self.in_transaction(work)
        yield Done(None, "", self.in_procedure)
        return None

    def _createmodule(self, s: st.CreateModule) -> Effects[Any]:
        if len(s.name) > 2:
            raise error(166, f"CREATE/ALTER {s.kind}", line=s.line)
        database, schema, bare = self.place(s.name, s.line)
        existing = database.find(schema, bare)
        if existing is not None and (s.action == "CREATE" or not isinstance(existing, Module) or existing.kind != s.kind.lower()):
            raise error(2714, bare, line=s.line, state=3)
        if existing is None and s.action == "ALTER":
            raise error(208, ".".join(s.name), line=s.line, state=6)
        number = existing.object_id if isinstance(existing, Module) else database.next_object_id()
        module = Module(number, schema, bare, s.kind.lower(), s.text, s, database.name, self.runtime.now())

        def work() -> Effects[None]:
            self._check_ddl(database)
            if s.kind == "VIEW":
                self._check_view(database, s)
            database.put(module)

            def undo() -> None:
                if existing is not None:
                    database.put(existing)
                else:
                    database.drop(module)

            self._log_schema(database, SchemaChange("put", s.kind.lower(), module.full_name, module), undo)
            return None
            yield

        yield from self.in_transaction(work)
        yield Done(None, "", self.in_procedure)
        return None

    def _check_view(self, database: Database, s: st.CreateModule) -> None:
        from aglab.tsql.query.planner import named_columns

        context = self.context()
        context.database = database
        assert s.returns_query is not None
        plan = Planner(context).query(s.returns_query, None)
        named_columns(plan.columns, s.columns, s.name[-1], s.line)

    # --- DROP ---------------------------------------------------------------------------------------------------------------

    def _drop(self, s: st.Drop) -> Effects[Any]:
        for name in s.names:
            if s.kind in ("TABLE", "VIEW", "PROCEDURE", "FUNCTION"):
                yield from self.in_transaction(partial(self._drop_object, s, name))
            elif s.kind == "INDEX":
                yield from self.in_transaction(partial(self._drop_index, s, name))
            elif s.kind == "SCHEMA":
                yield from self.in_transaction(partial(self._drop_schema, s, name))
            elif s.kind == "DATABASE":
                yield from self.drop_database(s, name[-1])  # type: ignore[attr-defined]
            else:
                raise not_implemented(f"DROP {s.kind}", s.line)
        yield Done(None, "", self.in_procedure)
        return None

    def _drop_object(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        kind = s.kind.lower()
        bare = name[-1]
        if bare.startswith("#") and kind == "table":
            table = self.session.temp_tables.get(bare.lower())
            if table is None:
                if s.if_exists:
                    return
                raise error(3701, "drop", "table", bare, line=s.line)
            temp = self.session.temp_tables
            self._forget(bare.lower())
            if self.session.transaction is not None:
                self.session.transaction.add(
                    Entry("tempdb", None, 0, None, None, None, lambda: temp.__setitem__(bare.lower(), table))
                )
            return
        database = self.runtime.database
        if len(name) > 2 and name[-3]:
            database = self.runtime.instance.database(name[-3]) or database
        item = database.find(name[-2] if len(name) > 1 else "", bare)
        actual = "table" if isinstance(item, Table) else item.kind if item is not None else ""
        if item is None:
            if s.if_exists:
                return
            raise error(3701, "drop", kind, ".".join(name), line=s.line)
        if actual != kind:
            raise error(3705, s.kind, ".".join(name), actual, actual.upper(), line=s.line)
        self._check_ddl(database)
        if isinstance(item, Table):
            for other in database.tables():
                if other is not item and any(key.referenced.lower() == item.full_name.lower() for key in other.foreign_keys):
                    raise error(3726, ".".join(name), line=s.line)
            yield from self.acquire(Resource("OBJECT", database.id, item.id), "Sch-M")
        database.drop(item)
        self._log_schema(database, SchemaChange("drop", actual, item.full_name), lambda: database.put(item))

    def _drop_index(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        target = s.on or name[:-1]
        if not target:
            raise error(159, line=s.line)
        try:
            table, database = self._table_to_alter(target, s.line, 3701)
        except IndexError:
            raise error(3701, "drop", "index", ".".join((*target, name[-1])), line=s.line) from None
        index = next((i for i in table.indexes if i.name.lower() == name[-1].lower()), None)
        if index is None:
            if s.if_exists:
                return
            raise error(3701, "drop", "index", ".".join((*target, name[-1])), line=s.line)
        if index.constraint:
            raise error(
                3723, f"{'.'.join(target)}.{index.name}", "PRIMARY KEY" if index.primary_key else "UNIQUE KEY", line=s.line
            )
        table.indexes.remove(index)
        self._bump(database)

        def undo() -> None:
            table.add_index(index)
            self._bump(database)

        if database is not None:
            self._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)
        return
        yield

    def _drop_schema(self, s: st.Drop, name: tuple[str, ...]) -> Effects[None]:
        database = self.runtime.database
        known = database.schema_name(name[-1])
        if known is None:
            if s.if_exists:
                return
            raise error(15151, "drop", "schema", name[-1], line=s.line)
        for item in database.objects.values():
            if item.schema.lower() == known.lower():
                raise error(3729, known, item.name, line=s.line)
        number = database.schemas.pop(known)
        database.version += 1
        self._log_schema(database, SchemaChange("drop", "schema", known), lambda: database.schemas.__setitem__(known, number))
        return
        yield
