"""The log file: growth when it is full, the wait for zeros, virtual log files, and why log is not reused.

A full log file grows by its increment, up to its limit; zeros are written first, and transactions wait for them (2022 grows
by up to 64 MB without). Growth adds virtual log files: one where the increment is less than an eighth of the file, else four
up to 64 MB, eight up to 1 GB, sixteen beyond; from 2022 on one up to 64 MB. Each of them costs recovery a little. A log file
that cannot grow stops transactions (9002). Left out: shrinking, growth of a secondary's file apart from the primary's.

Source: "SQL Server transaction log architecture and management guide" (Microsoft Learn), virtual log files.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aglab.engine import layout as at
from aglab.engine.backup import job_constant
from aglab.engine.jit import kernel
from aglab.engine.layout import Array

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

_MB = 1048576.0
_GB = 1073741824.0


@kernel
def vlfs_of(growth: float, size: float, old: float) -> float:
    """Virtual log files that a growth of ``growth`` bytes adds to a file of ``size`` bytes; ``old`` 1.0 before 2022."""
    if growth < size / 8.0:
        return 1.0
    if growth <= 64.0 * _MB:
        return 4.0 if old > 0.5 else 1.0
    if growth <= _GB:
        return 8.0
    return 16.0


@kernel
def grow_log(node: int, used: float, first: float, ct: Array, st: Array, tot: Array) -> bool:
    """Let a full log file of ``first`` bytes at the start grow as often as it must; returns whether it is full all the same.

    All nodes' files grow alike. What transactions wait for is added to ``S_STALL``.
    """
    growth = ct[at.C_GROWTH]
    size = first + st[node, at.S_GROWN]
    if growth <= 0.0 or size + growth > ct[at.C_LOG_MOST]:
        return True
    steps = math.floor((used - size) / growth) + 1.0
    steps = min(steps, math.floor((ct[at.C_LOG_MOST] - size) / growth))
    vlfs = steps * vlfs_of(growth, size, ct[at.C_OLD_VLFS])
    for other in range(st.shape[0]):
        st[other, at.S_GROWN] += steps * growth
        st[other, at.S_VLFS] += vlfs
    st[node, at.S_STALL] += steps * ct[at.C_GROWTH_S]
    tot[node, at.T_GROWTHS] += steps
    return used >= size + steps * growth


def vlf_s() -> float:
    """Time that one virtual log file adds to recovery (s)."""
    return job_constant("vlf_recovery_ms") * 1e-3


def reuse_wait(flow: Flow, node: str) -> str:
    """Why a node's log cannot be reused, in the words of ``log_reuse_wait_desc``: what holds back most of it."""
    state = flow.state
    index = flow.names.index(node)
    primary = int(state.cl[at.K_PRIMARY])
    st = state.st[index]
    held = {
        "LOG_BACKUP": st[at.S_BACKUP],
        "CHECKPOINT": st[at.S_RECOVER],
        "ACTIVE_TRANSACTION": st[at.S_OLDEST],
    }
    if index == primary:
        others = [state.st[other, at.S_REDONE] for other in range(len(flow.names)) if other != primary]
        if others:
            held["AVAILABILITY_REPLICA"] = min(others)
    else:
        held["AVAILABILITY_REPLICA"] = st[at.S_REDONE]
    reason = min(held, key=lambda name: float(held[name]))
    return reason if held[reason] < st[at.S_LSN] - 1.0 else "NOTHING"


def log_notes(flow: Flow) -> list[str]:
    """How long transactions waited for a full log and what held it, and how often a log file grew."""
    found = []
    for name in flow.names:
        totals = flow.totals(name)
        if totals["log_full_ms"] > 0:
            found.append(
                f"transactions on {name} waited {totals['log_full_ms'] / 1e3:,.1f} s for a full log (9002); at the end its "
                f"log_reuse_wait_desc is {reuse_wait(flow, name)}"
            )
        if totals["log_growths"] > 0:
            found.append(
                f"the log of {name} grew {totals['log_growths']:,.0f} times, "
                f"by {flow.gauges(name)['log_vlfs_grown']:,.0f} virtual log files"
            )
    return found
