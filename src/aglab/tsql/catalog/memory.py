"""Memory-optimized tables: sys.hash_indexes and the sys.dm_db_xtp_* views; resumable index operations, whose rows the node has.

Columns: "Memory-optimized table dynamic management views", sys.hash_indexes (SQL Server documentation). System structures of
In-Memory OLTP (sys.dm_xtp_system_memory_consumers) take no memory here and have no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog import indexes
from aglab.tsql.catalog.registry import PROVIDERS, VIEWS, define, provide
from aglab.tsql.store.database import Database
from aglab.tsql.store.memory import buckets, chains, heap_bytes, index_bytes, is_memory
from aglab.tsql.store.table import Index, Table

assert indexes  # sys.indexes is defined there
_INDEX = ", ".join(f"{column.name} {column.type}{'' if column.nullable else '!'}" for column in VIEWS[("sys", "indexes")].columns)


def _tables(database: Database) -> Iterator[Table]:
    return (table for table in database.tables() if is_memory(table))


@provide(f"sys.hash_indexes: {_INDEX}, bucket_count int!")
def _hash_indexes(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    counts = {(table.id, index.id): buckets(index) for table in _tables(database) for index in table.indexes}
    for row in PROVIDERS["sys.indexes"](runtime, database, ()):
        count = counts.get((row["object_id"], row["index_id"]), 0)
        if count:
            yield {**row, "bucket_count": count}


@provide(
    """sys.dm_db_xtp_table_memory_stats: object_id int, memory_allocated_for_table_kb bigint, memory_used_by_table_kb bigint,
    memory_allocated_for_indexes_kb bigint, memory_used_by_indexes_kb bigint"""
)
def _table_memory(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in _tables(database):
        allocated, used = heap_bytes(table)
        indexes = sum(index_bytes(table, index) for index in table.indexes)
        yield table.id, allocated // 1024, used // 1024, indexes // 1024, indexes // 1024


def _hashed(database: Database) -> Iterator[tuple[Table, Index]]:
    return ((table, index) for table in _tables(database) for index in table.indexes if buckets(index))


@provide(
    """sys.dm_db_xtp_hash_index_stats: object_id int!, xtp_object_id bigint!, index_id int!, total_bucket_count bigint!,
    empty_bucket_count bigint, avg_chain_length bigint!, max_chain_length bigint!"""
)
def _hash_stats(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table, index in _hashed(database):
        yield table.id, -table.id, index.id, buckets(index), *chains(index)


@provide(
    """sys.dm_db_xtp_memory_consumers: memory_consumer_id bigint!, memory_consumer_type int!, memory_consumer_type_desc nvarchar(64)!,
    memory_consumer_desc nvarchar(64), object_id int, xtp_object_id bigint, index_id int, allocated_bytes bigint!, used_bytes bigint!,
    allocation_count int!, partition_count int!, sizeclass_count int!, min_sizeclass int!, max_sizeclass int!,
    memory_consumer_address varbinary(8)!"""
)
def _consumers(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    number = 0
    for table in _tables(database):
        allocated, used = heap_bytes(table)
        found: list[tuple[int, str, str, int | None, int, int]] = [(2, "VARHEAP", "Table heap", None, allocated, used)]
        for index in table.indexes:
            kind = (3, "HASH", "Hash index") if buckets(index) else (2, "VARHEAP", "Range index heap")
            taken = index_bytes(table, index)
            found.append((*kind, index.id, taken, taken))
        for kind_id, kind_desc, text, index_id, allocated_bytes, used_bytes in found:
            number += 1
            yield {
                "memory_consumer_id": number,
                "memory_consumer_type": kind_id,
                "memory_consumer_type_desc": kind_desc,
                "memory_consumer_desc": text,
                "object_id": table.id,
                "xtp_object_id": -table.id,
                "index_id": index_id,
                "allocated_bytes": allocated_bytes,
                "used_bytes": used_bytes,
                "allocation_count": 0,
                "partition_count": 1,
                "sizeclass_count": 0,
                "min_sizeclass": 0,
                "max_sizeclass": 0,
                "memory_consumer_address": number.to_bytes(8, "big"),
            }


define(
    """sys.dm_xtp_system_memory_consumers: memory_consumer_id bigint!, memory_consumer_type int!, memory_consumer_type_desc
    nvarchar(16)!, memory_consumer_desc nvarchar(64), lookaside_id bigint, allocated_bytes bigint!, used_bytes bigint!,
    allocation_count int, partition_count int!, sizeclass_count int, min_sizeclass int, max_sizeclass int,
    memory_consumer_address varbinary(8)!""",
    "instance",
)
PROVIDERS["sys.dm_xtp_system_memory_consumers"] = lambda runtime, database, arguments: ()
define(
    """sys.index_resumable_operations: object_id int!, index_id int!, name sysname!, sql_text nvarchar(max), last_max_dop smallint!,
    partition_number int, state tinyint!, state_desc nvarchar(60), start_time datetime!, last_pause_time datetime,
    total_execution_time int!, percent_complete real!, page_count bigint!"""
)
