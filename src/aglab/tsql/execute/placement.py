"""Where tables and indexes go: ON filegroup, ON scheme(column), and the rules that partitioning sets for indexes.

Without ON a table goes to the default filegroup and an index to where its table lies, cut the same way (it is *aligned*). A
nonclustered index stays where it is when its table moves later. Source: "CREATE TABLE", "CREATE INDEX", "Partitioned tables and
indexes"; errors from "Database Engine events and errors" (SQL Server documentation).
"""

from __future__ import annotations

from aglab.tsql.messages import TsqlError, error
from aglab.tsql.store.database import Database
from aglab.tsql.store.partitions import Placement, function_of, placement_of
from aglab.tsql.store.table import Index, Table

Storage = tuple[str, list[str]]  # the name after ON, and the columns in parentheses
UNCUTTABLE = frozenset({"text", "ntext", "image", "xml", "timestamp", "rowversion", "sql_variant"})


def find_filegroup(database: Database, name: str, line: int) -> int:
    """A filegroup's id; DEFAULT is the default one. Error 1921 ("Invalid filegroup")."""
    number = database.filegroup_id(name)
    if number is None and name.upper() == "DEFAULT":
        number = database.default_filegroup()
    if number is None:
        raise error(1921, "filegroup", name, line=line)
    return number


def resolve(database: Database, table: Table, storage: Storage, line: int) -> Placement:
    """The placement that ON means. Errors 1921, 2726, 1911, 7726."""
    name, columns = storage
    scheme = database.partition_schemes.get(name.lower())
    if scheme is None:
        if columns:
            raise error(1921, "partition scheme", name, line=line)
        return Placement(find_filegroup(database, name, line))
    function = database.partition_functions[scheme.function.lower()]
    if len(columns) != 1:
        raise error(2726, function.name, 1, line=line)
    ordinal = table.ordinal(columns[0])
    if ordinal is None:
        raise error(1911, columns[0], line=line)
    column = table.columns[ordinal]
    if column.type != function.type:
        raise error(7726, column.name, column.type, function.name, function.type, line=line)
    if column.computed is not None:  # the twin keeps no computed column
        raise error(7724, column.name, table.name, line=line)
    return Placement(scheme.id, ordinal)


def settle_table(database: Database, table: Table, storage: Storage | None, line: int) -> None:
    """Place a new table and its indexes; ON of its clustered key wins over that of the table."""
    clustered = table.clustered
    own = clustered.options.pop("ON", None) if clustered is not None else None
    wanted = own or storage
    table.placement = resolve(database, table, wanted, line) if wanted else Placement(database.default_filegroup())
    table.counts = {}
    for index in table.indexes:
        settle_index(database, table, index, line)


def settle_index(database: Database, table: Table, index: Index, line: int) -> None:
    """Place one index: by its ON, else where its table lies; a clustered one takes the table along. Error 1908."""
    storage = index.options.pop("ON", None)
    if index.clustered:
        if storage is not None:
            table.placement = resolve(database, table, storage, line)
            table.counts = {}
    elif storage is not None:
        index.placement = resolve(database, table, storage, line)
    elif index.placement is None:
        index.placement = placement_of(table, None)
    column = placement_of(table, index).column
    if column >= 0 and index.unique and column not in index.columns:
        problem = error(1908, table.columns[column].name, index.name, line=line)
        if index.constraint:
            problem.followed_by = error(1750, line=line)  # type: ignore[attr-defined]
        raise problem


def check_partitioned(database: Database, table: Table, index: Index | None, number: int, line: int, statement: str) -> None:
    """Refuse a partition number that a table (or one of its indexes) does not have. Errors 7729, 7722."""
    function = function_of(database, placement_of(table, index))
    kind, name = ("table", table.name) if index is None else ("index", index.name)
    if function is None:
        raise error(7729, statement, kind, name, line=line)
    if not 1 <= number <= function.count:
        raise error(7722, number, kind, name, function.count, line=line)


def check_populated(database: Database, table: Table) -> None:
    """Error 622 where a filegroup that rows go to has no file."""
    from aglab.tsql.store.partitions import filegroups_of

    with_files = {file.filegroup_id for file in database.files}
    for index in (None, *table.indexes):
        for group in filegroups_of(database, placement_of(table, index)):
            if group not in with_files:
                problem: TsqlError = error(622, database.filegroups[group]["name"])
                raise problem
