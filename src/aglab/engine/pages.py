"""Dirty pages and who writes them: automatic, manual and indirect checkpoints, and the -k throttle.

The hot set of H pages is cut into segments that the writer sweeps in turn. A segment that took ``n`` touches since its
last sweep holds ``h * (1 - exp(-n/h))`` dirty pages: a page dirtied again before its sweep is written once. An automatic
checkpoint starts when the log that recovery could replay in the recovery interval has been made since the last one
*ended*; -k caps its rate (and a manual one's). Under TARGET_RECOVERY_TIME a background writer keeps the oldest dirty
page younger than the target, and -k does nothing. Left out: cold pages made dirty by inserts, the lazy writer.
"""

from __future__ import annotations

import math

from aglab.engine import layout as at
from aglab.engine.jit import entry, kernel
from aglab.engine.layout import Array

_NO_LIMIT = 1e15
_CRUMB = 1e-9  # pages: less than this is nothing


@kernel
def dirty_in(node: int, segment: int, st: Array, seg: Array, wl: Array) -> float:
    """Dirty pages of one segment."""
    size = wl[at.W_HOT] / at.SEGMENTS
    touches = (st[node, at.S_TOUCHES] - seg[node, 0, segment]) / at.SEGMENTS
    return size * (1.0 - math.exp(-touches / size))


@entry
def dirty_pages_now(node: int, st: Array, seg: Array, wl: Array) -> float:
    """Dirty pages of a node; the segment under the writer counts what is left of it."""
    total = 0.0
    for segment in range(at.SEGMENTS):
        total += dirty_in(node, segment, st, seg, wl)
    return total + st[node, at.S_LEFT]


@kernel
def take_segment(node: int, position: float, st: Array, seg: Array, wl: Array) -> None:
    """Put the segment the writer stands at in its hand: what is dirty now will be written, touches count anew."""
    segment = int(st[node, at.S_POS])
    st[node, at.S_LEFT] = dirty_in(node, segment, st, seg, wl)
    seg[node, 0, segment] = st[node, at.S_TOUCHES]
    seg[node, 1, segment] = position


@kernel
def start_checkpoint(node: int, position: float, st: Array, seg: Array, wl: Array) -> None:
    """Begin a sweep of all segments at log position ``position``."""
    st[node, at.S_SWEEPING] = 1.0
    st[node, at.S_MANUAL] = 0.0
    st[node, at.S_BEGIN] = position
    st[node, at.S_SWEPT] = 0.0
    if st[node, at.S_LEFT] <= 0.0:
        take_segment(node, position, st, seg, wl)


@kernel
def plan_checkpoint(node: int, dt: float, most: float, st: Array, seg: Array, wl: Array) -> float:
    """Pages/s a running checkpoint asks for: its throttle, and no more than the sweep still holds.

    ``most`` is what the volume could write in this tick (pages): there is no need to look further ahead.
    """
    limit = st[node, at.S_K] if st[node, at.S_K] > 0.0 else _NO_LIMIT
    most = min(most, limit * dt)
    ahead = st[node, at.S_LEFT]
    position = int(st[node, at.S_POS])
    for step in range(1, at.SEGMENTS - int(st[node, at.S_SWEPT])):
        if ahead > most:
            break
        ahead += dirty_in(node, (position + step) % at.SEGMENTS, st, seg, wl)
    return min(limit, ahead / dt)


@kernel
def plan_background(node: int, dt: float, log_rate: float, position: float, st: Array, seg: Array, wl: Array, ct: Array) -> float:
    """Pages/s the background writer asks for under TARGET_RECOVERY_TIME.

    It sweeps once per target of log, and writes at the rate that pages due within one segment's share of the log ask for. A
    writer that looked ahead no further than a tick would chase each deadline, and the load, which feels its writes, would swing
    with it from tick to tick.
    """
    target = st[node, at.S_TARGET] * ct[at.C_RECOVERY_RATE]
    step_log = target / at.SEGMENTS
    ahead = max(dt, min(ct[at.C_PACE], step_log / max(log_rate, 1.0)))  # what is overdue is not put off while no log is made
    goal = position + log_rate * ahead
    segment = int(st[node, at.S_POS])
    left = st[node, at.S_LEFT]
    deadline = st[node, at.S_BEGIN]
    if left <= 0.0:
        left = dirty_in(node, segment, st, seg, wl)
        deadline = max(deadline, position - step_log) + step_log
    start = position
    pages = 0.0
    for _ in range(at.SEGMENTS):
        following = (segment + 1) % at.SEGMENTS
        deadline = min(deadline, seg[node, 1, following] + target)
        if deadline > goal:
            pages += left * (goal - start) / (deadline - start)
            break
        pages += left
        start = max(start, deadline)
        deadline = start + step_log
        segment = following
        left = dirty_in(node, segment, st, seg, wl)
    return pages / ahead


@kernel
def plan_writes(
    node: int, position: float, dt: float, most: float, log_rate: float, st: Array, seg: Array, wl: Array, ct: Array
) -> float:
    """Pages/s the node's writer asks for in this tick; starts a checkpoint that is due.

    ``position`` is the log position of the node's pages (its log end, or what it has redone), ``log_rate`` the log made
    lately (B/s).
    """
    if st[node, at.S_SWEEPING] < 0.5:
        due = st[node, at.S_MANUAL] > 0.5
        if st[node, at.S_TARGET] <= 0.0 and position - st[node, at.S_END] >= ct[at.C_RECOVERY_INTERVAL] * ct[at.C_RECOVERY_RATE]:
            due = True
        if due:
            start_checkpoint(node, position, st, seg, wl)
    if st[node, at.S_SWEEPING] > 0.5:
        return plan_checkpoint(node, dt, most, st, seg, wl)
    if st[node, at.S_TARGET] > 0.0:
        return plan_background(node, dt, log_rate, position, st, seg, wl, ct)
    return 0.0


@kernel
def write_checkpoint(node: int, position: float, pages: float, dt: float, st: Array, seg: Array, wl: Array) -> None:
    """Write ``pages`` pages of a running checkpoint in sweep order; ends it when the sweep is done."""
    st[node, at.S_DEPTH] += dt
    left = pages
    while True:
        step = min(st[node, at.S_LEFT], left)
        left -= step
        st[node, at.S_LEFT] -= step
        if st[node, at.S_LEFT] > _CRUMB:
            break
        st[node, at.S_LEFT] = 0.0
        st[node, at.S_POS] = float((int(st[node, at.S_POS]) + 1) % at.SEGMENTS)
        st[node, at.S_SWEPT] += 1.0
        if st[node, at.S_SWEPT] >= at.SEGMENTS:
            st[node, at.S_SWEEPING] = 0.0
            st[node, at.S_END] = position
            st[node, at.S_RECOVER] = st[node, at.S_BEGIN]
            st[node, at.S_BEGIN] = position
            st[node, at.S_CHECKPOINTS] += 1.0
            st[node, at.S_DEPTH] = 0.0
            break
        take_segment(node, position, st, seg, wl)


@kernel
def write_background(node: int, position: float, pages: float, st: Array, seg: Array, wl: Array, ct: Array) -> None:
    """Write ``pages`` pages of the background writer's sweep and move the point where recovery would start."""
    target = st[node, at.S_TARGET] * ct[at.C_RECOVERY_RATE]
    step_log = target / at.SEGMENTS
    left = pages
    for _ in range(2 * at.SEGMENTS):
        if left <= _CRUMB:
            break
        if st[node, at.S_LEFT] <= 0.0:
            st[node, at.S_BEGIN] = max(st[node, at.S_BEGIN], position - step_log) + step_log
            take_segment(node, position, st, seg, wl)
        step = min(st[node, at.S_LEFT], left)
        left -= step
        st[node, at.S_LEFT] -= step
        if st[node, at.S_LEFT] <= _CRUMB:
            st[node, at.S_LEFT] = 0.0
            st[node, at.S_POS] = float((int(st[node, at.S_POS]) + 1) % at.SEGMENTS)
    oldest = seg[node, 1, int(st[node, at.S_POS])]
    if st[node, at.S_LEFT] > 0.0:
        oldest = seg[node, 1, (int(st[node, at.S_POS]) + 1) % at.SEGMENTS] - step_log
    st[node, at.S_RECOVER] = max(st[node, at.S_RECOVER], min(oldest, position))
    st[node, at.S_END] = position
