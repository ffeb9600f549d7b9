"""A response surface in an array, packed for a page: 16-bit steps between each quantity's own minimum and maximum.

One step is 1/65,535 of the range of a quantity over the whole grid, far below what a chart or a rounded table can show.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from aglab.core.errors import AglabError

STEPS = 65_535


@dataclass(frozen=True)
class Surface:
    """``outputs`` has shape (points, outputs), ``series`` (points, series, times); points run with the last parameter fastest."""

    shape: tuple[int, ...]
    outputs: np.ndarray
    series: np.ndarray

    def encode(self) -> dict[str, Any]:
        """JSON for the front end: per quantity its minimum, its step and little-endian uint16 in base64."""
        return {
            "shape": list(self.shape),
            "outputs": [pack(self.outputs[:, place]) for place in range(self.outputs.shape[1])],
            "series": [pack(self.series[:, place, :]) for place in range(self.series.shape[1])],
        }


def pack(values: np.ndarray) -> dict[str, Any]:
    """One quantity, quantised.

    Raises
    ------
    AglabError
        A value is not finite: the page would show a gap without a reason.
    """
    flat = np.asarray(values, dtype=float).ravel()
    if not np.isfinite(flat).all():
        place = int(np.flatnonzero(~np.isfinite(flat))[0])
        raise AglabError(f"the surface holds {flat[place]} at point {place}", "let compute return a finite number")
    low, high = (float(flat.min()), float(flat.max())) if len(flat) else (0.0, 0.0)
    step = (high - low) / STEPS
    whole = np.zeros(len(flat)) if step == 0 else np.rint((flat - low) / step)
    data = base64.b64encode(whole.astype("<u2").tobytes()).decode("ascii")
    return {"low": low, "step": step, "data": data}


def unpack(packed: dict[str, Any]) -> np.ndarray:
    """What :func:`pack` packed, flat; the front end does the same."""
    whole = np.frombuffer(base64.b64decode(packed["data"]), dtype="<u2")
    return packed["low"] + whole * packed["step"]
