"""What drivers ask before a bulk copy: sp_tablecollations_100, the collation of each text column as the wire carries it.

SqlBulkCopy reads the columns by position: colid, name, the five bytes of the wire, the collation's name. Every collation travels
here as that of the node (SQL_Latin1_General_CP1_CI_AS).
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, SYSNAME, SqlType
from aglab.tsql.functions.metadata import find_object
from aglab.tsql.procedures.registry import procedure
from aglab.tsql.query.scope import OutColumn
from aglab.tsql.store.table import Table

WIRE_COLLATION = bytes.fromhex("0904D00034")
TEXT = ("char", "varchar", "text", "nchar", "nvarchar", "ntext")


def _collations(executor: Any, arguments: Any, suffix: str) -> Any:
    name = str(arguments.required("@object", 0) or "").lstrip(".")
    bare = name.rpartition(".")[2].strip('[]"')
    if bare.startswith("#"):
        table: Any = executor.session.temp_tables.get(bare.lower())
    else:
        found = find_object(executor.runtime, name)
        table = found[1] if found is not None else None
    rows = [
        (
            number,
            column.name,
            WIRE_COLLATION if column.type.name in TEXT else None,
            column.collation if column.type.name in TEXT else None,
        )
        for number, column in enumerate(table.columns if isinstance(table, Table) else (), 1)
    ]
    columns = [
        OutColumn("colid", INT),
        OutColumn("name", SYSNAME),
        OutColumn(f"tds_collation{suffix}", SqlType("binary", length=5)),
        OutColumn(f"collation{suffix}", SYSNAME),
    ]
    yield from executor.send(columns, rows)
    return 0


@procedure("sp_tablecollations_100")
def sp_tablecollations_100(executor: Any, arguments: Any) -> Any:
    """@object: of clients from SQL Server 2008 on."""
    return (yield from _collations(executor, arguments, "_100"))


@procedure("sp_tablecollations_90")
def sp_tablecollations_90(executor: Any, arguments: Any) -> Any:
    """@object: of clients of SQL Server 2005."""
    return (yield from _collations(executor, arguments, "_90"))


@procedure("sp_tablecollations")
def sp_tablecollations(executor: Any, arguments: Any) -> Any:
    """@object: of older clients."""
    return (yield from _collations(executor, arguments, "_28"))
