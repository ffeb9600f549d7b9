"""The twin: three simulated SQL Server nodes on loopback, joined from engine, availability group, T-SQL and wire.

Names load on first use: finding or ending a twin need not load the engine.
"""

from __future__ import annotations

from typing import Any

_PUBLIC = {
    "NodeInfo": "node_info",
    "RunningTwin": "process",
    "Twin": "service",
    "attach": "process",
    "serve": "serve",
    "shutdown": "process",
    "spawn_child": "process",
    "spawn_detached": "process",
    "default_state_dir": "statedir",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(f"aglab.twin.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'aglab.twin' has no attribute {name!r}")
