"""What the world runs: a request in slices, the party that asked, and where its output goes (:mod:`aglab.twin.world`)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Protocol

from aglab.tsql.effects import Cancelled, Done, Message, Rows, Wait
from aglab.twin.clock import Timer

if TYPE_CHECKING:
    from aglab.twin.world import World

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
        finally:
            self.world.clock.release()

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
