"""Models in SimPy that the engine's are compared with, for results and for speed."""

from __future__ import annotations

import random
import statistics

import simpy

from aglab.engine import layout as at
from aglab.engine.params import build
from aglab.scenario import Scenario


def simulate_processors(users: int, think: float, service: float, servers: int, seconds: float, seed: int) -> float:
    """Throughput of the same network in SimPy."""
    draw = random.Random(seed)
    env = simpy.Environment()
    cores = simpy.Resource(env, servers)
    done = [0]

    def user():
        while True:
            yield env.timeout(draw.expovariate(1 / think))
            with cores.request() as turn:
                yield turn
                yield env.timeout(draw.expovariate(1 / service))
            done[0] += 1

    for _ in range(users):
        env.process(user())
    env.run(until=seconds)
    return done[0] / seconds


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


def simpy_devices(devices: int, channels: int, service: float, arrivals_s: float, requests: int, seed: int) -> float:
    """Mean time of random requests (s), each to a device by its address, of so many channels of one fixed time."""
    draw = random.Random(seed)
    env = simpy.Environment()
    each = [simpy.Resource(env, channels) for _ in range(devices)]
    times: list[float] = []

    def one():
        begun = env.now
        with each[draw.randrange(devices)].request() as turn:
            yield turn
            yield env.timeout(service)
        times.append(env.now - begun)

    def source():
        for _ in range(requests):
            yield env.timeout(draw.expovariate(arrivals_s))
            env.process(one())

    env.process(source())
    env.run()
    return statistics.fmean(times[requests // 10 :])
