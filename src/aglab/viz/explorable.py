"""An explorable: parameters a reader moves, and what the engine answers, declared once.

The static book computes the whole response surface while it is built and embeds it; every slider position is a point of
that grid, so a page without a kernel shows computed numbers and never a guess between them. In JupyterLab the same front
end asks the kernel instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aglab.core.errors import AglabError, UsageError, unknown_name
from aglab.core.progress import Progress, no_progress
from aglab.viz.declare import Answer, Output, Parameter, Question, Value
from aglab.viz.surface import Surface
from aglab.viz.text import axis_unit, escape, human, inline, numbers, script_json

SURFACE_POINTS_MAX = 20_000
_NOT_RUN = "Run this cell: its sliders ask the kernel."


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
        """What the front end gets; without the surface when a kernel answers (``live``): then only the first answer."""
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
        if live:
            first = self.answer({})
            spec["answer"] = {
                "outputs": numbers([first.outputs[output.key] for output in self.outputs], 5),
                "series": [numbers(first.series[item.key]) for item in self.series],
            }
        else:
            spec["surface"] = self.surface().encode()
        return spec

    def html(self, live: bool = False) -> str:
        """The block the front end brings to life; without a script it still asks its questions and shows a table."""
        questions = "".join(f"<li>{inline(q.text)}{_folded(q.answer)}</li>" for q in self.questions)
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
            found = surface.outputs[np.ravel_multi_index(tuple(at), self.shape)]
            cells = "".join(
                f'<td class="num">{human(v / axis_unit(o.unit)[0])}</td>' for v, o in zip(found, self.outputs, strict=True)
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
        html = f'<div class="aglab-explorable-ref" data-slug="{escape(self.slug)}">{_NOT_RUN}</div>'
        return {"text/plain": repr(self), "text/html": html, **mime_of(self.widget())}


def _folded(answer: str) -> str:
    return f"<details><summary>Answer</summary><p>{inline(answer)}</p></details>" if answer else ""
