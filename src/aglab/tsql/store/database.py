"""A database: options, files, schemas and objects, and the application of another replica's commit records."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from aglab.tsql.host import CommitRecord, RowChange, SchemaChange
from aglab.tsql.store.partitions import FIRST_FUNCTION_ID, FIRST_SCHEME_ID, PartitionFunction, PartitionScheme
from aglab.tsql.store.table import Table
from aglab.tsql.store.user_types import FIRST_USER_TYPE_ID, UserType

DEFAULT_COLLATION = "SQL_Latin1_General_CP1_CI_AS"
FIRST_OBJECT_ID = 581577110
NEVER_CHECKED = "1900-01-01 00:00:00.000"  # what DATABASEPROPERTYEX says before the first DBCC CHECKDB


@dataclass
class DataFile:
    """A database file; sizes in 8 KB pages (growth too unless ``is_percent_growth``), as sys.database_files shows them."""

    file_id: int
    type: int  # 0 rows, 1 log
    name: str
    physical_name: str
    size: int = 1024
    max_size: int = -1
    growth: int = 8192
    is_percent_growth: bool = False
    filegroup_id: int = 1
    state: int = 0
    is_persistent_log_buffer: bool = False


@dataclass
class Module:
    """A procedure, function, view or trigger: its text, its parsed parameters and body."""

    object_id: int
    schema: str
    name: str
    kind: str  # "procedure", "function", "view", "trigger"
    text: str
    definition: Any = None  # the parsed CREATE statement
    database: str = ""
    created: Any = None

    @property
    def full_name(self) -> str:
        """schema.name"""
        return f"{self.schema}.{self.name}"


# ALTER DATABASE SET options with a column of sys.databases: the column's default.
OPTION_DEFAULTS: dict[str, Any] = {
    "compatibility_level": 160,
    "user_access": 0,
    "is_read_only": False,
    "is_auto_close_on": False,
    "is_auto_shrink_on": False,
    "state": 0,
    "snapshot_isolation_state": 0,
    "is_read_committed_snapshot_on": False,
    "recovery_model": 1,
    "page_verify_option": 2,
    "is_auto_create_stats_on": True,
    "is_auto_create_stats_incremental_on": False,
    "is_auto_update_stats_on": True,
    "is_auto_update_stats_async_on": False,
    "is_ansi_null_default_on": False,
    "is_ansi_nulls_on": False,
    "is_ansi_padding_on": False,
    "is_ansi_warnings_on": False,
    "is_arithabort_on": False,
    "is_concat_null_yields_null_on": False,
    "is_numeric_roundabort_on": False,
    "is_quoted_identifier_on": False,
    "is_recursive_triggers_on": False,
    "is_cursor_close_on_commit_on": False,
    "is_local_cursor_default": False,
    "is_trustworthy_on": False,
    "is_db_chaining_on": False,
    "is_parameterization_forced": False,
    "is_query_store_on": False,
    "is_broker_enabled": False,
    "log_reuse_wait": 0,
    "is_date_correlation_on": False,
    "is_cdc_enabled": False,
    "is_encrypted": False,
    "is_honor_broker_priority_on": False,
    "replica_id": None,
    "group_database_id": None,
    "resource_pool_id": None,
    "containment": 0,
    "target_recovery_time_in_seconds": 60,
    "delayed_durability": 0,
    "is_memory_optimized_elevate_to_snapshot_on": False,
    "is_mixed_page_allocation_on": False,
    "is_accelerated_database_recovery_on": False,
    "is_memory_optimized_enabled": True,
}


_MADE = itertools.count(1)


@dataclass
class Database:
    """One database and everything in it."""

    name: str
    id: int
    collation: str = DEFAULT_COLLATION
    options: dict[str, Any] = field(default_factory=dict)
    files: list[DataFile] = field(default_factory=list)
    filegroups: dict[int, dict[str, Any]] = field(default_factory=dict)
    scoped_configurations: dict[str, Any] = field(default_factory=dict)
    schemas: dict[str, int] = field(default_factory=dict)  # name as created -> schema_id
    objects: dict[tuple[str, str], Table | Module] = field(default_factory=dict)  # (schema, name) in lower case
    principals: dict[str, dict[str, Any]] = field(default_factory=dict)
    partition_functions: dict[str, PartitionFunction] = field(default_factory=dict)  # by name in lower case
    partition_schemes: dict[str, PartitionScheme] = field(default_factory=dict)
    part: str = ""  # "master" or "msdb" of a contained availability group
    logins: dict[str, dict[str, Any]] = field(default_factory=dict)  # of a contained master, by name in lower case
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)  # SQL Server Agent's, in an msdb, by name in lower case
    types: dict[tuple[str, str], UserType] = field(default_factory=dict)  # (schema, name) in lower case
    version: int = 0  # grows with every schema change: cached plans look at it
    created: Any = None
    _object_ids: Any = field(default_factory=lambda: itertools.count(FIRST_OBJECT_ID, 16))

    def __post_init__(self) -> None:
        self.version += next(_MADE) * 1_000_000_007  # no plan for a dropped database of this name fits
        self.options = {**OPTION_DEFAULTS, **self.options}
        if self.name in ("master", "tempdb", "msdb"):
            self.options["recovery_model"] = 3
        self.schemas = {"dbo": 1, "guest": 2, "INFORMATION_SCHEMA": 3, "sys": 4, **self.schemas}
        self.filegroups = self.filegroups or {1: {"name": "PRIMARY", "is_default": True}}
        if not self.files:
            self.files = [
                DataFile(1, 0, self.name, f"/var/opt/mssql/data/{self.name}.mdf", size=1024),
                DataFile(2, 1, f"{self.name}_log", f"/var/opt/mssql/data/{self.name}_log.ldf", size=1024, filegroup_id=0),
            ]

    def __setstate__(self, state: dict[str, Any]) -> None:
        # a database that was kept before there were partitions, contained groups, or types
        later = {"partition_functions": {}, "partition_schemes": {}, "part": "", "logins": {}, "jobs": {}, "types": {}}
        self.__dict__.update({**later, **state})

    @property
    def system(self) -> str:
        """What it is to the connections that use it: "master", "msdb" (a contained group's too), else its name in lower case."""
        return self.part or self.name.lower()

    def next_function_id(self) -> int:
        """A free id for a partition function."""
        return max([FIRST_FUNCTION_ID - 1, *(one.id for one in self.partition_functions.values())]) + 1

    def next_scheme_id(self) -> int:
        """A free id for a partition scheme: a data space, as a filegroup is."""
        return max([FIRST_SCHEME_ID - 1, *(one.id for one in self.partition_schemes.values())]) + 1

    def default_filegroup(self) -> int:
        """The filegroup that takes what names none."""
        return next((number for number, group in self.filegroups.items() if group.get("is_default")), 1)

    def filegroup_id(self, name: str) -> int | None:
        """A filegroup by name in any case."""
        lowered = name.lower()
        return next((number for number, group in self.filegroups.items() if group["name"].lower() == lowered), None)

    def set_partitioning(self, kind: str, name: str, item: PartitionFunction | PartitionScheme | None) -> None:
        """Create, replace or (None) drop a partition function or scheme; kept row counts follow by themselves."""
        book: dict[str, Any] = self.partition_functions if kind == "partition function" else self.partition_schemes
        if item is None:
            book.pop(name.lower(), None)
        else:
            book[name.lower()] = item
        for table in self.tables():
            table.counts = {}
        self.version += 1

    def next_type_id(self) -> int:
        """A free user_type_id."""
        return max([FIRST_USER_TYPE_ID - 1, *(one.id for one in self.types.values())]) + 1

    def type_id(self, full_name: str) -> int | None:
        """user_type_id of a type by schema.name."""
        schema, _, name = full_name.lower().partition(".")
        found = self.types.get((schema, name))
        return found.id if found is not None else None

    def set_type(self, item: UserType, present: bool) -> None:
        """Create or drop a type."""
        key = (item.schema.lower(), item.name.lower())
        if present:
            self.types[key] = item
        else:
            self.types.pop(key, None)
        self.version += 1

    def next_object_id(self) -> int:
        """An object id that was never used in this database."""
        return next(self._object_ids)

    def schema_name(self, name: str) -> str | None:
        """The schema's name as created, or None."""
        lowered = name.lower()
        return next((schema for schema in self.schemas if schema.lower() == lowered), None)

    def find(self, schema: str, name: str) -> Table | Module | None:
        """An object by schema and name in any case; an empty schema means dbo."""
        return self.objects.get(((schema or "dbo").lower(), name.lower()))

    def by_id(self, object_id: int) -> Table | Module | None:
        """An object by its id."""
        return next(
            (item for item in self.objects.values() if (item.id if isinstance(item, Table) else item.object_id) == object_id),
            None,
        )

    def put(self, item: Table | Module) -> None:
        """Create or replace an object."""
        self.objects[(item.schema.lower(), item.name.lower())] = item
        self.version += 1

    def drop(self, item: Table | Module) -> None:
        """Remove an object."""
        self.objects.pop((item.schema.lower(), item.name.lower()), None)
        self.version += 1

    def tables(self) -> Iterator[Table]:
        """User tables in the order of creation."""
        return (item for item in self.objects.values() if isinstance(item, Table))

    def modules(self, kind: str = "") -> Iterator[Module]:
        """Procedures, functions, views, triggers."""
        return (item for item in self.objects.values() if isinstance(item, Module) and (not kind or item.kind == kind))

    def apply(self, record: CommitRecord) -> None:
        """Redo another replica's commit here, in log order."""
        for change in record.changes:
            if isinstance(change, RowChange):
                schema, _, name = change.table.partition(".")
                table = self.find(schema, name)
                if isinstance(table, Table):
                    table.put(change.row_id, change.after)
                    self._follow_identity(table, change.after)
            else:
                self.apply_schema(change)

    def apply_schema(self, change: SchemaChange) -> None:
        """Redo a DDL statement: the definition is shared, rows and indexes are this replica's own."""
        schema, _, name = change.name.partition(".")
        if change.kind == "schema":
            if change.action == "put":
                self.schemas[change.name] = change.definition
            else:
                self.schemas.pop(change.name, None)
            self.version += 1
        elif change.kind == "truncate":
            table = self.find(schema, name)
            if isinstance(table, Table):
                table.truncate()
        elif change.kind == "type":
            self.set_type(change.definition, change.action == "put")
        elif change.kind == "untrusted":
            table = self.find(schema, name)
            if isinstance(table, Table):
                table.trust_all_but(change.definition)
        elif change.kind == "files":
            files, filegroups = change.definition
            own = [one for one in self.files if one.type == 1]  # each replica has log files of its own
            self.files = sorted((*own, *(replace(one) for one in files)), key=lambda one: one.file_id)
            self.filegroups = {n: dict(g) for n, g in filegroups.items()}
        elif change.kind in ("partition function", "partition scheme"):
            self.set_partitioning(change.kind, change.name, None if change.action == "drop" else change.definition)
        elif change.kind in ("logins", "users"):
            kept = self.logins if change.kind == "logins" else self.principals
            kept.clear()
            kept.update(deepcopy(change.definition))
        elif change.kind == "job":
            if change.action == "put":
                self.jobs[change.name.lower()] = deepcopy(change.definition)
            else:
                self.jobs.pop(change.name.lower(), None)
        elif change.kind == "option":
            self.options[change.name] = change.definition
        elif change.action == "drop":
            item = self.find(schema, name)
            if item is not None:
                self.drop(item)
        else:
            self.put(change.definition.clone() if isinstance(change.definition, TableDefinition) else change.definition)

    @staticmethod
    def _follow_identity(table: Table, row: tuple[Any, ...] | None) -> None:
        if row is None or table.identity_next is None:
            return
        for ordinal, column in enumerate(table.columns):
            if column.identity and row[ordinal] is not None and row[ordinal] >= table.identity_next:
                table.identity_next = row[ordinal] + column.identity[1]
                table.identity_last = row[ordinal]


@dataclass
class TableDefinition:
    """A table's shape and rows at one moment, so that a replica can build its own."""

    table: Table

    def clone(self) -> Table:
        """An independent table with the same shape and rows."""
        from copy import copy

        source = self.table
        table = Table(source.id, source.schema, source.name, [copy(column) for column in source.columns])
        table.checks, table.foreign_keys = list(source.checks), list(source.foreign_keys)
        table.placement = source.placement
        table.options, table.created, table.modified = dict(source.options), source.created, source.modified
        table.rows, table.next_row_id = dict(source.rows), source.next_row_id
        table.identity_next, table.identity_last = source.identity_next, source.identity_last
        for index in source.indexes:
            duplicate = copy(index)
            duplicate.options = dict(index.options)
            table.add_index(duplicate)
            duplicate.id = index.id
        return table
