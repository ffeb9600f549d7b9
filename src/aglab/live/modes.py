"""Which modes with real servers this version can open."""

from __future__ import annotations

from typing import NoReturn

from aglab.core.errors import MissingError

_NOT_YET = {
    "remote": "clusters of your own servers are not in this version",
}


def open_cluster(mode: str) -> NoReturn:
    """Open a cluster of the user's own servers (containers: :mod:`aglab.live.containers`).

    Raises
    ------
    MissingError
        Always in this version: the mode is named in the interface, so that labs are written for it, but cannot run yet.
    """
    raise MissingError(f"mode {mode}: {_NOT_YET[mode]}", "use the twin (--mode twin)")
