"""Counters of a cluster's nodes, sampled on the servers through DMVs, the same way in every mode.

One script runs on each node: a WAITFOR loop that keeps samples in temporary tables. Here totals become rates and DMV names
become PerfMon paths. Left out: counters that no DMV has. "% Processor Time" is the share of processor time that SQL Server's
resource pools used; "PhysicalDisk" columns are sums over the database's files (sys.dm_io_virtual_file_stats), not the operating
system's.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from aglab.core.counters import BULK_COUNT, COUNTERS
from aglab.core.errors import AglabError, field_error

SAMPLES_MAX = 36_000
_CPU = "CPU usage %"
_FROM_DMV = [counter for counter in COUNTERS if counter.object.startswith("SQLServer:")]
_FILES = {  # file type -> (drive, keys of read latency, write latency, transfers, bytes)
    "ROWS": ("data_read_latency_s", "data_write_latency_s", "data_transfers_per_s", "data_bytes_per_s"),
    "LOG": (None, "log_write_latency_s", "log_transfers_per_s", "log_bytes_per_s"),
}
_PATHS = {counter.key: counter for counter in COUNTERS}


def script(seconds: float, every_s: float, database: str) -> str:
    """The T-SQL that samples one node ``seconds`` long, every ``every_s`` seconds."""
    if not 1 <= every_s <= 3600 or every_s != int(every_s):
        raise field_error("sample_s", every_s, "must be a whole number of seconds, 1 to 3600", "run_load", "use 1")
    samples = round(seconds / every_s)
    if not 2 <= samples <= SAMPLES_MAX:
        raise field_error(
            "seconds", seconds, f"must hold 2 to {SAMPLES_MAX} samples of {every_s:g} s", "run_load", "use for example 600"
        )
    names = sorted({counter.counter for counter in _FROM_DMV} | {_CPU, _CPU + " base"})
    delay = f"{int(every_s) // 3600:02d}:{int(every_s) % 3600 // 60:02d}:{int(every_s) % 60:02d}"
    quoted = ", ".join(f"N'{name}'" for name in names)
    text = files("aglab.lab").joinpath("sample.sql").read_text(encoding="utf-8")
    return (
        text.replace("{samples}", str(samples))
        .replace("{delay}", delay)
        .replace("{counters}", quoted)
        .replace("{database}", database.replace("'", "''"))
    )


def frame(node: str, tables: list[pd.DataFrame], every_s: float, database: str) -> pd.DataFrame:
    """Rates and values of one node: index time_s, columns (node, PerfMon path).

    A row describes the interval that ends at its time, so the first sample gives no row. A busy machine takes its samples
    later than they were asked for: totals are read between two samples at the times of the index, so that a mean over rows
    is a mean over time, and what came after the last of these times is left out.
    """
    if len(tables) < 2 or tables[0].empty or tables[1].empty:
        raise AglabError(f"{node} returned no samples", "see its errorlog")
    counters, stats = tables[0], tables[1]
    count = int(counters["sample"].max())
    time_s = np.arange(1, count + 1) * every_s
    clock = _Clock(counters, count, every_s)  # counters and files are read one after the other
    columns: dict[tuple[str, str], np.ndarray] = {}
    by_name = dict(iter(counters.groupby(["object_name", "counter_name", "instance_name"], dropna=False)))
    for counter in _FROM_DMV:
        instance = counter.instance.format(db=database)
        rows = by_name.get((_real_object(counter.object, by_name), counter.counter, instance))
        if rows is None:
            continue
        values = rows.sort_values("sample")["cntr_value"].to_numpy(dtype=float)
        if len(values) != count + 1:
            continue
        values = clock.at(values)
        columns[node, counter.path(database)] = np.diff(values) / clock.elapsed if counter.cntr_type == BULK_COUNT else values[1:]
    cpu = _cpu(counters, clock)
    if cpu is not None:
        columns[node, _PATHS["cpu_percent"].path()] = cpu
    for kind, keys in _FILES.items():
        _file_columns(columns, node, stats[stats["type_desc"] == kind], keys, _Clock(stats, count, every_s))
    result = pd.DataFrame(columns, index=pd.Index(time_s, name="time_s"))
    result.columns = pd.MultiIndex.from_tuples(list(columns), names=["node", "counter"])
    return result


def _real_object(name: str, by_name: dict[Any, Any]) -> str:
    """A named instance calls its objects ``MSSQL$NAME:Databases``; the part after the colon is what counts."""
    if any(key[0] == name for key in by_name):
        return name
    tail = ":" + name.split(":", 1)[1]
    return next((key[0] for key in by_name if str(key[0]).endswith(tail)), name)


class _Clock:
    """When samples were taken, by the server's clock, and the times at which a run's rows stand."""

    def __init__(self, samples: pd.DataFrame, count: int, every_s: float) -> None:
        self.count = count
        self._wanted_s = np.arange(count + 1) * every_s
        self._taken_s = self._wanted_s
        times = pd.to_datetime(samples.groupby("sample")["at_time"].first().sort_index())
        if len(times) == count + 1:
            taken_s = (times.to_numpy() - times.to_numpy()[0]) / np.timedelta64(1, "s")
            if np.all(np.diff(taken_s) > 0):  # a clock that was set back tells nothing
                self._taken_s = taken_s
        self._wanted_s = np.minimum(self._wanted_s, self._taken_s[-1])
        self.elapsed = np.maximum(np.diff(self._wanted_s), 1e-3)

    def at(self, values: np.ndarray) -> np.ndarray:
        """Values of the samples, as they were at the times of the rows; a line between two samples."""
        return np.interp(self._wanted_s, self._taken_s, values)


def _cpu(counters: pd.DataFrame, clock: _Clock) -> np.ndarray | None:
    """% of processor time, all resource pools together; each sample is a ratio to its base."""
    pools = counters[counters["object_name"].str.endswith("Resource Pool Stats")]  # Workload Group Stats repeat them
    used = pools[pools["counter_name"] == _CPU].groupby("sample")["cntr_value"].sum()
    base = pools[pools["counter_name"] == _CPU + " base"].groupby("sample")["cntr_value"].max()
    if len(used) != clock.count + 1 or len(base) != clock.count + 1:
        return None
    return clock.at((100.0 * used / base.where(base > 0)).to_numpy(dtype=float))[1:]


def _file_columns(
    columns: dict[tuple[str, str], np.ndarray],
    node: str,
    stats: pd.DataFrame,
    keys: tuple[str | None, str, str, str],
    clock: _Clock,
) -> None:
    sums = stats.drop(columns=["at_time", "type_desc"]).groupby("sample").sum().sort_index()
    if len(sums) != clock.count + 1:
        return
    step = {name: np.diff(clock.at(sums[name].to_numpy(dtype=float))) for name in sums.columns}
    read_key, write_key, transfers_key, bytes_key = keys
    if read_key:
        columns[node, _PATHS[read_key].path()] = _mean_s(step["io_stall_read_ms"], step["num_of_reads"])
        both = _mean_s(step["io_stall_read_ms"] + step["io_stall_write_ms"], step["num_of_reads"] + step["num_of_writes"])
        columns[node, _PATHS["data_transfer_latency_s"].path()] = both
    columns[node, _PATHS[write_key].path()] = _mean_s(step["io_stall_write_ms"], step["num_of_writes"])
    columns[node, _PATHS[transfers_key].path()] = (step["num_of_reads"] + step["num_of_writes"]) / clock.elapsed
    columns[node, _PATHS[bytes_key].path()] = (step["num_of_bytes_read"] + step["num_of_bytes_written"]) / clock.elapsed


def _mean_s(stall_ms: np.ndarray, operations: np.ndarray) -> np.ndarray:
    return np.divide(stall_ms, 1000.0 * operations, out=np.zeros_like(stall_ms), where=operations > 0)
