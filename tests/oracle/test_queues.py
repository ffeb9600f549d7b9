"""The flow model beside closed forms and beside SimPy on the same model.

What can be compared: processors as M/M/c, the closed network as a machine repairman, and group commit as a writer that
flushes what has gathered. The flow uses approximations (Sakasegawa's wait, a mean residual cycle); tolerances say how good.
"""

from __future__ import annotations

import math
import random

import pytest
import simpy
from simpy_models import simulate_processors

from aglab.engine import Flow, steady
from aglab.scenario import Scenario

FREE = {
    "noise": 0,
    "threads_per_core": 1,
    "cold_touches_per_tx": 0,
    "constants.base_cpu_cores": 0,
    "hot_pages": 1000,
    "log_gb": 1e5,
}


def processors_only(users: float, think_us: float, cpu_us: float, cores: int) -> Scenario:
    """A closed network of think time and processors: read-only, nothing else."""
    base = Scenario.default(replicas=1)
    return base.with_settings(
        {**FREE, "users": users, "think_us": think_us, "cpu_us": cpu_us, "cores": cores, "read_only_share": 1}
    )


def erlang_c_wait(offered: float, servers: int) -> float:
    """Mean wait of M/M/c in service times."""
    terms = sum(offered**k / math.factorial(k) for k in range(servers))
    last = offered**servers / math.factorial(servers) * servers / (servers - offered)
    return last / (terms + last) / (servers - offered)


def repairman(users: int, think: float, service: float, servers: int) -> float:
    """Throughput of the closed network with exponential think and service times (machine repairman)."""
    logs = [0.0]
    for n in range(1, users + 1):
        logs.append(logs[-1] + math.log((users - n + 1) / think * service / min(n, servers)))
    weights = [math.exp(value - max(logs)) for value in logs]
    busy = sum(w * min(n, servers) for n, w in enumerate(weights)) / sum(weights)
    return busy / service


@pytest.mark.parametrize("servers", [4, 16, 32])
@pytest.mark.parametrize("load", [0.3, 0.6, 0.8, 0.9])
def test_waiting_for_processors_is_mmc(servers, load):
    """With very many users arrivals are Poisson: the wait is Erlang's within 8 % of the response time."""
    cpu_us = 1000.0
    users = 1e6
    think = users / (load * servers / (cpu_us * 1e-6)) - cpu_us * 1e-6
    result = steady(processors_only(users, think * 1e6, cpu_us, servers))
    exact = erlang_c_wait(load * servers, servers) * cpu_us * 1e-6
    assert result.cpu_util == pytest.approx(load, rel=2e-3)
    assert result.cpu_s + result.cpu_wait_s == pytest.approx(cpu_us * 1e-6 + exact, rel=0.08)


@pytest.mark.parametrize("servers", [2, 8, 32])
@pytest.mark.parametrize("ratio", [0.3, 0.7, 1.0, 1.5, 4.0])
def test_the_closed_network_is_a_machine_repairman(servers, ratio):
    """Throughput within 12 % of the exact solution at the knee, 3 % away from it, for any number of users per server."""
    cpu, think = 1e-3, 9e-3
    users = max(1, round(ratio * servers * (think + cpu) / cpu))
    got = steady(processors_only(users, think * 1e6, cpu * 1e6, servers)).throughput_s
    exact = repairman(users, think, cpu, servers)
    assert got == pytest.approx(exact, rel=0.12 if 0.6 < ratio < 2 else 0.03)
    assert got <= min(users / (think + cpu), servers / cpu) * (1 + 1e-9)


def test_the_closed_network_agrees_with_simpy():
    """60 users on 8 processors: SimPy, the exact solution and the flow within 5 % of each other."""
    users, think, service, servers = 60, 9e-3, 1e-3, 8
    simulated = simulate_processors(users, think, service, servers, 15.0, 5)
    assert simulated == pytest.approx(repairman(users, think, service, servers), rel=0.02)
    scenario = processors_only(users, think * 1e6, service * 1e6, servers)
    assert steady(scenario).throughput_s == pytest.approx(simulated, rel=0.05)
    flow = Flow(scenario)
    flow.advance(10)
    assert flow.totals("sql1")["transactions"] / 10 == pytest.approx(simulated, rel=0.05)


def simulate_group_commit(users: int, think: float, write: float, turn: float, seconds: float, seed: int) -> tuple[float, float]:
    """Commits/s and flushes/s of a log writer that flushes what has gathered, in SimPy."""
    draw = random.Random(seed)
    env = simpy.Environment()
    waiting: list[simpy.Event] = []
    wake = [env.event()]
    counts = [0, 0]

    def writer():
        while True:
            if not waiting:
                wake[0] = env.event()
                yield wake[0]
            group, waiting[:] = list(waiting), []
            yield env.timeout(write)
            counts[1] += 1
            for commit in group:
                commit.succeed()
            yield env.timeout(turn)

    def user():
        while True:
            yield env.timeout(draw.expovariate(1 / think))
            commit = env.event()
            waiting.append(commit)
            if not wake[0].triggered:
                wake[0].succeed()
            yield commit
            counts[0] += 1

    env.process(writer())
    for _ in range(users):
        env.process(user())
    env.run(until=seconds)
    return counts[0] / seconds, counts[1] / seconds


@pytest.mark.parametrize("users", [1, 4, 20, 100])
def test_group_commit_agrees_with_simpy(users):
    """Commits and flushes per second within 10 %, from one user to a hundred."""
    think, write, turn = 2e-3, 0.2e-3, 0.07e-3
    commits, flushes = simulate_group_commit(users, think, write, turn, 8.0, 3)
    base = Scenario.default(replicas=1).with_settings({**FREE, "users": users, "cores": 64})
    scenario = base.with_settings(
        {
            "think_us": think * 1e6,
            "cpu_us": 0.01,
            "log_bytes_per_tx": 10,
            "log_write_us": write * 1e6,
            "constants.log_turnaround_us": turn * 1e6,
        }
    )
    result = steady(scenario)
    assert result.throughput_s == pytest.approx(commits, rel=0.10)
    assert result.log_flushes_s == pytest.approx(flushes, rel=0.15)
