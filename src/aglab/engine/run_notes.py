"""What a reader of a finished run should know: a log file that was full."""

from __future__ import annotations

from aglab.core.counters import BY_KEY
from aglab.record import Run
from aglab.scenario import Scenario

_FULL_PERCENT = 99.5


def run_warnings(scenario: Scenario, run: Run) -> list[str]:
    """One line when a log was full (the first node's: others follow it): since when, for how long, what would have helped."""
    settings = scenario.settings
    for node in scenario.node_names:
        used = run.series(BY_KEY["percent_log_used"].path(scenario.database), node)
        full = used[used >= _FULL_PERCENT]
        if not full.empty:
            lasted, since = len(full) * settings.sample_s, float(full.index[0])
            return [
                f"the log file of {node} ({settings.log_file_gb:g} GB) was full for {lasted:,.0f} s, from {since:,.0f} s on: "
                f"transactions waited (9002 on a server). Back up the log (log_backup_every_s={settings.log_backup_every_s:g}), "
                "enlarge it (log_file_gb), or look for what holds it: redo that lags, a lost link"
            ]
    return []
