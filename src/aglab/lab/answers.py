"""What a learner predicts and answers, and what comes back."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.progress import Progress, no_progress
from aglab.lab import store


def _block(title: str, lines: list[tuple[str, str]]) -> str:
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(a)}</th><td style='text-align:left'>{html.escape(b)}</td></tr>"
        for a, b in lines
    )
    return f"<p><strong>{html.escape(title)}</strong></p><table>{rows}</table>"


@dataclass(frozen=True)
class Ready:
    """The answer of a lab's first cell."""

    slug: str
    title: str
    mode: str
    profile: str
    version: str
    label: str

    def _lines(self) -> list[tuple[str, str]]:
        return [("mode", self.mode), ("profile", self.profile), ("server says", self.version), ("figures will say", self.label)]

    def __repr__(self) -> str:
        return "\n".join([f"{self.title}: ready", *(f"  {name}: {text}" for name, text in self._lines())])

    def _repr_html_(self) -> str:
        return _block(f"{self.title}: ready", self._lines())


@dataclass(frozen=True)
class Prediction:
    """What a learner expects, and why; empty until it is made."""

    slug: str
    choice: Any = None
    reason: str = ""

    def __repr__(self) -> str:
        if self.choice is None:
            return "No prediction yet: write one down before you run the next cell."
        return f"You predicted: {self.choice}, because {self.reason}"


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check: passed or not, what was seen, and a hint where it was not."""

    passed: bool
    seen: str
    hint: str = ""

    def __repr__(self) -> str:
        head = "PASSED" if self.passed else "NOT YET"
        return "\n".join([f"{head}: {self.seen}", *([f"Hint: {self.hint}"] if self.hint and not self.passed else [])])

    def __bool__(self) -> bool:
        return self.passed


def predict(slug: str, choice: Any = None, reason: str = "", question: dict[str, Any] | None = None) -> Prediction:
    """Keep a prediction for a lab, with its reason; without arguments, read the one that is kept.

    Raises
    ------
    UsageError
        The choice is not one of the lab's, or the reason is missing: a guess without a reason teaches nothing.
    """
    record = store.read(slug)
    if choice is None:
        kept = record["predictions"].get("main")
        return Prediction(slug, kept["choice"], kept["reason"]) if kept else Prediction(slug)
    choices = (question or {}).get("choices", [])
    if choices and choice not in choices:
        raise unknown_name("prediction", str(choice), [str(one) for one in choices])
    if len(reason.strip()) < 10:
        raise UsageError(f"reason={reason!r} must say why, in 10 characters or more", "name the resource you think is scarce")
    record["predictions"]["main"] = {"choice": choice, "reason": reason.strip()}
    store.write(slug, record)
    return Prediction(slug, choice, reason.strip())


def number_in(answer: dict[str, Any], name: str, low: float, high: float) -> tuple[Any, str]:
    """One number of an answer from a learner, and what is wrong with it: ``(value, "")`` or ``(None, words)``."""
    value = answer.get(name)
    if value is None:
        return None, f"{name} is still None"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        return None, f"{name}={value!r} must be a number from {low} to {high}"
    return value, ""


def check_on(slug: str, answer: Any, lab: Any, function: Callable[..., Verdict], progress: Progress = no_progress) -> Verdict:
    """Run a lab's check and keep that it was tried."""
    if not isinstance(answer, dict):
        raise UsageError(f"answer={answer!r} must be a dict of settings", "start from the exercise cell of the notebook")
    verdict = function(lab, answer, progress)
    record = store.read(slug)
    record["checks"] = [*record["checks"][-99:], {"passed": verdict.passed, "seen": verdict.seen}]
    store.write(slug, record)
    return verdict


def check(slug: str, answer: dict[str, Any], mode: str | None = None, progress: Progress = no_progress) -> Verdict:
    """Check an answer to a lab's exercise on a cluster of its own."""
    from aglab.lab.labs import open_lab

    with open_lab(slug, mode) as lab:
        return lab.check(answer, progress)
