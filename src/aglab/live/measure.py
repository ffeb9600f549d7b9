"""Measure this machine: the storage matrix of the EqualLogic paper with fio, log writes, processor, loopback.

The paper drives its array with blocks of 8 to 64 KB and 60 to 100 % reads, and raises the queue depth until the average of
reads or of writes, each by itself, passes 20 ms; the last depth below is the result. Log writes are 60 KB, the largest log block,
one at a time and durable; the same in memory shows what the storage adds. Everything is bounded: seconds per run, size of the
file, depth.

Left out: several volumes at once, a warm-up to steady state of SSDs (a fresh file flatters them), network between machines.
"""

from __future__ import annotations

import shutil
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from aglab.core.errors import MissingError, UsageError
from aglab.core.progress import Progress, no_progress
from aglab.core.units import MIB
from aglab.live.fio import Answer, Fio, Job, NoDirect, fio_path

BLOCKS_KB = (8, 16, 32, 64)
READ_PERCENTS = (100, 90, 80, 70, 60)
LATENCY_US_MAX = 20_000.0
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
LOG_BLOCK_KB = 60
FILE_BYTES = 512 * MIB
MEMORY_BYTES = 64 * MIB
FREE_SHARE = 0.25  # of the free space, at most
RTT_ROUNDS = 2000
MEMORY_KINDS = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Point:
    """One cell of the matrix: the deepest queue whose reads and writes both stay within 20 ms."""

    block_kb: int
    read_percent: int
    depth: int
    answer: Answer
    limited: bool  # the 20 ms ended the ramp, not the deepest queue


@dataclass
class Measured:
    """What was found; ``notes`` says what could not be measured and why."""

    folder: str
    matrix: list[Point] = field(default_factory=list)
    single_read: Answer | None = None
    single_write: Answer | None = None
    deep_write: Answer | None = None
    stream_read: Answer | None = None
    stream_write: Answer | None = None
    log_disk: Answer | None = None
    log_memory: Answer | None = None
    rtt_us: float = 0.0
    cores: int = 1
    threads: int = 1
    ghz: float = 0.0
    memory_mb: float = 0.0
    capacity_gb: float = 0.0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


def measure(
    folder: Path, runtime_s: float = 1.0, quick: bool = False, progress: Progress = no_progress, file_bytes: int = FILE_BYTES
) -> Measured:
    """Measure the storage behind ``folder``, and this machine.

    Parameters
    ----------
    folder : Path
        A hidden folder is made in it and removed again, whatever happens.
    runtime_s : float
        Length of each run of fio (s).
    quick : bool
        Two block sizes and two mixes instead of four and five.
    file_bytes : int
        Size of the file, at most a quarter of the free space.

    Raises
    ------
    UsageError
        ``folder`` is no folder.
    MissingError
        No fio, no permission, too little space.
    """
    program = fio_path()
    if not folder.is_dir():
        raise UsageError(f"--folder {str(folder)!r} is not a folder", "name one on the storage to measure")
    begin = time.monotonic()
    usage = shutil.disk_usage(folder)
    size = int(min(file_bytes, FREE_SHARE * usage.free)) // MIB * MIB
    if size < 16 * MIB:
        raise MissingError(f"{folder} has {usage.free / MIB:.0f} MiB free, 64 MiB are needed", "free some, or use --folder")
    found = Measured(str(folder), capacity_gb=usage.total / 1e9)
    blocks, mixes = ((8, 64), (100, 70)) if quick else (BLOCKS_KB, READ_PERCENTS)
    total = len(blocks) * len(mixes) + 5
    done = 0

    def step(label: str) -> None:
        nonlocal done
        progress(done, total, label)
        done += 1

    _machine(found)
    with _work_folder(folder) as work:
        fio = Fio(program, work / "aglab.bin", size, runtime_s)
        step("8 KB, one at a time")
        fio, found.single_read = _first(fio, found)
        found.single_write = fio.run(Job("randwrite", 8))
        found.deep_write = fio.run(Job("randwrite", 8, depth=32))
        step("1 MB in a row")
        found.stream_read = fio.run(Job("read", 1024, depth=8))
        found.stream_write = fio.run(Job("write", 1024, depth=8))
        for block in blocks:
            for percent in mixes:
                step(f"{block} KB, {percent} % reads")
                found.matrix.append(_ramp(fio, block, percent))
        step("log writes, 60 KB, durable")
        found.log_disk = fio.run(Job("write", LOG_BLOCK_KB, durable=True))
    step("log writes in memory")
    found.log_memory = _log_in_memory(program, runtime_s, found)
    step("loopback")
    found.rtt_us = loopback_rtt_us()
    progress(total, total, "measured")
    found.seconds = round(time.monotonic() - begin, 1)
    return found


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """A folder of ours, gone at the end, also after an error or Ctrl-C."""
    try:
        work = Path(tempfile.mkdtemp(prefix=".aglab-measure-", dir=folder))
    except OSError as error:
        raise MissingError(
            f"{folder} cannot be written ({error.strerror or error})", "measure another folder with --folder"
        ) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _first(fio: Fio, found: Measured) -> tuple[Fio, Answer]:
    """The first run shows whether the folder offers direct I/O; without it the cache is measured, and the notes say so."""
    job = Job("randread", 8)
    try:
        return fio, fio.run(job)
    except NoDirect:
        found.notes.append("the folder offers no direct I/O: the system's cache was measured, not the storage")
        cached = Fio(fio.path, fio.file, fio.size_bytes, fio.runtime_s, direct=False)
        return cached, cached.run(job)


def _ramp(fio: Fio, block_kb: int, read_percent: int) -> Point:
    """Deeper and deeper until reads or writes take more than 20 ms, or more depth brings nothing for two steps."""
    rw = "randread" if read_percent == 100 else "randrw"
    best: Point | None = None
    idle = 0
    for depth in DEPTHS:
        answer = fio.run(Job(rw, block_kb, read_percent, depth))
        if max(answer.read_us, answer.write_us) > LATENCY_US_MAX and best is not None:
            return Point(best.block_kb, best.read_percent, best.depth, best.answer, True)
        gained = best is None or answer.iops > 1.03 * best.answer.iops
        idle = 0 if gained else idle + 1
        if best is None or answer.iops > best.answer.iops:
            over = max(answer.read_us, answer.write_us) > LATENCY_US_MAX
            best = Point(block_kb, read_percent, depth, answer, over)
        if idle == 2:
            break
    assert best is not None
    return best


def memory_folder() -> Path | None:
    """A file system in memory that can be written, or None."""
    for part in psutil.disk_partitions(all=True):
        place = Path(part.mountpoint)
        if part.fstype in MEMORY_KINDS and "shm" in place.name and place.is_dir():
            try:
                if shutil.disk_usage(place).free > 2 * MEMORY_BYTES:
                    return place
            except OSError:
                continue
    return None


def _log_in_memory(program: str, runtime_s: float, found: Measured) -> Answer | None:
    place = memory_folder()
    if place is None:
        found.notes.append("log writes in memory were not measured: there is no file system in memory with room")
        return None
    try:
        with _work_folder(place) as work:
            fio = Fio(program, work / "aglab.bin", MEMORY_BYTES, runtime_s, direct=False)
            return fio.run(Job("write", LOG_BLOCK_KB, durable=True))
    except MissingError as error:
        found.notes.append(f"log writes in memory were not measured: {error.message}")
        return None


def _machine(found: Measured) -> None:
    found.cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    found.threads = max(psutil.cpu_count() or 1, found.cores)
    try:
        clock = psutil.cpu_freq()
    except (OSError, NotImplementedError, RuntimeError):
        clock = None
    found.ghz = round((clock.max or clock.current) / 1000.0, 2) if clock else 0.0
    if not found.ghz:
        found.notes.append("the processor's clock is not told by this system: 2.5 GHz are assumed")
    found.memory_mb = psutil.virtual_memory().total / MIB


def loopback_rtt_us(rounds: int = RTT_ROUNDS) -> float:
    """Median round trip of 64 bytes over TCP on 127.0.0.1 (us)."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(10)

    def echo() -> None:
        peer, _ = server.accept()
        with peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := peer.recv(64):
                peer.sendall(data)

    thread = threading.Thread(target=echo, daemon=True)
    thread.start()
    times = []
    try:
        with socket.create_connection(server.getsockname(), timeout=10) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(rounds):
                start = time.perf_counter()
                client.sendall(b"x" * 64)
                left = 64
                while left:
                    left -= len(client.recv(left))
                times.append(time.perf_counter() - start)
    finally:
        thread.join(timeout=10)
        server.close()
    return round(1e6 * statistics.median(times), 1)


__all__ = ["Measured", "Point", "loopback_rtt_us", "measure", "memory_folder"]
