"""Queries to plans: SELECT, set operations, VALUES, common table expressions (recursive too)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from aglab.core.sqltypes import BIGINT, INT, SqlType, varchar
from aglab.tsql import ast
from aglab.tsql.convert import converter
from aglab.tsql.messages import error
from aglab.tsql.query.expressions import ExpressionCompiler
from aglab.tsql.query.keyset import Keyset
from aglab.tsql.query.scope import CompileContext, Expr, Frame, OutColumn, Scope
from aglab.tsql.store.table import Row, comparable
from aglab.tsql.types import common

MAX_SUBQUERY_DEPTH = 32


@dataclass
class Plan:
    """A compiled query: its columns and a function from frame to rows."""

    columns: list[OutColumn]
    rows: Callable[[Frame], list[Row]]
    outer_refs: set[int] = field(default_factory=set)
    first: Callable[[Frame], bool] | None = None
    assignments: list[tuple[str, str, int]] | None = None  # SELECT @v = ...: (variable, operator, position)
    # the rows that were read, and the select list over some of them: a result can leave while the rest is computed
    staged: Callable[[Frame], tuple[list[Row], Callable[[list[Row]], list[Row]]]] | None = None

    def cached_rows(self, context: CompileContext) -> Callable[[Frame], list[Row]]:
        """``rows``, computed once per execution when nothing outside the query changes it."""
        if self.outer_refs:
            return self.rows
        slot, rows = context.slot(), self.rows

        def cached(frame: Frame) -> list[Row]:
            found = frame[slot]
            if found is None:
                found = frame[slot] = rows(frame)
            return found

        return cached

    def exists(self, frame: Frame) -> bool:
        """Whether there is at least one row."""
        return self.first(frame) if self.first is not None else bool(self.rows(frame))


@dataclass
class CteBinding:
    """A common table expression in sight: its tree, or, inside its own recursion, the slot of its working rows."""

    cte: ast.Cte
    visible: dict[str, CteBinding]
    working_slot: int = 0
    columns: list[OutColumn] | None = None


def _untyped(node: ast.Query, ordinal: int) -> bool:
    """Whether a column of a query is the constant NULL, which has no type of its own beside another query."""
    if isinstance(node, ast.SetOperation):
        assert node.left is not None and node.right is not None
        return _untyped(node.left, ordinal) and _untyped(node.right, ordinal)
    if not isinstance(node, ast.Select) or any(isinstance(item.expression, ast.Star) for item in node.items):
        return False
    expression = node.items[ordinal].expression
    return isinstance(expression, ast.Literal) and expression.type is None


class Planner:
    """Compiles the queries of one statement."""

    def __init__(self, context: CompileContext) -> None:
        self.context = context
        self.ctes: dict[str, CteBinding] = {}
        self.keyed: ast.Query | None = None  # the query of a cursor: its plan also gives row ids, and ``keyset`` reads them
        self.keyset: Keyset | None = None

    def subquery(self, node: ast.Query, outer: Scope | None) -> Plan:
        """A query inside an expression or FROM."""
        self.context.subquery_depth += 1
        if self.context.subquery_depth > MAX_SUBQUERY_DEPTH:
            raise error(191, line=node.line)
        saved_slot = None
        if outer is not None and outer.grouping is not None and outer.grouping.active:
            saved_slot = outer.grouping.clause
        try:
            return self.query(node, outer)
        finally:
            self.context.subquery_depth -= 1
            if saved_slot is not None and outer is not None and outer.grouping is not None:
                outer.grouping.clause = saved_slot

    def query(self, node: ast.Query, outer: Scope | None) -> Plan:
        """Any query with its common table expressions."""
        saved = self.ctes
        if node.ctes:
            self.ctes = dict(saved)
            for cte in node.ctes:
                self.ctes[cte.name.lower()] = CteBinding(cte, dict(self.ctes))
        try:
            if isinstance(node, ast.Select):
                from aglab.tsql.query.select import compile_select

                plan = compile_select(self, node, outer)
            elif isinstance(node, ast.SetOperation):
                plan = self._set_operation(node, outer)
            else:
                assert isinstance(node, ast.Values)
                plan = self.values(node, outer)
            if node.for_clause is not None:
                from aglab.tsql.query.for_clause import wrap_for

                plan = wrap_for(plan, node)
            return plan
        finally:
            self.ctes = saved

    # --- VALUES -------------------------------------------------------------------------------------------------------------

    def values(self, node: ast.Values, outer: Scope | None) -> Plan:
        """A table value constructor: column types are the common types of its rows."""
        compiler = ExpressionCompiler(self.context, Scope(outer), self)
        width = len(node.rows[0])
        if any(len(row) != width for row in node.rows):
            raise error(10709, line=node.line)
        compiled = [[compiler.value(cell) for cell in row] for row in node.rows]
        columns: list[OutColumn] = []
        for ordinal in range(width):
            sql_type: SqlType | None = None
            for row in compiled:
                sql_type = common(sql_type, row[ordinal].type)
            columns.append(OutColumn("", sql_type or INT, any(row[ordinal].nullable for row in compiled)))
        functions = [[compiler.convert(row[i], columns[i].type).fn for i in range(width)] for row in compiled]
        return Plan(columns, lambda frame: [tuple(fn(frame) for fn in row) for row in functions], compiler.scope.outer_refs)

    # --- set operations -----------------------------------------------------------------------------------------------------

    def _set_operation(self, node: ast.SetOperation, outer: Scope | None) -> Plan:
        assert node.left is not None and node.right is not None
        left, right = self.query(node.left, outer), self.query(node.right, outer)
        if len(left.columns) != len(right.columns):
            raise error(205, line=node.line)
        columns: list[OutColumn] = []
        for ordinal, (a, b) in enumerate(zip(left.columns, right.columns, strict=True)):
            first, second = _untyped(node.left, ordinal), _untyped(node.right, ordinal)
            sql_type = common(None if first else a.type, None if second else b.type) or INT
            columns.append(OutColumn(a.name, sql_type, a.nullable or b.nullable, a.sensitive or b.sensitive))
            left.columns[ordinal] = replace(a, type=sql_type) if first else a  # NULL is of the other side's type
            right.columns[ordinal] = replace(b, type=sql_type) if second else b
        left_rows, right_rows = _cast_rows(left, columns), _cast_rows(right, columns)
        op = node.op
        folds = [not column.sensitive for column in columns]

        def key(row: Row) -> tuple[Any, ...]:
            return tuple(comparable(value, fold) for value, fold in zip(row, folds, strict=True))

        def run(frame: Frame) -> list[Row]:
            a, b = left_rows(frame), right_rows(frame)
            if op == "UNION ALL":
                return a + b
            if op == "UNION":
                return list({key(row): row for row in reversed(a + b)}.values())[::-1]
            other = {key(row) for row in b}
            wanted = op == "INTERSECT"
            return list({key(row): row for row in reversed(a) if (key(row) in other) is wanted}.values())[::-1]

        plan = Plan(columns, run, left.outer_refs | right.outer_refs)
        return self.ordered(plan, node, outer)

    def ordered(self, plan: Plan, node: ast.Query, outer: Scope | None) -> Plan:
        """ORDER BY, OFFSET and FETCH over a finished result (its columns by name or position)."""
        if not node.order and node.offset is None:
            return plan
        names = {column.name.lower(): i for i, column in reversed(list(enumerate(plan.columns)))}
        keys: list[tuple[int, bool, bool]] = []
        for item in node.order:
            expression = item.expression
            if isinstance(expression, ast.Literal) and isinstance(expression.value, int):
                if not 1 <= expression.value <= len(plan.columns):
                    raise error(108, expression.value, line=item.line)
                position = expression.value - 1
            elif isinstance(expression, ast.ColumnRef) and len(expression.parts) == 1:
                if expression.name.lower() not in names:
                    raise error(207, expression.name, line=item.line)
                position = names[expression.name.lower()]
            else:
                found = _selected(node, expression)
                if found is None:
                    raise error(104, line=item.line)
                position = found
            keys.append((position, item.descending, not plan.columns[position].sensitive))
        limit = self.row_limit(node, outer)
        rows = plan.rows

        def run(frame: Frame) -> list[Row]:
            found = list(rows(frame))
            for position, descending, fold in reversed(keys):
                found.sort(key=lambda row: comparable(row[position], fold), reverse=descending)
            return limit(frame, found)

        return Plan(plan.columns, run, plan.outer_refs)

    def row_limit(self, node: ast.Query, outer: Scope | None) -> Callable[[Frame, list[Row]], list[Row]]:
        """OFFSET and FETCH as a function of the rows."""
        if node.offset is None:
            return lambda frame, rows: rows
        compiler = ExpressionCompiler(self.context, Scope(outer), self)
        offset = compiler.converted(node.offset, BIGINT).fn
        fetch = compiler.converted(node.fetch, BIGINT).fn if node.fetch is not None else None

        def limit(frame: Frame, rows: list[Row]) -> list[Row]:
            start = offset(frame)
            if start is None or start < 0:
                raise error(10742)
            if fetch is None:
                return rows[start:]
            count = fetch(frame)
            if count is None or count < 1:
                raise error(10744)
            return rows[start : start + count]

        return limit

    # --- common table expressions -------------------------------------------------------------------------------------------

    def cte_plan(self, binding: CteBinding, outer: Scope | None) -> Plan:
        """The rows of a common table expression where it is named."""
        cte = binding.cte
        saved = self.ctes
        self.ctes = dict(binding.visible)
        try:
            if isinstance(cte.query, ast.SetOperation) and _mentions(cte.query, cte.name):
                plan = self._recursive(binding, outer)
            else:
                plan = self.subquery(cte.query, None)
        finally:
            self.ctes = saved
        return Plan(named_columns(plan.columns, cte.columns, cte.name, cte.line), plan.rows, plan.outer_refs)

    def _recursive(self, binding: CteBinding, outer: Scope | None) -> Plan:
        cte = binding.cte
        anchors, recursive = _branches(cte.query, cte.name)
        if not anchors:
            raise error(246, cte.name, line=cte.line)
        plans = [self.subquery(branch, None) for branch in anchors]
        columns = named_columns(plans[0].columns, cte.columns, cte.name, cte.line)
        columns = [OutColumn(c.name, c.type, True, c.sensitive) for c in columns]
        slot = self.context.slot()
        self.ctes[cte.name.lower()] = CteBinding(cte, dict(self.ctes), slot, columns)
        steps: list[Callable[[Frame], list[Row]]] = []
        for branch in recursive:
            plan = self.subquery(branch, None)
            if len(plan.columns) != len(columns):
                raise error(205, line=branch.line)
            for column, anchor in zip(plan.columns, columns, strict=True):
                if column.type != anchor.type and column.type.name != anchor.type.name:
                    raise error(240, anchor.name, cte.name, line=branch.line)
            steps.append(_cast_rows(plan, columns))
        starts = [_cast_rows(plan, columns) for plan in plans]
        limit = int(self.max_recursion)

        def run(frame: Frame) -> list[Row]:
            saved = frame[slot]
            result: list[Row] = []
            working: list[Row] = [row for start in starts for row in start(frame)]
            level = 0
            while working:
                result += working
                frame[slot] = working
                working = [row for step in steps for row in step(frame)]
                level += 1
                if working and level > limit > 0:
                    raise error(530, limit)
                if len(result) > 5_000_000:
                    raise error(59003, "the number of rows of a recursive query", 5_000_000)
            frame[slot] = saved
            return result

        return Plan(columns, run)

    max_recursion = 100


def _selected(node: ast.Query, expression: ast.Node) -> int | None:
    """Where a qualified column of ORDER BY stands in the select list of the first query of a set operation."""
    while isinstance(node, ast.SetOperation) and node.left is not None:
        node = node.left
    if not isinstance(node, ast.Select) or not isinstance(expression, ast.ColumnRef):
        return None
    wanted = [part.lower() for part in expression.parts]
    for position, item in enumerate(node.items):
        own = item.expression
        if isinstance(own, ast.Star):
            return None  # the items after it stand elsewhere
        if isinstance(own, ast.ColumnRef) and [part.lower() for part in own.parts] == wanted:
            return position
    return None


def named_columns(columns: list[OutColumn], names: list[str], owner: str, line: int) -> list[OutColumn]:
    """Columns of a derived table with its column list; errors 8155, 8156, 8158, 8159."""
    if names:
        if len(names) < len(columns):
            raise error(8158, owner, line=line)
        if len(names) > len(columns):
            raise error(8159, owner, line=line)
        columns = [OutColumn(n, c.type, c.nullable, c.sensitive) for n, c in zip(names, columns, strict=True)]
    seen: set[str] = set()
    for position, column in enumerate(columns, 1):
        if not column.name:
            raise error(8155, position, owner, line=line)
        if column.name.lower() in seen:
            raise error(8156, column.name, owner, line=line)
        seen.add(column.name.lower())
    return columns


def _cast_rows(plan: Plan, columns: list[OutColumn]) -> Callable[[Frame], list[Row]]:
    changes = [converter(a.type, b.type, None, False) for a, b in zip(plan.columns, columns, strict=True)]
    rows = plan.rows
    if not any(changes):
        return lambda frame: list(rows(frame))

    def run(frame: Frame) -> list[Row]:
        return [
            tuple(value if value is None or change is None else change(value) for value, change in zip(row, changes, strict=True))
            for row in rows(frame)
        ]

    return run


def _branches(query: ast.Query, name: str) -> tuple[list[ast.Query], list[ast.Query]]:
    if isinstance(query, ast.SetOperation) and not query.order:
        assert query.left is not None and query.right is not None
        if _mentions(query, name):
            left_anchor, left_recursive = _branches(query.left, name)
            right_anchor, right_recursive = _branches(query.right, name)
            return left_anchor + right_anchor, left_recursive + right_recursive
    return ([], [query]) if _mentions(query, name) else ([query], [])


def _mentions(node: Any, name: str) -> bool:
    """Whether a tree names a table source."""
    import dataclasses

    if isinstance(node, ast.TableSource):
        return len(node.parts) == 1 and node.parts[0].lower() == name.lower()
    if isinstance(node, ast.Node):
        return any(_mentions(getattr(node, f.name), name) for f in dataclasses.fields(node))
    if isinstance(node, (list, tuple)):
        return any(_mentions(item, name) for item in node)
    return False


_ = (Expr, varchar)
