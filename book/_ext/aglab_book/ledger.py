"""How good the twin is, computed when the book is built.

- ``{ledger}``: every row the model is compared on, or those of one ``:table:`` (``:paper:`` gives the prefix of its ids, where
  several papers have such a table); ``:figure:`` ``ranges`` or ``errors`` draws them too, ``worst`` lists the largest errors
  outside the fitted rows, ``:count:`` of them.
- ``{score}``: median absolute error by role, number of constants, number of rows they were fitted on.
- ``{orders}``: claims of order and optimum, and whether the twin gets them right; ``{unanswered}``: rows without a mechanism.
- ``{constants}``: constants of the model with unit, tag and meaning.
- ``{ablation}``: what breaks when a mechanism is taken out, as ``data/calibration/ablation.toml`` keeps it.
- ``{assumed}``: everything tagged as assumed, constants and values of the hardware profiles.
"""

from __future__ import annotations

import json
import statistics
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.core.paths import bundle_path
from aglab.published.ablation import stored
from aglab.published.machines import label
from aglab.published.orders import judge, number_of, tally, verdict
from aglab.published.rows import once
from aglab.viz.compare import as_rows, comparison, errors, table
from aglab.viz.figure import Table
from aglab.viz.text import human, significant
from aglab_book.html import computed, raw
from aglab_book.numbers import counter_name, published_rows

CONSTANT_FILES = ("constants.toml", "jobs.toml")
ROLES = ("fitted", "predicted", "residual", "input")


def setup(app: Sphinx) -> None:
    app.add_directive("ledger", Ledger)
    app.add_directive("score", Score)
    app.add_directive("orders", Orders)
    app.add_directive("unanswered", Unanswered)
    app.add_directive("constants", Constants)
    app.add_directive("assumed", Assumed)
    app.add_directive("ablation", Ablation)


def ledger_rows(app: Sphinx) -> list[dict[str, Any]]:
    """Comparison rows of the whole ledger; scored again when the library or its data change."""

    def compute() -> str:
        from aglab.published import score

        return json.dumps(as_rows(score()["rows"]))

    rows: list[dict[str, Any]] = json.loads(computed(app, "ledger", [], compute))
    return rows


def label_of_rows(rows: Iterable[dict[str, Any]]) -> str:
    """The label under some rows: their profile, or that each row names its own."""
    return label(row["id"] for row in rows)


class Ledger(SphinxDirective):
    """Published numbers beside the twin's, as a table and, when asked, as a figure with the table behind it."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "table": directives.unchanged,
        "paper": directives.unchanged,
        "figure": directives.unchanged,
        "count": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        name = self.options.get("table", "")
        rows = ledger_rows(self.env.app)
        if name:
            rows = [row for row in rows if published_rows()[row["id"]]["where"].split(" (")[0] == name]
        if self.options.get("paper"):
            rows = [row for row in rows if row["id"].startswith(self.options["paper"] + "-")]
        if not rows:
            raise self.error(f"ledger: the twin is not compared on any row of {name!r}")
        kind = self.options.get("figure", "ranges" if name else "table")
        title = f"{name}: paper and twin" if name else "Published and twin, row by row"
        if kind == "ranges":
            return [raw(comparison(rows, title=title, label=label_of_rows(rows), caption=_LEGEND).html())]
        if kind == "errors":
            scored = [row for row in once(rows) if row["role"] != "input"]
            return [raw(errors(scored, title="Error of the twin, row by row", label=label_of_rows(scored)).html())]
        if kind == "worst":
            return [raw(worst(rows, self.options.get("count", 5)).html())]
        return [raw(table(rows, title + ". " + label_of_rows(rows)).html())]


def worst(rows: list[dict[str, Any]], count: int = 5) -> Table:
    """The rows not fitted on with the largest errors, and the reason where the library has one.

    Rows that share a reason are one failing and show once, by the worst of them.
    """
    scored = [row for row in once(rows) if row["role"] in ("predicted", "residual") and row["error_pct"] is not None]
    scored.sort(key=lambda row: -abs(row["error_pct"]))
    kept = list({(row["role"], row["reason"] or row["id"]): row for row in reversed(scored)}.values())
    kept = sorted(kept, key=lambda row: -abs(row["error_pct"]))[:count]
    columns = ("row", "role", "published", "twin", "error, %", "reason", "profile")
    lines = tuple(
        (
            ", ".join(str(row[key]) for key in ("subject", "condition", "counter", "stat")),
            row["role"],
            *(significant(row[key], 3) for key in ("published", "twin", "error_pct")),
            row.get("reason") or "not known",
            row.get("profile") or "",
        )
        for row in kept
    )
    return Table(f"The {len(lines)} largest errors outside the fitted rows. {label_of_rows(kept)}", columns, lines)


_LEGEND = (
    "Bars run from minimum to maximum, the marker is the average. Its shape is the role of the row: square *fitted*, "
    "circle *predicted*, cross *residual*. Open markers are the paper's, filled ones the twin's."
)


class Score(SphinxDirective):
    """Medians of the absolute error by role, beside the number of constants."""

    def run(self) -> list[nodes.Node]:
        every = ledger_rows(self.env.app)
        rows = once(every)
        lines: list[tuple[Any, ...]] = []
        for role in ROLES:
            mine = [abs(row["error_pct"]) for row in rows if row["role"] == role and row["error_pct"] is not None]
            if mine:
                lines.append((role, len(mine), significant(statistics.median(mine), 3), significant(max(mine), 3)))
        both = [
            abs(row["error_pct"]) for row in rows if row["role"] in ("predicted", "residual") and row["error_pct"] is not None
        ]
        if both:
            lines.append(
                ("predicted and residual together", len(both), significant(statistics.median(both), 3), significant(max(both), 3))
            )
        fitted = [item for item in constants() if item[3].startswith("fitted")]  # as `aglab published score` counts
        rows_fitted = sum(row["role"] == "fitted" for row in rows)
        columns = ("role", "rows", "median error, %", "largest error, %")
        again = f"{len(every) - len(rows)} rows that print another row again are left out."
        caption = f"{len(fitted)} constants were fitted on {rows_fitted} rows. Errors are absolute. {again} {label_of_rows(rows)}"
        return [raw(Table(caption, columns, tuple(lines)).html())]


class Orders(SphinxDirective):
    """Which is faster, does it help, does it turn back: right, wrong and why, or a draw within the paper's own noise."""

    def run(self) -> list[nodes.Node]:
        rows = ledger_rows(self.env.app)
        found = judge({row["id"]: row["twin"] for row in rows})
        lines = tuple(
            (
                one["claim"],
                _pair(_printed(one["more"]), _printed(one["less"])),
                "" if one["noise"] is None else significant(one["noise"], 2),
                _pair(one["twin_more"], one["twin_less"]),
                verdict(one),
                one["reason"] if verdict(one) in ("wrong", "draw") else "",
            )
            for one in sorted(found, key=lambda one: ("wrong", "draw", "no value", "right").index(verdict(one)))
        )
        counts = tally(found)
        caption = (
            f"{counts['right']} of {counts['right'] + counts['wrong']} claims of order are right; the wrong come first. "
            f"{counts['draw']} more within the papers' own noise. SIMULATED, profiles as row by row"
        )
        columns = ("claim of the papers", "printed", "noise", "twin", "twin is", "why")
        return [raw(Table(caption, columns, lines).html())]


def _printed(side: str) -> float:
    number = number_of(side)
    return float(published_rows()[side]["value"]) if number is None else number


def _pair(more: float | None, less: float | None) -> str:
    return f"{human(more)} against {human(less)}"


class Unanswered(SphinxDirective):
    """Rows that no mechanism of the twin answers, by reason."""

    def run(self) -> list[nodes.Node]:
        reasons: dict[str, list[str]] = {}
        for row in ledger_rows(self.env.app):
            if row["twin"] is None and row["role"] != "input":
                reasons.setdefault(row["reason"], []).append(f"{row['subject']}, {row['counter']}")
        lines = tuple((what[0] if len(what) == 1 else f"{what[0]} and so on", len(what), why) for why, what in reasons.items())
        count = sum(line[1] for line in lines)
        return [raw(Table(f"{count} published rows without an answer", ("what", "rows", "why"), lines).html())]


def constants() -> list[tuple[str, Any, str, str, str]]:
    """(name, value, unit, tag, meaning) of every constant of the model."""
    found: dict[str, dict[str, Any]] = {}
    for name in CONSTANT_FILES:
        found.update(tomllib.loads(bundle_path("data", "calibration", name).read_text(encoding="utf-8"))["constants"])
    return [(name, item["value"], item.get("unit", ""), item["tag"], item.get("meaning", "")) for name, item in found.items()]


class Constants(SphinxDirective):
    """Every constant with its tag."""

    def run(self) -> list[nodes.Node]:
        rows = [(meaning, float(value), unit, tag, name) for name, value, unit, tag, meaning in constants()]
        return [
            raw(
                Table(
                    "Constants of the model", ("what it is", "value", "unit", "where it comes from", "name"), tuple(rows)
                ).html()
            )
        ]


class Ablation(SphinxDirective):
    """One mechanism taken out at a time, the rest fitted again."""

    def run(self) -> list[nodes.Node]:
        columns = ("taken out", "loss", "fitted, median %", "predicted, median %", "worst fitted row", "its error, %")
        numbers_of = ("loss", "fitted_median_abs_error_pct", "predicted_median_abs_error_pct")
        rows = tuple(
            (
                "nothing" if row["name"] == "none" else row["title"],
                *(significant(row[key], 3) for key in numbers_of),
                named(row["worst_id"]),
                significant(row["worst_error_pct"], 3),
            )
            for row in stored()
        )
        return [raw(Table(f"Ablation: {len(rows) - 1} mechanisms. {label(['hpe380-t3-tps'])}", columns, rows).html())]


def named(row_id: str) -> str:
    """A published row in words."""
    row = published_rows()[row_id]
    return f"{counter_name(row['metric'])}, {row['subject']}, {row['condition']}, {row['stat']}"


class Assumed(SphinxDirective):
    """What rests on judgement alone."""

    def run(self) -> list[nodes.Node]:
        rows: list[tuple[Any, ...]] = [
            (meaning, float(value), unit, "", f"constant {name}")
            for name, value, unit, tag, meaning in constants()
            if tag == "assumed"
        ]
        for kind in ("profiles", "workloads", "arrays"):
            for path in sorted(bundle_path("data", kind).glob("*.toml")):
                where = f"{kind[:-1]} {path.stem}"
                for name, item in _assumed(tomllib.loads(path.read_text(encoding="utf-8"))):
                    rows.append((name, _value(item), item.get("unit", ""), item.get("source", ""), where))
        return [raw(Table("Assumed values", ("what", "value", "unit", "why", "where"), tuple(rows)).html())]


def _assumed(found: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for key, item in found.items():
        if isinstance(item, dict) and item.get("tag") == "assumed":
            yield f"{prefix}{key}".replace("_", " "), item
        elif isinstance(item, dict) and "tag" not in item:
            yield from _assumed(item, f"{prefix}{key}: ")


def _value(item: dict[str, Any]) -> Any:
    value = item.get("value", item.get("constant", ""))
    return float(value) if isinstance(value, (int, float)) else str(value)
