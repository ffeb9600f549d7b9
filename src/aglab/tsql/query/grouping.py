"""GROUP BY, grouping sets and the reduction of groups to rows of keys and aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.query.aggregates import Aggregate
from aglab.tsql.query.scope import Expr, Frame
from aglab.tsql.query.sources import RowSource
from aglab.tsql.store.table import comparable


class GroupReducer:
    """Reads a row source and returns one tuple per group: keys, then aggregates, then the grouping bit mask."""

    def __init__(self, keys: list[Expr], aggregates: list[Aggregate], sets: list[list[int]] | None, always: bool) -> None:
        self.keys = keys
        self.aggregates = aggregates
        self.sets = sets
        self.always = always  # no GROUP BY: one row even when there is no input

    def reduce(self, frame: Frame, source: RowSource) -> list[tuple[Any, ...]]:
        """All groups in order of first appearance (grouping sets: set by set)."""
        sets = self.sets or [list(range(len(self.keys)))]
        groups: list[dict[Any, tuple[tuple[Any, ...], list[list[Any]]]]] = [{} for _ in sets]
        key_fns = [key.fn for key in self.keys]
        folds = [not key.sensitive for key in self.keys]
        aggregates = self.aggregates
        arguments = [a.argument for a in aggregates]
        ordered = [a.order for a in aggregates]
        for _ in source.iterate(frame):
            values = tuple(fn(frame) for fn in key_fns)
            cells = [
                1 if fn is None else fn(frame) if order is None else (fn(frame), [(k(frame), d) for k, d in order])
                for fn, order in zip(arguments, ordered, strict=True)
            ]
            normal = [comparable(value, fold) for value, fold in zip(values, folds, strict=True)]
            for chosen, table in zip(sets, groups, strict=True):
                key = tuple(normal[i] for i in chosen)
                group = table.get(key)
                if group is None:
                    shown = values if self.sets is None else tuple(v if i in chosen else None for i, v in enumerate(values))
                    group = table[key] = (shown, [[] for _ in aggregates])
                for bucket, cell in zip(group[1], cells, strict=True):
                    bucket.append(cell)
        result: list[tuple[Any, ...]] = []
        for chosen, table in zip(sets, groups, strict=True):
            mask = tuple(0 if i in chosen else 1 for i in range(len(self.keys)))
            if not table and (self.always or (self.sets is not None and not chosen)):
                table[()] = ((None,) * len(self.keys), [[] for _ in aggregates])
            for values, buckets in table.values():
                result.append(
                    values + tuple(self._finish(frame, a, b) for a, b in zip(aggregates, buckets, strict=True)) + (mask,)
                )
        return result

    @staticmethod
    def _finish(frame: Frame, aggregate: Aggregate, bucket: list[Any]) -> Any:
        if aggregate.argument is None:
            return len(bucket)
        if aggregate.name == "STRING_AGG":
            return join_text(frame, aggregate, bucket)
        values = [value for value in bucket if value is not None]
        if len(values) < len(bucket):
            frame[0].session.null_eliminated = True
        if aggregate.distinct is not None:
            values = list({aggregate.distinct(value): value for value in values}.values())
        return aggregate.finish(values)


def join_text(frame: Frame, aggregate: Aggregate, bucket: list[Any]) -> Any:
    """STRING_AGG."""
    if aggregate.order is not None:
        items = [item for item in bucket if item[0] is not None]
        for position in range(len(aggregate.order) - 1, -1, -1):
            items.sort(key=lambda item: comparable(item[1][position][0]), reverse=aggregate.order[position][1])
        values = [item[0] for item in items]
    else:
        values = [value for value in bucket if value is not None]
    if not values:
        return None
    separator = aggregate.separator(frame) if aggregate.separator is not None else ""
    return (separator or "").join(values)


def unfiltered(source: RowSource, frame: Frame) -> Iterator[None]:
    """All rows of a source."""
    return source.iterate(frame)
