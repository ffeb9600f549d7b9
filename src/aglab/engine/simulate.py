"""One scenario, run and told: what ``aglab simulate`` prints and a script calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aglab.core.progress import no_progress
from aglab.engine.flow import Flow
from aglab.engine.logfile import reuse_wait
from aglab.scenario import Scenario


def simulate(
    scenario: Scenario | str | Path,
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    out: str | Path | None = None,
    progress: Callable[..., None] = no_progress,
) -> dict[str, Any]:
    """Run a scenario, or a scenario file, with its timeline.

    Returns
    -------
    dict
        ``summary``: node -> counter -> avg, min, max; ``events``; ``warnings``; ``gauges``: node -> values at the end;
        ``log_reuse_wait``: node -> what keeps its log at the end;
        ``provenance``; ``out``: the folder the run was saved in, or None; ``run``: the :class:`aglab.record.Run` itself.
    """
    chosen = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    chosen = chosen.with_settings(settings or {})
    flow = Flow(chosen, seed)
    run = flow.run(progress=progress)
    saved = str(run.save(out)) if out is not None else None
    return {
        "summary": run.summary(),
        "events": run.events,
        "warnings": [*chosen.warnings(), *_seen(flow)],
        "log_reuse_wait": {name: reuse_wait(flow, name) for name in flow.names},
        "gauges": {name: flow.gauges(name) for name in flow.names},
        "provenance": run.provenance,
        "out": saved,
        "run": run,
    }


def _seen(flow: Flow) -> list[str]:
    """What happened that a reader of averages would miss."""
    notes = []
    primary = flow.gauges(flow.primary)
    if primary["percent_log_used"] >= 99.99:
        notes.append(
            f"the log of {flow.primary} is full (9002, log_reuse_wait_desc {reuse_wait(flow, flow.primary)}): transactions have "
            "stopped; set log_backup_every_s, or enlarge log_gb"
        )
    for name in flow.names:
        totals = flow.totals(name)
        if totals["log_full_ms"] > 0:
            notes.append(f"transactions on {name} waited {totals['log_full_ms'] / 1e3:,.1f} s for a full log (9002)")
        if totals["log_growths"] > 0:
            notes.append(
                f"the log of {name} grew {totals['log_growths']:,.0f} times, "
                f"by {flow.gauges(name)['log_vlfs_grown']:,.0f} virtual log files"
            )
    for name in flow.names:
        queue = flow.gauges(name)["recovery_queue_kb"]
        if queue * 1024 > 60 * max(1.0, flow.gauges(name)["redo_rate_kb_s"]) * 1024:
            notes.append(f"{name} has a recovery queue of {queue / 1024**2:,.1f} GB: a failover to it waits for redo")
    return notes
