"""The parts of a machine, from spec sheets: what each can do per second before anything queues.

Left out: NUMA-remote cost, controller cache as a store of its own (a volume's write latency is that of its cache). Volumes on
spindles: :mod:`aglab.hardware.array_volume`. Sources: the tag of each value in the profile's file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from aglab.core.errors import UsageError
from aglab.core.quantity import check, choice, number
from aglab.core.units import MIB, PAGE_BYTES

_SHEET_BYTES = 4096  # data sheets state random rates with requests of this size
_ROUNDED = 1.1  # as data sheets round
SERVICE_SQUARES = 1.3  # mean square over squared mean of a device's service: between fixed (1) and exponential (2)
SEGMENT_BYTES = 1460  # of a TCP segment on Ethernet without jumbo frames
RAID_LEVELS = ("0", "1", "10", "5", "50", "6")
_RAID_RULE = {  # level -> (fewest devices, multiple of, remedy)
    "0": (1, 1, "use at least 1"),
    "1": (2, 2, "a RAID 1 mirror has 2; for more use RAID 10"),
    "10": (4, 2, "use an even number of 4 or more (2 devices are RAID 1)"),
    "5": (3, 1, "use at least 3"),
    "50": (6, 2, "use an even number of 6 or more"),
    "6": (4, 1, "use at least 4"),
}


def raid_error(raid: str, devices: int) -> UsageError | None:
    """Why a RAID level cannot be built of so many devices, or None when it can."""
    fewest, multiple, remedy = _RAID_RULE[raid]
    if devices < fewest or devices % multiple or (raid == "1" and devices != 2):
        return UsageError(f"RAID {raid} of {devices} devices is not possible (devices={devices})", remedy)
    return None


@dataclass(frozen=True)
class Cpu:
    """Processors. One *core* of work is one core-second per second at the reference speed."""

    sockets: int = number("sockets", 1, 16, "processor packages", integer=True)
    cores_per_socket: int = number("cores", 1, 256, "physical cores of one package", integer=True)
    threads_per_core: int = number("threads", 1, 2, "2 with hyper-threading, 1 without", integer=True)
    ghz: float = number("GHz", 0.5, 7, "clock under load")
    work_per_clock: float = number("x", 0.1, 5, "work per clock beside a Broadwell core", default=1.0)
    ht_yield: float = number("x", 1.0, 2.0, "work of a core with both threads busy beside one thread busy", default=1.3)

    def __post_init__(self) -> None:
        check(self, "cpu")

    @property
    def cores(self) -> int:
        """Physical cores."""
        return self.sockets * self.cores_per_socket

    @property
    def threads(self) -> int:
        """Logical processors."""
        return self.cores * self.threads_per_core

    @property
    def speed(self) -> float:
        """Work of one core beside one core of the reference machine (Broadwell at 2.6 GHz)."""
        return self.ghz * self.work_per_clock / 2.6


@dataclass(frozen=True)
class Memory:
    """Memory of the machine and SQL Server's share."""

    installed_mb: float = number("MB", 512, 64 * 1024 * 1024, "memory fitted")
    max_server_memory_mb: float = number("MB", 256, 64 * 1024 * 1024, "max server memory (MB)")

    def __post_init__(self) -> None:
        check(self, "memory")
        if self.max_server_memory_mb > self.installed_mb:
            raise UsageError(
                f"max_server_memory_mb={self.max_server_memory_mb:g} must be <= installed_mb={self.installed_mb:g} (memory)",
                "lower max server memory or raise installed_mb",
            )

    @property
    def buffer_pool_pages(self) -> float:
        """Pages of 8 KB the buffer pool can hold."""
        return self.max_server_memory_mb * MIB / PAGE_BYTES


@dataclass(frozen=True)
class Volume:
    """Devices behind one drive letter, with the data-sheet rates of one device.

    A mirrored level reads from all devices and writes every page twice. Levels with parity gather checkpoint
    writes in full stripes; ``write_penalty`` says how many device writes one written page costs.
    """

    devices: int = number("devices", 1, 1000, "SSDs or disks in the volume, without spares", integer=True)
    raid: str = choice(RAID_LEVELS, "RAID level")
    read_iops: float = number("IOPS", 1, 1e8, "random reads of one device")
    write_iops: float = number("IOPS", 1, 1e8, "random writes of one device")
    read_mb_s: float = number("MB/s", 0.1, 1e6, "sequential reads of one device")
    write_mb_s: float = number("MB/s", 0.1, 1e6, "sequential writes of one device")
    read_latency_us: float = number("us", 0.01, 1e6, "one read of 8 KB on the idle volume")
    write_latency_us: float = number("us", 0.01, 1e6, "one small write on the idle volume, controller cache included")
    capacity_gb: float = number("GB", 0.1, 1e7, "size of one device")
    max_mb_s: float = number("MB/s", 0, 1e6, "limit of controller, link or cloud volume for all I/O; 0 for none", default=0.0)
    max_iops: float = number("IOPS", 0, 1e8, "limit of controller or cloud volume for all I/O; 0 for none", default=0.0)
    spares: int = number("devices", 0, 100, "hot spares: one takes the place of a device that fails", default=0, integer=True)
    rebuild_share: float = number("", 0.01, 0.95, "share of the devices' time that a rebuild takes", default=0.3)
    rebuild_mb_s: float = number(
        "MB/s", 0, 1e6, "rate of a rebuild with all their time; 0: the lower of sequential reads and writes", default=0.0
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "raid", str(self.raid))
        check(self, "volume")
        problem = raid_error(self.raid, self.devices)
        if problem is not None:
            raise problem

    def contradictions(self) -> list[UsageError]:
        """Rates that cannot be of one device: random requests of 4 KB carry no more than sequential ones."""
        found = []
        for what in ("read", "write"):
            iops, mb_s = getattr(self, f"{what}_iops"), getattr(self, f"{what}_mb_s")
            carried = iops * _SHEET_BYTES / 1e6
            if carried > mb_s * _ROUNDED:
                text = (
                    f"{what}_iops={iops:g} must be <= {mb_s * 1e6 / _SHEET_BYTES:,.0f} IOPS: random {what}s of 4 KB would carry "
                    f"{carried:,.0f} MB/s, more than {what}_mb_s={mb_s:g}"
                )
                remedy = f"raise {what}_mb_s, lower {what}_iops, or give the rates of one device where they are those of all"
                found.append(UsageError(text, remedy))
        return found

    @property
    def write_penalty(self) -> float:
        """Device writes for one page in a large gathered write: 2 for mirrors, n/(n-parity) for parity levels."""
        parity = {"5": 1, "50": 2, "6": 2}.get(self.raid, 0)
        if self.raid in ("1", "10"):
            return 2.0
        return self.devices / (self.devices - parity)

    @property
    def read_s_per_page(self) -> float:
        """Busy time of the whole volume for one random 8 KB read (s)."""
        rate = min(self.devices * self.read_iops, self.devices * self.read_mb_s * 1e6 / PAGE_BYTES)
        return 1.0 / self._capped(rate)

    @property
    def read_queue_s(self) -> float:
        """What a read waits behind another one in the same queue, on average (s): half its service, and more where services vary.

        Data lies on one device, so each device has a queue of its own; a limit of the whole volume is one queue before all.
        """
        own = max(1.0 / self.read_iops, PAGE_BYTES / (self.read_mb_s * 1e6))
        return 0.5 * SERVICE_SQUARES * (self.read_s_per_page if self.capped else own)

    @property
    def capped(self) -> bool:
        """Whether a limit of the whole volume holds back reads before its devices do."""
        own = max(1.0 / self.read_iops, PAGE_BYTES / (self.read_mb_s * 1e6))
        return self.read_s_per_page * self.devices > own * (1.0 + 1e-9)

    @property
    def write_s_per_page(self) -> float:
        """Busy time of the whole volume for one page of a gathered checkpoint write (s)."""
        rate = self.devices / self.write_penalty * self.write_mb_s * 1e6 / PAGE_BYTES
        if self.max_mb_s:
            rate = min(rate, self.max_mb_s * 1e6 / PAGE_BYTES)
        return 1.0 / rate

    def gathered_write_s(self, pages: float) -> float:
        """Busy time of the whole volume for one page when checkpoint writes gather so many (s).

        A gathered write is one random write to a device, and one I/O to a limit of IOPS, however large it is.
        """
        one = max(self.write_s_per_page, self.write_penalty / (self.devices * self.write_iops * pages))
        return max(one, 1.0 / (self.max_iops * pages)) if self.max_iops else one

    def random_iops(self, read_share: float) -> float:
        """Most random requests/s of 8 KB at a share of reads, when every device is busy all the time."""
        read_s = max(1.0 / self.read_iops, PAGE_BYTES / (self.read_mb_s * 1e6))
        write_s = max(1.0 / self.write_iops, PAGE_BYTES / (self.write_mb_s * 1e6))
        rate = self.devices / (read_share * read_s + (1.0 - read_share) * self.write_penalty * write_s)
        return self._capped(rate)

    @property
    def log_write_s(self) -> float:
        """Time of a small write (s); one after the other they are never more than a limit of IOPS lets through."""
        alone = self.write_latency_us * 1e-6
        return max(alone, 1.0 / self.max_iops) if self.max_iops else alone

    @property
    def write_bytes_s(self) -> float:
        """Sequential write rate of the whole volume (B/s)."""
        rate = self.devices / self.write_penalty * self.write_mb_s * 1e6
        return min(rate, self.max_mb_s * 1e6) if self.max_mb_s else rate

    @property
    def usable_gb(self) -> float:
        """Capacity after RAID (GB)."""
        return self.devices / self.write_penalty * self.capacity_gb

    def _capped(self, pages_s: float) -> float:
        if self.max_mb_s:
            pages_s = min(pages_s, self.max_mb_s * 1e6 / PAGE_BYTES)
        return min(pages_s, self.max_iops) if self.max_iops else pages_s


@dataclass(frozen=True)
class PersistentMemory:
    """Modules that keep their content without power, formatted for direct access (DAX); 0 GB: the machine has none."""

    capacity_gb: float = number("GB", 0, 1e6, "size of all modules; 0 for none", default=0.0)
    copy_us: float = number("us", 0.01, 1000, "time to copy a log record there and flush its cache lines", default=3.0)

    def __post_init__(self) -> None:
        check(self, "persistent_memory")


@dataclass(frozen=True)
class Network:
    """The network between replicas."""

    bandwidth_gbit_s: float = number("Gbit/s", 0.001, 10000, "link between replicas, teamed ports together")
    rtt_us: float = number("us", 0, 1e7, "round trip between replicas")
    loss: float = number("", 0, 0.2, "share of packets that are lost", default=0.0)

    def __post_init__(self) -> None:
        check(self, "network")

    @property
    def bytes_s(self) -> float:
        """Bandwidth (B/s)."""
        return self.bandwidth_gbit_s * 1e9 / 8

    @property
    def connection_bytes_s(self) -> float:
        """Most that one TCP connection carries (B/s): the bandwidth, or what loss leaves of it.

        Congestion avoidance after Mathis, Semke, Mahdavi and Ott 1997: segment / round trip * sqrt(3/2) / sqrt(loss). Left out:
        recovery by other algorithms (CUBIC, BBR), which lose less.
        """
        if self.loss <= 0.0 or self.rtt_us <= 0.0:
            return self.bytes_s
        return min(self.bytes_s, SEGMENT_BYTES / (self.rtt_us * 1e-6) * math.sqrt(1.5 / self.loss))
