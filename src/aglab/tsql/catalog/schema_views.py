"""INFORMATION_SCHEMA views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aglab.tsql.catalog.registry import provide
from aglab.tsql.store.database import Database
from aglab.tsql.store.table import ColumnDef, Table


@provide(
    """INFORMATION_SCHEMA.TABLES: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA sysname, TABLE_NAME sysname!, TABLE_TYPE
    varchar(10)"""
)
def _tables(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in database.tables():
        yield database.name, table.schema, table.name, "BASE TABLE"
    for view in database.modules("view"):
        yield database.name, view.schema, view.name, "VIEW"


def _column_row(database: Database, table: Table, number: int, column: ColumnDef) -> dict[str, Any]:
    t = column.type
    text = t.name in ("char", "varchar", "nchar", "nvarchar", "text", "ntext")
    binary = t.name in ("binary", "varbinary", "image")
    numbers = {
        "tinyint": (3, 10, 0),
        "smallint": (5, 10, 0),
        "int": (10, 10, 0),
        "bigint": (19, 10, 0),
        "money": (19, 10, 4),
        "smallmoney": (10, 10, 4),
        "float": (53, 2, None),
        "real": (24, 2, None),
    }
    precision, radix, scale = numbers.get(
        t.name, (t.precision, 10, t.scale) if t.name in ("decimal", "numeric") else (None, None, None)
    )
    moment = {"date": 0, "datetime": 3, "smalldatetime": 0}.get(
        t.name, t.scale if t.name in ("time", "datetime2", "datetimeoffset") else None
    )
    return {
        "table_catalog": database.name,
        "table_schema": table.schema,
        "table_name": table.name,
        "column_name": column.name,
        "ordinal_position": number,
        "column_default": f"({column.default_text})" if column.default is not None else None,
        "is_nullable": "YES" if column.nullable else "NO",
        "data_type": t.name,
        "character_maximum_length": t.length if text or binary else None,
        "character_octet_length": (t.length * 2 if t.name[0] == "n" and t.length > 0 else t.length) if text or binary else None,
        "numeric_precision": precision,
        "numeric_precision_radix": radix,
        "numeric_scale": scale,
        "datetime_precision": moment,
        "character_set_name": ("UNICODE" if t.name[0] == "n" else "iso_1") if text else None,
        "collation_name": column.collation if text else None,
    }


@provide(
    """INFORMATION_SCHEMA.COLUMNS: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128)!, COLUMN_NAME nvarchar(128),
    ORDINAL_POSITION int!, COLUMN_DEFAULT nvarchar(4000), IS_NULLABLE varchar(3), DATA_TYPE nvarchar(128), CHARACTER_MAXIMUM_LENGTH int,
    CHARACTER_OCTET_LENGTH int, NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE int, DATETIME_PRECISION smallint,
    CHARACTER_SET_CATALOG sysname, CHARACTER_SET_SCHEMA sysname, CHARACTER_SET_NAME sysname, COLLATION_CATALOG sysname, COLLATION_SCHEMA sysname,
    COLLATION_NAME sysname, DOMAIN_CATALOG sysname, DOMAIN_SCHEMA sysname, DOMAIN_NAME sysname"""
)
def _columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    for table in database.tables():
        for number, column in enumerate(table.columns, 1):
            yield _column_row(database, table, number, column)


@provide(
    """INFORMATION_SCHEMA.SCHEMATA: CATALOG_NAME nvarchar(128), SCHEMA_NAME nvarchar(128)!, SCHEMA_OWNER nvarchar(128),
    DEFAULT_CHARACTER_SET_CATALOG sysname, DEFAULT_CHARACTER_SET_SCHEMA sysname, DEFAULT_CHARACTER_SET_NAME sysname"""
)
def _schemata(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for name in database.schemas:
        yield database.name, name, "dbo", None, None, "iso_1"


@provide(
    """INFORMATION_SCHEMA.ROUTINES: ROUTINE_CATALOG nvarchar(128), ROUTINE_SCHEMA nvarchar(128), ROUTINE_NAME nvarchar(128)!,
    ROUTINE_TYPE nvarchar(20), ROUTINE_DEFINITION nvarchar(4000)"""
)
def _routines(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for module in database.modules():
        if module.kind in ("procedure", "function"):
            yield database.name, module.schema, module.name, module.kind.upper(), module.text[:4000]


@provide(
    """INFORMATION_SCHEMA.VIEWS: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128)!,
    VIEW_DEFINITION nvarchar(4000), CHECK_OPTION varchar(7), IS_UPDATABLE varchar(2)!"""
)
def _views(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for view in database.modules("view"):
        yield database.name, view.schema, view.name, view.text[:4000], "NONE", "NO"


@provide(
    """INFORMATION_SCHEMA.TABLE_CONSTRAINTS: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA nvarchar(128),
    CONSTRAINT_NAME sysname!, TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME sysname!,
    CONSTRAINT_TYPE varchar(11), IS_DEFERRABLE varchar(2)!, INITIALLY_DEFERRED varchar(2)!"""
)
def _constraints(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in database.tables():
        names = [(i.name, "PRIMARY KEY" if i.primary_key else "UNIQUE") for i in table.indexes if i.constraint]
        names += [(key.name, "FOREIGN KEY") for key in table.foreign_keys] + [(check.name, "CHECK") for check in table.checks]
        for name, kind in names:
            yield database.name, table.schema, name, database.name, table.schema, table.name, kind, "NO", "NO"


@provide(
    """INFORMATION_SCHEMA.KEY_COLUMN_USAGE: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA nvarchar(128),
    CONSTRAINT_NAME nvarchar(128)!, TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128)!,
    COLUMN_NAME nvarchar(128), ORDINAL_POSITION int!"""
)
def _key_usage(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in database.tables():
        for index in table.indexes:
            if index.constraint:
                for place, column in enumerate(index.columns, 1):
                    yield (
                        database.name,
                        table.schema,
                        index.name,
                        database.name,
                        table.schema,
                        table.name,
                        table.columns[column].name,
                        place,
                    )
        for key in table.foreign_keys:
            for place, column in enumerate(key.columns, 1):
                yield (
                    database.name,
                    table.schema,
                    key.name,
                    database.name,
                    table.schema,
                    table.name,
                    table.columns[column].name,
                    place,
                )


@provide(
    """INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA nvarchar(128),
    CONSTRAINT_NAME sysname!, UNIQUE_CONSTRAINT_CATALOG nvarchar(128), UNIQUE_CONSTRAINT_SCHEMA nvarchar(128),
    UNIQUE_CONSTRAINT_NAME sysname, MATCH_OPTION varchar(7), UPDATE_RULE varchar(11), DELETE_RULE varchar(11)"""
)
def _references(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in database.tables():
        for key in table.foreign_keys:
            schema, _, name = key.referenced.partition(".")
            other = database.find(schema, name)
            unique = None
            if isinstance(other, Table):
                wanted = {column.lower() for column in key.referenced_columns}
                unique = next(
                    (i for i in other.indexes if i.unique and {other.columns[o].name.lower() for o in i.columns} == wanted), None
                )
            rules = (key.on_update.replace("_", " "), key.on_delete.replace("_", " "))
            yield (
                database.name,
                table.schema,
                key.name,
                database.name,
                schema,
                unique.name if unique is not None else None,
                "SIMPLE",
                *rules,
            )


@provide(
    """INFORMATION_SCHEMA.CHECK_CONSTRAINTS: CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA nvarchar(128),
    CONSTRAINT_NAME sysname!, CHECK_CLAUSE nvarchar(4000)"""
)
def _checks(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in database.tables():
        for check in table.checks:
            yield database.name, table.schema, check.name, f"({check.text})"


@provide(
    """INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE: TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128)!,
    COLUMN_NAME nvarchar(128), CONSTRAINT_CATALOG nvarchar(128), CONSTRAINT_SCHEMA nvarchar(128), CONSTRAINT_NAME nvarchar(128)!"""
)
def _constraint_columns(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for table in database.tables():
        used = [(i.name, table.columns[o].name) for i in table.indexes if i.constraint for o in i.columns]
        used += [(key.name, table.columns[o].name) for key in table.foreign_keys for o in key.columns]
        used += [(check.name, check.column) for check in table.checks if check.column]
        for name, column in used:
            yield database.name, table.schema, table.name, column, database.name, table.schema, name


@provide(
    """INFORMATION_SCHEMA.SEQUENCES: SEQUENCE_CATALOG nvarchar(128), SEQUENCE_SCHEMA nvarchar(128), SEQUENCE_NAME nvarchar(128)!,
    DATA_TYPE nvarchar(128)!, NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE int, START_VALUE sql_variant!,
    MINIMUM_VALUE sql_variant!, MAXIMUM_VALUE sql_variant!, INCREMENT sql_variant!, CYCLE_OPTION bit, DECLARED_DATA_TYPE int,
    DECLARED_NUMERIC_PRECISION tinyint, DECLARED_NUMERIC_SCALE tinyint"""
)
def _sequences(runtime: Any, database: Database, arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    return iter(())  # CREATE SEQUENCE is refused, so there is none
