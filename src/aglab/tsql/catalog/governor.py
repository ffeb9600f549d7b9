"""Resource Governor: catalogue views and DMVs; the node supplies the rows.

Columns: "Resource Governor catalog views" and "Resource Governor related dynamic management views" (SQL Server documentation).
"""

from __future__ import annotations

from aglab.tsql.catalog.registry import define

define(
    """sys.resource_governor_resource_pools: pool_id int!, name sysname!, min_cpu_percent int!, max_cpu_percent int!,
    min_memory_percent int!, max_memory_percent int!, cap_cpu_percent int!, min_iops_per_volume int!, max_iops_per_volume
    int!"""
)
define(
    """sys.resource_governor_workload_groups: group_id int!, name sysname!, importance sysname!,
    request_max_memory_grant_percent int!, request_max_cpu_time_sec int!, request_memory_grant_timeout_sec int!, max_dop
    int!, group_max_requests int!, pool_id int!, external_pool_id int!, request_max_memory_grant_percent_numeric float!"""
)
define(
    """sys.resource_governor_configuration: classifier_function_id int!, is_enabled bit!, max_outstanding_io_per_volume int!"""
)
define("sys.resource_governor_resource_pool_affinity: pool_id int!, processor_group smallint!, scheduler_mask bigint!")
define("sys.dm_resource_governor_resource_pool_affinity: pool_id int!, processor_group smallint!, scheduler_mask bigint!")
define(
    """sys.dm_resource_governor_configuration: classifier_function_id int!, is_reconfiguration_pending bit!,
    max_outstanding_io_per_volume int!"""
)
define(
    """sys.dm_resource_governor_resource_pools: pool_id int!, name sysname!, statistics_start_time datetime!, total_cpu_usage_ms
    bigint!, cache_memory_kb bigint!, compile_memory_kb bigint!, used_memgrant_kb bigint!, total_memgrant_count bigint!,
    total_memgrant_timeout_count bigint!, active_memgrant_count int!, active_memgrant_kb bigint!, memgrant_waiter_count int!,
    max_memory_kb bigint!, used_memory_kb bigint!, target_memory_kb bigint!, out_of_memory_count bigint!, min_cpu_percent int!,
    max_cpu_percent int!, min_memory_percent int!, max_memory_percent int!, cap_cpu_percent int!, min_iops_per_volume int,
    max_iops_per_volume int, read_io_queued_total int, read_io_issued_total int, read_io_completed_total int!,
    read_io_throttled_total int, read_bytes_total bigint!, read_io_stall_total_ms bigint!, read_io_stall_queued_ms bigint,
    write_io_queued_total int, write_io_issued_total int, write_io_completed_total int!, write_io_throttled_total int!,
    write_bytes_total bigint!, write_io_stall_total_ms bigint!, write_io_stall_queued_ms bigint, io_issue_violations_total int,
    io_issue_delay_total_ms bigint, total_cpu_delayed_ms bigint!, total_cpu_active_ms bigint!,
    total_cpu_usage_preemptive_ms bigint!"""
)
define(
    """sys.dm_resource_governor_workload_groups: group_id int!, name sysname!, pool_id int!, external_pool_id int!,
    statistics_start_time datetime!, total_request_count bigint!, total_queued_request_count bigint!, active_request_count int!,
    queued_request_count int!, total_cpu_limit_violation_count bigint!, total_cpu_usage_ms bigint!, max_request_cpu_time_ms bigint!,
    blocked_task_count int!, total_lock_wait_count bigint!, total_lock_wait_time_ms bigint!, total_query_optimization_count bigint!,
    total_suboptimal_plan_generation_count bigint!, total_reduced_memgrant_count bigint!, max_request_grant_memory_kb bigint!,
    active_parallel_thread_count bigint!, importance sysname!, request_max_memory_grant_percent int!, request_max_cpu_time_sec int!,
    request_memory_grant_timeout_sec int!, group_max_requests int!, max_dop int!, effective_max_dop int!,
    total_cpu_usage_preemptive_ms bigint!, request_max_memory_grant_percent_numeric float!"""
)
