"""What CREATE says of memory-optimized tables and natively compiled modules: prerequisites and refusals.

Sources: CREATE TABLE, "Transact-SQL constructs not supported by In-Memory OLTP", "Natively compiled stored procedures" (SQL
Server documentation); messages in :mod:`aglab.tsql.messages_memory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from aglab.tsql import ast
from aglab.tsql import ast_statements as st
from aglab.tsql.messages import KNOWLEDGE_PAGE, TsqlError, error
from aglab.tsql.session import Session
from aglab.tsql.store.database import Database
from aglab.tsql.store.memory import BUCKETS_MAX, has_container, is_memory
from aglab.tsql.store.table import Table

TABLES = "memory optimized tables"
MODULES = "natively compiled modules"
_TYPES = frozenset("datetimeoffset geography geometry hierarchyid image ntext text sql_variant xml".split())
ATOMIC_LEVELS = {"SNAPSHOT": 5, "REPEATABLE READ": 3, "SERIALIZABLE": 4}


def memory_options(s: st.CreateTable) -> dict[str, Any]:
    """MEMORY_OPTIMIZED and DURABILITY of a CREATE TABLE as the table keeps them. Errors 102, 10779."""
    memory, durability = s.options.get("MEMORY_OPTIMIZED", "OFF"), s.options.get("DURABILITY", "SCHEMA_AND_DATA")
    if memory not in ("ON", "OFF"):
        raise error(102, str(memory), line=s.line)
    if durability not in ("SCHEMA_ONLY", "SCHEMA_AND_DATA"):
        raise error(102, str(durability), line=s.line)
    if memory == "OFF":
        if durability == "SCHEMA_ONLY":
            raise error(10779, line=s.line)
        return {}
    return {"MEMORY_OPTIMIZED": True, "DURABILITY": durability}


def before_memory_table(s: st.CreateTable, session: Session, database: Database) -> None:
    """Checks before the table is built. Errors 12331, 41326, 41337, 12317."""
    if session.trancount:
        raise error(12331, TABLES, line=s.line)
    if database.id <= 4:
        raise error(41326, line=s.line)
    if not has_container(database):
        raise error(41337, TABLES, line=s.line)
    if "ON" in s.options:
        raise error(59005, "CREATE TABLE ... ON", f"{TABLES} lie in the database's own filegroup", KNOWLEDGE_PAGE, line=s.line)
    for one in s.constraints:
        if one.clustered or (one.kind == "PRIMARY KEY" and one.clustered is None):
            raise error(12317, TABLES, line=one.line)


def after_memory_table(s: st.CreateTable, table: Table, database: Database) -> None:
    """Checks on the table as built. Errors 10778, 10789, 10790, 10794, 12339, 41321, 41327."""
    for column in table.columns:
        if column.type.name in _TYPES:
            raise error(10794, "type", column.type.name, TABLES, line=s.line, state=88)
        if column.identity not in (None, (1, 1)):
            raise error(12339, TABLES, line=s.line)
    for index in table.indexes:
        if not index.options.get("HASH"):
            if "BUCKET_COUNT" in index.options:
                raise error(10790, "BUCKET_COUNT", line=s.line)
            continue
        if "BUCKET_COUNT" not in index.options:
            raise error(10789, "BUCKET_COUNT", index.name, table.name, line=s.line)
        count = index.options["BUCKET_COUNT"]
        if not isinstance(count, int) or not 1 <= count <= BUCKETS_MAX:
            raise error(59005, f"BUCKET_COUNT = {count}", f"it must be 1 to {BUCKETS_MAX}", KNOWLEDGE_PAGE, line=s.line)
    for key in table.foreign_keys:
        schema, _, name = key.referenced.partition(".")
        parent = table if key.referenced.lower() == table.full_name.lower() else database.find(schema, name)
        if not isinstance(parent, Table) or not is_memory(parent):
            raise error(10778, line=s.line)
    if not any(index.primary_key for index in table.indexes):
        if s.options.get("DURABILITY", "SCHEMA_AND_DATA") == "SCHEMA_AND_DATA":
            raise error(41321, table.name, line=s.line)
        if not table.indexes:
            raise error(41327, table.name, line=s.line)


def check_disk_table(s: st.CreateTable, table: Table, database: Database | None) -> None:
    """A table on disk has no hash index and refers to no table in memory. Errors 10778, 10790, 10791."""
    for index in table.indexes:
        if index.options.get("HASH"):
            raise error(10791, line=s.line)
        if "BUCKET_COUNT" in index.options:
            raise error(10790, "BUCKET_COUNT", line=s.line)
    for key in table.foreign_keys if database is not None else ():
        schema, _, name = key.referenced.partition(".")
        parent = database.find(schema, name) if database is not None else None
        if isinstance(parent, Table) and is_memory(parent):
            raise error(10778, line=s.line)


def refuse(table: Table, kind: str, what: str, line: int, state: int = 76) -> None:
    """Error 10794 where the table is memory-optimized: ``kind`` is statement or operation."""
    if is_memory(table):
        raise error(10794, kind, what, TABLES, line=line, state=state)


# -- natively compiled modules ----------------------------------------------------------------------------------------------
def check_native(s: st.CreateModule, database: Database) -> None:
    """A module with NATIVE_COMPILATION. Errors 10775, 10782 to 10784, 10796, 12306, 12310, 12322, 10794, 41337."""
    if "NATIVE_COMPILATION" not in s.options:
        if s.atomic:
            raise error(10782, line=s.line)
        return
    if not has_container(database):
        raise error(41337, MODULES, line=s.line)
    if "SCHEMABINDING" not in s.options:
        raise error(10796, line=s.line)
    if not isinstance(s.atomic, dict):
        raise error(10783, line=s.line)
    for option in ("TRANSACTION ISOLATION LEVEL", "LANGUAGE"):
        if option not in s.atomic:
            raise error(10784, option.lower(), line=s.line)
    if s.atomic["TRANSACTION ISOLATION LEVEL"] not in ATOMIC_LEVELS:
        raise error(102, str(s.atomic["TRANSACTION ISOLATION LEVEL"]), line=s.line)
    for node in _nodes(s.body):
        _check_node(node, database)


def _check_node(node: Any, database: Database) -> None:
    line = getattr(node, "line", 0)
    if isinstance(node, (st.DeclareCursor, st.CursorStatement)):
        raise error(12306, MODULES, line=line)
    if isinstance(node, (st.Merge, st.Truncate)):
        raise error(10794, "statement", "MERGE" if isinstance(node, st.Merge) else "TRUNCATE TABLE", MODULES, line=line)
    if getattr(node, "ctes", None):
        raise error(12310, MODULES, line=line)
    if isinstance(node, ast.TableSource):
        if node.parts[-1].startswith("#"):
            raise error(12322, MODULES, line=line)
        if not node.parts[-1].startswith("@"):
            _check_reference(node, database)


def _check_reference(node: ast.TableSource, database: Database) -> None:
    found = database.find(node.parts[-2] if len(node.parts) > 1 else "", node.parts[-1])
    if found is None:
        problem: TsqlError = error(208, ".".join(node.parts), line=node.line)
        raise problem
    if not isinstance(found, Table) or not is_memory(found):
        raise error(10775, ".".join(node.parts), line=node.line)


def _nodes(item: Any) -> Iterator[Any]:
    """Every syntax tree inside ``item``, outermost first."""
    if isinstance(item, (list, tuple)):
        for one in item:
            yield from _nodes(one)
    elif isinstance(item, (ast.Node, st.Statement, st.Output)):
        yield item
        for spec in fields(item):
            if spec.name != "plan":
                yield from _nodes(getattr(item, spec.name))
