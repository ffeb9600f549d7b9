"""Disk arrays with spindles: what one drive does mechanically, how many are striped, and what the controller adds.

Files lie in ``data/arrays``; every value carries its tag. Left out: thermal recalibration, bad sectors, a rebuild in
progress. What an array sustains is computed in :mod:`aglab.hardware.spindles`.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass, field
from pathlib import Path

from aglab.core.errors import UsageError, unknown_name
from aglab.core.paths import bundle_path
from aglab.core.quantity import Tag, check, choice, load_toml, number, read_fields
from aglab.hardware.parts import RAID_LEVELS, raid_error


@dataclass(frozen=True)
class Spindle:
    """One drive, by default a 2.5 inch one of 15,000 rpm.

    Seek time is ``seek_min_ms + seek_span_ms * sqrt(d)`` over a share ``d`` of the tracks.
    """

    rotation_ms: float = number("ms", 0.1, 100, "one revolution", default=4.0)
    seek_min_ms: float = number("ms", 0, 100, "shortest seek", default=0.35)
    seek_span_ms: float = number("ms", 0, 1000, "what a seek over all tracks adds", default=4.4)
    outer_mb_s: float = number("MB/s", 0.1, 10000, "transfer rate on the outermost track", default=202.0)
    inner_mb_s: float = number("MB/s", 0.1, 10000, "transfer rate on the innermost track", default=125.0)
    capacity_gb: float = number("GB", 0.1, 1e6, "size of the drive", default=146.0)

    def __post_init__(self) -> None:
        check(self, "spindle")
        if self.inner_mb_s > self.outer_mb_s:
            raise UsageError(
                f"inner_mb_s={self.inner_mb_s:g} must be <= outer_mb_s={self.outer_mb_s:g} (spindle)",
                "outer tracks are longer and pass faster under the head",
            )


@dataclass(frozen=True)
class DiskArray:
    """Spindles behind a controller with write-back cache and network links."""

    drives: int = number("drives", 1, 1000, "drives in the array, spares included", integer=True)
    spares: int = number("drives", 0, 100, "hot spares: they carry no load", integer=True)
    raid: str = choice(RAID_LEVELS, "RAID level")
    stripe_kb: float = number("KB", 4, 4096, "stripe unit: neighbouring data on one drive")
    cache_gb: float = number("GB", 0, 10000, "write-back cache; 0 for none")
    dirty_share: float = number("", 0, 1, "share of the cache that may hold writes")
    destage_batch: int = number("writes", 1, 100000, "writes one drive sorts at once", integer=True)
    cache_write_ms: float = number("ms", 0, 1000, "time of a write that the cache takes")
    align_bytes: float = number("B", 512, 1048576, "requests start at multiples of this")
    links: int = number("links", 1, 1000, "network ports that carry I/O", integer=True)
    link_gbit_s: float = number("Gbit/s", 0.01, 1000, "rate of one port, each way")
    link_efficiency: float = number("", 0.1, 1, "share of a port's rate left for data", default=0.93)
    spindle: Spindle = field(default_factory=Spindle)
    name: str = ""
    title: str = ""
    tags: dict[str, Tag] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "raid", str(self.raid))
        check(self, f"array {self.name}".strip())
        problem = raid_error(self.raid, self.active)
        if problem is not None:
            raise problem

    @property
    def active(self) -> int:
        """Drives that carry load."""
        return self.drives - self.spares

    @property
    def parity(self) -> int:
        """Drives' worth of parity: RAID 50 is two RAID 5 sets."""
        return {"5": 1, "50": 2, "6": 2}.get(self.raid, 0)

    @property
    def usable_gb(self) -> float:
        """Capacity after RAID and spares (GB)."""
        share = 0.5 if self.raid in ("1", "10") else 1.0 - self.parity / self.active
        return self.active * share * self.spindle.capacity_gb

    @classmethod
    def load(cls, name: str | Path) -> DiskArray:
        """Load an array by name, or from a path that ends in ``.toml``.

        Raises
        ------
        UsageError
            Unknown name (the nearest is given), or a wrong field in the file.
        """
        if isinstance(name, Path) or str(name).endswith(".toml"):
            return _read(Path(name))
        if name not in array_names():
            raise unknown_name("array", str(name), array_names())
        return _bundled(str(name))


def array_names() -> tuple[str, ...]:
    """Names of the arrays that travel with aglab."""
    return tuple(sorted(path.stem for path in bundle_path("data", "arrays").glob("*.toml")))


@functools.lru_cache(maxsize=16)
def _bundled(name: str) -> DiskArray:
    return _read(bundle_path("data", "arrays", f"{name}.toml"))


def _read(path: Path) -> DiskArray:
    table = load_toml(path, "array")
    where = f"array {path.stem}"
    for key in table:
        if key not in ("title", "spindle", "array"):
            raise unknown_name(f"section of {where}", key, ("title", "spindle", "array"))
    for part in ("spindle", "array"):
        if not isinstance(table.get(part), dict):
            raise UsageError(f"section [{part}] is missing ({where})", f"add a table [{part}]")
    spindle, tags = read_fields(Spindle, table["spindle"], where, "spindle.")
    array, more = read_fields(DiskArray, table["array"], where, "array.")
    title = str(table.get("title", path.stem))
    return dataclasses.replace(array, spindle=spindle, name=path.stem, title=title, tags={**tags, **more})
