"""Secondaries that are alike are computed once.

Two secondaries of the same machine, in the same state, with the same totals and no job, go the same way until something from
outside tells them apart (a change between ticks, a job): the same numbers from the same operations, bit for bit. So one of
them stands for the other. What the primary looks at while ticks run is kept up to date in every tick, the rest when a sample is
taken and at the end. Nothing is taken for equal that is not: rows are compared number by number whenever time begins to move.
"""

from __future__ import annotations

from aglab.engine import layout as at
from aglab.engine.jit import kernel
from aglab.engine.layout import Array
from aglab.engine.replicas import ship
from aglab.engine.sharing import has_job

_ITSELF = -1.0


@kernel
def same(one: Array, other: Array, size: int) -> bool:
    """Whether two rows hold the same numbers."""
    column = 0
    while column < size and one[column] == other[column]:
        column += 1
    return column == size


@kernel
def go_alike(one: int, other: int, hw: Array, st: Array, seg: Array, tot: Array, jb: Array) -> bool:
    """Whether two secondaries will go the same way."""
    if has_job(one, jb) or has_job(other, jb):
        return False
    if not (same(st[one], st[other], at.ST_SIZE) and same(hw[one], hw[other], at.HW_SIZE)):
        return False
    if not same(tot[one], tot[other], at.TOT_SIZE):
        return False
    return same(seg[one, 0], seg[other, 0], at.SEGMENTS) and same(seg[one, 1], seg[other, 1], at.SEGMENTS)


@kernel
def find_alike(primary: int, hw: Array, st: Array, seg: Array, tot: Array, jb: Array, alike: Array) -> None:
    """Fill ``alike``: the secondary that stands for each node, or -1 where the node is computed itself."""
    for node in range(hw.shape[0]):
        alike[node] = _ITSELF
        if node != primary:
            for before in range(node):
                if before != primary and alike[before] < 0.0 and go_alike(before, node, hw, st, seg, tot, jb):
                    alike[node] = float(before)
                    break


@kernel
def keep_up(node: int, like: int, primary: int, dt: float, rate_max: float, st: Array, tot: Array) -> None:
    """What the rest of a tick reads of a node that another one stands for: how far it has received and redone."""
    ship(node, primary, dt, rate_max, st, tot)
    st[node, at.S_REDONE] = st[like, at.S_REDONE]


@kernel
def catch_up(alike: Array, st: Array, tot: Array) -> None:
    """Give every node that another one stands for what a sample is made of: its state and totals."""
    for node in range(alike.shape[0]):
        if alike[node] >= 0.0:
            like = int(alike[node])
            for column in range(at.ST_SIZE):
                st[node, column] = st[like, column]
            for column in range(at.TOT_SIZE):
                tot[node, column] = tot[like, column]


@kernel
def stand_alone(alike: Array, st: Array, seg: Array, tot: Array, jb: Array) -> None:
    """Give every node that another one stands for all that is its own."""
    catch_up(alike, st, tot)
    for node in range(alike.shape[0]):
        if alike[node] >= 0.0:
            like = int(alike[node])
            for segment in range(at.SEGMENTS):
                seg[node, 0, segment] = seg[like, 0, segment]
                seg[node, 1, segment] = seg[like, 1, segment]
            jb[node, 0, at.J_LOAD] = jb[like, 0, at.J_LOAD]
