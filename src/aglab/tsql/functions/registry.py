"""Built-in functions by name, and the compilation of a call.

:func:`simple` registers a function of values that are never NULL (a NULL argument gives NULL); :func:`builder` registers one that
gets compiled arguments and returns an expression. Kinds: s text, i int, b bigint, f float, n any number, d moment, a anything.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aglab.core.sqltypes import BIGINT, FLOAT, INT, MAX, SqlType
from aglab.tsql import ast
from aglab.tsql.messages import error
from aglab.tsql.query.aggregates import AGGREGATES, make_aggregate
from aglab.tsql.query.scope import Expr
from aglab.tsql.query.windows import OFFSETS, RANKING, compile_window
from aglab.tsql.types import DATES, NUMBERS, STRINGS

TEXT = SqlType("nvarchar", length=MAX)
NARROW = SqlType("varchar", length=MAX)
MOMENT = SqlType("datetime2", scale=7)
MODULES = (
    "strings",
    "maths",
    "dates",
    "logic",
    "system",
    "properties",
    "metadata",
    "object_properties",
    "json",
    "hashes",
    "xml_methods",
)


@dataclass(frozen=True)
class Function:
    """A registered function."""

    name: str
    least: int
    most: int
    build: Callable[[Any, ast.Call, list[Expr]], Expr]


FUNCTIONS: dict[str, Function] = {}
MSDB_FUNCTIONS = {"FN_SYSPOLICY_IS_AUTOMATION_ENABLED"}  # of schema dbo in msdb, not of sys


def builder(name: str, least: int, most: int | None = None) -> Callable[[Any], Any]:
    """Register a function that works on compiled arguments."""

    def register(build: Any) -> Any:
        for alias in name.split():
            FUNCTIONS[alias] = Function(alias, least, least if most is None else most, build)
        return build

    return register


def simple(name: str, kinds: str, result: Any, optional: int = 0) -> Callable[[Any], Any]:
    """Register a NULL-propagating function. ``result``: a type, "s0" (text like the first argument), "w0" (text that
    may be longer than its arguments), "t0" (the first argument's type)."""

    def register(run: Any) -> Any:
        def build(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
            prepared = [prepare(compiler, call, i, arg, kinds[min(i, len(kinds) - 1)]) for i, arg in enumerate(args)]
            functions = [arg.fn for arg in prepared]
            sql_type = result_type(result, args)
            refs = frozenset().union(*(arg.refs for arg in args)) if args else frozenset()
            constant = all(arg.constant for arg in args)
            nullable = any(arg.nullable for arg in args) or True
            sensitive = any(arg.sensitive for arg in args)
            if len(functions) == 1:
                only = functions[0]
                return Expr(
                    lambda frame: None if (v := only(frame)) is None else run(v),
                    sql_type,
                    refs,
                    nullable,
                    constant=constant,
                    sensitive=sensitive,
                )

            def evaluate(frame: Any) -> Any:
                values = [fn(frame) for fn in functions]
                for value in values:
                    if value is None:
                        return None
                return run(*values)

            return Expr(evaluate, sql_type, refs, nullable, constant=constant, sensitive=sensitive)

        most = len(kinds)
        for alias in name.split():
            FUNCTIONS[alias] = Function(alias, most - optional, most, build)
        return run

    return register


def result_type(result: Any, args: list[Expr]) -> SqlType:
    """The type that a registration names."""
    if isinstance(result, SqlType):
        return result
    first = args[0].type if args else None
    if result == "w0":
        large = any(one.type is not None and (one.type.length == MAX or one.type.name in ("text", "ntext")) for one in args)
        wide = any(one.type is not None and one.type.name in ("nchar", "nvarchar", "ntext") for one in args)
        return SqlType("nvarchar" if wide else "varchar", length=MAX if large else 4000 if wide else 8000)
    if result == "t0":
        return first or INT
    if first is None:
        return SqlType("varchar", length=8000)
    if first.name in ("char", "varchar", "text"):
        return SqlType(
            "varchar", length=first.length if first.name != "text" and (first.length > 0 or first.length == MAX) else MAX
        )
    if first.name in STRINGS:
        return SqlType("nvarchar", length=first.length if first.name in ("nchar", "nvarchar") else MAX)
    return SqlType("varchar", length=8000)


def prepare(compiler: Any, call: ast.Call, position: int, arg: Expr, kind: str) -> Expr:
    """An argument brought to the kind a function wants; error 8116 for a type it cannot take."""
    if arg.type is None or kind == "a":
        return arg
    name = arg.type.name
    if kind == "s":
        if name in STRINGS:
            return arg
        return compiler.convert(arg, TEXT if name[0] == "n" else NARROW, explicit=True)
    if kind in "ib":
        if name in DATES:
            raise error(8116, name, position + 1, call.parts[-1].lower(), line=call.line)
        return compiler.convert(arg, INT if kind == "i" else BIGINT, explicit=True)
    if kind == "f":
        if name in DATES or name in ("binary", "varbinary", "uniqueidentifier"):
            raise error(8116, name, position + 1, call.parts[-1].lower(), line=call.line)
        return compiler.convert(arg, FLOAT, explicit=True)
    if kind == "n":
        if name in NUMBERS:
            return arg
        if name in DATES or name == "uniqueidentifier":
            raise error(8116, name, position + 1, call.parts[-1].lower(), line=call.line)
        return compiler.convert(arg, FLOAT, explicit=True)
    if kind == "d":
        if name in DATES:
            return arg
        return compiler.convert(arg, SqlType("datetime") if name in NUMBERS else MOMENT, explicit=True)
    return arg


def compile_call(compiler: Any, node: ast.Call) -> Expr:
    """A function call: window, aggregate, built-in or user-defined."""
    load()
    name = node.name
    if len(node.parts) > 1:
        if node.parts[-2].upper() == "$PARTITION":
            return _partition_number(compiler, node)
        where = tuple(part.lower() for part in node.parts[:-1])
        system = where[-1:] == ("sys",) or (name.startswith("FN_") and where == ("master", "dbo"))
        if name in FUNCTIONS and (where[-2:] == ("msdb", "dbo") if name in MSDB_FUNCTIONS else system):
            pass
        else:
            from aglab.tsql.functions.user import scalar_function

            return scalar_function(compiler, node)
    if node.over is not None:
        return compile_window(compiler, node)
    if name in AGGREGATES:
        return _aggregate(compiler, node)
    if name in RANKING or name in OFFSETS:
        raise error(10753, node.parts[-1], line=node.line)
    function = FUNCTIONS.get(name)
    if function is None:
        raise error(195, node.parts[-1], "built-in function name", line=node.line)
    if node.star or node.distinct:
        raise error(102, "*" if node.star else "DISTINCT", line=node.line)
    if not function.least <= len(node.args) <= function.most:
        if function.least == function.most:
            raise error(174, node.parts[-1].lower(), function.least, line=node.line)
        raise error(189, node.parts[-1].lower(), function.least, function.most, line=node.line)
    if name in SPECIAL_ARGUMENTS:
        return function.build(compiler, node, [])
    return function.build(compiler, node, [compiler.value(arg) for arg in node.args])


def _partition_number(compiler: Any, node: ast.Call) -> Expr:
    """[database.]$PARTITION.function(value): the partition that a value would lie in. Errors 911, 208, 174."""
    context = compiler.context
    database = context.database
    if len(node.parts) > 2:
        database = context.instance.database(node.parts[-3])
        if database is None:
            raise error(911, node.parts[-3], line=node.line)
    function = database.partition_functions.get(node.parts[-1].lower())
    if function is None:
        raise error(208, node.parts[-1], line=node.line)
    if len(node.args) != 1:
        raise error(174, node.parts[-1], 1, line=node.line)
    value = compiler.converted(node.args[0], function.type)
    number, inner = function.number, value.fn
    return Expr(lambda frame: number(inner(frame)), INT, value.refs, False)


# Their first argument is a keyword (a date part) or a condition: the builder compiles the arguments itself.
SPECIAL_ARGUMENTS = frozenset({"DATEADD", "DATEDIFF", "DATEDIFF_BIG", "DATENAME", "DATEPART", "DATETRUNC", "IIF", "DATE_BUCKET"})


def _aggregate(compiler: Any, node: ast.Call) -> Expr:
    scope = compiler.scope
    grouping = scope.grouping
    if grouping is None or not grouping.active:
        raise error(147, line=node.line)
    if compiler.aggregating:
        raise error(130, line=node.line)
    slot = grouping.slot
    if node.name in ("GROUPING", "GROUPING_ID"):
        positions = []
        for arg in node.args:
            key = grouping.keys.get(compiler.fingerprint(arg))
            if key is None:
                raise error(8161, 1, node.name, line=node.line)
            positions.append(key[0])
        if node.name == "GROUPING":
            only = positions[0]
            return Expr(lambda frame: frame[slot][-1][only], SqlType("tinyint"), frozenset({slot}), False)
        return Expr(
            lambda frame: sum(frame[slot][-1][p] << i for i, p in enumerate(reversed(positions))), INT, frozenset({slot}), False
        )
    fingerprint = compiler.fingerprint(node)
    position = grouping.index.get(fingerprint)
    if position is None:
        compiler.aggregating = True
        try:
            aggregate = make_aggregate(compiler, node)
        finally:
            compiler.aggregating = False
        position = len(grouping.aggregates)
        grouping.aggregates.append(aggregate)
        grouping.index[fingerprint] = position
    aggregate = grouping.aggregates[position]
    place = grouping.width + position
    nullable = aggregate.name not in ("COUNT", "COUNT_BIG")
    return Expr(lambda frame: frame[slot][place], aggregate.type, frozenset({slot}), nullable)


_loaded = False


def load() -> None:
    """Import every family once."""
    global _loaded
    if not _loaded:
        for module in MODULES:
            importlib.import_module(f"aglab.tsql.functions.{module}")
        _loaded = True
