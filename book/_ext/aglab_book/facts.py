"""What the twin knows, taken from the code that knows it: ``{knowledge}`` and ``{counters}``."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.core.counters import COUNTERS
from aglab.viz.figure import Table
from aglab_book.html import raw


def setup(app: Sphinx) -> None:
    app.add_directive("knowledge", Knowledge)
    app.add_directive("counters", Counters)


class Knowledge(SphinxDirective):
    """Statements, functions, views and procedures of the twin, section by section."""

    def run(self) -> list[nodes.Node]:
        return [raw(table.html()) for table in knowledge_tables()]


def knowledge_tables() -> list[Table]:
    """One table per section of ``aglab.tsql.knowledge``."""
    from aglab.tsql import knowledge

    tables = []
    for section, items in knowledge.sections().items():
        rows: list[tuple[Any, ...]] = [tuple(item) for item in items]
        tables.append(Table(section, ("name", "what it does here"), tuple(rows)))
    return tables


class Counters(SphinxDirective):
    """Every PerfMon counter that a run holds."""

    def run(self) -> list[nodes.Node]:
        rows = tuple((counter.counter, counter.object, counter.unit) for counter in COUNTERS)
        return [raw(Table("PerfMon counters of a run", ("counter", "object", "unit"), rows).html())]
