"""Conditions to closures that return True, False or None (unknown)."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import SqlType
from aglab.tsql import ast
from aglab.tsql.convert import converter
from aglab.tsql.messages import TsqlError, error, not_implemented
from aglab.tsql.query.scope import CompileContext, Expr, Function, Scope
from aglab.tsql.store.table import comparable
from aglab.tsql.types import LOBS, STRINGS, common

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Planner

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


class ConditionCompiler:
    """Compiles conditions; the value part is in the subclass."""

    context: CompileContext
    scope: Scope
    planner: Planner

    if TYPE_CHECKING:

        def value(self, node: ast.Node) -> Expr: ...
        @staticmethod
        def convert(expr: Expr, target: SqlType, style: int | None = None, explicit: bool = False) -> Expr: ...

    def condition(self, node: ast.Node) -> Expr:
        """Compile a condition."""
        method = getattr(self, "_is_" + type(node).__name__.lower(), None)
        if method is None:
            raise not_implemented(f"the condition {type(node).__name__}", node.line)
        try:
            return method(node)
        except TsqlError as problem:
            if not problem.line:
                problem.line = node.line
            raise

    def pair(self, left: Expr, right: Expr) -> tuple[Function, Function, bool]:
        """Two sides brought to a common, comparable form; the flag says whether they are text."""
        target = common(left.type, right.type)
        if target is None:
            return left.fn, right.fn, False
        for side in (left, right):
            if side.type is not None and side.type.name in LOBS:
                raise error(306)
        if target.name in ("decimal", "numeric"):  # numbers compare across Python types as they are
            a = (
                left
                if left.type is None or left.type.name not in STRINGS
                else self.convert(left, SqlType("numeric", precision=38, scale=10))
            )
            b = (
                right
                if right.type is None or right.type.name not in STRINGS
                else self.convert(right, SqlType("numeric", precision=38, scale=10))
            )
            return a.fn, b.fn, False
        if target.name in STRINGS:
            fold = not (left.sensitive or right.sensitive)
            return self.folded(left, fold), self.folded(right, fold), True
        return self.convert(left, target).fn, self.convert(right, target).fn, False

    def folded(self, expr: Expr, fold: bool) -> Function:
        """Text as the collation compares it: no trailing blanks, no case unless the collation says so."""
        change = (
            converter(expr.type, SqlType("nvarchar", length=-1), None, False)
            if expr.type and expr.type.name not in STRINGS
            else None
        )
        fn = expr.fn
        if expr.fixed:
            fixed = fn([None])
            fixed = fixed if fixed is None else (change(fixed) if change else fixed).rstrip(" ")
            fixed = fixed.lower() if fixed is not None and fold else fixed
            return lambda frame: fixed

        def run(frame: Any) -> Any:
            value = fn(frame)
            if value is None:
                return None
            if change is not None:
                value = change(value)
            value = value.rstrip(" ")
            return value.lower() if fold else value

        return run

    def _is_compare(self, node: ast.Compare) -> Expr:
        left, right = self.value(node.left), self.value(node.right)
        a, b, _ = self.pair(left, right)
        compare = OPERATORS[node.op]

        def run(frame: Any) -> Any:
            x = a(frame)
            if x is None:
                return None
            y = b(frame)
            return None if y is None else compare(x, y)

        return Expr(run, None, left.refs | right.refs)

    def _is_logical(self, node: ast.Logical) -> Expr:
        left, right = self.condition(node.left), self.condition(node.right)
        a, b = left.fn, right.fn
        if node.op == "AND":

            def both(frame: Any) -> Any:
                x = a(frame)
                if x is False:
                    return False
                y = b(frame)
                if y is False:
                    return False
                return None if x is None or y is None else True

            return Expr(both, None, left.refs | right.refs)

        def either(frame: Any) -> Any:
            x = a(frame)
            if x:
                return True
            y = b(frame)
            if y:
                return True
            return None if x is None or y is None else False

        return Expr(either, None, left.refs | right.refs)

    def _is_not(self, node: ast.Not) -> Expr:
        inner = self.condition(node.operand)
        fn = inner.fn
        return Expr(lambda frame: None if (x := fn(frame)) is None else not x, None, inner.refs)

    def _is_isnull(self, node: ast.IsNull) -> Expr:
        inner = self.value(node.operand)
        fn = inner.fn
        if node.negated:
            return Expr(lambda frame: fn(frame) is not None, None, inner.refs)
        return Expr(lambda frame: fn(frame) is None, None, inner.refs)

    def _is_distinct(self, node: ast.Distinct) -> Expr:
        left, right = self.value(node.left), self.value(node.right)
        a, b, _ = self.pair(left, right)
        negated = node.negated
        return Expr(lambda frame: (a(frame) == b(frame)) is negated, None, left.refs | right.refs)

    def _is_between(self, node: ast.Between) -> Expr:
        low = ast.Compare(node.line, ">=", node.operand, node.low)
        high = ast.Compare(node.line, "<=", node.operand, node.high)
        inside: ast.Node = ast.Logical(node.line, "AND", low, high)
        return self.condition(ast.Not(node.line, inside) if node.negated else inside)

    def _is_in(self, node: ast.In) -> Expr:
        if node.query is not None:
            return self._in_query(node)
        assert node.items is not None
        left = self.value(node.operand)
        pairs = [(*self.pair(left, item)[:2], item) for item in (self.value(item) for item in node.items)]
        refs = left.refs.union(*(item.refs for _, _, item in pairs))
        negated = node.negated

        def run(frame: Any) -> Any:
            unknown = False
            for a, b, _ in pairs:
                x = a(frame)
                if x is None:
                    return None
                y = b(frame)
                if y is None:
                    unknown = True
                elif x == y:
                    return not negated
            return None if unknown else negated

        return Expr(run, None, refs)

    def _in_query(self, node: ast.In) -> Expr:
        assert node.query is not None
        left = self.value(node.operand)
        plan = self.planner.subquery(node.query, self.scope)
        if len(plan.columns) != 1:
            raise error(116, line=node.line)
        column = plan.columns[0]
        probe = Expr(lambda frame: None, column.type, sensitive=column.sensitive)
        target = common(left.type, column.type)
        fold = not (left.sensitive or column.sensitive)
        a, _, text = self.pair(left, probe)
        change = (
            None
            if text or target is None or target.name in ("decimal", "numeric")
            else converter(column.type, target, None, False)
        )
        rows = plan.cached_rows(self.context)
        negated = node.negated
        slot = self.context.slot() if not plan.outer_refs else 0

        def members(frame: Any) -> tuple[set[Any], bool]:
            if slot and frame[slot] is not None:
                return frame[slot]
            values = [row[0] for row in rows(frame)]
            found = {comparable(change(v) if change else v, fold) for v in values if v is not None}
            result = (found, any(v is None for v in values))
            if slot:
                frame[slot] = result
            return result

        def run(frame: Any) -> Any:
            found, has_null = members(frame)
            x = a(frame)
            if x is None:
                return None if found or has_null else negated
            if x in found:
                return not negated
            return None if has_null else negated

        return Expr(run, None, left.refs | frozenset(plan.outer_refs))

    def _is_exists(self, node: ast.Exists) -> Expr:
        plan = self.planner.subquery(node.query, self.scope)
        return Expr(plan.exists, None, frozenset(plan.outer_refs))

    def _is_quantified(self, node: ast.Quantified) -> Expr:
        left = self.value(node.left)
        plan = self.planner.subquery(node.query, self.scope)
        if len(plan.columns) != 1:
            raise error(116, line=node.line)
        cell = self.context.slot()
        item = Expr(lambda frame: frame[cell], plan.columns[0].type, sensitive=plan.columns[0].sensitive)
        a, b, _ = self.pair(left, item)
        compare = OPERATORS[node.op]
        rows = plan.cached_rows(self.context)
        every = node.every

        def run(frame: Any) -> Any:
            unknown = False
            for row in rows(frame):
                frame[cell] = row[0]
                x, y = a(frame), b(frame)
                if x is None or y is None:
                    unknown = True
                elif compare(x, y) is not every:
                    return not every
            return None if unknown else every

        return Expr(run, None, left.refs | frozenset(plan.outer_refs))

    def _is_like(self, node: ast.Like) -> Expr:
        text = SqlType("nvarchar", length=-1)
        left, pattern = self.value(node.operand), self.value(node.pattern)
        fold = not (left.sensitive or pattern.sensitive)
        a, b = (
            self.convert(left, text).fn if left.type else left.fn,
            self.convert(pattern, text).fn if pattern.type else pattern.fn,
        )
        escape = self.convert(self.value(node.escape), text).fn if node.escape is not None else None
        negated = node.negated

        def run(frame: Any) -> Any:
            x, y = a(frame), b(frame)
            if x is None or y is None:
                return None
            mark = escape(frame) if escape is not None else ""
            return (like_pattern(y, mark or "", fold).match(x) is not None) is not negated

        return Expr(run, None, left.refs | pattern.refs)


@functools.lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str = "", fold: bool = True) -> re.Pattern[str]:
    """A LIKE pattern as a regular expression: % _ [set] [^set] and the escape character."""
    if len(escape) > 1:
        raise error(506, escape)
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if escape and character == escape and position + 1 < len(pattern):
            position += 1
            parts.append(re.escape(pattern[position]))
        elif character == "%":
            if not parts or parts[-1] != ".*":
                parts.append(".*")
        elif character == "_":
            parts.append(".")
        elif character == "[":
            closing = pattern.find("]", position + 1)
            if closing < 0:
                parts.append("(?!)")
            else:
                parts.append(_set(pattern[position + 1 : closing]))
                position = closing
        else:
            parts.append(re.escape(character))
        position += 1
    return re.compile("".join(parts) + r" *\Z", re.DOTALL | (re.IGNORECASE if fold else 0))


def _set(body: str) -> str:
    negated = body.startswith("^")
    body = body[1:] if negated else body
    if not body:
        return "." if negated else "(?!)"
    shown = re.sub(r"([\\\]\[^])", r"\\\1", body)
    shown = (
        re.sub(r"(.)-(.)", lambda m: m[0] if m[1] <= m[2] else re.escape(m[1]) + re.escape(m[2]), shown)
        if "-" in shown
        else shown
    )
    try:
        re.compile(f"[{shown}]")
    except re.error:
        shown = re.escape(body)
    return f"[{'^' if negated else ''}{shown}]"
