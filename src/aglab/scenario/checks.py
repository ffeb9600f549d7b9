"""What a scenario cannot be: refused when it is made. What is merely odd is in :mod:`aglab.scenario.doubts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.core.errors import UsageError
from aglab.scenario.timetable import check_timetable

if TYPE_CHECKING:
    from aglab.scenario.model import Scenario

REPLICAS_MAX = 9


def check_scenario(scenario: Scenario) -> None:
    """Refuse parts that exclude each other.

    Raises
    ------
    UsageError
        Replicas, recovery model, affinity, version or sizes that do not go together.
    """
    if not 1 <= len(scenario.replicas) <= REPLICAS_MAX:
        raise UsageError(
            f"replicas={len(scenario.replicas)} must be from 1 to {REPLICAS_MAX} (availability group)",
            "a primary and up to eight secondaries; 1 is a standalone server",
        )
    if len(scenario.replicas) > 1 and scenario.settings.recovery_model != "FULL":
        raise UsageError(
            f"recovery_model={scenario.settings.recovery_model!r} must be FULL with {len(scenario.replicas)} replicas (settings)",
            "an availability group needs the full recovery model",
        )
    required = scenario.settings.required_synchronized_secondaries
    if required >= len(scenario.replicas) > 0 and required:
        raise UsageError(
            f"required_synchronized_secondaries={required} must be <= {len(scenario.replicas) - 1}, the secondaries there are "
            "(availability group)",
            "add replicas first",
        )
    if scenario.settings.affinity_cores > scenario.profile.cpu.cores:
        raise UsageError(
            f"affinity_cores={scenario.settings.affinity_cores:g} must be <= {scenario.profile.cpu.cores}, the cores of "
            f"{scenario.profile.name} (settings)",
            "0 for all cores",
        )
    scenario.tempdb.check_version(scenario.settings.sql_version)
    _check_nodes(scenario)
    check_timetable(scenario)
    need_gb = scenario.workload.data_pages * 8192 / 1e9
    if need_gb > scenario.profile.data.usable_gb:
        raise UsageError(
            f"the database of {need_gb:,.0f} GB does not fit the data volume of {scenario.profile.data.usable_gb:,.0f} GB "
            f"(profile {scenario.profile.name})",
            "lower warehouses, or give the volume more devices",
        )


def _check_nodes(scenario: Scenario) -> None:
    settings, count = scenario.settings, len(scenario.numa_nodes)
    if settings.affinity_nodes > count:
        raise UsageError(
            f"affinity_nodes={settings.affinity_nodes} must be <= {count}, the NUMA nodes of {scenario.profile.name} (settings)",
            "0 for all nodes",
        )
    if settings.affinity_nodes and settings.affinity_cores:
        raise UsageError(
            f"affinity_cores={settings.affinity_cores:g} and affinity_nodes={settings.affinity_nodes} say the same thing twice "
            "(settings)",
            "keep one of them",
        )
