"""The same results in a terminal: a sparkline and a table, for ``aglab demo`` and scripts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from aglab.core.errors import field_error
from aglab.viz.compare import as_rows
from aglab.viz.figures import short
from aglab.viz.text import human

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.-=+*%#"


def sparkline(values: Iterable[float], width: int = 60, *, high: float | None = None, plain: bool = False) -> str:
    """Values as one line of blocks from 0 to ``high`` (their maximum by default).

    ``plain`` uses ASCII for terminals that cannot print blocks.

    >>> sparkline([0, 1, 2, 3], width=4)
    '▁▃▆█'
    """
    if width < 1:
        raise field_error("width", width, "must be >= 1", "sparkline", "60 fits most terminals")
    array = np.asarray(list(values), dtype=float)
    array = array[np.isfinite(array)]
    if not len(array):
        return ""
    if len(array) > width:
        edges = np.linspace(0, len(array), width + 1).astype(int)
        array = np.array([array[start:end].mean() for start, end in itertools.pairwise(edges)])
    top = high if high else float(array.max())
    share = np.clip(array / top, 0, 1) if top > 0 else np.zeros(len(array))
    blocks = PLAIN if plain else BLOCKS
    return "".join(blocks[round(part * (len(blocks) - 1))] for part in share)


def terminal_table(rows: Iterable[Any], title: str = "") -> Any:
    """Comparison rows as a :class:`rich.table.Table`: counter, condition, stat, role, published, twin, error."""
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", header_style="bold", pad_edge=False)
    for name in ("counter", "condition", "stat", "role"):
        table.add_column(name, no_wrap=name != "condition")
    for name in ("published", "twin", "error %"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in as_rows(rows):
        error = row["error_pct"]
        shown = f"{error:+.1f}" if isinstance(error, (int, float)) else "n/a"
        table.add_row(
            short(row["counter"]), row["condition"], row["stat"], row["role"], human(row["published"]), human(row["twin"]), shown
        )
    return table
