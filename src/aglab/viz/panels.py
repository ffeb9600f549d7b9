"""Stacked panels that share one time axis: the layout behind most figures of the book."""

from __future__ import annotations

from typing import Any

PANEL_PX = 150
GAP_PX = 46
TOP_PX = 64
BOTTOM_PX = 78


def stacked(titles: list[str], x_title: str, panel_px: int = PANEL_PX) -> dict[str, Any]:
    """A Plotly layout of ``len(titles)`` panels, the first on top, each with its title above it at the left.

    Titles stand above the panels and not along the axis, so that a phone keeps the width for the curves.
    """
    count = len(titles)
    inner = panel_px * count + GAP_PX * (count - 1)
    layout: dict[str, Any] = {
        "height": inner + TOP_PX + BOTTOM_PX,
        "margin": {"l": 8, "r": 12, "t": TOP_PX, "b": BOTTOM_PX},
        "font": {"color": "@ink", "size": 12, "family": "inherit"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": "@paper", "bordercolor": "@axis", "font": {"color": "@ink"}},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 0,
            "yanchor": "top",
            "yref": "container",
            "bgcolor": "rgba(0,0,0,0)",
        },
        "annotations": [],
        "uirevision": "keep",
        "dragmode": False,
    }
    # The legend hangs under the lowest axis: paper coordinates, so the shift follows the number of panels.
    layout["legend"] |= {"yref": "paper", "y": -54 / inner}
    for index, title in enumerate(titles):
        top = 1 - index * (panel_px + GAP_PX) / inner
        bottom = max(0.0, top - panel_px / inner)
        suffix = "" if index == 0 else str(index + 1)
        layout[f"yaxis{suffix}"] = axis({"domain": [bottom, top], "rangemode": "tozero", "automargin": True, "nticks": 5})
        layout["annotations"].append(panel_title(title, top))
    layout["xaxis"] = axis(
        {"title": {"text": x_title, "standoff": 6}, "anchor": f"y{count if count > 1 else ''}", "showgrid": False}
    )
    return layout


def axis(extra: dict[str, Any]) -> dict[str, Any]:
    """An axis in the house look, with ``extra`` laid over it."""
    base = {
        "gridcolor": "@grid",
        "linecolor": "@axis",
        "zerolinecolor": "@grid",
        "tickfont": {"color": "@muted"},
        "fixedrange": True,
    }
    return {**base, **extra}


def panel_title(text: str, top: float, x: float = 0.0) -> dict[str, Any]:
    """A panel's title, just above its top left corner."""
    place = {"xref": "paper", "yref": "paper", "x": x, "y": top, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    return {"text": text, **place, "yshift": 4, "font": {"size": 13, "color": "@ink"}, "name": "panel"}


def axis_name(index: int, letter: str = "y") -> str:
    """Plotly's name of the n-th axis as a trace refers to it: y, y2, y3."""
    return letter if index == 0 else f"{letter}{index + 1}"


def level_line(value: float, text: str, index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A dashed level across a panel with its text: (shape, annotation)."""
    name = axis_name(index)
    shape = {"type": "line", "xref": "paper", "yref": name, "x0": 0, "x1": 1, "y0": value, "y1": value}
    note = {
        "text": text,
        "xref": "paper",
        "yref": name,
        "x": 1,
        "y": value,
        "xanchor": "right",
        "yanchor": "bottom",
        "showarrow": False,
    }
    return (
        {**shape, "line": {"color": "@muted", "width": 1, "dash": "dash"}},
        {**note, "font": {"size": 11, "color": "@ink"}, "bgcolor": "@paper/0.8"},
    )
