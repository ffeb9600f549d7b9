"""Processors and the data volume: how long a transaction's CPU work and one page read take at a load.

Processors: hyper-threading is piecewise linear. The first C core-seconds of work per second keep one thread of each core
busy; beyond that the second threads add ``ht_yield - 1`` of a core. ``stretch`` is thread time per core work. Waiting for
a scheduler is Sakasegawa's form of the M/M/m wait. Data volume: utilisation from device rates, wait ``b*u/(1-u)`` with
bursty writes; an unthrottled writer raises outstanding I/O until the wait reaches its back-off latency, and reads queue
behind it. Sources: Sakasegawa 1977; the back-off latency is documented for checkpoints.
"""

from __future__ import annotations

import math

from aglab.engine.jit import kernel
from aglab.engine.layout import (
    C_BACKOFF,
    C_DATA_WAIT,
    C_RAMP,
    C_WRITE_FLOOR,
    E_UTIL_STAR,
    E_WRITE_LIMIT,
    H_CORES,
    H_HT_YIELD,
    H_READ_LAT,
    H_READ_S,
    H_SPEED,
    H_THREADS,
    H_WRITE_LAT,
    H_WRITE_S,
    O_CPU_TIME,
    O_CPU_UTIL,
    O_CPU_WAIT,
    O_CPU_WORK,
    O_DATA_UTIL,
    O_READ_LAT,
    O_WRITE_LAT,
    O_WRITE_RATE,
)

_NEVER = 1e9  # seconds: a wait that no solution can have


@kernel
def cpu_capacity(hw):
    """Core work per second of a machine, hyper-threading included (reference core-seconds/s)."""
    cores = hw[H_CORES]
    if hw[H_THREADS] > cores:
        return cores * hw[H_HT_YIELD] * hw[H_SPEED]
    return cores * hw[H_SPEED]


@kernel
def cpu_utilisation(work, hw):
    """Busy share of logical processors at ``work`` reference core-seconds/s; above 1 when work exceeds capacity."""
    cores = hw[H_CORES]
    threads = hw[H_THREADS]
    load = work / hw[H_SPEED]
    gain = hw[H_HT_YIELD] - 1.0
    if threads <= cores or gain < 1e-9:
        return load / cores
    if load <= cores:
        return load / threads
    return (cores + (load - cores) * (threads - cores) / (cores * gain)) / threads


@kernel
def cpu(work, demand, hw, out):
    """Time and wait of ``demand`` reference core-seconds when the machine does ``work`` per second; fills ``out``."""
    util = cpu_utilisation(work, hw)
    out[O_CPU_WORK] = work
    out[O_CPU_UTIL] = util
    servers = hw[H_THREADS]
    if hw[H_HT_YIELD] - 1.0 < 1e-9:
        servers = hw[H_CORES]
    stretch = 1.0 / hw[H_SPEED]
    if work > 0.0:
        stretch = util * servers / work
    time = demand * stretch
    out[O_CPU_TIME] = time
    if util >= 1.0:
        out[O_CPU_WAIT] = _NEVER
    else:
        out[O_CPU_WAIT] = time * math.pow(util, math.sqrt(2.0 * (servers + 1.0)) - 1.0) / (servers * (1.0 - util))


@kernel
def util_star(depth_s, hw, ct):
    """Utilisation at which the writer stops raising outstanding I/O, ``depth_s`` after it began to raise it."""
    limit = ct[C_BACKOFF]
    if ct[C_RAMP] > 0.0:
        limit = limit * (1.0 - math.exp(-depth_s / ct[C_RAMP]))
    return limit / (limit + ct[C_DATA_WAIT])


@kernel
def data_volume(reads_s, hw, ct, env, out):
    """Latency of the data volume at ``reads_s`` page reads/s beside the tick's writer; fills ``out``.

    The writer takes what its limit and its back-off leave it, and never less than a floor: outstanding I/O is at
    least one write. Non-decreasing in ``reads_s``.
    """
    util = reads_s * hw[H_READ_S]
    room = env[E_UTIL_STAR] - util
    floor = ct[C_WRITE_FLOOR]
    if room < floor:
        room = floor
    rate = env[E_WRITE_LIMIT]
    if rate * hw[H_WRITE_S] > room:
        rate = room / hw[H_WRITE_S]
    util = util + rate * hw[H_WRITE_S]
    wait = _NEVER
    if util < 1.0:
        wait = ct[C_DATA_WAIT] * util / (1.0 - util)
    out[O_DATA_UTIL] = util
    out[O_WRITE_RATE] = rate
    out[O_READ_LAT] = hw[H_READ_LAT] + wait
    out[O_WRITE_LAT] = hw[H_WRITE_LAT] + wait
