"""The built book for tests: the one in ``_build/html`` when it is newer than its sources, else a build in a temporary folder.

``AGLAB_BOOK_HTML`` names another built book. A build runs as ``make book`` runs it: warnings are errors.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("book", "labs", "notebooks", "data", "src/aglab/viz", "src/aglab/engine", "src/aglab/published", "src/aglab/scenario")
NOT_PAGES = {"_static", "_sources", "_images", "_sphinx_design_static"}


def newest_source() -> float:
    """Time of the last change to anything the book is made of."""
    files = [ROOT / "_config.yml", ROOT / "_toc.yml"]
    files += [
        path for folder in SOURCES for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    return max(path.stat().st_mtime for path in files)


@functools.cache
def site() -> Path:
    """The folder of the built book; built at most once in a test run."""
    given = os.environ.get("AGLAB_BOOK_HTML")
    if given:
        return Path(given).resolve()
    made = ROOT / "_build" / "html" / "book" / "index.html"
    if made.is_file() and made.stat().st_mtime > newest_source():
        return made.parents[1]
    return build(Path(tempfile.mkdtemp(prefix="aglab-book-")))[0]


def build(folder: Path) -> tuple[Path, str]:
    """Copy the sources into ``folder``, build there, return the folder of pages and the build's output."""
    for name in ("book", "labs", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, folder / name)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(folder), "-W", "-n", "--keep-going"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, "NO_COLOR": "1"})
    output = done.stdout + done.stderr
    if done.returncode != 0:
        raise AssertionError(f"the book does not build (exit {done.returncode}):\n{output[-6000:]}")
    return folder / "_build" / "html", output


def pages(folder: Path) -> list[Path]:
    """Every page a reader can reach."""
    found = [path for path in sorted(folder.rglob("*.html")) if not NOT_PAGES & set(path.relative_to(folder).parts)]
    return [path for path in found if path.name != "genindex.html"]
