"""sp_helptext, sp_help, sp_rename, sp_spaceused, and the procedures that shorten msdb's backup history."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import SqlType, nvarchar, varchar
from aglab.tsql.convert import converter
from aglab.tsql.functions.names import find_object, split_name
from aglab.tsql.host import Command
from aglab.tsql.messages import KNOWLEDGE_PAGE, error, info
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn
from aglab.tsql.store.database import Database, Module
from aglab.tsql.store.files import SYSTEM_PAGES, parts_of
from aglab.tsql.store.table import Table


@procedure("sp_helptext")
def sp_helptext(executor: Any, arguments: Any) -> Any:
    """@objname: the text of a module, a line per row."""
    name = arguments.required("@objname", 0)
    found = find_object(executor.runtime, name)
    if found is None:
        raise error(15009, name, executor.session.database)
    if not isinstance(found[1], Module):
        raise error(15197, name)
    if found[1].definition is not None and "ENCRYPTION" in found[1].definition.options:
        yield info(15471, found[1].name)
        return 0
    rows = [(line + "\r\n",) for line in found[1].text.splitlines()]
    yield from executor.send([OutColumn("Text", nvarchar(255))], rows)
    return 0


@procedure("sp_flush_log")
def sp_flush_log(executor: Any, arguments: Any) -> Any:
    """Delayed durable transactions of this database become durable."""
    yield from executor._node(Command("SP_FLUSH_LOG", executor.session.database), 0)
    return 0


@procedure("sp_delete_backuphistory", in_msdb=True)
def sp_delete_backuphistory(executor: Any, arguments: Any) -> Any:
    """@oldest_date: msdb forgets backups and restores that are older."""
    oldest = arguments.required("@oldest_date", 0)
    if isinstance(oldest, str):
        oldest = converter(nvarchar(100), SqlType("datetime"), None, False)(oldest)  # type: ignore[misc]
    yield from executor._node(Command("SP_DELETE_BACKUPHISTORY", "", {"OLDEST": oldest}), 0)
    return 0


@procedure("sp_delete_database_backuphistory", in_msdb=True)
def sp_delete_database_backuphistory(executor: Any, arguments: Any) -> Any:
    """@database_name: msdb forgets the backups and restores of a database."""
    yield from executor._node(Command("SP_DELETE_BACKUPHISTORY", str(arguments.required("@database_name", 0))), 0)
    return 0


def _kb(pages: int) -> str:
    return f"{pages * 8} KB"


def _pages_of(database: Database, tables: list[Table]) -> tuple[int, int, int]:
    """Reserved, data and index pages of tables: what sys.allocation_units says."""
    from aglab.tsql.catalog.partitions import sizes

    reserved = data = index = 0
    for table in tables:
        for one, _, _, rows in parts_of(database, table):
            pages, used, held = sizes(table, one, rows)
            own = pages if one is None or one.clustered else 0
            reserved, data, index = reserved + held, data + own, index + used - own
    return reserved, data, index


@procedure("sp_spaceused")
def sp_spaceused(executor: Any, arguments: Any) -> Any:
    """@objname, @updateusage, @mode, @oneresultset: rows and space of a table, or of the database without one.

    Error 15009 for a table that is not there; pages are always counted as they are, so that
    @updateusage has nothing to correct.
    """
    name = arguments.value("@objname", 0)
    for number, option in ((1, "@updateusage"), (2, "@mode")):
        allowed = ("true", "false") if number == 1 else ("all", "local_only", "remote_only")
        word = arguments.value(option, number)
        if word is not None and str(word).lower() not in allowed:
            raise error(59005, f"{option} = {word}", f"it must be {', '.join(allowed)}", KNOWLEDGE_PAGE)
    database = executor.runtime.database
    narrow = varchar(18)
    if name is None:
        reserved, data, index = _pages_of(database, list(database.tables()))
        reserved, index = reserved + SYSTEM_PAGES, index + SYSTEM_PAGES  # the catalogue's own
        total = sum(f.size for f in database.files)
        free = max(sum(f.size for f in database.files if f.type == 0) - reserved, 0)
        head = [OutColumn(n, narrow) for n in ("database_size", "unallocated space")]
        head_row = (f"{total / 128:.2f} MB", f"{free / 128:.2f} MB")
        space = [OutColumn(n, narrow) for n in ("reserved", "data", "index_size", "unused")]
        space_row = tuple(map(_kb, (reserved, data, index, max(reserved - data - index, 0))))
        named = [OutColumn("database_name", nvarchar(128))]
        if arguments.value("@oneresultset", 3):
            yield from executor.send([*named, *head, *space], [(database.name, *head_row, *space_row)])
        else:
            yield from executor.send([*named, *head], [(database.name, *head_row)])
            yield from executor.send(space, [space_row])
        return 0
    found = find_object(executor.runtime, name)
    if found is None or not isinstance(found[1], Table):
        raise error(15009, name, database.name)
    table = found[1]
    reserved, data, index = _pages_of(found[0], [table])
    columns = [OutColumn("name", nvarchar(128)), OutColumn("rows", varchar(20))]
    columns += [OutColumn(n, narrow) for n in ("reserved", "data", "index_size", "unused")]
    sizes = tuple(map(_kb, (reserved, data, index, max(reserved - data - index, 0))))
    yield from executor.send(columns, [(table.name, str(len(table.rows)).ljust(20), *sizes)])
    return 0


@procedure("sp_rename")
def sp_rename(executor: Any, arguments: Any) -> Any:
    """@objname, @newname, @objtype: a table or a column."""
    from aglab.tsql.effects import Message
    from aglab.tsql.host import SchemaChange
    from aglab.tsql.store.database import TableDefinition

    name, new = arguments.required("@objname", 0), arguments.required("@newname", 1)
    kind = str(arguments.value("@objtype", 2) or "OBJECT").upper()
    parts = split_name(name)
    found = find_object(executor.runtime, ".".join(parts[:-1]) if kind == "COLUMN" else name)
    if found is None or not isinstance(found[1], Table):
        raise error(15225, name, executor.session.database, f"'{kind}'")
    database, table = found[0], found[1]

    def work() -> Any:
        if kind == "COLUMN":
            ordinal = table.ordinal(parts[-1])
            if ordinal is None:
                raise error(15248, f"'{kind}'")
            column = table.columns[ordinal]
            old = column.name
            column.name = new

            def undo() -> None:
                column.name = old

            database.version += 1
            executor._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), undo)
            return None
        if database.find(table.schema, new) is not None:
            raise error(15335, new)
        old = table.name
        executor._log_schema(database, SchemaChange("drop", "table", table.full_name), lambda: rename(old))
        rename(new)
        executor._log_schema(database, SchemaChange("put", "table", table.full_name, TableDefinition(table)), lambda: None)
        return None
        yield

    def rename(target: str) -> None:
        database.drop(table)
        table.name = target
        database.put(table)

    yield from executor.in_transaction(work)
    yield Message(15477, 0, 1, "Caution: Changing any part of an object name could break scripts and stored procedures.")
    return 0
