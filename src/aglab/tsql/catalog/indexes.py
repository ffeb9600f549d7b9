"""sys.indexes and sys.index_columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.objects import _scoped
from aglab.tsql.catalog.registry import provide
from aglab.tsql.store.database import Database
from aglab.tsql.store.partitions import placement_of


@provide(
    """sys.indexes: object_id int!, name sysname, index_id int!, type tinyint!, type_desc nvarchar(60), is_unique bit, data_space_id int!,
    ignore_dup_key bit, is_primary_key bit, is_unique_constraint bit, fill_factor tinyint!, is_padded bit, is_disabled bit,
    is_hypothetical bit, is_ignored_in_optimization bit, allow_row_locks bit, allow_page_locks bit, has_filter bit, filter_definition nvarchar(max),
    compression_delay int, suppress_dup_key_messages bit, auto_created bit, optimize_for_sequential_key bit"""
)
def _indexes(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in _scoped(runtime, database):
        common = {
            "object_id": table.id,
            "data_space_id": placement_of(table, None).space,
            "ignore_dup_key": False,
            "fill_factor": 0,
            "is_padded": False,
            "is_hypothetical": False,
            "is_ignored_in_optimization": False,
            "allow_row_locks": True,
            "allow_page_locks": True,
            "has_filter": False,
            "suppress_dup_key_messages": False,
            "auto_created": False,
            "optimize_for_sequential_key": False,
        }
        if table.clustered is None and not table.options.get("MEMORY_OPTIMIZED"):
            yield {
                **common,
                "name": None,
                "index_id": 0,
                "type": 0,
                "type_desc": "HEAP",
                "is_unique": False,
                "is_primary_key": False,
                "is_unique_constraint": False,
                "is_disabled": False,
            }
        for index in sorted(table.indexes, key=lambda i: i.id):
            hashed = bool(index.options.get("HASH"))
            yield {
                **common,
                "name": index.name,
                "data_space_id": placement_of(table, index).space,
                "index_id": index.id,
                "type": 1 if index.clustered else 7 if hashed else 2,
                "type_desc": "CLUSTERED" if index.clustered else "NONCLUSTERED HASH" if hashed else "NONCLUSTERED",
                "is_unique": index.unique,
                "is_primary_key": index.primary_key,
                "is_unique_constraint": index.constraint and not index.primary_key,
                "is_disabled": bool(index.options.get("DISABLED")),
                "fill_factor": index.options.get("FILLFACTOR", 0),
                "is_padded": index.options.get("PAD_INDEX") == "ON",
                "ignore_dup_key": index.options.get("IGNORE_DUP_KEY") == "ON",
                "allow_row_locks": index.options.get("ALLOW_ROW_LOCKS", "ON") == "ON",
                "allow_page_locks": index.options.get("ALLOW_PAGE_LOCKS", "ON") == "ON",
                "optimize_for_sequential_key": index.options.get("OPTIMIZE_FOR_SEQUENTIAL_KEY") == "ON",
            }


@provide(
    """sys.index_columns: object_id int!, index_id int!, index_column_id int!, column_id int!, key_ordinal tinyint!, partition_ordinal tinyint!,
    is_descending_key bit, is_included_column bit, column_store_order_ordinal tinyint!"""
)
def _index_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in _scoped(runtime, database):
        for index in table.indexes:
            cut = placement_of(table, index).column
            for place, (column, descending) in enumerate(zip(index.columns, index.descending, strict=True), 1):
                yield table.id, index.id, place, column + 1, place, int(column == cut), descending, False, 0
            for place, column in enumerate(index.included, len(index.columns) + 1):
                yield table.id, index.id, place, column + 1, 0, int(column == cut), False, True, 0
            if cut >= 0 and cut not in index.columns + index.included:
                yield table.id, index.id, len(index.columns + index.included) + 1, cut + 1, 0, 1, False, False, 0
        heap = placement_of(table, None).column
        if table.clustered is None and heap >= 0:
            yield table.id, 0, 1, heap + 1, 0, 1, False, False, 0
