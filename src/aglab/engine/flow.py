"""The flow engine: minutes to hours of a cluster, advanced in ticks, changed between them, copied and resumed."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from aglab import __version__
from aglab.core.errors import UsageError, unknown_name
from aglab.core.progress import no_progress
from aglab.engine import drives, outputs, running
from aglab.engine import layout as at
from aglab.engine.changed import ALWAYS, APPLY
from aglab.engine.counting import COUNTERS, columns
from aglab.engine.drives import Drives
from aglab.engine.jit import COMPILED
from aglab.engine.layout import Array
from aglab.engine.params import build
from aglab.engine.tick import advance as run_ticks
from aglab.scenario import Scenario, check_change

if TYPE_CHECKING:
    from aglab.record import Run

_EPSILON = 1e-9  # seconds: two times closer than this are one
_KEPT = (at.H_LOG_TAIL, at.H_LAZY)  # columns of ``hw`` that a change sets, node by node
_CHUNK = 1 << 16  # most ticks per call of the kernel: more would only hold more draws at a time


@dataclass(frozen=True)
class Block:
    """Counters sampled while time advanced.

    Attributes
    ----------
    time_s : float64[n]
        End of each sample interval.
    values : float64[n, columns]
    columns : list of (node, key)
        ``key`` as in :data:`aglab.core.counters.BY_KEY`.
    """

    time_s: Array
    values: Array
    columns: list[tuple[str, str]]


@dataclass
class State:
    """The slow state as flat arrays (see :mod:`aglab.engine.layout`)."""

    st: Array
    seg: Array
    cl: Array
    tot: Array
    jb: Array
    ticks: int = 0
    part_s: float = 0.0
    events: list[dict[str, Any]] = field(default_factory=list)
    drives: dict[tuple[int, str], Drives] = field(default_factory=dict)  # volumes that a drive has failed in
    paused: Array | None = None  # the row of a resumable rebuild that waits to go on


class Flow:
    """A running cluster.

    Parameters
    ----------
    scenario : Scenario
    seed : int
        Seeds the wander of the transaction mix (``noise``); with ``noise=0`` nothing is random.
    """

    def __init__(self, scenario: Scenario, seed: int = 1) -> None:
        self.scenario = scenario
        self.seed = seed
        self.names = scenario.node_names
        self.params = build(scenario)
        self.state = fresh_state(scenario, self.params.ct, self.params.wl)
        self._random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        self._last = self.state.tot.copy()

    @property
    def now_s(self) -> float:
        """Simulated seconds since the start."""
        return self.state.ticks * self.scenario.settings.tick_s + self.state.part_s

    @property
    def primary(self) -> str:
        """Name of the primary."""
        return self.names[int(self.state.cl[at.K_PRIMARY])]

    def advance(self, seconds: float) -> Block:
        """Move time on; whole samples that end in it are returned.

        Times between two ticks are exact: the tick is then run in parts.

        Raises
        ------
        UsageError
            ``seconds`` is negative or not finite.
        """
        if not (isinstance(seconds, (int, float)) and math.isfinite(seconds) and seconds >= 0):
            raise UsageError(f"seconds={seconds!r} must be >= 0 and finite (advance)", "time only moves on")
        tick_s = self.scenario.settings.tick_s
        blocks = []
        left = float(seconds)
        while left > _EPSILON:
            room = min(left, drives.until(self))
            if self.state.part_s > 0.0:
                step = min(room, tick_s - self.state.part_s)
                blocks.append(self._part(step))
            elif room >= tick_s - _EPSILON:
                ticks = min(_CHUNK, math.floor((room + _EPSILON) / tick_s))
                step = ticks * tick_s
                blocks.append(self._ticks(ticks, tick_s, self._random.standard_normal(ticks)))
            else:
                step = room
                blocks.append(self._part(step))
            left -= step
            drives.note_ends(self)
        return self._joined(blocks)

    def _part(self, step: float) -> Block:
        tick_s = self.scenario.settings.tick_s
        draw = self._random.standard_normal(1) if self.state.part_s == 0.0 else np.array([np.nan])
        done = self.state.part_s + step >= tick_s - _EPSILON
        self.state.part_s = 0.0 if done else self.state.part_s + step
        return self._ticks(1, step, draw, counts=1 if done else 0)

    def _ticks(self, ticks: int, dt: float, draws: Array, counts: int | None = None) -> Block:
        per_sample = round(self.scenario.settings.sample_s / self.scenario.settings.tick_s)
        first = self.state.ticks
        counts = ticks if counts is None else counts
        samples = (first + counts) // per_sample - first // per_sample
        values = np.empty((samples, len(self.names) * COUNTERS))
        s = self.state
        p = self.params
        machine = (p.hw, p.wl, p.ct)
        slow = (s.st, s.seg, s.cl, s.tot, s.jb)
        sample_s = float(self.scenario.settings.sample_s)
        room = at.workspace(len(self.names))
        run_ticks(ticks, dt, first, per_sample, sample_s, *machine, *slow, draws, *room, self._last, values)
        s.ticks = first + counts
        running.note_ends(self)
        times: Array = (np.arange(samples, dtype=np.float64) + first // per_sample + 1) * sample_s
        return Block(times, values, columns(self.names) if samples else [])

    def _joined(self, blocks: list[Block]) -> Block:
        full = [block for block in blocks if len(block.time_s)]
        if len(full) == 1:
            return full[0]
        if not full:
            heads = columns(self.names)
            return Block(np.zeros(0), np.zeros((0, len(heads))), heads)
        return Block(
            np.concatenate([block.time_s for block in full]), np.concatenate([block.values for block in full]), full[0].columns
        )

    def change(self, node: str | None = None, /, **values: Any) -> None:
        """Change settings between ticks; see :data:`aglab.scenario.CHANGES` for names and ranges.

        Every value is checked before any is applied.
        """
        checked = {name: check_change(name, value, node, self.names) for name, value in values.items()}
        nodes = range(len(self.names)) if node is None else [self.names.index(node)]
        for name, value in checked.items():
            APPLY[name](self, nodes, value)
            event: dict[str, Any] = {"time_s": round(self.now_s, 6), "event": name, "value": running.shown(values[name])}
            if node is not None:
                event["node"] = node
            self.state.events.append(event)

    def retune(self, scenario: Scenario) -> None:
        """Other inputs from now on; the slow state, and what :meth:`change` set on nodes, stay."""
        params = build(scenario)
        params.hw[:, _KEPT] = self.params.hw[:, _KEPT]
        self.scenario, self.params = scenario, params
        drives.keep(self)

    def copy(self) -> Flow:
        """An independent copy that would go on exactly as this one."""
        other = object.__new__(Flow)
        other.__dict__.update(self.__dict__)
        other.state = copy.deepcopy(self.state)
        other._random = copy.deepcopy(self._random)
        other._last = self._last.copy()
        return other

    def totals(self, node: str) -> dict[str, float]:
        """Cumulative values since the start, by name (:data:`aglab.engine.layout.TOTALS`)."""
        return dict(zip(at.TOTALS, self.state.tot[self._index(node)].tolist(), strict=True))

    def gauges(self, node: str) -> dict[str, float]:
        """What is true now on one node: queues, positions, estimates."""
        return outputs.gauges(self, self._index(node))

    def log_position(self, node: str) -> outputs.LogPosition:
        """Where a node's log ends and how far it is behind: three of the gauges, without a compiled kernel."""
        return outputs.log_position(self, self._index(node))

    def _index(self, node: str) -> int:
        if node not in self.names:
            raise unknown_name("node", node, self.names)
        return self.names.index(node)

    def run(self, seconds: float | None = None, progress: Callable[..., None] = no_progress) -> Run:
        """Run the scenario with its timeline and return its counters.

        Parameters
        ----------
        seconds : float, optional
            The scenario's ``duration_s`` by default. A warm-up (``warmup_s``) goes before; times count from its end.
        progress : callable
            ``progress(done, total, label)``.
        """
        from aglab.record import Run  # with pandas, which an engine that only advances does not need

        settings = self.scenario.settings
        seconds = settings.duration_s if seconds is None else float(seconds)
        total = settings.warmup_s + seconds
        schedule = [(settings.warmup_s + at_s, change) for at_s, change in self.scenario.schedule(seconds)]
        marks = sorted({at_s for at_s, _ in schedule})
        begin = self.now_s
        blocks = []
        for target in [*marks, total]:
            while self.now_s - begin < target - _EPSILON:
                step = min(target - (self.now_s - begin), max(total / 50, settings.sample_s))
                blocks.append(self.advance(step))
                progress(self.now_s - begin, total, "simulating")
            for at_s, change in schedule:
                if abs(at_s - target) < _EPSILON and target != total:
                    running.happen(self, change)
        block = self._joined(blocks)
        start = begin + settings.warmup_s
        keep = block.time_s > start + _EPSILON
        frame = outputs.frame(block.time_s[keep] - start, block.values[keep], block.columns, self.scenario.database)
        events = [{**event, "time_s": round(event["time_s"] - start, 6)} for event in self.state.events]
        return Run(frame, events, self.provenance())

    def provenance(self) -> dict[str, Any]:
        """Where the numbers come from."""
        return {
            "mode": "twin",
            "profile": self.scenario.profile.name,
            "workload": self.scenario.workload.name,
            "replicas": len(self.names),
            "seed": self.seed,
            "tick_s": self.scenario.settings.tick_s,
            "k_mb_s": self.scenario.settings.k_mb_s,
            "target_recovery_s": self.scenario.settings.target_recovery_s,
            "calibration": outputs.calibration_digest(),
            "compiled": COMPILED,
            "versions": {"aglab": __version__, "numpy": np.__version__},
        }


def fresh_state(scenario: Scenario, ct: Array, wl: Array) -> State:
    """The state of a cluster that has run before: caches warm, an indirect writer spread over its target."""
    count = len(scenario.replicas)
    st = np.zeros((count, at.ST_SIZE))
    seg = np.zeros((count, 2, at.SEGMENTS))
    cl = np.zeros(at.CL_SIZE)
    cl[at.K_USERS] = scenario.settings.users
    st[:, at.S_CONNECTED] = 1.0
    st[:, at.S_K] = scenario.settings.k_pages_s
    st[:, at.S_TARGET] = scenario.settings.target_recovery_s
    st[:, at.S_OLDEST] = running.NEVER
    for index, replica in enumerate(scenario.replicas):
        st[index, at.S_SYNC] = float(replica.availability_mode == "SYNCHRONOUS_COMMIT")
    if scenario.settings.target_recovery_s > 0 and wl[at.W_LOG] > 0:
        target = scenario.settings.target_recovery_s * ct[at.C_RECOVERY_RATE]
        ages = (np.arange(at.SEGMENTS) - at.SEGMENTS) / at.SEGMENTS * target
        seg[:, 1, :] = ages
        seg[:, 0, :] = ages / wl[at.W_LOG] * wl[at.W_TOUCHES]
    if scenario.settings.recovery_model == "SIMPLE":
        st[:, at.S_BACKUP] = ALWAYS
    return State(st, seg, cl, np.zeros((count, at.TOT_SIZE)), np.zeros((count, at.SLOTS, at.JOB_SIZE)))
