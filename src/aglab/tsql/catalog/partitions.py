"""Partition functions, schemes, data spaces, partitions and allocation units.

Columns: "sys.partition_functions", "sys.partition_schemes", "sys.partition_range_values", "sys.partition_parameters",
"sys.destination_data_spaces", "sys.data_spaces", "sys.partitions", "sys.allocation_units", "sys.dm_db_partition_stats" (SQL
Server documentation). Rows are counted, pages follow from rows and declared widths; an empty partition has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.objects import _scoped
from aglab.tsql.catalog.registry import provide
from aglab.tsql.catalog.type_ids import TYPE_IDS
from aglab.tsql.store.database import Database
from aglab.tsql.store.files import parts_of
from aglab.tsql.store.pages import leaf_pages, level_pages
from aglab.tsql.store.table import Index, Table

_SPACE = "name sysname!, data_space_id int!, type char(2)!, type_desc nvarchar(60), is_default bit, is_system bit"


@provide(
    """sys.partition_functions: name sysname!, function_id int!, type char(2)!, type_desc nvarchar(60), fanout int!,
    boundary_value_on_right bit!, is_system bit!, create_date datetime!, modify_date datetime!"""
)
def _functions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for one in database.partition_functions.values():
        yield one.name, one.id, "R", "RANGE", one.count, one.right, False, one.created, one.modified


@provide(
    """sys.partition_parameters: function_id int!, parameter_id int!, system_type_id tinyint!, max_length smallint!, precision tinyint!,
    scale tinyint!, collation_name sysname, user_type_id int!"""
)
def _parameters(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for one in database.partition_functions.values():
        user, system, length, precision, scale = TYPE_IDS[one.type.name]
        text = one.type.name in ("char", "varchar", "nchar", "nvarchar")
        wide = one.type.length * (2 if one.type.name.startswith("n") else 1) if text or "binary" in one.type.name else length
        collation = database.collation if text else None
        yield one.id, 1, system, wide, one.type.precision or precision, one.type.scale or scale, collation, user


@provide("sys.partition_range_values: function_id int!, boundary_id int!, parameter_id int!, value sql_variant")
def _values(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for one in database.partition_functions.values():
        for number, value in enumerate(one.boundaries, 1):
            yield one.id, number, 1, value


@provide(f"sys.partition_schemes: {_SPACE}, function_id int!")
def _schemes(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for one in database.partition_schemes.values():
        function = database.partition_functions[one.function.lower()]
        yield one.name, one.id, "PS", "PARTITION_SCHEME", False, False, function.id


@provide("sys.destination_data_spaces: partition_scheme_id int!, destination_id int!, data_space_id int!")
def _destinations(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for one in database.partition_schemes.values():
        following = () if one.next_used is None else (one.next_used,)
        for number, group in enumerate((*one.filegroups, *following), 1):  # NEXT USED stands behind the last partition
            yield one.id, number, group


@provide(f"sys.data_spaces: {_SPACE}")
def _spaces(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for number, group in database.filegroups.items():
        memory = group.get("contains") == "MEMORY_OPTIMIZED_DATA"
        kind = ("FX", "MEMORY_OPTIMIZED_DATA_FILEGROUP") if memory else ("FG", "ROWS_FILEGROUP")
        yield group["name"], number, *kind, group.get("is_default", False), False
    for one in database.partition_schemes.values():
        yield one.name, one.id, "PS", "PARTITION_SCHEME", False, False


COMPRESSION = {"NONE": 0, "ROW": 1, "PAGE": 2}


def partition_id(table: Table, index_id: int, number: int) -> int:
    """A partition's id: partition_id and hobt_id of the catalogue."""
    return 2**56 + (table.id * 1024 + index_id) * 16384 + number


@provide(
    """sys.partitions: partition_id bigint!, object_id int!, index_id int!, partition_number int!, hobt_id bigint!, rows bigint,
    filestream_filegroup_id smallint!, data_compression tinyint!, data_compression_desc nvarchar(60), xml_compression bit, xml_compression_desc varchar(3)"""
)
def _partitions(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in _scoped(runtime, database):
        for index, number, _, rows in parts_of(database, table):
            index_id = index.id if index is not None else 0
            known = partition_id(table, index_id, number)
            word = (index.options if index is not None else table.options).get("DATA_COMPRESSION", "NONE")
            yield known, table.id, index_id, number, known, rows, 0, COMPRESSION[word], word, False, "OFF"


@provide(
    """sys.allocation_units: allocation_unit_id bigint!, type tinyint!, type_desc nvarchar(60), container_id bigint!, data_space_id int,
    total_pages bigint!, used_pages bigint!, data_pages bigint!"""
)
def _allocation_units(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in _scoped(runtime, database):
        for index, number, group, rows in parts_of(database, table):
            index_id = index.id if index is not None else 0
            known = partition_id(table, index_id, number)
            pages, used, reserved = sizes(table, index, rows)
            yield known, 1, "IN_ROW_DATA", known, group, reserved, used, pages


@provide(
    """sys.dm_db_partition_stats: partition_id bigint!, object_id int!, index_id int!, partition_number int!, in_row_data_page_count bigint!,
    in_row_used_page_count bigint!, in_row_reserved_page_count bigint!, lob_used_page_count bigint!, lob_reserved_page_count bigint!,
    row_overflow_used_page_count bigint!, row_overflow_reserved_page_count bigint!, used_page_count bigint!, reserved_page_count bigint!, row_count bigint!"""
)
def _partition_stats(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in _scoped(runtime, database):
        for index, number, _, rows in parts_of(database, table):
            index_id = index.id if index is not None else 0
            pages, used, reserved = sizes(table, index, rows)
            known = partition_id(table, index_id, number)
            yield known, table.id, index_id, number, pages, used, reserved, 0, 0, 0, 0, used, reserved, rows


def sizes(table: Table, index: Index | None, rows: int) -> tuple[int, int, int]:
    """Data pages, used pages (with the levels above and the allocation map), reserved pages (whole extents)."""
    pages = leaf_pages(table, index, rows)
    if not pages:
        return 0, 0, 0
    used = pages + 1 + level_pages(table, index, rows)
    return pages, used, -(-used // 8) * 8 + 1
