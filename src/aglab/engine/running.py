"""Jobs of a running flow: start, look, pause, end. The kernels that move them are in :mod:`aglab.engine.sharing`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.units import PAGE_BYTES
from aglab.engine import layout as at
from aglab.engine.drives import profile_of
from aglab.engine.job_rows import job_row, seeding_target_row
from aglab.scenario.changes import Change
from aglab.scenario.maintenance import IndexRebuild, Job, Seeding

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

_SLOT = {"data": 0, "log": 1}
NEVER = 1e300  # bytes: a log position beyond any log


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


class Busy(UsageError):
    """Another job has the volume."""


def happen(flow: Flow, change: Change) -> None:
    """Apply an entry of the timeline; one that repeats leaves out what the time before still works at."""
    try:
        flow.change(change.node, **change.values)
    except Busy as error:
        if change.every_s <= 0.0:
            raise
        event = {"time_s": round(flow.now_s, 6), "event": "skipped", "value": ", ".join(change.values), "why": error.message}
        flow.state.events.append(event)


def start(flow: Flow, index: int, job: Job) -> None:
    """Let a job begin on a node.

    Raises
    ------
    UsageError
        The node's volume already has one, or the job cannot run here.
    """
    row = flow.state.jb[index, _SLOT[job.volume]]
    _refuse_busy(flow, index, job.volume)
    scenario = flow.scenario
    total = float(scenario.workload.data_pages * PAGE_BYTES)
    if job.volume == "log":
        total = float(flow.state.st[index, at.S_LSN] - min(flow.state.st[index, at.S_BACKUP], flow.state.st[index, at.S_LSN]))
    if isinstance(job, IndexRebuild):
        _check_rebuild(flow, job)
    machine = profile_of(flow, index)
    if isinstance(job, Seeding):
        machine = dataclasses.replace(machine, network=scenario.way(flow.names[index], job.to))
    made = job_row(machine, job, max(total, PAGE_BYTES), overrides=scenario.overrides)
    made[at.J_LOAD] = row[at.J_LOAD]
    if isinstance(job, Seeding):
        _start_target(flow, index, job, made)
    if made[at.J_KEEPS]:
        flow.state.st[index, at.S_OLDEST] = flow.state.st[index, at.S_LSN]
    row[:] = made


def start_on(flow: Flow, nodes: Any, job: Job) -> None:
    """The change that names a job: on the node named, or on the primary."""
    index = nodes[0] if len(nodes) == 1 else int(flow.state.cl[at.K_PRIMARY])
    start(flow, index, job)


def start_on_primary(flow: Flow, nodes: Any, job: Job) -> None:
    """The change that names a job of the primary."""
    start(flow, int(flow.state.cl[at.K_PRIMARY]), job)


def _refuse_busy(flow: Flow, index: int, volume: str) -> None:
    row = flow.state.jb[index, _SLOT[volume]]
    if row[at.J_LEFT] > 0.0:
        kind = at.JOB_KINDS[int(row[at.J_KIND])].replace("_", " ")
        raise Busy(f"a {kind} of the {volume} volume of {flow.names[index]} runs until its end", "start the next one after it")


def _check_rebuild(flow: Flow, job: IndexRebuild) -> None:
    if job.logged == "minimal" and len(flow.names) > 1:
        raise UsageError(
            f"logged='minimal' needs a standalone server, and there are {len(flow.names)} replicas (index rebuild)",
            "an availability group needs the full recovery model",
        )
    version = flow.scenario.settings.sql_version
    if job.resumable and version in ("2014", "2016 RTM", "2016"):
        raise UsageError(f"resumable=true needs version 2017 or later, not {version} (index rebuild)", "set version to 2017")


def _start_target(flow: Flow, index: int, job: Seeding, source: Any) -> None:
    if job.to not in flow.names:
        raise unknown_name("to (seeding): node", job.to, flow.names)
    target = flow.names.index(job.to)
    if target == index:
        raise UsageError(f"to={job.to!r} must be a secondary (seeding)", "the primary is where the data comes from")
    _refuse_busy(flow, target, "data")
    row = flow.state.jb[target, 0]
    made = seeding_target_row(profile_of(flow, target), source, index, job, flow.scenario.overrides)
    made[at.J_LOAD] = row[at.J_LOAD]
    row[:] = made


def pause(flow: Flow, nodes: Any, value: float) -> None:
    """Stop a resumable rebuild where it stands.

    Raises
    ------
    UsageError
        None runs.
    """
    index = int(flow.state.cl[at.K_PRIMARY])
    row = flow.state.jb[index, 0]
    if not (row[at.J_LEFT] > 0.0 and row[at.J_RESUMES]):
        raise UsageError(f"no resumable rebuild runs on {flow.names[index]} (index_pause)", "start one with resumable = true")
    _put_aside(flow, index)


def resume(flow: Flow, nodes: Any, value: float) -> None:
    """Go on with a paused rebuild, on the node that is primary now.

    Raises
    ------
    UsageError
        None is paused, or another job has the volume.
    """
    index = int(flow.state.cl[at.K_PRIMARY])
    if flow.state.paused is None:
        raise UsageError("no paused rebuild to go on with (index_resume)", "pause a resumable one first")
    _refuse_busy(flow, index, "data")
    flow.state.paused[at.J_LOAD] = flow.state.jb[index, 0, at.J_LOAD]
    flow.state.jb[index, 0] = flow.state.paused
    flow.state.paused = None


def _put_aside(flow: Flow, index: int) -> None:
    flow.state.paused = flow.state.jb[index, 0].copy()
    flow.state.jb[index, 0] = 0.0


def leave(flow: Flow, index: int, why: str) -> None:
    """The instance stops or loses its role: what it worked at ends, a resumable rebuild is paused, seeding ends on both sides.

    ``why`` is ``restart`` (everything ends) or ``role`` (jobs of the primary end; backups and checks go on).
    """
    jb = flow.state.jb
    kind = at.JOB_KINDS[int(jb[index, 0, at.J_KIND])]
    if jb[index, 0, at.J_LEFT] > 0.0 and jb[index, 0, at.J_RESUMES]:
        _put_aside(flow, index)
    elif jb[index, 0, at.J_LEFT] > 0.0 and (why == "restart" or kind in ("index_rebuild", "seeding")):
        _note(flow, index, f"{kind}_failed", jb[index, 0])
        jb[index, 0] = 0.0
    for node in range(len(flow.names)):
        fed = jb[node, 0, at.J_SOURCE] == index + 1 and jb[node, 0, at.J_LEFT] > 0.0
        if fed and (kind == "seeding" or why == "restart"):
            jb[node, 0] = 0.0
    if why == "restart":
        jb[index] = 0.0
    flow.state.st[index, at.S_OLDEST] = NEVER


def open_snapshot(flow: Flow, nodes: Any, value: float) -> None:
    """A snapshot transaction that begins and stays open, or ends.

    Raises
    ------
    UsageError
        The database keeps no row versions.
    """
    if value and flow.scenario.tempdb.row_versioning == "off":
        raise UsageError(
            "snapshot_transaction needs row versions, and tempdb.row_versioning is off (timeline)",
            "set tempdb.row_versioning to on: ALLOW_SNAPSHOT_ISOLATION",
        )
    flow.state.cl[at.K_SNAPSHOT] = value
    flow.state.st[:, at.S_VERSIONS_KEPT] = 0.0


def forget_versions(flow: Flow, index: int) -> None:
    """tempdb is made anew at a start, and connections of the old primary are gone: no version is left there."""
    flow.state.st[index, (at.S_VERSIONS, at.S_VERSIONS_KEPT)] = 0.0
    if index == int(flow.state.cl[at.K_PRIMARY]):
        flow.state.cl[at.K_SNAPSHOT] = 0.0


def progress(flow: Flow, index: int, volume: str) -> Progress:
    """How far the job of a node's volume is; one that has ended stays until the next begins, a stopped one has no bytes."""
    row = flow.state.jb[index, _SLOT[volume]]
    return Progress(float(row[at.J_TOTAL]), float(row[at.J_LEFT]), float(row[at.J_RATE]), float(row[at.J_ELAPSED]))


def stop(flow: Flow, index: int, volume: str) -> None:
    """End a job where it stands (its statement was cancelled)."""
    row = flow.state.jb[index, _SLOT[volume]]
    if row[at.J_KEEPS]:
        flow.state.st[index, at.S_OLDEST] = NEVER
    row[at.J_LEFT] = row[at.J_TOTAL] = 0.0


def note_ends(flow: Flow) -> None:
    """An event for each job that has ended since the last call; the log it read is backed up, the log it kept is free."""
    jb = flow.state.jb
    ended = (jb[:, :, at.J_TOTAL] > 0.0) & (jb[:, :, at.J_LEFT] <= 0.0) & (jb[:, :, at.J_NOTED] == 0.0)
    for index, slot in zip(*ended.nonzero(), strict=True):
        row = jb[index, slot]
        kind = at.JOB_KINDS[int(row[at.J_KIND])]
        if kind != "seeding_target":
            _note(flow, index, f"{kind}_ended", row)
        row[at.J_NOTED] = 1.0
        if row[at.J_KEEPS]:
            flow.state.st[index, at.S_OLDEST] = NEVER
        if slot == _SLOT["log"] and not row[at.J_COPY]:
            flow.state.st[:, at.S_BACKUP] = flow.state.st[index, at.S_LSN]


def _note(flow: Flow, index: int, event: str, row: Any) -> None:
    seconds = float(row[at.J_ELAPSED])
    moved = float(row[at.J_TOTAL] - row[at.J_LEFT])
    flow.state.events.append(
        {
            "time_s": round(flow.now_s, 6),
            "event": event,
            "node": flow.names[index],
            "seconds": round(seconds, 6),
            "mb_s": round(moved / max(seconds, 1e-9) / 1e6, 6),
        }
    )


def shown(value: Any) -> Any:
    """A change's value as it stands in a Run's events: a job as a table of what differs from the defaults."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    return {
        spec.name: getattr(value, spec.name) for spec in dataclasses.fields(value) if getattr(value, spec.name) != spec.default
    }
