"""Drives of a running flow: failures, spares, rebuilds. What a lacking drive costs is in :mod:`aglab.hardware.degraded`.

A spare takes the place of a failed drive at once and its rebuild begins; without one the set stays degraded until
``drive_replaced``. One drive of a volume is rebuilt at a time. A rebuild does not end between ticks by chance: time is advanced
to its end exactly. Left out: a spare that fails while it is written.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglab.core.errors import AglabError, UsageError
from aglab.engine import layout as at
from aglab.engine.params import machine_row
from aglab.hardware import Profile, Volume
from aglab.hardware.degraded import degraded, lost_set, rebuild_s
from aglab.scenario.drives import Drive

if TYPE_CHECKING:
    from aglab.engine.flow import Flow

_NEVER = math.inf
_SOON = 1e-9  # seconds
_COLUMNS = (  # of ``hw``, that follow from the drives
    at.H_READ_S,
    at.H_WRITE_S,
    at.H_READ_LAT,
    at.H_WRITE_LAT,
    at.H_POOLING,
    at.H_QUEUE_S,
    at.H_QUEUE_POOLING,
    at.H_BURST,
    at.H_STAR,
    at.H_LOG_LAT,
    at.H_LOG_BW,
)


class VolumeLost(AglabError):
    """A drive too many has failed: the run cannot go on with this volume."""


@dataclass
class Drives:
    """State of one volume of one node."""

    failed: frozenset[int] = frozenset()
    spares: int = 0
    rebuilding: int = 0  # drive whose place the spare takes; 0 = none
    begun_s: float = 0.0
    ends_s: float = _NEVER


def fail(flow: Flow, nodes: Any, change: Drive) -> None:
    """A drive fails.

    Raises
    ------
    VolumeLost
        What was on it is nowhere else.
    UsageError
        There is no such drive, or it has failed already.
    """
    index, volume, now = _named(flow, nodes, change)
    drive = change.drive or next((one for one in range(1, volume.devices + 1) if one not in now.failed), 0)
    where = f"{change.volume} volume of {flow.names[index]}"
    if not 1 <= drive <= volume.devices or drive in now.failed:
        raise UsageError(
            f"drive={change.drive} of the {where} must be a drive that works: 1 to {volume.devices}"
            + (f" without {_list(now.failed)}" if now.failed else "")
            + " (drive_failure)",
            "leave it out for the first that works",
        )
    gone = lost_set(volume, now.failed | {drive})
    if gone:
        raise VolumeLost(
            f"the {where} is lost at {flow.now_s:g} s (warm-up counts): RAID {volume.raid} of {volume.devices} has no other copy "
            f"of what was on drive{'s' if len(gone) > 1 else ''} {_list(gone)}",
            "restore from a backup, or let another replica take over; on a timeline, choose drives of different sets",
        )
    now.failed |= {drive}
    _begin(flow, volume, now)
    _refresh(flow, index)


def replace(flow: Flow, nodes: Any, change: Drive) -> None:
    """A new drive is put in: it is rebuilt where one lacks, else it becomes a spare."""
    index, volume, now = _named(flow, nodes, change)
    if change.drive and change.drive not in now.failed:
        raise UsageError(
            f"drive={change.drive} of the {change.volume} volume of {flow.names[index]} has not failed (drive_replaced)",
            f"failed: {_list(now.failed) or 'none'}",
        )
    now.spares += 1
    _begin(flow, volume, now, change.drive)
    _refresh(flow, index)


def until(flow: Flow) -> float:
    """Time until the next rebuild ends (s); infinite when none runs."""
    if not flow.state.drives:
        return _NEVER
    return max(_SOON, min(one.ends_s for one in flow.state.drives.values()) - flow.now_s)


def note_ends(flow: Flow) -> None:
    """Rebuilds that have ended: the spare is a drive like the others, and the next rebuild begins."""
    for (index, name), now in flow.state.drives.items():
        if now.ends_s > flow.now_s + _SOON:
            continue
        flow.state.events.append(
            {
                "time_s": round(flow.now_s, 6),
                "event": "drive_rebuilt",
                "node": flow.names[index],
                "volume": name,
                "drive": now.rebuilding,
                "seconds": round(now.ends_s - now.begun_s, 6),
            }
        )
        now.failed -= {now.rebuilding}
        now.rebuilding, now.ends_s = 0, _NEVER
        _begin(flow, getattr(flow.scenario.profile, name), now)
        _refresh(flow, index)


def profile_of(flow: Flow, index: int) -> Profile:
    """The machine as it is now: what a job that begins finds."""
    profile = flow.scenario.profile
    parts: dict[str, Any] = {
        name: degraded(getattr(profile, name), now.failed, now.rebuilding > 0)
        for (node, name), now in flow.state.drives.items()
        if node == index
    }
    return dataclasses.replace(profile, **parts) if parts else profile


def keep(flow: Flow) -> None:
    """Other inputs came (:meth:`aglab.engine.Flow.retune`): what has failed is still failed."""
    for index in {node for node, _ in flow.state.drives}:
        _refresh(flow, index)


def _named(flow: Flow, nodes: Any, change: Drive) -> tuple[int, Volume, Drives]:
    index = nodes[0] if len(nodes) == 1 else int(flow.state.cl[at.K_PRIMARY])
    volume: Volume = getattr(flow.scenario.profile, change.volume)
    return index, volume, flow.state.drives.setdefault((index, change.volume), Drives(spares=volume.spares))


def _begin(flow: Flow, volume: Volume, now: Drives, drive: int = 0) -> None:
    """Let a rebuild begin where a drive lacks, a spare is there, and none runs."""
    if now.rebuilding or not now.failed or not now.spares:
        return
    now.spares -= 1
    now.rebuilding = drive or min(now.failed)
    now.begun_s = flow.now_s
    now.ends_s = flow.now_s + rebuild_s(volume)


def _refresh(flow: Flow, index: int) -> None:
    """Put what the drives can do now into the node's parameters, and into the jobs that run there."""
    row = machine_row(dataclasses.replace(flow.scenario, profile=profile_of(flow, index)))
    hw = flow.params.hw.copy()  # a copy of the flow goes on with the old one
    ratios = (hw[index, at.H_READ_S] / row[at.H_READ_S], row[at.H_LOG_BW] / hw[index, at.H_LOG_BW])
    for slot, ratio in enumerate(ratios):
        flow.state.jb[index, slot, at.J_BANDWIDTH] *= ratio
    hw[index, _COLUMNS] = row[list(_COLUMNS)]
    flow.params = dataclasses.replace(flow.params, hw=hw)


def _list(drives: Any) -> str:
    return ", ".join(str(one) for one in sorted(drives))
