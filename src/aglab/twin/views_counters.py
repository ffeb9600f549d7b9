"""Rows of sys.dm_os_performance_counters, with SQL Server's object, counter and instance names and cntr_type.

Values of type 272696576 are cumulative since the node's start; a rate is a difference over time. Names come from
:mod:`aglab.core.counters` where the engine has the number; the rest is counted from the node's own sessions. Counters of the
operating system (PhysicalDisk, Processor) are not in this view, on a real server neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from aglab.core.counters import BULK_COUNT, COUNTERS, FRACTION, FRACTION_BASE, VALUE

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = tuple[str, str, str, int, int]

# engine key of a counter -> (totals key | gauges key, cumulative?)
_SOURCE = {
    "batch_requests_per_s": ("batch_requests", True),
    "transactions_per_s": ("transactions", True),
    "log_bytes_flushed_per_s": ("log_bytes_flushed", True),
    "log_flushes_per_s": ("log_flushes", True),
    "percent_log_used": ("percent_log_used", False),
    "log_used_kb": ("log_used_kb", False),
    "backup_bytes_per_s": ("backup_bytes", True),
    "checkpoint_pages_per_s": ("checkpoint_pages", True),
    "background_writer_pages_per_s": ("background_writer_pages", True),
    "page_reads_per_s": ("page_reads", True),
    "page_writes_per_s": ("page_writes", True),
    "bytes_sent_to_transport_per_s": ("bytes_sent_to_transport", True),
    "bytes_received_from_replica_per_s": ("bytes_received_from_replica", True),
    "mirrored_write_transactions_per_s": ("mirrored_write_transactions", True),
    "transaction_delay_ms": ("transaction_delay_ms", True),
    "log_send_queue_kb": ("log_send_queue_kb", False),
    "log_bytes_received_per_s": ("log_bytes_received", True),
    "recovery_queue_kb": ("recovery_queue_kb", False),
    "redone_bytes_per_s": ("redone_bytes", True),
}
_DB = "SQLServer:Databases"
_DR = "SQLServer:Database Replica"
_AR = "SQLServer:Availability Replica"
_BM = "SQLServer:Buffer Manager"
_GS = "SQLServer:General Statistics"
_MM = "SQLServer:Memory Manager"
_LOCKS = "SQLServer:Locks"
_POOL = "SQLServer:Resource Pool Stats"
CPU_BASE = 1_000_000  # a ratio's base: a share of processor time in millionths
_LOG_FLUSH_WAITS = "Log Flush Waits/sec"


def _engine_rows(node: Node, totals: dict[str, float], gauges: dict[str, float]) -> Iterator[Row]:
    replicated = node.cluster.group is not None
    for counter in COUNTERS:
        source = _SOURCE.get(counter.key)
        if source is None or (counter.object in (_DR, _AR) and not replicated):
            continue
        key, cumulative = source
        value = int((totals if cumulative else gauges).get(key, 0.0))
        yield counter.object, counter.counter, counter.instance.format(db=node.database_name), value, counter.cntr_type
        if counter.object in (_DB, _DR):
            yield counter.object, counter.counter, "_Total", value, counter.cntr_type


def _database_rows(node: Node, totals: dict[str, float], gauges: dict[str, float]) -> Iterator[Row]:
    sums: dict[tuple[str, int], int] = {}
    for database in node.instance.databases.values():
        main = database.name == node.database_name
        data_kb = sum(one.size for one in database.files if one.type == 0) * 8
        log_kb = sum(one.size for one in database.files if one.type == 1) * 8
        own: list[tuple[str, int, int]] = [
            ("Data File(s) Size (KB)", data_kb, VALUE),
            ("Log File(s) Size (KB)", log_kb, VALUE),
            ("Active Transactions", node.open_transactions(database.name), VALUE),
            (_LOG_FLUSH_WAITS, int(totals.get("wait_count.WRITELOG", 0.0)) if main else 0, BULK_COUNT),
            ("Log Flush Wait Time", int(totals.get("log_flush_wait_ms", 0.0)) if main else 0, VALUE),
            ("Write Transactions/sec", int(totals.get("transactions", 0.0)) if main else 0, BULK_COUNT),
        ]
        if not main:
            counted = node.database_totals.get(database.name, {})
            own += [
                ("Transactions/sec", int(counted.get("transactions", 0)), BULK_COUNT),
                ("Log Bytes Flushed/sec", int(counted.get("log_bytes_flushed", 0)), BULK_COUNT),
                ("Log Flushes/sec", int(counted.get("log_flushes", 0)), BULK_COUNT),
                ("Log File(s) Used Size (KB)", min(log_kb, 512), VALUE),
                ("Percent Log Used", 100 * min(log_kb, 512) // max(log_kb, 1), VALUE),
            ]
        for name, value, kind in own:
            yield _DB, name, database.name, value, kind
            sums[name, kind] = sums.get((name, kind), 0) + value
    for (name, kind), value in sums.items():
        if name in (
            "Transactions/sec",
            "Log Bytes Flushed/sec",
            "Log Flushes/sec",
            "Log File(s) Used Size (KB)",
            "Percent Log Used",
        ):
            continue
        yield _DB, name, "_Total", value, kind


def _server_rows(node: Node, totals: dict[str, float]) -> Iterator[Row]:
    clients = node.clients
    locks = node.instance.locks
    yield _GS, "User Connections", "", len(clients), VALUE
    yield _GS, "Logical Connections", "", len(clients), VALUE
    yield _GS, "Logins/sec", "", node.logins, BULK_COUNT
    yield _GS, "Logouts/sec", "", node.logouts, BULK_COUNT
    yield _GS, "Processes blocked", "", sum(1 for one in clients.values() if one.session.blocked_by), VALUE
    yield _GS, "Transactions", "", sum(1 for one in clients.values() if one.session.trancount), VALUE
    yield _LOCKS, "Number of Deadlocks/sec", "_Total", node.deadlocks_before_restart + len(locks.deadlocks), BULK_COUNT
    yield (
        _LOCKS,
        "Lock Waits/sec",
        "_Total",
        int(sum(row[0] for kind, row in node.waits.rows.items() if kind.startswith("LCK_"))),
        BULK_COUNT,
    )
    reads = int(totals.get("page_reads", 0.0))
    lookups = int(totals.get("transactions", 0.0) * node.cluster.plant.lookups_per_tx())
    yield _BM, "Page lookups/sec", "", lookups, BULK_COUNT
    yield _BM, "Buffer cache hit ratio", "", max(0, lookups - reads), FRACTION
    yield _BM, "Buffer cache hit ratio base", "", lookups, FRACTION_BASE
    yield _BM, "Target pages", "", node.memory_mb() * 128, VALUE
    yield _MM, "Target Server Memory (KB)", "", node.memory_mb() * 1024, VALUE
    cpu = node.cluster.plant.gauges(node.name).get("cpu_percent", 0.0)
    for pool, percent in (("default", cpu), ("internal", 0.0)):
        yield _POOL, "CPU usage %", pool, round(percent * CPU_BASE / 100), FRACTION
        yield _POOL, "CPU usage % base", pool, CPU_BASE, FRACTION_BASE
    yield _MM, "Total Server Memory (KB)", "", node.memory_mb() * 1024, VALUE


def _replica_rows(node: Node, totals: dict[str, float]) -> Iterator[Row]:
    group = node.cluster.group
    if group is None:
        return
    primary = node.name == group.primary
    others = [one for one in group.rules.replicas if one != node.name] if primary else [group.primary]
    sent = int(totals.get("bytes_sent_to_transport", 0.0))
    received = int(totals.get("bytes_received_from_replica", 0.0))
    linked = [one for one in others if not primary or group.linked(one)] or others
    for other in others:
        share = len(linked) if other in linked else 0
        name = f"{group.name}:{other}"
        yield _AR, "Bytes Sent to Transport/sec", name, sent // share if share else 0, BULK_COUNT
        yield _AR, "Bytes Sent to Replica/sec", name, sent // share if share else 0, BULK_COUNT
        yield _AR, "Bytes Received from Replica/sec", name, received // share if share else 0, BULK_COUNT
    yield _AR, "Bytes Sent to Replica/sec", "_Total", sent, BULK_COUNT


@lru_cache(maxsize=4096)
def _padded(name: str) -> str:
    return name.ljust(128)


def performance_counters(node: Node) -> Iterator[Row]:
    """sys.dm_os_performance_counters, in the view's order of columns; names padded to 128 characters as in the view."""
    totals = node.totals()
    gauges = node.cluster.plant.gauges(node.name)
    for rows in (
        _engine_rows(node, totals, gauges),
        _database_rows(node, totals, gauges),
        _server_rows(node, totals),
        _replica_rows(node, totals),
    ):
        for name, counter, instance, value, kind in rows:
            yield _padded(name), _padded(counter), _padded(instance), value, kind
