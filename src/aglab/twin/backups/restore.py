"""RESTORE DATABASE and RESTORE LOG: a backup's rows come back, step by step, as the log chain allows.

Errors 927, 3013, 3101, 3102, 3104, 3117, 3118, 3132, 3136, 3144, 3147, 3154, 3156, 3159, 3187, 3201, 3241, 4305, 4326 ("Database
engine events and errors", SQL Server 2022; 4305 and 4326 as quoted in several questions about restore sequences).
A restored database's tables are those at the end of the backup restored last, or, with STOPAT on a log backup, what had been
committed by then. WITH STANDBY leaves the database readable between log backups. STOPATMARK and STOPBEFOREMARK find a transaction
by the mark that it was begun with. Files, filegroups, pages and piecemeal restores: :mod:`aglab.twin.backups.parts`.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.engine.backup import job_constant
from aglab.tsql import Command, Session, TsqlError, error, info, not_implemented
from aglab.twin import freeze_rows
from aglab.twin.backups import parts, restores
from aglab.twin.backups.contents import chosen_files
from aglab.twin.backups.media import Library, full_path
from aglab.twin.backups.moving import move
from aglab.twin.backups.options import MARKS, Ask, ask_of
from aglab.twin.backups.record import PAGE_BYTES, BackupSet, last_of, log_end, lsn
from aglab.twin.clock import EPOCH
from aglab.twin.keeping import keep_database

if TYPE_CHECKING:
    from aglab.twin.node import Node

NO_TAIL = (
    "aglab twin: this log backup does not say when each transaction was committed (the process was started, or too many were, "
    "after the backup before it); restore it without STOPAT."
)
MIB = 1024 * 1024
RESTORING, ONLINE = 1, 0


def restore(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """RESTORE DATABASE | LOG name [FROM DISK = ...] [WITH ...]; error 3013 follows any other."""
    try:
        yield from _restore(node, command, session)
    except TsqlError as problem:
        if problem.number != 3021:
            problem.followed_by = error(3013, command.name)  # type: ignore[attr-defined]
        raise


def _restore(node: Node, command: Command, session: Session) -> Iterator[Any]:
    name = command.target
    existing = node.instance.database(name)
    if session.trancount:
        raise error(3021)
    if not command.options.get("DEVICES"):
        yield from _recover(node, command, existing)
        return
    ask = ask_of(node, command)
    made, content = chosen(Library.of(node.cluster), ask)
    if ask.job.checksum and not made.checksum:
        raise error(3187)
    log = command.name.endswith("LOG")
    beside = parts.in_sequence(node, name, existing, ask, made, log)
    _allowed(node, session, name, existing, made, ask, log, beside)
    main = name.lower() == node.database_name.lower()
    job = dataclasses.replace(
        ask.job,
        compression=made.compressed,
        target_mb_s=job_constant("backup_target_mb_s"),
        restore=True,
    )
    pages = made.pages if made.kind == "L" else made.pages + made.log_pages
    if beside:
        parts.step(node, name, existing, ask, made, log)
    begun = node.now_s()
    stop_s = None if beside else stop_at(node, name, made, ask)
    marked = stop_at_mark(made, content, ask)
    seconds = yield from move(node, session, job, float(pages * PAGE_BYTES), main, ask.stats)
    if beside:
        yield from parts.finish(node, existing, "NORECOVERY" not in ask.words)
    elif _joins(node, name, existing, made, ask):
        _join(node, name, made)
    else:
        _put(node, name, made, content, ask, stop_s, marked)
    restores.note(node, session, name, made, ask, command, begun)
    chosen_names = _shown_files(made, ask, node.instance.database(name))
    for file in made.files:
        if file["present"] and file["name"] in chosen_names:
            yield info(4035, file["pages"], name, file["name"], made.position)
    rate = pages * PAGE_BYTES / MIB / seconds if seconds > 0 else 0.0
    yield info(3014, command.name, pages, seconds, rate)
    if beside:
        return
    node.log_line(f"Restore is complete on database '{name}'.  The database is now available.", f"spid{session.spid}")


def _shown_files(made: BackupSet, ask: Ask, database: Any) -> set[str]:
    """The files that 4035 speaks of."""
    everything = {file["name"] for file in made.files}
    if not ask.in_part or ask.pages or database is None:
        return everything
    return {one.name for one in chosen_files(database, ask)} | {file["name"] for file in made.files if file["type"] == 1}


def _joins(node: Node, name: str, existing: Any, made: BackupSet, ask: Ask) -> bool:
    """Whether files come into a database that a restore sequence of files has begun."""
    at = node.restoring.get(name.lower())
    part = made.kind in "FP" or ask.in_part
    return bool(existing is not None and at is not None and _unfinished(existing) and part and "PARTIAL" not in ask.words)


def _join(node: Node, name: str, made: BackupSet) -> None:
    at = node.restoring[name.lower()]
    present = {file["name"] for file in made.files if file["present"]}
    at["missing"] = [one for one in at.get("missing", []) if one not in present]
    node.cluster.dirty = True


def chosen(library: Library, ask: Ask) -> tuple[BackupSet, bytes]:
    """The backup set that FILE names (the first by default), and its content."""
    media = [library.opened(path) for path in ask.devices]
    first = media[0]
    if len({one["family"] for one in media}) < first["families"]:
        raise error(3132, first["families"], len(media))
    number = int(ask.values.get("FILE", 1))
    head = next(one for one in media if one["family"] == 1)
    if not 1 <= number <= len(head["sets"]):
        raise error(4038, number, full_path(ask.devices[0]))
    header, content = head["sets"][number - 1]
    return BackupSet(**header), content


def _allowed(node: Node, session: Session, name: str, existing: Any, made: BackupSet, ask: Ask, log: bool, beside: bool) -> None:
    if name.lower() in ("tempdb", "master"):
        raise error(3147, name.lower())
    group = node.cluster.groups.hosting(node.name, name)
    if group is not None and group.rules.nodes[node.name].databases[group.local(node.name, name) or name].joined:
        raise error(3104, name)
    if beside:
        return
    if log or made.kind in "ILGQ":
        _follows(node, name, existing, made, log)
        return
    if existing is None:
        if made.kind == "F" and not any(file["file_id"] == 1 and file["present"] for file in made.files):
            raise error(3118, name)
        if ask.in_part and made.kind != "F" and "PARTIAL" not in ask.words:
            raise error(3103)
        _places(node, name, made, ask)
        return
    _overwrites(node, session, existing, made, ask)


def _follows(node: Node, name: str, existing: Any, made: BackupSet, log: bool) -> None:
    """A log or differential backup continues a restore that stands WITH NORECOVERY."""
    if existing is None:
        raise error(3118, name)
    at = node.restoring.get(name.lower())
    if not _unfinished(existing) or at is None:
        raise error(3117)
    if log != (made.kind == "L"):
        kind = "BACKUP LOG" if made.kind == "L" else "BACKUP DATABASE"
        raise error(3135, made.devices[0], kind)
    if made.kind in "IGQ":
        if made.base_uuid != at["base"]:
            raise error(3136)
        return
    if at.get("missing"):
        raise error(4320, at["missing"][0])
    if made.first_lsn > at["lsn"]:
        raise error(4305, lsn(made.first_lsn), lsn(at["lsn"]))
    if made.last_lsn < at["lsn"]:
        raise error(4326, lsn(made.last_lsn), lsn(at["lsn"]))


def _unfinished(database: Any) -> bool:
    """WITH NORECOVERY or WITH STANDBY: further backups can follow."""
    return bool(database.options["state"] == RESTORING or database.options.get("is_in_standby"))


def stop_at(node: Node, name: str, made: BackupSet, ask: Ask) -> float | None:
    """The moment of STOPAT on the node's clock; None without one, or where the backup ends before it. Errors 241, 4335, 4338."""
    if "STOPAT" not in ask.values:
        return None
    try:
        moment = dt.datetime.fromisoformat(str(ask.values["STOPAT"]).strip())
    except ValueError:
        raise error(241) from None
    stop_s = (moment - EPOCH).total_seconds()
    if made.kind != "L":
        if stop_s < made.finished_s:
            raise error(4338)
        return None
    if stop_s < node.restoring.get(name.lower(), {}).get("at_s", 0.0):
        raise error(4335)
    return stop_s if stop_s < made.finished_s else None


def stop_at_mark(made: BackupSet, content: bytes, ask: Ask) -> int | None:
    """STOPATMARK, STOPBEFOREMARK: how many of the backup's transactions to apply; None where the mark is not in this log backup.

    A mark that is not there is waited for: the database stays in the restore sequence, as it does before a STOPAT that lies
    beyond the backup.
    """
    word = next((one for one in MARKS if one in ask.values), None)
    if word is None or made.kind != "L":
        return None
    wanted = str(ask.values[word])
    if wanted.lower().startswith("lsn:"):
        raise not_implemented(f"RESTORE ... WITH {word} = 'lsn:...'")
    _, tail = freeze_rows.load(content)
    if tail is None:
        raise TsqlError(50004, 16, 1, NO_TAIL)
    for number, (_, record) in enumerate(tail):
        mark = getattr(record, "mark", None)
        if mark is not None and mark[0].lower() == wanted.lower():
            return number + (word == "STOPATMARK")
    return None


def _overwrites(node: Node, session: Session, existing: Any, made: BackupSet, ask: Ask) -> None:
    name = existing.name
    replace = "REPLACE" in ask.words
    if made.database.lower() != name.lower() and not replace:
        raise error(3154, name)
    if existing.options["state"] == RESTORING:
        return
    if session.database.lower() == name.lower():
        raise error(3102, name)
    others = any(one.session.database.lower() == name.lower() for one in node.clients.values() if one.session is not session)
    loaded = name == node.database_name and node.cluster.plant.users > 0 and node.name == node.cluster.primary
    if others or loaded or node.cluster.writers_in(node.name, name):
        raise error(3101)
    newest = last_of(node, name, "DIL", regular=False)
    tail = log_end(node, name) > (newest.last_lsn if newest is not None and newest.kind == "L" else 0.0)
    if existing.options["recovery_model"] != 3 and tail and not replace:
        raise error(3159, name)


def _places(node: Node, name: str, made: BackupSet, ask: Ask) -> None:
    """No file of the new database may lie where another database's does."""
    taken = {file.physical_name.lower() for one in node.instance.databases.values() for file in one.files}
    moves = {key.lower(): value for key, value in ask.moves.items()}
    known = {file["name"].lower() for file in made.files}
    for logical in ask.moves:
        if logical.lower() not in known:
            raise error(3234, logical, name)
    for file in made.files:
        place = moves.get(file["name"].lower(), file["physical_name"])
        if place.lower() in taken:
            raise error(3156, file["name"], place)


def _put(node: Node, name: str, made: BackupSet, content: bytes, ask: Ask, stop_s: float | None, marked: int | None) -> None:
    instance = node.instance
    before = instance.database(name)
    database, tail = freeze_rows.load(content)
    if marked is not None and before is not None and tail is not None:
        database = before
        for _, record in tail[:marked]:
            database.apply(record)
    elif stop_s is not None and before is not None:  # what is restored so far, and of the log what was committed by then
        if tail is None:
            raise TsqlError(50004, 16, 1, NO_TAIL)
        database = before
        for at_s, record in tail:
            if at_s <= stop_s:
                database.apply(record)
    database.id = before.id if before is not None else instance.add_database(name).id
    database.name = before.name if before is not None else name
    database.options |= {"replica_id": None, "group_database_id": None}
    moves = {key.lower(): value for key, value in ask.moves.items()}
    for file in database.files:
        file.physical_name = moves.get(file.name.lower(), file.physical_name)
    at = node.restoring.get(name.lower(), {})
    out = parts.left_out(ask, made, database) or at.get("partial", [])
    missing = [file["name"] for file in made.files if not file["present"] and file["type"] == 0] if made.kind == "F" else []
    standby = "STANDBY" in ask.values
    waits = marked is None and any(one in ask.values for one in MARKS)  # the mark is still to come
    recovering = "NORECOVERY" not in ask.words and not standby and not waits
    if recovering and made.kind == "F":
        raise error(4333)
    database.options["state"] = ONLINE if recovering or standby else RESTORING
    if "RESTRICTED_USER" in ask.words:
        database.options["user_access"] = 2
    parts.mark(node, database, out, made.last_lsn if recovering else None)
    database.options["is_in_standby"] = standby
    if standby or (before is not None and before.options.get("is_in_standby")):
        database.options["is_read_only"] = standby
    database.version += (before.version if before is not None else 0) + 1_000_000
    instance.databases[name.lower()] = database
    if recovering:
        node.restoring.pop(name.lower(), None)
    else:
        node.restoring[name.lower()] = {
            "lsn": made.last_lsn,
            "base": made.base_uuid,
            "at_s": stop_s or made.finished_s,
            "partial": out,
            "missing": missing,
            "needs_log": made.kind == "F",
        }
    node.cluster.dirty = node.cluster.dirty_rows = True
    keep_database(node, name)


def _recover(node: Node, command: Command, existing: Any) -> Iterator[Any]:
    if existing is None:
        raise TsqlError(911, 16, 11, f"Database '{command.target}' does not exist. Make sure that the name is entered correctly.")
    if existing.options["state"] == ONLINE and existing.name.lower() in node.pieces:
        yield from parts.recover_only(node, command, existing)
        yield info(3014, command.name, 0, 0.001, 0.0)
        return
    if not _unfinished(existing):
        raise error(3153)
    if command.options.get("NORECOVERY"):
        return
    at = node.restoring.get(existing.name.lower(), {})
    if at.get("needs_log"):
        raise error(4333)
    parts.mark(node, existing, at.get("partial", []), at.get("lsn", 0.0))
    existing.version += 1
    existing.options["state"] = ONLINE
    if existing.options.get("is_in_standby"):
        existing.options |= {"is_in_standby": False, "is_read_only": False}
    node.restoring.pop(existing.name.lower(), None)
    node.cluster.dirty = node.cluster.dirty_rows = True
    yield info(3014, command.name, 0, 0.001, 0.0)
