"""Event kernel of a storage array: drives with heads that move, or flash with channels, RAID, stripes, a write-back cache.

A host keeps requests outstanding (closed loop), or sends them at random times (open). A read works on each drive it touches and
is done when the last is. A write ends in the cache, if there is one and each of its drives has room to destage; its operations
(mirror copies, or data and parity read and written) wait in the drives' queues. A drive serves reads first, unless it has as many
writes waiting as it sorts at once. A spindle takes the nearest request and pays seek, half a revolution and
transfer; a flash device has channels and a fixed time for each. Time is integer nanoseconds, events are ordered by (time,
priority, sequence).

Shapes: ``heap[capacity, 3]``, ``num[M_SIZE]``, ``par[A_SIZE]`` float64, ``left[tokens]`` operations a request waits for,
``begun[tokens]``, ``blocked[tokens]`` a ring, ``qlen[devices, 2]``, ``qpos[devices, 2, slots]`` track positions (share of the
stroke, 0 to 1), ``qown[devices, 2, slots]`` token, or -1 for destaged writes, ``head[devices]``, ``idle[devices]`` free channels,
``draws[n]`` uniform numbers.
"""

from __future__ import annotations

import math

from aglab.engine.jit import entry, kernel
from aglab.engine.pipeline import ARGUMENT, KIND_BITS, PRIORITY_BITS, Floats, Ints, rise, sink

READ, WRITE = 0, 1
_OP_DONE, _CACHED, _ARRIVAL = 0, 1, 2
_NOBODY = -1
_OWNER_BITS = 20  # an operation's token stands below its device
_OWNER = (1 << _OWNER_BITS) - 1
_HASH = 2147483647

# par: times in ns unless the name says otherwise
(
    A_DEVICES,
    A_READ_SHARE,
    A_SPAN,  # drives a request touches, mean
    A_WRITE_OPS,  # operations of a write on each drive it touches, mean
    A_COPIES,  # drives that hold a datum: 2 with mirrors
    A_SPINDLE,  # 1 with heads
    A_SEEK_MIN,
    A_SEEK_SPAN,  # for the whole stroke that holds data
    A_TURN,  # half a revolution
    A_TRANSFER,
    A_READ_NS,  # one flash read on its channel
    A_WRITE_NS,
    A_CACHE_NS,  # a write that the cache takes; 0: no cache
    A_ROOM,  # writes one drive may have waiting
    A_GAP,  # mean time between arrivals; 0: closed loop
    A_SIZE,
) = range(16)

# num
(
    M_HEAP,
    M_SEQ,
    M_NOW,
    M_DRAW,
    M_BLOCK_HEAD,
    M_BLOCKED,
    M_FREE,  # tokens not in use (open loop): next on the list is in ``left``
    M_DONE,
    M_READS,
    M_READ_NS,
    M_WRITE_NS,
    M_BUSY_NS,
    M_LOST,  # arrivals that found no token
    M_OVER,  # operations that found a drive's queue full: the run is void
    M_HASH,
    M_SIZE,
) = range(16)


@kernel
def push(heap: Ints, num: Ints, time: int, priority: int, kind: int, argument: int) -> None:
    """Add an event."""
    order = (priority << PRIORITY_BITS) + num[M_SEQ]
    num[M_SEQ] += 1
    num[M_HEAP] += 1
    rise(heap, num[M_HEAP] - 1, time, order, (kind << KIND_BITS) + argument)


@kernel
def drop_first(heap: Ints, num: Ints) -> None:
    """Remove the first event."""
    num[M_HEAP] -= 1
    last = num[M_HEAP]
    sink(heap, last, heap[last, 0], heap[last, 1], heap[last, 2])


@kernel
def draw(num: Ints, draws: Floats) -> float:
    """The next uniform number."""
    num[M_DRAW] += 1
    return float(draws[num[M_DRAW] - 1])


@kernel
def whole(mean: float, num: Ints, draws: Floats) -> int:
    """A whole number of that mean: its floor, or one more."""
    least = math.floor(mean)
    return int(least) + int(draw(num, draws) < mean - least)


@kernel
def pick(device: int, kind: int, qlen: Ints, qpos: Floats, head: Floats) -> int:
    """The queued request nearest to the head."""
    best = 0
    for slot in range(1, qlen[device, kind]):
        if abs(qpos[device, kind, slot] - head[device]) < abs(qpos[device, kind, best] - head[device]):
            best = slot
    return best


@kernel
def start(
    device: int, heap: Ints, num: Ints, par: Floats, qlen: Ints, qpos: Floats, qown: Ints, head: Floats, idle: Ints
) -> None:
    """Put a drive's free channels to work."""
    while idle[device] > 0 and qlen[device, READ] + qlen[device, WRITE] > 0:
        kind = READ
        if qlen[device, READ] == 0 or qlen[device, WRITE] >= par[A_ROOM]:
            kind = WRITE
        slot = pick(device, kind, qlen, qpos, head) if par[A_SPINDLE] > 0.0 else 0
        position, owner = qpos[device, kind, slot], qown[device, kind, slot]
        last = qlen[device, kind] - 1
        if par[A_SPINDLE] > 0.0:
            qpos[device, kind, slot], qown[device, kind, slot] = qpos[device, kind, last], qown[device, kind, last]
            gone = abs(position - head[device])
            service = par[A_SEEK_MIN] + par[A_SEEK_SPAN] * math.sqrt(gone) + par[A_TURN] + par[A_TRANSFER]
            head[device] = position
        else:  # first come, first served
            for at in range(last):
                qpos[device, kind, at], qown[device, kind, at] = qpos[device, kind, at + 1], qown[device, kind, at + 1]
            service = par[A_WRITE_NS] if position < 0.0 or kind == WRITE else par[A_READ_NS]
        qlen[device, kind] = last
        idle[device] -= 1
        nanos = int(service + 0.5)
        num[M_BUSY_NS] += nanos
        push(heap, num, num[M_NOW] + nanos, 0, _OP_DONE, (device << _OWNER_BITS) + owner + 1)


@kernel
def queue_up(device: int, kind: int, position: float, owner: int, num: Ints, qlen: Ints, qpos: Floats, qown: Ints) -> None:
    """Add an operation to a drive's queue."""
    slot = qlen[device, kind]
    if slot >= qpos.shape[2]:
        num[M_OVER] += 1
        return
    qpos[device, kind, slot] = position
    qown[device, kind, slot] = owner
    qlen[device, kind] = slot + 1


@kernel
def issue(
    token: int,
    heap: Ints,
    num: Ints,
    par: Floats,
    left: Ints,
    blocked: Ints,
    qlen: Ints,
    qpos: Floats,
    qown: Ints,
    head: Floats,
    idle: Ints,
    draws: Floats,
) -> None:
    """Send a token's next request; a write that finds no room waits, first come, first served."""
    devices = int(par[A_DEVICES])
    if draw(num, draws) < par[A_READ_SHARE]:
        span = whole(par[A_SPAN], num, draws)
        first = int(draw(num, draws) * devices)
        left[token] = 2 * span  # even: a read
        for step in range(span):
            device = (first + step) % devices
            queue_up(device, READ, draw(num, draws), token, num, qlen, qpos, qown)
            start(device, heap, num, par, qlen, qpos, qown, head, idle)
        return
    left[token] = 2 * whole(par[A_SPAN], num, draws) + 1  # odd: a write, which keeps its size while it waits for room
    send_write(token, heap, num, par, left, blocked, qlen, qpos, qown, head, idle, draws)


@kernel
def send_write(
    token: int,
    heap: Ints,
    num: Ints,
    par: Floats,
    left: Ints,
    blocked: Ints,
    qlen: Ints,
    qpos: Floats,
    qown: Ints,
    head: Floats,
    idle: Ints,
    draws: Floats,
) -> None:
    """Give a write to the cache, or to its drives where there is none."""
    devices, copies = int(par[A_DEVICES]), int(par[A_COPIES])
    span = left[token] // 2
    first = int(draw(num, draws) * (devices // copies)) * copies
    cached = par[A_CACHE_NS] > 0.0
    if cached:
        reach = span * copies + int(copies == 1 and par[A_WRITE_OPS] > 1.0)  # parity is on the next drive
        for step in range(reach):
            if qlen[(first + step) % devices, WRITE] >= par[A_ROOM]:
                blocked[(num[M_BLOCK_HEAD] + num[M_BLOCKED]) % len(blocked)] = token
                num[M_BLOCKED] += 1
                return
        push(heap, num, num[M_NOW] + int(par[A_CACHE_NS]), 1, _CACHED, token)
    sent = 0
    for step in range(span):
        for operation in range(whole(par[A_WRITE_OPS], num, draws)):
            # copies go to the drives of one mirror; parity is on the next drive: every second operation is there
            other = operation % copies if copies > 1 else (operation % 2 if par[A_WRITE_OPS] > 1.0 else 0)
            device = (first + step * copies + other) % devices
            if cached:
                queue_up(device, WRITE, draw(num, draws), _NOBODY, num, qlen, qpos, qown)
            else:
                queue_up(device, READ, -1.0 if par[A_SPINDLE] == 0.0 else draw(num, draws), token, num, qlen, qpos, qown)
            sent += 1
            start(device, heap, num, par, qlen, qpos, qown, head, idle)
    if not cached:
        left[token] = 2 * sent + 1


@entry
def advance_array(
    until: int,
    most: int,
    heap: Ints,
    num: Ints,
    par: Floats,
    left: Ints,
    begun: Ints,
    blocked: Ints,
    qlen: Ints,
    qpos: Floats,
    qown: Ints,
    head: Floats,
    idle: Ints,
    draws: Floats,
) -> int:
    """Run to ``until`` (ns); 1 when done, 0 when fewer than ``most`` draws are left."""
    while num[M_HEAP] > 0 and heap[0, 0] <= until:
        if num[M_DRAW] + most > len(draws):
            return 0
        num[M_NOW] = heap[0, 0]
        kind, argument = heap[0, 2] >> KIND_BITS, heap[0, 2] & ARGUMENT
        num[M_HASH] = (num[M_HASH] * 31 + num[M_NOW] + kind) % _HASH
        drop_first(heap, num)
        token = _NOBODY
        if kind == _OP_DONE:
            device, owner = argument >> _OWNER_BITS, (argument & _OWNER) - 1
            idle[device] += 1
            if owner >= 0:
                left[owner] -= 2
                if left[owner] <= 1:
                    token = owner
            start(device, heap, num, par, qlen, qpos, qown, head, idle)
            if owner < 0 and num[M_BLOCKED] > 0:
                waiting = blocked[num[M_BLOCK_HEAD]]
                num[M_BLOCK_HEAD] = (num[M_BLOCK_HEAD] + 1) % len(blocked)
                num[M_BLOCKED] -= 1
                send_write(waiting, heap, num, par, left, blocked, qlen, qpos, qown, head, idle, draws)
        elif kind == _CACHED:
            token = argument
        else:
            gap = -math.log(1.0 - draw(num, draws)) * par[A_GAP]
            push(heap, num, num[M_NOW] + int(gap + 0.5), 2, _ARRIVAL, 0)
            free = num[M_FREE]
            if free < 0:
                num[M_LOST] += 1
            else:
                num[M_FREE] = left[free]
                begun[free] = num[M_NOW]
                issue(free, heap, num, par, left, blocked, qlen, qpos, qown, head, idle, draws)
        if token >= 0:
            took = num[M_NOW] - begun[token]
            num[M_DONE] += 1
            if left[token] % 2 == 0:
                num[M_READS] += 1
                num[M_READ_NS] += took
            else:
                num[M_WRITE_NS] += took
            if par[A_GAP] > 0.0:
                left[token] = num[M_FREE]
                num[M_FREE] = token
            else:
                begun[token] = num[M_NOW]
                issue(token, heap, num, par, left, blocked, qlen, qpos, qown, head, idle, draws)
    num[M_NOW] = until
    return 1


@entry
def begin_array(
    tokens: int,
    heap: Ints,
    num: Ints,
    par: Floats,
    left: Ints,
    blocked: Ints,
    qlen: Ints,
    qpos: Floats,
    qown: Ints,
    head: Floats,
    idle: Ints,
    draws: Floats,
) -> int:
    """The first request of each token, or the first arrival; the number of tokens."""
    if par[A_GAP] > 0.0:
        for token in range(tokens):
            left[token] = token + 1
        left[tokens - 1] = _NOBODY
        push(heap, num, 0, 2, _ARRIVAL, 0)
        return tokens
    num[M_FREE] = _NOBODY
    for token in range(tokens):
        issue(token, heap, num, par, left, blocked, qlen, qpos, qown, head, idle, draws)
    return tokens
