"""BACKUP DATABASE, BACKUP LOG, differential and filegroup backups.

Messages and errors are those of "Database engine events and errors" (SQL Server 2022); 3013 follows any error. On a secondary
replica only copy-only full backups and regular log backups are allowed ("Active secondaries: backup on secondary replicas").
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.ag import Role, events
from aglab.engine.backup import job_constant
from aglab.tsql import Command, Message, Session, TsqlError, error, info
from aglab.tsql.catalog.storage import FILE_STATES
from aglab.twin import freeze_rows
from aglab.twin.backups.contents import chosen_files, first_lsn, pages_of, record
from aglab.twin.backups.media import Library, Media, full_path
from aglab.twin.backups.moving import move
from aglab.twin.backups.options import Ask, ask_of, is_nul
from aglab.twin.backups.record import PAGE_BYTES, BackupSet, last_of, lsn
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.node import Node

MIB = 1024 * 1024


def backup(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """BACKUP DATABASE | LOG name [FILEGROUP = ...] TO DISK = ... [, ...] [WITH ...]; error 3013 follows any other."""
    try:
        yield from _backup(node, command, session)
    except TsqlError as problem:
        if problem.number not in (911, 3021):
            problem.followed_by = error(3013, command.name)  # type: ignore[attr-defined]
        raise


def _backup(node: Node, command: Command, session: Session) -> Iterator[Any]:
    database = node.instance.database(command.target)
    if database is None:
        text = f"Database '{command.target}' does not exist. Make sure that the name is entered correctly."
        raise TsqlError(911, 16, 11, text)
    if session.trancount:
        raise error(3021)
    ask = ask_of(node, command)
    kind = _kind(command, ask)
    _allowed(node, database, kind, ask)
    base = _base(node, database, kind, ask)
    node.lazy.flush(database.name)
    library = Library.of(node.cluster)
    old = _media(library, ask)
    main = database.name == node.database_name
    pages = pages_of(node, database, kind, base, ask)
    target = 0.0 if ask.to_nul else job_constant("backup_target_mb_s")
    copy_only = "COPY_ONLY" in ask.words
    job = dataclasses.replace(ask.job, volume="log" if kind == "L" else "data", target_mb_s=target, copy_only=copy_only)
    _tell_buffers(node, job)
    begun, first = node.now_s(), first_lsn(node, database.name, kind)
    seconds = yield from move(node, session, job, float(pages * PAGE_BYTES), main, ask.stats)
    made = record(node, database, session, ask, kind, base, pages, begun, first, old)
    content = freeze_rows.dump((database, node.log_tail.get(database.name.lower()) if kind == "L" else None))
    if kind == "D" or (kind == "L" and not copy_only):
        _begin_tail(node, database.name.lower(), kind)
    _write(library, ask, made, content, old)
    node.backups.append(made)
    node.cluster.dirty = True
    if kind == "L":
        if not copy_only:
            _log_is_backed_up(node, main, database.name)
        if made.norecovery:
            database.options["state"] = 1
            node.restoring[database.name.lower()] = {"lsn": made.last_lsn, "base": made.base_uuid}
    yield from _messages(command, made, seconds)
    node.log_line(_line(made), "Backup")


def _kind(command: Command, ask: Ask) -> str:
    """As msdb.dbo.backupset.type has it: L, D, I, F and G of files, P and Q of read-write filegroups."""
    if command.name.endswith("LOG"):
        if ask.in_part:
            raise error(3032, "file, filegroup")
        return "L"
    differential = "DIFFERENTIAL" in ask.words
    if ask.read_write:
        return "Q" if differential else "P"
    if ask.files or ask.filegroups:
        return "G" if differential else "F"
    return "I" if differential else "D"


def _base(node: Node, database: Any, kind: str, ask: Ask) -> BackupSet | None:
    """What a differential backup builds on. Errors 3035, 3039."""
    if kind not in "IGQ":
        return None
    if kind == "G":
        for file in chosen_files(database, ask):
            if _holding(node, database.name, "DF", file.name) is None:
                raise error(3039, file.name)
        return _holding(node, database.name, "DF", chosen_files(database, ask)[0].name)
    base = last_of(node, database.name, "D" if kind == "I" else "P")
    if base is None:
        raise error(3035, database.name)
    return base


def _holding(node: Node, database: str, kinds: str, file: str) -> BackupSet | None:
    """The newest backup of these kinds that a differential of a file can build on."""
    for one in reversed(node.backups):
        held = any(part["present"] and part["name"] == file for part in one.files)
        if held and one.database == database and one.kind in kinds and not one.copy_only:
            return one
    return None


def _begin_tail(node: Node, name: str, kind: str) -> None:
    """From here on commits are kept for RESTORE ... WITH STOPAT; a full backup leaves the log chain as it is."""
    if kind == "L" or name not in node.log_tail:
        node.log_tail[name] = []


# -- may it run ------------------------------------------------------------------------------------------------------
def _allowed(node: Node, database: Any, kind: str, ask: Ask) -> None:
    name = database.name
    if name.lower() == "tempdb":
        raise error(3147, "tempdb")
    if database.options["state"] == 1:
        raise TsqlError(927, 14, 2, f"Database '{name}' cannot be opened. It is in the middle of a restore.")
    if name.lower() == "master" and kind in "IFGPQ":
        raise error(3024)
    if kind != "L":
        _parts_allowed(database, kind, ask)
    if "NORECOVERY" in ask.words and kind != "L":
        raise error(3032, "norecovery")
    _on_a_replica(node, name, kind, ask)
    if kind == "L":
        _log_chain(node, database)


def _parts_allowed(database: Any, kind: str, ask: Ask) -> None:
    """Errors 3004, 3007, 3054: parts of a database in the simple recovery model, and files that are not online."""
    simple = database.options["recovery_model"] == 3
    for file in chosen_files(database, ask):
        read_only = database.filegroups[file.filegroup_id].get("is_read_only")
        if simple and kind == "F" and file.filegroup_id == 1:
            raise error(3004)
        if simple and kind == "G" and not read_only:
            raise error(3054)
        if file.state:
            raise error(3007, file.name, FILE_STATES[file.state], file.state, file.state)


def _on_a_replica(node: Node, name: str, kind: str, ask: Ask) -> None:
    group = node.cluster.group
    local = group.local(node.name, name) if group is not None else None
    if group is None or local is None:
        return
    group.sync()
    here = group.rules.nodes[node.name]
    if here.role == Role.PRIMARY:
        return
    copy_only = "COPY_ONLY" in ask.words
    if kind in "IGQ" or (kind in "DFP" and not copy_only) or (kind == "L" and copy_only):
        raise error(3059)
    if not here.connected or not here.databases[local].moving:
        raise error(3062)


def _log_chain(node: Node, database: Any) -> None:
    if database.options["recovery_model"] == 3:
        raise error(4208)
    formed = node.cluster.group is not None and node.cluster.replicates(database.name)
    if not formed and last_of(node, database.name, "D", regular=False) is None:
        raise error(4214)


# -- media -----------------------------------------------------------------------------------------------------------
def _media(library: Library, ask: Ask) -> list[Media | None]:
    """What lies on the devices now; None where they begin anew."""
    if "FORMAT" in ask.words:
        return [None] * len(ask.devices)
    found = [library.read(path) for path in ask.devices]
    for path, media in zip(ask.devices, found, strict=True):
        if media is None:
            continue
        if media["families"] != len(ask.devices):
            raise error(3231, full_path(path), media["families"], len(ask.devices))
        if bool(media["compressed"]) != ask.job.compression:
            asked, instead = ("COMPRESSION", "NO_COMPRESSION") if ask.job.compression else ("NO_COMPRESSION", "COMPRESSION")
            raise error(3098, asked, instead)
    return found


def _write(library: Library, ask: Ask, made: BackupSet, content: bytes, old: list[Media | None]) -> None:
    header = dataclasses.asdict(made)
    for number, (path, before) in enumerate(zip(ask.devices, old, strict=True), start=1):
        if is_nul(path):
            continue
        kept = [] if before is None or "INIT" in ask.words else before["sets"]
        media = {
            "uuid": made.media_uuid,
            "family": number,
            "families": len(ask.devices),
            "compressed": made.compressed,
            "name": ask.values.get("MEDIANAME"),
            "sets": [*kept, (header, content if number == 1 else None)],
        }
        library.write(path, media)


# -- afterwards ------------------------------------------------------------------------------------------------------
def _log_is_backed_up(node: Node, main: bool, name: str) -> None:
    """The engine and the group's rules hear of it, wherever it was taken: the log chain is the group's."""
    plant = node.cluster.plant
    group = node.cluster.groups.of(name)
    if group is not None:
        group.act(events.LogBackup(group.primary, group.holds(name) or name))
    if main and plant.carries(node.name):
        plant.change(node.name, log_backup=True)


def _tell_buffers(node: Node, job: Any) -> None:
    """Trace flags 3213 and 3605: the buffers a backup uses, in the errorlog.

    The flags are described in Microsoft's blog ("Incorrect BufferCount data transfer option can lead to OOM condition");
    the words of the lines are as shown there, not part of the documentation.
    """
    if not {3213, 3605} <= node.instance.trace_flags:
        return
    sets = 3 if job.compression else 1
    lines = [
        "Backup/Restore buffer configuration parameters",
        f"Memory limit: {int(node.profile.memory.installed_mb - node.memory_mb())}MB",
        f"BufferCount:                {job.buffers()}",
        f"Sets Of Buffers:            {sets}",
        f"MaxTransferSize:            {job.transfer_bytes // 1024} KB",
        f"Total buffer space:         {math.ceil(job.memory_mb())} MB",
    ]
    for line in lines:
        node.log_line(line, "Backup")


def _messages(command: Command, made: BackupSet, seconds: float) -> Iterator[Message]:
    pages = made.pages if made.kind == "L" else made.pages + made.log_pages
    for file in made.files:
        if file["present"]:
            text = (
                f"Processed {file['pages']} pages for database '{made.database}', file '{file['name']}' on file {made.position}."
            )
            yield Message(4035, 0, 1, text)
    rate = pages * PAGE_BYTES / MIB / seconds if seconds > 0 else 0.0
    what = "BACKUP DATABASE...FILE=<name>" if made.kind in "FGPQ" else command.name
    what += " WITH DIFFERENTIAL" if made.kind in "IGQ" else ""
    yield info(3014, what, pages, seconds, rate)


def _line(made: BackupSet) -> str:
    """18264 and its like: the line in the errorlog."""
    words = {"D": "Database backed up", "I": "Database differential changes were backed up", "L": "Log was backed up"}
    created = f"{EPOCH:%Y/%m/%d(%H:%M:%S)}"
    devices = ", ".join(f"'{one}'" for one in made.devices)
    return (
        f"{words.get(made.kind, 'Database file changes were backed up')}. Database: {made.database}, "
        f"creation date(time): {created}, "
        f"pages dumped: {made.pages + made.log_pages}, first LSN: {lsn(made.first_lsn)}, last LSN: {lsn(made.last_lsn)}, "
        f"number of dump devices: {len(made.devices)}, device information: (FILE={made.position}, TYPE=DISK: {{{devices}}}). "
        "This is an informational message only. No user action is required."
    )
