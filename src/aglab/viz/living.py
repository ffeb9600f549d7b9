"""The living picture of a cluster: log on its way from the primary to the secondaries, and the two queues, scrubbed in time.

It shows what a :class:`~aglab.record.Run` holds and nothing else: *Log Bytes Flushed/sec* (hardened), *Bytes Sent to
Transport/sec*, *Log Bytes Received/sec*, *Redone Bytes/sec*, *Log Send Queue*, *Recovery Queue*; so it draws runs of any mode.
The front end (``frontend/living.js``) needs no Plotly; without a script the block still gives its text and a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aglab.core.counters import BY_KEY
from aglab.core.errors import UsageError, unknown_name
from aglab.record import Run
from aglab.viz.figure import Table
from aglab.viz.text import escape, human, inline, numbers, script_json, significant

FRAMES_MAX = 120  # positions of the slider; a stored notebook stays small
TABLE_ROWS = 24
KB = 1024.0

# what is drawn -> engine key of the counter (its PerfMon name is looked up)
_PRIMARY = {"tps": "transactions_per_s", "hardened": "log_bytes_flushed_per_s", "sent": "bytes_sent_to_transport_per_s"}
_SECONDARY = {
    "received": "log_bytes_received_per_s",
    "hardened": "log_bytes_flushed_per_s",
    "redone": "redone_bytes_per_s",
    "send_queue": "log_send_queue_kb",
    "recovery_queue": "recovery_queue_kb",
}
_NEEDED = ("received", "redone", "send_queue", "recovery_queue")


@dataclass(frozen=True)
class Flow:
    """One node of the picture: arrays over :attr:`ClusterPicture.time_s`, rates in B/s and queues in bytes."""

    node: str
    series: dict[str, np.ndarray]


@dataclass(frozen=True)
class ClusterPicture:
    """What the front end draws; make one with :func:`cluster_picture`.

    Attributes
    ----------
    time_s : float64[frames]
    primary : Flow
    secondaries : tuple of Flow
    label : str
        The honest label of the runs.
    """

    title: str
    time_s: np.ndarray
    primary: Flow
    secondaries: tuple[Flow, ...]
    label: str
    caption: str = ""

    @property
    def alt(self) -> str:
        """The text alternative: who sends, and how the queues of each secondary went."""
        sender = self.primary.series.get("hardened")
        made = f" hardens {_rate(float(np.mean(sender)))} of log on average and" if sender is not None else ""
        said = [
            f"{self.title}. From {human(self.time_s[0])} to {human(self.time_s[-1])} seconds the primary {self.primary.node}"
            f"{made} "
            f"sends it to {len(self.secondaries)} secondar{'y' if len(self.secondaries) == 1 else 'ies'}."
        ]
        for one in self.secondaries:
            received, redone = (_rate(float(np.mean(one.series[key]))) for key in ("received", "redone"))
            queues = " and ".join(
                f"the {name} goes from {_size(one.series[key][0])} to {_size(one.series[key][-1])}, at most "
                f"{_size(float(np.max(one.series[key])))}"
                for key, name in (("send_queue", "log send queue"), ("recovery_queue", "recovery queue"))
            )
            said.append(f"{one.node} receives {received} and redoes {redone} on average; {queues}.")
        return " ".join(said)

    def spec(self) -> dict[str, Any]:
        """What the front end needs; numbers carry five digits."""
        return {
            "label": self.label,
            "time": numbers(self.time_s, 6),
            "primary": {"node": self.primary.node, "series": _packed(self.primary)},
            "secondaries": [{"node": one.node, "series": _packed(one)} for one in self.secondaries],
        }

    def table(self) -> Table:
        """The numbers behind the picture, every so many frames."""
        heads, columns = ["seconds"], [self.time_s]
        for one in self.secondaries:
            for key, name, divisor in (
                ("send_queue", "log send queue (MB)", 1e6),
                ("recovery_queue", "recovery queue (MB)", 1e6),
                ("received", "received (MB/s)", 1e6),
                ("redone", "redone (MB/s)", 1e6),
            ):
                heads.append(f"{one.node} {name}")
                columns.append(one.series[key] / divisor)
        step = max(1, int(np.ceil(len(self.time_s) / TABLE_ROWS)))
        rows = tuple(tuple(significant(float(column[place])) for column in columns) for place in range(0, len(self.time_s), step))
        return Table(f"{self.title}. {self.label}", tuple(heads), rows)

    def html(self) -> str:
        """The block that the front end brings to life; it needs ``aglab.css`` and ``aglab.js`` on its page."""
        caption = f"<figcaption>{inline(self.caption)}</figcaption>" if self.caption else ""
        return (
            f'<div class="aglab-figure aglab-living" data-aglab="living"><figure aria-label="{escape(self.title)}">'
            f'<p class="aglab-title">{escape(self.title)}</p><p class="aglab-alt">{escape(self.alt)} {escape(self.label)}</p>'
            f'<div class="aglab-body"></div>{caption}</figure>'
            f"<details><summary>Table behind this picture</summary>{self.table().html()}</details>"
            f'<script type="application/json" class="aglab-spec">{script_json(self.spec())}</script></div>'
        )

    def __repr__(self) -> str:
        names = ", ".join(one.node for one in self.secondaries)
        return f"ClusterPicture({self.title!r}, {self.primary.node} to {names}, {len(self.time_s)} frames, {self.label})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from aglab.viz.widget import block_widget, mime_of

        return {"text/plain": repr(self), "text/html": self.html(), **mime_of(block_widget(self.html()))}


def cluster_picture(runs: Run | Sequence[Run], *, primary: str = "", title: str = "", caption: str = "") -> ClusterPicture:
    """A picture of log shipping over time, from one run or from several, one after the other.

    Parameters
    ----------
    runs : Run or sequence of Run
        With samples of the primary and of at least one secondary; of several, each begins where the one before ends.
    primary : str, optional
        The node that sends; by default the one with the most *Bytes Sent to Transport/sec*.
    title, caption : str

    Raises
    ------
    UsageError
        No run, no secondary in it, a node that is not there, or a counter that the picture needs is missing.
    """
    given = [runs] if isinstance(runs, Run) else list(runs)
    if not given:
        raise UsageError("a picture of a cluster needs a run", "record one with lab.measure(...)")
    nodes = [node for node in given[0].nodes if all(node in run.nodes for run in given)]
    sender = primary or _sender(given[0], nodes)
    if sender not in nodes:
        raise unknown_name("node", sender, nodes)
    receivers = [node for node in nodes if node != sender]
    if not receivers:
        raise UsageError(
            f"the run holds node {sender!r} only, a picture of the cluster needs a secondary too",
            'record it with lab.measure(..., nodes=["sql1", "sql2"])',
        )
    times = _times(given)
    keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), FRAMES_MAX)).round().astype(int))
    labels = list(dict.fromkeys(run.label for run in given))
    return ClusterPicture(
        title or "Log on its way through the cluster",
        times[keep],
        _flow(given, sender, _PRIMARY, (), keep),
        tuple(_flow(given, node, _SECONDARY, _NEEDED, keep) for node in receivers),
        "; ".join(labels),
        caption,
    )


def _times(runs: Sequence[Run]) -> np.ndarray:
    parts, end = [], 0.0
    for run in runs:
        parts.append(run.counters.index.to_numpy(dtype=float) + end)
        end = float(parts[-1][-1])
    return np.concatenate(parts)


def _sender(run: Run, nodes: list[str]) -> str:
    sent = {node: _column(run, node, _PRIMARY["sent"]) for node in nodes}
    return max(nodes, key=lambda node: float(sent[node].mean()) if sent[node] is not None else -1.0)  # type: ignore[union-attr]


def _column(run: Run, node: str, key: str) -> pd.Series | None:
    """A counter of a node by its PerfMon object and name, whatever the database is called; None when the run has none."""
    counter = BY_KEY[key]
    for path in run.counters[node].columns:
        head, _, name = str(path).rpartition("\\")
        if name == counter.counter and head.partition("(")[0] == counter.object:
            return run.counters[(node, path)]
    return None


def _flow(runs: Sequence[Run], node: str, wanted: dict[str, str], needed: Sequence[str], keep: np.ndarray) -> Flow:
    series = {}
    for name, key in wanted.items():
        columns = [_column(run, node, key) for run in runs]
        if any(column is None for column in columns):
            if name in needed:
                raise UsageError(
                    f"the run of {node!r} has no {BY_KEY[key].counter}", "sample the counters of a database in a group"
                )
            continue
        scale = KB if BY_KEY[key].unit == "KB" else 1.0
        whole = np.concatenate([column.to_numpy(dtype=float) for column in columns if column is not None])
        series[name] = np.nan_to_num(whole)[keep] * scale
    return Flow(node, series)


def _packed(flow: Flow) -> dict[str, list[float | None]]:
    return {name: numbers(values, 5) for name, values in flow.series.items()}


def _rate(bytes_s: float) -> str:
    return f"{human(bytes_s / 1e6, 3)} MB/s"


def _size(value: float) -> str:
    return f"{human(value / 1e9, 3)} GB" if value >= 1e9 else f"{human(value / 1e6, 3)} MB"
