"""One published value by its id, for experiments that are given it as input."""

from __future__ import annotations

import csv
import functools

from aglab.core.errors import unknown_name
from aglab.core.paths import bundle_path


@functools.cache
def _values() -> dict[str, float]:
    with bundle_path("data", "published", "figures.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: float(row["value"]) for row in csv.DictReader(file)}


def published_value(row_id: str) -> float:
    """The value of a row of ``data/published/figures.csv``."""
    values = _values()
    if row_id not in values:
        raise unknown_name("published row", row_id, tuple(values))
    return values[row_id]
