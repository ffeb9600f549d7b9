"""Several databases of one instance, in one availability group or in several, on the same machines.

Each database is a flow of its own: users, log writer, checkpoint, queues, replicas, jobs. What they share (processors, data
volume, log volume, network, redo threads, buffer pool) is met in a loop over the databases: in each tick a database finds its
machine with what the others took in the ticks before, averaged over two ticks or so. That is the approximation: a database
meets a change of another's load a few ticks late, and in these ticks a machine may do a little more than it can. A database
that has another primary is in another availability group.

The buffer pool is divided by the databases' sizes. Left out: one log writer for several databases (there are up to four since
2016, [assumed] one each here), waits for worker threads.
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
from aglab.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from aglab.record import Run

_KEPT = 0.5  # of what the others took, from one tick to the next
_MOST = 0.98  # share of anything that the others can take
_OTHERS = (at.H_OTHER_WORK, at.H_OTHER_DATA, at.H_OTHER_LOG, at.H_OTHER_NET)
_COUNTED = ("page_reads", "page_writes", "log_bytes_written", "bytes_sent_to_transport")
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
        The first database's; the others count on from it.
    """

    def __init__(self, scenarios: Sequence[Scenario], seed: int = 1) -> None:
        _check(scenarios)
        count = len(scenarios)
        sizes = np.array([scenario.workload.data_pages for scenario in scenarios])
        self.scenarios = tuple(scenario.with_settings(redo_databases=count) for scenario in scenarios)
        self.flows = {scenario.database: Flow(scenario, seed + index) for index, scenario in enumerate(self.scenarios)}
        pool = scenarios[0].profile.memory.buffer_pool_pages
        for flow, share in zip(self.flows.values(), sizes / sizes.sum(), strict=True):
            hw = flow.params.hw.copy()
            hw[:, at.H_READS_PER_TX] = flow.scenario.workload.page_reads_per_tx(pool * share)
            flow.params = dataclasses.replace(flow.params, hw=hw)
        self._seen = {name: _counted(flow) for name, flow in self.flows.items()}
        self._taken = {name: np.zeros((len(flow.names), len(_OTHERS))) for name, flow in self.flows.items()}

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
            for name, flow in self.flows.items():
                block = flow.advance(self.tick_s)
                if len(block.time_s):
                    blocks[name].append(block)
            self._share()
        return self._frame(blocks)

    def _share(self) -> None:
        """Tell every database what the others take, node by node."""
        for name, flow in self.flows.items():
            now = _taken(flow, self._seen[name], self.tick_s)
            self._seen[name] = _counted(flow)
            self._taken[name] = _KEPT * self._taken[name] + (1.0 - _KEPT) * now
        total = np.sum(list(self._taken.values()), axis=0)
        for name, flow in self.flows.items():
            others = total - self._taken[name]
            hw = flow.params.hw
            capacity = hw[:, at.H_CORES] * hw[:, at.H_HT_YIELD] * hw[:, at.H_SPEED]
            others[:, 0] = np.minimum(others[:, 0], _MOST * capacity)
            others[:, 1:] = np.minimum(others[:, 1:], _MOST)
            hw[:, _OTHERS] = others

    def _frame(self, blocks: dict[str, list[Any]]) -> pd.DataFrame:
        """Counters of each database, and of the instance those of all: sums, averages by transfers, processors once."""
        import pandas as pd

        found = {name: some for name, some in blocks.items() if some}
        if not found:
            return pd.DataFrame()
        first = next(iter(found.values()))
        columns = first[0].columns
        place = {column: index for index, column in enumerate(columns)}
        values = {name: np.concatenate([block.values for block in some]) for name, some in found.items()}
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
        return Run(frame, sorted(events, key=lambda event: event["time_s"]), {**provenance, "databases": list(self.flows)})


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


def _counted(flow: Flow) -> Array:
    return flow.state.tot[:, [at.TOTALS.index(name) for name in _COUNTED]].copy()


def _taken(flow: Flow, before: Array, dt: float) -> Array:
    """What a database took of each node in the last tick: work (core-s/s), shares of data volume, log volume and network."""
    rates = (_counted(flow) - before) / dt
    hw = flow.params.hw
    taken = np.zeros((len(hw), len(_OTHERS)))
    for node in range(len(hw)):
        base = min(flow.params.ct[at.C_BASE_CPU], work_of(1.0, hw[node]))
        taken[node, 0] = max(0.0, work_of(flow.state.st[node, at.S_CPU], hw[node]) - base - hw[node, at.H_OTHER_WORK])
    jobs = flow.state.jb
    running = np.where(jobs[:, :, at.J_LEFT] > 0.0, jobs[:, :, at.J_RATE] / np.maximum(jobs[:, :, at.J_BANDWIDTH], 1.0), 0.0)
    taken[:, 1] = rates[:, 0] * hw[:, at.H_READ_S] + rates[:, 1] * hw[:, at.H_WRITE_S] + running[:, 0]
    taken[:, 2] = rates[:, 2] / hw[:, at.H_LOG_BW] + running[:, 1]
    taken[:, 3] = rates[:, 3] / hw[:, at.H_NET_BW]
    return taken


def work_of(util: float, hw: Array) -> float:
    """Core work per second (reference core-seconds/s) at which a machine's logical processors are busy by ``util``."""
    cores, threads, gain = hw[at.H_CORES], hw[at.H_THREADS], hw[at.H_HT_YIELD] - 1.0
    busy = min(1.0, util) * threads
    if threads <= cores or gain < 1e-9:
        load = min(1.0, util) * cores
    elif busy <= cores:
        load = busy
    else:
        load = cores + (busy - cores) * cores * gain / (threads - cores)
    return float(load * hw[at.H_SPEED])
