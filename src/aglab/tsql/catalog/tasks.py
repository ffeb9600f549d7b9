"""Sessions' tasks, plans in the cache and what they cost by procedure: further views of DBA scripts.

Columns as on the pages of these views (SQL Server documentation, 2022). The twin grants no memory for queries, keeps no
versions that a view could count, and profiles no operator: those views have no rows, as on a server where nobody asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import provide
from aglab.tsql.query.statistics import Measure, StatementStats
from aglab.tsql.store.database import Database, Module

_MEASURES = ("worker_time", "physical_reads", "logical_writes", "logical_reads", "elapsed_time")
_NONE = (
    """sys.dm_exec_query_memory_grants: session_id smallint, request_id int, scheduler_id int, dop smallint, request_time datetime,
    grant_time datetime, requested_memory_kb bigint, granted_memory_kb bigint, required_memory_kb bigint, used_memory_kb bigint,
    max_used_memory_kb bigint, query_cost float, timeout_sec int, resource_semaphore_id smallint, queue_id smallint, wait_order int,
    is_next_candidate bit, wait_time_ms bigint, plan_handle varbinary(64), sql_handle varbinary(64), group_id int, pool_id int,
    is_small tinyint, ideal_memory_kb bigint, reserved_worker_count bigint, used_worker_count bigint, max_used_worker_count bigint,
    reserved_node_bitmap bigint""",
    """sys.dm_exec_query_resource_semaphores: resource_semaphore_id smallint, target_memory_kb bigint, max_target_memory_kb bigint,
    total_memory_kb bigint, available_memory_kb bigint, granted_memory_kb bigint, used_memory_kb bigint, grantee_count int,
    waiter_count int, timeout_error_count bigint, forced_grant_count bigint, pool_id int""",
    """sys.dm_exec_query_profiles: session_id smallint, request_id int, sql_handle varbinary(64), plan_handle varbinary(64),
    physical_operator_name nvarchar(256), node_id int, thread_id int, task_address varbinary(8), row_count bigint, rewind_count bigint,
    rebind_count bigint, end_of_scan_count bigint, estimate_row_count bigint, first_active_time bigint, last_active_time bigint,
    open_time bigint, first_row_time bigint, last_row_time bigint, close_time bigint, elapsed_time_ms bigint, cpu_time_ms bigint,
    database_id smallint, object_id int, index_id int, scan_count bigint, logical_read_count bigint, physical_read_count bigint,
    read_ahead_count bigint, write_page_count bigint""",
    """sys.dm_exec_query_statistics_xml(smallint): session_id smallint, request_id int, sql_handle varbinary(64),
    plan_handle varbinary(64), query_plan xml""",
    """sys.dm_exec_trigger_stats: database_id int, object_id int, type char(2), type_desc nvarchar(60), sql_handle varbinary(64),
    plan_handle varbinary(64), cached_time datetime, last_execution_time datetime, execution_count bigint""",
    """sys.dm_tran_active_snapshot_database_transactions: transaction_id bigint!, transaction_sequence_num bigint!,
    commit_sequence_num bigint, is_snapshot int, session_id int!, first_snapshot_sequence_num bigint, max_version_chain_traversed int,
    average_version_chain_traversed float, elapsed_time_seconds bigint""",
    "sys.dm_tran_current_snapshot: transaction_sequence_num bigint",
    """sys.dm_tran_top_version_generators: database_id int, rowset_id bigint, aggregated_record_length_in_bytes bigint""",
    "sys.dm_tran_transactions_snapshot: transaction_sequence_num bigint, snapshot_id int, snapshot_sequence_num bigint",
    """sys.dm_tran_persistent_version_store_stats: database_id smallint, pvs_filegroup_id smallint,
    persistent_version_store_size_kb bigint, online_index_version_store_size_kb bigint, current_aborted_transaction_count bigint,
    oldest_active_transaction_id bigint, oldest_aborted_transaction_id bigint, min_transaction_timestamp bigint,
    online_index_min_transaction_timestamp bigint, secondary_low_water_mark bigint, offrow_version_cleaner_start_time datetime,
    offrow_version_cleaner_end_time datetime, aborted_version_cleaner_start_time datetime, aborted_version_cleaner_end_time datetime,
    pvs_off_row_page_skipped_low_water_mark bigint, pvs_off_row_page_skipped_transaction_not_cleaned bigint,
    pvs_off_row_page_skipped_oldest_active_xdesid bigint, pvs_off_row_page_skipped_min_useful_xts bigint,
    pvs_off_row_page_skipped_oldest_snapshot bigint, pvs_off_row_page_skipped_oldest_aborted_xdesid bigint""",
)
for _text in _NONE:
    provide(_text)(lambda runtime, database, arguments: [])


@provide("sys.dm_tran_version_store_space_usage: database_id int, reserved_page_count bigint, reserved_space_kb bigint")
def _version_store(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[int, int, int]]:
    """Row versions are taken from the open transactions: none of them lies in tempdb."""
    for one in runtime.instance.databases.values():
        yield one.id, 0, 0


@provide(
    """sys.dm_tran_current_transaction: transaction_id bigint, transaction_sequence_num bigint, transaction_is_snapshot bit,
    first_snapshot_sequence_num bigint, last_transaction_sequence_num bigint, first_useful_sequence_num bigint"""
)
def _current(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    transaction = runtime.session.transaction
    if transaction is not None:
        yield transaction.id, 0, runtime.session.options.isolation == 5, None, 0, 0


@provide(
    """sys.dm_exec_cached_plans: bucketid int!, refcounts int!, usecounts int!, size_in_bytes int!, memory_object_address varbinary(8)!,
    cacheobjtype nvarchar(50)!, objtype nvarchar(20)!, plan_handle varbinary(64)!, pool_id int!, parent_plan_handle varbinary(64)"""
)
def _plans(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """One for each cached statement; ``size_in_bytes`` is that of its text."""
    for number, one in enumerate(list(runtime.instance.statements.entries.values())):
        yield {
            "bucketid": int.from_bytes(one.plan_handle[4:8], "big") % 40009,
            "refcounts": 2,
            "usecounts": one.executions,
            "size_in_bytes": 2 * len(one.text),
            "memory_object_address": (0x7F2000000000 + number * 0x100).to_bytes(8, "big"),
            "cacheobjtype": "Compiled Plan",
            "objtype": "Proc" if one.object_id else "Adhoc",
            "plan_handle": one.plan_handle,
            "pool_id": 2,
        }


@provide("sys.dm_exec_plan_attributes(varbinary(64)): attribute varchar(128)!, value sql_variant, is_cache_key bit!")
def _attributes(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[str, Any, bool]]:
    entries = runtime.instance.statements.entries.values()
    one = next((entry for entry in entries if entry.plan_handle == arguments[0]), None)
    if one is not None:
        for name, value in (("dbid", one.database_id), ("objectid", one.object_id or 0), ("dbid_execute", 0), ("user_id", 1)):
            yield name, value, True
        yield "sql_handle", one.sql_handle, False


_STATS = ", ".join(f"{kind}_{name} bigint!" for name in _MEASURES for kind in ("total", "last", "min", "max"))
_HEAD = """database_id int!, object_id int!, type char(2), type_desc nvarchar(60), sql_handle varbinary(64)!, plan_handle varbinary(64)!,
    cached_time datetime, last_execution_time datetime, execution_count bigint!, """


def _modules(runtime: Any, wanted: str) -> Iterator[dict[str, Any]]:
    """Executions of modules: as often as their most executed statement; costs of their statements together."""
    found: dict[tuple[int, int], list[StatementStats]] = {}
    for one in list(runtime.instance.statements.entries.values()):
        if one.object_id:
            found.setdefault((one.database_id, one.object_id), []).append(one)
    for (database_id, object_id), entries in found.items():
        where = next((item for item in runtime.instance.databases.values() if item.id == database_id), None)
        module = where.by_id(object_id) if where is not None else None
        if not isinstance(module, Module) or module.kind != wanted:
            continue
        row: dict[str, Any] = {
            "database_id": database_id,
            "object_id": object_id,
            "type": "P " if wanted == "procedure" else "FN",
            "type_desc": "SQL_STORED_PROCEDURE" if wanted == "procedure" else "SQL_SCALAR_FUNCTION",
            "sql_handle": entries[0].sql_handle,
            "plan_handle": entries[0].plan_handle,
            "cached_time": min(one.created for one in entries),
            "last_execution_time": max(one.last_execution for one in entries),
            "execution_count": max(one.executions for one in entries),
        }
        for name in _MEASURES:
            measures = [one.measures.get(name, Measure()) for one in entries]
            row |= {f"total_{name}": sum(m.total for m in measures), f"last_{name}": sum(m.last for m in measures)}
            row |= {f"min_{name}": sum(m.least for m in measures), f"max_{name}": sum(m.most for m in measures)}
        yield row


@provide(f"sys.dm_exec_procedure_stats: {_HEAD}{_STATS}")
def _procedure_stats(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    return _modules(runtime, "procedure")


@provide(f"sys.dm_exec_function_stats: {_HEAD}{_STATS}")
def _function_stats(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    return _modules(runtime, "function")


_SPACE = """user_objects_alloc_page_count bigint, user_objects_dealloc_page_count bigint, internal_objects_alloc_page_count bigint,
    internal_objects_dealloc_page_count bigint"""


def _space(session: Any) -> int:
    return sum(table.size_pages() for table in session.temp_tables.values())


@provide(
    f"""sys.dm_db_session_space_usage: session_id smallint, database_id int, {_SPACE},
    user_objects_deferred_dealloc_page_count bigint"""
)
def _session_space(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
    """Pages of temporary tables; sorts and hashes take none here."""
    for spid, session in sorted(runtime.instance.sessions.items()):
        yield spid, 2, _space(session), 0, 0, 0, 0


@provide(
    f"""sys.dm_db_task_space_usage: task_address varbinary(8)!, is_remote_task bit!, session_id smallint, request_id int,
    exec_context_id int, database_id int, {_SPACE}"""
)
def _task_space(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for spid, session in sorted(runtime.instance.sessions.items()):
        if session.status != "sleeping":
            yield task_address(spid), False, spid, 0, 0, 2, 0, 0, 0, 0


def task_address(spid: int) -> bytes:
    """The task of a session."""
    return (0x7F1000000000 + spid).to_bytes(8, "big")


@provide(
    """sys.dm_os_tasks: task_address varbinary(8)!, task_state nvarchar(60), context_switches_count int, pending_io_count int,
    pending_io_byte_count bigint, pending_io_byte_average int, scheduler_id int!, session_id smallint, exec_context_id int,
    request_id int, worker_address varbinary(8), host_address varbinary(8)!, parent_task_address varbinary(8)"""
)
def _tasks(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for spid, session in sorted(runtime.instance.sessions.items()):
        if session.status != "sleeping":
            yield {
                "task_address": task_address(spid),
                "task_state": "SUSPENDED" if session.wait_type else "RUNNING",
                **dict.fromkeys(
                    ("context_switches_count", "pending_io_count", "pending_io_byte_count", "pending_io_byte_average"), 0
                ),
                **dict.fromkeys(("scheduler_id", "exec_context_id", "request_id"), 0),
                "session_id": spid,
                "worker_address": (0x7F1100000000 + spid).to_bytes(8, "big"),
                "host_address": bytes(8),
            }


@provide("sys.fn_helpcollations(): name sysname!, description nvarchar(1000)!", compatibility=True)
def _collations(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    """Latin ones: with and without case and accents, and binary."""
    for family in ("Latin1_General", "Latin1_General_100", "French"):
        for case, c in (("CI", "case-insensitive"), ("CS", "case-sensitive")):
            for accent, a in (("AI", "accent-insensitive"), ("AS", "accent-sensitive")):
                text = f"{family.replace('_', '-')}, {c}, {a}, kanatype-insensitive, width-insensitive"
                yield f"{family}_{case}_{accent}", text
        yield f"{family}_BIN2", f"{family.replace('_', '-')}, binary code point comparison sort"
    for case, c in (("CI", "case-insensitive"), ("CS", "case-sensitive")):
        text = f"Latin1-General, {c}, accent-sensitive, kanatype-insensitive, width-insensitive for Unicode Data"
        yield f"SQL_Latin1_General_CP1_{case}_AS", text
