"""The server process: ``python -m aglab.twin``.

As a child it ends when its standard input closes, so that it cannot outlive the notebook that started it, on any system.
Detached, it ends on ``EXEC twin.shutdown`` or when it is terminated. Ready, it prints one JSON object on one line.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from aglab.core.errors import AglabError
from aglab.twin.service import Twin
from aglab.twin.statedir import default_state_dir


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m aglab.twin", description="Three simulated SQL Server nodes on loopback.")
    parser.add_argument("--state-dir", type=Path, default=None, help="where state lies (default: the user's data folder)")
    parser.add_argument("--profile", default=None, help="hardware profile of the nodes")
    parser.add_argument("--pace", default=None, help="fast, 1x, 60x")
    parser.add_argument("--bare", action="store_true", help="no availability group")
    parser.add_argument("--cluster-type", default="EXTERNAL", help="of the availability group: EXTERNAL, NONE")
    parser.add_argument("--port-base", type=int, default=0, help="port of sql1; sql2 and sql3 take the next two")
    parser.add_argument("--seed", type=int, default=1, help="seed of the engine")
    parser.add_argument("--from", dest="snapshot", default="", help="begin as the cluster was at this snapshot")
    parser.add_argument("--detached", action="store_true", help="do not end when standard input closes")
    return parser.parse_args(argv)


def serve(argv: Sequence[str] | None = None) -> int:
    """Run until told to end; the exit code (0, or that of the error)."""
    options = arguments(argv)
    try:
        twin = Twin.start(
            profile=options.profile,
            state_dir=options.state_dir or default_state_dir(),
            pace=options.pace,
            bare=options.bare,
            port_base=options.port_base,
            seed=options.seed,
            cluster_type=options.cluster_type,
            snapshot=options.snapshot,
        )
    except AglabError as error:
        print(f"aglab twin: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    try:
        note = twin.announce(os.getpid())
        print(json.dumps({key: value for key, value in note.items() if key != "token"}), flush=True)
        gc.freeze()
        gc.enable()
        _wait(twin, child=not options.detached)
    except AglabError as error:
        print(f"aglab twin: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    finally:
        twin.stop()
    return 0


def _wait(twin: Twin, child: bool) -> None:
    def ended(*_: object) -> None:
        twin.ended.set()

    for name in ("SIGTERM", "SIGINT", "SIGBREAK"):
        if hasattr(signal, name):
            with contextlib.suppress(ValueError, OSError):
                signal.signal(getattr(signal, name), ended)
    if child:
        threading.Thread(target=_watch_input, args=(twin,), name="aglab-parent", daemon=True).start()
    while not twin.ended.wait(timeout=0.5):
        pass


def _watch_input(twin: Twin) -> None:
    """Standard input is held open by the parent: when it ends, the parent has."""
    with contextlib.suppress(OSError, ValueError):
        while os.read(0, 4096):
            pass
    twin.ended.set()
