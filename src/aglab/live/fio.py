"""One run of fio, the load generator for storage: its arguments, its JSON answer, and its errors in a DBA's words.

fio writes to one file only, in a folder of ours. Durations and sizes are given, so a run is bounded; it is ended when the caller
is interrupted. Source: fio's own documentation (options ``rw``, ``rwmixread``, ``sync``, ``direct``; JSON output in nanoseconds).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError, MissingError

SLACK_S = 60.0  # beyond the runtime: laying out the file, starting, ending
_INSTALL = {
    "linux": "install it: sudo apt-get install fio (Debian, Ubuntu) or sudo dnf install fio (RHEL, Fedora)",
    "darwin": "install it: brew install fio",
    "win32": "install it from the releases page of the fio project and put it on the PATH",
}
_ENGINES = {"linux": "libaio", "win32": "windowsaio"}


@dataclass(frozen=True)
class Job:
    """What one run does.

    Parameters
    ----------
    rw : str
        fio's pattern: randrw, randread, randwrite, read, write.
    block_kb : int
        Block size (KB).
    read_percent : int
        Share of reads of ``randrw`` (%).
    depth : int
        Outstanding requests.
    durable : bool
        Each write is on stable storage before it returns (O_DSYNC), as a log write is.
    """

    rw: str
    block_kb: int
    read_percent: int = 100
    depth: int = 1
    durable: bool = False


@dataclass(frozen=True)
class Answer:
    """Rates (1/s, B/s) and mean latencies (us; 0 where nothing of the kind ran)."""

    read_iops: float
    write_iops: float
    read_us: float
    write_us: float
    read_bytes_s: float
    write_bytes_s: float

    @property
    def iops(self) -> float:
        """Reads and writes together."""
        return self.read_iops + self.write_iops


def fio_path() -> str:
    """Where fio lies.

    Raises
    ------
    MissingError
        It is not installed; the remedy is the system's way to install it.
    """
    found = shutil.which("fio")
    if found is None:
        raise MissingError("fio, which measures storage, is not installed", _INSTALL.get(sys.platform, "install fio"))
    return found


class Fio:
    """fio on one file.

    Parameters
    ----------
    path : str
        The program.
    file : Path
        The file it writes; made by the first run.
    size_bytes : int
        Size of the file.
    runtime_s : float
        Length of each run.
    direct : bool
        Past the system's cache (O_DIRECT); a memory file system may not offer that.
    """

    def __init__(self, path: str, file: Path, size_bytes: int, runtime_s: float, direct: bool = True) -> None:
        self.path, self.file, self.size_bytes, self.runtime_s, self.direct = path, file, size_bytes, runtime_s, direct

    def arguments(self, job: Job) -> list[str]:
        """The command line of a run."""
        engine = "psync" if job.durable else _ENGINES.get(sys.platform, "posixaio")
        # A colon separates files for fio; the drive letter of Windows has one.
        file = str(self.file).replace(":", "\\:")
        words = [self.path, "--name=aglab", f"--filename={file}", f"--size={self.size_bytes}", f"--rw={job.rw}"]
        words += [f"--bs={job.block_kb}k", f"--iodepth={job.depth}", f"--ioengine={engine}", f"--direct={int(self.direct)}"]
        words += [f"--rwmixread={job.read_percent}"] if job.rw == "randrw" else []
        words += ["--sync=dsync"] if job.durable else []
        return [*words, "--time_based", f"--runtime={round(1000 * self.runtime_s)}ms", "--randrepeat=1", "--output-format=json"]

    def run(self, job: Job) -> Answer:
        """Run one job.

        Raises
        ------
        MissingError
            No space, no permission, or O_DIRECT is not to be had there.
        AglabError
            fio failed, did not end in time, or answered something else than its JSON.
        """
        limit_s = self.runtime_s + SLACK_S
        try:
            done = subprocess.run(self.arguments(job), capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired as error:
            raise AglabError(
                f"fio did not end within {limit_s:.0f} s ({job.rw}, {job.block_kb} KB)", "the storage hangs, or is very slow"
            ) from error
        except OSError as error:
            raise MissingError(f"fio could not be started: {error.strerror or error}", "install fio anew") from error
        return self._answer(done.stdout, done.stderr, done.returncode)

    def _answer(self, out: str, err: str, code: int) -> Answer:
        said = " ".join((err.strip() or out.strip()[:400]).split()) or "nothing"
        lowered = said.lower()
        if "no space left" in lowered:
            raise MissingError(f"there is no space left in {self.file.parent}", "free some, or use --folder")
        if "permission denied" in lowered or "read-only file system" in lowered:
            raise MissingError(f"{self.file.parent} cannot be written", "measure another folder with --folder")
        if self.direct and code != 0 and ("invalid argument" in lowered or "direct" in lowered):
            raise NoDirect(f"{self.file.parent} does not offer direct I/O", "measure a folder on a disk with --folder")
        start = out.find("{")  # fio may print a note before its JSON
        try:
            found = json.loads(out[start:]) if start >= 0 else None
            job = found["jobs"][0] if isinstance(found, dict) else None
            answer = _read(job) if isinstance(job, dict) and not job.get("error") and code == 0 else None
        except (ValueError, KeyError, IndexError, TypeError):
            answer = None
        if answer is None:
            raise AglabError(f"fio failed (exit code {code}): {said[:300]}", "check `fio --version`: 3.26 or later is needed")
        return answer


class NoDirect(MissingError):
    """The file system does not take O_DIRECT."""


def _read(job: dict[str, Any]) -> Answer:
    read, write = job["read"], job["write"]

    def mean_us(side: dict[str, Any]) -> float:
        return float(side["lat_ns"]["mean"]) / 1e3 if side["total_ios"] else 0.0

    def bytes_s(side: dict[str, Any]) -> float:
        return float(side["bw_bytes"])

    return Answer(float(read["iops"]), float(write["iops"]), mean_us(read), mean_us(write), bytes_s(read), bytes_s(write))
