"""Rows of Resource Governor's catalogue views and DMVs.

Columns follow "Resource Governor catalog views" and "Resource Governor related dynamic management views" (SQL Server
documentation). Processor time and reads of the load stand in the group and pool that its users are in. Memory grants are not
modelled: their counts are 0.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.twin.clock import EPOCH
from aglab.twin.governor import Configuration, Group
from aglab.twin.governor_limits import pool_of

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]


def _pools(made: Configuration) -> Iterator[Row]:
    for pool in sorted(made.pools.values(), key=lambda one: one.id):
        yield {"pool_id": pool.id, "name": pool.name, **pool.limits}


def _group(group: Group) -> Row:
    percent = group.settings["request_max_memory_grant_percent"]
    return {
        "group_id": group.id,
        "name": group.name,
        "pool_id": group.pool_id,
        "external_pool_id": 2,
        **group.settings,
        "request_max_memory_grant_percent": int(percent),
        "request_max_memory_grant_percent_numeric": float(percent),
    }


def resource_pools(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.resource_governor_resource_pools: as stored"""
    return _pools(node.governor.stored)


def workload_groups(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.resource_governor_workload_groups: as stored"""
    return map(_group, sorted(node.governor.stored.groups.values(), key=lambda one: one.id))


def configuration(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.resource_governor_configuration"""
    governor = node.governor
    yield {
        "classifier_function_id": governor.stored.classifier_id,
        "is_enabled": governor.enabled,
        "max_outstanding_io_per_volume": 0,
    }


def _affinity(made: Configuration) -> Iterator[Row]:
    """One row for each pool with an affinity and each group of 64 processors: the mask is a signed 64-bit number."""
    for pool in made.pools.values():
        for group in sorted({number // 64 for number in pool.schedulers or ()}):
            mask = sum(1 << number % 64 for number in pool.schedulers or () if number // 64 == group)
            yield {
                "pool_id": pool.id,
                "processor_group": group,
                "scheduler_mask": mask - (1 << 64) if mask >= 1 << 63 else mask,
            }


def pool_affinity(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.resource_governor_resource_pool_affinity"""
    return _affinity(node.governor.stored)


def dm_pool_affinity(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_resource_governor_resource_pool_affinity"""
    return _affinity(node.governor.active)


def dm_configuration(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_resource_governor_configuration"""
    governor = node.governor
    yield {
        "classifier_function_id": governor.active.classifier_id,
        "is_reconfiguration_pending": governor.pending(),
        "max_outstanding_io_per_volume": 0,
    }


def _cpu_ms(node: Node, group_id: int) -> int:
    return int(node.governor.cpu_of(group_id, node.totals().get("cpu_ms", 0.0)))


_NO_GRANTS = (
    "cache_memory_kb compile_memory_kb used_memgrant_kb total_memgrant_count total_memgrant_timeout_count active_memgrant_count "
    "active_memgrant_kb memgrant_waiter_count used_memory_kb out_of_memory_count read_io_completed_total read_bytes_total "
    "read_io_stall_total_ms write_io_completed_total write_io_throttled_total write_bytes_total write_io_stall_total_ms "
    "total_cpu_usage_preemptive_ms total_cpu_delayed_ms total_cpu_active_ms"
).split()


def dm_resource_pools(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_resource_governor_resource_pools: as in use"""
    governor = node.governor
    started = EPOCH + dt.timedelta(seconds=governor.reset_s)
    served = pool_of(node, governor.load_group).id
    reads = int(node.totals().get("page_reads", 0.0))
    for row in _pools(governor.active):
        most_kb = node.memory_mb() * 1024 * row["max_memory_percent"] // 100
        governed = bool(row["min_iops_per_volume"] or row["max_iops_per_volume"])
        groups = [one.id for one in governor.active.groups.values() if one.pool_id == row["pool_id"]]
        yield {
            **dict.fromkeys(_NO_GRANTS, 0),
            **row,
            "statistics_start_time": started,
            "total_cpu_usage_ms": sum(_cpu_ms(node, one) for one in groups),
            "max_memory_kb": most_kb,
            "target_memory_kb": most_kb,
            "read_io_completed_total": reads if row["pool_id"] == served else 0,
            "read_bytes_total": reads * 8192 if row["pool_id"] == served else 0,
            "min_iops_per_volume": row["min_iops_per_volume"] if governed else None,
            "max_iops_per_volume": row["max_iops_per_volume"] if governed else None,
        }


_NO_COUNTS = (
    "total_cpu_limit_violation_count max_request_cpu_time_ms "
    "total_lock_wait_count total_lock_wait_time_ms total_query_optimization_count total_suboptimal_plan_generation_count "
    "total_reduced_memgrant_count max_request_grant_memory_kb active_parallel_thread_count total_cpu_usage_preemptive_ms"
).split()


def dm_workload_groups(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_resource_governor_workload_groups: as in use, with the requests of sessions counted"""
    governor = node.governor
    for group in sorted(governor.active.groups.values(), key=lambda one: one.id):
        busy = [one.session for one in node.clients.values() if one.task is not None and one.session.group_id == group.id]
        waiting = governor.waiting.get(group.id, set())
        busy = [one for one in busy if one.spid not in waiting]
        yield {
            **dict.fromkeys(_NO_COUNTS, 0),
            **_group(group),
            "queued_request_count": len(waiting),
            "total_queued_request_count": governor.queued.get(group.id, 0),
            "statistics_start_time": EPOCH + dt.timedelta(seconds=governor.reset_s),
            "total_request_count": governor.requests.get(group.id, 0),
            "active_request_count": len(busy),
            "blocked_task_count": sum(1 for one in busy if one.blocked_by),
            "total_cpu_usage_ms": _cpu_ms(node, group.id),
            "effective_max_dop": group.settings["max_dop"] or node.instance.configuration("max degree of parallelism"),
        }


VIEWS: dict[str, Callable[[Node, tuple[Any, ...]], Iterable[Row]]] = {
    "sys.resource_governor_resource_pools": resource_pools,
    "sys.resource_governor_workload_groups": workload_groups,
    "sys.resource_governor_configuration": configuration,
    "sys.resource_governor_resource_pool_affinity": pool_affinity,
    "sys.dm_resource_governor_configuration": dm_configuration,
    "sys.dm_resource_governor_resource_pools": dm_resource_pools,
    "sys.dm_resource_governor_resource_pool_affinity": dm_pool_affinity,
    "sys.dm_resource_governor_workload_groups": dm_workload_groups,
}
