"""Tables, columns and constraints from their declarations."""

from __future__ import annotations

import zlib

from aglab.core.sqltypes import SqlType
from aglab.tsql import ast_statements as st
from aglab.tsql.column_permissions import refused_columns
from aglab.tsql.execute.base import Effects
from aglab.tsql.execute.dml import DmlMixin
from aglab.tsql.execute.targets import Target
from aglab.tsql.messages import error
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.planner import Planner
from aglab.tsql.query.scope import Bound, CompileContext, OutColumn, Scope
from aglab.tsql.runtime import Runtime
from aglab.tsql.store.table import CheckConstraint, ColumnDef, ForeignKey, Index, Table

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
        spec.user_type,
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
            table.columns[ordinal].type = computed_type(runtime, table, spec)
    for constraint in constraints:
        add_constraint(runtime, table, constraint)
    return table


def computed_type(runtime: Runtime, table: Table, spec: st.ColumnSpec) -> SqlType:
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
    if parent is not table and not runtime.procedure_id:
        names = [column.name for column in parent.columns]
        asked = (runtime.instance, runtime.session, runtime.database, "REFERENCES", parent.schema, parent.name)
        refused = refused_columns(*asked, names)
        for ordinal in sorted(refused):
            if ordinal in wanted:
                raise refused[ordinal]
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
