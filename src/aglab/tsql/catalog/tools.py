"""Views that management tools ask for when they connect: SSMS and SMO, dbatools, Azure Data Studio, the mssql extension.

Columns are meant to be those of SQL Server 2022; the documentation was looked at for sys.servers and sys.database_recovery_status
only. Views of kinds of objects that the twin cannot make (their CREATE is refused) have no rows, as on a server without such objects.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.objects import _OBJECT, _base, _scoped, constraint_id
from aglab.tsql.catalog.registry import PROVIDERS, VIEWS, provide
from aglab.tsql.catalog.type_ids import type_facts
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import Table

_CREATED = datetime.datetime(2022, 11, 16)
_COLUMN = ", ".join(f"{c.name} {c.type}{'' if c.nullable else '!'}" for c in VIEWS[("sys", "columns")].columns)

# Kinds of objects that cannot be made here.
_WITHOUT_ROWS = (
    f"sys.synonyms: {_OBJECT}, base_object_name nvarchar(1035)",
    f"""sys.sequences: {_OBJECT}, start_value sql_variant!, increment sql_variant!, minimum_value sql_variant!, maximum_value sql_variant!,
    is_cycling bit, is_cached bit, cache_size int, system_type_id tinyint!, user_type_id int!, precision tinyint!, scale tinyint,
    current_value sql_variant!, is_exhausted bit!, last_used_value sql_variant""",
    """sys.assemblies: name sysname!, principal_id int, assembly_id int!, clr_name nvarchar(4000), permission_set tinyint,
    permission_set_desc nvarchar(60), is_visible bit!, create_date datetime!, modify_date datetime!, is_user_defined bit""",
    """sys.triggers: name sysname!, object_id int!, parent_class tinyint!, parent_class_desc nvarchar(60), parent_id int!, type char(2)!,
    type_desc nvarchar(60), create_date datetime!, modify_date datetime!, is_ms_shipped bit!, is_disabled bit!,
    is_not_for_replication bit!, is_instead_of_trigger bit!""",
    "sys.extended_properties: class tinyint!, class_desc nvarchar(60), major_id int!, minor_id int!, name sysname!, value sql_variant",
    """sys.external_data_sources: data_source_id int!, name sysname!, location nvarchar(4000)!, type_desc nvarchar(255), type tinyint!,
    resource_manager_location nvarchar(4000), credential_id int!, database_name sysname, shard_map_name sysname,
    connection_options nvarchar(4000), pushdown nvarchar(256)!""",
    """sys.fulltext_catalogs: fulltext_catalog_id int!, name sysname!, path nvarchar(260), is_default bit!,
    is_accent_sensitivity_on bit!, data_space_id int, file_id int, principal_id int, is_importing bit!""",
    """sys.sql_expression_dependencies: referencing_id int!, referencing_minor_id int!, referencing_class tinyint,
    referencing_class_desc nvarchar(60), is_schema_bound_reference bit!, referenced_class tinyint, referenced_class_desc nvarchar(60),
    referenced_server_name sysname, referenced_database_name sysname, referenced_schema_name sysname, referenced_entity_name sysname,
    referenced_id int, referenced_minor_id int!, is_caller_dependent bit!, is_ambiguous bit!""",
    """sys.dm_io_pending_io_requests: io_completion_request_address varbinary(8)!, io_type nvarchar(60)!, io_pending_ms_ticks bigint!,
    io_pending int!, io_completion_routine_address varbinary(8), io_user_data_address varbinary(8), scheduler_address varbinary(8)!,
    io_handle varbinary(8), io_offset bigint!, io_handle_path nvarchar(256)""",
    """sys.dm_os_windows_info: windows_release nvarchar(256)!, windows_service_pack_level nvarchar(256)!, windows_sku int,
    os_language_version int!""",
)
for _text in _WITHOUT_ROWS:
    if (_text.partition(":")[0].split(".")[0], _text.partition(":")[0].split(".")[1]) not in VIEWS:
        provide(_text)(lambda runtime, database, arguments: [])


@provide(
    """sys.servers: server_id int!, name sysname!, product sysname!, provider sysname!, data_source nvarchar(4000), location
    nvarchar(4000), provider_string nvarchar(4000), catalog sysname, connect_timeout int, query_timeout int, is_linked bit!,
    is_remote_login_enabled bit!, is_rpc_out_enabled bit!, is_data_access_enabled bit!, is_collation_compatible bit!,
    uses_remote_collation bit!, collation_name sysname, lazy_schema_validation bit!, is_system bit!, is_publisher bit!, is_subscriber bit,
    is_distributor bit, is_nonsql_subscriber bit, is_remote_proc_transaction_promotion_enabled bit, modify_date datetime!,
    is_rda_server bit"""
)
def _servers(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """The local server; linked servers cannot be added."""
    name = runtime.host.server_property("servername")
    zeros = "is_linked is_data_access_enabled is_collation_compatible uses_remote_collation lazy_schema_validation is_system is_publisher"
    more = "is_subscriber is_distributor is_nonsql_subscriber is_remote_proc_transaction_promotion_enabled is_rda_server"
    yield dict.fromkeys((zeros + " " + more).split(), False) | {
        "server_id": 0,
        "name": name,
        "product": "SQL Server",
        "provider": "SQLNCLI",
        "data_source": name,
        "connect_timeout": 0,
        "query_timeout": 0,
        "is_remote_login_enabled": True,
        "is_rpc_out_enabled": True,
        "modify_date": _CREATED,
    }


@provide(
    """sys.database_recovery_status: database_id int!, database_guid uniqueidentifier, family_guid uniqueidentifier,
    last_log_backup_lsn numeric(25,0), recovery_fork_guid uniqueidentifier, first_recovery_fork_guid uniqueidentifier,
    fork_point_lsn numeric(25,0)"""
)
def _recovery_status(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Identities follow from the database's name and when it was made; the LSN of the last log backup is not shown here."""
    for item in sorted(runtime.instance.databases.values(), key=lambda one: one.id):
        family = uuid.uuid5(uuid.NAMESPACE_OID, f"{item.name}/{item.created}")
        yield {
            "database_id": item.id,
            "database_guid": uuid.uuid5(family, str(runtime.host.server_property("servername"))),
            "family_guid": family,
            "recovery_fork_guid": family,
            "first_recovery_fork_guid": family,
        }


@provide(
    """sys.database_mirroring: database_id int!, mirroring_guid uniqueidentifier, mirroring_state tinyint, mirroring_state_desc
    nvarchar(60), mirroring_role tinyint, mirroring_role_desc nvarchar(60), mirroring_role_sequence int, mirroring_safety_level tinyint,
    mirroring_safety_level_desc nvarchar(60), mirroring_safety_sequence int, mirroring_partner_name nvarchar(128),
    mirroring_partner_instance nvarchar(128), mirroring_witness_name nvarchar(128), mirroring_witness_state tinyint,
    mirroring_witness_state_desc nvarchar(60), mirroring_failover_lsn numeric(25,0), mirroring_connection_timeout int,
    mirroring_redo_queue int, mirroring_redo_queue_type nvarchar(60), mirroring_end_of_log_lsn numeric(25,0),
    mirroring_replication_lsn numeric(25,0)"""
)
def _mirroring(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """A row of each database, all NULL: mirroring is not offered."""
    for item in sorted(runtime.instance.databases.values(), key=lambda one: one.id):
        yield {"database_id": item.id}


@provide("sys.all_columns: " + _COLUMN)
def _all_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """Columns of user tables and of every system view that the twin has."""
    yield from PROVIDERS["sys.columns"](runtime, database, arguments)
    flags = """is_filestream is_replicated is_non_sql_subscribed is_merge_published is_dts_replicated is_xml_document is_sparse
        is_column_set is_hidden is_masked""".split()
    facts: dict[str, Any] = dict.fromkeys(flags, False) | dict.fromkeys(
        ("xml_collection_id", "default_object_id", "rule_object_id"), 0
    )
    facts |= {"generated_always_type": 0, "generated_always_type_desc": "NOT_APPLICABLE"}
    for number, columns in [(view.object_id, view.columns) for view in VIEWS.values() if view.schema == "sys"]:
        for place, column in enumerate(columns, 1):
            system, user, length, precision, scale = type_facts(column.type)
            yield facts | {
                "object_id": number,
                "name": column.name,
                "column_id": place,
                "system_type_id": system,
                "user_type_id": user,
                "max_length": length,
                "precision": precision,
                "scale": scale,
                "collation_name": "SQL_Latin1_General_CP1_CI_AS" if "char" in column.type.name else None,
                "is_nullable": column.nullable,
                "is_ansi_padded": True,
                "is_rowguidcol": False,
                "is_identity": False,
                "is_computed": False,
            }


@provide(
    "sys.check_constraints: "
    + _OBJECT
    + """, is_disabled bit!, is_not_for_replication bit!, is_not_trusted bit!, parent_column_id int!, definition nvarchar(max),
    uses_database_collation bit, is_system_named bit!"""
)
def _check_constraints(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in database.tables():
        for check in table.checks:
            names = [column.name.lower() for column in table.columns]
            yield {
                **_base(database, check.name, constraint_id(table, check.name), table.schema, table.id, "C"),
                "is_disabled": not check.enabled,
                "is_not_for_replication": False,
                "is_not_trusted": not check.trusted or not check.enabled,
                "parent_column_id": names.index(check.column.lower()) + 1 if check.column.lower() in names else 0,
                "definition": check.text if check.text.startswith("(") else f"({check.text})",
                "uses_database_collation": True,
                "is_system_named": "__" in check.name,
            }


@provide(
    """sys.foreign_key_columns: constraint_object_id int!, constraint_column_id int!, parent_object_id int!, parent_column_id int!,
    referenced_object_id int!, referenced_column_id int!"""
)
def _foreign_key_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
    for table in database.tables():
        for key in table.foreign_keys:
            schema, _, name = key.referenced.partition(".")
            other = database.find(schema, name)
            if isinstance(other, Table):
                places = {column.name.lower(): place for place, column in enumerate(other.columns, 1)}
                for number, (here, there) in enumerate(zip(key.columns, key.referenced_columns, strict=True), 1):
                    yield constraint_id(table, key.name), number, table.id, here + 1, other.id, places[there.lower()]


@provide("sys.computed_columns: " + _COLUMN + ", definition nvarchar(max), uses_database_collation bit!, is_persisted bit!")
def _computed_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    texts = {
        (table.id, place): column.computed_text
        for table in database.tables()
        for place, column in enumerate(table.columns, 1)
        if column.computed is not None
    }
    for row in _all_columns(runtime, database, arguments):
        if (row["object_id"], row["column_id"]) in texts:
            text = texts[row["object_id"], row["column_id"]]
            yield {**row, "definition": f"({text})", "uses_database_collation": True, "is_persisted": False}


@provide(
    """sys.stats: object_id int!, name sysname, stats_id int!, auto_created bit, user_created bit, no_recompute bit, has_filter bit,
    filter_definition nvarchar(max), is_temporary bit, is_incremental bit, has_persisted_sample bit, stats_generation_method int,
    stats_generation_method_desc varchar(80), auto_drop bit"""
)
def _stats(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """One row for each index, then those that CREATE STATISTICS made."""
    flags = "auto_created user_created no_recompute has_filter is_temporary is_incremental has_persisted_sample auto_drop".split()
    for table in _scoped(runtime, database):
        for index in table.indexes:
            yield dict.fromkeys(flags, False) | {
                "object_id": table.id,
                "name": index.name,
                "stats_id": index.id,
                "no_recompute": index.options.get("STATISTICS_NORECOMPUTE") == "ON",
                "stats_generation_method": 0,
                "stats_generation_method_desc": "Sort based statistics",
            }
        for one in table.options.get("STATISTICS", ()):
            yield dict.fromkeys(flags, False) | {
                "object_id": table.id,
                "name": one["name"],
                "stats_id": one["id"],
                "user_created": True,
                "no_recompute": one["no_recompute"],
                "has_filter": one["filter"] is not None,
                "filter_definition": f"({one['filter']})" if one["filter"] is not None else None,
                "stats_generation_method": 0,
                "stats_generation_method_desc": "Sort based statistics",
            }
