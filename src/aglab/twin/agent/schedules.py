"""When a schedule is due: freq_type and its companions, as msdb.dbo.sysschedules has them."""

from __future__ import annotations

import datetime as dt
from typing import Any

ONCE, DAILY, WEEKLY, MONTHLY, AT_START = 1, 4, 8, 16, 64
KNOWN = (ONCE, DAILY, WEEKLY, MONTHLY, AT_START)
DAYS_AHEAD = 400
_UNITS = {2: 1, 4: 60, 8: 3600}  # seconds, minutes, hours


def date_of(number: int) -> dt.date | None:
    """yyyymmdd; None where it is no date."""
    try:
        return dt.date(number // 10000, number // 100 % 100, number % 100)
    except ValueError:
        return None


def seconds_of(number: int) -> int | None:
    """hhmmss as seconds of the day; None where it is no time."""
    hours, minutes, seconds = number // 10000, number // 100 % 100, number % 100
    return hours * 3600 + minutes * 60 + seconds if hours < 24 and minutes < 60 and seconds < 60 and number >= 0 else None


def date_number(moment: dt.datetime) -> int:
    """yyyymmdd."""
    return moment.year * 10000 + moment.month * 100 + moment.day


def time_number(moment: dt.datetime) -> int:
    """hhmmss."""
    return moment.hour * 10000 + moment.minute * 100 + moment.second


def duration_number(seconds: float) -> int:
    """hhmmss of a duration, as sysjobhistory.run_duration has it."""
    whole = int(seconds)
    return whole // 3600 * 10000 + whole // 60 % 60 * 100 + whole % 60


def next_run(schedule: dict[str, Any], after: dt.datetime) -> dt.datetime | None:
    """The first moment later than ``after`` at which the schedule is due; None: never again."""
    start, end = date_of(schedule["active_start_date"]), date_of(schedule["active_end_date"])
    if start is None or end is None or schedule["freq_type"] == AT_START or not schedule["enabled"]:
        return None
    day = max(start, after.date())
    for _ in range(DAYS_AHEAD):
        if day > end:
            return None
        if _runs_on(schedule, day, start):
            for second in _times(schedule):
                moment = dt.datetime.combine(day, dt.time()) + dt.timedelta(seconds=second)
                if moment > after:
                    return moment
        if schedule["freq_type"] == ONCE:
            return None
        day += dt.timedelta(days=1)
    return None


def _runs_on(schedule: dict[str, Any], day: dt.date, start: dt.date) -> bool:
    kind, interval = schedule["freq_type"], schedule["freq_interval"]
    every = max(schedule["freq_recurrence_factor"], 1)
    if kind == ONCE:
        return day == start
    if kind == DAILY:
        return (day - start).days % max(interval, 1) == 0
    if kind == WEEKLY:  # Sunday is 1
        weeks = ((day - start).days + (start.weekday() + 1) % 7) // 7
        return bool(interval & (1 << (day.weekday() + 1) % 7)) and weeks % every == 0
    months = (day.year - start.year) * 12 + day.month - start.month
    return day.day == interval and months % every == 0


def _times(schedule: dict[str, Any]) -> range:
    first = seconds_of(schedule["active_start_time"]) or 0
    last = seconds_of(schedule["active_end_time"]) or 0
    unit = _UNITS.get(schedule["freq_subday_type"])
    if unit is None or schedule["freq_type"] == ONCE:
        return range(first, first + 1)
    last = last if last >= first else 86399
    return range(first, last + 1, unit * max(schedule["freq_subday_interval"], 1))
