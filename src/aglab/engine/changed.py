"""What a change does to a running flow (:meth:`aglab.engine.Flow.change`): one function for each name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aglab.core.units import mib_per_s_to_pages_per_s
from aglab.engine import drives, running
from aglab.engine import layout as at
from aglab.engine.warmth import cool

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

ALWAYS = 1e300  # bytes: backed up to beyond any log


def _set_users(flow: Flow, nodes: Any, value: float) -> None:
    flow.state.cl[at.K_USERS] = value


def _set_primary(flow: Flow, nodes: Any, value: str) -> None:
    state = flow.state
    new = flow.names.index(value)
    old = int(state.cl[at.K_PRIMARY])
    if new == old:
        return
    running.leave(flow, old, "role")
    running.forget_versions(flow, old)
    state.cl[at.K_PRIMARY] = float(new)
    end = state.st[new, at.S_LSN]
    for index in range(len(flow.names)):
        # a log that runs past the new primary's is undone there; the new primary first redoes its own queue
        for column in (at.S_LSN, at.S_SENT, at.S_REDONE, at.S_BEGIN, at.S_END, at.S_RECOVER, at.S_BACKUP):
            state.st[index, column] = min(state.st[index, column], end)
    state.st[old, at.S_REDONE] = state.st[old, at.S_LSN]
    state.st[new, at.S_JOB_LOG] = 0.0
    cool(flow, new, hot=False)
    state.st[new, at.S_CONNECTED] = 1.0
    state.st[new, at.S_SUSPENDED] = 0.0


def _set(column: int, scale: Callable[[float], float] = float) -> Callable[[Flow, Any, float], None]:
    def apply(flow: Flow, nodes: Any, value: float) -> None:
        for index in nodes:
            flow.state.st[index, column] = scale(value)

    return apply


def _set_machine(column: int, scale: float) -> Callable[[Flow, Any, float], None]:
    def apply(flow: Flow, nodes: Any, value: float) -> None:
        hw = flow.params.hw.copy()  # a copy of the flow goes on with the old one
        for index in nodes:
            hw[index, column] = value * scale
        flow.params = dataclasses.replace(flow.params, hw=hw)

    return apply


def _set_target(flow: Flow, nodes: Any, value: float) -> None:
    for index in nodes:
        flow.state.st[index, at.S_TARGET] = value
        if value > 0.0:  # the background writer takes over what a running automatic checkpoint (and its throttle) had in hand
            flow.state.st[index, at.S_SWEEPING] = 0.0


def _checkpoint(flow: Flow, nodes: Any, value: float) -> None:
    # assumed: its record is log like any other, and a replica that redoes the primary's writes its own dirty pages
    st, primary = flow.state.st, int(flow.state.cl[at.K_PRIMARY])
    wanted = {int(index) for index in nodes}
    if primary in wanted:
        wanted |= {index for index in range(len(st)) if st[index, at.S_CONNECTED] > 0.5 and st[index, at.S_SUSPENDED] < 0.5}
    for index in wanted:
        st[index, at.S_MANUAL] = float(value)


def _log_backup(flow: Flow, nodes: Any, value: float) -> None:
    # any replica's log backup frees the log of all, up to what the node backed up has
    for index in range(len(flow.names)):
        flow.state.st[index, at.S_BACKUP] = flow.state.st[index, at.S_LSN]


def _recovery_model(flow: Flow, nodes: Any, simple: float) -> None:
    for index in nodes:
        if simple:
            flow.state.st[index, at.S_BACKUP] = ALWAYS
        elif flow.state.st[index, at.S_BACKUP] >= ALWAYS:  # the chain of log backups begins here
            flow.state.st[index, at.S_BACKUP] = flow.state.st[index, at.S_LSN]


def _restart(flow: Flow, nodes: Any, value: float) -> None:
    # a clean stop ends with a checkpoint: no dirty page is left, recovery would start here
    state = flow.state
    for index in nodes:
        cool(flow, index, hot=True)
        running.forget_versions(flow, index)
        running.leave(flow, index, "restart")  # a job ends with the instance, unless it can be resumed
        primary = index == int(state.cl[at.K_PRIMARY])
        position = state.st[index, at.S_LSN if primary else at.S_REDONE]
        state.seg[index, 0, :] = state.st[index, at.S_TOUCHES]
        state.seg[index, 1, :] = position
        for column in (at.S_LEFT, at.S_SWEPT, at.S_SWEEPING, at.S_MANUAL, at.S_DEPTH):
            state.st[index, column] = 0.0
        for column in (at.S_BEGIN, at.S_END, at.S_RECOVER):
            state.st[index, column] = position


APPLY: dict[str, Callable[[Flow, Any, Any], None]] = {
    "users": _set_users,
    "primary": _set_primary,
    "k_mb_s": _set(at.S_K, mib_per_s_to_pages_per_s),
    "target_recovery_s": _set_target,
    "checkpoint": _checkpoint,
    "log_backup": _log_backup,
    "backup": running.start_on,
    "restore": running.start_on,
    "integrity_check": running.start_on,
    "index_rebuild": running.start_on_primary,
    "index_pause": running.pause,
    "index_resume": running.resume,
    "seeding": running.start_on_primary,
    "simple_recovery": _recovery_model,
    "tail_of_log_us": _set_machine(at.H_LOG_TAIL, 1e-6),
    "delayed_durability": _set_machine(at.H_LAZY, 1.0),
    "snapshot_transaction": running.open_snapshot,
    "drive_failure": drives.fail,
    "drive_replaced": drives.replace,
    "restart": _restart,
    "connected": _set(at.S_CONNECTED),
    "suspended": _set(at.S_SUSPENDED),
    "availability_mode": _set(at.S_SYNC),
}
