"""The flow engine can be advanced, changed, copied and resumed, and each input moves the result as physics says."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from aglab.core.counters import BY_KEY
from aglab.core.errors import UsageError
from aglab.engine import Flow, steady
from aglab.engine.layout import TOTALS
from aglab.record import Run
from aglab.scenario import Change, Scenario

STATE = ("st", "seg", "cl", "tot")


def digest(flow: Flow) -> str:
    """A digest of the whole state."""
    return hashlib.sha256(b"".join(getattr(flow.state, name).tobytes() for name in STATE)).hexdigest()


@pytest.fixture
def group() -> Scenario:
    """Three synchronous replicas with -k750."""
    return Scenario.default().with_settings(k=750)


@pytest.fixture
def alone() -> Scenario:
    """A standalone server without throttle or noise."""
    return Scenario.default(replicas=1).with_settings(noise=0)


def test_pieces_make_the_whole(group):
    """Ten seconds are ten times one second, bit for bit."""
    one, ten = Flow(group), Flow(group)
    one.advance(10)
    for _ in range(10):
        ten.advance(1)
    assert digest(one) == digest(ten)
    assert one.now_s == pytest.approx(10)


def test_times_between_ticks_are_exact(group):
    """Odd steps end where they should, sample once per second, and hardly change the result."""
    odd, even = Flow(group), Flow(group)
    blocks = [odd.advance(step) for step in (0.03, 0.05, 0.0, 1.234, 0.686, 3.0)]
    even.advance(5)
    assert odd.now_s == pytest.approx(5.0)
    assert np.concatenate([block.time_s for block in blocks]).tolist() == [1, 2, 3, 4, 5]
    assert odd.totals("sql1")["transactions"] == pytest.approx(even.totals("sql1")["transactions"], rel=0.01)


def test_a_copy_goes_on_alike_and_apart(group):
    """A copy continues exactly as the original would, and shares nothing with it."""
    flow = Flow(group)
    flow.advance(12.345)
    twin = flow.copy()
    flow.advance(5)
    before = digest(flow)
    twin.change(users=1)
    twin.advance(5)
    assert digest(flow) == before != digest(twin)
    again = Flow(group)
    again.advance(12.345)
    other = again.copy()
    again.advance(5)
    other.advance(5)
    assert digest(again) == digest(other) == before


def test_the_seed_decides(group):
    """Same seed, same state; another seed, another; without noise the seed does nothing."""
    runs = {}
    for seed, noise in ((1, 0.02), (1, 0.02), (2, 0.02), (1, 0.0), (2, 0.0)):
        flow = Flow(group.with_settings(noise=noise), seed=seed)
        flow.advance(5)
        runs.setdefault((seed, noise), []).append(flow.state.tot.tobytes())
    assert runs[1, 0.02][0] == runs[1, 0.02][1] != runs[2, 0.02][0]
    assert runs[1, 0.0] == runs[2, 0.0]


def test_a_block_holds_every_counter(group):
    """One column per node and counter, one row per sample; totals and gauges answer by name."""
    flow = Flow(group)
    block = flow.advance(3)
    assert block.values.shape == (3, len(block.columns)) and len(block.columns) == 3 * len(BY_KEY)
    assert flow.advance(0.5).values.shape == (0, len(block.columns))
    assert np.isfinite(block.values).all()
    assert set(flow.totals("sql2")) == set(TOTALS)
    wanted = "cpu_percent percent_log_used log_used_kb log_send_queue_kb recovery_queue_kb redo_rate_kb_s"
    assert {*wanted.split(), "log_send_rate_kb_s", "dirty_pages"} <= set(flow.gauges("sql2"))
    assert {"lsn_sent", "lsn_received", "lsn_hardened", "lsn_redone"} <= set(flow.gauges("sql1"))
    column = block.columns.index(("sql1", "transactions_per_s"))
    assert block.values[:, column].sum() == pytest.approx(flow.totals("sql1")["transactions"] * 3 / 3.5, rel=0.02)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), "1"])
def test_time_only_moves_on(group, seconds):
    """A negative or endless step is refused."""
    with pytest.raises(UsageError, match="seconds="):
        Flow(group).advance(seconds)


def test_unknown_nodes_and_changes_are_refused_whole(group):
    """An error changes nothing, not even the good half."""
    flow = Flow(group)
    before = digest(flow)
    with pytest.raises(UsageError, match="did you mean 'users'"):
        flow.change(k_mb_s=100, usres=3)
    with pytest.raises(UsageError, match="node 'sql9' is not known"):
        flow.totals("sql9")
    with pytest.raises(UsageError, match="node 'sql9' is not known"):
        flow.gauges("sql9")
    assert digest(flow) == before


def test_no_users_no_work(group):
    """users=0 stops the workload; users again starts it."""
    flow = Flow(group)
    flow.advance(2)
    flow.change(users=0)
    before = flow.totals("sql1")["transactions"]
    flow.advance(2)
    assert flow.totals("sql1")["transactions"] == before
    assert flow.gauges("sql1")["transactions_per_s"] == 0
    flow.change(users=100)
    flow.advance(2)
    assert flow.totals("sql1")["transactions"] > before


def test_k_does_nothing_under_indirect_checkpoint(alone):
    """With TARGET_RECOVERY_TIME the throttle changes no bit, and pages are the background writer's."""
    flows = [Flow(alone.with_settings(checkpoint="indirect", k=k)) for k in (0, 750)]
    for flow in flows:
        flow.advance(60)
    assert np.array_equal(flows[0].state.tot, flows[1].state.tot)
    totals = flows[0].totals("sql1")
    assert totals["checkpoint_pages"] == 0 < totals["background_writer_pages"]
    assert flows[0].gauges("sql1")["recovery_estimate_s"] <= 65


def test_k_caps_automatic_and_manual_checkpoints(alone):
    """No second writes more pages than -k allows; without it the volume is driven to its limit."""
    for change in ({}, {"checkpoint": True}):
        flow = Flow(alone.with_settings(k=500))
        flow.advance(2)
        if change:
            flow.change("sql1", **change)
        block = flow.advance(60)
        pages = block.values[:, block.columns.index(("sql1", "checkpoint_pages_per_s"))]
        assert 0 < pages.max() <= 64_000 * (1 + 1e-9)
    flow = Flow(alone)
    block = flow.advance(60)
    pages = block.values[:, block.columns.index(("sql1", "checkpoint_pages_per_s"))]
    assert pages.max() > 190_000


def test_a_checkpoint_statement_runs_under_indirect_too(alone):
    """CHECKPOINT sweeps all dirty pages whatever writes them otherwise."""
    flow = Flow(alone.with_settings(checkpoint="indirect"))
    flow.advance(5)
    flow.change("sql1", checkpoint=True)
    flow.advance(60)
    assert flow.gauges("sql1")["checkpoints"] == 1
    assert flow.totals("sql1")["checkpoint_pages"] > 0


def test_changing_the_target_switches_the_writer(alone):
    """ALTER DATABASE ... SET TARGET_RECOVERY_TIME moves pages from checkpoint to background writer at once."""
    flow = Flow(alone)
    flow.advance(5)
    flow.change(target_recovery_s=60)
    flow.advance(60)
    first = flow.totals("sql1")
    flow.advance(30)
    assert flow.totals("sql1")["checkpoint_pages"] == first["checkpoint_pages"]
    assert flow.totals("sql1")["background_writer_pages"] > first["background_writer_pages"]
    flow.change(target_recovery_s=0)
    flow.advance(60)
    assert flow.totals("sql1")["checkpoint_pages"] > first["checkpoint_pages"]


def test_a_short_target_writes_many_segments_a_tick(alone):
    """A target of one second sweeps the hot set each second and keeps recovery short."""
    flow = Flow(alone.with_settings(target_recovery_s=1, users=10))
    flow.advance(20)
    assert 0 < flow.gauges("sql1")["recovery_estimate_s"] < 2


def test_the_log_fills_and_a_backup_frees_it(alone):
    """Without log backups the log grows to its size and work stops (9002); a backup lets it go on."""
    flow = Flow(alone.with_settings(log_gb=10, k=750))
    flow.advance(60)
    assert flow.gauges("sql1")["percent_log_used"] >= 99.9
    stuck = flow.totals("sql1")["transactions"]
    flow.advance(60)
    assert flow.totals("sql1")["transactions"] == stuck
    flow.change(log_backup=True)
    flow.advance(40)
    assert flow.totals("sql1")["transactions"] > stuck


def test_no_replica_keeps_more_log_than_the_files_hold(group):
    """After a secondary has redone a long queue: files are cut at one place, so no other overflows before the primary fills."""
    scenario = group.with_settings({"k": 0, "checkpoint": "indirect", "log_gb": 12, "log_backup_every_s": 20, "mode": "async"})
    flow = Flow(scenario)
    flow.change("sql2", connected=False)
    flow.advance(60)
    flow.change("sql2", connected=True)
    block = flow.advance(60)
    used = block.values[:, [index for index, (_, key) in enumerate(block.columns) if key == "percent_log_used"]]
    assert used[:, 0].max() > 90.0
    assert (used <= used[:, :1] + 0.5).all() and used.max() < 101.0


@pytest.mark.parametrize("settings", [{"recovery_model": "SIMPLE"}, {"log_backup_every_s": 5}])
def test_log_is_reused_in_simple_recovery_or_with_backups(alone, settings):
    """The log then holds what crash recovery needs and little more."""
    flow = Flow(alone.with_settings(k=750, **settings))
    flow.advance(300)
    kept = flow.gauges("sql1")["log_since_checkpoint_kb"]
    assert kept <= flow.gauges("sql1")["log_used_kb"] < 1.3 * kept + 3e6


def test_a_lost_replica_makes_a_queue_that_drains(group):
    """Cut off, a secondary's send queue grows and commits do not wait for it; linked again, it catches up."""
    flow = Flow(group.with_settings(users=20, replicas=2))
    flow.advance(10)
    waiting = flow.totals("sql1")
    flow.change("sql2", connected=False)
    flow.advance(10)
    without = flow.totals("sql1")
    assert flow.gauges("sql2")["log_send_queue_kb"] > 0
    assert without["wait_ms.HADR_SYNC_COMMIT"] == waiting["wait_ms.HADR_SYNC_COMMIT"]
    assert without["transactions"] - waiting["transactions"] > waiting["transactions"]
    flow.change("sql2", connected=True)
    flow.advance(30)
    assert flow.gauges("sql2")["log_send_queue_kb"] == 0
    assert flow.totals("sql1")["wait_ms.HADR_SYNC_COMMIT"] > without["wait_ms.HADR_SYNC_COMMIT"]


def test_suspended_redo_makes_a_recovery_queue(group):
    """Log is still hardened, nothing is redone, and resuming drains the queue at the redo rate."""
    flow = Flow(group.with_settings(users=4))
    flow.advance(5)
    flow.change("sql3", suspended=True)
    redone = flow.gauges("sql3")["lsn_redone"]
    flow.advance(10)
    assert flow.gauges("sql3")["lsn_redone"] == redone
    assert flow.gauges("sql3")["recovery_queue_kb"] > 0 == flow.gauges("sql2")["recovery_queue_kb"]
    flow.change("sql3", suspended=False)
    flow.advance(30)
    assert flow.gauges("sql3")["recovery_queue_kb"] == 0


def test_redo_is_bound_by_its_dispatcher(group):
    """On 2016 RTM redo stops at 51.2 MB/s while 213 MB/s arrive; 2022 redoes more."""
    old = Flow(group)
    old.advance(20)
    new = Flow(group.with_settings(version="2022"))
    new.advance(20)
    assert old.gauges("sql2")["redo_rate_kb_s"] * 1024 == pytest.approx(51.2e6, rel=0.01)
    assert new.gauges("sql2")["redo_rate_kb_s"] > 2 * old.gauges("sql2")["redo_rate_kb_s"]


def test_a_new_primary_redoes_its_queue_first(group):
    """After a failover nothing runs until the recovery queue is redone; then the new primary serves."""
    flow = Flow(group)
    flow.advance(20)
    queue = flow.gauges("sql2")["recovery_queue_kb"]
    flow.change(primary="sql2")
    flow.change(primary="sql2")
    assert flow.primary == "sql2"
    flow.advance(5)
    assert flow.totals("sql2")["transactions"] == pytest.approx(20 * 51.2e6 / 3006, rel=0.05)
    assert flow.gauges("sql2")["recovery_queue_kb"] < queue
    flow.advance(queue * 1024 / 51.2e6)
    assert flow.gauges("sql2")["transactions_per_s"] > 50_000
    assert flow.gauges("sql1")["is_primary"] == 0
    assert flow.gauges("sql1")["lsn_hardened"] <= flow.gauges("sql2")["lsn_hardened"]


def test_an_asynchronous_primary_waits_for_nobody(group):
    """Both ends must commit synchronously: with the primary asynchronous, throughput is that of asynchronous secondaries."""
    rates = {}
    for modes in ({}, {"sql1": "ASYNCHRONOUS_COMMIT"}, {"sql2": "ASYNCHRONOUS_COMMIT", "sql3": "ASYNCHRONOUS_COMMIT"}):
        flow = Flow(group.with_settings({"noise": 0, "rtt_us": 5000}))
        for node, mode in modes.items():
            flow.change(node, availability_mode=mode)
        flow.advance(5)
        rates[tuple(modes)] = flow.totals("sql1")["transactions"]
    assert rates["sql1",] == rates["sql2", "sql3"] > 1.5 * rates[()]


def test_log_ahead_of_the_new_primary_is_lost(group):
    """A forced failover to an asynchronous replica that lags cuts the old primary's log back."""
    flow = Flow(group.with_settings(mode="async"))
    flow.advance(5)
    flow.change("sql2", connected=False)
    flow.advance(5)
    ahead = flow.gauges("sql1")["lsn_hardened"]
    flow.change(primary="sql2")
    assert flow.gauges("sql1")["lsn_hardened"] == flow.gauges("sql2")["lsn_hardened"] < ahead


def test_a_run_has_its_timeline_and_its_label(group):
    """run() warms up, applies the timeline on time, and says where its numbers come from."""
    import dataclasses

    timed = dataclasses.replace(
        group.with_settings(warmup_s=5, duration_s=20),
        timeline=(Change(10, {"users": 0}), Change(15, {"connected": False}, "sql2"), Change(99, {"users": 5})),
        database="Sales",
    )
    seen = []
    run = Flow(timed).run(progress=lambda done, total, label="": seen.append((done, total)))
    assert isinstance(run, Run) and run.nodes == ["sql1", "sql2", "sql3"]
    rates = run.series("SQLServer:Databases(Sales)\\Transactions/sec")
    assert len(rates) == 20 and rates.index[0] == 1
    assert rates.loc[:10].min() > 60_000 and rates.loc[11:].max() == 0
    assert [(event["time_s"], event["event"]) for event in run.events] == [(10, "users"), (15, "connected")]
    assert seen[-1] == (pytest.approx(25), 25)
    assert run.label == "SIMULATED, profile hpe-dl380-gen9-ssd"
    assert run.provenance["seed"] == 1 and run.provenance["calibration"]


# key, two values; whether throughput rises (+1), falls (-1) or stays (0) from the first to the second
DIRECTIONS = [
    ("users", 20, 100, 1),
    ("cores", 8, 32, 1),
    ("ghz", 2.0, 3.5, 1),
    ("threads_per_core", 1, 2, 1),
    ("ht_yield", 1.1, 1.5, 1),
    ("log_ssds", 4, 8, 1),
    ("log_write_us", 50, 500, -1),
    ("rtt_us", 10, 2000, -1),
    ("bandwidth_gbit_s", 5, 80, 1),
    ("replicas", 1, 3, -1),
    ("mode", "sync", "async", 1),
    ("cpu_us", 200, 500, -1),
    ("think_us", 100, 5000, -1),
    ("log_bytes_per_tx", 500, 20000, -1),
    ("cold_touches_per_tx", 0.1, 5, -1),
    ("read_only_share", 0.0, 0.9, 1),
    ("memory", 64, 1024, 1),
    ("constants.sync_overhead_us", 0, 1000, -1),
    ("constants.send_ns_per_byte", 0, 100, -1),
    ("constants.base_cpu_cores", 0, 4, -1),
    ("version", "2014", "2016", 1),
]


@pytest.mark.parametrize(("key", "first", "second", "sign"), DIRECTIONS)
def test_each_input_moves_throughput_as_physics_says(key, first, second, sign):
    """In balance, one input at a time, on three replicas."""
    base = Scenario.default()
    x = [steady(base.with_settings({key: value})).throughput_s for value in (first, second)]
    assert (x[1] - x[0]) * sign > 1e-4 * x[0]


RUN_DIRECTIONS = [
    ("k", 250, 750, "log_since_checkpoint_kb", -1),
    ("k", 250, 750, "checkpoint_pages", 1),
    ("hot_pages", 1e6, 6e6, "checkpoint_pages", 1),
    ("page_touches_per_tx", 1, 5, "checkpoint_pages", 1),
    ("recovery_interval_min", 1, 5, "checkpoint_pages", -1),
    ("ssds", 4, 12, "transactions", 1),
    ("data_write_mb_s", 300, 1000, "transactions", 1),
    ("target_recovery_s", 60, 240, "background_writer_pages", -1),
    ("constants.backoff_ms_2016", 10, 100, "transactions", -1),
    ("constants.page_write_us", 0, 50, "cpu_ms", 1),
]


@pytest.mark.parametrize(("key", "first", "second", "what", "sign"), RUN_DIRECTIONS)
def test_each_input_moves_a_run_as_physics_says(alone, key, first, second, what, sign):
    """Inputs that act through checkpoints, over ten minutes standalone."""
    seen = []
    for value in (first, second):
        flow = Flow(alone.with_settings({key: value}))
        flow.advance(600)
        seen.append(flow.totals("sql1").get(what, flow.gauges("sql1").get(what)))
    assert (seen[1] - seen[0]) * sign > 0


def test_slower_devices_behind_a_limit_are_never_faster():
    """A limit of the volume is one queue before all: more channels behind it shorten no wait."""
    base = Scenario.default("cloud-vm-capped", 1).with_settings({"noise": 0})
    for pages_s in (0.0, 500.0):
        rates = [
            steady(base.with_settings({"hardware.data.read_latency_us": us}), pages_s).throughput_s
            for us in (50, 200, 1000, 6000)
        ]
        assert rates == sorted(rates, reverse=True)


def test_too_low_a_throttle_costs_recovery_and_log(alone):
    """Throughput hardly changes below -k750, but recovery time and log that cannot be reused grow."""
    worst, kept = [], []
    for k in (750, 250, 100):
        flow = Flow(alone.with_settings(k=k))
        recovery, used = [], []
        for _ in range(120):
            flow.advance(10)
            recovery.append(flow.gauges("sql1")["recovery_estimate_s"])
            used.append(flow.gauges("sql1")["log_since_checkpoint_kb"])
        worst.append(max(recovery))
        kept.append(max(used))
    assert worst[0] * 2 < worst[1] < worst[2] and kept[0] * 2 < kept[1] < kept[2]


def test_steady_state_refuses_nonsense(alone):
    """A negative page rate is refused."""
    with pytest.raises(UsageError, match="pages_s=-1"):
        steady(alone, -1)


def test_simple_recovery_lets_the_log_be_reused_and_full_keeps_it():
    """Under simple recovery the log in use shrinks with each checkpoint; back under full it grows from there."""
    flow = Flow(Scenario.default(replicas=1).with_settings({"checkpoint": "automatic"}), seed=1)
    flow.advance(300)
    full = flow.gauges("sql1")["percent_log_used"]
    flow.change(simple_recovery=True)
    flow.advance(60)
    assert flow.gauges("sql1")["percent_log_used"] < full / 3
    flow.change(simple_recovery=False)
    flow.advance(300)
    assert flow.gauges("sql1")["percent_log_used"] > full / 2


def test_a_clean_restart_leaves_no_dirty_page_and_nothing_to_recover():
    """After a clean stop and start there is nothing to write or redo, even with a throttle that never caught up."""
    flow = Flow(Scenario.default(replicas=1).with_settings({"checkpoint": "automatic", "k": 20}), seed=1)
    flow.advance(300)
    assert flow.gauges("sql1")["dirty_pages"] > 1e6
    flow.change("sql1", restart=True)
    gauges = flow.gauges("sql1")
    assert gauges["dirty_pages"] < 1.0 and gauges["recovery_estimate_s"] == 0.0 and not gauges["checkpoint_running"]


def test_indirect_checkpoint_frees_a_log_that_a_throttled_checkpoint_filled():
    """With the log full behind -k10, TARGET_RECOVERY_TIME = 60 s lets the background writer free it; work goes on."""
    scenario = Scenario.default(replicas=1).with_settings({"checkpoint": "automatic", "k": 10, "recovery_model": "SIMPLE"})
    flow = Flow(scenario, seed=1)
    flow.advance(2400)
    assert flow.gauges("sql1")["percent_log_used"] > 99.0
    flow.change("sql1", target_recovery_s=60)
    flow.advance(300)
    assert flow.gauges("sql1")["percent_log_used"] < 5.0
    before = flow.totals("sql1")["transactions"]
    flow.advance(100)
    assert (flow.totals("sql1")["transactions"] - before) / 100 > 10_000
