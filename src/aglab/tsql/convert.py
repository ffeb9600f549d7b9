"""Conversions between types, explicit and implicit, with SQL Server's errors.

:func:`converter` picks a function once, when a statement is compiled; the function then sees only values that are not NULL.
Source: "CAST and CONVERT (Transact-SQL)", "Data type conversion (Database Engine)".
"""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from typing import Any

from aglab.core.sqltypes import MAX, SqlType
from aglab.tsql import dates
from aglab.tsql.date_styles import reading_order
from aglab.tsql.messages import TsqlError, error
from aglab.tsql.rounding import quantize
from aglab.tsql.types import BINARIES, CONTEXT, DATES, EXACTS, FLOATS, INTEGER_LIMITS, INTEGERS, NUMBERS, STRINGS, name_of
from aglab.tsql.writers import to_text, variant_text

Convert = Callable[[Any], Any]
_INTEGER = re.compile(r"^[+-]?\s*\d+$")
_NUMBER = re.compile(r"^[+-]?\s*(\d+\.?\d*|\.\d+)$")
_REAL = re.compile(r"^[+-]?\s*(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_EPOCH = datetime.datetime(1900, 1, 1)


def converter(source: SqlType | None, target: SqlType, style: int | None = None, explicit: bool = True) -> Convert | None:
    """The function that brings a value of ``source`` to ``target``; None when nothing has to be done.

    Raises 529 (explicit) or 257/206 (implicit) when SQL Server forbids the conversion.
    """
    if source is None or source == target:
        return None
    if not allowed(source, target, explicit):
        if explicit:
            raise error(529, name_of(source), name_of(target))
        if source.name in STRINGS and target.name in BINARIES:
            raise error(257, name_of(source), name_of(target))
        raise error(206, name_of(source), name_of(target))
    if source.name == "sql_variant":
        return _from_variant(target, style)
    if target.name in INTEGERS:
        return None if _widens(source.name, target.name) else _to_integer(source, target)
    if target.name in EXACTS:
        return _to_exact(source, target)
    if target.name in FLOATS:
        return _to_float(source, target)
    if target.name in STRINGS:
        return to_text(source, target, style)
    if target.name in DATES:
        return _to_date(source, target, style)
    if target.name in BINARIES:
        return _to_binary(source, target, style)
    if target.name == "uniqueidentifier":
        return _to_uuid(source)
    return None


def _from_variant(target: SqlType, style: int | None) -> Convert:
    """Each value by the type that it has itself."""
    from aglab.tsql.execute.calls import type_of

    def change(value: Any) -> Any:
        own = converter(type_of(value), target, style)
        return value if own is None else own(value)

    return change


def allowed(source: SqlType, target: SqlType, explicit: bool) -> bool:
    """Whether SQL Server converts between the two."""
    a, b = source.name, target.name
    if a == "sql_variant" or b == "sql_variant":
        return True
    if a in DATES and b in NUMBERS:
        return a in ("datetime", "smalldatetime") and explicit
    if a in NUMBERS and b in DATES:
        return b in ("datetime", "smalldatetime")
    if {a, b} in ({"date", "time"},):
        return False
    if a == "uniqueidentifier":
        return b in STRINGS or b in BINARIES or b == a
    if b == "uniqueidentifier":
        return a in STRINGS or a in BINARIES
    if a in BINARIES and b in FLOATS:
        return False
    if a in FLOATS and b in BINARIES:
        return explicit
    if a in STRINGS and b in BINARIES:
        return explicit
    if a in BINARIES and b in DATES:
        return b in ("datetime", "smalldatetime")
    return True


def _widens(source: str, target: str) -> bool:
    """Whether every value of one integer type is one of the other as it is (a bit is True or False here, so it is not)."""
    if source == "bit" or target == "bit" or source not in INTEGERS:
        return False
    return INTEGER_LIMITS[target][0] <= INTEGER_LIMITS[source][0] and INTEGER_LIMITS[source][1] <= INTEGER_LIMITS[target][1]


# --- numbers ----------------------------------------------------------------------------------------------------------------


def _to_integer(source: SqlType, target: SqlType) -> Convert:
    name = target.name
    if name == "bit":
        return _to_bit(source)
    low, high = INTEGER_LIMITS[name]
    shown = name_of(source)
    if source.name in STRINGS:

        def from_text(value: Any) -> Any:
            text = value.strip()
            if not text:
                return 0
            if not _INTEGER.match(text):
                if name == "bigint":
                    raise error(8114, shown, "bigint")
                raise error(245, shown, value.rstrip(), name)
            number = int(text.replace(" ", "")) if len(text) < 50 else high + 1
            if low <= number <= high:
                return number
            if name == "int":
                raise error(248, shown, value.rstrip())
            if name == "bigint":
                raise error(8115, "expression", "bigint")
            raise error(244, shown, value.rstrip(), {"tinyint": "INT1", "smallint": "INT2"}[name])

        return from_text
    if source.name in BINARIES:
        width = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}[name]
        return lambda value: int.from_bytes(value[-width:].rjust(width, b"\0"), "big", signed=name != "tinyint")
    if source.name in DATES:
        return lambda value: _checked(_days(value, True), low, high, name)

    def from_number(value: Any) -> Any:
        if isinstance(value, float):
            if value != value or value in (float("inf"), float("-inf")):
                raise error(8115, "expression", name)
            number = int(value)
        else:
            number = int(value)
        if low <= number <= high:
            return number
        if name in ("tinyint", "smallint") and isinstance(value, int):
            raise error(220, name, value, state=2 if name == "tinyint" else 1)
        raise error(8115, "expression" if isinstance(value, (int, float)) else "numeric", name)

    return from_number


def _checked(number: int, low: int, high: int, name: str) -> int:
    if low <= number <= high:
        return number
    raise error(8115, "expression", name)


def _to_bit(source: SqlType) -> Convert:
    if source.name in STRINGS:

        def from_text(value: Any) -> Any:
            text = value.strip().lower()
            if text in ("true", "false"):
                return text == "true"
            if not text:
                return False
            if not _INTEGER.match(text):
                raise error(245, name_of(source), value.rstrip(), "bit")
            return int(text) != 0

        return from_text
    if source.name in BINARIES:
        return lambda value: any(value)
    return lambda value: value != 0


def to_decimal(value: Any, precision: int, scale: int, shown: str = "numeric", target: str = "numeric") -> Decimal:
    """A number as decimal(precision, scale); error 8115 when it does not fit."""
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")) or abs(value) >= 1e38:
            raise error(8115, "float", target)
        value = Decimal(repr(value))
    elif not isinstance(value, Decimal):
        value = Decimal(int(value))
    try:
        rounded = quantize(value, scale)
    except InvalidOperation:
        raise error(8115, shown, target, state=8) from None
    if rounded and rounded.adjusted() + 1 > precision - scale and abs(rounded) >= Decimal(10) ** (precision - scale):
        raise error(8115, shown, target, state=8)
    return rounded


def _to_exact(source: SqlType, target: SqlType) -> Convert:
    money = target.name in ("money", "smallmoney")
    precision, scale = (19, 4) if target.name == "money" else (10, 4) if money else (target.precision, target.scale)
    shown_target = target.name if money else "numeric"
    shown = name_of(source)
    if source.name in STRINGS:

        def from_text(value: Any) -> Any:
            text = value.strip()
            if money:
                text = text.replace(",", "").lstrip("$€£¥").strip() or "0"
            if not (_NUMBER.match(text) or (money and _NUMBER.match(text.replace("$", "")))):
                if money:
                    raise error(235)
                raise error(8114, shown, "numeric")
            if len(text) > 80:
                raise error(8115, shown, shown_target)
            return to_decimal(Decimal(text.replace(" ", "").replace("$", "")), precision, scale, shown, shown_target)

        return from_text
    if source.name in BINARIES:
        return lambda value: to_decimal(
            int.from_bytes(value[-8:], "big", signed=True), precision, scale, "expression", shown_target
        )
    if source.name in DATES:
        return lambda value: to_decimal(_days_fraction(value), precision, scale, "expression", shown_target)
    kind = "expression" if source.name in INTEGERS else "numeric" if source.name in ("decimal", "numeric") else source.name
    if source.name in INTEGERS and not money:
        kind = source.name
    return lambda value: to_decimal(value, precision, scale, kind, shown_target)


def _to_float(source: SqlType, target: SqlType) -> Convert:
    import struct

    def narrow(value: float) -> float:
        if target.name != "real":
            return value
        try:
            return struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            raise error(232, "real", f"{value:f}") from None

    if source.name in STRINGS:

        def from_text(value: Any) -> Any:
            text = value.strip()
            if not text:
                return 0.0
            if not _REAL.match(text) or len(text) > 400:
                raise error(8114, name_of(source), target.name)
            number = float(text.replace(" ", ""))
            if number in (float("inf"), float("-inf")):
                raise error(232, target.name, value)
            return narrow(number)

        return from_text
    if source.name in DATES:
        return lambda value: float(_days_fraction(value))
    return lambda value: narrow(float(value))


# --- text -------------------------------------------------------------------------------------------------------------------


# --- dates ------------------------------------------------------------------------------------------------------------------


def _days(value: datetime.datetime, rounded: bool) -> int:
    delta = value.replace(tzinfo=None) - _EPOCH
    return delta.days + (1 if rounded and delta.seconds >= 43200 else 0)


def _days_fraction(value: datetime.datetime) -> Decimal:
    delta = value.replace(tzinfo=None) - _EPOCH
    seconds = Decimal(delta.seconds) + Decimal(delta.microseconds) / 1000000
    return Decimal(delta.days) + CONTEXT.divide(seconds, Decimal(86400))


def days_to_datetime(value: Any) -> datetime.datetime:
    """The datetime that a number of days after 1900-01-01 means."""
    try:
        if isinstance(value, float):
            moment = _EPOCH + datetime.timedelta(days=value)
        else:
            whole = int(Decimal(value).to_integral_value(rounding=ROUND_DOWN))
            rest = Decimal(value) - whole
            moment = _EPOCH + datetime.timedelta(days=whole, microseconds=int(rest * 86400 * 1000000))
        if moment.year < 1753:
            raise OverflowError
        return dates.round_datetime(moment)
    except (OverflowError, ValueError):
        raise error(8115, "expression", "datetime") from None


def _to_date(source: SqlType, target: SqlType, style: int | None) -> Convert:
    name, scale = target.name, target.scale

    def shape(moment: datetime.datetime) -> Any:
        if name == "date":
            return moment.date()
        if name == "time":
            return dates.round_fraction(moment, scale).time().replace(tzinfo=None)
        if name == "datetimeoffset":
            moment = dates.round_fraction(moment, scale)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
        moment = moment.replace(tzinfo=None)
        if name == "datetime2":
            return dates.round_fraction(moment, scale)
        if name == "smalldatetime":
            if not 1900 <= moment.year <= 2079:
                raise error(242, name_of(source), name)
            seconds = moment.second + moment.microsecond / 1e6
            return moment.replace(second=0, microsecond=0) + datetime.timedelta(minutes=1 if seconds >= 29.999 else 0)
        if moment.year < 1753:
            raise error(242, name_of(source), name)
        return dates.round_datetime(moment)

    def checked(moment: datetime.datetime) -> Any:
        try:
            return shape(moment)
        except OverflowError:
            raise error(242, name_of(source), name) from None

    if source.name in STRINGS:
        order = reading_order(style, source, target, name_of)

        def from_text(value: Any) -> Any:
            try:
                return checked(dates.parse(value, order))
            except dates.BadDate as bad:
                if bad.out_of_range and name in ("datetime", "smalldatetime"):
                    raise error(242, name_of(source), name) from None
                raise error(241) from None

        return from_text
    if source.name in NUMBERS:
        return lambda value: checked(days_to_datetime(value))
    if source.name == "date":
        return lambda value: checked(datetime.datetime(value.year, value.month, value.day))
    if source.name == "time":
        return lambda value: checked(datetime.datetime.combine(_EPOCH.date(), value))
    if source.name in BINARIES:
        return lambda value: checked(days_to_datetime(int.from_bytes(value[:4], "big", signed=True)))
    if source.name == "sql_variant":

        def from_variant(value: Any) -> Any:
            from aglab.tsql.execute.calls import type_of

            change = converter(getattr(value, "type", None) or type_of(value), target, style)
            held = getattr(value, "value", value)
            return held if change is None else change(held)

        return from_variant
    return checked


def _to_binary(source: SqlType, target: SqlType, style: int | None) -> Convert:
    length = target.length

    def shape(data: bytes) -> bytes:
        if length != MAX and length and len(data) > length:
            data = data[-length:] if source.name in NUMBERS else data[:length]
        if target.name == "binary" and len(data) < length:
            data = data.rjust(length, b"\0") if source.name in NUMBERS else data.ljust(length, b"\0")
        return data

    name = source.name
    if name in STRINGS:
        if style in (1, 2):

            def from_hex(value: Any) -> bytes:
                text = value.strip()
                try:
                    return shape(bytes.fromhex(text[2:] if style == 1 and text[:2].lower() == "0x" else text))
                except ValueError:
                    raise error(8114, name_of(source), target.name) from None

            return from_hex
        encoding = "utf-16-le" if name[0] == "n" else "cp1252"
        return lambda value: shape(value.encode(encoding, "replace"))
    if name in INTEGERS:
        width = {"bit": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}[name]
        return lambda value: shape(int(value).to_bytes(width, "big", signed=name not in ("bit", "tinyint")))
    if name == "uniqueidentifier":
        return lambda value: shape(value.bytes_le)
    if name in EXACTS:
        return lambda value: shape(int(value.scaleb(4)).to_bytes(8, "big", signed=True))
    if name in BINARIES:
        return shape
    return lambda value: shape(variant_text(value).encode("utf-16-le"))


def _to_uuid(source: SqlType) -> Convert:
    if source.name in BINARIES:
        return lambda value: uuid.UUID(bytes_le=value[:16].ljust(16, b"\0"))

    def from_text(value: Any) -> Any:
        text = value.strip().strip("{}")[:36]
        try:
            if text.count("-") != 4:
                raise ValueError
            return uuid.UUID(text)
        except ValueError:
            raise error(8169) from None

    return from_text


def lenient(convert: Convert) -> Convert:
    """TRY_CAST's version: NULL instead of an error."""

    def attempt(value: Any) -> Any:
        try:
            return convert(value)
        except TsqlError:
            return None

    return attempt
