"""Which modes with real servers this version can open."""

from __future__ import annotations

from typing import NoReturn

from aglab.core.errors import MissingError

_NOT_YET = {
    "docker": "clusters of SQL Server containers are not in this version",
    "remote": "clusters of your own servers are not in this version",
}


def open_cluster(mode: str) -> NoReturn:
    """Open a cluster of real servers.

    Raises
    ------
    MissingError
        Always in this version: the mode is named in the interface, so that labs are written for it, but cannot run yet.
    """
    raise MissingError(f"mode {mode}: {_NOT_YET[mode]}", "use the twin (--mode twin)")
