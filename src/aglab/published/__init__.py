"""The papers' numbers and the twin beside them. ``aglab.published("Table 6")`` calls this room.

:func:`published` reads them, :func:`compare` puts a Run beside a table, :func:`score` runs the experiments and compares every
row that has a role, :func:`demo` is the flagship experiment. The calibration is :mod:`aglab.published.calibrate`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from aglab.published.demo import demo
from aglab.published.rows import compare, published, roles, score, tables

__all__ = ["compare", "demo", "published", "roles", "score", "tables"]


class _Room(ModuleType):
    """Lets ``aglab.published`` be called: it is the name of this room and of the function in it."""

    def __call__(self, table: str, paper: str | None = None) -> Any:
        return published(table, paper)


sys.modules[__name__].__class__ = _Room
