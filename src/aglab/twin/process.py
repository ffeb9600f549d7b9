"""Starting, finding and ending a twin that runs in a process of its own.

:func:`spawn_child` gives a twin that dies with its parent; :func:`spawn_detached` one that stays (``aglab up``);
:func:`attach` finds the one that serves a state directory, :func:`shutdown` ends it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.twin.node_info import NodeInfo
from aglab.twin.statedir import ELSEWHERE, RUNNING_FILE, StateDir, default_state_dir

READY_S_MAX = 240.0  # the first start on a machine compiles the engine: a minute and more where others work too
KEPT = "start it again: what has been compiled so far is kept"
END_S_MAX = 20.0
LOG_FILE = "twin.log"


@dataclass
class RunningTwin:
    """A twin in another process."""

    nodes: list[NodeInfo]
    password_file: Path
    profile: str
    pace: str
    state_dir: Path
    process_id: int
    set_aside: str | None = None
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return _is_twin(self.process_id)

    def password(self) -> str:
        """sa's password."""
        return self.password_file.read_text(encoding="ascii").strip()

    def stop(self) -> None:
        """End it and wait until it has gone."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                if self._process.stdin:
                    self._process.stdin.close()
            try:
                self._process.wait(timeout=END_S_MAX)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(timeout=END_S_MAX)
            for stream in (self._process.stdout, self._process.stderr):
                if stream:
                    stream.close()
            self._process = None
        else:
            _end(self.process_id)

    def __enter__(self) -> RunningTwin:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _command(
    profile: str | None,
    state_dir: Path,
    pace: str | None,
    bare: bool,
    port_base: int,
    seed: int,
    cluster_type: str = "",
    snapshot: str = "",
) -> list[str]:
    command = [sys.executable, "-m", "aglab.twin", "--state-dir", str(state_dir), "--seed", str(seed)]
    command += ["--profile", profile] if profile else []
    command += ["--pace", pace] if pace else []
    command += ["--bare"] if bare else []
    command += ["--cluster-type", cluster_type] if cluster_type else []
    command += ["--port-base", str(port_base)] if port_base else []
    command += ["--from", snapshot] if snapshot else []
    return command


def spawn_child(
    state_dir: str | Path,
    profile: str | None = None,
    pace: str | None = None,
    bare: bool = False,
    port_base: int = 0,
    seed: int = 1,
    cluster_type: str = "",
) -> RunningTwin:
    """Start a twin that ends when this process does (or when ``stop`` is called).

    Raises
    ------
    UsageError, MissingError, AglabError
        What the child said it cannot do, with its exit code.
    """
    directory = StateDir(Path(state_dir))
    _refuse_second(directory)
    process = subprocess.Popen(
        _command(profile, directory.path, pace, bare, port_base, seed, cluster_type),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        **_own_group(),
    )
    return _ready(process)


def spawn_detached(
    state_dir: str | Path | None = None,
    profile: str | None = None,
    pace: str | None = None,
    bare: bool = False,
    port_base: int = 0,
    seed: int = 1,
    cluster_type: str = "",
    snapshot: str = "",
    waiting: Callable[[], None] = lambda: None,
) -> RunningTwin:
    """Start a twin that goes on after this process: what ``aglab up`` does; as it was at ``snapshot``, if one is named.

    ``waiting`` is called again and again until its nodes answer.
    """
    directory = StateDir(Path(state_dir) if state_dir else default_state_dir())
    _refuse_second(directory)
    log = (directory.path / LOG_FILE).open("ab")
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS}
    with log:
        process = subprocess.Popen(
            [*_command(profile, directory.path, pace, bare, port_base, seed, cluster_type, snapshot), "--detached"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=str(directory.path),
            **options,
        )
        begin = log.tell()
    deadline = time.monotonic() + READY_S_MAX
    while time.monotonic() < deadline:
        found = attach(directory.path)
        if found is not None and found.process_id == process.pid:
            return found
        if process.poll() is not None:
            raise _failure(_tail(directory.path / LOG_FILE, begin), process.returncode)
        waiting()
        time.sleep(0.02)
    process.kill()
    raise AglabError(f"the twin was not ready after {READY_S_MAX:.0f} s", f"{KEPT}; its log: {str(directory.path / LOG_FILE)!r}")


def _own_group() -> dict[str, Any]:
    # Ctrl-C in the parent's terminal must not end the child first: it ends when its input closes
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _ready(process: subprocess.Popen[str]) -> RunningTwin:
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    assert process.stdout is not None
    assert process.stderr is not None
    threading.Thread(target=_first_line, args=(process.stdout, lines), daemon=True).start()
    errors: list[str] = []
    drain = threading.Thread(target=_drain, args=(process.stderr, errors), daemon=True)
    drain.start()
    try:
        line = lines.get(timeout=READY_S_MAX)
    except queue.Empty:
        process.kill()
        raise AglabError(f"the twin was not ready after {READY_S_MAX:.0f} s", KEPT) from None
    except BaseException:  # Ctrl-C while it starts: leave nothing running
        process.kill()
        process.wait()
        raise
    if not line.startswith("{"):
        code = process.wait(timeout=END_S_MAX)
        drain.join(timeout=2.0)
        raise _failure("".join(errors), code)
    return _from_note(json.loads(line), process)


def _first_line(stream: IO[str], lines: queue.SimpleQueue[str]) -> None:
    with contextlib.suppress(ValueError, OSError):
        lines.put(stream.readline())
        while stream.readline():
            pass


def _drain(stream: IO[str], kept: list[str]) -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            if len(kept) < 200:
                kept.append(line)


def _tail(path: Path, begin: int) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(begin)
        return file.read(20000).decode("utf-8", "replace")
    return ""


def _failure(text: str, code: int | None) -> AglabError:
    said = [line.partition("aglab twin: ")[2] for line in text.splitlines() if line.startswith("aglab twin: ")]
    kind = {2: UsageError, 3: MissingError}.get(code or 1, AglabError)
    if said:
        return kind(said[-1])
    return kind(f"the twin could not start (exit code {code})", (text.strip().splitlines() or ["no message"])[-1])


def _from_note(note: dict[str, Any], process: subprocess.Popen[str] | None = None) -> RunningTwin:
    nodes = [NodeInfo(one["name"], one["host"], int(one["port"]), one.get("role", "")) for one in note["nodes"]]
    return RunningTwin(
        nodes,
        Path(note["password_file"]),
        str(note["profile"]),
        str(note["pace"]),
        Path(note["state_dir"]),
        int(note["process_id"]),
        note.get("set_aside"),
        process,
    )


def attach(state_dir: str | Path | None = None) -> RunningTwin | None:
    """The twin that serves a state directory now, or None."""
    path = Path(state_dir) if state_dir else default_state_dir()
    try:
        note = json.loads((path / RUNNING_FILE).read_text(encoding="utf-8"))
        found = _from_note(note)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not _is_twin(found.process_id) or not found.nodes:
        return None
    try:
        with socket.create_connection((found.nodes[0].host, found.nodes[0].port), timeout=2.0):
            return found
    except OSError:
        return None


def shutdown(state_dir: str | Path | None = None) -> bool:
    """End the twin that serves a state directory; False if none does."""
    path = Path(state_dir) if state_dir else default_state_dir()
    found = attach(path)
    if found is None:
        return False
    _end(found.process_id)
    with contextlib.suppress(OSError):
        (path / RUNNING_FILE).unlink(missing_ok=True)
    return True


def _end(process_id: int) -> None:
    """Ask the process to end (it saves), then insist."""
    if not _is_twin(process_id):
        return
    try:
        process = psutil.Process(process_id)
        process.terminate()
        process.wait(timeout=END_S_MAX)
    except psutil.TimeoutExpired:
        process.kill()
    except psutil.NoSuchProcess:
        return


def _is_twin(process_id: int) -> bool:
    if process_id == os.getpid():
        return True
    try:
        process = psutil.Process(process_id)
        return process.status() != psutil.STATUS_ZOMBIE and any("aglab.twin" in part for part in process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _refuse_second(directory: StateDir) -> None:
    found = attach(directory.path)
    if found is not None:
        raise UsageError(
            f"a twin already serves {str(directory.path)!r} (process {found.process_id})",
            f"use it, end it, or name another directory: {ELSEWHERE}",
        )
