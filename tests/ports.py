"""Three ports in a row that one test has for itself: free, and locked against the other processes that run these tests.

A port cannot be held by listening on it where the code under test looks whether anybody listens. So a lock in the temporary
folder says whose it is; the range lies below those from which systems take ports by themselves.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

RANGE = range(24331, 31531, 3)


@contextlib.contextmanager
def three_ports() -> Iterator[int]:
    """The first of them; they are given back at the end."""
    import fcntl  # the tests that need ports are for POSIX

    folder = Path(tempfile.gettempdir()) / f"aglab-test-ports-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    for base in RANGE:
        with (folder / str(base)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            if all(_free(base + number) for number in range(3)):
                yield base
                return
    raise AssertionError(f"no three free ports from {RANGE.start} to {RANGE.stop}")


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
