"""sys.databases, sys.configurations, counters, waits, server information, messages."""

from __future__ import annotations

import datetime
import functools
import uuid
from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import define, provide
from aglab.tsql.messages_table import MESSAGES
from aglab.tsql.store.database import Database

_START = datetime.datetime(2022, 11, 16)
_STATES = {0: "ONLINE", 1: "RESTORING", 2: "RECOVERING", 3: "RECOVERY_PENDING", 4: "SUSPECT", 5: "EMERGENCY", 6: "OFFLINE"}
LOG_REUSE = {
    0: "NOTHING",
    1: "CHECKPOINT",
    2: "LOG_BACKUP",
    3: "ACTIVE_BACKUP_OR_RESTORE",
    4: "ACTIVE_TRANSACTION",
    5: "DATABASE_MIRRORING",
    6: "REPLICATION",
    7: "DATABASE_SNAPSHOT_CREATION",
    8: "LOG_SCAN",
    9: "AVAILABILITY_REPLICA",
    13: "OLDEST_PAGE",
    16: "XTP_CHECKPOINT",
}


@functools.lru_cache(maxsize=256)
def _broker(name: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_OID, f"broker/{name}")


@provide(
    """sys.databases: name sysname!, database_id int!, source_database_id int, owner_sid varbinary(85), create_date datetime!,
    compatibility_level tinyint!, collation_name sysname, user_access tinyint, user_access_desc nvarchar(60), is_read_only bit,
    is_auto_close_on bit!, is_auto_shrink_on bit, state tinyint, state_desc nvarchar(60), is_in_standby bit, is_cleanly_shutdown bit,
    is_supplemental_logging_enabled bit, snapshot_isolation_state tinyint, snapshot_isolation_state_desc nvarchar(60),
    is_read_committed_snapshot_on bit, recovery_model tinyint, recovery_model_desc nvarchar(60), page_verify_option tinyint,
    page_verify_option_desc nvarchar(60), is_auto_create_stats_on bit, is_auto_create_stats_incremental_on bit, is_auto_update_stats_on bit,
    is_auto_update_stats_async_on bit, is_ansi_null_default_on bit, is_ansi_nulls_on bit, is_ansi_padding_on bit, is_ansi_warnings_on bit,
    is_arithabort_on bit, is_concat_null_yields_null_on bit, is_numeric_roundabort_on bit, is_quoted_identifier_on bit,
    is_recursive_triggers_on bit, is_cursor_close_on_commit_on bit, is_local_cursor_default bit, is_fulltext_enabled bit,
    is_trustworthy_on bit, is_db_chaining_on bit, is_parameterization_forced bit, is_master_key_encrypted_by_server bit!,
    is_query_store_on bit, is_published bit!, is_subscribed bit!, is_merge_published bit!, is_distributor bit!, is_sync_with_backup bit!,
    service_broker_guid uniqueidentifier!, is_broker_enabled bit!, log_reuse_wait tinyint, log_reuse_wait_desc nvarchar(60),
    is_date_correlation_on bit!, is_cdc_enabled bit!, is_encrypted bit, is_honor_broker_priority_on bit, replica_id uniqueidentifier,
    group_database_id uniqueidentifier, resource_pool_id int, default_language_lcid smallint, default_language_name nvarchar(128),
    default_fulltext_language_lcid int, default_fulltext_language_name nvarchar(128), is_nested_triggers_on bit,
    is_transform_noise_words_on bit, two_digit_year_cutoff smallint, containment tinyint, containment_desc nvarchar(60),
    target_recovery_time_in_seconds int, delayed_durability int, delayed_durability_desc nvarchar(60),
    is_memory_optimized_elevate_to_snapshot_on bit, is_federation_member bit, is_remote_data_archive_enabled bit,
    is_mixed_page_allocation_on bit, is_temporal_history_retention_enabled bit, catalog_collation_type int,
    catalog_collation_type_desc nvarchar(60), physical_database_name nvarchar(128), is_result_set_caching_on bit,
    is_accelerated_database_recovery_on bit, is_tempdb_spill_to_remote_store bit, is_stale_page_detection_on bit,
    is_memory_optimized_enabled bit, is_data_retention_enabled bit, is_ledger_on bit, is_change_feed_enabled bit"""
)
def _databases(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for item in sorted(runtime.instance.databases.values(), key=lambda d: runtime.instance.shown(d)[1]):
        o = item.options
        name, number = runtime.instance.shown(item)
        yield {
            "source_database_id": None,
            "is_in_standby": bool(o.get("is_in_standby")),
            "is_cleanly_shutdown": False,
            "is_supplemental_logging_enabled": False,
            "is_fulltext_enabled": False,
            "is_master_key_encrypted_by_server": item.system == "master",
            "is_published": False,
            "is_subscribed": False,
            "is_merge_published": False,
            "is_distributor": False,
            "is_sync_with_backup": False,
            "service_broker_guid": _broker(item.name),
            "owner_sid": b"\x01",
            "is_remote_data_archive_enabled": False,
            "is_temporal_history_retention_enabled": True,
            "catalog_collation_type": 0,
            "catalog_collation_type_desc": "DATABASE_DEFAULT",
            "is_result_set_caching_on": False,
            "is_tempdb_spill_to_remote_store": False,
            "is_stale_page_detection_on": False,
            "is_memory_optimized_enabled": True,
            "is_data_retention_enabled": True,
            "is_ledger_on": False,
            "is_change_feed_enabled": False,
            "is_federation_member": False,
            **o,
            "name": name,
            "database_id": number,
            "create_date": item.created or _START,
            "collation_name": item.collation,
            "physical_database_name": item.name,
            "user_access_desc": {0: "MULTI_USER", 1: "SINGLE_USER", 2: "RESTRICTED_USER"}[o["user_access"]],
            "state_desc": _STATES[o["state"]],
            "snapshot_isolation_state_desc": {0: "OFF", 1: "ON", 2: "IN_TRANSITION_TO_ON", 3: "IN_TRANSITION_TO_OFF"}[
                o["snapshot_isolation_state"]
            ],
            "recovery_model_desc": {1: "FULL", 2: "BULK_LOGGED", 3: "SIMPLE"}[o["recovery_model"]],
            "page_verify_option_desc": {0: "NONE", 1: "TORN_PAGE_DETECTION", 2: "CHECKSUM"}[o["page_verify_option"]],
            "log_reuse_wait_desc": LOG_REUSE.get(o["log_reuse_wait"], "OTHER_TRANSIENT"),
            "containment_desc": {0: "NONE", 1: "PARTIAL"}[o["containment"]],
            "delayed_durability_desc": {0: "DISABLED", 1: "ALLOWED", 2: "FORCED"}[o["delayed_durability"]],
        }


@provide(
    """sys.configurations: configuration_id int!, name nvarchar(35)!, value sql_variant, minimum sql_variant, maximum sql_variant,
    value_in_use sql_variant, description nvarchar(255)!, is_dynamic bit!, is_advanced bit!"""
)
def _configurations(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for item in runtime.instance.configurations.values():
        yield (
            item.configuration_id,
            item.name,
            item.value,
            item.minimum,
            item.maximum,
            item.value_in_use,
            item.description,
            item.is_dynamic,
            item.is_advanced,
        )


define(
    """sys.dm_os_performance_counters: object_name nchar(128)!, counter_name nchar(128)!, instance_name nchar(128),
    cntr_value bigint!, cntr_type int!"""
)
define(
    """sys.dm_os_wait_stats: wait_type nvarchar(60)!, waiting_tasks_count bigint!, wait_time_ms bigint!, max_wait_time_ms
    bigint!, signal_wait_time_ms bigint!"""
)
define(
    """sys.dm_os_sys_info: cpu_ticks bigint!, ms_ticks bigint!, cpu_count int!, hyperthread_ratio int!, physical_memory_kb bigint!,
    virtual_memory_kb bigint!, committed_kb bigint!, committed_target_kb bigint!, visible_target_kb bigint!, stack_size_in_bytes int!,
    os_quantum bigint!, os_error_mode int!, os_priority_class int, max_workers_count int!, scheduler_count int!,
    scheduler_total_count int!, deadlock_monitor_serial_number int!, sqlserver_start_time_ms_ticks bigint!, sqlserver_start_time datetime!,
    affinity_type int!, affinity_type_desc nvarchar(60)!, process_kernel_time_ms bigint!, process_user_time_ms bigint!,
    time_source int!, time_source_desc nvarchar(60)!, virtual_machine_type int!, virtual_machine_type_desc nvarchar(60)!,
    softnuma_configuration int!, softnuma_configuration_desc nvarchar(60)!, process_physical_affinity nvarchar(3072)!,
    sql_memory_model int!, sql_memory_model_desc nvarchar(60)!, socket_count int!, cores_per_socket int!, numa_node_count int!,
    container_type int!, container_type_desc nvarchar(60)!"""
)


@provide(
    """sys.dm_server_services: servicename nvarchar(256)!, startup_type int, startup_type_desc nvarchar(256)!, status int,
    status_desc nvarchar(256)!, process_id int, last_startup_time datetimeoffset(7), service_account nvarchar(256)!, filename nvarchar(256)!,
    is_clustered nvarchar(1)!, cluster_nodename nvarchar(256), instant_file_initialization_enabled nvarchar(1)!"""
)
def _services(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    yield {
        "servicename": "SQL Server (MSSQLSERVER)",
        "startup_type": 2,
        "startup_type_desc": "Automatic",
        "status": 4,
        "status_desc": "Running",
        "process_id": 1,
        "service_account": "mssql",
        "filename": "/opt/mssql/bin/sqlservr",
        "is_clustered": "N",
        "instant_file_initialization_enabled": "Y",
    }


@provide("""sys.dm_server_registry: registry_key nvarchar(256), value_name nvarchar(256), value_data sql_variant""")
def _registry(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    key = r"HKLM\Software\Microsoft\Microsoft SQL Server\MSSQL16.MSSQLSERVER\MSSQLServer\Parameters"
    for number, value in enumerate(runtime.instance.startup_parameters):
        yield key, f"SQLArg{number}", value


@provide("""sys.messages: message_id int!, language_id smallint!, severity tinyint, is_event_logged bit!, text nvarchar(2048)!""")
def _messages(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for number, (severity, _, text) in sorted(MESSAGES.items()):
        if number < 59000:
            shown = text
            for position in range(6):
                shown = shown.replace(f"{{{position}}}", "%.*ls")
            yield number, 1033, severity, number in (1205, 9002, 41105), shown


define(
    """sys.dm_os_host_info: host_platform nvarchar(256)!, host_distribution nvarchar(256)!, host_release nvarchar(256)!,
    host_service_pack_level nvarchar(256)!, host_sku int, os_language_version int!, host_architecture nvarchar(256)!"""
)
define(
    """sys.dm_os_schedulers: scheduler_address varbinary(8)!, parent_node_id int!, scheduler_id int!, cpu_id smallint!,
    status nvarchar(60)!, is_online bit!, is_idle bit!, preemptive_switches_count int!, context_switches_count int!,
    idle_switches_count int!, current_tasks_count int!, runnable_tasks_count int!, current_workers_count int!,
    active_workers_count int!, work_queue_count bigint!, pending_disk_io_count int!, load_factor int!, yield_count int!,
    last_timer_activity bigint!, failed_to_create_worker bit!, active_worker_address varbinary(8), memory_object_address varbinary(8)!,
    task_memory_object_address varbinary(8)!, quantum_length_us bigint!, total_cpu_usage_ms bigint!, total_cpu_idle_capped_ms bigint!,
    total_scheduler_delay_ms bigint!, ideal_workers_limit int!"""
)
define(
    """sys.dm_os_memory_clerks: memory_clerk_address varbinary(8)!, type nvarchar(60)!, name nvarchar(256)!, memory_node_id
    smallint!, pages_kb bigint!, virtual_memory_reserved_kb bigint!, virtual_memory_committed_kb bigint!, awe_allocated_kb
    bigint!, shared_memory_reserved_kb bigint!, shared_memory_committed_kb bigint!"""
)
define(
    """sys.dm_os_sys_memory: total_physical_memory_kb bigint!, available_physical_memory_kb bigint!, total_page_file_kb
    bigint!, available_page_file_kb bigint!, system_cache_kb bigint!, kernel_paged_pool_kb bigint!,
    kernel_nonpaged_pool_kb bigint!, system_high_memory_signal_state bit!, system_low_memory_signal_state bit!,
    system_memory_state_desc nvarchar(256)!"""
)
define(
    """sys.dm_os_process_memory: physical_memory_in_use_kb bigint!, large_page_allocations_kb bigint!,
    locked_page_allocations_kb bigint!, total_virtual_address_space_kb bigint!, virtual_address_space_reserved_kb bigint!,
    virtual_address_space_committed_kb bigint!, virtual_address_space_available_kb bigint!, page_fault_count bigint!,
    memory_utilization_percentage int!, available_commit_limit_kb bigint!, process_physical_memory_low bit!,
    process_virtual_memory_low bit!"""
)
define(
    """sys.dm_os_waiting_tasks: waiting_task_address varbinary(8)!, session_id smallint, exec_context_id int,
    wait_duration_ms bigint, wait_type nvarchar(60), resource_address varbinary(8), blocking_task_address varbinary(8),
    blocking_session_id smallint, blocking_exec_context_id int, resource_description nvarchar(3072)"""
)


define("sys.server_memory_optimized_hybrid_buffer_pool_configuration: is_configured bit!, is_enabled bit!")
