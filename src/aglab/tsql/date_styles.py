"""The numbered styles of CONVERT for dates and times: how each type is written, and in which order its parts are read.

A style is three parts: a date, a clock, and the offset of a datetimeoffset. A type that lacks the part a style needs is error
8114, a number that is no style 281. datetime and smalldatetime write milliseconds, after a colon in styles 9, 13, 14, 130 and
131; the newer types write as many digits as their scale, after a point. Sources: "CAST and CONVERT (Transact-SQL)", its table of
date and time styles and its notes; what each style gives for types without a date or a clock is from published captures of
SQL Server's answers, not from the documentation. Hijri dates follow the tabular calendar (the "Kuwaiti algorithm"). Left out:
the undocumented styles 26 to 35 and 115, and reading Hijri dates.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.dates import MONTH_NAMES
from aglab.tsql.messages import error

HIJRI_MONTHS = "محرم,صفر,ربيع الاول,ربيع الثاني,جمادى الاولى,جمادى الثانية,رجب,شعبان,رمضان,شوال,ذو القعدة,ذو الحجة".split(",")
HIJRI_EPOCH = datetime.date(622, 7, 18).toordinal()  # 1 Muharram of year 1, in the Gregorian calendar
CYCLE_DAYS = 10_631  # of 30 Hijri years

Date = Callable[[datetime.date], str]


def _mon(d: datetime.date) -> str:
    return MONTH_NAMES[d.month - 1][:3]


def _iso(d: datetime.date) -> str:
    return f"{d.year:04}-{d.month:02}-{d.day:02}"


def hijri(d: datetime.date) -> tuple[int, int, int]:
    """Year, month and day of the tabular Islamic calendar: in 30 years 11 have a day more. Error 9814 before its first day."""
    days = d.toordinal() - HIJRI_EPOCH
    if days < 0:
        raise error(9814)
    year = (30 * days + 10_646) // CYCLE_DAYS
    month = min(12, -(-2 * (days - 29 - _before(year)) // 59) + 1)
    while month > 1 and days < _before(year) + _months(month):
        month -= 1
    return year, month, days - _before(year) - _months(month) + 1


def _before(year: int) -> int:
    return (year - 1) * 354 + (3 + 11 * year) // 30


def _months(month: int) -> int:
    return -(-59 * (month - 1) // 2)


def _hijri_text(d: datetime.date, named: bool) -> str:
    year, month, day = hijri(d)
    return f"{day:>2} {HIJRI_MONTHS[month - 1]} {year}" if named else f"{day:>2}/{month:02}/{year}"


DATES: dict[int, Date] = {
    0: lambda d: f"{_mon(d)} {d.day:>2} {d.year:04}",
    1: lambda d: f"{d.month:02}/{d.day:02}/{d.year % 100:02}",
    101: lambda d: f"{d.month:02}/{d.day:02}/{d.year:04}",
    2: lambda d: f"{d.year % 100:02}.{d.month:02}.{d.day:02}",
    102: lambda d: f"{d.year:04}.{d.month:02}.{d.day:02}",
    3: lambda d: f"{d.day:02}/{d.month:02}/{d.year % 100:02}",
    103: lambda d: f"{d.day:02}/{d.month:02}/{d.year:04}",
    4: lambda d: f"{d.day:02}.{d.month:02}.{d.year % 100:02}",
    104: lambda d: f"{d.day:02}.{d.month:02}.{d.year:04}",
    5: lambda d: f"{d.day:02}-{d.month:02}-{d.year % 100:02}",
    105: lambda d: f"{d.day:02}-{d.month:02}-{d.year:04}",
    6: lambda d: f"{d.day:02} {_mon(d)} {d.year % 100:02}",
    106: lambda d: f"{d.day:02} {_mon(d)} {d.year:04}",
    7: lambda d: f"{_mon(d)} {d.day:02}, {d.year % 100:02}",
    107: lambda d: f"{_mon(d)} {d.day:02}, {d.year:04}",
    10: lambda d: f"{d.month:02}-{d.day:02}-{d.year % 100:02}",
    110: lambda d: f"{d.month:02}-{d.day:02}-{d.year:04}",
    11: lambda d: f"{d.year % 100:02}/{d.month:02}/{d.day:02}",
    111: lambda d: f"{d.year:04}/{d.month:02}/{d.day:02}",
    12: lambda d: f"{d.year % 100:02}{d.month:02}{d.day:02}",
    112: lambda d: f"{d.year:04}{d.month:02}{d.day:02}",
    20: _iso,
    130: lambda d: _hijri_text(d, True),
    131: lambda d: _hijri_text(d, False),
}
DATES |= {9: DATES[0], 13: DATES[106], 21: _iso, 22: DATES[1], 23: _iso, 126: _iso, 127: _iso}
# style -> clock: 12 or 24 hours, whether seconds, whether a fraction, what stands before AM
CLOCKS: dict[int, tuple[int, bool, bool, str]] = {
    0: (12, False, False, ""),
    8: (24, True, False, ""),
    9: (12, True, True, ""),
    13: (24, True, True, ""),
    14: (24, True, True, ""),
    20: (24, True, False, ""),
    21: (24, True, True, ""),
    22: (12, True, False, " "),
    126: (24, True, True, ""),
    127: (24, True, True, ""),
    130: (12, True, True, ""),
    131: (12, True, True, ""),
}
_SAME = {100: 0, 108: 8, 24: 8, 109: 9, 113: 13, 114: 14, 120: 20, 121: 21, 25: 21}
_COLON = frozenset({9, 13, 14, 130, 131})  # what stands before the milliseconds of datetime
_PADDED_ALONE = frozenset({22, 130, 131})  # the hour of a time by itself
ISO = frozenset({126, 127})
LEGACY = frozenset({"datetime", "smalldatetime"})


def styles() -> list[int]:
    """Every style number, of dates or of clocks."""
    return sorted({*DATES, *CLOCKS, *_SAME})


def date_writer(source: SqlType, style: int | None) -> Callable[[Any], str]:
    """A date or time type as text in a numbered style. Errors 281 (no such style), 8114 (the type lacks what it shows)."""
    name = source.name
    if style is None:
        style = 0 if name in LEGACY else 21
    known = _SAME.get(style, style)
    date, clock = DATES.get(known), CLOCKS.get(known)
    if (date is None and clock is None) or (name == "date" and known == 14):
        raise error(281, style, name)
    if (name == "date" and date is None) or (name == "time" and clock is None):
        raise error(8114, name, "varchar")
    if name == "date":
        assert date is not None
        return date
    if clock is None:
        assert date is not None
        return date
    return _moment(source, known, None if name == "time" else date, clock)


def _moment(source: SqlType, style: int, date: Date | None, clock: tuple[int, bool, bool, str]) -> Callable[[Any], str]:
    name = source.name
    hours, seconds, fraction, before_am = clock
    digits = 3 if name in LEGACY else source.scale
    mark = ":" if style in _COLON and name in LEGACY else "."
    pad = 2 if date is not None or style in _PADDED_ALONE else 0
    between = "T" if style in ISO else " "

    def write(value: Any) -> str:
        if style == 127 and name == "datetimeoffset":
            value = value.astimezone(datetime.UTC)
        hour = value.hour if hours == 24 else value.hour % 12 or 12
        text = f"{hour:02}:{value.minute:02}" if hours == 24 else f"{hour:>{pad}}:{value.minute:02}"
        if seconds:
            text += f":{value.second:02}"
        if fraction and digits and (value.microsecond or style not in ISO):
            text += f"{mark}{value.microsecond:06}0"[: digits + 1]
        if hours == 12:
            text += before_am + ("AM" if value.hour < 12 else "PM")
        if name == "datetimeoffset":
            text += "Z" if style == 127 else offset_text(value) if style == 126 else " " + offset_text(value)
        return text if date is None else f"{date(value)}{between}{text}"

    return write


def offset_text(value: datetime.datetime) -> str:
    """+hh:mm"""
    offset = value.utcoffset() or datetime.timedelta(0)
    minutes = int(offset.total_seconds()) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


ORDERS = {**dict.fromkeys((3, 4, 5, 103, 104, 105), "dmy"), **dict.fromkeys((2, 11, 102, 111), "ymd")}


def reading_order(style: int | None, source: SqlType, target: SqlType, shown: Callable[[SqlType], str]) -> str:
    """In which order a text's numbers are a date. Errors 9809 (no such style for the newer types), 59001 (Hijri)."""
    if style in (130, 131):
        from aglab.tsql.messages import not_implemented

        raise not_implemented(f"reading a Hijri date (CONVERT style {style})")
    if style is not None and style not in styles() and target.name not in LEGACY:
        raise error(9809, style, shown(source), shown(target))
    return ORDERS.get(style, "mdy") if style is not None else "mdy"


def default_text(value: datetime.datetime) -> str:
    """A moment as style 0 writes a datetime."""
    return date_writer(SqlType("datetime"), 0)(value)
