"""Server views of DBA scripts: memory and its nodes, tasks' latches and spinlocks, the instance's files and dumps, msdb's jobs.

Columns as on the pages of these views (SQL Server documentation, 2022). Rows of memory come from the node. Views of what the twin
has not (dumps, Agent, latches, ring buffers) have no rows, as on a server without such things.
"""

from __future__ import annotations

from aglab.tsql.catalog.registry import define, provide

define(
    """sys.dm_os_nodes: node_id smallint!, node_state_desc nvarchar(256)!, memory_object_address varbinary(8)!,
    memory_clerk_address varbinary(8)!, io_completion_worker_address varbinary(8), memory_node_id smallint!, cpu_affinity_mask bigint!,
    online_scheduler_count smallint!, idle_scheduler_count smallint!, active_worker_count int!, avg_load_balance int!,
    timer_task_affinity_mask bigint!, permanent_task_affinity_mask bigint!, resource_monitor_state bit!, online_scheduler_mask bigint!,
    processor_group smallint!, cpu_count int!"""
)
define(
    """sys.dm_os_memory_nodes: memory_node_id smallint!, virtual_address_space_reserved_kb bigint!,
    virtual_address_space_committed_kb bigint!, locked_page_allocations_kb bigint!, pages_kb bigint!, shared_memory_reserved_kb bigint!,
    shared_memory_committed_kb bigint!, cpu_affinity_mask bigint!, online_scheduler_mask bigint!, processor_group smallint!,
    foreign_committed_kb bigint!, target_kb bigint!"""
)
define(
    """sys.dm_os_buffer_descriptors: database_id int, file_id int, page_id int, page_level int, allocation_unit_id bigint,
    page_type nvarchar(60), row_count int, free_space_in_bytes int, is_modified bit, numa_node int, read_microsec bigint,
    is_in_bpool_extension bit"""
)
define(
    "sys.dm_os_enumerate_fixed_drives: fixed_drive_path nvarchar(512)!, drive_type int!, drive_type_desc nvarchar(512), free_space_in_bytes bigint!"
)
define(
    """sys.dm_exec_session_wait_stats: session_id smallint!, wait_type nvarchar(60)!, waiting_tasks_count bigint!, wait_time_ms bigint!,
    max_wait_time_ms bigint!, signal_wait_time_ms bigint!"""
)

_WITHOUT_ROWS = (
    """sys.dm_os_latch_stats: latch_class nvarchar(60)!, waiting_requests_count bigint!, wait_time_ms bigint!, max_wait_time_ms bigint!""",
    """sys.dm_os_spinlock_stats: name nvarchar(256)!, collisions bigint, spins bigint, spins_per_collision real, sleep_time bigint,
    backoffs int""",
    """sys.dm_os_workers: worker_address varbinary(8)!, status int!, is_preemptive bit, is_fiber bit, is_sick bit, is_in_cc_exception bit,
    is_fatal_exception bit, is_inside_catch bit, is_in_polling_io_completion_routine bit, context_switch_count int!,
    pending_io_count int!, pending_io_byte_count bigint!, wait_started_ms_ticks bigint!, wait_resumed_ms_ticks bigint!,
    task_bound_ms_ticks bigint!, worker_created_ms_ticks bigint!, state nvarchar(60)!, last_wait_type nvarchar(60)!,
    task_address varbinary(8), memory_object_address varbinary(8)!, thread_address varbinary(8), signal_worker_address varbinary(8),
    scheduler_address varbinary(8), processor_group smallint!""",
    """sys.dm_os_threads: thread_address varbinary(8)!, started_by_sqlservr bit!, os_thread_id int!, status int!, instruction_address
    varbinary(8), creation_time datetime, kernel_time bigint, usermode_time bigint, stack_base_address varbinary(8), worker_address
    varbinary(8), scheduler_address varbinary(8), processor_group smallint!""",
    """sys.dm_os_memory_objects: memory_object_address varbinary(8)!, parent_address varbinary(8), pages_in_bytes bigint!,
    creation_options int, bytes_used bigint, type nvarchar(60)!, name nvarchar(128)!, memory_node_id smallint!, creation_time datetime,
    page_size_in_bytes int!, max_pages_in_bytes bigint!, page_allocator_address varbinary(8)!""",
    """sys.dm_os_memory_cache_counters: cache_address varbinary(8)!, name nvarchar(256)!, type nvarchar(60)!, pages_kb bigint!,
    pages_in_use_kb bigint!, entries_count bigint!, entries_in_use_count bigint!""",
    """sys.dm_os_memory_brokers: pool_id int!, memory_broker_type nvarchar(60)!, allocations_kb bigint!, allocations_kb_per_sec bigint!,
    predicted_allocations_kb bigint!, target_allocations_kb bigint!, future_allocations_kb bigint!, overall_limit_kb bigint!,
    last_notification nvarchar(60)!""",
    """sys.dm_os_ring_buffers: ring_buffer_address varbinary(8)!, ring_buffer_type nvarchar(60)!, timestamp bigint!, record nvarchar(3072)""",
    """sys.dm_os_server_diagnostics_log_configurations: is_enabled bit!, path nvarchar(260)!, max_size int!, max_files int!""",
    """sys.dm_os_cluster_nodes: nodename nvarchar(128)!, status int, status_description nvarchar(20), is_current_owner bit""",
    """sys.dm_os_cluster_properties: verboselogging bigint!, sqldumperdumpflags bigint!, sqldumperdumppath nvarchar(260)!,
    sqldumperdumptimeout bigint!, failureconditionlevel bigint!, healthchecktimeout bigint!""",
    "sys.dm_server_memory_dumps: filename nvarchar(256)!, creation_time datetimeoffset!, size_in_bytes bigint!",
    "sys.dm_db_persisted_sku_features: feature_name sysname, feature_id int",
    """sys.traces: id int!, status int!, path nvarchar(260), max_size bigint, stop_time datetime, max_files int, is_rowset bit,
    is_rollover bit, is_shutdown bit, is_default bit, buffer_count int, buffer_size int, file_position bigint, reader_spid int,
    start_time datetime, last_event_time datetime, event_count bigint, dropped_event_count int""",
    """msdb.suspect_pages: database_id int!, file_id int!, page_id bigint!, event_type int!, error_count int!, last_update_date datetime!""",
    """msdb.sysoperators: id int!, name sysname!, enabled tinyint!, email_address nvarchar(100), last_email_date int!,
    last_email_time int!, pager_address nvarchar(100), last_pager_date int!, last_pager_time int!, weekday_pager_start_time int!,
    weekday_pager_end_time int!, saturday_pager_start_time int!, saturday_pager_end_time int!, sunday_pager_start_time int!,
    sunday_pager_end_time int!, pager_days tinyint!, netsend_address nvarchar(100), last_netsend_date int!, last_netsend_time int!,
    category_id int!""",
    """msdb.sysalerts: id int!, name sysname!, event_source nvarchar(100)!, event_category_id int, event_id int, message_id int!,
    severity int!, enabled tinyint!, delay_between_responses int!, last_occurrence_date int!, last_occurrence_time int!,
    last_response_date int!, last_response_time int!, notification_message nvarchar(512), include_event_description tinyint!,
    database_name nvarchar(512), event_description_keyword nvarchar(100), occurrence_count int!, count_reset_date int!,
    count_reset_time int!, job_id uniqueidentifier!, has_notification int!, flags int!, performance_condition nvarchar(512),
    category_id int!""",
)
for _text in _WITHOUT_ROWS:
    provide(_text)(lambda runtime, database, arguments: [])


@provide(
    "sys.fn_builtin_permissions(nvarchar(60)): class_desc nvarchar(60)!, permission_name nvarchar(60)!, type varchar(4)!, "
    "covering_permission_name nvarchar(60)!, parent_class_desc nvarchar(60)!, parent_covering_permission_name nvarchar(60)!",
    required=0,
)
def _permissions(runtime, database, arguments):  # type: ignore[no-untyped-def]
    """Those that GRANT takes here."""
    from aglab.tsql.permissions import DATABASE_TYPES, SERVER_TYPES

    wanted = str(arguments[0] or "").upper() if arguments else ""
    for kind, types, top in (("SERVER", SERVER_TYPES, "CONTROL SERVER"), ("DATABASE", DATABASE_TYPES, "CONTROL")):
        if wanted in ("", "DEFAULT", kind):
            for name, code in sorted(types.items()):
                parent = ("", "") if kind == "SERVER" else ("SERVER", "CONTROL SERVER")
                yield kind, name, code, "" if name == top else top, *parent
