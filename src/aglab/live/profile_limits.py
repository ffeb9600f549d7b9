"""A hardware profile as limits of the containers: which overlays to lay over compose.yaml, and with which values.

Three nodes share one machine, so a profile rarely fits as it is. The *scale* is the share of the profile's logical processors
that a node gets here; memory, rates of the volume and bandwidth are multiplied by it, so that the machine keeps its
proportions. Times (round trip, latency of the log) are not scaled. A limit only takes away: a disk that is slower than the
profile stays as slow.

Left out, because Docker has no means for it: clock and work per clock of a core, the latency of one write. Nothing is changed
here; what is in force is read back after the start (:mod:`aglab.live.limits`). Sources: the compose file reference (cpuset,
mem_limit, blkio_config, tmpfs) and tc-netem(8).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aglab.core.errors import field_error
from aglab.core.units import GIB, MIB
from aglab.hardware import Profile
from aglab.live.choices import NODES

OVERLAYS = ("cpu", "memory", "blkio", "network", "log_in_memory", "log_on_dax")
NODE_MB_MIN = 2400.0  # SQL Server wants 2,000 MB; the rest is head room
HEAD_ROOM_MB = 400.0
MEMORY_SHARE = 0.85  # of the engine's memory for the three nodes together
LOG_GB_MIN, LOG_GB_MAX = 1.0, 8.0
BRIDGE_RTT_US = 100.0  # what a bridge between containers itself takes, roughly; nothing shorter can be made
RATE_BYTES_S_MIN, IOPS_MIN = 1_000_000, 100  # below it a node does not come up within any patience
TMPFS_DIRECT_KERNEL = (6, 6)
_DEVICE = re.compile(r"^/dev/[A-Za-z0-9/_.\-]+$")


@dataclass(frozen=True)
class Host:
    """What runs the containers. ``device``: the one below Docker's volumes; "" where it cannot be seen, and why."""

    processors: int
    memory_mb: float
    kernel: str = ""
    throttles: bool = True
    device: str = ""
    why_no_device: str = ""


@dataclass(frozen=True)
class Part:
    """One value of the profile: ``how`` is "as asked", "scaled", "yours" or "not possible here"."""

    name: str
    asked: str
    given: str
    how: str
    why: str = ""


@dataclass(frozen=True)
class Limits:
    """What a profile comes to here: overlays in order, values of their variables, and one part per value of the profile."""

    overlays: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    scale: float = 1.0


def host_of(info: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Host:
    """What ``docker info`` says, and the device of its volumes where that is a device of this machine.

    Raises
    ------
    UsageError
        AGLAB_LIMIT_DEVICE is no device, or Docker does not say how many processors it has.
    """
    named = (os.environ if environment is None else environment).get("AGLAB_LIMIT_DEVICE", "")
    if named and not _DEVICE.match(named):
        raise field_error(
            "AGLAB_LIMIT_DEVICE", named, "must be a device", "limit blkio", "lsblk lists them, for example /dev/sda"
        )
    kernel = str(info.get("KernelVersion", ""))
    processors = int(info.get("NCPU") or 0)
    if processors < 1:
        raise field_error("NCPU", processors, "must be >= 1", "docker info", "see whether the Docker Engine is well")
    dropped = [one for one in info.get("Warnings") or [] if "blkio throttle" in one]
    device, why = (named, "") if named else _device(Path(str(info.get("DockerRootDir") or "/var/lib/docker")))
    throttles = not dropped and "microsoft" not in kernel.lower()
    return Host(processors, float(info.get("MemTotal") or 0) / MIB, kernel, throttles, device, why)


def _device(root: Path, numbers: Path = Path("/sys/dev/block")) -> tuple[str, str]:
    """The whole device that holds a folder, or why it cannot be named."""
    if not root.is_dir():
        return "", "Docker's volumes lie in its own virtual machine: name its device with AGLAB_LIMIT_DEVICE"
    number = root.stat().st_dev
    link = numbers / f"{os.major(number)}:{os.minor(number)}"
    if not link.exists():
        return "", f"{root} lies on no device of its own: name one with AGLAB_LIMIT_DEVICE"
    real = link.resolve()
    return f"/dev/{(real.parent if (real / 'partition').exists() else real).name}", ""


def derive(profile: Profile, host: Host, environment: Mapping[str, str] | None = None) -> Limits:
    """Overlays and values for a profile on a machine.

    Parameters
    ----------
    profile : Profile
    host : Host
    environment : mapping, optional
        Variables of the overlays that the user has set: they win (default: this process's).
    """
    own = os.environ if environment is None else environment
    parts: list[Part] = []
    variables: dict[str, str] = {}
    scale = _processors(profile, host, variables, parts)
    dax = own.get("AGLAB_LIMIT_LOG_DAX", "")
    log_gb = 0.0 if dax else _log_gb(profile, host, scale)
    _memory(profile, host, scale, log_gb, variables, parts)
    _volume(profile, host, scale, variables, parts)
    _network(profile, scale, variables, parts)
    _log(profile, host, log_gb, dax, variables, parts)
    overlays = tuple(name for name in OVERLAYS if any(one.name == name and one.how != NOT_HERE for one in parts))
    parts = [_yours(one, own) for one in parts]
    used = {key: own.get(key) or value for key, value in variables.items()}
    return Limits(overlays, used, tuple(parts), scale)


NOT_HERE = "not possible here"
_VARIABLES = {
    "cpu": ("AGLAB_LIMIT_CPUS", *(f"AGLAB_LIMIT_CPUSET_{node.upper()}" for node in NODES)),
    "memory": ("AGLAB_LIMIT_MEMORY_MB", "AGLAB_LIMIT_SQL_MEMORY_MB"),
    "blkio": tuple(f"AGLAB_LIMIT_{way}_{kind}" for way in ("READ", "WRITE") for kind in ("BPS", "IOPS")),
    "network": ("AGLAB_LIMIT_DELAY_US", "AGLAB_LIMIT_RATE"),
    "log_in_memory": ("AGLAB_LIMIT_LOG_GB",),
}


def _yours(part: Part, own: Mapping[str, str]) -> Part:
    """A part whose variables the user has set says so."""
    named = [f"{key}={own[key]}" for key in _VARIABLES.get(part.name, ()) if own.get(key)]
    if not named or part.how == NOT_HERE:
        return part
    return Part(part.name, part.asked, ", ".join(named), "yours", "taken from your environment")


def _how(scale: float) -> tuple[str, str]:
    return ("as asked", "") if scale >= 1 else ("scaled", f"by {scale:.3g}, the share of processors")


def _processors(profile: Profile, host: Host, variables: dict[str, str], parts: list[Part]) -> float:
    """A cpuset for each node and no quota: a quota is said to make parallel redo hang, and SQL Server counts what it sees."""
    wanted = profile.cpu.threads
    each = host.processors // len(NODES)
    variables["AGLAB_LIMIT_CPUS"] = "0"
    asked = f"{wanted} logical processors a node"
    if each >= 2:
        count = min(wanted, each)
        for place, node in enumerate(NODES):
            variables[f"AGLAB_LIMIT_CPUSET_{node.upper()}"] = _range(place * count, count)
        scale = min(1.0, count / wanted)
        why = "" if count == wanted else f"{host.processors} processors for three nodes"
        parts.append(Part("cpu", asked, f"{count} a node, each its own", "as asked" if count == wanted else "scaled", why))
    else:
        count = min(wanted, host.processors)
        for node in NODES:
            variables[f"AGLAB_LIMIT_CPUSET_{node.upper()}"] = _range(0, count)
        scale = min(1.0, host.processors / len(NODES) / wanted)
        why = f"{host.processors} processors are too few for two of its own for each node"
        parts.append(Part("cpu", asked, f"{count}, shared by the three nodes", "scaled", why))
    parts.append(Part("clock", f"{profile.cpu.ghz:g} GHz", "this machine's", NOT_HERE, "Docker cannot slow a core down"))
    return scale


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}"


def _memory(profile: Profile, host: Host, scale: float, log_gb: float, variables: dict[str, str], parts: list[Part]) -> None:
    log_mb = log_gb * GIB / MIB  # pages of a tmpfs count as the container's memory
    most = max(NODE_MB_MIN, host.memory_mb * MEMORY_SHARE / len(NODES) - log_mb)
    wanted = profile.memory.installed_mb * scale
    whole = min(max(wanted, NODE_MB_MIN), most)
    sql = min(max(profile.memory.max_server_memory_mb * scale, NODE_MB_MIN - HEAD_ROOM_MB), whole - HEAD_ROOM_MB)
    variables["AGLAB_LIMIT_MEMORY_MB"] = f"{whole + log_mb:.0f}"
    variables["AGLAB_LIMIT_SQL_MEMORY_MB"] = f"{sql:.0f}"
    how, why = _how(scale)
    if whole != wanted:
        how = "scaled"
        why = "SQL Server wants 2,000 MB" if whole == NODE_MB_MIN else f"{host.memory_mb:,.0f} MB for three nodes"
    asked = f"{profile.memory.installed_mb:,.0f} MB, of it {profile.memory.max_server_memory_mb:,.0f} MB for SQL Server"
    given = f"{whole:,.0f} MB, of it {sql:,.0f} MB for SQL Server"
    parts.append(Part("memory", asked, given + (f"; and {log_mb:,.0f} MB for the log in memory" if log_mb else ""), how, why))


def _volume(profile: Profile, host: Host, scale: float, variables: dict[str, str], parts: list[Part]) -> None:
    """Rates of the data volume; Docker limits the whole device, so log writes count too."""
    data = profile.data
    read_iops = min(1 / data.read_s_per_page, data.max_iops or float("inf"))
    write_iops = min(data.devices / data.write_penalty * data.write_iops, data.max_iops or float("inf"))
    read_bytes_s = min(data.devices * data.read_mb_s, data.max_mb_s or float("inf")) * 1e6
    asked = {
        "AGLAB_LIMIT_READ_BPS": (read_bytes_s, RATE_BYTES_S_MIN),
        "AGLAB_LIMIT_READ_IOPS": (read_iops, IOPS_MIN),
        "AGLAB_LIMIT_WRITE_BPS": (data.write_bytes_s, RATE_BYTES_S_MIN),
        "AGLAB_LIMIT_WRITE_IOPS": (write_iops, IOPS_MIN),
    }
    given = {key: max(round(value * scale), least) for key, (value, least) in asked.items()}
    texts = [_rates(*(values[key] for key in asked)) for values in ({k: v[0] for k, v in asked.items()}, given)]
    latency = Part(
        "latency",
        f"{profile.log.write_latency_us:g} us for a log write",
        "this disk's",
        NOT_HERE,
        "Docker limits rates, not times",
    )
    if not host.throttles or not host.device:
        why = "its kernel has no throttling of devices" if not host.throttles else host.why_no_device
        parts += [Part("blkio", texts[0], "this disk's", NOT_HERE, why), latency]
        return
    variables["AGLAB_LIMIT_DEVICE"] = host.device
    variables.update({key: str(value) for key, value in given.items()})
    how, why = _how(scale)
    parts += [Part("blkio", texts[0], f"{texts[1]} on {host.device}", how, why), latency]


def _rates(read_bytes_s: float, read_iops: float, write_bytes_s: float, write_iops: float) -> str:
    read = f"{read_bytes_s / 1e6:,.0f} MB/s and {read_iops:,.0f} reads/s"
    return f"{read}, {write_bytes_s / 1e6:,.0f} MB/s and {write_iops:,.0f} writes/s"


def _network(profile: Profile, scale: float, variables: dict[str, str], parts: list[Part]) -> None:
    rtt_us, gbit_s = profile.network.rtt_us, profile.network.bandwidth_gbit_s
    delay_us = round(rtt_us / 2) if rtt_us > BRIDGE_RTT_US else 0
    rate = max(1, round(gbit_s * scale * 1000))
    variables["AGLAB_LIMIT_DELAY_US"] = str(delay_us)
    variables["AGLAB_LIMIT_RATE"] = f"{rate}mbit"
    how, why = _how(scale)
    distance = f"{2 * delay_us:g} us" if delay_us else "the bridge's own round trip"
    if not delay_us and rtt_us < BRIDGE_RTT_US:
        why = "; ".join(one for one in (why, f"a bridge takes about {BRIDGE_RTT_US:g} us itself") if one)
    parts.append(Part("network", f"{gbit_s:g} Gbit/s, round trip {rtt_us:g} us", f"{rate:,} Mbit/s, {distance}", how, why))


def _log_gb(profile: Profile, host: Host, scale: float) -> float:
    """Size of a log in memory (GiB); 0 where the profile has none or tmpfs cannot be one."""
    capacity = profile.persistent_memory.capacity_gb
    if not capacity or not _direct(host):
        return 0.0
    room = (host.memory_mb * MEMORY_SHARE / len(NODES) - NODE_MB_MIN) * MIB / GIB
    if room < LOG_GB_MIN:
        return 0.0
    return float(int(max(LOG_GB_MIN, min(capacity * scale, room / 2, LOG_GB_MAX))))


def _direct(host: Host) -> bool:
    """Whether tmpfs takes O_DIRECT there."""
    numbers = re.match(r"(\d+)\.(\d+)", host.kernel)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= TMPFS_DIRECT_KERNEL


def _log(profile: Profile, host: Host, log_gb: float, dax: str, variables: dict[str, str], parts: list[Part]) -> None:
    capacity = profile.persistent_memory.capacity_gb
    if not capacity:
        return
    asked = f"{capacity:g} GB of persistent memory"
    if dax:
        variables["AGLAB_LIMIT_LOG_DAX"] = dax
        parts.append(Part("log_on_dax", asked, f"{dax} at /var/opt/mssql-log", "as asked", "as large as its file system"))
        return
    if not log_gb:
        why = f"tmpfs takes O_DIRECT from Linux 6.6, this is {host.kernel or 'an unknown kernel'}"
        if _direct(host):
            why = f"{host.memory_mb:,.0f} MB for three nodes leave no room for it"
        parts.append(Part("log_in_memory", asked, "none", NOT_HERE, why))
        return
    variables["AGLAB_LIMIT_LOG_GB"] = f"{log_gb:g}"
    why = "a stand-in: its content goes with the container"
    parts.append(Part("log_in_memory", asked, f"a tmpfs of {log_gb:g} GiB at /var/opt/mssql-log", "scaled", why))
