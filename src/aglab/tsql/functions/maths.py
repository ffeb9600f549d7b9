"""Numeric functions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any

from aglab.core.sqltypes import FLOAT, INT, SqlType
from aglab.tsql.convert import to_decimal
from aglab.tsql.functions.registry import builder, prepare, simple
from aglab.tsql.messages import error
from aglab.tsql.query.scope import Expr
from aglab.tsql.types import CONTEXT, INTEGER_LIMITS, as_decimal


def _safe(fn: Callable[..., float]) -> Callable[..., float]:
    def run(*values: float) -> float:
        try:
            return fn(*values)
        except ValueError:
            raise error(3623) from None
        except OverflowError:
            raise error(8115, "expression", "float") from None

    return run


for _name, _fn in (
    ("SIN", math.sin),
    ("COS", math.cos),
    ("TAN", math.tan),
    ("ASIN", math.asin),
    ("ACOS", math.acos),
    ("ATAN", math.atan),
    ("EXP", math.exp),
    ("SQRT", math.sqrt),
    ("LOG10", math.log10),
):
    simple(_name, "f", FLOAT)(_safe(_fn))
simple("ATN2", "ff", FLOAT)(math.atan2)
simple("COT", "f", FLOAT)(_safe(lambda x: 1 / math.tan(x)))
simple("LOG", "ff", FLOAT, optional=1)(_safe(lambda x, base=math.e: math.log(x) if base == math.e else math.log(x, base)))
simple("PI", "", FLOAT)(lambda: math.pi)
simple("SQUARE", "f", FLOAT)(_safe(lambda x: x * x))
simple("RADIANS", "f", FLOAT)(math.radians)
simple("DEGREES", "f", FLOAT)(math.degrees)


def _number(name: str, run: Callable[[Any], Any]) -> None:
    @builder(name, 1)
    def build(compiler: Any, call: Any, args: list[Expr]) -> Expr:
        arg = prepare(compiler, call, 0, args[0], "n")
        fn = arg.fn
        sql_type = arg.type or INT
        if sql_type.name in ("tinyint", "smallint", "bit"):
            sql_type = INT
        if name in ("CEILING", "FLOOR") and sql_type.name in ("decimal", "numeric"):
            sql_type = SqlType("numeric", precision=sql_type.precision)

        def evaluate(frame: Any) -> Any:
            value = fn(frame)
            return None if value is None else run(value)

        return Expr(evaluate, sql_type, arg.refs, arg.nullable)


def _sign(value: Any) -> Any:
    sign = type(value)((value > 0) - (value < 0))
    return sign.quantize(value) if isinstance(value, Decimal) else sign


def _edge(rounding: str, whole: Callable[[float], float]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        if isinstance(value, Decimal):
            return value.to_integral_value(rounding=rounding)
        return float(whole(value)) if isinstance(value, float) else value

    return run


_number("ABS", abs)
_number("SIGN", _sign)
_number("CEILING", _edge(ROUND_CEILING, math.ceil))
_number("FLOOR", _edge(ROUND_FLOOR, math.floor))


@builder("ROUND", 2, 3)
def _round(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    value, places = prepare(compiler, call, 0, args[0], "n"), prepare(compiler, call, 1, args[1], "i")
    cut = prepare(compiler, call, 2, args[2], "i").fn if len(args) > 2 else None
    fn, places_fn = value.fn, places.fn
    sql_type = value.type or INT
    if sql_type.name in ("tinyint", "smallint", "bit"):
        sql_type = INT
    precision, scale = as_decimal(sql_type)

    def run(frame: Any) -> Any:
        number, digits = fn(frame), places_fn(frame)
        if number is None or digits is None:
            return None
        mode = ROUND_DOWN if cut is not None and cut(frame) else ROUND_HALF_UP
        exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
        if digits < -40:
            rounded = Decimal(0)
        elif digits > 40:
            rounded = exact
        else:
            rounded = (
                exact.quantize(Decimal(1).scaleb(-digits), rounding=mode, context=CONTEXT)
                if exact.as_tuple().exponent != 0 or digits < 0
                else exact
            )
        if isinstance(number, float):
            return float(rounded)
        if isinstance(number, Decimal):
            return to_decimal(rounded, precision, scale, "expression", "numeric")
        result = int(rounded)
        low, high = INTEGER_LIMITS[sql_type.name]
        if not low <= result <= high:
            raise error(8115, "expression", sql_type.name)
        return result

    return Expr(run, sql_type, value.refs | places.refs, value.nullable)


@builder("POWER", 2)
def _power(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    base, exponent = prepare(compiler, call, 0, args[0], "n"), prepare(compiler, call, 1, args[1], "f")
    sql_type = base.type or FLOAT
    if sql_type.name in ("tinyint", "smallint", "bit"):
        sql_type = INT
    a = compiler.convert(base, FLOAT, explicit=True).fn
    b = exponent.fn
    back = compiler.convert(Expr(lambda frame: frame, FLOAT), sql_type, explicit=True)

    def run(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        if x is None or y is None:
            return None
        try:
            result = math.pow(x, y)
        except (OverflowError, ValueError):
            raise error(8115, "expression", sql_type.name) from None
        return back.fn(result)

    return Expr(run, sql_type, base.refs | exponent.refs)


@builder("RAND", 0, 1)
def _rand(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    seed = prepare(compiler, call, 0, args[0], "i").fn if args else None

    def run(frame: Any) -> float:
        session = frame[0].session
        generator = getattr(session, "random", None)
        if seed is not None and (value := seed(frame)) is not None:
            generator = random.Random(value)
        elif generator is None:
            generator = random.Random(session.spid)  # deterministic: a run of a twin can be repeated
        session.random = generator
        return generator.random()

    return Expr(run, FLOAT)


@builder("CHECKSUM BINARY_CHECKSUM", 1, 100)
def _checksum(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    import zlib

    functions = [arg.fn for arg in args]
    fold = call.name == "CHECKSUM"

    def run(frame: Any) -> int:
        text = "\0".join("" if (v := fn(frame)) is None else str(v) for fn in functions)
        number = zlib.crc32((text.lower() if fold else text).encode())
        return number - 2**32 if number >= 2**31 else number

    return Expr(run, INT, frozenset().union(*(arg.refs for arg in args)))
