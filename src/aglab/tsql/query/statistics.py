"""What statements cost, as DBAs look it up: SET STATISTICS IO and the cached statements of sys.dm_exec_query_stats.

A statement is known by the text it stands in and its place there. Times are those of the node's clock: a statement that waits
for nothing takes none. Source: "sys.dm_exec_query_stats", "SET STATISTICS IO" (SQL Server documentation).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import quoteattr

from aglab.tsql.effects import Message
from aglab.tsql.messages import info
from aglab.tsql.query.reads import StatementReads

MOST_STATEMENTS = 2000
SHOWPLAN = "http://schemas.microsoft.com/sqlserver/2004/07/showplan"


@dataclass
class Measure:
    """total, last, min and max of one measure."""

    total: int = 0
    last: int = 0
    least: int = 0
    most: int = 0

    def add(self, value: int, first: bool) -> None:
        """One more execution."""
        self.total += value
        self.last = value
        self.least = value if first else min(self.least, value)
        self.most = max(self.most, value)


@dataclass
class StatementStats:
    """One cached statement: where it stands and what its executions cost."""

    text: str
    start: int
    end: int
    database_id: int
    object_id: int | None
    created: Any
    executions: int = 0
    last_execution: Any = None
    measures: dict[str, Measure] = field(default_factory=dict)
    operators: list[tuple[str, str, str, tuple[int, ...]]] = field(default_factory=list)  # operator, table, index, partitions

    @property
    def sql_handle(self) -> bytes:
        """Names the text."""
        return b"\x02\x00\x00\x00" + hashlib.sha1(self.text.encode("utf-16-le"), usedforsecurity=False).digest()

    @property
    def plan_handle(self) -> bytes:
        """Names the statement's plan."""
        key = f"{self.start}/{self.text}".encode("utf-16-le")
        return b"\x06\x00\x00\x00" + hashlib.sha1(key, usedforsecurity=False).digest()

    def showplan(self) -> str:
        """The access operators of the last execution, with the partitions they touched, in the elements of a showplan."""
        operators = "".join(
            f"<RelOp PhysicalOp={quoteattr(kind)}><RunTimePartitionSummary><PartitionsAccessed PartitionCount="
            f'"{len(numbers)}">{_ranges(numbers)}</PartitionsAccessed></RunTimePartitionSummary>'
            f"<Object Table={quoteattr(f'[{table}]')} Index={quoteattr(f'[{index}]')}/></RelOp>"
            for kind, table, index, numbers in self.operators
        )
        text = quoteattr(self.text[self.start : self.end])
        return (
            f'<ShowPlanXML xmlns="{SHOWPLAN}"><BatchSequence><Batch><Statements><StmtSimple StatementText={text}>'
            f"<QueryPlan>{operators}</QueryPlan></StmtSimple></Statements></Batch></BatchSequence></ShowPlanXML>"
        )


def _ranges(numbers: tuple[int, ...]) -> str:
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return "".join(f'<PartitionRange Start="{first}" End="{last}"/>' for first, last in found)


class StatementCache:
    """The statements of an instance, the oldest forgotten first."""

    def __init__(self) -> None:
        self.entries: OrderedDict[tuple[int, str, int], StatementStats] = OrderedDict()

    def note(self, place: tuple[int, str, int], end: int, object_id: int | None, now: Any, **values: int) -> StatementStats:
        """Count one execution of the statement at ``place`` (database id, text, start)."""
        entry = self.entries.get(place)
        if entry is None:
            entry = self.entries[place] = StatementStats(place[1], place[2], end, place[0], object_id, now)
            while len(self.entries) > MOST_STATEMENTS:
                self.entries.popitem(last=False)
        entry.executions += 1
        entry.last_execution = now
        first, measures = entry.executions == 1, entry.measures
        for name, value in values.items():
            if name not in measures:
                measures[name] = Measure()
            measures[name].add(value, first)
        return entry

    def clear(self) -> None:
        """DBCC FREEPROCCACHE, or a restart."""
        self.entries.clear()


def io_messages(reads: StatementReads, line: int) -> list[Message]:
    """The lines of SET STATISTICS IO."""
    return [
        info(3615, one.table.name, one.scans, one.logical, round(one.physical), round(one.ahead), line=line)
        for one in reads.tables.values()
    ]
