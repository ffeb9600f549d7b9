"""Limited hardware, looked at after the start: which limits are in force, and which are not possible on this machine.

An overlay says what should be; this module reads back what is, from Docker, from the container's cgroup or from its mounts. A
limit that the engine took without a word and dropped is found this way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from aglab.core.errors import AglabError
from aglab.live.causes import telling_lines
from aglab.live.project import Project

NODE = "sql1"  # every overlay limits all nodes alike
WRITE_PROBE = "dd if=/dev/zero of={0}/aglab-probe bs=64k count=16 oflag=direct 2>&1; e=$?; rm -f {0}/aglab-probe; exit $e"
LOG_FOLDER = "/var/opt/mssql-log"


@dataclass(frozen=True)
class Limit:
    """One limit: its overlay, whether it is in force, and what was read back."""

    name: str
    applied: bool
    found: str


def read_back(project: Project) -> list[Limit]:
    """Every limit that was asked for, as it is now; those of the network are set here."""
    limits = []
    for name in project.choices.overlays:
        look = _LOOKS.get(name)
        try:
            limits.append(look(project) if look else Limit(name, False, "nothing is known about reading it back"))
        except AglabError as error:
            limits.append(Limit(name, False, f"not possible here: {error}"))
        except ValueError as error:  # an engine that answers in words of its own
            limits.append(Limit(name, False, f"what Docker answers cannot be read: {error}"))
    return limits


def _inspect(project: Project, template: str) -> str:
    return project.docker.ask("inspect", "--format", template, project.container(NODE), where=f"looking at {NODE}").strip()


def _inside(project: Project, command: str) -> str:
    words = ["exec", "--user", "0", project.container(NODE), "/bin/sh", "-c", command]
    return project.docker.ask(*words, where=f"looking into {NODE}").strip()


def _cpu(project: Project) -> Limit:
    nano, cpus = _inspect(project, "{{.HostConfig.NanoCpus}} {{.HostConfig.CpusetCpus}}|").rstrip("|").split(" ", 1)
    quota = int(nano) / 1e9
    visible = _inside(project, "nproc")
    found = f"{quota:g} processors by quota" if quota else "no quota"
    return Limit("cpu", bool(quota or cpus), f"{found}, cpuset {cpus or 'all'}, {visible} visible inside")


def _memory(project: Project) -> Limit:
    asked = int(_inspect(project, "{{.HostConfig.Memory}}"))
    held = _inside(project, "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null | head -1")
    return Limit("memory", held == str(asked), f"{asked / 2**20:,.0f} MiB asked for, {_mib(held)} in the cgroup")


def _mib(text: str) -> str:
    return f"{int(text) / 2**20:,.0f} MiB" if text.isdigit() else text or "nothing"


def _blkio(project: Project) -> Limit:
    folder = "/sys/fs/cgroup/blkio/blkio.throttle"  # version 1: a file for each; version 2: one line of io.max
    files = [f"{folder}.{way}_{kind}_device" for way in ("read", "write") for kind in ("bps", "iops")]
    held = " ".join(_inside(project, f"cat /sys/fs/cgroup/io.max {' '.join(files)} 2>/dev/null; true").split())
    wanted = {key: one for key, one in project.choices.variables.items() if key.endswith(("_BPS", "_IOPS")) and one.isdigit()}
    lost = [f"{key}={value}" for key, value in wanted.items() if not re.search(rf"(?<!\d){value}(?!\d)", held)]
    if lost:
        return Limit("blkio", False, f"dropped on the way: {', '.join(lost)}; the kernel holds {held or 'no limit'}")
    return Limit("blkio", bool(re.search(r"\d+:\d+ .*\d", held)), held or "the kernel holds no limit: it was dropped on the way")


def _queue(name: str, word: str) -> Callable[[Project], Limit]:
    def look(project: Project) -> Limit:
        services = [f"{name}{number}" for number in (1, 2, 3)]  # beside the nodes; each sets its limit and ends
        project.docker.ask(*project.compose("up", "--no-deps", *services), timeout_s=180.0, where=f"limit {name}")
        log = project.logs(f"{name}1")
        line = next((one for one in log.splitlines() if re.search(rf"qdisc ({word})\b", one)), "").strip()
        missing = next((one.strip() for one in log.splitlines() if "not possible here" in one), "")
        said = "; ".join(one for one in (line, missing) if one)
        return Limit(name, bool(line), said or " ".join(telling_lines(log, 1)) or "its service said nothing")

    return look


def _log_in_memory(project: Project) -> Limit:
    mounted = _inside(project, f"grep ' {LOG_FOLDER} ' /proc/mounts || true")
    if not mounted.startswith("tmpfs"):
        return Limit("log_in_memory", False, f"{LOG_FOLDER} is no tmpfs")
    _inside(project, WRITE_PROBE.format(LOG_FOLDER))  # raises where tmpfs refuses O_DIRECT
    return Limit("log_in_memory", True, f"{LOG_FOLDER} is a tmpfs and takes O_DIRECT")


def _log_on_dax(project: Project) -> Limit:
    mounted = _inside(project, f"grep ' {LOG_FOLDER} ' /proc/mounts || true")
    if not re.search(r"[ ,]dax(=always)?[, ]", mounted):
        return Limit("log_on_dax", False, f"{LOG_FOLDER} is not mounted with dax ({mounted or 'it is no mount'})")
    _inside(project, WRITE_PROBE.format(LOG_FOLDER))
    return Limit("log_on_dax", True, mounted)


_LOOKS: dict[str, Callable[[Project], Limit]] = {
    "cpu": _cpu,
    "memory": _memory,
    "blkio": _blkio,
    "delay": _queue("delay", "netem"),
    "rate": _queue("rate", "tbf"),
    "network": _queue("network", "netem|tbf"),
    "log_in_memory": _log_in_memory,
    "log_on_dax": _log_on_dax,
}
