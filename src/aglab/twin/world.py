"""The world: one thread at a time runs batches, moves the clock and asks the engine; everybody else sends it messages.

It has a thread of its own; while that waits for messages, the listener's may run a quick request (:meth:`World.at_once`).

A request is a generator of effects (:mod:`aglab.tsql.effects`). The world resumes one request at a time for one slice,
hands its output to the connection's sink, and parks it where it must wait: for virtual time, for a lock, for an operation,
or for a slow reader. When nothing can run, virtual time jumps to the next timer, unless an enrolled session is idle:
then the clock waits for its next batch, at most :data:`HOLD_GUARD_S` wall seconds, so that nothing hangs for ever.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Protocol

from aglab.tsql.effects import Cancelled, Done, Message, Rows, Wait
from aglab.twin.clock import Clock, Timer

HOLD_GUARD_S = 30.0  # wall seconds that an idle enrolled session may hold the clock
CHUNKS_IN_FLIGHT_MAX = 4  # chunks that a connection may owe its client before its batch is parked
EFFECTS_A_SLICE = 200
ROWS_A_SLICE = 500
INTERNAL_ERROR = 50001


class Sink(Protocol):
    """Where a request's output goes; called on the world thread, must not block."""

    def post(self, effects: list[Any], done: bool, acknowledge: bool) -> None:
        """Send ``effects``; ``done`` ends the response; ``acknowledge``: report ``drained`` when the bytes are gone."""

    def attention_done(self) -> None:
        """The cancelled request has ended: confirm the attention."""

    def hang_up(self) -> None:
        """Close the connection after what was posted."""


class Party(Protocol):
    """A session as the scheduler sees it."""

    order: int  # unique in the cluster: concurrent waiters wake in this order
    sink: Sink
    task: Task | None
    enrolled: bool
    idle_since_wall_s: float

    def wait_started(self, wait: Wait) -> None:
        """A wait begins; shown in sys.dm_exec_requests."""

    def wait_ended(self, wait: Wait, waited_us: int) -> None:
        """A wait ended; kept for sys.dm_os_wait_stats."""


def _nothing() -> None:
    """A message that only wakes the world."""


class Task:
    """One running request: its generator and why it is parked (``state``)."""

    def __init__(self, world: World, party: Party, generator: Generator[Any, Any, None], finished: Callable[[], None]) -> None:
        self.world = world
        self.party = party
        self.generator = generator
        self.finished = finished
        self.state = "ready"
        self.wait: Wait | None = None
        self.wait_started_us = 0
        self.started_us = world.clock.now_us
        self.cancelled = False
        self.in_flight = 0
        self.turns = 0
        self.turn_began_s = 0.0  # wall
        self._timer: Timer | None = None
        self._throw: BaseException | None = None

    def wake(self, error: BaseException | None = None) -> None:
        """The wait is over (or failed with ``error``): run again in turn."""
        if self.state in ("ready", "over"):
            return
        if self._timer:
            self._timer.cancelled = True
            self._timer = None
        if self.wait is not None:
            waited_us = self.world.clock.now_us - self.wait_started_us
            self.party.wait_ended(self.wait, waited_us)
            self.wait = None
        self._throw = error
        self.state = "ready"
        self.world.ready.append(self)

    def cancel(self) -> None:
        """Throw :class:`Cancelled` into the batch at its next turn."""
        if self.state == "over" or self.cancelled:
            return
        self.cancelled = True
        if self.state == "ready":
            self._throw = Cancelled()
        else:
            self.wake(Cancelled())

    def step(self) -> None:
        """Run until the batch waits, ends, or has used its slice."""
        out: list[Any] = []
        rows = 0
        generator = self.generator
        self.turns += 1
        self.turn_began_s = self.world.wall()
        try:
            error, self._throw = self._throw, None
            effect = generator.throw(error) if error is not None else next(generator)
            while True:
                if type(effect) is Wait:
                    self._park(effect, out)
                    return
                out.append(effect)
                rows += len(effect.rows) if type(effect) is Rows else 0
                if rows >= ROWS_A_SLICE or len(out) >= EFFECTS_A_SLICE:
                    self._yield_turn(out)
                    return
                effect = next(generator)
        except StopIteration:
            self._end(out)
        except Cancelled:
            self._end(out)
        except Exception as failure:  # noqa: BLE001  a defect in one batch must not take the nodes down
            self.world.note_defect(failure)
            text = f"aglab twin: the statement failed inside the twin ({type(failure).__name__}: {failure})."
            out.append(Message(INTERNAL_ERROR, 16, 1, text))
            out.append(Done())
            self._end(out)

    def _yield_turn(self, out: list[Any]) -> None:
        self._flush(out)
        if self.in_flight >= CHUNKS_IN_FLIGHT_MAX:
            self.state = "output"
            self.wait_started_us = self.world.clock.now_us
            self.wait = Wait("output", wait_type="ASYNC_NETWORK_IO")
            self.party.wait_started(self.wait)
        else:
            self.world.ready.append(self)

    def _flush(self, out: list[Any]) -> None:
        if out and not self.cancelled:
            self.in_flight += 1
            self.party.sink.post(out, done=False, acknowledge=True)

    def drained(self) -> None:
        """The connection has written one chunk."""
        self.in_flight -= 1
        if self.state == "output":
            self.wake()

    def _park(self, wait: Wait, out: list[Any]) -> None:
        self._flush(out)
        self.wait = wait
        self.state = wait.kind
        self.wait_started_us = self.world.clock.now_us
        self.party.wait_started(wait)
        over = wait.kind == "yield" or (wait.kind != "time" and callable(wait.done) and wait.done())
        if over or (wait.kind == "time" and not wait.wait_type and round((wait.until_s or 0.0) * 1e6) <= self.wait_started_us):
            self.wake()  # takes no time: others get a turn
        elif wait.until_s is not None:
            due_us = max(round(wait.until_s * 1e6), self.wait_started_us)
            if wait.detail.get("rush"):
                self.world.clock.rush(due_us)
            self._timer = self.world.clock.call_at(due_us, self.party.order, self._due)
        if self.cancelled and self.state == wait.kind:
            self.wake(Cancelled())

    def _due(self) -> None:
        self._timer = None
        wait = self.wait
        if wait is not None and wait.kind == "operation" and callable(wait.done) and not wait.done():
            return  # late: the world asks again after every event
        self.wake()

    def check_operation(self) -> None:
        """Wake if the operation or the lock that this task waits for is there."""
        if self.state in ("operation", "lock") and self.wait is not None and callable(self.wait.done) and self.wait.done():
            self.wake()

    def _end(self, out: list[Any]) -> None:
        self.state = "over"
        self.generator.close()
        self.finished()
        self.party.task = None
        self.party.idle_since_wall_s = self.world.wall()
        self.world.tasks.discard(self)
        if self.cancelled:
            self.party.sink.attention_done()
        else:
            self.party.sink.post(out, done=True, acknowledge=False)


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
