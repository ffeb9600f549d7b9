"""SELECT to a plan: bind FROM, place conditions, group, window, project, order, cut."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import BIGINT, FLOAT, INT, SqlType
from aglab.tsql import ast
from aglab.tsql.messages import error
from aglab.tsql.query import columnwise, windows
from aglab.tsql.query.aggregates import is_aggregate
from aglab.tsql.query.binder import Binder
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.grouping import GroupReducer
from aglab.tsql.query.joins import JoinBuilder, conjuncts
from aglab.tsql.query.keyset import Keyset, keyset_of
from aglab.tsql.query.operators import binary_function
from aglab.tsql.query.scope import Expr, Frame, Function, Grouping, OutColumn, Scope
from aglab.tsql.query.sources import Filter, Nothing, Rows, RowSource, TableScan
from aglab.tsql.runtime import LockNeeded
from aglab.tsql.store.table import Row, comparable
from aglab.tsql.types import arithmetic

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Plan, Planner


def compile_select(planner: Planner, node: ast.Select, outer: Scope | None) -> Plan:
    """Compile one SELECT."""
    return _SelectCompiler(planner, node, outer).plan()


def has_aggregate(node: Any) -> bool:
    """Whether a tree holds an aggregate of its own query (not of a subquery)."""
    if isinstance(node, ast.Query):
        return False
    if isinstance(node, ast.Node):
        if is_aggregate(node):
            return True
        return any(has_aggregate(getattr(node, f.name)) for f in dataclasses.fields(node))
    if isinstance(node, (list, tuple)):
        return any(has_aggregate(item) for item in node)
    return False


def _reads_tables(node: Any) -> bool:
    """Whether an expression needs more than its row: it holds a subquery, or calls a function of the user's."""
    if isinstance(node, ast.Query) or (isinstance(node, ast.Call) and len(node.parts) > 1):
        return True
    if isinstance(node, ast.Node):
        return any(_reads_tables(getattr(node, f.name)) for f in dataclasses.fields(node))
    return isinstance(node, (list, tuple)) and any(_reads_tables(item) for item in node)


class _SelectCompiler:
    def __init__(self, planner: Planner, node: ast.Select, outer: Scope | None) -> None:
        self.planner = planner
        self.context = planner.context
        self.node = node
        self.outer = outer
        self.scope = Scope(outer)
        self.compiler = ExpressionCompiler(self.context, self.scope, planner)
        self.group_keys: list[Expr] = []
        self.sources: dict[int, Any] = {}
        self.staged: Any = None  # of a select list that is computed by whole columns

    def plan(self) -> Plan:
        from aglab.tsql.query.planner import Plan

        node = self.node
        source = self._source()
        grouped = node.group is not None or node.having is not None or has_aggregate([*node.items, *node.order])
        if grouped:
            self._group()
        self.scope.windows = []
        self.scope.window_slot = self.context.slot()
        columns, outputs, assignments = self._items()
        if node is self.planner.keyed and not (grouped or node.distinct or self.scope.windows or assignments):
            self.planner.keyset = keyset_of(self.scope.sources, self.sources, outputs, columns, _projection(list(outputs)))
        having = None
        if node.having is not None:
            assert self.scope.grouping is not None
            self.scope.grouping.clause = 8121
            having = self.compiler.condition(node.having).fn
        if self.scope.grouping is not None:
            self.scope.grouping.clause = 8127
        orders = self._order(columns, outputs)
        if self.planner.keyset is not None and node is self.planner.keyed:
            self._note_order(self.planner.keyset, outputs)
        self._reject_subquery_group()
        rows = self._runner(source, outputs, columns, orders, having)
        if assignments:
            rows = self._assigning_runner(source, outputs, assignments, orders, having)
        first = None
        if not grouped and node.top is None and node.offset is None:
            first = lambda frame: any(True for _ in source.iterate(frame))  # noqa: E731
        staged = None
        if not (grouped or orders or node.distinct or node.top or node.offset or assignments or self.scope.windows):
            staged = self.staged
        return Plan(columns, rows, self.scope.outer_refs, first, assignments, staged)

    # --- FROM and WHERE -----------------------------------------------------------------------------------------------------

    def _source(self) -> RowSource:
        node = self.node
        if node.source is None:
            if node.where is not None:
                return Filter(Nothing(), self.compiler.condition(node.where).fn)
            return Nothing()
        binder = Binder(self.planner, self.scope)
        binder.bind(node.source)
        self.sources = binder.sources
        if node.where is not None and has_aggregate(node.where):
            raise error(147, line=node.where.line)
        wheres = conjuncts(self.compiler, node.where)
        builder = JoinBuilder(self.scope.own_slots(), binder.sources, binder.on)
        source = builder.build(node.source, wheres, frozenset())
        rest = [c.expr.fn for c in wheres if not c.used]
        for fn in rest:
            source = Filter(source, fn)
        return source

    # --- GROUP BY -----------------------------------------------------------------------------------------------------------

    def _group(self) -> None:
        keys: dict[str, tuple[int, Expr]] = {}
        for position, item in enumerate(self.node.group or []):
            if isinstance(item, ast.Literal):
                raise error(164, line=item.line)
            if has_aggregate(item) or isinstance(item, ast.Subquery):
                raise error(144, line=item.line)
            expr = self.compiler.value(item)
            if self.node.grouping_sets is not None:
                expr = dataclasses.replace(expr, nullable=True)  # totals show NULL
            self.group_keys.append(expr)
            keys.setdefault(self.compiler.fingerprint(item), (position, expr))
        self.scope.grouping = Grouping(self.context.slot(), keys, active=True, width=len(self.group_keys))

    def _reject_subquery_group(self) -> None:
        return None

    # --- select list --------------------------------------------------------------------------------------------------------

    def _items(self) -> tuple[list[OutColumn], list[Expr], list[tuple[str, str, int]] | None]:
        columns: list[OutColumn] = []
        outputs: list[Expr] = []
        assignments: list[tuple[str, str, int]] = []
        plain = 0
        for item in self.node.items:
            if isinstance(item.expression, ast.Star):
                plain += 1
                self._expand(item.expression, columns, outputs)
                continue
            expr = self.compiler.value(item.expression)
            if item.variable:
                assignments.append((item.variable, item.op, len(outputs)))
            else:
                plain += 1
            columns.append(OutColumn(item.alias or expr.name, expr.type or INT, expr.nullable, expr.sensitive, expr.identity))
            outputs.append(expr)
        if assignments and plain:
            raise error(141, line=self.node.line)
        return columns, outputs, assignments or None

    def _expand(self, star: ast.Star, columns: list[OutColumn], outputs: list[Expr]) -> None:
        if not self.scope.sources:
            raise error(263, line=star.line)
        found = False
        for bound in self.scope.sources:
            if star.qualifier and not bound.answers(star.qualifier):
                continue
            found = True
            for ordinal, column in enumerate(bound.columns):
                reference = self._column(bound, ordinal, star.line)
                columns.append(OutColumn(column.name, column.type, reference.nullable, column.sensitive, column.identity))
                outputs.append(reference)
        if not found:
            raise error(107, ".".join(star.qualifier), line=star.line)

    def _column(self, bound: Any, ordinal: int, line: int) -> Expr:
        slot, column = bound.slot, bound.columns[ordinal]
        bound.read(ordinal)
        grouping = self.scope.grouping
        if grouping is not None:
            key = grouping.keys.get(f"${slot}.{ordinal}")
            if key is None:
                raise error(8120, f"{bound.alias}.{column.name}", line=line)
            position, group_slot = key[0], grouping.slot
            return Expr(
                lambda frame: frame[group_slot][position], column.type, frozenset({group_slot}), key[1].nullable, column.name
            )
        return Expr(
            columnwise.column(slot, ordinal),
            column.type,
            frozenset({slot}),
            column.nullable,
            column.name,
            sensitive=column.sensitive,
            column=(slot, ordinal),
        )

    # --- ORDER BY -----------------------------------------------------------------------------------------------------------

    def _order(self, columns: list[OutColumn], outputs: list[Expr]) -> list[tuple[Function | int, bool, bool]]:
        result: list[tuple[Function | int, bool, bool]] = []
        prints = [self.compiler.fingerprint(item.expression) for item in self.node.items] if self.node.distinct else []
        for item in self.node.order:
            expression = item.expression
            position = self._output_position(expression, columns, item.line)
            if position is not None:
                result.append((position, item.descending, not columns[position].sensitive))
                continue
            if self.node.distinct and self.compiler.fingerprint(expression) not in prints:
                starred = any(isinstance(i.expression, ast.Star) for i in self.node.items)
                if not (starred and isinstance(expression, ast.ColumnRef)):
                    raise error(145, line=item.line)
            expr = self.compiler.value(expression)
            if expr.type is not None and expr.type.name in ("text", "ntext", "image", "xml"):
                raise error(306, line=item.line)
            result.append((expr.fn, item.descending, not expr.sensitive))
        return result

    def _note_order(self, keyset: Keyset, outputs: list[Expr]) -> None:
        """What a cursor must know of ORDER BY, TOP and OFFSET."""
        keyset.limited = self.node.top is not None or self.node.offset is not None
        numbers = {bound.slot: number for number, bound in enumerate(self.scope.sources)}
        for item in self.node.order:
            position = self._output_position(item.expression, keyset.columns, item.line)
            expr = outputs[position] if position is not None else self.compiler.value(item.expression)
            column = expr.column
            keyset.order.append(((numbers[column[0]], column[1]) if column and column[0] in numbers else None, item.descending))

    def _output_position(self, node: ast.Node, columns: list[OutColumn], line: int) -> int | None:
        if isinstance(node, ast.Literal) and isinstance(node.value, int):
            if not 1 <= node.value <= len(columns):
                raise error(108, node.value, line=line)
            return node.value - 1
        if isinstance(node, ast.ColumnRef) and len(node.parts) == 1:
            matches = [i for i, column in enumerate(columns) if column.name.lower() == node.name.lower()]
            aliased = [i for i, item in enumerate(self.node.items) if item.alias and item.alias.lower() == node.name.lower()]
            if aliased and matches:
                return matches[0]
            if matches and self.node.distinct:
                return matches[0]
        return None

    # --- running ------------------------------------------------------------------------------------------------------------

    def _runner(
        self,
        source: RowSource,
        outputs: list[Expr],
        columns: list[OutColumn],
        orders: list[tuple[Function | int, bool, bool]],
        having: Function | None,
    ) -> Callable[[Frame], list[Row]]:
        node = self.node
        project = _projection(outputs)
        states = self._states(source, having)
        cut = self._cut(orders)
        limit = self.planner.row_limit(node, self.outer)
        distinct = node.distinct
        folds = [not column.sensitive for column in columns]
        keyed = [(item, descending, fold) for item, descending, fold in orders]
        plain = self.scope.grouping is None and not self.scope.windows and node is not self.planner.keyed
        simple = self._simple_projection(source, outputs) if plain else None

        def run(frame: Frame) -> list[Row]:
            if simple is not None and not keyed:
                rows = simple(frame)
            elif not keyed:
                rows = [project(frame) for _ in states(frame)]
            else:
                pairs: list[tuple[Row, tuple[Any, ...]]] = []
                for _ in states(frame):
                    row = project(frame)
                    pairs.append(
                        (
                            row,
                            tuple(
                                comparable(row[item] if isinstance(item, int) else item(frame), fold) for item, _, fold in keyed
                            ),
                        )
                    )
                if distinct:
                    pairs = list(
                        {
                            tuple(comparable(v, f) for v, f in zip(row, folds, strict=True)): (row, key)
                            for row, key in reversed(pairs)
                        }.values()
                    )[::-1]
                for place in range(len(keyed) - 1, -1, -1):
                    pairs.sort(key=lambda pair: pair[1][place], reverse=keyed[place][1])
                if cut is not None:
                    pairs = cut(frame, pairs)
                return limit(frame, [row for row, _ in pairs])
            if distinct:
                rows = list(
                    {tuple(comparable(v, f) for v, f in zip(row, folds, strict=True)): row for row in reversed(rows)}.values()
                )[::-1]
            if cut is not None:
                rows = [row for row, _ in cut(frame, [(row, ()) for row in rows])]
            return limit(frame, rows)

        return run

    def _assigning_runner(
        self,
        source: RowSource,
        outputs: list[Expr],
        assignments: list[tuple[str, str, int]],
        orders: list[tuple[Function | int, bool, bool]],
        having: Function | None,
    ) -> Callable[[Frame], list[Row]]:
        """SELECT @v = ...: the variables change row by row, in the order asked for."""
        grouping = self.scope.grouping
        slots = (*(source.slots if grouping is None else (grouping.slot,)), self.scope.window_slot)
        states = self._states(source, having)
        cut = self._cut(orders)
        setters = [self._setter(name, op, outputs[position]) for name, op, position in assignments]
        functions = [(outputs[item].fn if isinstance(item, int) else item, d, fold) for item, d, fold in orders]

        def run(frame: Frame) -> list[Row]:
            pairs: list[tuple[Row, tuple[Any, ...]]] = []
            for _ in states(frame):
                key = tuple(comparable(fn(frame), fold) for fn, _, fold in functions)
                pairs.append((tuple(frame[slot] for slot in slots), key))
            for place in range(len(functions) - 1, -1, -1):
                pairs.sort(key=lambda pair: pair[1][place], reverse=functions[place][1])
            if cut is not None:
                pairs = cut(frame, pairs)
            values = frame[0].variables.values
            before = dict(values)
            try:
                for state, _ in pairs:
                    for slot, part in zip(slots, state, strict=True):
                        frame[slot] = part
                    for name, fn in setters:
                        values[name] = fn(frame)
            except LockNeeded:
                values.update(before)
                raise
            return [()] * len(pairs)

        return run

    def _setter(self, name: str, op: str, expr: Expr) -> tuple[str, Function]:
        key = name.lower()
        sql_type = self.context.variables.types.get(key)
        if sql_type is None:
            raise error(137, name, line=self.node.line)
        if op != "=":
            left = Expr(lambda frame: frame[0].variables.values[key], sql_type)
            result = arithmetic(op[0], sql_type, expr.type)
            expr = Expr(binary_function(op[0], left, expr, result), result)
        return key, self.compiler.convert(expr, sql_type).fn

    def _simple_projection(self, source: RowSource, outputs: list[Expr]) -> Callable[[Frame], list[Row]] | None:
        """One source: plain columns are picked straight from the stored rows, items with a form for whole columns computed so."""
        if not isinstance(source, (TableScan, Rows)):
            return None
        slot = source.slots[0]
        project = _projection(outputs)
        if not all(o.column is not None and o.column[0] == slot for o in outputs):
            several = columnwise.projection([o.fn for o in outputs], slot, project)
            if several is None and (_reads_tables(self.node.items) or any(o.refs - {slot} for o in outputs)):
                return None
            several = several or columnwise.one_by_one(slot, project)
        else:
            several = self._picked([o.column[1] for o in outputs if o.column is not None])

        def read(frame: Frame) -> Iterable[Row] | None:
            rows = source.plain_rows(frame)
            condition = source.condition
            if rows is None or condition is None:
                return rows
            kept = []
            for row in rows:
                frame[slot] = row
                if condition(frame):
                    kept.append(row)
            return kept

        def run(frame: Frame) -> list[Row]:
            rows = read(frame)
            return [project(frame) for _ in source.iterate(frame)] if rows is None else several(frame, rows)

        def staged(frame: Frame) -> tuple[list[Row], Callable[[list[Row]], list[Row]]]:
            rows = read(frame)
            if rows is None:
                return run(frame), lambda some: some
            return list(rows), lambda some: several(frame, some)  # a copy: others may write before all has left

        self.staged = staged
        return run

    def _picked(self, ordinals: list[int]) -> Callable[[Frame, Iterable[Row]], list[Row]]:
        if ordinals == list(range(len(self.scope.sources[0].columns))):
            return lambda frame, rows: list(rows)
        pick: Callable[[Row], Row] = itemgetter(*ordinals) if len(ordinals) > 1 else (lambda row: (row[ordinals[0]],))
        return lambda frame, rows: [pick(row) for row in rows]

    def _states(self, source: RowSource, having: Function | None) -> Callable[[Frame], Iterator[None]]:
        grouping, specs, window_slot = self.scope.grouping, self.scope.windows or [], self.scope.window_slot
        base: Callable[[Frame], Iterator[None]] = source.iterate
        slots = source.slots
        if grouping is not None:
            reducer = GroupReducer(self.group_keys, grouping.aggregates, self.node.grouping_sets, self.node.group is None)
            group_slot = grouping.slot
            slots = (group_slot,)

            def grouped(frame: Frame) -> Iterator[None]:
                for row in reducer.reduce(frame, source):
                    frame[group_slot] = row
                    if having is None or having(frame):
                        yield

            base = grouped
        if not specs:
            return base

        def windowed(frame: Frame) -> Iterator[None]:
            states = [tuple(frame[slot] for slot in slots) for _ in base(frame)]
            values = [windows.compute(spec, frame, states, slots) for spec in specs]
            for position, state in enumerate(states):
                for slot, value in zip(slots, state, strict=True):
                    frame[slot] = value
                frame[window_slot] = tuple(column[position] for column in values)
                yield

        return windowed

    def _cut(self, orders: list[Any]) -> Callable[[Frame, list[Any]], list[Any]] | None:
        top = self.node.top
        if top is None:
            return None
        compiler = ExpressionCompiler(self.context, Scope(self.outer), self.planner)
        expr = compiler.value(top.count)
        if not top.percent and expr.type is not None and expr.type.name not in ("int", "bigint", "smallint", "tinyint"):
            raise error(1060, line=top.line)
        if top.ties and not orders:
            raise error(1062, line=top.line)
        count = compiler.convert(expr, FLOAT if top.percent else BIGINT).fn

        def cut(frame: Frame, pairs: list[Any]) -> list[Any]:
            number = count(frame)
            if number is None:
                raise error(1060)
            if top.percent and not 0 <= number <= 100:
                raise error(1031)
            if number < 0:
                raise error(127)
            if top.percent:
                number = -int(-len(pairs) * number // 100)
            if top.ties and 0 < number < len(pairs):
                last = pairs[number - 1][1]
                while number < len(pairs) and pairs[number][1] == last:
                    number += 1
            return pairs[:number]

        return cut


def _projection(outputs: list[Expr]) -> Callable[[Frame], Row]:
    functions = [expr.fn for expr in outputs]
    if len(functions) == 1:
        only = functions[0]
        return lambda frame: (only(frame),)
    if len(functions) == 2:
        a, b = functions
        return lambda frame: (a(frame), b(frame))
    return lambda frame: tuple([fn(frame) for fn in functions])


_ = SqlType
