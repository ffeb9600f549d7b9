"""Claims of order: which is faster, does it help, does it turn back. The twin is right or wrong; no error in percent says this.

``data/published/orders.csv`` holds each as two printed rows (or a row and a number), the greater one first.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from aglab.core.paths import bundle_path


@dataclass(frozen=True)
class Order:
    """``more`` is greater than ``less``, in the papers; each the id of a row, or a number as text."""

    claim: str
    more: str
    less: str

    @property
    def rows(self) -> tuple[str, ...]:
        """The ids among the two."""
        return tuple(side for side in (self.more, self.less) if number_of(side) is None)


def number_of(side: str) -> float | None:
    """The number that a side of a claim is, or None for an id."""
    try:
        return float(side)
    except ValueError:
        return None


@functools.cache
def orders() -> tuple[Order, ...]:
    """All claims, in the papers' order."""
    with bundle_path("data", "published", "orders.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Order(row["claim"], row["more"], row["less"]) for row in csv.DictReader(file))


def judge(twin: Mapping[str, float | None], ids: Collection[str] | None = None) -> list[dict[str, Any]]:
    """Each claim with the twin's two values and whether it orders them as the paper does.

    Parameters
    ----------
    twin : mapping
        The twin's value of each scored row.
    ids : collection of str, optional
        Claims about other rows are left out.

    Returns
    -------
    list of dict
        ``claim``, ``more``, ``less``, ``twin_more``, ``twin_less``, ``right`` (None where the twin has no value).
    """
    found = []
    for order in orders():
        if ids is not None and not set(order.rows) <= set(ids):
            continue
        high, low = (number if (number := number_of(side)) is not None else twin.get(side) for side in (order.more, order.less))
        found.append(
            {
                "claim": order.claim,
                "more": order.more,
                "less": order.less,
                "twin_more": high,
                "twin_less": low,
                "right": None if high is None or low is None else bool(high > low),
            }
        )
    return found
