"""``{coverage}``: what the papers name, where the book teaches it, and the check that proves a learner can do it.

``data/coverage.csv`` has a row for everything that the papers name: ``row`` (1 to 166), ``section`` (A to N), ``item``,
``learner_can``, ``chapter`` (its home in ``book/outline.toml``), ``anchor`` (``file#heading``, empty while still to come)
and ``check``, one or more of these, separated by `` | ``:

- ``tests/....py::test_name``                 a test
- ``instructor/SLUG.toml::right``             the exercise: its answer key, applied to a running cluster by ``tests/labs``
- ``instructor/SLUG.toml::repair``            break and repair, likewise
- ``labs/SLUG/quiz.toml::key``                a question of the quiz
- ``notebooks/NAME.ipynb::text``              a cell with this text: an assertion, or an output that nbval compares

:func:`problems` says what no longer holds; a test calls it.
"""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.core.paths import bundle_root
from aglab.viz.text import escape
from aglab_book.html import bundle_file, raw

COLUMNS = ("row", "section", "item", "learner_can", "chapter", "anchor", "check")
ROWS = 166
SECTIONS = {
    "A": "Availability groups",
    "B": "Checkpoints and log",
    "C": "Instance and database settings",
    "D": "In-memory OLTP",
    "E": "Backup, restore, maintenance",
    "F": "Linux platform",
    "G": "Server hardware and firmware",
    "H": "Persistent memory",
    "I": "Network and virtualisation",
    "J": "SAN sizing",
    "K": "Workloads and measurement",
    "L": "Cost and options",
    "M": "Editorial and audit skills",
    "N": "Named in passing",
}
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_FENCE = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)


def setup(app: Sphinx) -> None:
    app.add_directive("coverage", Coverage)


def read(root: Path) -> list[dict[str, str]]:
    """The rows of ``data/coverage.csv`` below ``root``."""
    with (root / "data" / "coverage.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def chapters(root: Path) -> dict[str, dict[str, str]]:
    """Chapters of the outline by number (as text)."""
    outline = tomllib.loads((root / "book" / "outline.toml").read_text(encoding="utf-8"))
    return {str(chapter["number"]): chapter for part in outline["part"] for chapter in part["chapter"]}


def checks(row: dict[str, str]) -> list[str]:
    """The checks of a row, one by one."""
    return [text.strip() for text in row["check"].split(" | ") if text.strip()]


def problems(rows: list[dict[str, str]], root: Path) -> list[str]:
    """What does not hold: rows gone or doubled, chapters, anchors and checks that do not exist, one proof given twice."""
    found = [f"columns must be {', '.join(COLUMNS)}"] if not rows or tuple(rows[0]) != COLUMNS else []
    if found:
        return found
    numbers = Counter(row["row"] for row in rows)
    found += [f"row {number} is gone" for number in range(1, ROWS + 1) if not numbers[str(number)]]
    found += [f"row {number} stands {count} times" for number, count in numbers.items() if count > 1]
    found += [f"row {number} is not from 1 to {ROWS}" for number in numbers if number not in map(str, range(1, ROWS + 1))]
    known = chapters(root)
    proofs: Counter[tuple[str, str]] = Counter()
    for row in rows:
        where = f"row {row['row']} ({row['item']})"
        if row["section"] not in SECTIONS or not row["item"] or not row["learner_can"]:
            found.append(f"{where}: section, item or outcome is missing")
        if row["chapter"] not in known:
            found.append(f"{where}: chapter {row['chapter']!r} is not in book/outline.toml")
        if bool(row["anchor"]) != bool(checks(row)):
            found.append(f"{where}: an anchor needs a check, and a check an anchor")
        if row["anchor"] and not _has_anchor(row["anchor"], root):
            found.append(f"{where}: {row['anchor']} does not exist")
        for check in checks(row):
            proofs[row["anchor"], check] += 1
            if not _exists(check, root):
                found.append(f"{where}: {check} does not exist")
    found += [f"{anchor}, {check}: the proof of {count} rows" for (anchor, check), count in proofs.items() if count > 1]
    return found


def _has_anchor(anchor: str, root: Path) -> bool:
    name, _, heading = anchor.partition("#")
    page = root / "book" / f"{name}.md"
    if not page.is_file() or not heading:
        return False
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return heading in {nodes.make_id(re.sub(r"[`*]", "", title)) for title in _HEADING.findall(text)}


def _exists(check: str, root: Path) -> bool:
    name, separator, key = check.partition("::")
    path = root / name
    if not separator or not key or not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    if name.startswith("tests/") and name.endswith(".py"):
        return re.search(rf"^def {re.escape(key)}\(", text, re.MULTILINE) is not None and key.startswith("test_")
    if name.startswith("instructor/"):
        return key in ("right", "wrong", "repair") and key in tomllib.loads(text)
    if name.startswith("labs/") and name.endswith("quiz.toml"):
        return key in {question["key"] for question in tomllib.loads(text)["question"]}
    if name.endswith(".ipynb"):
        return any(key in said for cell in json.loads(text)["cells"] for said in _said(cell))
    return False


def _said(cell: dict[str, Any]) -> Iterator[str]:
    """Source of a code cell, and its printed output where nbval compares that."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
        yield source
        if "NBVAL_IGNORE_OUTPUT" not in source:
            for output in cell["outputs"]:
                yield "".join(output.get("text", output.get("data", {}).get("text/plain", "")))


class Coverage(SphinxDirective):
    """Counts by section, then every row with its place and its proof."""

    def run(self) -> list[nodes.Node]:
        book = Path(self.env.srcdir)
        self.env.note_dependency(str(book / "book" / "outline.toml"))
        self.env.note_dependency(str(bundle_file("data/coverage.csv")))
        rows, known = read(bundle_root()), chapters(book)
        made: list[nodes.Node] = [
            raw(_table("Rows by section", ("section", "rows", "taught and checked", "to come"), _counts(rows)))
        ]
        for letter, title in SECTIONS.items():
            section = nodes.section(ids=[nodes.make_id(f"coverage {letter}")])
            section += nodes.title("", f"{letter}. {title}")
            lines = [_line(row, known[row["chapter"]]) for row in rows if row["section"] == letter]
            section += raw(
                _table(f"{letter}. {title}", ("row", "what the papers name", "the learner can", "where", "proved by"), lines)
            )
            made.append(section)
        return made


def _counts(rows: list[dict[str, str]]) -> list[str]:
    lines = []
    for letter, title in [*SECTIONS.items(), ("", "all")]:
        mine = [row for row in rows if letter in ("", row["section"])]
        done = sum(bool(row["anchor"]) for row in mine)
        name = f"{letter}. {title}" if letter else title
        cells = "".join(f'<td class="num">{number}</td>' for number in (len(mine), done, len(mine) - done))
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return lines


def _line(row: dict[str, str], chapter: dict[str, str]) -> str:
    if row["anchor"]:
        name, _, heading = row["anchor"].partition("#")
        where = f'<a href="{escape(name)}.html#{escape(heading)}">{row["chapter"]}. {escape(chapter["title"])}</a>'
    else:
        where = f"to come: {row['chapter']}. {escape(chapter['title'])}"
    proofs = "<br>".join(_proof(check) for check in checks(row))
    cells = "".join(f"<td>{cell}</td>" for cell in (escape(row["item"]), escape(row["learner_can"]), where, proofs))
    return f'<tr><th scope="row">{row["row"]}</th>{cells}</tr>'


def _proof(check: str) -> str:
    name, _, key = check.partition("::")
    kinds = {"instructor/": "exercise", "labs/": "quiz", "notebooks/": "notebook", "tests/": "test"}
    kind = next(word for start, word in kinds.items() if name.startswith(start))
    if kind == "exercise" and key == "repair":
        return "break and repair"
    return kind if kind == "exercise" else f"{kind}: {escape(key)}"


def _table(caption: str, columns: Iterable[str], lines: list[str]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    about = f'role="region" tabindex="0" aria-label="{escape(caption)}"'
    return (
        f'<div class="aglab-scroll aglab-tall" {about}><table class="aglab-data">'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )
