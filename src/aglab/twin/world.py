"""The world: one thread at a time runs batches, moves the clock and asks the engine; everybody else sends it messages.

It has a thread of its own; while that waits for messages, the listener's may run a quick request (:meth:`World.at_once`).

A request is a generator of effects (:mod:`aglab.tsql.effects`). The world resumes one request at a time for one slice,
hands its output to the connection's sink, and parks it where it must wait: for virtual time, for a lock, for an operation,
or for a slow reader (:mod:`aglab.twin.task`).

When nothing can run, virtual time jumps to the next timer, unless an enrolled session is idle:
then the clock waits for its next batch, at most :data:`HOLD_GUARD_S` wall seconds, so that nothing hangs for ever.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from aglab.twin.clock import Clock
from aglab.twin.task import Party, Task

HOLD_GUARD_S = 30.0  # wall seconds that an idle enrolled session may hold the clock


def _nothing() -> None:
    """A message that only wakes the world."""


class World:
    """The scheduler. Everything public may be called on the world thread; other threads use :meth:`call` and :meth:`ask`."""

    def __init__(self, clock: Clock, wall: Callable[[], float]) -> None:
        self.clock = clock
        self.wall = wall
        self.ready: deque[Task] = deque()
        self.tasks: set[Task] = set()
        self.parties: set[Any] = set()  # enrolled sessions
        self.defects: deque[str] = deque(maxlen=50)
        self.on_quiet: Callable[[], float | None] = lambda: None  # nothing runs: time to save; seconds until the next call
        self.hold_guard_s = HOLD_GUARD_S
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._turn = threading.Lock()  # whoever holds it is the world; its own thread does but while it waits for messages
        self._runner = 0  # the thread that holds it
        self._wanted = False  # the world's own thread has a message and waits for its turn
        self._stopping = False
        self._thread = threading.Thread(target=self.run, name="aglab-world", daemon=True)

    # -- other threads ------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def call(self, action: Callable[[], None]) -> None:
        """Have ``action`` run on the world thread."""
        self._inbox.put(action)

    def ask(self, question: Callable[[], Any], timeout_s: float = 60.0) -> Any:
        """Run ``question`` on the world thread and return its answer; its exception is raised here."""
        if threading.get_ident() == self._runner or not self._thread.is_alive():
            return question()
        answer: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

        def run() -> None:
            try:
                answer.put((True, question()))
            except Exception as error:  # noqa: BLE001  handed to the asking thread
                answer.put((False, error))

        self._inbox.put(run)
        good, value = answer.get(timeout=timeout_s)
        if not good:
            raise value
        return value

    def at_once(self, action: Callable[[], None]) -> bool:
        """Have ``action`` run here and now, and one slice of the request that it begins; False if the world is at work.

        For requests that end soon, called by the thread that would have to wait for their output anyway.
        """
        if self._wanted or not self._turn.acquire(blocking=False):
            return False
        try:
            if self.ready or self._stopping or not self._inbox.empty():
                return False
            self._runner = threading.get_ident()
            self._guarded(action)
            if self.ready:
                self.ready.popleft().step()
        finally:
            self._runner = 0
            self._turn.release()
        if self.ready or self.tasks:  # something goes on, or waits for what has just ended
            self._inbox.put(_nothing)
        return True

    def stop(self) -> None:
        """End the thread after what is in the inbox."""

        def halt() -> None:
            self._stopping = True

        self._inbox.put(halt)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=30.0)

    # -- the world thread ---------------------------------------------------------------------------------------
    def begin(self, party: Party, generator: Generator[Any, Any, None], finished: Callable[[], None]) -> Task:
        """Run a request of ``party``."""
        task = Task(self, party, generator, finished)
        party.task = task
        self.tasks.add(task)
        self.ready.append(task)
        return task

    def enroll(self, party: Party) -> None:
        """From now on the clock waits for ``party`` when it is idle."""
        party.enrolled = True
        party.idle_since_wall_s = self.wall()
        self.parties.add(party)

    def leave(self, party: Party) -> None:
        """The clock no longer waits for ``party``."""
        party.enrolled = False
        self.parties.discard(party)

    def note_defect(self, failure: BaseException) -> None:
        """Keep a traceback for the twin's own log."""
        self.defects.append("".join(traceback.format_exception(failure)))

    def holder(self) -> Party | None:
        """The enrolled session that keeps the clock from jumping, or None."""
        for party in sorted(self.parties, key=lambda one: one.order):
            if party.task is None or party.task.state in ("ready", "output"):
                return party
        return None

    def run(self) -> None:
        """The loop; returns after :meth:`stop`."""
        with self._turn:
            self._runner = threading.get_ident()
            self._loop()

    def _loop(self) -> None:
        while not self._stopping:
            self._drain()
            if self._stopping:
                return
            if self.ready:
                self.ready.popleft().step()
                continue
            for task in sorted(self.tasks, key=lambda one: one.party.order):
                task.check_operation()
            if self.ready:
                continue
            timeout_s = self._pass_time()
            if timeout_s == 0.0:
                continue
            again_s = self.on_quiet()
            waits = [one for one in (timeout_s, again_s) if one is not None]
            action = self._message(min(waits) if waits else None)
            if action is not None:
                self._guarded(action)

    def _message(self, timeout_s: float | None) -> Callable[[], None] | None:
        """The next message; while none is there, another thread may run a request (:meth:`at_once`)."""
        self._runner = 0
        self._turn.release()
        try:
            return self._inbox.get(timeout=timeout_s)
        except queue.Empty:
            return None
        finally:
            self._wanted = True
            self._turn.acquire()
            self._wanted = False
            self._runner = threading.get_ident()

    def _drain(self) -> None:
        while True:
            try:
                action = self._inbox.get_nowait()
            except queue.Empty:
                return
            self._guarded(action)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as failure:  # noqa: BLE001  one bad message must not end the world
            self.note_defect(failure)

    def _pass_time(self) -> float | None:
        """Move time if that is allowed: 0.0 when something fired, else wall seconds to wait for a message (None: any)."""
        if self.clock.follows_wall:
            if self.clock.fire_due():
                return 0.0
            return self.clock.wall_until_due_s()
        if self.clock.next_due_us() is None:
            self.clock.jump()
            return None
        holder = self.holder()
        if holder is None:
            return 0.0 if self.clock.jump() else None
        left_s = self.hold_guard_s - (self.wall() - holder.idle_since_wall_s)
        if left_s > 0.0:
            return left_s
        self.leave(holder)
        return 0.0
