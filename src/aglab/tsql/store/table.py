"""A table's rows, indexes and constraints: plain Python, row ids to immutable tuples.

Rows are shared, never copied: a secondary that applies a commit record holds the same tuples. Chosen over DuckDB and SQLite by
measurement: a point read through DuckDB costs 440 us and a DMV query 1.7 ms, through these dictionaries below 1 us and 13 us.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from aglab.core.sqltypes import SqlType

Row = tuple[Any, ...]
Key = tuple[Any, ...]


class _Null:
    """NULL inside an index key: equal to itself, below every value."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return other is not self

    def __gt__(self, other: object) -> bool:
        return False

    def __repr__(self) -> str:
        return "NULL"

    def __reduce__(self) -> str:
        return "NULL_KEY"


NULL_KEY = _Null()


@dataclass
class ColumnDef:
    """A column of a user table. ``default`` and ``computed`` are expressions (syntax trees) with their text."""

    name: str
    type: SqlType
    nullable: bool = True
    identity: tuple[int, int] | None = None
    default: Any = None
    default_text: str = ""
    default_name: str = ""
    computed: Any = None
    computed_text: str = ""
    collation: str = "SQL_Latin1_General_CP1_CI_AS"
    rowguid: bool = False
    user_type: str = ""  # schema.name of the alias type it was declared with

    @property
    def case_sensitive(self) -> bool:
        """Whether the collation tells case apart."""
        return is_case_sensitive(self.collation)


def is_case_sensitive(collation: str) -> bool:
    """Whether a collation name says CS or BIN."""
    upper = collation.upper()
    return "_CS" in upper or "_BIN" in upper


@dataclass
class Index:
    """An index or a unique constraint: key -> row ids. ``columns`` are ordinals, ``descending`` goes with them."""

    name: str
    columns: tuple[int, ...]
    descending: tuple[bool, ...]
    unique: bool = False
    clustered: bool = False
    primary_key: bool = False
    constraint: bool = False
    included: tuple[int, ...] = ()
    id: int = 0
    fold: tuple[bool, ...] = ()  # per key column: text compared without case
    options: dict[str, Any] = field(default_factory=dict)
    depth_kept: tuple[int, int] = field(default=(-1, 0), repr=False)  # (bits of the row count it was worked out for, levels)
    statistics_at: Any = None  # when UPDATE STATISTICS last ran; None: when the index was made
    placement: Any = None  # aglab.tsql.store.partitions.Placement; None: where the table lies
    entries: dict[Key, dict[int, None]] = field(default_factory=dict, repr=False)
    _sorted: list[Key] | None = field(default=None, repr=False)

    def key(self, row: Row) -> Key:
        """The row's key in comparable form."""
        fold = self.fold or (True,) * len(self.columns)
        key = []
        for ordinal, folded in zip(self.columns, fold, strict=False):
            value = row[ordinal]
            key.append(value if value.__class__ is int else comparable(value, folded))  # most keys are whole numbers
        return tuple(key)

    def add(self, row_id: int, row: Row) -> None:
        """Enter a row."""
        key = self.key(row)
        ids = self.entries.get(key)
        if ids is None:
            self.entries[key] = {row_id: None}
            if self._sorted is not None:
                insort(self._sorted, key)
        else:
            ids[row_id] = None

    def remove(self, row_id: int, row: Row) -> None:
        """Take a row out."""
        key = self.key(row)
        ids = self.entries.get(key)
        if ids is None:
            return
        ids.pop(row_id, None)
        if not ids:
            del self.entries[key]
            if self._sorted is not None:
                position = bisect_left(self._sorted, key)
                del self._sorted[position]

    def sorted_keys(self) -> list[Key]:
        """All keys in order; built at the first use and kept."""
        if self._sorted is None:
            self._sorted = sorted(self.entries)
        return self._sorted

    def prefix(self, prefix: Key) -> Iterator[int]:
        """Row ids whose key begins with ``prefix``, in key order."""
        if len(prefix) == len(self.columns):
            yield from self.entries.get(prefix, ())
            return
        keys = self.sorted_keys()
        position = bisect_left(keys, prefix)
        width = len(prefix)
        while position < len(keys) and keys[position][:width] == prefix:
            yield from self.entries[keys[position]]
            position += 1

    def between(self, prefix: Key, low: Any, high: Any) -> Iterator[int]:
        """Row ids whose key begins with ``prefix`` and goes on between low and high (both inclusive; None is open)."""
        keys = self.sorted_keys()
        width = len(prefix)
        start = bisect_left(keys, prefix if low is None else (*prefix, low))
        end = prefix if high is None else (*prefix, high)
        stop = bisect_right(keys, end, key=lambda key: key[: len(end)]) if end else len(keys)
        for position in range(start, stop):
            if keys[position][:width] == prefix:
                yield from self.entries[keys[position]]


def comparable(value: Any, fold: bool = True) -> Any:
    """A value as an index key and a hash join see it: NULL below all, text without trailing blanks, folded unless told not to."""
    if value is None:
        return NULL_KEY
    if isinstance(value, str):
        value = value.rstrip(" ")
        return value.lower() if fold else value
    return value


@dataclass
class CheckConstraint:
    """CHECK: ``condition`` is a syntax tree."""

    name: str
    condition: Any
    text: str
    column: str = ""
    enabled: bool = True
    trusted: bool = True  # every row was tested


@dataclass
class ForeignKey:
    """FOREIGN KEY: ordinals here, table and column names there; actions are NO ACTION or CASCADE."""

    name: str
    columns: tuple[int, ...]
    referenced: str
    referenced_columns: tuple[str, ...]
    on_delete: str = "NO_ACTION"
    on_update: str = "NO_ACTION"
    enabled: bool = True
    trusted: bool = True


class Table:
    """One user, temporary or variable table.

    ``put`` is the only way rows change: do, undo and redo all go through it, so indexes never disagree with rows.
    """

    placement: Any = None  # aglab.tsql.store.partitions.Placement of the rows; None: the primary filegroup
    type_name = ""  # schema.name of the table type that a variable was declared with
    changes = 0  # rows put since the table was made or read from disk: a dynamic cursor looks whether there was one

    def __init__(self, object_id: int, schema: str, name: str, columns: list[ColumnDef]) -> None:
        self.id = object_id
        self.schema = schema
        self.name = name
        self.columns = columns
        self.indexes: list[Index] = []
        self.checks: list[CheckConstraint] = []
        self.foreign_keys: list[ForeignKey] = []
        self.triggers: list[Any] = []
        self.options: dict[str, Any] = {}
        self.rows: dict[int, Row] = {}
        self.next_row_id = 1
        self.created: Any = None
        self.modified: Any = None
        identity = next((column.identity for column in columns if column.identity), None)
        self.identity_next: int | None = identity[0] if identity else None
        self.identity_last: int | None = None
        self.counts: dict[Any, tuple[Any, list[int]]] = {}  # by placement: partition function, rows of each partition
        self._ordered = True
        self._last_key: Key | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"counts": {}, **state})  # a table that was kept before there were partitions

    @property
    def full_name(self) -> str:
        """schema.name"""
        return f"{self.schema}.{self.name}"

    @property
    def clustered(self) -> Index | None:
        """The clustered index, where there is one."""
        return next((index for index in self.indexes if index.clustered), None)

    def ordinal(self, name: str) -> int | None:
        """A column's position by name in any case."""
        lowered = name.lower()
        return next((i for i, column in enumerate(self.columns) if column.name.lower() == lowered), None)

    def put(self, row_id: int, after: Row | None) -> None:
        """Set (or with None remove) a row and keep every index in step."""
        self.changes += 1
        before = self.rows.get(row_id)
        for placement, (function, counts) in self.counts.items():
            if before is not None:
                counts[function.number(before[placement.column]) - 1] -= 1
            if after is not None:
                counts[function.number(after[placement.column]) - 1] += 1
        if before is not None:
            for index in self.indexes:
                if after is None or index.key(before) != index.key(after):
                    index.remove(row_id, before)
                    if after is not None:
                        index.add(row_id, after)
                        if index.clustered:
                            self._ordered = False
        elif after is not None:
            for index in self.indexes:
                index.add(row_id, after)
                if index.clustered:
                    key = index.key(after)
                    if self._last_key is not None and not self._last_key < key:
                        self._ordered = False
                    else:
                        self._last_key = key
        if after is None:
            self.rows.pop(row_id, None)
        else:
            self.rows[row_id] = after
        if row_id >= self.next_row_id:
            self.next_row_id = row_id + 1

    def duplicate(self, row_id: int, after: Row) -> Index | None:
        """The unique index that ``after`` would violate."""
        for index in self.indexes:
            if index.unique:
                ids = index.entries.get(index.key(after))
                if ids and any(other != row_id for other in ids):
                    return index
        return None

    def scan(self) -> dict[int, Row]:
        """All rows, in clustered key order where there is such an index, else in the order they came."""
        if not self._ordered:
            clustered = self.clustered
            if clustered is not None:
                rows = self.rows
                self.rows = {row_id: rows[row_id] for key in sorted(clustered.entries) for row_id in clustered.entries[key]}
                keys = clustered.sorted_keys()
                self._last_key = keys[-1] if keys else None
            self._ordered = True
        return self.rows

    def add_index(self, index: Index) -> None:
        """Attach an index and fill it; ids run 1 for clustered, 2 and up for the others."""
        used = {other.id for other in self.indexes}
        index.id = 1 if index.clustered else next(n for n in range(2, 1002) if n not in used)
        index.fold = tuple(not self.columns[ordinal].case_sensitive for ordinal in index.columns)
        index.entries = {}
        index._sorted = None
        for row_id, row in self.rows.items():
            index.add(row_id, row)
        self.indexes.append(index)
        if index.clustered:
            self._ordered = False

    def truncate(self) -> None:
        """Remove every row; the identity starts again."""
        self.replace_rows({})
        identity = next((column.identity for column in self.columns if column.identity), None)
        self.identity_next = identity[0] if identity else None
        self.identity_last = None

    def replace_rows(self, rows: dict[int, Row]) -> None:
        """Put all rows in one go (TRUNCATE and its undo, ALTER TABLE, snapshots)."""
        self.changes += 1
        self.rows = rows
        self.counts = {}
        self._last_key = None
        self._ordered = False
        for index in self.indexes:
            index.entries = {}
            index._sorted = None
            for row_id, row in rows.items():
                index.add(row_id, row)
        self.next_row_id = max([self.next_row_id, *(row_id + 1 for row_id in rows)]) if rows else self.next_row_id

    def take_identity(self) -> int:
        """The next identity value."""
        assert self.identity_next is not None
        step = next(column.identity for column in self.columns if column.identity)
        value = self.identity_next
        self.identity_next += step[1] if step else 1
        self.identity_last = value
        return value

    def untrusted(self) -> tuple[str, ...]:
        """Names of the constraints that some rows may break."""
        checks = tuple(one.name for one in self.checks if not one.trusted)
        return checks + tuple(one.name for one in self.foreign_keys if not one.trusted)

    def trust_all_but(self, names: tuple[str, ...]) -> None:
        """Set which constraints are not trusted."""
        self.checks = [replace(one, trusted=one.name not in names) for one in self.checks]
        self.foreign_keys = [replace(one, trusted=one.name not in names) for one in self.foreign_keys]

    def size_pages(self) -> int:
        """8 KB pages of the rows at declared widths: for file sizes and sp_spaceused."""
        return -(-len(self.rows) // self.rows_per_page())

    def rows_per_page(self) -> int:
        """Rows of declared width in one 8 KB page."""
        width = sum(column_bytes(column.type) for column in self.columns) + 9
        return max(8096 // width, 1)


def column_bytes(sql_type: SqlType) -> int:
    """Bytes that a value of the type takes on average (half of a variable length)."""
    fixed = {
        "bit": 1,
        "tinyint": 1,
        "smallint": 2,
        "int": 4,
        "bigint": 8,
        "real": 4,
        "float": 8,
        "money": 8,
        "smallmoney": 4,
        "date": 3,
        "datetime": 8,
        "smalldatetime": 4,
        "datetime2": 8,
        "datetimeoffset": 10,
        "time": 5,
        "uniqueidentifier": 16,
    }
    if sql_type.name in fixed:
        return fixed[sql_type.name]
    if sql_type.name in ("decimal", "numeric"):
        return 5 if sql_type.precision <= 9 else 9 if sql_type.precision <= 19 else 13 if sql_type.precision <= 28 else 17
    length = 24 if sql_type.length <= 0 else sql_type.length
    wide = 2 if sql_type.name.startswith("n") else 1
    return length * wide if sql_type.name in ("char", "nchar", "binary") else max(length * wide // 2, 2) + 2


def column_names(columns: Iterable[ColumnDef]) -> list[str]:
    """Names in order."""
    return [column.name for column in columns]
