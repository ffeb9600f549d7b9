"""sys.key_constraints, default_constraints, identity_columns and foreign_keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.objects import _OBJECT, COLUMN, _base, column_rows, constraint_id
from aglab.tsql.catalog.registry import provide
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import Table


@provide("sys.key_constraints: " + _OBJECT + ", unique_index_id int, is_system_named bit!, is_enforced bit!")
def _key_constraints(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in database.tables():
        for index in table.indexes:
            if index.constraint:
                yield {
                    **_base(
                        database,
                        index.name,
                        constraint_id(table, index.name),
                        table.schema,
                        table.id,
                        "PK" if index.primary_key else "UQ",
                    ),
                    "unique_index_id": index.id,
                    "is_system_named": "__" in index.name,
                    "is_enforced": True,
                }


@provide("sys.default_constraints: " + _OBJECT + ", parent_column_id int!, definition nvarchar(max), is_system_named bit!")
def _default_constraints(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in database.tables():
        for number, column in enumerate(table.columns, 1):
            if column.default is not None:
                yield {
                    **_base(
                        database, column.default_name, constraint_id(table, column.default_name), table.schema, table.id, "D"
                    ),
                    "parent_column_id": number,
                    "definition": f"({column.default_text})",
                    "is_system_named": "__" in column.default_name,
                }


@provide(
    f"sys.identity_columns: {COLUMN}, seed_value sql_variant, increment_value sql_variant, last_value sql_variant, "
    "is_not_for_replication bit"
)
def _identity_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    tables = {table.id: table for table in database.tables()}
    for row in column_rows(runtime, database, arguments):
        table = tables.get(row["object_id"])
        identity = table.columns[row["column_id"] - 1].identity if table is not None else None
        if table is not None and identity is not None:
            yield row | {
                "seed_value": identity[0],
                "increment_value": identity[1],
                "last_value": table.identity_last,
                "is_not_for_replication": False,
            }


@provide(
    "sys.foreign_keys: "
    + _OBJECT
    + """, referenced_object_id int, key_index_id int, is_disabled bit!, is_not_for_replication bit!, is_not_trusted bit!,
    delete_referential_action tinyint, delete_referential_action_desc nvarchar(60), update_referential_action tinyint,
    update_referential_action_desc nvarchar(60), is_system_named bit!"""
)
def _foreign_keys(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    actions = {"NO_ACTION": 0, "CASCADE": 1, "SET_NULL": 2, "SET_DEFAULT": 3}
    for table in database.tables():
        for key in table.foreign_keys:
            schema, _, name = key.referenced.partition(".")
            other = database.find(schema, name)
            yield {
                **_base(database, key.name, constraint_id(table, key.name), table.schema, table.id, "F"),
                "referenced_object_id": other.id if isinstance(other, Table) else None,
                "key_index_id": 1,
                "is_disabled": not key.enabled,
                "is_not_for_replication": False,
                "is_not_trusted": not key.trusted or not key.enabled,
                "delete_referential_action": actions[key.on_delete],
                "delete_referential_action_desc": key.on_delete,
                "update_referential_action": actions[key.on_update],
                "update_referential_action_desc": key.on_update,
                "is_system_named": "__" in key.name,
            }
