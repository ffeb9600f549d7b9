"""The progress callback: rooms report, the command line and notebooks draw."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with work done and work in all (any unit) and a short label."""

    def __call__(self, done: float, total: float, label: str = "") -> None: ...


def no_progress(done: float, total: float, label: str = "") -> None:
    """A progress callback that draws nothing."""
