"""SQL Server data types as values: what a column declares and what the wire encodes.

A :class:`SqlType` names a type as T-SQL does (``decimal(18,2)``, ``nvarchar(128)``); Python values
that travel with it are ``bool`` for bit, ``int``, ``float``, ``decimal.Decimal`` (decimal, money),
``str``, ``bytes``, ``uuid.UUID``, ``datetime.date``, ``datetime.time`` and ``datetime.datetime``;
``None`` is NULL. Source: "Data types (Transact-SQL)", SQL Server documentation.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX = -1  # the length of varchar(max), nvarchar(max), varbinary(max)

FIXED = frozenset(
    {"bit", "tinyint", "smallint", "int", "bigint", "real", "float", "money", "smallmoney", "datetime", "smalldatetime"}
    | {"date", "uniqueidentifier", "text", "ntext", "image", "xml", "sql_variant"}
)
SIZED = frozenset(["char", "varchar", "nchar", "nvarchar", "binary", "varbinary"])
SCALED = frozenset(["time", "datetime2", "datetimeoffset"])
EXACT = frozenset(["decimal", "numeric"])


@dataclass(frozen=True, slots=True)
class SqlType:
    """One T-SQL type.

    Parameters
    ----------
    name : str
        Lower-case T-SQL name, e.g. ``"nvarchar"``.
    length : int
        Characters (n-types) or bytes; ``MAX`` for ``max``; 0 where the type has none.
    precision, scale : int
        For decimal/numeric; ``scale`` also for time, datetime2 and datetimeoffset (0-7).
    """

    name: str
    length: int = 0
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        if self.name in SIZED:
            return f"{self.name}({'max' if self.length == MAX else self.length})"
        if self.name in EXACT:
            return f"{self.name}({self.precision},{self.scale})"
        if self.name in SCALED:
            return f"{self.name}({self.scale})"
        return self.name


@dataclass(frozen=True, slots=True)
class Column:
    """A result or table column: name, type, whether it may be NULL."""

    name: str
    type: SqlType
    nullable: bool = True
    identity: bool = False


@dataclass(frozen=True, slots=True)
class TableValue:
    """The rows of a table-valued parameter as a client sent them.

    ``defaults``: ordinals of columns that take their default; rows hold None there. ``type_name``: as the client named it, with
    its schema; empty where the procedure's parameter says it.
    """

    type_name: str
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    defaults: frozenset[int] = frozenset()


BIT = SqlType("bit")
TINYINT = SqlType("tinyint")
SMALLINT = SqlType("smallint")
INT = SqlType("int")
BIGINT = SqlType("bigint")
REAL = SqlType("real")
FLOAT = SqlType("float")
MONEY = SqlType("money")
DATE = SqlType("date")
DATETIME = SqlType("datetime")
DATETIME2 = SqlType("datetime2", scale=7)
UNIQUEIDENTIFIER = SqlType("uniqueidentifier")
SYSNAME = SqlType("nvarchar", length=128)
SQL_VARIANT = SqlType("sql_variant")


def nvarchar(length: int = MAX) -> SqlType:
    """``nvarchar(length)``; ``MAX`` by default."""
    return SqlType("nvarchar", length=length)


def varchar(length: int = MAX) -> SqlType:
    """``varchar(length)``; ``MAX`` by default."""
    return SqlType("varchar", length=length)


def char(length: int) -> SqlType:
    """``char(length)``."""
    return SqlType("char", length=length)


def varbinary(length: int = MAX) -> SqlType:
    """``varbinary(length)``; ``MAX`` by default."""
    return SqlType("varbinary", length=length)


def decimal(precision: int, scale: int) -> SqlType:
    """``decimal(precision, scale)``."""
    return SqlType("decimal", precision=precision, scale=scale)
