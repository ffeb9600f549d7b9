"""Backup files: kept in the state directory under names of our own making, whatever path a statement gives.

One file for each media family. A path is only a key (Windows and Linux forms alike, case-insensitive): nothing is ever read or
written outside ``backups/`` of the state directory. A twin without one keeps them in memory.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aglab.tsql import error
from aglab.twin import freeze_rows
from aglab.twin.backups.options import is_nul
from aglab.twin.security import write_private

if TYPE_CHECKING:
    from aglab.twin.cluster import Cluster

FOLDER = "backups"
FILES_MAX = 256
BYTES_MAX = 512 * 1024 * 1024
NOT_FOUND = "2(The system cannot find the file specified.)"
NO_SPACE = "112(There is not enough space on the disk.)"
DEFAULT_FOLDER = "/var/opt/mssql/data/"

Media = dict[str, Any]  # uuid, family, families, compressed, name, sets: list of (header as a dict, content or None)


def full_path(path: str) -> str:
    """A bare file name lies in the instance's backup directory; NUL is NUL."""
    if is_nul(path):
        return "NUL"
    return path if "/" in path or "\\" in path else DEFAULT_FOLDER + path


class Library:
    """The media of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._memory: dict[str, bytes] = {}

    @staticmethod
    def of(cluster: Cluster) -> Library:
        """The cluster's own."""
        if cluster.media is None:
            cluster.media = Library(cluster)
        return cluster.media

    def _folder(self) -> Path | None:
        return None if self.cluster.state_path is None else self.cluster.state_path / FOLDER

    @staticmethod
    def _key(path: str) -> str:
        return hashlib.sha256(full_path(path).replace("\\", "/").lower().encode()).hexdigest()[:32] + ".bak"

    def read(self, path: str) -> Media | None:
        """The media family at a path, or None. TsqlError 3241: it cannot be understood."""
        if is_nul(path):
            return None
        data = self._bytes(self._key(path))
        if data is None:
            return None
        try:
            media = freeze_rows.load(data)
            if not (isinstance(media, dict) and {"uuid", "family", "families", "sets"} <= media.keys()):
                raise ValueError("another kind of file")
        except ValueError:
            raise error(3241, full_path(path)) from None
        return media

    def opened(self, path: str) -> Media:
        """The media family at a path. TsqlError 3201: there is none."""
        media = self.read(path)
        if media is None:
            raise error(3201, full_path(path), NOT_FOUND, state=2)
        return media

    def write(self, path: str, media: Media) -> None:
        """Keep a media family. TsqlError 3202: the share is full."""
        if is_nul(path):
            return
        key, data = self._key(path), freeze_rows.dump(media)
        sizes = self._sizes()
        sizes.pop(key, None)
        if len(sizes) >= FILES_MAX or sum(sizes.values()) + len(data) > BYTES_MAX:
            raise error(3202, full_path(path), NO_SPACE)
        folder = self._folder()
        if folder is None:
            self._memory[key] = data
            return
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            write_private(folder / key, data)
        except OSError as problem:
            raise error(3202, full_path(path), f"{problem.errno}({problem.strerror})") from problem

    def _bytes(self, key: str) -> bytes | None:
        folder = self._folder()
        if folder is None:
            return self._memory.get(key)
        try:
            return (folder / key).read_bytes()
        except OSError:
            return None

    def _sizes(self) -> dict[str, int]:
        folder = self._folder()
        if folder is None:
            return {key: len(data) for key, data in self._memory.items()}
        return {one.name: one.stat().st_size for one in folder.glob("*.bak")} if folder.is_dir() else {}
