"""Views that SMO reads to script tables, programs, endpoints and keys: the rest of those its own queries name.

The list was drawn from the queries of SMO (their names of views); what only other products have (pdw, Azure) is left out. Columns
are those of SQL Server 2022 as far as they are remembered from its documentation; they could not all be confirmed. But for the
columns of statistics, the query store's options and syscolumns the kinds of objects cannot be made here, so there are no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import PROVIDERS, VIEWS, provide
from aglab.tsql.store.database import Database


def _shape(name: str) -> str:
    """The columns of a view that is known, in the registry's words."""
    return ", ".join(f"{c.name} {c.type}{'' if c.nullable else '!'}" for c in VIEWS[("sys", name)].columns)


_EVENT = "object_id int!, type int!, type_desc nvarchar(60)!, is_first bit, is_last bit, event_group_type int, event_group_type_desc nvarchar(60)"
_ENDPOINT = """name sysname!, endpoint_id int!, principal_id int, protocol tinyint!, protocol_desc nvarchar(60), type tinyint!,
    type_desc nvarchar(60), state tinyint, state_desc nvarchar(60), is_admin_endpoint bit!"""

_WITHOUT_ROWS = (
    f"""sys.xml_indexes: {_shape("indexes")}, using_xml_index_id int, secondary_type char(1), secondary_type_desc nvarchar(60),
    xml_index_type tinyint, xml_index_type_description nvarchar(60), path_id int""",
    f"""sys.spatial_indexes: {_shape("indexes")}, spatial_index_type tinyint!, spatial_index_type_desc nvarchar(60),
    tessellation_scheme sysname""",
    """sys.spatial_index_tessellations: object_id int!, index_id int!, tessellation_scheme sysname, bounding_box_xmin float,
    bounding_box_ymin float, bounding_box_xmax float, bounding_box_ymax float, level_1_grid smallint, level_1_grid_desc nvarchar(60),
    level_2_grid smallint, level_2_grid_desc nvarchar(60), level_3_grid smallint, level_3_grid_desc nvarchar(60), level_4_grid smallint,
    level_4_grid_desc nvarchar(60), cells_per_object int""",
    """sys.selective_xml_index_paths: object_id int!, index_id int!, path_id int!, path nvarchar(4000), name sysname, path_type tinyint,
    path_type_desc nvarchar(60), xml_component_id int, xquery_type_description nvarchar(4000), is_xquery_type_inferred bit,
    xquery_max_length smallint, is_xquery_max_length_inferred bit, is_node bit, system_type_id tinyint, user_type_id tinyint,
    max_length smallint, precision tinyint, scale tinyint, collation_name sysname, is_singleton bit""",
    """sys.selective_xml_index_namespaces: object_id int!, index_id int!, is_default_uri bit, uri nvarchar(4000), prefix nvarchar(1024)""",
    "sys.trigger_events: " + _EVENT + ", is_trigger_event bit",
    "sys.server_trigger_events: " + _EVENT + ", is_trigger_event bit",
    f"""sys.external_tables: {_shape("tables")}, location nvarchar(4000), data_source_id int, file_format_id int, reject_type nvarchar(20),
    reject_value float, reject_sample_value float, distribution_type int, distribution_desc nvarchar(120), sharding_col_id int,
    remote_schema_name sysname, remote_object_name sysname, rejected_row_location nvarchar(4000), table_options nvarchar(4000)""",
    """sys.internal_tables: name sysname!, object_id int!, principal_id int, schema_id int!, parent_object_id int!, type char(2)!,
    type_desc nvarchar(60), create_date datetime!, modify_date datetime!, is_ms_shipped bit!, is_published bit!, is_schema_published bit!,
    internal_type tinyint, internal_type_desc nvarchar(60), parent_id int, parent_minor_id int, lob_data_space_id int,
    filestream_data_space_id int""",
    """sys.remote_data_archive_tables: object_id int!, remote_database_id int, remote_table_name sysname, filter_predicate nvarchar(max),
    migration_direction tinyint, migration_direction_desc nvarchar(60), is_migration_paused bit, is_reconciled bit""",
    """sys.filetables: object_id int!, is_enabled bit!, directory_name nvarchar(255), filename_collation_id int!,
    filename_collation_name nvarchar(128)""",
    "sys.filetable_system_defined_objects: object_id int!, parent_object_id int!",
    f"""sys.masked_columns: {_shape("columns")}, masking_function nvarchar(4000)""",
    """sys.sensitivity_classifications: class int!, class_desc varchar(16)!, major_id int!, minor_id int!, label sysname, label_id sysname,
    information_type sysname, information_type_id sysname, rank int, rank_desc varchar(16)""",
    """sys.security_predicates: object_id int!, security_predicate_id int!, target_object_id int!, predicate_definition nvarchar(max)!,
    predicate_type int, predicate_type_desc nvarchar(60), operation int, operation_desc nvarchar(60)""",
    """sys.periods: name sysname!, period_type tinyint, period_type_desc nvarchar(60), object_id int!, start_column_id int!,
    end_column_id int!""",
    """sys.edge_constraints: name sysname!, object_id int!, principal_id int, schema_id int!, parent_object_id int!, type char(2)!,
    type_desc nvarchar(60), create_date datetime!, modify_date datetime!, is_ms_shipped bit!, is_published bit!, is_schema_published bit!,
    is_disabled bit!, is_not_trusted bit!, is_system_named bit!, delete_referential_action tinyint,
    delete_referential_action_desc nvarchar(60)""",
    "sys.edge_constraint_clauses: object_id int!, from_object_id int!, to_object_id int!, clause_number int!",
    """sys.fulltext_index_columns: object_id int!, column_id int!, type_column_id int, language_id int!, statistical_semantics int!""",
    "sys.fulltext_languages: lcid int!, name sysname!",
    "sys.fulltext_semantic_languages: lcid int!, name sysname!",
    """sys.registered_search_properties: property_list_id int!, property_set_guid uniqueidentifier!, property_int_id int!,
    property_name nvarchar(64)!, property_description nvarchar(512), property_id int!""",
    "sys.numbered_procedures: object_id int!, procedure_number smallint!, definition nvarchar(max)",
    """sys.numbered_procedure_parameters: object_id int!, procedure_number smallint!, name sysname, parameter_id int!,
    system_type_id tinyint!, user_type_id int!, max_length smallint!, precision tinyint!, scale tinyint!, is_output bit!,
    is_cursor_ref bit!""",
    "sys.function_order_columns: object_id int!, order_column_id int!, column_id int!, is_descending bit",
    """sys.extended_procedures: name sysname!, object_id int!, principal_id int, schema_id int!, parent_object_id int!, type char(2)!,
    type_desc nvarchar(60), create_date datetime!, modify_date datetime!, is_ms_shipped bit!, is_published bit!, is_schema_published bit!,
    dll_name nvarchar(260)""",
    """sys.sql_dependencies: class tinyint!, class_desc nvarchar(60), object_id int!, column_id int!, referenced_major_id int!,
    referenced_minor_id int!, is_selected bit!, is_updated bit!, is_select_all bit!""",
    "sys.assembly_references: assembly_id int!, referenced_assembly_id int!",
    "sys.assembly_files: assembly_id int!, name nvarchar(260), file_id int!, content varbinary(max)",
    "sys.external_library_files: external_library_id int!, content varbinary(max), platform int!, platform_desc nvarchar(60)",
    "sys.key_encryptions: key_id int!, thumbprint varbinary(32), crypt_type char(4)!, crypt_type_desc nvarchar(60), crypt_property varbinary(max)",
    """sys.openkeys: database_id int, database_name sysname, key_id int, key_name sysname, key_guid uniqueidentifier,
    opened_date datetime, status smallint""",
    """sys.column_encryption_key_values: column_encryption_key_id int!, column_master_key_id int!, encrypted_value varbinary(8000),
    encryption_algorithm_name sysname""",
    """sys.linked_logins: server_id int!, local_principal_id int, uses_self_credential bit!, remote_name sysname,
    modify_date datetime!""",
    """sys.server_file_audits: audit_id int!, name sysname!, audit_guid uniqueidentifier, create_date datetime!, modify_date datetime!,
    principal_id int, type char(2)!, type_desc nvarchar(60), on_failure tinyint, on_failure_desc nvarchar(60), is_state_enabled tinyint,
    queue_delay int, predicate nvarchar(3000), max_file_size bigint, max_rollover_files int, max_files int, reserve_disk_space bit!,
    log_file_path nvarchar(260), log_file_name nvarchar(260)""",
    f"""sys.service_broker_endpoints: {_ENDPOINT}, is_message_forwarding_enabled bit!, message_forwarding_size int!,
    connection_auth tinyint!, connection_auth_desc nvarchar(60), certificate_id int!, encryption_algorithm tinyint!,
    encryption_algorithm_desc nvarchar(60)""",
    f"""sys.http_endpoints: {_ENDPOINT}, site nvarchar(128), url_path nvarchar(4000), is_clear_port_enabled bit!, clear_port int!,
    is_ssl_port_enabled bit!, ssl_port int!, is_anonymous_enabled bit!, is_basic_auth_enabled bit!, is_digest_auth_enabled bit!,
    is_kerberos_auth_enabled bit!, is_ntlm_auth_enabled bit!, is_integrated_auth_enabled bit!, authorization_realm nvarchar(128),
    default_logon_domain nvarchar(128), is_compression_enabled bit!""",
    f"sys.soap_endpoints: {_ENDPOINT}, is_sql_language_enabled bit!, wsdl_generator_procedure nvarchar(776), default_database sysname",
    f"sys.via_endpoints: {_ENDPOINT}, discriminator nvarchar(128)",
    """sys.database_mirroring_witnesses: database_name sysname!, principal_server_name sysname, mirror_server_name sysname,
    safety_level tinyint!, safety_level_desc nvarchar(60), safety_sequence_number int!, role_sequence_number int!,
    mirroring_guid uniqueidentifier!, family_guid uniqueidentifier!, is_suspended bit, is_suspended_sequence_number int!,
    partner_sync_state tinyint, partner_sync_state_desc nvarchar(60)""",
    """msdb.syspolicy_system_health_state: health_state_id bigint!, policy_id int!, last_run_date datetime!,
    target_query_expression_with_id nvarchar(400)!, target_query_expression nvarchar(max)!, result bit!""",
    "sys.xml_schema_namespaces: xml_collection_id int!, name nvarchar(4000)!, xml_namespace_id int!",
)
for _text in _WITHOUT_ROWS:
    _schema, _, _name = _text.partition(":")[0].partition(".")
    if (_schema, _name) not in VIEWS:
        provide(_text)(lambda runtime, database, arguments: [])


@provide("sys.all_sql_modules: " + _shape("sql_modules"))
def _all_modules(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Any:
    """Users' modules; the texts of system modules are not shown."""
    return PROVIDERS["sys.sql_modules"](runtime, database, arguments)


@provide(
    """sys.database_query_store_options: desired_state smallint!, desired_state_desc nvarchar(60), actual_state smallint!,
    actual_state_desc nvarchar(60), readonly_reason int, current_storage_size_mb bigint, flush_interval_seconds bigint,
    interval_length_minutes bigint, max_storage_size_mb bigint, stale_query_threshold_days bigint, max_plans_per_query bigint,
    query_capture_mode smallint!, query_capture_mode_desc nvarchar(60), capture_policy_execution_count int,
    capture_policy_total_compile_cpu_time_ms bigint, capture_policy_total_execution_cpu_time_ms bigint,
    capture_policy_stale_threshold_hours int, size_based_cleanup_mode smallint!, size_based_cleanup_mode_desc nvarchar(60),
    wait_stats_capture_mode smallint!, wait_stats_capture_mode_desc nvarchar(60), actual_state_additional_info nvarchar(4000)"""
)
def _query_store(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The query store is off: plans are not kept."""
    yield 0, "OFF", 0, "OFF", 0, 0, 900, 60, 1000, 30, 200, 2, "AUTO", None, None, None, None, 1, "AUTO", 1, "ON", ""


@provide(
    """sys.syscolumns: name sysname, id int!, xtype tinyint!, typestat tinyint, xusertype smallint, length smallint!, xprec tinyint!,
    xscale tinyint!, colid smallint!, xoffset smallint!, bitpos tinyint!, reserved tinyint!, colstat smallint!, cdefault int!, domain int!,
    number smallint!, colorder smallint!, autoval varbinary(8000), offset smallint!, collationid int, language int!, status tinyint!,
    type tinyint!, usertype smallint, printfmt varchar(255), prec smallint, scale int, iscomputed int, isoutparam int!, isnullable int,
    collation sysname""",
    compatibility=True,
)
def _syscolumns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """SQL Server 2000's view of sys.columns; positions within the row are not told."""
    zeros = "xoffset bitpos reserved cdefault domain number offset language status typestat isoutparam".split()
    for row in PROVIDERS["sys.columns"](runtime, database, arguments):
        yield dict.fromkeys(zeros, 0) | {
            "name": row["name"],
            "id": row["object_id"],
            "xtype": row["system_type_id"],
            "type": row["system_type_id"],
            "xusertype": row["user_type_id"],
            "usertype": row["user_type_id"],
            "length": row["max_length"],
            "xprec": row["precision"],
            "prec": row["precision"],
            "xscale": row["scale"],
            "scale": row["scale"],
            "colid": row["column_id"],
            "colorder": row["column_id"],
            "colstat": int(row["is_identity"]),
            "iscomputed": int(row["is_computed"]),
            "isnullable": int(row["is_nullable"]),
            "collation": row["collation_name"],
        }
