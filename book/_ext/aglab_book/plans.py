"""``{plan} key``: a plan for a class from ``book/plans.toml``, with the minutes that each chapter's ``lab.toml`` gives."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.core.paths import bundle_root
from aglab.viz.text import escape, inline
from aglab_book.html import raw


@dataclass(frozen=True)
class Item:
    """One line of a plan; ``page`` is empty for what is no chapter."""

    start: int
    minutes: int
    what: str
    page: str = ""


def setup(app: Sphinx) -> None:
    app.add_directive("plan", Plan)


def keys(book: Path) -> list[str]:
    """Names of the plans."""
    return [plan["key"] for plan in _plans(book)]


def _plans(book: Path) -> list[dict]:
    return tomllib.loads((book / "plans.toml").read_text(encoding="utf-8"))["plan"]


def chapter_minutes(slug: str) -> int:
    """Reading and lab minutes of a chapter, from its ``lab.toml``."""
    about = tomllib.loads((bundle_root() / "labs" / slug / "lab.toml").read_text(encoding="utf-8"))
    return int(about["reading_minutes"]) + int(about["lab_minutes"])


def items(book: Path, key: str) -> tuple[str, int, list[Item]]:
    """Title, length in minutes, and the lines of a plan; chapters that are not written yet are left out.

    Raises
    ------
    ValueError
        No such plan, or its lines take longer than it has.
    """
    found = [plan for plan in _plans(book) if plan["key"] == key]
    if not found:
        raise ValueError(f"plan {key!r} is not in book/plans.toml; known: {', '.join(keys(book))}")
    outline = tomllib.loads((book / "outline.toml").read_text(encoding="utf-8"))
    written = {chapter["number"]: chapter for part in outline["part"] for chapter in part["chapter"] if "file" in chapter}
    lines: list[Item] = []
    now = 0
    for item in found[0]["item"]:
        chapter = written.get(item.get("chapter"))
        if "chapter" in item and chapter is None:
            continue
        minutes = chapter_minutes(chapter["lab"]) if chapter else int(item["minutes"])
        what = f"{chapter['number']}. {chapter['title']}" if chapter else item["what"]
        lines.append(Item(now, minutes, what, chapter["file"] if chapter else ""))
        now += minutes
    length = int(found[0]["minutes"])
    if now > length:
        raise ValueError(f"plan {key!r} takes {now} minutes and has {length}; take a chapter out of book/plans.toml")
    return found[0]["title"], length, lines


class Plan(SphinxDirective):
    """A table: when, how long, what."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        book = Path(self.env.srcdir) / "book"
        for name in ("plans.toml", "outline.toml"):
            self.env.note_dependency(str(book / name))
        try:
            title, length, lines = items(book, self.arguments[0])
        except ValueError as error:
            raise self.error(f"plan: {error}") from error
        body = "".join(_row(item) for item in lines)
        total = sum(item.minutes for item in lines)
        caption = f"{title}: {total} of {length} minutes are planned, {length - total} are left for questions."
        return [
            raw(
                f'<div class="aglab-scroll aglab-tall" role="region" tabindex="0" aria-label="{escape(title)}">'
                f'<table class="aglab-data"><caption>{escape(caption)}</caption><thead><tr><th scope="col">from</th>'
                f'<th scope="col">minutes</th><th scope="col">what</th></tr></thead><tbody>{body}</tbody></table></div>'
            )
        ]


def _row(item: Item) -> str:
    what = f'<a href="{escape(item.page)}.html">{escape(item.what)}</a>' if item.page else inline(item.what)
    start = f"{item.start // 60}:{item.start % 60:02d}"
    return f'<tr><th scope="row">{start}</th><td class="num">{item.minutes}</td><td>{what}</td></tr>'
