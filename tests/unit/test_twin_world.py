"""The scheduler: one world, many batches."""

import time

import pytest

from aglab.tsql.effects import Cancelled, Done, Message, Rows, Wait
from aglab.twin import task as t
from aglab.twin import world as w
from aglab.twin.clock import Clock


class Sink:
    """Collects what a connection would send."""

    def __init__(self) -> None:
        self.effects = []
        self.done = 0
        self.attentions = 0
        self.chunks = 0

    def post(self, effects, done, acknowledge):
        self.effects += effects
        self.done += done
        self.chunks += acknowledge

    def attention_done(self):
        self.attentions += 1

    def hang_up(self):
        pass


class Party:
    """A session as the scheduler sees it."""

    def __init__(self, order):
        self.order = order
        self.sink = Sink()
        self.task = None
        self.enrolled = False
        self.idle_since_wall_s = 0.0
        self.waits = []

    def wait_started(self, wait):
        self.waits.append((wait.kind, None))

    def wait_ended(self, wait, waited_us):
        self.waits.append((wait.kind, waited_us))


@pytest.fixture
def world():
    """A running world with a fast clock."""
    made = w.World(Clock(time.monotonic), time.monotonic)
    made.start()
    yield made
    made.stop()


def run(world, party, generator):
    """Start a batch and wait (bounded) until it has ended."""
    begin(world, party, generator)
    ended(world, party)


def begin(world, party, generator):
    """Start a batch."""
    world.ask(lambda: world.begin(party, generator, lambda: None))


def ended(world, *parties, limit_s=60.0):
    """Wait until the parties are idle."""
    deadline = time.monotonic() + limit_s
    while any(world.ask(lambda party=party: party.task is not None) for party in parties):
        assert time.monotonic() < deadline, "a batch did not end"


def test_waits_take_virtual_time_only(world):
    """Three hours of WAITFOR pass at once, and each wake sees its own time."""
    seen = []

    def batch():
        for step in range(1, 37):
            yield Wait("time", step * 300.0, wait_type="WAITFOR")
            seen.append(world.clock.now_s)
        yield Done()

    party = Party(1)
    run(world, party, batch())
    assert seen == [step * 300.0 for step in range(1, 37)]
    assert party.sink.done == 1 and party.waits[1] == ("time", 300_000_000)


def test_waiters_wake_in_time_and_session_order(world):
    """Two sessions that wait for the same moment wake by session, in every run."""
    seen = []
    parties = [Party(53), Party(51), Party(52)]

    def batch(name):
        for step in range(1, 6):
            yield Wait("time", float(step))
            seen.append((step, name))

    gate = Party(1)
    world.ask(lambda: world.enroll(gate))  # holds the clock until all have begun
    for party in parties:
        begin(world, party, batch(party.order))
    world.ask(lambda: world.leave(gate))
    ended(world, *parties)
    assert seen == [(step, name) for step in range(1, 6) for name in (51, 52, 53)]


def test_an_idle_enrolled_session_holds_the_clock(world):
    """Time does not pass while an enrolled session is idle, and passes once it has left."""
    idle, waiter = Party(1), Party(2)
    idle.idle_since_wall_s = time.monotonic()
    world.ask(lambda: world.enroll(idle))

    def batch():
        yield Wait("time", 1.0)

    begin(world, waiter, batch())
    for _ in range(20):
        assert world.ask(lambda: waiter.task is not None and world.clock.now_s == 0.0)
    world.ask(lambda: world.leave(idle))
    ended(world, waiter)
    assert world.clock.now_s == 1.0


def test_the_guard_lets_time_go_on(world):
    """An enrolled session that never comes back is dropped from the clock after the guard."""
    world.hold_guard_s = 0.05
    idle, waiter = Party(1), Party(2)
    idle.idle_since_wall_s = time.monotonic()
    world.ask(lambda: world.enroll(idle))

    def batch():
        yield Wait("time", 1.0)

    run(world, waiter, batch())
    assert not idle.enrolled and world.clock.now_s == 1.0


def test_cancel_reaches_a_waiting_batch(world):
    """An attention ends a WAITFOR at once; the batch sees Cancelled; nothing more is sent."""
    party = Party(1)
    world.ask(lambda: world.enroll(Party(2)))  # an idle session: the wait would not end by itself
    seen = []

    def batch():
        try:
            yield Wait("time", 1e6)
        except Cancelled:
            seen.append("cancelled")
            raise

    begin(world, party, batch())
    world.ask(lambda: party.task.cancel())
    ended(world, party)
    assert seen == ["cancelled"] and party.sink.attentions == 1 and party.sink.done == 0


def test_cancel_of_a_batch_that_has_not_begun(world):
    """A batch that is cancelled before its first turn ends without running."""
    party = Party(1)

    def batch():
        pytest.fail("ran")
        yield Done()

    def both():
        task = world.begin(party, batch(), lambda: None)
        task.cancel()
        task.cancel()

    world.ask(both)
    ended(world, party)
    assert party.sink.attentions == 1


def test_a_slow_reader_is_parked(world):
    """A batch stops producing while its client owes more than a few chunks, others run on, and it resumes when drained."""
    slow, quick = Party(1), Party(2)

    def many():
        for _ in range(40):
            yield Rows([(1,)] * t.ROWS_A_SLICE)

    def one():
        yield Done()

    begin(world, slow, many())
    run(world, quick, one())
    assert quick.sink.done == 1
    deadline = time.monotonic() + 60
    while world.ask(lambda: slow.task.state) != "output":
        assert time.monotonic() < deadline
    assert slow.sink.chunks == t.CHUNKS_IN_FLIGHT_MAX
    while world.ask(lambda: slow.task is not None):
        world.ask(lambda: slow.task and slow.task.drained())
        assert time.monotonic() < deadline
    assert len(slow.sink.effects) == 40 and slow.sink.done == 1


def test_a_defect_in_a_batch_becomes_an_error_message(world):
    """An exception inside the interpreter ends that batch with error 50001; the world goes on."""
    party, other = Party(1), Party(2)

    def bad():
        yield Message(0, 0, 1, "before")
        raise RuntimeError("boom")

    def good():
        yield Done()

    run(world, party, bad())
    run(world, other, good())
    last = party.sink.effects[-2]
    assert last.number == t.INTERNAL_ERROR and "boom" in last.text and party.sink.done == 1
    assert "boom" in world.defects[0] and other.sink.done == 1


def test_lock_and_operation_waits_end_when_they_are_done(world):
    """A wait for a lock or an operation ends when its condition holds, or at its deadline when that comes first."""
    state = {"done": False}
    waiter, timed = Party(1), Party(2)

    def batch():
        yield Wait("operation", done=lambda: state["done"])

    def lock():
        yield Wait("lock", until_s=2.0, wait_type="LCK_M_X", done=lambda: False)

    begin(world, waiter, batch())
    run(world, timed, lock())
    assert timed.waits[-1] == ("lock", 2_000_000)
    assert world.ask(lambda: waiter.task is not None)
    world.ask(lambda: state.update(done=True))
    ended(world, waiter)


def test_a_yield_gives_others_a_turn(world):
    """A long batch that yields lets a short one through before it ends."""
    order = []
    long, short = Party(1), Party(2)

    def busy():
        for _ in range(50):
            yield Wait("yield")
        order.append("long")

    def quick():
        order.append("short")
        yield Done()

    def both():
        world.begin(long, busy(), lambda: None)
        world.begin(short, quick(), lambda: None)

    world.ask(both)
    ended(world, long, short)
    assert order == ["short", "long"]


def test_ask_returns_the_exception_of_the_question(world):
    """An error on the world thread is raised where the question was asked."""
    with pytest.raises(ZeroDivisionError):
        world.ask(lambda: 1 // 0)


def test_a_bad_message_does_not_end_the_world(world):
    """A message that fails is kept as a defect; the next one is served."""
    world.call(lambda: 1 // 0)
    assert world.ask(lambda: 7) == 7
    assert "ZeroDivisionError" in world.defects[0]


def test_wall_pace_waits_on_the_wall():
    """At a wall pace a wait takes wall time."""
    made = w.World(Clock(time.monotonic, "100x"), time.monotonic)
    made.start()
    party = Party(1)
    begun = time.monotonic()

    def batch():
        yield Wait("time", made.clock.now_s + 5.0)

    run(made, party, batch())
    made.stop()
    assert time.monotonic() - begun >= 0.045


def test_a_slice_that_ends_lets_the_clock_go_on(world):
    """A statement holds the clock; when its request waits, ends or fails, time passes again."""
    world.ask(lambda: world.clock.set_pace("60x"))

    def statements(how):
        world.clock.hold()
        yield Done()
        if how == "waits":
            yield Wait("time", until_s=world.clock.now_s + 1.0)
        if how == "fails":
            raise ValueError("a defect")

    for how in ("ends", "waits", "fails"):
        run(world, Party(51), statements(how))
        before = world.clock.now_us
        deadline = time.monotonic() + 60.0
        while world.clock.now_us == before:
            assert time.monotonic() < deadline, f"the clock stands after a request that {how}"
