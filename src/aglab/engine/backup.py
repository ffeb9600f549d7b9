"""Backup and restore: how fast, what limits it, and what it takes from the machine.

Buffers of MAXTRANSFERSIZE go round: read from the data volume, compressed (if asked), written to the devices. The rate is
the least of: what the data volume reads, what the processors compress, buffers in flight over the time of one round,
and what the target takes times the compression ratio. A device writes one buffer at a time and waits for a processor
after each, so a busy machine slows it. Defaults as documented: 1 MB transfers to disk, devices * 3 + devices + 2 *
volumes buffers; compressed backups need three sets of buffers.

Sources: Microsoft CSS, "How does SQL Server Backup and Restore select transfer sizes"; BACKUP (Transact-SQL). Left out:
differential maps, TDE, striping skew, the virtual device interface. MB are 1,000,000 bytes, KB 1,024.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from aglab.core.errors import UsageError, unknown_name
from aglab.core.paths import bundle_path
from aglab.core.quantity import Constant, check, choice, number, read_constants
from aglab.hardware import Profile

READ_SETS = 3  # sets of buffers of a compressed backup
SUGGESTED_DEPTH = 3  # I/Os per device that the server suggests for a disk
BLOCK_SIZES = ("512", "1024", "2048", "4096", "8192", "16384", "32768", "65536")
_MB = 1e6


@functools.cache
def job_constants() -> dict[str, Constant]:
    """Constants of jobs and sockets (``data/calibration/jobs.toml``), by name."""
    return read_constants(bundle_path("data", "calibration", "jobs.toml"))


def job_constant(name: str, overrides: Mapping[str, float] | None = None) -> float:
    """One constant of jobs, unless ``overrides`` gives it."""
    known = job_constants()
    if name not in known:
        raise unknown_name("constant", name, tuple(known))
    return overrides[name] if overrides and name in overrides else known[name].value


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
        return self.maxtransfersize or 1048576

    def buffers(self, volumes: int = 1) -> int:
        """Buffers in flight, for a database on so many volumes."""
        return self.buffercount or self.devices * SUGGESTED_DEPTH + self.devices + 2 * volumes

    def memory_mb(self, volumes: int = 1) -> float:
        """Buffer memory, outside the buffer pool (MB of 1,048,576 bytes)."""
        sets = READ_SETS if self.compression else 1
        return self.buffers(volumes) * self.transfer_bytes * sets / 1048576


@dataclass(frozen=True)
class Busy:
    """What else the machine does meanwhile: shares from 0 to 1 of processors, data volume and target."""

    cpu: float = number("", 0, 0.99, "busy share of the processors", default=0.0)
    data: float = number("", 0, 0.99, "busy share of the data volume", default=0.0)
    target: float = number("", 0, 0.99, "busy share of the backup target", default=0.0)

    def __post_init__(self) -> None:
        check(self, "load beside the backup")


@dataclass(frozen=True)
class JobRate:
    """Rate of a backup or restore in database bytes, and what it takes.

    ``limits`` holds every limit (MB/s); ``limit`` names the least of them. ``cpu_cores`` is CPU work in cores at the
    machine's clock under load. ``device_mb_s`` is what the backup files take or give.
    """

    rate_mb_s: float
    limit: str
    limits: dict[str, float]
    cpu_cores: float
    device_mb_s: float
    memory_mb: float
    buffers: int = 0
    options: BackupOptions = field(default_factory=BackupOptions)

    def seconds(self, used_gb: float) -> float:
        """Time for ``used_gb`` (1e9 bytes) of used pages."""
        return used_gb * 1e3 / self.rate_mb_s


def backup_rate(
    profile: Profile,
    options: BackupOptions,
    target_mb_s: float = 0.0,
    busy: Busy | None = None,
    volumes: int = 1,
    ratio: float = 0.0,
    overrides: Mapping[str, float] | None = None,
) -> JobRate:
    """Rate of a full backup.

    Parameters
    ----------
    profile : Profile
        Its data volume is read and its processors compress.
    options : BackupOptions
    target_mb_s : float
        What all devices together take (MB/s of backup file); 0 for NUL, which takes anything.
    busy : Busy, optional
        What else the machine does.
    volumes : int
        Volumes the data files lie on (only sets the default of BUFFERCOUNT).
    ratio : float
        Compression ratio of the data; 0 for the calibrated one.
    overrides : dict, optional
        Constants by name.
    """
    busy = busy or Busy()
    limits = {"unit": "MB/s", "low": 0, "high": 1e6, "meaning": "what the backup devices take; 0 for NUL"}
    target_mb_s = _number("target_mb_s", target_mb_s, limits)
    shrink = _ratio(options, ratio, overrides)
    transfer = options.transfer_bytes
    data = profile.data
    read_mb_s = data.devices * data.read_mb_s * (1.0 - busy.data)
    if data.max_mb_s:
        read_mb_s = min(read_mb_s, data.max_mb_s)
    turn_s = job_constant("io_turn_ms", overrides) * 1e-3 * busy.cpu / (1.0 - busy.cpu)
    out_bytes = transfer / shrink
    target_s = out_bytes / (target_mb_s * (1.0 - busy.target) * _MB) if target_mb_s else 0.0
    round_s = data.read_latency_us * 1e-6 + transfer / (read_mb_s * _MB) + turn_s + target_s + turn_s
    return _least(profile, options, busy, volumes, round_s, {"read": read_mb_s}, target_s, turn_s, shrink, 1.0, overrides)


def restore_rate(
    profile: Profile,
    options: BackupOptions,
    source_mb_s: float = 0.0,
    busy: Busy | None = None,
    volumes: int = 1,
    ratio: float = 0.0,
    overrides: Mapping[str, float] | None = None,
) -> JobRate:
    """Rate of a restore: the same round the other way, ending in writes to the data volume. ``source_mb_s`` as the target."""
    busy = busy or Busy()
    limits = {"unit": "MB/s", "low": 0, "high": 1e6, "meaning": "what the backup devices give; 0 for no limit"}
    source_mb_s = _number("source_mb_s", source_mb_s, limits)
    shrink = _ratio(options, ratio, overrides)
    transfer = options.transfer_bytes
    write_mb_s = profile.data.write_bytes_s / _MB * (1.0 - busy.data)
    turn_s = job_constant("io_turn_ms", overrides) * 1e-3 * busy.cpu / (1.0 - busy.cpu)
    source_s = transfer / shrink / (source_mb_s * (1.0 - busy.target) * _MB) if source_mb_s else 0.0
    round_s = source_s + turn_s + profile.data.write_latency_us * 1e-6 + transfer / (write_mb_s * _MB) + turn_s
    gain = job_constant("decompress_gain", overrides)
    return _least(profile, options, busy, volumes, round_s, {"write": write_mb_s}, source_s, turn_s, shrink, gain, overrides)


def _least(
    profile: Profile,
    options: BackupOptions,
    busy: Busy,
    volumes: int,
    round_s: float,
    limits: dict[str, float],
    device_s: float,
    turn_s: float,
    shrink: float,
    gain: float,
    overrides: Mapping[str, float] | None,
) -> JobRate:
    transfer = options.transfer_bytes
    buffers = options.buffers(volumes)
    cpu = profile.cpu
    clock = cpu.ghz * cpu.work_per_clock
    work_s = job_constant("transfer_cpu_us", overrides) * 1e-6
    if options.compression:
        work_s += transfer / (job_constant("compress_mb_s_per_ghz", overrides) * gain * clock * _MB)
    if options.checksum:
        work_s += transfer / (job_constant("checksum_mb_s_per_ghz", overrides) * clock * _MB)
    workers = min(buffers, cpu.threads)
    second = max(0, workers - cpu.cores) / cpu.cores  # share of cores whose second thread works too
    speed = (min(workers, cpu.cores) + cpu.cores * (cpu.ht_yield - 1.0) * second) / workers
    most = cpu.cores * (cpu.ht_yield if cpu.threads > cpu.cores else 1.0)
    turbo = 1.0 + (job_constant("turbo_gain", overrides) - 1.0) * (1.0 - max(busy.cpu, min(1.0, workers / cpu.cores)))
    limits = {
        **limits,
        "processors": most * (1.0 - 0.5 * busy.cpu) * transfer / work_s / _MB if work_s else 1e9,
        "buffers": buffers * transfer / (round_s + work_s / (speed * turbo)) / _MB,
    }
    if device_s > 0.0:
        limits["target"] = min(transfer / device_s, options.devices * transfer / (device_s + turn_s)) / _MB
    limit = min(limits, key=lambda name: limits[name])
    rate = limits[limit]
    return JobRate(
        rate_mb_s=rate,
        limit=limit,
        limits=limits,
        cpu_cores=rate * _MB / transfer * work_s,
        device_mb_s=rate / shrink,
        memory_mb=options.memory_mb(volumes),
        buffers=buffers,
        options=options,
    )


def _ratio(options: BackupOptions, ratio: float, overrides: Mapping[str, float] | None) -> float:
    limits = {"unit": "x", "low": 0, "high": 100, "meaning": "compression ratio; 0 for the calibrated one"}
    given = _number("ratio", ratio, limits)
    if not options.compression:
        return 1.0
    if 0 < given < 1:
        raise UsageError(f"ratio={given:g} must be >= 1 (backup)", "database bytes per byte of backup file")
    return given or job_constant("compression_ratio", overrides)


def _number(name: str, value: float, declared: Mapping[str, object]) -> float:
    from aglab.core.quantity import check_number

    return float(check_number(name, value, declared, "backup"))
