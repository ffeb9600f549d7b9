"""One scenario, run and told: what ``aglab simulate`` prints and a script calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aglab.core.progress import no_progress
from aglab.engine.flow import Flow
from aglab.engine.logfile import reuse_wait
from aglab.engine.run_all import log_waits, notes, run_all
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
        ``log_reuse_wait``: node -> what keeps its log at the end (by database first where there are several; gauges are then
        the first one's);
        ``provenance``; ``out``: the folder the run was saved in, or None; ``run``: the :class:`aglab.record.Run` itself.
    """
    chosen = scenario if isinstance(scenario, Scenario) else Scenario.load(scenario)
    chosen = chosen.with_settings(settings or {})
    run, flows = run_all(chosen, seed, progress=progress)
    flow = next(iter(flows.values()))
    saved = str(run.save(out)) if out is not None else None
    return {
        "summary": run.summary(),
        "events": run.events,
        "warnings": [*chosen.warnings(), *(note for each in flows.values() for note in _seen(each)), *notes(flows)],
        "log_reuse_wait": log_waits(flows),
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
        queue = flow.gauges(name)["recovery_queue_kb"]
        if queue * 1024 > 60 * max(1.0, flow.gauges(name)["redo_rate_kb_s"]) * 1024:
            notes.append(f"{name} has a recovery queue of {queue / 1024**2:,.1f} GB: a failover to it waits for redo")
    return notes
