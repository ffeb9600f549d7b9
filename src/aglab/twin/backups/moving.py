"""Virtual time of a backup or restore: beside the load for the simulated database, by the closed form for the small ones.

While it runs, sys.dm_exec_requests shows percent_complete, and STATS prints message 3211 at the times the percentages are
reached. A cancelled or restarted operation ends with error 3204.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from aglab.engine.backup import BackupJob, backup_rate, restore_rate
from aglab.tsql import Session, Wait, error, info

if TYPE_CHECKING:
    from aglab.twin.node import Node

STEP_S = 0.1  # the engine's tick: progress is looked at no more often
LOOK_S = 30.0  # and at least this often, since the load may change
WAIT = "BACKUPIO"


def move(node: Node, session: Session, job: BackupJob, moved: float, main: bool, stats: int) -> Generator[Any, Any, float]:
    """Let ``moved`` database bytes go; returns the seconds they took.

    Parameters
    ----------
    main : bool
        They are the simulated database's: the job shares the machine with the load.
    stats : int
        Percent between messages 3211; 0 for none.
    """
    if main and node.cluster.plant.carries(node.name):
        return (yield from _beside_the_load(node, session, job, moved, stats))
    rate = (restore_rate if job.restore else backup_rate)(node.profile, job, job.target_mb_s).rate_mb_s * 1e6
    seconds = moved / rate
    begun = node.now_s()

    def percent() -> float:
        return 100.0 if seconds <= 0 else min(100.0, 100.0 * (node.now_s() - begun) / seconds)

    def left_s() -> float:
        return max(0.0, begun + seconds - node.now_s())

    session.progress = lambda: (percent(), left_s() * 1e3)
    try:
        for mark in _marks(stats):
            yield Wait("time", begun + seconds * mark / 100.0, wait_type=WAIT)
            if mark < 100 or stats:
                yield info(3211, mark)
    finally:
        session.progress = None
    return seconds


def _marks(stats: int) -> list[int]:
    return [*range(stats, 100, stats), 100] if stats else [100]


def _beside_the_load(node: Node, session: Session, job: BackupJob, moved: float, stats: int) -> Generator[Any, Any, float]:
    plant = node.cluster.plant
    name, volume = node.name, job.volume
    yield from _turn(node, volume)
    plant.change(name, backup={**_table(job), "gb": moved / 1e9})
    flow = plant.flow

    def percent() -> float:
        return plant.job(name, volume).percent

    def left_ms() -> float:
        now = plant.job(name, volume)
        return 1e3 * now.left_bytes / now.rate_bytes_s if now.rate_bytes_s > 0 else 0.0

    session.progress = lambda: (percent(), left_ms())
    try:
        for mark in _marks(stats):
            while True:
                now = plant.job(name, volume)
                if now.total_bytes <= 0.0 or plant.flow is not flow:
                    raise error(3204)
                if now.percent >= mark - 1e-9 or not now.running:
                    break
                ahead = (mark - now.percent) / 100.0 * now.total_bytes
                step = ahead / now.rate_bytes_s if now.rate_bytes_s > 0.0 else STEP_S
                yield Wait("time", node.now_s() + min(LOOK_S, max(STEP_S, step)), wait_type=WAIT)
            if mark < 100 or stats:
                yield info(3211, mark)
        return plant.job(name, volume).elapsed_s
    finally:
        session.progress = None
        if plant.flow is flow and plant.job(name, volume).running:
            plant.stop_job(name, volume)


def _turn(node: Node, volume: str) -> Iterator[Any]:
    """Wait until the volume's last backup has ended."""
    plant = node.cluster.plant
    while plant.job(node.name, volume).running:
        now = plant.job(node.name, volume)
        wait_s = now.left_bytes / now.rate_bytes_s if now.rate_bytes_s > 0.0 else STEP_S
        yield Wait("time", node.now_s() + min(LOOK_S, max(STEP_S, wait_s)), wait_type="BACKUPTHREAD")


def _table(job: BackupJob) -> dict[str, Any]:
    names = (
        "devices",
        "maxtransfersize",
        "buffercount",
        "blocksize",
        "compression",
        "checksum",
        "volume",
        "target_mb_s",
        "restore",
        "copy_only",
    )
    return {name: getattr(job, name) for name in names}
