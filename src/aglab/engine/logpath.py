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
def flush_size(bytes_s: float, hw: Array, ct: Array) -> float:
    """Bytes of one log block when ``bytes_s`` of log are made: what gathers during one cycle, at most 60 KB."""
    util = bytes_s / hw[at.H_LOG_BW]
    block = ct[at.C_LOG_BLOCK]
    if util >= 1.0:
        return block
    size = bytes_s * (harden_idle(hw) + log_turn(hw, ct)) / (1.0 - util)
    return min(size, block)


@kernel
def log_bytes_s_max(hw: Array, ct: Array) -> float:
    """Most log the writer can flush: bandwidth, or the in-flight limit over the latency of a full block."""
    in_flight = ct[at.C_LOG_IOS] * ct[at.C_LOG_BLOCK]
    return min(hw[at.H_LOG_BW], in_flight / (hw[at.H_LOG_LAT] + ct[at.C_LOG_BLOCK] / hw[at.H_LOG_BW]))


@kernel
def in_step(node: int, primary: int, st: Array) -> float:
    """1.0 when the node is a synchronous replica that commits must wait for now."""
    if node == primary or st[node, at.S_SYNC] < 0.5:
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
def through_gate(rate: float, message: float, primary: int, hw: Array, ct: Array) -> float:
    """``rate`` as far as flow control lets it: a gate of messages of this size is not acknowledged before a round trip."""
    if ct[at.C_GATE] > 0.0 and hw[primary, at.H_RTT] > 0.0:
        return min(rate, ct[at.C_GATE] * message / hw[primary, at.H_RTT])
    return rate


@kernel
def packed(node: int, st: Array, ct: Array) -> float:
    """1.0 when log goes compressed to the node."""
    if st[node, at.S_SYNC] > 0.5:
        return ct[at.C_PACK_SYNC]
    return ct[at.C_PACK_ASYNC]


@kernel
def commit(
    tx_s: float, log_tx: float, here: Array, primary: int, hw: Array, ct: Array, sync: Array, env: Array, out: Array
) -> float:
    """Commit time at ``tx_s`` transactions/s that write log (fills ``out``).

    Parameters
    ----------
    tx_s : float
        Transactions per second that write.
    log_tx : float
        Log of one of them (B).
    here : float64[HW_SIZE]
        ``hw[primary]``.
    sync : float64[n]
        1.0 for each node that commits wait for.
    """
    bytes_s = tx_s * log_tx
    size = max(log_tx, flush_size(bytes_s, here, ct))
    size = min(size, max(log_tx, ct[at.C_LOG_BLOCK]))
    size = min(size, max(1.0, env[at.E_USERS]) * log_tx)  # no more commits than users
    others = 1.0 - 1.0 / max(1.0, env[at.E_USERS])
    bandwidth = env[at.E_LOG_BW]  # what a log backup, which reads the same volume, leaves
    volume = env[at.E_LOG_LAT]
    idle = volume
    if here[at.H_LOG_TAIL] > 0.0:
        idle = min(volume, here[at.H_LOG_TAIL])  # a copy to memory does not queue behind it
    latency = log_write_latency(bytes_s, size, others, idle, bandwidth)
    cycle = latency + log_turn(here, ct)
    met = others * cycle
    idle_share = math.exp(-tx_s * met)
    gap = cycle
    if bytes_s > 0.0:
        gap = min(cycle, size / bytes_s)
    start = (1.0 - idle_share) * gap * 0.5
    out[at.O_LOG_LAT] = latency
    if tx_s > 0.0:
        flushes = tx_s / (tx_s * met + idle_share)
        out[at.O_LOG_FLUSHES] = max(flushes, bytes_s / max(log_tx, ct[at.C_LOG_BLOCK]))
    else:
        out[at.O_LOG_FLUSHES] = 0.0
    if blocks_follow(here) > 0.5:
        block = max(log_tx, ct[at.C_LOG_BLOCK])
        out[at.O_LOG_LAT] = log_write_latency(bytes_s, block, others, volume, bandwidth)
        out[at.O_LOG_FLUSHES] = bytes_s / block
    out[at.O_COMMIT_LOCAL] = start + latency
    remote = 0.0
    if env[at.E_NSYNC] > 0.5:
        rate_max = send_bytes_s_max(primary, env[at.E_WIRE], hw, ct) * (1.0 - env[at.E_JOB_SEND])
        rate_max = through_gate(rate_max, size, primary, hw, ct)
        util = bytes_s / rate_max
        send = _NEVER
        if util < 1.0:
            send = size / rate_max * (1.0 + others * util / (2.0 * (1.0 - util))) + size * env[at.E_PACK_S]
        for node in range(hw.shape[0]):
            if sync[node] > 0.5:
                there = log_write_latency(bytes_s, size, others, harden_idle(hw[node]), hw[node, at.H_LOG_BW])
                remote = max(remote, send + hw[node, at.H_RTT] + there)
        out[at.O_COMMIT] = start + max(latency, remote) + ct[at.C_SYNC_OVERHEAD]
        remote = remote + ct[at.C_SYNC_OVERHEAD]
    else:
        out[at.O_COMMIT] = start + latency
    out[at.O_REMOTE] = remote
    if here[at.H_LAZY] > 0.5:
        out[at.O_COMMIT_LOCAL] = 0.0
        out[at.O_COMMIT] = 0.0
        out[at.O_REMOTE] = 0.0
    return out[at.O_COMMIT]
