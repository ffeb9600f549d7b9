"""What a version, its settings and the machine make of transport, redo, processors and log file: set up once, before a run.

**Transport.** To one replica no more than the version's pipeline and what one TCP connection carries (loss). Flow control:
the primary stops sending when a number of messages is not acknowledged (a gate), so no more than ``gate * message / round
trip`` goes out; a message is a log block. **Compression** divides what the network carries and costs processor time once on
the primary, which keeps compressed blocks for its other replicas, and on each secondary, and delays a block by both.
**Redo.** 2014: one thread. 2016 and later: workers in parallel, at most 16 for a database (half the cores) and 100 for an
instance, and one thread for each database beyond that. 2022: a pool for all databases. **Processors.** Affinity and a cap leave
fewer of them; with pools bound to NUMA nodes no access is remote.

Sources (Microsoft Learn): "Tune compression for availability group"; SQLServer:Database Replica (counters of the log compression
cache). Not confirmed on a page: the gate of 8,192 messages for a replica, the thread limits, the pool of 2022.
Compression rate and ratio are those of backups (``jobs.toml``). Left out: latency of packets sent again.
"""

from __future__ import annotations

from aglab.core.units import KIB
from aglab.engine import layout as at
from aglab.engine.backup import job_constant
from aglab.engine.layout import Array
from aglab.hardware.parts import Cpu
from aglab.scenario import Scenario

REFERENCE_GHZ = 2.6  # the core that constants of processor time are about
WORKERS_MOST = 16  # redo workers of one database
THREADS_MOST = 100  # redo workers of one instance
ANY_RATE = 1e18  # B/s: more than any way carries
INSTANT_GROWTH_MB = 64.0  # 2022 grows a log by so much without writing zeros
_REDO = {
    "2014": "redo_bytes_s_2014",
    "2016 RTM": "redo_bytes_s_2016",
    "2016": "redo_bytes_s_2017",
    "2017": "redo_bytes_s_2017",
    "2019": "redo_bytes_s_2017",
    "2022": "redo_bytes_s_2022",
}


def redo_workers(scenario: Scenario) -> float:
    """Redo workers of one database: of the last one that joined, where the threads do not suffice for all."""
    version, cores, databases = scenario.settings.sql_version, scenario.profile.cpu.cores, scenario.settings.redo_databases
    if version == "2014":
        return 1.0
    if version == "2022":
        return min(float(cores), float(THREADS_MOST)) / databases
    workers = min(WORKERS_MOST, max(1, cores // 2))
    return float(workers) if workers * databases <= THREADS_MOST else 1.0


def redo_bytes_s(scenario: Scenario) -> float:
    """Log that redo of one database applies (B/s): its version's limit, one thread's, or what its workers do."""
    value = scenario.constant
    version, databases = scenario.settings.sql_version, scenario.settings.redo_databases
    limit = value(_REDO[version])
    workers = redo_workers(scenario)
    if version != "2022" and databases > 1 and workers == 1.0:
        return min(limit, value("redo_bytes_s_2014"))
    cost_s = value("redo_ns_per_byte") * 1e-9 / scenario.profile.cpu.speed
    if version in ("2014", "2016 RTM") or cost_s <= 0.0:
        return limit
    return min(limit, workers / cost_s)


def compressed(scenario: Scenario, synchronous: bool) -> bool:
    """Whether log goes compressed to a replica of this mode."""
    choice, version = scenario.settings.log_stream_compression, scenario.settings.sql_version
    if choice == "default":
        return version == "2014" or not synchronous
    return choice == "on"


def fill_transport(scenario: Scenario, ct: Array) -> None:
    """Columns of ``ct`` about the way to the secondaries."""
    settings, profile = scenario.settings, scenario.profile
    old = settings.sql_version == "2014"
    cap = scenario.constant("transport_bytes_s_2014" if old else "transport_bytes_s_2016")
    ratio = job_constant("compression_ratio", scenario.overrides)
    packed = compressed(scenario, True) or compressed(scenario, False)
    if profile.network.loss > 0.0:
        cap = min(cap, profile.network.connection_bytes_s * (ratio if packed else 1.0))
    ct[at.C_TRANSPORT_CAP] = cap
    ct[at.C_REDO_CAP] = redo_bytes_s(scenario)
    ct[at.C_GATE] = job_constant("send_gate_messages", scenario.overrides)
    ct[at.C_REQUIRED] = settings.required_synchronized_secondaries
    ct[at.C_PACK_SYNC] = float(compressed(scenario, True))
    ct[at.C_PACK_ASYNC] = float(compressed(scenario, False))
    ct[at.C_PACK_RATIO] = ratio
    per_byte = 1.0 / (job_constant("compress_mb_s_per_ghz", scenario.overrides) * REFERENCE_GHZ * 1e6)
    ct[at.C_PACK_CPU] = per_byte
    ct[at.C_UNPACK_CPU] = per_byte / job_constant("decompress_gain", scenario.overrides)


def fill_ways(scenario: Scenario, hw: Array) -> None:
    """Columns of ``hw`` about ways that are not the network's: round trip, and the log that one connection carries."""
    ratio = job_constant("compression_ratio", scenario.overrides)
    for node, replica in enumerate(scenario.replicas):
        if replica.far:
            way = replica.way(scenario.profile.network)
            packed = compressed(scenario, replica.availability_mode == "SYNCHRONOUS_COMMIT")
            hw[node, at.H_RTT] = way.rtt_us * 1e-6
            hw[node, at.H_WAY] = way.connection_bytes_s * (ratio if packed else 1.0)


def fill_log_file(scenario: Scenario, ct: Array) -> None:
    """Columns of ``ct`` about growth of the log file."""
    settings, volume = scenario.settings, scenario.profile.log
    ct[at.C_GROWTH] = settings.log_growth_mb * KIB * KIB
    ct[at.C_LOG_MOST] = (settings.log_max_gb or volume.usable_gb) * 1e9
    instant = settings.sql_version == "2022" and settings.log_growth_mb <= INSTANT_GROWTH_MB
    ct[at.C_GROWTH_S] = 0.0 if instant else ct[at.C_GROWTH] / volume.write_bytes_s
    ct[at.C_OLD_VLFS] = float(settings.sql_version != "2022")


def processors(scenario: Scenario) -> tuple[float, float]:
    """Cores and threads that the load may use, affinity and cap together."""
    cpu: Cpu = scenario.profile.cpu
    bound = float(sum(scenario.numa_nodes[: scenario.settings.affinity_nodes]))
    cores = (scenario.settings.affinity_cores or bound or float(cpu.cores)) * scenario.settings.cpu_cap
    return cores, cores * cpu.threads_per_core


def local_factor(scenario: Scenario) -> float:
    """CPU demand with every access local over that with memory spread over all sockets (1.0 where it is spread)."""
    if scenario.settings.memory_placement != "local":
        return 1.0
    from aglab.engine.sockets import local_memory_gain

    return 1.0 / local_memory_gain(scenario.profile.cpu.sockets, scenario.overrides)
