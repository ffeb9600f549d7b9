"""What a tick adds to the totals of a node: pages written, I/O of its volumes, transactions and what they waited for."""

from __future__ import annotations

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array
from aglab.engine.pages import write_background, write_checkpoint

PAGE = 8192.0


@kernel
def write_out(node: int, primary: int, dt: float, rate: float, st: Array, seg: Array, wl: Array, ct: Array, tot: Array) -> None:
    """Book the pages the node's writer wrote at ``rate`` pages/s."""
    position = st[node, at.S_LSN] if node == primary else st[node, at.S_REDONE]
    pages = rate * dt
    if st[node, at.S_SWEEPING] > 0.5:
        tot[node, at.T_CHECKPOINT] += pages
        write_checkpoint(node, position, pages, dt, st, seg, wl)
    elif st[node, at.S_TARGET] > 0.0:
        tot[node, at.T_BACKGROUND] += pages
        write_background(node, position, pages, st, seg, wl, ct)
    tot[node, at.T_PAGE_WRITES] += pages


@kernel
def book_data(node: int, dt: float, reads: float, rate: float, wl: Array, out: Array, tot: Array) -> None:
    """Totals of the data volume for ``reads`` page reads/s and ``rate`` pages written/s."""
    writes = rate / wl[at.W_PAGES_PER_WRITE]
    tot[node, at.T_PAGE_READS] += reads * dt
    tot[node, at.T_DATA_READS] += reads * dt
    tot[node, at.T_DATA_BYTES_READ] += reads * dt * PAGE
    tot[node, at.T_DATA_READ_STALL] += reads * dt * out[at.O_READ_LAT] * 1e3
    tot[node, at.T_DATA_WRITES] += writes * dt
    tot[node, at.T_DATA_BYTES_WRITTEN] += rate * dt * PAGE
    tot[node, at.T_DATA_WRITE_STALL] += writes * dt * out[at.O_WRITE_LAT] * 1e3


@kernel
def book_log(node: int, dt: float, flushes: float, bytes_s: float, latency: float, tot: Array) -> None:
    """Totals of the log volume for ``flushes`` writes/s that carry ``bytes_s``."""
    tot[node, at.T_LOG_FLUSHES] += flushes * dt
    tot[node, at.T_LOG_WRITES] += flushes * dt
    tot[node, at.T_LOG_BYTES] += bytes_s * dt
    tot[node, at.T_LOG_BYTES_WRITTEN] += bytes_s * dt
    tot[node, at.T_LOG_STALL] += flushes * dt * latency * 1e3


@kernel
def book_foreground(node: int, dt: float, x: float, hw: Array, wl: Array, env: Array, out: Array, tot: Array) -> None:
    """Totals of ``x`` transactions/s on the primary and of what they waited for."""
    writes = x * wl[at.W_WRITE_SHARE]
    if hw[node, at.H_LAZY] > 0.5:
        writes = 0.0  # with delayed durability no commit waits
    reads = x * env[at.E_READS]
    tot[node, at.T_TX] += x * dt
    tot[node, at.T_BATCHES] += x * wl[at.W_BATCHES] * dt
    tot[node, at.T_RESPONSE] += x * out[at.O_R] * dt * 1e3
    tot[node, at.T_LOG_FLUSH_WAIT] += writes * out[at.O_COMMIT_LOCAL] * dt * 1e3
    tot[node, at.T_W_WRITELOG] += writes * out[at.O_COMMIT_LOCAL] * dt * 1e3
    tot[node, at.T_N_WRITELOG] += writes * dt
    if env[at.E_NSYNC] > 0.5:
        tot[node, at.T_MIRRORED] += writes * dt
        tot[node, at.T_DELAY] += writes * out[at.O_REMOTE] * dt * 1e3
        tot[node, at.T_W_HADR] += writes * out[at.O_REMOTE] * dt * 1e3
        tot[node, at.T_N_HADR] += writes * dt
    tot[node, at.T_W_PAGE] += reads * out[at.O_READ_LAT] * dt * 1e3
    tot[node, at.T_N_PAGE] += reads * dt
    tot[node, at.T_W_SOS] += x * out[at.O_CPU_WAIT] * dt * 1e3
    tot[node, at.T_N_SOS] += x * dt
    if env[at.E_RESUME] > 0.0:  # a wait is over when its worker runs again
        tot[node, at.T_W_WRITELOG] += writes * env[at.E_RESUME] * dt * 1e3
        tot[node, at.T_W_PAGE] += reads * env[at.E_RESUME] * dt * 1e3
