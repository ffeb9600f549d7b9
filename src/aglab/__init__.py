"""aglab: a flight simulator and a textbook for SQL Server Always On performance.

The public names load on first use, so that ``import aglab`` and ``aglab --help`` stay quick.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

# public name -> (room, attribute); "published" is a room that can be called: aglab.published("Table 6")
_PUBLIC = {
    "open_lab": ("aglab.lab", "open_lab"),
    "cluster": ("aglab.lab", "cluster"),
    "predict": ("aglab.lab", "predict"),
    "check": ("aglab.lab", "check"),
    "progress": ("aglab.lab", "progress"),
    "published": ("aglab.published", ""),
    "compare": ("aglab.published", "compare"),
    "Profile": ("aglab.hardware", "Profile"),
    "Workload": ("aglab.workload", "Workload"),
    "Run": ("aglab.record", "Run"),
    "read_perfmon": ("aglab.record", "read_perfmon"),
    "sweep": ("aglab.lab", "sweep"),
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        from importlib import import_module

        room, attribute = _PUBLIC[name]
        module = import_module(room)
        value = getattr(module, attribute) if attribute else module
        globals()[name] = value
        return value
    raise AttributeError(f"module 'aglab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
