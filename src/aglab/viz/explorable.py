"""An explorable: parameters a reader moves, and what the engine answers, declared once.

The static book computes the whole response surface while it is built and embeds it; every slider position is a point of that grid, so a
page without a kernel shows computed numbers and never a guess between them. In JupyterLab the same front end asks the kernel instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aglab.core.errors import AglabError, UsageError, unknown_name
from aglab.core.progress import Progress, no_progress
from aglab.viz.surface import Surface
from aglab.viz.text import axis_unit, escape, human, inline, script_json

Value = float | str
SURFACE_POINTS_MAX = 20_000
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
        return {
            "key": self.key,
            "label": self.label,
            "values": list(values),
            "texts": texts,
            "index": index,
            "kind": kind,
            "help": self.help,
        }

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


@dataclass
class Explorable:
    """Parameters, a grid over them, and the figure that answers.

    Parameters
    ----------
    slug : str
        The lab's folder name.
    compute : callable
        ``compute({key: value})`` -> :class:`Answer`. Deterministic: the static book stores what it returns.
    outputs, series : sequence of Output
        Numbers, and curves over ``time_s`` (seconds, the same for all series).
    curve_over, curve_outputs : str, sequence of str
        The parameter along which the second chart runs, and the outputs it shows.
    label : str
        The honest label.
    """

    slug: str
    title: str
    parameters: Sequence[Parameter]
    outputs: Sequence[Output]
    compute: Callable[[dict[str, Value]], Answer]
    series: Sequence[Output] = ()
    time_s: Sequence[float] = ()
    questions: Sequence[Question] = ()
    curve_over: str = ""
    curve_outputs: Sequence[str] = ()
    label: str = ""
    _surface: Surface | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        keys = [parameter.key for parameter in self.parameters]
        self.curve_over = self.curve_over or keys[0]
        if self.curve_over not in keys:
            raise unknown_name("parameter", self.curve_over, keys)
        names = [output.key for output in self.outputs]
        self.curve_outputs = tuple(self.curve_outputs) or (names[0],)
        for name in self.curve_outputs:
            if name not in names:
                raise unknown_name("output", name, names)
        if self.points > SURFACE_POINTS_MAX:
            raise UsageError(
                f"explorable {self.slug!r} has {self.points} grid points, must be <= {SURFACE_POINTS_MAX}", "use fewer values"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of each parameter."""
        return tuple(len(parameter.values) for parameter in self.parameters)

    @property
    def points(self) -> int:
        """Points of the whole grid."""
        return int(np.prod(self.shape))

    @property
    def default(self) -> dict[str, Value]:
        """The setting the page opens with."""
        return {parameter.key: parameter.default for parameter in self.parameters}

    def answer(self, setting: Mapping[str, Value]) -> Answer:
        """The engine's answer for one setting; what is not given stays at its default.

        Raises
        ------
        UsageError
            A key is not one of the parameters.
        AglabError
            ``compute`` left out an output or a series.
        """
        known = [parameter.key for parameter in self.parameters]
        for key in setting:
            if key not in known:
                raise unknown_name("parameter", key, known)
        found = self.compute({**self.default, **setting})
        missing = [o.key for o in self.outputs if o.key not in found.outputs] + [
            s.key for s in self.series if s.key not in found.series
        ]
        if missing:
            raise AglabError(
                f"explorable {self.slug!r}: compute gave no {missing[0]!r}", "return every declared output and series"
            )
        return found

    def surface(self, progress: Progress = no_progress) -> Surface:
        """Every answer of the grid, computed once and kept; last parameter fastest."""
        if self._surface is None:
            outputs = np.empty((self.points, len(self.outputs)))
            series = np.empty((self.points, len(self.series), len(self.time_s)))
            grid = itertools.product(*(parameter.values for parameter in self.parameters))
            for index, values in enumerate(grid):
                found = self.answer(dict(zip((p.key for p in self.parameters), values, strict=True)))
                outputs[index] = [found.outputs[output.key] for output in self.outputs]
                for place, item in enumerate(self.series):
                    series[index, place] = found.series[item.key]
                progress(index + 1, self.points, f"explorable {self.slug}")
            self._surface = Surface(self.shape, outputs, series)
        return self._surface

    def spec(self, live: bool = False) -> dict[str, Any]:
        """What the front end gets; without the surface when a kernel answers (``live``)."""
        spec: dict[str, Any] = {
            "slug": self.slug,
            "label": self.label,
            "live": live,
            "parameters": [parameter.spec(live) for parameter in self.parameters],
            "outputs": [output.spec() for output in self.outputs],
            "series": [item.spec() for item in self.series],
            "time": [float(value) for value in self.time_s],
            "curve": {"over": self.curve_over, "outputs": list(self.curve_outputs)},
        }
        if not live:
            spec["surface"] = self.surface().encode()
        return spec

    def html(self, live: bool = False) -> str:
        """The block the front end brings to life; without a script it still asks its questions and shows a table."""
        questions = "".join(
            f"<li>{inline(q.text)}{f'<details><summary>Answer</summary><p>{inline(q.answer)}</p></details>' if q.answer else ''}</li>"
            for q in self.questions
        )
        asked = f'<ol class="aglab-questions">{questions}</ol>' if questions else ""
        behind = "" if live else f"<details><summary>Table behind this figure</summary>{self._table()}</details>"
        return (
            f'<div class="aglab-explorable" data-aglab="explorable" data-slug="{escape(self.slug)}">'
            f'<p class="aglab-title">{escape(self.title)}</p>{asked}'
            f'<div class="aglab-body"></div>{behind}'
            f'<script type="application/json" class="aglab-spec">{script_json(self.spec(live))}</script></div>'
        )

    def widget(self) -> Any:
        """The explorable as a Jupyter widget: sliders ask this kernel."""
        from aglab.viz.widget import explorable_widget

        return explorable_widget(self)

    def _table(self) -> str:
        """The curve at the defaults as a plain table: one row per value of ``curve_over``."""
        surface = self.surface()
        place = [p.key for p in self.parameters].index(self.curve_over)
        at = [list(p.values).index(p.default) for p in self.parameters]
        over = self.parameters[place]
        heads = [over.label, *(f"{o.label}{f' ({axis_unit(o.unit)[1]})' if o.unit else ''}" for o in self.outputs)]
        lines = []
        for index, text in enumerate(over.spec(False)["texts"]):
            at[place] = index
            numbers = surface.outputs[np.ravel_multi_index(tuple(at), self.shape)]
            cells = "".join(
                f'<td class="num">{human(v / axis_unit(o.unit)[0])}</td>' for v, o in zip(numbers, self.outputs, strict=True)
            )
            lines.append(f'<tr><th scope="row">{escape(text)}</th>{cells}</tr>')
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
        rest = ", ".join(
            f"{p.label} {p.spec(False)['texts'][p.spec(False)['index']]}" for p in self.parameters if p.key != self.curve_over
        )
        caption = f"{self.title}: {over.label} varied, {rest}. {self.label}"
        return (
            f'<div class="aglab-scroll" role="region" tabindex="0" aria-label="{escape(self.title)}"><table class="aglab-data">'
            f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
        )

    def __repr__(self) -> str:
        return f"Explorable({self.slug!r}, {len(self.parameters)} parameters, {self.points} points)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from aglab.viz.widget import mime_of

        # The stored notebook keeps a reference only; the book puts the computed surface in its place.
        html = f'<div class="aglab-explorable-ref" data-slug="{escape(self.slug)}"></div>'
        return {"text/plain": repr(self), "text/html": html, **mime_of(self.widget())}
