"""sp_cursor: change, lock or read again rows of a driver's cursor that its fetch buffer holds.

Source: "sp_cursor (Transact-SQL)" (SQL Server documentation). Values come as parameters named after columns, or as text: a whole
UPDATE or INSERT, or pieces of one.
"""

from __future__ import annotations

from typing import Any

from aglab.tsql.execute.calls import Argument
from aglab.tsql.execute.cursor_model import Cursor
from aglab.tsql.execute.cursors import API_NAME
from aglab.tsql.functions.names import split_name
from aglab.tsql.messages import error
from aglab.tsql.procedures.api_cursors import _cursor, _needs, _value
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.runtime import Variables

UPDATE, DELETE, INSERT, REFRESH, LOCK, SETPOSITION, ABSOLUTE = 1, 2, 4, 8, 0x10, 0x20, 0x40


def _quoted(name: str) -> str:
    return "[" + name.replace("]", "]]") + "]"


@procedure("sp_cursor")
def sp_cursor(executor: Any, arguments: Any) -> Any:
    """cursor, optype, rownum, table, values"""
    items = arguments.items
    cursor = _cursor(executor, items, "sp_cursor")
    _needs(items, "sp_cursor", 3)
    kind, row = _value(items, 1), _value(items, 2)
    if kind & ABSOLUTE and not kind & (UPDATE | DELETE):
        raise error(16904)
    operation = kind & ~(SETPOSITION | ABSOLUTE)
    if operation not in (0, UPDATE, DELETE, INSERT, REFRESH, LOCK) or not kind:
        raise error(16902, "sp_cursor", "optype")
    values = items[4:]
    number = _table(cursor, str(items[3].value or "") if len(items) > 3 else None) if operation in (UPDATE, DELETE, INSERT) else 0
    if operation == INSERT:
        yield from _run(executor, _insert(cursor, number, values), values)
        return 0
    if operation and not cursor.buffer:
        raise error(16931)
    if operation and not 0 <= row <= len(cursor.buffer):
        raise error(16930)
    place = cursor.place
    for position in range(1, len(cursor.buffer) + 1) if operation and row == 0 else [row]:
        cursor.place = position if 1 <= position <= len(cursor.buffer) else 1
        if operation == UPDATE:
            yield from _run(executor, _update(cursor, number, values), values)
        elif operation == DELETE:
            text = f"DELETE FROM {_full(cursor, number)} WHERE CURRENT OF {_own(cursor)}"
            yield from _run(executor, text, [])
    if operation == REFRESH:
        yield from cursor.fetch(executor, "REFRESH")
    elif operation == LOCK:
        yield from _lock(executor, cursor, row)
    if not kind & SETPOSITION and operation != REFRESH:
        cursor.place = place
    return 0


def _own(cursor: Cursor) -> str:
    return _quoted(f"{API_NAME}{cursor.handle}")


def _full(cursor: Cursor, number: int) -> str:
    return ".".join(map(_quoted, cursor.names[number]))


def _table(cursor: Cursor, name: str | None) -> int:
    """The number of the table that is meant; the first without a name. Errors 16929, 16933."""
    if cursor.keyset is None:
        raise error(16929)
    if not name:
        return 0
    last = split_name(name)[-1].lower()
    found = next((n for n, parts in enumerate(cursor.names) if parts[-1].lower() == last), None)
    if found is None:
        raise error(16933)
    return found


def _column(cursor: Cursor, number: int, parameter: str) -> str:
    """The table's column for a parameter that is named after a column of the select list."""
    assert cursor.keyset is not None
    name = parameter.removeprefix("@")
    for column, origin in zip(cursor.columns, cursor.keyset.origins, strict=True):
        if origin is not None and origin[0] == number and column.name.lower() == name.lower():
            return _quoted(cursor.keyset.bounds[number].columns[origin[1]].name)
    return _quoted(name)


def _texts(values: list[Argument]) -> list[str] | None:
    """The pieces of a statement where the values are text without names."""
    if any(value.name for value in values) or not all(isinstance(value.value, str) for value in values):
        return None
    return [str(value.value).strip() for value in values]


def _update(cursor: Cursor, number: int, values: list[Argument]) -> str:
    if not values:
        raise error(16935, "update")
    pieces = _texts(values)
    if pieces is None:
        if not all(value.name for value in values):
            raise error(16936)
        sets = ", ".join(f"{_column(cursor, number, value.name)} = @p{n}" for n, value in enumerate(values))
        text = f"UPDATE {_full(cursor, number)} SET {sets}"
    else:
        text = ", ".join(pieces)
        word = text.split(None, 1)[0].upper() if text else ""
        if word != "UPDATE":
            text = f"UPDATE {_full(cursor, number)} " + (text if word == "SET" else f"SET {text}")
    return f"{text} WHERE CURRENT OF {_own(cursor)}"


def _insert(cursor: Cursor, number: int, values: list[Argument]) -> str:
    if not values:
        raise error(16935, "insert")
    pieces = _texts(values)
    if pieces is None:
        if not all(value.name for value in values):
            raise error(16936)
        names = ", ".join(_column(cursor, number, value.name) for value in values)
        return f"INSERT INTO {_full(cursor, number)} ({names}) VALUES ({', '.join(f'@p{n}' for n in range(len(values)))})"
    text = ", ".join(pieces)
    word = text.split("(", 1)[0].split(None, 1)[0].upper() if text.split("(", 1)[0].strip() else ""
    if word == "INSERT":
        return text
    return f"INSERT INTO {_full(cursor, number)} " + (text if word == "VALUES" else f"VALUES {text}")


def _run(executor: Any, text: str, values: list[Argument]) -> Any:
    variables = Variables()
    for n, value in enumerate(values):
        if value.name and value.type is not None:
            variables.types[f"@p{n}"], variables.values[f"@p{n}"] = value.type, value.value
    yield from executor.run_text(text, variables)


def _lock(executor: Any, cursor: Cursor, row: int) -> Any:
    if cursor.keyset is None:
        raise error(16929)
    tables = cursor.keyset.tables(cursor._frame(executor))
    for one in cursor.buffer if row == 0 else cursor.buffer[row - 1 : row]:
        for scan, table, row_id in zip(cursor.keyset.scans, tables, one.key, strict=True):
            if scan.shared and row_id:
                yield from executor.lock_row(table, row_id, "U")
