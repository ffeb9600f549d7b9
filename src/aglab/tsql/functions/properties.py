"""Properties that management tools read: files, logins, collations, the database a session began in.

Sources: "FILEPROPERTY", "LOGINPROPERTY", "COLLATIONPROPERTY", "FULLTEXTSERVICEPROPERTY", "ORIGINAL_DB_NAME (Transact-SQL)". A
property of another name is NULL, as documented.
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, SQL_VARIANT, SqlType, nvarchar
from aglab.tsql.functions.registry import builder
from aglab.tsql.functions.system import keyed, nullary
from aglab.tsql.query.scope import Expr
from aglab.tsql.store.files import used_pages
from aglab.tsql.store.table import column_bytes
from aglab.tsql.types import INTEGERS, STRINGS

COLLATION = "sql_latin1_general_cp1_ci_as"
COLLATION_VALUES = {"codepage": 1252, "lcid": 1033, "comparisonstyle": 196609, "version": 0}


def _file(runtime: Any, name: str | None, wanted: str | None) -> int | None:
    database = runtime.database
    found = next((one for one in database.files if one.name.lower() == (name or "").lower()), None)
    if found is None:
        return None
    key = (wanted or "").lower()
    if key == "spaceused":
        return used_pages(database).get(found.file_id, 0) if found.type == 0 else None
    known = {"isreadonly": 0, "isprimaryfile": int(found.file_id == 1), "islogfile": int(found.type == 1)}
    return known.get(key)


def _login(runtime: Any, name: str | None, wanted: str | None) -> Any:
    login = runtime.instance.logins.get((name or "").lower())
    if login is None:
        return None
    values: dict[str, Any] = dict.fromkeys(("isexpired", "islocked", "ismustchange", "badpasswordcount", "historylength"), 0) | {
        "defaultdatabase": login.get("default_database_name", "master"),
        "defaultlanguage": login.get("default_language_name", "us_english"),
    }
    return values.get((wanted or "").lower())


def _collation(runtime: Any, name: str | None, wanted: str | None) -> int | None:
    return COLLATION_VALUES.get((wanted or "").lower()) if (name or "").lower() == COLLATION else None


def _type(name: str, wanted: str) -> int | None:
    """TYPEPROPERTY of a system type ("TYPEPROPERTY (Transact-SQL)")."""
    widths = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19, "bit": 1, "money": 19, "smallmoney": 10, "float": 53}
    widths |= {"real": 24, "decimal": 38, "numeric": 38, "datetime": 23, "smalldatetime": 16, "date": 10, "sysname": 128}
    widths |= {"char": 8000, "varchar": 8000, "nchar": 4000, "nvarchar": 4000, "binary": 8000, "varbinary": 8000}
    widths |= {"datetime2": 27, "datetimeoffset": 34, "time": 16, "uniqueidentifier": 16}
    if name not in widths:
        return None
    scales = {"money": 4, "smallmoney": 4, "datetime": 3, "datetime2": 7, "datetimeoffset": 7, "time": 7, "decimal": 38}
    if wanted == "scale":
        return scales.get(name, 0 if name in INTEGERS or name in ("numeric", "date", "smalldatetime") else None)
    fixed = {"precision": widths[name], "allowsnull": int(name != "sysname"), "ownerid": 4}
    trims = int(name in ("char", "varchar", "binary", "varbinary", "nchar", "nvarchar", "sysname"))
    return {**fixed, "usesansitrim": trims or None}.get(wanted)


keyed("TYPEPROPERTY", INT, lambda r, name, wanted: _type((name or "").lower(), (wanted or "").lower()), 2, 2, "ss")
keyed("FILEPROPERTY", INT, _file, 2, 2, "ss")
keyed("LOGINPROPERTY", SQL_VARIANT, _login, 2, 2, "ss")
keyed("COLLATIONPROPERTY", SQL_VARIANT, _collation, 2, 2, "ss")
keyed("FULLTEXTSERVICEPROPERTY", INT, lambda r, name: {"isfulltextinstalled": 0}.get((name or "").lower()))


def _original(runtime: Any) -> str:
    database = runtime.instance.database(runtime.session.login_database)
    return str(runtime.instance.shown(database)[0]) if database is not None else str(runtime.session.login_database)


nullary("ORIGINAL_DB_NAME", nvarchar(128), _original)


def _variant_facts(value: Any, declared: SqlType | None) -> tuple[SqlType, int]:
    """The base type of a value and the bytes it takes with its type's description."""
    from aglab.tsql.execute.calls import type_of

    if declared is None or declared.name == "sql_variant":
        declared = getattr(value, "type", None) or type_of(value)
        value = getattr(value, "value", value)
    bytes_ = len(value) * (2 if declared.name[0] == "n" else 1) if isinstance(value, (str, bytes)) else column_bytes(declared)
    return declared, bytes_


@builder("SQL_VARIANT_PROPERTY", 2)
def _variant_property(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    """BaseType, Precision, Scale, TotalBytes, Collation, MaxLength; NULL for another name. Source: "SQL_VARIANT_PROPERTY"."""
    from aglab.tsql.catalog.type_ids import type_facts

    value, wanted, declared = args[0].fn, args[1].fn, args[0].type

    def run(frame: Any) -> Any:
        held, name = value(frame), str(wanted(frame) or "").lower()
        if held is None:
            return None
        base, size = _variant_facts(held, declared)
        text = base.name in STRINGS
        _, _, length, precision, scale = type_facts(base)
        facts = {"basetype": base.name, "precision": precision, "scale": scale, "totalbytes": size + (8 if text else 2)}
        facts |= {"collation": "SQL_Latin1_General_CP1_CI_AS" if text else None, "maxlength": length}
        return facts.get(name)

    return Expr(run, SQL_VARIANT, args[0].refs | args[1].refs)


# Not documented; tools turn an account's name into its SID with it. The twin knows no accounts of an operating system.
keyed("SID_BINARY", SqlType("varbinary", length=85), lambda runtime, name: None)


def _hex(runtime: Any, prefix: Any, data: Any, start: Any, count: Any) -> str | None:
    """sys.fn_varbintohexsubstring: not documented; ``start`` counts from 1, a count of 0 or less means all."""
    if not isinstance(data, bytes) or start is None or start < 1:
        return None
    return ("0x" if prefix else "") + data[start - 1 :][: count if count and count > 0 else None].hex()


keyed("FN_VARBINTOHEXSUBSTRING", nvarchar(4000), _hex, 4, 4, "iaii")
keyed("FN_VARBINTOHEXSTR", nvarchar(4000), lambda runtime, data: _hex(runtime, 1, data, 1, 0), 1, 1, "a")


@builder("FN_SYSPOLICY_IS_AUTOMATION_ENABLED", 0)
def _no_policies(compiler: Any, call: Any, args: list[Expr]) -> Expr:
    """Policies cannot be made here, so nothing runs them."""
    return Expr(lambda frame: 0, SqlType("bit"))
