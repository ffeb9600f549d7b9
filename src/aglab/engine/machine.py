"""Processors and the data volume: how long a transaction's CPU work and one page read take at a load.

Processors: hyper-threading is piecewise linear. The first C core-seconds of work per second keep one thread of each core
busy; beyond that the second threads add ``ht_yield - 1`` of a core. ``stretch`` is thread time per core work. Waiting for
a scheduler is Sakasegawa's form of the M/M/m wait. Data volume: utilisation from device rates, and the same form for the wait
twice. A page lies on one device, so reads queue for it alone (as many servers as one device works on at once: rate times
latency); a burst of writes goes to all devices and is a queue for all of them. An
unthrottled writer raises outstanding I/O until write latency reaches its back-off, and reads queue behind it. Sources:
Sakasegawa 1977; the back-off latency is documented for checkpoints.
"""

from __future__ import annotations

import math

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array

_NEVER = 1e9  # seconds: a wait that no solution can have
_FEW_WRITES = 0.02  # utilisation by writes below which their bursts hardly matter
_READS_ROOM = 0.25  # utilisation by reads that a throttled writer is sure to leave
_NEARLY_ALL = 0.9999
_RAMPS = 5.0  # a ramp is over after this many of its time constants
_WRITER_CPU = 0.5  # share of the processors a page writer can take
_LEAST = 1e-5  # seconds: the shortest back-off wait


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
    servers = hw[at.H_SERVERS]
    if work > 0.0:
        stretch = util * servers / work
    else:
        stretch = 1.0 / hw[at.H_SPEED]
    time = demand * stretch
    out[at.O_CPU_TIME] = time
    if util >= 1.0:
        out[at.O_CPU_WAIT] = _NEVER
    else:
        out[at.O_CPU_WAIT] = time * math.pow(util, hw[at.H_CPU_POOLING]) / (servers * (1.0 - util))


@kernel
def volume_wait(util: float, burst: float, hw: Array) -> float:
    """Time an I/O waits before its device takes it up (s): behind reads of the device, and bursts of ``burst`` s of writes."""
    if util >= 1.0:
        return _NEVER
    if util <= 0.0:
        return 0.0
    power = math.log(util)
    own = hw[at.H_QUEUE_S] * math.exp(hw[at.H_QUEUE_POOLING] * power)
    return (own + burst * math.exp(hw[at.H_POOLING] * power)) / (1.0 - util)


@kernel
def util_at_wait(wait: float, hw: Array) -> float:
    """Utilisation at which an I/O waits ``wait`` seconds behind bursts of writes (bisection)."""
    low = 0.0
    high = 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        if volume_wait(middle, hw[at.H_BURST], hw) < wait:
            low = middle
        else:
            high = middle
    return low


@kernel
def plan_volume(depth_s: float, limit: float, hw: Array, ct: Array, env: Array) -> None:
    """Fix for one tick what the page writer asks of the volume and where it backs off.

    Parameters
    ----------
    depth_s : float
        Time since the writer began to raise outstanding I/O.
    limit : float
        Pages/s it asks for.
    """
    if ct[at.C_WRITE_CPU] > 0.0:
        limit = min(limit, _WRITER_CPU * cpu_capacity(hw) / ct[at.C_WRITE_CPU])
    env[at.E_WRITE_LIMIT] = limit
    share = min(1.0, limit * hw[at.H_WRITE_S])
    env[at.E_BURST] = hw[at.H_BURST] * share / (share + _FEW_WRITES)
    env[at.E_UTIL_STAR] = hw[at.H_STAR]
    if depth_s < _RAMPS * ct[at.C_RAMP] and share > 0.0:
        latency = ct[at.C_BACKOFF] * (1.0 - math.exp(-depth_s / ct[at.C_RAMP]))
        wait = max(latency - hw[at.H_BURST], _LEAST)
        if volume_wait(min(share + _READS_ROOM, _NEARLY_ALL), hw[at.H_BURST], hw) > wait:
            env[at.E_UTIL_STAR] = util_at_wait(wait, hw)


@kernel
def data_volume(reads_s: float, others: float, hw: Array, ct: Array, env: Array, out: Array) -> None:
    """Latency of the data volume at ``reads_s`` page reads/s beside the tick's writer; fills ``out``.

    The writer takes what its limit and its back-off leave it, and never less than a floor: outstanding I/O is at
    least one write. Non-decreasing in ``reads_s``. A write also waits for its own burst. A backup's share of the volume leaves
    less of it, and every read waits behind the backup's transfers.

    ``others`` is the share of the reads that comes from other users than the one who reads: nobody waits behind himself, so one
    user alone finds an idle volume (the arrival theorem of closed networks, with Schweitzer's 1979 estimate for one user less).
    """
    own = reads_s * env[at.E_READ_S]
    util = own + hw[at.H_OTHER_DATA]
    room = env[at.E_UTIL_STAR] - util
    floor = ct[at.C_WRITE_FLOOR]
    if room < floor:
        room = floor
    page_s = env[at.E_WRITE_S]
    rate = env[at.E_WRITE_LIMIT]
    if rate * page_s > room:
        rate = room / page_s
    util = util + rate * page_s
    wait = _NEVER
    if util < 1.0:
        wait = volume_wait(util - own * (1.0 - others), env[at.E_BURST], hw) + env[at.E_JOB_READ_WAIT]
    out[at.O_DATA_UTIL] = util
    out[at.O_WRITE_RATE] = rate
    out[at.O_READ_LAT] = hw[at.H_READ_LAT] + wait
    out[at.O_WRITE_LAT] = hw[at.H_WRITE_LAT] + hw[at.H_BURST] + wait
