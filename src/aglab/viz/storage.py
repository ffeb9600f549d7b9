"""A measured storage matrix as a picture: IOPS within the latency limit along the share of reads, a line for each block size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aglab.core.errors import UsageError
from aglab.viz.figure import Figure, Table
from aglab.viz.palette import DASHES, series_colour
from aglab.viz.panels import stacked
from aglab.viz.text import human


def io_matrix(points: Sequence[Mapping[str, Any]], *, title: str, label: str, caption: str = "") -> Figure:
    """Lines of a matrix.

    Parameters
    ----------
    points : sequence of mappings
        ``block_kb``, ``read_percent``, ``depth``, ``iops``, ``read_us``, ``write_us``, ``limited``.
    title, label, caption : str
        ``label`` says where it was measured.

    Raises
    ------
    UsageError
        No point.
    """
    if not points:
        raise UsageError("there is no measured point to draw", "measure first: aglab profile measure")
    layout = stacked(["IOPS within 20 ms"], "share of reads (%)", 300)
    data = []
    said = []
    for place, block in enumerate(dict.fromkeys(point["block_kb"] for point in points)):
        mine = sorted((point for point in points if point["block_kb"] == block), key=lambda point: point["read_percent"])
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"{block} KB",
                "x": [point["read_percent"] for point in mine],
                "y": [round(point["iops"], 1) for point in mine],
                "line": {"color": series_colour(place), "width": 2, "dash": DASHES[place % len(DASHES)]},
                "marker": {"size": 7},
                "hovertemplate": f"{block} KB, %{{x}} % reads: %{{y:,.0f}} IOPS<extra></extra>",
            }
        )
        said.append(f"{block} KB: {human(min(point['iops'] for point in mine))} to {human(max(point['iops'] for point in mine))}")
    layout["showlegend"] = True
    columns = ("block (KB)", "reads (%)", "outstanding", "IOPS", "read (us)", "write (us)", "ended by")
    rows = tuple(
        (
            str(point["block_kb"]),
            point["read_percent"],
            point["depth"],
            point["iops"],
            point["read_us"],
            point["write_us"],
            "20 ms" if point["limited"] else "no more IOPS, or the deepest queue",
        )
        for point in points
    )
    alt = f"{title}. IOPS by block size: {'; '.join(said)}."
    return Figure(title, data, layout, alt, (Table(title, columns, rows),), label, caption)
