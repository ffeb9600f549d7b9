"""RAISERROR's substitutions."""

from __future__ import annotations

import re
from typing import Any

from aglab.tsql.messages import error

_FORMAT = re.compile(r"%(-?\+?0?#? ?)(\*|\d+)?(?:\.(\*|\d+))?(I64|h|l)?([diouxXs%])")


def format_message(text: str, args: list[Any]) -> str:
    """RAISERROR's and FORMATMESSAGE's substitutions: %s %d %i %u %o %x %X, width, precision, * and %%."""
    remaining = list(args)

    def take() -> Any:
        return remaining.pop(0) if remaining else None

    def replace(match: re.Match[str]) -> str:
        flags, width, precision, _, kind = match.groups()
        if kind == "%":
            return "%"
        width = str(take() or 0) if width == "*" else width
        precision = str(take() or 0) if precision == "*" else precision
        value = take()
        if value is None:
            shown = "(null)"
        elif kind == "s":
            shown = str(value)[: int(precision)] if precision else str(value)
        elif not isinstance(value, int):
            raise error(2786, 1)
        elif kind in "ouxX":
            number = value % 2**32
            shown = {"o": f"{number:o}", "u": str(number), "x": f"{number:x}", "X": f"{number:X}"}[kind]
            if "#" in flags and kind in "xX":
                shown = f"0{kind}{shown}"
        else:
            shown = f"{value:+d}" if "+" in flags else str(value)
        size = min(int(width or 0), 2047)
        if "-" in flags:
            return shown.ljust(size)
        return shown.rjust(size, "0" if "0" in flags and kind != "s" else " ")

    return _FORMAT.sub(replace, text)
