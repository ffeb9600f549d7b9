"""One finished backup set, as msdb and a backup's header know it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from aglab.ag.ledger import lsn_decimal

if TYPE_CHECKING:
    from aglab.twin.node import Node

PAGE_BYTES = 8192


@dataclass(frozen=True, slots=True)
class BackupSet:
    """``kind``: D database, I differential, L log, F file or filegroup. Positions in the log are bytes, times seconds."""

    id: int
    uuid: str
    media_uuid: str
    database: str
    kind: str
    started_s: float
    finished_s: float
    pages: int
    log_pages: int
    first_lsn: float
    last_lsn: float
    checkpoint_lsn: float
    base_lsn: float  # first_lsn of the full backup that this one (and the next differential) builds on
    base_uuid: str
    dirtied: float  # pages dirtied since the machine began, for the size of a differential
    devices: list[str]
    position: int
    size_bytes: int
    compressed_bytes: int
    transfer_bytes: int
    buffers: int
    block_bytes: int
    compressed: bool
    checksum: bool
    copy_only: bool
    norecovery: bool
    recovery_model: str
    server: str
    user: str
    name: str | None = None
    description: str | None = None
    media_name: str | None = None
    files: list[dict[str, Any]] = field(default_factory=list)


def lsn(position_bytes: float) -> Decimal:
    """numeric(25,0) of a position in the log."""
    return lsn_decimal(position_bytes)


def log_end(node: Node, database: str) -> float:
    """End of a database's log on a node (bytes): the engine's for the load's database, user work for others."""
    if database == node.database_name and node.cluster.plant.carries(node.name):
        return node.cluster.plant.log_end(node.name) + node.user_log_bytes
    counted = node.database_totals.get(database, {}).get("log_bytes_flushed", 0.0)
    return float(counted) + node.user_log_bytes if database == node.database_name else float(counted)


def last_of(node: Node, database: str, kinds: str, regular: bool = True) -> BackupSet | None:
    """The newest set of these kinds in the node's history; ``regular``: copy-only ones do not count."""
    for one in reversed(node.backups):
        if one.database == database and one.kind in kinds and not (regular and one.copy_only):
            return one
    return None
