"""What a login may do: fixed roles, granted and denied permissions, and the checks that statements ask for.

A sysadmin (sa is one) passes every check before anything here is looked at. Grants lie with the login (``roles``,
``permissions``) and with the database's principals (the same fields; a permission's key holds class, securable, name). Sources:
"Server-level roles", "Database-level roles", "Permissions (Database Engine)" and "Permissions hierarchy" (SQL Server
documentation). Number and wording of 229 (with its state 5) and 262 were found in public reports of these errors; those of 230,
297, 300, 916 and 15247 were not looked up.

Left out: SELECT on the table that an UPDATE or DELETE changes, application roles, ownership other than dbo's, impersonation of
EXECUTE AS modules. Columns: :mod:`aglab.tsql.column_permissions`. What catalogue views show: :mod:`aglab.tsql.visibility`. Inside
a procedure, view or function of dbo its tables are not asked for (ownership chain).
"""

from __future__ import annotations

from collections.abc import Iterator

from aglab.tsql.instance import Instance
from aglab.tsql.messages import error
from aglab.tsql.session import Session
from aglab.tsql.store.database import Database

Key = tuple[str, str, str]  # class (DATABASE, SCHEMA, OBJECT), securable in lower case, permission

# Fixed server roles in the order of their principal ids, from 3, and what they hold.
SERVER_ROLES: dict[str, frozenset[str]] = {
    "sysadmin": frozenset({"CONTROL SERVER"}),
    "securityadmin": frozenset({"ALTER ANY LOGIN"}),
    "serveradmin": frozenset(
        {"ALTER ANY ENDPOINT", "ALTER RESOURCES", "ALTER SERVER STATE", "ALTER SETTINGS", "SHUTDOWN", "VIEW SERVER STATE"}
    ),
    "setupadmin": frozenset({"ALTER ANY LINKED SERVER"}),
    "processadmin": frozenset({"ALTER ANY CONNECTION", "ALTER SERVER STATE"}),
    "diskadmin": frozenset({"ALTER RESOURCES"}),
    "dbcreator": frozenset({"ALTER ANY DATABASE", "CREATE ANY DATABASE"}),
    "bulkadmin": frozenset({"ADMINISTER BULK OPERATIONS"}),
    "##MS_ServerStateReader##": frozenset({"VIEW SERVER STATE"}),
    "##MS_ServerStateManager##": frozenset({"ALTER SERVER STATE"}),
    "##MS_DefinitionReader##": frozenset({"VIEW ANY DATABASE", "VIEW ANY DEFINITION"}),
    "##MS_DatabaseConnector##": frozenset({"CONNECT ANY DATABASE"}),
    "##MS_DatabaseManager##": frozenset({"ALTER ANY DATABASE", "CREATE ANY DATABASE"}),
    "##MS_LoginManager##": frozenset({"ALTER ANY LOGIN", "CREATE LOGIN"}),
    "##MS_ServerPerformanceStateReader##": frozenset({"VIEW SERVER PERFORMANCE STATE"}),
}
_STATE = ("VIEW SERVER PERFORMANCE STATE", "VIEW SERVER SECURITY STATE")
# A permission at the server and those it covers.
_COVERS: dict[str, tuple[str, ...]] = {
    "ALTER SERVER STATE": ("VIEW SERVER STATE", *_STATE),
    "VIEW SERVER STATE": _STATE,
    "ALTER ANY DATABASE": ("CREATE ANY DATABASE", "VIEW ANY DATABASE"),
    "ALTER ANY LOGIN": ("CREATE LOGIN",),
    "ALTER ANY AVAILABILITY GROUP": ("CREATE AVAILABILITY GROUP",),
    "ALTER ANY ENDPOINT": ("CREATE ENDPOINT",),
    "ALTER ANY SERVER ROLE": ("CREATE SERVER ROLE",),
}
SERVER_TYPES = {
    "ADMINISTER BULK OPERATIONS": "ADBO",
    "ALTER ANY AVAILABILITY GROUP": "ALAG",
    "ALTER ANY CONNECTION": "ALCO",
    "ALTER ANY DATABASE": "ALDB",
    "ALTER ANY ENDPOINT": "ALHE",
    "ALTER ANY EVENT SESSION": "AAES",
    "ALTER ANY LINKED SERVER": "ALLS",
    "ALTER ANY LOGIN": "ALLG",
    "ALTER ANY SERVER ROLE": "ALSR",
    "ALTER RESOURCES": "ALRS",
    "ALTER SERVER STATE": "ALSS",
    "ALTER SETTINGS": "ALST",
    "ALTER TRACE": "ALTR",
    "CONNECT ANY DATABASE": "CADB",
    "CONNECT SQL": "COSQ",
    "CONTROL SERVER": "CL",
    "CREATE ANY DATABASE": "CRDB",
    "CREATE AVAILABILITY GROUP": "CRAC",
    "CREATE ENDPOINT": "CRHE",
    "CREATE LOGIN": "CRLG",
    "CREATE SERVER ROLE": "CRSR",
    "SHUTDOWN": "SHDN",
    "VIEW ANY DATABASE": "VWDB",
    "VIEW ANY DEFINITION": "VWAD",
    "VIEW SERVER PERFORMANCE STATE": "VSPS",
    "VIEW SERVER SECURITY STATE": "VSSS",
    "VIEW SERVER STATE": "VWSS",
}
_DDL = (
    "CREATE TABLE",
    "CREATE PROCEDURE",
    "CREATE VIEW",
    "CREATE FUNCTION",
    "CREATE SCHEMA",
    "CREATE SYNONYM",
    "CREATE TYPE",
    "ALTER",
)
DATABASE_ROLES: dict[str, frozenset[str]] = {
    "db_owner": frozenset({"CONTROL"}),
    "db_accessadmin": frozenset({"ALTER ANY USER", "CONNECT"}),
    "db_securityadmin": frozenset({"ALTER ANY ROLE", "VIEW DEFINITION"}),
    "db_ddladmin": frozenset((*_DDL, "ALTER")),
    "db_backupoperator": frozenset({"BACKUP DATABASE", "BACKUP LOG", "CHECKPOINT"}),
    "db_datareader": frozenset({"SELECT"}),
    "db_datawriter": frozenset({"INSERT", "UPDATE", "DELETE"}),
    "db_denydatareader": frozenset(),
    "db_denydatawriter": frozenset(),
}
_DENIES = {"db_denydatareader": frozenset({"SELECT"}), "db_denydatawriter": frozenset({"INSERT", "UPDATE", "DELETE"})}
DATABASE_TYPES = {
    "ALTER": "AL",
    "ALTER ANY ROLE": "ALRL",
    "ALTER ANY USER": "ALUS",
    "BACKUP DATABASE": "BADB",
    "BACKUP LOG": "BALO",
    "CHECKPOINT": "CP",
    "CONNECT": "CO",
    "CONTROL": "CL",
    "CREATE FUNCTION": "CRFN",
    "CREATE PROCEDURE": "CRPR",
    "CREATE SCHEMA": "CRSM",
    "CREATE SYNONYM": "CRSN",
    "CREATE TABLE": "CRTB",
    "CREATE TYPE": "CRTY",
    "CREATE VIEW": "CRVW",
    "DELETE": "DL",
    "EXECUTE": "EX",
    "INSERT": "IN",
    "REFERENCES": "RF",
    "SELECT": "SL",
    "SHOWPLAN": "SPLN",
    "UPDATE": "UP",
    "VIEW DATABASE PERFORMANCE STATE": "VDPS",
    "VIEW DATABASE STATE": "VWDS",
    "VIEW DEFINITION": "VW",
}
OPEN_TO_GUEST = ("master", "tempdb", "msdb")


# -- the server ------------------------------------------------------------------------------------------------------------
def server_roles(instance: Instance, login: str) -> list[str]:
    """The fixed server roles of a login, public aside."""
    return list((instance.logins.get(login.lower()) or {}).get("roles", ())) if login.lower() != "sa" else ["sysadmin"]


def is_sysadmin(instance: Instance, login: str) -> bool:
    """sa, and members of sysadmin."""
    return "sysadmin" in server_roles(instance, login)


def _covering(permission: str) -> Iterator[str]:
    yield permission
    for one, covered in _COVERS.items():
        if permission in covered:
            yield from _covering(one)


def server_allows(instance: Instance, login: str, permission: str) -> bool:
    """Whether a login holds a permission on the server: by itself, by a role, or by one that covers it; a DENY wins."""
    roles = server_roles(instance, login)
    if "sysadmin" in roles:
        return True
    own = (instance.logins.get(login.lower()) or {}).get("permissions", {})
    names = [*_covering(permission), "CONTROL SERVER"]
    if any(own.get(name) == "D" for name in names):
        return False
    held = {name for name, state in own.items() if state in ("G", "W")}.union(*(SERVER_ROLES.get(role, ()) for role in roles))
    return permission in ("CONNECT SQL", "VIEW ANY DATABASE") or any(name in held for name in names)


def may(instance: Instance, session: Session, permission: str) -> bool:
    """:func:`server_allows` for the session's login."""
    return session.is_sysadmin or server_allows(instance, session.login, permission)


def need_server(instance: Instance, session: Session, permission: str) -> None:
    """Error 300, followed by 297, unless the session's login holds the permission."""
    if may(instance, session, permission):
        return
    problem = error(300, permission, "server", "master")
    problem.followed_by = error(297)  # type: ignore[attr-defined]
    raise problem


# -- a database --------------------------------------------------------------------------------------------------------------
def user_of(instance: Instance, database: Database, login: str) -> str | None:
    """The principal that a login is in a database; None where it may not enter."""
    if is_sysadmin(instance, login):
        return "dbo"
    sid = (instance.logins.get(login.lower()) or {}).get("sid")
    for one in database.principals.values():
        if sid is not None and one.get("sid") == sid and one.get("type", "S") == "S":
            return str(one["name"])
    if database.system in OPEN_TO_GUEST or server_allows(instance, login, "CONNECT ANY DATABASE"):
        return "guest"
    return "dbo" if server_allows(instance, login, "CONTROL SERVER") else None


def database_roles(database: Database, user: str) -> list[str]:
    """The roles of a principal, through roles in roles; public aside."""
    found: list[str] = []
    queue = [user]
    while queue:
        for role in (database.principals.get(queue.pop().lower()) or {}).get("roles", ()):
            if role not in found:
                found.append(role)
                queue.append(role)
    return found


def _keys(permission: str, schema: str, name: str) -> list[Key]:
    keys = [("DATABASE", "", one) for one in (permission, "CONTROL")]
    if permission == "VIEW DATABASE PERFORMANCE STATE":
        keys.append(("DATABASE", "", "VIEW DATABASE STATE"))
    if schema:
        keys += [("SCHEMA", schema.lower(), one) for one in (permission, "CONTROL")]
    if name:
        keys += [("OBJECT", f"{schema}.{name}".lower(), one) for one in (permission, "CONTROL")]
    return keys


def verdict(instance: Instance, database: Database, login: str, permission: str, schema: str = "", name: str = "") -> str:
    """G granted, d denied on the object itself, D denied above it, nothing where neither is said."""
    user = user_of(instance, database, login)
    if user is None or user == "dbo":
        return "D" if user is None else "G"
    roles = database_roles(database, user)
    if "db_owner" in roles:
        return "G"
    if any(permission in _DENIES.get(role, ()) for role in roles):
        return "D"
    states: dict[bool, set[str]] = {True: set(), False: set()}  # on the object itself, above it
    for one in (user, *roles, "public"):
        kept = (database.principals.get(one.lower()) or {}).get("permissions", {})
        for key in _keys(permission, schema, name):
            if key in kept:
                states[key[0] == "OBJECT"].add(kept[key])
    if "D" in states[False]:
        return "D"
    if "D" in states[True]:
        return "d"
    if states[True] or states[False] or any(permission in DATABASE_ROLES.get(role, ()) for role in roles):
        return "G"
    above = {"VIEW DATABASE STATE": "VIEW SERVER STATE", "VIEW DATABASE PERFORMANCE STATE": "VIEW SERVER PERFORMANCE STATE"}
    return "G" if permission in above and server_allows(instance, login, above[permission]) else ""


def database_allows(
    instance: Instance, database: Database, login: str, permission: str, schema: str = "", name: str = ""
) -> bool:
    """Whether a login holds a permission on a database, or on an object of it; a DENY anywhere wins."""
    return verdict(instance, database, login, permission, schema, name) == "G"


def may_pass_on(instance: Instance, database: Database, login: str, permission: str, kind: str, place: str) -> bool:
    """Whether a login was granted a permission WITH GRANT OPTION on just this securable, by itself or by a role."""
    user = user_of(instance, database, login)
    if user is None:
        return False
    holders = (user, *database_roles(database, user), "public")
    states = [
        (database.principals.get(one.lower()) or {}).get("permissions", {}).get((kind, place, permission)) for one in holders
    ]
    return "W" in states and "D" not in states


def need_entry(instance: Instance, session: Session, database: Database) -> None:
    """Error 916 unless the session's login may enter the database."""
    if not session.is_sysadmin and user_of(instance, database, session.login) is None:
        raise error(916, session.login, database.name)


def need_object(instance: Instance, session: Session, database: Database, permission: str, schema: str, name: str) -> None:
    """Errors 916 and 229 unless the session may do this to an object."""
    if session.is_sysadmin:
        return
    need_entry(instance, session, database)
    if not database_allows(instance, database, session.login, permission, schema, name):
        raise error(229, permission, name, database.name, schema)


def need_database(instance: Instance, session: Session, database: Database, permission: str) -> None:
    """Errors 916 and 262 unless the session holds the permission on the database."""
    if session.is_sysadmin:
        return
    need_entry(instance, session, database)
    if not database_allows(instance, database, session.login, permission):
        raise error(262, permission, database.name)


# -- what views show -----------------------------------------------------------------------------------------------------------
OWN_ROWS = ("sys.dm_exec_sessions", "sys.dm_exec_connections", "sys.dm_exec_requests")  # without permission: one's own
_OF_DATABASE = ("sys.dm_db_",)
_SERVER_VIEWS = ("sys.dm_db_log_stats", "sys.dm_db_xtp")


def need_view(instance: Instance, session: Session, database: Database, view: str) -> bool:
    """Errors 300 and 262 of dynamic management views; True where the session may see its own rows only."""
    if session.is_sysadmin or not view.startswith("sys.dm_"):
        return False
    if view.startswith(_OF_DATABASE) and not view.startswith(_SERVER_VIEWS):
        need_database(instance, session, database, "VIEW DATABASE PERFORMANCE STATE")
        return False
    if view in OWN_ROWS:
        return not server_allows(instance, session.login, "VIEW SERVER PERFORMANCE STATE")
    need_server(instance, session, "VIEW SERVER PERFORMANCE STATE")
    return False


ON_OBJECTS = ("ALTER", "CONTROL", "DELETE", "EXECUTE", "INSERT", "REFERENCES", "SELECT", "UPDATE", "VIEW DEFINITION")


def held(instance: Instance, database: Database, login: str, kind: str, name: str = "") -> list[tuple[str, str]]:
    """(entity, permission) of sys.fn_my_permissions for SERVER, DATABASE, SCHEMA and OBJECT; none for what is not there."""
    if kind in ("OBJECT", "SCHEMA"):
        parts = [part.strip("[]") for part in name.split(".")]
        schema = parts[-1] if kind == "SCHEMA" else parts[-2] if len(parts) > 1 else "dbo"
        item = database.find(schema, parts[-1]) if kind == "OBJECT" else None
        if (kind == "OBJECT" and item is None) or database.schema_name(schema) is None:
            return []
        bare = item.name if item is not None else ""
        allowed = [one for one in ON_OBJECTS if database_allows(instance, database, login, one, schema, bare)]
        return [(name, one) for one in allowed]
    if kind == "SERVER":
        return [("server", one) for one in sorted(SERVER_TYPES) if server_allows(instance, login, one)]
    return [("database", one) for one in sorted(DATABASE_TYPES) if database_allows(instance, database, login, one)]
