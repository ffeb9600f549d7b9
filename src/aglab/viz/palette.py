"""Colours by name, once for Python and for the front end, in a light and a dark set.

A figure never holds a colour: it holds tokens such as ``@s0`` (first series), ``@s0/0.2`` (the same, 20 % opaque), ``@ink``
or ``@grid``. Whoever draws it replaces them for the page's theme. Both sets keep 3:1 against their paper and stay apart for
the common colour-vision deficiencies; series also differ by dash and marker, so that colour is never the only sign.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from aglab.core.errors import unknown_name

FRONTEND = Path(__file__).resolve().parent / "frontend"
SERIES = 6
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")

_TOKEN = re.compile(r"^@([a-z]+[0-9]?)(?:/(0?\.[0-9]+|1))?$")


@lru_cache(maxsize=1)
def palette() -> dict[str, dict[str, str]]:
    """``{"light": {token: "#rrggbb"}, "dark": {...}}``."""
    loaded: dict[str, dict[str, str]] = json.loads((FRONTEND / "palette.json").read_text(encoding="utf-8"))
    return loaded


def series_colour(index: int) -> str:
    """The token of the n-th series; after the last it starts again."""
    return f"@s{index % SERIES}"


def themed(value: Any, theme: str = "light") -> Any:
    """A copy of a Plotly structure with every colour token replaced for ``theme`` (``light`` or ``dark``)."""
    colours = palette()
    if theme not in colours:
        raise unknown_name("theme", theme, list(colours))
    return _replace(value, colours[theme])


def _replace(value: Any, colours: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replace(item, colours) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace(item, colours) for item in value]
    if isinstance(value, str):
        match = _TOKEN.match(value)
        if match and match.group(1) in colours:
            return _with_alpha(colours[match.group(1)], match.group(2))
    return value


def _with_alpha(colour: str, alpha: str | None) -> str:
    if alpha is None:
        return colour
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{float(alpha):g})"
