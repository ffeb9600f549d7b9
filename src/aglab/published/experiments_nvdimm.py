"""Rows of paper 001: the tail of the log on an NVDIMM, by the log's share of the response time (Amdahl).

The paper prints no demands. CPU of a request is set by 77.5 % at the faster baseline, and what is left of the response time
by each baseline's throughput (both inputs); the throughput with the tail of the log in memory is predicted. Four databases
are taken as one: group commit gathers over all of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from aglab.engine import steady
from aglab.scenario import Scenario

BASE_S = {"ssd": 30300.0, "pcie": 46800.0}
PROFILES = {"ssd": "hpe-dl380-gen9-nvdimm", "pcie": "hpe-dl380-gen9-nvdimm-pcie"}
CPU = 0.775
_STEPS = 60


def cpu_us() -> float:
    """CPU of one request: 77.5 % of all threads at the faster baseline."""
    scenario = Scenario.default(PROFILES["pcie"], 1)
    cpu = scenario.profile.cpu
    load = 1.0 + (2.0 * CPU - 1.0) * (cpu.ht_yield - 1.0)  # second threads of a core add ht_yield - 1
    return (load * cpu.cores * cpu.speed - scenario.constant("base_cpu_cores")) / BASE_S["pcie"] * 1e6


@functools.cache
def baseline(media: str) -> Scenario:
    """The scenario whose throughput without NVDIMM is the published one."""
    base = Scenario.default(PROFILES[media], 1).with_settings({"cpu_us": cpu_us(), "noise": 0})
    low, high = 0.0, base.settings.users / BASE_S[media] * 1e6
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if steady(base.with_settings(think_us=middle)).throughput_s > BASE_S[media]:
            low = middle
        else:
            high = middle
    return base.with_settings(think_us=low)


@functools.cache
def with_nvdimm(media: str) -> float:
    """Requests/s with the tail of the log on an NVDIMM."""
    scenario = baseline(media)
    copy_us = scenario.profile.persistent_memory.copy_us
    return steady(scenario.with_settings(tail_of_log_us=copy_us)).throughput_s


def gain(media: str) -> float:
    """Gain by the NVDIMM (%)."""
    return 100.0 * (with_nvdimm(media) / steady(baseline(media)).throughput_s - 1.0)


COMPUTED: dict[str, Callable[[], float]] = {
    "nvdimm-ssd-pmm": lambda: with_nvdimm("ssd"),
    "nvdimm-pcie-pmm": lambda: with_nvdimm("pcie"),
    "nvdimm-ssd-gain": lambda: gain("ssd"),
    "nvdimm-pcie-gain": lambda: gain("pcie"),
    "nvdimm-pmm-gain-claim": lambda: gain("ssd"),
}
