"""sp_cursor_list, sp_describe_cursor, _columns and _tables: reports on T-SQL cursors, as cursors.

Source: their pages (SQL Server documentation). The report is handed out through a cursor variable, so FETCH reads it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aglab.tsql import ast
from aglab.tsql.catalog.registry import sql_type
from aglab.tsql.execute.cursor_model import Cursor
from aglab.tsql.execute.cursors import HANDLES
from aglab.tsql.messages import error
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn

MODELS = {"STATIC": 1, "KEYSET": 2, "DYNAMIC": 3, "FAST_FORWARD": 4}
CONCURRENCY = {"READ_ONLY": 1, "SCROLL_LOCKS": 2, "OPTIMISTIC": 3}


def _out(text: str) -> list[OutColumn]:
    """Columns from ``name type, name type``."""
    fields = [part.split() for part in text.replace("\n", " ").split(",")]
    return [OutColumn(name, sql_type(kind)) for name, kind in fields]


CURSOR_COLUMNS = _out(
    """reference_name sysname, cursor_name sysname, cursor_scope tinyint, status int, model tinyint, concurrency tinyint,
    scrollable tinyint, open_status tinyint, cursor_rows decimal(10), fetch_status smallint, column_count smallint,
    row_count decimal(10), last_operation tinyint, cursor_handle int"""
)
COLUMN_COLUMNS = _out(
    """column_name sysname, ordinal_position int, column_characteristics_flags int, column_size int, data_type_sql smallint,
    column_precision tinyint, column_scale tinyint, order_position int, order_direction varchar(1), hidden_column smallint,
    columnid int, objectid int, dbid int, dbname sysname"""
)
TABLE_COLUMNS = _out(
    """table_owner sysname, table_name sysname, optimizer_hint smallint, lock_type smallint, server_name sysname, objectid int,
    dbid int, dbname sysname"""
)


def _names(executor: Any) -> list[tuple[str, str, Cursor]]:
    """(source, name, cursor) of everything that the calling scope can name."""
    caller = executor.runtime.caller
    known = [("local", name, cursor) for name, cursor in caller.cursors.items()]
    known += [("global", name, cursor) for name, cursor in executor.session.cursors.items()]
    return known + [("variable", name, cursor) for name, cursor in caller.cursor_variables.items() if cursor is not None]


def _row(source: str, name: str, cursor: Cursor) -> tuple[Any, ...]:
    shown = name if source == "variable" else cursor.name
    return (
        shown,
        cursor.name or shown,
        2 if cursor.is_global else 1,
        cursor.status,
        MODELS[cursor.kind],
        CONCURRENCY[cursor.concurrency],
        int(cursor.scrollable),
        int(cursor.is_open),
        Decimal(cursor.rows),
        cursor.fetch_status,
        len(cursor.columns),
        Decimal(cursor.row_count),
        cursor.last_operation,
        cursor.handle,
    )


def _report(executor: Any, arguments: Any, columns: list[OutColumn], rows: list[tuple[Any, ...]]) -> int:
    target = arguments.find("@cursor_return", 0)
    if target is None:
        raise error(201, arguments.procedure, "@cursor_return")
    if not target.holds_cursor:
        raise error(16948, target.variable or "@cursor_return")
    handle = next(HANDLES)
    cursor = Cursor(handle, "", ast.Values(1), scrollable=True, is_global=False, created=executor.runtime.now())
    target.cursor = executor.keep(cursor.give(columns, rows))
    return 0


def _described(executor: Any, arguments: Any) -> tuple[str, str, Cursor]:
    """The cursor that @cursor_source and @cursor_identity name. Errors 16902, 16916."""
    source = str(arguments.required("@cursor_source", 1) or "").lower()
    name = str(arguments.required("@cursor_identity", 2) or "")
    if source not in ("local", "global", "variable"):
        raise error(16902, arguments.procedure, "cursor_source")
    for where, known, cursor in _names(executor):
        if where == source and known == name.lower():
            return where, name, cursor
    raise error(16916, name)


@procedure("sp_cursor_list")
def sp_cursor_list(executor: Any, arguments: Any) -> Any:
    """@cursor_return OUTPUT, @cursor_scope: 1 local, 2 global, 3 both"""
    scope = int(arguments.required("@cursor_scope", 1) or 0)
    if scope not in (1, 2, 3):
        raise error(16902, "sp_cursor_list", "cursor_scope")
    rows = [_row(*one) for one in _names(executor) if scope & (2 if one[2].is_global else 1)]
    return _report(executor, arguments, CURSOR_COLUMNS, rows)
    yield


@procedure("sp_describe_cursor")
def sp_describe_cursor(executor: Any, arguments: Any) -> Any:
    """@cursor_return OUTPUT, @cursor_source, @cursor_identity"""
    return _report(executor, arguments, CURSOR_COLUMNS, [_row(*_described(executor, arguments))])
    yield


@procedure("sp_describe_cursor_columns")
def sp_describe_cursor_columns(executor: Any, arguments: Any) -> Any:
    """@cursor_return OUTPUT, @cursor_source, @cursor_identity: one row for each column"""
    _, _, cursor = _described(executor, arguments)
    keyset = cursor.keyset
    tables = keyset.tables(cursor._frame(executor)) if keyset is not None else []
    ordered = [origin for origin, _ in keyset.order] if keyset is not None else []
    rows = []
    for position, column in enumerate(cursor.columns):
        origin = keyset.origins[position] if keyset is not None else None
        database = executor.runtime.instance.database(cursor.names[origin[0]][0]) if origin is not None else None
        place = ordered.index(origin) if origin is not None and origin in ordered else -1
        rows.append(
            (
                column.name or None,
                position,
                (2 if column.nullable else 0) | (4 if origin is not None else 0),
                column.type.length,
                0,
                column.type.precision,
                column.type.scale,
                place + 1,
                None if place < 0 else "D" if keyset is not None and keyset.order[place][1] else "A",
                0,
                -1 if origin is None else origin[1] + 1,
                -1 if origin is None else tables[origin[0]].id,
                -1 if database is None else database.id,
                None if database is None else database.name,
            )
        )
    return _report(executor, arguments, COLUMN_COLUMNS, rows)
    yield


@procedure("sp_describe_cursor_tables")
def sp_describe_cursor_tables(executor: Any, arguments: Any) -> Any:
    """@cursor_return OUTPUT, @cursor_source, @cursor_identity: one row for each base table"""
    _, _, cursor = _described(executor, arguments)
    rows = []
    tables = cursor.keyset.tables(cursor._frame(executor)) if cursor.keyset is not None else []
    for table, name in zip(tables, cursor.names, strict=False):
        database = executor.runtime.instance.database(name[0] if len(name) > 2 else "tempdb")
        number = database.id if database is not None else 2
        rows.append((table.schema, table.name, 0, 0, executor.runtime.instance.name, table.id, number, name[0]))
    return _report(executor, arguments, TABLE_COLUMNS, rows)
    yield
