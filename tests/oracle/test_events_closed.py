"""The event kernels beside closed forms and beside SimPy on the same model, with intervals over seeds.

Storage: one device as M/D/1 and, with reads and writes of different length, as M/G/1 (Pollaczek and Khinchine); several devices
that requests find by address are that many single queues, and not one queue with many servers; channels of a device are servers
of one queue (SimPy). Processors: M/M/c of so many users, and how near that comes to Erlang's. The machine repairman's throughput
is in ``test_events_simpy.py``.
"""

from __future__ import annotations

import dataclasses
import statistics

import pytest
from simpy_models import simpy_devices
from test_queues import erlang_c_wait, processors_only, repairman

from aglab.engine.array_events import run_array
from aglab.engine.events import run_events
from aglab.hardware import Volume

SEEDS = range(1, 9)
MS = 1e-3
ONE = Volume(1, "0", 1000, 1000, 500, 500, 1000, 1000, 400)  # one channel of one millisecond
MIXED = dataclasses.replace(ONE, write_iops=400)  # writes take 2.5 ms


def holds(found: list[float], exact: float, within: float) -> bool:
    """The exact value lies within four standard errors of the mean over seeds, and these are less than ``within`` of it."""
    mean, error = statistics.fmean(found), statistics.stdev(found) / len(found) ** 0.5
    assert 4 * error < within * exact, "the interval is too wide to tell anything"
    return abs(mean - exact) <= 4 * error + 2e-3 * exact


@pytest.mark.parametrize("devices", [1, 6])
@pytest.mark.parametrize("load", [0.3, 0.6, 0.85])
def test_devices_found_by_address_are_single_queues(devices, load):
    """Each device is an M/D/1 queue of its share of the requests: more devices at the same load wait no less."""
    volume = dataclasses.replace(ONE, devices=devices)
    found = [run_array(volume, 8, 1.0, arrivals_s=1000 * load * devices, seconds=40, seed=seed).read_s for seed in SEEDS]
    assert holds(found, MS * (1 + load / (2 * (1 - load))), 0.1)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.85])
@pytest.mark.parametrize("reads", [0.7, 0.2])
def test_reads_and_writes_on_one_device_are_an_m_g_1_queue(load, reads):
    """Both wait alike, by the mean and the mean square of what one request takes."""
    mean, square = reads * MS + (1 - reads) * 2.5 * MS, reads * MS**2 + (1 - reads) * (2.5 * MS) ** 2
    arrivals = load / mean
    wait = arrivals * square / (2 * (1 - load))
    runs = [run_array(MIXED, 8, reads, arrivals_s=arrivals, seconds=80, seed=seed) for seed in SEEDS]
    assert holds([run.read_s for run in runs], MS + wait, 0.12)
    assert holds([run.write_s for run in runs], 2.5 * MS + wait, 0.12)
    assert statistics.fmean(run.busy for run in runs) == pytest.approx(load, rel=0.02)


@pytest.mark.parametrize(("devices", "channels", "load"), [(1, 4, 0.7), (3, 2, 0.8), (2, 8, 0.5)])
def test_channels_of_a_device_are_servers_of_one_queue(devices, channels, load):
    """Open load on a few devices of several channels: the same model in SimPy, within its own error."""
    volume = dataclasses.replace(ONE, devices=devices, read_iops=1000 * channels, read_mb_s=5000)
    arrivals = 1000.0 * channels * devices * load
    found = [run_array(volume, 8, 1.0, arrivals_s=arrivals, seconds=10, seed=seed).read_s for seed in SEEDS]
    theirs = [simpy_devices(devices, channels, MS, arrivals, 6000, seed) for seed in SEEDS]
    assert holds(found, statistics.fmean(found), 0.05)
    error = (statistics.variance(found) + statistics.variance(theirs)) ** 0.5 / len(found) ** 0.5
    assert abs(statistics.fmean(found) - statistics.fmean(theirs)) <= 4 * error < 0.1 * statistics.fmean(theirs)


@pytest.mark.parametrize(("users", "think"), [(60, 20e-3), (200, 60e-3)])
def test_time_at_the_processors_is_that_of_m_m_c(users, think):
    """Waiting and service from Little's law: exact for so many users, and the closer to Erlang's the more users there are."""
    servers, cpu = 4, 1e-3
    runs = [run_events(processors_only(users, think * 1e6, cpu * 1e6, servers), 20.0, seed=seed) for seed in SEEDS]
    found = [users / run.throughput_s - think for run in runs]
    throughput = repairman(users, think, cpu, servers)
    exact = users / throughput - think
    assert holds(found, exact, 0.15)
    endless = cpu * (1 + erlang_c_wait(throughput * cpu, servers))
    assert exact < endless and endless / exact - 1 < 30 / users
