"""What this machine can run, and what to do where it cannot.

Looks, and changes nothing: Python, driver, loopback ports, memory, disk, where the learner's files lie; Docker in
:mod:`aglab.live.doctor_docker`.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from aglab.core.units import GIB

TWIN_MEMORY_GIB = 1.0
DISK_GIB = 1.0


@dataclass(frozen=True)
class Finding:
    """One thing looked at: ``ok``, what was found, for which modes it matters, and the remedy where it is not ok."""

    what: str
    ok: bool
    found: str
    modes: str = "twin"
    remedy: str = ""


def examine(seat: bool = False) -> dict[str, Any]:
    """Look at this machine.

    Parameters
    ----------
    seat : bool
        Only what a learner's seat needs (the twin), not containers.

    Returns
    -------
    dict
        ``findings`` (list of dicts), ``modes`` {mode: bool}; for a seat the twin's alone.
    """
    findings = list(_twin())
    if not seat:
        from aglab.live.doctor_docker import findings as of_docker

        findings += of_docker()
        findings.append(_servers())
    modes = {mode: all(finding.ok for finding in findings if finding.modes == mode) for mode in ("twin", "docker", "remote")}
    looked_at = ("twin",) if seat else tuple(modes)  # what nobody looked at has no answer
    return {
        "findings": [asdict(finding) for finding in findings],
        "modes": {mode: modes["twin"] and modes[mode] for mode in looked_at},
    }


def _servers() -> Finding:
    """The file that AGLAB_SERVERS names; whether its servers answer is for ``aglab status --mode remote`` to see."""
    from aglab.core.errors import UsageError
    from aglab.live.servers import load_servers

    try:
        found = load_servers()
    except UsageError as error:
        said = str(error).removesuffix(f"; {error.remedy}")
        return Finding("servers of your own", False, said, "remote", error.remedy)
    return Finding("servers of your own", True, ", ".join(server.name for server in found.servers), "remote")


def _twin() -> Iterator[Finding]:
    version = platform.python_version()
    yield Finding("Python", sys.version_info >= (3, 11), version, remedy="install Python 3.11 or later")
    try:
        driver = importlib.metadata.version("mssql-python")
        yield Finding("driver mssql-python", True, driver)
    except importlib.metadata.PackageNotFoundError:
        yield Finding("driver mssql-python", False, "not installed", remedy="pip install mssql-python")
    if sys.platform.startswith("linux"):
        for library, package in (("libltdl.so.7", "libltdl7"), ("libgssapi_krb5.so.2", "libgssapi-krb5-2")):
            try:
                ctypes.CDLL(library)
                yield Finding(f"library {library}", True, "there")
            except OSError:
                yield Finding(f"library {library}", False, "missing", remedy=f"sudo apt-get install -y {package}")
    memory = psutil.virtual_memory().available / GIB
    yield Finding(
        "free memory",
        memory >= TWIN_MEMORY_GIB,
        f"{memory:.1f} GiB",
        remedy=f"close programs: {TWIN_MEMORY_GIB:g} GiB are needed",
    )
    yield _loopback()
    yield _writable("temporary folder", Path(tempfile.gettempdir()))


def _loopback() -> Finding:
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
        return Finding("loopback port", True, "can be opened")
    except OSError as error:
        return Finding("loopback port", False, str(error), remedy="allow programs to listen on 127.0.0.1")


def _writable(what: str, folder: Path) -> Finding:
    if not os.access(folder, os.W_OK):
        return Finding(what, False, f"{folder} cannot be written", remedy="set TMPDIR to a folder that can")
    free = shutil.disk_usage(folder).free / GIB
    return Finding(
        what, free >= DISK_GIB, f"{folder}, {free:.1f} GiB free", remedy=f"free some space: {DISK_GIB:g} GiB are needed"
    )
