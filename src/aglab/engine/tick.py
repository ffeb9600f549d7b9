"""One tick of the whole cluster, and many: the outermost kernel.

Order in a tick: the writer of each node plans, the primary's closed network is solved beside it, log is made, sent,
hardened and redone, pages are touched and written, totals grow.
"""

from __future__ import annotations

import math

import numpy as np

from aglab.engine.jit import kernel
from aglab.engine.layout import (
    C_BASE_CPU,
    C_LOG_BLOCK,
    C_NOISE_CV,
    C_NOISE_TIME,
    C_RECEIVE_CPU,
    C_REDO_CPU,
    C_SEND_CPU,
    C_WRITE_CPU,
    E_BG_WORK,
    E_CPU,
    E_NSEND,
    E_NSYNC,
    E_SEND_WORK,
    E_USERS,
    E_UTIL_STAR,
    E_WRITE_LIMIT,
    ENV_SIZE,
    H_LOG_BW,
    H_LOG_FILE,
    H_READS_PER_TX,
    H_THREADS,
    H_WRITE_S,
    K_NOISE,
    K_PRIMARY,
    K_USERS,
    K_X,
    O_COMMIT_LOCAL,
    O_CPU_UTIL,
    O_CPU_WAIT,
    O_LOG_FLUSHES,
    O_LOG_LAT,
    O_R,
    O_READ_LAT,
    O_REMOTE,
    O_WRITE_LAT,
    O_WRITE_RATE,
    OUT_SIZE,
    S_BACKUP,
    S_CONNECTED,
    S_CPU,
    S_DEPTH,
    S_LSN,
    S_RECOVER,
    S_REDONE,
    S_SEND_RATE,
    S_SENT,
    S_SWEEPING,
    S_TARGET,
    S_TOUCHES,
    T_BACKGROUND,
    T_BATCHES,
    T_CHECKPOINT,
    T_CPU,
    T_DATA_BYTES_READ,
    T_DATA_BYTES_WRITTEN,
    T_DATA_READ_STALL,
    T_DATA_READS,
    T_DATA_WRITE_STALL,
    T_DATA_WRITES,
    T_DELAY,
    T_DIRTIED,
    T_LOG_BYTES,
    T_LOG_BYTES_WRITTEN,
    T_LOG_FLUSH_WAIT,
    T_LOG_FLUSHES,
    T_LOG_STALL,
    T_LOG_WRITES,
    T_MIRRORED,
    T_N_HADR,
    T_N_PAGE,
    T_N_SOS,
    T_N_WRITELOG,
    T_PAGE_READS,
    T_PAGE_WRITES,
    T_RESPONSE,
    T_TX,
    T_W_HADR,
    T_W_PAGE,
    T_W_SOS,
    T_W_WRITELOG,
    W_BATCHES,
    W_CPU,
    W_LOG,
    W_PAGES_PER_WRITE,
    W_TOUCHES,
    W_WRITE_SHARE,
)
from aglab.engine.logpath import flush_size, in_step, log_write_latency, send_bytes_s_max
from aglab.engine.machine import cpu_utilisation, data_volume, util_star
from aglab.engine.pages import plan_writes, write_background, write_checkpoint
from aglab.engine.replicas import redo, ship
from aglab.engine.solve import solve

PAGE = 8192.0
_STEADY = 1e9  # seconds: a writer long past its ramp


@kernel
def move_noise(draw, dt, cl, ct):
    """Let the transaction mix wander (first-order autoregression); NaN keeps it where it is."""
    if not math.isnan(draw):
        keep = math.exp(-dt / ct[C_NOISE_TIME])
        cl[K_NOISE] = keep * cl[K_NOISE] + math.sqrt(1.0 - keep * keep) * draw


@kernel
def log_used(node, primary, st):
    """Log bytes a node cannot reuse: not backed up, needed by crash recovery, or by a replica that has not redone it."""
    kept = min(st[node, S_BACKUP], st[node, S_RECOVER])
    if node == primary:
        for other in range(st.shape[0]):
            if other != node:
                kept = min(kept, st[other, S_REDONE])
    else:
        kept = min(kept, st[node, S_REDONE])
    return max(0.0, st[node, S_LSN] - kept)


@kernel
def write_out(node, primary, dt, rate, st, seg, wl, ct, tot):
    """Book the pages the node's writer wrote at ``rate`` pages/s."""
    position = st[node, S_LSN] if node == primary else st[node, S_REDONE]
    pages = rate * dt
    if st[node, S_SWEEPING] > 0.5:
        tot[node, T_CHECKPOINT] += pages
        write_checkpoint(node, position, pages, dt, st, seg, wl)
    elif st[node, S_TARGET] > 0.0:
        tot[node, T_BACKGROUND] += pages
        write_background(node, position, pages, st, seg, wl, ct)
    tot[node, T_PAGE_WRITES] += pages


@kernel
def book_data(node, dt, reads, rate, wl, out, tot):
    """Totals of the data volume for ``reads`` page reads/s and ``rate`` pages written/s."""
    writes = rate / wl[W_PAGES_PER_WRITE]
    tot[node, T_PAGE_READS] += reads * dt
    tot[node, T_DATA_READS] += reads * dt
    tot[node, T_DATA_BYTES_READ] += reads * dt * PAGE
    tot[node, T_DATA_READ_STALL] += reads * dt * out[O_READ_LAT] * 1e3
    tot[node, T_DATA_WRITES] += writes * dt
    tot[node, T_DATA_BYTES_WRITTEN] += rate * dt * PAGE
    tot[node, T_DATA_WRITE_STALL] += writes * dt * out[O_WRITE_LAT] * 1e3


@kernel
def book_log(node, dt, flushes, bytes_s, latency, tot):
    """Totals of the log volume for ``flushes`` writes/s that carry ``bytes_s``."""
    tot[node, T_LOG_FLUSHES] += flushes * dt
    tot[node, T_LOG_WRITES] += flushes * dt
    tot[node, T_LOG_BYTES] += bytes_s * dt
    tot[node, T_LOG_BYTES_WRITTEN] += bytes_s * dt
    tot[node, T_LOG_STALL] += flushes * dt * latency * 1e3


@kernel
def book_foreground(node, dt, x, hw, wl, env, out, tot):
    """Totals of ``x`` transactions/s on the primary and of what they waited for."""
    writes = x * wl[W_WRITE_SHARE]
    reads = x * hw[node, H_READS_PER_TX]
    tot[node, T_TX] += x * dt
    tot[node, T_BATCHES] += x * wl[W_BATCHES] * dt
    tot[node, T_RESPONSE] += x * out[O_R] * dt * 1e3
    tot[node, T_LOG_FLUSH_WAIT] += writes * out[O_COMMIT_LOCAL] * dt * 1e3
    tot[node, T_W_WRITELOG] += writes * out[O_COMMIT_LOCAL] * dt * 1e3
    tot[node, T_N_WRITELOG] += writes * dt
    if env[E_NSYNC] > 0.5:
        tot[node, T_MIRRORED] += writes * dt
        tot[node, T_DELAY] += writes * out[O_REMOTE] * dt * 1e3
        tot[node, T_W_HADR] += writes * out[O_REMOTE] * dt * 1e3
        tot[node, T_N_HADR] += writes * dt
    tot[node, T_W_PAGE] += reads * out[O_READ_LAT] * dt * 1e3
    tot[node, T_N_PAGE] += reads * dt
    tot[node, T_W_SOS] += x * out[O_CPU_WAIT] * dt * 1e3
    tot[node, T_N_SOS] += x * dt


@kernel
def tick_primary(p, dt, hw, wl, ct, st, seg, cl, tot, sync, env, out):
    """Solve the primary's closed network and book its tick; returns the log made (B/s)."""
    sending = 0.0
    syncing = 0.0
    for node in range(hw.shape[0]):
        sync[node] = 0.0
        if node != p and st[node, S_CONNECTED] > 0.5:
            sending += 1.0
            sync[node] = in_step(node, p, st)
            syncing += sync[node]
    blocked = st[p, S_REDONE] < st[p, S_LSN]  # a new primary first redoes what it had hardened
    full = log_used(p, p, st) >= hw[p, H_LOG_FILE]
    env[E_USERS] = 0.0 if blocked or full else cl[K_USERS]
    env[E_CPU] = wl[W_CPU] * math.exp(ct[C_NOISE_CV] * cl[K_NOISE])
    env[E_SEND_WORK] = wl[W_LOG] * sending * ct[C_SEND_CPU]
    env[E_BG_WORK] = ct[C_BASE_CPU]
    env[E_NSEND] = sending
    env[E_NSYNC] = syncing
    log_rate = cl[K_X] * wl[W_LOG]
    asked = plan_writes(p, st[p, S_LSN], dt, dt / hw[p, H_WRITE_S], log_rate, st, seg, wl, ct)
    env[E_WRITE_LIMIT] = asked
    depth = st[p, S_DEPTH] + 0.5 * dt if st[p, S_SWEEPING] > 0.5 else _STEADY
    env[E_UTIL_STAR] = util_star(depth, hw[p], ct)
    x = solve(cl[K_X], p, hw, wl, ct, sync, env, out)
    cl[K_X] = x
    log_rate = x * wl[W_LOG]
    st[p, S_LSN] += log_rate * dt
    if not blocked:
        st[p, S_REDONE] = st[p, S_LSN]
    st[p, S_SENT] = st[p, S_LSN]
    touches = x * wl[W_TOUCHES] * dt
    st[p, S_TOUCHES] += touches
    tot[p, T_DIRTIED] += touches
    write_out(p, p, dt, out[O_WRITE_RATE], st, seg, wl, ct, tot)
    st[p, S_CPU] = out[O_CPU_UTIL]
    tot[p, T_CPU] += out[O_CPU_UTIL] * hw[p, H_THREADS] * dt * 1e3
    book_foreground(p, dt, x, hw, wl, env, out, tot)
    book_data(p, dt, x * hw[p, H_READS_PER_TX], out[O_WRITE_RATE], wl, out, tot)
    book_log(p, dt, out[O_LOG_FLUSHES], log_rate, out[O_LOG_LAT], tot)
    return log_rate


@kernel
def tick_secondary(node, p, dt, rate_max, flushes, hw, wl, ct, st, seg, tot, env, out):
    """Send to, harden and redo on one secondary, and let its own writer work."""
    ship(node, p, dt, rate_max, st, tot)
    done = redo(node, dt, st, ct, tot)
    x = 0.0
    if wl[W_LOG] > 0.0:
        x = done / dt / wl[W_LOG]
    tot[node, T_TX] += x * dt
    touches = x * wl[W_TOUCHES] * dt
    st[node, S_TOUCHES] += touches
    tot[node, T_DIRTIED] += touches
    most = dt / hw[node, H_WRITE_S]
    env[E_WRITE_LIMIT] = plan_writes(node, st[node, S_REDONE], dt, most, done / dt, st, seg, wl, ct)
    depth = st[node, S_DEPTH] + 0.5 * dt if st[node, S_SWEEPING] > 0.5 else _STEADY
    env[E_UTIL_STAR] = util_star(depth, hw[node], ct)
    reads = x * hw[node, H_READS_PER_TX]
    data_volume(reads, hw[node], ct, env, out)
    rate = out[O_WRITE_RATE]
    write_out(node, p, dt, rate, st, seg, wl, ct, tot)
    book_data(node, dt, reads, rate, wl, out, tot)
    received = st[node, S_SEND_RATE]
    size = flush_size(received, hw[node], ct)
    writes = flushes
    if received > 0.0 and flushes <= 0.0:
        writes = received / ct[C_LOG_BLOCK]
    if received <= 0.0:
        writes = 0.0
    book_log(node, dt, writes, received, log_write_latency(min(received, 0.99 * hw[node, H_LOG_BW]), size, hw[node]), tot)
    work = ct[C_BASE_CPU] + received * ct[C_RECEIVE_CPU] + done / dt * ct[C_REDO_CPU] + rate * ct[C_WRITE_CPU]
    util = min(1.0, cpu_utilisation(work, hw[node]))
    st[node, S_CPU] = util
    tot[node, T_CPU] += util * hw[node, H_THREADS] * dt * 1e3


@kernel
def tick(dt, hw, wl, ct, st, seg, cl, tot, sync, env, out):
    """Advance the whole cluster by ``dt`` seconds."""
    p = int(cl[K_PRIMARY])
    if st[p, S_REDONE] < st[p, S_LSN]:
        redo(p, dt, st, ct, tot)
    tick_primary(p, dt, hw, wl, ct, st, seg, cl, tot, sync, env, out)
    rate_max = send_bytes_s_max(p, env[E_NSEND], hw, ct)
    flushes = out[O_LOG_FLUSHES]
    for node in range(hw.shape[0]):
        if node != p:
            tick_secondary(node, p, dt, rate_max, flushes, hw, wl, ct, st, seg, tot, env, out)


@kernel
def advance(ticks, dt, first, per_sample, hw, wl, ct, st, seg, cl, tot, noise, tot_out, st_out):
    """Run ``ticks`` ticks of ``dt`` seconds.

    Parameters
    ----------
    first : int
        Ticks done before (counts from the start of the run).
    per_sample : int
        A sample is taken whenever the count of ticks is a multiple of it.
    noise : float64[ticks]
        One normal draw per tick; NaN keeps the noise where it is.
    tot_out, st_out : float64[samples, nodes, TOT_SIZE] and [samples, nodes, ST_SIZE]
        Filled with totals and state at each sample.

    Returns
    -------
    int
        Samples taken.
    """
    sync = np.zeros(hw.shape[0])
    env = np.zeros(ENV_SIZE)
    out = np.zeros(OUT_SIZE)
    samples = 0
    for index in range(ticks):
        move_noise(noise[index], dt, cl, ct)
        tick(dt, hw, wl, ct, st, seg, cl, tot, sync, env, out)
        if (first + index + 1) % per_sample == 0 and samples < tot_out.shape[0]:
            for node in range(hw.shape[0]):
                for column in range(tot.shape[1]):
                    tot_out[samples, node, column] = tot[node, column]
                for column in range(st.shape[1]):
                    st_out[samples, node, column] = st[node, column]
            samples += 1
    return samples
