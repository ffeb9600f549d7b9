"""sys.types and sys.table_types: the system's types and those of CREATE TYPE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import provide
from aglab.tsql.catalog.type_ids import TYPE_IDS, type_facts
from aglab.tsql.store.database import Database
from aglab.tsql.store.user_types import TABLE_SYSTEM_TYPE_ID, UserType

_TEXT = ("char", "varchar", "nchar", "nvarchar", "text", "ntext", "sysname")
_COLUMNS = """name sysname!, system_type_id tinyint!, user_type_id int!, schema_id int!, principal_id int, max_length smallint!,
    precision tinyint!, scale tinyint!, collation_name sysname, is_nullable bit, is_user_defined bit!, is_assembly_type bit!,
    default_object_id int!, rule_object_id int!, is_table_type bit!"""


def _row(database: Database, kind: UserType) -> tuple[Any, ...]:
    schema = database.schemas.get(kind.schema, 1)
    if kind.base is None:
        facts: tuple[Any, ...] = (-1, 0, 0, None, False)
        return (kind.name, TABLE_SYSTEM_TYPE_ID, kind.id, schema, None, *facts, True, False, 0, 0, True)
    system, _, length, precision, scale = type_facts(kind.base)
    collation = database.collation if kind.base.name in _TEXT else None
    facts = (length, precision, scale, collation, kind.nullable)
    return (kind.name, system, kind.id, schema, None, *facts, True, False, 0, 0, False)


@provide(f"sys.types: {_COLUMNS}")
def _types(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for name, (user, system, length, precision, scale) in TYPE_IDS.items():
        collation = database.collation if name in _TEXT else None
        nullable = name not in ("sysname", "timestamp")
        yield name, system, user, 4, None, length, precision, scale, collation, nullable, False, False, 0, 0, False
    for kind in database.types.values():
        yield _row(database, kind)


@provide(f"sys.table_types: {_COLUMNS}, type_table_object_id int!, is_memory_optimized bit")
def _table_types(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for kind in database.types.values():
        if kind.table is not None:
            yield (*_row(database, kind), kind.table.id, kind.is_memory_optimized)
