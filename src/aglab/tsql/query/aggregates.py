"""Aggregate functions: what a group's values become."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aglab.core.sqltypes import BIGINT, FLOAT, INT, SqlType
from aglab.tsql import ast
from aglab.tsql.convert import to_decimal
from aglab.tsql.messages import error
from aglab.tsql.query.scope import Expr, Function
from aglab.tsql.rounding import quantize
from aglab.tsql.store.table import comparable
from aglab.tsql.types import CONTEXT, INTEGER_LIMITS, NUMBERS, average_type, sum_type

AGGREGATES = frozenset(
    """COUNT COUNT_BIG SUM AVG MIN MAX STDEV STDEVP VAR VARP STRING_AGG CHECKSUM_AGG APPROX_COUNT_DISTINCT GROUPING
    GROUPING_ID""".split()
)


@dataclass
class Aggregate:
    """One aggregate of a grouped query. ``argument`` None is COUNT(*); ``finish`` gets the values that are not NULL."""

    argument: Function | None
    type: SqlType
    finish: Callable[[list[Any]], Any]
    distinct: Callable[[Any], Any] | None = None
    order: list[tuple[Function, bool]] | None = None
    name: str = ""
    separator: Function | None = None


def is_aggregate(node: ast.Node) -> bool:
    """Whether a call is an aggregate without OVER."""
    return isinstance(node, ast.Call) and len(node.parts) == 1 and node.name in AGGREGATES and node.over is None


def make_aggregate(compiler: Any, node: ast.Call) -> Aggregate:
    """Compile an aggregate call; its argument is compiled over the rows of the group."""
    name = node.name
    if node.star:
        if name not in ("COUNT", "COUNT_BIG"):
            raise error(102, "*", line=node.line)
        return Aggregate(None, INT if name == "COUNT" else BIGINT, len, name=name)
    expected = 2 if name == "STRING_AGG" else 1
    if len(node.args) != expected:
        raise error(174, name.lower(), expected, line=node.line)
    argument: Expr = compiler.value(node.args[0])
    sql_type, finish = finisher(name, argument.type)
    aggregate = Aggregate(argument.fn, sql_type, finish, name=name)
    if name == "STRING_AGG":
        text = SqlType(
            "nvarchar" if argument.type and argument.type.name[0] == "n" else "varchar",
            length=-1 if argument.type and argument.type.length < 0 else 4000,
        )
        aggregate.type = text
        aggregate.argument = compiler.convert(argument, text, explicit=True).fn
        aggregate.separator = compiler.convert(compiler.value(node.args[1]), SqlType("nvarchar", length=-1)).fn
        if node.within:
            aggregate.order = [(compiler.value(item).fn, descending) for item, descending in node.within]
    if node.distinct or name == "APPROX_COUNT_DISTINCT":
        fold = not argument.sensitive
        aggregate.distinct = lambda value: comparable(value, fold)
    return aggregate


def finisher(name: str, sql_type: SqlType | None) -> tuple[SqlType, Callable[[list[Any]], Any]]:
    """Result type and reduction for an aggregate over a type. Raises 8117."""
    if name in ("COUNT", "APPROX_COUNT_DISTINCT"):
        return (INT if name == "COUNT" else BIGINT), len
    if name == "COUNT_BIG":
        return BIGINT, len
    if name in ("MIN", "MAX"):
        if sql_type is not None and sql_type.name in ("bit", "text", "ntext", "image", "xml"):
            raise error(8117, sql_type.name, name.lower())
        pick = min if name == "MIN" else max
        if sql_type is not None and sql_type.name in ("char", "varchar", "nchar", "nvarchar"):
            return sql_type, lambda values: pick(values, key=comparable) if values else None
        return sql_type or INT, lambda values: pick(values) if values else None
    if name == "STRING_AGG":
        return SqlType("nvarchar", length=-1), lambda values: None
    if (sql_type is not None and sql_type.name not in NUMBERS) or (sql_type is not None and sql_type.name == "bit"):
        raise error(8117, sql_type.name, name.lower())
    if name == "CHECKSUM_AGG":
        return INT, lambda values: _xor(values)
    if name == "SUM":
        return _sum(sql_type)
    if name == "AVG":
        return _average(sql_type)
    return FLOAT, lambda values: _spread(name, values)


def _xor(values: list[Any]) -> Any:
    result = 0
    for value in values:
        result ^= value
    return result if values else None


def _sum(sql_type: SqlType | None) -> tuple[SqlType, Callable[[list[Any]], Any]]:
    target = sum_type(sql_type)

    def total(values: list[Any]) -> Any:
        if not values:
            return None
        if target.name in INTEGER_LIMITS:
            low, high = INTEGER_LIMITS[target.name]
            result = sum(values)
            if not low <= result <= high:
                raise error(8115, "expression", target.name)
            return result
        if target.name == "float":
            return math.fsum(values)
        exact = Decimal(0)
        for value in values:
            exact = CONTEXT.add(exact, value)
        return to_decimal(exact, target.precision or 19, target.scale if target.precision else 4)

    return target, total


def _average(sql_type: SqlType | None) -> tuple[SqlType, Callable[[list[Any]], Any]]:
    target = average_type(sql_type)
    _, total = _sum(sql_type)

    def mean(values: list[Any]) -> Any:
        if not values:
            return None
        if target.name in INTEGER_LIMITS:
            result = total(values)
            quotient = abs(result) // len(values)
            return quotient if result >= 0 else -quotient
        if target.name == "float":
            return math.fsum(values) / len(values)
        quotient_exact = CONTEXT.divide(total(values), Decimal(len(values)))
        from decimal import ROUND_DOWN

        scale = target.scale if target.precision else 4
        if not target.precision:
            return quantize(quotient_exact, 4)
        return quotient_exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_DOWN, context=CONTEXT)

    return target, mean


def _spread(name: str, values: list[Any]) -> Any:
    count = len(values)
    population = name.endswith("P")
    if count == 0 or (count == 1 and not population):
        return None
    numbers = [float(value) for value in values]
    mean = math.fsum(numbers) / count
    variance = math.fsum((number - mean) ** 2 for number in numbers) / (count if population else count - 1)
    return math.sqrt(variance) if name.startswith("STDEV") else variance
