"""What databases of one instance take from each other within a tick: a fixed point, and who waited behind whom.

Each database answers the load of the others with its own: busier processors and volumes slow it, and what it then takes is what
the others meet. In each tick these answers are tried on copies of the state until nothing changes by more than a ten-thousandth
of a machine's capacity; then the tick is run. Tries begin with the tick before, and are mixed with the two before them (Anderson
1965), as a plain repetition would swing between all and nothing where processors are short.

A wait at a station is divided among those who kept it busy, by what each took of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aglab.engine import layout as at
from aglab.engine.flow import Flow
from aglab.engine.layout import Array
from aglab.engine.tick import advance as run_ticks

STATIONS = ("processors", "data volume", "log volume", "network")  # what is taken: core-s/s, and shares
OTHERS = (at.H_OTHER_WORK, at.H_OTHER_DATA, at.H_OTHER_LOG, at.H_OTHER_NET)
SETTLED = 1e-4  # share of a capacity
TRIES = 40
_MEMORY = 3  # tries that the next one is mixed from
_MOST = 0.98  # share of anything that the others can take
_NO_SAMPLE = 1 << 40  # ticks: the kernel takes no sample of a try
_COUNTED = (at.T_PAGE_READS, at.T_PAGE_WRITES, at.T_LOG_BYTES_WRITTEN, at.T_SENT)
_NOTHING = np.empty((0, 0))


def capacities(hw: Array) -> Array:
    """Capacity of each station of each node: float64[node, station]."""
    return np.array([[work_of(1.0, row), 1.0, 1.0, 1.0] for row in hw])


def meet(flow: Flow, others: Array) -> None:
    """Put what others take into a flow's parameters: the nearly whole of a station at most."""
    hw = flow.params.hw
    hw[:, OTHERS] = np.minimum(others, _MOST * capacities(hw))


def next_draw(flow: Flow) -> Array:
    """The noise of the flow's next tick; the generator stays where it is."""
    before = flow._random.bit_generator.state
    draw = flow._random.standard_normal(1)
    flow._random.bit_generator.state = before
    return draw


def tried(flow: Flow, draw: Array) -> Array:
    """What the flow would take in its next tick (as :func:`taken`); the flow itself stays where it is."""
    now, p = flow.state, flow.params
    state = now.st.copy(), now.seg.copy(), now.cl.copy(), now.tot.copy(), now.jb.copy()
    dt = flow.scenario.settings.tick_s
    room = at.workspace(len(flow.names))
    run_ticks(1, dt, 0, _NO_SAMPLE, dt, p.hw, p.wl, p.ct, *state, draw, *room, state[3].copy(), _NOTHING)
    return taken(flow, now.tot, state[0], state[3], state[4])


def taken(flow: Flow, before: Array, st: Array, tot: Array, jb: Array) -> Array:
    """What a flow took of each node in one tick, from the totals before it and the state after: float64[node, station]."""
    hw, ct = flow.params.hw, flow.params.ct
    rates = (tot[:, _COUNTED] - before[:, _COUNTED]) / flow.scenario.settings.tick_s
    found = np.zeros((len(hw), len(OTHERS)))
    for node, row in enumerate(hw):
        base = min(ct[at.C_BASE_CPU], work_of(1.0, row))
        found[node, 0] = max(0.0, work_of(st[node, at.S_CPU], row) - base - row[at.H_OTHER_WORK])
    going = np.where(jb[:, :, at.J_LEFT] > 0.0, jb[:, :, at.J_RATE] / np.maximum(jb[:, :, at.J_BANDWIDTH], 1.0), 0.0)
    found[:, 1] = rates[:, 0] * hw[:, at.H_READ_S] + rates[:, 1] * hw[:, at.H_WRITE_S] + going[:, 0]
    found[:, 2] = rates[:, 2] / hw[:, at.H_LOG_BW] + going[:, 1]
    found[:, 3] = rates[:, 3] / hw[:, at.H_NET_BW]
    return found


def settle(answer: Callable[[Array], Array], start: Array, scale: Array) -> tuple[Array, bool]:
    """``x`` with ``answer(x) = x``, and whether it was found; ``scale`` is what a difference is measured by.

    Anderson's mixing: the next try is the combination of the last ones whose remainders cancel best. It is never below zero.
    """
    x = start
    tries: list[Array] = []
    remainders: list[Array] = []
    for _ in range(TRIES):
        found = answer(x)
        remainder = ((found - x) / scale).ravel()
        if np.abs(remainder).max(initial=0.0) <= SETTLED:
            return x, True
        tries = [*tries[1 - _MEMORY :], found]
        remainders = [*remainders[1 - _MEMORY :], remainder]
        if len(tries) == 1:
            x = 0.5 * (x + found)
            continue
        steps = np.array([remainders[-1] - one for one in remainders[:-1]]).T
        weights = np.linalg.lstsq(steps, remainders[-1], rcond=1e-8)[0]
        x = tries[-1] - sum(weight * (tries[-1] - one) for weight, one in zip(weights, tries[:-1], strict=True))
        x = np.maximum(x, 0.0)
    return x, False


def work_of(util: float, hw: Array) -> float:
    """Core work per second (reference core-seconds/s) at which a machine's logical processors are busy by ``util``."""
    cores, threads, gain = hw[at.H_CORES], hw[at.H_THREADS], hw[at.H_HT_YIELD] - 1.0
    busy = min(1.0, util) * threads
    if threads <= cores or gain < 1e-9:
        load = min(1.0, util) * cores
    elif busy <= cores:
        load = busy
    else:
        load = cores + (busy - cores) * cores * gain / (threads - cores)
    return float(load * hw[at.H_SPEED])


def queued_ms(flow: Flow, before: Array) -> Array:
    """Time queued since ``before`` (ms), float64[node, 2]: for processors, and for reads beyond their idle latency."""
    grown = flow.state.tot - before
    reads = grown[:, at.T_W_PAGE] - grown[:, at.T_N_PAGE] * flow.params.hw[:, at.H_READ_LAT] * 1e3
    return np.stack([grown[:, at.T_W_SOS], np.maximum(reads, 0.0)], axis=1)
