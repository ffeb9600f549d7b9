"""The flow's compiled kernels before anybody needs them: read from the cache, or compiled, which takes a quarter of a minute."""

from __future__ import annotations

from typing import Any

from aglab.engine.flow import Flow
from aglab.engine.jit import COMPILED
from aglab.engine.pages import dirty_pages_now
from aglab.engine.tick import advance, log_used_now
from aglab.scenario import Scenario


def kernels_kept() -> bool:
    """Whether the kernels of the flow need no compiler: they lie in the cache, or Numba is off."""
    entries: tuple[Any, ...] = (advance, dirty_pages_now, log_used_now)
    return not COMPILED or all(one.kept for one in entries)


def load_kernels() -> None:
    """Read or compile them: a flow shows its gauges and makes a tick."""
    flow = Flow(Scenario.default(), 1)
    flow.gauges(flow.primary)
    flow.advance(flow.scenario.settings.tick_s)


if __name__ == "__main__" and not kernels_kept():
    load_kernels()
