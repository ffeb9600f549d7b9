"""Parts of a whole, one bar for each arm: where the time of a request goes."""

from __future__ import annotations

from collections.abc import Mapping

from aglab.core.errors import UsageError
from aglab.viz.compare import bars_layout
from aglab.viz.figure import Figure, Table
from aglab.viz.palette import series_colour
from aglab.viz.panels import axis
from aglab.viz.text import numbers

PATTERNS = ("", "/", ".", "x", "-", "+")  # parts differ by pattern too: colour is never the only sign
_BAR_PX = 44.0


def parts(bars: Mapping[str, Mapping[str, float]], *, title: str, unit: str, label: str = "", caption: str = "") -> Figure:
    """Stacked bars.

    Parameters
    ----------
    bars : mapping
        Name of a bar -> name of a part -> its size in ``unit``; every bar has the same parts.
    label : str
        The honest label of the runs behind it.

    Raises
    ------
    UsageError
        No bar, parts that differ from bar to bar, or a size below 0.
    """
    if not bars:
        raise UsageError("there is no bar to draw", "give at least one")
    names = list(next(iter(bars.values())))
    for bar, sizes in bars.items():
        if list(sizes) != names:
            raise UsageError(f"bar {bar!r} has the parts {list(sizes)}, the first bar {names}", "give every bar the same parts")
        below = [name for name in names if sizes[name] < 0]
        if below:
            raise UsageError(f"{below[0]}={sizes[below[0]]:g} {unit} must be >= 0 (bar {bar!r})", "a part cannot be negative")
    layout = bars_layout(_BAR_PX * len(bars), below_px=58)
    layout["barmode"] = "stack"
    layout["showlegend"] = True
    layout["legend"] = {**layout["legend"], "traceorder": "normal"}
    layout["height"] += 36
    layout["margin"] = {**layout["margin"], "b": 96}
    layout["xaxis"] = axis({"title": {"text": unit, "standoff": 6}, "rangemode": "tozero"})
    layout["yaxis"] = axis({"automargin": True, "autorange": "reversed", "tickfont": {"size": 11, "color": "@muted"}})
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": numbers([sizes[name] for sizes in bars.values()]),
            "y": list(bars),
            "marker": {"color": series_colour(index), "pattern": {"shape": PATTERNS[index % len(PATTERNS)], "size": 6}},
            "hovertemplate": "%{y}: %{x:,.0f} " + unit + "<extra>" + name + "</extra>",
        }
        for index, name in enumerate(names)
    ]
    columns = ("", *(f"{name} ({unit})" for name in names), f"together ({unit})")
    rows = tuple((bar, *sizes.values(), sum(sizes.values())) for bar, sizes in bars.items())
    told = "; ".join(f"{bar}: " + ", ".join(f"{name} {sizes[name]:,.0f}" for name in names) for bar, sizes in bars.items())
    return Figure(title, data, layout, f"{title}, in {unit}. {told}.", (Table(title, columns, rows),), label, caption)
