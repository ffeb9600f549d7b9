"""Typed values that the server sends: TYPE_INFO bytes and one encoder for each type.

A :class:`Codec` is how a column of one type goes out. Types of constant width also name a ``struct`` format, from which
:mod:`aglab.tds.rows` builds one packing call for neighbouring columns. A column that promises no NULL goes out as the type of
fixed length (INT4), any other as the nullable one (INTN), as MS-TDS 2.2.5.4 has it: .NET's SqlClient decides by the column's
flag whether a length byte precedes the value, whatever type code it read.
"""

from __future__ import annotations

import datetime as dt
import decimal
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aglab.core.errors import AglabError, unknown_name
from aglab.core.sqltypes import MAX, SqlType
from aglab.tds import temporal
from aglab.tds.constants import COLLATION, TDS73A

Encoder = Callable[[Any], bytes]

PLP_NULL = b"\xff" * 8
CHAR_NULL = b"\xff\xff"
PLP_CHUNK_BYTES = 0x7FFFFFFF
BLOB_POINTER = b"\x10" + b"aglab text ptr\0\0" + b"\0" * 8
INT_BYTES = {"bit": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
VARIANT_BYTES_MAX = 8000
_WIDE = decimal.Context(prec=80)


class EncodingError(AglabError):
    """A value does not fit the type of its column: the producer of the rows is wrong."""


@dataclass(frozen=True, slots=True)
class Codec:
    """How a type goes out.

    ``type_info``: its TYPE_INFO bytes. ``encode``: value (or None) to bytes with their length. ``prefix`` and ``format``: for
    constant widths, the length byte (0: none, the type has a fixed length and no NULL) and the struct code of the value.
    ``is_blob``: COLMETADATA names a table.
    """

    type_info: bytes
    encode: Encoder
    prefix: int = 0
    format: str = ""
    is_blob: bool = False


@lru_cache(maxsize=1024)
def codec(declared: SqlType, version: int, nullable: bool = True) -> Codec:
    """The codec of a type for a client of TDS ``version``; before 7.3 dates and times go out as text, as SQL Server does.

    Where not ``nullable``, a type that has a form of fixed length takes it; its ``encode`` refuses None.
    """
    name = declared.name
    if not nullable and name in FIXED:
        return FIXED[name]
    if version < TDS73A and version >= 0x70000000 and name in ("date", "time", "datetime2", "datetimeoffset"):
        return _nvarchar(SqlType("nvarchar", length=40), convert=temporal_text)
    if name in _BUILDERS:
        return _BUILDERS[name](declared)
    raise unknown_name("SQL type", name, sorted(_BUILDERS))


def temporal_text(value: Any) -> str:
    """A date or time as SQL Server prints it."""
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(" ")
        return text if value.tzinfo is None else f"{text} {value:%z}"[:-2] + ":" + f"{value:%z}"[-2:]
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)


def _number(code: int, size: int, fmt: str) -> Callable[[SqlType], Codec]:
    pack = struct.Struct("<B" + fmt).pack

    def build(_declared: SqlType) -> Codec:
        return Codec(bytes((code, size)), lambda v: b"\0" if v is None else pack(size, v), size, fmt)

    return build


def _bit(_declared: SqlType) -> Codec:
    return Codec(b"\x68\x01", lambda v: b"\0" if v is None else b"\x01\x01" if v else b"\x01\x00", 1, "B")


def _sized(code: int, size: int, convert: Encoder) -> Callable[[SqlType], Codec]:
    """A type with a length byte in TYPE_INFO and before the value."""
    prefix = bytes((size,))

    def build(_declared: SqlType) -> Codec:
        return Codec(bytes((code, size)), lambda v: b"\0" if v is None else prefix + convert(v))

    return build


def _date(_declared: SqlType) -> Codec:
    return Codec(b"\x28", lambda v: b"\0" if v is None else b"\x03" + temporal.encode_date(v))


def _scaled(code: int, extra: int, convert: Callable[[Any, int], bytes]) -> Callable[[SqlType], Codec]:
    def build(declared: SqlType) -> Codec:
        scale = declared.scale
        prefix = bytes((temporal.TIME_BYTES[scale] + extra,))
        return Codec(bytes((code, scale)), lambda v: b"\0" if v is None else prefix + convert(v, scale))

    return build


def _money(value: Any) -> bytes:
    units = scaled_integer(value, 4)
    return struct.pack("<iI", units >> 32, units & 0xFFFFFFFF)


def _smallmoney(value: Any) -> bytes:
    return struct.pack("<i", scaled_integer(value, 4))


def scaled_integer(value: Any, scale: int) -> int:
    """``value * 10**scale``, rounded half away from zero."""
    if isinstance(value, int):
        return value * 10**scale
    exact = value if isinstance(value, decimal.Decimal) else decimal.Decimal(repr(value) if isinstance(value, float) else value)
    return int(exact.scaleb(scale, _WIDE).to_integral_value(decimal.ROUND_HALF_UP, _WIDE))


def _decimal(declared: SqlType) -> Codec:
    precision, scale = declared.precision or 18, declared.scale
    size = 4 if precision <= 9 else 8 if precision <= 19 else 12 if precision <= 28 else 16
    limit = 10**precision
    prefix = bytes((size + 1,))
    code = 0x6A if declared.name == "decimal" else 0x6C

    def encode(value: Any) -> bytes:
        if value is None:
            return b"\0"
        units = scaled_integer(value, scale)
        if abs(units) >= limit:
            raise OverflowError(f"more than {precision} digits")
        return prefix + (b"\x01" if units >= 0 else b"\x00") + abs(units).to_bytes(size, "little")

    return Codec(bytes((code, size + 1, precision, scale)), encode)


def _guid(value: Any) -> bytes:
    return (value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))).bytes_le


def _plp(data: bytes) -> bytes:
    if not data:
        return b"\0" * 12
    return struct.pack("<QI", len(data), len(data)) + data + b"\0\0\0\0"


def _plp_codec(type_info: bytes, to_bytes: Encoder) -> Codec:
    return Codec(type_info, lambda v: PLP_NULL if v is None else _plp(to_bytes(v)))


def utf16(value: Any) -> bytes:
    """UTF-16LE of a value's text; lone surrogates pass, as they do in SQL Server."""
    return (value if isinstance(value, str) else str(value)).encode("utf-16-le", "surrogatepass")


def _cp1252(value: Any) -> bytes:
    return (value if isinstance(value, str) else str(value)).encode("cp1252", "replace")


def _short(code: int, limit: int, collation: bytes, to_bytes: Encoder, pad: bytes = b"") -> Codec:
    """A string of at most ``limit`` bytes, cut there: the wire has no room for more than was declared."""
    pack = struct.Struct("<H").pack

    def encode(value: Any) -> bytes:
        if value is None:
            return CHAR_NULL
        data = to_bytes(value)
        size = len(data)
        if size > limit:
            data, size = data[:limit], limit
        elif pad and size < limit:
            data, size = data + pad * ((limit - size) // len(pad)), limit
        return pack(size) + data

    return Codec(struct.pack("<BH", code, limit) + collation, encode)


def _nvarchar(declared: SqlType, convert: Callable[[Any], str] | None = None) -> Codec:
    to_bytes = utf16 if convert is None else lambda v: utf16(convert(v))
    if declared.length == MAX or declared.length > 4000:
        return _plp_codec(b"\xe7\xff\xff" + COLLATION, to_bytes)
    return _short(0xE7, 2 * max(declared.length, 1), COLLATION, to_bytes)


def _varchar(declared: SqlType) -> Codec:
    if declared.length == MAX or declared.length > 8000:
        return _plp_codec(b"\xa7\xff\xff" + COLLATION, _cp1252)
    return _short(0xA7, max(declared.length, 1), COLLATION, _cp1252)


def _varbinary(declared: SqlType) -> Codec:
    if declared.length == MAX or declared.length > 8000:
        return _plp_codec(b"\xa5\xff\xff", bytes)
    return _short(0xA5, max(declared.length, 1), b"", bytes)


def _blob(code: int, collation: bytes, to_bytes: Encoder) -> Callable[[SqlType], Codec]:
    def encode(value: Any) -> bytes:
        if value is None:
            return b"\0"
        data = to_bytes(value)
        return BLOB_POINTER + struct.pack("<i", len(data)) + data

    return lambda _declared: Codec(struct.pack("<BI", code, 0x7FFFFFFF) + collation, encode, is_blob=True)


def _variant_body(value: Any) -> bytes:
    """Base type, properties and value of a sql_variant, chosen by the Python type (or by ``value.type``, ``value.value``)."""
    declared = getattr(value, "type", None)
    if isinstance(declared, SqlType):
        encoded = codec(declared, 0x74000004)
        body = _declared_variant(declared, encoded, value.value)
        if body is not None:
            return body
        value = value.value
    if isinstance(value, bool):
        return b"\x32\x00" + (b"\x01" if value else b"\x00")
    if isinstance(value, int):
        return struct.pack("<BBi", 0x38, 0, value) if -(2**31) <= value < 2**31 else struct.pack("<BBq", 0x7F, 0, value)
    if isinstance(value, float):
        return struct.pack("<BBd", 0x3E, 0, value)
    if isinstance(value, decimal.Decimal):
        scale = min(max(0, -int(value.as_tuple().exponent)), 38)
        return (
            struct.pack("<BBBB", 0x6C, 2, 38, scale) + _decimal(SqlType("numeric", precision=38, scale=scale)).encode(value)[1:]
        )
    if isinstance(value, bytes | bytearray):
        data = bytes(value)[:VARIANT_BYTES_MAX]
        return struct.pack("<BBH", 0xA5, 2, max(len(data), 1)) + data
    if isinstance(value, uuid.UUID):
        return b"\x24\x00" + value.bytes_le
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            return b"\x2b\x01\x07" + temporal.encode_datetimeoffset(value, 7)
        return b"\x2a\x01\x07" + temporal.encode_datetime2(value, 7)
    if isinstance(value, dt.date):
        return b"\x28\x00" + temporal.encode_date(value)
    if isinstance(value, dt.time):
        return b"\x29\x01\x07" + temporal.encode_time(value, 7)
    data = utf16(value)[:VARIANT_BYTES_MAX]
    return struct.pack("<BB", 0xE7, 7) + COLLATION + struct.pack("<H", max(len(data), 2)) + data


def _declared_variant(declared: SqlType, encoded: Codec, value: Any) -> bytes | None:
    """A value of a declared base type; None where the base type is not one that drivers expect."""
    base = {"datetime": 0x3D, "smalldatetime": 0x3A, "money": 0x3C, "smallmoney": 0x7A, "real": 0x3B}
    base |= {"bigint": 0x7F, "smallint": 0x34, "tinyint": 0x30}
    if declared.name in base:
        return bytes((base[declared.name], 0)) + encoded.encode(value)[1:]
    if declared.name in ("varchar", "char"):
        data = _cp1252(value)[:VARIANT_BYTES_MAX]
        return struct.pack("<BB", 0xA7, 7) + COLLATION + struct.pack("<H", max(len(data), 1)) + data
    return None


def _variant(_declared: SqlType) -> Codec:
    def encode(value: Any) -> bytes:
        if value is None:
            return b"\0\0\0\0"
        body = _variant_body(value)
        return struct.pack("<I", len(body)) + body

    return Codec(struct.pack("<BI", 0x62, 8009), encode)


_BUILDERS: dict[str, Callable[[SqlType], Codec]] = {
    "bit": _bit,
    "tinyint": _number(0x26, 1, "B"),
    "smallint": _number(0x26, 2, "h"),
    "int": _number(0x26, 4, "i"),
    "bigint": _number(0x26, 8, "q"),
    "real": _number(0x6D, 4, "f"),
    "float": _number(0x6D, 8, "d"),
    "money": _sized(0x6E, 8, _money),
    "smallmoney": _sized(0x6E, 4, _smallmoney),
    "datetime": _sized(0x6F, 8, temporal.encode_datetime),
    "smalldatetime": _sized(0x6F, 4, temporal.encode_smalldatetime),
    "uniqueidentifier": _sized(0x24, 16, _guid),
    "date": _date,
    "time": _scaled(0x29, 0, temporal.encode_time),
    "datetime2": _scaled(0x2A, 3, temporal.encode_datetime2),
    "datetimeoffset": _scaled(0x2B, 5, temporal.encode_datetimeoffset),
    "decimal": _decimal,
    "numeric": _decimal,
    "char": lambda d: _short(0xAF, min(max(d.length, 1), 8000), COLLATION, _cp1252, b" "),
    "varchar": _varchar,
    "nchar": lambda d: _short(0xEF, 2 * min(max(d.length, 1), 4000), COLLATION, utf16, b" \0"),
    "nvarchar": _nvarchar,
    "binary": lambda d: _short(0xAD, min(max(d.length, 1), 8000), b"", bytes, b"\0"),
    "varbinary": _varbinary,
    "text": _blob(0x23, COLLATION, _cp1252),
    "ntext": _blob(0x63, COLLATION, utf16),
    "image": _blob(0x22, b"", bytes),
    "xml": lambda _d: _plp_codec(b"\xf1\x00", utf16),
    "sql_variant": _variant,
}


def _fixed(code: int, fmt: str, convert: Encoder | None = None) -> Codec:
    return Codec(bytes((code,)), convert or struct.Struct("<" + fmt).pack, 0, fmt)


FIXED: dict[str, Codec] = {
    "bit": _fixed(0x32, "B"),
    "tinyint": _fixed(0x30, "B"),
    "smallint": _fixed(0x34, "h"),
    "int": _fixed(0x38, "i"),
    "bigint": _fixed(0x7F, "q"),
    "real": _fixed(0x3B, "f"),
    "float": _fixed(0x3E, "d"),
    "money": _fixed(0x3C, "", _money),
    "smallmoney": _fixed(0x7A, "", _smallmoney),
    "datetime": _fixed(0x3D, "", temporal.encode_datetime),
    "smalldatetime": _fixed(0x3A, "", temporal.encode_smalldatetime),
}
