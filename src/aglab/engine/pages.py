"""Dirty pages and who writes them: automatic, manual and indirect checkpoints, and the -k throttle.

The hot set of H pages is cut into segments that the writer sweeps in turn. A segment that took ``n`` touches since its
last sweep holds ``h * (1 - exp(-n/h))`` dirty pages: a page dirtied again before its sweep is written once. An automatic
checkpoint starts when the log that recovery could replay in the recovery interval has been made since the last one
*ended*; -k caps its rate (and a manual one's). Under TARGET_RECOVERY_TIME a background writer keeps the oldest dirty
page younger than the target, and -k does nothing. Left out: cold pages made dirty by inserts, the lazy writer.
"""

from __future__ import annotations

import math

from aglab.engine.jit import kernel
from aglab.engine.layout import (
    C_RECOVERY_INTERVAL,
    C_RECOVERY_RATE,
    S_BEGIN,
    S_CHECKPOINTS,
    S_DEPTH,
    S_END,
    S_K,
    S_LEFT,
    S_MANUAL,
    S_POS,
    S_RECOVER,
    S_SWEEPING,
    S_SWEPT,
    S_TARGET,
    S_TOUCHES,
    SEGMENTS,
    W_HOT,
)

_NO_LIMIT = 1e15
_CRUMB = 1e-9  # pages: less than this is nothing


@kernel
def dirty_in(node, segment, st, seg, wl):
    """Dirty pages of one segment."""
    size = wl[W_HOT] / SEGMENTS
    touches = (st[node, S_TOUCHES] - seg[node, 0, segment]) / SEGMENTS
    return size * (1.0 - math.exp(-touches / size))


@kernel
def dirty_pages(node, st, seg, wl):
    """Dirty pages of a node; the segment under the writer counts what is left of it."""
    total = 0.0
    for segment in range(SEGMENTS):
        total += dirty_in(node, segment, st, seg, wl)
    return total + st[node, S_LEFT]


@kernel
def take_segment(node, position, st, seg, wl):
    """Put the segment the writer stands at in its hand: what is dirty now will be written, touches count anew."""
    segment = int(st[node, S_POS])
    st[node, S_LEFT] = dirty_in(node, segment, st, seg, wl)
    seg[node, 0, segment] = st[node, S_TOUCHES]
    seg[node, 1, segment] = position


@kernel
def start_checkpoint(node, position, st, seg, wl):
    """Begin a sweep of all segments at log position ``position``."""
    st[node, S_SWEEPING] = 1.0
    st[node, S_MANUAL] = 0.0
    st[node, S_BEGIN] = position
    st[node, S_SWEPT] = 0.0
    if st[node, S_LEFT] <= 0.0:
        take_segment(node, position, st, seg, wl)


@kernel
def plan_checkpoint(node, dt, most, st, seg, wl):
    """Pages/s a running checkpoint asks for: its throttle, and no more than the sweep still holds.

    ``most`` is what the volume could write in this tick (pages): there is no need to look further ahead.
    """
    limit = st[node, S_K] if st[node, S_K] > 0.0 else _NO_LIMIT
    most = min(most, limit * dt)
    ahead = st[node, S_LEFT]
    position = int(st[node, S_POS])
    for step in range(1, SEGMENTS - int(st[node, S_SWEPT])):
        if ahead > most:
            break
        ahead += dirty_in(node, (position + step) % SEGMENTS, st, seg, wl)
    return min(limit, ahead / dt)


@kernel
def plan_background(node, dt, log_rate, position, st, seg, wl, ct):
    """Pages/s the background writer asks for under TARGET_RECOVERY_TIME.

    It sweeps once per target of log; a segment older than the target is written at once.
    """
    target = st[node, S_TARGET] * ct[C_RECOVERY_RATE]
    step_log = target / SEGMENTS
    goal = position + log_rate * dt
    segment = int(st[node, S_POS])
    left = st[node, S_LEFT]
    deadline = st[node, S_BEGIN]
    if left <= 0.0:
        left = dirty_in(node, segment, st, seg, wl)
        deadline = max(deadline, position - step_log) + step_log
    start = position
    pages = 0.0
    for _ in range(SEGMENTS):
        following = (segment + 1) % SEGMENTS
        deadline = min(deadline, seg[node, 1, following] + target)
        if deadline > goal:
            pages += left * (goal - start) / (deadline - start)
            break
        pages += left
        start = max(start, deadline)
        deadline = start + step_log
        segment = following
        left = dirty_in(node, segment, st, seg, wl)
    return pages / dt


@kernel
def plan_writes(node, position, dt, most, log_rate, st, seg, wl, ct):
    """Pages/s the node's writer asks for in this tick; starts a checkpoint that is due.

    ``position`` is the log position of the node's pages (its log end, or what it has redone), ``log_rate`` the log made
    in the last tick (B/s).
    """
    if st[node, S_SWEEPING] < 0.5:
        due = st[node, S_MANUAL] > 0.5
        if st[node, S_TARGET] <= 0.0 and position - st[node, S_END] >= ct[C_RECOVERY_INTERVAL] * ct[C_RECOVERY_RATE]:
            due = True
        if due:
            start_checkpoint(node, position, st, seg, wl)
    if st[node, S_SWEEPING] > 0.5:
        return plan_checkpoint(node, dt, most, st, seg, wl)
    if st[node, S_TARGET] > 0.0:
        return plan_background(node, dt, log_rate, position, st, seg, wl, ct)
    return 0.0


@kernel
def write_checkpoint(node, position, pages, dt, st, seg, wl):
    """Write ``pages`` pages of a running checkpoint in sweep order; ends it when the sweep is done."""
    st[node, S_DEPTH] += dt
    left = pages
    while True:
        step = min(st[node, S_LEFT], left)
        left -= step
        st[node, S_LEFT] -= step
        if st[node, S_LEFT] > _CRUMB:
            break
        st[node, S_LEFT] = 0.0
        st[node, S_POS] = float((int(st[node, S_POS]) + 1) % SEGMENTS)
        st[node, S_SWEPT] += 1.0
        if st[node, S_SWEPT] >= SEGMENTS:
            st[node, S_SWEEPING] = 0.0
            st[node, S_END] = position
            st[node, S_RECOVER] = st[node, S_BEGIN]
            st[node, S_BEGIN] = position
            st[node, S_CHECKPOINTS] += 1.0
            st[node, S_DEPTH] = 0.0
            break
        take_segment(node, position, st, seg, wl)


@kernel
def write_background(node, position, pages, st, seg, wl, ct):
    """Write ``pages`` pages of the background writer's sweep and move the point where recovery would start."""
    target = st[node, S_TARGET] * ct[C_RECOVERY_RATE]
    step_log = target / SEGMENTS
    left = pages
    for _ in range(2 * SEGMENTS):
        if left <= _CRUMB:
            break
        if st[node, S_LEFT] <= 0.0:
            st[node, S_BEGIN] = max(st[node, S_BEGIN], position - step_log) + step_log
            take_segment(node, position, st, seg, wl)
        step = min(st[node, S_LEFT], left)
        left -= step
        st[node, S_LEFT] -= step
        if st[node, S_LEFT] <= _CRUMB:
            st[node, S_LEFT] = 0.0
            st[node, S_POS] = float((int(st[node, S_POS]) + 1) % SEGMENTS)
    oldest = seg[node, 1, int(st[node, S_POS])]
    if st[node, S_LEFT] > 0.0:
        oldest = seg[node, 1, (int(st[node, S_POS]) + 1) % SEGMENTS] - step_log
    st[node, S_RECOVER] = max(st[node, S_RECOVER], min(oldest, position))
    st[node, S_END] = position
