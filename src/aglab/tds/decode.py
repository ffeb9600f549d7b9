"""Typed values that clients send: TYPE_INFO (MS-TDS 2.2.5.6) and what follows it, in RPC parameters and bulk rows.

Each TYPE_INFO becomes a :class:`TypeReader`: the SQL type and a function that reads one value at a cursor. A length that a type
cannot have and a value outside its range refuse the request, as SQL Server does (errors 8009 and 8023); a message that
ends too early closes the connection.
"""

from __future__ import annotations

import decimal
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aglab.core.sqltypes import MAX, SqlType
from aglab.tds import temporal
from aglab.tds.collation import encoding_of
from aglab.tds.cursor import Cursor
from aglab.tds.errors import BAD_VALUE, NOT_CARRIED, ProtocolError, RequestRefused, TooLong

Reader = Callable[[Cursor], Any]

UNKNOWN_TYPE = 8009
VARIANT_BYTES_MAX = 8016
PLP_NULL = 0xFFFFFFFFFFFFFFFF
PLP_UNKNOWN = 0xFFFFFFFFFFFFFFFE
_WIDE = decimal.Context(prec=80)


@dataclass(frozen=True, slots=True)
class TypeReader:
    """A declared type and how to read its values. ``is_blob``: rows carry a text pointer (text, ntext, image)."""

    type: SqlType
    read: Reader
    is_blob: bool = False


def bad_value(what: str, name: str, kind: type[RequestRefused] = RequestRefused) -> RequestRefused:
    """Error 8023."""
    return kind(
        "The incoming tabular data stream (TDS) protocol stream is incorrect. The supplied value is not a valid instance of "
        f"data type {name}. {what}",
        BAD_VALUE,
    )


def _money8(data: bytes) -> decimal.Decimal:
    high, low = struct.unpack("<iI", data)
    return decimal.Decimal((high << 32) | low).scaleb(-4, _WIDE)


def _money4(data: bytes) -> decimal.Decimal:
    return decimal.Decimal(int.from_bytes(data, "little", signed=True)).scaleb(-4, _WIDE)


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


# name -> (bytes, conversion) of types whose non-NULL value always takes the same bytes
FIXED_VALUES: dict[str, tuple[int, Callable[[bytes], Any]]] = {
    "bit": (1, lambda data: data != b"\x00"),
    "tinyint": (1, lambda data: data[0]),
    "smallint": (2, _signed),
    "int": (4, _signed),
    "bigint": (8, _signed),
    "real": (4, lambda data: struct.unpack("<f", data)[0]),
    "float": (8, lambda data: struct.unpack("<d", data)[0]),
    "money": (8, _money8),
    "smallmoney": (4, _money4),
    "datetime": (8, temporal.decode_datetime),
    "smalldatetime": (4, temporal.decode_smalldatetime),
    "date": (3, temporal.decode_date),
    "uniqueidentifier": (16, lambda data: uuid.UUID(bytes_le=data)),
}

FIXED_CODES = {
    0x30: "tinyint",
    0x32: "bit",
    0x34: "smallint",
    0x38: "int",
    0x3A: "smalldatetime",
    0x3B: "real",
    0x3C: "money",
    0x3D: "datetime",
    0x3E: "float",
    0x7A: "smallmoney",
    0x7F: "bigint",
}

# code -> {declared length: name}, nullable types whose length byte chooses the type
NULLABLE_CODES: dict[int, dict[int, str]] = {
    0x24: {16: "uniqueidentifier"},
    0x26: {1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"},
    0x68: {1: "bit"},
    0x6D: {4: "real", 8: "float"},
    0x6E: {4: "smallmoney", 8: "money"},
    0x6F: {4: "smalldatetime", 8: "datetime"},
}

SCALED_CODES = {0x29: "time", 0x2A: "datetime2", 0x2B: "datetimeoffset"}
SCALED_EXTRA = {"time": 0, "datetime2": 3, "datetimeoffset": 5}
SCALED_DECODERS: dict[str, Callable[[bytes, int], Any]] = {
    "time": temporal.decode_time,
    "datetime2": temporal.decode_datetime2,
    "datetimeoffset": temporal.decode_datetimeoffset,
}
DECIMAL_CODES = {0x37: "decimal", 0x6A: "decimal", 0x3F: "numeric", 0x6C: "numeric"}
SHORT_CODES = {0x2F: "char", 0x27: "varchar", 0x2D: "binary", 0x25: "varbinary"}
STRING_CODES = {0xA5: "varbinary", 0xA7: "varchar", 0xAD: "binary", 0xAF: "char", 0xE7: "nvarchar", 0xEF: "nchar"}
BLOB_CODES = {0x22: "image", 0x23: "text", 0x63: "ntext"}
NOT_CARRIED_CODES = {0xF0: "CLR user-defined", 0xF3: "nested table-valued", 0xF4: "json", 0xF5: "vector"}


def read_type(cursor: Cursor) -> TypeReader:
    """Read one TYPE_INFO."""
    code = cursor.u8()
    if code in FIXED_CODES:
        name = FIXED_CODES[code]
        return TypeReader(SqlType(name), _fixed(name))
    if code in NULLABLE_CODES:
        length = cursor.u8()
        name = NULLABLE_CODES[code].get(length, "")
        if not name:
            raise RequestRefused(f"Data type 0x{code:02X} has an invalid data length {length}.", UNKNOWN_TYPE)
        return TypeReader(SqlType(name), _nullable(name))
    if code in STRING_CODES:
        return _string_type(cursor, STRING_CODES[code])
    if code in DECIMAL_CODES:
        return _decimal_type(cursor, DECIMAL_CODES[code])
    if code == 0x28:
        return TypeReader(SqlType("date"), _nullable("date"))
    if code in SCALED_CODES:
        return _scaled_type(cursor, SCALED_CODES[code])
    if code == 0x1F:
        return TypeReader(SqlType("int"), lambda _cursor: None)
    if code == 0x62:
        cursor.u32()
        return TypeReader(SqlType("sql_variant"), _read_variant)
    if code in BLOB_CODES:
        return _blob_type(cursor, BLOB_CODES[code])
    if code in SHORT_CODES:
        return _short_type(cursor, SHORT_CODES[code])
    if code == 0xF1:
        return _xml_type(cursor)
    if code in NOT_CARRIED_CODES:
        raise RequestRefused(
            f"This server does not take {NOT_CARRIED_CODES[code]} parameters (data type 0x{code:02X}).", NOT_CARRIED
        )
    raise RequestRefused(f"Data type 0x{code:02X} is unknown.", UNKNOWN_TYPE)


def _convert(name: str, convert: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return convert(data)
    except (ValueError, OverflowError, UnicodeDecodeError) as error:
        raise bad_value(str(error), name) from error


def _fixed(name: str) -> Reader:
    size, convert = FIXED_VALUES[name]
    return lambda cursor: _convert(name, convert, cursor.take(size))


def _nullable(name: str) -> Reader:
    size, convert = FIXED_VALUES[name]

    def read(cursor: Cursor) -> Any:
        length = cursor.u8()
        if length == 0:
            return None
        if length != size:
            raise bad_value(f"{length} bytes instead of {size}.", name)
        return _convert(name, convert, cursor.take(size))

    return read


def _scaled_type(cursor: Cursor, name: str) -> TypeReader:
    scale = cursor.u8()
    if scale > 7:
        raise RequestRefused(f"The scale {scale} of {name} exceeds 7.", UNKNOWN_TYPE)
    return TypeReader(SqlType(name, scale=scale), lambda at: _read_scaled(at, name, scale, at.u8()))


def _read_scaled(cursor: Cursor, name: str, scale: int, length: int) -> Any:
    if length == 0:
        return None
    size = temporal.TIME_BYTES[scale] + SCALED_EXTRA[name]
    if length != size:
        raise bad_value(f"{length} bytes instead of {size}.", name)
    return _convert(name, lambda data: SCALED_DECODERS[name](data, scale), cursor.take(size))


def _decimal_type(cursor: Cursor, name: str) -> TypeReader:
    cursor.u8()
    precision, scale = cursor.u8(), cursor.u8()
    if not 1 <= precision <= 38 or scale > precision:
        raise RequestRefused(f"{name}({precision},{scale}) is not a valid precision and scale.", UNKNOWN_TYPE)
    return TypeReader(SqlType(name, precision=precision, scale=scale), lambda at: _read_decimal(at, name, scale, at.u8()))


def _read_decimal(cursor: Cursor, name: str, scale: int, length: int) -> decimal.Decimal | None:
    if length == 0:
        return None
    if not 2 <= length <= 17:  # the document allows 5, 9, 13 and 17; FreeTDS sends as few as the precision needs
        raise bad_value(f"{length} bytes.", name)
    data = cursor.take(length)
    magnitude = int.from_bytes(data[1:], "little")
    if magnitude >= 10**38:
        raise bad_value("More than 38 digits.", name)
    return decimal.Decimal(magnitude if data[0] else -magnitude).scaleb(-scale, _WIDE)


def _string_type(cursor: Cursor, name: str) -> TypeReader:
    length = cursor.u16()
    is_max = length == 0xFFFF and name in ("varbinary", "varchar", "nvarchar")
    if not is_max and length > 8000:
        raise RequestRefused(f"{name} of {length} bytes exceeds 8000.", UNKNOWN_TYPE)
    encoding = _encoding(cursor, name)
    declared = SqlType(name, length=MAX if is_max else length // 2 if name in ("nvarchar", "nchar") else length)
    if is_max:
        return TypeReader(declared, lambda at: _text(name, read_plp(at), encoding))
    return TypeReader(declared, lambda at: _read_short_string(at, name, length, encoding))


def _encoding(cursor: Cursor, name: str) -> str:
    if name in ("varbinary", "binary", "image"):
        return ""
    collation = cursor.take(5)
    return "utf-16-le" if name in ("nvarchar", "nchar", "ntext") else encoding_of(collation)


def _text(name: str, data: bytes | None, encoding: str) -> Any:
    if data is None or not encoding:
        return data
    if encoding == "utf-16-le":
        if len(data) & 1:
            raise bad_value("An odd number of bytes.", name)
        return data.decode(encoding, "surrogatepass")
    return data.decode(encoding, "replace")


def _read_short_string(cursor: Cursor, name: str, declared: int, encoding: str) -> Any:
    length = cursor.u16()
    if length == 0xFFFF:
        return None
    if length > declared:
        raise bad_value(f"{length} bytes exceed the declared {declared}.", name, TooLong)
    return _text(name, cursor.take(length), encoding)


def read_plp(cursor: Cursor) -> bytes | None:
    """Partially length-prefixed bytes (2.2.5.2.3)."""
    total = cursor.u64()
    if total == PLP_NULL:
        return None
    parts = []
    while (chunk := cursor.u32()) != 0:
        parts.append(cursor.take(chunk))
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    if total not in (PLP_UNKNOWN, len(data)):
        raise ProtocolError(f"a value announced as {total} bytes carries {len(data)}")
    return data


def _short_type(cursor: Cursor, name: str) -> TypeReader:
    size = cursor.u8()
    encoding = "" if name in ("binary", "varbinary") else "cp1252"

    def read(at: Cursor) -> Any:
        length = at.u8()
        return None if length == 0 else _text(name, at.take(length), encoding)

    return TypeReader(SqlType(name, length=size), read)


def _blob_type(cursor: Cursor, name: str) -> TypeReader:
    cursor.u32()
    encoding = _encoding(cursor, name)

    def read(at: Cursor) -> Any:
        length = at.i32()
        if length == -1:
            return None
        if length < 0:
            raise bad_value(f"A length of {length} bytes.", name)
        return _text(name, at.take(length), encoding)

    return TypeReader(SqlType(name), read, is_blob=True)


def _xml_type(cursor: Cursor) -> TypeReader:
    if cursor.u8():
        cursor.b_varchar(), cursor.b_varchar(), cursor.us_varchar()

    def read(at: Cursor) -> Any:
        data = read_plp(at)
        text = _text("xml", data, "utf-16-le")
        return text.removeprefix("\ufeff") if text else text

    return TypeReader(SqlType("xml"), read)


def _read_variant(cursor: Cursor) -> Any:
    """sql_variant (2.2.5.5.4): base type, properties, value."""
    length = cursor.u32()
    if length == 0:
        return None
    if length > VARIANT_BYTES_MAX or length < 2:
        raise bad_value(f"{length} bytes.", "sql_variant")
    inner = Cursor(cursor.take(length), "sql_variant")
    code, properties = inner.u8(), inner.u8()
    head = Cursor(inner.take(properties), "sql_variant properties")
    size = inner.remaining
    if code in FIXED_CODES or code in (0x24, 0x28):
        name = FIXED_CODES.get(code) or ("uniqueidentifier" if code == 0x24 else "date")
        if size != FIXED_VALUES[name][0]:
            raise bad_value(f"{size} bytes.", name)
        return _fixed(name)(inner)
    if code in SCALED_CODES:
        scale = head.u8()
        if scale > 7:
            raise bad_value(f"Scale {scale}.", SCALED_CODES[code])
        return _read_scaled(inner, SCALED_CODES[code], scale, size)
    if code in DECIMAL_CODES:
        head.u8()
        return _read_decimal(inner, DECIMAL_CODES[code], min(head.u8(), 38), size)
    if code in STRING_CODES:
        name = STRING_CODES[code]
        return _text(name, inner.take(size), _encoding(head, name))
    raise RequestRefused(f"Data type 0x{code:02X} is not valid inside sql_variant.", UNKNOWN_TYPE)
