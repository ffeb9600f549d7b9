"""The learner's own copy of notebooks and labs: made once, brought up to date, never written over.

A hidden list beside the copy keeps the digest of every file as it was given out. A file that still has that digest may be
replaced by a newer one; a file that the learner changed stays, and the newer one is only mentioned.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from aglab.core.errors import MissingError, UsageError
from aglab.record.files import write_atomic, write_text

FOLDERS = ("notebooks", "labs")
LIST = ".aglab-given-out.json"
_LEFT_OUT = {".gitkeep", "__pycache__", ".ipynb_checkpoints"}


@dataclass
class Copied:
    """What :func:`bring_up_to_date` did, as relative paths."""

    folder: Path
    made: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # changed by the learner while a newer version exists


def bring_up_to_date(source: Path, folder: Path) -> Copied:
    """Copy what is missing, renew what the learner has not touched, keep the rest.

    Raises
    ------
    UsageError
        ``folder`` is a file.
    MissingError
        No permission, no space.
    """
    folder = folder.expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--folder {str(folder)!r} is a file", "name a folder")
    given = _read_list(folder / LIST)
    done = Copied(folder)
    try:
        for path in _files(source):
            name = path.relative_to(source).as_posix()
            data = path.read_bytes()
            new, target = _digest(data), folder / name
            old = _digest(target.read_bytes()) if target.is_file() else None
            if old == new:
                given[name] = new
                continue
            if old is not None and old != given.get(name):
                if given.get(name) != new:
                    done.kept.append(name)
                continue
            write_atomic(target, lambda temporary, data=data: temporary.write_bytes(data) and None)  # type: ignore[misc]
            (done.made if old is None else done.renewed).append(name)
            given[name] = new
        write_text(folder / LIST, json.dumps(given, indent=0, sort_keys=True) + "\n")
    except MissingError as error:
        raise MissingError(error.message, "choose another folder with --folder") from error
    except OSError as error:
        raise MissingError(
            f"your copy {str(folder)!r} cannot be written ({error.strerror or error})", "choose another folder with --folder"
        ) from error
    return done


def _files(source: Path) -> list[Path]:
    found = []
    for name in FOLDERS:
        for path in sorted((source / name).rglob("*")):
            if path.is_file() and not _LEFT_OUT.intersection(path.relative_to(source).parts):
                found.append(path)
    return found


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_list(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}
