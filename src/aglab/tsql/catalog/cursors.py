"""sys.dm_exec_cursors: the cursors of sessions, from the sessions themselves. Source: its page in SQL Server's documentation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import provide
from aglab.tsql.store.database import Database

KINDS = {"STATIC": "Snapshot", "KEYSET": "Keyset", "DYNAMIC": "Dynamic", "FAST_FORWARD": "Fast_Forward"}
CONCURRENCY = {"READ_ONLY": "Read Only", "SCROLL_LOCKS": "Scroll Locks", "OPTIMISTIC": "Optimistic"}


def properties(cursor: Any) -> str:
    """``TSQL | Keyset | Optimistic | Global (0)``"""
    scope = "Global" if cursor.is_global else "Local"
    return " | ".join(
        ("API" if cursor.api else "TSQL", KINDS[cursor.kind], CONCURRENCY[cursor.concurrency], f"{scope} ({cursor.nesting})")
    )


@provide(
    """sys.dm_exec_cursors(int): session_id int!, cursor_id int!, name nvarchar(256), properties nvarchar(256), sql_handle varbinary(64),
    statement_start_offset int, statement_end_offset int, plan_generation_num bigint, creation_time datetime, is_open bit,
    is_async_population bit, is_close_on_commit bit, fetch_status int, fetch_buffer_size int, fetch_buffer_start int,
    ansi_position int, worker_time bigint, reads bigint, writes bigint, dormant_duration bigint"""
)
def _dm_exec_cursors(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    wanted = arguments[0] or 0
    for spid, session in sorted(runtime.instance.sessions.items()):
        if wanted not in (0, spid):
            continue
        for handle, cursor in sorted(session.every_cursor.items()):
            before = not cursor.is_open or (not cursor.buffer and not cursor.start)
            yield {
                "session_id": spid,
                "cursor_id": handle,
                "name": cursor.name or None,
                "properties": properties(cursor),
                "sql_handle": b"\x02\x00\x00\x00" + hashlib.sha1(cursor.text.encode(), usedforsecurity=False).digest(),
                "statement_start_offset": 0,
                "statement_end_offset": -1,
                "plan_generation_num": 1,
                "creation_time": cursor.created,
                "is_open": cursor.is_open,
                "is_async_population": False,
                "is_close_on_commit": session.options.cursor_close_on_commit,
                "fetch_status": cursor.fetch_status,
                "fetch_buffer_size": max(len(cursor.buffer), 1),
                "fetch_buffer_start": (0 if before else -1) if cursor.live else 0 if before else cursor.position,
                "ansi_position": cursor.place if cursor.buffer else 0,
                "worker_time": 0,
                "reads": cursor.fetches,
                "writes": 0,
                "dormant_duration": 0,
            }
