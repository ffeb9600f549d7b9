"""A group as plain data for a state file, and back.

Everything is JSON: dataclasses become objects with their field names, sets become sorted lists. The form carries a
version; a reader refuses another one.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from aglab.ag.distributed import Distributed
from aglab.ag.group import Group
from aglab.ag.ledger import Fork, Ledger, LoggedCommit
from aglab.ag.sides import Participant, Side
from aglab.ag.spec import (
    AvailabilityMode,
    ClusterType,
    DatabaseState,
    FailoverMode,
    GroupSpec,
    Listener,
    OperationalState,
    ReplicaSpec,
    Role,
    SuspendReason,
    SyncState,
    Timing,
)
from aglab.ag.state import DatabaseReplica, NodeState, PendingCommit, View
from aglab.core.errors import field_error

FORMAT = 2


def to_dict(group: Group) -> dict[str, Any]:
    """The group's whole state."""
    return {
        "format": FORMAT,
        "spec": asdict(group.spec),
        "timing": asdict(group.timing),
        "witness": group.witness,
        "managed": group.managed,
        "incarnation": group.incarnation,
        "nodes": [_node(one) for one in group.nodes.values()],
        "ledgers": {name: asdict(ledger) for name, ledger in group.ledgers.items()},
        "pending": [asdict(one) for one in group.pending],
        "cuts": sorted(sorted(pair) for pair in group.cuts),
        "closed": sorted(sorted(pair) for pair in group.closed),
        "forced_quorum": sorted(group.forced_quorum),
        "witness_version": list(group.witness_version),
        "newest": list(group.newest),
        "epochs": group.epochs,
        "dropped": group.dropped,
        "regroup_at_s": group.regroup_at_s,
        "faults": {name: list(fault) for name, fault in group.faults.items()},
        "ill": dict(group.ill),
        "routing_turn": dict(group.routing_turn),
        "now_s": group.now_s,
    }


def from_dict(content: dict[str, Any]) -> Group:
    """The inverse of :func:`to_dict`."""
    if content.get("format") != FORMAT:
        raise field_error("format", content.get("format"), f"must be {FORMAT}", "saved availability group", "form the group anew")
    group = Group(_spec(content["spec"]), [], Timing(**content["timing"]), content["witness"], content["managed"])
    group.nodes = {one["name"]: _read_node(one) for one in content["nodes"]}
    group.ledgers = {name: _ledger(one) for name, one in content["ledgers"].items()}
    group.pending = [PendingCommit(**one) for one in content["pending"]]
    group.cuts = {frozenset(pair) for pair in content["cuts"]}
    group.closed = {frozenset(pair) for pair in content["closed"]}
    group.forced_quorum = set(content["forced_quorum"])
    group.witness_version = tuple(content["witness_version"])
    group.newest = tuple(content["newest"])
    group.faults = {name: (fault[0], fault[1]) for name, fault in content["faults"].items()}
    group.incarnation = content.get("incarnation", 1)
    group.ill = dict(content.get("ill", {}))
    for name in ("epochs", "dropped", "regroup_at_s", "routing_turn", "now_s"):
        setattr(group, name, content[name])
    return group


def _node(node: NodeState) -> dict[str, Any]:
    row = {one.name: getattr(node, one.name) for one in fields(node)}
    row["databases"] = {name: asdict(copy) for name, copy in node.databases.items()}
    row["orphan"] = asdict(node.orphan) if node.orphan is not None else None
    row["last_error"] = list(node.last_error) if node.last_error is not None else None
    view = {one.name: getattr(node.view, one.name) for one in fields(node.view)}
    row["view"] = {**view, "ready": sorted(view["ready"]), "pending_suspend": sorted(view["pending_suspend"])}
    return row


def _read_node(row: dict[str, Any]) -> NodeState:
    view = dict(row["view"])
    for name in ("ready", "pending_suspend"):
        view[name] = frozenset((node, database) for node, database in view[name])
    values = {
        **row,
        "view": View(**view),
        "role": Role(row["role"]),
        "operational": OperationalState(row["operational"]),
        "databases": {name: _copy(one) for name, one in row["databases"].items()},
        "orphan": _replica(row["orphan"]) if row["orphan"] is not None else None,
        "last_error": tuple(row["last_error"]) if row["last_error"] is not None else None,
    }
    return NodeState(**values)


def _copy(row: dict[str, Any]) -> DatabaseReplica:
    suspended = SuspendReason(row["suspended"]) if row["suspended"] is not None else None
    states = {"sync_state": SyncState(row["sync_state"]), "database_state": DatabaseState(row["database_state"])}
    return DatabaseReplica(**{**row, **states, "suspended": suspended})


def _ledger(row: dict[str, Any]) -> Ledger:
    return Ledger([Fork(**one) for one in row["forks"]], [LoggedCommit(**one) for one in row["commits"]])


def _replica(row: dict[str, Any]) -> ReplicaSpec:
    routing = tuple(part if isinstance(part, str) else tuple(part) for part in row["read_only_routing_list"])
    modes = {"availability_mode": AvailabilityMode(row["availability_mode"]), "failover_mode": FailoverMode(row["failover_mode"])}
    return ReplicaSpec(**{**row, **modes, "read_only_routing_list": routing})


def _spec(row: dict[str, Any]) -> GroupSpec:
    listener = row["listener"]
    if listener is not None:
        listener = Listener(**{**listener, "addresses": tuple((address, mask) for address, mask in listener["addresses"])})
    replicas = [_replica(one) for one in row["replicas"]]
    return GroupSpec(**{**row, "cluster_type": ClusterType(row["cluster_type"]), "replicas": replicas, "listener": listener})


def distributed_to_dict(one: Distributed) -> dict[str, Any]:
    """A distributed group without its two groups."""
    sides = [
        {
            "name": side.name,
            "joined": side.joined,
            "known": side.group is not None,
            "role": side.role.value,
            "required": side.required,
            "participants": [asdict(participant) for participant in side.participants.values()],
        }
        for side in one.sides.values()
    ]
    plain = {name: getattr(one, name) for name in ("name", "upstream", "linked", "connected", "silent_since_s", "now_s")}
    return {**plain, "synchronized": sorted(one.synchronized), "pair": list(one.pair), "sides": sides}


def distributed_from_dict(content: dict[str, Any], groups: list[Group]) -> Distributed:
    """The inverse, over groups that were read before; databases in both get one ledger again."""
    sides = []
    for kept in content["sides"]:
        group = next((one for one in groups if kept["known"] and one.name.lower() == kept["name"].lower()), None)
        side = Side(kept["name"], group, kept["joined"], Role(kept["role"]), required=kept["required"])
        for row in kept["participants"]:
            modes = {
                "availability_mode": AvailabilityMode(row["availability_mode"]),
                "failover_mode": FailoverMode(row["failover_mode"]),
            }
            side.participants[row["group"].lower()] = Participant(**{**row, **modes})
        if side.joined and group is not None:
            group.beyond = side
        sides.append(side)
    made = Distributed(content["name"], sides)
    for name in ("upstream", "linked", "connected", "silent_since_s", "now_s"):
        setattr(made, name, content[name])
    made.synchronized, made.pair = set(content["synchronized"]), (content["pair"][0], content["pair"][1])
    made.share_ledgers()
    return made
