"""One tick of the whole cluster, and many: the outermost kernel.

Order in a tick: the writer of each node plans, the primary's closed network is solved beside it, log is made, sent,
hardened and redone, pages are touched and written, totals grow. A backup takes its share of a node before that.
"""

from __future__ import annotations

import math

from aglab.engine import layout as at
from aglab.engine.alike import catch_up, find_alike, keep_up, stand_alone
from aglab.engine.counting import count, log_used
from aglab.engine.jit import entry, kernel
from aglab.engine.layout import Array
from aglab.engine.logfile import grow_log
from aglab.engine.logpath import (
    blocks_follow,
    flush_size,
    harden_idle,
    in_step,
    log_turn,
    log_write_latency,
    packed,
    send_bytes_s_max,
    through_gate,
)
from aglab.engine.machine import cpu_capacity, cpu_utilisation, data_volume, plan_volume
from aglab.engine.pages import plan_writes, write_background, write_checkpoint
from aglab.engine.replicas import redo, redo_job_log, ship
from aglab.engine.sharing import BUSY_MOST, forget_shares, has_job, move_jobs, take_shares, users_wait
from aglab.engine.solve import solve
from aglab.engine.tempdb import book_tempdb, move_versions
from aglab.engine.warmth import missing_hot, missing_rest, warm_up

PAGE = 8192.0
_BASE_MOST = 0.1  # share of a small machine that idle services take at most
_SAME_MIX = 1e-5  # a smaller change of the CPU demand tells nothing
_STEADY = 1e9  # seconds: a writer long past its ramp


@kernel
def fix_pace(dt: float, ct: Array, env: Array) -> None:
    """What ticks of equal length share: how much of an average they keep."""
    keep = math.exp(-dt / ct[at.C_NOISE_TIME])
    env[at.E_NOISE_KEPT] = keep
    env[at.E_NOISE_NEW] = math.sqrt(1.0 - keep * keep)
    env[at.E_PACE_KEPT] = math.exp(-dt / ct[at.C_PACE])


@kernel
def move_noise(draw: float, cl: Array, env: Array) -> None:
    """Let the transaction mix wander (first-order autoregression); NaN keeps it where it is."""
    if not math.isnan(draw):
        cl[at.K_NOISE] = env[at.E_NOISE_KEPT] * cl[at.K_NOISE] + env[at.E_NOISE_NEW] * draw


@kernel
def follow_rate(node: int, rate: float, st: Array, env: Array) -> None:
    """Let a node's average log rate follow ``rate``; the background writer paces itself by the average."""
    keep = env[at.E_PACE_KEPT]
    st[node, at.S_LOG_RATE] = keep * st[node, at.S_LOG_RATE] + (1.0 - keep) * rate


@kernel
def back_up_log(dt: float, st: Array, cl: Array, ct: Array) -> None:
    """Back up the log on schedule: what was made by now is no longer kept for a backup."""
    cl[at.K_SINCE_BACKUP] += dt
    if ct[at.C_BACKUP_EVERY] > 0.0 and cl[at.K_SINCE_BACKUP] >= ct[at.C_BACKUP_EVERY] - 1e-9:
        cl[at.K_SINCE_BACKUP] = 0.0
        for node in range(st.shape[0]):
            st[node, at.S_BACKUP] = max(st[node, at.S_BACKUP], st[node, at.S_LSN])


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


@kernel
def prepare(
    p: int, users: float, mix: float, hw: Array, wl: Array, ct: Array, st: Array, sync: Array, alike: Array, env: Array
) -> None:
    """Fix what does not change during one tick: users, CPU demand (``mix`` times the average), who must be waited for.

    Replicas that are alike answer at the same moment: one of them is waited for.
    """
    sending = 0.0
    syncing = 0.0
    small = 0.0  # replicas that log goes compressed to
    for node in range(hw.shape[0]):
        sync[node] = 0.0
        if node != p and st[node, at.S_CONNECTED] > 0.5:
            sending += 1.0
            small += packed(node, st, ct)
            waited = in_step(node, p, st)
            syncing += waited
            if alike[node] < 0.0:
                sync[node] = waited
    env[at.E_USERS] = users
    env[at.E_READS] = hw[p, at.H_READS_PER_TX] + missing_hot(p, wl, st) + missing_rest(p, wl, st)
    env[at.E_DATA_READS] = env[at.E_READS] + wl[at.W_SPILL_DATA]
    env[at.E_CPU] = wl[at.W_CPU] * mix
    env[at.E_SEND_WORK] = wl[at.W_LOG] * sending * ct[at.C_SEND_CPU]
    env[at.E_BG_WORK] = min(ct[at.C_BASE_CPU], _BASE_MOST * cpu_capacity(hw[p])) + hw[p, at.H_OTHER_WORK]
    env[at.E_WIRE] = sending
    env[at.E_PACK_S] = 0.0
    if small > 0.0:
        env[at.E_WIRE] = sending - small + small / ct[at.C_PACK_RATIO]
        env[at.E_SEND_WORK] += wl[at.W_LOG] * ct[at.C_PACK_CPU]  # once: compressed blocks are kept for the other replicas
        env[at.E_PACK_S] = ct[at.C_PACK_SYNC] * (ct[at.C_PACK_CPU] + ct[at.C_UNPACK_CPU]) / hw[p, at.H_SPEED]
    if syncing < ct[at.C_REQUIRED] and wl[at.W_WRITE_SHARE] > 0.0:
        env[at.E_USERS] = 0.0  # commits wait for secondaries that are not there, and sooner or later every user commits
    env[at.E_NSEND] = sending
    env[at.E_NSYNC] = syncing
    forget_shares(hw[p], env)


@kernel
def beside_jobs(
    guess: float, slope: float, p: int, hw: Array, wl: Array, ct: Array, sync: Array, jb: Array, env: Array, out: Array
) -> float:
    """Throughput beside the node's jobs: what the load takes without them says how busy they find the machine."""
    x = guess
    for alone in range(2):  # a loop, because the solver is inlined where it is called
        x = solve(x, slope, p, hw, wl, ct, sync, env, out)
        slope = out[at.O_SLOPE]
        if alone > 0 or not has_job(p, jb):
            break
        log_busy = x * wl[at.W_LOG] / hw[p, at.H_LOG_BW]
        take_shares(p, out[at.O_CPU_UTIL], min(BUSY_MOST, out[at.O_DATA_UTIL]), log_busy, hw, ct, jb, env)
    return x


@kernel
def remember(x: float, mix: float, cl: Array, out: Array) -> None:
    """Keep what the next tick's guess is made of: the solution, its slope, and how it followed the CPU demand."""
    change = mix - cl[at.K_MIX]
    if abs(change) > _SAME_MIX and cl[at.K_MIX] > 0.0:
        cl[at.K_LEAN] = (x - cl[at.K_X]) / change
    cl[at.K_X] = x
    cl[at.K_MIX] = mix
    cl[at.K_SLOPE] = out[at.O_SLOPE]


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
    data_volume(reads, here, ct, env, out)
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
    rate_max = through_gate(rate_max, message, p, hw, ct)
    for node in range(hw.shape[0]):
        if alike[node] >= 0.0:
            keep_up(node, int(alike[node]), p, dt, rate_max, st, tot)
        elif node != p:
            tick_secondary(node, p, dt, rate_max, flushes, job_log, hw, wl, ct, st, seg, tot, jb, env, out)


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
