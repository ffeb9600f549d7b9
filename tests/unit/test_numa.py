"""NUMA nodes: how a machine is divided, and pools bound to nodes."""

from __future__ import annotations

import dataclasses

import pytest

from aglab.core.errors import UsageError
from aglab.engine import steady
from aglab.hardware import Profile
from aglab.hardware.numa import CORES_MOST, log_writers, node_of_scheduler, numa_nodes
from aglab.scenario import Scenario

CPU = Profile.load("hpe-dl380-gen9-ssd").cpu


def machine(sockets: int, cores: int):
    """Processors of so many sockets and cores."""
    return dataclasses.replace(CPU, sockets=sockets, cores_per_socket=cores)


@pytest.mark.parametrize(
    ("sockets", "cores", "nodes"),
    [
        (1, 4, (4,)),
        (2, 8, (8, 8)),
        (1, 9, (5, 4)),
        (2, 10, (5, 5, 5, 5)),
        (2, 16, (8, 8, 8, 8)),
        (1, 20, (7, 7, 6)),
        (4, 28, (7,) * 16),
    ],
)
def test_sockets_of_more_than_eight_cores_are_divided(sockets, cores, nodes):
    """From 2016 on; not in 2014, and not where soft-NUMA is off."""
    assert numa_nodes(machine(sockets, cores), "2016") == nodes
    assert (
        numa_nodes(machine(sockets, cores), "2014")
        == numa_nodes(machine(sockets, cores), "2022", soft=False)
        == (cores,) * sockets
    )


def test_every_core_is_in_one_node_of_four_to_eight():
    """For every socket that can be described, and its schedulers count through the nodes."""
    for cores in range(9, 257):
        nodes = numa_nodes(machine(1, cores), "2022")
        assert sum(nodes) == cores and min(nodes) >= 4 and max(nodes) <= CORES_MOST
    cpu = machine(2, 10)
    of = [node_of_scheduler(number, cpu, numa_nodes(cpu, "2022")) for number in range(cpu.threads)]
    assert of == sorted(of) and [of.count(node) for node in range(4)] == [10] * 4
    with pytest.raises(ValueError, match="scheduler 40 of 40"):
        node_of_scheduler(40, cpu, numa_nodes(cpu, "2022"))


def test_log_writers_follow_hardware_nodes():
    """One in 2014, one for each socket since, four at most; soft nodes add none."""
    assert [log_writers(machine(sockets, 28), "2016") for sockets in (1, 2, 4, 8)] == [1, 2, 4, 4]
    assert log_writers(machine(4, 28), "2014") == 1


def test_a_pool_bound_to_nodes_has_their_cores():
    """Two soft nodes of eight cores are 16 cores of affinity; where soft-NUMA is off, a node is a socket."""
    base = Scenario.default(replicas=1)  # two sockets of 16 cores
    assert steady(base.with_settings(affinity_nodes=2)) == steady(base.with_settings(affinity_cores=16))
    assert steady(base.with_settings(affinity_nodes=1)) == steady(base.with_settings(affinity_cores=8))
    off = base.with_settings({"affinity_nodes": 1, "settings.soft_numa": "off"})
    assert steady(off) == steady(base.with_settings(affinity_cores=16))
    assert steady(base.with_settings({"settings.soft_numa": "off"})) == steady(base)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"affinity_nodes": 5}, "affinity_nodes=5 must be <= 4, the NUMA nodes of hpe-dl380-gen9-ssd"),
        ({"affinity_nodes": 3, "settings.soft_numa": "off"}, "affinity_nodes=3 must be <= 2"),
        ({"affinity_nodes": 1, "affinity_cores": 4}, "affinity_cores=4 and affinity_nodes=1 say the same thing twice"),
    ],
)
def test_nodes_that_are_not_there_are_refused(settings, words):
    """What, value, limit and machine."""
    with pytest.raises(UsageError) as error:
        Scenario.default(replicas=1).with_settings(settings)
    assert words in str(error.value)
