"""Storage request by request: the closed forms within 3 %, queueing theory, the same run on every path, clear refusals."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest

from aglab.core.errors import UsageError
from aglab.engine import COMPILED, Flow, array_events
from aglab.engine import layout as at
from aglab.engine.array_events import load_of, run_array
from aglab.engine.params import machine_row
from aglab.engine.steady import steady
from aglab.hardware import DiskArray, Profile, Volume
from aglab.hardware.spindles import read_latency_ms, sustained
from aglab.scenario import Scenario

CAPS_MS = {"dell-ps6100xv": 20, "das-24x10k": 20, "das-12x7200": 60}  # latency at which each has a queue on every drive
MIXES = [(8, "10", 0.4), (8, "50", 0.62), (8, "6", 0.85), (16, "10", 0.85), (64, "6", 0.4)]
SSD = Profile.load("hpe-dl380-gen9-ssd").data
ONE = Volume(1, "0", 1000, 1000, 500, 500, 1000, 1000, 400)  # one channel of one millisecond
SCRIPT = """
from aglab.engine.array_events import run_array
from aglab.hardware import DiskArray, Profile
array, volume = DiskArray.load("dell-ps6100xv"), Profile.load("hpe-dl380-gen9-ssd").data
print(repr(run_array(array, 8, 0.7, outstanding=40, seconds=0.3, warmup_s=0.1)),
      repr(run_array(volume, 8, 0.5, arrivals_s=20000, seconds=0.02, warmup_s=0.01)))
"""


def wide(name: str, raid: str = "10") -> DiskArray:
    """An array without a limit of its links, as the events have none; RAID 10 and 50 need an even number of drives."""
    array = DiskArray.load(name)
    drives = array.drives + (array.active % 2 if raid in ("10", "50") else 0)
    return dataclasses.replace(array, raid=raid, drives=drives, links=1000)


@pytest.mark.parametrize(("name", "cap_ms"), CAPS_MS.items())
@pytest.mark.parametrize(("io_kb", "raid", "fill"), MIXES)
def test_spindles_agree_with_the_closed_form(name, cap_ms, io_kb, raid, fill):
    """Mixed load at the depth that gives the cap: throughput within 3 %, and read latency within 10 % of the cap."""
    array = wide(name, raid)
    flow = sustained(array, io_kb, 0.7, fill, cap_ms)
    found = run_array(array, io_kb, 0.7, fill=fill, outstanding=round(flow.outstanding), seconds=20, warmup_s=5)
    assert found.iops == pytest.approx(flow.iops, rel=0.03)
    assert found.read_s == pytest.approx(cap_ms * 1e-3, rel=0.10)
    assert found.busy > 0.98


def test_reads_alone_leave_drives_idle_at_20_ms():
    """The closed form takes drives as never idle: with reads alone some are, and per busy time the two agree within 3 %."""
    array = wide("dell-ps6100xv")
    flow = sustained(array, 8, 1.0, 0.62)
    found = run_array(array, 8, 1.0, fill=0.62, outstanding=round(flow.outstanding), seconds=20, warmup_s=2)
    assert found.busy < 0.98 and found.iops < flow.iops
    assert found.iops / found.busy == pytest.approx(flow.iops, rel=0.03)
    deep = sustained(array, 8, 1.0, 0.62, 200)
    assert run_array(array, 8, 1.0, fill=0.62, outstanding=round(deep.outstanding), seconds=20, warmup_s=5).iops == pytest.approx(
        deep.iops, rel=0.03
    )


@pytest.mark.parametrize("raid", ["0", "10", "5", "6"])
@pytest.mark.parametrize("reads", [0.0, 0.3, 0.7, 1.0])
def test_flash_agrees_with_the_closed_form(raid, reads):
    """A saturated SSD volume: within 3 % for every RAID level and mix."""
    volume = dataclasses.replace(SSD, raid=raid)
    found = run_array(volume, 8, reads, outstanding=1000, seconds=0.4, warmup_s=0.1)
    assert found.iops == pytest.approx(volume.random_iops(reads), rel=0.03)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_one_device_is_an_m_d_1_queue(load):
    """Random arrivals at one channel of fixed time: mean time 1 + u / (2 (1 - u)) services, five seeds."""
    means = [run_array(ONE, 8, 1.0, arrivals_s=1000 * load, seconds=60, seed=seed).read_s for seed in range(5)]
    expected = 1e-3 * (1 + load / (2 * (1 - load)))
    assert sum(means) / 5 == pytest.approx(expected, rel=0.03)


def test_an_idle_volume_has_its_data_sheets_latency():
    """Few requests wait for nobody; a mirrored NVDIMM cache in front answers writes in its own time, reads as before."""
    alone = run_array(SSD, 8, 0.7, arrivals_s=500, seconds=2)
    assert alone.read_s == pytest.approx(120e-6, rel=0.01) and alone.lost == 0
    cached = run_array(SSD, 8, 0.7, arrivals_s=500, seconds=2, cache_us=15)
    assert cached.write_s == pytest.approx(15e-6, rel=0.01) and cached.read_s == pytest.approx(120e-6, rel=0.02)


def test_a_cache_moves_writes_in_time_and_adds_no_throughput():
    """Saturated, a cached volume writes what the SSDs behind it write, and its writes wait for room."""
    volume = dataclasses.replace(SSD, raid="10")
    found = run_array(volume, 8, 0.0, outstanding=4000, seconds=0.5, warmup_s=0.2, cache_us=15)
    assert found.iops == pytest.approx(volume.random_iops(0.0), rel=0.03)
    assert found.write_s > 100 * 15e-6


def test_writes_of_an_array_without_cache_wait_for_its_drives():
    """Without a cache a write is done when both mirror copies are."""
    array = dataclasses.replace(wide("dell-ps6100xv"), cache_gb=0)
    bare = run_array(array, 8, 0.0, arrivals_s=100, seconds=20)
    cached = run_array(wide("dell-ps6100xv"), 8, 0.0, arrivals_s=100, seconds=20)
    assert bare.write_s > 3e-3 > 1e-3 > cached.write_s


@pytest.mark.parametrize(("load", "within"), [(0.25, 0.05), (0.5, 0.05), (0.75, 0.12)])
@pytest.mark.parametrize("name", ["dell-r710-ps6100xv-1", "hpe-dl380-gen9-ssd"])
def test_the_flow_waits_for_one_drive_as_the_events_do(name, load, within):
    """Random reads alone: each drive has a queue in both; nearer saturation heads take the nearest, which the flow leaves out."""
    scenario = Scenario.default(name, 1).with_settings({"noise": 0, "users": 0})
    row = machine_row(scenario)
    rate = load / row[at.H_READ_S]
    device = dataclasses.replace(wide("dell-ps6100xv"), spares=2) if "ps6100xv" in name else scenario.profile.data
    found = run_array(device, 8, 1.0, fill=0.62, arrivals_s=rate, seconds=60000 / rate, warmup_s=6000 / rate)
    told = row[at.H_READ_LAT] + row[at.H_QUEUE_S] * load ** row[at.H_QUEUE_POOLING] / (1 - load)
    assert told == pytest.approx(found.read_s, rel=within)


@pytest.mark.parametrize(("users", "within"), [(1, 0.02), (3, 0.04), (5, 0.04), (20, 0.02), (80, 0.02)])
def test_few_users_of_spindles_read_as_many_as_in_the_events(users, within):
    """A closed loop of readers: nobody waits behind himself in either, from one user alone up to a queue on every drive."""
    disks = Volume(5, "0", 180, 180, 150, 150, 5500, 300, 600)
    scenario = Scenario.default("hpe-dl380-gen9-ssd", 1)
    scenario = dataclasses.replace(scenario, profile=dataclasses.replace(scenario.profile, data=disks)).with_settings(
        {
            **{"users": users, "noise": 0, "think_us": 0, "cpu_us": 0.01, "read_only_share": 1, "warehouses": 100},
            **{"hot_pages": 100, "page_touches_per_tx": 0, "cold_touches_per_tx": 1, "memory": 0.25},
        }
    )
    reads = scenario.workload.page_reads_per_tx(scenario.profile.memory.buffer_pool_pages)
    found = run_array(disks, 8, 1.0, outstanding=users, seconds=40, warmup_s=2)
    assert steady(scenario).throughput_s * reads == pytest.approx(found.iops, rel=within)


def test_the_load_of_a_flow_drives_an_array():
    """Started from a flow state: the array takes the load's requests within 3 %, and the flow has not moved."""
    flow = Flow(Scenario.default("dell-r710-ps6100xv-1", 1).with_settings({"noise": 0, "k": 4}))
    flow.advance(120.0)
    was = flow.now_s, flow.totals("sql1")
    requests_s, reads, size_kb = load_of(flow)
    assert (flow.now_s, flow.totals("sql1")) == was
    array = DiskArray.load("dell-ps6100xv")
    found = run_array(array, size_kb, reads, fill=0.62, arrivals_s=requests_s, seconds=20)
    assert found.iops == pytest.approx(requests_s, rel=0.03) and found.lost == 0
    block = flow.copy().advance(5.0)
    latency = block.values[-1][block.columns.index(("sql1", "data_read_latency_s"))]
    assert latency == pytest.approx(found.read_s, rel=0.15)
    with pytest.raises(UsageError, match="asks nothing of its data volume"):
        load_of(Flow(Scenario.default("hpe-dl380-gen9-ssd", 1).with_settings(users=0)))


def test_latency_of_open_load_beside_the_closed_form():
    """At a tenth of the load within 3 %; above it the closed form is no lower: in it a drive never takes the nearest."""
    array = wide("dell-ps6100xv")
    most = sustained(array, 8, 1.0, 0.62).iops
    for load in (0.1, 0.25, 0.5):
        found = run_array(array, 8, 1.0, fill=0.62, arrivals_s=load * most, seconds=40)
        told = read_latency_ms(array, 8, 1.0, 0.62, load * most) * 1e-3
        assert found.read_s == pytest.approx(told, rel=0.03) if load == 0.1 else found.read_s < told


def test_the_same_seed_is_the_same_run():
    """Digest of the event order; another seed gives another; compiled or not is the same."""
    array = wide("das-24x10k")
    one, two, other = (run_array(array, outstanding=20, seconds=0.5, seed=seed) for seed in (1, 1, 2))
    assert one == two and one.digest != other.digest
    told = []
    for numba in ("0", "1" if COMPILED else "0"):
        env = {**os.environ, "AGLAB_NUMBA": numba}
        told.append(subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True).stdout)
    assert told[0] == told[1] and "digest" in told[0]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "outstanding=0 and arrivals_s=0: one of them must be > 0"),
        ({"outstanding": 5, "arrivals_s": 5}, "one of them must be > 0"),
        ({"outstanding": -1}, "outstanding=-1 must be >= 0"),
        ({"outstanding": 1, "io_kb": 4096}, "io_kb=4096 must be <= 1024 KB"),
        ({"outstanding": 1, "read_share": 2}, "read_share=2 must be <= 1"),
        ({"outstanding": 1, "seconds": 0}, "seconds=0 must be >= 0.001 s"),
    ],
)
def test_a_wrong_request_is_one_clear_error(changes, expected):
    """Values out of range, and a load that no queue can hold, are named."""
    with pytest.raises(UsageError) as error:
        run_array(DiskArray.load("dell-ps6100xv"), **changes)
    assert expected in str(error.value) and ";" in str(error.value)


def test_a_queue_that_would_overflow_voids_the_run(monkeypatch):
    """A drive's queue has a limit; an operation beyond it is an error and never dropped in silence."""
    monkeypatch.setattr(array_events, "_QUEUE_SHARE", 0)
    monkeypatch.setattr(array_events, "_QUEUE_LEAST", 0)
    with pytest.raises(UsageError, match=r"queue grew beyond \d+ operations .*the load is more than the array does; lower"):
        run_array(DiskArray.load("dell-ps6100xv"), 8, 1.0, arrivals_s=1e5, seconds=1)


def test_an_overload_loses_arrivals_and_says_how_many():
    """More than the volume does: throughput is its most, and the rest is counted."""
    found = run_array(SSD, 8, 1.0, arrivals_s=2e6, seconds=0.1, warmup_s=0.05)
    assert found.iops == pytest.approx(SSD.random_iops(1.0), rel=0.03) and found.lost > 0
