"""One HTML file that shows figures without a network, a server or another file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aglab.core.errors import UsageError
from aglab.record.files import write_text
from aglab.viz.assets import plotly_path, script, style
from aglab.viz.text import escape

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body class="aglab-page">
<main>
<h1>{title}</h1>
{blocks}
</main>
<script>{plotly}</script>
<script>{script}</script>
</body>
</html>
"""


def page(title: str, blocks: Sequence[str]) -> str:
    """The text of a self-contained page around HTML blocks of figures, explorables or quizzes."""
    plotly = plotly_path().read_text(encoding="utf-8").replace("</script", "<\\/script")
    return _PAGE.format(title=escape(title), style=style(), blocks="\n".join(blocks), plotly=plotly, script=script())


def save_page(path: str | Path, title: str, blocks: Sequence[str]) -> Path:
    """Write :func:`page` to ``path``, whole or not at all.

    Raises
    ------
    UsageError
        ``path`` does not end in .html.
    MissingError
        The folder cannot be written, or the disk is full.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(
            f"a figure is saved as one HTML file, not as {path.suffix or 'a file without ending'!r}", "use a name ending in .html"
        )
    return write_text(path, page(title, blocks))
