"""Functions of dates and times. Parts and results as in "Date and time data types and functions"."""

from __future__ import annotations

import calendar
import datetime
from typing import Any

from aglab.core.sqltypes import BIGINT, INT, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.date_styles import offset_text
from aglab.tsql.dates import DAY_NAMES, MONTH_NAMES, round_datetime
from aglab.tsql.functions.registry import MOMENT, builder, prepare, simple
from aglab.tsql.messages import error
from aglab.tsql.query.scope import Expr

PARTS = {}
for _names in (
    "year yy yyyy",
    "quarter qq q",
    "month mm m",
    "dayofyear dy y",
    "day dd d",
    "week wk ww",
    "weekday dw",
    "hour hh",
    "minute mi n",
    "second ss s",
    "millisecond ms",
    "microsecond mcs",
    "nanosecond ns",
    "iso_week isowk isoww",
    "tzoffset tz",
):
    for _alias in _names.split():
        PARTS[_alias] = _names.split()[0]
DATETIME = SqlType("datetime")


def date_part(call: ast.Call, allowed: tuple[str, ...] = ()) -> str:
    """The first argument as a date part; error 155."""
    node = call.args[0]
    if isinstance(node, ast.ColumnRef) and len(node.parts) == 1:
        part = PARTS.get(node.name.lower())
        if part is not None:
            return part
        raise error(155, node.name, call.parts[-1].lower(), line=call.line, state=1)
    raise error(1023, 1, call.parts[-1].lower(), line=call.line)


def _naive(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    return datetime.datetime.combine(datetime.date(1900, 1, 1), value)


def _moment_type(expr: Expr) -> SqlType:
    if expr.type is None or expr.type.name not in ("date", "time", "datetime", "datetime2", "smalldatetime", "datetimeoffset"):
        return DATETIME
    return expr.type


def add_months(moment: datetime.datetime, months: int) -> datetime.datetime:
    """The same day ``months`` later, or the month's last day."""
    total = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(total, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))


def shift(moment: datetime.datetime, part: str, number: int) -> datetime.datetime:
    """DATEADD on a moment."""
    if part == "year":
        return add_months(moment, 12 * number)
    if part == "quarter":
        return add_months(moment, 3 * number)
    if part == "month":
        return add_months(moment, number)
    units = {"dayofyear": 86400, "day": 86400, "weekday": 86400, "week": 604800, "hour": 3600, "minute": 60, "second": 1}
    if part in units:
        return moment + datetime.timedelta(seconds=units[part] * number)
    return moment + datetime.timedelta(
        microseconds={"millisecond": 1000, "microsecond": 1}.get(part, 0) * number
        + (number // 1000 if part == "nanosecond" else 0)
    )


@builder("DATEADD", 3)
def _dateadd(compiler: Any, call: ast.Call, _: list[Expr]) -> Expr:
    part = date_part(call)
    if part in ("iso_week", "tzoffset"):
        raise error(9810, call.args[0].parts[-1] if isinstance(call.args[0], ast.ColumnRef) else part, "dateadd", line=call.line)
    number = prepare(compiler, call, 1, compiler.value(call.args[1]), "i")
    source = compiler.value(call.args[2])
    sql_type = _moment_type(source)
    value = compiler.convert(source, sql_type, explicit=True)
    if sql_type.name == "date" and part in ("hour", "minute", "second", "millisecond", "microsecond", "nanosecond"):
        raise error(9810, part, "dateadd", line=call.line)
    count_fn, value_fn, name = number.fn, value.fn, sql_type.name

    def run(frame: Any) -> Any:
        count, moment = count_fn(frame), value_fn(frame)
        if count is None or moment is None:
            return None
        zone = moment.tzinfo if isinstance(moment, datetime.datetime) else None
        try:
            result = shift(_naive(moment), part, count)
        except (OverflowError, ValueError):
            raise error(517, name) from None
        if name == "date":
            return result.date()
        if name == "time":
            return result.time()
        if name in ("datetime", "smalldatetime"):
            if result.year < 1753:
                raise error(517, name)
            return round_datetime(result)
        return result.replace(tzinfo=zone)

    return Expr(run, sql_type, number.refs | value.refs)


def difference(part: str, start: datetime.datetime, end: datetime.datetime) -> int:
    """DATEDIFF: boundaries crossed."""
    if part == "year":
        return end.year - start.year
    if part == "quarter":
        return (end.year - start.year) * 4 + (end.month - 1) // 3 - (start.month - 1) // 3
    if part == "month":
        return (end.year - start.year) * 12 + end.month - start.month
    if part in ("day", "dayofyear", "weekday"):
        return (end.date() - start.date()).days
    if part == "week":  # weeks begin on Sunday whatever DATEFIRST says
        return ((end.date().toordinal()) // 7) - (start.date().toordinal() // 7)
    if part == "iso_week":
        return ((end.date().toordinal() - 1) // 7) - ((start.date().toordinal() - 1) // 7)
    base = datetime.datetime(1, 1, 1)
    micro = datetime.timedelta(microseconds=1)
    a, b = (start - base) // micro, (end - base) // micro
    unit = {"hour": 3600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000, "microsecond": 1}.get(part)
    if unit is None:
        return (b - a) * 1000
    return b // unit - a // unit


@builder("DATEDIFF DATEDIFF_BIG", 3)
def _datediff(compiler: Any, call: ast.Call, _: list[Expr]) -> Expr:
    part = date_part(call)
    first, second = (compiler.value(arg) for arg in call.args[1:])
    a, b = (prepare(compiler, call, i, e, "d").fn for i, e in ((1, first), (2, second)))
    big = call.name == "DATEDIFF_BIG"

    def run(frame: Any) -> Any:
        start, end = a(frame), b(frame)
        if start is None or end is None:
            return None
        result = difference(part, _naive(start), _naive(end))
        if not big and not -(2**31) <= result < 2**31:
            raise error(535)
        return result

    return Expr(run, BIGINT if big else INT, first.refs | second.refs)


def part_value(part: str, moment: datetime.datetime, datefirst: int = 7) -> int:
    """DATEPART of a moment."""
    if part == "quarter":
        return (moment.month - 1) // 3 + 1
    if part == "dayofyear":
        return moment.timetuple().tm_yday
    if part == "weekday":
        return (moment.isoweekday() - datefirst) % 7 + 1
    if part == "week":
        first = datetime.date(moment.year, 1, 1)
        return (moment.timetuple().tm_yday + (first.isoweekday() - datefirst) % 7 - 1) // 7 + 1
    if part == "iso_week":
        return moment.isocalendar()[1]
    if part == "millisecond":
        return moment.microsecond // 1000
    if part == "nanosecond":
        return moment.microsecond * 1000
    if part == "tzoffset":
        return int((moment.utcoffset() or datetime.timedelta()).total_seconds() // 60)
    return getattr(moment, part)


@builder("DATEPART", 2)
def _datepart(compiler: Any, call: ast.Call, _: list[Expr]) -> Expr:
    part = date_part(call)
    source = compiler.value(call.args[1])
    fn = prepare(compiler, call, 1, source, "d").fn

    def run(frame: Any) -> Any:
        value = fn(frame)
        if value is None:
            return None
        moment = value if isinstance(value, datetime.datetime) else _naive(value)
        return part_value(part, moment, frame[0].session.options.datefirst)

    return Expr(run, INT, source.refs)


@builder("DATENAME", 2)
def _datename(compiler: Any, call: ast.Call, _: list[Expr]) -> Expr:
    part = date_part(call)
    source = compiler.value(call.args[1])
    fn = prepare(compiler, call, 1, source, "d").fn

    def run(frame: Any) -> Any:
        value = fn(frame)
        if value is None:
            return None
        moment = value if isinstance(value, datetime.datetime) else _naive(value)
        if part == "month":
            return MONTH_NAMES[moment.month - 1]
        if part == "weekday":
            return DAY_NAMES[moment.weekday()]
        if part == "tzoffset":
            return offset_text(moment)
        return str(part_value(part, moment, frame[0].session.options.datefirst))

    return Expr(run, nvarchar(30), source.refs)


for _unit in ("YEAR", "MONTH", "DAY"):
    simple(_unit, "d", INT)(lambda value, _unit=_unit: getattr(_naive(value), _unit.lower()))


@builder("DATETRUNC", 2)
def _datetrunc(compiler: Any, call: ast.Call, _: list[Expr]) -> Expr:
    part = date_part(call)
    source = compiler.value(call.args[1])
    sql_type = (
        source.type
        if source.type is not None and source.type.name in ("date", "datetime", "datetime2", "smalldatetime")
        else MOMENT
    )
    fn = compiler.convert(source, sql_type, explicit=True).fn

    def run(frame: Any) -> Any:
        value = fn(frame)
        if value is None:
            return None
        moment = _naive(value)
        if part == "quarter":
            result = datetime.datetime(moment.year, (moment.month - 1) // 3 * 3 + 1, 1)
        elif part in ("week", "iso_week"):
            back = (moment.isoweekday() - (frame[0].session.options.datefirst if part == "week" else 1)) % 7
            result = datetime.datetime(moment.year, moment.month, moment.day) - datetime.timedelta(days=back)
        else:
            order = ["year", "month", "day", "hour", "minute", "second"]
            keep = order.index({"dayofyear": "day"}.get(part, part)) if {"dayofyear": "day"}.get(part, part) in order else 5
            values = [getattr(moment, name) for name in order]
            parts: list[Any] = [v if i <= keep else (1 if i < 3 else 0) for i, v in enumerate(values)]
            result = datetime.datetime(*parts)
            if part == "millisecond":
                result = result.replace(microsecond=moment.microsecond // 1000 * 1000)
        return result.date() if sql_type.name == "date" else result

    return Expr(run, sql_type, source.refs)


simple("EOMONTH", "di", SqlType("date"), optional=1)(
    lambda value, months=0: (lambda m: m.replace(day=calendar.monthrange(m.year, m.month)[1]).date())(
        add_months(_naive(value).replace(day=1), months)
    )
)
simple("ISDATE", "s", INT)(lambda text: _isdate(text))


def _isdate(text: str) -> int:
    from aglab.tsql.dates import BadDate, parse

    try:
        return 1 if parse(text).year >= 1753 else 0
    except BadDate:
        return 0


def _from_parts(name: str, kinds: str, sql_type: SqlType, make: Any) -> None:
    def run(*values: int) -> Any:
        try:
            return make(*values)
        except (ValueError, OverflowError):
            raise error(289, sql_type.name) from None

    simple(name, kinds, sql_type)(run)


_from_parts("DATEFROMPARTS", "iii", SqlType("date"), datetime.date)
_from_parts(
    "DATETIMEFROMPARTS",
    "iiiiiii",
    DATETIME,
    lambda y, m, d, h, mi, s, ms: round_datetime(datetime.datetime(y, m, d, h, mi, s, ms * 1000)),
)
_from_parts(
    "TIMEFROMPARTS",
    "iiiii",
    SqlType("time", scale=7),
    lambda h, m, s, f, p: datetime.time(h, m, s, int(f * 10 ** (6 - p)) if p <= 6 else f // 10),
)
_from_parts(
    "DATETIME2FROMPARTS",
    "iiiiiiii",
    MOMENT,
    lambda y, mo, d, h, m, s, f, p: datetime.datetime(y, mo, d, h, m, s, int(f * 10 ** (6 - p)) if p <= 6 else f // 10),
)


def _clock(names: str, sql_type: SqlType, shape: Any) -> None:
    @builder(names, 0)
    def build(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
        return Expr(lambda frame: shape(frame[0].now()), sql_type, nullable=False)


_clock("GETDATE CURRENT_TIMESTAMP GETUTCDATE", DATETIME, round_datetime)
_clock("SYSDATETIME SYSUTCDATETIME", MOMENT, lambda now: now)
_clock("SYSDATETIMEOFFSET", SqlType("datetimeoffset", scale=7), lambda now: now.replace(tzinfo=datetime.UTC))
_clock("CURRENT_DATE", SqlType("date"), lambda now: now.date())


@builder("SWITCHOFFSET TODATETIMEOFFSET", 2)
def _switch(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    value, zone = prepare(compiler, call, 0, args[0], "d").fn, args[1]
    zone_fn, switching = zone.fn, call.name == "SWITCHOFFSET"

    def run(frame: Any) -> Any:
        moment, text = value(frame), zone_fn(frame)
        if moment is None or text is None:
            return None
        minutes = text if isinstance(text, int) else (-1 if text[0] == "-" else 1) * (int(text[1:3]) * 60 + int(text[4:6]))
        offset = datetime.timezone(datetime.timedelta(minutes=minutes))
        if switching:
            moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
            return moment.astimezone(offset)
        return _naive(moment).replace(tzinfo=offset)

    return Expr(run, SqlType("datetimeoffset", scale=7), args[0].refs | zone.refs)
