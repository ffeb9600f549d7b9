"""tempdb of an instance: its files, its volume, and what goes there instead of into memory.

What a transaction asks of it is the workload's (``tempdb_kb_per_tx`` and its neighbours). Sources: "Recommendations to reduce
allocation contention in SQL Server tempdb database" (KB 2154845: files for processors, trace flag 1118 up to 2014, uniform
extents from 2016 on), "tempdb database" (one file for each processor up to eight).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from aglab.core.errors import UsageError
from aglab.core.quantity import check, choice, number
from aglab.hardware import Volume
from aglab.hardware.parts import RAID_LEVELS, raid_error

UNIFORM = ("2016 RTM", "2016", "2017", "2019", "2022")  # versions whose tempdb has no mixed extents
BY_VERSION = "by version"


@dataclass(frozen=True)
class TempDb:
    """Files, volume and memory of tempdb."""

    files: int = number("files", 1, 1024, "data files of tempdb, equally large", default=8, integer=True)
    mixed_extents: str = choice(
        (BY_VERSION, "on", "off"),
        "first pages of an object from mixed extents: on up to 2014 (off there with trace flag 1118), never since 2016",
        default=BY_VERSION,
    )
    row_versioning: str = choice(
        ("off", "on"), "on: READ_COMMITTED_SNAPSHOT or ALLOW_SNAPSHOT_ISOLATION, changes leave versions in tempdb", default="off"
    )
    sort_grant_kb: float = number(
        "KB", 0, 1e9, "memory that a sort is granted: a larger one goes through tempdb; 0: all it asks for", default=0.0
    )
    latch_us: float = number("us", 0.01, 1000, "how long an allocation page is held for one change [assumed]", default=2.0)
    size_gb: float = number("GB", 0, 1e6, "size that tempdb may grow to; 0: what its volume has room for", default=0.0)
    devices: int = number("devices", 0, 1000, "devices of a volume of its own; 0: on the data volume", default=0, integer=True)
    raid: str = choice(RAID_LEVELS, "RAID level of that volume", default="0")
    read_iops: float = number("IOPS", 0, 1e8, "random reads of one such device; 0: as one of the data volume", default=0.0)
    write_iops: float = number("IOPS", 0, 1e8, "random writes of one such device; 0 as above", default=0.0)
    read_mb_s: float = number("MB/s", 0, 1e6, "sequential reads of one such device; 0 as above", default=0.0)
    write_mb_s: float = number("MB/s", 0, 1e6, "sequential writes of one such device; 0 as above", default=0.0)
    read_latency_us: float = number("us", 0, 1e6, "one read on that volume, idle; 0 as above", default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "raid", str(self.raid))
        check(self, "tempdb")
        problem = raid_error(self.raid, self.devices) if self.devices else None
        if problem is not None:
            raise UsageError(f"{problem.message} (tempdb)", problem.remedy)
        told = [spec.name for spec in dataclasses.fields(self) if spec.name in _OWN and getattr(self, spec.name)]
        if told and not self.devices:
            raise UsageError(
                f"{told[0]}={getattr(self, told[0]):g} is of a volume that tempdb does not have (tempdb.devices=0)",
                "say how many devices it has, or leave it out",
            )

    def check_version(self, version: str) -> None:
        """Refuse what a version has not.

        Raises
        ------
        UsageError
            Mixed extents from 2016 on.
        """
        if self.mixed_extents == "on" and version in UNIFORM:
            raise UsageError(
                f"mixed_extents='on' needs version 2014, not {version} (tempdb)",
                "since 2016 tempdb allocates uniform extents only",
            )

    def mixed(self, version: str) -> bool:
        """Whether first pages come from mixed extents."""
        return self.mixed_extents != "off" and version not in UNIFORM

    def volume(self, data: Volume) -> Volume | None:
        """tempdb's own volume beside the data volume of a machine, or None when it shares that."""
        if not self.devices:
            return None
        own = {name: getattr(self, name) for name in _OWN if getattr(self, name)}
        return dataclasses.replace(data, devices=self.devices, raid=self.raid, max_mb_s=0.0, max_iops=0.0, **own)

    def room_gb(self, data: Volume, taken_gb: float) -> float:
        """Size that tempdb may have: its own limit, its volume, or what ``taken_gb`` of databases leave of the data volume."""
        own = self.volume(data)
        room = own.usable_gb if own else max(data.usable_gb - taken_gb, 0.0)
        return min(self.size_gb, room) if self.size_gb else room


_OWN = ("read_iops", "write_iops", "read_mb_s", "write_mb_s", "read_latency_us")
