"""Expressions to closures: literals, columns, operators, CASE, CAST, subqueries. Conditions are in :mod:`.conditions`."""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import TYPE_CHECKING, Any

from aglab.core.sqltypes import BIGINT, INT, SqlType
from aglab.tsql import ast
from aglab.tsql.convert import converter, lenient
from aglab.tsql.messages import TsqlError, error, not_implemented
from aglab.tsql.query import columnwise
from aglab.tsql.query.conditions import ConditionCompiler
from aglab.tsql.query.operators import binary_function, convert_expr, literal_digits
from aglab.tsql.query.scope import CompileContext, Expr, Scope
from aglab.tsql.types import INTEGERS, STRINGS, arithmetic, common

if TYPE_CHECKING:
    from aglab.tsql.query.planner import Planner

NULL = Expr(lambda frame: None, None, constant=True)


class ExpressionCompiler(ConditionCompiler):
    """Compiles expressions of one scope."""

    def __init__(self, context: CompileContext, scope: Scope, planner: Planner) -> None:
        self.context = context
        self.scope = scope
        self.planner = planner
        self.aggregating = False  # inside an aggregate's argument

    def value(self, node: ast.Node) -> Expr:
        """Compile a value."""
        grouping = self.scope.grouping
        if (
            grouping is not None
            and grouping.active
            and not self.aggregating
            and not isinstance(node, (ast.Literal, ast.Variable))
        ):
            key = self._group_key(node)
            if key is not None:
                return key
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise not_implemented(f"the expression {type(node).__name__}", node.line)
        try:
            return method(node)
        except TsqlError as problem:
            if not problem.line:
                problem.line = node.line
            raise

    def converted(self, node: ast.Node, target: SqlType, explicit: bool = False) -> Expr:
        """Compile a value and bring it to a type."""
        return self.convert(self.value(node), target, explicit=explicit)

    convert = staticmethod(convert_expr)

    # --- leaves -------------------------------------------------------------------------------------------------------------

    def _literal(self, node: ast.Literal) -> Expr:
        value = node.value
        if node.type is None:
            return NULL
        return Expr(columnwise.unchanging(lambda frame: value), node.type, nullable=False, constant=True, fixed=True)

    def _variable(self, node: ast.Variable) -> Expr:
        if node.name.startswith("@@"):
            from aglab.tsql.functions.globals import global_variable

            return global_variable(node.name, node.line)
        name = node.name.lower()
        sql_type = self.context.variables.types.get(name)
        if sql_type is None:
            if name in self.context.variables.tables:
                raise error(137, node.name, line=node.line)
            raise error(137, node.name, line=node.line)
        return Expr(columnwise.unchanging(lambda frame: frame[0].variables.values[name]), sql_type, constant=True)

    def _columnref(self, node: ast.ColumnRef) -> Expr:
        bound, ordinal, owner = self.scope.find(node)
        column = bound.columns[ordinal]
        bound.read(ordinal)
        slot = bound.slot
        if owner is not self.scope:
            self.scope.note_outer(owner, slot)
        grouping = owner.grouping
        if grouping is not None and grouping.active and not (self.aggregating and owner is self.scope):
            key = grouping.keys.get(f"${slot}.{ordinal}")
            if key is None:
                raise error(grouping.clause, f"{bound.alias}.{column.name}" if bound.alias else column.name, line=node.line)
            position, expr = key
            group_slot = grouping.slot
            if owner is not self.scope:
                self.scope.note_outer(owner, group_slot)
            return dataclasses.replace(
                expr, fn=lambda frame: frame[group_slot][position], refs=frozenset({group_slot}), column=None, name=column.name
            )
        return Expr(
            columnwise.column(slot, ordinal),
            column.type,
            frozenset({slot}),
            column.nullable,
            column.name,
            sensitive=column.sensitive,
            column=(slot, ordinal),
            identity=column.identity,
        )

    def _rownumber(self, node: ast.RowNumber) -> Expr:
        bound = next(one for one in self.scope.sources if one.alias.lower() == node.source.lower() and one.rid_slot)
        slot = bound.rid_slot
        return Expr(lambda frame: frame[slot], BIGINT, frozenset({slot, bound.slot}), False)

    def _star(self, node: ast.Star) -> Expr:
        raise error(102, "*", line=node.line)

    def _group_key(self, node: ast.Node) -> Expr | None:
        grouping = self.scope.grouping
        assert grouping is not None
        if isinstance(node, ast.ColumnRef):
            return None  # handled with its error in _columnref
        key = grouping.keys.get(self.fingerprint(node))
        if key is None:
            return None
        position, expr = key
        slot = grouping.slot
        return dataclasses.replace(expr, fn=lambda frame: frame[slot][position], refs=frozenset({slot}), column=None)

    def fingerprint(self, node: Any) -> str:
        """A text that two expressions share exactly when they mean the same."""
        if isinstance(node, ast.ColumnRef):
            try:
                bound, ordinal, _ = self.scope.find(node)
            except TsqlError:
                return f"?{node.parts}"
            return f"${bound.slot}.{ordinal}"
        if isinstance(node, ast.Call):
            inner = ",".join(self.fingerprint(arg) for arg in node.args)
            return f"{node.name}({node.distinct}{node.star}{inner}){self.fingerprint(node.over) if node.over else ''}"
        if isinstance(node, ast.Node):
            fields = [self.fingerprint(getattr(node, f.name)) for f in dataclasses.fields(node) if f.name != "line"]
            return f"{type(node).__name__}({','.join(fields)})"
        if isinstance(node, (list, tuple)):
            return "[" + ",".join(self.fingerprint(item) for item in node) + "]"
        return repr(node)

    # --- operators ----------------------------------------------------------------------------------------------------------

    def _unary(self, node: ast.Unary) -> Expr:
        operand = self.value(node.operand)
        if operand.type is not None and operand.type.name in STRINGS and node.op == "-":
            raise error(8117, operand.type.name, "minus", line=node.line)
        fn = operand.fn
        if node.op == "+":
            return dataclasses.replace(operand, column=None, name="")
        if node.op == "-":

            def run(frame: Any) -> Any:
                value = fn(frame)
                return None if value is None else -value
        else:
            if operand.type is not None and operand.type.name not in INTEGERS:
                raise error(8117, operand.type.name, "'~'", line=node.line)
            is_bit = operand.type is not None and operand.type.name == "bit"

            def run(frame: Any) -> Any:
                value = fn(frame)
                return None if value is None else (not value) if is_bit else ~value

        return Expr(run, operand.type or INT, operand.refs, operand.nullable, constant=operand.constant)

    def _binary(self, node: ast.Binary) -> Expr:
        left, right = self.value(node.left), self.value(node.right)
        refs = left.refs | right.refs
        constant = left.constant and right.constant
        if node.op in "&|^":
            return self._bitwise(node, left, right)
        left, right = literal_digits(left, right), literal_digits(right, left)
        result = arithmetic(node.op, left.type, right.type)
        fn = binary_function(node.op, left, right, result)
        return Expr(
            fn, result, refs, left.nullable or right.nullable, constant=constant, sensitive=left.sensitive or right.sensitive
        )

    def _bitwise(self, node: ast.Binary, left: Expr, right: Expr) -> Expr:
        for side in (left, right):
            if side.type is not None and side.type.name not in INTEGERS and side.type.name not in ("binary", "varbinary"):
                raise error(402, (left.type or INT).name, (right.type or INT).name, f"'{node.op}'", line=node.line)
        result = common(left.type, right.type) or INT
        if result.name not in INTEGERS:
            result = INT
        a, b = self.convert(left, result).fn, self.convert(right, result).fn
        op = node.op

        def run(frame: Any) -> Any:
            x, y = a(frame), b(frame)
            if x is None or y is None:
                return None
            return x & y if op == "&" else x | y if op == "|" else x ^ y

        return Expr(
            run, result, left.refs | right.refs, left.nullable or right.nullable, constant=left.constant and right.constant
        )

    def _case(self, node: ast.Case) -> Expr:
        tests: list[Expr] = []
        results: list[Expr] = []
        for test, outcome in node.whens:
            condition = test if node.operand is None else ast.Compare(test.line, "=", node.operand, test)
            tests.append(self.condition(condition))
            results.append(self.value(outcome))
        default = self.value(node.default) if node.default is not None else NULL
        result_type: SqlType | None = None
        for expr in [*results, default]:
            result_type = common(result_type, expr.type)
        if result_type is None:
            raise error(8133, line=node.line)
        branches = [(test.fn, self.convert(expr, result_type).fn) for test, expr in zip(tests, results, strict=True)]
        otherwise = self.convert(default, result_type).fn

        def run(frame: Any) -> Any:
            for test, outcome in branches:
                if test(frame):
                    return outcome(frame)
            return otherwise(frame)

        refs = frozenset().union(*(e.refs for e in [*tests, *results, default]))
        nullable = default.nullable or any(e.nullable for e in results)
        return Expr(run, result_type, refs, nullable, sensitive=any(e.sensitive for e in results))

    def _cast(self, node: ast.Cast) -> Expr:
        operand = self.value(node.operand)
        style: int | None = None
        if node.style is not None:
            style_expr = self.converted(node.style, INT)
            if not style_expr.constant:
                raise not_implemented("CONVERT with a style that is not a constant", node.line)
            from aglab.tsql.runtime import Runtime

            style = style_expr.fn([Runtime(self.context.host, self.context.session, self.context.variables)])
        change = converter(operand.type, node.type, style, True)
        if change is None:
            return dataclasses.replace(operand, type=node.type, column=None, name="")
        if node.lenient:
            change = lenient(change)
        fn, chosen = operand.fn, change

        def run(frame: Any) -> Any:
            value = fn(frame)
            return None if value is None else chosen(value)

        return Expr(
            run, node.type, operand.refs, operand.nullable or node.lenient, constant=operand.constant, sensitive=operand.sensitive
        )

    def _collate(self, node: ast.Collate) -> Expr:
        from aglab.tsql.store.table import is_case_sensitive

        if not re.fullmatch(
            r"(SQL_)?[A-Za-z]\w*_(BIN2?|C[IS]_\w+)(_UTF8)?|DATABASE_DEFAULT|CATALOG_DEFAULT", node.collation, re.IGNORECASE
        ):
            raise error(448, node.collation, line=node.line)
        operand = self.value(node.operand)
        if operand.type is not None and operand.type.name not in STRINGS:
            raise error(447, operand.type.name, line=node.line)
        return dataclasses.replace(operand, sensitive=is_case_sensitive(node.collation), column=None)

    def _attimezone(self, node: ast.AtTimeZone) -> Expr:
        operand = self.value(node.operand)
        target = SqlType("datetimeoffset", scale=operand.type.scale if operand.type and operand.type.name != "datetime" else 3)
        zone = self.converted(node.zone, SqlType("nvarchar", length=128))
        fn, zone_fn = operand.fn, zone.fn

        def run(frame: Any) -> Any:
            value, name = fn(frame), zone_fn(frame)
            if value is None or name is None:
                return None
            if name.upper() != "UTC":
                raise not_implemented(f"the time zone '{name}' (only UTC is known)")
            return value.astimezone(datetime.UTC) if value.tzinfo else value.replace(tzinfo=datetime.UTC)

        return Expr(run, target, operand.refs | zone.refs, operand.nullable)

    def _subquery(self, node: ast.Subquery) -> Expr:
        plan = self.planner.subquery(node.query, self.scope)
        if len(plan.columns) != 1:
            raise error(116, line=node.line)
        rows = plan.cached_rows(self.context)

        def run(frame: Any) -> Any:
            found = rows(frame)
            if not found:
                return None
            if len(found) > 1:
                raise error(512)
            return found[0][0]

        column = plan.columns[0]
        return Expr(run, column.type, frozenset(plan.outer_refs), sensitive=column.sensitive)

    def _call(self, node: ast.Call) -> Expr:
        from aglab.tsql.functions.registry import compile_call

        return compile_call(self, node)
