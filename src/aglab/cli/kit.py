"""``aglab bundle DIR``: a kit for a classroom without internet: wheels, built book, notebooks, labs, list of images, checksums.

The kit grows in ``DIR.partial`` beside its place, which is kept when something fails: the next try goes on from there, and pip
does not fetch a wheel twice. ``DIR`` itself is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aglab import __version__
from aglab.cli import shell
from aglab.cli.jupyter import book_start
from aglab.core.errors import MissingError, UsageError
from aglab.core.paths import bundle_root
from aglab.core.progress import Progress
from aglab.record.files import write_text

SUMS = "SHA256SUMS"
_IMAGE = re.compile(r"\$\{\w+:-([^}\s]+:[^}\s]+)\}")
_README = """aglab {version}: a kit for a class without internet, made with Python {python} on {platform}

On every seat (same system and the same Python {python} as above):

  python -m venv aglab-env
  aglab-env/bin/pip install --no-index --find-links wheels aglab       (Windows: aglab-env\\Scripts\\pip)
  aglab-env/bin/aglab doctor --seat
  aglab-env/bin/aglab lab

wheels/      packages, aglab among them{own}
book/        the book: open book/index.html{book}
notebooks/, labs/   what `aglab lab` gives out; here to read
images.txt   images for the container mode; fetch them where there is internet: docker pull, docker save
{sums}   digests of all files; check them with: sha256sum -c {sums}
"""


def bundle(folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put it.")], as_json: shell.Json = False) -> None:
    """Everything a classroom without internet needs: wheels, book, notebooks, image list, checksums."""
    with shell.progress_bar("bundle") as progress:
        result = collect(folder.expanduser().absolute(), progress)
    for text in result["notes"]:
        shell.note(text)
    if as_json:
        shell.print_json(result)
        return
    shell.say(f"{result['folder']}: {result['files']} files, {result['bytes'] / 1e6:,.0f} MB, {result['wheels']} wheels")
    shell.say("README.txt says how a seat installs it; aglab doctor --seat checks the seat the day before.")


def collect(folder: Path, progress: Progress) -> dict[str, Any]:
    """Make or finish a kit.

    Raises
    ------
    UsageError
        ``folder`` is a file, or holds something else than an earlier kit.
    MissingError
        Wheels cannot be had, or the folder cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file", "name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / SUMS).is_file():
        raise UsageError(f"{folder} holds other files", "name a new or an empty folder, or an earlier kit")
    stage = folder.with_name(folder.name + ".partial")
    notes: list[str] = []
    try:
        stage.mkdir(parents=True, exist_ok=True)
        progress(0, 4, "wheels")
        own = _wheels(stage / "wheels", notes)
        progress(1, 4, "book")
        page = book_start()
        if page is None:
            notes.append("the book is not built here and is not in the kit: make book, then aglab bundle again")
        else:
            _copy(page.parent.parent if page.parent.name == "book" else page.parent, stage / "book")
        progress(2, 4, "notebooks and labs")
        for name in ("notebooks", "labs"):
            _copy(bundle_root() / name, stage / name)
        write_text(stage / "images.txt", "".join(f"{image}\n" for image in images()))
        write_text(stage / "README.txt", _readme(own, page is not None))
        progress(3, 4, "checksums")
        files = _sums(stage)
        _put(stage, folder)
    except OSError as error:
        raise MissingError(
            f"the kit cannot be written to {folder} ({error.strerror or error})", "free some space or name another folder"
        ) from error
    progress(4, 4, "done")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    wheels = len(list((folder / "wheels").glob("*")))
    return {"folder": str(folder), "files": files + 1, "bytes": size, "wheels": wheels, "images": images(), "notes": notes}


def images() -> list[str]:
    """Images that the container mode uses, as docker/compose.yaml pins them."""
    path = bundle_root() / "docker" / "compose.yaml"
    return list(dict.fromkeys(_IMAGE.findall(path.read_text(encoding="utf-8")))) if path.is_file() else []


def _wheels(place: Path, notes: list[str]) -> bool:
    """Wheels of aglab and of all that it needs; whether aglab's own could be made."""
    place.mkdir(exist_ok=True)
    root = bundle_root()
    constraints = ["-c", str(root / "requirements.lock")] if (root / "requirements.lock").is_file() else []
    if (root / "pyproject.toml").is_file():
        for old in place.glob("aglab-*.whl"):
            old.unlink()
        # An isolated build would fetch the build system; where hatchling is installed it is not needed.
        isolated = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
        _pip("wheel", "--no-deps", *isolated, "-w", str(place), str(root))
        _pip("download", "-d", str(place), *constraints, *(str(path) for path in place.glob("aglab-*.whl")))
        return True
    notes.append("aglab's own wheel is made from a checkout only: put the one you installed from into wheels/")
    _pip("download", "-d", str(place), *[one for one in importlib.metadata.requires("aglab") or [] if "extra ==" not in one])
    return False


def _pip(*words: str) -> None:
    """Run pip.

    Raises
    ------
    MissingError
        It failed: no network, no wheel for this system; its last error line tells.
    """
    command = [sys.executable, "-m", "pip", *words, "--disable-pip-version-check", "--no-input"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()] or ["it said nothing"]
        errors = [line for line in lines if line.upper().startswith("ERROR")]
        raise MissingError(
            f"pip {words[0]} failed: {shell.one_line((errors or lines)[-1])}",
            "run it again where there is internet; what has been fetched is kept",
        )


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", ".gitkeep"))


def _readme(own: bool, book: bool) -> str:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    missing = "" if own else " (not aglab's own: put it there)"
    no_book = "" if book else " (not built when the kit was made)"
    return _README.format(version=__version__, python=python, platform=sys.platform, own=missing, book=no_book, sums=SUMS)


def _sums(stage: Path) -> int:
    """Write the digests of all files, in the form that sha256sum -c reads; how many files there are."""
    files = sorted(path for path in stage.rglob("*") if path.is_file() and path.name != SUMS)
    lines = []
    for path in files:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        lines.append(f"{digest}  {path.relative_to(stage).as_posix()}\n")
    write_text(stage / SUMS, "".join(lines))
    return len(files)


def _put(stage: Path, folder: Path) -> None:
    """The finished kit in its place; an earlier one goes only when the new one stands."""
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        stage.rename(folder)
    except BaseException:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
