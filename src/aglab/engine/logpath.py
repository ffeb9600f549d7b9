"""The log path: flush cycle, group commit, and what a synchronous replica adds.

A commit waits until the block it is in is written. While one flush runs, commits gather in the next block, which is
closed at 60 KB; a flush of ``size`` bytes takes ``latency + size/bandwidth``. A synchronous commit also waits for the
slowest synchronous replica: ``max(local, send + round trip + remote harden)``, plus an overhead. Limits: 112
outstanding writes, 3,840 KB in flight. Left out: log cache pressure, VLF boundaries.

With the tail of the log on persistent memory a record is hardened when it has been copied there: no flush to wait for, and
full blocks go to the volume later. With delayed durability a commit waits for nothing and full blocks follow as well.
Sources: "Add persistent log buffer to a database", "Control transaction durability" (SQL Server documentation). Left out:
the timer that flushes a block which does not fill.
"""

from __future__ import annotations

import math

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array

_NEVER = 1e9
_IN_STEP = 1.0  # bytes a synchronised replica may lag


@kernel
def log_write_latency(bytes_s: float, size: float, others: float, idle_s: float, rate_max: float) -> float:
    """Latency of one log write of ``size`` bytes on a volume that takes ``bytes_s`` of at most ``rate_max``,
    a share ``others`` of it from others; ``idle_s`` is the latency of a small write.

    The wait is that of M/D/1; one user alone finds nothing before it.
    """
    util = bytes_s / rate_max
    if util >= 1.0:
        return _NEVER
    transfer = size / rate_max
    return idle_s + transfer * (1.0 + others * util / (2.0 * (1.0 - util)))


@kernel
def harden_idle(here: Array) -> float:
    """Least time to harden a record (s): the copy to persistent memory where there is some, or a small log write."""
    if here[at.H_LOG_TAIL] > 0.0:
        return min(here[at.H_LOG_LAT], here[at.H_LOG_TAIL])
    return here[at.H_LOG_LAT]


@kernel
def log_turn(here: Array, ct: Array) -> float:
    """Time between two flushes (s); a copy to persistent memory needs no log writer."""
    if here[at.H_LOG_TAIL] > 0.0:
        return 0.0
    return ct[at.C_LOG_TURN]


@kernel
def blocks_follow(here: Array) -> float:
    """1.0 when full blocks go to the log volume after the commit: persistent memory, or delayed durability."""
    if here[at.H_LOG_TAIL] > 0.0 or here[at.H_LAZY] > 0.5:
        return 1.0
    return 0.0


@kernel
def flush_size(bytes_s: float, idle_cycle_s: float, bandwidth: float, block: float) -> float:
    """Bytes of one log block when ``bytes_s`` of log are made: what gathers during one cycle, at most ``block``."""
    util = bytes_s / bandwidth
    if util >= 1.0:
        return block
    size = bytes_s * idle_cycle_s / (1.0 - util)
    return min(size, block)


@kernel
def log_bytes_s_max(hw: Array, ct: Array) -> float:
    """Most log the writer can flush: bandwidth, or the in-flight limit over the latency of a full block."""
    in_flight = ct[at.C_LOG_IOS] * ct[at.C_LOG_BLOCK]
    return min(hw[at.H_LOG_BW], in_flight / (hw[at.H_LOG_LAT] + ct[at.C_LOG_BLOCK] / hw[at.H_LOG_BW]))


@kernel
def in_step(node: int, primary: int, st: Array) -> float:
    """1.0 when commits must wait for the node now: both it and the primary commit synchronously, and it is not behind.

    Source: "Availability modes for an availability group" (Microsoft Learn): an asynchronous primary waits for nobody.
    """
    if node == primary or st[node, at.S_SYNC] < 0.5 or st[primary, at.S_SYNC] < 0.5:
        return 0.0
    if st[primary, at.S_LSN] - st[node, at.S_SENT] > _IN_STEP:
        return 0.0
    return 1.0


@kernel
def send_bytes_s_max(primary: int, wire: float, hw: Array, ct: Array) -> float:
    """Log rate to each replica that network and pipeline allow, where ``wire`` streams share the network."""
    if wire <= 0.0:
        return 1e18
    return min(hw[primary, at.H_NET_BW] * (1.0 - hw[primary, at.H_OTHER_NET]) / wire, ct[at.C_TRANSPORT_CAP])


@kernel
def round_trip(primary: int, node: int, hw: Array) -> float:
    """Round trip between two nodes (s): the longer of their ways to the others."""
    return max(hw[primary, at.H_RTT], hw[node, at.H_RTT])


@kernel
def through_gate(rate: float, message: float, rtt: float, ct: Array) -> float:
    """``rate`` as far as flow control lets it: a gate of messages of this size is not acknowledged before a round trip."""
    if ct[at.C_GATE] > 0.0 and rtt > 0.0:
        return min(rate, ct[at.C_GATE] * message / rtt)
    return rate


@kernel
def on_the_way(rate: float, message: float, primary: int, node: int, hw: Array, ct: Array) -> float:
    """``rate`` as far as the way between two nodes carries it: its bandwidth, its losses, and flow control."""
    rate = min(rate, min(hw[primary, at.H_WAY], hw[node, at.H_WAY]))
    return through_gate(rate, message, round_trip(primary, node, hw), ct)


@kernel
def packed(node: int, st: Array, ct: Array) -> float:
    """1.0 when log goes compressed to the node."""
    if st[node, at.S_SYNC] > 0.5:
        return ct[at.C_PACK_SYNC]
    return ct[at.C_PACK_ASYNC]


@kernel
def plan_commits(primary: int, hw: Array, wl: Array, ct: Array, env: Array) -> None:
    """Fix what commits have in common at any throughput, so that the solver does not work it out at each of its looks."""
    here = hw[primary]
    users = max(1.0, env[at.E_USERS])
    env[at.E_OTHERS] = 1.0 - 1.0 / users
    env[at.E_LOG_TX] = 0.0
    if wl[at.W_WRITE_SHARE] > 0.0:
        env[at.E_LOG_TX] = wl[at.W_LOG] / wl[at.W_WRITE_SHARE]
    env[at.E_GROUP_MOST] = users * env[at.E_LOG_TX]
    env[at.E_BLOCK_MOST] = max(env[at.E_LOG_TX], ct[at.C_LOG_BLOCK])
    env[at.E_LOG_IDLE] = harden_idle(here)
    env[at.E_LOG_TURN] = log_turn(here, ct)
    env[at.E_WAY] = send_bytes_s_max(primary, env[at.E_WIRE], hw, ct) * (1.0 - env[at.E_JOB_SEND])


@kernel
def commit(tx_s: float, here: Array, primary: int, hw: Array, ct: Array, sync: Array, env: Array, out: Array) -> float:
    """Commit time at ``tx_s`` transactions/s that write log (fills ``out`` but for the flushes, see :func:`flush_rate`).

    Parameters
    ----------
    tx_s : float
        Transactions per second that write; what one of them logs is in ``env``.
    here : float64[HW_SIZE]
        ``hw[primary]``.
    sync : float64[n]
        1.0 for each node that commits wait for, and is not like one before it.
    """
    log_tx = env[at.E_LOG_TX]
    others = env[at.E_OTHERS]
    turn = env[at.E_LOG_TURN]
    bytes_s = tx_s * log_tx
    size = max(log_tx, flush_size(bytes_s, env[at.E_LOG_IDLE] + turn, here[at.H_LOG_BW], ct[at.C_LOG_BLOCK]))
    size = min(size, env[at.E_BLOCK_MOST])
    size = min(size, env[at.E_GROUP_MOST])  # no more commits than users
    idle = env[at.E_LOG_LAT]
    if here[at.H_LOG_TAIL] > 0.0:
        idle = min(idle, here[at.H_LOG_TAIL])  # a copy to memory does not queue behind it
    latency = log_write_latency(bytes_s, size, others, idle, env[at.E_LOG_BW])  # of what a log backup leaves of the volume
    cycle = latency + turn
    met = others * cycle
    idle_share = math.exp(-tx_s * met)
    gap = cycle
    if bytes_s > 0.0:
        gap = min(cycle, size / bytes_s)
    start = (1.0 - idle_share) * gap * 0.5
    out[at.O_LOG_LAT] = latency
    out[at.O_MET] = met
    out[at.O_IDLE_SHARE] = idle_share
    remote = 0.0
    total = start + latency
    out[at.O_COMMIT_LOCAL] = total
    if env[at.E_NSYNC] > 0.5:
        for node in range(hw.shape[0]):
            if sync[node] > 0.5:
                rate_max = on_the_way(env[at.E_WAY], size, primary, node, hw, ct)
                util = bytes_s / rate_max
                send = _NEVER
                if util < 1.0:
                    send = size / rate_max * (1.0 + others * util / (2.0 * (1.0 - util))) + size * env[at.E_PACK_S]
                there = log_write_latency(bytes_s, size, others, harden_idle(hw[node]), hw[node, at.H_LOG_BW])
                remote = max(remote, send + round_trip(primary, node, hw) + there)
        total = start + max(latency, remote) + ct[at.C_SYNC_OVERHEAD]
        remote = remote + ct[at.C_SYNC_OVERHEAD]
    out[at.O_REMOTE] = remote
    if here[at.H_LAZY] > 0.5:
        total = 0.0
        out[at.O_COMMIT_LOCAL] = 0.0
        out[at.O_REMOTE] = 0.0
    out[at.O_COMMIT] = total
    return total


@kernel
def flush_rate(tx_s: float, here: Array, env: Array, out: Array) -> None:
    """Log writes at the ``tx_s`` that :func:`commit` was asked for last; fills ``out``."""
    bytes_s = tx_s * env[at.E_LOG_TX]
    block = env[at.E_BLOCK_MOST]
    out[at.O_LOG_FLUSHES] = 0.0
    if tx_s > 0.0:
        out[at.O_LOG_FLUSHES] = max(tx_s / (tx_s * out[at.O_MET] + out[at.O_IDLE_SHARE]), bytes_s / block)
    if blocks_follow(here) > 0.5:
        out[at.O_LOG_LAT] = log_write_latency(bytes_s, block, env[at.E_OTHERS], env[at.E_LOG_LAT], env[at.E_LOG_BW])
        out[at.O_LOG_FLUSHES] = bytes_s / block
