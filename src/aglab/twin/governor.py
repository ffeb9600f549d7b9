"""Resource Governor of one instance: pools, workload groups, the classifier, and what is in force.

Two copies, as SQL Server has them: what is *stored* (sys.resource_governor_*) and what is *in use* (sys.dm_resource_governor_*);
ALTER RESOURCE GOVERNOR RECONFIGURE makes the second out of the first. Sessions are classified when they log in and when a pool
resets their connection. What limits do: :mod:`aglab.twin.governor_limits`. Sources:
"Resource Governor", CREATE RESOURCE POOL, CREATE WORKLOAD GROUP, ALTER RESOURCE GOVERNOR (SQL Server documentation).
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.tsql import Session, TsqlError
from aglab.tsql.interpreter import run_function
from aglab.tsql.runtime import Runtime, Variables
from aglab.tsql.store.database import Module

if TYPE_CHECKING:
    from aglab.twin.node import Node

INTERNAL, DEFAULT = 1, 2
FIRST_ID = 256  # of what users create; the documentation's examples show 257
POOLS_MAX = 64
CLASSIFIER_STATEMENTS_MAX = 10_000  # a classifier that runs on is ended; the session then is in the default group

POOL_DEFAULTS: dict[str, int] = {
    "min_cpu_percent": 0,
    "max_cpu_percent": 100,
    "cap_cpu_percent": 100,
    "min_memory_percent": 0,
    "max_memory_percent": 100,
    "min_iops_per_volume": 0,
    "max_iops_per_volume": 0,
}
GROUP_DEFAULTS: dict[str, Any] = {
    "importance": "Medium",
    "request_max_memory_grant_percent": 25.0,
    "request_max_cpu_time_sec": 0,
    "request_memory_grant_timeout_sec": 0,
    "max_dop": 0,
    "group_max_requests": 0,
}


@dataclass
class Pool:
    """A resource pool; ``schedulers`` is its affinity, None for AUTO."""

    id: int
    name: str
    limits: dict[str, int] = field(default_factory=lambda: dict(POOL_DEFAULTS))
    schedulers: list[int] | None = None


@dataclass
class Group:
    """A workload group in a pool."""

    id: int
    name: str
    pool_id: int
    settings: dict[str, Any] = field(default_factory=lambda: dict(GROUP_DEFAULTS))


@dataclass
class Configuration:
    """Pools and groups by lower-case name; ``classifier_id`` is an object of master, 0 for none."""

    pools: dict[str, Pool] = field(
        default_factory=lambda: {"internal": Pool(INTERNAL, "internal"), "default": Pool(DEFAULT, "default")}
    )
    groups: dict[str, Group] = field(
        default_factory=lambda: {
            "internal": Group(INTERNAL, "internal", INTERNAL),
            "default": Group(DEFAULT, "default", DEFAULT),
        }
    )
    classifier_id: int = 0

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Configuration:
        """The inverse of ``dataclasses.asdict``."""
        pools = {name: Pool(**one) for name, one in content["pools"].items()}
        groups = {name: Group(**one) for name, one in content["groups"].items()}
        return cls(pools, groups, content["classifier_id"])


@dataclass
class Governor:
    """What is stored, what is in use, and the requests counted by group since the statistics were reset."""

    enabled: bool = False
    stored: Configuration = field(default_factory=Configuration)
    active: Configuration = field(default_factory=Configuration)
    requests: dict[int, int] = field(default_factory=dict)  # group id -> completed requests
    reset_s: float = 0.0  # when the statistics began
    cpu_ms_at_reset: float = 0.0
    load_group: int = DEFAULT  # the load's users are in it
    cpu_ms: dict[int, float] = field(default_factory=dict)  # by group, before the load came to its present one
    queued: dict[int, int] = field(default_factory=dict)  # requests that had to wait for GROUP_MAX_REQUESTS, by group
    running: dict[int, set[int]] = field(default_factory=dict)  # sessions whose request runs, by group
    waiting: dict[int, set[int]] = field(default_factory=dict)  # sessions whose request waits, by group
    contending: dict[int, int] = field(default_factory=dict)  # session -> group, of what takes processors now

    def next_id(self) -> int:
        """An id that no pool or group has, stored or in use (one serves both kinds)."""
        both = (self.stored, self.active)
        used = {one.id for made in both for book in (made.pools, made.groups) for one in book.values()}  # type: ignore[attr-defined]
        return max([FIRST_ID - 1, *used]) + 1

    def pending(self) -> bool:
        """Whether RECONFIGURE has something to put in use; never while Resource Governor is off."""
        return self.enabled and self.stored != self.active

    def reconfigure(self) -> None:
        """Put what is stored in use."""
        self.enabled, self.active = True, copy.deepcopy(self.stored)

    def disable(self) -> None:
        """Back to the defaults; groups that sessions are in stay, as those sessions stay in them."""
        self.enabled = False
        self.active.classifier_id = 0
        for pool in self.active.pools.values():
            pool.limits, pool.schedulers = dict(POOL_DEFAULTS), None
        for group in self.active.groups.values():
            group.settings = dict(GROUP_DEFAULTS)

    def restarted(self, now_s: float) -> None:
        """A start of the instance: what is stored comes in use where Resource Governor is on, else only the predefined ones."""
        self.active = copy.deepcopy(self.stored) if self.enabled else Configuration()
        self.reset_statistics(now_s, 0.0)

    def reset_statistics(self, now_s: float, cpu_ms: float) -> None:
        """ALTER RESOURCE GOVERNOR RESET STATISTICS, or a start."""
        self.requests, self.reset_s, self.cpu_ms_at_reset = {}, now_s, cpu_ms
        self.cpu_ms, self.queued = {}, {}

    def load_moves(self, group_id: int, cpu_ms: float) -> None:
        """The load's users are in another group from now on; ``cpu_ms`` is what they have used up to now."""
        if group_id != self.load_group:
            self.cpu_ms[self.load_group] = self.cpu_of(self.load_group, cpu_ms)
            self.load_group, self.cpu_ms_at_reset = group_id, cpu_ms

    def cpu_of(self, group_id: int, cpu_ms: float) -> float:
        """Processor time of a group since the statistics were reset (ms)."""
        now = max(0.0, cpu_ms - self.cpu_ms_at_reset) if group_id == self.load_group else 0.0
        return self.cpu_ms.get(group_id, 0.0) + now

    def count(self, session: Session) -> None:
        """A session's request has ended."""
        self.requests[session.group_id] = self.requests.get(session.group_id, 0) + 1

    def classifier_ids(self) -> set[int]:
        """Objects of master that are stored or used as classifier: they can be neither altered nor dropped (10920)."""
        return {self.stored.classifier_id, self.active.classifier_id} - {0}

    def to_dict(self) -> dict[str, Any]:
        """For the state file."""
        content = asdict(self)
        for name in ("requests", "cpu_ms", "queued"):
            content[name] = [[group, count] for group, count in content[name].items()]
        for name in ("running", "waiting", "contending"):  # of sessions, which do not outlive the process
            del content[name]
        return content

    @classmethod
    def from_dict(cls, content: dict[str, Any] | None) -> Governor:
        """The inverse; a state kept before there was a governor gives the defaults."""
        if not content:
            return cls()
        plain = {name: content[name] for name in ("enabled", "reset_s", "cpu_ms_at_reset", "load_group") if name in content}
        made = cls(**plain)
        made.stored = Configuration.from_dict(content["stored"])
        made.active = Configuration.from_dict(content["active"])
        made.requests = {int(group): int(count) for group, count in content["requests"]}
        made.cpu_ms = {int(group): float(spent) for group, spent in content.get("cpu_ms", ())}
        made.queued = {int(group): int(count) for group, count in content.get("queued", ())}
        return made


def classify(node: Node, session: Session) -> None:
    """Put a new session in the group its classifier names.

    No classifier, NULL, a group that is not in use, ``internal``, or a failure: the default group. A failure stands in the
    errorlog (10982).
    """
    governor = node.governor
    session.group_id = DEFAULT
    master = node.instance.database("master")
    module = master.by_id(governor.active.classifier_id) if governor.enabled and master is not None else None
    if master is None or not isinstance(module, Module):
        return
    runtime = Runtime(node, session, Variables())
    try:
        answer = run_function(runtime, module, master, [], CLASSIFIER_STATEMENTS_MAX)
    except TsqlError as problem:
        node.log_line(
            f"Failed to run resource governor classifier user-defined function '{module.name}'. Last error {problem.number}, "
            f"state {problem.state}. See previous errors in SQL Server error log from session ID {session.spid} for details. "
            "Classifier elapsed time: 0 ms.",
            f"spid{session.spid}",
        )
        return
    group = governor.active.groups.get(str(answer).lower()) if answer is not None else None
    if group is not None and group.id != INTERNAL:
        session.group_id = group.id
