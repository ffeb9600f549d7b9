"""Names of objects: their parts, what they mean, an object's id and kind."""

from __future__ import annotations

from typing import Any

from aglab.tsql.lexer import QUOTED, tokenize
from aglab.tsql.messages import TsqlError
from aglab.tsql.store.database import Database, Module
from aglab.tsql.store.table import Table


def split_name(text: str) -> list[str]:
    """The parts of a name written as in T-SQL: [a b].c; without quotation also of a version such as 16.0.4135.4"""
    if not any(mark in text for mark in "[\"'"):
        return [part.strip() for part in text.split(".")]
    try:
        tokens = tokenize(text)
    except TsqlError:
        return [text]
    parts: list[str] = [""]
    for token in tokens[:-1]:
        if token.value == "." and token.kind != QUOTED:
            parts.append("")
        else:
            parts[-1] += token.value
    return parts


def find_object(runtime: Any, name: str | None) -> tuple[Database, Table | Module] | None:
    """The object a name means, temporary tables too."""
    if not name:
        return None
    parts = split_name(name)
    if parts[-1].startswith("#"):
        table = runtime.session.temp_tables.get(parts[-1].lower())
        return (runtime.instance.database("tempdb"), table) if table is not None else None
    database = runtime.database
    if len(parts) > 2 and parts[-3]:
        database = runtime.instance.database(parts[-3])
        if database is None:
            return None
    item = database.find(parts[-2] if len(parts) > 1 else "", parts[-1])
    return None if item is None else (database, item)


def object_id(item: Table | Module) -> int:
    """An object's id."""
    return item.id if isinstance(item, Table) else item.object_id


TYPE_CODES = {"procedure": "P", "function": "FN", "view": "V", "trigger": "TR"}


def type_code(item: Table | Module) -> str:
    """sys.objects.type without blanks."""
    if isinstance(item, Table):
        return "U"
    if item.kind == "function" and item.definition is not None and item.definition.returns is None:
        return "IF" if item.definition.returns_query is not None else "TF"
    return TYPE_CODES[item.kind]


def find_by_id(runtime: Any, number: int | None, database_id: int | None = None) -> Table | Module | None:
    if number is None:
        return None
    for database in runtime.instance.databases.values():
        if database.id == (database_id or runtime.database.id):
            return database.by_id(number)
    return None
