"""Where the twin is far off, and why: computed when the book is built.

- ``{far-off}``: every row of role predicted with an error of more than 25 %, and the reason kept with its role.
- ``{rebuild-limits}``: the index rebuild of paper 003: printed and twin's time at each MAXDOP, beside what each part of the
  machine alone would take.
- ``{removals}``: mechanisms that papers 001 to 004 need, each taken out.
"""

from __future__ import annotations

import json
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.published.experiments_rebuild import MAXDOPS, alone_s, limits_s
from aglab.published.machines import machines
from aglab.published.rows import once
from aglab.published.rows_read import published_value
from aglab.viz.figure import Table
from aglab.viz.text import significant
from aglab_book.html import computed, raw
from aglab_book.ledger import label_of_rows, ledger_rows, named

FAR_PCT = 25.0  # from this error on a predicted row needs a reason


def setup(app: Sphinx) -> None:
    app.add_directive("far-off", FarOff)
    app.add_directive("rebuild-limits", RebuildLimits)
    app.add_directive("removals", Removals)


def far_off(rows: list[dict[str, Any]]) -> list[Any]:
    """Predicted rows worse than :data:`FAR_PCT`, the worst first."""
    found = [row for row in once(rows) if row["role"] == "predicted" and abs(row["error_pct"] or 0.0) > FAR_PCT]
    return sorted(found, key=lambda row: -abs(row["error_pct"]))


class FarOff(SphinxDirective):
    """Predicted rows that need a reason."""

    def run(self) -> list[nodes.Node]:
        rows = far_off(ledger_rows(self.env.app))
        lines = tuple(
            (
                ", ".join(str(row[key]) for key in ("subject", "condition", "counter", "stat") if row[key]),
                *(significant(row[key], 3) for key in ("published", "twin", "error_pct")),
                row["reason"] or "not known",
                row["profile"],
            )
            for row in rows
        )
        caption = f"{len(lines)} predicted rows are off by more than {FAR_PCT:g} %. {label_of_rows(rows)}"
        return [raw(Table(caption, ("row", "published", "twin", "error, %", "reason", "profile"), lines).html())]


class RebuildLimits(SphinxDirective):
    """Table 13 beside the parts of the machine."""

    def run(self) -> list[nodes.Node]:
        parts = tuple(limits_s(MAXDOPS[0]))
        lines = tuple(
            (
                maxdop or "0 (all)",
                significant(published_value(f"dl560-t13-dop{maxdop:02d}-duration"), 4),
                significant(alone_s(maxdop), 4),
                *(significant(limits_s(maxdop)[part], 4) for part in parts),
            )
            for maxdop in MAXDOPS
        )
        columns = ("MAXDOP", "printed, s", "twin, s", *(f"{part} alone, s" for part in parts))
        rows = [{"id": f"dl560-t13-dop{maxdop:02d}-duration"} for maxdop in MAXDOPS]
        return [raw(Table(f"An index rebuild and what could bound it. {label_of_rows(rows)}", columns, lines).html())]


class Removals(SphinxDirective):
    """Mechanisms of the other papers, with and without."""

    def run(self) -> list[nodes.Node]:
        def compute() -> str:
            from aglab.published.removals import removals

            return json.dumps(removals())

        rows: list[dict[str, Any]] = json.loads(computed(self.env.app, "removals", [], compute))
        lines = tuple(
            (
                row["title"],
                row["paper"],
                row["rows"],
                significant(row["with_pct"], 3),
                significant(row["without_pct"], 3),
                named(row["worst_id"]),
                significant(row["worst_error_pct"], 3),
                ", ".join(machines(row["worst_id"])),
            )
            for row in rows
        )
        columns = (
            "taken out",
            "paper",
            "rows",
            "with it, median %",
            "without, median %",
            "worst row without it",
            "its error, %",
            "profile",
        )
        caption = (
            f"{len(rows)} mechanisms taken out, nothing fitted again. {label_of_rows([{'id': row['worst_id']} for row in rows])}"
        )
        return [raw(Table(caption, columns, lines).html())]
