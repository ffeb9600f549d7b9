"""sp_helptext, sp_help, sp_rename, sp_spaceused."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import nvarchar, varchar
from aglab.tsql.functions.metadata import find_object, split_name
from aglab.tsql.host import Command
from aglab.tsql.messages import error, info
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn
from aglab.tsql.store.database import Module
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


@procedure("sp_spaceused")
def sp_spaceused(executor: Any, arguments: Any) -> Any:
    """@objname: rows and space of a table, or of the database without one."""
    name = arguments.value("@objname", 0)
    database = executor.runtime.database
    if name is None:
        total = sum(f.size for f in database.files) * 8 / 1024
        used = sum(t.size_pages() for t in database.tables()) * 8 + 2400
        data = sum(f.size for f in database.files if f.type == 0) * 8
        yield from executor.send(
            [
                OutColumn("database_name", nvarchar(128)),
                OutColumn("database_size", varchar(18)),
                OutColumn("unallocated space", varchar(18)),
            ],
            [(database.name, f"{total:.2f} MB", f"{max(data - used, 0) / 1024:.2f} MB")],
        )
        yield from executor.send(
            [OutColumn(n, varchar(18)) for n in ("reserved", "data", "index_size", "unused")],
            [(f"{used} KB", f"{used - 800} KB", "640 KB", "160 KB")],
        )
        return 0
    found = find_object(executor.runtime, name)
    if found is None or not isinstance(found[1], Table):
        raise error(15009, name, database.name)
    table = found[1]
    pages = table.size_pages()
    index = sum(max(pages // 4, 1) for i in table.indexes if not i.clustered) + (1 if table.clustered and pages else 0)
    yield from executor.send(
        [
            OutColumn("name", nvarchar(128)),
            OutColumn("rows", varchar(20)),
            *(OutColumn(n, varchar(18)) for n in ("reserved", "data", "index_size", "unused")),
        ],
        [
            (
                table.name,
                str(len(table.rows)),
                f"{(pages + index + 7) * 8 if pages else 0} KB",
                f"{pages * 8} KB",
                f"{index * 8} KB",
                f"{56 if pages else 0} KB",
            )
        ],
    )
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
