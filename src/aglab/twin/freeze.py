"""The whole cluster as plain data, and back: for the state file and for snapshots.

Two parts. *Small*: clock, settings, options, availability group, engine arrays, errorlogs, as JSON (floats survive exactly).
*Rows*: databases with objects and rows, as a pickle that is read back with an allow-list of classes, so that a file from
elsewhere cannot run code.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from aglab.ag import saving
from aglab.twin import encryption, rebuilds
from aglab.twin.availability import Availability
from aglab.twin.backups.record import BackupSet
from aglab.twin.endpoints import Trust
from aglab.twin.errorlog import ErrorLog
from aglab.twin.freeze_rows import dump as dump
from aglab.twin.freeze_rows import load as load
from aglab.twin.governor import Governor
from aglab.twin.health_session import HealthSession
from aglab.twin.plant import Plant
from aglab.twin.recording import Recording
from aglab.twin.traces.sessions import Traces

if TYPE_CHECKING:
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

BACKUPS_KEPT = 1000
WAITING = "(waiting)"  # committed rows that replicas have yet to apply
_GENERATIONS = itertools.count(1)


# -- rows ------------------------------------------------------------------------------------------------------------
def rows_of(cluster: Cluster) -> dict[str, Any]:
    """Databases and logins of every node."""
    rows: dict[str, Any] = {
        name: {"databases": node.instance.databases, "logins": node.instance.logins} for name, node in cluster.nodes.items()
    }
    return {**rows, WAITING: {group.serial: group.rows.content() for group in cluster.groups}}


def put_groups(cluster: Cluster, content: dict[str, Any]) -> None:
    """Make the availability groups of :func:`small_of`, before rows and journal are read; :func:`put_small` "
    "places them in time."""
    cluster.groups.clear()
    for kept in content["groups"]:
        group = Availability(cluster, saving.from_dict(kept["rules"]), kept["serial"])
        cluster.groups.all.append(group)
    cluster.groups.distributed.put(content.get("distributed", []))


def put_rows(cluster: Cluster, content: dict[str, Any]) -> None:
    """After :func:`put_groups`: give every node the databases and logins of :func:`rows_of`."""
    for group in cluster.groups:
        group.rows.put(content[WAITING].get(group.serial, {}))  # none where the rows are older than the group
    for name, node in cluster.nodes.items():
        replace_databases(node, content[name]["databases"])
        node.instance.logins.clear()
        node.instance.logins.update(content[name]["logins"])
        node.instance.statements.clear()  # what their execution cost belongs to the time that is taken back,
        node.instance.index_uses.clear()  # and so do the uses of indexes whose numbers others have now


def replace_databases(node: Node, databases: dict[str, Any]) -> None:
    """Put other databases in a node's place; a plan compiled for the old ones must never fit the new ones."""
    for database in databases.values():
        database.version += next(_GENERATIONS) * 1_000_000_000
    node.instance.databases.clear()
    node.instance.databases.update(databases)


# -- small -----------------------------------------------------------------------------------------------------------
def small_of(cluster: Cluster) -> dict[str, Any]:
    """Everything but rows."""
    cluster.groups.sync()  # the rules' positions are the engine's at this moment, or the log between them is forgotten
    return {
        "bare": cluster.bare,
        "clock_us": cluster.clock.now_us,
        "pace": cluster.clock.pace,
        "plant": _plant_of(cluster.plant),
        "groups": [group.to_dict() for group in cluster.groups],
        "distributed": cluster.groups.distributed.to_list(),
        "seeding": cluster.groups.seeding.to_list(),
        "created": cluster.groups.created,
        "cuts": sorted(sorted(pair) for pair in cluster.groups.cuts),
        "files": cluster.files.kept,
        "nodes": {name: _node_of(node) for name, node in cluster.nodes.items()},
    }


def put_small(cluster: Cluster, content: dict[str, Any], with_options: bool = True) -> None:
    """Bring the cluster to what :func:`small_of` kept. KeyError, TypeError, ValueError: the content is damaged."""
    cluster.clock.set_time(int(content["clock_us"]))
    cluster.clock.set_pace(content["pace"])
    for name, node in cluster.nodes.items():
        _put_node(node, content["nodes"][name], with_options)
    _put_plant(cluster.plant, content["plant"])
    cluster.files.kept = dict(content["files"])
    for group, kept in zip(cluster.groups, content["groups"], strict=True):
        group.replace(saving.from_dict(kept["rules"]))
        group.listener_home = kept["listener_home"]
        group.rows.stale = {(node, database) for node, database in kept["stale"]}
        group.rows.gaps = {(node, database): fork for node, database, fork in kept.get("gaps", ())}
        group.rows.regrow()
    cluster.groups.distributed.put(content.get("distributed", []))
    cluster.groups.seeding.put(content["seeding"])
    cluster.groups.created = dict(content.get("created", {}))
    cluster.groups.cuts = {frozenset(pair) for pair in content["cuts"]}
    for node in cluster.nodes.values():
        node.note_membership()
    cluster.addresses.reopen()


def _node_of(node: Node) -> dict[str, Any]:
    instance = node.instance
    return {
        "startup_options": node.startup_options,
        "ended": node.ended,
        "hadr": [node.hadr_enabled, node.hadr_at_next_start],
        "trust": node.trust.to_dict(),
        "health": node.health.to_dict(),
        "system_health": node.system_health.to_dict(),
        "ill": sorted(node.ill),
        "governor": node.governor.to_dict(),
        "traces": node.traces.to_list(),
        "encryption": encryption.to_dict(node.encryption),
        "rebuilds": rebuilds.to_list(node.rebuilds),
        "started_s": node.started_s,
        "configurations": {name: [one.value, one.value_in_use] for name, one in instance.configurations.items()},
        "trace_flags": sorted(instance.trace_flags),
        "hybrid_buffer_pool": list(node.hybrid_buffer_pool),
        "soft_numa": list(node.soft_numa),
        "affinity": node.affinity,
        "options": {database.name: _options_of(database) for database in instance.databases.values()},
        "backups": [dataclasses.asdict(one) for one in node.backups[-BACKUPS_KEPT:]],
        "restoring": node.restoring,
        "pieces": node.pieces,
        "restores": node.restores[-BACKUPS_KEPT:],
        "log_marks": node.log_marks[-BACKUPS_KEPT:],
        "forgotten": node.forgotten,
        "agent": node.agent.to_dict(),
        "user_log_bytes": node.user_log_bytes,
        "deadlocks": node.deadlocks_before_restart + len(instance.locks.deadlocks),
        "totals": node.database_totals,
        "waits": node.waits.rows,
        "waits_cleared": node.waits_cleared,
        "errorlog": node.errorlog.to_list(),
    }


def _options_of(database: Any) -> dict[str, Any]:
    plain = (bool, int, float, str, type(None))
    return {
        "options": {key: value for key, value in database.options.items() if isinstance(value, plain)},
        "scoped": {key: value for key, value in database.scoped_configurations.items() if isinstance(value, plain)},
    }


def _put_node(node: Node, content: dict[str, Any], with_options: bool) -> None:
    instance = node.instance
    node.startup_options = [str(one) for one in content["startup_options"]]
    node.ended = bool(content["ended"])
    node.accepting = not node.ended
    node.hadr_enabled, node.hadr_at_next_start = content["hadr"]
    node.trust = Trust.from_dict(content["trust"])
    node.health = HealthSession(**content["health"])
    node.system_health = HealthSession(**content.get("system_health", {"running": True, "startup": True}))
    node.ill = set(content.get("ill", ()))
    node.governor = Governor.from_dict(content.get("governor"))
    node.traces = Traces.from_list(content.get("traces", []))
    node.encryption = encryption.from_dict(content.get("encryption", {}))
    node.rebuilds = rebuilds.from_list(content.get("rebuilds", []))
    node.listen()
    instance.protected_modules = node.governor.classifier_ids()
    node.started_s = float(content["started_s"])
    for name, (value, in_use) in content["configurations"].items():
        if name in instance.configurations:
            instance.configurations[name].value = int(value)
            instance.configurations[name].value_in_use = int(in_use)
    instance.trace_flags = {int(one) for one in content["trace_flags"]}
    if with_options:
        for name, kept in content["options"].items():
            database = instance.database(name)
            if database is not None:
                database.options.update(kept["options"])
                database.scoped_configurations.update(kept["scoped"])
    configured, enabled = content.get("hybrid_buffer_pool", (False, False))
    node.hybrid_buffer_pool = (bool(configured), bool(enabled))
    configured, enabled = content.get("soft_numa", (False, False))
    node.soft_numa = (bool(configured), bool(enabled))
    node.affinity = content.get("affinity")
    node.backups = [BackupSet(**one) for one in content["backups"] if "uuid" in one]  # older ones knew too little
    node.restoring = {name: dict(one) for name, one in content.get("restoring", {}).items()}
    node.pieces = {name: dict(one) for name, one in content.get("pieces", {}).items()}
    node.restores = [dict(one) for one in content.get("restores", [])]
    node.log_marks = [dict(one) for one in content.get("log_marks", [])]
    node.forgotten = [int(one) for one in content.get("forgotten", [])]
    node.agent.put(node, content.get("agent"))
    node.log_tail = {}
    node.user_log_bytes = float(content["user_log_bytes"])
    node.deadlocks_before_restart = int(content.get("deadlocks", 0))
    instance.locks.deadlocks, node.deadlock_reports = [], []  # graphs are in memory only, as in a ring buffer
    node.database_totals = {name: dict(values) for name, values in content["totals"].items()}
    node.waits.rows = {name: [float(one) for one in row] for name, row in content["waits"].items()}
    node.waits_cleared = dict(content["waits_cleared"])
    node.errorlog = ErrorLog.from_list(content["errorlog"])


def _plant_of(plant: Plant) -> dict[str, Any]:
    plant.sync()
    state = plant.flow.state
    kept = {spec.name: getattr(state, spec.name) for spec in dataclasses.fields(state)}
    return {
        "profile": plant.profile,
        "seed": plant.seed,
        "inputs": plant.inputs,
        "node_settings": [[node, name, value] for (node, name), value in plant.node_settings.items()],
        "users": plant.users,
        "held": plant.held,
        "barred": plant.barred,
        "users_max": plant.users_max,
        "load_login": plant.load_login,
        "primary": plant.primary,
        "names": list(plant.names),
        "start_us": plant.start_us,
        "baseline": plant._baseline,
        "state": {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in kept.items()},
        "random": plant.flow._random.bit_generator.state,
        "last": plant.flow._last.tolist(),
    }


def _put_plant(plant: Plant, content: dict[str, Any]) -> None:
    plant.profile = str(content["profile"])
    plant.seed = int(content["seed"])
    plant.inputs = dict(content["inputs"])
    plant.node_settings = {(node, name): value for node, name, value in content["node_settings"]}
    plant.primary = content["primary"]
    plant.names = tuple(content["names"])
    plant.held = bool(content.get("held", False))
    plant.barred = bool(content.get("barred", False))
    plant.users_max = int(content.get("users_max", 0))
    plant.load_login = str(content.get("load_login", "sa"))
    plant._build()
    plant.recording = Recording()  # what it holds belongs to another course of events
    plant.users = float(content["users"])
    if not _put_flow(plant, content):
        # the engine's state has another shape in this version: the machines start afresh, settings and load are kept
        plant.flow.change(users=plant._let_in())
        return
    plant.start_us = int(content["start_us"])
    plant._baseline = {name: dict(values) for name, values in content["baseline"].items()}


def _put_flow(plant: Plant, content: dict[str, Any]) -> bool:
    state, kept = plant.flow.state, content["state"]
    values: dict[str, Any] = {}
    for spec in dataclasses.fields(state):
        now = getattr(state, spec.name)
        if spec.name not in kept:
            return False
        value = kept[spec.name]
        if isinstance(now, np.ndarray):
            value = np.array(value, dtype=now.dtype)
            if value.shape != now.shape:
                return False
        values[spec.name] = value
    last = np.array(content["last"], dtype=float)
    if last.shape != plant.flow._last.shape:
        return False
    for name, value in values.items():
        setattr(state, name, value)
    plant.flow._last = last
    plant.flow.state.jb[:] = 0.0  # a backup ends with the session that ran it
    plant.flow._random.bit_generator.state = content["random"]
    return True
