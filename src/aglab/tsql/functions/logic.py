"""NULL handling and choices: ISNULL, COALESCE, NULLIF, IIF, CHOOSE, GREATEST, LEAST, ISNUMERIC."""

from __future__ import annotations

import re
from typing import Any

from aglab.core.sqltypes import INT, SqlType
from aglab.tsql import ast
from aglab.tsql.functions.registry import builder, prepare
from aglab.tsql.messages import error
from aglab.tsql.query.scope import Expr
from aglab.tsql.store.table import comparable
from aglab.tsql.types import NUMBERS, common


def _refs(args: list[Expr]) -> frozenset[int]:
    return frozenset().union(*(arg.refs for arg in args))


@builder("ISNULL", 2)
def _isnull(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    target = args[0].type or args[1].type
    first = args[0].fn
    second = compiler.convert(args[1], target, explicit=True).fn if target else args[1].fn

    def run(frame: Any) -> Any:
        value = first(frame)
        return second(frame) if value is None else value

    return Expr(run, target, _refs(args), args[1].nullable and args[0].nullable, sensitive=args[0].sensitive)


@builder("COALESCE", 2, 100)
def _coalesce(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    target: SqlType | None = None
    for arg in args:
        target = common(target, arg.type)
    if target is None:
        raise error(4127, line=call.line)
    functions = [compiler.convert(arg, target).fn for arg in args]

    def run(frame: Any) -> Any:
        for fn in functions:
            value = fn(frame)
            if value is not None:
                return value
        return None

    return Expr(run, target, _refs(args), all(arg.nullable for arg in args))


@builder("NULLIF", 2)
def _nullif(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    a, b, _ = compiler.pair(args[0], args[1])
    first = args[0].fn

    def run(frame: Any) -> Any:
        x, y = a(frame), b(frame)
        return None if x is not None and x == y else first(frame)

    return Expr(run, args[0].type or INT, _refs(args))


@builder("IIF", 3)
def _iif(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    return compiler.value(ast.Case(call.line, None, [(call.args[0], call.args[1])], call.args[2]))


@builder("CHOOSE", 2, 100)
def _choose(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    index = prepare(compiler, call, 0, args[0], "i").fn
    target: SqlType | None = None
    for arg in args[1:]:
        target = common(target, arg.type)
    target = target or INT
    functions = [compiler.convert(arg, target).fn for arg in args[1:]]

    def run(frame: Any) -> Any:
        number = index(frame)
        return functions[number - 1](frame) if number is not None and 1 <= number <= len(functions) else None

    return Expr(run, target, _refs(args))


@builder("GREATEST LEAST", 1, 254)
def _extreme(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    target: SqlType | None = None
    for arg in args:
        target = common(target, arg.type)
    target = target or INT
    functions = [compiler.convert(arg, target).fn for arg in args]
    pick = max if call.name == "GREATEST" else min

    def run(frame: Any) -> Any:
        values = [value for fn in functions if (value := fn(frame)) is not None]
        return pick(values, key=comparable) if values else None

    return Expr(run, target, _refs(args))


@builder("ISNUMERIC", 1)
def _isnumeric(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    fn, sql_type = args[0].fn, args[0].type
    numeric = sql_type is not None and sql_type.name in NUMBERS
    shape = re.compile(r"\s*[+-]?\s*[$]?\s*(\d[\d,]*\.?\d*|\.\d+)([eEdD][+-]?\d+)?\s*$|\s*[+\-$.,]\s*$")

    def run(frame: Any) -> int:
        value = fn(frame)
        return 0 if value is None else 1 if numeric else int(isinstance(value, str) and shape.match(value) is not None)

    return Expr(run, INT, args[0].refs, False)
