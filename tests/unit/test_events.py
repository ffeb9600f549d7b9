"""The event kernel: same run on every path, the flow within 3 %, closed forms, and clear refusals."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from aglab.core.errors import UsageError
from aglab.engine import COMPILED, Flow
from aglab.engine.events import run_events
from aglab.scenario import Scenario

SCRIPT = """
from aglab.engine import COMPILED
from aglab.engine.events import run_events
from aglab.scenario import Scenario
found = [run_events(Scenario.default(replicas=n).with_settings(users=u, read_only_share=r), 0.03, warmup_s=0.01)
         for n, u, r in ((1, 9, 0), (3, 40, 0.5), (3, 125, 0))]
print(COMPILED, *[(run.digest, run.events, repr(run.commit_s)) for run in found])
"""


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("users", [1, 10, 40, 125, 400])
def test_flow_and_events_agree(replicas, users):
    """Throughput within 3 %, commit within 10 %, from one user to saturation, alone and with two synchronous replicas."""
    found = run_events(Scenario.default(replicas=replicas).with_settings(users=users), 2.0 if users < 10 else 0.6)
    assert found.throughput_s == pytest.approx(found.flow.throughput_s, rel=0.03)
    assert found.commit_s == pytest.approx(found.flow.commit_s, rel=0.10)
    assert found.commit_median_s <= found.commit_p99_s


def test_the_same_seed_is_the_same_run():
    """Digest of the event order; another seed gives another."""
    scenario = Scenario.default(replicas=3)
    one, two, other = (run_events(scenario, 0.05, seed=seed) for seed in (4, 4, 5))
    assert one == two and one.digest != other.digest


def test_compiled_and_plain_python_give_the_same_events():
    """One source, two ways to run it, one order of events."""
    seen = []
    for wanted in ("0", "1") if COMPILED else ("0",):
        environment = {**os.environ, "AGLAB_NUMBA": wanted}
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, timeout=110)
        assert done.returncode == 0, done.stderr
        seen.append(done.stdout.split(maxsplit=1))
    assert seen[0][0] == "False" and all(text == seen[0][1] for _, text in seen)


def test_a_flow_is_looked_at_as_it_runs():
    """The users of a running flow, not those of its scenario."""
    flow = Flow(Scenario.default(replicas=1))
    flow.change(users=8)
    flow.advance(1)
    found = run_events(flow, 0.3)
    assert found.throughput_s == pytest.approx(run_events(flow.scenario.with_settings(users=8), 0.3).throughput_s)


def test_reads_never_wait_and_groups_grow_with_load():
    """Read-only transactions make no log; commits per flush rise with users; a block holds 60 KB."""
    reader = run_events(Scenario.default(replicas=3).with_settings(read_only_share=1), 0.1)
    assert reader.commits_s == reader.flushes_s == reader.commits_per_flush == reader.commit_s == 0
    groups = [run_events(Scenario.default(replicas=1).with_settings(users=users), 0.3) for users in (1, 10, 100, 400)]
    sizes = [found.commits_per_flush for found in groups]
    assert sizes == sorted(sizes) and sizes[0] == pytest.approx(1, rel=0.01)
    assert all(found.log_bytes_s / found.flushes_s <= 60 * 1024 for found in groups)


def test_a_distant_replica_costs_its_round_trip():
    """One user: the commit grows by exactly the round trip."""
    near, far = (run_events(Scenario.default(replicas=2).with_settings(users=1, rtt_us=rtt), 1.0).commit_s for rtt in (50, 5050))
    assert far - near == pytest.approx(5e-3, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "seconds", "message"),
    [({}, 0, "seconds=0 must be >= 0.001 s"), ({"users": 0}, 1, r"users=0(\.0)? must be >= 1 users")],
)
def test_impossible_input_is_refused(settings, seconds, message):
    """Field, value, limit."""
    with pytest.raises(UsageError, match=message):
        run_events(Scenario.default(replicas=1).with_settings(settings), seconds)
    with pytest.raises(UsageError, match="warmup_s=-1 must be >= 0"):
        run_events(Scenario.default(replicas=1), 1, warmup_s=-1)
