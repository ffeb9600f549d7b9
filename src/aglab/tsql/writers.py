"""Values as text."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

from aglab.core.sqltypes import MAX, SqlType
from aglab.tsql import dates
from aglab.tsql.messages import error
from aglab.tsql.rounding import quantize
from aglab.tsql.types import BINARIES, DATES, FLOATS, INTEGERS, NUMBERS, STRINGS, name_of

Convert = Callable[[Any], Any]


def to_text(source: SqlType, target: SqlType, style: int | None) -> Convert:
    write = writer(source, style)
    length = target.length
    if target.name in ("text", "ntext", "xml"):
        return write
    fixed = target.name in ("char", "nchar")
    number = source.name in NUMBERS
    wide = target.name[0] == "n"

    def as_text(value: Any) -> Any:
        text = write(value)
        if length != MAX and len(text) > length:
            if number:
                if source.name in INTEGERS and not wide:
                    return "*".ljust(length) if fixed else "*"
                raise error(8115, "expression" if source.name in INTEGERS else name_of(source), target.name)
            if source.name == "uniqueidentifier":
                raise error(8170)
            text = text[:length]
        return text.ljust(length) if fixed else text

    return as_text


def writer(source: SqlType, style: int | None = None) -> Convert:
    """How a type's values are written as text."""
    name = source.name
    if name in STRINGS:
        return lambda value: value
    if name == "bit":
        return lambda value: "1" if value else "0"
    if name in INTEGERS:
        return str
    if name in ("decimal", "numeric"):
        return lambda value: f"{value:f}"
    if name in ("money", "smallmoney"):
        if style == 1:
            return lambda value: f"{quantize(value, 2):,f}"
        return (lambda value: f"{quantize(value, 4):f}") if style in (2, 126) else (lambda value: f"{quantize(value, 2):f}")
    if name in FLOATS:
        return lambda value: float_text(value, style)
    if name == "uniqueidentifier":
        return lambda value: str(value).upper()
    if name in BINARIES:
        if style == 1:
            return lambda value: "0x" + value.hex().upper()
        if style == 2:
            return lambda value: value.hex().upper()
        return lambda value: value.decode("cp1252", "replace")
    if name in DATES:
        return date_writer(source, style)
    return variant_text


def variant_text(value: Any) -> str:
    """A sql_variant value as text."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return float_text(value, None)
    if isinstance(value, datetime.datetime):
        return dates.STYLES[0](value)
    if isinstance(value, uuid.UUID):
        return str(value).upper()
    if isinstance(value, bytes):
        return "0x" + value.hex().upper()
    return str(value)


def float_text(value: float, style: int | None) -> str:
    """A float as CONVERT writes it: six digits by default, 8 with style 1, 16 with style 2, 17 with style 3."""
    digits = {None: 6, 0: 6, 1: 8, 2: 16, 3: 17}.get(style, 6)
    if style in (1, 2, 3):
        mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa}e{exponent[0]}{int(exponent[1:]):03}"
    text = f"{value:.{digits}g}"
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa}e{exponent[0]}{int(exponent[1:]):03}"
    return "0" if text == "-0" else text


def date_writer(source: SqlType, style: int | None) -> Convert:
    """A date or time type as text in a numbered style."""
    name, scale = source.name, source.scale
    if style is None:
        style = 0 if name in ("datetime", "smalldatetime") else 121
    if style not in dates.STYLES:
        raise error(281, style, name)
    shape = dates.STYLES[style]
    if style in (121, 21, 25) and name != "datetime" and name != "smalldatetime":
        fraction = (lambda m: f".{m.microsecond:06}0"[: scale + 1]) if scale else (lambda m: "")

        def full(value: Any) -> str:
            if name == "date":
                return f"{value.year:04}-{value.month:02}-{value.day:02}"
            clock = f"{value.hour:02}:{value.minute:02}:{value.second:02}{fraction(value)}"
            if name == "time":
                return clock
            zone = ""
            if name == "datetimeoffset":
                zone = " " + offset_text(value)
            return f"{value.year:04}-{value.month:02}-{value.day:02} {clock}{zone}"

        return full
    if name == "time":
        return lambda value: shape(datetime.datetime.combine(dates.BASE.date(), value))
    if name == "date":
        return lambda value: shape(datetime.datetime(value.year, value.month, value.day))
    return shape


def offset_text(value: datetime.datetime) -> str:
    """+hh:mm"""
    offset = value.utcoffset() or datetime.timedelta(0)
    minutes = int(offset.total_seconds()) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
