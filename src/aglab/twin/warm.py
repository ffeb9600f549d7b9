"""Reading the engine's compiled kernels while the nodes already answer.

Numba takes half a second of processor for it, and no client's first batch needs a kernel: whoever asks for a counter before it
is done waits for the rest of it.
"""

from __future__ import annotations

import contextlib
import threading

from aglab.engine import COMPILED
from aglab.twin.cluster import Cluster

_read = threading.Event()  # once a process


def read_kernels_meanwhile(cluster: Cluster) -> None:
    """Have the kernels read, or compiled, by a thread that ends by itself; nothing where they are, or where Numba is off."""
    if COMPILED and not _read.is_set():
        _read.set()
        threading.Thread(target=_try_out, args=(cluster,), name="aglab-kernels", daemon=True).start()


def _try_out(cluster: Cluster) -> None:
    # on a copy, so that nothing of the nodes moves; a failure shows where the engine is needed, in the session that needs it
    with contextlib.suppress(Exception):
        flow = cluster.world.ask(cluster.plant.flow.copy)
        flow.gauges(flow.primary)
        flow.advance(flow.scenario.settings.tick_s)
