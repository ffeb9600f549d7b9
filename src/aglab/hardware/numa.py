"""NUMA nodes of a machine as SQL Server divides it: hardware nodes (sockets), and soft ones of at most eight cores.

From 2016 on (2014 needs SP2 and trace flag 8079, left out) a socket of more than eight physical cores is divided into soft-NUMA
nodes that ideally have eight cores and never fewer than four; hyper-threads do not count. Sizes differ by one core at most
[assumed: the page gives only the range].

What follows, as far as a source says: schedulers and connections belong to soft nodes, and a pool can be bound to some of them
(``settings.affinity_nodes``); there is one I/O completion thread for each. Memory nodes follow the hardware, so soft nodes do not
move the share of remote accesses (:func:`aglab.engine.sockets.local_memory_gain` counts sockets). Log writers are counted by
hardware nodes, four at most since 2016. No source gives a number for what more I/O completion threads, lazy writers or log
writers gain; none is modelled.

Sources: "Soft-NUMA (SQL Server)"; "How It Works: Soft NUMA, I/O Completion Thread, Lazy Writer Workers and Memory Nodes" and "SQL
2016 - It Just Runs Faster: Multiple Log Writer Workers" (SQL Server support blog).
"""

from __future__ import annotations

import math

from aglab.hardware.parts import Cpu

CORES_MOST = 8  # of a soft-NUMA node
LOG_WRITERS_MOST = 4


def numa_nodes(cpu: Cpu, version: str, soft: bool = True) -> tuple[int, ...]:
    """Physical cores of each NUMA node, socket by socket; ``soft`` is false after SET SOFTNUMA OFF and a restart."""
    cores = cpu.cores_per_socket
    count = math.ceil(cores / CORES_MOST) if soft and version != "2014" and cores > CORES_MOST else 1
    return tuple(cores // count + (node < cores % count) for node in range(count)) * cpu.sockets


def node_of_scheduler(number: int, cpu: Cpu, nodes: tuple[int, ...]) -> int:
    """The node (from 0) of a scheduler: schedulers count through the logical processors of one node after the other."""
    end = 0
    for node, cores in enumerate(nodes):
        end += cores * cpu.threads_per_core
        if number < end:
            return node
    raise ValueError(f"scheduler {number} of {cpu.threads}")


def log_writers(cpu: Cpu, version: str) -> int:
    """Log writer threads of an instance: one up to 2014, then one for each hardware node, four at most."""
    return 1 if version == "2014" else min(cpu.sockets, LOG_WRITERS_MOST)
