"""Several databases of one instance, in one availability group or in several, on the same machines.

Each database is a flow of its own: users, log writer, checkpoint, queues, replicas, jobs. What they share (processors, data
volume, log volume, network, redo threads, buffer pool) is met within each tick, by all at once (:mod:`aglab.engine.together`), so
that neither the order of databases nor the length of a tick decides who gets what. A database that has another primary is in
another availability group.

The buffer pool is divided by the databases' sizes. Left out: one log writer for several databases (there are up to four since
2016, [assumed] one each here), waits for worker threads, allocation pages of the one tempdb.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aglab.core.counters import BY_KEY
from aglab.core.errors import UsageError
from aglab.core.progress import no_progress
from aglab.engine import layout as at
from aglab.engine import running
from aglab.engine.flow import Flow
from aglab.engine.layout import Array
from aglab.engine.together import OTHERS, STATIONS, capacities, meet, next_draw, queued_ms, settle, tried
from aglab.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from aglab.record import Run

_MACHINE = ("cpu_percent",)  # counters of the machine: every database sees the same
_BY_TRANSFERS = {  # averages over I/Os, and the counter of these
    "data_read_latency_s": "data_transfers_per_s",
    "data_write_latency_s": "data_transfers_per_s",
    "data_transfer_latency_s": "data_transfers_per_s",
    "log_write_latency_s": "log_transfers_per_s",
}


class Databases:
    """Databases that share their machines.

    Parameters
    ----------
    scenarios : sequence of Scenario
        One for each database: same profile, same node names, same tick and sample interval; names differ.
    seed : int
        Of the database whose name comes first; the others count on from it by name.
    """

    def __init__(self, scenarios: Sequence[Scenario], seed: int = 1) -> None:
        _check(scenarios)
        self.scenarios = tuple(scenario.with_settings(redo_databases=len(scenarios)) for scenario in scenarios)
        self.flows: dict[str, Flow] = {}
        by_name = sorted(self.scenarios, key=lambda scenario: scenario.database)
        self._order = [scenario.database for scenario in by_name]  # of every sum, so that the order they are given in is none
        sizes = np.array([scenario.workload.data_pages for scenario in by_name])
        pool = scenarios[0].profile.memory.buffer_pool_pages
        for scenario in self.scenarios:
            index = self._order.index(scenario.database)
            flow = self.flows[scenario.database] = Flow(scenario, seed + index)
            hw = flow.params.hw.copy()
            hw[:, at.H_READS_PER_TX] = scenario.workload.page_reads_per_tx(pool * sizes[index] / sizes.sum())
            flow.params = dataclasses.replace(flow.params, hw=hw)
        self.seed = seed
        self.unsettled = 0  # ticks in which no balance was found
        nodes = len(self.scenarios[0].replicas)
        self._taken = np.zeros((len(by_name), nodes, len(OTHERS)))
        self._queued = np.zeros((nodes, 2, len(by_name), len(by_name)))  # ms: node, station, who waited, behind whom

    @property
    def tick_s(self) -> float:
        """Length of one tick (s)."""
        return self.scenarios[0].settings.tick_s

    def advance(self, seconds: float) -> pd.DataFrame:
        """Move time on by whole ticks; the counters of whole samples that end in it, columns (node, PerfMon path).

        Raises
        ------
        UsageError
            ``seconds`` is not a whole number of ticks.
        """
        ticks = round(seconds / self.tick_s)
        if ticks < 0 or abs(ticks * self.tick_s - seconds) > 1e-6:
            raise UsageError(
                f"seconds={seconds!r} must be a multiple of tick_s={self.tick_s:g} (databases)", "for example tick_s=0.1 with 60"
            )
        blocks: dict[str, list[Any]] = {name: [] for name in self.flows}
        for _ in range(ticks):
            self._share()
            for name, flow in self.flows.items():
                before = flow.state.tot.copy()
                block = flow.advance(self.tick_s)
                self._attribute(self._order.index(name), flow, before)
                if len(block.time_s):
                    blocks[name].append(block)
        return self._frame(blocks)

    def _share(self) -> None:
        """Find what every database takes in the next tick, and tell it what the others do."""
        flows = [self.flows[name] for name in self._order]
        if len(flows) == 1:
            return
        draws = [next_draw(flow) for flow in flows]
        scale = capacities(flows[0].params.hw)

        def answer(each: Array) -> Array:
            total = each.sum(axis=0)
            found = np.empty_like(each)
            for index, flow in enumerate(flows):
                meet(flow, total - each[index])
                found[index] = tried(flow, draws[index])
            return found

        self._taken, found = settle(answer, self._taken, scale)
        self.unsettled += not found
        total = self._taken.sum(axis=0)
        for index, flow in enumerate(flows):
            meet(flow, total - self._taken[index])

    def _attribute(self, index: int, flow: Flow, before: Array) -> None:
        """Divide what a database queued for in the last tick among those who kept the station busy."""
        share = self._taken[:, :, :2] / np.maximum(self._taken[:, :, :2].sum(axis=0), 1e-12)
        self._queued[:, :, index, :] += queued_ms(flow, before)[:, :, None] * share.transpose(1, 2, 0)

    def waits(self) -> list[dict[str, Any]]:
        """Who queued behind whom since the start: rows of node, station, database, behind (a database) and ms, longest first."""
        if len(self._order) == 1:
            return []
        rows: list[dict[str, Any]] = []
        for (n, station, i, j), ms in np.ndenumerate(self._queued):
            node, pair = self.scenarios[0].node_names[n], (self._order[i], self._order[j])
            rows.append({"node": node, "station": STATIONS[station], "database": pair[0], "behind": pair[1], "ms": float(ms)})
        return sorted((row for row in rows if row["ms"] > 0.0), key=lambda row: -row["ms"])

    def _frame(self, blocks: dict[str, list[Any]]) -> pd.DataFrame:
        """Counters of each database, and of the instance those of all: sums, averages by transfers, processors once."""
        import pandas as pd

        found = {name: some for name, some in blocks.items() if some}
        if not found:
            return pd.DataFrame()
        first = next(iter(found.values()))
        columns = first[0].columns
        place = {column: index for index, column in enumerate(columns)}
        values = {name: np.concatenate([block.values for block in found[name]]) for name in self._order}
        data: dict[tuple[str, str], Array] = {}
        for index, (node, key) in enumerate(columns):
            if "{db}" in BY_KEY[key].instance:
                for name, table in values.items():
                    data[node, BY_KEY[key].path(name)] = table[:, index]
                continue
            each = np.array([table[:, index] for table in values.values()])
            if key in _MACHINE:
                one = each[0]
            elif key in _BY_TRANSFERS:
                weights = np.array([table[:, place[node, _BY_TRANSFERS[key]]] for table in values.values()])
                one = (each * weights).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-12)
            else:
                one = each.sum(axis=0)
            data[node, BY_KEY[key].path("")] = one
        times = np.concatenate([block.time_s for block in first])
        return pd.DataFrame(data, index=pd.Index(times, name="time_s"))

    def run(self, seconds: float | None = None, progress: Callable[..., None] = no_progress) -> Run:
        """Run all databases, each with its own timeline, and return their counters in one Run."""
        import pandas as pd  # here, not above: a twin's process runs flows and never loads it

        from aglab.record import Run

        first = self.scenarios[0].settings
        seconds = first.duration_s if seconds is None else float(seconds)
        total = first.warmup_s + seconds
        planned = [
            (first.warmup_s + at_s, flow, change)
            for flow in self.flows.values()
            for at_s, change in flow.scenario.schedule(seconds)
        ]
        marks = sorted({at_s for at_s, _, _ in planned})
        frames, now = [], 0.0
        for target in [*marks, total]:
            while now < target - 1e-9:
                step = min(target - now, max(total / 50, first.sample_s))
                step = max(1, round(step / self.tick_s)) * self.tick_s
                frames.append(self.advance(step))
                now += step
                progress(now, total, "simulating")
            for at_s, flow, change in planned:
                if abs(at_s - target) < 1e-9 and target != total:
                    running.happen(flow, change)
        frame = pd.concat([one for one in frames if len(one)])
        frame = frame[frame.index > first.warmup_s + 1e-9]
        frame.index = pd.Index(frame.index - first.warmup_s, name="time_s")
        events = [
            {**event, "time_s": round(event["time_s"] - first.warmup_s, 6), "database": name}
            for name, flow in self.flows.items()
            for event in flow.state.events
        ]
        provenance = next(iter(self.flows.values())).provenance()
        told = sorted(events, key=lambda event: (event["time_s"], event["database"]))
        more: dict[str, Any] = {"seed": self.seed, "databases": list(self.flows), "waits_between": self.waits()}
        if self.unsettled:
            more["unsettled_ticks"] = self.unsettled
        return Run(frame, told, {**provenance, **more})


def _check(scenarios: Sequence[Scenario]) -> None:
    if not scenarios:
        raise UsageError("no database is given (databases)", "give a scenario for each")
    names = [scenario.database for scenario in scenarios]
    if len(set(names)) < len(names):
        raise UsageError(f"database names must differ, and are {', '.join(names)} (databases)", "rename one")
    first = scenarios[0]
    for scenario in scenarios[1:]:
        same = (
            scenario.profile == first.profile
            and scenario.node_names == first.node_names
            and (scenario.settings.tick_s, scenario.settings.sample_s) == (first.settings.tick_s, first.settings.sample_s)
        )
        if not same:
            raise UsageError(
                f"database {scenario.database!r} must have the profile, nodes, tick_s and sample_s of {first.database!r}",
                "they share their machines",
            )
    need_gb = sum(scenario.workload.data_pages for scenario in scenarios) * 8192 / 1e9
    if need_gb > first.profile.data.usable_gb:
        raise UsageError(
            f"the databases of {need_gb:,.0f} GB do not fit the data volume of {first.profile.data.usable_gb:,.0f} GB "
            f"(profile {first.profile.name})",
            "lower warehouses, or give the volume more devices",
        )
