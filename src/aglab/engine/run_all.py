"""A scenario run whole: one database as a flow, several as databases that share their machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aglab.core.progress import no_progress
from aglab.engine.databases import Databases
from aglab.engine.flow import Flow
from aglab.engine.logfile import log_notes, reuse_wait
from aglab.engine.tempdb import tempdb_notes
from aglab.scenario import Scenario

if TYPE_CHECKING:
    from aglab.record import Run


def run_all(
    scenario: Scenario, seed: int = 1, seconds: float | None = None, progress: Callable[..., None] = no_progress
) -> tuple[Run, dict[str, Flow]]:
    """The run of a scenario with its timeline, and the flow of each database at its end, by name."""
    each = scenario.each()
    if len(each) == 1:
        flow = Flow(each[0], seed)
        return flow.run(seconds, progress), {each[0].database: flow}
    several = Databases(each, seed)
    return several.run(seconds, progress), several.flows


def log_waits(flows: dict[str, Flow]) -> dict[str, Any]:
    """What keeps each node's log at the end: node -> ``log_reuse_wait_desc``; by database first where there are several."""
    waits = {name: {node: reuse_wait(flow, node) for node in flow.names} for name, flow in flows.items()}
    return waits if len(waits) > 1 else next(iter(waits.values()))


def transaction_ms(flows: dict[str, Flow]) -> dict[str, dict[str, float]]:
    """Of each database, the average time of a transaction, and of it what sys.dm_os_wait_stats would have under each wait type.

    Averages over all transactions of the run, its warm-up included, in ms. Waits overlap: a commit waits for the local flush
    (WRITELOG) and for its replicas (HADR_SYNC_COMMIT) at once, so they need not add up. What no wait explains is work on the
    processors and the client's own time. Empty where nobody worked.
    """
    found = {}
    for name, flow in flows.items():
        totals = [flow.totals(node) for node in flow.names]
        count = sum(one["transactions"] for one in totals if one["response_ms"] > 0.0)
        if count > 0.0:
            waits = [key for key in totals[0] if key.startswith("wait_ms.")]
            sums = {key: sum(one[key] for one in totals) / count for key in ("response_ms", *waits)}
            found[name] = {"response": sums.pop("response_ms"), **{key.removeprefix("wait_ms."): ms for key, ms in sums.items()}}
    return found


def notes(flows: dict[str, Flow]) -> list[str]:
    """What the logs, and tempdb, of all databases did that averages do not show."""
    several = len(flows) > 1
    found = {name: [*log_notes(flow), *tempdb_notes(flow)] for name, flow in flows.items()}
    return [f"{name}: {note}" if several else note for name, some in found.items() for note in some]
