"""The engine's samples as the twin keeps them, and the arguments of the procedures that begin a load and read them."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from aglab.core.errors import field_error

RECORDING_S_MAX = 4 * 3600
USERS_MAX = 100_000


class Recording:
    """The engine's samples (one a second), newest kept; times are ends of samples on the cluster's clock."""

    def __init__(self) -> None:
        self.columns: list[tuple[str, str]] = []
        self.samples: deque[tuple[float, np.ndarray]] = deque(maxlen=RECORDING_S_MAX)

    def add(self, columns: list[tuple[str, str]], time_s: np.ndarray, values: np.ndarray) -> None:
        """Take samples; ``time_s`` shape (n,), ``values`` shape (n, columns)."""
        if columns != self.columns:
            self.columns = list(columns)
            self.samples.clear()
        self.samples.extend((round(float(moment), 3), row) for moment, row in zip(time_s, values, strict=True))

    def between(self, from_s: float, to_s: float, every_s: float) -> list[tuple[float, np.ndarray]]:
        """Means over windows of ``every_s`` seconds that end after ``from_s`` and at or before ``to_s``."""
        out: list[tuple[float, np.ndarray]] = []
        window: list[np.ndarray] = []
        begun: float | None = None
        for moment, row in self.samples:
            if moment <= from_s + 1e-6 or moment > to_s + 1e-6:
                continue
            begun = moment - 1.0 if begun is None else begun
            window.append(row)
            if moment - begun >= every_s - 1e-6:
                out.append((moment, np.mean(window, axis=0)))
                window, begun = [], None
        return out


def checked_users(value: Any, default: float) -> float:
    """The number of users a caller asked for; None means the profile's own.

    Raises
    ------
    UsageError
        Not a number, below 1, or beyond what the model means.
    """
    if value is None:
        return default
    return _checked("users", value, 1, USERS_MAX, "twin.start_workload", "use for example 100")


def checked_every(value: Any) -> float:
    """The step of a recording, in seconds (1 to 3600)."""
    return _checked("every_s", 1.0 if value is None else value, 1, 3600, "twin.recording", "use 1")


def _checked(field: str, value: Any, low: float, high: float, where: str, remedy: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise field_error(field, value, "must be a number", where, remedy) from None
    if not low <= number <= high:
        raise field_error(field, value, f"must be {low:g} to {high:g}", where, remedy)
    return number
