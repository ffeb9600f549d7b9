"""A figure that is the same in JupyterLab, in the static book and as one file on disk.

In JupyterLab it shows as a live Plotly chart (Plotly's MIME type); the static book takes the HTML block, which the front end
(``frontend/*.js``) draws; without any script the block still gives the text alternative and the tables behind the picture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aglab.viz.palette import themed
from aglab.viz.text import escape, human, inline, script_json

PLOTLY_MIME = "application/vnd.plotly.v1+json"
# Against the whole picture, not the plot area: long axis texts on a phone must not push the label out of it.
_TOP_LEFT = {
    **{"x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top"},
    "pad": {"t": 8, "l": 2},
}


@dataclass(frozen=True)
class Table:
    """A table behind a figure: ``rows`` hold numbers or text, ``columns`` name them with units."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def html(self) -> str:
        """An HTML table inside a box that scrolls by itself, so that the page never does."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        body = "".join(self._row(row) for row in self.rows)
        return (
            f'<div class="aglab-scroll" role="region" tabindex="0" aria-label="{escape(self.caption)}"><table class="aglab-data">'
            f"<caption>{escape(self.caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _row(self, row: tuple[Any, ...]) -> str:
        cells = [f'<th scope="row">{_cell(row[0])}</th>']
        for value in row[1:]:
            kind = ' class="num"' if isinstance(value, (int, float)) else ""
            cells.append(f"<td{kind}>{_cell(value)}</td>")
        return f"<tr>{''.join(cells)}</tr>"


def _cell(value: Any) -> str:
    return human(float(value)) if isinstance(value, (int, float)) else escape(value)


@dataclass
class Figure:
    """A picture with what belongs to it.

    Parameters
    ----------
    title : str
        What the picture shows, in words.
    data, layout :
        Plotly traces and layout with colour tokens (see :mod:`aglab.viz.palette`); the layout needs ``height``.
    alt : str
        The text alternative: what a reader who cannot see the picture must know.
    tables : tuple of Table
        The numbers behind it.
    label : str
        The honest label, ``SIMULATED, profile X``; stamped into the picture.
    caption : str
        A sentence or two under the picture; may hold `code` and *emphasis*.
    """

    title: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    alt: str
    tables: tuple[Table, ...] = ()
    label: str = ""
    caption: str = ""
    annotations: list[dict[str, Any]] = field(default_factory=list)

    def spec(self) -> dict[str, Any]:
        """Plotly's ``{"data", "layout"}`` with the label stamped in; colours are still tokens."""
        layout = dict(self.layout)
        layout["annotations"] = [*layout.get("annotations", []), *self.annotations]
        if self.label:
            layout["title"] = {"text": self.label, **_TOP_LEFT, "font": {"size": 11, "color": "@muted"}}
        return {"data": self.data, "layout": layout}

    def plotly(self, theme: str = "light") -> dict[str, Any]:
        """The chart as Plotly JSON with real colours and its title, ready for Plotly's MIME type or ``plotly.io``."""
        spec: dict[str, Any] = themed(self.spec(), theme)
        text = escape(self.title) + (f"<br><sup>{escape(self.label)}</sup>" if self.label else "")
        spec["layout"]["title"] = {"text": text, **_TOP_LEFT, "font": {"size": 16}}
        spec["layout"]["margin"] = {**spec["layout"].get("margin", {}), "t": 96}
        spec["layout"]["height"] = spec["layout"]["height"] + 50
        paper = themed("@paper", theme)
        spec["layout"].update(paper_bgcolor=paper, plot_bgcolor=paper)
        spec["config"] = {"displaylogo": False, "responsive": True}
        return spec

    def html(self) -> str:
        """The block that the front end draws; it needs ``aglab.css``, ``plotly.min.js`` and ``aglab.js`` on its page."""
        tables = "".join(table.html() for table in self.tables)
        behind = f"<details><summary>Table behind this figure</summary>{tables}</details>" if tables else ""
        caption = f"<figcaption>{inline(self.caption)}</figcaption>" if self.caption else ""
        height = int(self.layout["height"])
        return (
            f'<div class="aglab-figure" data-aglab="figure"><figure aria-label="{escape(self.title)}">'
            f'<p class="aglab-title">{escape(self.title)}</p>'
            f'<p class="aglab-alt">{escape(self.alt)} {escape(self.label)}</p>'
            f'<div class="aglab-plot" style="min-height:{height}px"></div>{caption}</figure>{behind}'
            f'<script type="application/json" class="aglab-spec">{script_json(self.spec())}</script></div>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the figure as one HTML file that needs no network (about 5 MB: Plotly is inside)."""
        from aglab.viz.standalone import save_page

        return save_page(path, self.title, [self.html()])

    def __repr__(self) -> str:
        return f"Figure({self.title!r}, {len(self.data)} traces{', ' + self.label if self.label else ''})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": repr(self), "text/html": self.html(), PLOTLY_MIME: self.plotly()}
