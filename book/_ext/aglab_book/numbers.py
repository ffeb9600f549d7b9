"""The papers' numbers on a page, never typed: an inline role and a table.

``{published}`id```            the value of one row of data/published/figures.csv; pointing at it shows source, kind and role
``{published-table} Table 6``  a table of a paper, quantities down, conditions across, as ``average (minimum to maximum)``
"""

from __future__ import annotations

import csv
from functools import lru_cache
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

from aglab.core.paths import bundle_path
from aglab.published.rows import ROLE_FILES
from aglab.viz.text import escape
from aglab_book.html import raw

DEFAULT_PAPER = "hpe380"


def setup(app: Sphinx) -> None:
    app.add_role("published", PublishedRole())
    app.add_directive("published-table", PublishedTable)


@lru_cache(maxsize=1)
def published_rows() -> dict[str, dict[str, str]]:
    """Every published number by id, with the role it has for the model (empty where the model does not use it)."""
    roles = {row["id"]: row["role"] for name in ROLE_FILES for row in _read(name)}
    return {row["id"]: {**row, "role": roles.get(row["id"], "")} for row in _read("figures.csv")}


def _read(name: str) -> list[dict[str, str]]:
    with bundle_path("data", "published", name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def shown(value: str) -> str:
    """A printed number with thousands separated, no digit added or lost.

    >>> shown("53756"), shown("77.9"), shown("213463921"), shown("RAID 10")
    ('53,756', '77.9', '213,463,921', 'RAID 10')
    """
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{int(number):,}" if number == int(number) else f"{number:,}"


class PublishedRole(SphinxRole):
    """One printed number in running text."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        row = published_rows().get(self.text.strip())
        if row is None:
            message = self.inliner.reporter.error(
                f"published: no row {self.text!r} in data/published/figures.csv", line=self.lineno
            )
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        where = row["where"].split(" (")[0]
        role = f"; {row['role']} in the model" if row["role"] else ""
        about = f"{row['metric'].replace('_', ' ')}, {row['stat']}, {row['unit']}: {row['kind']}, {where}{role}"
        html = f'<span class="aglab-published" title="{escape(about)}">{escape(shown(row["value"]))}</span>'
        return [nodes.raw(self.rawtext, html, format="html")], []


class PublishedTable(SphinxDirective):
    """A table of a paper; ``:paper:`` gives the prefix of its ids."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"paper": directives.unchanged}  # noqa: RUF012
    has_content = True

    def run(self) -> list[nodes.Node]:
        name, paper = self.arguments[0].strip(), self.options.get("paper", DEFAULT_PAPER)
        rows = [
            row for key, row in published_rows().items() if key.startswith(f"{paper}-") and row["where"].split(" (")[0] == name
        ]
        if not rows:
            raise self.error(f"published-table: no row of {name!r} with ids {paper}-* in data/published/figures.csv")
        return [raw(table_html(rows, f"{name} as printed: average (minimum to maximum)"))]


def table_html(rows: list[dict[str, str]], caption: str) -> str:
    """Quantities down, conditions across; servers or volumes across where a table has the same quantity for several."""
    names = _columns(rows)
    rows = [{**row, "condition": name} for row, name in zip(rows, names, strict=True)]
    conditions = list(dict.fromkeys(names))
    quantities = list(dict.fromkeys((row["metric"], row["unit"]) for row in rows))
    head = "".join(f'<th scope="col">{escape(condition)}</th>' for condition in conditions)
    body = []
    for metric, unit in quantities:
        cells = []
        for condition in conditions:
            stats = {
                row["stat"]: row for row in rows if (row["metric"], row["unit"], row["condition"]) == (metric, unit, condition)
            }
            cells.append(f'<td class="num">{_cell(stats)}</td>')
        body.append(f'<tr><th scope="row">{escape(counter_name(metric))} ({escape(unit)})</th>{"".join(cells)}</tr>')
    return (
        f'<div class="aglab-scroll" role="region" tabindex="0" aria-label="{escape(caption)}"><table class="aglab-data">'
        f'<caption>{escape(caption)}</caption><thead><tr><th scope="col">quantity</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _columns(rows: list[dict[str, str]]) -> list[str]:
    """The column of each row: its condition, or its subject without the words that all subjects share."""
    cells = [(row["metric"], row["unit"], row["condition"], row["stat"]) for row in rows]
    if len(set(cells)) == len(cells):
        return [row["condition"] for row in rows]
    subjects = [row["subject"].split() for row in rows]
    shared = 0
    while all(len(words) > shared + 1 for words in subjects) and len({words[shared] for words in subjects}) == 1:
        shared += 1
    return [" ".join(words[shared:]) for words in subjects]


def _cell(stats: dict[str, dict[str, Any]]) -> str:
    if not stats:
        return "not printed"
    first = stats.get("avg") or next(iter(stats.values()))
    text = escape(shown(first["value"]))
    if "min" in stats and "max" in stats:
        text += escape(f" ({shown(stats['min']['value'])} to {shown(stats['max']['value'])})").join(("<small>", "</small>"))
    return text


_COUNTERS = {
    "cpu_percent": "% Processor Time",
    "batch_requests_per_s": "Batch Requests/sec",
    "transactions_per_s": "Transactions/sec",
    "log_bytes_flushed_per_s": "Log Bytes Flushed/sec",
    "checkpoint_pages_per_s": "Checkpoint pages/sec",
    "transactions_per_min": "Transactions/min",
    "transport_bytes_sent_per_s": "Bytes Sent to Transport/sec",
    "replica_bytes_received_per_s": "Bytes Received from Replica/sec",
    "log_bytes_received_per_s": "Log Bytes Received/sec",
    "recovery_queue_kb": "Recovery Queue",
    "redone_bytes_per_s": "Redone Bytes/sec",
}


def counter_name(metric: str) -> str:
    """PerfMon's name of a metric where it has one."""
    return _COUNTERS.get(metric, metric.replace("_", " "))
