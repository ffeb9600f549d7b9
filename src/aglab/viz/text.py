"""Numbers and short texts as figures, tables and captions write them."""

from __future__ import annotations

import html
import json
import math
import re
from typing import Any

import numpy as np

# unit as engine and Run hold it -> (divisor, unit on an axis); anything else is shown as it is
_AXIS_UNITS = {
    "B/s": (1e6, "MB/s"),
    "KB": (1e3, "MB"),
    "s": (1.0, "s"),
}


def significant(value: float, digits: int = 4) -> float:
    """``value`` rounded to significant digits: stored figures stay small and the same on every processor.

    >>> significant(99148.73), significant(0.00041237), significant(0.0)
    (99150.0, 0.0004124, 0.0)
    """
    if value == 0 or not math.isfinite(value):
        return float(value) if math.isfinite(value) else float("nan")
    return float(f"{value:.{digits - 1}e}")


def numbers(values: Any, digits: int = 4) -> list[float | None]:
    """A list of rounded numbers for JSON; what is not finite becomes null."""
    rounded = [significant(float(value), digits) for value in np.asarray(values, dtype=float)]
    return [
        None if math.isnan(value) else int(value) if value == int(value) and abs(value) < 1e15 else value for value in rounded
    ]


def human(value: float | None, digits: int = 4) -> str:
    """A number for a table: thousands separated, no more digits than it carries.

    >>> human(99149.0), human(0.41237), human(77.9), human(None), human(5.0)
    ('99,149', '0.4124', '77.9', 'n/a', '5')
    """
    if value is None or not math.isfinite(value):
        return "n/a"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{significant(value, digits):.10f}".rstrip("0").rstrip(".")
    return text if text not in ("-0", "") else "0"


def axis_unit(unit: str) -> tuple[float, str]:
    """Divisor and name of the unit a chart shows for a counter's unit."""
    return _AXIS_UNITS.get(unit, (1.0, unit))


def escape(text: object) -> str:
    """Text made safe for HTML content and attributes."""
    return html.escape(str(text), quote=True)


def inline(text: str) -> str:
    """HTML of a line that may hold `code`, **strong** and *emphasis*.

    >>> inline("Run `CHECKPOINT` at **once** <now>")
    'Run <code>CHECKPOINT</code> at <strong>once</strong> &lt;now&gt;'
    """
    safe = html.escape(text.strip(), quote=False)
    pieces = re.split(r"(`[^`]+`)", safe)
    done = []
    for piece in pieces:
        if piece.startswith("`") and piece.endswith("`") and len(piece) > 2:
            done.append(f"<code>{piece[1:-1]}</code>")
        else:
            piece = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", piece)
            done.append(re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", piece))
    return "".join(done)


def script_json(value: Any) -> str:
    """Compact JSON that can stand inside a script element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
