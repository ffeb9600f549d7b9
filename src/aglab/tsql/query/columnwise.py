"""Expressions over many rows at once: a select list of columns, constants and integer arithmetic without a call for each row.

The closure of an expression takes a frame and gives one value. Where a whole column can be computed with Python's own
loops, the closure carries a second form (:func:`whole`). It is an optimization of plain cases: where it does not apply
(NULL in arithmetic, overflow, division by zero), :class:`Rowwise` is raised, the select list runs row by row and finds
the value, or the error, of the first row that has one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

from aglab.tsql.query.scope import Frame, Function
from aglab.tsql.store.table import Row

ROWS_MIN = 64  # fewer are as fast one by one
# frame, rows of one source, the slot of that source -> the value of each row
Whole = Callable[[Frame, Sequence[Row], int], Iterable[Any]]
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


class Rowwise(Exception):
    """These rows have to be computed one by one."""


def with_whole(fn: Function, form: Whole | None) -> Function:
    """``fn`` with its second form; whatever wraps ``fn`` has none until it is given one."""
    if form is not None:
        fn.whole = form  # type: ignore[attr-defined]
    return fn


def whole(fn: Function) -> Whole | None:
    """The second form of a closure, if it has one."""
    return getattr(fn, "whole", None)


def column(slot: int, ordinal: int) -> Function:
    """A column of a source; of another source than the one that is read, it has one value."""

    def form(frame: Frame, rows: Sequence[Row], own: int) -> Iterable[Any]:
        return map(operator.itemgetter(ordinal), rows) if slot == own else repeat(frame[slot][ordinal], len(rows))

    return with_whole(lambda frame: frame[slot][ordinal], form)


def unchanging(fn: Function) -> Function:
    """A constant or a variable: one value for all rows."""
    return with_whole(fn, lambda frame, rows, own: repeat(fn(frame), len(rows)))


def integer(op: str, a: Function, b: Function, low: int, high: int) -> Whole | None:
    """Integer arithmetic within limits. None for an operator, or an operand, that has no such form."""
    left, right, plain = whole(a), whole(b), _PLAIN.get(op)
    if left is None or right is None or plain is None:
        return None

    def form(frame: Frame, rows: Sequence[Row], own: int) -> Iterable[Any]:
        try:
            values = list(map(plain, left(frame, rows, own), right(frame, rows, own)))
            if low <= min(values) and max(values) <= high:
                return values
        except TypeError:  # NULL
            pass
        raise Rowwise

    return form


def projection(functions: Sequence[Function], slot: int, project: Callable[[Frame], Row]) -> Callable[..., list[Row]] | None:
    """A function of a frame and the rows of a source that gives the rows of a select list.

    None where one item has no second form.

    Parameters
    ----------
    functions : sequence of callable
        The items.
    slot : int
        The source's.
    project : callable
        The whole select list for the row that stands in the frame.
    """
    forms = [form for fn in functions if (form := whole(fn)) is not None]
    if len(forms) < len(functions):
        return None
    slowly = one_by_one(slot, project)

    def run(frame: Frame, rows: Sequence[Row]) -> list[Row]:
        if len(rows) >= ROWS_MIN:
            try:
                return list(zip(*[form(frame, rows, slot) for form in forms], strict=True))
            except Rowwise:
                pass
        return slowly(frame, rows)

    return run


def one_by_one(slot: int, project: Callable[[Frame], Row]) -> Callable[..., list[Row]]:
    """As :func:`projection`, for any select list: ``project`` runs for each row."""

    def run(frame: Frame, rows: Sequence[Row]) -> list[Row]:
        result = []
        for row in rows:
            frame[slot] = row
            result.append(project(frame))
        return result

    return run
