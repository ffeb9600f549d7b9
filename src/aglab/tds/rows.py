"""Result sets on the wire: COLMETADATA (MS-TDS 2.2.7.4) and ROW/NBCROW (2.2.7.20, 2.2.7.16), built once for each list of columns.

A chunk of rows is encoded by one generated list comprehension in which neighbouring columns of constant width share a
single ``struct`` call. The generated text holds only names made here, never data. A chunk in which a constant-width value is NULL
(``struct`` refuses None) takes the plain road: value by value, and NBCROW where that is shorter. A NULL in a column
that promised none has no form but NBCROW's bit.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from aglab.core.sqltypes import Column
from aglab.tds.constants import TDS73B, TDS80, TOKEN_COLMETADATA, TOKEN_NBCROW, TOKEN_ROW
from aglab.tds.encode import FIXED, Codec, EncodingError, codec

Row = Sequence[Any]

FLAG_NULLABLE = 0x01
FLAG_UPDATE_UNKNOWN = 0x08
FLAG_IDENTITY = 0x10
NAME_CHARACTERS_MAX = 255
_ROW = bytes((TOKEN_ROW,))
_NBCROW = bytes((TOKEN_NBCROW,))


class RowEncoder:
    """The columns of a result set: ``metadata`` is its COLMETADATA token, :meth:`encode` makes row tokens.

    Parameters
    ----------
    columns : tuple of Column
    version : int
        The client's TDS version.
    """

    def __init__(self, columns: tuple[Column, ...], version: int) -> None:
        self.columns = columns
        self._codecs = [codec(column.type, version, column.nullable) for column in columns]
        self._fixed = [i for i, (c, wire) in enumerate(zip(columns, self._codecs, strict=True)) if wire is FIXED.get(c.type.name)]
        self._encoders = [c.encode for c in self._codecs]
        self._bitmap_bytes = (len(columns) + 7) // 8
        self._compress = version >= TDS73B or version == TDS80
        self.metadata = self._metadata()
        self._fast = _compile(self._codecs)

    def _metadata(self) -> bytes:
        out = bytearray(struct.pack("<BH", TOKEN_COLMETADATA, len(self.columns)))
        for column, wire in zip(self.columns, self._codecs, strict=True):
            flags = FLAG_UPDATE_UNKNOWN | (FLAG_NULLABLE if column.nullable else 0) | (FLAG_IDENTITY if column.identity else 0)
            out += struct.pack("<IH", 0, flags) + wire.type_info
            if wire.is_blob:
                out += b"\x01\x00\x00"  # one empty part of a table name
            name = column.name[:NAME_CHARACTERS_MAX].encode("utf-16-le", "surrogatepass")
            out += bytes((len(name) // 2,)) + name if len(name) <= 510 else b"\xff" + name[:510]
        return bytes(out)

    def encode(self, rows: list[Row]) -> bytes:
        """ROW tokens of a chunk. Raises EncodingError naming the column whose value does not fit."""
        try:
            return self._fast(rows)
        except (struct.error, TypeError, ValueError, OverflowError, ArithmeticError):
            return b"".join([self._encode_row(row) for row in rows])

    def _encode_row(self, row: Row) -> bytes:
        if len(row) != len(self.columns):
            raise EncodingError(f"a row of {len(row)} values for {len(self.columns)} columns")
        nulls = sum(value is None for value in row) if self._compress else 0
        try:
            if nulls > self._bitmap_bytes or (nulls and any(row[i] is None for i in self._fixed)):
                bitmap = bytearray(self._bitmap_bytes)
                parts = []
                for index, (value, encode) in enumerate(zip(row, self._encoders, strict=True)):
                    if value is None:
                        bitmap[index >> 3] |= 1 << (index & 7)
                    else:
                        parts.append(encode(value))
                return _NBCROW + bytes(bitmap) + b"".join(parts)
            return _ROW + b"".join([encode(value) for encode, value in zip(self._encoders, row, strict=True)])
        except (struct.error, TypeError, ValueError, OverflowError, ArithmeticError) as error:
            raise self._explain(row, error) from error

    def _explain(self, row: Row, error: Exception) -> EncodingError:
        for column, encode, value in zip(self.columns, self._encoders, row, strict=True):
            try:
                encode(value)
            except (struct.error, TypeError, ValueError, OverflowError, ArithmeticError):
                return EncodingError(f"column {column.name!r} ({column.type}) cannot hold {value!r:.100} ({error})")
        return EncodingError(f"row cannot be encoded ({error})")


@lru_cache(maxsize=512)
def row_encoder(columns: tuple[Column, ...], version: int) -> RowEncoder:
    """The encoder of a list of columns, kept: the same statement comes again."""
    return RowEncoder(columns, version)


def _compile(codecs: list[Codec]) -> Callable[[list[Row]], bytes]:
    """One function for all rows of these columns (see the module's text)."""
    names = [f"v{i}" for i in range(len(codecs))]
    scope: dict[str, Any] = {"join": b"".join}
    pieces: list[str] = []
    fmt, arguments = "B", [str(TOKEN_ROW)]  # the row token opens the first run

    def close_run() -> None:
        nonlocal fmt, arguments
        if arguments == [str(TOKEN_ROW)]:
            pieces.append("ROW")
            scope["ROW"] = _ROW
        elif arguments:
            key = f"pack{len(pieces)}"
            scope[key] = struct.Struct("<" + fmt).pack
            pieces.append(f"{key}({', '.join(arguments)})")
        fmt, arguments = "", []

    for index, wire in enumerate(codecs):
        if wire.format:
            fmt += ("B" if wire.prefix else "") + wire.format
            arguments += [str(wire.prefix), names[index]] if wire.prefix else [names[index]]
        else:
            if arguments:
                close_run()
            scope[f"enc{index}"] = wire.encode
            pieces.append(f"enc{index}({names[index]})")
    if arguments:
        close_run()
    target = ", ".join(names) + ("," if len(names) == 1 else "")
    if len(pieces) == 1:
        source = f"lambda rows: join([{pieces[0]} for {target} in rows])"
    else:
        source = f"lambda rows: join([piece for {target} in rows for piece in ({', '.join(pieces)})])"
    return eval(compile(source, "<row encoder>", "eval"), scope)  # the source is made of the names above
