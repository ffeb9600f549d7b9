"""Rows of further server views: schedulers, memory, waiting tasks, log statistics, event sessions.

Column names follow "System dynamic management views" and "System catalog views" (SQL Server documentation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.ag import distributed_dmv
from aglab.hardware.numa import node_of_scheduler, numa_nodes
from aglab.twin import availability as av
from aglab.twin import encryption, governor_views, views_endpoints, views_memory
from aglab.twin.governor_limits import schedulers as schedulers_online
from aglab.twin.traces import views as trace_views

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]


def schedulers(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_schedulers: one for each logical processor; what runs now is the sessions' work"""
    cpu, online = node.profile.cpu, set(schedulers_online(node))
    nodes = numa_nodes(cpu, "2022", node.soft_numa[1])
    used = int(node.totals().get("cpu_ms", 0.0) / max(1, len(online)))
    busy = sum(1 for one in node.clients.values() if one.task is not None and one.task.state == "ready")
    for number in range(cpu.threads):
        tasks = busy // cpu.threads + (number < busy % cpu.threads)
        yield {
            "scheduler_address": (0x7F0000000000 + number * 0x160).to_bytes(8, "big"),
            "parent_node_id": node_of_scheduler(number, cpu, nodes),
            "scheduler_id": number,
            "cpu_id": number,
            "status": "VISIBLE ONLINE" if number in online else "VISIBLE OFFLINE",
            "is_online": number in online,
            "is_idle": tasks == 0,
            "preemptive_switches_count": 0,
            "context_switches_count": 0,
            "idle_switches_count": 0,
            "current_tasks_count": tasks,
            "runnable_tasks_count": max(0, tasks - 1),
            "current_workers_count": tasks + 1,
            "active_workers_count": tasks,
            "work_queue_count": 0,
            "pending_disk_io_count": 0,
            "load_factor": tasks,
            "yield_count": 0,
            "last_timer_activity": node.cluster.clock.now_us // 1000,
            "failed_to_create_worker": False,
            "memory_object_address": (0x7F0100000000 + number * 0x160).to_bytes(8, "big"),
            "task_memory_object_address": (0x7F0200000000 + number * 0x160).to_bytes(8, "big"),
            "quantum_length_us": 4000,
            **dict.fromkeys(("total_cpu_idle_capped_ms", "total_scheduler_delay_ms"), 0),
            "total_cpu_usage_ms": used if number in online else 0,
            "ideal_workers_limit": 0,
        }


def process_memory(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_process_memory"""
    kb = node.memory_mb() * 1024
    yield {
        "physical_memory_in_use_kb": kb,
        "large_page_allocations_kb": 0,
        "locked_page_allocations_kb": 0,
        "total_virtual_address_space_kb": 137438953344,
        "virtual_address_space_reserved_kb": kb,
        "virtual_address_space_committed_kb": kb,
        "virtual_address_space_available_kb": 137438953344 - kb,
        "page_fault_count": 0,
        "memory_utilization_percentage": 100,
        "available_commit_limit_kb": int(node.profile.memory.installed_mb * 1024),
        "process_physical_memory_low": False,
        "process_virtual_memory_low": False,
    }


def waiting_tasks(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_waiting_tasks: user sessions that wait now"""
    for client in node.clients.values():
        session = client.session
        if session.wait_type:
            yield {
                "waiting_task_address": (0x7F1000000000 + session.spid).to_bytes(8, "big"),
                "session_id": session.spid,
                "exec_context_id": 0,
                "wait_duration_ms": int((node.now_s() - session.wait_started_s) * 1000),
                "wait_type": session.wait_type,
                "blocking_session_id": session.blocked_by or None,
                "resource_description": session.wait_resource or None,
            }


def log_stats(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_db_log_stats(database_id)"""
    wanted = arguments[0] if arguments else None
    database = next((one for one in node.instance.databases.values() if one.id == wanted), None)
    if database is None:
        return
    main = database.name == node.database_name
    gauges = node.cluster.plant.gauges(node.name) if main else {}
    total_mb = sum(one.size for one in database.files if one.type == 1) / 128
    yield {
        "database_id": database.id,
        "recovery_model": {1: "FULL", 2: "BULK_LOGGED", 3: "SIMPLE"}[database.options["recovery_model"]],
        "current_vlf_size_mb": av.VLF_BYTES / 1048576 if main else 2.0,
        "total_vlf_count": max(1, int(total_mb * 1048576 // av.VLF_BYTES)) if main else 4,
        "total_log_size_mb": total_mb,
        "active_vlf_count": max(1, int(gauges.get("log_used_kb", 0.0) * 1024 // av.VLF_BYTES) + 1),
        "active_log_size_mb": gauges.get("log_used_kb", 0.0) / 1024,
        "log_truncation_holdup_reason": _holdup(node, database),
        "log_since_last_checkpoint_mb": gauges.get("log_since_checkpoint_kb", 0.0) / 1024,
        "log_recovery_size_mb": gauges.get("log_since_checkpoint_kb", 0.0) / 1024,
        "log_since_last_log_backup_mb": max(0.0, gauges.get("lsn_end", 0.0) - gauges.get("lsn_backup", 0.0)) / 1048576,
    }


def _holdup(node: Node, database: Any) -> str:
    node.note_log_reuse()
    names = {0: "NOTHING", 1: "CHECKPOINT", 2: "LOG_BACKUP", 9: "AVAILABILITY_REPLICA", 13: "OLDEST_PAGE"}
    return names.get(database.options["log_reuse_wait"], "NOTHING")


def is_primary(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.fn_hadr_is_primary_replica(database): NULL for a database outside the group"""
    name = str(arguments[0]) if arguments and arguments[0] is not None else ""
    group = node.cluster.groups.hosting(node.name, name)
    yield {"value": (group.role(node.name) == "PRIMARY") if group is not None and group.holds(name) else None}


def is_preferred(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.fn_hadr_backup_is_preferred_replica(database)"""
    name = str(arguments[0]) if arguments and arguments[0] is not None else ""
    yield {"value": node.backup_preferred(name)}


def distributed_replica(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.fn_hadr_distributed_ag_replica(lag_id, replica_id)"""
    for dag in node.cluster.groups.distributed.known(node.name):
        yield from distributed_dmv.local_replica(dag, arguments[0], arguments[1])


def distributed_database(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.fn_hadr_distributed_ag_database_replica(lag_id, database_id)"""
    for dag in node.cluster.groups.distributed.known(node.name):
        yield from distributed_dmv.local_database(dag, arguments[0], arguments[1], node.name)


def nothing(node: Node, arguments: tuple[Any, ...]) -> Iterable[Row]:
    """A view that has no rows on this kind of cluster"""
    return ()


VIEWS: dict[str, Callable[[Node, tuple[Any, ...]], Iterable[Row]]] = {
    "sys.dm_os_schedulers": schedulers,
    "sys.dm_os_process_memory": process_memory,
    "sys.dm_os_waiting_tasks": waiting_tasks,
    "sys.dm_db_log_stats": log_stats,
    **views_endpoints.VIEWS,
    **trace_views.VIEWS,
    "sys.fn_hadr_is_primary_replica": is_primary,
    "sys.fn_hadr_backup_is_preferred_replica": is_preferred,
    "sys.fn_hadr_distributed_ag_replica": distributed_replica,
    "sys.fn_hadr_distributed_ag_database_replica": distributed_database,
    **governor_views.VIEWS,
    **views_memory.VIEWS,
    **encryption.VIEWS,
}
