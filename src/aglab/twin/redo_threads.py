"""The threads that redo log on a secondary: who they are, what they wait for, how busy they are.

Modelled: SQL Server 2014 redoes with one thread for each database. From 2016 on one thread (shown as DB STARTUP) reads the log
and hands records to workers (PARALLEL REDO TASK: half of the cores, 16 at most for one database); a helper (PARALLEL REDO HELP
TASK) flushes pages. The first thread is busy for the share of time that redo runs at its limit; the rest of redo's processor
time is the workers'. A worker that has nothing to do waits (PARALLEL_REDO_WORKER_WAIT_WORK); the first thread without log waits
(REDO_THREAD_PENDING_WORK). Assumed: a worker is woken once for each log block. Left out: the limit of 100 threads for one
instance, serial redo by trace flag 3459, waits between workers (PARALLEL_REDO_TRAN_TURN).

Sources: "sys.dm_hadr_db_threads", "sys.dm_hadr_ag_threads" and "Prerequisites, restrictions, and recommendations for Always On
availability groups" (thread usage), SQL Server documentation; names of commands and waits as a published snapshot of
sys.sysprocesses prints them (data/published/figures.csv, Figure 13).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglab.core.units import KIB

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node

Row = dict[str, Any]
WORKERS_MAX = 16
FIRST_SPID = 19  # system sessions; users begin at 51
WORKER_WAIT = "PARALLEL_REDO_WORKER_WAIT_WORK"
IDLE_WAIT = "REDO_THREAD_PENDING_WORK"


@dataclass(frozen=True)
class RedoWork:
    """What redo did on a node since its start, in milliseconds and counts."""

    workers: int
    open_ms: float
    dispatch_ms: float
    worker_ms: float
    blocks: float
    running: bool  # redo has log to work on now

    @property
    def waits(self) -> dict[str, tuple[float, float]]:
        """Wait type -> (tasks that waited, milliseconds)."""
        waits = {IDLE_WAIT: (self.blocks, max(0.0, self.open_ms - self.dispatch_ms))}
        if self.workers:
            waits[WORKER_WAIT] = (self.blocks * self.workers, max(0.0, self.workers * self.open_ms - self.worker_ms))
        return waits


def workers_of(node: Node) -> int:
    """Parallel redo workers of one database on this node's machine and version."""
    if node.cluster.plant.scenario.settings.sql_version == "2014":
        return 0
    return max(1, min(WORKERS_MAX, node.profile.cpu.cores // 2))


def work_of(node: Node) -> RedoWork:
    """Redo on a node since it started."""
    plant = node.cluster.plant
    totals, gauges = plant.totals(node.name), plant.gauges(node.name)
    scenario, workers = plant.scenario, workers_of(node)
    redone, open_ms = totals.get("redone_bytes", 0.0), totals.get("redo_open_ms", 0.0)
    cpu_ms = redone * scenario.constant("redo_ns_per_byte") * 1e-6
    dispatch_ms = min(cpu_ms, redone / plant.redo_bytes_s_max * 1e3)
    return RedoWork(
        workers=workers,
        open_ms=open_ms,
        dispatch_ms=dispatch_ms if workers else min(cpu_ms, open_ms),
        worker_ms=cpu_ms - dispatch_ms if workers else 0.0,
        blocks=redone / (scenario.constant("log_block_kb") * KIB),
        running=gauges.get("recovery_queue_kb", 0.0) > 0.0,
    )


def redoing(node: Node) -> bool:
    """Whether redo threads stand on the node: it is a secondary that holds the load's database, or recovers it."""
    group = node.cluster.group
    if group is None or not node.cluster.plant.carries(node.name):
        return False
    name = group.holds(node.database_name)
    copy = group.rules.nodes[node.name].databases.get(name) if name else None
    if copy is None or not copy.joined:
        return False
    return group.role(node.name) == "SECONDARY" or copy.redone < copy.hardened


def tasks(node: Node) -> Iterator[Row]:
    """Background tasks of redo, as sys.dm_exec_requests and sys.sysprocesses show them."""
    if not redoing(node):
        return
    database = node.instance.database(node.database_name)
    work = work_of(node)
    reads = node.cluster.plant.totals(node.name).get("data_reads", 0.0)
    idle = "" if work.running else IDLE_WAIT
    lines = [("DB STARTUP", work.dispatch_ms, work.blocks, idle)]
    each_ms = work.worker_ms / work.workers if work.workers else 0.0
    lines += [("PARALLEL REDO TASK", each_ms, reads / work.workers, WORKER_WAIT) for _ in range(work.workers)]
    lines += [("PARALLEL REDO HELP TASK", 0.0, 0.0, WORKER_WAIT)] if work.workers else []
    for number, (command, cpu_ms, read, wait) in enumerate(lines):
        yield {
            "session_id": FIRST_SPID + number,
            "command": command,
            "database_id": database.id if database is not None else 0,
            "cpu_ms": int(cpu_ms),
            "reads": int(read),
            "wait_type": wait,
            "last_wait_type": wait or "SOS_SCHEDULER_YIELD",
        }


def db_threads(node: Node, group: Availability) -> Iterator[Row]:
    """sys.dm_hadr_db_threads: one log capture thread on a primary; redo threads on a secondary"""
    rules = group.rules
    for name, copy in rules.nodes[node.name].databases.items():
        if not copy.joined:
            continue
        primary = group.role(node.name) == "PRIMARY"
        loaded = name == group.holds(node.database_name)
        yield {
            "group_id": rules.id,
            "ag_db_id": rules.database_id(name),
            "name": name,
            "num_capture_threads": int(primary),
            "num_redo_threads": int(not primary),
            "num_parallel_redo_threads": workers_of(node) if loaded and not primary else 0,
        }


def ag_threads(node: Node, group: Availability) -> Iterator[Row]:
    """sys.dm_hadr_ag_threads: the sums over the group's databases; one log send thread for each connected secondary"""
    rows = list(db_threads(node, group))
    if not rows:
        return
    kinds = ("num_capture_threads", "num_redo_threads", "num_parallel_redo_threads")
    sums = {kind: sum(row[kind] for row in rows) for kind in kinds}
    connected = sum(one.connected for one in group.rules.nodes.values()) if group.role(node.name) == "PRIMARY" else 0
    yield {
        "group_id": group.rules.id,
        "name": group.name,
        "num_databases": len(rows),
        **sums,
        "num_hadr_threads": sum(sums.values()) + connected * len(rows),
    }
