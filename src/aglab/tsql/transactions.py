"""A session's transaction: undo log (before images), savepoints, log bytes, locks it must release.

Rolling back restores before images in reverse order, so a failing statement never leaves half its rows and never takes the
transaction with it unless T-SQL says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.tsql.host import CommitRecord, RowChange, SchemaChange
from aglab.tsql.store.memory import is_durable, is_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from aglab.tsql.store.table import Table

LOG_RECORD_HEADER_BYTES = 96  # a row's log record besides its images; begin and commit records together cost as much again
COMMIT_BYTES = 2 * 96


@dataclass(slots=True)
class Entry:
    """One change and how to undo it: a row's images, or a schema change with its own undo."""

    database: str
    table: Table | None
    row_id: int
    before: tuple[Any, ...] | None
    after: tuple[Any, ...] | None
    schema: SchemaChange | None = None
    undo: Callable[[], None] | None = None
    log_bytes: int = 0


@dataclass
class Transaction:
    """An open transaction (explicit, implicit or one statement's own)."""

    id: int
    spid: int
    began_s: float
    explicit: bool
    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    savepoints: list[tuple[str, int]] = field(default_factory=list)
    log_bytes: int = 0
    doomed: bool = False
    locked_rows: bool = False
    in_memory: bool = False  # it changed rows of memory-optimized tables
    log_mark: tuple[str, str] | None = None  # WITH MARK: name and description
    began_after: int = 0  # instance.commit_serial when it began

    def mark(self) -> int:
        """A point to roll back to."""
        return len(self.entries)

    def add(self, entry: Entry) -> None:
        """Note a change that was just made."""
        self.entries.append(entry)
        self.log_bytes += entry.log_bytes

    def rollback_to(self, mark: int = 0, statement: bool = True) -> None:
        """Undo every change after ``mark``, newest first.

        A failed statement takes back what it did to table variables; ROLLBACK (``statement`` false) leaves them alone.
        """
        while len(self.entries) > mark:
            entry = self.entries.pop()
            if not statement and entry.table is not None and entry.table.name.startswith("@"):
                continue
            if entry.undo is not None:
                entry.undo()
            elif entry.table is not None:
                entry.table.put(entry.row_id, entry.before)

    def records(self) -> list[CommitRecord]:
        """One commit record per database that changed; temporary tables leave none."""
        by_database: dict[str, CommitRecord] = {}
        for entry in self.entries:
            if not entry.database or entry.database == "tempdb":
                continue
            if entry.schema is None and entry.table is not None and not is_durable(entry.table):
                continue  # DURABILITY = SCHEMA_ONLY: nothing is logged
            record = by_database.get(entry.database)
            if record is None:
                record = CommitRecord(entry.database, self.id, self.spid, [], COMMIT_BYTES, self.began_s, memory_only=True)
                record.mark = self.log_mark
                by_database[entry.database] = record
            if entry.schema is not None:
                record.changes.append(entry.schema)
            elif entry.table is not None:
                record.changes.append(RowChange(entry.table.full_name, entry.row_id, entry.before, entry.after))
            record.memory_only = record.memory_only and entry.table is not None and is_memory(entry.table)
            record.log_bytes += entry.log_bytes
        return list(by_database.values())


def row_log_bytes(before: tuple[Any, ...] | None, after: tuple[Any, ...] | None) -> int:
    """Log bytes of one row change: header plus the changed images (an update logs only what differs)."""
    if before is not None and after is not None:
        changed = sum(_size(old) + _size(new) for old, new in zip(before, after, strict=False) if old is not new and old != new)
        return LOG_RECORD_HEADER_BYTES + changed
    return LOG_RECORD_HEADER_BYTES + sum(_size(value) for value in (after or before or ()))


def _size(value: Any) -> int:
    if value.__class__ is int:
        return 4 if -(2**31) <= value < 2**31 else 8
    if value is None:
        return 1
    if isinstance(value, str):
        return 2 + len(value)
    if isinstance(value, (bytes, bytearray)):
        return 2 + len(value)
    return 1 if isinstance(value, bool) else 8
