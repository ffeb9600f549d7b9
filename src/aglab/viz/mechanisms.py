"""Closed forms of the engine that an explorable can ask instead of a run: settings in, outputs by key."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from aglab.viz.declare import Answer, Value


@lru_cache(maxsize=4)
def _array(name: str) -> object:
    from aglab.hardware import DiskArray

    return DiskArray.load(name)


def layout(setting: dict[str, Value]) -> Answer:
    """:func:`aglab.engine.partitions.layout` on the EqualLogic array of BP1032."""
    from aglab.engine import partitions

    found = partitions.layout(
        _array("dell-ps6100xv"),  # type: ignore[arg-type]
        int(setting["partitions"]),
        float(setting["newest"]),
        float(setting["dirty"]),
        setting["drives"] == "pool",
        setting["files"] == "own",
    )
    outputs = {
        "iops": found.iops,
        "busiest": 100.0 * found.busiest,
        "writes": found.writes,
        "aligned": float(found.aligned_pages),
        "apart": float(found.apart_pages),
    }
    return Answer(outputs, {})


MECHANISMS: dict[str, Callable[[dict[str, Value]], Answer]] = {"layout": layout}
