"""Secondaries that are alike are computed once; nothing of a run shows it."""

from __future__ import annotations

import numpy as np
import pytest

from aglab.engine import Flow
from aglab.engine import layout as at
from aglab.scenario import Scenario
from aglab.scenario.jobs import BackupJob

CASES = [
    {"noise": 0.05, "k": 750},
    {"checkpoint": "indirect", "mode": "async", "version": "2014"},
    {"buffer_pool": "cold after restart", "log_backup_every_s": 10},
    {"log_gb": 2, "log_growth_mb": 512, "log_stream_compression": "on"},
]
PARTS = ("st", "seg", "cl", "tot", "jb")


def told_apart(flow: Flow) -> Flow:
    """The same cluster with secondaries that differ in what only a primary uses: each must be computed itself."""
    flow.params.hw[1:, at.H_NET_BW] *= 1.0 + np.arange(1, len(flow.names))
    return flow


def story(flow: Flow) -> list[bytes]:
    """Samples and state along a run in which replicas come to differ and to be alike again."""
    changes: tuple[tuple[float, str | None, dict[str, object]], ...] = (
        (6.05, "sql3", {"connected": False}),
        (1.0, "sql3", {"connected": True}),
        (0.5, None, {"users": 40, "checkpoint": True}),
        (4.3, "sql4", {"backup": BackupJob()}),
        (3.0, "sql2", {"restart": True}),
        (2.0, "sql5", {"suspended": True}),
        (4.0, None, {"users": 400}),
    )
    seen = []
    for seconds, node, values in changes:
        seen.append(flow.advance(seconds).values.tobytes())
        seen += [getattr(flow.state, part).tobytes() for part in PARTS]
        flow.change(node, **values)
    return seen


@pytest.mark.parametrize("settings", CASES)
def test_one_secondary_stands_for_another_byte_for_byte(settings):
    """Five replicas, two to four of them alike at a time, give the bytes they give when each is computed."""
    scenario = Scenario.default(replicas=5).with_settings(settings)
    assert story(Flow(scenario)) == story(told_apart(Flow(scenario)))


def test_replicas_part_where_one_is_changed():
    """Alike until one is suspended: its redo stops, the other's goes on; what it had redone is what the other had."""
    flow = Flow(Scenario.default(replicas=3))
    flow.advance(5.0)
    assert flow.totals("sql2") == flow.totals("sql3")
    before = flow.totals("sql3")["redone_bytes"]
    flow.change("sql3", suspended=True)
    flow.advance(5.0)
    assert flow.totals("sql3")["redone_bytes"] == before > 0
    assert flow.totals("sql2")["redone_bytes"] > before
    assert flow.gauges("sql3")["recovery_queue_kb"] > flow.gauges("sql2")["recovery_queue_kb"]


def test_the_log_is_free_as_soon_as_all_have_redone_it():
    """Where only replicas hold log back, none that another stands for does so between samples: a small log never fills."""
    flow = Flow(Scenario.default(replicas=3).with_settings({"log_gb": 0.2, "sample_s": 10, "version": "2022"}))
    flow.state.st[:, [at.S_BACKUP, at.S_RECOVER]] = 1e300
    flow.advance(5.0)
    assert flow.totals("sql1")["log_bytes_flushed"] > 0.5e9
    assert flow.totals("sql1")["log_full_ms"] == 0.0


@pytest.mark.parametrize("what", ["machine", "pages", "position"])
def test_any_difference_counts(what):
    """A slower volume, pages touched or log received by one secondary alone: the other does not stand for it."""
    flow = Flow(Scenario.default(replicas=3).with_settings(k=750))
    if what == "machine":
        flow.params.hw[2, at.H_WRITE_LAT] *= 2.0
    elif what == "pages":
        flow.state.seg[2, 0, :] -= 1e6
    else:
        flow.state.st[2, [at.S_LSN, at.S_SENT, at.S_REDONE]] = -1e6
    flow.change(checkpoint=True)
    flow.advance(2.0)
    two, three = flow.totals("sql2"), flow.totals("sql3")
    differs = {"machine": "data_write_stall_ms", "pages": "checkpoint_pages", "position": "log_bytes_received"}[what]
    assert two[differs] != three[differs]
