"""Metadata functions: databases, objects, types."""

from __future__ import annotations

import datetime
from typing import Any, cast

from aglab.core.sqltypes import INT, SMALLINT, SQL_VARIANT, nvarchar
from aglab.tsql.catalog.type_ids import TYPE_IDS
from aglab.tsql.functions.names import find_by_id, find_object, object_id, split_name, type_code
from aglab.tsql.functions.system import keyed
from aglab.tsql.store.database import NEVER_CHECKED, Database, Module
from aglab.tsql.store.table import Table

_SYSNAME = nvarchar(128)


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


def _definition(item: Table | Module | None) -> str | None:
    """A module's text; NULL where it was made WITH ENCRYPTION."""
    if not isinstance(item, Module) or (item.definition is not None and "ENCRYPTION" in item.definition.options):
        return None
    return item.text


def _database(runtime: Any, key: Any) -> Database | None:
    if key is None:
        return None
    if isinstance(key, int):
        return cast("Database | None", runtime.instance.by_id(key))
    return cast("Database | None", runtime.instance.database(key))


def _shown(runtime: Any, arguments: tuple[Any, ...], which: int) -> Any:
    """Name (0) or id (1) of a database, the session's own without an argument."""
    database = _database(runtime, arguments[0]) if arguments else runtime.database
    return None if database is None else runtime.instance.shown(database)[which]


keyed("DB_NAME", _SYSNAME, lambda r, *a: _shown(r, a, 0), 0, 1, "i")
keyed("DB_ID", SMALLINT, lambda r, *a: _shown(r, a, 1), 0, 1)
keyed("OBJECT_ID", INT, _object_id, 1, 2)
keyed("OBJECT_NAME", _SYSNAME, lambda r, n, d=None: getattr(find_by_id(r, n, d), "name", None), 1, 2, "i")
keyed("OBJECT_SCHEMA_NAME", _SYSNAME, lambda r, n, d=None: getattr(find_by_id(r, n, d), "schema", None), 1, 2, "i")
keyed("OBJECT_DEFINITION", nvarchar(), lambda r, n: _definition(find_by_id(r, n)), 1, 1, "i")
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
        "lastgoodcheckdbtime": datetime.datetime.fromisoformat(options.get("last_good_checkdb", NEVER_CHECKED)),
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
keyed("TYPE_ID", INT, lambda r, name: _type_number(r, name))
keyed("TYPE_NAME", _SYSNAME, lambda r, number: _type_name(r, number), 1, 1, "i")


def _type_number(runtime: Any, name: str | None) -> int | None:
    known = TYPE_IDS.get((name or "").lower())
    if known is not None:
        return known[0]
    parts = split_name(name or "")
    return runtime.database.type_id(".".join(("dbo", *parts)[-2:]))


def _type_name(runtime: Any, number: int | None) -> str | None:
    known = next((name for name, (user_type, *_) in TYPE_IDS.items() if user_type == number), None)
    return known or next((kind.name for kind in runtime.database.types.values() if kind.id == number), None)


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
