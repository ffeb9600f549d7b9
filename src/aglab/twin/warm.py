"""The engine's compiled kernels at a twin's start.

Reading them takes half a second of processor, and no client's first batch needs one: a thread does it while the nodes already
answer. Compiling them, once on a machine, would keep the nodes from answering for seconds at a time: that comes first.
"""

from __future__ import annotations

import contextlib
import threading

from aglab.engine import COMPILED
from aglab.engine.warm import kernels_kept, load_kernels

_begun = threading.Event()  # once a process


def compile_kernels_first() -> None:
    """Compile them now, where they are not kept."""
    if not _begun.is_set() and not kernels_kept():
        _begun.set()
        load_kernels()


def read_kernels_meanwhile() -> None:
    """Have them read by a thread that ends by itself; nothing where they are, or where Numba is off."""
    if COMPILED and not _begun.is_set():
        _begun.set()
        threading.Thread(target=_read, name="aglab-kernels", daemon=True).start()


def _read() -> None:
    with contextlib.suppress(Exception):  # a failure shows where the engine is needed, in the session that needs it
        load_kernels()
