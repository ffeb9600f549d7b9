"""Arithmetic and concatenation as closures."""

from __future__ import annotations

import dataclasses
import datetime
from decimal import ROUND_DOWN, Decimal
from typing import Any

from aglab.core.sqltypes import INT, SqlType
from aglab.tsql.convert import converter, to_decimal
from aglab.tsql.messages import error
from aglab.tsql.query import columnwise
from aglab.tsql.query.scope import Expr, Function
from aglab.tsql.types import CONTEXT, DATES, EXACTS, FLOATS, INTEGER_LIMITS, INTEGERS, STRINGS


def convert_expr(expr: Expr, target: SqlType, style: int | None = None, explicit: bool = False) -> Expr:
    """An expression brought to a type."""
    change = converter(expr.type, target, style, explicit)
    if change is None:
        if expr.type == target:
            return expr
        return dataclasses.replace(expr, type=target, column=None)
    fn = expr.fn

    def converted(frame: Any) -> Any:
        value = fn(frame)
        return None if value is None else change(value)

    return dataclasses.replace(expr, fn=converted, type=target, column=None, fixed=False)


def literal_digits(expr: Expr, other: Expr) -> Expr:
    """An integer constant beside a decimal counts as many digits as it has, not the ten of int."""
    if expr.fixed and expr.type == INT and other.type is not None and other.type.name in ("decimal", "numeric"):
        return dataclasses.replace(expr, type=SqlType("numeric", precision=len(str(abs(expr.fn([])))), scale=0))
    return expr


def binary_function(op: str, left: Expr, right: Expr, result: SqlType) -> Function:
    """The closure for an arithmetic operator or concatenation."""
    name = result.name
    if name in STRINGS:
        return _concatenate(left, right, result)
    if name in DATES:
        return _date_arithmetic(op, left, right)
    a = convert_expr(left, _operand_type(left, result)).fn
    b = convert_expr(right, _operand_type(right, result)).fn
    if name in INTEGERS:
        return _integer(op, a, b, name)
    if name in FLOATS:
        return _floating(op, a, b)
    if name in ("binary", "varbinary"):
        return lambda frame: None if (x := a(frame)) is None or (y := b(frame)) is None else x + y
    precision, scale = (19, 4) if name == "money" else (10, 4) if name == "smallmoney" else (result.precision, result.scale)
    return _exact(op, a, b, precision, scale, "money" if name in ("money", "smallmoney") else "numeric")


def _operand_type(expr: Expr, result: SqlType) -> SqlType:
    if expr.type is None:
        return result
    if result.name in ("decimal", "numeric") and (expr.type.name in EXACTS or expr.type.name in INTEGERS):
        return expr.type
    if result.name in ("decimal", "numeric") and expr.type.name in STRINGS:
        return SqlType("numeric", precision=38, scale=result.scale)
    return result


def _integer(op: str, a: Function, b: Function, name: str) -> Function:
    low, high = INTEGER_LIMITS[name] if name != "bit" else (0, 1)

    def plus(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        z = x + y
        if low <= z <= high:
            return z
        raise error(8115, "expression", name)

    def minus(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        z = x - y
        if low <= z <= high:
            return z
        raise error(8115, "expression", name)

    def times(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        z = x * y
        if low <= z <= high:
            return z
        raise error(8115, "expression", name)

    def divide(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        if y == 0:
            raise error(8134)
        z = abs(x) // abs(y)
        z = z if (x < 0) == (y < 0) else -z
        if low <= z <= high:
            return z
        raise error(8115, "expression", name)

    def modulo(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        if y == 0:
            raise error(8134)
        z = abs(x) % abs(y)
        return z if x >= 0 else -z

    chosen = {"+": plus, "-": minus, "*": times, "/": divide, "%": modulo}[op]
    return columnwise.with_whole(chosen, columnwise.integer(op, a, b, low, high))


def _floating(op: str, a: Function, b: Function) -> Function:
    def run(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        if op == "/":
            if y == 0:
                raise error(8134)
            z = x / y
        else:
            z = x + y if op == "+" else x - y if op == "-" else x * y
        if z in (float("inf"), float("-inf")) or z != z:
            raise error(8115, "expression", "float")
        return z

    return run


def _exact(op: str, a: Function, b: Function, precision: int, scale: int, name: str) -> Function:
    def run(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        x = x if isinstance(x, Decimal) else Decimal(int(x))
        y = y if isinstance(y, Decimal) else Decimal(int(y))
        if op == "+":
            z = CONTEXT.add(x, y)
        elif op == "-":
            z = CONTEXT.subtract(x, y)
        elif op == "*":
            z = CONTEXT.multiply(x, y)
        elif y == 0:
            raise error(8134)
        elif op == "/":
            z = CONTEXT.divide(x, y)
            if name != "money":  # division truncates to the result's scale
                z = z.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_DOWN, context=CONTEXT) if z.adjusted() < 40 else z
        else:
            z = CONTEXT.remainder(x, y)
        return to_decimal(z, precision, scale, "expression" if name == "money" else "numeric", name)

    return run


def _concatenate(left: Expr, right: Expr, result: SqlType) -> Function:
    a = convert_expr(left, SqlType(left.type.name, left.type.length) if left.type else result).fn
    b = convert_expr(right, SqlType(right.type.name, right.type.length) if right.type else result).fn
    limit = result.length

    def run(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        text = x + y
        return text if limit < 0 or len(text) <= limit else text[:limit]

    return run


def _date_arithmetic(op: str, left: Expr, right: Expr) -> Function:
    target = SqlType("datetime")
    a = convert_expr(left, target, explicit=True).fn
    b = convert_expr(right, target, explicit=True).fn
    base = datetime.datetime(1900, 1, 1)

    def run(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        try:
            moment = x + (y - base) if op == "+" else base + (x - y)
        except OverflowError:
            raise error(517, "datetime") from None
        if not 1753 <= moment.year <= 9999:
            raise error(517, "datetime")
        return moment

    return run
