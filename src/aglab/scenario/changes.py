"""What can change while a scenario runs: names, ranges and scope, once for timelines and for ``Flow.change``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.quantity import check_number
from aglab.scenario.drives import Drive, drive_of
from aglab.scenario.maintenance import Job, job_of


@dataclass(frozen=True)
class Kind:
    """One thing that can change. ``scope`` is ``cluster`` (no node), ``node`` (needs one) or ``any`` (all nodes without one)."""

    scope: str
    meaning: str
    kind: str  # number, flag, action, mode, name, job, drive
    unit: str = ""
    low: float = 0.0
    high: float = 0.0


CHANGES: dict[str, Kind] = {
    "users": Kind("cluster", "concurrent users of the workload; 0 stops it", "number", "users", 0, 1e6),
    "primary": Kind(
        "cluster",
        "the node that becomes primary: it redoes its queue first; time until a lost primary is noticed is not part of it",
        "name",
    ),
    "k_mb_s": Kind("any", "checkpoint throttle, as startup option -k; 0 for none", "number", "MB/s", 0, 1e6),
    "target_recovery_s": Kind("any", "TARGET_RECOVERY_TIME; 0 for automatic checkpoints", "number", "s", 0, 36000),
    "checkpoint": Kind("any", "run a CHECKPOINT now", "action"),
    "log_backup": Kind("any", "back up the log now: what recovery and replicas do not need can be reused", "action"),
    "backup": Kind("any", "start a backup that shares the machine: a table of devices, maxtransfersize, compression, ...", "job"),
    "restore": Kind("any", "start a restore: a table as for backup", "job"),
    "index_rebuild": Kind("cluster", "rebuild an index on the primary: a table of gb, maxdop, online, resumable, ...", "job"),
    "index_pause": Kind("cluster", "pause the resumable rebuild that runs: it goes on where it stands", "action"),
    "index_resume": Kind("cluster", "go on with a paused rebuild", "action"),
    "integrity_check": Kind("any", "DBCC CHECKDB: a table of gb, maxdop, physical_only", "job"),
    "seeding": Kind("cluster", "automatic seeding of a secondary from the primary: a table of to, compression, gb", "job"),
    "simple_recovery": Kind("any", "simple recovery model: log is reused without log backups", "flag"),
    "tail_of_log_us": Kind(
        "any", "tail of the log on persistent memory: time to copy a record there; 0 for none", "number", "us", 0, 1000
    ),
    "delayed_durability": Kind("any", "delayed durability: commits are answered before their log is hardened", "flag"),
    "snapshot_transaction": Kind(
        "cluster", "a transaction under snapshot isolation stays open: versions are kept from now on; false ends it", "flag"
    ),
    "drive_failure": Kind(
        "any", "a drive fails (the primary's, without node): a volume, or a table of volume and drive", "drive"
    ),
    "drive_replaced": Kind("any", "a new drive is put in (as above): it is rebuilt, or a spare where none lacks", "drive"),
    "restart": Kind("any", "stop cleanly and start again: every dirty page has been written", "action"),
    "connected": Kind("node", "whether the primary reaches this secondary", "flag"),
    "suspended": Kind("node", "whether redo is suspended on this node", "flag"),
    "availability_mode": Kind("node", "SYNCHRONOUS_COMMIT or ASYNCHRONOUS_COMMIT", "mode"),
}
_MODES = {"SYNCHRONOUS_COMMIT": 1.0, "ASYNCHRONOUS_COMMIT": 0.0}


@dataclass(frozen=True)
class Change:
    """One entry of a timeline: at ``at_s``, ``values`` change on ``node`` (or where they belong).

    ``every_s`` above 0 repeats it from then on; ``database`` names one of several databases, None means all.
    """

    at_s: float
    values: Mapping[str, Any] = field(default_factory=dict)
    node: str | None = None
    every_s: float = 0.0
    database: str | None = None

    def times(self, end_s: float) -> list[float]:
        """When it happens before ``end_s`` (s)."""
        if self.at_s >= end_s:
            return []
        if self.every_s <= 0.0:
            return [self.at_s]
        return [self.at_s + step * self.every_s for step in range(math.ceil((end_s - self.at_s) / self.every_s - 1e-9))]


def check_change(name: str, value: Any, node: str | None, nodes: tuple[str, ...]) -> float | str | Job | Drive:
    """The value of one change as the engine takes it.

    Raises
    ------
    UsageError
        Unknown name or node, a value out of range, a node where none belongs.
    """
    if name not in CHANGES:
        raise unknown_name("change", name, tuple(CHANGES))
    kind = CHANGES[name]
    if node is not None and node not in nodes:
        raise unknown_name("node", node, nodes)
    if kind.scope == "node" and node is None:
        raise UsageError(f"{name} changes one node and none is named", f"name one of {', '.join(nodes)}")
    if kind.scope == "cluster" and node is not None:
        raise UsageError(f"{name} belongs to the cluster, not to node {node!r}", "leave the node out")
    where = f"change of {node or 'the cluster'}"
    if kind.kind == "number":
        declared = {"unit": kind.unit, "low": kind.low, "high": kind.high, "meaning": kind.meaning}
        return float(check_number(name, value, declared, where))
    if kind.kind == "job":
        return job_of(name, value, where)
    if kind.kind == "drive":
        return drive_of(name, value, where)
    if kind.kind == "name":
        if value not in nodes:
            raise unknown_name(f"{name}: node", str(value), nodes)
        return str(value)
    if kind.kind == "mode":
        if value not in _MODES:
            raise unknown_name("availability_mode", str(value), tuple(_MODES))
        return _MODES[value]
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise UsageError(f"{name}={value!r} must be true or false ({where})", kind.meaning)
    if kind.kind == "action" and not value:
        raise UsageError(f"{name}={value!r} must be true ({where})", f"leave {name} out to do nothing")
    return float(value)
