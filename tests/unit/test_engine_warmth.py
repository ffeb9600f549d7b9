"""A cold buffer pool after a restart or a failover: reads come back, and go as pages are in memory again."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow
from aglab.engine import layout as at
from aglab.scenario import Scenario


def flow(replicas: int = 1, **settings) -> Flow:
    """A small warm server; the setting is on unless given."""
    usual = {"noise": 0, "k": 200, "warehouses": 500, "users": 40, "log_gb": 1e4, "buffer_pool": "cold after restart"}
    running = Flow(Scenario.default("hpe-dl380-gen9-ssd", replicas).with_settings({**usual, **settings}))
    running.advance(10)
    return running


def step(running: Flow, seconds: float = 1, node: str = "sql1") -> dict[str, float]:
    """What totals grew by."""
    before = running.totals(node)
    running.advance(seconds)
    after = running.totals(node)
    return {name: after[name] - before[name] for name in after}


def test_a_restart_reads_its_pages_again():
    """First slower and reading, then as before; each page is read about once, in extents first."""
    running = flow(cold_touches_per_tx=0)
    before = step(running)
    running.change("sql1", restart=True)
    missing = running.state.st[0, at.S_COLD_HOT]
    assert running.gauges("sql1")["buffer_pool_missing_pages"] >= missing == running.scenario.workload.hot_pages
    first = step(running, 0.2)
    assert first["transactions"] / 0.2 < before["transactions"] and first["page_reads"] > 0.05 * first["transactions"]
    assert 8192 < first["data_bytes_read"] / first["data_reads"] <= 65536 + 1
    left = [missing]
    for _ in range(60):
        running.advance(5)
        left.append(running.state.st[0, at.S_COLD_HOT])
    assert left == sorted(left, reverse=True) and left[-1] < 0.05 * missing
    assert step(running)["transactions"] == pytest.approx(before["transactions"], rel=0.02)


def test_a_warm_pool_is_the_default():
    """Nothing is missing unless asked for."""
    running = flow(buffer_pool="warm")
    running.change("sql1", restart=True)
    assert running.gauges("sql1")["buffer_pool_missing_pages"] == 0
    assert flow().gauges("sql1")["buffer_pool_missing_pages"] == 0


def test_a_new_primary_has_hot_pages_and_no_cold_ones():
    """It reads what its predecessor held; a restarted secondary reads what redo touches."""
    group = flow(2, cold_touches_per_tx=1.0, version="2022")
    quiet = step(group)
    group.change(primary="sql2")
    group.advance(2)
    moved = step(group, node="sql2")
    assert moved["page_reads"] / moved["transactions"] > quiet["page_reads"] / quiet["transactions"] + 0.1
    group.change("sql1", restart=True)
    assert step(group)["page_reads"] > 0
    left = group.gauges("sql1")["buffer_pool_missing_pages"]
    group.advance(20)
    assert group.gauges("sql1")["buffer_pool_missing_pages"] < left


def test_a_cold_pool_never_helps():
    """Whatever the load, no more gets through in the minute after a restart."""
    for settings in ({"users": 1}, {"users": 300}, {"memory": 20}, {"read_only_share": 0.9}):
        cold, warm = flow(**settings), flow(buffer_pool="warm", **settings)
        for running in (cold, warm):
            running.change("sql1", restart=True)
        assert step(cold, 60)["transactions"] <= step(warm, 60)["transactions"] * 1.001


def test_another_word_is_refused():
    """Two states are known."""
    with pytest.raises(UsageError, match="buffer_pool"):
        flow(buffer_pool="lukewarm")
