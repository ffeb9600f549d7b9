"""PerfMon's CSV log format (PDH-CSV 4.0), read and written.

First header cell ``(PDH-CSV 4.0) (zone)(minutes)``, then one ``\\\\HOST\\object(instance)\\counter`` per column; time as
``MM/DD/YYYY HH:MM:SS.mmm``; an empty or blank cell where a sample is missing, as the first sample of a rate is. Source:
the logs that ``relog -f CSV`` writes, documented with the relog command.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aglab.core.errors import AglabError, UsageError
from aglab.record.files import write_text

if TYPE_CHECKING:
    from aglab.record.run import Run

_TIME = "%m/%d/%Y %H:%M:%S.%f"
_EXPORT = "export the log with: relog LOG.blg -f CSV -o LOG.csv"
_HEADER = "(PDH-CSV 4.0) (UTC)(0)"


def write_perfmon(run: Run, path: str | Path, start: str) -> Path:
    """Write a run as a PerfMon CSV log; counters keep their full PerfMon paths."""
    begin = pd.Timestamp(start)
    if run.counters.empty:
        raise UsageError("the run holds no samples", "record at least one sample before exporting")
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([_HEADER, *(f"\\\\{str(node).upper()}\\{counter}" for node, counter in run.counters.columns)])
    for time_s, row in run.counters.iterrows():
        stamp = (begin + pd.Timedelta(seconds=float(time_s))).strftime(_TIME)[:-3]  # type: ignore[arg-type]
        writer.writerow([stamp, *("" if pd.isna(value) else repr(float(value)) for value in row)])
    return write_text(Path(path), out.getvalue())


def _split(path: str) -> tuple[str, str]:
    """``\\\\HOST\\object\\counter`` -> (host in lower case, ``object\\counter``)."""
    if not path.startswith("\\\\") or "\\" not in path[2:]:
        raise AglabError(f"{path!r} is not a PerfMon counter path", _EXPORT)
    host, counter = path[2:].split("\\", 1)
    return host.lower(), counter


def read_perfmon(path: str | Path) -> Run:
    """Read a PerfMon CSV log of any server into a :class:`~aglab.record.Run`.

    Parameters
    ----------
    path : path
        A file that PerfMon or ``relog -f CSV`` wrote.

    Returns
    -------
    Run
        Node names are host names in lower case; a blank sample is NaN; ``time_s`` counts from the first sample.

    Raises
    ------
    UsageError
        The file is not there.
    AglabError
        It is not a PerfMon CSV log, or a line of it cannot be read (the line is named).
    """
    from aglab.record.run import Run

    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path} is not a file", "give the path of a PerfMon CSV log")
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig", errors="replace"))))
    if not rows or not rows[0] or not rows[0][0].startswith("(PDH-CSV"):
        raise AglabError(
            f"{path} does not start with a (PDH-CSV 4.0) header", "export the log with: relog LOG.blg -f CSV -o LOG.csv"
        )
    columns = [_split(name) for name in rows[0][1:]]
    times, values = [], []
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        try:
            times.append(pd.to_datetime(row[0], format=_TIME))
            cells = (row[1:] + [""] * len(columns))[: len(columns)]
            values.append([float(cell) if cell.strip() else float("nan") for cell in cells])
        except ValueError as error:
            raise AglabError(f"{path} line {number} cannot be read: {error}", "remove or repair the line") from error
    if not times:
        raise AglabError(f"{path} holds no samples", "record for longer than one sample interval")
    index = pd.Index([(stamp - times[0]).total_seconds() for stamp in times], name="time_s")
    frame = pd.DataFrame(values, index=index, columns=pd.MultiIndex.from_tuples(columns))
    return Run(frame, [], {"mode": "perfmon", "server": columns[0][0] if columns else path.name, "start": str(times[0])})
