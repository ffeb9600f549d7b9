"""The front end as text: one classic script, one style sheet, and Plotly from its installed package.

Pages opened from disk may not load modules or fetch files, so the script is a classic immediately-invoked function and all
data stands in script elements. ``frontend/`` holds its parts; :func:`script` joins them.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from aglab.core.errors import MissingError
from aglab.viz.palette import FRONTEND, palette
from aglab.viz.text import script_json

PARTS = ("base.js", "figure.js", "surface.js", "quick.js", "explorable.js", "quiz.js", "living.js", "progress.js", "start.js")


@lru_cache(maxsize=1)
def script() -> str:
    """The whole front end as one classic script; safe to load twice."""
    body = "\n".join((FRONTEND / part).read_text(encoding="utf-8") for part in PARTS)
    return f'(function () {{\n"use strict";\nconst PALETTE = {script_json(palette())};\n{body}\n}})();\n'


@lru_cache(maxsize=1)
def style() -> str:
    """The style sheet of figures, explorables and quizzes; it follows the page's theme."""
    return (FRONTEND / "aglab.css").read_text(encoding="utf-8")


def plotly_path() -> Path:
    """The file ``plotly.min.js`` inside the installed plotly package.

    Raises
    ------
    MissingError
        The plotly package is not complete.
    """
    from importlib.util import find_spec

    found = find_spec("plotly")
    for place in (found.submodule_search_locations or []) if found else []:
        path = Path(place) / "package_data" / "plotly.min.js"
        if path.is_file():
            return path
    raise MissingError("plotly.min.js was not found in the plotly package", "pip install --force-reinstall plotly")
