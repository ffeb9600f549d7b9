"""What a backup holds: how many pages, which part of the log, which files; and its record.

A differential holds the hot pages touched since its base, each once: ``H * (1 - exp(-touches / H))``, as a checkpoint counts
dirty pages. Left out: extents (a real differential copies eight pages where one has changed).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aglab.engine.backup import job_constant
from aglab.tsql import Session, error
from aglab.twin.availability import identifier
from aglab.twin.backups.media import Media, full_path
from aglab.twin.backups.options import Ask
from aglab.twin.backups.record import PAGE_BYTES, BackupSet, last_of, log_end

if TYPE_CHECKING:
    from aglab.twin.node import Node

CATALOGUE_PAGES = 300  # what an empty database holds
LOG_PAGES = 2  # of log in a data backup, at least
RECOVERY_MODELS = {1: "FULL", 2: "BULK-LOGGED", 3: "SIMPLE"}


def pages_of(node: Node, database: Any, kind: str, base: BackupSet | None, ask: Ask) -> int:
    """Pages that a backup of this kind reads now (log pages for a log backup)."""
    main = database.name == node.database_name
    if kind == "L":
        newest = last_of(node, database.name, "L")
        since = log_end(node, database.name) - (newest.last_lsn if newest else 0.0)
        if main and node.cluster.plant.carries(node.name):
            gauges = node.cluster.plant.gauges(node.name)
            since = gauges["lsn_end"] - min(gauges["lsn_backup"], gauges["lsn_end"])
        return max(LOG_PAGES, math.ceil(since / PAGE_BYTES))
    share = 1.0
    if kind in "FGPQ":
        data = [one for one in database.files if one.type == 0]
        share = sum(one.size for one in chosen_files(database, ask)) / max(1, sum(one.size for one in data))
    if not main:
        return max(LOG_PAGES, int(share * sum(one.size_pages() for one in database.tables())) + CATALOGUE_PAGES)
    pages = max(1, int(node.cluster.plant.data_pages() * share))
    if kind in "IGQ" and base is not None:
        hot = float(node.cluster.plant.scenario.workload.hot_pages) * share
        changed = hot * -math.expm1(-max(0.0, _dirtied(node) - base.dirtied) * share / hot) if hot else 0.0
        return min(pages, CATALOGUE_PAGES + int(changed))
    return pages


def chosen_files(database: Any, ask: Ask) -> list[Any]:
    """The data files that a statement names: by file, by filegroup, those of read-write filegroups; all where it names none.

    Raises
    ------
    TsqlError
        3027 unknown filegroup, 3235 unknown file, 3034 nothing was chosen.
    """
    data = [one for one in database.files if one.type == 0]
    if not (ask.files or ask.filegroups or ask.read_write):
        return data
    groups = {facts["name"].lower(): number for number, facts in database.filegroups.items()}
    for name in ask.filegroups:
        if name.lower() not in groups:
            raise error(3027, name, database.name)
    names = {one.lower() for one in ask.files}
    for name in ask.files:
        if name.lower() not in {one.name.lower() for one in data}:
            raise error(3235, name, database.name)
    numbers = {groups[name.lower()] for name in ask.filegroups}
    if ask.read_write:
        numbers |= {number for number, facts in database.filegroups.items() if not facts.get("is_read_only")}
    found = [one for one in data if one.filegroup_id in numbers or one.name.lower() in names]
    if not found:
        raise error(3034)
    return found


def _dirtied(node: Node) -> float:
    plant = node.cluster.plant
    plant.sync()
    return plant.flow.totals(node.name)["pages_dirtied"] if plant.carries(node.name) else 0.0


def first_lsn(node: Node, database: str, kind: str) -> float:
    """Where the backup set's log begins: a log backup goes on where the last one ended."""
    if kind != "L":
        return log_end(node, database)
    newest = last_of(node, database, "L")
    if newest is not None:
        return newest.last_lsn
    full = last_of(node, database, "D", regular=False)
    return full.first_lsn if full is not None else 0.0


def record(
    node: Node,
    database: Any,
    session: Session,
    ask: Ask,
    kind: str,
    base: BackupSet | None,
    pages: int,
    begun: float,
    first: float,
    old: list[Media | None],
) -> BackupSet:
    """The finished backup set."""
    number = max((one.id for one in node.backups), default=0) + 1
    uuid = str(identifier("backup set", f"{node.name}:{number}:{begun}"))
    before = next((one for one in old if one is not None), None)
    fresh = before is None or "INIT" in ask.words
    media_uuid = str(identifier("media set", uuid)) if before is None else before["uuid"]
    end = log_end(node, database.name)
    log_pages = pages if kind == "L" else max(LOG_PAGES, math.ceil((end - first) / PAGE_BYTES))
    size = (pages if kind == "L" else pages + log_pages) * PAGE_BYTES
    full = base or last_of(node, database.name, "D", regular=False)
    copy_only = "COPY_ONLY" in ask.words
    return BackupSet(
        id=number,
        uuid=uuid,
        media_uuid=media_uuid,
        database=database.name,
        kind=kind,
        started_s=begun,
        finished_s=node.now_s(),
        pages=pages,
        log_pages=log_pages,
        first_lsn=first,
        last_lsn=end,
        checkpoint_lsn=first,
        base_lsn=first if kind == "D" else full.first_lsn if full else 0.0,
        base_uuid=uuid if kind == "D" else full.uuid if full else "",
        dirtied=_dirtied(node),
        devices=[full_path(one) for one in ask.devices],
        position=1 if fresh or before is None else len(before["sets"]) + 1,
        size_bytes=size,
        compressed_bytes=int(size / job_constant("compression_ratio")) if ask.job.compression else size,
        transfer_bytes=ask.job.transfer_bytes,
        buffers=ask.job.buffers(),
        block_bytes=int(ask.job.blocksize),
        compressed=ask.job.compression,
        checksum=ask.job.checksum,
        copy_only=copy_only,
        norecovery="NORECOVERY" in ask.words,
        recovery_model=RECOVERY_MODELS[database.options["recovery_model"]],
        server=node.name,
        user=session.login if hasattr(session, "login") else "sa",
        name=ask.values.get("NAME"),
        description=ask.values.get("DESCRIPTION"),
        media_name=ask.values.get("MEDIANAME"),
        files=_files(database, kind, pages, log_pages, ask),
    )


def _files(database: Any, kind: str, pages: int, log_pages: int, ask: Ask) -> list[dict[str, Any]]:
    chosen = chosen_files(database, ask)
    total = max(1, sum(one.size for one in chosen))
    rows = []
    for one in database.files:
        present = one.type == 1 or (one in chosen and kind != "L")
        part = log_pages if one.type == 1 else pages * one.size // total if present else 0
        facts = {"file_id": one.file_id, "name": one.name, "physical_name": one.physical_name, "type": one.type}
        group = "" if one.type == 1 else database.filegroups[one.filegroup_id]["name"]
        rows.append({**facts, "size": one.size, "max_size": one.max_size, "filegroup": group, "pages": part, "present": present})
    spread = sum(row["pages"] for row in rows if row["type"] == 0)
    if kind != "L" and chosen:
        next(row for row in rows if row["file_id"] == chosen[0].file_id)["pages"] += pages - spread
    return rows
