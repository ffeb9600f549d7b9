"""Log transport and redo: how far each replica has received, hardened and redone the primary's log.

Per replica a send queue that grows by what is made and shrinks by what is sent, bounded by the network's share and the
version's pipeline; redo is bounded by the version's dispatcher. Received log is hardened before the tick ends. Left out:
flow-control gates, compression, seeding.
"""

from __future__ import annotations

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array


@kernel
def ship(node: int, primary: int, dt: float, rate_max: float, st: Array, tot: Array) -> None:
    """Send log to one replica for ``dt`` seconds, at most ``rate_max`` B/s; a replica in step is sent what is made."""
    queue = st[primary, at.S_LSN] - st[node, at.S_SENT]
    sent = 0.0
    if st[node, at.S_CONNECTED] > 0.5 and queue > 0.0:
        sent = min(queue, rate_max * dt)
    st[node, at.S_SENT] += sent
    st[node, at.S_LSN] = st[node, at.S_SENT]
    st[node, at.S_SEND_RATE] = sent / dt
    tot[primary, at.T_SENT] += sent
    tot[node, at.T_RECEIVED_REPLICA] += sent
    tot[node, at.T_RECEIVED] += sent


@kernel
def redo(node: int, dt: float, st: Array, ct: Array, tot: Array) -> float:
    """Redo what the node has hardened, at most at the dispatcher's rate."""
    queue = st[node, at.S_LSN] - st[node, at.S_REDONE]
    done = 0.0
    if st[node, at.S_SUSPENDED] < 0.5 and queue > 0.0:
        done = min(queue, ct[at.C_REDO_CAP] * dt)
    st[node, at.S_REDONE] += done
    st[node, at.S_REDO_RATE] = done / dt
    tot[node, at.T_REDONE] += done
    return done


@kernel
def redo_job_log(node: int, done: float, queue: float, job_log: float, st: Array) -> float:
    """Bytes of ``done`` that a job made and not transactions; ``job_log`` more have been made now.

    The log that waits (``queue`` bytes, sent or not) is taken as well mixed.
    """
    waiting = st[node, at.S_JOB_LOG] + job_log
    if waiting <= 0.0:
        return 0.0
    part = 0.0
    if queue > 0.0:
        part = min(waiting, done * min(1.0, waiting / queue))
    st[node, at.S_JOB_LOG] = waiting - part
    return part
