"""Pages opened from disk, without a network: own script, style and Plotly, and nothing from another host.

Plotly comes from its installed package and is loaded only by pages that draw with it. Scripts and styles that exist to
reach a live kernel on another host (thebe) are taken off every page.
"""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from aglab.viz.assets import plotly_path, script, style

_DRAWS = ('data-aglab="figure"', 'data-aglab="explorable"')


def setup(app: Sphinx) -> None:
    app.connect("config-inited", _write_assets)
    app.connect("builder-inited", _static_is_a_folder)
    app.connect("html-page-context", _add_scripts, priority=400)
    app.connect("html-page-context", _drop_foreign, priority=999)
    app.connect("build-finished", _copy_what_changed)
    app.connect("build-finished", _name_what_has_no_name)
    app.add_css_file("aglab.css")


def _write_assets(app: Sphinx, config: Config) -> None:
    """Write the generated static files beside the doctrees and let Sphinx copy them with the others."""
    folder = Path(app.doctreedir).parent / "aglab_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "aglab.js").write_text(script(), encoding="utf-8")
    (folder / "aglab.css").write_text(style(), encoding="utf-8")
    shutil.copyfile(plotly_path(), folder / "plotly.min.js")
    config.html_static_path.append(str(folder))


def _static_is_a_folder(app: Sphinx) -> None:
    """A build that fails early leaves the theme's logo as a *file* named _static; every later build would trip over it."""
    folder = Path(app.outdir) / "_static"
    if folder.is_file():
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)


def _copy_what_changed(app: Sphinx, exception: Exception | None) -> None:
    """Static files as they are now: Sphinx copies none when no page has changed."""
    static = Path(app.outdir) / "_static"
    for name in app.config.html_static_path:
        source = Path(app.confdir) / name
        for path in sorted(source.rglob("*")):
            target = static / path.relative_to(source)
            if path.is_file() and not (target.is_file() and filecmp.cmp(path, target, shallow=False)):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)


def _add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    body = context.get("body", "")
    if "data-aglab=" not in body:
        return
    if any(sign in body for sign in _DRAWS):
        app.add_js_file("plotly.min.js", loading_method="defer")
    app.add_js_file("aglab.js", loading_method="defer", priority=900)


def _drop_foreign(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    for kind in ("script_files", "css_files"):
        context[kind] = [item for item in context.get(kind, []) if not _mentions(item, "thebe")]


# What the theme leaves without a name, or with a role that assistive technology no longer takes.
_TOGGLE = '<summary><span class="toctree-toggle" role="presentation">'
_REPAIRS = (
    (_TOGGLE, '<summary aria-label="Pages of this chapter"><span class="toctree-toggle">'),
    ('role="doc-biblioentry"', 'role="listitem"'),
)


def _name_what_has_no_name(app: Sphinx, exception: Exception | None) -> None:
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        mended = text
        for found, better in _REPAIRS:
            mended = mended.replace(found, better)
        if mended != text:
            path.write_text(mended, encoding="utf-8")


def _mentions(item: Any, word: str) -> bool:
    attributes = getattr(item, "attributes", {})
    return (
        word in str(item)
        or word in str(getattr(item, "filename", ""))
        or any(word in str(value) for value in attributes.values())
    )
