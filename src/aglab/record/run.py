"""A Run: PerfMon counters over time, what happened when, and where the numbers come from.

A Run from the twin, from containers and from the user's own servers has the same columns, so one figure or one check serves all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from aglab.core.errors import AglabError, UsageError, unknown_name
from aglab.record.files import write_atomic, write_text

FORMAT = 1
_MANIFEST = "run.json"
_COUNTERS = "counters.parquet"


def label_of(provenance: dict[str, Any]) -> str:
    """The honest label: ``SIMULATED, profile X`` for a twin, in containers too, ``measured on X`` otherwise."""
    if provenance.get("simulated", provenance.get("mode", "twin") == "twin"):
        return f"SIMULATED, profile {provenance.get('profile', 'unknown')}"
    return f"measured on {provenance.get('server', provenance.get('mode'))}"


@dataclass
class Run:
    """The record of one experiment.

    Parameters
    ----------
    counters : pandas.DataFrame
        One row per sample, index ``time_s`` (seconds from the start), columns (node, PerfMon path), values in the
        unit that PerfMon shows (rates are per second).
    events : list of dict
        ``{"time_s", "node", "event", ...}`` in time order: a checkpoint began, a link was cut.
    provenance : dict
        ``mode``, ``profile``, ``seed``, ``calibration``, ``versions``: what made these numbers.
    """

    counters: pd.DataFrame
    events: list[dict[str, Any]] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.counters.columns.nlevels != 2:
            raise UsageError("Run.counters must have two column levels (node, counter)", "build it with pandas.MultiIndex")
        self.counters.columns = self.counters.columns.set_names(["node", "counter"])
        self.counters.index.name = "time_s"

    @property
    def nodes(self) -> list[str]:
        """Node names in column order."""
        return list(dict.fromkeys(self.counters.columns.get_level_values("node")))

    @property
    def label(self) -> str:
        """The label every figure and table of this run carries."""
        return label_of(self.provenance)

    def series(self, counter: str, node: str | None = None) -> pd.Series:
        """One counter over time.

        Parameters
        ----------
        counter : str
            A PerfMon path, or its last part where that is unique on the node (``"Transactions/sec"``).
        node : str, optional
            The first node by default.
        """
        node = node or self.nodes[0]
        if node not in self.nodes:
            raise unknown_name("node", node, self.nodes)
        paths = list(self.counters[node].columns)
        matches = [path for path in paths if path == counter] or [path for path in paths if path.rsplit("\\", 1)[-1] == counter]
        if not matches:
            raise unknown_name("counter", counter, paths)
        if len(matches) > 1:
            raise UsageError(f"counter {counter!r} is in {len(matches)} objects of {node}", f"name one: {', '.join(matches)}")
        return self.counters[(node, matches[0])].rename(counter)

    def summary(self) -> dict[str, dict[str, dict[str, float]]]:
        """``{node: {counter: {"avg", "min", "max"}}}``."""
        stats = self.counters.agg(["mean", "min", "max"]).T
        result: dict[str, dict[str, dict[str, float]]] = {}
        for (node, counter), row in stats.iterrows():
            result.setdefault(str(node), {})[str(counter)] = {
                "avg": float(row["mean"]),
                "min": float(row["min"]),
                "max": float(row["max"]),
            }
        return result

    def between(self, start_s: float, end_s: float) -> Run:
        """The part of the run in [start_s, end_s]; times stay as they were."""
        part = self.counters.loc[start_s:end_s]
        events = [event for event in self.events if start_s <= event.get("time_s", start_s) <= end_s]
        return Run(part.copy(), events, dict(self.provenance))

    def save(self, folder: str | Path) -> Path:
        """Write the run to a folder (Parquet and a manifest); the manifest comes last, so half a run never loads."""
        folder = Path(folder)
        flat = self.counters.copy()
        flat.columns = [f"{node}\t{counter}" for node, counter in flat.columns]
        write_atomic(folder / _COUNTERS, flat.to_parquet)
        manifest = {"format": FORMAT, "label": self.label, "provenance": self.provenance, "events": self.events}
        write_text(folder / _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True) + "\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Read what :meth:`save` wrote.

        Raises
        ------
        UsageError
            The folder holds no run.
        AglabError
            The run is damaged or written by a newer aglab.
        """
        folder = Path(folder)
        if not (folder / _MANIFEST).is_file():
            raise UsageError(f"{folder} holds no run ({_MANIFEST} is missing)", "give a folder that Run.save() wrote")
        try:
            manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
            flat = pd.read_parquet(folder / _COUNTERS)
        except (OSError, ValueError) as error:
            raise AglabError(f"the run in {folder} is damaged: {error}", "record it again") from error
        if manifest.get("format", 0) > FORMAT:
            raise AglabError(f"the run in {folder} has format {manifest['format']}, this aglab reads {FORMAT}", "update aglab")
        flat.columns = pd.MultiIndex.from_tuples([tuple(name.split("\t", 1)) for name in flat.columns])
        return cls(flat, manifest["events"], manifest["provenance"])

    def to_perfmon_csv(self, path: str | Path, start: str = "2026-01-01T00:00:00") -> Path:
        """Write PerfMon's CSV log (PDH-CSV 4.0), which PerfMon, relog and PAL open; ``start`` is the time of second 0."""
        from aglab.record.perfmon import write_perfmon

        return write_perfmon(self, path, start)
