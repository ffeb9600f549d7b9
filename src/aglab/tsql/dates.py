"""Dates and times as text: what is read. Source: "CAST and CONVERT (Transact-SQL)"."""

from __future__ import annotations

import datetime
import re

_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
MONTH_NAMES = "January February March April May June July August September October November December".split()
DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

_TIME = re.compile(
    r"(?:^|(?<=[\sT]))(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.:](\d{1,9}))?)?)?\s*(am|pm)?\s*(Z|[+-]\d{2}:\d{2})?$", re.IGNORECASE
)
_ISO = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})$")
_COMPACT = re.compile(r"^(\d{4})(\d{2})(\d{2})$")
_SHORT = re.compile(r"^(\d{2})(\d{2})(\d{2})$")
_SLASHED = re.compile(r"^(\d{1,4})[/.\-](\d{1,2})[/.\-](\d{1,4})$")
_MONTH_FIRST = re.compile(r"^([A-Za-z]{3,9})\.?\s+(\d{1,2}),?\s+(\d{2,4})$")
_DAY_FIRST = re.compile(r"^(\d{1,2})[\s-]([A-Za-z]{3,9})[\s-,]*(\d{2,4})$".replace("[\\s-,]", "[\\s,-]"))
_YEAR_ONLY = re.compile(r"^(\d{4})$")

BASE = datetime.datetime(1900, 1, 1)


class BadDate(ValueError):
    """The text is no date (``out_of_range`` False) or names a day that does not exist (True)."""

    def __init__(self, out_of_range: bool = False) -> None:
        super().__init__("out of range" if out_of_range else "not a date")
        self.out_of_range = out_of_range


def parse(text: str, dateformat: str = "mdy") -> datetime.datetime:
    """The moment a text means; a missing date is 1900-01-01; an offset makes it aware. Raises BadDate."""
    text = text.strip()
    if not text:
        return BASE
    clock, offset = (0, 0, 0, 0), None
    date_text = text
    match = _TIME.search(text)
    if match and (":" in match.group(0) or match.group(5)):
        date_text = text[: match.start()].rstrip("T ").strip()
        clock, offset = _clock(match)
    date = _date(date_text, dateformat) if date_text else BASE.date()
    try:
        moment = datetime.datetime(date.year, date.month, date.day, *clock)
    except ValueError:
        raise BadDate(True) from None
    return moment.replace(tzinfo=offset) if offset is not None else moment


def _clock(match: re.Match[str]) -> tuple[tuple[int, int, int, int], datetime.tzinfo | None]:
    hour, minute, second = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    micro = int(((match[4] or "") + "000000")[:6])
    if match[5]:
        if not 1 <= hour <= 12:
            raise BadDate()
        hour = hour % 12 + (12 if match[5].lower() == "pm" else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise BadDate(True)
    offset: datetime.tzinfo | None = None
    if match[6]:
        if match[6] in "Zz":
            offset = datetime.UTC
        else:
            sign = -1 if match[6][0] == "-" else 1
            offset = datetime.timezone(sign * datetime.timedelta(hours=int(match[6][1:3]), minutes=int(match[6][4:6])))
    return (hour, minute, second, micro), offset


def _date(text: str, dateformat: str) -> datetime.date:
    for pattern in (_ISO, _COMPACT):
        match = pattern.match(text)
        if match:
            return _make(int(match[1]), int(match[2]), int(match[3]))
    match = _SHORT.match(text)
    if match:
        return _make(_century(int(match[1])), int(match[2]), int(match[3]))
    match = _YEAR_ONLY.match(text)
    if match:
        return _make(int(match[1]), 1, 1)
    match = _SLASHED.match(text)
    if match:
        a, b, c = match.groups()
        if len(a) == 4:
            return _make(int(a), int(b), int(c))
        order = dateformat if len(c) != 4 or dateformat[2] == "y" else "mdy"
        parts = dict(zip(order, (int(a), int(b), int(c)), strict=True))
        return _make(_century(parts["y"]) if parts["y"] < 100 else parts["y"], parts["m"], parts["d"])
    match = _MONTH_FIRST.match(text)
    if match:
        return _make(_century(int(match[3])), _month(match[1]), int(match[2]))
    match = _DAY_FIRST.match(text)
    if match:
        return _make(_century(int(match[3])), _month(match[2]), int(match[1]))
    raise BadDate()


def _month(word: str) -> int:
    number = _MONTHS.get(word[:3].lower())
    if number is None or not MONTH_NAMES[number - 1].lower().startswith(word.lower()):
        raise BadDate()
    return number


def _century(year: int) -> int:
    return year if year >= 100 else 2000 + year if year <= 49 else 1900 + year


def _make(year: int, month: int, day: int) -> datetime.date:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        raise BadDate(True) from None


def round_datetime(moment: datetime.datetime) -> datetime.datetime:
    """To SQL Server's datetime grid of 1/300 s, shown as .000, .003, .007 seconds."""
    ticks = (moment.microsecond * 3 + 5000) // 10000
    milliseconds = (ticks * 10 + 1) // 3
    return moment.replace(microsecond=0) + datetime.timedelta(milliseconds=milliseconds)


def round_fraction(moment: datetime.datetime, scale: int) -> datetime.datetime:
    """To ``scale`` decimal places of a second."""
    if scale >= 6 or moment.microsecond == 0:
        return moment
    unit = 10 ** (6 - scale)
    rounded = (moment.microsecond + unit // 2) // unit * unit
    return moment.replace(microsecond=0) + datetime.timedelta(microseconds=rounded)
