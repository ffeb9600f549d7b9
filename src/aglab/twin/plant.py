"""The machines behind the nodes: one scenario, one :class:`~aglab.engine.Flow`, kept in step with the virtual clock.

The flow is advanced lazily, in whole ticks: a query that reads a counter, or a change, first brings it to the clock's time.
Totals are cumulative since a node's last start, as SQL Server's are. While the load runs, the engine's samples are
kept (the last :data:`RECORDING_S_MAX` seconds), so that a caller can fetch the time series of what just happened.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from aglab.engine import Flow
from aglab.engine import layout as at
from aglab.engine.running import Progress, progress, stop
from aglab.engine.steady import commit_time_s
from aglab.hardware import Profile
from aglab.scenario import CHANGES, Replica, Scenario
from aglab.twin.recording import Recording

PAGE_BYTES = 8192
DEFAULT_PROFILE = "hpe-dl380-gen9-ssd"
TARGET_RECOVERY_S = 60.0  # the default of a database made on SQL Server 2016 or later


class Plant:
    """Scenario and flow of a cluster.

    Parameters
    ----------
    profile : str
        Hardware profile of every node.
    replicas : int
        1 or 3.
    now_us : callable
        The clock, in microseconds.
    seed : int
        Seed of the run.
    """

    def __init__(self, profile: str, replicas: int, now_us: Callable[[], int], seed: int = 1) -> None:
        self.now_us = now_us
        self.seed = seed
        self.profile = profile
        self.names = tuple(f"sql{index + 1}" for index in range(replicas))
        self.inputs: dict[str, Any] = {"target_recovery_s": TARGET_RECOVERY_S}  # scenario keys that differ from the profile's
        self.node_settings: dict[tuple[str, str], Any] = {}  # what nodes were told, for the next flow
        self.users = 0.0
        self.recording = Recording()
        self.held = False  # nobody is served: the load's users wait
        self.barred = False  # the load's database is in single-user mode: its users are shut out
        self.load_login = "sa"  # whom the load's users log in as
        self.users_max = 0  # of the load's users work at a time; 0 for no limit
        self.primary: str | None = None  # where the load runs, when it is not the scenario's first node
        self.due_s: Callable[[], float | None] = lambda: None  # when the availability group wants to be called
        self.fire: Callable[[float], None] = lambda due_s: None
        self.log_filled: Callable[[float], None] = lambda at_s: None  # hears that the load's log file is full, and since when
        self._full = False
        self._firing = False
        self.looks = 0  # how often anybody has asked for the state of now
        self._baseline: dict[str, dict[str, float]] = {}
        self._build()

    def _build(self) -> None:
        base = Scenario.default(profile=self.profile, replicas=len(self.names))
        base = dataclasses.replace(base, replicas=tuple(Replica(name) for name in self.names))
        scenario = base.with_settings(self.inputs)
        flow = Flow(scenario, seed=self.seed)
        flow.change(users=0)
        if self.primary in flow.names:
            flow.change(primary=self.primary)
        for (node, name), value in self.node_settings.items():
            if node in flow.names:
                flow.change(node, **{name: value})
        self.scenario, self.flow = scenario, flow
        self.default_users = float(base.settings.users)
        self.start_us = self.now_us()
        self._baseline = {}

    # -- the machine ---------------------------------------------------------------------------------------------
    @property
    def machine(self) -> Profile:
        """Processors, memory and volumes of a node."""
        return self.scenario.profile

    def data_pages(self) -> int:
        """8 KB pages of the database's data file."""
        return int(self.scenario.workload.data_pages)

    def log_pages(self) -> int:
        """8 KB pages of the database's log file."""
        return int(self.scenario.settings.log_file_gb * 1e9 / PAGE_BYTES)

    def lookups_per_tx(self) -> float:
        """Pages that one transaction of the load touches."""
        return float(self.scenario.workload.page_touches_per_tx + self.scenario.workload.cold_touches_per_tx)

    def commit_s(self) -> float:
        """How long a commit on the primary takes now: its log write, and the slowest synchronous secondary's answer."""
        self.sync()
        return commit_time_s(self.flow)

    @property
    def redo_bytes_s_max(self) -> float:
        """Log that redo of one database can apply in a second, by the version of the machine."""
        return float(self.flow.params.ct[at.C_REDO_CAP])

    def carries(self, node: str) -> bool:
        """Whether the flow knows this node (a stand-alone cluster's flow knows the first only)."""
        return node in self.flow.names

    # -- time ----------------------------------------------------------------------------------------------------
    def sync(self) -> None:
        """Advance the flow to the clock, in whole ticks, stopping where the availability group has something to do."""
        self.looks += 1
        if self._firing:
            return
        now_us = self.now_us()
        while (due_s := self.due_s()) is not None and due_s * 1e6 <= now_us + 0.5:
            self._advance(round(due_s * 1e6))
            self._firing = True
            try:
                self.fire(due_s)
            finally:
                self._firing = False
            if self.due_s() == due_s:
                break
        self._advance(now_us)

    def behind_s(self) -> float:
        """Virtual seconds that the flow would have to advance now."""
        return self.now_us() / 1e6 - self.start_us / 1e6 - float(self.flow.now_s)

    def _advance(self, to_us: int) -> None:
        tick_s = self.scenario.settings.tick_s
        ticks = int(((to_us - self.start_us) / 1e6 - self.flow.now_s) / tick_s + 1e-6)
        if ticks <= 0:
            return
        block = self.flow.advance(ticks * tick_s)
        if self.users > 0 and len(block.time_s):
            self.recording.add([(node, key) for node, key in block.columns], block.time_s + self.start_us / 1e6, block.values)
        if self.users > 0 or self._full:
            self._note_full(block)

    def _note_full(self, block: Any) -> None:
        before, self._full = self._full, self._fills_log(self.flow.primary)
        if self._full and not before:
            values = block.values[:, block.columns.index((self.flow.primary, "percent_log_used"))]
            seen = block.time_s[values >= 100.0]
            self.log_filled(float(seen[0]) + self.start_us / 1e6 if len(seen) else self.now_us() / 1e6)

    def log_full(self, node: str) -> bool:
        """Whether a node's log file holds nothing that could be reused: transactions end with 9002."""
        return self._full and self._fills_log(node)

    def _fills_log(self, node: str) -> bool:
        return self.carries(node) and self.flow.gauges(node)["percent_log_used"] >= 100.0

    def change(self, node: str | None = None, /, **settings: Any) -> None:
        """Change the flow from now on; ``node`` scopes it to one node. UsageError: the engine does not take the value."""
        self.sync()
        if node is None:
            self.flow.change(**settings)
        elif self.carries(node):
            self.flow.change(node, **settings)
            for name, value in settings.items():
                if CHANGES[name].kind not in ("action", "job"):
                    self.node_settings[node, name] = value

    def tune(self, **inputs: Any) -> None:
        """Change inputs of the scenario (``rtt_us``, ``memory``, ``recovery_interval_min``); the slow state stays."""
        if all(self.inputs.get(key) == value for key, value in inputs.items()):
            return
        self.sync()
        scenario = self.scenario.with_settings(inputs)
        self.flow.retune(scenario)
        self.scenario = scenario
        self.inputs |= inputs

    def govern(self, cores: float, cap: float, read_iops: float, users: int) -> None:
        """What the load may use: cores and read operations per second of the data volume (0: all), a share of the cores, users.

        Inputs that were never bounded are not touched: a machine without limits runs as it did.
        """
        own = Scenario.default(profile=self.profile, replicas=1).profile.data
        each = min(own.read_iops, read_iops / own.devices) if read_iops else own.read_iops
        free = {"affinity_cores": 0.0, "cpu_cap": 1.0, "data_read_iops": own.read_iops}
        wanted = {"affinity_cores": cores, "cpu_cap": cap, "data_read_iops": max(1.0, each)}
        self.tune(**{key: value for key, value in wanted.items() if key in self.inputs or value != free[key]})
        if users != self.users_max:
            self.users_max = users
            if self.users > 0:
                self.change(users=self._let_in())

    # -- readings ------------------------------------------------------------------------------------------------
    def totals(self, node: str) -> dict[str, float]:
        """Cumulative totals since the node's last start."""
        self.sync()
        if not self.carries(node):
            return {}
        totals = self.flow.totals(node)
        for key, value in self._baseline.get(node, {}).items():
            totals[key] -= value
        return totals

    def gauges(self, node: str) -> dict[str, float]:
        """Instantaneous values of a node."""
        self.sync()
        return self.flow.gauges(node) if self.carries(node) else {}

    def log_end(self, node: str) -> float:
        """Bytes of log that a node has; 0 for one that the load does not run on."""
        self.sync()
        return self.flow.log_position(node).end if self.carries(node) else 0.0

    def job(self, node: str, volume: str) -> Progress:
        """How far the backup or restore on a node's volume is."""
        self.sync()
        return progress(self.flow, self.flow.names.index(node), volume)

    def stop_job(self, node: str, volume: str) -> None:
        """End a backup or restore where it stands."""
        self.sync()
        stop(self.flow, self.flow.names.index(node), volume)

    def node_restarted(self, node: str) -> None:
        """The node's cumulative counters begin again at zero."""
        self.sync()
        if self.carries(node):
            self._baseline[node] = self.flow.totals(node)

    # -- load ----------------------------------------------------------------------------------------------------
    def start_load(self, users: float) -> None:
        """Let ``users`` users work from now on."""
        self.sync()
        self.users = float(users)
        self.change(users=self._let_in())

    def _let_in(self) -> float:
        return 0.0 if self.held or self.barred else min(self.users, self.users_max or self.users)

    def stop_load(self) -> None:
        """Send every user home."""
        self.change(users=0)
        self.users = 0.0

    def hold(self, held: bool) -> None:
        """Let the load's users wait (no primary serves, or a synchronous commit waits), or go on."""
        if held != self.held:
            self.held = held
            self.change(users=self._let_in())

    def bar(self, barred: bool) -> None:
        """Shut the load's users out (single-user mode), or let them in again."""
        if barred != self.barred:
            self.barred = barred
            self.change(users=self._let_in())

    def set_replicas(self, names: Sequence[str]) -> bool:
        """The nodes that the load's database has a copy on from now on; False where nothing changes.

        The machines keep their settings and their counters go on; what was in memory (buffer pool, queues) begins anew.
        """
        wanted = tuple(names)
        if not wanted or wanted == self.names:
            return False
        self.sync()
        before = {name: self.totals(name) for name in self.flow.names}
        if self.primary is None:
            self.primary = self.flow.primary
        self.names = wanted
        if self.primary not in wanted:
            self.primary = wanted[0]
        self._build()
        self._baseline = {name: {key: -value for key, value in kept.items()} for name, kept in before.items() if name in wanted}
        if self.users > 0 and not self.held:
            self.flow.change(users=min(self.users, self.users_max or self.users))
        return True

    def set_primary(self, node: str) -> None:
        """The load runs on another node from now on."""
        self.primary = node
        self.change(primary=node)

    def set_profile(self, profile: str) -> None:
        """Other machines: a new flow on the new profile, with load and settings as they were; counters restart."""
        self.sync()
        before = self.profile
        self.profile = profile
        try:
            self._build()
        except BaseException:
            self.profile = before
            raise
        self.flow.change(users=self._let_in())
