"""When schedules of jobs are due."""

import datetime as dt

import pytest

from aglab.twin.agent.schedules import duration_number, next_run
from aglab.twin.clock import Clock

MONDAY = dt.datetime(2025, 1, 6, 8, 0)


def schedule(**values):
    """A schedule from 2025-01-06 on, at midnight."""
    plain = dict.fromkeys(
        "freq_interval freq_subday_type freq_subday_interval freq_recurrence_factor active_start_time".split(),
        0,
    )
    times = {"active_start_date": 20250106, "active_end_date": 99991231, "active_end_time": 235959}
    return {"enabled": 1, **plain, **times, **values}


@pytest.mark.parametrize(
    ("values", "due"),
    [
        ({"freq_type": 1, "active_start_time": 90000}, "2025-01-06 09:00:00"),
        ({"freq_type": 1, "active_start_time": 70000}, None),
        ({"freq_type": 4, "freq_interval": 1}, "2025-01-07 00:00:00"),
        ({"freq_type": 4, "freq_interval": 3}, "2025-01-09 00:00:00"),
        ({"freq_type": 4, "freq_interval": 1, "freq_subday_type": 4, "freq_subday_interval": 15}, "2025-01-06 08:15:00"),
        ({"freq_type": 4, "freq_interval": 1, "freq_subday_type": 8, "freq_subday_interval": 6}, "2025-01-06 12:00:00"),
        ({"freq_type": 4, "freq_interval": 1, "freq_subday_type": 2, "freq_subday_interval": 10}, "2025-01-06 08:00:10"),
        ({"freq_type": 8, "freq_interval": 1, "freq_recurrence_factor": 1}, "2025-01-12 00:00:00"),
        ({"freq_type": 8, "freq_interval": 34, "freq_recurrence_factor": 1}, "2025-01-10 00:00:00"),
        ({"freq_type": 8, "freq_interval": 2, "freq_recurrence_factor": 2}, "2025-01-20 00:00:00"),
        ({"freq_type": 16, "freq_interval": 31, "freq_recurrence_factor": 1}, "2025-01-31 00:00:00"),
        ({"freq_type": 16, "freq_interval": 1, "freq_recurrence_factor": 3}, "2025-04-01 00:00:00"),
        ({"freq_type": 4, "freq_interval": 1, "active_end_date": 20250106}, None),
        ({"freq_type": 4, "freq_interval": 1, "enabled": 0}, None),
        ({"freq_type": 64}, None),
    ],
)
def test_next_run(values, due):
    """The first moment after Monday, eight o'clock."""
    found = next_run(schedule(**values), MONDAY)
    assert (None if found is None else str(found)) == due


def test_durations_are_hours_minutes_seconds():
    """As sysjobhistory.run_duration."""
    assert duration_number(3 * 3600 + 4 * 60 + 5.9) == 30405


def test_what_happens_in_passing_makes_no_jump():
    """A background timer fires on the way to another one, in order, and alone moves nothing."""
    clock, seen = Clock(lambda: 0.0), []
    clock.call_in_passing(5_000_000, lambda: seen.append(("schedule", clock.now_s)))
    assert clock.jump() == 0
    assert clock.now_s == 0.0
    clock.call_at(9_000_000, 1, lambda: seen.append(("wait", clock.now_s)))
    while clock.jump():
        pass
    assert seen == [("schedule", 5.0), ("wait", 9.0)]
