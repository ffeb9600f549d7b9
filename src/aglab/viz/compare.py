"""Published numbers beside the twin's: ranges per counter, and signed errors per row, with each row's role on show.

A row is a comparison row of ``aglab.published`` (``id``, ``condition``, ``counter``, ``stat``, ``role``, ``published``,
``twin``, ``unit``, ``error_pct``, ``reason``), a mapping or an object with these names.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from aglab.core.errors import UsageError
from aglab.viz.figure import Figure, Table
from aglab.viz.figures import short
from aglab.viz.panels import axis, axis_name, panel_title
from aglab.viz.text import axis_unit, human, numbers, significant

ROLE_SYMBOLS = {"input": "triangle-up", "fitted": "square", "predicted": "circle", "residual": "x"}
ROLE_COLOURS = {"input": "@s5", "fitted": "@s2", "predicted": "@s0", "residual": "@s1"}
LINE_PX = 22
HEAD_PX = 72
FIELDS = (
    "id",
    "condition",
    "counter",
    "stat",
    "role",
    "published",
    "twin",
    "unit",
    "error_pct",
    "reason",
    "subject",
    "profile",
    "repeats",
)


def comparison(rows: Iterable[Any], *, title: str = "Published beside the twin", label: str = "", caption: str = "") -> Figure:
    """One panel per counter, one pair of lines per condition: the paper's range and average, and the twin's.

    The marker of an average shows the role of its row: square fitted, circle predicted, cross residual, triangle input.

    Raises
    ------
    UsageError
        There is no row.
    """
    found = as_rows(rows)
    groups: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for row in found:
        groups.setdefault(row["counter"], {}).setdefault(row["condition"], {})[row["stat"]] = row
    heights = [HEAD_PX + LINE_PX * 2 * len(conditions) for conditions in groups.values()]
    inner = float(sum(heights))
    layout = bars_layout(inner)
    data: list[dict[str, Any]] = []
    top_px = 0.0
    for panel, (counter, conditions) in enumerate(groups.items()):
        unit = next(iter(next(iter(conditions.values())).values()))["unit"]
        divisor, shown = axis_unit(unit)
        top = 1 - (top_px + 20) / inner
        bottom = 1 - (top_px + heights[panel] - 30) / inner
        suffix = "" if panel == 0 else str(panel + 1)
        layout[f"yaxis{suffix}"] = _condition_axis(list(conditions), max(0.0, bottom), top)
        layout[f"xaxis{suffix}"] = axis({"anchor": axis_name(panel), "rangemode": "tozero", "nticks": 5})
        layout["annotations"].append(panel_title(f"{short(counter)} ({shown})", top))
        for source in ("published", "twin"):
            data.append(_ranges(conditions, source, panel, divisor, shown))
        top_px += heights[panel]
    layout["showlegend"] = True
    return Figure(title, data, layout, _describe(title, found), (table(found),), label, caption)


def errors(rows: Iterable[Any], *, title: str = "Error of the twin, row by row", label: str = "", caption: str = "") -> Figure:
    """Signed error in per cent of every row that has one, grouped by role; marker and colour say the role.

    Raises
    ------
    UsageError
        No row has an error.
    """
    found = sorted(
        (row for row in as_rows(rows) if _finite(row["error_pct"])), key=lambda row: list(ROLE_SYMBOLS).index(row["role"])
    )
    if not found:
        raise UsageError("no row has an error to draw", "score the twin first: aglab published score")
    names = _row_names(found)
    layout = bars_layout(30.0 * len(found), below_px=52)
    places = {"tickvals": list(range(len(found))), "ticktext": names, "range": [len(found) - 0.4, -0.6], "zeroline": False}
    layout["yaxis"] = axis({"automargin": True, "tickfont": {"size": 10, "color": "@muted"}, **places})
    layout["xaxis"] = axis(
        {"title": {"text": "twin minus published, %", "standoff": 6}, "zeroline": True, "zerolinecolor": "@axis"}
    )
    layout["showlegend"] = True
    data = []
    for role, symbol in ROLE_SYMBOLS.items():
        mine = [(place, row) for place, row in enumerate(found) if row["role"] == role]
        if mine:
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": role,
                    "x": numbers([row["error_pct"] for _, row in mine]),
                    "y": [place for place, _ in mine],
                    "text": [names[place] for place, _ in mine],
                    "marker": {"symbol": symbol, "size": 10, "color": ROLE_COLOURS[role]},
                    "hovertemplate": "%{text}<br>%{x:+.1f} %<extra>" + role + "</extra>",
                }
            )
    worst = max(found, key=lambda row: abs(row["error_pct"]))
    alt = f"{title}. {len(found)} rows; the largest error is {worst['error_pct']:+.1f} % ({worst['id']}, {worst['role']})."
    return Figure(title, data, layout, alt, (table(found),), label, caption)


def _row_names(rows: list[dict[str, Any]]) -> list[str]:
    """Two short lines for each row; what was measured is added where two rows would read the same."""
    plain = [(short(row["counter"]), f"{row['condition']}, {row['stat']}") for row in rows]
    names = []
    for row, pair in zip(rows, plain, strict=True):
        twice = plain.count(pair) > 1 and row["subject"]
        names.append(f"{pair[0]}, {row['subject']}<br>{pair[1]}" if twice else f"{pair[0]}<br>{pair[1]}")
    return names


def table(rows: Iterable[Any], caption: str = "Published and twin, row by row") -> Table:
    """The comparison as a table: what, stat, role, published, twin, unit, error; the profile where the rows have several."""
    found = as_rows(rows)
    several = len({row["profile"] for row in found}) > 1
    columns = ("counter", "condition", "role", "published", "twin", "error %", "note", *(("profile",) if several else ()))
    lines = []
    for row in found:
        error = significant(row["error_pct"], 3) if _finite(row["error_pct"]) else "n/a"
        twin = significant(row["twin"], 5) if _finite(row["twin"]) else "n/a"
        subject = f", {row['subject']}" if row["subject"] else ""
        what = (f"{short(row['counter'])} ({row['unit']}){subject}", f"{row['condition']}, {row['stat']}", row["role"])
        more = (row["profile"] or "",) if several else ()
        lines.append((*what, row["published"], twin, error, row["reason"] or "", *more))
    return Table(caption, columns, tuple(lines))


def as_rows(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Comparison rows as dictionaries with every field of :data:`FIELDS`."""
    found = []
    for row in rows:
        get = row.get if isinstance(row, Mapping) else lambda key, default=None, row=row: getattr(row, key, default)
        found.append({key: get(key, None) for key in FIELDS})
    if not found:
        raise UsageError("there is no row to compare", "aglab published list names the tables")
    return found


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)


def bars_layout(inner: float, below_px: int = 18) -> dict[str, Any]:
    return {
        "height": int(inner) + 110,
        "margin": {"l": 8, "r": 16, "t": 56, "b": 54},
        "font": {"color": "@ink", "size": 12, "family": "inherit"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "@paper", "bordercolor": "@axis", "font": {"color": "@ink"}},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": -below_px / inner,
            "yanchor": "top",
            "bgcolor": "rgba(0,0,0,0)",
        },
        "annotations": [],
        "showlegend": False,
        "dragmode": False,
    }


def _condition_axis(conditions: list[str], bottom: float, top: float) -> dict[str, Any]:
    """Conditions from top to bottom at whole numbers; the paper's line lies a little above, the twin's a little below."""
    places = {"tickvals": list(range(len(conditions))), "ticktext": [_wrapped(name, 14) for name in conditions]}
    return axis(
        {
            "domain": [bottom, top],
            "range": [len(conditions) - 0.45, -0.55],
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
            **places,
        }
    )


def _wrapped(text: str, width: int) -> str:
    """Axis texts on several short lines leave a phone room for the picture."""
    return "<br>".join(textwrap.wrap(text, width, break_long_words=False)) or text


def _ranges(
    conditions: Mapping[str, Mapping[str, Mapping[str, Any]]], source: str, panel: int, divisor: float, unit: str
) -> dict[str, Any]:
    published = source == "published"
    x, y, plus, minus, symbols, hover = [], [], [], [], [], []
    for place, (condition, stats) in enumerate(conditions.items()):
        centre_row = stats.get("avg") or next(iter(stats.values()))
        centre = centre_row[source]
        if not _finite(centre):
            continue
        low, high = (stats[stat][source] if stat in stats else None for stat in ("min", "max"))
        x.append(centre / divisor)
        y.append(place - 0.17 if published else place + 0.17)
        plus.append((high - centre) / divisor if _finite(high) else 0)
        minus.append((centre - low) / divisor if _finite(low) else 0)
        symbols.append(ROLE_SYMBOLS.get(centre_row["role"], "circle") + ("-open" if published else ""))
        span = f", {human(low / divisor)} to {human(high / divisor)}" if _finite(low) and _finite(high) else ""
        error = f", error {centre_row['error_pct']:+.1f} %" if not published and _finite(centre_row["error_pct"]) else ""
        who = f"{condition}, {'paper' if published else 'twin'}"
        hover.append(f"{who}<br>{human(centre / divisor)} {unit}{span}<br>role: {centre_row['role']}{error}")
    colour = "@s5" if published else "@s0"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "paper" if published else "twin",
        "legendgroup": source,
        "showlegend": panel == 0,
        "x": numbers(x),
        "y": y,
        "text": hover,
        "hovertemplate": "%{text}<extra></extra>",
        "xaxis": axis_name(panel, "x"),
        "yaxis": axis_name(panel),
        "marker": {"size": 11, "color": colour, "symbol": symbols, "line": {"width": 2, "color": colour}},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": numbers(plus),
            "arrayminus": numbers(minus),
            "color": colour,
            "thickness": 2.5,
            "width": 4,
        },
    }


def _describe(title: str, rows: list[dict[str, Any]]) -> str:
    parts = []
    for row in rows:
        if row["stat"] == "avg" and _finite(row["twin"]):
            error = f" ({row['error_pct']:+.1f} %)" if _finite(row["error_pct"]) else ""
            numbers_of = f"paper {human(row['published'])}, twin {human(row['twin'])} {row['unit']}{error}"
            parts.append(f"{short(row['counter'])}, {row['condition']}: {numbers_of}, {row['role']}")
    return f"{title}. {'; '.join(parts)}." if parts else f"{title}."
