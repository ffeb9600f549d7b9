"""Views of features that the twin does not have: their columns, so that scripts which look there run, and no rows.

Service Broker, columnstore indexes, Query Store (off, as sys.database_query_store_options says), missing indexes (plans are not costed),
automatic tuning, audits, log shipping, maintenance plans. A server that does not use them has no rows either; the two views that always have
one say that the feature is off. Columns: the pages of these views (SQL Server 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.objects import _OBJECT
from aglab.tsql.catalog.registry import PROVIDERS, provide
from aglab.tsql.store.database import Database


def _measures(*names: str) -> str:
    """The five columns that each measure of sys.query_store_runtime_stats has."""
    return ", ".join(f"avg_{n} float, last_{n} bigint!, min_{n} bigint!, max_{n} bigint!, stdev_{n} float" for n in names)


ABSENT = (
    """sys.dm_broker_activated_tasks: spid int, database_id smallint, queue_id int, procedure_name nvarchar(650), execute_as int""",
    f"""sys.service_queues: {_OBJECT}, max_readers smallint, activation_procedure nvarchar(776), execute_as_principal_id int,
    is_activation_enabled bit!, is_receive_enabled bit!, is_enqueue_enabled bit!, is_retention_enabled bit!,
    is_poison_message_handling_enabled bit""",
    """sys.dm_db_missing_index_group_stats_query: group_handle int!, query_hash binary(8)!, query_plan_hash binary(8)!,
    last_sql_handle varbinary(64)!, last_statement_start_offset int!, last_statement_end_offset int!,
    last_statement_sql_handle varbinary(64)!, user_seeks bigint!, user_scans bigint!, last_user_seek datetime, last_user_scan datetime,
    avg_total_user_cost float, avg_user_impact float, system_seeks bigint!, system_scans bigint!, last_system_seek datetime,
    last_system_scan datetime, avg_total_system_cost float, avg_system_impact float""",
    """sys.dm_db_missing_index_columns(int): column_id int, column_name sysname, column_usage varchar(20)""",
    """sys.column_store_row_groups: object_id int!, index_id int!, partition_number int!, row_group_id int!, delta_store_hobt_id bigint,
    state tinyint!, state_description nvarchar(60)!, total_rows bigint!, deleted_rows bigint, size_in_bytes bigint!""",
    """sys.column_store_segments: partition_id bigint, hobt_id bigint, column_id int, segment_id int, version int, encoding_type int,
    row_count int, has_nulls int, base_id bigint, magnitude float, primary_dictionary_id int, secondary_dictionary_id int,
    min_data_id bigint, max_data_id bigint, null_value bigint, on_disk_size bigint, collation_id int, min_deep_data varbinary(18),
    max_deep_data varbinary(18)""",
    """sys.column_store_dictionaries: partition_id bigint, hobt_id bigint, column_id int, dictionary_id int, version int, type int,
    last_id int, entry_count bigint, on_disk_size bigint""",
    """sys.dm_db_column_store_row_group_physical_stats: object_id int!, index_id int!, partition_number int!, row_group_id int!,
    delta_store_hobt_id bigint, state tinyint!, state_desc nvarchar(60)!, total_rows bigint!, deleted_rows bigint, size_in_bytes bigint,
    trim_reason tinyint, trim_reason_desc nvarchar(60), transition_to_compressed_state tinyint,
    transition_to_compressed_state_desc nvarchar(60), has_vertipaq_optimization bit, generation bigint, created_time datetime2,
    closed_time datetime2""",
    """sys.query_store_query_text: query_text_id bigint!, query_sql_text nvarchar(max), statement_sql_handle varbinary(64),
    is_part_of_encrypted_module bit!, has_restricted_text bit!""",
    """sys.query_store_query: query_id bigint!, query_text_id bigint!, context_settings_id bigint!, object_id bigint,
    batch_sql_handle varbinary(64), query_hash binary(8)!, is_internal_query bit!, query_parameterization_type tinyint!,
    query_parameterization_type_desc nvarchar(60), initial_compile_start_time datetimeoffset!, last_compile_start_time datetimeoffset,
    last_execution_time datetimeoffset, last_compile_batch_sql_handle varbinary(64), last_compile_batch_offset_start bigint,
    last_compile_batch_offset_end bigint, count_compiles bigint, avg_compile_duration float, last_compile_duration bigint,
    avg_bind_duration float, last_bind_duration bigint, avg_bind_cpu_time float, last_bind_cpu_time bigint, avg_optimize_duration float,
    last_optimize_duration bigint, avg_optimize_cpu_time float, last_optimize_cpu_time bigint, avg_compile_memory_kb float,
    last_compile_memory_kb bigint, max_compile_memory_kb bigint, is_clouddb_internal_query bit""",
    """sys.query_store_plan: plan_id bigint!, query_id bigint!, plan_group_id bigint, engine_version nvarchar(32),
    compatibility_level smallint!, query_plan_hash binary(8)!, query_plan nvarchar(max), is_online_index_plan bit!, is_trivial_plan bit!,
    is_parallel_plan bit!, is_forced_plan bit!, is_natively_compiled bit!, force_failure_count bigint!, last_force_failure_reason int!,
    last_force_failure_reason_desc nvarchar(128), count_compiles bigint, initial_compile_start_time datetimeoffset!,
    last_compile_start_time datetimeoffset, last_execution_time datetimeoffset, avg_compile_duration float, last_compile_duration bigint,
    plan_forcing_type int!, plan_forcing_type_desc nvarchar(60), has_compile_replay_script bit, is_optimized_plan_forcing_disabled bit,
    plan_type int, plan_type_desc nvarchar(120)""",
    f"""sys.query_store_runtime_stats: runtime_stats_id bigint!, plan_id bigint!, runtime_stats_interval_id bigint!,
    execution_type tinyint!, execution_type_desc nvarchar(128), first_execution_time datetimeoffset!, last_execution_time datetimeoffset!,
    count_executions bigint!, {_measures("duration", "cpu_time", "logical_io_reads", "logical_io_writes", "physical_io_reads")},
    {_measures("clr_time", "dop", "query_max_used_memory", "rowcount", "num_physical_io_reads", "log_bytes_used")},
    {_measures("tempdb_space_used", "page_server_io_reads")}, replica_group_id bigint!""",
    """sys.query_store_runtime_stats_interval: runtime_stats_interval_id bigint!, start_time datetimeoffset!, end_time datetimeoffset!,
    comment nvarchar(32)""",
    f"""sys.query_store_wait_stats: wait_stats_id bigint!, plan_id bigint!, runtime_stats_interval_id bigint!, wait_category tinyint!,
    wait_category_desc nvarchar(128), execution_type tinyint!, execution_type_desc nvarchar(128), total_query_wait_time_ms bigint!,
    {_measures("query_wait_time_ms")}, replica_group_id bigint!""",
    """sys.query_context_settings: context_settings_id bigint!, set_options varbinary(8), language_id smallint!, date_format smallint!,
    date_first tinyint!, status varbinary(2), required_cursor_options int!, acceptable_cursor_options int!, merge_action_type smallint!,
    default_schema_id int!, is_replication_specific bit!, is_contained varbinary(1)""",
    """sys.dm_db_tuning_recommendations: name nvarchar(4000), type nvarchar(4000), reason nvarchar(4000), valid_since datetime2,
    last_refresh datetime2, state nvarchar(4000), is_executable_action bit, is_revertable_action bit, execute_action_start_time datetime2,
    execute_action_duration time, execute_action_initiated_by nvarchar(4000), execute_action_initiated_time datetime2,
    revert_action_start_time datetime2, revert_action_duration time, revert_action_initiated_by nvarchar(4000),
    revert_action_initiated_time datetime2, score int, details nvarchar(max)""",
    """sys.dm_exec_query_plan_stats(varbinary(64)): dbid smallint, objectid int, number smallint, encrypted bit!, query_plan xml""",
    """sys.dm_server_audit_status: audit_id int!, name sysname!, status smallint!, status_desc nvarchar(60)!, status_time datetime2!,
    event_session_address varbinary(8), audit_file_path nvarchar(260), audit_file_size bigint""",
    """sys.dm_os_loaded_modules: base_address varbinary(8), file_version varchar(23), product_version varchar(23), debug bit, patched bit,
    prerelease bit, private_build bit, special_build bit, language int, company nvarchar(256), description nvarchar(256),
    name nvarchar(255)""",
    """msdb.sysmaintplan_plans: id uniqueidentifier!, name sysname!, description nvarchar(512), create_date datetime!, owner sysname,
    has_targets int""",
    """msdb.log_shipping_primary_databases: primary_id uniqueidentifier!, primary_database sysname!, backup_directory nvarchar(500)!,
    backup_share nvarchar(500)!, backup_retention_period int!, backup_job_id uniqueidentifier!, monitor_server sysname!,
    user_specified_monitor bit, monitor_server_security_mode bit!, last_backup_file nvarchar(500), last_backup_date datetime,
    backup_compression tinyint!""",
    """msdb.log_shipping_secondary_databases: secondary_database sysname!, secondary_id uniqueidentifier!, restore_delay int!,
    restore_all bit!, restore_mode bit!, disconnect_users bit!, block_size int, buffer_count int, max_transfer_size int,
    last_restored_file nvarchar(500), last_restored_date datetime""",
)
for _definition in ABSENT:
    provide(_definition)(lambda runtime, database, arguments: [])


@provide(
    """sys.dm_os_buffer_pool_extension_configuration: path nvarchar(256), file_id int!, state int!, state_description nvarchar(60)!,
    current_size_in_kb bigint!"""
)
def _extension(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield None, 0, 0, "BUFFER POOL EXTENSION DISABLED", 0


@provide(
    """sys.database_automatic_tuning_options: name nvarchar(128)!, desired_state smallint!, desired_state_desc nvarchar(60)!,
    actual_state smallint!, actual_state_desc nvarchar(60)!, reason smallint, reason_desc nvarchar(60)"""
)
def _tuning(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield "FORCE_LAST_GOOD_PLAN", 0, "OFF", 0, "OFF", None, None


@provide(
    """sys.dm_exec_text_query_plan(varbinary(64), int, int): dbid smallint, objectid int, number smallint, encrypted bit!,
    query_plan nvarchar(max)""",
    required=1,
)
def _text_plan(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Any:
    """sys.dm_exec_query_plan as text: the twin keeps a plan for each statement."""
    return PROVIDERS["sys.dm_exec_query_plan"](runtime, database, arguments[:1])
