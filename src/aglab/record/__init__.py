"""What a run leaves behind: counters over time, events and provenance; Parquet and PerfMon CSV, in and out.

The names load on first use: pandas takes half a second, and whoever only writes a file (``record.files``) does not need it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aglab.record.perfmon import read_perfmon, write_perfmon
    from aglab.record.run import Run, label_of

_HOMES = {
    "Run": "aglab.record.run",
    "label_of": "aglab.record.run",
    "read_perfmon": "aglab.record.perfmon",
    "write_perfmon": "aglab.record.perfmon",
}

__all__ = ["Run", "label_of", "read_perfmon", "write_perfmon"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aglab.record' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value
