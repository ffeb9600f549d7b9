"""The counters of one sample, from what totals grew by and the state at its end; the columns of a Block.

Averages over nothing are 0, as PerfMon shows them. Units are those of :mod:`aglab.core.counters`.
"""

from __future__ import annotations

from aglab.core.counters import BY_KEY
from aglab.core.units import KIB
from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array

COUNTERS = len(BY_KEY)
_PLACE = {key: place for place, key in enumerate(BY_KEY)}

# key of a counter -> total whose difference per second it is
_RATES = {
    "batch_requests_per_s": at.T_BATCHES,
    "transactions_per_s": at.T_TX,
    "log_bytes_flushed_per_s": at.T_LOG_BYTES,
    "log_flushes_per_s": at.T_LOG_FLUSHES,
    "backup_bytes_per_s": at.T_BACKUP,
    "checkpoint_pages_per_s": at.T_CHECKPOINT,
    "background_writer_pages_per_s": at.T_BACKGROUND,
    "page_reads_per_s": at.T_PAGE_READS,
    "page_writes_per_s": at.T_PAGE_WRITES,
    "bytes_sent_to_transport_per_s": at.T_SENT,
    "bytes_received_from_replica_per_s": at.T_RECEIVED_REPLICA,
    "mirrored_write_transactions_per_s": at.T_MIRRORED,
    "transaction_delay_ms": at.T_DELAY,
    "log_bytes_received_per_s": at.T_RECEIVED,
    "redone_bytes_per_s": at.T_REDONE,
    "log_transfers_per_s": at.T_LOG_WRITES,
    "log_bytes_per_s": at.T_LOG_BYTES_WRITTEN,
}
_RATE_PLACES = tuple(_PLACE[key] for key in _RATES)
_RATE_TOTALS = tuple(_RATES.values())
_RATES_COUNT = len(_RATES)
_CPU = _PLACE["cpu_percent"]
_LOG_USED = _PLACE["log_used_kb"]
_PERCENT_USED = _PLACE["percent_log_used"]
_SEND_QUEUE = _PLACE["log_send_queue_kb"]
_REDO_QUEUE = _PLACE["recovery_queue_kb"]
_READ_LATENCY = _PLACE["data_read_latency_s"]
_WRITE_LATENCY = _PLACE["data_write_latency_s"]
_DATA_LATENCY = _PLACE["data_transfer_latency_s"]
_DATA_TRANSFERS = _PLACE["data_transfers_per_s"]
_DATA_BYTES = _PLACE["data_bytes_per_s"]
_LOG_LATENCY = _PLACE["log_write_latency_s"]
assert COUNTERS == _RATES_COUNT + 11, "a counter without a formula"


@kernel
def log_used(node: int, primary: int, st: Array) -> float:
    """Log bytes a node cannot reuse: not backed up, needed by its recovery, or by that of a replica that has not redone it.

    Files are alike on all replicas and are cut at one place, so the primary keeps what any of them would recover from
    (``truncation_lsn`` of sys.dm_hadr_database_replica_states is the least of all).
    """
    kept = min(min(st[node, at.S_BACKUP], st[node, at.S_RECOVER]), st[node, at.S_OLDEST])
    if node == primary:
        for other in range(st.shape[0]):
            if other != node:
                kept = min(kept, min(st[other, at.S_REDONE], st[other, at.S_RECOVER]))
    else:
        kept = min(kept, st[node, at.S_REDONE])
    return max(0.0, st[node, at.S_LSN] - kept)


@kernel
def per_io_s(stall_ms: float, count: float) -> float:
    """Seconds of one of ``count`` I/Os; 0 where there was none."""
    if count > 0.0:
        return stall_ms / count / 1e3
    return 0.0


@kernel
def count(sample_s: float, primary: int, hw: Array, st: Array, tot: Array, last: Array, values: Array) -> None:
    """Fill ``values[nodes * COUNTERS]`` for the ``sample_s`` seconds since totals were ``last``, which moves on."""
    for node in range(hw.shape[0]):
        to = node * COUNTERS
        for rate in range(_RATES_COUNT):
            total = _RATE_TOTALS[rate]
            values[to + _RATE_PLACES[rate]] = (tot[node, total] - last[node, total]) / sample_s
        values[to + _CPU] = (tot[node, at.T_CPU] - last[node, at.T_CPU]) / (sample_s * 10.0 * hw[node, at.H_MACHINE])
        used = log_used(node, primary, st)
        values[to + _LOG_USED] = used / KIB
        values[to + _PERCENT_USED] = 100.0 * used / (hw[node, at.H_LOG_FILE] + st[node, at.S_GROWN])
        values[to + _SEND_QUEUE] = max(st[primary, at.S_LSN] - st[node, at.S_SENT], 0.0) / KIB
        values[to + _REDO_QUEUE] = max(st[node, at.S_LSN] - st[node, at.S_REDONE], 0.0) / KIB
        reads = tot[node, at.T_DATA_READS] - last[node, at.T_DATA_READS]
        writes = tot[node, at.T_DATA_WRITES] - last[node, at.T_DATA_WRITES]
        read_ms = tot[node, at.T_DATA_READ_STALL] - last[node, at.T_DATA_READ_STALL]
        write_ms = tot[node, at.T_DATA_WRITE_STALL] - last[node, at.T_DATA_WRITE_STALL]
        bytes_read = tot[node, at.T_DATA_BYTES_READ] - last[node, at.T_DATA_BYTES_READ]
        bytes_written = tot[node, at.T_DATA_BYTES_WRITTEN] - last[node, at.T_DATA_BYTES_WRITTEN]
        log_writes = tot[node, at.T_LOG_WRITES] - last[node, at.T_LOG_WRITES]
        values[to + _READ_LATENCY] = per_io_s(read_ms, reads)
        values[to + _WRITE_LATENCY] = per_io_s(write_ms, writes)
        values[to + _DATA_LATENCY] = per_io_s(read_ms + write_ms, reads + writes)
        values[to + _DATA_TRANSFERS] = (reads + writes) / sample_s
        values[to + _DATA_BYTES] = (bytes_read + bytes_written) / sample_s
        values[to + _LOG_LATENCY] = per_io_s(tot[node, at.T_LOG_STALL] - last[node, at.T_LOG_STALL], log_writes)
        for column in range(tot.shape[1]):
            last[node, column] = tot[node, column]


def columns(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The columns of a Block: every counter of every node."""
    return [(name, key) for name in names for key in BY_KEY]
