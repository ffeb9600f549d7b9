"""sys.objects, tables, columns, types, schemas, indexes, partitions, modules, parameters."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tsql.catalog.registry import VIEWS, provide
from aglab.tsql.functions.metadata import object_id, type_code
from aglab.tsql.store.database import Database, Module
from aglab.tsql.store.partitions import placement_of
from aglab.tsql.store.table import Table, column_bytes

_CREATED = datetime.datetime(2022, 11, 16)
# name -> user_type_id, system_type_id, max_length, precision, scale
TYPE_IDS: dict[str, tuple[int, int, int, int, int]] = {
    "image": (34, 34, 16, 0, 0),
    "text": (35, 35, 16, 0, 0),
    "uniqueidentifier": (36, 36, 16, 0, 0),
    "date": (40, 40, 3, 10, 0),
    "time": (41, 41, 5, 16, 7),
    "datetime2": (42, 42, 8, 27, 7),
    "datetimeoffset": (43, 43, 10, 34, 7),
    "tinyint": (48, 48, 1, 3, 0),
    "smallint": (52, 52, 2, 5, 0),
    "int": (56, 56, 4, 10, 0),
    "smalldatetime": (58, 58, 4, 16, 0),
    "real": (59, 59, 4, 24, 0),
    "money": (60, 60, 8, 19, 4),
    "datetime": (61, 61, 8, 23, 3),
    "float": (62, 62, 8, 53, 0),
    "sql_variant": (98, 98, 8016, 0, 0),
    "ntext": (99, 99, 16, 0, 0),
    "bit": (104, 104, 1, 1, 0),
    "decimal": (106, 106, 17, 38, 38),
    "numeric": (108, 108, 17, 38, 38),
    "smallmoney": (122, 122, 4, 10, 4),
    "bigint": (127, 127, 8, 19, 0),
    "varbinary": (165, 165, 8000, 0, 0),
    "varchar": (167, 167, 8000, 0, 0),
    "binary": (173, 173, 8000, 0, 0),
    "char": (175, 175, 8000, 0, 0),
    "timestamp": (189, 189, 8, 0, 0),
    "nvarchar": (231, 231, 8000, 0, 0),
    "nchar": (239, 239, 8000, 0, 0),
    "xml": (241, 241, -1, 0, 0),
    "sysname": (256, 231, 256, 0, 0),
}
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
}


def type_facts(sql_type: SqlType) -> tuple[int, int, int, int, int]:
    """system_type_id, user_type_id, max_length, precision, scale of a declared type."""
    user, system, length, precision, scale = TYPE_IDS[sql_type.name]
    if sql_type.name in ("char", "varchar", "binary", "varbinary"):
        length = sql_type.length
    elif sql_type.name in ("nchar", "nvarchar"):
        length = sql_type.length * 2 if sql_type.length > 0 else -1
    elif sql_type.name in ("decimal", "numeric"):
        length, precision, scale = column_bytes(sql_type), sql_type.precision, sql_type.scale
    elif sql_type.name in ("time", "datetime2", "datetimeoffset"):
        scale = sql_type.scale
        precision = {"time": 8, "datetime2": 19, "datetimeoffset": 26}[sql_type.name] + (scale + 1 if scale else 0)
    return system, user, length, precision, scale


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


def _scoped(runtime: Any, database: Database) -> Iterator[Table]:
    """User tables, and in tempdb the session's temporary tables."""
    yield from database.tables()
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
    for table in _scoped(runtime, database):
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


@provide(
    """sys.columns: object_id int!, name sysname, column_id int!, system_type_id tinyint!, user_type_id int!, max_length smallint!,
    precision tinyint!, scale tinyint!, collation_name sysname, is_nullable bit, is_ansi_padded bit!, is_rowguidcol bit!, is_identity bit!,
    is_computed bit!, is_filestream bit!, is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_xml_document bit!, xml_collection_id int!, default_object_id int!, rule_object_id int!, is_sparse bit, is_column_set bit,
    generated_always_type tinyint, generated_always_type_desc nvarchar(60), encryption_type int, encryption_type_desc nvarchar(64),
    encryption_algorithm_name sysname, column_encryption_key_id int, column_encryption_key_database_name sysname, is_hidden bit!,
    is_masked bit!, graph_type int, graph_type_desc nvarchar(60), is_data_deletion_filter_column bit, ledger_view_column_type int,
    ledger_view_column_type_desc nvarchar(60), is_dropped_ledger_column bit"""
)
def _columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in _scoped(runtime, database):
        for number, column in enumerate(table.columns, 1):
            system, user, length, precision, scale = type_facts(column.type)
            text = column.type.name in ("char", "varchar", "nchar", "nvarchar", "text", "ntext")
            yield {
                "object_id": table.id,
                "name": column.name,
                "column_id": number,
                "system_type_id": system,
                "user_type_id": user,
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


@provide(
    """sys.types: name sysname!, system_type_id tinyint!, user_type_id int!, schema_id int!, principal_id int, max_length smallint!,
    precision tinyint!, scale tinyint!, collation_name sysname, is_nullable bit, is_user_defined bit!, is_assembly_type bit!,
    default_object_id int!, rule_object_id int!, is_table_type bit!"""
)
def _types(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for name, (user, system, length, precision, scale) in TYPE_IDS.items():
        text = name in ("char", "varchar", "nchar", "nvarchar", "text", "ntext", "sysname")
        yield (
            name,
            system,
            user,
            4,
            None,
            length,
            precision,
            scale,
            database.collation if text else None,
            name not in ("sysname", "timestamp"),
            False,
            False,
            0,
            0,
            False,
        )


@provide("sys.schemas: name sysname!, schema_id int!, principal_id int")
def _schemas(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for name, number in database.schemas.items():
        yield name, number, 1


@provide(
    """sys.indexes: object_id int!, name sysname, index_id int!, type tinyint!, type_desc nvarchar(60), is_unique bit, data_space_id int!,
    ignore_dup_key bit, is_primary_key bit, is_unique_constraint bit, fill_factor tinyint!, is_padded bit, is_disabled bit,
    is_hypothetical bit, is_ignored_in_optimization bit, allow_row_locks bit, allow_page_locks bit, has_filter bit, filter_definition nvarchar(max),
    compression_delay int, suppress_dup_key_messages bit, auto_created bit, optimize_for_sequential_key bit"""
)
def _indexes(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in _scoped(runtime, database):
        common = {
            "object_id": table.id,
            "data_space_id": placement_of(table, None).space,
            "ignore_dup_key": False,
            "fill_factor": 0,
            "is_padded": False,
            "is_hypothetical": False,
            "is_ignored_in_optimization": False,
            "allow_row_locks": True,
            "allow_page_locks": True,
            "has_filter": False,
            "suppress_dup_key_messages": False,
            "auto_created": False,
            "optimize_for_sequential_key": False,
        }
        if table.clustered is None and not table.options.get("MEMORY_OPTIMIZED"):
            yield {
                **common,
                "name": None,
                "index_id": 0,
                "type": 0,
                "type_desc": "HEAP",
                "is_unique": False,
                "is_primary_key": False,
                "is_unique_constraint": False,
                "is_disabled": False,
            }
        for index in sorted(table.indexes, key=lambda i: i.id):
            hashed = bool(index.options.get("HASH"))
            yield {
                **common,
                "name": index.name,
                "data_space_id": placement_of(table, index).space,
                "index_id": index.id,
                "type": 1 if index.clustered else 7 if hashed else 2,
                "type_desc": "CLUSTERED" if index.clustered else "NONCLUSTERED HASH" if hashed else "NONCLUSTERED",
                "is_unique": index.unique,
                "is_primary_key": index.primary_key,
                "is_unique_constraint": index.constraint and not index.primary_key,
                "is_disabled": bool(index.options.get("DISABLED")),
                "fill_factor": index.options.get("FILLFACTOR", 0),
                "is_padded": index.options.get("PAD_INDEX") == "ON",
                "ignore_dup_key": index.options.get("IGNORE_DUP_KEY") == "ON",
                "allow_row_locks": index.options.get("ALLOW_ROW_LOCKS", "ON") == "ON",
                "allow_page_locks": index.options.get("ALLOW_PAGE_LOCKS", "ON") == "ON",
                "optimize_for_sequential_key": index.options.get("OPTIMIZE_FOR_SEQUENTIAL_KEY") == "ON",
            }


@provide(
    """sys.index_columns: object_id int!, index_id int!, index_column_id int!, column_id int!, key_ordinal tinyint!, partition_ordinal tinyint!,
    is_descending_key bit, is_included_column bit, column_store_order_ordinal tinyint!"""
)
def _index_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in _scoped(runtime, database):
        for index in table.indexes:
            cut = placement_of(table, index).column
            for place, (column, descending) in enumerate(zip(index.columns, index.descending, strict=True), 1):
                yield table.id, index.id, place, column + 1, place, int(column == cut), descending, False, 0
            for place, column in enumerate(index.included, len(index.columns) + 1):
                yield table.id, index.id, place, column + 1, 0, int(column == cut), False, True, 0
            if cut >= 0 and cut not in index.columns + index.included:
                yield table.id, index.id, len(index.columns + index.included) + 1, cut + 1, 0, 1, False, False, 0
        heap = placement_of(table, None).column
        if table.clustered is None and heap >= 0:
            yield table.id, 0, 1, heap + 1, 0, 1, False, False, 0


@provide(
    """sys.sql_modules: object_id int!, definition nvarchar(max), uses_ansi_nulls bit, uses_quoted_identifier bit, is_schema_bound bit,
    uses_database_collation bit, is_recompiled bit, null_on_null_input bit, execute_as_principal_id int, uses_native_compilation bit, is_inlineable bit, inline_type bit"""
)
def _sql_modules(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for module in database.modules():
        options = module.definition.options if module.definition else set()
        yield {
            "object_id": module.object_id,
            "definition": None if "ENCRYPTION" in options else module.text,
            "uses_ansi_nulls": True,
            "uses_quoted_identifier": True,
            "is_schema_bound": "SCHEMABINDING" in options,
            "uses_database_collation": False,
            "is_recompiled": "RECOMPILE" in options,
            "null_on_null_input": False,
            "uses_native_compilation": "NATIVE_COMPILATION" in options,
            "is_inlineable": False,
            "inline_type": False,
        }


def _modules_of(kind: str, code: str) -> Any:
    def rows(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
        for module in database.modules(kind):
            yield _base(database, module.name, module.object_id, module.schema, 0, code, module.created)

    return rows


provide(
    "sys.procedures: "
    + _OBJECT
    + ", is_auto_executed bit!, is_execution_replicated bit, is_repl_serializable_only bit, skips_repl_constraints bit"
)(lambda r, d, a: ({**row, "is_auto_executed": False} for row in _modules_of("procedure", "P")(r, d, a)))
provide(
    "sys.views: "
    + _OBJECT
    + ", is_replicated bit, has_replication_filter bit, has_opaque_metadata bit!, has_unchecked_assembly_data bit!, with_check_option bit!, is_date_correlation_view bit!"
)(
    lambda r, d, a: (
        {
            **row,
            "has_opaque_metadata": False,
            "has_unchecked_assembly_data": False,
            "with_check_option": False,
            "is_date_correlation_view": False,
        }
        for row in _modules_of("view", "V")(r, d, a)
    )
)


@provide(
    """sys.parameters: object_id int!, name sysname, parameter_id int!, system_type_id tinyint!, user_type_id int!, max_length smallint!,
    precision tinyint!, scale tinyint!, is_output bit!, is_cursor_ref bit!, has_default_value bit!, is_xml_document bit!, default_value sql_variant,
    xml_collection_id int!, is_readonly bit!, is_nullable bit"""
)
def _parameters(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for module in database.modules():
        parameters = module.definition.parameters if module.definition else []
        for number, parameter in enumerate(parameters, 1):
            system, user, length, precision, scale = type_facts(parameter.type)
            yield {
                "object_id": module.object_id,
                "name": parameter.name,
                "parameter_id": number,
                "system_type_id": system,
                "user_type_id": user,
                "max_length": length,
                "precision": precision,
                "scale": scale,
                "is_output": parameter.output,
                "is_cursor_ref": False,
                "has_default_value": False,
                "is_xml_document": False,
                "xml_collection_id": 0,
                "is_readonly": False,
                "is_nullable": True,
            }


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
    """sys.identity_columns: object_id int!, name sysname, column_id int!, seed_value sql_variant, increment_value
    sql_variant, last_value sql_variant, is_not_for_replication bit"""
)
def _identity_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in database.tables():
        for number, column in enumerate(table.columns, 1):
            if column.identity is not None:
                yield table.id, column.name, number, column.identity[0], column.identity[1], table.identity_last, False


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
                "is_disabled": False,
                "is_not_for_replication": False,
                "is_not_trusted": False,
                "delete_referential_action": actions[key.on_delete],
                "delete_referential_action_desc": key.on_delete,
                "update_referential_action": actions[key.on_update],
                "update_referential_action_desc": key.on_update,
                "is_system_named": "__" in key.name,
            }


_ = Module
