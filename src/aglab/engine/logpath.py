"""The log path: flush cycle, group commit, and what a synchronous replica adds.

A commit waits until the block it is in is written. While one flush runs, commits gather in the next block, which is
closed at 60 KB; a flush of ``size`` bytes takes ``latency + size/bandwidth``. A synchronous commit also waits for the
slowest synchronous replica: ``max(local, send + round trip + remote harden)``, plus an overhead. Limits: 112
outstanding writes, 3,840 KB in flight. Left out: log cache pressure, VLF boundaries.
"""

from __future__ import annotations

import math

from aglab.engine.jit import kernel
from aglab.engine.layout import (
    C_LOG_BLOCK,
    C_LOG_IOS,
    C_LOG_TURN,
    C_SYNC_OVERHEAD,
    C_TRANSPORT_CAP,
    E_NSEND,
    E_NSYNC,
    E_USERS,
    H_LOG_BW,
    H_LOG_LAT,
    H_NET_BW,
    H_RTT,
    O_COMMIT,
    O_COMMIT_LOCAL,
    O_LOG_FLUSHES,
    O_LOG_LAT,
    O_REMOTE,
    S_LSN,
    S_SENT,
    S_SYNC,
)

_NEVER = 1e9
_IN_STEP = 1.0  # bytes a synchronised replica may lag


@kernel
def log_write_latency(bytes_s, size, hw):
    """Latency of one log write of ``size`` bytes on a volume that takes ``bytes_s`` in all (M/D/1 wait)."""
    util = bytes_s / hw[H_LOG_BW]
    if util >= 1.0:
        return _NEVER
    transfer = size / hw[H_LOG_BW]
    return hw[H_LOG_LAT] + transfer * (1.0 + util / (2.0 * (1.0 - util)))


@kernel
def flush_size(bytes_s, hw, ct):
    """Bytes of one log block when ``bytes_s`` of log are made: what gathers during one cycle, at most 60 KB."""
    util = bytes_s / hw[H_LOG_BW]
    block = ct[C_LOG_BLOCK]
    if util >= 1.0:
        return block
    size = bytes_s * (hw[H_LOG_LAT] + ct[C_LOG_TURN]) / (1.0 - util)
    return min(size, block)


@kernel
def log_bytes_s_max(hw, ct):
    """Most log the writer can flush: bandwidth, or the in-flight limit over the latency of a full block."""
    in_flight = ct[C_LOG_IOS] * ct[C_LOG_BLOCK]
    return min(hw[H_LOG_BW], in_flight / (hw[H_LOG_LAT] + ct[C_LOG_BLOCK] / hw[H_LOG_BW]))


@kernel
def in_step(node, primary, st):
    """1.0 when the node is a synchronous replica that commits must wait for now."""
    if node == primary or st[node, S_SYNC] < 0.5:
        return 0.0
    if st[primary, S_LSN] - st[node, S_SENT] > _IN_STEP:
        return 0.0
    return 1.0


@kernel
def send_bytes_s_max(primary, count, hw, ct):
    """Log rate to each of ``count`` replicas that network and pipeline allow."""
    if count < 1.0:
        return 1e18
    return min(hw[primary, H_NET_BW] / count, ct[C_TRANSPORT_CAP])


@kernel
def commit(tx_s, log_tx, writing, primary, hw, ct, sync, env, out):
    """Commit time at ``tx_s`` transactions/s that write log (fills ``out``).

    Parameters
    ----------
    tx_s : float
        Transactions per second that write.
    log_tx : float
        Log of one of them (B).
    writing : float
        Users that may write: one user alone never finds a flush running.
    sync : float64[n]
        1.0 for each node that commits wait for.
    """
    bytes_s = tx_s * log_tx
    here = hw[primary]
    size = max(log_tx, flush_size(bytes_s, here, ct))
    size = min(size, max(log_tx, ct[C_LOG_BLOCK]))
    latency = log_write_latency(bytes_s, size, here)
    cycle = latency + ct[C_LOG_TURN]
    others = 1.0
    if env[E_USERS] > 0.0:
        others = max(0.0, 1.0 - 1.0 / max(1.0, env[E_USERS]))
    busy = 1.0 - math.exp(-tx_s * others * cycle)
    gap = cycle
    if bytes_s > 0.0:
        gap = min(cycle, size / bytes_s)
    start = busy * gap * 0.5
    out[O_LOG_LAT] = latency
    if tx_s > 0.0:
        flushes = 1.0 / (cycle + math.exp(-tx_s * cycle) / tx_s)
        out[O_LOG_FLUSHES] = max(flushes, bytes_s / max(log_tx, ct[C_LOG_BLOCK]))
    else:
        out[O_LOG_FLUSHES] = 0.0
    out[O_COMMIT_LOCAL] = start + latency
    remote = 0.0
    if env[E_NSYNC] > 0.5:
        rate_max = send_bytes_s_max(primary, env[E_NSEND], hw, ct)
        util = bytes_s / rate_max
        send = _NEVER
        if util < 1.0:
            send = size / rate_max * (1.0 + util / (2.0 * (1.0 - util)))
        for node in range(hw.shape[0]):
            if sync[node] > 0.5:
                there = log_write_latency(bytes_s, size, hw[node])
                remote = max(remote, send + hw[node, H_RTT] + there)
        out[O_COMMIT] = start + max(latency, remote) + ct[C_SYNC_OVERHEAD]
        remote = remote + ct[C_SYNC_OVERHEAD]
    else:
        out[O_COMMIT] = start + latency
    out[O_REMOTE] = remote
    return out[O_COMMIT]
