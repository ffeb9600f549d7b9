"""The lock manager: modes, queues, deadlock detection. Deterministic, knows no clock.

Modelled: hierarchical modes (IS, IU, IX, S, U, X, SIX, Sch-S, Sch-M), first-come queues, conversion before new requests, deadlock
search at the moment of blocking (SQL Server's monitor runs every five seconds; here the answer needs no clock), the victim by
DEADLOCK_PRIORITY, then least log used, then the request that closed the cycle. Left out: lock partitions.
Source: "Transaction locking and row versioning guide", SQL Server documentation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MODES = ("Sch-S", "IS", "S", "IU", "U", "IX", "SIX", "X", "Sch-M")

# Rows: requested; columns: granted to another session. True = compatible.
_COMPATIBLE: dict[str, frozenset[str]] = {
    "Sch-S": frozenset({"Sch-S", "IS", "S", "IU", "U", "IX", "SIX", "X"}),
    "IS": frozenset({"Sch-S", "IS", "S", "IU", "U", "IX", "SIX"}),
    "S": frozenset({"Sch-S", "IS", "S", "IU", "U"}),
    "IU": frozenset({"Sch-S", "IS", "S", "IU", "U", "IX", "SIX"}),
    "U": frozenset({"Sch-S", "IS", "S", "IU"}),
    "IX": frozenset({"Sch-S", "IS", "IU", "IX"}),
    "SIX": frozenset({"Sch-S", "IS", "IU"}),
    "X": frozenset({"Sch-S"}),
    "Sch-M": frozenset(),
}
_STRENGTH = {mode: rank for rank, mode in enumerate(MODES)}

DEADLOCKS_KEPT = 100


@dataclass(frozen=True, slots=True)
class Resource:
    """What is locked. ``kind``: DATABASE, OBJECT, RID, KEY, APPLICATION; ``key`` is the row id or the resource's name."""

    kind: str
    database_id: int
    object_id: int = 0
    key: int | str = 0

    def description(self) -> str:
        """As sys.dm_tran_locks.resource_description and wait_resource show it."""
        if self.kind == "OBJECT":
            return f"OBJECT: {self.database_id}:{self.object_id}:0"
        if self.kind in ("RID", "KEY"):
            return f"{self.kind}: {self.database_id}:{self.object_id} ({self.key:012x})"
        return f"{self.kind}: {self.database_id}:{self.key}"


@dataclass(eq=False, slots=True)
class Request:
    """A session's wish for a lock. ``state``: "waiting", "granted", "victim", "cancelled"."""

    spid: int
    resource: Resource
    mode: str
    state: str = "waiting"
    sequence: int = 0

    def settled(self) -> bool:
        """Whether the session that waits for it can go on."""
        return self.state != "waiting"


@dataclass(frozen=True, slots=True)
class Participant:
    """One session of a deadlock: what it waits for, and who holds that (session, mode)."""

    spid: int
    mode: str
    resource: Resource
    owners: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Deadlock:
    """A cycle of waiting sessions and the one that was chosen to give up."""

    victim: int
    participants: tuple[Participant, ...]


@dataclass(slots=True)
class _Queue:
    granted: dict[int, str] = field(default_factory=dict)  # spid -> mode
    waiting: deque[Request] = field(default_factory=deque)


def join(held: str, wanted: str) -> str:
    """The mode that gives both rights."""
    if held == wanted:
        return held
    pair = {held, wanted}
    if pair in ({"S", "IX"}, {"S", "SIX"}, {"SIX", "IX"}):
        return "SIX"
    return held if _STRENGTH[held] >= _STRENGTH[wanted] else wanted


class LockManager:
    """Grants, queues and deadlock victims of one instance.

    ``cost`` tells a session's (deadlock priority, log bytes used), smaller dies first.
    """

    def __init__(self, cost: Callable[[int], tuple[int, int]] = lambda spid: (0, 0)) -> None:
        self._queues: dict[Resource, _Queue] = {}
        self._held: dict[int, dict[Resource, str]] = {}
        self._waits: dict[int, Request] = {}
        self._rows: dict[tuple[int, int], dict[int, dict[int, str]]] = {}  # (database, object) -> row -> spid -> U or X
        self._strong: set[tuple[int, Resource]] = set()
        self.held_tables = 0  # strong table locks (S, X, SIX, Sch-M) that are held: zero lets readers skip the look
        self._sequence = 0
        self._cost = cost
        self.deadlocks: list[Deadlock] = []  # newest last, at most DEADLOCKS_KEPT
        self.on_deadlock: Callable[[Deadlock], None] = lambda deadlock: None  # called before the victim loses its place
        self.pinned: set[tuple[int, Resource]] = set()  # locks that a session, not a transaction, owns
        self.on_settled: Callable[[int], None] = lambda spid: None

    def request(self, spid: int, resource: Resource, mode: str) -> Request:
        """Ask for a lock: granted at once, or queued (then ``settled()`` turns true later), or named deadlock victim."""
        queue = self._queues.setdefault(resource, _Queue())
        held = queue.granted.get(spid)
        target = mode if held is None else join(held, mode)
        self._sequence += 1
        request = Request(spid, resource, target, sequence=self._sequence)
        if held == target:
            request.state = "granted"
            return request
        blocked_by_queue = held is None and any(waiter.spid != spid for waiter in queue.waiting)
        if not blocked_by_queue and self._fits(queue, spid, target):
            self._grant(queue, request)
            return request
        if held is None:
            queue.waiting.append(request)
        else:  # a conversion goes before new requests
            queue.waiting.appendleft(request)
        self._waits[spid] = request
        self._break_deadlock(spid)
        return request

    def would_block(self, spid: int, resource: Resource, mode: str) -> bool:
        """Whether a request would have to wait now."""
        queue = self._queues.get(resource)
        return queue is not None and not self._fits(queue, spid, mode)

    def mode_held(self, spid: int, resource: Resource) -> str | None:
        """The session's mode on the resource."""
        return self._held.get(spid, {}).get(resource)

    def cancel(self, spid: int) -> None:
        """Give up waiting (time-out or attention)."""
        request = self._waits.pop(spid, None)
        if request is not None:
            queue = self._queues[request.resource]
            queue.waiting.remove(request)
            if request.state == "waiting":
                request.state = "cancelled"
            self._wake(request.resource)

    def release(self, spid: int, resource: Resource) -> None:
        """Release one lock."""
        held = self._held.get(spid)
        if held and resource in held:
            del held[resource]
            self.pinned.discard((spid, resource))
            self._drop(spid, resource)

    def _drop(self, spid: int, resource: Resource) -> None:
        del self._queues[resource].granted[spid]
        if resource.kind == "OBJECT":
            self._strong.discard((spid, resource))
            self.held_tables = len(self._strong)
        if resource.kind in ("RID", "KEY"):
            table = self._rows.get((resource.database_id, resource.object_id))
            if table is not None:
                owners = table.get(resource.key)  # type: ignore[arg-type]
                if owners is not None:
                    owners.pop(spid, None)
                    if not owners:
                        del table[resource.key]  # type: ignore[arg-type]
        self._wake(resource)

    def release_all(self, spid: int, everything: bool = False) -> None:
        """Release a session's locks in the order they were taken; those it pinned only with ``everything``."""
        held = self._held.pop(spid, {})
        kept = {} if everything else {r: mode for r, mode in held.items() if (spid, r) in self.pinned}
        if kept:
            self._held[spid] = kept
        for resource in held:
            if resource not in kept:
                self.pinned.discard((spid, resource))
                self._drop(spid, resource)

    def locked_rows(self, database_id: int, object_id: int, spid: int, mode: str) -> dict[int, int]:
        """Rows of a table that other sessions hold so that ``mode`` (S or U) must wait: row -> session."""
        rows = self._rows.get((database_id, object_id))
        if not rows:
            return {}
        found: dict[int, int] = {}
        for row, owners in rows.items():
            for owner, held in owners.items():
                if owner != spid and (held == "X" or mode != "S"):
                    found[row] = owner
        return found

    def blocker(self, spid: int) -> int:
        """The session that blocks this one (the lowest), 0 for none."""
        return min(self._blockers(spid), default=0)

    def rows(self) -> Iterator[tuple[int, Resource, str, str]]:
        """(spid, resource, mode, "GRANT" | "WAIT" | "CONVERT") of every request."""
        for resource, queue in self._queues.items():
            for spid, mode in queue.granted.items():
                yield spid, resource, mode, "GRANT"
            for request in queue.waiting:
                yield request.spid, resource, request.mode, "CONVERT" if request.spid in queue.granted else "WAIT"

    def _fits(self, queue: _Queue, spid: int, mode: str) -> bool:
        compatible = _COMPATIBLE[mode]
        return all(other == spid or granted in compatible for other, granted in queue.granted.items())

    def _grant(self, queue: _Queue, request: Request) -> None:
        queue.granted[request.spid] = request.mode
        self._held.setdefault(request.spid, {})[request.resource] = request.mode
        request.state = "granted"
        resource = request.resource
        if resource.kind == "OBJECT" and request.mode in ("X", "SIX", "Sch-M"):
            self._strong.add((request.spid, resource))
            self.held_tables = len(self._strong)
        if resource.kind in ("RID", "KEY") and request.mode in ("U", "X"):
            table = self._rows.setdefault((resource.database_id, resource.object_id), {})
            table.setdefault(resource.key, {})[request.spid] = request.mode  # type: ignore[arg-type]

    def _wake(self, resource: Resource) -> None:
        queue = self._queues.get(resource)
        if queue is None:
            return
        while queue.waiting and self._fits(queue, queue.waiting[0].spid, queue.waiting[0].mode):
            request = queue.waiting.popleft()
            self._waits.pop(request.spid, None)
            self._grant(queue, request)
            self.on_settled(request.spid)
        if not queue.granted and not queue.waiting:
            del self._queues[resource]

    def _blockers(self, spid: int) -> list[int]:
        request = self._waits.get(spid)
        if request is None:
            return []
        queue = self._queues[request.resource]
        compatible = _COMPATIBLE[request.mode]
        blockers = [other for other, mode in queue.granted.items() if other != spid and mode not in compatible]
        for waiter in queue.waiting:
            if waiter is request:
                break
            if waiter.spid != spid and waiter.mode not in compatible:
                blockers.append(waiter.spid)
        return sorted(set(blockers)) or sorted(
            {w.spid for w in queue.waiting if w is not request and w.sequence < request.sequence}
        )

    def _cycle(self, start: int) -> list[int]:
        """The sessions of a cycle through ``start``, or an empty list."""
        path: list[int] = []
        seen: set[int] = set()

        def visit(spid: int) -> bool:
            path.append(spid)
            for other in self._blockers(spid):
                if other == start:
                    return True
                if other not in seen:
                    seen.add(other)
                    if visit(other):
                        return True
            path.pop()
            return False

        return path if visit(start) else []

    def _break_deadlock(self, spid: int) -> None:
        while cycle := self._cycle(spid):
            victim = min(cycle, key=lambda member: (*self._cost(member), -self._waits[member].sequence))
            request = self._waits[victim]
            found = Deadlock(victim, tuple(self._participant(member) for member in cycle))
            self.deadlocks = [*self.deadlocks[1 - DEADLOCKS_KEPT :], found]
            self.on_deadlock(found)
            request.state = "victim"
            self.cancel(victim)
            self.on_settled(victim)
            if victim == spid:
                return

    def _participant(self, spid: int) -> Participant:
        request = self._waits[spid]
        owners = tuple((other, mode) for other, mode in self._queues[request.resource].granted.items() if other != spid)
        return Participant(spid, request.mode, request.resource, owners)
