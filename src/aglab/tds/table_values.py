"""Table-valued parameters (MS-TDS 2.2.5.5.5): TVP_TYPE_INFO, then rows until the end token.

All values of all such parameters of a message count against one limit; what does not fit refuses the request.
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import Column, TableValue
from aglab.tds.cursor import Cursor
from aglab.tds.decode import TypeReader, read_type
from aglab.tds.errors import RequestRefused

TVP_TYPE = 0xF3
NO_COLUMNS = 0xFFFF
COLUMNS_MAX = 1024  # of a table type ("Table-valued parameters": as of a table)
END, ROW, ORDER_UNIQUE, COLUMN_ORDERING = 0x00, 0x01, 0x10, 0x11
TAKES_DEFAULT = 0x0200
BAD_TOKEN, BAD_DATABASE, BAD_COUNT, BAD_ORDER = 8029, 8047, 8050, 8055
UNEXPECTED = "unexpected token encountered processing a table-valued parameter"


def bad_table(name: str, row: int, what: str, number: int) -> RequestRefused:
    """Errors 8029 to 8055 ("Database engine events and errors, 8000 to 8999"): which parameter, which row, and what of it."""
    return RequestRefused(
        "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect. Table-valued parameter "
        f"{name}, row {row}, column 0: Data type 0xF3 (user-defined table type) {what}.",
        number,
    )


class Budget:
    """How many values the table-valued parameters of one message may still hold."""

    def __init__(self, values: int) -> None:
        self.most = self.left = values

    def take(self, count: int) -> None:
        """Use some of it; RequestRefused where there is not enough."""
        self.left -= max(count, 1)
        if self.left < 0:
            raise RequestRefused(f"Table-valued parameters of more than {self.most} values in a message.")


def read_table_value(cursor: Cursor, name: str, budget: Budget) -> TableValue:
    """What follows the type byte of a table-valued parameter."""
    database, schema, bare = cursor.b_varchar(), cursor.b_varchar(), cursor.b_varchar()
    if database:
        text = (
            "has a non-zero length database name specified. Database name is not allowed with a table-valued parameter, only "
            "schema name and type name are valid"
        )
        raise bad_table(name, 0, text, BAD_DATABASE)
    type_name = f"{schema}.{bare}" if schema and bare else bare
    count = cursor.u16()
    columns: list[tuple[Column, TypeReader, bool]] = []
    if count != NO_COLUMNS:
        if not 0 < count <= COLUMNS_MAX:
            raise bad_table(name, 0, "has an invalid column count specified", BAD_COUNT)
        columns = [_column(cursor) for _ in range(count)]
    places = _places(cursor, name, len(columns))
    rows: list[tuple[Any, ...]] = []
    while (token := cursor.u8()) != END:
        if token != ROW:
            raise bad_table(name, len(rows) + 1, UNEXPECTED, BAD_TOKEN)
        budget.take(len(columns))
        row: list[Any] = [None] * len(columns)
        for place in places:
            _, reader, is_default = columns[place]
            if not is_default:
                row[place] = reader.read(cursor)
        rows.append(tuple(row))
    defaults = frozenset(place for place, (_, _, is_default) in enumerate(columns) if is_default)
    return TableValue(type_name, tuple(column for column, _, _ in columns), tuple(rows), defaults)


def _column(cursor: Cursor) -> tuple[Column, TypeReader, bool]:
    cursor.u32()
    flags = cursor.u16()
    declared = read_type(cursor)
    return Column(cursor.b_varchar(), declared.type, nullable=bool(flags & 1)), declared, bool(flags & TAKES_DEFAULT)


def _places(cursor: Cursor, name: str, count: int) -> list[int]:
    """The order in which a row carries its columns; what the client says of keys and sorting is read over."""
    places = list(range(count))
    while (token := cursor.u8()) != END:
        if token == ORDER_UNIQUE:
            for _ in range(cursor.u16()):
                cursor.take(3)
        elif token == COLUMN_ORDERING:
            places = [cursor.u16() - 1 for _ in range(cursor.u16())]
            if sorted(places) != list(range(count)):
                raise bad_table(name, 0, "has invalid column ordering metadata specified", BAD_ORDER)
        else:
            raise bad_table(name, 0, UNEXPECTED, BAD_TOKEN)
    return places
