"""How far the step of the flow engine moves a result: the same scenario with the tick as set, and with half of it.

A tick is too coarse where a state changes much within one, as while an unthrottled checkpoint saturates the data volume. The
difference to half the tick says how much, for this scenario; with a method of first order the whole error is about twice it.
"""

from __future__ import annotations

from aglab.engine.flow import Flow
from aglab.scenario import Scenario

FINE_S = 0.1
LONGEST_S = 300.0


def tick_change_percent(scenario: Scenario) -> tuple[float, float]:
    """Change (%) of average and of minimum Transactions/sec when the tick is halved, without noise."""
    seconds = min(scenario.settings.duration_s, LONGEST_S)
    quiet = scenario.with_settings(noise=0.0)
    rates = []
    for tick_s in (quiet.settings.tick_s, quiet.settings.tick_s / 2):
        run = Flow(quiet.with_settings(tick_s=tick_s)).run(max(seconds, quiet.settings.sample_s))
        rates.append(run.series("Transactions/sec", scenario.node_names[0]))
    coarse, fine = rates
    return _percent(coarse.mean(), fine.mean()), _percent(coarse.min(), fine.min())


def tick_warnings(scenario: Scenario) -> list[str]:
    """For a tick above 0.1 s, one line that says by how much it moves the result; nothing at 0.1 s or below."""
    tick_s = scenario.settings.tick_s
    if tick_s <= FINE_S:
        return []
    average, least = tick_change_percent(scenario)
    return [
        f"tick_s={tick_s:g} moves Transactions/sec of this scenario by {average:+.1f} % on average and by {least:+.1f} % at its "
        f"minimum beside tick_s={tick_s / 2:g}; {FINE_S:g} or less is safe"
    ]


def _percent(value: float, reference: float) -> float:
    return 100.0 * (value / reference - 1.0) if reference > 0 else 0.0
