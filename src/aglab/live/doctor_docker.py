"""What the containers of mode docker need: engine, Compose, processor, memory, disk, ports, image; and which limits work here.

Only looks. Throttling, delay and tmpfs are properties of the kernel that runs the containers: where that is this machine's own
they are probed, on Docker Desktop the findings say that only a start can tell.
"""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError
from aglab.core.paths import bundle_path
from aglab.core.units import GIB
from aglab.live.choices import Choices
from aglab.live.doctor import Finding
from aglab.live.engine import Docker
from aglab.live.project import Project

MEMORY_GIB = 8.0
DISK_GIB = 10.0
X86 = ("x86_64", "amd64")
TMPFS_DIRECT_KERNEL = (6, 6)
PROC_CONFIG = Path("/proc/config.gz")


def findings(home: Path | None = None) -> Iterator[Finding]:
    """One finding after the other; what is needed first, then what is good to know (mode ``limits``)."""
    try:
        docker = Docker()
        info = docker.engine()
    except AglabError as error:
        yield Finding("Docker Engine", False, error.message, "docker", error.remedy)
        return
    yield Finding("Docker Engine", True, f"{info.get('ServerVersion', '?')}, {info.get('OperatingSystem', '?')}", "docker")
    try:
        yield Finding("Docker Compose", True, docker.compose_version(), "docker")
    except AglabError as error:
        yield Finding("Docker Compose", False, error.message, "docker", error.remedy)
        return
    architecture = str(info.get("Architecture", platform.machine()))
    yield Finding(
        "processor",
        architecture.lower() in X86,
        architecture,
        "docker",
        "SQL Server has no image for it: use the twin. Docker Desktop on Apple Silicon can emulate x86-64, slowly",
    )
    memory = float(info.get("MemTotal", 0)) / GIB
    yield Finding(
        "memory for three servers", memory >= MEMORY_GIB, f"{memory:.1f} GiB", "docker", f"Docker needs {MEMORY_GIB:g} GiB"
    )
    yield _disk(info)
    project = Project(bundle_path("docker"), home or Path(tempfile.gettempdir()), Choices.of_environment(), docker)
    running = project.states()
    yield from _ports(project, bool(running))
    yield _image(project)
    yield from _limits(info, project.is_twin)


def _disk(info: dict[str, Any]) -> Finding:
    root = Path(str(info.get("DockerRootDir", "/var/lib/docker")))
    if not root.is_dir():
        return Finding("disk for databases", True, "in Docker's own virtual machine: not seen from here", "docker")
    free = shutil.disk_usage(root).free / GIB
    return Finding(
        "disk for databases", free >= DISK_GIB, f"{free:.0f} GiB free", "docker", f"free some: {DISK_GIB:g} GiB are needed"
    )


def _ports(project: Project, running: bool) -> Iterator[Finding]:
    taken = [str(project.port(node)) for node in project.ports_taken()]
    if running:
        yield Finding("ports", True, "in use by the containers of aglab", "docker")
    else:
        found = f"{', '.join(taken)} taken" if taken else f"{project.port('sql1')} to {project.port('sql3')} are free"
        yield Finding("ports", not taken, found, "docker", "choose others with --port-base N")


def _image(project: Project) -> Finding:
    name = project.sql_image
    here = project.docker.image(name)
    if here is None:
        return Finding("image", True, f"{name} is not here yet; aglab up fetches it (about 1.6 GB)", "docker")
    twin = ", the aglab twin and not SQL Server" if project.is_twin else ""
    return Finding("image", True, f"{name} is here{twin}", "docker")


def _limits(info: dict[str, Any], is_twin: bool) -> Iterator[Finding]:
    """Limited hardware, for mode ``limits``: nothing here keeps the containers from running."""
    kernel = str(info.get("KernelVersion", ""))
    own = sys.platform.startswith("linux") and platform.release() == kernel
    told = set(info.get("Warnings") or [])
    throttled = not any("blkio throttle" in one for one in told) and "microsoft" not in kernel.lower()
    yield Finding(
        "limit blkio", throttled, "the kernel throttles devices" if throttled else "no", "limits", "use fewer users instead"
    )
    yield Finding("limit delay", True, "the twin's nodes delay their own network", "limits") if is_twin else _netem(own)
    direct = kernel_at_least(kernel, TMPFS_DIRECT_KERNEL)
    found = f"Linux {kernel}" + ("" if direct else ": tmpfs without O_DIRECT")
    yield Finding("limit log_in_memory", direct, found, "limits", "Linux 6.6 or later")


def kernel_at_least(release: str, wanted: tuple[int, int]) -> bool:
    """Whether a kernel's release is at least ``wanted``.

    >>> kernel_at_least("6.18.4-x", (6, 6)), kernel_at_least("5.15.0", (6, 6)), kernel_at_least("?", (6, 6))
    (True, False, False)
    """
    numbers = release.split(".")[:2]
    return all(one.isdigit() for one in numbers) and len(numbers) == 2 and tuple(map(int, numbers)) >= wanted


def _netem(own: bool) -> Finding:
    remedy = "modprobe sch_netem on the Docker host, or a kernel that has it"
    if not own:
        return Finding("limit delay", True, "the kernel is not this machine's: aglab up --limit delay tells", "limits")
    if (Path("/sys/module/sch_netem")).exists():
        return Finding("limit delay", True, "netem is loaded", "limits")
    found = any((Path("/lib/modules") / platform.release()).glob("kernel/net/sched/sch_netem.ko*"))
    if not found and PROC_CONFIG.exists():
        import gzip

        found = b"CONFIG_NET_SCH_NETEM=y" in gzip.decompress(PROC_CONFIG.read_bytes())
    return Finding("limit delay", found, "netem is there" if found else "this kernel has no netem", "limits", remedy)
