"""Log transport and redo: how far each replica has received, hardened and redone the primary's log.

Per replica a send queue that grows by what is made and shrinks by what is sent, bounded by the network's share and the
version's pipeline; redo is bounded by the version's dispatcher. Received log is hardened before the tick ends. Left out:
flow-control gates, compression, seeding.
"""

from __future__ import annotations

from aglab.engine.jit import kernel
from aglab.engine.layout import (
    C_REDO_CAP,
    S_CONNECTED,
    S_LSN,
    S_REDO_RATE,
    S_REDONE,
    S_SEND_RATE,
    S_SENT,
    S_SUSPENDED,
    T_RECEIVED,
    T_RECEIVED_REPLICA,
    T_REDONE,
    T_SENT,
)


@kernel
def ship(node, primary, dt, rate_max, st, tot):
    """Send log to one replica for ``dt`` seconds, at most ``rate_max`` B/s; a replica in step is sent what is made."""
    queue = st[primary, S_LSN] - st[node, S_SENT]
    sent = 0.0
    if st[node, S_CONNECTED] > 0.5 and queue > 0.0:
        sent = min(queue, rate_max * dt)
    st[node, S_SENT] += sent
    st[node, S_LSN] = st[node, S_SENT]
    st[node, S_SEND_RATE] = sent / dt
    tot[primary, T_SENT] += sent
    tot[node, T_RECEIVED_REPLICA] += sent
    tot[node, T_RECEIVED] += sent


@kernel
def redo(node, dt, st, ct, tot):
    """Redo what the node has hardened, at most at the dispatcher's rate."""
    queue = st[node, S_LSN] - st[node, S_REDONE]
    done = 0.0
    if st[node, S_SUSPENDED] < 0.5 and queue > 0.0:
        done = min(queue, ct[C_REDO_CAP] * dt)
    st[node, S_REDONE] += done
    st[node, S_REDO_RATE] = done / dt
    tot[node, T_REDONE] += done
    return done
