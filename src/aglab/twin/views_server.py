"""Rows of server-wide DMVs over live state: waits, file statistics, connections, machine, listeners.

Column names follow "System dynamic management views" (SQL Server documentation). What a node cannot know is left NULL,
never invented.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql.host import NOTHING_WANTED, Wanted
from aglab.twin import persistent_memory, redo_threads, views_more
from aglab.twin.clock import EPOCH
from aglab.twin.endpoints import started
from aglab.twin.governor_limits import schedulers
from aglab.twin.views_counters import performance_counters
from aglab.twin.views_files import file_stats

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
BOOTED_MS = 60_000  # the machine had been up for a minute when the twin's time began: scripts divide by its ticks
_KEPT_WAITS = (
    "ASYNC_NETWORK_IO",
    "CHECKPOINT_QUEUE",
    "CXPACKET",
    "HADR_SYNC_COMMIT",
    "LATCH_EX",
    "LAZYWRITER_SLEEP",
    "LCK_M_S",
    "LCK_M_U",
    "LCK_M_X",
    "LOGBUFFER",
    "PAGEIOLATCH_SH",
    "PAGELATCH_EX",
    "PARALLEL_REDO_WORKER_WAIT_WORK",
    "REDO_THREAD_PENDING_WORK",
    "SOS_SCHEDULER_YIELD",
    "WAITFOR",
    "WRITELOG",
)


def wait_stats(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_wait_stats: the load's waits from the engine, sessions' waits as they happened."""
    totals = node.totals() | _redo_waits(node)
    kinds = {key.partition(".")[2] for key in totals if key.startswith("wait_ms.")}
    for kind in sorted(kinds | set(node.waits.rows) | set(_KEPT_WAITS)):
        count, total_ms, longest_ms = node.waits.rows.get(kind, [0.0, 0.0, 0.0])
        engine_ms = totals.get(f"wait_ms.{kind}", 0.0) - node.waits_cleared.get(f"wait_ms.{kind}", 0.0)
        engine_count = totals.get(f"wait_count.{kind}", 0.0) - node.waits_cleared.get(f"wait_count.{kind}", 0.0)
        mean_ms = engine_ms / engine_count if engine_count else 0.0
        signal = kind == "SOS_SCHEDULER_YIELD"
        yield {
            "wait_type": kind,
            "waiting_tasks_count": int(count + engine_count),
            "wait_time_ms": int(total_ms + engine_ms),
            "max_wait_time_ms": int(max(longest_ms, mean_ms)),
            "signal_wait_time_ms": int(engine_ms) if signal else 0,
        }


def _redo_waits(node: Node) -> dict[str, float]:
    """Waits of redo's threads, named as the engine's totals are."""
    if node.cluster.group is None or not node.cluster.plant.carries(node.name):
        return {}
    waits = redo_threads.work_of(node).waits
    counts = {f"wait_count.{kind}": count for kind, (count, _) in waits.items()}
    return counts | {f"wait_ms.{kind}": milliseconds for kind, (_, milliseconds) in waits.items()}


def connections(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_exec_connections"""
    for client in node.clients.values():
        wire, (address, port) = client.sink.wire, client.sink.peer
        if wire is None:  # a job's session comes through no connection
            continue
        yield {
            "session_id": client.session.spid,
            "most_recent_session_id": client.session.spid,
            "connect_time": client.connect_time,
            "net_transport": "TCP",
            "protocol_type": "TSQL",
            "protocol_version": 0x74000004,
            "endpoint_id": 4,
            "encrypt_option": "TRUE" if wire.encrypted else "FALSE",
            "auth_scheme": "SQL",
            "node_affinity": 0,
            "num_reads": wire.packets_received,
            "num_writes": wire.packets_sent,
            "last_read": client.session.last_request_start,
            "last_write": client.session.last_request_end,
            "net_packet_size": wire.packet_size,
            "client_net_address": address,
            "client_tcp_port": port,
            "local_net_address": "127.0.0.1",
            "local_tcp_port": node.port,
            "connection_id": client.connection_id,
            "parent_connection_id": None,
            "most_recent_sql_handle": None,
        }


def sys_info(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_sys_info: the machine of the profile"""
    cpu, memory = node.profile.cpu, node.profile.memory
    kb = int(memory.installed_mb * 1024)
    yield {
        "cpu_ticks": int((node.cluster.clock.now_us + BOOTED_MS * 1000) * cpu.ghz * 1000),
        "ms_ticks": node.cluster.clock.now_us // 1000 + BOOTED_MS,
        "cpu_count": cpu.threads,
        "hyperthread_ratio": cpu.cores_per_socket * cpu.threads_per_core,
        "physical_memory_kb": kb,
        "virtual_memory_kb": 137438953344,
        "committed_kb": node.memory_mb() * 1024,
        "committed_target_kb": node.memory_mb() * 1024,
        "visible_target_kb": node.memory_mb() * 1024,
        "stack_size_in_bytes": 2093056,
        "os_quantum": 4,
        "os_error_mode": 5,
        "os_priority_class": 32,
        "max_workers_count": max(512, 512 + (cpu.threads - 4) * 16),
        "scheduler_count": len(schedulers(node)),
        "scheduler_total_count": cpu.threads + 12,
        "deadlock_monitor_serial_number": 0,
        "sqlserver_start_time_ms_ticks": int(node.started_s * 1000) + BOOTED_MS,
        "sqlserver_start_time": EPOCH + dt.timedelta(seconds=node.started_s),
        "affinity_type": 2 if node.affinity is None else 1,
        "affinity_type_desc": "AUTO" if node.affinity is None else "MANUAL",
        "time_source": 0,
        "time_source_desc": "QUERY_PERFORMANCE_COUNTER",
        "virtual_machine_type": 0,
        "virtual_machine_type_desc": "NONE",
        "softnuma_configuration": int(node.soft_numa[1]),
        "softnuma_configuration_desc": "ON" if node.soft_numa[1] else "OFF",
        "sql_memory_model": 1,
        "sql_memory_model_desc": "CONVENTIONAL",
        "socket_count": cpu.sockets,
        "cores_per_socket": cpu.cores_per_socket,
        "numa_node_count": cpu.sockets,
        "process_kernel_time_ms": 0,
        "process_user_time_ms": int(node.totals().get("cpu_ms", 0.0)),
        "process_physical_affinity": "{{0," + f"{(1 << min(cpu.threads, 64)) - 1:x}" + "}}",
        "container_type": 0,
        "container_type_desc": "NONE",
    }


def sys_memory(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_sys_memory"""
    kb = int(node.profile.memory.installed_mb * 1024)
    yield {
        "total_physical_memory_kb": kb,
        "available_physical_memory_kb": max(0, kb - node.memory_mb() * 1024),
        "total_page_file_kb": kb,
        "available_page_file_kb": max(0, kb - node.memory_mb() * 1024),
        "system_cache_kb": 0,
        "kernel_paged_pool_kb": 0,
        "kernel_nonpaged_pool_kb": 0,
        "system_memory_state_desc": "Available physical memory is high",
        "system_high_memory_signal_state": True,
        "system_low_memory_signal_state": False,
    }


def host_info(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_host_info"""
    yield {
        "host_platform": "Linux",
        "host_distribution": "aglab twin (SIMULATED)",
        "host_release": "",
        "host_service_pack_level": "",
        "host_sku": None,
        "os_language_version": 0,
        "host_architecture": "X64",
    }


def tcp_listeners(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_tcp_listener_states"""
    endpoint = node.trust.endpoint
    ports = [("127.0.0.1", node.port, 0, "TSQL")]
    ports += [("127.0.0.1", endpoint.port, 2, "Database Mirroring")] if started(node) and endpoint is not None else []
    ports += [(*one.place, 0, "TSQL") for one in node.cluster.addresses.open_ones if one.node is node]
    for number, (address, port, kind, text) in enumerate(ports, start=1):
        yield {
            "listener_id": number,
            "ip_address": address,
            "is_ipv4": True,
            "port": port,
            "type": kind,
            "type_desc": text,
            "state": 0,
            "state_desc": "ONLINE",
            "start_time": EPOCH + dt.timedelta(seconds=node.started_s),
        }


def log_space(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_db_log_space_usage of the engine's database"""
    gauges = node.cluster.plant.gauges(node.name)
    database = node.instance.database(node.database_name)
    files = database.files if database else []
    total = sum(one.size for one in files if one.type == 1 and not one.is_persistent_log_buffer) * 8192
    used = int(gauges.get("log_used_kb", 0.0) * 1024)
    yield {
        "database_id": database.id if database else None,
        "total_log_size_in_bytes": total,
        "used_log_space_in_bytes": used,
        "used_log_space_in_percent": gauges.get("percent_log_used", 0.0),
        "log_space_in_bytes_since_last_backup": used,
    }


VIEWS: dict[str, Callable[[Node, tuple[Any, ...]], Iterable[Row]]] = {
    "sys.dm_os_wait_stats": wait_stats,
    "sys.dm_io_virtual_file_stats": file_stats,
    "sys.dm_exec_connections": connections,
    "sys.dm_os_sys_info": sys_info,
    "sys.dm_os_sys_memory": sys_memory,
    "sys.dm_os_host_info": host_info,
    "sys.dm_tcp_listener_states": tcp_listeners,
    "sys.dm_db_log_space_usage": log_space,
    "sys.server_memory_optimized_hybrid_buffer_pool_configuration": persistent_memory.hybrid_buffer_pool,
    **views_more.VIEWS,
}


def rows(node: Node, view: str, arguments: tuple[Any, ...], wanted: Wanted = NOTHING_WANTED) -> list[Any] | None:
    """Rows of a server view on a node; None for another view. Counters other than those ``wanted`` by name are left out."""
    if view == "sys.dm_os_performance_counters":
        return list(performance_counters(node, wanted.get("counter_name")))
    provider = VIEWS.get(view)
    return None if provider is None else list(provider(node, arguments))
