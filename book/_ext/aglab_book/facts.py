"""What the twin knows, taken from the code that knows it: ``{knowledge}`` and ``{counters}``."""

from __future__ import annotations

import tomllib
from pathlib import Path

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
    """Statements, functions and views of the twin."""

    def run(self) -> list[nodes.Node]:
        declared = Path(self.env.srcdir) / "book" / "statements.toml"
        self.env.note_dependency(str(declared))
        tables = [*statements(declared), settings(declared), words(), *catalogue()]
        return [raw(table.html()) for table in tables]


def statements(declared: Path) -> list[Table]:
    """Examples from ``statements.toml``, each proved by the twin's own parser.

    Raises
    ------
    aglab.tsql.TsqlError
        The parser refuses an example: the page would promise what the twin does not know.
    """
    from aglab.tsql.parser.statements import parse_batch

    tables = []
    for group in tomllib.loads(declared.read_text(encoding="utf-8"))["group"]:
        for example in group["examples"]:
            parse_batch(example)
        tables.append(Table(group["title"], ("statement, by example",), tuple((example,) for example in group["examples"])))
    return tables


def settings(declared: Path) -> Table:
    """``[[setting]]`` of ``statements.toml``: what each setting drives, or that it is kept in the catalogue only."""
    rows = tomllib.loads(declared.read_text(encoding="utf-8"))["setting"]
    return Table("Settings, and what each drives", ("setting", "drives"), tuple((one["name"], one["drives"]) for one in rows))


def words() -> Table:
    """Options and hints, from the tables that the parser checks them with."""
    from aglab.tsql.knowledge import options

    return Table("Options and hints, and what each drives", ("in", "word", "drives"), tuple(options()))


def catalogue() -> list[Table]:
    """System views with their columns, and functions, from the registries that the twin answers from."""
    return [
        Table("Catalogue views, DMVs and other system views", ("view", "columns"), tuple(views())),
        Table("Functions", ("letter", "functions"), tuple(functions())),
    ]


def views() -> list[tuple[str, str]]:
    """Name and columns of every system view."""
    from aglab.tsql.catalog import registry

    registry.load()
    found = sorted(registry.VIEWS.values(), key=lambda view: view.full_name.lower())
    return [(view.full_name, ", ".join(column.name for column in view.columns)) for view in found]


def functions() -> list[tuple[str, str]]:
    """Every built-in function, grouped by first letter."""
    from importlib import import_module

    from aglab.tsql.functions import registry

    for module in registry.MODULES:
        import_module(f"aglab.tsql.functions.{module}")
    names = sorted({name.upper() for name in registry.FUNCTIONS})
    letters = sorted({name[0] for name in names})
    return [(letter, ", ".join(name for name in names if name[0] == letter)) for letter in letters]


class Counters(SphinxDirective):
    """Every PerfMon counter that a run holds."""

    def run(self) -> list[nodes.Node]:
        rows = tuple((counter.counter, counter.object, counter.unit) for counter in COUNTERS)
        return [raw(Table("PerfMon counters of a run", ("counter", "object", "unit"), rows).html())]
