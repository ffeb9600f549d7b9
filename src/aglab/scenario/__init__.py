"""What runs where: a :class:`Scenario` joins machine, workload, availability group, settings, constants and timeline."""

from aglab.scenario.changes import CHANGES, Change, check_change
from aglab.scenario.keys import key_rows
from aglab.scenario.model import Replica, Scenario, Settings

__all__ = ["CHANGES", "Change", "Replica", "Scenario", "Settings", "check_change", "key_rows"]
