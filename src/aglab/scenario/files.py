"""Scenario files: TOML that names a profile and a workload, and says what differs.

``title``, ``profile``, ``workload``, ``database``; ``[settings]``, ``[tempdb]``, ``[hardware.cpu]``, ``[workload]``
as a table (``name``, or ``mix = { "tpcc-like" = 0.8, "tpce-like" = 0.2 }``, and demands that differ), ``[constants]`` and
``[set]`` hold keys of :mod:`aglab.scenario.keys`; ``[ag]`` holds ``replicas`` and ``mode``. Each ``[[timeline]]`` has ``at_s``,
an optional ``every_s`` (again and again), ``node`` and ``database``, and the values that change then
(:data:`aglab.scenario.CHANGES`). A backup is a table of :class:`aglab.scenario.jobs.BackupJob`:
``backup = { devices = 4, compression = true }``; an index rebuild, an integrity check or seeding is one of
:mod:`aglab.scenario.maintenance`. Each ``[[replicas]]`` says what is one replica's own: ``mode``, and its way to the others
(``rtt_us``, ``bandwidth_gbit_s``, ``loss``). Each ``[[databases]]`` is one of several databases that share the machines: a
``name`` and the keys of ``[set]`` that are its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.quantity import check_number, load_toml
from aglab.scenario.changes import Change, check_change
from aglab.scenario.keys import ALIASES, MODES_BY_NAME, SPECIAL, apply_settings
from aglab.scenario.model import Replica, Scenario, Settings
from aglab.workload import mixed

_EVERY = {"unit": "s", "low": 0.0, "high": 1e9, "meaning": "interval of repetitions; 0 for none"}
_TABLES = ("settings", "tempdb", "hardware", "constants", "set", "ag", "replicas", "timeline", "databases")
_KNOWN = ("title", "profile", "workload", "database", *_TABLES)


def read_scenario(path: Path) -> Scenario:
    """The scenario that a file describes."""
    return scenario_from(load_toml(path, "scenario"), f"scenario {path.name}", path.parent)


def scenario_from(table: Mapping[str, Any], where: str, folder: Path | None = None) -> Scenario:
    """The scenario that a parsed table describes; paths in it are relative to ``folder``."""
    for key in table:
        if key not in _KNOWN:
            if key in ALIASES or key in SPECIAL:
                raise UsageError(f"{key} stands outside a table ({where})", f"write it below [set]: {key} = {table[key]!r}")
            raise unknown_name(f"key of {where}", key, _KNOWN)
    ag = dict(table.get("ag", {}))
    for key in ag:
        if key not in ("replicas", "mode"):
            raise unknown_name(f"key of [ag] in {where}", key, ("replicas", "mode"))
    job = table.get("workload", "tpcc-like")
    overrides = {}
    if isinstance(job, dict):
        if "mix" in job and "name" in job:
            raise UsageError(f"name and mix of [workload] in {where} exclude each other", "keep one of them")
        overrides = {f"workload.{key}": value for key, value in job.items() if key not in ("name", "mix")}
        job = mixed(job["mix"], f"[workload] of {where}") if "mix" in job else job.get("name", "tpcc-like")
    scenario = Scenario.default(_named(table.get("profile", "hpe-dl380-gen9-ssd"), folder), 1, _named_workload(job, folder))
    settings: dict[str, Any] = {**overrides, **_flatten("hardware", table.get("hardware", {}), where)}
    settings |= {_setting(key, where): value for key, value in table.get("settings", {}).items()}
    settings |= _flatten("tempdb", table.get("tempdb", {}), where)
    settings |= {f"constants.{key}": value for key, value in table.get("constants", {}).items()}
    scenario = apply_settings(scenario, {**ag, **settings})
    scenario = apply_settings(scenario, table.get("set", {}))
    scenario = dataclasses.replace(scenario, replicas=read_replicas(table.get("replicas", []), scenario.replicas, where))
    scenario = dataclasses.replace(scenario, title=str(table.get("title", "")), database=str(table.get("database", "OLTP")))
    databases = read_databases(table.get("databases", []), where)
    names = tuple(name for name, _ in databases)
    timeline = read_timeline(table.get("timeline", []), scenario.node_names, where, names)
    scenario = dataclasses.replace(scenario, timeline=timeline, databases=databases)
    scenario.each()  # a wrong key of a database is said now
    return scenario


def read_replicas(entries: Any, replicas: tuple[Replica, ...], where: str) -> tuple[Replica, ...]:
    """The replicas, with what entries of ``[[replicas]]`` say of some: mode, and a way to the others of their own."""
    if not isinstance(entries, list):
        raise UsageError(f"replicas of {where} must be a list of tables", "write [[replicas]] before each entry")
    found = {replica.name: replica for replica in replicas}
    for index, entry in enumerate(entries):
        told = dict(entry) if isinstance(entry, dict) else {}
        name = str(told.pop("name", ""))
        if name not in found:
            raise unknown_name(f"name of entry {index + 1} of replicas in {where}: node", name, tuple(found))
        if "mode" in told:
            mode = told.pop("mode")
            if mode not in MODES_BY_NAME:
                raise unknown_name(f"mode of replica {name} in {where}", str(mode), tuple(MODES_BY_NAME))
            told["availability_mode"] = MODES_BY_NAME[mode]
        fields = tuple(spec.name for spec in dataclasses.fields(Replica) if spec.metadata)
        for key in told:
            if key not in fields:
                raise unknown_name(f"key of replica {name} in {where}", key, ("name", "mode", *fields[1:]))
        found[name] = dataclasses.replace(found[name], **told)
    return tuple(found.values())


def read_databases(entries: Any, where: str) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Several databases: the name of each and what of ``[set]`` is its own."""
    if not isinstance(entries, list):
        raise UsageError(f"databases of {where} must be a list of tables", "write [[databases]] before each entry")
    found = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"]:
            raise UsageError(f"entry {index + 1} of databases in {where} has no name", 'write name = "Sales"')
        found.append((entry["name"], {key: value for key, value in entry.items() if key != "name"}))
    if len({name for name, _ in found}) < len(found):
        names = ", ".join(name for name, _ in found)
        raise UsageError(f"names of databases in {where} must differ, and are {names}", "rename one")
    return tuple(found)


def _setting(key: str, where: str) -> str:
    """The dotted key of an entry of [settings]; short names have a table of their own, and the error says which."""
    fields = {spec.name for spec in dataclasses.fields(Settings)}
    if key not in fields and (key in ALIASES or key in SPECIAL):
        raise UsageError(
            f"{key} is a short name, and [settings] of {where} takes full ones", f"move it below [set], which takes {key}"
        )
    return f"settings.{key}"


def read_timeline(entries: Any, nodes: tuple[str, ...], where: str, databases: tuple[str, ...] = ()) -> tuple[Change, ...]:
    """The timeline in time order, each value checked."""
    if not isinstance(entries, list):
        raise UsageError(f"timeline of {where} must be a list of tables", "write [[timeline]] before each entry")
    changes = []
    for index, entry in enumerate(entries):
        values = {key: value for key, value in entry.items() if key not in ("at_s", "every_s", "node", "database")}
        at_s = entry.get("at_s")
        if isinstance(at_s, bool) or not isinstance(at_s, (int, float)) or not 0 <= at_s < 1e9:
            entry_name = f"timeline entry {index + 1} of {where}"
            remedy = f"write at_s = seconds from the start; this entry has {', '.join(entry)}"
            raise UsageError(f"at_s={at_s!r} must be a time >= 0 s ({entry_name})", remedy)
        if not values:
            raise UsageError(f"timeline entry {index + 1} of {where} changes nothing", "add for example k_mb_s = 750")
        for name, value in values.items():
            check_change(name, value, entry.get("node"), nodes)
        every_s = check_number("every_s", entry.get("every_s", 0.0), _EVERY, f"timeline entry {index + 1} of {where}")
        database = entry.get("database")
        if database is not None and database not in databases:
            raise unknown_name(
                f"database (timeline entry {index + 1} of {where})", str(database), databases or ("none: [[databases]]",)
            )
        changes.append(Change(float(at_s), values, entry.get("node"), float(every_s), database))
    return tuple(sorted(changes, key=lambda change: change.at_s))


def _named(name: Any, folder: Path | None) -> Any:
    from aglab.hardware import Profile

    return Profile.load(_resolved(name, folder))


def _named_workload(name: Any, folder: Path | None) -> Any:
    from aglab.workload import Workload

    if isinstance(name, Workload):
        return name
    return Workload.load(_resolved(name, folder))


def _resolved(name: Any, folder: Path | None) -> str | Path:
    if str(name).endswith(".toml") and folder is not None and not Path(str(name)).is_absolute():
        return folder / str(name)
    return str(name)


def _flatten(prefix: str, table: Any, where: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UsageError(f"{prefix} of {where} must be a table", f"write [{prefix}]")
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flatten(f"{prefix}.{key}", value, where)
        else:
            flat[f"{prefix}.{key}"] = value
    return flat
