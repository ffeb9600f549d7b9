"""Rows that print another row again, in other words or units, or that are arithmetic over printed rows.

They are in the score, so that no printed number is silently left out, but they test nothing a second time: medians and counts
of fitted rows leave them out. ``data/published/roles_repeats.csv`` names for each the operation and the rows it takes.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable
from dataclasses import dataclass

from aglab.core.paths import bundle_path

ROLE_FILE = "roles_repeats.csv"


@dataclass(frozen=True)
class Repeat:
    """One such row: ``op`` over rows ``of`` and ``other``, times ``factor`` (from their unit to this row's)."""

    op: str
    of: str
    other: str
    factor: float

    @property
    def parts(self) -> tuple[str, ...]:
        """The rows it takes."""
        return (self.of, self.other) if self.other else (self.of,)


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "same": lambda of, other: of,
    "minus": lambda of, other: of - other,
    "ratio": lambda of, other: of / other,
    "percent": lambda of, other: 100.0 * (of / other - 1.0),
}


@functools.cache
def repeats() -> dict[str, Repeat]:
    """All of them, by id."""
    with bundle_path("data", "published", ROLE_FILE).open(encoding="utf-8", newline="") as file:
        return {row["id"]: Repeat(row["op"], row["of"], row["other"], float(row["factor"])) for row in csv.DictReader(file)}


def repeated(row_id: str, value_of: Callable[[str], float | None]) -> float | None:
    """The value of a repeat from those of the rows it takes; None where one of them has none."""
    one = repeats()[row_id]
    values = [value_of(part) for part in one.parts]
    if any(value is None for value in values):
        return None
    of, other = values[0], values[-1]
    assert of is not None and other is not None
    return _OPERATIONS[one.op](of, other) * one.factor
