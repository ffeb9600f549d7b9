"""Cached statements: sys.dm_exec_query_stats, sys.dm_exec_sql_text, sys.dm_exec_query_plan.

Columns as on the pages of these views (SQL Server documentation). A session's own text is found by the handle that
sys.dm_exec_requests shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import provide
from aglab.tsql.query.statistics import Measure, StatementStats
from aglab.tsql.store.database import Database

# No statement here runs on more than one processor, asks for memory, or spills.
_NOTHING = {
    f"{kind}_{name}": int(name == "dop")
    for name in ("clr_time", "dop", "grant_kb", "used_grant_kb", "ideal_grant_kb", "reserved_threads", "used_threads", "spills")
    for kind in ("total", "last", "min", "max")
}
_MEASURES = ("worker_time", "physical_reads", "logical_writes", "logical_reads", "elapsed_time", "rows")


@provide(
    """sys.dm_exec_query_stats: sql_handle varbinary(64)!, statement_start_offset int!, statement_end_offset int!,
    plan_generation_num bigint, plan_handle varbinary(64)!, creation_time datetime, last_execution_time datetime!, execution_count bigint!,
    total_worker_time bigint!, last_worker_time bigint!, min_worker_time bigint!, max_worker_time bigint!, total_physical_reads bigint!,
    last_physical_reads bigint!, min_physical_reads bigint!, max_physical_reads bigint!, total_logical_writes bigint!,
    last_logical_writes bigint!, min_logical_writes bigint!, max_logical_writes bigint!, total_logical_reads bigint!,
    last_logical_reads bigint!, min_logical_reads bigint!, max_logical_reads bigint!, total_clr_time bigint!, last_clr_time bigint!,
    min_clr_time bigint!, max_clr_time bigint!, total_elapsed_time bigint!, last_elapsed_time bigint!, min_elapsed_time bigint!,
    max_elapsed_time bigint!, query_hash binary(8), query_plan_hash binary(8), total_rows bigint, last_rows bigint, min_rows bigint,
    max_rows bigint, statement_sql_handle varbinary(64), statement_context_id bigint, total_dop bigint, last_dop bigint,
    min_dop bigint, max_dop bigint, total_grant_kb bigint, last_grant_kb bigint, min_grant_kb bigint, max_grant_kb bigint,
    total_used_grant_kb bigint, last_used_grant_kb bigint, min_used_grant_kb bigint, max_used_grant_kb bigint,
    total_ideal_grant_kb bigint, last_ideal_grant_kb bigint, min_ideal_grant_kb bigint, max_ideal_grant_kb bigint,
    total_reserved_threads bigint, last_reserved_threads bigint, min_reserved_threads bigint, max_reserved_threads bigint,
    total_used_threads bigint, last_used_threads bigint, min_used_threads bigint, max_used_threads bigint,
    total_columnstore_segment_reads bigint, total_columnstore_segment_skips bigint, total_spills bigint, last_spills bigint,
    min_spills bigint, max_spills bigint, total_num_physical_reads bigint, total_page_server_reads bigint"""
)
def _query_stats(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for one in list(runtime.instance.statements.entries.values()):
        row: dict[str, Any] = {
            "sql_handle": one.sql_handle,
            "statement_start_offset": one.start * 2,
            "statement_end_offset": (one.end - 1) * 2,
            "plan_generation_num": 1,
            "plan_handle": one.plan_handle,
            "creation_time": one.created,
            "last_execution_time": one.last_execution,
            "execution_count": one.executions,
            "query_hash": one.plan_handle[4:12],
            "query_plan_hash": one.plan_handle[12:20],
            "statement_sql_handle": one.sql_handle,
            **_NOTHING,
        }
        for name in _MEASURES:
            measure = one.measures.get(name, Measure())
            row |= {f"total_{name}": measure.total, f"last_{name}": measure.last}
            row |= {f"min_{name}": measure.least, f"max_{name}": measure.most}
        row["total_dop"] = one.executions
        yield row


def _by(runtime: Any, attribute: str, handle: bytes | None) -> StatementStats | None:
    entries = runtime.instance.statements.entries.values()
    return next((one for one in entries if getattr(one, attribute) == handle), None) if handle else None


@provide(
    """sys.dm_exec_sql_text(varbinary(64)): dbid smallint, objectid int, number smallint, encrypted bit!, text nvarchar(max)"""
)
def _sql_text(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    handle = arguments[0]
    entry = _by(runtime, "sql_handle", handle) or _by(runtime, "plan_handle", handle)
    if entry is not None:
        yield entry.database_id, entry.object_id, None, False, entry.text
        return
    session = runtime.instance.sessions.get(int.from_bytes(handle, "big")) if handle else None
    if session is not None:
        found = runtime.instance.database(session.database)
        yield found.id if found is not None else 1, None, None, False, session.current_text


@provide(
    """sys.dm_exec_query_plan(varbinary(64)): dbid smallint, objectid int, number smallint, encrypted bit!, query_plan xml"""
)
def _query_plan(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    entry = _by(runtime, "plan_handle", arguments[0])
    if entry is not None:
        yield entry.database_id, entry.object_id, None, False, entry.showplan()
