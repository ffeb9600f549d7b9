"""Folders of results that are there whole or not at all: written beside, then put in place."""

from __future__ import annotations

import contextlib
import datetime as dt
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from aglab.core.errors import MissingError, UsageError

MARK = "aglab-result.json"


def result_folder(out: Path | None, home: Path, kind: str) -> Path:
    """The folder a command saves in: ``out``, or a new dated one below the user's folder.

    Raises
    ------
    UsageError
        ``out`` is a file, or a folder that holds something else than an earlier result.
    """
    if out is None:
        stamp = dt.datetime.now().strftime("%Y%m%d-%H%M%S")
        base = home / "runs" / f"{kind}-{stamp}"
        folder, number = base, 1
        while folder.exists():
            number += 1
            folder = base.with_name(f"{base.name}-{number}")
        return folder
    folder = out.expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {str(out)!r} is a file", "name a folder")
    if folder.is_dir() and not (folder / MARK).is_file() and any(folder.iterdir()):
        raise UsageError(f"--out {str(out)!r} holds other files", "name a new or an empty folder, or one with an earlier result")
    return folder


@contextlib.contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder to write in; at the end it takes the place of ``folder``. An error or Ctrl-C leaves ``folder`` as it was.

    Raises
    ------
    MissingError
        No permission, no space.
    """
    try:
        made = _missing_parents(folder.parent)
        folder.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise MissingError(
            f"the folder {str(folder)!r} cannot be made ({error.strerror or error})", "choose another one with --out"
        ) from error
    done = False
    try:
        yield stage
        (stage / MARK).touch()
        _swap(stage, folder)
        done = True
    except OSError as error:
        raise MissingError(
            f"the result cannot be written to {str(folder)!r} ({error.strerror or error})",
            "free some space or choose another folder with --out",
        ) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if not done:
            for parent in made:
                with contextlib.suppress(OSError):
                    parent.rmdir()


def _missing_parents(path: Path) -> list[Path]:
    """The folders that do not exist yet, deepest first."""
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    return missing


def _swap(stage: Path, folder: Path) -> None:
    stage.chmod(0o755)  # mkdtemp's folders are private; results are for sharing
    if not folder.exists():
        stage.rename(folder)
        return
    old = folder.with_name(f".{folder.name}.old-{stage.name[-8:]}")
    folder.rename(old)
    try:
        stage.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
