"""What running a batch produces, one effect at a time.

The interpreter is sans-IO: a batch is a generator that yields these effects; the node sends the output effects down the
wire and answers a :class:`Wait` when its clock, its lock manager or its engine says so. The node resumes the
generator with ``send(None)`` when a wait is over, and with ``throw(Cancelled())`` on an attention.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aglab.core.sqltypes import Column, SqlType


@dataclass(frozen=True, slots=True)
class Browse:
    """Where a cursor's columns come from: tables as tuples of name parts; per column (table from 1 or 0, status, name there).

    Status bits are those of COLINFO (MS-TDS 2.2.7.5): 4 expression, 8 key, 16 hidden, 32 another name than in the table.
    """

    tables: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """A result set begins; ``browse`` where it is a cursor's."""

    columns: tuple[Column, ...]
    browse: Browse | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of the result set that is open: at most 500, so that no session starves another."""

    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Done:
    """A statement ended. ``rowcount`` is None where SQL Server sends no count (or NOCOUNT is on)."""

    rowcount: int | None = None
    command: str = ""  # "SELECT", "INSERT", "UPDATE", "DELETE", "EXECUTE" or ""
    in_procedure: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """PRINT, an informational message (severity 0-10) or an error (severity 11 and up)."""

    number: int
    severity: int
    state: int
    text: str
    line: int = 1
    procedure: str = ""

    @property
    def is_error(self) -> bool:
        """Whether clients raise it."""
        return self.severity > 10


@dataclass(frozen=True, slots=True)
class EnvChange:
    """``kind``: "database", "begin_tran", "commit_tran", "rollback_tran", "language", "reset"."""

    kind: str
    new: str | bytes = ""
    old: str | bytes = ""


@dataclass(frozen=True, slots=True)
class ReturnStatus:
    """The status of a procedure."""

    value: int


@dataclass(frozen=True, slots=True)
class ReturnValue:
    """An output parameter of a procedure called by RPC."""

    name: str
    type: SqlType
    value: Any
    ordinal: int = 0


@dataclass(slots=True)
class Wait:
    """The batch cannot go on yet.

    ``kind`` "time": until ``until_s`` of the node's clock (seconds since its epoch). ``kind`` "lock": until the lock
    manager grants or names this session the deadlock victim. ``kind`` "operation": until ``done()`` is
    true (a backup, a failover); ``until_s``, where not None, is when it is expected to end.
    """

    kind: str
    until_s: float | None = None
    wait_type: str = ""  # as sys.dm_os_wait_stats names it: WAITFOR, LCK_M_X, BACKUPIO
    resource: str = ""
    done: Any = None
    detail: dict[str, Any] = field(default_factory=dict)


Effect = Columns | Rows | Done | Message | EnvChange | ReturnStatus | ReturnValue | Wait


class Cancelled(Exception):
    """Thrown into a batch's generator: the client sent an attention or left."""
