"""Claims of order: which is faster, does it help, does it turn back. The twin is right or wrong; no error in percent says this.

``data/published/orders.csv`` holds each as two printed rows (or a row and a number), the greater one first. Where a paper prints
several runs of one setting, ``repeats`` names them (settings apart by ``|``): what they differ by is the paper's own noise, and a
claim whose two sides differ by no more than twice that is a draw, whatever the twin says. No noise is taken from elsewhere.
``reason`` says what the twin lacks where it orders them otherwise.
"""

from __future__ import annotations

import csv
import functools
import math
import statistics
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from aglab.core.paths import bundle_path
from aglab.published.rows_read import printed_row

SURE = 2.0  # standard deviations: what two settings must differ by to be told apart


@dataclass(frozen=True)
class Order:
    """``more`` is greater than ``less``, in the papers; each the id of a row, or a number as text."""

    claim: str
    more: str
    less: str
    repeats: tuple[tuple[str, ...], ...] = ()
    reason: str = ""

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
        return tuple(
            Order(
                row["claim"],
                row["more"],
                row["less"],
                tuple(tuple(group.split()) for group in row["repeats"].split("|") if group.strip()),
                row["reason"],
            )
            for row in csv.DictReader(file)
        )


def spread(order: Order) -> float | None:
    """What repeated runs of one setting differ by in the paper (relative standard deviation, settings pooled), or None."""
    squares, freedom = 0.0, 0
    for group in order.repeats:
        values = [_printed(row_id)[0] for row_id in group]
        squares += (len(values) - 1) * (statistics.stdev(values) / statistics.mean(values)) ** 2
        freedom += len(values) - 1
    return math.sqrt(squares / freedom) if freedom else None


def noise(order: Order) -> float | None:
    """Standard deviation of the difference between a claim's two sides, from the paper's repeated runs; in the sides' unit.

    A printed rate is one run; a printed change in percent is a ratio of two; a bare number has no noise.
    """
    one = spread(order)
    if one is None:
        return None
    squares = 0.0
    for row_id in order.rows:
        value, percent = _printed(row_id)
        squares += 2.0 * (100.0 + value) ** 2 if percent else value**2
    return one * math.sqrt(squares)


def is_draw(order: Order) -> bool:
    """Whether the paper's two sides differ by no more than twice their noise."""
    one = noise(order)
    if one is None:
        return False
    high, low = (number if (number := number_of(side)) is not None else _printed(side)[0] for side in (order.more, order.less))
    return abs(high - low) <= SURE * one


def _printed(row_id: str) -> tuple[float, bool]:
    """A printed value, and whether it is a change in percent."""
    value, stat = printed_row(row_id)
    return value, stat == "percent_change"


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
        ``claim``, ``more``, ``less``, ``twin_more``, ``twin_less``, ``right`` (None where the twin has no value), ``draw`` (the
        paper's runs do not tell the two apart), ``noise`` (standard deviation of their difference, None if not printed),
        ``reason`` (of a claim that the twin gets wrong).
    """
    found = []
    for order in orders():
        if ids is not None and not set(order.rows) <= set(ids):
            continue
        high, low = (number if (number := number_of(side)) is not None else twin.get(side) for side in (order.more, order.less))
        one = noise(order)
        found.append(
            {
                "claim": order.claim,
                "more": order.more,
                "less": order.less,
                "twin_more": high,
                "twin_less": low,
                "right": None if high is None or low is None else bool(high > low),
                "draw": is_draw(order),
                "noise": None if one is None else round(one, 3),
                "reason": order.reason,
            }
        )
    return found


def tally(found: Collection[Mapping[str, Any]]) -> dict[str, int]:
    """How many judged claims are ``right`` and ``wrong``, draws left out, and how many are a ``draw`` or have ``no value``."""
    counts = {"right": 0, "wrong": 0, "draw": 0, "no value": 0}
    for one in found:
        counts[verdict(one)] += 1
    return counts


def verdict(one: Mapping[str, Any]) -> str:
    """``draw``, ``right``, ``wrong`` or ``no value``: what to show of a judged claim."""
    if one["draw"]:
        return "draw"
    return {True: "right", False: "wrong", None: "no value"}[one["right"]]
