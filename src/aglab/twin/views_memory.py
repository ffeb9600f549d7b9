"""Rows of memory views: clerks, NUMA nodes, pages of user tables in the buffer pool, the virtual log files of a database.

The buffer pool is a clerk of all memory that is not a memory-optimized table's or a cached statement's. Pages of the load's
database are counted by the engine and not listed one by one; sys.dm_os_buffer_descriptors lists those of user tables. Columns as
on the pages of these views (SQL Server documentation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.ag.ledger import FIRST_VLF, VLF_BYTES
from aglab.hardware.numa import node_of_scheduler, numa_nodes
from aglab.tsql.store.files import parts_of
from aglab.tsql.store.memory import heap_bytes, index_bytes, is_memory
from aglab.tsql.store.pages import PAGE_BYTES, leaf_pages, row_bytes, rows_per_leaf
from aglab.twin.governor_limits import schedulers

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
SMALL_VLF_BYTES = 2 * 1024 * 1024
PAGES_LISTED_MAX = 100_000


def clerks(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_memory_clerks"""
    total = node.memory_mb() * 1024
    in_memory = [table for one in node.instance.databases.values() for table in one.tables() if is_memory(table)]
    tables = sum(heap_bytes(one)[0] + sum(index_bytes(one, index) for index in one.indexes) for one in in_memory) // 1024
    statements = sum(2 * len(one.text) for one in list(node.instance.statements.entries.values())) // 1024
    parts = (
        ("MEMORYCLERK_SQLBUFFERPOOL", "Default", max(0, total - tables - statements)),
        ("MEMORYCLERK_XTP", "Default", tables),
        ("CACHESTORE_SQLCP", "SQL Plans", statements),
    )
    for number, (kind, name, kb) in enumerate(parts):
        yield {
            "memory_clerk_address": (0x7F3000000000 + number * 0x400).to_bytes(8, "big"),
            "type": kind,
            "name": name,
            "memory_node_id": 0,
            "pages_kb": kb,
            "virtual_memory_reserved_kb": 0,
            "virtual_memory_committed_kb": 0,
            "awe_allocated_kb": 0,
            "shared_memory_reserved_kb": 0,
            "shared_memory_committed_kb": 0,
        }


def _mask(numbers: Iterable[int]) -> int:
    mask = sum(1 << number % 64 for number in set(numbers))
    return mask - (1 << 64) if mask >= 1 << 63 else mask


def _numa(node: Node, soft: bool) -> Iterator[tuple[int, list[int], list[int]]]:
    """Number, processors and online processors of each NUMA node, soft ones where asked for (memory has hardware nodes only)."""
    cpu, online = node.profile.cpu, set(schedulers(node))
    made = numa_nodes(cpu, "2022", soft)
    for number in range(len(made)):
        mine = [one for one in range(cpu.threads) if node_of_scheduler(one, cpu, made) == number]
        yield number, mine, [one for one in mine if one in online]


def nodes(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_nodes: one for each NUMA node, soft ones too"""
    for number, mine, online in _numa(node, node.soft_numa[1]):
        yield {
            "node_id": number,
            "node_state_desc": "ONLINE" if online else "OFFLINE",
            "memory_object_address": (0x7F3100000000 + number * 0x400).to_bytes(8, "big"),
            "memory_clerk_address": (0x7F3000000000).to_bytes(8, "big"),
            "memory_node_id": mine[0] * node.profile.cpu.sockets // node.profile.cpu.threads,
            "cpu_affinity_mask": _mask(mine),
            "online_scheduler_count": len(online),
            "idle_scheduler_count": len(online),
            "active_worker_count": 0,
            "avg_load_balance": 0,
            "timer_task_affinity_mask": 0,
            "permanent_task_affinity_mask": 0,
            "resource_monitor_state": False,
            "online_scheduler_mask": _mask(online),
            "processor_group": min(mine) // 64,
            "cpu_count": len(mine),
        }


def memory_nodes(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_memory_nodes: the memory of each NUMA node, an equal share"""
    share = node.memory_mb() * 1024 // node.profile.cpu.sockets
    for number, mine, online in _numa(node, False):
        yield {
            "memory_node_id": number,
            "virtual_address_space_reserved_kb": share,
            "virtual_address_space_committed_kb": share,
            "locked_page_allocations_kb": 0,
            "pages_kb": share,
            "shared_memory_reserved_kb": 0,
            "shared_memory_committed_kb": 0,
            "cpu_affinity_mask": _mask(mine),
            "online_scheduler_mask": _mask(online),
            "processor_group": min(mine) // 64,
            "foreign_committed_kb": 0,
            "target_kb": share,
        }


def buffers(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_buffer_descriptors: leaf pages of user tables that are in memory"""
    pool, listed = node.instance.pool, 0
    for database in list(node.instance.databases.values()):
        for table in database.tables():
            for index, number, _, rows in parts_of(database, table) if not is_memory(table) else ():
                key = (database.id, table.id, index.id if index is not None else 0, number)
                pages = leaf_pages(table, index, rows)
                here = pages if not pool.cold else min(pages, round(pool.held.get(key, 0.0)))
                each, width = rows_per_leaf(table, index), row_bytes(table, index)
                for place in range(here):
                    count = min(each, rows - place * each)
                    listed += 1
                    if listed > PAGES_LISTED_MAX:
                        return
                    yield {
                        "database_id": database.id,
                        "file_id": 1,
                        "page_id": place,
                        "page_level": 0,
                        "page_type": "DATA_PAGE" if index is None or index.clustered else "INDEX_PAGE",
                        "row_count": count,
                        "free_space_in_bytes": max(0, PAGE_BYTES - count * width),
                        "is_modified": False,
                        "numa_node": 0,
                        "is_in_bpool_extension": False,
                    }


def log_info(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_db_log_info(database_id): the virtual log files that sys.dm_db_log_stats counts"""
    wanted = arguments[0] if arguments else None
    database = next((one for one in node.instance.databases.values() if one.id == wanted), None)
    if database is None:
        return
    main = database.name == node.database_name
    size = VLF_BYTES if main else SMALL_VLF_BYTES
    gauges = node.cluster.plant.gauges(node.name) if main else {}
    files = [one for one in database.files if one.type == 1]
    count = max(1, sum(one.size for one in files) * 8192 // size) if main else 4
    active = min(count, max(1, int(gauges.get("log_used_kb", 0.0) * 1024 // VLF_BYTES) + 1))
    newest = FIRST_VLF + int(gauges.get("lsn_end", 0.0) // VLF_BYTES)
    for place in range(count):
        sequence = newest - (newest - FIRST_VLF - place) % count  # files are used in turn, over and over
        written = sequence >= FIRST_VLF
        in_use = written and newest - sequence < active
        yield {
            "database_id": database.id,
            "file_id": files[0].file_id if files else 2,
            "vlf_begin_offset": 8192 + place * size,
            "vlf_size_mb": size / 1048576,
            "vlf_sequence_number": sequence if written else 0,
            "vlf_active": in_use,
            "vlf_status": 2 if in_use else 0,
            "vlf_parity": (64 if (sequence // count) % 2 == 0 else 128) if written else 0,
            "vlf_first_lsn": f"{sequence:08x}:00000010:0001" if written else "00000000:00000000:0000",
            "vlf_create_lsn": "00000000:00000000:0000",
        }


def drives(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_os_enumerate_fixed_drives: the volumes of the machine"""
    profile = node.profile
    for path, volume in (("/var/opt/mssql/data", profile.data), ("/var/opt/mssql/log", profile.log)):
        yield {
            "fixed_drive_path": path,
            "drive_type": 3,
            "drive_type_desc": "DRIVE_FIXED",
            "free_space_in_bytes": int(volume.usable_gb * 1e9),
        }


def session_waits(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_exec_session_wait_stats: the wait of a session that waits now; ended waits are not kept by session"""
    for client in node.clients.values():
        session = client.session
        if session.wait_type:
            waited = int((node.now_s() - session.wait_started_s) * 1000)
            yield {
                "session_id": session.spid,
                "wait_type": session.wait_type,
                "waiting_tasks_count": 1,
                "wait_time_ms": waited,
                "max_wait_time_ms": waited,
                "signal_wait_time_ms": 0,
            }


VIEWS: dict[str, Callable[[Node, tuple[Any, ...]], Iterable[Row]]] = {
    "sys.dm_os_memory_clerks": clerks,
    "sys.dm_os_nodes": nodes,
    "sys.dm_os_memory_nodes": memory_nodes,
    "sys.dm_os_buffer_descriptors": buffers,
    "sys.dm_db_log_info": log_info,
    "sys.dm_os_enumerate_fixed_drives": drives,
    "sys.dm_exec_session_wait_stats": session_waits,
}
