"""Every input by name: dotted keys made from the declared fields, and the short names people type.

``hardware.<part>.<field>``, ``workload.<field>``, ``settings.<field>``, ``tempdb.<field>``, ``constants.<name>``; short
names (``k``, ``cores``, ``ssds``) stand for one of them or for a small rule. Text from a command line is taken as a number where
a number is meant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from aglab.core.errors import field_error, unknown_name
from aglab.core.quantity import Constant, all_constants, check_number
from aglab.hardware import Profile
from aglab.scenario.checks import REPLICAS_MAX
from aglab.scenario.model import MODES, Replica, Scenario
from aglab.workload import Workload

MODES_BY_NAME = {"sync": MODES[0], "async": MODES[1], **{mode: mode for mode in MODES}}
_OWN = ("workload", "settings", "tempdb")
_PARTS = ("cpu", "memory", "data", "log", "network", "persistent_memory")

ALIASES: dict[str, str] = {
    "k": "settings.k_mb_s",
    "users": "settings.users",
    "target_recovery_s": "settings.target_recovery_s",
    "recovery_interval_min": "settings.recovery_interval_min",
    "version": "settings.sql_version",
    "log_gb": "settings.log_file_gb",
    "log_backup_every_s": "settings.log_backup_every_s",
    "tail_of_log_us": "settings.tail_of_log_us",
    "delayed_durability": "settings.delayed_durability",
    "recovery_model": "settings.recovery_model",
    "log_stream_compression": "settings.log_stream_compression",
    "required_synchronized_secondaries": "settings.required_synchronized_secondaries",
    "redo_databases": "settings.redo_databases",
    "log_growth_mb": "settings.log_growth_mb",
    "log_max_gb": "settings.log_max_gb",
    "affinity_cores": "settings.affinity_cores",
    "affinity_nodes": "settings.affinity_nodes",
    "cpu_cap": "settings.cpu_cap",
    "memory_placement": "settings.memory_placement",
    "loss": "hardware.network.loss",
    "ramp_up_s": "settings.ramp_up_s",
    "buffer_pool": "settings.buffer_pool",
    "noise": "settings.noise_cv",
    "tick_s": "settings.tick_s",
    "sample_s": "settings.sample_s",
    "duration_s": "settings.duration_s",
    "warmup_s": "settings.warmup_s",
    "sockets": "hardware.cpu.sockets",
    "ghz": "hardware.cpu.ghz",
    "threads_per_core": "hardware.cpu.threads_per_core",
    "ht_yield": "hardware.cpu.ht_yield",
    "ssds": "hardware.data.devices",
    "data_ssds": "hardware.data.devices",
    "log_ssds": "hardware.log.devices",
    "raid": "hardware.data.raid",
    "data_write_mb_s": "hardware.data.write_mb_s",
    "data_read_iops": "hardware.data.read_iops",
    "log_write_us": "hardware.log.write_latency_us",
    "rtt_us": "hardware.network.rtt_us",
    "bandwidth_gbit_s": "hardware.network.bandwidth_gbit_s",
    "warehouses": "workload.warehouses",
    "cpu_us": "workload.cpu_us",
    "think_us": "workload.think_us",
    "log_bytes_per_tx": "workload.log_bytes_per_tx",
    "page_touches_per_tx": "workload.page_touches_per_tx",
    "cold_touches_per_tx": "workload.cold_touches_per_tx",
    "read_only_share": "workload.read_only_share",
    "tempdb_kb_per_tx": "workload.tempdb_kb_per_tx",
    "tempdb_files": "tempdb.files",
}


def _cores(scenario: Scenario, value: Any) -> Scenario:
    limits = {"unit": "cores", "low": 1, "high": 4096, "meaning": "physical cores of the machine", "integer": True}
    cores = int(check_number("cores", _as_number(value), limits, "scenario"))
    cpu = scenario.profile.cpu
    if cores % cpu.sockets:
        raise field_error(
            "cores", cores, f"must be a multiple of the {cpu.sockets} sockets", "hardware.cpu", "or set sockets first"
        )
    return _set_fields(scenario, "hardware.cpu", {"cores_per_socket": cores // cpu.sockets})


def _hot_pages(scenario: Scenario, value: Any) -> Scenario:
    limits = {"unit": "pages", "low": 1, "high": 1e12, "meaning": "hot pages of the whole database"}
    pages = check_number("hot_pages", _as_number(value), limits, "workload")
    return _set_fields(scenario, "workload", {"hot_pages_per_warehouse": pages / scenario.workload.warehouses})


def _memory(scenario: Scenario, value: Any) -> Scenario:
    limits = {"unit": "GB", "low": 0.25, "high": 65536, "meaning": "max server memory"}
    size_mb = check_number("memory", _as_number(value), limits, "hardware.memory") * 1024
    old = scenario.profile.memory
    memory = dataclasses.replace(old, max_server_memory_mb=size_mb, installed_mb=max(old.installed_mb, size_mb / 0.9))
    return _with_part(scenario, "memory", memory)


def _checkpoint(scenario: Scenario, value: Any) -> Scenario:
    known = {"automatic": 0.0, "indirect": 60.0}
    if value not in known:
        raise unknown_name("checkpoint", str(value), tuple(known))
    return _set_fields(scenario, "settings", {"target_recovery_s": known[value]})


def _replicas(scenario: Scenario, value: Any) -> Scenario:
    limits = {
        "unit": "replicas",
        "low": 1,
        "high": REPLICAS_MAX,
        "meaning": "replicas in all; 1 is a standalone server",
        "integer": True,
    }
    count = int(check_number("replicas", _as_number(value), limits, "availability group"))
    mode = scenario.replicas[-1].availability_mode if len(scenario.replicas) > 1 else MODES[0]
    more = [Replica(f"sql{index + 1}", mode) for index in range(len(scenario.replicas), count)]
    names = [*scenario.replicas[:count], *more]
    return dataclasses.replace(scenario, replicas=tuple(names))


def _mode(scenario: Scenario, value: Any) -> Scenario:
    if value not in MODES_BY_NAME:
        raise unknown_name("mode", str(value), tuple(MODES_BY_NAME))
    secondaries = [dataclasses.replace(replica, availability_mode=MODES_BY_NAME[value]) for replica in scenario.replicas[1:]]
    return dataclasses.replace(scenario, replicas=(scenario.replicas[0], *secondaries))


def _profile(scenario: Scenario, value: Any) -> Scenario:
    fresh = Scenario.default(Profile.load(str(value)), len(scenario.replicas), scenario.workload)
    kept = dataclasses.replace(
        scenario.settings,
        sql_version=fresh.settings.sql_version,
        users=fresh.settings.users,
        log_file_gb=fresh.settings.log_file_gb,
    )
    return dataclasses.replace(scenario, profile=fresh.profile, workload=fresh.workload, settings=kept)


def _workload(scenario: Scenario, value: Any) -> Scenario:
    job = Workload.load(str(value))
    return dataclasses.replace(scenario, workload=job)


SPECIAL: dict[str, tuple[Callable[[Scenario, Any], Scenario], str, str]] = {
    "profile": (_profile, "", "hardware profile, by name or file"),
    "workload": (_workload, "", "workload, by name or file"),
    "cores": (_cores, "cores", "physical cores of the machine"),
    "memory": (_memory, "GB", "max server memory"),
    "hot_pages": (_hot_pages, "pages", "hot pages of the whole database"),
    "checkpoint": (_checkpoint, "", "automatic, or indirect (60 s)"),
    "replicas": (_replicas, "replicas", "replicas in all; 1 is a standalone server"),
    "mode": (_mode, "", "sync or async, for all secondaries"),
}
_FIRST = ("profile", "workload", "replicas", "mode")


def apply_settings(scenario: Scenario, settings: Mapping[str, Any]) -> Scenario:
    """The scenario with each setting applied: whole machines and layouts first, then the fields of each part together.

    Fields of one part go in at once, because they must agree: devices and RAID level, tick and sample interval.
    """
    together: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        path = ALIASES.get(name, name)
        if name not in SPECIAL and not path.startswith("constants."):
            holder, field = _checked(scenario, path, name)
            together.setdefault(holder, {})[field] = value
    early = [name for name in _FIRST if name in settings]
    for name in early:
        scenario = SPECIAL[name][0](scenario, settings[name])
    for holder, values in sorted(together.items(), key=lambda entry: entry[0] == "tempdb"):  # whose keys depend on the version
        scenario = _set_fields(scenario, holder, values)
    for name, value in settings.items():
        if name in SPECIAL and name not in early:
            scenario = SPECIAL[name][0](scenario, value)
        elif name.startswith("constants."):
            scenario = _set_constant(scenario, name.partition(".")[2], value)
    return scenario


def known_names() -> list[str]:
    """Every key that :func:`apply_settings` takes."""
    return [str(row["key"]) for row in key_rows()]


def _part_of(scenario: Scenario, holder: str) -> Any:
    """The dataclass that ``hardware.cpu``, ``workload`` or ``settings`` names, or None."""
    first, _, part = holder.partition(".")
    if first == "hardware" and part in _PARTS:
        return getattr(scenario.profile, part)
    return getattr(scenario, holder) if holder in _OWN else None


def _checked(scenario: Scenario, path: str, typed: str) -> tuple[str, str]:
    """Holder and field of a dotted key, or an error with the nearest key."""
    holder, _, name = path.rpartition(".")
    part = _part_of(scenario, holder)
    if part is None or name not in {spec.name for spec in dataclasses.fields(part) if spec.metadata}:
        raise unknown_name("setting", typed, tuple(known_names()))
    return holder, name


def _set_fields(scenario: Scenario, holder: str, values: Mapping[str, Any]) -> Scenario:
    part = _part_of(scenario, holder)
    numbers = {spec.name for spec in dataclasses.fields(part) if "unit" in spec.metadata}
    typed = {name: _as_number(value) if name in numbers else str(value) for name, value in values.items()}
    changed = dataclasses.replace(part, **typed)
    if holder.startswith("hardware."):
        return _with_part(scenario, holder.partition(".")[2], changed)
    return dataclasses.replace(scenario, **{holder: changed})


def _with_part(scenario: Scenario, part: str, changed: Any) -> Scenario:
    return dataclasses.replace(scenario, profile=dataclasses.replace(scenario.profile, **{part: changed}))


def _set_constant(scenario: Scenario, name: str, value: Any) -> Scenario:
    known = all_constants()
    if name not in known:
        raise unknown_name("constant", name, tuple(known))
    entry = known[name]
    low, high = constant_range(entry)
    limits = {"unit": entry.unit, "low": low, "high": high, "meaning": entry.meaning}
    number = float(check_number(f"constants.{name}", _as_number(value), limits, "scenario"))
    return dataclasses.replace(scenario, overrides={**scenario.overrides, name: number})


_NEVER_ZERO = ("log_block_kb", "compress_mb_s_per_ghz", "compression_ratio", "checksum_mb_s_per_ghz", "decompress_gain")


def constant_range(entry: Constant) -> tuple[float, float]:
    """What a scenario may set a constant to: nothing, to take its effect away, up to a hundred times what is plausible.

    What others are divided by cannot be nothing: a block that holds no log, a compression that never ends.
    """
    return (entry.low if entry.name in _NEVER_ZERO else 0.0), entry.high * 100


def _as_number(value: Any) -> Any:
    """A number from text where the text is one; anything else stays for the field's own check to refuse."""
    if isinstance(value, str):
        try:
            return float(value.replace("_", ""))
        except ValueError:
            return value
    return value


def key_rows() -> list[dict[str, Any]]:
    """Every key as a row (key, aliases, unit, low, high, meaning; integer, options and default where it has them).

    Defaults are those of the default scenario, so a part of the machine shows what the default profile has.
    """
    default = Scenario.default()
    rows: list[dict[str, Any]] = [
        {"key": name, "aliases": [], "unit": unit, "low": None, "high": None, "meaning": meaning}
        for name, (_, unit, meaning) in SPECIAL.items()
    ]
    groups = [(f"hardware.{part}.", getattr(default.profile, part)) for part in _PARTS]
    for prefix, holder in [*groups, *((f"{name}.", getattr(default, name)) for name in _OWN)]:
        for spec in dataclasses.fields(holder):
            if spec.metadata:
                key = prefix + spec.name
                rows.append(
                    {
                        "key": key,
                        "aliases": [alias for alias, path in ALIASES.items() if path == key],
                        "unit": spec.metadata.get("unit", ""),
                        "low": spec.metadata.get("low"),
                        "high": spec.metadata.get("high"),
                        "meaning": spec.metadata["meaning"],
                        "integer": bool(spec.metadata.get("integer")),
                        "options": spec.metadata.get("options", ()),
                        "default": getattr(holder, spec.name),
                    }
                )
    rows += [
        {
            "key": f"constants.{c.name}",
            "aliases": [],
            "unit": c.unit,
            "low": constant_range(c)[0],
            "high": constant_range(c)[1],
            "meaning": c.meaning,
            "default": c.value,
        }
        for c in all_constants().values()
    ]
    for row in list(rows):
        rows += [{**row, "key": alias, "aliases": [], "meaning": f"short for {row['key']}"} for alias in row["aliases"]]
    return rows
