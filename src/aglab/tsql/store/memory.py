"""Memory-optimized tables: which they are, and the memory that their rows and indexes take.

Sizes after "Table and row size in memory-optimized tables" and "Estimate memory requirements for memory-optimized tables" (SQL
Server documentation): a row has a header of 24 bytes and 8 more for each index, then its columns, to a multiple of 8; a hash
index has 8 bytes for each bucket, whose number is the next power of two; a nonclustered index has a pointer and the key for each
row.
Rows lie in pages of 64 KB. Left out: old row versions that wait for their collection.
"""

from __future__ import annotations

import zlib
from typing import Any

from aglab.tsql.store.database import Database
from aglab.tsql.store.table import Index, Row, Table, column_bytes

KIND = "MEMORY_OPTIMIZED_DATA"
BUCKETS_MAX = 1_073_741_824
HEADER_BYTES, POINTER_BYTES, BUCKET_BYTES = 24, 8, 8
HEAP_PAGE_BYTES = 65_536
HEAP_PAGE_HEADER_BYTES = 64


def is_memory(table: Table) -> bool:
    """Whether a table is memory-optimized."""
    return bool(table.options.get("MEMORY_OPTIMIZED"))


def is_durable(table: Table) -> bool:
    """Whether the rows of a table are kept: false with DURABILITY = SCHEMA_ONLY."""
    return table.options.get("DURABILITY") != "SCHEMA_ONLY"


def memory_filegroup(database: Database) -> int | None:
    """The database's filegroup for memory-optimized data."""
    return next((number for number, group in database.filegroups.items() if group.get("contains") == KIND), None)


def has_container(database: Database) -> bool:
    """Whether that filegroup is there and has at least one container."""
    group = memory_filegroup(database)
    return group is not None and any(one.filegroup_id == group for one in database.files)


def buckets(index: Index) -> int:
    """Buckets of a hash index: what was asked for, up to the next power of two; 0 for another index."""
    wanted = int(index.options.get("BUCKET_COUNT", 0)) if index.options.get("HASH") else 0
    return 1 << (wanted - 1).bit_length() if wanted else 0


def _value_bytes(value: Any, kind: str) -> int:
    if value is None:
        return 0
    return len(value) * (2 if kind.startswith("n") else 1)


def row_bytes(table: Table, row: Row) -> int:
    """Bytes of one row in memory."""
    body = (len(table.columns) + 7) // 8
    for value, column in zip(row, table.columns, strict=True):
        kind = column.type.name
        if "var" in kind and kind != "sql_variant":
            body += 2 + _value_bytes(value, kind)
        else:
            body += column_bytes(column.type)
    return -(-(HEADER_BYTES + POINTER_BYTES * len(table.indexes) + body) // 8) * 8


def heap_bytes(table: Table) -> tuple[int, int]:
    """(allocated, used) bytes of the rows: whole pages of 64 KB, and the rows themselves."""
    sizes: dict[int, int] = {}
    for row in table.rows.values():
        size = row_bytes(table, row)
        sizes[size] = sizes.get(size, 0) + 1
    pages = 0
    for size, count in sizes.items():
        pages += -(-count // max((HEAP_PAGE_BYTES - HEAP_PAGE_HEADER_BYTES) // size, 1))
    return pages * HEAP_PAGE_BYTES, sum(size * count for size, count in sizes.items())


def index_bytes(table: Table, index: Index) -> int:
    """Bytes of one index."""
    count = buckets(index)
    if count:
        return count * BUCKET_BYTES
    key = sum(column_bytes(table.columns[ordinal].type) for ordinal in index.columns)
    return (POINTER_BYTES + key) * len(index.entries)


def chains(index: Index) -> tuple[int, int, int]:
    """(buckets without a row, average and greatest chain length) of a hash index over its rows as they are."""
    count = buckets(index)
    lengths: dict[int, int] = {}
    for key, ids in index.entries.items():
        bucket = zlib.crc32(repr(key).encode()) % count
        lengths[bucket] = lengths.get(bucket, 0) + len(ids)
    average = round(sum(lengths.values()) / len(lengths)) if lengths else 0
    return count - len(lengths), average, max(lengths.values(), default=0)
