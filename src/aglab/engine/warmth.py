"""The buffer pool after a restart or a failover: what it held before is read again, page by page or extent by extent.

A restarted instance has no page in memory. A new primary has what redo has touched, the hot pages, and none of the cold ones
that its predecessor held. A touch of a page that is missing is a read; a read brings a whole extent of eight pages while the
pool fills, so a pool that misses much fills faster than one by one. Only with ``buffer_pool = "cold after restart"``. Left
out: reads of a secondary's own users, the longer transfer of an extent.

That reads are of extents while the pool fills is taken from paper 001, whose server read 64 KB at a time before it was warm
and 8 KB after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

_EXTENT = 8.0  # pages
_EXTENT_BYTES = 65536.0
_PAGE_BYTES = 8192.0


@kernel
def missing_hot(node: int, wl: Array, st: Array) -> float:
    """Reads of one transaction of hot pages that a cold pool misses."""
    if st[node, at.S_COLD_HOT] <= 0.0:
        return 0.0
    return wl[at.W_TOUCHES] * st[node, at.S_COLD_HOT] / wl[at.W_HOT]


@kernel
def missing_rest(node: int, wl: Array, st: Array) -> float:
    """Reads of one transaction of cold pages that a warm pool would hold."""
    if st[node, at.S_COLD_REST] <= 0.0:
        return 0.0
    return wl[at.W_COLD] * st[node, at.S_COLD_REST] / wl[at.W_REST]


@kernel
def warm_up(node: int, transactions: float, wl: Array, st: Array, tot: Array) -> None:
    """Take what so many transactions read from what is missing; each read brings the missing pages of its extent."""
    hot = transactions * missing_hot(node, wl, st)
    if hot > 0.0:
        near = 1.0 + (_EXTENT - 1.0) * st[node, at.S_COLD_HOT] / wl[at.W_HOT]
        st[node, at.S_COLD_HOT] = max(0.0, st[node, at.S_COLD_HOT] - hot * near)
        tot[node, at.T_DATA_BYTES_READ] += hot * (_EXTENT_BYTES - _PAGE_BYTES)
    rest = transactions * missing_rest(node, wl, st)
    if rest > 0.0:
        near = 1.0 + (_EXTENT - 1.0) * st[node, at.S_COLD_REST] / wl[at.W_REST]
        st[node, at.S_COLD_REST] = max(0.0, st[node, at.S_COLD_REST] - rest * near)
        tot[node, at.T_DATA_BYTES_READ] += rest * (_EXTENT_BYTES - _PAGE_BYTES)


def cool(flow: Flow, node: int, hot: bool) -> None:
    """Empty a node's buffer pool, of its cold pages or (``hot``) of all; nothing where the scenario keeps it warm."""
    if flow.scenario.settings.buffer_pool == "warm":
        return
    job, pool = flow.scenario.workload, flow.scenario.profile.memory.buffer_pool_pages
    kept = min(job.hot_pages, pool)
    rest = max(job.data_pages - job.hot_pages, 0.0)
    flow.state.st[node, at.S_COLD_REST] = min(max(pool - kept, 0.0), rest)
    if hot:
        flow.state.st[node, at.S_COLD_HOT] = kept
