"""The system types: their ids, lengths, precisions and scales, as sys.types has them."""

from __future__ import annotations

from aglab.core.sqltypes import SqlType
from aglab.tsql.store.table import column_bytes

# name -> user_type_id, system_type_id, max_length, precision, scale
TYPE_IDS: dict[str, tuple[int, int, int, int, int]] = {
    "image": (34, 34, 16, 0, 0),
    "text": (35, 35, 16, 0, 0),
    "uniqueidentifier": (36, 36, 16, 0, 0),
    "date": (40, 40, 3, 10, 0),
    "time": (41, 41, 5, 16, 7),
    "datetime2": (42, 42, 8, 27, 7),
    "datetimeoffset": (43, 43, 10, 34, 7),
    "tinyint": (48, 48, 1, 3, 0),
    "smallint": (52, 52, 2, 5, 0),
    "int": (56, 56, 4, 10, 0),
    "smalldatetime": (58, 58, 4, 16, 0),
    "real": (59, 59, 4, 24, 0),
    "money": (60, 60, 8, 19, 4),
    "datetime": (61, 61, 8, 23, 3),
    "float": (62, 62, 8, 53, 0),
    "sql_variant": (98, 98, 8016, 0, 0),
    "ntext": (99, 99, 16, 0, 0),
    "bit": (104, 104, 1, 1, 0),
    "decimal": (106, 106, 17, 38, 38),
    "numeric": (108, 108, 17, 38, 38),
    "smallmoney": (122, 122, 4, 10, 4),
    "bigint": (127, 127, 8, 19, 0),
    "varbinary": (165, 165, 8000, 0, 0),
    "varchar": (167, 167, 8000, 0, 0),
    "binary": (173, 173, 8000, 0, 0),
    "char": (175, 175, 8000, 0, 0),
    "timestamp": (189, 189, 8, 0, 0),
    "nvarchar": (231, 231, 8000, 0, 0),
    "nchar": (239, 239, 8000, 0, 0),
    "xml": (241, 241, -1, 0, 0),
    "sysname": (256, 231, 256, 0, 0),
}


def type_facts(sql_type: SqlType) -> tuple[int, int, int, int, int]:
    """system_type_id, user_type_id, max_length, precision, scale of a declared type."""
    user, system, length, precision, scale = TYPE_IDS[sql_type.name]
    if sql_type.name in ("char", "varchar", "binary", "varbinary"):
        length = sql_type.length
    elif sql_type.name in ("nchar", "nvarchar"):
        length = sql_type.length * 2 if sql_type.length > 0 else -1
    elif sql_type.name in ("decimal", "numeric"):
        length, precision, scale = column_bytes(sql_type), sql_type.precision, sql_type.scale
    elif sql_type.name in ("time", "datetime2", "datetimeoffset"):
        scale = sql_type.scale
        precision = {"time": 8, "datetime2": 19, "datetimeoffset": 26}[sql_type.name] + (scale + 1 if scale else 0)
    return system, user, length, precision, scale
