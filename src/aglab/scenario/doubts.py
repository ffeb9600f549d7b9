"""What makes an accepted scenario doubtful: inputs that contradict each other without being impossible, or that do nothing.

What cannot be is refused where it is declared (:mod:`aglab.hardware.parts`); what is merely odd is answered, with a warning here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aglab.core.units import MIB
from aglab.hardware import Volume
from aglab.scenario.timetable import idle_entries, idle_settings

if TYPE_CHECKING:
    from aglab.scenario.model import Scenario

TICK_FINE_S = 0.2
_ODD = 1.5  # beyond this two data-sheet values do not go together


def doubts(scenario: Scenario) -> list[str]:
    """Warnings in a fixed order; empty for inputs that go together."""
    odd = [*_memory(scenario), *_volumes(scenario), *_log(scenario), *_tempdb(scenario), *_tick(scenario)]
    return [*odd, *idle_settings(scenario), *idle_entries(scenario)]


def _memory(scenario: Scenario) -> Iterator[str]:
    memory = scenario.profile.memory
    if scenario.workload.hot_pages > memory.buffer_pool_pages:
        yield (
            f"the hot set ({scenario.hot_bytes / MIB / 1024:,.1f} GB) does not fit max server memory "
            f"({memory.max_server_memory_mb / 1024:,.1f} GB): hot pages are read from disk again"
        )


def _volumes(scenario: Scenario) -> Iterator[str]:
    for name, volume in (("data", scenario.profile.data), ("log", scenario.profile.log)):
        yield from _volume(f"hardware.{name}", volume)


def _volume(key: str, volume: Volume) -> Iterator[str]:
    for problem in volume.contradictions():  # in a profile's file an error; a setting may want to know what then
        yield f"{key}.{problem.message}"
    alone = 1e6 / volume.read_latency_us
    if alone > _ODD * volume.read_iops:
        yield (
            f"{key}.read_iops={volume.read_iops:g} is less than one reader alone does at read_latency_us="
            f"{volume.read_latency_us:g} ({alone:,.0f}/s): one of the two is not this device's; for a limit use max_iops"
        )
    most = volume.devices * max(volume.read_mb_s, volume.write_mb_s / volume.write_penalty)
    if volume.max_mb_s > most:
        yield f"{key}.max_mb_s={volume.max_mb_s:g} is more than {volume.devices} devices move ({most:,.0f}): it limits nothing"
    most = volume.devices * max(volume.read_iops, volume.write_iops)
    if volume.max_iops > most:
        yield f"{key}.max_iops={volume.max_iops:g} is more than {volume.devices} devices do ({most:,.0f}): it limits nothing"


def _log(scenario: Scenario) -> Iterator[str]:
    log, settings = scenario.profile.log, scenario.settings
    if settings.log_file_gb > log.usable_gb:
        yield (
            f"log_file_gb={settings.log_file_gb:g} is more than the log volume holds ({log.usable_gb:,.0f} GB after RAID "
            f"{log.raid}): such a file cannot be created; lower it or give the volume more devices"
        )
    if settings.tail_of_log_us > 0 and scenario.profile.persistent_memory.capacity_gb == 0:
        yield (
            f"tail_of_log_us={settings.tail_of_log_us:g} puts the tail of the log on persistent memory, and profile "
            f"{scenario.profile.name} has none (hardware.persistent_memory.capacity_gb=0)"
        )


def _tempdb(scenario: Scenario) -> Iterator[str]:
    job, tempdb = scenario.workload, scenario.tempdb
    if job.version_kb_per_tx and tempdb.row_versioning == "off":
        yield "version_kb_per_tx counts only while an online index rebuild runs: tempdb.row_versioning is off"


def _tick(scenario: Scenario) -> Iterator[str]:
    tick_s = scenario.settings.tick_s
    if tick_s > TICK_FINE_S:
        yield f"tick_s={tick_s:g} is coarse: what changes within a tick, as in a saturating checkpoint, is averaged away; use 0.1"
