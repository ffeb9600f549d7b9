"""Restores of files, filegroups and pages, and piecemeal restores.

A restored file of a database that is open stands RESTORING (its tables cannot be read, error 8653) until log backups have brought
it to where the database is: for a file that was online, past the moment when its restore began, so that the tail of the log must
be backed up too; for one that a piecemeal restore left out, to the point at which the database was recovered. Rows of such a file
are those of the database: what roll forward would arrive at. Pages are never damaged here, so a page restore goes through the
same steps without closing anything. Sources: "Restore Files and Filegroups", "Restore Pages", "Piecemeal Restores", "RESTORE
Statements" (SQL Server documentation); errors as in :mod:`aglab.tsql.messages_restore`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Message, error, info
from aglab.twin.backups.contents import chosen_files
from aglab.twin.backups.options import Ask
from aglab.twin.backups.record import BackupSet, log_end, lsn
from aglab.twin.keeping import keep_database

if TYPE_CHECKING:
    from aglab.twin.node import Node

ONLINE, RESTORING, PENDING = 0, 1, 3
SIMPLE = 3
_PAGES = re.compile(r"\s*(\d{1,5}):(\d{1,10})\s*(,|$)")
CONTROL_PAGES = (0, 1, 2, 3, 6, 7)
GAM_INTERVAL, PFS_INTERVAL = 511_232, 8_088


def pages_of(texts: list[str]) -> list[tuple[int, int]]:
    """The pages of ``PAGE = 'file:page, ...'``. Errors 3111, 4350."""
    found: list[tuple[int, int]] = []
    for text in texts:
        place = 0
        while place < len(text) or not text:
            match = _PAGES.match(text, place)
            if match is None:
                raise error(4350, len(found), place)
            file, page = int(match.group(1)), int(match.group(2))
            if page in CONTROL_PAGES or page % GAM_INTERVAL in CONTROL_PAGES or page % PFS_INTERVAL == 0:
                raise error(3111, f"({file}:{page})")
            found.append((file, page))
            place = match.end()
    return found


def in_sequence(node: Node, name: str, existing: Any, ask: Ask, made: BackupSet, log: bool) -> bool:
    """Whether a RESTORE is a step of a file's sequence beside an open database (not of the whole database's).

    The primary filegroup cannot be restored while the database is open.
    """
    if existing is None or existing.options["state"] != ONLINE or existing.options.get("is_in_standby"):
        return False
    pending = bool(node.pieces.get(name.lower(), {}).get("files"))
    if log or made.kind in "IGQ":
        return pending
    if "PARTIAL" in ask.words or not (ask.in_part or made.kind == "F"):
        return False
    return bool(ask.pages) or all(one.filegroup_id != 1 for one in _meant(existing, ask, made))


def _meant(existing: Any, ask: Ask, made: BackupSet) -> list[Any]:
    """The data files of the database that a statement names; those in the backup where it names none."""
    held = {file["name"].lower() for file in made.files if file["present"]}
    return [one for one in chosen_files(existing, ask) if ask.in_part or one.name.lower() in held]


def step(node: Node, name: str, existing: Any, ask: Ask, made: BackupSet, log: bool) -> None:
    """Begin or continue the restore of files of an open database. Errors 3115, 3135, 3144, 3194, 4305, 4310, 4326, 4344, 4346."""
    if log != (made.kind == "L"):
        raise error(3135, made.devices[0], "BACKUP LOG" if made.kind == "L" else "BACKUP DATABASE")
    piece = node.pieces.setdefault(name.lower(), {"point": None, "files": {}})
    if made.kind in "LIGQ":
        _advance(piece["files"], made)
    else:
        _begin(node, existing, piece, ask, made)
    _changed(node, existing)


def _begin(node: Node, existing: Any, piece: dict[str, Any], ask: Ask, made: BackupSet) -> None:
    pages = pages_of(ask.pages)
    simple = existing.options["recovery_model"] == SIMPLE
    if pages and simple:
        raise error(4346)
    held = {file["name"].lower() for file in made.files if file["present"] and file["type"] == 0}
    numbers = {file for file, _ in pages}
    if pages:
        files = [one for one in existing.files if one.file_id in numbers and one.type == 0]
    else:
        files = _meant(existing, ask, made)
    for file in files:
        read_only = existing.filegroups[file.filegroup_id].get("is_read_only")
        if pages and read_only:
            raise error(4344)
        if pages and file.state != ONLINE:
            raise error(4310, file.name)
        if simple and not read_only:
            raise error(3115)
        if file.name.lower() not in held:
            raise error(3144, file.name, made.position, made.devices[0])
    sizes = {one.file_id: one.size for one in existing.files if one.type == 0}
    for number, page in pages:
        if page >= sizes.get(number, 0):
            raise error(3194, f"({number}:{page})")
    for file in files:
        left_out = file.state == PENDING
        piece["files"][str(file.file_id)] = {
            "lsn": made.last_lsn,
            "target": piece["point"] if left_out and piece["point"] is not None else log_end(node, existing.name),
            "since_s": None if left_out or existing.filegroups[file.filegroup_id].get("is_read_only") else node.now_s(),
            "log_s": -1.0,
        }
        if not pages:
            file.state = RESTORING


def _advance(files: dict[str, dict[str, Any]], made: BackupSet) -> None:
    """Roll the files forward by a log or differential backup."""
    oldest = min(one["lsn"] for one in files.values())
    newest = max(one["lsn"] for one in files.values())
    if made.kind == "L" and made.first_lsn > oldest:
        raise error(4305, lsn(made.first_lsn), lsn(oldest))
    if made.last_lsn < oldest:
        raise error(4326, lsn(made.last_lsn), lsn(newest))
    for one in files.values():
        one["lsn"] = max(one["lsn"], made.last_lsn)
        if made.kind == "L":
            one["log_s"] = max(one["log_s"], made.finished_s)


def _ready(one: dict[str, Any]) -> bool:
    return bool(one["lsn"] >= one["target"] and (one["since_s"] is None or one["log_s"] >= one["since_s"]))


def finish(node: Node, existing: Any, recover: bool) -> Iterator[Message]:
    """Open the files that were rolled forward far enough; say what the others still need."""
    piece = node.pieces.get(existing.name.lower())
    if piece is None or not piece["files"]:
        return
    waiting = {number: one for number, one in piece["files"].items() if not _ready(one)}
    if not recover:
        if not waiting:
            yield info(4308)
        return
    by_id = {str(file.file_id): file for file in existing.files}
    for number in [one for one in piece["files"] if one not in waiting]:
        del piece["files"][number]
        if number in by_id:
            by_id[number].state = ONLINE
    _changed(node, existing)
    if waiting:
        least = min(waiting.values(), key=lambda one: float(one["lsn"]))
        yield info(4303, lsn(least["lsn"]), lsn(max(one["target"] for one in waiting.values())))
        yield info(4339)
    if not piece["files"] and all(file.state == ONLINE for file in existing.files):
        node.pieces.pop(existing.name.lower(), None)


def recover_only(node: Node, command: Command, existing: Any) -> Iterator[Message]:
    """RESTORE DATABASE name [FILE | FILEGROUP ...] WITH RECOVERY of an open database: what can be opened without more backups."""
    piece = node.pieces[existing.name.lower()]
    ask = Ask([], files=list(command.options.get("FILES", [])), filegroups=list(command.options.get("FILEGROUPS", [])))
    for file in chosen_files(existing, ask) if ask.in_part else []:
        read_only = existing.filegroups[file.filegroup_id].get("is_read_only")
        if file.state == PENDING and read_only:
            piece["files"][str(file.file_id)] = {"lsn": 0.0, "target": 0.0, "since_s": None, "log_s": -1.0}
        elif file.state == ONLINE or str(file.file_id) not in piece["files"]:
            raise error(3149, file.name)
    yield from finish(node, existing, True)


# -- piecemeal restore of a whole database -----------------------------------------------------------------------------------
def left_out(ask: Ask, made: BackupSet, database: Any) -> list[str]:
    """Names of the data files that a PARTIAL restore leaves for later. Error 3103: the primary file must be part of it."""
    if "PARTIAL" not in ask.words:
        return []
    present = {file["name"].lower() for file in made.files if file["present"]}
    chosen = {one.name.lower() for one in chosen_files(database, ask)} if ask.in_part else present
    data = [one for one in database.files if one.type == 0]
    if not ask.read_write:  # the primary filegroup always comes along
        chosen |= {one.name.lower() for one in data if one.filegroup_id == 1}
    if any(one.filegroup_id == 1 and one.name.lower() not in present for one in data):
        raise error(3103)
    return [one.name for one in data if one.name.lower() not in chosen & present]


def mark(node: Node, database: Any, out: list[str], recovered_at: float | None) -> None:
    """Set the state of the files left out: RESTORING in the sequence, RECOVERY_PENDING once the database is open."""
    if not out:
        return
    names = {name.lower() for name in out}
    for file in database.files:
        if file.name.lower() in names:
            file.state = RESTORING if recovered_at is None else PENDING
    if recovered_at is not None:
        node.pieces[database.name.lower()] = {"point": recovered_at, "files": {}}


def _changed(node: Node, existing: Any) -> None:
    existing.version += 1
    node.cluster.dirty = node.cluster.dirty_rows = True
    keep_database(node, existing.name)
