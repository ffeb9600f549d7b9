"""Metadata functions: databases, objects, columns, types."""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import BIGINT, DATETIME, INT, SMALLINT, SQL_VARIANT, nvarchar
from aglab.tsql.functions.system import keyed
from aglab.tsql.lexer import QUOTED, tokenize
from aglab.tsql.messages import TsqlError
from aglab.tsql.store.database import Database, Module
from aglab.tsql.store.pages import depth
from aglab.tsql.store.table import Table, column_bytes
from aglab.tsql.types import BINARIES, STRINGS

_SYSNAME = nvarchar(128)


def split_name(text: str) -> list[str]:
    """The parts of a name written as in T-SQL: [a b].c"""
    try:
        tokens = tokenize(text)
    except TsqlError:
        return [text]
    parts: list[str] = [""]
    for token in tokens[:-1]:
        if token.value == "." and token.kind != QUOTED:
            parts.append("")
        else:
            parts[-1] += token.value
    return parts


def find_object(runtime: Any, name: str | None) -> tuple[Database, Table | Module] | None:
    """The object a name means, temporary tables too."""
    if not name:
        return None
    parts = split_name(name)
    if parts[-1].startswith("#"):
        table = runtime.session.temp_tables.get(parts[-1].lower())
        return (runtime.instance.database("tempdb"), table) if table is not None else None
    database = runtime.database
    if len(parts) > 2 and parts[-3]:
        database = runtime.instance.database(parts[-3])
        if database is None:
            return None
    item = database.find(parts[-2] if len(parts) > 1 else "", parts[-1])
    return None if item is None else (database, item)


def object_id(item: Table | Module) -> int:
    """An object's id."""
    return item.id if isinstance(item, Table) else item.object_id


TYPE_CODES = {"procedure": "P", "function": "FN", "view": "V", "trigger": "TR"}


def type_code(item: Table | Module) -> str:
    """sys.objects.type without blanks."""
    if isinstance(item, Table):
        return "U"
    if item.kind == "function" and item.definition is not None and item.definition.returns is None:
        return "IF" if item.definition.returns_query is not None else "TF"
    return TYPE_CODES[item.kind]


def _object_id(runtime: Any, name: str | None, kind: str | None = None) -> int | None:
    found = find_object(runtime, name)
    if found is None:
        from aglab.tsql.catalog.registry import find_view

        parts = split_name(name or "")
        view = find_view(parts[-2] if len(parts) > 1 else "", parts[-1]) if len(parts) > 1 else None
        return view.object_id if view is not None and (kind is None or kind.strip().upper() == "V") else None
    if kind is not None and type_code(found[1]) != kind.strip().upper():
        return None
    return object_id(found[1])


def _by_id(runtime: Any, number: int | None, database_id: int | None = None) -> Table | Module | None:
    if number is None:
        return None
    for database in runtime.instance.databases.values():
        if database.id == (database_id or runtime.database.id):
            return database.by_id(number)
    return None


def _definition(item: Table | Module | None) -> str | None:
    """A module's text; NULL where it was made WITH ENCRYPTION."""
    if not isinstance(item, Module) or (item.definition is not None and "ENCRYPTION" in item.definition.options):
        return None
    return item.text


def _database(runtime: Any, key: Any) -> Database | None:
    if key is None:
        return None
    if isinstance(key, int):
        return next((d for d in runtime.instance.databases.values() if d.id == key), None)
    return runtime.instance.database(key)


keyed("DB_NAME", _SYSNAME, lambda r, *a: r.session.database if not a else getattr(_database(r, a[0]), "name", None), 0, 1, "i")
keyed("DB_ID", SMALLINT, lambda r, *a: r.database.id if not a else getattr(_database(r, a[0]), "id", None), 0, 1)
keyed("OBJECT_ID", INT, _object_id, 1, 2)
keyed("OBJECT_NAME", _SYSNAME, lambda r, n, d=None: getattr(_by_id(r, n, d), "name", None), 1, 2, "i")
keyed("OBJECT_SCHEMA_NAME", _SYSNAME, lambda r, n, d=None: getattr(_by_id(r, n, d), "schema", None), 1, 2, "i")
keyed("OBJECT_DEFINITION", nvarchar(), lambda r, n: _definition(_by_id(r, n)), 1, 1, "i")
keyed(
    "SCHEMA_ID",
    INT,
    lambda r, *a: 1 if not a else next((v for k, v in r.database.schemas.items() if a[0] and k.lower() == a[0].lower()), None),
    0,
    1,
)
keyed(
    "SCHEMA_NAME",
    _SYSNAME,
    lambda r, *a: "dbo" if not a else next((k for k, v in r.database.schemas.items() if v == a[0]), None),
    0,
    1,
    "i",
)
keyed(
    "FILE_ID FILE_IDEX",
    INT,
    lambda r, name: next((f.file_id for f in r.database.files if name and f.name.lower() == name.lower()), None),
)
keyed("FILE_NAME", _SYSNAME, lambda r, number: next((f.name for f in r.database.files if f.file_id == number), None), 1, 1, "i")
keyed("FILEGROUP_NAME", _SYSNAME, lambda r, number: (r.database.filegroups.get(number) or {}).get("name"), 1, 1, "i")
keyed(
    "FILEGROUP_ID",
    INT,
    lambda r, name: next((n for n, g in r.database.filegroups.items() if name and g["name"].lower() == name.lower()), None),
)
keyed(
    "PARSENAME",
    _SYSNAME,
    lambda r, name, n: None if name is None or n is None or not 1 <= n <= len(split_name(name)) else split_name(name)[-n] or None,
    2,
    2,
    "si",
)
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
    item = _by_id(runtime, number)
    if not isinstance(item, Table) or name is None:
        return None
    ordinal = item.ordinal(name)
    return None if ordinal is None else (ordinal, item.columns[ordinal])


def _column_name(runtime: Any, number: int | None, ordinal: int | None) -> str | None:
    item = _by_id(runtime, number)
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
    item = _by_id(runtime, number)
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
    item = _by_id(runtime, number)
    if item is not None and (name or "").lower() == "basetype":
        return type_code(item).ljust(2)
    return _object_property(runtime, number, name)


def _index_property(runtime: Any, number: int | None, index: str | None, name: str | None) -> int | None:
    """INDEXPROPERTY: NULL for what is not there or not known ("INDEXPROPERTY (Transact-SQL)")."""
    item = _by_id(runtime, number)
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
    item = _by_id(runtime, number)
    if not isinstance(item, Table):
        return None
    return next((i.statistics_at or item.created for i in item.indexes if i.id == stats), None)


keyed("COLUMNPROPERTY", INT, _column_property, 3, 3, "iss")
keyed("OBJECTPROPERTY", INT, _object_property, 2, 2, "is")
keyed("OBJECTPROPERTYEX", SQL_VARIANT, _object_property_ex, 2, 2, "is")
keyed("INDEXPROPERTY", INT, _index_property, 3, 3, "iss")
keyed("STATS_DATE", DATETIME, _stats_date, 2, 2, "ii")


def _database_property(runtime: Any, name: str | None, prop: str | None) -> Any:
    database = _database(runtime, name)
    if database is None or prop is None:
        return None
    options = database.options
    recovery = {1: "FULL", 2: "BULK_LOGGED", 3: "SIMPLE"}
    states = {0: "ONLINE", 1: "RESTORING", 2: "RECOVERING", 3: "RECOVERY_PENDING", 4: "SUSPECT", 5: "EMERGENCY", 6: "OFFLINE"}
    values = {
        "collation": database.collation,
        "recovery": recovery[options["recovery_model"]],
        "status": states[options["state"]],
        "updateability": "READ_ONLY" if options["is_read_only"] else "READ_WRITE",
        "useraccess": {0: "MULTI_USER", 1: "SINGLE_USER", 2: "RESTRICTED_USER"}[options["user_access"]],
        "version": 957,
        "isautoclose": int(options["is_auto_close_on"]),
        "isautoshrink": int(options["is_auto_shrink_on"]),
        "isautocreatestatistics": int(options["is_auto_create_stats_on"]),
        "isautoupdatestatistics": int(options["is_auto_update_stats_on"]),
        "isinstandby": 0,
        "ispublished": 0,
        "ismergepublished": 0,
        "issubscribed": 0,
        "isfulltextenabled": 0,
        "sqlsortorder": 52,
        "isxtpsupported": 1,
        "comparisonstyle": 196609,
        "lcid": 1033,
        "issyncwithbackup": 0,
        "istornpagedetectionenabled": 0,
    }
    return values.get(prop.lower())


keyed("DATABASEPROPERTYEX DATABASEPROPERTY", SQL_VARIANT, _database_property, 2)
keyed("TYPE_ID", INT, lambda r, name: _type_number(name))
keyed("TYPE_NAME", _SYSNAME, lambda r, number: _type_name(number), 1, 1, "i")


def _type_number(name: str | None) -> int | None:
    from aglab.tsql.catalog.objects import TYPE_IDS

    return TYPE_IDS.get((name or "").lower(), (None,))[0]


def _type_name(number: int | None) -> str | None:
    from aglab.tsql.catalog.objects import TYPE_IDS

    return next((name for name, (user_type, *_) in TYPE_IDS.items() if user_type == number), None)


def _replica_primary(runtime: Any, database: str | None) -> int | None:
    """sys.fn_hadr_is_primary_replica: from the node's database states."""
    return _asked(runtime, "sys.fn_hadr_is_primary_replica", database)


def _preferred_replica(runtime: Any, database: str | None) -> int | None:
    """sys.fn_hadr_backup_is_preferred_replica: from the group's preference and priorities."""
    return _asked(runtime, "sys.fn_hadr_backup_is_preferred_replica", database)


def _asked(runtime: Any, function: str, database: str | None) -> int | None:
    if database is None:
        return None
    rows = runtime.host.view_rows(function, (database,), runtime.session)
    for row in rows or ():
        value = next(iter(row.values())) if hasattr(row, "values") else row[0]
        return None if value is None else int(value)
    return None


keyed("FN_HADR_BACKUP_IS_PREFERRED_REPLICA", INT, _preferred_replica)
keyed("FN_HADR_IS_PRIMARY_REPLICA", INT, _replica_primary)
