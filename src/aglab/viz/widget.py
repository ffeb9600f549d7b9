"""The front end in JupyterLab: an anywidget that shows the same HTML block and answers its questions from the kernel.

Plotly is sent once, on request and as a message, so that a saved notebook does not carry five megabytes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aglab.core.errors import AglabError
from aglab.viz.assets import plotly_path, script, style
from aglab.viz.quiz import Quiz
from aglab.viz.text import numbers

if TYPE_CHECKING:
    from aglab.viz.explorable import Explorable

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"

_MODULE = """
function render({ model, el }) { return globalThis.aglab.widget(model, el); }
export default { render };
"""


@lru_cache(maxsize=1)
def _widget_class() -> Any:
    import anywidget
    import traitlets

    class FrontEnd(anywidget.AnyWidget):
        """One block of HTML and a kernel that answers ``ask`` messages."""

        _esm = script() + _MODULE
        _css = style()
        html = traitlets.Unicode("").tag(sync=True)

    return FrontEnd


def block_widget(html: str) -> Any:
    """A widget that shows a block which needs no kernel (a quiz)."""
    widget = _widget_class()(html=html)
    widget.on_msg(lambda _, message, __: _serve(widget, message, None))
    return widget


def explorable_widget(explorable: Explorable) -> Any:
    """A widget whose sliders ask ``explorable.answer`` in this kernel."""
    widget = _widget_class()(html=explorable.html(live=True))
    widget.on_msg(lambda _, message, __: _serve(widget, message, explorable))
    return widget


def mime_of(widget: Any) -> dict[str, Any]:
    """The widget's entry for a MIME bundle, without its text form (which holds an address)."""
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    return {WIDGET_MIME: data[WIDGET_MIME]} if data and WIDGET_MIME in data else {}


def _serve(widget: Any, message: dict[str, Any], explorable: Explorable | None) -> None:
    kind = message.get("kind")
    if kind == "plotly":
        widget.send({"kind": "plotly"}, buffers=[plotly_path().read_bytes()])
    elif kind == "ask" and explorable is not None:
        widget.send(reply(explorable, message))
    elif kind == "solved":
        told(message)


SOLVED: list[Callable[[str, list[str], int], None]] = []
"""Who is told which questions of a quiz are solved: (slug, keys, number of questions)."""


def told(message: dict[str, Any]) -> None:
    """Pass on ``{"kind": "solved", "slug", "solved": [key], "of": n}``; anything else that a page sends is ignored."""
    slug, solved, of = message.get("slug"), message.get("solved"), message.get("of")
    if not isinstance(slug, str) or not isinstance(solved, list) or not isinstance(of, int):
        return
    try:
        known = {question.key for question in Quiz.load(slug).questions}
    except AglabError:
        return
    for keep in SOLVED:
        keep(slug, [key for key in solved if key in known], len(known))


def reply(explorable: Explorable, message: dict[str, Any]) -> dict[str, Any]:
    """The answer to ``{"kind": "ask", "id", "points": [{key: value}], "series": bool}``; an error comes back as its text."""
    answered: dict[str, Any] = {"kind": "answer", "id": message.get("id")}
    try:
        found = [explorable.answer(point) for point in message["points"]]
    except AglabError as error:
        return {**answered, "error": str(error)}
    answered["outputs"] = [numbers([one.outputs[output.key] for output in explorable.outputs], 5) for one in found]
    if message.get("series"):
        answered["series"] = [[numbers(one.series[item.key]) for item in explorable.series] for one in found]
    return answered
