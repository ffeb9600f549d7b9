"""Processors and the data volume: how long a transaction's CPU work and one page read take at a load.

Processors: hyper-threading is piecewise linear. The first C core-seconds of work per second keep one thread of each core
busy; beyond that the second threads add ``ht_yield - 1`` of a core. ``stretch`` is thread time per core work. Waiting for
a scheduler is Sakasegawa's form of the M/M/m wait. Data volume: utilisation from device rates, wait ``b*u/(1-u)`` with
bursty writes; an unthrottled writer raises outstanding I/O until the wait reaches its back-off latency, and reads queue
behind it. Sources: Sakasegawa 1977; the back-off latency is documented for checkpoints.
"""

from __future__ import annotations

import math

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array

_NEVER = 1e9  # seconds: a wait that no solution can have


@kernel
def cpu_capacity(hw: Array) -> float:
    """Core work per second of a machine, hyper-threading included (reference core-seconds/s)."""
    cores = hw[at.H_CORES]
    if hw[at.H_THREADS] > cores:
        return cores * hw[at.H_HT_YIELD] * hw[at.H_SPEED]
    return cores * hw[at.H_SPEED]


@kernel
def cpu_utilisation(work: float, hw: Array) -> float:
    """Busy share of logical processors at ``work`` reference core-seconds/s; above 1 when work exceeds capacity."""
    cores = hw[at.H_CORES]
    threads = hw[at.H_THREADS]
    load = work / hw[at.H_SPEED]
    gain = hw[at.H_HT_YIELD] - 1.0
    if threads <= cores or gain < 1e-9:
        return load / cores
    if load <= cores:
        return load / threads
    return (cores + (load - cores) * (threads - cores) / (cores * gain)) / threads


@kernel
def cpu(work: float, demand: float, hw: Array, out: Array) -> None:
    """Time and wait of ``demand`` reference core-seconds when the machine does ``work`` per second; fills ``out``."""
    util = cpu_utilisation(work, hw)
    out[at.O_CPU_WORK] = work
    out[at.O_CPU_UTIL] = util
    servers = hw[at.H_THREADS]
    if hw[at.H_HT_YIELD] - 1.0 < 1e-9:
        servers = hw[at.H_CORES]
    stretch = 1.0 / hw[at.H_SPEED]
    if work > 0.0:
        stretch = util * servers / work
    time = demand * stretch
    out[at.O_CPU_TIME] = time
    if util >= 1.0:
        out[at.O_CPU_WAIT] = _NEVER
    else:
        out[at.O_CPU_WAIT] = time * math.pow(util, math.sqrt(2.0 * (servers + 1.0)) - 1.0) / (servers * (1.0 - util))


@kernel
def util_star(depth_s: float, hw: Array, ct: Array) -> float:
    """Utilisation at which the writer stops raising outstanding I/O, ``depth_s`` after it began to raise it."""
    limit = ct[at.C_BACKOFF]
    if ct[at.C_RAMP] > 0.0:
        limit = limit * (1.0 - math.exp(-depth_s / ct[at.C_RAMP]))
    return limit / (limit + ct[at.C_DATA_WAIT])


@kernel
def data_volume(reads_s: float, hw: Array, ct: Array, env: Array, out: Array) -> None:
    """Latency of the data volume at ``reads_s`` page reads/s beside the tick's writer; fills ``out``.

    The writer takes what its limit and its back-off leave it, and never less than a floor: outstanding I/O is at
    least one write. Non-decreasing in ``reads_s``.
    """
    util = reads_s * hw[at.H_READ_S]
    room = env[at.E_UTIL_STAR] - util
    floor = ct[at.C_WRITE_FLOOR]
    if room < floor:
        room = floor
    rate = env[at.E_WRITE_LIMIT]
    if rate * hw[at.H_WRITE_S] > room:
        rate = room / hw[at.H_WRITE_S]
    util = util + rate * hw[at.H_WRITE_S]
    wait = _NEVER
    if util < 1.0:
        wait = ct[at.C_DATA_WAIT] * util / (1.0 - util)
    out[at.O_DATA_UTIL] = util
    out[at.O_WRITE_RATE] = rate
    out[at.O_READ_LAT] = hw[at.H_READ_LAT] + wait
    out[at.O_WRITE_LAT] = hw[at.H_WRITE_LAT] + wait
