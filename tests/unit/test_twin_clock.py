"""The twin's clock."""

import datetime as dt

import pytest

from aglab.core.errors import UsageError
from aglab.twin.clock import EPOCH, Clock, checked_seconds, pace_text, parse_pace


class Wall:
    """A wall clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_fast_clock_moves_only_by_jumps():
    """Wall time does not touch a fast clock; a jump goes exactly to the next timer."""
    wall = Wall()
    clock = Clock(wall)
    seen = []
    clock.call_at(5_000_000, 1, lambda: seen.append("five"))
    wall.now += 60
    assert clock.now_us == 0 and clock.datetime() == EPOCH
    assert clock.jump() == 1 and seen == ["five"]
    assert clock.now_s == 5.0 and clock.datetime() == EPOCH + dt.timedelta(seconds=5)
    assert clock.jump() == 0


def test_equal_times_fire_in_session_order():
    """Concurrent waiters wake in (time, session) order, whatever the order they began in."""
    clock = Clock(Wall())
    seen = []
    for session in (53, 51, 52):
        clock.call_at(1_000_000, session, lambda session=session: seen.append(session))
    clock.call_at(500_000, 99, lambda: seen.append(99))
    while clock.jump():
        pass
    assert seen == [99, 51, 52, 53]


def test_cancelled_timers_do_not_fire_or_hold_a_jump():
    """A cancelled timer is as if it had never been."""
    clock = Clock(Wall())
    clock.call_at(1_000, 1, lambda: pytest.fail("fired")).cancelled = True
    assert clock.next_due_us() is None and clock.jump() == 0


def test_wall_pace_follows_the_wall():
    """At 60x one wall second is a virtual minute, and a timer says how long that is on the wall."""
    wall = Wall()
    clock = Clock(wall, "60x")
    clock.call_at(120_000_000, 1, lambda: None)
    assert clock.wall_until_due_s() == 2.0
    wall.now += 1
    assert clock.now_s == 60.0 and clock.fire_due() == 0
    wall.now += 1
    assert clock.fire_due() == 1


def test_changing_the_pace_keeps_the_time():
    """The time neither jumps nor falls back when the pace changes."""
    wall = Wall()
    clock = Clock(wall, "60x")
    wall.now += 1
    clock.set_pace("fast")
    wall.now += 100
    assert clock.now_s == 60.0 and clock.pace == "fast"
    clock.set_pace("1x")
    wall.now += 2
    assert clock.now_s == 62.0


def test_rush_lets_a_wall_clock_jump_to_a_point():
    """Asked to advance, a wall-paced clock jumps there, then follows the wall again from there."""
    wall = Wall()
    clock = Clock(wall, "1x")
    clock.call_at(10_000_000, 1, lambda: None)
    clock.rush(10_000_000)
    assert not clock.follows_wall and clock.wall_until_due_s() is None
    assert clock.jump() == 1 and clock.now_s == 10.0 and clock.follows_wall
    wall.now += 1
    assert clock.now_s == 11.0


def test_set_time_restores_a_saved_clock():
    """A restored state brings its own time."""
    clock = Clock(Wall())
    clock.set_time(7_000_000)
    assert clock.now_s == 7.0


@pytest.mark.parametrize("text", ["slow", "0x", "-1x", "1e9x", "", "x", "9999x"])
def test_bad_pace_is_refused(text):
    """A pace that is neither fast nor a sane multiple names the value and the limit."""
    with pytest.raises(UsageError, match=r"pace=.*0\.01x to 3600x"):
        parse_pace(text)


def test_pace_text_is_the_inverse():
    """What is shown can be typed."""
    for text in ("fast", "1x", "0.5x", "60x"):
        assert pace_text(parse_pace(text)) == text


@pytest.mark.parametrize(
    ("value", "limit"), [(-1, "must be > 0"), (0, "must be > 0"), (1e12, "must be > 0"), ("abc", "must be a number")]
)
def test_bad_spans_are_refused(value, limit):
    """A negative, absurd or non-numeric span is refused with its limit."""
    with pytest.raises(UsageError, match=limit):
        checked_seconds("seconds", value, "twin.advance")
    assert checked_seconds("seconds", "60", "twin.advance") == 60.0


def test_a_held_clock_stands_still_until_it_is_released():
    """What a statement takes on the wall is no time to it; afterwards the time is the wall's again, nothing is lost."""
    wall = Wall()
    clock = Clock(wall, "60x")
    clock.hold()
    wall.now += 1
    assert clock.now_s == 0.0
    clock.hold()  # the next statement
    assert clock.now_s == 60.0
    wall.now += 1
    clock.release()
    assert clock.now_s == 120.0


def test_who_sets_a_clock_ends_its_hold():
    """Another pace, another time and a rush take effect in the middle of the statement that asks for them."""
    wall = Wall()
    for change, then_s in (
        (lambda clock: clock.set_pace("1x"), 1.0),
        (lambda clock: clock.set_time(5_000_000), 65.0),
        (lambda clock: clock.rush(90_000_000), 0.0),
    ):
        clock = Clock(wall, "60x")
        clock.hold()
        change(clock)
        wall.now += 1
        assert clock.now_s == then_s
    fast = Clock(wall)
    fast.hold()
    fast.call_at(7_000_000, 1, lambda: None)
    assert fast.jump() == 1 and fast.now_s == 7.0
