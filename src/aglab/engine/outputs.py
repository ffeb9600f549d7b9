"""What the engine shows: counters of a sample, gauges of now, and a Run's frame."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aglab.core.counters import BY_KEY
from aglab.core.paths import bundle_path
from aglab.core.units import KIB
from aglab.engine import layout as at
from aglab.engine.layout import Array
from aglab.engine.pages import dirty_pages_now
from aglab.engine.tick import log_used_all

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

# key of a counter -> total whose difference per second it is
_RATES = {
    "batch_requests_per_s": "batch_requests",
    "transactions_per_s": "transactions",
    "log_bytes_flushed_per_s": "log_bytes_flushed",
    "log_flushes_per_s": "log_flushes",
    "backup_bytes_per_s": "backup_bytes",
    "checkpoint_pages_per_s": "checkpoint_pages",
    "background_writer_pages_per_s": "background_writer_pages",
    "page_reads_per_s": "page_reads",
    "page_writes_per_s": "page_writes",
    "bytes_sent_to_transport_per_s": "bytes_sent_to_transport",
    "bytes_received_from_replica_per_s": "bytes_received_from_replica",
    "mirrored_write_transactions_per_s": "mirrored_write_transactions",
    "transaction_delay_ms": "transaction_delay_ms",
    "log_bytes_received_per_s": "log_bytes_received",
    "redone_bytes_per_s": "redone_bytes",
    "log_transfers_per_s": "log_writes",
    "log_bytes_per_s": "log_bytes_written",
}
_PLACE = {key: place for place, key in enumerate(BY_KEY)}
_RATE_PLACES = [_PLACE[key] for key in _RATES]
_RATE_TOTALS = [at.TOTALS.index(total) for total in _RATES.values()]


def _column(delta: Array, name: str) -> Array:
    return delta[:, :, at.TOTALS.index(name)]


def _ratio(top: Array, bottom: Array) -> Array:
    """top/bottom, 0 where nothing happened (PerfMon shows 0 for an average over nothing)."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def columns(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The columns of a Block: every counter of every node."""
    return [(name, key) for name in names for key in BY_KEY]


def sample(flow: Flow, delta: Array, st: Array) -> tuple[Array, list[tuple[str, str]]]:
    """Counters of some samples from differences of totals and the state at their ends.

    Parameters
    ----------
    delta, st : float64[samples, nodes, TOT_SIZE] and [samples, nodes, ST_SIZE]
    """
    seconds = flow.scenario.settings.sample_s
    table = np.empty((*st.shape[:2], len(_PLACE)))
    table[:, :, _RATE_PLACES] = delta[:, :, _RATE_TOTALS] / seconds
    values: dict[str, Array] = {}
    threads = flow.params.hw[:, at.H_THREADS]
    values["cpu_percent"] = _column(delta, "cpu_ms") / (seconds * 10.0 * threads)
    used = _log_used(flow, st)
    values["log_used_kb"] = used / KIB
    values["percent_log_used"] = 100.0 * used / flow.params.hw[:, at.H_LOG_FILE]
    primary = int(flow.state.cl[at.K_PRIMARY])
    queue = st[:, [primary], at.S_LSN] - st[:, :, at.S_SENT]
    values["log_send_queue_kb"] = np.maximum(queue, 0.0) / KIB
    values["recovery_queue_kb"] = np.maximum(st[:, :, at.S_LSN] - st[:, :, at.S_REDONE], 0.0) / KIB
    reads, writes = _column(delta, "data_reads"), _column(delta, "data_writes")
    read_stall, write_stall = _column(delta, "data_read_stall_ms"), _column(delta, "data_write_stall_ms")
    values["data_read_latency_s"] = _ratio(read_stall, reads) / 1e3
    values["data_write_latency_s"] = _ratio(write_stall, writes) / 1e3
    values["data_transfer_latency_s"] = _ratio(read_stall + write_stall, reads + writes) / 1e3
    values["data_transfers_per_s"] = (reads + writes) / seconds
    values["data_bytes_per_s"] = (_column(delta, "data_bytes_read") + _column(delta, "data_bytes_written")) / seconds
    values["log_write_latency_s"] = _ratio(_column(delta, "log_write_stall_ms"), _column(delta, "log_writes")) / 1e3
    for key, column in values.items():
        table[:, :, _PLACE[key]] = column
    return table.reshape(len(table), -1), columns(flow.names)


def _log_used(flow: Flow, st: Array) -> Array:
    used: Array = np.zeros(st.shape[:2])
    log_used_all(int(flow.state.cl[at.K_PRIMARY]), st, used)
    return used


def gauges(flow: Flow, node: int) -> dict[str, float]:
    """Gauges of one node now (see :meth:`aglab.engine.Flow.gauges`)."""
    state, hw, wl, ct = flow.state, flow.params.hw, flow.params.wl, flow.params.ct
    primary = int(state.cl[at.K_PRIMARY])
    st = state.st[node]
    used = float(_log_used(flow, state.st[None])[0, node])
    end = st[at.S_LSN] if node == primary else st[at.S_REDONE]
    queue = max(0.0, st[at.S_LSN] - st[at.S_REDONE])
    since = max(0.0, end - st[at.S_RECOVER])
    values: dict[str, Any] = {
        "cpu_percent": 100.0 * min(1.0, st[at.S_CPU]),
        "transactions_per_s": state.cl[at.K_X] if node == primary else 0.0,
        "percent_log_used": 100.0 * used / hw[node, at.H_LOG_FILE],
        "log_used_kb": used / KIB,
        "log_size_kb": hw[node, at.H_LOG_FILE] / KIB,
        "log_send_queue_kb": max(0.0, state.st[primary, at.S_LSN] - st[at.S_SENT]) / KIB,
        "log_send_rate_kb_s": st[at.S_SEND_RATE] / KIB,
        "recovery_queue_kb": queue / KIB,
        "redo_rate_kb_s": st[at.S_REDO_RATE] / KIB,
        "dirty_pages": dirty_pages_now(node, state.st, state.seg, wl),
        "checkpoint_running": st[at.S_SWEEPING],
        "checkpoints": st[at.S_CHECKPOINTS],
        "log_since_checkpoint_kb": since / KIB,
        "recovery_estimate_s": since / ct[at.C_RECOVERY_RATE],
        "failover_estimate_s": ct[at.C_DETECT] + queue / ct[at.C_REDO_CAP],
        "is_primary": float(node == primary),
        "connected": st[at.S_CONNECTED],
        "suspended": st[at.S_SUSPENDED],
        "synchronous": st[at.S_SYNC],
        "lsn_end": st[at.S_LSN],
        "lsn_sent": st[at.S_SENT],
        "lsn_received": st[at.S_SENT],
        "lsn_hardened": st[at.S_LSN],
        "lsn_redone": st[at.S_REDONE],
        "lsn_checkpoint": st[at.S_RECOVER],
        "lsn_backup": st[at.S_BACKUP],
    }
    return {name: float(value) for name, value in values.items()}


def frame(time_s: Array, values: Array, names: list[tuple[str, str]], database: str) -> pd.DataFrame:
    """The counters of a Run: index ``time_s``, columns (node, PerfMon path)."""
    labels = [(node, BY_KEY[key].path(database)) for node, key in names]
    return pd.DataFrame(values, index=pd.Index(time_s, name="time_s"), columns=pd.MultiIndex.from_tuples(labels))


@functools.cache
def calibration_digest() -> str:
    """Short digest of the calibrated constants in use."""
    return hashlib.sha256(bundle_path("data", "calibration", "constants.toml").read_bytes()).hexdigest()[:12]
