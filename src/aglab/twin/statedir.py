"""The state directory: what a twin leaves on disk so that the next start goes on where it ended.

::

    format.json          {"format": 2, "product": "aglab twin"}
    cluster.json         clock, settings, catalogue, workload, availability group: everything small
    arrays.npz           the engine's arrays
    sa_password.txt, node_certificate.pem, node_key.pem   (0600)
    running.json         process id, ports and control word of the process that runs now
    snapshots/NAME.json, NAME.npz
    backups/                      what BACKUP wrote, under names made from the paths of the statements

A directory with another format, or one that cannot be read, is renamed to ``<name>.set-aside-N`` and never deleted.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import platformdirs

from aglab.core.errors import MissingError, UsageError
from aglab.twin.security import write_private

ELSEWHERE = "AGLAB_HOME for aglab, --state-dir for python -m aglab.twin"
FORMAT = 2
FORMAT_FILE = "format.json"
STATE_FILE = "cluster.json"
RUNNING_FILE = "running.json"
_OURS = {
    FORMAT_FILE,
    STATE_FILE,
    RUNNING_FILE,
    "sa_password.txt",
    "node_certificate.pem",
    "node_key.pem",
    "snapshots",
    "backups",
    "twin.log",
}
_SNAPSHOT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def default_state_dir() -> Path:
    """The state directory of ``aglab up``."""
    return Path(platformdirs.user_data_dir("aglab", appauthor=False)) / "twin"


def checked_snapshot_name(name: str) -> str:
    """The name, if it is fit to be a file name.

    Raises
    ------
    UsageError
        Empty, too long, or with characters beyond letters, digits, dot, dash and underscore.
    """
    if not _SNAPSHOT_NAME.fullmatch(name or ""):
        raise UsageError(
            f"snapshot name={name!r} must be 1 to 64 letters, digits, '_', '-' or '.', starting with a letter or digit",
            "for example chapter_16_start",
        )
    return name


class StateDir:
    """A state directory, opened: made if absent, set aside if it cannot be understood.

    Attributes
    ----------
    path : Path
    set_aside : Path or None
        Where a directory that could not be understood went.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path).expanduser().absolute()
        self.set_aside: Path | None = None
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"state directory {str(self.path)!r} is a file", f"name a directory: {ELSEWHERE}")
        self._make()
        if not self._understood():
            self.put_aside()

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if os.name == "posix":
                self.path.chmod(0o700)
        except OSError as error:
            raise MissingError(
                f"state directory {str(self.path)!r} cannot be made ({error.strerror or error})",
                f"choose a place you may write: {ELSEWHERE}",
            ) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise MissingError(
                f"state directory {str(self.path)!r} is not writable", f"choose a place you may write: {ELSEWHERE}"
            )

    def _understood(self) -> bool:
        marker = self.path / FORMAT_FILE
        if not marker.exists():
            foreign = [entry.name for entry in self.path.iterdir() if entry.name not in _OURS and not entry.name.startswith(".")]
            if foreign and not (self.path / STATE_FILE).exists():
                raise UsageError(
                    f"state directory {str(self.path)!r} holds other files ({', '.join(sorted(foreign)[:3])})",
                    f"name an empty or a new directory: {ELSEWHERE}",
                )
            if (self.path / STATE_FILE).exists():
                return False
            self._mark()
            return True
        try:
            return json.loads(marker.read_text(encoding="utf-8"))["format"] == FORMAT
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _mark(self) -> None:
        self.write_json(FORMAT_FILE, {"format": FORMAT, "product": "aglab twin"})

    def put_aside(self) -> Path:
        """Rename the directory out of the way and begin a new one in its place; the new name of the old one."""
        for number in range(1, 1000):
            target = self.path.with_name(f"{self.path.name}.set-aside-{number}")
            if not target.exists():
                break
        try:
            self.path.rename(target)
        except OSError as error:
            raise MissingError(
                f"the damaged state directory {str(self.path)!r} cannot be renamed ({error.strerror or error})",
                f"rename it yourself or name another: {ELSEWHERE}",
            ) from error
        self.set_aside = target
        self._make()
        self._mark()
        return target

    def write_json(self, name: str, content: Any) -> None:
        """Write one JSON file, atomically, readable by the owner only."""
        write_private(self.path / name, json.dumps(content, separators=(",", ":")).encode("utf-8"))

    def read_json(self, name: str) -> Any:
        """Content of a JSON file, or None if there is none. ValueError if it is damaged."""
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Remove a file of ours, if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def snapshot_dir(self) -> Path:
        """Where snapshots lie; made on first use."""
        folder = self.path / "snapshots"
        folder.mkdir(exist_ok=True)
        return folder
