"""What the engine shows: gauges of now, and a Run's frame."""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from aglab.core.counters import BY_KEY
from aglab.core.paths import bundle_path
from aglab.core.units import KIB
from aglab.engine import layout as at
from aglab.engine.layout import Array
from aglab.engine.logfile import vlf_s
from aglab.engine.pages import dirty_pages_now
from aglab.engine.tick import log_used_now

if TYPE_CHECKING:
    import pandas as pd

    from aglab.engine.flow import Flow


class LogPosition(NamedTuple):
    """Of one node, all in bytes."""

    end: float
    send_queue: float
    redo_queue: float


def log_position(flow: Flow, node: int) -> LogPosition:
    """Where a node's log ends, and what it has not been sent or has not redone."""
    st, primary = flow.state.st, int(flow.state.cl[at.K_PRIMARY])
    end = float(st[node, at.S_LSN])
    return LogPosition(
        end, max(0.0, float(st[primary, at.S_LSN] - st[node, at.S_SENT])), max(0.0, end - float(st[node, at.S_REDONE]))
    )


def gauges(flow: Flow, node: int) -> dict[str, float]:
    """Gauges of one node now (see :meth:`aglab.engine.Flow.gauges`)."""
    state, hw, wl, ct = flow.state, flow.params.hw, flow.params.wl, flow.params.ct
    primary = int(state.cl[at.K_PRIMARY])
    st = state.st[node]
    used = log_used_now(node, primary, state.st)
    size = hw[node, at.H_LOG_FILE] + st[at.S_GROWN]
    end = st[at.S_LSN] if node == primary else st[at.S_REDONE]
    log = log_position(flow, node)
    since = max(0.0, end - st[at.S_RECOVER])
    values: dict[str, Any] = {
        "cpu_percent": 100.0 * min(1.0, st[at.S_CPU]),
        "transactions_per_s": state.cl[at.K_X] if node == primary else 0.0,
        "percent_log_used": 100.0 * used / size,
        "log_used_kb": used / KIB,
        "log_size_kb": size / KIB,
        "log_vlfs_grown": st[at.S_VLFS],
        "log_send_queue_kb": log.send_queue / KIB,
        "log_send_rate_kb_s": st[at.S_SEND_RATE] / KIB,
        "recovery_queue_kb": log.redo_queue / KIB,
        "redo_rate_kb_s": st[at.S_REDO_RATE] / KIB,
        "buffer_pool_missing_pages": st[at.S_COLD_HOT] + st[at.S_COLD_REST],
        "dirty_pages": dirty_pages_now(node, state.st, state.seg, wl),
        "version_store_kb": st[at.S_VERSIONS] / KIB,
        "checkpoint_running": st[at.S_SWEEPING],
        "checkpoints": st[at.S_CHECKPOINTS],
        "log_since_checkpoint_kb": since / KIB,
        "recovery_estimate_s": since / ct[at.C_RECOVERY_RATE] + st[at.S_VLFS] * vlf_s(),
        "failover_estimate_s": ct[at.C_DETECT] + log.redo_queue / ct[at.C_REDO_CAP],
        "is_primary": float(node == primary),
        "connected": st[at.S_CONNECTED],
        "suspended": st[at.S_SUSPENDED],
        "synchronous": st[at.S_SYNC],
        "lsn_end": log.end,
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
    import pandas as pd

    labels = [(node, BY_KEY[key].path(database)) for node, key in names]
    return pd.DataFrame(values, index=pd.Index(time_s, name="time_s"), columns=pd.MultiIndex.from_tuples(labels))


@functools.cache
def calibration_digest() -> str:
    """Short digest of the calibrated constants in use."""
    return hashlib.sha256(bundle_path("data", "calibration", "constants.toml").read_bytes()).hexdigest()[:12]
