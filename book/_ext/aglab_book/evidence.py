"""How far the calibration can be trusted, from ``data/calibration/evidence.json``.

- ``{starts}``: where every start of the calibration ended, from ``data/calibration/starts.toml``.
- ``{identified}``: each fitted constant, how much the rows mind when it is moved, and whether rows or prior hold it.
- ``{left-out}``: a table's rows predicted by a fit that never saw the table.
- ``{intervals}``: published values inside the 80 % interval of the twin, by role; those outside by name.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.published.calibrate import SAME_LOSS, same_optimum, stored_starts
from aglab.published.evidence import stored
from aglab.viz.figure import Table
from aglab.viz.text import significant
from aglab_book.html import raw
from aglab_book.numbers import published_rows


def setup(app: Sphinx) -> None:
    app.add_directive("starts", Starts)
    app.add_directive("identified", Identified)
    app.add_directive("left-out", LeftOut)
    app.add_directive("intervals", Intervals)


class Starts(SphinxDirective):
    """How many starts meet, and how far the others are."""

    def run(self) -> list[nodes.Node]:
        found = stored_starts()
        ends = sorted(found["start"], key=lambda one: one["rise"])
        lines = tuple(
            (
                one["start"],
                significant(one["loss_at_start"], 3),
                one["loss"],
                one["constant"],
                one["away"],
                "the same" if same_optimum(one) else "another",
            )
            for one in ends
        )
        columns = ("start", "loss at its start", "loss at its end", "constant furthest off", "standard errors off", "optimum")
        met = sum(map(same_optimum, ends))
        caption = (
            f"{met} of {len(ends)} fits end at the same optimum, whose loss is {found['loss']:g}: no constant further off than "
            f"its standard error, and the loss is at most {SAME_LOSS:g} higher; so much is roughness"
        )
        return [raw(Table(caption, columns, lines).html())]


class Identified(SphinxDirective):
    """Profile likelihoods in one table."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for entry in stored()["profiles"]:
            low, high = entry["points"][0], entry["points"][-1]
            lines.append(
                (
                    entry["name"],
                    entry["value"],
                    f"{low['value']:g}",
                    low["rows_rise"],
                    f"{high['value']:g}",
                    high["rows_rise"],
                    "the paper's rows" if entry["known_from"] == "rows" else "the prior",
                )
            )
        columns = ("constant", "fitted", "moved down to", "rows mind", "moved up to", "rows mind", "held by")
        caption = (
            "Each constant moved by two of its standard errors, all others fitted again; "
            "'rows mind' is the rise of the fitted rows' squared errors, in units of 2 %"
        )
        return [raw(Table(caption, columns, tuple(lines)).html())]


class LeftOut(SphinxDirective):
    """Leave-one-table-out: the error of each row with and without its table in the fit."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for entry in stored()["leave_one_table_out"]:
            worst = max(entry["errors"], key=lambda row: abs(row["without_pct"]))
            inside = sorted(abs(row["with_pct"]) for row in entry["errors"])[len(entry["errors"]) // 2]
            name = _named(worst["id"])
            lines.append(
                (entry["table"], entry["rows"], inside, entry["median_abs_error_pct"], f"{name}: {worst['without_pct']:+.1f} %")
            )
        columns = ("table left out", "rows", "median error fitted, %", "median error left out, %", "worst row when left out")
        return [raw(Table("A table predicted by a fit that never saw it", columns, tuple(lines)).html())]


class Intervals(SphinxDirective):
    """Coverage of the 80 % intervals, and the rows outside."""

    def run(self) -> list[nodes.Node]:
        found = stored()["intervals"]
        lines = [
            (role, one["rows"], one["inside"], 100.0 * one["inside"] / one["rows"]) for role, one in found["coverage"].items()
        ]
        summary = Table(
            f"Published values inside the twin's 80 % interval ({found['draws']} draws of the constants)",
            ("role", "rows", "inside", "share, %"),
            tuple(lines),
        )
        outside = tuple(
            (
                _named(row["id"]),
                row["role"],
                published_rows()[row["id"]]["value"],
                *(significant(row[key], 3) for key in ("low", "high")),
            )
            for row in found["rows"]
            if not row["inside"]
        )
        return [
            raw(summary.html()),
            raw(Table("Published values outside it", ("row", "role", "published", "low", "high"), outside).html()),
        ]


def _named(row_id: str) -> str:
    row: Any = published_rows()[row_id]
    return ", ".join(str(row[key]) for key in ("subject", "condition", "metric", "stat") if row[key])
