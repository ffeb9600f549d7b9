"""Jobs of a running flow: start, look, end. The kernels that move them are in :mod:`aglab.engine.sharing`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglab.core.errors import UsageError
from aglab.core.units import PAGE_BYTES
from aglab.engine import layout as at
from aglab.engine.backup import job_row
from aglab.scenario.jobs import BackupJob

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

_SLOT = {"data": 0, "log": 1}


@dataclass(frozen=True)
class Progress:
    """How far a job is: database bytes and seconds."""

    total_bytes: float
    left_bytes: float
    rate_bytes_s: float
    elapsed_s: float

    @property
    def running(self) -> bool:
        """Whether there is something left to move."""
        return self.left_bytes > 0.0

    @property
    def percent(self) -> float:
        """Percent done."""
        return 100.0 * (1.0 - self.left_bytes / self.total_bytes) if self.total_bytes > 0.0 else 0.0


def start(flow: Flow, index: int, job: BackupJob) -> None:
    """Let a job begin on a node.

    Raises
    ------
    UsageError
        The node's volume already has one.
    """
    row = flow.state.jb[index, _SLOT[job.volume]]
    if row[at.J_LEFT] > 0.0:
        raise UsageError(
            f"a backup of the {job.volume} volume of {flow.names[index]} runs until its end", "start the next one after it"
        )
    scenario = flow.scenario
    total = float(scenario.workload.data_pages * PAGE_BYTES)
    if job.volume == "log":
        total = float(flow.state.st[index, at.S_LSN] - min(flow.state.st[index, at.S_BACKUP], flow.state.st[index, at.S_LSN]))
    made = job_row(scenario.profile, job, max(total, PAGE_BYTES), overrides=scenario.overrides)
    made[at.J_LOAD] = row[at.J_LOAD]
    row[:] = made


def start_on(flow: Flow, nodes: Any, job: BackupJob) -> None:
    """The change ``backup``: on the node named, or on the primary."""
    index = nodes[0] if len(nodes) == 1 else int(flow.state.cl[at.K_PRIMARY])
    start(flow, index, job)


def progress(flow: Flow, index: int, volume: str) -> Progress:
    """How far the job of a node's volume is; one that has ended stays until the next begins, a stopped one has no bytes."""
    row = flow.state.jb[index, _SLOT[volume]]
    return Progress(float(row[at.J_TOTAL]), float(row[at.J_LEFT]), float(row[at.J_RATE]), float(row[at.J_ELAPSED]))


def stop(flow: Flow, index: int, volume: str) -> None:
    """End a job where it stands (its statement was cancelled)."""
    row = flow.state.jb[index, _SLOT[volume]]
    row[at.J_LEFT] = row[at.J_TOTAL] = 0.0


def note_ends(flow: Flow) -> None:
    """An event for each job that has ended since the last call; the log it read is backed up."""
    jb = flow.state.jb
    ended = (jb[:, :, at.J_TOTAL] > 0.0) & (jb[:, :, at.J_LEFT] <= 0.0) & (jb[:, :, at.J_NOTED] == 0.0)
    for index, slot in zip(*ended.nonzero(), strict=True):
        row = jb[index, slot]
        seconds = float(row[at.J_ELAPSED])
        event = {
            "time_s": round(flow.now_s, 6),
            "event": "backup_ended",
            "node": flow.names[index],
            "seconds": round(seconds, 6),
            "mb_s": round(float(row[at.J_TOTAL]) / max(seconds, 1e-9) / 1e6, 6),
        }
        flow.state.events.append(event)
        row[at.J_NOTED] = 1.0
        if slot == _SLOT["log"] and not row[at.J_COPY]:
            flow.state.st[:, at.S_BACKUP] = flow.state.st[index, at.S_LSN]


def shown(value: Any) -> Any:
    """A change's value as it stands in a Run's events: a job as a table of what differs from the defaults."""
    if not isinstance(value, BackupJob):
        return value
    return {
        spec.name: getattr(value, spec.name) for spec in dataclasses.fields(value) if getattr(value, spec.name) != spec.default
    }
