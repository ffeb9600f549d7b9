"""One tick of the whole cluster, and many: the outermost kernel.

Order in a tick: the writer of each node plans, the primary's closed network is solved beside it, log is made, sent,
hardened and redone, pages are touched and written, totals grow. A backup takes its share of a node before that.
"""

from __future__ import annotations

import math

from aglab.engine import layout as at
from aglab.engine.alike import catch_up, find_alike, keep_up, stand_alone
from aglab.engine.balance import back_up_log, beside_jobs, fix_pace, follow_rate, move_noise, prepare, remember
from aglab.engine.booking import book_data, book_foreground, book_log, write_out
from aglab.engine.counting import count, log_used
from aglab.engine.jit import entry, kernel
from aglab.engine.layout import Array
from aglab.engine.logfile import grow_log
from aglab.engine.logpath import (
    blocks_follow,
    flush_size,
    harden_idle,
    log_turn,
    log_write_latency,
    on_the_way,
    packed,
    send_bytes_s_max,
)
from aglab.engine.machine import cpu_utilisation, data_volume, plan_volume
from aglab.engine.pages import plan_writes
from aglab.engine.replicas import redo, redo_job_log, ship
from aglab.engine.sharing import forget_shares, has_job, move_jobs, take_shares, users_wait
from aglab.engine.tempdb import book_tempdb, move_versions
from aglab.engine.warmth import missing_hot, warm_up

_STEADY = 1e9  # seconds: a writer long past its ramp


@kernel
def tick_primary(
    p: int,
    dt: float,
    hw: Array,
    wl: Array,
    ct: Array,
    st: Array,
    seg: Array,
    cl: Array,
    tot: Array,
    jb: Array,
    sync: Array,
    alike: Array,
    env: Array,
    out: Array,
) -> float:
    """Solve the primary's closed network and book its tick; returns the log made (B/s)."""
    blocked = st[p, at.S_REDONE] < st[p, at.S_LSN]  # a new primary first redoes what it had hardened
    used = log_used(p, p, st)
    full = used >= hw[p, at.H_LOG_FILE] + st[p, at.S_GROWN]
    if full:
        full = grow_log(p, used, hw[p, at.H_LOG_FILE], ct, st, tot)
    if full:
        tot[p, at.T_LOG_FULL] += dt * 1e3
    stalled = st[p, at.S_STALL] >= dt
    if stalled:
        st[p, at.S_STALL] -= dt
    users = 0.0 if blocked or full or stalled or users_wait(p, jb) else cl[at.K_USERS]
    mix = math.exp(ct[at.C_NOISE_CV] * cl[at.K_NOISE])
    prepare(p, users, mix, hw, wl, ct, st, sync, alike, env)
    asked = plan_writes(p, st[p, at.S_LSN], dt, dt / hw[p, at.H_WRITE_S], st[p, at.S_LOG_RATE], st, seg, wl, ct)
    depth = st[p, at.S_DEPTH] + 0.5 * dt if st[p, at.S_SWEEPING] > 0.5 else _STEADY
    plan_volume(depth, asked, hw[p], ct, env)
    guess = cl[at.K_X] + cl[at.K_LEAN] * (mix - cl[at.K_MIX])
    x = beside_jobs(guess, cl[at.K_SLOPE], p, hw, wl, ct, sync, jb, env, out)
    remember(x, mix, cl, out)
    log_rate = x * wl[at.W_LOG] + env[at.E_JOB_LOG_RATE]
    st[p, at.S_LSN] += log_rate * dt
    follow_rate(p, log_rate, st, env)
    if not blocked:
        st[p, at.S_REDONE] = st[p, at.S_LSN]
    st[p, at.S_SENT] = st[p, at.S_LSN]
    touches = x * wl[at.W_TOUCHES] * dt
    st[p, at.S_TOUCHES] += touches
    tot[p, at.T_DIRTIED] += touches
    write_out(p, p, dt, out[at.O_WRITE_RATE], st, seg, wl, ct, tot)
    if env[at.E_JOB_WORK] > 0.0:
        out[at.O_CPU_UTIL] = min(1.0, out[at.O_CPU_UTIL])
    st[p, at.S_CPU] = out[at.O_CPU_UTIL]
    tot[p, at.T_CPU] += out[at.O_CPU_UTIL] * hw[p, at.H_THREADS] * dt * 1e3
    book_foreground(p, dt, x, hw, wl, env, out, tot)
    if wl[at.W_TEMPDB] > 0.5:
        book_tempdb(p, dt, x, wl, out, tot)
    if wl[at.W_VERSIONS] > 0.0:
        move_versions(p, dt, x, wl, st, cl, jb, tot)
    warm_up(p, x * dt, wl, st, tot)
    book_data(p, dt, x * env[at.E_READS], out[at.O_WRITE_RATE], wl, out, tot)
    move_jobs(p, dt, jb, tot)
    flushes = out[at.O_LOG_FLUSHES] + env[at.E_JOB_LOG_RATE] / ct[at.C_LOG_BLOCK]
    book_log(p, dt, flushes, log_rate, out[at.O_LOG_LAT], tot)
    return log_rate


@kernel
def tick_secondary(
    node: int,
    p: int,
    dt: float,
    rate_max: float,
    flushes: float,
    job_log: float,
    hw: Array,
    wl: Array,
    ct: Array,
    st: Array,
    seg: Array,
    tot: Array,
    jb: Array,
    env: Array,
    out: Array,
) -> None:
    """Send to, harden and redo on one secondary, and let its own writer work; ``job_log`` bytes of the log made are a job's."""
    here = hw[node]
    ship(node, p, dt, rate_max, st, tot)
    queue = st[p, at.S_LSN] - st[node, at.S_REDONE]
    done = redo(node, dt, st, ct, tot)
    ours = done - redo_job_log(node, done, queue, job_log, st)
    if st[node, at.S_SUSPENDED] < 0.5:
        tot[node, at.T_REDO_OPEN] += dt * 1e3
    x = 0.0
    if wl[at.W_LOG] > 0.0:
        x = ours / dt / wl[at.W_LOG]
    tot[node, at.T_TX] += x * dt
    touches = x * wl[at.W_TOUCHES] * dt
    st[node, at.S_TOUCHES] += touches
    tot[node, at.T_DIRTIED] += touches
    most = dt / hw[node, at.H_WRITE_S]
    follow_rate(node, done / dt, st, env)
    asked = plan_writes(node, st[node, at.S_REDONE], dt, most, st[node, at.S_LOG_RATE], st, seg, wl, ct)
    depth = st[node, at.S_DEPTH] + 0.5 * dt if st[node, at.S_SWEEPING] > 0.5 else _STEADY
    plan_volume(depth, asked, here, ct, env)
    forget_shares(here, env)
    if has_job(node, jb):
        env[at.E_BG_WORK] = 0.0
        take_shares(node, jb[node, 0, at.J_LOAD], 0.0, 0.0, hw, ct, jb, env)
    reads = x * (hw[node, at.H_READS_PER_TX] + missing_hot(node, wl, st))
    if x > 0.0:
        warm_up(node, x * dt, wl, st, tot)
    data_volume(reads, 1.0, here, ct, env, out)
    rate = out[at.O_WRITE_RATE]
    write_out(node, p, dt, rate, st, seg, wl, ct, tot)
    book_data(node, dt, reads, rate, wl, out, tot)
    received = st[node, at.S_SEND_RATE]
    size = flush_size(received, harden_idle(here) + log_turn(here, ct), here[at.H_LOG_BW], ct[at.C_LOG_BLOCK])
    writes = flushes
    if blocks_follow(here) > 0.5:
        size = ct[at.C_LOG_BLOCK]
        writes = received / size
    if received > 0.0 and flushes <= 0.0:
        writes = received / ct[at.C_LOG_BLOCK]
    if received <= 0.0:
        writes = 0.0
    book_log(
        node,
        dt,
        writes,
        received,
        log_write_latency(min(received, 0.99 * here[at.H_LOG_BW]), size, 1.0, here[at.H_LOG_LAT], here[at.H_LOG_BW]),
        tot,
    )
    receiving = ct[at.C_RECEIVE_CPU] + packed(node, st, ct) * ct[at.C_UNPACK_CPU]
    base = ct[at.C_BASE_CPU] + here[at.H_OTHER_WORK]
    work = base + received * receiving + done / dt * ct[at.C_REDO_CPU] + rate * ct[at.C_WRITE_CPU]
    util = min(1.0, cpu_utilisation(work, here))
    jb[node, 0, at.J_LOAD] = util
    if env[at.E_JOB_WORK] > 0.0:
        util = min(1.0, cpu_utilisation(work + env[at.E_JOB_WORK], here))
    move_jobs(node, dt, jb, tot)
    st[node, at.S_CPU] = util
    tot[node, at.T_CPU] += util * hw[node, at.H_THREADS] * dt * 1e3


@kernel
def tick(
    dt: float,
    hw: Array,
    wl: Array,
    ct: Array,
    st: Array,
    seg: Array,
    cl: Array,
    tot: Array,
    jb: Array,
    sync: Array,
    alike: Array,
    env: Array,
    out: Array,
) -> None:
    """Advance the whole cluster by ``dt`` seconds."""
    p = int(cl[at.K_PRIMARY])
    if st[p, at.S_REDONE] < st[p, at.S_LSN]:
        redo(p, dt, st, ct, tot)
    tick_primary(p, dt, hw, wl, ct, st, seg, cl, tot, jb, sync, alike, env, out)
    job_log = env[at.E_JOB_LOG_RATE] * dt
    back_up_log(dt, st, cl, ct)
    flushes = out[at.O_LOG_FLUSHES]
    message = ct[at.C_LOG_BLOCK]
    if flushes > 0.0 and cl[at.K_X] > 0.0:
        message = cl[at.K_X] * wl[at.W_LOG] / flushes
    rate_max = send_bytes_s_max(p, env[at.E_WIRE], hw, ct) * (1.0 - env[at.E_JOB_NET])
    for node in range(hw.shape[0]):
        rate = on_the_way(rate_max, message, p, node, hw, ct)
        if alike[node] >= 0.0:
            keep_up(node, int(alike[node]), p, dt, rate, st, tot)
        elif node != p:
            tick_secondary(node, p, dt, rate, flushes, job_log, hw, wl, ct, st, seg, tot, jb, env, out)


@entry
def advance(
    ticks: int,
    dt: float,
    first: int,
    per_sample: int,
    sample_s: float,
    hw: Array,
    wl: Array,
    ct: Array,
    st: Array,
    seg: Array,
    cl: Array,
    tot: Array,
    jb: Array,
    noise: Array,
    sync: Array,
    alike: Array,
    env: Array,
    out: Array,
    last: Array,
    values: Array,
) -> int:
    """Run ``ticks`` ticks of ``dt`` seconds.

    Parameters
    ----------
    first : int
        Ticks done before (counts from the start of the run).
    per_sample : int
        A sample is taken whenever the count of ticks is a multiple of it.
    noise : float64[ticks]
        One normal draw per tick; NaN keeps the noise where it is.
    sync, alike, env, out : float64[n]
        Room to work in (:func:`aglab.engine.layout.workspace`): kernels allocate nothing.
    last : float64[nodes, TOT_SIZE]
        Totals at the last sample; moves on.
    values : float64[samples, nodes * COUNTERS]
        Filled with the counters of each sample of ``sample_s`` seconds.

    Returns
    -------
    int
        Samples taken.
    """
    fix_pace(dt, ct, env)
    find_alike(int(cl[at.K_PRIMARY]), hw, st, seg, tot, jb, alike)
    samples = 0
    for index in range(ticks):
        move_noise(noise[index], cl, env)
        tick(dt, hw, wl, ct, st, seg, cl, tot, jb, sync, alike, env, out)
        if (first + index + 1) % per_sample == 0 and samples < values.shape[0]:
            catch_up(alike, st, tot)
            count(sample_s, int(cl[at.K_PRIMARY]), hw, st, tot, last, values[samples])
            samples += 1
    stand_alone(alike, st, seg, tot, jb)
    return samples


@entry
def log_used_now(node: int, primary: int, st: Array) -> float:
    """Log bytes in use on a node."""
    return log_used(node, primary, st)


@entry
def solve_steady(
    p: int,
    users: float,
    pages_s: float,
    hw: Array,
    wl: Array,
    ct: Array,
    st: Array,
    jb: Array,
    sync: Array,
    alike: Array,
    env: Array,
    out: Array,
) -> float:
    """Throughput of the closed network beside jobs and a writer that asks for ``pages_s``; fills ``env`` and ``out``."""
    prepare(p, users, 1.0, hw, wl, ct, st, sync, alike, env)
    plan_volume(_STEADY, pages_s, hw[p], ct, env)
    return beside_jobs(0.0, 0.0, p, hw, wl, ct, sync, jb, env, out)
