"""Built-in table-valued functions: STRING_SPLIT, GENERATE_SERIES."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.core.sqltypes import BIGINT, INT, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.functions.xml_path import Node, compiled, context, refer
from aglab.tsql.messages import error
from aglab.tsql.query.scope import OutColumn

Built = tuple[list[OutColumn], Callable[[Any], list[tuple[Any, ...]]], frozenset[int]]
MAX_SERIES = 10_000_000


def _string_split(compiler: Any, node: ast.FunctionSource) -> Built:
    if len(node.args) not in (2, 3):
        raise error(313 if len(node.args) < 2 else 8144, "string_split", line=node.line)
    text, separator = (compiler.converted(arg, nvarchar(), explicit=True) for arg in node.args[:2])
    columns = [OutColumn("value", nvarchar(4000))]
    if len(node.args) == 3:
        columns.append(OutColumn("ordinal", BIGINT))
    a, b, width = text.fn, separator.fn, len(columns)

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        value, mark = a(frame), b(frame)
        if value is None:
            return []
        if mark is None or len(mark) != 1:
            raise error(214, "separator", "nchar(1)/nvarchar(1)", state=11)
        return [(part, i)[:width] for i, part in enumerate(value.split(mark), 1)]

    return columns, rows, text.refs | separator.refs


def _generate_series(compiler: Any, node: ast.FunctionSource) -> Built:
    if len(node.args) not in (2, 3):
        raise error(313 if len(node.args) < 2 else 8144, "generate_series", line=node.line)
    args = [compiler.value(arg) for arg in node.args]
    sql_type: SqlType = args[0].type or INT
    functions = [arg.fn for arg in args]

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        values = [fn(frame) for fn in functions]
        if any(value is None for value in values):
            return []
        start, stop = values[:2]
        step = values[2] if len(values) > 2 else (1 if start <= stop else -1)
        if step == 0:
            raise error(4199)
        if (stop - start) / step > MAX_SERIES:
            raise error(59003, "the length of GENERATE_SERIES", MAX_SERIES)
        if all(isinstance(value, int) for value in (start, stop, step)):
            return list(zip(range(start, stop + (1 if step > 0 else -1), step), strict=True))
        result = []
        while (start <= stop) if step > 0 else (start >= stop):
            result.append((start,))
            start += step
        return result

    return [OutColumn("value", sql_type)], rows, frozenset().union(*(arg.refs for arg in args))


def _xml_nodes(compiler: Any, node: ast.FunctionSource) -> Built:
    assert isinstance(node.args[1], ast.Literal)
    instance, path = compiler.value(node.args[0]), compiled(node.args[1].value)
    if instance.type is not None and instance.type.name != "xml":
        raise error(258, "nodes", instance.type.name, line=node.line)
    value = instance.fn

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        document = value(frame)
        return [] if document is None else [(refer(one),) for one in path.select(context(document)) if isinstance(one, Node)]

    return [OutColumn("", SqlType("xml"))], rows, instance.refs


TABLE_FUNCTIONS: dict[str, Callable[[Any, ast.FunctionSource], Built]] = {
    "string_split": _string_split,
    "xml.nodes": _xml_nodes,
    "generate_series": _generate_series,
}
