"""Jobs as flat rows (``J_*`` of :mod:`aglab.engine.layout`) and their rate alone or beside a load.

**Index rebuild.** MAXDOP threads share the work of every page (scan, sort, write, log); reading ahead, page writes and log
run beside them, so the slowest of threads, data volume and log sets the pace. Threads get in each other's way: each pair of
them adds its share to the work of a page (latches and spinlocks of allocation and log, lines of memory that go from core to
core), so that more threads are slower in the end. This is the coherency of the universal scalability law, p / (1 + k p (p - 1)).
Pages go to the log as full images unless it is minimally logged. **Integrity check.** The same without writes, log and crosstalk.
**Seeding.** Buffers go round between the primary's data volume, the network and the secondary's data volume; the secondary's
side is a job of its own that the primary's feeds.

Source of the law: Gunther, "A General Theory of Computational Scalability Based on Rational Functions". Left out: skew between
threads, memory grants and sort spills, tempdb, the snapshot of an integrity check, redo of page images on secondaries as page
writes. MB are 1,000,000 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aglab.core.units import KIB, PAGE_BYTES
from aglab.engine import layout as at
from aglab.engine.backup import Busy, JobRate, backup_row, job_constant, rate_of
from aglab.engine.layout import Array
from aglab.hardware import Profile
from aglab.hardware.parts import Volume
from aglab.scenario.jobs import BackupJob, BackupOptions
from aglab.scenario.maintenance import MAXDOP_MOST, IndexRebuild, IntegrityCheck, Job, Seeding

READ_AHEAD = 512 * KIB  # most bytes of one read-ahead
REBUILD_CLOCK = 2.8 * 1.1  # GHz times work per clock of the machine that the rebuild constant was fitted on
LOG_PER_PAGE = 8300.0  # a page image and its record
_MB = 1e6


def job_row(
    profile: Profile, job: Job, total_bytes: float, volumes: int = 1, overrides: Mapping[str, float] | None = None
) -> Array:
    """A job as the engine's flat row, ready to start.

    Parameters
    ----------
    total_bytes : float
        Database bytes there are, unless the job says how much.
    volumes : int
        Volumes the data files lie on (only sets the default of BUFFERCOUNT).
    """
    if isinstance(job, IndexRebuild):
        return _rebuild(profile, job, total_bytes, overrides)
    if isinstance(job, IntegrityCheck):
        return _check(profile, job, total_bytes, overrides)
    if isinstance(job, Seeding):
        return _seeding(profile, job, total_bytes, overrides)
    return backup_row(profile, job, total_bytes, volumes, overrides)


def job_rate(profile: Profile, job: Job, busy: Busy | None = None, overrides: Mapping[str, float] | None = None) -> JobRate:
    """Rate of a job alone on the machine, or beside a load that takes these shares; its limits by name (MB/s of database)."""
    names = {IndexRebuild: ("data volume", "processors", "threads", "log"), IntegrityCheck: ("read", "processors", "threads", "")}
    plain = ("write" if isinstance(job, BackupJob) and job.restore else "read", "processors", "buffers", "target")
    named = names.get(type(job), ("read", "processors", "buffers", "network") if isinstance(job, Seeding) else plain)
    options = job if isinstance(job, BackupOptions) else BackupOptions()
    return rate_of(profile, job_row(profile, job, 1.0, overrides=overrides), busy or Busy(), named, options)


def rebuild_threads(profile: Profile, maxdop: int) -> int:
    """Threads of a rebuild or check: MAXDOP within the machine's cores; 0 is every core up to 64."""
    cores = min(profile.cpu.cores, MAXDOP_MOST)
    return min(maxdop or cores, cores)


def _page_row(kind: str, gb: float, total_bytes: float, threads: int, page_s: float, volume: Volume) -> Array:
    """What rebuild and check share: workers that find their pages read ahead."""
    row = np.zeros(at.JOB_SIZE)
    row[at.J_KIND] = at.JOB_KINDS.index(kind)
    row[at.J_LEFT] = row[at.J_TOTAL] = gb * 1e9 or total_bytes
    row[at.J_TRANSFER] = READ_AHEAD
    row[at.J_BUFFERS] = threads
    row[at.J_DEVICES] = 1.0
    row[at.J_WORK] = page_s * READ_AHEAD / PAGE_BYTES
    row[at.J_LATENCY] = volume.read_latency_us * 1e-6
    row[at.J_TURBO] = 1.0
    row[at.J_AHEAD] = 1.0
    row[at.J_READ] = 1.0
    return row


def _read_bytes_s(volume: Volume) -> float:
    rate = volume.devices * volume.read_mb_s * _MB
    return min(rate, volume.max_mb_s * _MB) if volume.max_mb_s else rate


def _turns(row: Array, overrides: Mapping[str, float] | None) -> None:
    row[at.J_TURN] = job_constant("io_turn_ms", overrides) * 1e-3
    row[at.J_QUANTUM] = job_constant("quantum_ms", overrides) * 1e-3


def _rebuild(profile: Profile, job: IndexRebuild, total_bytes: float, overrides: Mapping[str, float] | None) -> Array:
    clock = profile.cpu.ghz * profile.cpu.work_per_clock
    threads = rebuild_threads(profile, job.maxdop)
    page_s = job_constant("rebuild_us_per_page", overrides) * 1e-6 * REBUILD_CLOCK / clock
    page_s *= 1.0 + job_constant("rebuild_crosstalk", overrides) * threads * (threads - 1)
    row = _page_row("index_rebuild", job.gb, total_bytes, threads, page_s, profile.data)
    _turns(row, overrides)
    row[at.J_READ] = 1.0 - job.cached
    row[at.J_WRITE] = 1.0
    row[at.J_BANDWIDTH] = 1.0 / (row[at.J_READ] / _read_bytes_s(profile.data) + 1.0 / profile.data.write_bytes_s)
    row[at.J_LOG] = LOG_PER_PAGE / PAGE_BYTES if job.logged == "full" else 0.0
    row[at.J_OUT] = row[at.J_LOG] * READ_AHEAD
    row[at.J_TARGET] = profile.log.write_bytes_s if job.logged == "full" else 0.0
    row[at.J_BLOCKS] = float(not job.online)
    row[at.J_KEEPS] = float(not job.resumable)
    row[at.J_RESUMES] = float(job.resumable)
    return row


def _check(profile: Profile, job: IntegrityCheck, total_bytes: float, overrides: Mapping[str, float] | None) -> Array:
    clock = profile.cpu.ghz * profile.cpu.work_per_clock
    name = "check_physical_us_per_page" if job.physical_only else "check_us_per_page"
    page_s = job_constant(name, overrides) * 1e-6 * REBUILD_CLOCK / clock
    row = _page_row("integrity_check", job.gb, total_bytes, rebuild_threads(profile, job.maxdop), page_s, profile.data)
    _turns(row, overrides)
    row[at.J_BANDWIDTH] = _read_bytes_s(profile.data)
    return row


def _seeding(profile: Profile, job: Seeding, total_bytes: float, overrides: Mapping[str, float] | None) -> Array:
    stream = BackupJob(gb=job.gb, compression=job.compression, ratio=job.ratio)
    row = backup_row(profile, stream, total_bytes, 1, overrides)
    packed = row[at.J_TRANSFER] / row[at.J_OUT]
    row[at.J_KIND] = at.JOB_KINDS.index("seeding")
    row[at.J_TARGET] = min(profile.network.connection_bytes_s, profile.data.write_bytes_s / packed)
    row[at.J_LATENCY] += profile.network.rtt_us * 1e-6
    row[at.J_NET] = 1.0 / packed
    return row


def seeding_target_row(profile: Profile, source: Array, node: int, job: Seeding, overrides: Mapping[str, float] | None) -> Array:
    """The secondary's side of seeding: it unpacks and writes what the job ``source`` of ``node`` sends."""
    stream = BackupJob(compression=job.compression, ratio=job.ratio, restore=True)
    row = backup_row(profile, stream, float(source[at.J_TOTAL]), 1, overrides)
    row[at.J_KIND] = at.JOB_KINDS.index("seeding_target")
    row[at.J_TARGET] = 0.0
    row[at.J_SOURCE] = node + 1.0
    return row
