"""What hammerdbcli prints, read into records: result, response times, transaction counts, failed virtual users.

Lines are those of HammerDB 4.6 to 6 (modules/tpcccommon, jobs; pull requests 453, 458 and 511 of TPC-Council/HammerDB). Up to
version 3.x the result names TPM first; both orders are read. NOPM is the growth of all districts' next order id in a minute. TPM
for SQL Server is the growth of Batch Requests/sec in a minute: every batch of every session counts, a monitoring query too, so it
is not Databases:Transactions/sec times 60 and never shares an axis with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from aglab.record import Run

KEYS_CHECKED = ("5", "6")  # major versions whose keys the scripts use
NODE = "hammerdb"  # the driver's own node in a Run: its counts are not the server's counters
TCOUNT = "HammerDB\\TPM counter"
PROCEDURES = ("NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT")

_VERSION = re.compile(r"HammerDB CLI v(\S+)")
_NOPM_FIRST = re.compile(r"TEST RESULT : System achieved (\d+) NOPM from (\d+) (.+?) TPM")
_TPM_FIRST = re.compile(r"TEST RESULT : System achieved (\d+) (.+?) TPM at (\d+) NOPM")
_ACTIVE = re.compile(r"(\d+) (?:Active )?Virtual Users configured")
_JOB = re.compile(r"jobid=([0-9A-Fa-f]+)")
_FINISHED = re.compile(r"Vuser (\d+):FINISHED (SUCCESS|FAILED)")
_ERROR = re.compile(r"Error in Virtual User (\d+): ?(.*)")
_MARK = re.compile(r"^AGLAB (\w+) (begins|ends)$")


@dataclass(frozen=True)
class Timing:
    """Response times of one procedure over all virtual users, in ms; ``ratio_pct`` is its share of the elapsed time."""

    calls: int
    avg_ms: float
    min_ms: float
    max_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    ratio_pct: float


@dataclass
class Output:
    """Everything read from one call of hammerdbcli."""

    version: str = ""
    job: str = ""
    users: int = 0
    nopm: int | None = None
    tpm: int | None = None
    timing: dict[str, Timing] = field(default_factory=dict)
    tcount: dict[str, float] = field(default_factory=dict)  # time as printed -> transactions a minute
    succeeded: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)  # the virtual users' own words, in order, each once
    marks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # parts of the job that were no JSON

    @property
    def nopm_label(self) -> str:
        """What NOPM counts, with the version that counted."""
        return f"NOPM (new orders a minute, {self._by})"

    @property
    def tpm_label(self) -> str:
        """What TPM counts, with the version that counted."""
        return f"SQL Server TPM (batch requests a minute, {self._by})"

    @property
    def _by(self) -> str:
        if not self.version:
            return "HammerDB, version not printed"
        other = "" if self.version.split(".")[0] in KEYS_CHECKED else "; keys checked for 5 and 6 only"
        return f"HammerDB {self.version}{other}"

    def beside(self, run: Run) -> Run:
        """The sampled counters with HammerDB's own counts added as a node of their own.

        ``run`` keeps its index; the transaction counter's times are seconds from its first value, so it is as exact as its
        distance of samples (10 s by default). NOPM, TPM and response times go to ``provenance["hammerdb"]``.
        """
        counters = run.counters.copy()
        if self.tcount:
            stamps = pd.to_datetime(pd.Series(list(self.tcount)), errors="coerce")
            values = pd.Series(list(self.tcount.values()), index=(stamps - stamps.iloc[0]).dt.total_seconds())
            values = values[values.index.notna() & ~values.index.duplicated()].sort_index()
            counters[NODE, TCOUNT] = values.reindex(counters.index, method="ffill")
        said: dict[str, Any] = {
            "version": self.version,
            "job": self.job,
            "users": self.users,
            "nopm": self.nopm,
            "nopm_label": self.nopm_label,
            "tpm": self.tpm,
            "tpm_label": self.tpm_label,
            "timing": {name: timing.__dict__ for name, timing in self.timing.items()},
        }
        return Run(counters, list(run.events), {**run.provenance, "hammerdb": said})


def parse(lines: Iterable[str]) -> Output:
    """Read what one call printed. Unknown lines are passed over; JSON parts that are damaged are named in ``unread``."""
    output = Output()
    part = ""
    held: list[str] = []
    for raw in lines:
        line = raw.strip()
        mark = _MARK.match(line)
        if mark and mark[2] == "begins":
            part, held = mark[1], []
        elif mark:
            _read_part(output, part, "\n".join(held))
            part = ""
        elif part:
            held.append(line)
        elif line.startswith("AGLAB "):
            output.marks.append(line[6:])
        else:
            _read_line(output, line)
    return output


def _read_line(output: Output, line: str) -> None:
    if found := _VERSION.search(line):
        output.version = found[1]
    if found := _NOPM_FIRST.search(line):
        output.nopm, output.tpm = int(found[1]), int(found[2])
    elif found := _TPM_FIRST.search(line):
        output.tpm, output.nopm = int(found[1]), int(found[3])
    if found := _ACTIVE.search(line):
        output.users = int(found[1])
    if found := _JOB.search(line):
        output.job = found[1]
    if found := _FINISHED.search(line):
        (output.succeeded if found[2] == "SUCCESS" else output.failed).append(int(found[1]))
    if found := _ERROR.search(line):
        _once(output.errors, found[2].strip())
    elif line.startswith(("Error", "SQLState")):  # the lines after the first of a driver's error
        _once(output.errors, line)


def _once(errors: list[str], words: str) -> None:
    if words and words not in errors:
        errors.append(words)


def _read_part(output: Output, part: str, text: str) -> None:
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    try:
        content = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
        if part == "result" and isinstance(content, list):
            for line in content:
                _read_line(output, str(line))
        elif part == "timing" and isinstance(content, dict):
            output.timing = {name: _timing(values) for name, values in content.items()}
        elif part == "tcount" and isinstance(content, dict):
            for counts in content.values():
                output.tcount |= {str(time): float(count) for time, count in counts.items()}
        else:
            output.unread.append(part)
    except (ValueError, KeyError, TypeError, AttributeError):
        output.unread.append(part)


def _timing(values: dict[str, str]) -> Timing:
    milliseconds = {key: float(values[key]) for key in Timing.__dataclass_fields__ if key != "calls"}
    return Timing(calls=int(values["calls"]), **milliseconds)
