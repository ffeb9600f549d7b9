"""Rows of backups and sockets: papers 003 and 000.

Backup rates come from :mod:`aglab.engine.backup`; durations from 375 GB of used pages, which is what every row of the paper
multiplies to. What a backup takes from the OLTP load: the load is given its published rate before the backup at the
published 80 % CPU (its other demands are those of the transaction mix, scaled by that CPU), then the backup runs beside it
(:mod:`aglab.engine.sharing`). No constant was fitted to the rates during a backup; the waits for a scheduler and for the data
volume were added after the first comparison had shown that processor time alone explains half of the loss, and how a new request
meets a busy scheduler was changed once more with the rows in sight. Used pages of
paper 000 are not printed: the fast backup tells them, the tuned one is predicted.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping

from aglab.engine import steady
from aglab.engine.backup import BackupJob, BackupOptions, Busy, JobRate, backup_rate, job_constant
from aglab.engine.sockets import local_memory_gain, socket_scaling
from aglab.hardware import Profile
from aglab.published.rows_read import published_value
from aglab.scenario import Scenario

USED_GB = 375.0
LOAD_CPU = 0.8
OPTIONS = {
    "default": BackupOptions(),
    "compress": BackupOptions(compression=True),
    "switches": BackupOptions(compression=True, maxtransfersize=4194304, buffercount=300, blocksize="65536"),
}
AGGRESSIVE = BackupOptions(devices=8, maxtransfersize=4194304, buffercount=256, compression=True, checksum=True)
TUNED = BackupOptions(devices=4, maxtransfersize=65536, buffercount=64, compression=True, checksum=True)
FAST_S = 119.0
_STEPS = 60


def machine(sockets: int) -> Profile:
    """The paper's server with two or four sockets."""
    return Profile.load(f"hpe-dl560-gen10-{sockets}p")


def rate(sockets: int, case: str, loaded: bool, overrides: Mapping[str, float] | None = None) -> JobRate:
    """One row of Table 10 (idle) or 12 (loaded)."""
    busy = Busy(cpu=LOAD_CPU if loaded else 0.0)
    target = job_constant("backup_target_mb_s", overrides)
    return backup_rate(machine(sockets), OPTIONS[case], target, busy, overrides=overrides)


def load_of(profile: Profile, before_s: float, busy: float = LOAD_CPU, here: float = 1.0) -> Scenario:
    """A load that runs at ``before_s`` requests/s and takes a share ``busy`` of the processors.

    The transaction mix, each demand times what the CPU says; ``here`` is the share of its data I/O that meets the profile's
    volume. What is left of a request's time (client, locks) is think time.
    """
    cpu = profile.cpu
    base = Scenario.default(profile, 1)
    cpu_us = (busy * cpu.cores * cpu.speed - base.constant("base_cpu_cores")) / before_s * 1e6
    job = base.workload
    heavier = cpu_us / job.cpu_us
    base = base.with_settings(
        {
            "cpu_us": cpu_us,
            "cold_touches_per_tx": job.cold_touches_per_tx * heavier * here,
            "page_touches_per_tx": job.page_touches_per_tx * heavier * here,
            "log_bytes_per_tx": job.log_bytes_per_tx * heavier,
        }
    )
    low, high = 0.0, base.settings.users / before_s * 1e6
    for _ in range(_STEPS):
        think_us = 0.5 * (low + high)
        if steady(base.with_settings(think_us=think_us)).throughput_s > before_s:
            low = think_us
        else:
            high = think_us
    return base.with_settings(think_us=low)


def oltp_during(profile: Profile, before_s: float, job: BackupJob) -> float:
    """Requests/s of that load while a backup shares its machine."""
    return steady(load_of(profile, before_s), job=job).throughput_s


def backup_job(case: str) -> BackupJob:
    """The backup of one row of Tables 10 to 12."""
    return BackupJob(**dataclasses.asdict(OPTIONS[case]), target_mb_s=job_constant("backup_target_mb_s"))


@functools.cache
def during(sockets: int, case: str) -> tuple[float, float]:
    """Requests/s before and during one row of Table 11."""
    before = published_value(f"dl560-t11-{sockets}s-{case}-before")
    return before, oltp_during(machine(sockets), before, backup_job(case))


def tuned_s() -> float:
    """Duration of the tuned backup of paper 000, with the data the fast one tells."""
    profile = Profile.load("hpe-dl380-gen9-ssd")
    return FAST_S * backup_rate(profile, AGGRESSIVE).rate_mb_s / backup_rate(profile, TUNED).rate_mb_s


def _rows() -> dict[str, Callable[[], float]]:
    rows: dict[str, Callable[[], float]] = {}
    for sockets in (2, 4):
        for table, loaded in (("t10", False), ("t12", True)):
            for case in OPTIONS:
                name = f"dl560-{table}-{sockets}s-{case}"

                def mbps(sockets: int = sockets, case: str = case, loaded: bool = loaded) -> float:
                    return rate(sockets, case, loaded).rate_mb_s

                def gain(mbps: Callable[..., float] = mbps) -> float:
                    return 100.0 * (mbps() / mbps(case="default") - 1.0)

                def longer(mbps: Callable[..., float] = mbps) -> float:
                    return 100.0 * (mbps(case="default") / mbps() - 1.0)

                rows[f"{name}-mbps"] = mbps
                rows[f"{name}-duration"] = lambda mbps=mbps: USED_GB * 1e3 / mbps()  # type: ignore[misc]
                rows[f"{name}-mbps-pct"] = gain
                rows[f"{name}-duration-pct"] = longer
        for case in OPTIONS:
            name = f"dl560-t11-{sockets}s-{case}"
            rows[f"{name}-during"] = lambda s=sockets, c=case: during(s, c)[1]  # type: ignore[misc]
            rows[f"{name}-pct"] = lambda s=sockets, c=case: _change(*during(s, c))  # type: ignore[misc]
    return rows


def _change(before: float, after: float) -> float:
    return 100.0 * (after / before - 1.0)


def _speedup(loaded: bool) -> float:
    return rate(2, "switches", loaded).rate_mb_s / rate(2, "default", loaded).rate_mb_s


COMPUTED: dict[str, Callable[[], float]] = {
    **_rows(),
    "dl560-bk-noload-speedup": lambda: _speedup(False),
    "dl560-bk-load-speedup": lambda: _speedup(True),
    "dl560-bk-load-impact-min": lambda: _change(*during(4, "switches")),
    "dl560-bk-load-impact-max": lambda: _change(*during(2, "switches")),
    "dl560-scale-4s": lambda: 25000.0 * socket_scaling(2, 4),
    "dl560-scale-gain": lambda: 100.0 * (socket_scaling(2, 4) - 1.0),
    "dl560-scale-gain-fig6": lambda: 100.0 * (socket_scaling(2, 4) - 1.0),
    "dl560-rg-gain-2s": lambda: 100.0 * (local_memory_gain(2) - 1.0),
    "dl560-rg-gain-4s": lambda: 100.0 * (local_memory_gain(4) - 1.0),
    "hpe380-bk-tuned-duration": tuned_s,
}
