"""Laws of the devices around the database: arrays of spindles, backups, a log on persistent memory.

``AGLAB_LAW_EXAMPLES`` sets how many random cases each law tries.
"""

from __future__ import annotations

import dataclasses
import itertools
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aglab.engine import steady
from aglab.engine.backup import BackupJob, BackupOptions, Busy, backup_rate, restore_rate
from aglab.hardware import DiskArray, Profile, Spindle, Volume
from aglab.hardware.array_volume import ArrayVolume, array_volume
from aglab.hardware.spindles import read_latency_ms, sustained
from aglab.scenario import Scenario

EXAMPLES = settings(
    max_examples=int(os.environ.get("AGLAB_LAW_EXAMPLES", "40")), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TIGHT = 1e-6
PS = DiskArray.load("dell-ps6100xv")


@st.composite
def disk_arrays(draw) -> DiskArray:
    """A random array that every RAID level can be built of."""
    outer = draw(st.floats(60, 300))
    spindle = Spindle(
        rotation_ms=draw(st.floats(3, 12)),
        seek_min_ms=draw(st.floats(0.1, 1)),
        seek_span_ms=draw(st.floats(1, 15)),
        outer_mb_s=outer,
        inner_mb_s=outer * draw(st.floats(0.4, 1)),
        capacity_gb=draw(st.floats(70, 4000)),
    )
    drives = 2 * draw(st.integers(3, 30))
    return dataclasses.replace(
        PS, spindle=spindle, drives=drives, spares=0, cache_gb=draw(st.floats(0, 16)), links=draw(st.sampled_from([1, 4, 40]))
    )


@EXAMPLES
@given(disk_arrays(), st.floats(0, 1), st.floats(0.05, 1))
def test_law_10_larger_requests_mean_fewer_but_more_bytes(array, reads, fill):
    """IOPS never rise and MB/s never fall with the size of a request."""
    found = [sustained(array, kb, reads, fill, 200) for kb in (4, 8, 16, 32, 64)]
    assert all(b.iops <= a.iops * (1 + TIGHT) for a, b in itertools.pairwise(found))
    assert all(b.mb_s >= a.mb_s * (1 - TIGHT) for a, b in itertools.pairwise(found))


@EXAMPLES
@given(disk_arrays(), st.floats(0, 1), st.floats(0.05, 1))
def test_law_10_raid_levels_keep_their_order(array, reads, fill):
    """At one fill and a mixed load RAID 10 sustains no less than 50, and 50 no less than 6; nobody beats RAID 0."""
    found = [sustained(dataclasses.replace(array, raid=level), 8, reads, fill, 200).iops for level in ("0", "10", "50", "6")]
    assert all(a >= b * (1 - TIGHT) for a, b in itertools.pairwise(found))


@st.composite
def volumes(draw) -> Volume:
    """A random volume of flash devices that every RAID level can be built of, with limits or without."""
    return Volume(
        devices=2 * draw(st.integers(3, 20)),
        raid="10",
        read_iops=draw(st.floats(1e3, 1e6)),
        write_iops=draw(st.floats(500, 5e5)),
        read_mb_s=draw(st.floats(50, 7000)),
        write_mb_s=draw(st.floats(20, 5000)),
        read_latency_us=draw(st.floats(10, 2000)),
        write_latency_us=draw(st.floats(5, 2000)),
        capacity_gb=1000,
        max_mb_s=draw(st.sampled_from([0.0, 100.0, 1000.0])),
        max_iops=draw(st.sampled_from([0.0, 500.0, 1e5])),
    )


@EXAMPLES
@given(volumes(), st.floats(0, 1), st.floats(1, 32))
def test_law_10_flash_keeps_its_order_and_its_limits(volume, reads, pages):
    """RAID 0 does most; a limit binds reads, gathered writes and log writes alike; more devices never do less."""
    best = dataclasses.replace(volume, raid="0").random_iops(reads)
    assert volume.random_iops(reads) <= best * (1 + TIGHT)
    more = dataclasses.replace(volume, devices=volume.devices + 2)
    assert more.random_iops(reads) >= volume.random_iops(reads) * (1 - TIGHT)
    assert more.gathered_write_s(pages) <= volume.gathered_write_s(pages) * (1 + TIGHT)
    if volume.max_iops:
        assert volume.random_iops(reads) <= volume.max_iops * (1 + TIGHT)
        assert 1 / volume.gathered_write_s(pages) <= volume.max_iops * pages * (1 + TIGHT)
        assert 1 / volume.log_write_s <= volume.max_iops * (1 + TIGHT)
    if volume.max_mb_s:
        assert 8192 / volume.gathered_write_s(pages) <= volume.max_mb_s * 1e6 * (1 + TIGHT)


@EXAMPLES
@given(disk_arrays(), st.floats(0.05, 1), st.integers(1, 4))
def test_law_10_volumes_on_arrays_keep_the_order_of_raid_levels(array, fill, arrays):
    """Checkpoint writes: RAID 0 >= 10 >= 50 >= 6; arrays filled alike add up, but for what their links let through."""
    free = dataclasses.replace(array, links=1000, link_gbit_s=1000)
    made = [array_volume(free, ArrayVolume(arrays=arrays, raid=level, fill=fill)) for level in ("0", "10", "50", "6")]
    rates = [one.write_bytes_s for one in made]
    assert all(a >= b * (1 - TIGHT) for a, b in itertools.pairwise(rates))
    one = array_volume(free, ArrayVolume(raid="10", fill=fill))
    assert abs(made[1].write_bytes_s - arrays * one.write_bytes_s) <= TIGHT * made[1].write_bytes_s
    linked = array_volume(array, ArrayVolume(arrays=arrays, raid="10", fill=fill))
    assert linked.write_bytes_s <= made[1].write_bytes_s * (1 + TIGHT)


@EXAMPLES
@given(disk_arrays(), st.floats(0.1, 1), st.floats(0.05, 1))
def test_law_10_latency_is_convex_in_load(array, reads, fill):
    """Each further step of load costs at least as much latency as the one before."""
    top = sustained(array, 8, reads, fill, 200).iops * 0.9
    points = [read_latency_ms(array, 8, reads, fill, top * step / 8) for step in range(9)]
    steps = [b - a for a, b in itertools.pairwise(points) if b < float("inf")]
    assert all(step >= 0 for step in steps)
    assert all(b >= a * (1 - TIGHT) for a, b in itertools.pairwise(steps))


@EXAMPLES
@given(disk_arrays(), st.floats(0, 1), st.floats(0.05, 0.9), st.integers(2, 6))
def test_law_8_arrays_scale(array, reads, fill, count):
    """Arrays filled alike scale exactly; more than that only where the same data leaves each of them emptier."""
    one = sustained(array, 8, reads, fill, 200)
    alike = sustained(array, 8, reads, fill, 200, arrays=count)
    spread = sustained(array, 8, reads, fill, 200, arrays=count, spread=True)
    assert abs(alike.iops - count * one.iops) <= TIGHT * alike.iops
    assert spread.iops >= alike.iops * (1 - TIGHT)


@st.composite
def backups(draw) -> tuple[Profile, BackupOptions, float, Busy]:
    """A random machine, WITH clause, target and load."""
    base = Scenario.default(replicas=1).with_settings(
        {
            "cores": draw(st.sampled_from([2, 8, 32, 128])),
            "threads_per_core": draw(st.sampled_from([1, 2])),
            "ghz": draw(st.floats(1.5, 4.5)),
            "hardware.data.read_mb_s": draw(st.floats(50, 5000)),
        }
    )
    options = BackupOptions(
        devices=draw(st.integers(1, 16)),
        maxtransfersize=65536 * draw(st.sampled_from([0, 1, 4, 16, 64])),
        buffercount=draw(st.sampled_from([0, 1, 7, 50, 500])),
        compression=draw(st.booleans()),
        checksum=draw(st.booleans()),
    )
    busy = Busy(cpu=draw(st.floats(0, 0.95)), data=draw(st.floats(0, 0.9)))
    return base.profile, options, draw(st.sampled_from([0.0, 50.0, 400.0, 5000.0])), busy


@EXAMPLES
@given(backups())
def test_law_12_a_backup_obeys_each_limit(case):
    """The rate is at most what is read, compressed, buffered and written."""
    profile, options, target, busy = case
    job = backup_rate(profile, options, target, busy)
    assert 0 < job.rate_mb_s == min(job.limits.values()) == job.limits[job.limit]
    assert job.rate_mb_s <= profile.data.devices * profile.data.read_mb_s * (1 + TIGHT)
    if target:
        assert job.device_mb_s <= target * (1 + TIGHT)
    assert job.cpu_cores <= profile.cpu.cores * profile.cpu.ht_yield * (1 + TIGHT)
    back = restore_rate(profile, options, target, busy)
    assert 0 < back.rate_mb_s <= profile.data.write_bytes_s / 1e6 * (1 + TIGHT)


@EXAMPLES
@given(backups())
def test_law_12_more_never_hurts(case):
    """More buffers, larger transfers, a faster target, a less busy machine: never slower."""
    profile, options, target, busy = case
    rate = backup_rate(profile, options, target, busy).rate_mb_s
    more = dataclasses.replace(options, buffercount=options.buffers() * 2)
    larger = dataclasses.replace(options, maxtransfersize=4194304, buffercount=options.buffers())
    assert backup_rate(profile, more, target, busy).rate_mb_s >= rate * (1 - TIGHT)
    assert backup_rate(profile, larger, target, busy).rate_mb_s >= rate * (1 - TIGHT)
    assert backup_rate(profile, options, target * 2, busy).rate_mb_s >= rate * (1 - TIGHT)
    assert backup_rate(profile, options, target, Busy()).rate_mb_s >= rate * (1 - TIGHT)


@EXAMPLES
@given(
    st.integers(1, 300),
    st.floats(20, 2000),
    st.floats(0, 20000),
    st.floats(100, 20000),
    st.sampled_from([4, 16, 64]),
    st.sampled_from([1, 3]),
)
def test_law_9_a_log_in_memory_gains_its_share_and_no_more(users, old_us, think_us, log_bytes, cores, replicas):
    """Gain >= 0, at most the log's share, and smaller the faster the old device was; concave in what is saved."""
    base = Scenario.default(replicas=replicas).with_settings(
        {"users": users, "think_us": think_us, "log_bytes_per_tx": log_bytes, "cores": cores, "log_write_us": old_us}
    )
    gains = []
    for old in (old_us, old_us / 2):
        before = steady(base.with_settings(log_write_us=old))
        after = steady(base.with_settings({"log_write_us": old, "tail_of_log_us": 3}))
        ratio = after.throughput_s / before.throughput_s
        assert ratio >= 1 - TIGHT
        assert ratio <= before.response_s / (before.response_s - before.commit_s) * (1 + TIGHT)
        gains.append(ratio)
    assert gains[1] <= gains[0] * (1 + TIGHT)
    rates = [steady(base.with_settings(tail_of_log_us=copy)).throughput_s for copy in (1, 10, 19)]
    assert rates == sorted(rates, reverse=True)


@EXAMPLES
@given(backups(), st.floats(1, 200))
def test_law_13_a_backup_never_raises_throughput(case, users):
    """Foreground throughput beside a backup is at most what it is alone, and never nothing."""
    profile, options, target, _ = case
    scenario = Scenario.default(profile, 1).with_settings(users=users)
    given_options = {spec.name: getattr(options, spec.name) for spec in dataclasses.fields(BackupOptions)}
    alone = steady(scenario).throughput_s
    beside = steady(scenario, job=BackupJob(**given_options, target_mb_s=target)).throughput_s
    assert 0 < beside <= alone * (1 + TIGHT)
