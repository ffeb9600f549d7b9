"""PerfMon counters, named once: engine key -> PerfMon object, instance, counter and cntr_type.

A column of a Run is the PerfMon path without the host, ``object(instance)\\counter``, verbatim.
``cntr_type`` values are those of sys.dm_os_performance_counters (documented with that view):
65792 a value as it is, 272696576 a cumulative count to be differenced, 537003264/1073939712 a ratio and its base.
"""

from __future__ import annotations

from dataclasses import dataclass

VALUE = 65792
BULK_COUNT = 272696576
FRACTION = 537003264
FRACTION_BASE = 1073939712


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter: ``key`` inside the engine, PerfMon names at the edge.

    ``instance`` may hold ``{db}`` (a database) or be empty; ``unit`` is what a Run's column holds.
    """

    key: str
    object: str
    counter: str
    instance: str
    cntr_type: int
    unit: str

    def path(self, db: str = "") -> str:
        """The PerfMon path, e.g. ``SQLServer:Databases(OLTP)\\Transactions/sec``."""
        instance = self.instance.format(db=db)
        return f"{self.object}({instance})\\{self.counter}" if instance else f"{self.object}\\{self.counter}"


_DB = "SQLServer:Databases"
_DR = "SQLServer:Database Replica"
_AR = "SQLServer:Availability Replica"
_BM = "SQLServer:Buffer Manager"

COUNTERS: tuple[Counter, ...] = (
    Counter("cpu_percent", "Processor", "% Processor Time", "_Total", VALUE, "%"),
    Counter("batch_requests_per_s", "SQLServer:SQL Statistics", "Batch Requests/sec", "", BULK_COUNT, "/s"),
    Counter("transactions_per_s", _DB, "Transactions/sec", "{db}", BULK_COUNT, "tx/s"),
    Counter("log_bytes_flushed_per_s", _DB, "Log Bytes Flushed/sec", "{db}", BULK_COUNT, "B/s"),
    Counter("log_flushes_per_s", _DB, "Log Flushes/sec", "{db}", BULK_COUNT, "/s"),
    Counter("percent_log_used", _DB, "Percent Log Used", "{db}", VALUE, "%"),
    Counter("log_used_kb", _DB, "Log File(s) Used Size (KB)", "{db}", VALUE, "KB"),
    Counter("backup_bytes_per_s", _DB, "Backup/Restore Throughput/sec", "{db}", BULK_COUNT, "B/s"),
    Counter("checkpoint_pages_per_s", _BM, "Checkpoint pages/sec", "", BULK_COUNT, "pages/s"),
    Counter("background_writer_pages_per_s", _BM, "Background writer pages/sec", "", BULK_COUNT, "pages/s"),
    Counter("page_reads_per_s", _BM, "Page reads/sec", "", BULK_COUNT, "pages/s"),
    Counter("page_writes_per_s", _BM, "Page writes/sec", "", BULK_COUNT, "pages/s"),
    Counter("bytes_sent_to_transport_per_s", _AR, "Bytes Sent to Transport/sec", "_Total", BULK_COUNT, "B/s"),
    Counter("bytes_received_from_replica_per_s", _AR, "Bytes Received from Replica/sec", "_Total", BULK_COUNT, "B/s"),
    Counter("mirrored_write_transactions_per_s", _DR, "Mirrored Write Transactions/sec", "{db}", BULK_COUNT, "tx/s"),
    Counter("transaction_delay_ms", _DR, "Transaction Delay", "{db}", BULK_COUNT, "ms/s"),
    Counter("log_send_queue_kb", _DR, "Log Send Queue", "{db}", VALUE, "KB"),
    Counter("log_bytes_received_per_s", _DR, "Log Bytes Received/sec", "{db}", BULK_COUNT, "B/s"),
    Counter("recovery_queue_kb", _DR, "Recovery Queue", "{db}", VALUE, "KB"),
    Counter("redone_bytes_per_s", _DR, "Redone Bytes/sec", "{db}", BULK_COUNT, "B/s"),
    Counter("data_read_latency_s", "PhysicalDisk", "Avg. Disk sec/Read", "D:", VALUE, "s"),
    Counter("data_write_latency_s", "PhysicalDisk", "Avg. Disk sec/Write", "D:", VALUE, "s"),
    Counter("data_transfer_latency_s", "PhysicalDisk", "Avg. Disk sec/Transfer", "D:", VALUE, "s"),
    Counter("data_transfers_per_s", "PhysicalDisk", "Disk Transfers/sec", "D:", BULK_COUNT, "/s"),
    Counter("data_bytes_per_s", "PhysicalDisk", "Disk Bytes/sec", "D:", BULK_COUNT, "B/s"),
    Counter("log_write_latency_s", "PhysicalDisk", "Avg. Disk sec/Write", "L:", VALUE, "s"),
    Counter("log_transfers_per_s", "PhysicalDisk", "Disk Transfers/sec", "L:", BULK_COUNT, "/s"),
    Counter("log_bytes_per_s", "PhysicalDisk", "Disk Bytes/sec", "L:", BULK_COUNT, "B/s"),
)

BY_KEY: dict[str, Counter] = {counter.key: counter for counter in COUNTERS}
