"""msdb's history of restores and of marked transactions, and the procedures that shorten the history.

Sources: "restorehistory", "restorefile", "restorefilegroup", "logmarkhistory", "sp_delete_backuphistory" and
"sp_delete_database_backuphistory" (SQL Server documentation). Only the history goes: a differential or log backup still builds on
a backup that msdb has forgotten, as on a real server.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session
from aglab.tsql.transactions import CommitRecord
from aglab.twin.backups.contents import chosen_files
from aglab.twin.backups.options import Ask
from aglab.twin.backups.record import BackupSet, log_end, lsn
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
_TYPES = {"L": "L", "I": "I", "G": "I", "Q": "I"}


def note(node: Node, session: Session, name: str, made: BackupSet, ask: Ask, command: Command, begun_s: float) -> None:
    """Write a finished restore down."""
    database = node.instance.database(name)
    assert database is not None
    known = {one.uuid: one.id for one in node.backups}
    data = chosen_files(database, ask) if ask.in_part and not ask.pages else [one for one in database.files if one.type == 0]
    files = [one for one in database.files if one.type == 1 or one in data]
    kind = "F" if ask.files or ask.pages else "G" if ask.filegroups else "D"
    groups = {facts["name"] for number, facts in database.filegroups.items() if number in {one.filegroup_id for one in data}}
    node.restores.append(
        {
            "id": max((one["id"] for one in node.restores), default=0) + 1,
            "at_s": begun_s,
            "database": name,
            "user": session.login,
            "set": known.get(made.uuid, made.id),
            "type": _TYPES.get(made.kind, kind),
            "replace": "REPLACE" in ask.words,
            "recovery": "NORECOVERY" not in ask.words and "STANDBY" not in ask.values,
            "stop_at": ask.values.get("STOPAT"),
            "mark": ask.values.get("STOPATMARK") or ask.values.get("STOPBEFOREMARK"),
            "before": "STOPBEFOREMARK" in ask.values,
            "devices": len(ask.devices),
            "files": [(one.file_id, one.physical_name) for one in files],
            "filegroups": sorted(groups),
        }
    )
    node.cluster.dirty = True


def note_mark(node: Node, record: CommitRecord, session: Session) -> None:
    """A marked transaction was committed."""
    assert record.mark is not None
    name, description = (*record.mark, "")[:2]
    at = {"database": record.database, "name": name, "description": description, "user": session.login}
    node.log_marks.append({**at, "lsn": log_end(node, record.database), "at_s": node.now_s()})
    node.cluster.dirty = True


def _time(seconds: float) -> dt.datetime:
    return EPOCH + dt.timedelta(seconds=round(seconds, 3))


def restorehistory(node: Node) -> Iterator[Row]:
    """msdb.dbo.restorehistory"""
    for one in node.restores:
        stop = one["stop_at"]
        yield {
            "restore_history_id": one["id"],
            "restore_date": _time(one["at_s"]),
            "destination_database_name": one["database"],
            "user_name": one["user"],
            "backup_set_id": one["set"],
            "restore_type": one["type"],
            "replace": one["replace"],
            "recovery": one["recovery"],
            "restart": False,
            "stop_at": dt.datetime.fromisoformat(str(stop).strip()) if stop else None,
            "device_count": one["devices"],
            "stop_at_mark_name": one["mark"],
            "stop_before": one["before"] if one["mark"] else None,
        }


def restorefile(node: Node) -> Iterator[Row]:
    """msdb.dbo.restorefile"""
    for one in node.restores:
        for number, path in one["files"]:
            drive = path.rpartition("/")[0] + "/"
            at = {"file_number": number, "destination_phys_drive": drive, "destination_phys_name": path}
            yield {"restore_history_id": one["id"], **at}


def restorefilegroup(node: Node) -> Iterator[Row]:
    """msdb.dbo.restorefilegroup"""
    for one in node.restores:
        for name in one["filegroups"]:
            yield {"restore_history_id": one["id"], "filegroup_name": name}


def logmarkhistory(node: Node) -> Iterator[Row]:
    """msdb.dbo.logmarkhistory"""
    for one in node.log_marks:
        yield {
            "database_name": one["database"],
            "mark_name": one["name"],
            "description": one["description"],
            "user_name": one["user"],
            "lsn": lsn(one["lsn"]),
            "mark_time": _time(one["at_s"]),
        }


def forget(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """sp_delete_backuphistory @oldest_date, sp_delete_database_backuphistory @database_name"""
    oldest: dt.datetime | None = command.options.get("OLDEST")

    def goes(database: str, seconds: float) -> bool:
        return _time(seconds) < oldest if oldest is not None else database.lower() == command.target.lower()

    gone = {one.id for one in node.backups if goes(one.database, one.finished_s)}
    node.forgotten = sorted({*node.forgotten, *gone})
    node.restores = [one for one in node.restores if one["set"] not in gone and not goes(one["database"], one["at_s"])]
    node.log_marks = [one for one in node.log_marks if not goes(one["database"], one["at_s"])]
    node.cluster.dirty = True
    yield from ()


COMMANDS = {"SP_DELETE_BACKUPHISTORY": forget}
VIEWS = {
    "msdb.restorehistory": restorehistory,
    "msdb.restorefile": restorefile,
    "msdb.restorefilegroup": restorefilegroup,
    "msdb.logmarkhistory": logmarkhistory,
}
