"""How indexes are used and how large they are: sys.dm_db_index_usage_stats, sys.dm_db_index_physical_stats and their sisters.

Uses are counted statement by statement since the instance's start; sizes follow :mod:`aglab.tsql.store.pages`, where pages are
always full and in order, so that fragmentation is 0. Statistics are as old as their index or as UPDATE STATISTICS says, and their
counter of changes starts there. Columns as on the pages of these views (SQL Server documentation). Left out: latches, missing
indexes (the twin's plans are not costed: these views have no rows), forwarded and ghost records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.objects import _scoped
from aglab.tsql.catalog.registry import provide
from aglab.tsql.store.database import Database
from aglab.tsql.store.files import parts_of
from aglab.tsql.store.memory import is_memory
from aglab.tsql.store.pages import PAGE_BYTES, depth, leaf_pages, row_bytes
from aglab.tsql.store.table import Index, Table

_USES = ("seeks", "scans", "lookups", "updates")


def _each(runtime: Any, database_id: int | None, object_id: int | None) -> Iterator[tuple[Database, Table]]:
    for database in list(runtime.instance.databases.values()):
        if database_id in (None, 0, database.id):
            for table in database.tables():
                if object_id in (None, 0, table.id):
                    yield database, table


@provide(
    """sys.dm_db_index_usage_stats: database_id smallint!, object_id int!, index_id int!, user_seeks bigint!, user_scans bigint!,
    user_lookups bigint!, user_updates bigint!, last_user_seek datetime, last_user_scan datetime, last_user_lookup datetime,
    last_user_update datetime, system_seeks bigint!, system_scans bigint!, system_lookups bigint!, system_updates bigint!,
    last_system_seek datetime, last_system_scan datetime, last_system_lookup datetime, last_system_update datetime"""
)
def _usage(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for (database_id, object_id, index_id), uses in sorted(runtime.instance.index_uses.items()):
        counts = [uses.get(kind, (0, None)) for kind in _USES]
        yield (
            database_id,
            object_id,
            index_id,
            *(one[0] for one in counts),
            *(one[1] for one in counts),
            0,
            0,
            0,
            0,
            *[None] * 4,
        )


@provide(
    """sys.dm_db_index_physical_stats(smallint, int, int, int, sysname): database_id smallint, object_id int, index_id int,
    partition_number int, index_type_desc nvarchar(60), alloc_unit_type_desc nvarchar(60), index_depth tinyint, index_level tinyint,
    avg_fragmentation_in_percent float, fragment_count bigint, avg_fragment_size_in_pages float, page_count bigint,
    avg_page_space_used_in_percent float, record_count bigint, ghost_record_count bigint, version_ghost_record_count bigint,
    min_record_size_in_bytes int, max_record_size_in_bytes int, avg_record_size_in_bytes float, forwarded_record_count bigint,
    compressed_page_count bigint, hobt_id bigint, columnstore_delete_buffer_state tinyint,
    columnstore_delete_buffer_state_desc nvarchar(60), version_record_count bigint, inrow_version_record_count bigint,
    inrow_diff_version_record_count bigint, total_inrow_version_payload_size_in_bytes bigint,
    offrow_regular_version_record_count bigint, offrow_long_term_version_record_count bigint"""
)
def _physical(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    wanted_index, wanted_part, mode = arguments[2], arguments[3], str(arguments[4] or "LIMITED").upper()
    for where, table in _each(runtime, arguments[0], arguments[1]):
        if is_memory(table):
            continue
        for index, number, _, rows in parts_of(where, table):
            index_id = index.id if index is not None else 0
            if wanted_index not in (None, -1, index_id) or wanted_part not in (None, 0, number):
                continue
            row = _size_of(table, index, rows)
            if mode in ("SAMPLED", "DETAILED") and rows:
                width = row_bytes(table, index)
                row |= {
                    "avg_page_space_used_in_percent": min(100.0, 100.0 * rows * width / (row["page_count"] * PAGE_BYTES)),
                    "record_count": rows,
                    **dict.fromkeys(("min_record_size_in_bytes", "max_record_size_in_bytes"), width),
                    "avg_record_size_in_bytes": float(width),
                    **dict.fromkeys(("ghost_record_count", "version_ghost_record_count"), 0),
                    "forwarded_record_count": 0 if index is None else None,
                }
            yield {"database_id": where.id, "object_id": table.id, "index_id": index_id, "partition_number": number, **row}


def _size_of(table: Table, index: Index | None, rows: int) -> dict[str, Any]:
    pages = leaf_pages(table, index, rows)
    return {
        "index_type_desc": "HEAP" if index is None else "CLUSTERED INDEX" if index.clustered else "NONCLUSTERED INDEX",
        "alloc_unit_type_desc": "IN_ROW_DATA",
        "index_depth": max(1, depth(table, index, rows)),
        "index_level": 0,
        "avg_fragmentation_in_percent": 0.0,
        "fragment_count": 1 if pages else 0,
        "avg_fragment_size_in_pages": float(pages),
        "page_count": pages,
        "compressed_page_count": None,
    }


@provide(
    """sys.dm_db_index_operational_stats(smallint, int, int, int): database_id smallint!, object_id int!, index_id int!,
    partition_number int!, hobt_id bigint!, leaf_insert_count bigint!, leaf_delete_count bigint!, leaf_update_count bigint!,
    leaf_ghost_count bigint!, nonleaf_insert_count bigint!, nonleaf_delete_count bigint!, nonleaf_update_count bigint!,
    leaf_allocation_count bigint!, nonleaf_allocation_count bigint!, leaf_page_merge_count bigint!, nonleaf_page_merge_count bigint!,
    range_scan_count bigint!, singleton_lookup_count bigint!, forwarded_fetch_count bigint!, lob_fetch_in_pages bigint!,
    lob_fetch_in_bytes bigint!, lob_orphan_create_count bigint!, lob_orphan_insert_count bigint!, row_overflow_fetch_in_pages bigint!,
    row_overflow_fetch_in_bytes bigint!, column_value_push_off_row_count bigint!, column_value_pull_in_row_count bigint!,
    row_lock_count bigint!, row_lock_wait_count bigint!, row_lock_wait_in_ms bigint!, page_lock_count bigint!,
    page_lock_wait_count bigint!, page_lock_wait_in_ms bigint!, index_lock_promotion_attempt_count bigint!,
    index_lock_promotion_count bigint!, page_latch_wait_count bigint!, page_latch_wait_in_ms bigint!, page_io_latch_wait_count bigint!,
    page_io_latch_wait_in_ms bigint!, tree_page_latch_wait_count bigint!, tree_page_latch_wait_in_ms bigint!,
    tree_page_io_latch_wait_count bigint!, tree_page_io_latch_wait_in_ms bigint!, page_compression_attempt_count bigint!,
    page_compression_success_count bigint!"""
)
def _operational(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Only what the uses of an index tell: scans of ranges, and single rows looked up."""
    from aglab.tsql.catalog.partitions import partition_id

    for where, table in _each(runtime, arguments[0], arguments[1]):
        for index, number, _, _ in parts_of(where, table):
            index_id = index.id if index is not None else 0
            if arguments[2] not in (None, -1, index_id) or arguments[3] not in (None, 0, number):
                continue
            uses = runtime.instance.index_uses.get((where.id, table.id, index_id), {})
            scans, seeks = (uses.get(kind, (0, None))[0] for kind in ("scans", "seeks"))
            head = (where.id, table.id, index_id, number, partition_id(table, index_id, number))
            yield (*head, *[0] * 11, scans, seeks, *[0] * 27)


@provide(
    """sys.dm_db_stats_properties(int, int): object_id int!, stats_id int!, last_updated datetime2, rows bigint, rows_sampled bigint,
    steps int, unfiltered_rows bigint, modification_counter bigint, persisted_sample_percent float"""
)
def _properties(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    found = database.by_id(arguments[0]) if arguments[0] is not None else None
    if not isinstance(found, Table):
        return
    for index in found.indexes:
        if index.id == arguments[1]:
            rows = len(found.rows)
            yield found.id, index.id, index.statistics_at or found.created, rows, rows, min(rows, 200), rows, 0, 0.0
    for one in found.options.get("STATISTICS", ()):
        if one["id"] == arguments[1]:
            rows = len(found.rows)
            yield found.id, one["id"], one["at"], rows, rows, min(rows, 200), rows, 0, 0.0


@provide("sys.stats_columns: object_id int!, stats_id int!, stats_column_id int!, column_id int!")
def _stats_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in _scoped(runtime, database):
        each = [(index.id, index.columns) for index in table.indexes]
        each += [(one["id"], tuple(one["columns"])) for one in table.options.get("STATISTICS", ())]
        for number, columns in each:
            for place, column in enumerate(columns, 1):
                yield table.id, number, place, column + 1


_MISSING = (
    """sys.dm_db_missing_index_groups: index_group_handle int!, index_handle int!""",
    """sys.dm_db_missing_index_group_stats: group_handle int!, unique_compiles bigint!, user_seeks bigint!, user_scans bigint!,
    last_user_seek datetime, last_user_scan datetime, avg_total_user_cost float, avg_user_impact float, system_seeks bigint!,
    system_scans bigint!, last_system_seek datetime, last_system_scan datetime, avg_total_system_cost float, avg_system_impact float""",
    """sys.dm_db_missing_index_details: index_handle int!, database_id smallint!, object_id int!, equality_columns nvarchar(4000),
    inequality_columns nvarchar(4000), included_columns nvarchar(4000), statement nvarchar(4000)""",
)
for _text in _MISSING:
    provide(_text)(lambda runtime, database, arguments: [])
