"""The event kernel beside SimPy on the same model, and beside the machine repairman, with intervals over seeds."""

from __future__ import annotations

import random
import statistics

import pytest
import simpy
from test_queues import processors_only, repairman

from aglab.engine import layout as at
from aglab.engine.events import run_events
from aglab.engine.params import build
from aglab.scenario import Scenario

SEEDS = (1, 2, 3, 4)


def simpy_pipeline(scenario: Scenario, think: float, cpu: float, servers: int, seconds: float, seed: int) -> tuple[float, float]:
    """Commits/s and mean commit time: users, processors, a log writer, blocks sent to equal synchronous replicas."""
    here, ct, wl = build(scenario).hw[0], build(scenario).ct, build(scenario).wl
    others = len(scenario.replicas) - 1
    send = min(here[at.H_NET_BW] / max(1, others), ct[at.C_TRANSPORT_CAP])
    draw = random.Random(seed)
    env = simpy.Environment()
    cores = simpy.Resource(env, servers)
    volume, link, remote = (simpy.Resource(env, 1) for _ in range(3))
    waiting: list[simpy.Event] = []
    wake = [env.event()]
    flying = [0]
    waits: list[float] = []

    def busy(station, time):
        with station.request() as turn:
            yield turn
            yield env.timeout(time)

    def local(size):
        yield env.process(busy(volume, size / here[at.H_LOG_BW]))
        yield env.timeout(here[at.H_LOG_LAT])
        flying[0] -= 1
        env.process(turn_around())

    def turn_around():
        yield env.timeout(ct[at.C_LOG_TURN])
        if not wake[0].triggered:
            wake[0].succeed()

    def away(size):
        yield env.process(busy(link, size / send))
        yield env.timeout(here[at.H_RTT] / 2)
        yield env.process(busy(remote, size / here[at.H_LOG_BW]))
        yield env.timeout(here[at.H_LOG_LAT] + here[at.H_RTT] / 2)

    def write(group):
        size = len(group) * wl[at.W_LOG]
        parts = [env.process(local(size))]
        if others:
            parts.append(env.process(away(size)))
        yield env.all_of(parts)
        if others:
            yield env.timeout(ct[at.C_SYNC_OVERHEAD])
        for commit in group:
            commit.succeed()

    def close():
        group, waiting[:] = list(waiting), []
        flying[0] += 1
        env.process(write(group))

    idle = [True]

    def writer():
        while True:
            yield wake[0]
            wake[0] = env.event()
            if flying[0] == 0:
                if waiting:
                    close()
                else:
                    idle[0] = True

    def user():
        while True:
            yield env.timeout(draw.expovariate(1 / think))
            with cores.request() as turn:
                yield turn
                yield env.timeout(draw.expovariate(1 / cpu))
            begun = env.now
            if waiting and (len(waiting) + 1) * wl[at.W_LOG] > ct[at.C_LOG_BLOCK]:
                close()
            commit = env.event()
            waiting.append(commit)
            if idle[0] and flying[0] == 0:
                idle[0] = False
                close()
            yield commit
            waits.append(env.now - begun)

    env.process(writer())
    for _ in range(round(scenario.settings.users)):
        env.process(user())
    env.run(until=seconds)
    return len(waits) / seconds, statistics.fmean(waits)


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
