"""A volume on disk arrays: what a profile's ``[data]`` or ``[log]`` needs, computed from the drives.

Instead of the rates of one device a table may say ``array = "dell-ps6100xv"``, with ``arrays``, ``raid`` and ``fill``. Reads are
random 8 KB within 20 ms; page writes are a checkpoint's, about 30 KB, gathered in the cache and destaged sorted, at what RAID
asks of each (:mod:`aglab.hardware.spindles`); a small write ends in the controller's cache. Left out: a cache that runs full,
and arrays that are filled unevenly.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aglab.core.errors import UsageError
from aglab.core.quantity import Tag, check, choice, number, read_fields
from aglab.hardware.arrays import DiskArray
from aglab.hardware.parts import RAID_LEVELS, Volume
from aglab.hardware.spindles import operations_per_write, service_ms, sustained

AS_BUILT = "as the array's file says"
CHECKPOINT_KB = 30.0  # 3.8 pages of 8 KB gathered into one write
_PAGE_KB = 8.0


@dataclass(frozen=True)
class ArrayVolume:
    """What a table with ``array`` says beside the name."""

    arrays: int = number("arrays", 1, 100, "equal arrays in one group, filled alike", default=1, integer=True)
    raid: str = choice((AS_BUILT, *RAID_LEVELS), "RAID level", default=AS_BUILT)
    fill: float = number("", 0.01, 1, "data over usable capacity", default=0.62)

    def __post_init__(self) -> None:
        object.__setattr__(self, "raid", str(self.raid))
        check(self, "array volume")


def read_array_volume(table: Mapping[str, Any], where: str, prefix: str) -> tuple[Volume, dict[str, Tag]]:
    """The volume that a table with the key ``array`` describes, each value tagged with the array.

    Raises
    ------
    UsageError
        Unknown array or key, a value out of range, or a RAID level that so many drives cannot form.
    """
    entry = table["array"]
    name = entry.get("value", "") if isinstance(entry, Mapping) else entry
    if not isinstance(name, str):
        raise UsageError(f"{prefix}array={name!r} must be a name ({where})", "the name of an array, or a path that ends in .toml")
    array = DiskArray.load(Path(name) if name.endswith(".toml") else name)
    layout, _ = read_fields(ArrayVolume, {key: value for key, value in table.items() if key != "array"}, where, prefix)
    volume = array_volume(array, layout)
    told = f"computed from array {array.name}: {layout.arrays} x {volume.raid}, {100 * layout.fill:g} % full"
    return volume, {prefix + spec.name: Tag("computed", told) for spec in dataclasses.fields(volume)}


def array_volume(array: DiskArray, layout: ArrayVolume) -> Volume:
    """The volume that equal arrays make."""
    if layout.raid != AS_BUILT:
        array = dataclasses.replace(array, raid=layout.raid)
    spindle, fill = array.spindle, layout.fill
    devices = array.active * layout.arrays
    batch = min(float(array.destage_batch), array.cache_gb * array.dirty_share * 1e6 / _PAGE_KB / array.active)

    def destaged_s(kb: float) -> float:
        """Writes of so many KB a second that all drives take."""
        return devices * 1e3 / (operations_per_write(array, kb, fill) * service_ms(spindle, fill, batch, kb))

    shape = Volume(devices, array.raid, 1, 1, 1, 1, 1, 1, 1)  # for its write penalty alone
    share = shape.write_penalty / devices
    middle_mb_s = 0.5 * (spindle.outer_mb_s + spindle.inner_mb_s)
    links_mb_s = array.links * array.link_gbit_s * 1e3 / 8 * array.link_efficiency * layout.arrays
    return Volume(
        devices=devices,
        raid=array.raid,
        read_iops=sustained(array, _PAGE_KB, 1.0, fill, arrays=layout.arrays).iops / devices,
        write_iops=destaged_s(_PAGE_KB) * share,
        read_mb_s=middle_mb_s,
        write_mb_s=destaged_s(CHECKPOINT_KB) * CHECKPOINT_KB * 1.024e-3 * share,
        read_latency_us=service_ms(spindle, fill, 1.0, _PAGE_KB) * 1e3,
        write_latency_us=array.cache_write_ms * 1e3,
        capacity_gb=array.usable_gb * layout.arrays * share,
        spares=array.spares * layout.arrays,
        rebuild_mb_s=middle_mb_s,
        max_mb_s=links_mb_s if links_mb_s < devices * middle_mb_s else 0.0,  # links wider than the drives limit nothing
    )
