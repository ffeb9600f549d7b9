"""What entries of a timeline cannot be, and what makes one that is accepted do nothing.

Each value is checked where it is declared (:mod:`aglab.scenario.changes`); here are the entries beside the rest of the scenario.
What depends on the run (a job that still works, a rebuild that is paused) is refused when its time comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aglab.core.errors import UsageError, unknown_name
from aglab.scenario.changes import CHANGES, Change
from aglab.scenario.maintenance import Seeding, job_of

if TYPE_CHECKING:
    from aglab.scenario.model import Scenario

_OF_SECONDARIES = ("connected", "suspended")


def check_timetable(scenario: Scenario) -> None:
    """Refuse entries that the scenario has no place for.

    Raises
    ------
    UsageError
        A job larger than the data volume, seeding to a node that there is not, a recovery model that a group cannot have.
    """
    for change in scenario.timeline:
        where = f"timeline, at_s={change.at_s:g}"
        if change.values.get("simple_recovery") and len(scenario.replicas) > 1:
            raise UsageError(
                f"simple_recovery=true must be false with {len(scenario.replicas)} replicas ({where})",
                "an availability group needs the full recovery model",
            )
        for name, value in change.values.items():
            if name in CHANGES and CHANGES[name].kind == "job":
                _check_job(scenario, name, value, where)


def _check_job(scenario: Scenario, name: str, value: object, where: str) -> None:
    job = job_of(name, value, where)
    room_gb = scenario.profile.data.usable_gb
    if job.gb > room_gb:
        raise UsageError(
            f"gb={job.gb:g} of {name} must be <= {room_gb:,.0f}, what the data volume holds ({where})",
            "0 for all data pages of the database",
        )
    if isinstance(job, Seeding) and job.to not in scenario.node_names:
        raise unknown_name(f"to of seeding ({where}): node", job.to, scenario.node_names)


def idle_entries(scenario: Scenario) -> Iterator[str]:
    """Warnings about entries that change nothing, in time order; where there are several databases, of each one's own primary."""
    primary = scenario.node_names[0]
    for change in scenario.timeline:
        where = f"(timeline, at_s={change.at_s:g})"
        if change.at_s >= scenario.settings.duration_s:
            names, end_s = ", ".join(change.values), scenario.settings.duration_s
            yield f"{names} comes after the end of the run, duration_s={end_s:g} {where}"
            continue
        yield from _idle(scenario, change, primary, where)
        primary = str(change.values.get("primary", primary))


def _idle(scenario: Scenario, change: Change, primary: str, where: str) -> Iterator[str]:
    if change.values.get("primary") == primary and not scenario.databases:
        yield f"primary={primary!r} is the primary already: nothing changes {where}"
    for name in _OF_SECONDARIES:
        if name in change.values and change.node == primary and not scenario.databases:
            yield f"{name} is of secondaries, and {primary} is the primary: nothing changes {where}"


def idle_settings(scenario: Scenario) -> Iterator[str]:
    """Warnings about settings that do nothing beside the others."""
    settings, alone = scenario.settings, len(scenario.replicas) == 1
    if settings.k_mb_s and settings.target_recovery_s:
        yield (
            f"k_mb_s={settings.k_mb_s:g} throttles automatic checkpoints, and target_recovery_s={settings.target_recovery_s:g} "
            "makes them indirect: the throttle does nothing"
        )
    if settings.log_stream_compression == "on" and alone:
        yield "log_stream_compression='on' does nothing on a standalone server: no log is sent"
    if settings.log_max_gb and not settings.log_growth_mb:
        yield f"log_max_gb={settings.log_max_gb:g} does nothing: log_growth_mb=0, so that the log file does not grow"
    if settings.soft_numa == "off" and not settings.affinity_nodes:
        yield "soft_numa='off' only changes which cores affinity_nodes names, and no pool is bound to nodes"
    if settings.memory_placement == "local" and scenario.profile.cpu.sockets == 1:
        yield "memory_placement='local' does nothing with one socket: all memory is local"
