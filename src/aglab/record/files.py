"""Files that are there whole or not at all: write beside, flush, then rename over."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from aglab.core.errors import MissingError


def write_atomic(path: Path, write: Callable[[Path], None]) -> Path:
    """Let ``write(temporary_path)`` make a file, then put it in the place of ``path``.

    A crash, a full disk or Ctrl-C leaves the old file (or none), never half of a new one.

    Raises
    ------
    MissingError
        The folder cannot be written or the disk is full.
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise MissingError(
            f"cannot write {path}: {error.strerror or error}", "free some space or choose another folder with --out"
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 text atomically; line ends are ``\\n`` on every system."""

    def write(temporary: Path) -> None:
        temporary.write_bytes(text.encode("utf-8"))

    return write_atomic(path, write)
