"""BACKUP DATABASE and BACKUP LOG: virtual time, SQL Server's messages, and the log that becomes reusable.

The rate is that of the volume read (data or log), as to a fast target or ``NUL:``; compression, buffers and the target's own
rate come later, and an option that would change the rate is accepted and kept, not modelled. Messages 4035 and 3014,
errors 3021, 3013, 4208 and 4214: "Database engine events and errors" (SQL Server documentation).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Message, Session, TsqlError, Wait

if TYPE_CHECKING:
    from aglab.twin.node import Node

PAGE_BYTES = 8192
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Backup:
    """One finished backup. ``kind``: D database, L log."""

    database: str
    kind: str
    started_s: float
    finished_s: float
    pages: int
    first_lsn_bytes: float
    last_lsn_bytes: float


def backup(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """BACKUP DATABASE | LOG name TO ..."""
    what = command.name.split()[-1].upper()
    database = node.instance.database(command.target)
    if database is None:
        text = f"Database '{command.target}' does not exist. Make sure that the name is entered correctly."
        raise TsqlError(911, 16, 11, text)
    if session.trancount:
        raise TsqlError(3021, 16, 0, "Cannot perform a backup or restore operation within a transaction.")
    if what == "LOG":
        _log_chain(node, database)
    begun = node.now_s()
    pages = _pages(node, database, what)
    taken_s = pages * PAGE_BYTES / _rate_bytes_s(node, what)
    yield Wait("operation", begun + taken_s, wait_type="BACKUPIO", done=lambda: node.now_s() >= begun + taken_s - 1e-6)
    main = database.name == node.database_name
    gauges = node.cluster.plant.gauges(node.name) if main else {}
    end, first = gauges.get("lsn_end", 0.0), gauges.get("lsn_backup", 0.0)
    node.backups.append(Backup(database.name, what[0], begun, node.now_s(), pages, first, end))
    if what == "LOG" and main:
        node.cluster.plant.change(node.name, log_backup=True)
    node.cluster.dirty = True
    file = next((one for one in database.files if (one.type == 1) == (what == "LOG")), database.files[0])
    rate = pages * PAGE_BYTES / MIB / taken_s if taken_s > 0 else 0.0
    yield Message(4035, 0, 1, f"Processed {pages} pages for database '{database.name}', file '{file.name}' on file 1.")
    done = f"BACKUP {what} successfully processed {pages} pages in {taken_s:.3f} seconds ({rate:.3f} MB/sec)."
    yield Message(3014, 0, 1, done)
    node.log_line(f"{'Log' if what == 'LOG' else 'Database'} was backed up. Database: {database.name}.", "Backup")


def _log_chain(node: Node, database: Any) -> None:
    if database.options["recovery_model"] == 3:
        text = (
            "The statement BACKUP LOG is not allowed while the recovery model is SIMPLE. Use BACKUP DATABASE or change the "
            "recovery model using ALTER DATABASE."
        )
        raise TsqlError(4208, 16, 1, text)
    formed = node.cluster.group is not None and node.cluster.replicates(database.name)
    if not formed and not any(one.database == database.name and one.kind == "D" for one in node.backups):
        raise TsqlError(4214, 16, 1, "BACKUP LOG cannot be performed because there is no current database backup.")


def _pages(node: Node, database: Any, what: str) -> int:
    if database.name != node.database_name:
        return max(2, sum(one.size_pages() for one in database.tables()) + (300 if what == "DATABASE" else 0))
    if what == "DATABASE":
        return node.cluster.plant.data_pages()
    gauges = node.cluster.plant.gauges(node.name)
    return max(2, int((gauges.get("lsn_end", 0.0) - gauges.get("lsn_backup", 0.0)) / PAGE_BYTES))


def _rate_bytes_s(node: Node, what: str) -> float:
    volume = node.profile.log if what == "LOG" else node.profile.data
    rate = volume.devices * volume.read_mb_s * 1e6
    return min(rate, volume.max_mb_s * 1e6) if volume.max_mb_s else rate
