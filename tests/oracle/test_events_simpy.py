"""The event kernel beside SimPy on the same model, and beside the machine repairman, with intervals over seeds."""

from __future__ import annotations

import statistics

import pytest
from simpy_models import simpy_pipeline
from test_queues import processors_only, repairman

from aglab.engine.events import run_events
from aglab.scenario import Scenario

SEEDS = (1, 2, 3, 4)


@pytest.mark.parametrize(("replicas", "users"), [(1, 20), (1, 125), (3, 60)])
def test_the_pipeline_agrees_with_simpy(replicas, users):
    """Throughput within 2 % and commit time within 5 % of the same model in SimPy."""
    scenario = Scenario.default(replicas=replicas).with_settings({"users": users, "constants.base_cpu_cores": 0})
    ours = [run_events(scenario, 0.5, seed=seed) for seed in SEEDS]
    found = ours[0].flow
    elsewhere = max(0.0, found.cpu_util * 64 - found.throughput_s * found.cpu_s)
    servers = round(max(1.0, 64 - elsewhere))
    commits, wait = simpy_pipeline(scenario, found.think_s + found.read_s, found.cpu_s, servers, 0.25, 7)
    assert statistics.fmean(run.throughput_s for run in ours) == pytest.approx(commits, rel=0.02)
    assert statistics.fmean(run.commit_s for run in ours) == pytest.approx(wait, rel=0.05)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_processors_are_a_machine_repairman(ratio):
    """Exact throughput lies within four standard errors of the mean over seeds, and within 1.5 %."""
    cpu, think, servers = 1e-3, 9e-3, 8
    users = round(ratio * servers * (think + cpu) / cpu)
    scenario = processors_only(users, think * 1e6, cpu * 1e6, servers)
    rates = [run_events(scenario, 5.0, seed=seed).throughput_s for seed in SEEDS]
    exact = repairman(users, think, cpu, servers)
    mean, error = statistics.fmean(rates), statistics.stdev(rates) / len(rates) ** 0.5
    assert abs(mean - exact) <= 4 * error + 1e-3 * exact
    assert mean == pytest.approx(exact, rel=0.015)
