"""Rows of sys.dm_os_performance_counters, with SQL Server's object, counter and instance names and cntr_type.

Values of type 272696576 are cumulative since the node's start; a rate is a difference over time. Names come from
:mod:`aglab.core.counters` where the engine has the number; the rest is counted from the node's own sessions. Counters of the
operating system (PhysicalDisk, Processor) are not in this view, on a real server neither.

A monitoring query names the counters that it wants. Each counter is a function here, so that only those asked for are read, and
the engine only where one of them needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from aglab.core.counters import BULK_COUNT, COUNTERS, FRACTION, FRACTION_BASE, VALUE, Counter

if TYPE_CHECKING:
    from aglab.tsql.store.database import Database
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


class Reading:
    """What the counters of one query read of a node, each part when it is first asked for."""

    def __init__(self, node: Node) -> None:
        self.node = node

    @cached_property
    def totals(self) -> dict[str, float]:
        """The engine's totals of the node."""
        return self.node.totals()

    @cached_property
    def gauges(self) -> dict[str, float]:
        """The engine's values of now."""
        return self.node.cluster.plant.gauges(self.node.name)

    def total(self, key: str) -> int:
        """One total as a whole number."""
        return int(self.totals.get(key, 0.0))


def _engine_rows(now: Reading, counters: tuple[Counter, ...]) -> Iterator[Row]:
    node = now.node
    for counter in counters:
        if counter.object in (_DR, _AR) and node.cluster.group is None:
            continue
        key, cumulative = _SOURCE[counter.key]
        value = now.total(key) if cumulative else int(now.gauges.get(key, 0.0))
        yield counter.object, counter.counter, counter.instance.format(db=node.database_name), value, counter.cntr_type
        if counter.object in (_DB, _DR):
            yield counter.object, counter.counter, "_Total", value, counter.cntr_type


def _size_kb(database: Database, kind: int) -> int:
    return 8 * sum(one.size for one in database.files if one.type == kind)


def _used_kb(database: Database) -> int:
    """Of the log of a database that the engine does not run."""
    return min(_size_kb(database, 1), 512)


def _counted(now: Reading, database: Database, key: str) -> int:
    return int(now.node.database_totals.get(database.name, {}).get(key, 0))


# counter -> cntr_type, its value for a database (True: the engine's), whether _Total is its sum (else the engine's row has it)
_OF_DATABASE: dict[str, tuple[int, Callable[[Reading, Database, bool], int], bool]] = {
    "Data File(s) Size (KB)": (VALUE, lambda now, database, main: _size_kb(database, 0), True),
    "Log File(s) Size (KB)": (VALUE, lambda now, database, main: _size_kb(database, 1), True),
    "Active Transactions": (VALUE, lambda now, database, main: now.node.open_transactions(database.name), True),
    "Log Flush Waits/sec": (
        BULK_COUNT,
        lambda now, database, main: now.total("wait_count.WRITELOG") if main else 0,
        True,
    ),
    "Log Flush Wait Time": (VALUE, lambda now, database, main: now.total("log_flush_wait_ms") if main else 0, True),
    "Write Transactions/sec": (BULK_COUNT, lambda now, database, main: now.total("transactions") if main else 0, True),
    "Transactions/sec": (BULK_COUNT, lambda now, database, main: _counted(now, database, "transactions"), False),
    "Log Bytes Flushed/sec": (BULK_COUNT, lambda now, database, main: _counted(now, database, "log_bytes_flushed"), False),
    "Log Flushes/sec": (BULK_COUNT, lambda now, database, main: _counted(now, database, "log_flushes"), False),
    "Log File(s) Used Size (KB)": (VALUE, lambda now, database, main: _used_kb(database), False),
    "Percent Log Used": (
        VALUE,
        lambda now, database, main: 100 * _used_kb(database) // max(_size_kb(database, 1), 1),
        False,
    ),
}


def _database_rows(now: Reading, names: tuple[str, ...]) -> Iterator[Row]:
    sums: dict[str, int] = {}
    for database in now.node.instance.databases.values() if names else ():
        main = database.name == now.node.database_name
        for name in names:
            kind, value_of, summed = _OF_DATABASE[name]
            if main and not summed:
                continue  # the engine's rows have it
            value = value_of(now, database, main)
            yield _DB, name, database.name, value, kind
            if summed:
                sums[name] = sums.get(name, 0) + value
    for name, value in sums.items():
        yield _DB, name, "_Total", value, _OF_DATABASE[name][0]


def _blocked(now: Reading) -> int:
    return sum(1 for one in now.node.clients.values() if one.session.blocked_by)


def _transactions(now: Reading) -> int:
    return sum(1 for one in now.node.clients.values() if one.session.trancount)


def _deadlocks(now: Reading) -> int:
    return now.node.deadlocks_before_restart + len(now.node.instance.locks.deadlocks)


def _lock_waits(now: Reading) -> int:
    return int(sum(row[0] for kind, row in now.node.waits.rows.items() if kind.startswith("LCK_")))


def _lookups(now: Reading) -> int:
    return int(now.totals.get("transactions", 0.0) * now.node.cluster.plant.lookups_per_tx())


def _cpu(now: Reading) -> int:
    return round(now.gauges.get("cpu_percent", 0.0) * CPU_BASE / 100)


_OF_SERVER: tuple[tuple[str, str, str, int, Callable[[Reading], int]], ...] = (
    (_GS, "User Connections", "", VALUE, lambda now: len(now.node.clients)),
    (_GS, "Logical Connections", "", VALUE, lambda now: len(now.node.clients)),
    (_GS, "Logins/sec", "", BULK_COUNT, lambda now: now.node.logins),
    (_GS, "Logouts/sec", "", BULK_COUNT, lambda now: now.node.logouts),
    (_GS, "Processes blocked", "", VALUE, _blocked),
    (_GS, "Transactions", "", VALUE, _transactions),
    (_LOCKS, "Number of Deadlocks/sec", "_Total", BULK_COUNT, _deadlocks),
    (_LOCKS, "Lock Waits/sec", "_Total", BULK_COUNT, _lock_waits),
    (_BM, "Page lookups/sec", "", BULK_COUNT, _lookups),
    (_BM, "Buffer cache hit ratio", "", FRACTION, lambda now: max(0, _lookups(now) - now.total("page_reads"))),
    (_BM, "Buffer cache hit ratio base", "", FRACTION_BASE, _lookups),
    (_BM, "Target pages", "", VALUE, lambda now: now.node.memory_mb() * 128),
    (_MM, "Target Server Memory (KB)", "", VALUE, lambda now: now.node.memory_mb() * 1024),
    (_POOL, "CPU usage %", "default", FRACTION, _cpu),
    (_POOL, "CPU usage % base", "default", FRACTION_BASE, lambda now: CPU_BASE),
    (_POOL, "CPU usage %", "internal", FRACTION, lambda now: 0),
    (_POOL, "CPU usage % base", "internal", FRACTION_BASE, lambda now: CPU_BASE),
    (_MM, "Total Server Memory (KB)", "", VALUE, lambda now: now.node.memory_mb() * 1024),
)
_SENT, _SENT_TO, _RECEIVED = "Bytes Sent to Transport/sec", "Bytes Sent to Replica/sec", "Bytes Received from Replica/sec"


def _replica_rows(now: Reading, names: tuple[str, ...]) -> Iterator[Row]:
    node = now.node
    group = node.cluster.group if names else None
    if group is None:
        return
    primary = node.name == group.primary
    others = [one for one in group.rules.replicas if one != node.name] if primary else [group.primary]
    sent, received = now.total("bytes_sent_to_transport"), now.total("bytes_received_from_replica")
    linked = [one for one in others if not primary or group.linked(one)] or others
    for other in others:
        share = len(linked) if other in linked else 0
        for name in names:
            value = received if name == _RECEIVED else sent
            yield _AR, name, f"{group.name}:{other}", value // share if share else 0, BULK_COUNT
    if _SENT_TO in names:
        yield _AR, _SENT_TO, "_Total", sent, BULK_COUNT


@lru_cache(maxsize=4096)
def _padded(name: str) -> str:
    return name.ljust(128)


@lru_cache(maxsize=256)
def _chosen(wanted: frozenset[str] | None) -> tuple[Any, ...]:
    """Of each kind the counters that a query asks for by name (in lower case); None: all."""

    def asked(counter: str) -> bool:
        return wanted is None or counter.lower() in wanted

    return (
        tuple(one for one in COUNTERS if one.key in _SOURCE and asked(one.counter)),
        tuple(name for name in _OF_DATABASE if asked(name)),
        tuple(one for one in _OF_SERVER if asked(one[1])),
        tuple(name for name in (_SENT, _SENT_TO, _RECEIVED) if asked(name)),
    )


def performance_counters(node: Node, wanted: frozenset[str] | None = None) -> Iterator[Row]:
    """sys.dm_os_performance_counters, in the view's order of columns; names padded to 128 characters as in the view.

    ``wanted``: only counters of these names (in lower case, without trailing blanks).
    """
    now = Reading(node)
    engine, of_database, of_server, of_replica = _chosen(wanted)
    for name, counter, instance, value, kind in _engine_rows(now, engine):
        yield _padded(name), _padded(counter), _padded(instance), value, kind
    for name, counter, instance, value, kind in _database_rows(now, of_database):
        yield _padded(name), _padded(counter), _padded(instance), value, kind
    for name, counter, instance, kind, value_of in of_server:
        yield _padded(name), _padded(counter), _padded(instance), value_of(now), kind
    for name, counter, instance, value, kind in _replica_rows(now, of_replica):
        yield _padded(name), _padded(counter), _padded(instance), value, kind
