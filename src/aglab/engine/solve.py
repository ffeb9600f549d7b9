"""The closed network of one tick: find X with X * R(X) = N.

R(X) = think + CPU time and wait + reads * read latency + write share * commit, and waits for a scheduler behind a job's
workers (:mod:`aglab.engine.sharing`) and for tempdb (:mod:`aglab.engine.tempdb`). X * R(X) never falls with X, so the root
is unique; it is found by a bracketed secant (Illinois) from the last tick's answer.
"""

from __future__ import annotations

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array
from aglab.engine.logpath import commit, flush_rate, log_bytes_s_max, on_the_way, plan_commits
from aglab.engine.machine import cpu, cpu_capacity, data_volume
from aglab.engine.tempdb import tempdb_limit, tempdb_time

_STEPS_MAX = 80
_TOLERANCE = 1e-9
_SECANTS = 8  # looks at R before the bracket takes over


@kernel
def response(x: float, here: Array, primary: int, hw: Array, wl: Array, ct: Array, sync: Array, env: Array, out: Array) -> float:
    """Response time at throughput ``x`` (s); fills ``out``."""
    data_volume(x * env[at.E_DATA_READS], env[at.E_OTHERS], here, ct, env, out)
    work = x * (env[at.E_CPU] + env[at.E_SEND_WORK]) + env[at.E_BG_WORK] + out[at.O_WRITE_RATE] * ct[at.C_WRITE_CPU]
    cpu(work, env[at.E_CPU], here, out)
    share = wl[at.W_WRITE_SHARE]
    r = wl[at.W_THINK] + out[at.O_CPU_TIME] + out[at.O_CPU_WAIT] + env[at.E_READS] * out[at.O_READ_LAT]
    if share > 0.0:
        r = r + share * commit(x * share, here, primary, hw, ct, sync, env, out)
    if wl[at.W_TEMPDB] > 0.5:
        r = r + tempdb_time(x, wl, out)
    if env[at.E_RESUME] > 0.0:
        r = r + (wl[at.W_BATCHES] + env[at.E_READS] + share) * env[at.E_RESUME]
    out[at.O_R] = r
    return r


@kernel
def throughput_max(primary: int, hw: Array, wl: Array, ct: Array, sync: Array, env: Array) -> float:
    """The least of the stations' limits (tx/s): no solution lies above it."""
    here = hw[primary]
    demand = env[at.E_CPU] + env[at.E_SEND_WORK]
    limit = 1e12
    if demand > 0.0:
        limit = max(0.0, (cpu_capacity(here) - env[at.E_BG_WORK]) / demand)
    if env[at.E_DATA_READS] * here[at.H_READ_S] > 1e-15:
        writes = min(env[at.E_WRITE_LIMIT] * env[at.E_WRITE_S], ct[at.C_WRITE_FLOOR])  # what a writer that backs off still takes
        room = max(0.0, 1.0 - here[at.H_OTHER_DATA] - writes)
        limit = min(limit, room / (env[at.E_DATA_READS] * env[at.E_READ_S]))
    if wl[at.W_TEMPDB] > 0.5:
        limit = tempdb_limit(limit, wl)
    if wl[at.W_LOG] > 0.0 and wl[at.W_WRITE_SHARE] > 0.0:
        log_max = log_bytes_s_max(here, ct) * (1.0 - env[at.E_JOB_LOG]) * (1.0 - here[at.H_OTHER_LOG])
        for node in range(hw.shape[0]):
            if sync[node] > 0.5:
                log_max = min(log_max, on_the_way(env[at.E_WAY], env[at.E_BLOCK_MOST], primary, node, hw, ct))
        limit = min(limit, log_max / wl[at.W_LOG])
    return limit


@kernel
def gap(x: float, here: Array, primary: int, hw: Array, wl: Array, ct: Array, sync: Array, env: Array, out: Array) -> float:
    """What ``N / R(x)`` exceeds ``x`` by: zero at the solution, and it falls with ``x`` wherever R does not."""
    return env[at.E_USERS] / response(x, here, primary, hw, wl, ct, sync, env, out) - x


@kernel
def solve(
    guess: float, slope: float, primary: int, hw: Array, wl: Array, ct: Array, sync: Array, env: Array, out: Array
) -> float:
    """Throughput with X * R(X) = N (tx/s); ``out`` holds the stations' times at it. Returns 0 for no users."""
    plan_commits(primary, hw, wl, ct, env)
    x = root(guess, slope, primary, hw, wl, ct, sync, env, out)
    if wl[at.W_WRITE_SHARE] > 0.0:
        flush_rate(x * wl[at.W_WRITE_SHARE], hw[primary], env, out)
    return x


@kernel
def root(guess: float, slope: float, primary: int, hw: Array, wl: Array, ct: Array, sync: Array, env: Array, out: Array) -> float:
    """The root of the gap; the last look at R is at it.

    From tick to tick the root moves little and the slope of the gap hardly at all: a secant that begins with the last tick's
    slope needs about three looks at R. Where it does not settle, :func:`solve_bracketed` takes over.
    """
    here = hw[primary]
    top = throughput_max(primary, hw, wl, ct, sync, env) * (1.0 - 1e-12)
    if env[at.E_USERS] <= 0.0 or top <= 0.0:
        response(0.0, here, primary, hw, wl, ct, sync, env, out)
        return 0.0
    out[at.O_SLOPE] = slope if slope < 0.0 else -1.0
    x = guess
    if not (0.0 < x <= top):
        x = 0.5 * top
    before = 0.0
    off_before = 0.0
    for step in range(_SECANTS):
        off = gap(x, here, primary, hw, wl, ct, sync, env, out)
        if step > 0:
            slope = (off - off_before) / (x - before)
            if not slope < 0.0:
                break
            out[at.O_SLOPE] = slope
        if abs(off) <= _TOLERANCE * x:
            return x
        before = x
        off_before = off
        x = x - off / out[at.O_SLOPE]
        if not (0.0 < x <= top):
            break
    return solve_bracketed(before, off_before, top, here, primary, hw, wl, ct, sync, env, out)


@kernel
def solve_bracketed(
    x: float,
    off: float,
    top: float,
    here: Array,
    primary: int,
    hw: Array,
    wl: Array,
    ct: Array,
    sync: Array,
    env: Array,
    out: Array,
) -> float:
    """The root from ``x``, where the gap is ``off``, by a bracketed secant (Illinois).

    Where R rises with x the root lies between x and ``N / R(x)``: that is the first bracket. R may fall for a while (log blocks
    fill sooner), so the bracket widens until it holds the root.
    """
    y = min(top, x + off)
    low = x
    g_low = off
    high = x
    g_high = off
    if off > 0.0:
        for _ in range(_STEPS_MAX):
            high = y
            g_high = gap(y, here, primary, hw, wl, ct, sync, env, out)
            if g_high <= 0.0:
                break
            if y >= top:
                # N / R still exceeds x: the slowest station's limit holds and users queue there
                out[at.O_R] = env[at.E_USERS] / y
                return y
            low = y
            g_low = g_high
            y = min(top, max(2.0 * y, y + g_high))
    else:
        for _ in range(_STEPS_MAX):
            low = y
            g_low = gap(y, here, primary, hw, wl, ct, sync, env, out)
            if g_low >= 0.0:
                break
            high = y
            g_high = g_low
            y = min(0.5 * y, y + g_low) if y + g_low > 0.0 else 0.5 * y
    side = 0
    for step in range(_STEPS_MAX):
        x = (low * g_high - high * g_low) / (g_high - g_low)
        if not (low < x < high) or step % 8 == 7:
            x = 0.5 * (low + high)
        off = gap(x, here, primary, hw, wl, ct, sync, env, out)
        if abs(off) <= _TOLERANCE * x or high - low <= 1e-14 * high:
            break
        if off > 0.0:
            low = x
            g_low = off
            if side == 1:
                g_high = g_high * 0.5
            side = 1
        else:
            high = x
            g_high = off
            if side == -1:
                g_low = g_low * 0.5
            side = -1
    return x
