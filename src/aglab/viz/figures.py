"""Figures from runs: counters over time, the arms of an experiment, a sweep.

Every function takes :class:`aglab.record.Run` objects, from any mode, and gives a :class:`Figure` with its text
alternative, its tables and the label of the runs. Averages over ``sample_s`` keep a stored figure small; minima and maxima
in the tables come from the run itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from aglab.core.counters import COUNTERS
from aglab.core.errors import UsageError, field_error
from aglab.record import Run
from aglab.viz.figure import Figure, Table
from aglab.viz.palette import DASHES, series_colour
from aglab.viz.panels import axis_name, level_line, stacked
from aglab.viz.text import axis_unit, human, numbers, significant

ARMS_COUNTERS = ("Transactions/sec", "Checkpoint pages/sec", "Background writer pages/sec")
READ_LATENCY = "Avg. Disk sec/Read"
TABLE_ROWS = 24

_UNITS = {counter.counter: counter.unit for counter in COUNTERS}


def time_series(
    runs: Run | Mapping[str, Run],
    counters: Sequence[str] | str,
    *,
    node: str | None = None,
    title: str = "",
    caption: str = "",
    sample_s: float = 1.0,
    levels: Mapping[str, tuple[float, str]] | None = None,
) -> Figure:
    """Counters over time, one panel each; several runs overlay, each with its own colour and dash.

    Parameters
    ----------
    runs : Run or mapping of name to Run
        One run, or several to compare.
    counters : str or sequence of str
        PerfMon paths or the last part of one, as :meth:`Run.series` takes them.
    node : str, optional
        The first node of each run by default.
    sample_s : float
        Curves show averages over this many seconds.
    levels : mapping, optional
        counter -> (value in the counter's unit, text): a dashed level, e.g. the cap that ``-k750`` sets.

    Raises
    ------
    UsageError
        No run, no counter, a name that is not known, or ``sample_s`` <= 0.
    """
    named = {"": runs} if isinstance(runs, Run) else dict(runs)
    wanted = [counters] if isinstance(counters, str) else list(counters)
    if not named or not wanted:
        raise UsageError("a time series needs at least one run and one counter", "e.g. time_series(run, ['Transactions/sec'])")
    if sample_s <= 0:
        raise field_error("sample_s", sample_s, "must be > 0", "time_series", "1.0 is what PerfMon shows by default")
    units = [axis_of(counter) for counter in wanted]
    layout = stacked([f"{short(counter)}{_suffix(unit)}" for counter, (_, unit) in zip(wanted, units, strict=True)], "seconds")
    layout["shapes"] = []
    data: list[dict[str, Any]] = []
    for panel, counter in enumerate(wanted):
        divisor, unit = units[panel]
        for index, (name, run) in enumerate(named.items()):
            data.append(
                _trace(run.series(counter, node), name or short(counter), index, panel, divisor, unit, sample_s, len(named) > 1)
            )
        for key, (value, text) in (levels or {}).items():
            if key == counter:
                shape, note = level_line(value / divisor, text, panel)
                layout["shapes"].append(shape)
                layout["annotations"].append(note)
    labels = list(dict.fromkeys(run.label for run in named.values()))
    statistics = _statistics(named, wanted, node)
    heading = title or ", ".join(short(counter) for counter in wanted) + " over time"
    return Figure(
        title=heading,
        data=data,
        layout=layout,
        alt=_describe(heading, statistics),
        tables=(statistics, *_samples(named, wanted, node, units)),
        label="; ".join(labels),
        caption=caption,
    )


def arms(
    runs: Mapping[str, Run],
    *,
    title: str = "",
    caption: str = "",
    k_mb_s: float | None = None,
    node: str | None = None,
    counters: Sequence[str] = (),
) -> Figure:
    """The arms of an experiment over time; by default what a checkpoint does: throughput, pages written, read latency.

    ``counters`` names other panels. ``k_mb_s`` draws the cap that startup option ``-k`` sets, in pages of 8 KB (750 MB/s is
    96,000 pages/s).
    """
    levels = None
    if k_mb_s:
        pages = k_mb_s * 128
        levels = {"Checkpoint pages/sec": (pages, f"-k{k_mb_s:g}: {pages:,.0f} pages/s")}
    heading = title or ("Arm by arm" if counters else "Throughput and checkpoint writes, arm by arm")
    shown = list(counters) or [*ARMS_COUNTERS, *([READ_LATENCY] if all(_has(run, READ_LATENCY) for run in runs.values()) else [])]
    return time_series(runs, shown, node=node, title=heading, caption=caption, levels=levels)


def sweep_curve(
    frame: pd.DataFrame,
    x: str,
    y: Sequence[str] | str,
    *,
    title: str = "",
    x_title: str = "",
    label: str = "",
    caption: str = "",
    marks: Mapping[float, str] | None = None,
) -> Figure:
    """Results of a sweep against the swept parameter, one panel per result.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per point.
    x, y : str
        Column names; ``y`` may be several.
    label : str
        The honest label of the runs behind it.
    marks : mapping, optional
        x value -> text, drawn as vertical lines.
    """
    wanted = [y] if isinstance(y, str) else list(y)
    missing = [name for name in [x, *wanted] if name not in frame.columns]
    if missing:
        raise UsageError(f"the sweep has no column {missing[0]!r}", f"columns: {', '.join(map(str, frame.columns))}")
    ordered = frame.sort_values(x)
    layout = stacked(wanted, x_title or x)
    layout["showlegend"] = False
    layout["shapes"] = [_vertical(value) for value in (marks or {})]
    layout["annotations"] += [_vertical_note(value, text) for value, text in (marks or {}).items()]
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": numbers(ordered[x]),
            "y": numbers(ordered[name]),
            "yaxis": axis_name(panel),
            "line": {"color": series_colour(panel), "width": 2},
            "marker": {"size": 7},
        }
        for panel, name in enumerate(wanted)
    ]
    rows = tuple(tuple(significant(float(value)) for value in row) for row in ordered[[x, *wanted]].to_numpy())
    heading = title or f"{', '.join(wanted)} against {x_title or x}"
    best = [f"{name} runs from {human(float(ordered[name].min()))} to {human(float(ordered[name].max()))}" for name in wanted]
    alt = f"{heading}. {'; '.join(best)}, over {len(ordered)} values of {x_title or x}."
    return Figure(heading, data, layout, alt, (Table(heading, (x_title or x, *wanted), rows),), label, caption)


def unit_of(counter: str) -> str:
    """The unit a Run's column holds, by counter name; empty when the counter is not one of the engine's."""
    return _UNITS.get(short(counter), "")


def axis_of(counter: str) -> tuple[float, str]:
    """Divisor and unit a chart shows for a counter: latencies in ms, bytes in MB."""
    return (1e-3, "ms") if short(counter).startswith("Avg. Disk sec/") else axis_unit(unit_of(counter))


def short(counter: str) -> str:
    """The last part of a PerfMon path."""
    return counter.rsplit("\\", 1)[-1]


def resample(series: pd.Series, sample_s: float) -> tuple[np.ndarray, np.ndarray]:
    """(middle times, averages) of a series over equal spans of ``sample_s`` seconds."""
    times = series.index.to_numpy(dtype=float)
    if len(times) < 2 or sample_s <= float(np.median(np.diff(times))):
        return times, series.to_numpy(dtype=float)
    step = float(np.median(np.diff(times)))
    # A sample stamped t covers (t - step, t]; half a step back puts it into the span it belongs to.
    bins = np.floor((times - step / 2) / sample_s + 1e-9).astype(int)
    grouped = pd.Series(series.to_numpy(dtype=float)).groupby(bins).mean()
    return (grouped.index.to_numpy() + 1) * sample_s, grouped.to_numpy()


def _has(run: Run, counter: str) -> bool:
    return any(short(str(path)) == counter for path in run.counters.columns.get_level_values("counter"))


def _trace(
    series: pd.Series, name: str, index: int, panel: int, divisor: float, unit: str, sample_s: float, legend: bool
) -> dict[str, Any]:
    times, values = resample(series, sample_s)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "legendgroup": name,
        "showlegend": legend and panel == 0,
        "x": numbers(times, 6),
        "y": numbers(values / divisor),
        "xaxis": "x",
        "yaxis": axis_name(panel),
        "line": {"color": series_colour(index if legend else panel), "width": 1.8, "dash": DASHES[index % len(DASHES)]},
        "hovertemplate": f"%{{y:,.4~g}} {unit}",
    }


def _suffix(unit: str) -> str:
    return f" ({unit})" if unit in ("MB/s", "MB", "%", "s", "ms", "ms/s") else ""


def _statistics(named: Mapping[str, Run], counters: list[str], node: str | None) -> Table:
    rows = []
    for counter in counters:
        for name, run in named.items():
            series = run.series(counter, node)
            who = f"{short(counter)}, {name}" if name else short(counter)
            rows.append(
                (who, unit_of(counter), *(significant(float(value)) for value in (series.mean(), series.min(), series.max())))
            )
    return Table("Average, minimum and maximum over the run", ("counter", "unit", "avg", "min", "max"), tuple(rows))


def _samples(
    named: Mapping[str, Run], counters: list[str], node: str | None, units: list[tuple[float, str]]
) -> tuple[Table, ...]:
    tables = []
    for name, run in named.items():
        columns = []
        spans: np.ndarray = np.array([])
        for counter, (divisor, _) in zip(counters, units, strict=True):
            series = run.series(counter, node)
            length = float(series.index[-1]) - float(series.index[0]) if len(series) > 1 else 1.0
            spans, values = resample(series, max(1.0, float(np.ceil(length / TABLE_ROWS))))
            columns.append(values / divisor)
        heads = ("seconds", *(f"{short(c)}{_suffix(u) or ''}" for c, (_, u) in zip(counters, units, strict=True)))
        rows = tuple(tuple(significant(float(v)) for v in row) for row in zip(spans, *columns, strict=True))
        tables.append(Table(f"Averages over time{', ' + name if name else ''}", heads, rows))
    return tuple(tables)


def _describe(heading: str, statistics: Table) -> str:
    parts = [
        f"{who}: average {human(avg)}, from {human(low)} to {human(high)} {unit}".rstrip()
        for who, unit, avg, low, high in statistics.rows
    ]
    return f"{heading}. {'; '.join(parts)}."


def _vertical(value: float) -> dict[str, Any]:
    line = {"color": "@muted", "width": 1, "dash": "dash"}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": value, "x1": value, "y0": 0, "y1": 1, "line": line}


def _vertical_note(value: float, text: str) -> dict[str, Any]:
    place = {"xref": "x", "yref": "paper", "x": value, "y": 0, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    return {"text": text, **place, "font": {"size": 11, "color": "@muted"}}
