"""Jobs that share a machine with the load: what a backup or restore is asked to do, as timelines and statements say it.

``[[timeline]] backup = { devices = 4, compression = true }`` and T-SQL's WITH clause end in the same :class:`BackupJob`.
Sources of limits: BACKUP (Transact-SQL): MAXTRANSFERSIZE from 64 KB to 4 MB in steps of 64 KB, at most 64 devices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.quantity import check, choice, number

READ_SETS = 3  # sets of buffers of a compressed backup
SUGGESTED_DEPTH = 3  # I/Os per device that the server suggests for a disk
DEFAULT_TRANSFER = 1048576
BLOCK_SIZES = ("512", "1024", "2048", "4096", "8192", "16384", "32768", "65536")
VOLUMES = ("data", "log")
_FLAGS = ("compression", "checksum", "restore", "copy_only")


@dataclass(frozen=True)
class BackupOptions:
    """What the WITH clause and the list of devices say; 0 leaves the server's default."""

    devices: int = number("devices", 1, 64, "backup devices (files, or NUL)", default=1, integer=True)
    maxtransfersize: int = number("B", 0, 4194304, "MAXTRANSFERSIZE; 0 for the default of 1 MB", default=0, integer=True)
    buffercount: int = number("buffers", 0, 100000, "BUFFERCOUNT; 0 for the default", default=0, integer=True)
    blocksize: str = choice(BLOCK_SIZES, "BLOCKSIZE in bytes", default="65536")
    compression: bool = False
    checksum: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocksize", str(self.blocksize))
        check(self, "backup")
        if self.maxtransfersize and (self.maxtransfersize < 65536 or self.maxtransfersize % 65536):
            raise UsageError(
                f"maxtransfersize={self.maxtransfersize} must be a multiple of 65536 B from 65536 to 4194304 (backup)",
                "for example 1048576 or 4194304",
            )

    @property
    def transfer_bytes(self) -> int:
        """Size of one buffer (B)."""
        return self.maxtransfersize or DEFAULT_TRANSFER

    def buffers(self, volumes: int = 1) -> int:
        """Buffers in flight, for a database on so many volumes."""
        return self.buffercount or self.devices * SUGGESTED_DEPTH + self.devices + 2 * volumes

    def memory_mb(self, volumes: int = 1) -> float:
        """Buffer memory, outside the buffer pool (MB of 1,048,576 bytes)."""
        sets = READ_SETS if self.compression else 1
        return self.buffers(volumes) * self.transfer_bytes * sets / 1048576


@dataclass(frozen=True)
class BackupJob(BackupOptions):
    """One backup (or restore) as a job: its options, which volume it reads, how much, and where it goes."""

    volume: str = choice(VOLUMES, "volume that is read: data for a database backup, log for a log backup", default="data")
    gb: float = number("GB", 0, 1e6, "database bytes to move; 0 for all there are", default=0.0)
    target_mb_s: float = number("MB/s", 0, 1e6, "what all devices together take; 0 for NUL", default=0.0)
    ratio: float = number("x", 0, 100, "compression ratio of the data; 0 for the calibrated one", default=0.0)
    restore: bool = False
    copy_only: bool = False  # a log backup that frees no log

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name}={getattr(self, name)!r} must be true or false (backup)", "leave it out for false")
        if 0 < self.ratio < 1:
            raise UsageError(f"ratio={self.ratio:g} must be >= 1 (backup)", "database bytes per byte of backup file")
        if self.restore and self.volume == "log":
            raise UsageError(
                "restore=true goes with volume='data' (backup)", "a restore of log is bound by redo, not by a volume"
            )


def backup_job(value: Any, where: str = "timeline") -> BackupJob:
    """A job from a table of a timeline, or the job itself.

    Raises
    ------
    UsageError
        Not a table, an unknown key, or a value out of its range.
    """
    if isinstance(value, BackupJob):
        return value
    if value is True:
        return BackupJob()
    if not isinstance(value, Mapping):
        raise UsageError(f"backup={value!r} must be a table ({where})", "write backup = { devices = 4, compression = true }")
    known = tuple(spec.name for spec in dataclasses.fields(BackupJob))
    for key in value:
        if key not in known:
            raise unknown_name(f"key of backup ({where})", str(key), known)
    return BackupJob(**value)
