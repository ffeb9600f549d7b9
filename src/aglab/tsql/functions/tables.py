"""Built-in table-valued functions: STRING_SPLIT, GENERATE_SERIES, OPENJSON, nodes() of xml."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aglab.core.sqltypes import BIGINT, INT, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.convert import converter
from aglab.tsql.functions.json import load_json, walk
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


def _openjson(compiler: Any, node: ast.FunctionSource) -> Built:
    if len(node.args) not in (1, 2):
        raise error(313 if not node.args else 8144, "OPENJSON", line=node.line)
    args = [compiler.converted(arg, nvarchar(), explicit=True) for arg in node.args]
    refs = frozenset().union(*(arg.refs for arg in args))

    def content(frame: Any) -> Any:
        text = args[0].fn(frame)
        path = args[1].fn(frame) if len(args) > 1 else "$"
        return None if text is None or path is None else walk(load_json(text), path)

    if node.with_columns is None:
        columns = [OutColumn("key", nvarchar(4000), False), OutColumn("value", nvarchar()), OutColumn("type", INT, False)]
        return columns, lambda frame: _members(content(frame)), refs
    wanted = [(path, converter(nvarchar(), sql_type), as_json) for _, sql_type, path, as_json in node.with_columns]

    def rows(frame: Any) -> list[tuple[Any, ...]]:
        found = content(frame)
        items = found if isinstance(found, list) else [found] if isinstance(found, dict) else []
        return [tuple(_typed(item, *one) for one in wanted) for item in items]

    return [OutColumn(name, sql_type) for name, sql_type, *_ in node.with_columns], rows, refs


def _members(found: Any) -> list[tuple[Any, ...]]:
    """key, value, type of each member of an object or an array; type as on the page "OPENJSON (Transact-SQL)"."""
    pairs = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    rows = []
    for key, value in pairs:
        kind = 0 if value is None else 3 if isinstance(value, bool) else 1 if isinstance(value, str) else 2
        kind = 4 if isinstance(value, list) else 5 if isinstance(value, dict) else kind
        rows.append((str(key), value if kind < 2 else json.dumps(value, separators=(",", ":"), ensure_ascii=False), kind))
    return rows


def _typed(item: Any, path: str, change: Any, as_json: bool) -> Any:
    """One cell of OPENJSON ... WITH: a scalar brought to its type, or with AS JSON the text of what is no scalar."""
    value = walk(item, path)
    if as_json:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False) if isinstance(value, (dict, list)) else None
    if value is None or isinstance(value, (dict, list)):
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return text if change is None else change(text)


TABLE_FUNCTIONS: dict[str, Callable[[Any, ast.FunctionSource], Built]] = {
    "string_split": _string_split,
    "xml.nodes": _xml_nodes,
    "openjson": _openjson,
    "generate_series": _generate_series,
}
