"""Directives that put parts of a lab on a page: its explorable, its quiz, its arms as a figure, its T-SQL steps.

``{explorable} slug``   sliders over the response surface, computed when the book is built
``{quiz} slug``         the questions of labs/slug/quiz.toml
``{arms} slug``         the arms of the lab's experiment, run by the engine when the book is built
``{living} slug``      the living picture of a course of events, run by the engine when the book is built
``{labstep} slug/file`` a step of the lab as the reader finds it on disk
``{visit} slug``        notes for the start page that the reader has opened this chapter
``{outline}``           the map of chapters on the start page, with the reader's progress
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from aglab.viz import Quiz, load_arms, load_explorable, load_living
from aglab.viz.figures import arms
from aglab.viz.text import escape, inline
from aglab_book.html import bundle_file, computed, raw

_REFERENCE = re.compile(r'<div class="aglab-explorable-ref" data-slug="([^"]+)">[^<]*</div>')


def setup(app: Sphinx) -> None:
    app.add_directive("explorable", ExplorableDirective)
    app.add_directive("quiz", QuizDirective)
    app.add_directive("arms", ArmsDirective)
    app.add_directive("living", LivingDirective)
    app.add_directive("labstep", LabStep)
    app.add_directive("visit", Visit)
    app.add_directive("outline", Outline)
    app.connect("html-page-context", _resolve_references, priority=300)


def explorable_html(app: Sphinx, slug: str) -> str:
    """The block of a lab's explorable with its surface inside."""
    declared = bundle_file(f"labs/{slug}/explorable.toml")
    return computed(app, f"explorable-{slug}", [declared], lambda: load_explorable(slug).html())


def _resolve_references(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """A stored notebook only refers to its explorable; here it gets the computed one."""
    if "body" in context:
        context["body"] = _REFERENCE.sub(lambda match: explorable_html(app, match.group(1)), context["body"])


class _SlugDirective(SphinxDirective):
    required_arguments = 1
    has_content = True

    def needs(self, relative: str) -> Path:
        """A file of the lab, noted as a dependency of this page."""
        path = bundle_file(relative)
        self.env.note_dependency(str(path))
        return path


class ExplorableDirective(_SlugDirective):
    """Sliders over a response surface."""

    def run(self) -> list[nodes.Node]:
        slug = self.arguments[0]
        self.needs(f"labs/{slug}/explorable.toml")
        return [raw(explorable_html(self.env.app, slug))]


class QuizDirective(_SlugDirective):
    """The lab's questions."""

    def run(self) -> list[nodes.Node]:
        slug = self.arguments[0]
        return [raw(Quiz.read(self.needs(f"labs/{slug}/quiz.toml"), slug).html())]


class ArmsDirective(_SlugDirective):
    """The arms of an experiment over time."""

    option_spec = {"caption": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        slug = self.arguments[0]
        declared = self.needs(f"labs/{slug}/explorable.toml")
        caption = self.options.get("caption", "")

        def compute() -> str:
            experiment = load_arms(slug)
            return arms(
                experiment.run(),
                title=experiment.title,
                caption=caption or experiment.caption,
                k_mb_s=experiment.k_mb_s,
                counters=experiment.counters,
            ).html()

        return [raw(computed(self.env.app, f"arms-{slug}", [declared], compute))]


class LivingDirective(_SlugDirective):
    """Log on its way through the cluster, scrubbed in time."""

    def run(self) -> list[nodes.Node]:
        slug = self.arguments[0]
        declared = self.needs(f"labs/{slug}/explorable.toml")
        return [raw(computed(self.env.app, f"living-{slug}", [declared], lambda: load_living(slug).html()))]


class LabStep(_SlugDirective):
    """A file of a lab, with the name under which it lies on disk."""

    def run(self) -> list[nodes.Node]:
        relative = self.arguments[0]
        path = self.needs(f"labs/{relative}")
        code = nodes.literal_block(path.read_text(encoding="utf-8"), path.read_text(encoding="utf-8"))
        code["language"] = {".sql": "tsql", ".toml": "toml", ".tcl": "tcl", ".py": "python"}.get(path.suffix, "text")
        code["force"] = True
        name = raw(f'<p class="aglab-file">labs/{escape(relative)}</p>')
        return [nodes.container("", name, code, classes=["aglab-step"])]


class Visit(SphinxDirective):
    """A mark without a picture: this browser has opened the chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [raw(f'<div data-aglab="visit" data-slug="{escape(self.arguments[0])}" hidden></div>')]


class Outline(SphinxDirective):
    """Every chapter of book/outline.toml: a card for one that is written, a line for one that is still to come."""

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / "book" / "outline.toml"
        self.env.note_dependency(str(path))
        parts = tomllib.loads(path.read_text(encoding="utf-8"))["part"]
        return [raw("".join(self._part(part) for part in parts))]

    def _part(self, part: dict[str, Any]) -> str:
        items = "".join(self._chapter(chapter) for chapter in part["chapter"])
        return f'<section class="aglab-part"><h3>{escape(part["title"])}</h3><ol class="aglab-chapters">{items}</ol></section>'

    @staticmethod
    def _chapter(chapter: dict[str, Any]) -> str:
        number = f'<span class="aglab-number">{chapter["number"]}</span>'
        about = f'<span class="aglab-about">{inline(chapter["about"])}</span>'
        if "file" not in chapter:
            return f'<li class="aglab-later">{number}<span><strong>{escape(chapter["title"])}</strong>{about}</span></li>'
        link = f'<a href="{escape(chapter["file"])}.html"><strong>{escape(chapter["title"])}</strong></a>'
        progress = f'<span class="aglab-progress" data-aglab="progress" data-slug="{escape(chapter["lab"])}"></span>'
        return f'<li class="aglab-written">{number}<span>{link}{about}{progress}</span></li>'
