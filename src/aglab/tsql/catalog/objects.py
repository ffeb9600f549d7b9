"""sys.objects, all_objects, tables, columns, types and schemas."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import VIEWS, provide
from aglab.tsql.catalog.type_ids import type_facts
from aglab.tsql.functions.names import object_id, type_code
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import Table

_CREATED = datetime.datetime(2022, 11, 16)
_OBJECT = """name sysname!, object_id int!, principal_id int, schema_id int!, parent_object_id int!, type char(2), type_desc nvarchar(60),
    create_date datetime!, modify_date datetime!, is_ms_shipped bit!, is_published bit!, is_schema_published bit!"""
DESCRIPTIONS = {
    "U": "USER_TABLE",
    "P": "SQL_STORED_PROCEDURE",
    "FN": "SQL_SCALAR_FUNCTION",
    "V": "VIEW",
    "IF": "SQL_INLINE_TABLE_VALUED_FUNCTION",
    "TF": "SQL_TABLE_VALUED_FUNCTION",
    "PK": "PRIMARY_KEY_CONSTRAINT",
    "UQ": "UNIQUE_CONSTRAINT",
    "F": "FOREIGN_KEY_CONSTRAINT",
    "C": "CHECK_CONSTRAINT",
    "D": "DEFAULT_CONSTRAINT",
    "TR": "SQL_TRIGGER",
    "TT": "TYPE_TABLE",
}


def constraint_id(table: Table, name: str) -> int:
    """A stable id for a constraint."""
    import zlib

    return zlib.crc32(f"{table.id}/{name.lower()}".encode()) % 2**30 + 2**30


def _base(database: Database, name: str, number: int, schema: str, parent: int, code: str, created: Any = None) -> dict[str, Any]:
    return {
        "name": name,
        "object_id": number,
        "schema_id": database.schemas.get(schema, 1),
        "parent_object_id": parent,
        "type": code.ljust(2),
        "type_desc": DESCRIPTIONS[code],
        "create_date": created or _CREATED,
        "modify_date": created or _CREATED,
        "is_ms_shipped": False,
        "is_published": False,
        "is_schema_published": False,
    }


def _all(database: Database, constraints: bool = True) -> Iterator[dict[str, Any]]:
    for kind in database.types.values():
        if kind.table is not None:
            yield _base(database, kind.table.name, kind.table.id, "sys", 0, "TT", kind.created)
    for item in database.objects.values():
        yield _base(database, item.name, object_id(item), item.schema, 0, type_code(item), item.created)
        if isinstance(item, Table) and constraints:
            for index in item.indexes:
                if index.constraint:
                    yield _base(
                        database,
                        index.name,
                        constraint_id(item, index.name),
                        item.schema,
                        item.id,
                        "PK" if index.primary_key else "UQ",
                    )
            for key in item.foreign_keys:
                yield _base(database, key.name, constraint_id(item, key.name), item.schema, item.id, "F")
            for check in item.checks:
                yield _base(database, check.name, constraint_id(item, check.name), item.schema, item.id, "C")
            for column in item.columns:
                if column.default is not None:
                    yield _base(
                        database, column.default_name, constraint_id(item, column.default_name), item.schema, item.id, "D"
                    )


def _scoped(runtime: Any, database: Database, with_types: bool = True) -> Iterator[Table]:
    """User tables, those that stand for table types, and in tempdb the session's temporary tables."""
    yield from database.tables()
    if with_types:
        yield from (one.table for one in database.types.values() if one.table is not None)
    if database.name == "tempdb":
        yield from runtime.session.temp_tables.values()


@provide("sys.objects: " + _OBJECT)
def _objects(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    yield from _all(database)


@provide("sys.all_objects: " + _OBJECT)
def _all_objects(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    yield from _all(database)
    for view in VIEWS.values():
        if view.schema == "sys":
            code = "V" if view.parameters is None else "IF"
            yield {**_base(database, view.name, view.object_id, "sys", 0, code), "is_ms_shipped": True}


@provide(
    "sys.tables: "
    + _OBJECT
    + """, lob_data_space_id int!, filestream_data_space_id int, max_column_id_used int!, lock_on_bulk_load bit!,
    uses_ansi_nulls bit, is_replicated bit, has_replication_filter bit, is_merge_published bit, is_sync_tran_subscribed bit,
    has_unchecked_assembly_data bit!, text_in_row_limit int, large_value_types_out_of_row bit, is_tracked_by_cdc bit, lock_escalation tinyint,
    lock_escalation_desc nvarchar(60), is_filetable bit, is_memory_optimized bit, durability tinyint, durability_desc nvarchar(60),
    temporal_type tinyint, temporal_type_desc nvarchar(60), history_table_id int, is_remote_data_archive_enabled bit, is_external bit!,
    history_retention_period int, history_retention_period_unit int, history_retention_period_unit_desc nvarchar(10), is_node bit,
    is_edge bit, data_retention_period int, data_retention_period_unit int, data_retention_period_unit_desc nvarchar(10),
    ledger_type tinyint, ledger_type_desc nvarchar(60), ledger_view_id int, is_dropped_ledger_table bit"""
)
def _tables(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in _scoped(runtime, database, with_types=False):
        yield {
            **_base(database, table.name, table.id, table.schema, 0, "U", table.created),
            "lob_data_space_id": 0,
            "max_column_id_used": len(table.columns),
            "lock_on_bulk_load": False,
            "uses_ansi_nulls": True,
            "is_replicated": False,
            "has_unchecked_assembly_data": False,
            "text_in_row_limit": 0,
            "large_value_types_out_of_row": False,
            "is_tracked_by_cdc": False,
            "lock_escalation": 0,
            "lock_escalation_desc": "TABLE",
            "is_filetable": False,
            "is_memory_optimized": bool(table.options.get("MEMORY_OPTIMIZED")),
            "durability": int(table.options.get("DURABILITY") == "SCHEMA_ONLY"),
            "durability_desc": table.options.get("DURABILITY", "SCHEMA_AND_DATA"),
            "temporal_type": 0,
            "temporal_type_desc": "NON_TEMPORAL_TABLE",
            "is_external": False,
            "is_node": False,
            "is_edge": False,
            "ledger_type": 0,
            "ledger_type_desc": "NON_LEDGER_TABLE",
            "is_dropped_ledger_table": False,
        }


COLUMN = """object_id int!, name sysname, column_id int!, system_type_id tinyint!, user_type_id int!, max_length smallint!,
    precision tinyint!, scale tinyint!, collation_name sysname, is_nullable bit, is_ansi_padded bit!, is_rowguidcol bit!, is_identity bit!,
    is_computed bit!, is_filestream bit!, is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_xml_document bit!, xml_collection_id int!, default_object_id int!, rule_object_id int!, is_sparse bit, is_column_set bit,
    generated_always_type tinyint, generated_always_type_desc nvarchar(60), encryption_type int, encryption_type_desc nvarchar(64),
    encryption_algorithm_name sysname, column_encryption_key_id int, column_encryption_key_database_name sysname, is_hidden bit!,
    is_masked bit!, graph_type int, graph_type_desc nvarchar(60), is_data_deletion_filter_column bit, ledger_view_column_type int,
    ledger_view_column_type_desc nvarchar(60), is_dropped_ledger_column bit"""


@provide(f"sys.columns: {COLUMN}")
def column_rows(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in _scoped(runtime, database):
        for number, column in enumerate(table.columns, 1):
            system, user, length, precision, scale = type_facts(column.type)
            text = column.type.name in ("char", "varchar", "nchar", "nvarchar", "text", "ntext")
            yield {
                "object_id": table.id,
                "name": column.name,
                "column_id": number,
                "system_type_id": system,
                "user_type_id": database.type_id(column.user_type) or user,
                "max_length": length,
                "precision": precision,
                "scale": scale,
                "collation_name": column.collation if text else None,
                "is_nullable": column.nullable,
                "is_ansi_padded": text,
                "is_rowguidcol": column.rowguid,
                "is_identity": column.identity is not None,
                "is_computed": column.computed is not None,
                "is_filestream": False,
                "is_replicated": False,
                "is_xml_document": False,
                "xml_collection_id": 0,
                "default_object_id": constraint_id(table, column.default_name) if column.default is not None else 0,
                "rule_object_id": 0,
                "is_sparse": False,
                "is_column_set": False,
                "generated_always_type": 0,
                "generated_always_type_desc": "NOT_APPLICABLE",
                "is_hidden": False,
                "is_masked": False,
            }


@provide("sys.schemas: name sysname!, schema_id int!, principal_id int")
def _schemas(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for name, number in database.schemas.items():
        yield name, number, 1
