"""One published value by its id, for experiments that are given it as input."""

from __future__ import annotations

import csv
import functools

from aglab.core.errors import unknown_name
from aglab.core.paths import bundle_path


@functools.cache
def _rows() -> dict[str, tuple[float, str]]:
    with bundle_path("data", "published", "figures.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: (float(row["value"]), row["stat"]) for row in csv.DictReader(file)}


def published_value(row_id: str) -> float:
    """The value of a row of ``data/published/figures.csv``."""
    return printed_row(row_id)[0]


def printed_row(row_id: str) -> tuple[float, str]:
    """A row's value, and what it is of its quantity: ``avg``, ``max``, ``percent_change`` ..."""
    rows = _rows()
    if row_id not in rows:
        raise unknown_name("published row", row_id, tuple(rows))
    return rows[row_id]
