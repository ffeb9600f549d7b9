"""Keeps the cluster on disk: state file, rows, journal of commits, snapshots.

Every file is written beside its old self and renamed, so that a crash leaves the old or the new, never half. A committed
transaction is appended to the journal before its client hears of it; the next start reads the rows and replays the journal.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from aglab.core.errors import AglabError, MissingError, UsageError, unknown_name
from aglab.twin import freeze, keeping
from aglab.twin.security import write_private
from aglab.twin.statedir import ELSEWHERE, STATE_FILE, StateDir

if TYPE_CHECKING:
    from aglab.twin.cluster import Cluster

JOURNAL_BYTES_MAX = 16 * 1024 * 1024
SAVE_EVERY_S = 1.0  # wall seconds between saves that nobody waits for
SNAPSHOTS_MAX = 100


class Keeper:
    """Saves and restores one cluster in one state directory (world thread, but for construction)."""

    def __init__(self, cluster: Cluster, directory: StateDir, wall: Callable[[], float] = time.monotonic) -> None:
        self.cluster = cluster
        self.directory = directory
        self.wall = wall
        self.generation = 0
        self.problem = ""  # why the last save failed; shown once in the errorlog
        self._journal: BinaryIO | None = None
        self._journal_bytes = 0
        self._saved_at = -1e9
        self._saved_clock_us = -1
        cluster.state_path = directory.path
        cluster.on_commit = self.committed
        cluster.on_snapshot = self.snapshot
        cluster.on_restore = self.restore
        cluster.on_snapshots = self.described

    # -- start and stop ------------------------------------------------------------------------------------------
    def open(self) -> None:
        """Read what is there (set aside what is damaged) and begin a new journal."""
        try:
            content = self.directory.read_json(STATE_FILE)
            if content is not None:
                self._load(content)
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            self.cluster.nodes["sql1"].error_log(
                f"The saved state could not be read ({error}); it was set aside and the twin starts anew."
            )
            raise DamagedState(str(error)) from error
        self.save(full=True)

    def _load(self, content: dict[str, Any]) -> None:
        if content["small"]["bare"] != self.cluster.bare:
            raise UsageError(
                f"the state in {str(self.directory.path)!r} was made {'with' if content['small']['bare'] else 'without'} --bare",
                f"start it the same way, move that directory away, or name another: {ELSEWHERE}",
            )
        rows = (self.directory.path / content["rows"]["file"]).read_bytes()
        if hashlib.sha256(rows).hexdigest() != content["rows"]["sha256"]:
            raise ValueError(f"{content['rows']['file']} does not match its checksum")
        freeze.put_groups(self.cluster, content["small"])
        freeze.put_rows(self.cluster, freeze.load(rows))
        self._replay(self.directory.path / content["journal"])
        freeze.put_small(self.cluster, content["small"])
        self.generation = int(content["generation"])

    def _replay(self, path: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            data = path.read_bytes()
            place = 0
            while place + 8 <= len(data):
                size = int.from_bytes(data[place : place + 4], "little")
                body = data[place + 8 : place + 8 + size]
                if len(body) < size or zlib.crc32(body) != int.from_bytes(data[place + 4 : place + 8], "little"):
                    return  # torn by a crash: its client was never answered
                names, record = freeze.load(body)
                place += 8 + size
                if keeping.replay(self.cluster, names, record):
                    continue
                group = self.cluster.groups.of(record.database)
                for name in names:
                    if "@" in name:  # it waits until the replica has redone its log
                        if group is not None:
                            group.rows.requeue(name, record)
                        continue
                    if group is not None:
                        group.rows.applied(name, record)
                    database = self.cluster.nodes[name].instance.database(record.database)
                    if database is not None:
                        database.apply(record)

    def close(self) -> None:
        """Save everything, at an orderly end."""
        self.save(full=True)
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    # -- saving --------------------------------------------------------------------------------------------------
    def committed(self, names: list[str], record: Any) -> None:
        """Append a commit to the journal. A full disk ends the statement with an error, as a full log does."""
        body = freeze.dump((names, record))
        head = len(body).to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little")
        assert self._journal is not None
        try:
            self._journal.write(head + body)
            self._journal.flush()
        except OSError as error:
            raise MissingError(
                f"the commit cannot be kept in {str(self.directory.path)!r} ({error.strerror or error})",
                "free space on that disk",
            ) from error
        self._journal_bytes += len(body) + 8

    def quiet(self) -> float | None:
        """Called when nothing runs: save what changed. Wall seconds after which to be called again, or None."""
        cluster = self.cluster
        moved = cluster.clock.now_us != self._saved_clock_us and not cluster.clock.follows_wall
        rows = cluster.dirty_rows and not cluster.writers()
        if not (cluster.dirty or rows or moved):
            return None
        left_s = SAVE_EVERY_S - (self.wall() - self._saved_at)
        if left_s > 0 and not (cluster.dirty or rows):
            return left_s
        full = cluster.dirty_rows or self._journal_bytes > JOURNAL_BYTES_MAX
        try:
            self.save(full=full and not cluster.writers())
        except AglabError as error:
            if str(error) != self.problem:
                self.problem = str(error)
                cluster.nodes["sql1"].error_log(f"The state could not be saved: {error}")
            self._saved_at = self.wall()
            return SAVE_EVERY_S
        return None

    def save(self, full: bool = False) -> None:
        """Write the state file; ``full`` writes the rows too and begins a new journal."""
        cluster = self.cluster
        small = freeze.small_of(cluster)
        if full:
            self.generation += 1
            rows = freeze.dump(freeze.rows_of(cluster))
            self._rows = {"file": f"rows-{self.generation}.bin", "sha256": hashlib.sha256(rows).hexdigest()}
            write_private(self.directory.path / self._rows["file"], rows)
        journal = f"journal-{self.generation}.bin"
        content = {"generation": self.generation, "rows": self._rows, "journal": journal, "small": small}
        if full:
            self._new_journal(journal)
        self.directory.write_json(STATE_FILE, content)
        if full:
            self._sweep(journal)
        cluster.dirty = False
        cluster.dirty_rows = cluster.dirty_rows and not full
        self._saved_at, self._saved_clock_us = self.wall(), cluster.clock.now_us
        self.problem = ""

    def _new_journal(self, name: str) -> None:
        write_private(self.directory.path / name, b"")
        if self._journal is not None:
            self._journal.close()
        self._journal = (self.directory.path / name).open("ab")
        self._journal_bytes = 0

    def _sweep(self, journal: str) -> None:
        for path in self.directory.path.iterdir():
            ours = path.name.startswith(("rows-", "journal-")) and path.suffix == ".bin"
            if ours and path.name not in (self._rows["file"], journal):
                with contextlib.suppress(OSError):
                    path.unlink()

    # -- snapshots -----------------------------------------------------------------------------------------------
    def snapshot(self, name: str) -> None:
        """Keep the cluster as ``snapshots/NAME.json`` and ``.bin``."""
        folder = self.directory.snapshot_dir()
        kept = self.snapshots()
        if writers := self.cluster.writers():
            raise UsageError(
                f"uncommitted changes are open ({', '.join(writers)})", "commit or roll back, then take the snapshot"
            )
        if name not in kept and len(kept) >= SNAPSHOTS_MAX:
            raise UsageError(f"{len(kept)} snapshots are kept, the limit", f"delete some in {str(folder)!r}")
        rows = freeze.dump(freeze.rows_of(self.cluster))
        small = freeze.small_of(self.cluster)
        write_private(folder / f"{name}.bin", rows)
        head = {"sha256": hashlib.sha256(rows).hexdigest(), "small_sha256": _sum_of(small), "small": small}
        write_private(folder / f"{name}.json", json.dumps(head).encode("utf-8"))

    def snapshots(self) -> list[str]:
        """Names of the snapshots that are kept."""
        return sorted(path.stem for path in self.directory.snapshot_dir().glob("*.json"))

    def described(self) -> list[tuple[str, float | None, str | None, int]]:
        """Name, clock (s), profile and size (bytes) of each snapshot; None, None where it cannot be read."""
        found: list[tuple[str, float | None, str | None, int]] = []
        for name in self.snapshots():
            files = [self.directory.snapshot_dir() / f"{name}.{kind}" for kind in ("json", "bin")]
            size = sum(one.stat().st_size for one in files if one.exists())
            try:
                small = json.loads(files[0].read_text(encoding="utf-8"))["small"]
                found.append((name, small["clock_us"] / 1e6, str(small["plant"]["profile"]), size))
            except (OSError, ValueError, KeyError, TypeError):
                found.append((name, None, None, size))
        return found

    def restore(self, name: str) -> None:
        """Bring the cluster back to a snapshot; UsageError if it is unknown or damaged (then nothing changes)."""
        if name not in self.snapshots():
            raise unknown_name("snapshot", name, self.snapshots())
        folder = self.directory.snapshot_dir()
        try:
            head = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            rows = (folder / f"{name}.bin").read_bytes()
            if hashlib.sha256(rows).hexdigest() != head["sha256"]:
                raise ValueError("rows do not match their checksum")
            if head.get("small_sha256", "") not in ("", _sum_of(head["small"])):  # "": kept by an earlier version
                raise ValueError("its settings do not match their checksum")
            loaded = freeze.load(rows)
            if head["small"]["bare"] != self.cluster.bare:
                raise ValueError("it was taken with another layout")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"snapshot {name!r} cannot be restored ({error})", "take it again") from error
        freeze.put_groups(self.cluster, head["small"])
        freeze.put_rows(self.cluster, loaded)
        freeze.put_small(self.cluster, head["small"])
        self.cluster.dirty_rows = True
        self.save(full=True)


def _sum_of(small: dict[str, Any]) -> str:
    """Checksum of what JSON keeps of the settings."""
    return hashlib.sha256(json.dumps(json.loads(json.dumps(small))).encode()).hexdigest()


class DamagedState(Exception):
    """The state file cannot be understood; the directory should be set aside."""
