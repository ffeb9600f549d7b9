"""A hardware profile: one machine as a TOML file, every value with its tag.

Profiles that travel with aglab lie in ``data/profiles``; a path to a file of your own works wherever a name does.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.paths import bundle_path
from aglab.core.quantity import Tag, check, choice, load_toml, number, read_fields
from aglab.hardware.array_volume import read_array_volume
from aglab.hardware.parts import Cpu, Memory, Network, PersistentMemory, Volume

SQL_VERSIONS = ("2014", "2016 RTM", "2016", "2017", "2019", "2022")
_PARTS: dict[str, type] = {"cpu": Cpu, "memory": Memory, "data": Volume, "log": Volume, "network": Network}


@dataclass(frozen=True)
class Suggested:
    """What a default scenario runs on this machine."""

    sql_version: str = choice(SQL_VERSIONS, "SQL Server version", default="2022")
    warehouses: int = number("warehouses", 1, 1_000_000, "size of a TPC-C-like database", default=100, integer=True)
    users: float = number("users", 0, 1e6, "concurrent users", default=16.0)
    log_file_gb: float = number("GB", 0.1, 1e6, "size of the log file", default=20.0)
    cpu_us: float = number("us", 0, 1e6, "processor time of one transaction; 0 for the workload's own", default=0.0)
    think_us: float = number("us", 0, 1e8, "time of a transaction that no part of the machine explains; 0 as above", default=0.0)

    def __post_init__(self) -> None:
        check(self, "suggested")


_OPTIONAL: dict[str, type] = {"persistent_memory": PersistentMemory, "suggested": Suggested}


@dataclass(frozen=True)
class Profile:
    """One machine.

    Attributes
    ----------
    name, title : str
    cpu, memory, data, log, network
        The parts; ``data`` and ``log`` are the volumes of the data files and the log file.
    persistent_memory : PersistentMemory
        None in most machines.
    suggested : Suggested
        Version, database size and users of a default scenario.
    tags : dict
        ``"cpu.sockets" -> Tag``: where each value comes from.
    """

    name: str
    title: str
    cpu: Cpu
    memory: Memory
    data: Volume
    log: Volume
    network: Network
    persistent_memory: PersistentMemory = field(default_factory=PersistentMemory)
    suggested: Suggested = field(default_factory=Suggested)
    tags: dict[str, Tag] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def load(cls, name: str | Path) -> Profile:
        """Load a profile by name, or from a path that ends in ``.toml``.

        Raises
        ------
        UsageError
            Unknown name (the nearest is given), or a wrong field in the file.
        """
        if isinstance(name, Path) or str(name).endswith(".toml"):
            return _read(Path(name))
        if name not in profile_names():
            raise unknown_name("profile", str(name), profile_names())
        return _bundled(str(name))

    def rows(self) -> list[dict[str, Any]]:
        """Every value as a row (key, value, unit, tag, meaning), for ``aglab profile show``."""
        import dataclasses

        rows = []
        for part in (*_PARTS, *_OPTIONAL):
            holder = getattr(self, part)
            for spec in dataclasses.fields(holder):
                key = f"{part}.{spec.name}"
                rows.append(
                    {
                        "key": key,
                        "value": getattr(holder, spec.name),
                        "unit": spec.metadata.get("unit", ""),
                        "tag": str(self.tags.get(key, Tag("assumed", "default"))),
                        "meaning": spec.metadata["meaning"],
                    }
                )
        return rows


def profile_names() -> tuple[str, ...]:
    """Names of the profiles that travel with aglab."""
    return tuple(sorted(path.stem for path in bundle_path("data", "profiles").glob("*.toml")))


@functools.lru_cache(maxsize=64)
def _bundled(name: str) -> Profile:
    return _read(bundle_path("data", "profiles", f"{name}.toml"))


def _read(path: Path) -> Profile:
    table = load_toml(path, "profile")
    where = f"profile {path.stem}"
    known = ("title", *_PARTS, *_OPTIONAL)
    for key in table:
        if key not in known:
            raise unknown_name(f"section of {where}", key, known)
    parts: dict[str, Any] = {}
    tags: dict[str, Tag] = {}
    for name, cls in _PARTS.items():
        if not isinstance(table.get(name), dict):
            raise UsageError(f"section [{name}] is missing ({where})", f"add a table [{name}]")
        parts[name], new = _part(cls, table[name], where, name)
        tags.update(new)
    for name, cls in _OPTIONAL.items():
        parts[name], new = _part(cls, table.get(name, {}), where, name)
        tags.update(new)
    return Profile(path.stem, str(table.get("title", path.stem)), **parts, tags=tags)


def _part(cls: type, table: dict[str, Any], where: str, name: str) -> tuple[Any, dict[str, Tag]]:
    try:
        if cls is Volume and "array" in table:
            return read_array_volume(table, where, f"{name}.")
        part: Any
        part, tags = read_fields(cls, table, where, f"{name}.")
        for problem in part.contradictions() if isinstance(part, Volume) else ():
            raise problem
        return part, tags
    except UsageError as error:
        if where in str(error):
            raise
        raise UsageError(f"{where}, [{name}]: {error.message}", error.remedy) from error
