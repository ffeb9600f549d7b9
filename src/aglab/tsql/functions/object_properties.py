"""Properties of tables, columns and indexes: IDENT_*, COL_*, COLUMNPROPERTY, OBJECTPROPERTY, INDEXPROPERTY, STATS_DATE."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import BIGINT, DATETIME, INT, SMALLINT, SQL_VARIANT, nvarchar
from aglab.tsql.functions.names import find_by_id, find_object, type_code
from aglab.tsql.functions.system import keyed
from aglab.tsql.store.pages import depth
from aglab.tsql.store.table import Table, column_bytes
from aglab.tsql.types import BINARIES, STRINGS

_SYSNAME = nvarchar(128)

keyed("IDENT_CURRENT", BIGINT, lambda r, name: _identity(r, name, "current"))
keyed("IDENT_SEED", BIGINT, lambda r, name: _identity(r, name, "seed"))
keyed("IDENT_INCR", BIGINT, lambda r, name: _identity(r, name, "step"))


def _identity(runtime: Any, name: str | None, what: str) -> int | None:
    found = find_object(runtime, name)
    if found is None or not isinstance(found[1], Table):
        return None
    column = next((c for c in found[1].columns if c.identity), None)
    if column is None or column.identity is None:
        return None
    if what == "current":
        return found[1].identity_last if found[1].identity_last is not None else column.identity[0]
    return column.identity[0 if what == "seed" else 1]


def _column(runtime: Any, number: int | None, name: str | None) -> tuple[int, Any] | None:
    item = find_by_id(runtime, number)
    if not isinstance(item, Table) or name is None:
        return None
    ordinal = item.ordinal(name)
    return None if ordinal is None else (ordinal, item.columns[ordinal])


def _column_name(runtime: Any, number: int | None, ordinal: int | None) -> str | None:
    item = find_by_id(runtime, number)
    return item.columns[ordinal - 1].name if isinstance(item, Table) and ordinal and 1 <= ordinal <= len(item.columns) else None


def _col_length(runtime: Any, table: str | None, name: str | None) -> int | None:
    found = find_object(runtime, table)
    if found is None or not isinstance(found[1], Table) or name is None:
        return None
    ordinal = found[1].ordinal(name)
    if ordinal is None:
        return None
    sql_type = found[1].columns[ordinal].type
    if sql_type.length:
        return sql_type.length * (2 if sql_type.name[0] == "n" and sql_type.length > 0 else 1)
    return column_bytes(sql_type)


keyed("COL_NAME", _SYSNAME, _column_name, 2, 2, "i")
keyed("COL_LENGTH", SMALLINT, _col_length, 2)


def _column_property(runtime: Any, number: int | None, column: str | None, name: str | None) -> int | None:
    found = _column(runtime, number, column)
    if found is None or name is None:
        return None
    ordinal, definition = found
    return {
        "allowsnull": int(definition.nullable),
        "isidentity": int(definition.identity is not None),
        "columnid": ordinal + 1,
        "iscomputed": int(definition.computed is not None),
        "isrowguidcol": int(definition.rowguid),
        "precision": definition.type.precision or definition.type.length,
        "scale": definition.type.scale,
        "charmaxlen": definition.type.length if definition.type.name in STRINGS else None,
        "isindexable": int(definition.type.name not in ("text", "ntext", "image", "xml")),
        "usesansitrim": int(definition.type.name in STRINGS or definition.type.name in BINARIES) or None,
        **dict.fromkeys(("issparse", "isidnotforrepl", "iscolumnset", "ishidden", "generatedalwaystype", "isfulltextindexed"), 0),
        **dict.fromkeys(("isdeterministic", "isprecise"), None if definition.computed is None else 1),
    }.get(name.lower())


def _object_property(runtime: Any, number: int | None, name: str | None) -> int | None:
    item = find_by_id(runtime, number)
    if item is None or name is None:
        return None
    code = type_code(item)
    flags = {
        "istable": "U",
        "isusertable": "U",
        "isprocedure": "P",
        "isview": "V",
        "isscalarfunction": "FN",
        "istrigger": "TR",
        "isinlinefunction": "IF",
        "istablefunction": "TF",
    }
    lowered = name.lower()
    if lowered in flags:
        return int(code == flags[lowered])
    if isinstance(item, Table):
        return {
            "tablehasprimarykey": int(any(i.primary_key for i in item.indexes)),
            "tablehasidentity": int(item.identity_next is not None),
            "tablehasclustindex": int(item.clustered is not None),
            "tablehasindex": int(bool(item.indexes)),
            "ismsshipped": 0,
            "ownerid": 1,
            "schemaid": runtime.database.schemas.get(item.schema),
            "tablehasforeignkey": int(bool(item.foreign_keys)),
            "tablehascheckcnst": int(bool(item.checks)),
            "tablehasuniquecnst": int(any(i.constraint and not i.primary_key for i in item.indexes)),
            "tablehasdefaultcnst": int(any(c.default is not None for c in item.columns)),
            "tablehasnonclustindex": int(any(not i.clustered for i in item.indexes)),
            "cardinality": len(item.rows),
            **dict.fromkeys(("tabletextinrowlimit", "tablehastextimage", "isschemabound", "isencrypted"), 0),
            "tableismemoryoptimized": int(bool(item.options.get("MEMORY_OPTIMIZED"))),
        }.get(lowered)
    options = item.definition.options if item.definition is not None else set()
    return {
        "ismsshipped": 0,
        "ownerid": 1,
        "schemaid": runtime.database.schemas.get(item.schema),
        "isschemabound": int("SCHEMABINDING" in options),
        "isencrypted": int("ENCRYPTION" in options),
        "execisquotedidenton": 1,
        "execisansinullson": 1,
    }.get(lowered)


def _object_property_ex(runtime: Any, number: int | None, name: str | None) -> int | str | None:
    """OBJECTPROPERTY, and BaseType: the kind of object as sys.objects has it."""
    item = find_by_id(runtime, number)
    if item is not None and (name or "").lower() == "basetype":
        return type_code(item).ljust(2)
    return _object_property(runtime, number, name)


def _index_property(runtime: Any, number: int | None, index: str | None, name: str | None) -> int | None:
    """INDEXPROPERTY: NULL for what is not there or not known ("INDEXPROPERTY (Transact-SQL)")."""
    item = find_by_id(runtime, number)
    found = next((i for i in item.indexes if i.name.lower() == (index or "").lower()), None) if isinstance(item, Table) else None
    if found is None or not isinstance(item, Table):
        return None
    options = found.options
    return {
        "indexid": found.id,
        "isunique": int(found.unique),
        "isclustered": int(found.clustered),
        "indexdepth": depth(item, found, len(item.rows)),
        "indexfillfactor": options.get("FILLFACTOR", 0),
        "ispadindex": int(options.get("PAD_INDEX") == "ON"),
        "isdisabled": int(bool(options.get("DISABLED"))),
        "ispagelockdisallowed": int(options.get("ALLOW_PAGE_LOCKS") == "OFF"),
        "isrowlockdisallowed": int(options.get("ALLOW_ROW_LOCKS") == "OFF"),
        "isoptimizedforsequentialkey": int(options.get("OPTIMIZE_FOR_SEQUENTIAL_KEY") == "ON"),
        **dict.fromkeys(("ishypothetical", "isstatistics", "iscolumnstore", "isautostatistics", "isfulltextkey"), 0),
    }.get((name or "").lower())


def _stats_date(runtime: Any, number: int | None, stats: int | None) -> Any:
    item = find_by_id(runtime, number)
    if not isinstance(item, Table):
        return None
    return next((i.statistics_at or item.created for i in item.indexes if i.id == stats), None)


keyed("COLUMNPROPERTY", INT, _column_property, 3, 3, "iss")
keyed("OBJECTPROPERTY", INT, _object_property, 2, 2, "is")
keyed("OBJECTPROPERTYEX", SQL_VARIANT, _object_property_ex, 2, 2, "is")
keyed("INDEXPROPERTY", INT, _index_property, 3, 3, "iss")
keyed("STATS_DATE", DATETIME, _stats_date, 2, 2, "ii")
