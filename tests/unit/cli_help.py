"""Runs the command line in this process or in one of its own, and takes what it said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aglab.cli import main


@dataclass(frozen=True)
class Said:
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)

    def is_one_clear_line(self, code: int, *words: str) -> None:
        """Exactly one line on standard error, no traceback, the right exit code, and these words in it."""
        assert self.code == code, self
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("aglab: ")
        assert "Traceback" not in self.err
        assert len(lines[0]) < 1000, "too long to read"
        for word in words:
            assert word in lines[0], f"{word!r} is not in {lines[0]!r}"


def run(capsys: Any, *words: str) -> Said:
    """``aglab WORDS`` in this process."""
    capsys.readouterr()
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return Said(code, out, err)


def _as_a_terminal_would() -> None:
    """Signals at their defaults: a gate run in the background may have been started with some of them ignored."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def start(*words: str, home: Any, **options: Any) -> subprocess.Popen[str]:
    """``aglab WORDS`` in a process of its own, in a group of its own as a terminal would have it."""
    environment = {**os.environ, "AGLAB_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "aglab", *(str(word) for word in words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        preexec_fn=_as_a_terminal_would if os.name == "posix" else None,
        **options,
    )


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait for something observable; its value. AssertionError when it does not come."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("what the test waits for did not come")
