"""The twin's clock: virtual time, its pace, and the timers that wait on it.

Time is an integer number of microseconds since a fixed epoch, so that the same lab prints the same timestamps on every
machine. Pace ``fast`` moves time only by jumping to the next timer; a wall pace (``1x``, ``60x``) follows the wall clock,
multiplied. The clock decides nothing: :mod:`aglab.twin.world` says when a jump is allowed.
"""

from __future__ import annotations

import datetime as dt
import heapq
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from aglab.core.errors import UsageError, field_error

EPOCH = dt.datetime(2025, 1, 6, 8, 0, 0)  # a Monday morning; a twin's wall time starts here, in UTC
FAST = 0.0
PACE_MAX = 3600.0
JUMP_S_MAX = 7 * 86400.0  # a week in one step: what the engine computes in seconds

_PACE = re.compile(r"(\d+(?:\.\d+)?)\s*x")


def parse_pace(text: str) -> float:
    """The multiplier of a pace: 0 for ``fast``, 60 for ``60x``.

    Raises
    ------
    UsageError
        The text is neither ``fast`` nor a multiple of the wall clock from 0.01x to 3600x.

    >>> parse_pace("fast"), parse_pace("1x"), parse_pace("60X")
    (0.0, 1.0, 60.0)
    """
    word = str(text).strip().lower()
    if word == "fast":
        return FAST
    match = _PACE.fullmatch(word)
    if match and 0.01 <= float(match.group(1)) <= PACE_MAX:
        return float(match.group(1))
    raise UsageError(f"pace={text!r} must be 'fast' or a multiple of the wall clock from 0.01x to 3600x", "use fast, 1x or 60x")


def pace_text(multiplier: float) -> str:
    """The inverse of :func:`parse_pace`.

    >>> pace_text(0.0), pace_text(60.0)
    ('fast', '60x')
    """
    return "fast" if multiplier == FAST else f"{multiplier:g}x"


def checked_seconds(field_name: str, value: Any, where: str, most_s: float = JUMP_S_MAX) -> float:
    """A number of seconds that a caller asked the clock to move, as float.

    Raises
    ------
    UsageError
        Not a number, not positive, or more than ``most_s``.
    """
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise field_error(field_name, value, "must be a number of seconds", where, "use for example 60") from None
    if not 0.0 < seconds <= most_s:
        raise field_error(field_name, value, f"must be > 0 and <= {most_s:.0f}", where, "give seconds; advance in several steps")
    return seconds


@dataclass(order=True, slots=True)
class Timer:
    """Something due at ``until_us``; equal times fire in session order, then in order of arrival."""

    until_us: int
    session_id: int
    sequence: int
    callback: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)


class Clock:
    """Virtual time with a pace.

    Parameters
    ----------
    wall : callable
        Seconds of a monotonic wall clock; handed in so that tests own it.
    pace : str
        ``fast``, ``1x``, ``60x``.
    now_us : int
        Where virtual time starts, microseconds since :data:`EPOCH`.
    """

    def __init__(self, wall: Callable[[], float], pace: str = "fast", now_us: int = 0) -> None:
        self._wall = wall
        self._pace = parse_pace(pace)
        self._base_us = now_us
        self._base_wall_s = wall()
        self._rush_until_us = 0
        self._held_us: int | None = None
        self._timers: list[Timer] = []
        self._background: list[Timer] = []  # these fire as time passes, but no jump is made for their sake
        self._sequence = count()

    @property
    def pace(self) -> str:
        """``fast``, ``1x``, ``60x``."""
        return pace_text(self._pace)

    @property
    def follows_wall(self) -> bool:
        """Whether time moves by itself now (a wall pace, and nobody asked to skip ahead)."""
        return self._pace != FAST and self._base_us >= self._rush_until_us

    @property
    def now_us(self) -> int:
        """Virtual microseconds since :data:`EPOCH`."""
        if self._held_us is not None:
            return self._held_us
        if not self.follows_wall:
            return self._base_us
        return self._base_us + int((self._wall() - self._base_wall_s) * self._pace * 1e6)

    @property
    def now_s(self) -> float:
        """Virtual seconds since :data:`EPOCH`."""
        return self.now_us / 1e6

    def datetime(self) -> dt.datetime:
        """The virtual wall time (UTC, without a zone)."""
        return EPOCH + dt.timedelta(microseconds=self.now_us)

    def hold(self) -> None:
        """At a wall pace, stand still until the next hold or :meth:`release`.

        Counters and the time beside them are of one moment then, however long a machine takes to compute them.
        """
        self._held_us = None
        if self.follows_wall:
            self._held_us = self.now_us

    def release(self) -> None:
        """Go on: at the time that the wall's clock says."""
        self._held_us = None

    def set_pace(self, pace: str) -> None:
        """Change the pace from now on."""
        multiplier = parse_pace(pace)
        self._settle()
        self._pace = multiplier

    def set_time(self, now_us: int) -> None:
        """Set the time (a restored state); timers that wait stay as they are."""
        self._base_us, self._base_wall_s, self._rush_until_us, self._held_us = now_us, self._wall(), 0, None

    def rush(self, until_us: int) -> None:
        """Let a wall-paced clock jump, as in ``fast``, until ``until_us``: somebody asked to advance."""
        self._settle()
        self._rush_until_us = max(self._rush_until_us, until_us)

    def _settle(self) -> None:
        self._base_us = self.now_us
        self._base_wall_s = self._wall()
        self._held_us = None

    def call_at(self, until_us: int, session_id: int, callback: Callable[[], None]) -> Timer:
        """Have ``callback`` called when virtual time reaches ``until_us``."""
        timer = Timer(until_us, session_id, next(self._sequence), callback)
        heapq.heappush(self._timers, timer)
        return timer

    def call_in_passing(self, until_us: int, callback: Callable[[], None]) -> Timer:
        """As :meth:`call_at`, for what must not make a twin that nobody uses jump: schedules of jobs."""
        timer = Timer(until_us, 0, next(self._sequence), callback)
        heapq.heappush(self._background, timer)
        return timer

    def _next_in_passing_us(self) -> int | None:
        while self._background and self._background[0].cancelled:
            heapq.heappop(self._background)
        return self._background[0].until_us if self._background else None

    def next_due_us(self) -> int | None:
        """When the earliest live timer is due, or None."""
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0].until_us if self._timers else None

    def wall_until_due_s(self) -> float | None:
        """Wall seconds until the next timer at a wall pace; None without a timer, or when the clock only jumps."""
        known = [one for one in (self.next_due_us(), self._next_in_passing_us()) if one is not None]
        if not known or not self.follows_wall:
            return None
        due = min(known)
        return max(0.0, (due - self.now_us) / 1e6 / self._pace)

    def fire_due(self) -> int:
        """Call every timer that is due, in order; the number called."""
        fired = 0
        now = self.now_us
        while True:
            due, passing = self.next_due_us(), self._next_in_passing_us()
            if passing is not None and passing <= now and (due is None or passing <= due):
                heapq.heappop(self._background).callback()
            elif due is not None and due <= now:
                heapq.heappop(self._timers).callback()
            else:
                return fired
            fired += 1

    def jump(self) -> int:
        """Move time to the next timer and fire what is due then; the number fired (0: nothing waits)."""
        due = self.next_due_us()
        if due is None:
            self._rush_until_us = 0
            return 0
        passing = self._next_in_passing_us()
        self._base_us = max(self._base_us, due if passing is None else min(due, passing))
        self._base_wall_s = self._wall()
        return self.fire_due()
