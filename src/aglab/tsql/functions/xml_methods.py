"""value(), query() and exist() of type xml; the parser writes them as functions that no name can reach. nodes() is a source.

Error 258: the value is not xml; 2389: value() of a path that may find more than one. Source: "xml Data Type Methods" (SQL Server
documentation).
"""

from __future__ import annotations

import re
from typing import Any

from aglab.core.sqltypes import BIT, SqlType, nvarchar
from aglab.tsql import ast
from aglab.tsql.functions.registry import builder
from aglab.tsql.functions.xml_path import Node, Path, compiled, context
from aglab.tsql.messages import error
from aglab.tsql.query.scope import Expr
from aglab.tsql.types import DATES

_UTC = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+)Z")


def _path(call: ast.Call, args: list[Expr]) -> Path:
    sql_type = args[0].type
    if sql_type is not None and sql_type.name != "xml":
        raise error(258, call.name.rsplit(".", 1)[-1].lower(), sql_type.name, line=call.line)
    path = call.args[1]
    assert isinstance(path, ast.Literal)
    return compiled(path.value)


def _made(args: list[Expr], sql_type: SqlType, run: Any) -> Expr:
    value = args[0].fn
    return Expr(lambda frame: None if (v := value(frame)) is None else run(v), sql_type, args[0].refs, True)


@builder("XML.VALUE", 3)
def _value(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    path, target = _path(call, args), call.args[2]
    assert isinstance(target, ast.Literal)
    moment = target.value in DATES
    if not path.single:
        raise error(2389, line=call.line)

    def run(value: str) -> Any:
        found = path.select(context(value))
        if not found:
            return None
        text = found[0].text() if isinstance(found[0], Node) else _plain(found[0])
        match = _UTC.fullmatch(text.strip()) if moment else None
        return match.group(1) if match else text

    return _made(args, nvarchar(), run)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


@builder("XML.QUERY", 2)
def _query(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    path = _path(call, args)

    def run(value: str) -> str:
        return "".join(one.written() if isinstance(one, Node) else _plain(one) for one in path.select(context(value)))

    return _made(args, SqlType("xml"), run)


@builder("XML.EXIST", 2)
def _exist(compiler: Any, call: ast.Call, args: list[Expr]) -> Expr:
    path = _path(call, args)
    # as on SQL Server, a comparison that is false is a value too: exist() asks whether anything came out
    return _made(args, BIT, lambda value: bool([one for one in path.select(context(value)) if one is not None]))
