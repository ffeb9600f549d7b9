"""What an explorable is declared with: parameters, outputs, questions; and what its ``compute`` answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aglab.core.errors import UsageError
from aglab.viz.text import axis_unit

Value = float | str
CHOICES_MAX = 3  # so few named positions are a list to choose from, not a slider


@dataclass(frozen=True)
class Parameter:
    """One slider (or, for words, one choice).

    Parameters
    ----------
    key : str
        The scenario setting it changes.
    label, unit : str
        What the reader sees.
    values : tuple
        The positions, in order: numbers, or words for a choice.
    default : number or str
        One of ``values``.
    texts : tuple of str
        What to show at each position; the number and its unit when empty.
    live_values : tuple
        Finer positions for JupyterLab, where the kernel answers; ``values`` when empty.
    help : str
        One sentence under the slider.
    """

    key: str
    label: str
    values: tuple[Value, ...]
    unit: str = ""
    default: Value = 0.0
    texts: tuple[str, ...] = ()
    live_values: tuple[Value, ...] = ()
    help: str = ""

    def __post_init__(self) -> None:
        where = f"parameter {self.key!r}"
        if len(self.values) < 2:
            raise UsageError(f"{where} has {len(self.values)} values, must be >= 2", "a fixed setting belongs to the scenario")
        if self.default not in self.values:
            raise UsageError(f"{where}: default {self.default!r} is not one of its values", f"choose from {list(self.values)}")
        if self.texts and len(self.texts) != len(self.values):
            raise UsageError(
                f"{where}: {len(self.texts)} texts for {len(self.values)} values", "give one text for each value or none"
            )

    def spec(self, live: bool) -> dict[str, Any]:
        """What the front end needs to draw the control."""
        values = self.live_values if live and self.live_values else self.values
        named = dict(zip(self.values, self.texts, strict=True)) if self.texts else {}
        texts = [named.get(value, self._text(value)) for value in values]
        index = values.index(self.default) if self.default in values else 0
        words = any(isinstance(value, str) for value in values) or bool(self.texts and len(values) <= CHOICES_MAX)
        kind = "choice" if words else "slider"
        about = {"key": self.key, "label": self.label, "unit": self.unit, "help": self.help, "kind": kind}
        return {**about, "values": list(values), "texts": texts, "index": index}

    def _text(self, value: Value) -> str:
        return value if isinstance(value, str) else f"{value:,g} {self.unit}".strip()


@dataclass(frozen=True)
class Output:
    """One number the engine answers with: ``unit`` is what ``compute`` returns, the front end shows MB for bytes and so on."""

    key: str
    label: str
    unit: str = ""
    help: str = ""

    def spec(self) -> dict[str, Any]:
        """What the front end needs to show the number."""
        divisor, unit = axis_unit(self.unit)
        return {"key": self.key, "label": self.label, "unit": unit, "divisor": divisor, "help": self.help}


@dataclass(frozen=True)
class Question:
    """A question above the sliders, with an answer that stays folded."""

    text: str
    answer: str = ""


@dataclass(frozen=True)
class Answer:
    """What ``compute`` gives for one point: ``outputs[key]`` numbers, ``series[key]`` arrays over the explorable's ``time_s``."""

    outputs: Mapping[str, float]
    series: Mapping[str, np.ndarray] = field(default_factory=dict)
