"""The C translation of the kernels computes what the kernels compute."""

from __future__ import annotations

import numpy as np
import pytest
from c_version import build, compiler

from aglab.engine import Flow, events, flow
from aglab.engine.pipeline import advance_events
from aglab.engine.tick import advance
from aglab.scenario import Scenario
from aglab.scenario.jobs import BackupJob

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")

CASES = [
    (1, {}),
    (3, {"k": 750, "noise": 0.02}),
    (2, {"checkpoint": "indirect", "mode": "async", "version": "2014"}),
    (3, {"tail_of_log_us": 5.0, "read_only_share": 0.3}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where libraries are built."""
    return tmp_path_factory.mktemp("c")


def state_after(scenario: Scenario) -> Flow:
    """A run with a backup, a cut connection and other users on the way."""
    made = Flow(scenario, seed=7)
    made.advance(20.05)
    made.change(users=50, checkpoint=True, backup=BackupJob())
    if len(scenario.replicas) > 1:
        made.change("sql2", connected=False)
    made.advance(30)
    return made


@pytest.mark.parametrize(("replicas", "settings"), CASES)
def test_the_flow_in_c_is_the_flow(replicas, settings, folder, monkeypatch):
    """Totals and state agree to 1e-9, through checkpoints, a backup and a lost replica."""
    scenario = Scenario.default(replicas=replicas).with_settings(settings)
    ours = state_after(scenario)
    monkeypatch.setattr(flow, "run_ticks", build(advance, folder, replicas))
    theirs = state_after(scenario)
    for name in ("tot", "st", "seg", "cl", "jb"):
        np.testing.assert_allclose(getattr(theirs.state, name), getattr(ours.state, name), rtol=1e-9, atol=1e-12, err_msg=name)
    assert ours.totals("sql1")["transactions"] > 0 and ours.totals("sql1")["backup_bytes"] > 0


@pytest.mark.parametrize(("replicas", "share"), [(1, 0.0), (3, 0.5), (1, 1.0)])
def test_the_events_in_c_are_the_events(replicas, share, folder, monkeypatch):
    """The same events in the same order: digest, counts and times."""
    scenario = Scenario.default(replicas=replicas).with_settings(users=40, read_only_share=share)
    ours = events.run_events(scenario, 0.05)
    monkeypatch.setattr(events, "advance_events", build(advance_events, folder))
    assert events.run_events(scenario, 0.05) == ours
