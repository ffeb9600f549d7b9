"""The primary's closed network in one tick: what is fixed before it is solved, its solution beside jobs, what is kept of it."""

from __future__ import annotations

import math

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array
from aglab.engine.logpath import in_step, packed
from aglab.engine.machine import cpu_capacity
from aglab.engine.sharing import BUSY_MOST, forget_shares, has_job, take_shares
from aglab.engine.solve import solve
from aglab.engine.warmth import missing_hot, missing_rest

_BASE_MOST = 0.1  # share of a small machine that idle services take at most
_RESTED = 0.01  # an average below this share of what is made now is of a time of rest
_SAME_MIX = 1e-5  # a smaller change of the CPU demand tells nothing


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
    """Let a node's average log rate follow ``rate``; the background writer paces itself by the average.

    After a rest the average begins anew with what it sees: one that crept up from nothing would let the writer fall behind, and
    catch up in waves, whenever users come all at once.
    """
    keep = env[at.E_PACE_KEPT]
    before = st[node, at.S_LOG_RATE]
    if before < _RESTED * rate:
        before = rate
    st[node, at.S_LOG_RATE] = keep * before + (1.0 - keep) * rate


@kernel
def back_up_log(dt: float, st: Array, cl: Array, ct: Array) -> None:
    """Back up the log on schedule: what was made by now is no longer kept for a backup."""
    cl[at.K_SINCE_BACKUP] += dt
    if ct[at.C_BACKUP_EVERY] > 0.0 and cl[at.K_SINCE_BACKUP] >= ct[at.C_BACKUP_EVERY] - 1e-9:
        cl[at.K_SINCE_BACKUP] = 0.0
        for node in range(st.shape[0]):
            st[node, at.S_BACKUP] = max(st[node, at.S_BACKUP], st[node, at.S_LSN])


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
    env[at.E_SYNC_WAY] = hw[p, at.H_WAY]
    env[at.E_SYNC_RTT] = hw[p, at.H_RTT]
    for node in range(hw.shape[0]):
        sync[node] = 0.0
        if node != p and st[node, at.S_CONNECTED] > 0.5:
            sending += 1.0
            small += packed(node, st, ct)
            waited = in_step(node, p, st)
            syncing += waited
            if alike[node] < 0.0:
                sync[node] = waited
            if waited > 0.5:
                env[at.E_SYNC_WAY] = min(env[at.E_SYNC_WAY], hw[node, at.H_WAY])
                env[at.E_SYNC_RTT] = max(env[at.E_SYNC_RTT], hw[node, at.H_RTT])
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
