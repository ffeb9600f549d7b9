"""Backup and restore: how fast, what limits it, and what it takes from the machine.

Buffers of MAXTRANSFERSIZE go round: read from the data volume, compressed (if asked), written to the devices. The rate is
the least of: what the data volume reads, what the processors compress, buffers in flight over the time of one round,
and what the target takes times the compression ratio (:func:`aglab.engine.sharing.job_limits`). A device writes one buffer at
a time and waits for a processor after each, so a busy machine slows it. Defaults as documented: 1 MB transfers to disk,
devices * 3 + devices + 2 * volumes buffers; compressed backups need three sets of buffers.

Sources: Microsoft CSS, "How does SQL Server Backup and Restore select transfer sizes"; BACKUP (Transact-SQL). Left out:
differential maps, TDE, striping skew, the virtual device interface. MB are 1,000,000 bytes, KB 1,024.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from aglab.core.errors import unknown_name
from aglab.core.quantity import check, check_number, job_constants, number
from aglab.engine import layout as at
from aglab.engine.layout import Array
from aglab.engine.sharing import NO_LIMIT, job_limits, worker_speed
from aglab.hardware import Profile
from aglab.scenario.jobs import READ_SETS, BackupJob, BackupOptions

__all__ = [
    "READ_SETS",
    "BackupJob",
    "BackupOptions",
    "Busy",
    "JobRate",
    "backup_rate",
    "backup_row",
    "job_constant",
    "rate_of",
    "restore_rate",
]

_MB = 1e6


def job_constant(name: str, overrides: Mapping[str, float] | None = None) -> float:
    """One constant of jobs, unless ``overrides`` gives it."""
    known = job_constants()
    if name not in known:
        raise unknown_name("constant", name, tuple(known))
    return overrides[name] if overrides and name in overrides else known[name].value


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


def backup_row(
    profile: Profile, job: BackupJob, total_bytes: float, volumes: int = 1, overrides: Mapping[str, float] | None = None
) -> Array:
    """A backup or restore as the engine's flat row (``J_*`` of :mod:`aglab.engine.layout`), ready to start.

    Parameters
    ----------
    total_bytes : float
        Database bytes to move, unless the job says how much.
    volumes : int
        Volumes the data files lie on (only sets the default of BUFFERCOUNT).
    """
    volume = profile.log if job.volume == "log" else profile.data
    bandwidth = volume.devices * volume.read_mb_s * _MB
    bandwidth = min(bandwidth, volume.max_mb_s * _MB) if volume.max_mb_s else bandwidth
    clock = profile.cpu.ghz * profile.cpu.work_per_clock
    transfer = job.transfer_bytes
    gain = job_constant("decompress_gain", overrides) if job.restore else 1.0
    work_s = job_constant("transfer_cpu_us", overrides) * 1e-6
    if job.compression:
        work_s += transfer / (job_constant("compress_mb_s_per_ghz", overrides) * gain * clock * _MB)
    if job.checksum:
        work_s += transfer / (job_constant("checksum_mb_s_per_ghz", overrides) * clock * _MB)
    row = np.zeros(at.JOB_SIZE)
    row[at.J_LEFT] = row[at.J_TOTAL] = job.gb * 1e9 or total_bytes
    row[at.J_TRANSFER] = transfer
    row[at.J_BUFFERS] = job.buffers(volumes)
    row[at.J_DEVICES] = job.devices
    row[at.J_OUT] = transfer / _ratio(job, overrides)
    row[at.J_WORK] = work_s
    row[at.J_TARGET] = job.target_mb_s * _MB
    row[at.J_LATENCY] = (volume.write_latency_us if job.restore else volume.read_latency_us) * 1e-6
    row[at.J_BANDWIDTH] = volume.write_bytes_s if job.restore else bandwidth
    row[at.J_TURN] = job_constant("io_turn_ms", overrides) * 1e-3
    row[at.J_TURBO] = job_constant("turbo_gain", overrides)
    row[at.J_QUANTUM] = job_constant("quantum_ms", overrides) * 1e-3
    row[at.J_COPY] = float(job.copy_only)
    row[at.J_KIND] = at.JOB_KINDS.index("restore" if job.restore else "backup")
    row[at.J_READ], row[at.J_WRITE] = (0.0, 1.0) if job.restore else (1.0, 0.0)
    return row


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
    return _rate(profile, _job(options, target_mb_s, ratio, False), busy, volumes, overrides)


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
    return _rate(profile, _job(options, source_mb_s, ratio, True), busy, volumes, overrides)


def _job(options: BackupOptions, target_mb_s: float, ratio: float, restore: bool) -> BackupJob:
    given = {spec.name: getattr(options, spec.name) for spec in dataclasses.fields(BackupOptions)}
    check_number(
        "ratio", ratio, {"unit": "x", "low": 0, "high": 100, "meaning": "compression ratio; 0 for the calibrated one"}, "backup"
    )
    return BackupJob(**given, target_mb_s=target_mb_s, ratio=ratio if options.compression else 0.0, restore=restore)


def _rate(profile: Profile, job: BackupJob, busy: Busy | None, volumes: int, overrides: Mapping[str, float] | None) -> JobRate:
    row = backup_row(profile, job, 1.0, volumes, overrides)
    names = ("write" if job.restore else "read", "processors", "buffers", "target")
    return rate_of(profile, row, busy or Busy(), names, job, volumes)


def rate_of(
    profile: Profile, row: Array, busy: Busy, names: tuple[str, str, str, str], options: BackupOptions, volumes: int = 1
) -> JobRate:
    """Rate of any job's row by its closed form; ``names`` say what volume, processors, buffers and target are to it."""
    cpu = profile.cpu
    speed = worker_speed(row, busy.cpu, cpu.cores, cpu.threads, cpu.ht_yield)
    most = cpu.cores * (cpu.ht_yield if cpu.threads > cpu.cores else 1.0)
    found = job_limits(row, busy.cpu, busy.data, busy.target, most, speed)
    limits = dict(zip(names[:3], found[:3], strict=True))
    if found[3] < NO_LIMIT:
        limits[names[3]] = found[3]
    limits = {name: min(value / _MB, 1e9) for name, value in limits.items()}
    limit = min(limits, key=lambda name: limits[name])
    rate = limits[limit]
    return JobRate(
        rate_mb_s=rate,
        limit=limit,
        limits=limits,
        cpu_cores=rate * _MB / row[at.J_TRANSFER] * row[at.J_WORK],
        device_mb_s=rate * row[at.J_OUT] / row[at.J_TRANSFER],
        memory_mb=options.memory_mb(volumes),
        buffers=options.buffers(volumes),
        options=options,
    )


def _ratio(job: BackupJob, overrides: Mapping[str, float] | None) -> float:
    if not job.compression:
        return 1.0
    return job.ratio or job_constant("compression_ratio", overrides)
