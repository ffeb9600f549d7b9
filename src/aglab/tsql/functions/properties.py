"""Properties that management tools read: files, logins, collations, the database a session began in.

Sources: "FILEPROPERTY", "LOGINPROPERTY", "COLLATIONPROPERTY", "FULLTEXTSERVICEPROPERTY", "ORIGINAL_DB_NAME (Transact-SQL)". A
property of another name is NULL, as documented.
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import INT, SQL_VARIANT, nvarchar
from aglab.tsql.functions.system import keyed, nullary
from aglab.tsql.store.files import used_pages

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


keyed("FILEPROPERTY", INT, _file, 2, 2, "ss")
keyed("LOGINPROPERTY", SQL_VARIANT, _login, 2, 2, "ss")
keyed("COLLATIONPROPERTY", SQL_VARIANT, _collation, 2, 2, "ss")
keyed("FULLTEXTSERVICEPROPERTY", INT, lambda r, name: {"isfulltextinstalled": 0}.get((name or "").lower()))
nullary("ORIGINAL_DB_NAME", nvarchar(128), lambda r: r.session.login_database)
