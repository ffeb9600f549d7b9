"""DELAYED_DURABILITY: commits that a client has been told of before their log is on disk.

FORCED delays every commit of rows in a database, ALLOWED those that end with COMMIT ... WITH (DELAYED_DURABILITY = ON).

They become durable when 60 KB of log have come together, when a fully durable transaction of the database commits, with
sp_flush_log, CHECKPOINT, a backup, and when the service stops in order; a crash of the instance or of this process loses them
("Control transaction durability", SQL Server documentation, which promises no time after which they are written). Left out:
databases of an availability group, whose commits are hardened here as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aglab.tsql.host import CommitRecord, RowChange, SchemaChange

if TYPE_CHECKING:
    from aglab.twin.node import Node

ALLOWED, FORCED = 1, 2  # delayed_durability of sys.databases
BUFFER_BYTES = 60 * 1024  # the largest log block


class LazyCommits:
    """Transactions of one node whose log is in memory only, by database (lower case), oldest first."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.waiting: dict[str, list[CommitRecord]] = {}

    def commit(self, record: CommitRecord) -> None:
        """Keep a transaction: in the journal, or in memory where its database allows that and it changed rows only."""
        database = self.node.instance.database(record.database)
        rows_only = all(isinstance(one, RowChange) for one in record.changes)
        setting = database.options["delayed_durability"] if database is not None else 0
        delayed = setting == FORCED or (setting == ALLOWED and record.delayed)
        if not delayed or not rows_only:
            self.flush(record.database)
            self.node.cluster.journal([self.node.name], record)
            return
        queue = self.waiting.setdefault(record.database.lower(), [])
        queue.append(record)
        if sum(one.log_bytes for one in queue) >= BUFFER_BYTES:
            self.flush(record.database)

    def flush(self, database: str = "") -> None:
        """Write what waits, of one database or of all."""
        for name in [database.lower()] if database else list(self.waiting):
            for record in self.waiting.pop(name, ()):
                self.node.cluster.journal([self.node.name], record)

    def lose(self) -> None:
        """The instance is gone: what waited has never been."""
        for name, queue in self.waiting.items():
            database = self.node.instance.database(name)
            if database is None:
                continue
            for record in reversed(queue):
                database.apply(_undone(record))
        if self.waiting:
            self.node.cluster.dirty_rows = True
        self.waiting = {}


def _undone(record: CommitRecord) -> CommitRecord:
    """The transaction that takes another one back."""
    changes: list[RowChange | SchemaChange] = [
        RowChange(one.table, one.row_id, one.after, one.before) for one in reversed(record.changes) if isinstance(one, RowChange)
    ]
    return CommitRecord(record.database, record.transaction_id, record.session_id, changes, record.log_bytes)
