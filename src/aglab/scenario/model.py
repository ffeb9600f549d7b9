"""A scenario: one machine type, a workload, the layout of the availability group, settings, constants and a timeline.

A scenario does not change; :meth:`Scenario.with_settings` gives a changed copy. Files, keys and their aliases are in
:mod:`aglab.scenario.files` and :mod:`aglab.scenario.keys`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.quantity import Constant, all_constants, check, choice, constants, number
from aglab.core.units import mib_per_s_to_pages_per_s
from aglab.hardware import Profile
from aglab.hardware.numa import numa_nodes
from aglab.hardware.parts import Network
from aglab.hardware.profile import SQL_VERSIONS
from aglab.scenario.changes import Change
from aglab.scenario.checks import REPLICAS_MAX, check_scenario
from aglab.scenario.doubts import doubts
from aglab.scenario.tempdb import TempDb
from aglab.workload import Workload

MODES = ("SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT")
RAMP_STEPS = 20
_WAY = ("rtt_us", "bandwidth_gbit_s", "loss")
SAMPLES_MAX = 1_000_000  # some 700 MB for three replicas


@dataclass(frozen=True)
class Replica:
    """One replica of the availability group, or the single server of a standalone database."""

    name: str
    availability_mode: str = choice(MODES, "how a commit waits for this replica", default="SYNCHRONOUS_COMMIT")
    rtt_us: float = number("us", 0, 1e7, "round trip to the other replicas; 0: as the network's", default=0.0)
    bandwidth_gbit_s: float = number("Gbit/s", 0, 10000, "link to the other replicas; 0: as the network's", default=0.0)
    loss: float = number("", 0, 0.2, "share of packets that are lost on the way to them; 0: as the network's", default=0.0)

    def __post_init__(self) -> None:
        check(self, f"replica {self.name!r}")

    @property
    def far(self) -> bool:
        """Whether its way to the others is its own."""
        return bool(self.rtt_us or self.bandwidth_gbit_s or self.loss)

    def way(self, network: Network) -> Network:
        """Its way to the others: the machines' network, but for what is its own."""
        own = {name: getattr(self, name) for name in _WAY if getattr(self, name)}
        return dataclasses.replace(network, **own) if own else network


@dataclass(frozen=True)
class Settings:
    """Settings of server, database and run."""

    sql_version: str = choice(SQL_VERSIONS, "SQL Server version", default="2022")
    users: float = number("users", 0, 1e6, "concurrent users", default=16.0)
    k_mb_s: float = number("MB/s", 0, 1e6, "checkpoint throttle, startup option -k; 0 for none", default=0.0)
    target_recovery_s: float = number(
        "s", 0, 36000, "TARGET_RECOVERY_TIME: 0 for automatic checkpoints, 60 is the default since 2016", default=0.0
    )
    recovery_interval_min: float = number("min", 0, 600, "sp_configure 'recovery interval'; 0 for the default", default=0.0)
    log_file_gb: float = number("GB", 0.01, 1e6, "size of the log file", default=20.0)
    log_backup_every_s: float = number("s", 0, 1e7, "interval of log backups; 0 for none", default=0.0)
    tail_of_log_us: float = number(
        "us", 0, 1000, "tail of the log on persistent memory: time to copy a record there; 0 for none", default=0.0
    )
    delayed_durability: str = choice(
        ("DISABLED", "FORCED"), "DELAYED_DURABILITY: FORCED answers a commit before its log is hardened", default="DISABLED"
    )
    recovery_model: str = choice(("FULL", "SIMPLE"), "recovery model of the database", default="FULL")
    log_stream_compression: str = choice(
        ("off", "default", "on"),
        "compression of the log stream: default is the version's (2014: all replicas; later: asynchronous ones), on and off as "
        "by trace flags 9592 and 1462",
        default="off",
    )
    required_synchronized_secondaries: int = number(
        "replicas",
        0,
        8,
        "REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT: with fewer in step, commits wait",
        default=0,
        integer=True,
    )
    redo_databases: int = number(
        "databases",
        1,
        1000,
        "databases of availability groups on each instance: they share redo threads",
        default=1,
        integer=True,
    )
    log_growth_mb: float = number("MB", 0, 1e6, "growth increment of a full log file; 0: it does not grow", default=0.0)
    log_max_gb: float = number("GB", 0, 1e6, "size up to which the log file grows; 0: as far as its volume goes", default=0.0)
    affinity_cores: float = number(
        "cores", 0, 4096, "cores that the instance may use (affinity, or pools bound to some NUMA nodes); 0 for all", default=0.0
    )
    affinity_nodes: int = number(
        "nodes", 0, 1024, "NUMA nodes, soft ones among them, that the load's pool is bound to; 0 for all", default=0, integer=True
    )
    soft_numa: str = choice(
        ("automatic", "off"),
        "automatic: since 2016 sockets of more than 8 cores are divided into soft-NUMA nodes",
        default="automatic",
    )
    cpu_cap: float = number("", 0.01, 1, "CAP_CPU_PERCENT of the load's pool as a share of the processors", default=1.0)
    memory_placement: str = choice(
        ("spread", "local"),
        "spread: pages lie on all NUMA nodes; local: one pool for each node and its users keep to its memory",
        default="spread",
    )
    buffer_pool: str = choice(
        ("warm", "cold after restart"),
        "warm: a restart or failover finds its pages in memory; cold after restart: they are read again",
        default="warm",
    )
    ramp_up_s: float = number("s", 0, 1e6, "time in which users log in one after the other, from the start", default=0.0)
    noise_cv: float = number("", 0, 1, "how much the transaction mix wanders, as a share of CPU demand", default=0.02)
    tick_s: float = number("s", 0.001, 1, "step of the flow engine", default=0.1)
    sample_s: float = number("s", 0.001, 3600, "interval of the counters in a Run", default=1.0)
    warmup_s: float = number("s", 0, 1e6, "time before the counters of a run begin", default=60.0)
    duration_s: float = number("s", 0.001, 1e8, "length of a run", default=300.0)

    def __post_init__(self) -> None:
        check(self, "settings")
        ratio = self.sample_s / self.tick_s
        if ratio < 0.999 or abs(ratio - round(ratio)) > 1e-6:
            raise UsageError(
                f"sample_s={self.sample_s:g} must be a whole multiple of tick_s={self.tick_s:g} (settings)",
                "for example tick_s=0.1 with sample_s=1",
            )
        if self.duration_s / self.sample_s > SAMPLES_MAX:
            raise UsageError(
                f"duration_s={self.duration_s:g} with sample_s={self.sample_s:g} must keep <= {SAMPLES_MAX:,} samples (settings)",
                f"raise sample_s to {self.duration_s / SAMPLES_MAX:.3g} or more: counters are kept in memory",
            )
        if 0 < self.log_max_gb < self.log_file_gb:
            raise UsageError(
                f"log_max_gb={self.log_max_gb:g} must be >= log_file_gb={self.log_file_gb:g} (settings)", "or 0 for no limit"
            )
        if self.required_synchronized_secondaries and self.sql_version in ("2014", "2016 RTM", "2016"):
            raise UsageError(
                f"required_synchronized_secondaries={self.required_synchronized_secondaries} needs version 2017 or later, "
                f"not {self.sql_version} (settings)",
                "set version to 2017",
            )

    @property
    def k_pages_s(self) -> float:
        """The checkpoint throttle in pages per second (0 for none)."""
        return mib_per_s_to_pages_per_s(self.k_mb_s)


@dataclass(frozen=True)
class Scenario:
    """Everything one run needs.

    Attributes
    ----------
    profile : Profile
        Every replica runs on this machine.
    workload : Workload
    replicas : tuple of Replica
        The first is the primary; one replica is a standalone server.
    settings : Settings
    tempdb : TempDb
    overrides : dict
        Constants that differ from the calibration, by name.
    timeline : tuple of Change
        What happens when.
    databases : tuple of (name, settings)
        Several databases that share the machines, each with what is its own; none: the scenario is one database.
    """

    profile: Profile
    workload: Workload
    replicas: tuple[Replica, ...]
    settings: Settings = field(default_factory=Settings)
    tempdb: TempDb = field(default_factory=TempDb)
    overrides: Mapping[str, float] = field(default_factory=dict)
    timeline: tuple[Change, ...] = ()
    database: str = "OLTP"
    title: str = ""
    databases: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def __post_init__(self) -> None:
        check_scenario(self)

    @property
    def numa_nodes(self) -> tuple[int, ...]:
        """Physical cores of each NUMA node, soft-NUMA's where it divides sockets."""
        return numa_nodes(self.profile.cpu, self.settings.sql_version, self.settings.soft_numa == "automatic")

    @classmethod
    def default(
        cls, profile: str | Profile = "hpe-dl380-gen9-ssd", replicas: int = 3, workload: str | Workload = "tpcc-like"
    ) -> Scenario:
        """The profile's suggested scenario with ``replicas`` synchronous replicas (1 for a standalone server)."""
        machine = profile if isinstance(profile, Profile) else Profile.load(profile)
        job = workload if isinstance(workload, Workload) else Workload.load(workload)
        if isinstance(replicas, bool) or not isinstance(replicas, int):
            raise UsageError(f"replicas={replicas!r} must be a whole number (availability group)", "use 1 to 9")
        hints = machine.suggested
        demands = {name: value for name in ("cpu_us", "think_us") if (value := getattr(hints, name))}
        job = dataclasses.replace(job, warehouses=hints.warehouses, **demands)
        settings = Settings(sql_version=hints.sql_version, users=hints.users, log_file_gb=hints.log_file_gb)
        names = tuple(Replica(f"sql{index + 1}") for index in range(max(0, min(replicas, REPLICAS_MAX + 1))))
        return cls(machine, job, names, settings)

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a scenario file (TOML); see :mod:`aglab.scenario.files`."""
        from aglab.scenario.files import read_scenario

        return read_scenario(Path(path))

    def with_settings(self, settings: Mapping[str, Any] | None = None, **more: Any) -> Scenario:
        """A copy with some inputs changed, by short name (``k``, ``users``, ``rtt_us``) or dotted key.

        Raises
        ------
        UsageError
            Unknown key (with the nearest), negative or absurd value.
        """
        from aglab.scenario.keys import apply_settings

        return apply_settings(self, {**(settings or {}), **more})

    def constant(self, name: str) -> float:
        """The value of a constant in this scenario."""
        if name in self.overrides:
            return self.overrides[name]
        known = all_constants()
        if name not in known:
            raise unknown_name("constant", name, tuple(known))
        return known[name].value

    def constants(self) -> dict[str, Constant]:
        """Every constant with its tag; overridden ones carry the scenario's value."""
        return {
            name: dataclasses.replace(entry, value=self.overrides.get(name, entry.value)) for name, entry in constants().items()
        }

    def way(self, one: str, other: str) -> Network:
        """The network between two nodes: the worse of the ways that each has to the others."""
        ends = [replica.way(self.profile.network) for replica in self.replicas if replica.name in (one, other)]
        return Network(
            bandwidth_gbit_s=min(end.bandwidth_gbit_s for end in ends),
            rtt_us=max(end.rtt_us for end in ends),
            loss=max(end.loss for end in ends),
        )

    def each(self) -> tuple[Scenario, ...]:
        """One scenario for each database, with its own settings and part of the timeline; one alone is the scenario itself."""
        if not self.databases:
            return (self,)
        plain = dataclasses.replace(self, databases=())
        return tuple(
            dataclasses.replace(
                plain.with_settings(settings),
                database=name,
                timeline=tuple(change for change in self.timeline if change.database in (None, name)),
            )
            for name, settings in self.databases
        )

    def schedule(self, end_s: float) -> list[tuple[float, Change]]:
        """What happens when before ``end_s`` (s from the end of the warm-up): the ramp-up of users, then the timeline."""
        ramp = self.settings.ramp_up_s
        found = []
        if ramp > 0.0:
            users = self.settings.users
            steps = [index / RAMP_STEPS for index in range(RAMP_STEPS + 1)]
            begin = -self.settings.warmup_s
            found = [(begin + ramp * part, Change(begin + ramp * part, {"users": users * part})) for part in steps]
        found += [(at_s, change) for change in self.timeline for at_s in change.times(end_s)]
        return sorted((entry for entry in found if entry[0] < end_s), key=lambda entry: entry[0])

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the replicas."""
        return tuple(replica.name for replica in self.replicas)

    @property
    def hot_bytes(self) -> float:
        """Size of the hot set (bytes)."""
        return self.workload.hot_pages * 8192

    def warnings(self) -> list[str]:
        """What a reader of the results should know about these inputs."""
        return doubts(self)
