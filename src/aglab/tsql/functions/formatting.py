"""FORMAT(): .NET patterns for numbers and moments, as far as scripts use them (en-US)."""

from __future__ import annotations

import datetime
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from aglab.tsql.dates import DAY_NAMES, MONTH_NAMES
from aglab.tsql.messages import not_implemented

_DATE_TOKENS = re.compile(r"yyyy|yy|MMMM|MMM|MM|M|dddd|ddd|dd|d|HH|H|hh|h|mm|m|ss|s|f{1,7}|tt|t|'[^']*'|\\.|.")
_STANDARD_DATES = {
    "d": "M/d/yyyy",
    "D": "dddd, MMMM d, yyyy",
    "t": "h:mm tt",
    "T": "h:mm:ss tt",
    "g": "M/d/yyyy h:mm tt",
    "G": "M/d/yyyy h:mm:ss tt",
    "s": "yyyy-MM-ddTHH:mm:ss",
    "u": "yyyy-MM-dd HH:mm:ssZ",
    "M": "MMMM d",
    "Y": "MMMM yyyy",
    "f": "dddd, MMMM d, yyyy h:mm tt",
    "F": "dddd, MMMM d, yyyy h:mm:ss tt",
}


def format_value(value: Any, pattern: str) -> str | None:
    """The value in a .NET pattern."""
    if isinstance(value, (datetime.date, datetime.time)):
        return _moment(value, _STANDARD_DATES.get(pattern, pattern))
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise not_implemented("FORMAT of this data type")
    return _number(value, pattern)


def _moment(value: Any, pattern: str) -> str:
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date(1900, 1, 1), value)
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    parts = {
        "yyyy": f"{value.year:04}",
        "yy": f"{value.year % 100:02}",
        "MMMM": MONTH_NAMES[value.month - 1],
        "MMM": MONTH_NAMES[value.month - 1][:3],
        "MM": f"{value.month:02}",
        "M": str(value.month),
        "dddd": DAY_NAMES[value.weekday()],
        "ddd": DAY_NAMES[value.weekday()][:3],
        "dd": f"{value.day:02}",
        "d": str(value.day),
        "HH": f"{value.hour:02}",
        "H": str(value.hour),
        "hh": f"{(value.hour % 12) or 12:02}",
        "h": str((value.hour % 12) or 12),
        "mm": f"{value.minute:02}",
        "m": str(value.minute),
        "ss": f"{value.second:02}",
        "s": str(value.second),
        "tt": "AM" if value.hour < 12 else "PM",
        "t": "A" if value.hour < 12 else "P",
    }

    def replace(match: re.Match[str]) -> str:
        token = match[0]
        if token[0] == "f" and set(token) == {"f"}:
            return f"{value.microsecond:06}0"[: len(token)]
        if token[0] == "'":
            return token[1:-1]
        if token[0] == "\\" and len(token) == 2:
            return token[1]
        return parts.get(token, token)

    return _DATE_TOKENS.sub(replace, pattern)


def _rounded(value: Any, places: int) -> Decimal:
    return Decimal(repr(value) if isinstance(value, float) else value).quantize(
        Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP
    )


def _number(value: Any, pattern: str) -> str:
    standard = re.fullmatch(r"([NnFfPpCcDdEeGgXx])(\d*)", pattern)
    if standard:
        kind, digits = standard[1].upper(), standard[2]
        places = int(digits) if digits else {"N": 2, "F": 2, "P": 2, "C": 2, "E": 6}.get(kind, 0)
        if kind == "N":
            return f"{_rounded(value, places):,f}"
        if kind == "F":
            return f"{_rounded(value, places):f}"
        if kind == "P":
            return f"{_rounded(Decimal(repr(value) if isinstance(value, float) else value) * 100, places):,f}%"
        if kind == "C":
            amount = _rounded(abs(value), places)
            return f"(${amount:,f})" if value < 0 else f"${amount:,f}"
        if kind == "D":
            return f"{'-' if value < 0 else ''}{abs(int(value)):0{places or 1}d}"
        if kind == "X":
            return f"{int(value):0{places or 1}{'X' if standard[1] == 'X' else 'x'}}"
        if kind == "E":
            mantissa, _, exponent = f"{value:.{places}E}".partition("E")
            return f"{mantissa}E{exponent[0]}{int(exponent[1:]):03}"
        return f"{value:g}" if isinstance(value, float) else f"{value}"
    match = re.search(r"[#0,.%]+", pattern)
    if not match:
        return pattern
    body = match[0]
    number = Decimal(repr(value) if isinstance(value, float) else value) * (100 if "%" in body else 1)
    body_digits = body.replace("%", "")
    whole, _, fraction = body_digits.partition(".")
    text = f"{_rounded(abs(number), len(fraction)):f}"
    integer, _, decimals = text.partition(".")
    least = sum(1 for i, c in enumerate(fraction) if "0" in fraction[i:])
    while len(decimals) > least and decimals.endswith("0"):
        decimals = decimals[:-1]
    integer = integer.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole and integer:
        integer = f"{int(integer):,}".rjust(whole.count("0"), "0")
    shown = ("-" if number < 0 else "") + integer + (f".{decimals}" if decimals else "") + ("%" if "%" in body else "")
    return pattern[: match.start()] + shown + pattern[match.end() :]
