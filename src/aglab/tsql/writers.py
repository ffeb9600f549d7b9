"""Values as text."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

from aglab.core.sqltypes import MAX, SqlType
from aglab.tsql.date_styles import date_writer, default_text
from aglab.tsql.messages import error
from aglab.tsql.rounding import quantize
from aglab.tsql.types import BINARIES, DATES, FLOATS, INTEGERS, NUMBERS, STRINGS, name_of

Convert = Callable[[Any], Any]


def to_text(source: SqlType, target: SqlType, style: int | None) -> Convert:
    wide = target.name[0] == "n"
    write = writer(source, style, wide)
    length = target.length
    if target.name in ("text", "ntext", "xml"):
        return write
    fixed = target.name in ("char", "nchar")
    number = source.name in NUMBERS

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


def writer(source: SqlType, style: int | None = None, wide: bool = False) -> Convert:
    """How a type's values are written as text; bytes are read as UTF-16 where the target is ``wide``."""
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
        if wide:
            return lambda value: (value + b"\0" * (len(value) % 2)).decode("utf-16-le", "surrogatepass")
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
        return default_text(value)
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
