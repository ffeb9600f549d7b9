"""A class's predictions as a picture: for each lab, how many learners chose what, and how many of them passed the exercise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from aglab.core.errors import UsageError
from aglab.viz.figure import Figure, Table
from aglab.viz.panels import axis

LINE_PX = 34
LEFT_PX = 8


def class_predictions(frame: pd.DataFrame, lab: str, title: str, choices: Sequence[str] = ()) -> Figure:
    """Bars of one lab's predictions.

    Parameters
    ----------
    frame : DataFrame
        As :func:`aglab.lab.class_summary` gives it: ``lab``, ``prediction``, ``passed``.
    lab, title : str
        The lab's folder name, and what stands above the picture.
    choices : sequence of str
        The lab's choices in order, so that one that nobody chose shows as well.

    Raises
    ------
    UsageError
        Nobody has a record of this lab.
    """
    mine = frame[frame["lab"] == lab]
    if mine.empty:
        raise UsageError(f"no learner has a record of lab {lab!r}", "aglab class summary DIR lists what there is")
    counts = _counts(mine, choices)
    names = list(counts)
    passed = int(mine["passed"].sum())
    layout = {
        "height": LINE_PX * len(names) + 90,
        "margin": {"l": LEFT_PX, "r": 16, "t": 30, "b": 44},
        "font": {"color": "@ink", "size": 12, "family": "inherit"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "dragmode": False,
        "bargap": 0.35,
        "yaxis": axis({"automargin": True, "showgrid": False, "autorange": "reversed", "type": "category"}),
        "xaxis": axis(
            {"title": {"text": "learners", "standoff": 6}, "rangemode": "tozero", "dtick": _step(max(counts.values()))}
        ),
    }
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": list(counts.values()),
            "y": names,
            "text": [str(count) for count in counts.values()],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": "@s0"},
            "hovertemplate": "%{y}: %{x}<extra></extra>",
        }
    ]
    said = ", ".join(f"{name}: {count}" for name, count in counts.items())
    alt = f"{title}. Predictions of {len(mine)} learners. {said}. {passed} of {len(mine)} passed the exercise."
    table = Table(f"{title}: predictions", ("prediction", "learners"), tuple(counts.items()))
    return Figure(title, data, layout, alt, (table,), "", f"{passed} of {len(mine)} learners passed the exercise.")


def _counts(mine: pd.DataFrame, choices: Sequence[str]) -> Mapping[str, int]:
    found = {str(name): int(count) for name, count in mine["prediction"].dropna().astype(str).value_counts().items()}
    counts = {str(name): found.pop(str(name), 0) for name in choices}
    counts.update(found)
    none = int(mine["prediction"].isna().sum())
    return {**counts, "no prediction": none} if none or not counts else counts


def _step(top: int) -> int:
    return max(1, -(-top // 8))
