"""Event kernel of the log pipeline: processors, group commit, log blocks, send, remote harden, acknowledgement.

The microscope beside the flow's equations. Users think, take a processor, and commit. The log writer closes a block when
it is free, or when the block is full, and writes it; with synchronous replicas the block is sent at the same moment, hardened
there and acknowledged. A commit is done when its block is hardened everywhere. Time is integer nanoseconds; events are
ordered by (time, priority, sequence), so a run is the same on every path. One replica stands for all: they are equal.

Shapes: ``heap[capacity, 3]`` (time, priority and sequence, kind and argument), ``num[N_SIZE]`` counters and clocks,
``par[P_SIZE]`` times in ns, ``per_byte[3]`` ns per byte of log volume, link, remote volume, ``user[users, 2]`` (next in
block, commit began), ``block[users + 2, 2]`` (first user, writes still awaited), ``queue[users]`` waiting for a processor,
``draws[n]`` standard exponentials, ``hist[HIST]`` commits by latency in microseconds. All int64 but ``per_byte`` and ``draws``.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from aglab.engine.jit import entry, kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

HIST = 20000  # microseconds
NOTHING = -1
KIND_BITS = 32  # an event's kind stands above its argument
ARGUMENT = (1 << KIND_BITS) - 1
PRIORITY_BITS = 52  # and its priority above its sequence
# a place in the heap is never negative; said so, the compiler leaves out what an index counted from the end would take
PLACES = (1 << 31) - 1
_HASH = (1 << 40) - 1
_DRAWS_EACH = 4  # most draws one event can use

# par: times in ns unless the name says otherwise
(
    P_THINK,
    P_CPU,
    P_SERVERS,  # processors
    P_LATENCY,  # of a small log write
    P_TURN,
    P_BLOCK,  # bytes
    P_LOG,  # bytes of one commit
    P_OUTSTANDING,  # writes in flight
    P_SYNC,  # 1 with synchronous replicas
    P_HALF_RTT,
    P_REMOTE_LATENCY,
    P_OVERHEAD,
    P_WRITE_PPM,  # transactions that write, millionths
    P_SIZE,
) = range(14)

# num: counters and clocks
(
    N_HEAP,
    N_SEQ,
    N_NOW,
    N_DRAW,
    N_BUSY,
    N_QUEUE_HEAD,
    N_QUEUE_LEN,
    N_OPEN,  # last user of the open block
    N_OPEN_BYTES,
    N_FLYING,  # writes in flight
    N_READY,
    N_FREE,  # blocks on the free list
    N_VOLUME,  # when the log volume's channel is free
    N_LINK,
    N_REMOTE,
    N_TX,
    N_COMMITS,
    N_FLUSHES,
    N_BYTES,
    N_COMMIT_NS,
    N_EVENTS,
    N_HASH,  # rolling digest of the event order
    N_WAKING,  # 1 while the writer's turn-around runs
    N_HANDLED,  # 1 while the first event of the heap is handled and nothing has taken its place
    N_SIZE,
) = range(25)

_THOUGHT, _COMPUTED, _WRITTEN, _ACKNOWLEDGED, _READY, _DONE = 0, 1, 2, 3, 4, 5


@kernel
def rise(heap: Ints, at: int, time: int, order: int, what: int) -> None:
    """Put an event at the free place ``at`` or above it: later parents move down, it is written once."""
    at = at & PLACES
    while at > 0:
        parent = ((at - 1) >> 1) & PLACES
        if heap[parent, 0] < time or (heap[parent, 0] == time and heap[parent, 1] < order):
            break
        for column in range(3):
            heap[at, column] = heap[parent, column]
        at = parent
    heap[at, 0] = time
    heap[at, 1] = order
    heap[at, 2] = what


@kernel
def sink(heap: Ints, count: int, time: int, order: int, what: int) -> None:
    """Fill the free first place of ``count``: the earlier children move up to the bottom, the event rises from there.

    It is nearly always a late one, so asking at every level whether it would stay there costs more than it saves. Which child
    is earlier is a coin toss to the processor: it is added, not branched on.
    """
    at = 0
    child = 1
    while child + 1 < count:
        if heap[child, 0] == heap[child + 1, 0]:
            child += int(heap[child + 1, 1] < heap[child, 1])
        else:
            child += int(heap[child + 1, 0] < heap[child, 0])
        for column in range(3):
            heap[at, column] = heap[child, column]
        at = child
        child = (2 * at + 1) & PLACES
    if child < count:
        for column in range(3):
            heap[at, column] = heap[child, column]
        at = child
    rise(heap, at, time, order, what)


@kernel
def push(heap: Ints, num: Ints, time: int, priority: int, kind: int, argument: int) -> None:
    """Add an event: in place of the one that is being handled, while that is still there."""
    order = (priority << PRIORITY_BITS) + num[N_SEQ]
    what = (kind << KIND_BITS) + argument
    num[N_SEQ] += 1
    if num[N_HANDLED] > 0:
        num[N_HANDLED] = 0
        sink(heap, num[N_HEAP], time, order, what)
    else:
        num[N_HEAP] += 1
        rise(heap, num[N_HEAP] - 1, time, order, what)


@kernel
def drop_first(heap: Ints, num: Ints) -> None:
    """Remove the first event."""
    num[N_HANDLED] = 0
    num[N_HEAP] -= 1
    last = num[N_HEAP]
    sink(heap, last, heap[last, 0], heap[last, 1], heap[last, 2])


@kernel
def draw_ns(mean: int, num: Ints, draws: Floats) -> int:
    """An exponential time (ns)."""
    value = draws[num[N_DRAW]]
    num[N_DRAW] += 1
    return int(value * mean + 0.5)


@kernel
def think(heap: Ints, num: Ints, par: Ints, draws: Floats, who: int) -> None:
    """A transaction is over: its user thinks."""
    push(heap, num, num[N_NOW] + draw_ns(par[P_THINK], num, draws), 1, _THOUGHT, who)


@kernel
def issue(heap: Ints, num: Ints, par: Ints, per_byte: Floats, block: Ints, free: Ints) -> None:
    """Close the open block and write it; send it where commits wait for replicas."""
    now = num[N_NOW]
    num[N_FREE] -= 1
    number = free[num[N_FREE]]
    size = num[N_OPEN_BYTES]
    block[number, 0] = num[N_OPEN]
    block[number, 1] = 1
    num[N_OPEN] = NOTHING
    num[N_OPEN_BYTES] = 0
    num[N_READY] = 0
    num[N_FLYING] += 1
    num[N_FLUSHES] += 1
    num[N_BYTES] += size
    num[N_VOLUME] = max(now, num[N_VOLUME]) + int(size * per_byte[0])
    push(heap, num, num[N_VOLUME] + par[P_LATENCY], 0, _WRITTEN, number)
    if par[P_SYNC] > 0:
        block[number, 1] = 2
        num[N_LINK] = max(now, num[N_LINK]) + int(size * per_byte[1])
        num[N_REMOTE] = max(num[N_LINK] + par[P_HALF_RTT], num[N_REMOTE]) + int(size * per_byte[2])
        push(heap, num, num[N_REMOTE] + par[P_REMOTE_LATENCY] + par[P_HALF_RTT], 0, _ACKNOWLEDGED, number)


@kernel
def hardened(heap: Ints, num: Ints, par: Ints, block: Ints, number: int) -> None:
    """One of the places a block must be hardened at has it."""
    block[number, 1] -= 1
    if block[number, 1] == 0:
        extra = par[P_OVERHEAD] if par[P_SYNC] > 0 else 0
        push(heap, num, num[N_NOW] + extra, 0, _DONE, number)


@entry
def advance_events(
    until: int,
    heap: Ints,
    num: Ints,
    par: Ints,
    per_byte: Floats,
    user: Ints,
    block: Ints,
    free: Ints,
    queue: Ints,
    draws: Floats,
    hist: Ints,
) -> int:
    """Handle events up to ``until`` ns. Returns 1 when done, 0 when it needs more draws (call again with fresh ones)."""
    users = user.shape[0]
    while num[N_HEAP] > 0 and heap[0, 0] <= until:
        kind = heap[0, 2] >> KIND_BITS
        who = heap[0, 2] & ARGUMENT
        wanted = _DRAWS_EACH
        if kind == _DONE:
            wanted = users
        if num[N_DRAW] + wanted > draws.shape[0]:
            return 0
        now = heap[0, 0]
        num[N_HANDLED] = 1
        num[N_NOW] = now
        num[N_EVENTS] += 1
        num[N_HASH] = (num[N_HASH] * 31 + now + kind * 7 + who) & _HASH
        if kind == _THOUGHT:
            if num[N_BUSY] < par[P_SERVERS]:
                num[N_BUSY] += 1
                push(heap, num, now + draw_ns(par[P_CPU], num, draws), 1, _COMPUTED, who)
            else:
                place = num[N_QUEUE_HEAD] + num[N_QUEUE_LEN]
                queue[place if place < users else place - users] = who
                num[N_QUEUE_LEN] += 1
        elif kind == _COMPUTED:
            if num[N_QUEUE_LEN] > 0:
                other = queue[num[N_QUEUE_HEAD]]
                place = num[N_QUEUE_HEAD] + 1
                num[N_QUEUE_HEAD] = place if place < users else 0
                num[N_QUEUE_LEN] -= 1
                push(heap, num, now + draw_ns(par[P_CPU], num, draws), 1, _COMPUTED, other)
            else:
                num[N_BUSY] -= 1
            writes = par[P_WRITE_PPM] > 0
            if writes and par[P_WRITE_PPM] < 1000000:
                value = draws[num[N_DRAW]]
                num[N_DRAW] += 1
                writes = math.exp(-value) * 1e6 < par[P_WRITE_PPM]
            if not writes:
                num[N_TX] += 1
                think(heap, num, par, draws, who)
            else:
                if num[N_OPEN_BYTES] > 0 and num[N_OPEN_BYTES] + par[P_LOG] > par[P_BLOCK] and num[N_FLYING] < par[P_OUTSTANDING]:
                    issue(heap, num, par, per_byte, block, free)
                user[who, 0] = num[N_OPEN]
                user[who, 1] = now
                num[N_OPEN] = who
                num[N_OPEN_BYTES] += par[P_LOG]
                if num[N_READY] > 0 and num[N_FLYING] == 0:
                    issue(heap, num, par, per_byte, block, free)
        elif kind == _WRITTEN:
            num[N_FLYING] -= 1
            hardened(heap, num, par, block, who)
            if num[N_OPEN_BYTES] >= par[P_BLOCK]:
                issue(heap, num, par, per_byte, block, free)
            elif num[N_FLYING] == 0 and num[N_WAKING] == 0:
                num[N_WAKING] = 1
                push(heap, num, now + par[P_TURN], 0, _READY, 0)
        elif kind == _ACKNOWLEDGED:
            hardened(heap, num, par, block, who)
        elif kind == _READY:
            num[N_WAKING] = 0
            if num[N_FLYING] == 0:
                num[N_READY] = 1
                if num[N_OPEN_BYTES] > 0:
                    issue(heap, num, par, per_byte, block, free)
        else:
            one = block[who, 0]
            while one != NOTHING:
                after = user[one, 0]
                waited = now - user[one, 1]
                num[N_TX] += 1
                num[N_COMMITS] += 1
                num[N_COMMIT_NS] += waited
                hist[min(HIST - 1, waited // 1000)] += 1
                think(heap, num, par, draws, one)
                one = after
            free[num[N_FREE]] = who
            num[N_FREE] += 1
        if num[N_HANDLED] > 0:
            drop_first(heap, num)
    num[N_NOW] = until
    return 1
