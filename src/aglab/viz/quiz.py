"""Short questions with an explanation for every choice, in the book and in JupyterLab alike.

A quiz is formative: its answers are in the page. What is graded lives in exercises and their checks. Questions stand in
``labs/SLUG/quiz.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError, field_error, unknown_name
from aglab.core.paths import bundle_path
from aglab.viz.text import escape, human, inline, script_json

KINDS = ("choice", "many", "number")


@dataclass(frozen=True)
class Option:
    """One choice: its text, whether it is right, and why."""

    text: str
    correct: bool = False
    why: str = ""


@dataclass(frozen=True)
class QuizQuestion:
    """One question.

    Parameters
    ----------
    key : str
        A short name, unique in the quiz; progress is kept under it.
    kind : str
        ``choice`` (one is right), ``many`` (every right one), ``number`` (within ``tolerance``, a fraction of the answer).
    hints : tuple of (number, str)
        For ``number``: a wrong value a reader is likely to find, and what it tells.
    """

    key: str
    text: str
    kind: str = "choice"
    options: tuple[Option, ...] = ()
    answer: float = 0.0
    tolerance: float = 0.02
    unit: str = ""
    why: str = ""
    hints: tuple[tuple[float, str], ...] = ()

    def __post_init__(self) -> None:
        where = f"question {self.key!r}"
        if self.kind not in KINDS:
            raise unknown_name("kind of question", self.kind, KINDS)
        right = sum(option.correct for option in self.options)
        if self.kind == "choice" and (len(self.options) < 2 or right != 1):
            raise UsageError(
                f"{where} has {right} right of {len(self.options)} options, needs exactly 1 of at least 2", "mark one as correct"
            )
        if self.kind == "many" and (len(self.options) < 2 or right < 1):
            raise UsageError(
                f"{where} has {right} right of {len(self.options)} options, needs at least 1 of at least 2", "mark the right ones"
            )
        if self.kind == "number" and not 0 <= self.tolerance < 1:
            raise field_error("tolerance", self.tolerance, "must be >= 0 and < 1", where, "0.02 accepts 2 % either way")

    def spec(self) -> dict[str, Any]:
        """What the front end needs."""
        common = {"key": self.key, "kind": self.kind, "text": inline(self.text), "why": inline(self.why)}
        if self.kind == "number":
            hints = [[value, inline(text)] for value, text in self.hints]
            return {**common, "answer": self.answer, "tolerance": self.tolerance, "unit": self.unit, "hints": hints}
        return {**common, "options": [[inline(o.text), o.correct, inline(o.why)] for o in self.options]}

    def solution(self) -> str:
        """The answer in words, for a page without scripts."""
        if self.kind == "number":
            return f"{human(self.answer)} {self.unit}. {self.why}".strip()
        right = "; ".join(
            f"{option.text}{' (' + option.why + ')' if option.why else ''}" for option in self.options if option.correct
        )
        return f"{right} {self.why}".strip()


@dataclass(frozen=True)
class Quiz:
    """A list of questions under a title."""

    slug: str
    questions: tuple[QuizQuestion, ...]
    title: str = "Quiz"

    @classmethod
    def load(cls, slug: str, values: Mapping[str, float] | None = None) -> Quiz:
        """Read ``labs/SLUG/quiz.toml``.

        ``values`` gives numbers that a question refers to as ``answer = "{name}"``: results of the reader's own run.
        """
        path = bundle_path("labs", slug, "quiz.toml")
        if not path.is_file():
            known = sorted(found.parent.name for found in bundle_path("labs").glob("*/quiz.toml"))
            raise unknown_name("quiz", slug, known)
        return cls.read(path, slug, values)

    @classmethod
    def read(cls, path: Path, slug: str, values: Mapping[str, float] | None = None) -> Quiz:
        """Read a quiz from a TOML file: ``title``, then ``[[question]]`` tables."""
        try:
            raw = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{path.name} of lab {slug!r} is not TOML: {error}", "correct the line it names") from error
        questions = tuple(_question(item, place, values or {}) for place, item in enumerate(raw.get("question", []), start=1))
        if not questions:
            raise UsageError(f"{path.name} of lab {slug!r} has no [[question]]", "add at least one")
        return cls(slug, questions, raw.get("title", "Quiz"))

    def html(self) -> str:
        """The block the front end brings to life; without a script the questions stand there with folded answers."""
        plain = "".join(self._plain(question) for question in self.questions)
        spec = {"slug": self.slug, "questions": [question.spec() for question in self.questions]}
        return (
            f'<div class="aglab-quiz" data-aglab="quiz" data-slug="{escape(self.slug)}">'
            f'<p class="aglab-title">{escape(self.title)}</p><ol class="aglab-body">{plain}</ol>'
            f'<script type="application/json" class="aglab-spec">{script_json(spec)}</script></div>'
        )

    @staticmethod
    def _plain(question: QuizQuestion) -> str:
        options = "".join(f"<li>{inline(option.text)}</li>" for option in question.options)
        choices = f"<ul>{options}</ul>" if options else ""
        answer = f"<details><summary>Answer</summary><p>{inline(question.solution())}</p></details>"
        return f"<li><p>{inline(question.text)}</p>{choices}{answer}</li>"

    def __repr__(self) -> str:
        return f"Quiz({self.slug!r}, {len(self.questions)} questions)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from aglab.viz.widget import block_widget, mime_of

        return {"text/plain": repr(self), "text/html": self.html(), **mime_of(block_widget(self.html()))}


def _question(item: dict[str, Any], place: int, values: Mapping[str, float]) -> QuizQuestion:
    options = tuple(Option(one["text"], bool(one.get("correct", False)), one.get("why", "")) for one in item.get("option", []))
    hints = tuple((_number(one["near"], values), one["why"]) for one in item.get("hint", []))
    return QuizQuestion(
        key=item.get("key", f"q{place}"),
        text=item["text"],
        kind=item.get("kind", "choice"),
        options=options,
        answer=_number(item.get("answer", 0.0), values),
        tolerance=float(item.get("tolerance", 0.02)),
        unit=item.get("unit", ""),
        why=item.get("why", ""),
        hints=hints,
    )


def _number(value: Any, values: Mapping[str, float]) -> float:
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        name = value[1:-1]
        if name not in values:
            raise unknown_name("value for the quiz", name, sorted(values))
        return float(values[name])
    return float(value)
