"""A hardware profile from what was measured: the file that ``--profile``, ``aglab simulate`` and the twin take.

Measured values carry the tag ``measured``, the rest ``assumed`` with the reason: work per clock beside another machine, and a
network between replicas, cannot be seen from one machine.
"""

from __future__ import annotations

import json

from aglab.live.measure import LATENCY_US_MAX, LOG_BLOCK_KB, Answer, Measured

GHZ_ASSUMED = 2.5
BANDWIDTH_GBIT_S = 10


def profile_text(found: Measured, title: str) -> str:
    """The profile as TOML.

    Raises
    ------
    ValueError
        The measurement is not complete.
    """
    parts = [found.single_read, found.single_write, found.deep_write, found.stream_read, found.stream_write, found.log_disk]
    if not found.matrix or None in parts:
        raise ValueError("the measurement is not complete")
    lines = [
        f"# Written by `aglab profile measure` in {found.seconds:g} s. Change what you know better: a data sheet, your network."
    ]
    lines += [f"# {note}" for note in found.notes]
    lines += [f"title = {json.dumps(title)}"]
    for section, values in _sections(found).items():
        lines += ["", f"[{section}]"]
        width = max(len(key) for key in values)
        for key, (value, tag, source) in values.items():
            lines.append(
                f"{key:{width}} = {{ value = {json.dumps(value)}, tag = {json.dumps(tag)}, source = {json.dumps(source)} }}"
            )
    return "\n".join(lines) + "\n"


def _sections(found: Measured) -> dict[str, dict[str, tuple[object, str, str]]]:
    told = ("measured", "told by the operating system")
    memory = max(512.0, round(found.memory_mb))
    threads = 2 if found.threads > found.cores else 1
    clock = (found.ghz, *told) if found.ghz else (GHZ_ASSUMED, "assumed", "the operating system does not tell it")
    return {
        "cpu": {
            "sockets": (1, "assumed", "counted as one package"),
            "cores_per_socket": (min(found.cores, 256), *told),
            "threads_per_core": (threads, *told),
            "ghz": clock,
            "work_per_clock": (1.0, "assumed", "not measured: work per clock beside a Broadwell core"),
        },
        "memory": {
            "installed_mb": (memory, *told),
            "max_server_memory_mb": (max(256.0, memory / 2), "assumed", "half of it, the rest for the system"),
        },
        "data": _volume(found, found.single_write, "fio: 8 KB random write, one at a time"),
        "log": _volume(found, found.log_disk, f"fio: {LOG_BLOCK_KB} KB write, O_DSYNC, one at a time"),
        "network": {
            "bandwidth_gbit_s": (BANDWIDTH_GBIT_S, "assumed", "a virtual switch; one machine has no network between replicas"),
            "rtt_us": (found.rtt_us, "measured", "64 bytes over TCP on loopback, median"),
        },
        "suggested": {
            "warehouses": (max(1, round(found.memory_mb / 2 / 100)), "assumed", "the database fits memory three times over"),
            "users": (max(1, round(1.5 * found.threads)), "assumed", "1.5 per logical processor"),
        },
    }


def _volume(found: Measured, write: Answer | None, how: str) -> dict[str, tuple[object, str, str]]:
    reads = [point for point in found.matrix if point.block_kb == 8 and point.read_percent == 100]
    best = max(reads or found.matrix, key=lambda point: point.answer.iops)
    assert write and found.single_read and found.deep_write and found.stream_read and found.stream_write
    limit = f"fio: 8 KB random read, {best.depth} outstanding, within {LATENCY_US_MAX / 1000:g} ms"
    return {
        "devices": (1, "assumed", "what is behind the folder counts as one device"),
        "raid": ("0", "assumed", "what is behind the folder counts as one device"),
        "read_iops": (_round(best.answer.iops), "measured", limit),
        "write_iops": (_round(found.deep_write.write_iops), "measured", "fio: 8 KB random write, 32 outstanding"),
        "read_mb_s": (_round(found.stream_read.read_bytes_s / 1e6), "measured", "fio: 1 MB in a row, 8 outstanding"),
        "write_mb_s": (_round(found.stream_write.write_bytes_s / 1e6), "measured", "fio: 1 MB in a row, 8 outstanding"),
        "read_latency_us": (_round(found.single_read.read_us), "measured", "fio: 8 KB random read, one at a time"),
        "write_latency_us": (_round(write.write_us), "measured", how),
        "capacity_gb": (max(0.1, round(found.capacity_gb, 1)), "measured", "told by the operating system"),
    }


def _round(value: float) -> float:
    """Four digits say more than one short run can."""
    return float(f"{max(value, 1.0):.4g}")
