"""Small helpers that every directive uses: raw HTML nodes, bundle files, and results kept between builds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from aglab.core.paths import bundle_root

# What a computed block depends on: the rooms the engine is made of, this front end, and the data they read.
_ROOMS = ("core", "hardware", "workload", "scenario", "engine", "published", "viz")
_DATA = ("profiles", "workloads", "arrays", "scenarios", "calibration", "published")


def raw(html: str) -> nodes.raw:
    """A node that puts HTML on the page as it is."""
    return nodes.raw("", html, format="html")


def bundle_file(relative: str) -> Path:
    """A file below labs, data or notebooks; it must exist."""
    path = (bundle_root() / relative).resolve()
    if bundle_root().resolve() not in path.parents or not path.is_file():
        raise FileNotFoundError(f"{relative} does not exist below {bundle_root().name}")
    return path


def computed(app: Sphinx, name: str, inputs: list[Path], compute: Callable[[], str]) -> str:
    """HTML that takes seconds to compute, kept beside the build until the library, its data or ``inputs`` change."""
    digest = hashlib.sha256(_library_digest())
    for path in inputs:
        digest.update(path.read_bytes())
    folder = Path(app.doctreedir).parent / "aglab_cache"
    kept = folder / f"{name}-{digest.hexdigest()[:16]}.html"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    html = compute()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}-*.html"):
        old.unlink()
    kept.write_text(html, encoding="utf-8")
    return html


def made_from() -> bytes:
    """Digest of what pages are made from beside their own text: the library's rooms, its data, and these directives."""
    digest = hashlib.sha256(_library_digest())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def _library_digest() -> bytes:
    import aglab

    package = Path(aglab.__file__).parent
    files = [
        path for room in _ROOMS for path in sorted((package / room).rglob("*")) if path.suffix in (".py", ".js", ".css", ".json")
    ]
    files += [path for kind in _DATA for path in sorted((bundle_root() / "data" / kind).rglob("*")) if path.is_file()]
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.digest()
