"""sys.dm_io_virtual_file_stats: I/O of each file since the start, the load's from the engine, sessions' as it happened.

The load's tables lie in the default filegroup and are dealt to its files by proportional fill; pages of real tables are read
from and written to the files of their partition's filegroup. Source: the page of that view (SQL Server documentation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql.store.files import data_files, shares

if TYPE_CHECKING:
    from aglab.tsql.store.database import Database, DataFile
    from aglab.twin.node import Node

Row = dict[str, Any]
PAGE = 8192


def file_stats(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_io_virtual_file_stats(database_id, file_id): the load's file I/O, spread over the data files."""
    wanted_db, wanted_file = ([*arguments, None, None])[:2]
    totals = node.totals()
    sample_ms = int(node.uptime_s() * 1000) & 0x7FFFFFFF
    for database in node.instance.databases.values():
        if wanted_db not in (None, database.id):
            continue
        node.page_writes.sweep(node, database)
        dealt = shares(data_files(database, database.default_filegroup()))  # the load's tables: proportional fill
        for file in database.files:
            if wanted_file not in (None, file.file_id):
                continue
            values = {"reads": 0.0, "bytes_read": 0.0, "read_stall": 0.0, "writes": 0.0, "bytes_written": 0.0, "write_stall": 0.0}
            if database.name == node.database_name:
                if file.type == 0:
                    values = _engine_file(totals, dealt.get(file.file_id, 0.0))
                elif file.file_id == 2:  # the log is written to one file at a time; a log buffer is memory, not I/O
                    values = _engine_log(totals)
            else:
                counted = node.database_totals.get(database.name, {})
                if file.type == 1:
                    values |= {"writes": counted.get("log_flushes", 0.0), "bytes_written": counted.get("log_bytes_flushed", 0.0)}
            if file.type == 0:
                _add_sessions(node, database, file, values)
            yield {
                "database_id": database.id,
                "file_id": file.file_id,
                "sample_ms": sample_ms,
                "num_of_reads": int(values["reads"]),
                "num_of_bytes_read": int(values["bytes_read"]),
                "io_stall_read_ms": int(values["read_stall"]),
                "io_stall_queued_read_ms": 0,
                "num_of_writes": int(values["writes"]),
                "num_of_bytes_written": int(values["bytes_written"]),
                "io_stall_write_ms": int(values["write_stall"]),
                "io_stall_queued_write_ms": 0,
                "io_stall": int(values["read_stall"]) + int(values["write_stall"]),
                "size_on_disk_bytes": file.size * 8192,
                "file_handle": (0x1000 + database.id * 16 + file.file_id).to_bytes(8, "little"),
            }


def _add_sessions(node: Node, database: Database, file: DataFile, values: dict[str, float]) -> None:
    """Add the pages that user sessions' statements read from a file and had written to it."""
    written = node.page_writes.totals.get((database.name, file.file_id))
    if written is not None:
        values["writes"] += written.writes
        values["bytes_written"] += written.pages * PAGE
        values["write_stall"] += written.stall_ms
    read = node.instance.pool.read.get((database.id, file.filegroup_id), 0.0)
    if read:
        pages = round(read * shares(data_files(database, file.filegroup_id)).get(file.file_id, 0.0))
        values["reads"] += pages
        values["bytes_read"] += pages * PAGE
        values["read_stall"] += pages * node.profile.data.read_latency_us / 1000.0


def _engine_file(totals: dict[str, float], share: float) -> dict[str, float]:
    names = {
        "reads": "data_reads",
        "bytes_read": "data_bytes_read",
        "read_stall": "data_read_stall_ms",
        "writes": "data_writes",
        "bytes_written": "data_bytes_written",
        "write_stall": "data_write_stall_ms",
    }
    return {name: totals.get(key, 0.0) * share for name, key in names.items()}


def _engine_log(totals: dict[str, float]) -> dict[str, float]:
    return {
        "reads": 0.0,
        "bytes_read": 0.0,
        "read_stall": 0.0,
        "writes": totals.get("log_writes", 0.0),
        "bytes_written": totals.get("log_bytes_written", 0.0),
        "write_stall": totals.get("log_write_stall_ms", 0.0),
    }
