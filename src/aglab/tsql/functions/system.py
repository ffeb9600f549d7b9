"""System functions: errors being handled, identity, server and session properties."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from aglab.core.sqltypes import INT, SMALLINT, SQL_VARIANT, SqlType, nvarchar
from aglab.tsql import column_permissions, permissions
from aglab.tsql.functions.registry import builder, prepare
from aglab.tsql.query.scope import Expr

_SYSNAME = nvarchar(128)


def _user(runtime: Any) -> str:
    return permissions.user_of(runtime.instance, runtime.database, runtime.session.login) or "guest"


def _name(runtime: Any, number: int) -> str | None:
    return next((str(one["name"]) for one in runtime.database.principals.values() if one["principal_id"] == number), None)


def _user_id(runtime: Any, name: str) -> int | None:
    known = {"public": 0, "dbo": 1, "guest": 2}.get(name.lower())
    return known if known is not None else (runtime.database.principals.get(name.lower()) or {}).get("principal_id")


def _in_server_role(runtime: Any, role: str | None, login: str | None = None) -> int | None:
    known = next((one for one in (*permissions.SERVER_ROLES, "public") if one.lower() == (role or "").lower()), None)
    if known is None or (login is not None and login.lower() not in runtime.instance.logins):
        return None
    roles = permissions.server_roles(runtime.instance, login or runtime.session.login)
    return int(known == "public" or known in roles)


def _in_role(runtime: Any, role: str | None, user: str | None = None) -> int | None:
    database = runtime.database
    known = {
        *permissions.DATABASE_ROLES,
        "public",
        *(name for name, one in database.principals.items() if one.get("type") == "R"),
    }
    if (role or "").lower() not in known:
        return None
    here = user or _user(runtime)
    roles = {one.lower() for one in permissions.database_roles(database, here)}
    return int((role or "").lower() in {"public", *roles} or (here == "dbo" and (role or "").lower() == "db_owner"))


def _has_permission(runtime: Any, securable: str | None, kind: str | None, permission: str | None, *rest: Any) -> int | None:
    """HAS_PERMS_BY_NAME of the server (NULL, NULL), a database, a schema or an object; NULL where a name is not known."""
    instance, database, login, name = runtime.instance, runtime.database, runtime.session.login, (permission or "").upper()
    what = (kind or "").upper()
    if what in ("", "SERVER"):
        return int(permissions.server_allows(instance, login, name)) if name in permissions.SERVER_TYPES else None
    if name not in (*permissions.DATABASE_TYPES, "ANY"):
        return None
    if what == "DATABASE":
        found = instance.database(securable.strip("[]")) if securable else database
        return None if found is None else int(permissions.database_allows(instance, found, login, name))
    parts = [part.strip("[]") for part in (securable or "").split(".")]
    if what == "SCHEMA":
        return int(permissions.database_allows(instance, database, login, name, parts[-1]))
    item = database.find(parts[-2] if len(parts) > 1 else "", parts[-1])
    if item is None:
        return None
    if len(rest) > 1 and str(rest[1] or "").upper() == "COLUMN" and name in column_permissions.ON_COLUMNS:
        column = str(rest[0] or "").strip("[]")
        names = [one.lower() for one in column_permissions.columns_of(item) or ()]
        if names and column.lower() not in names:
            return None
        asked = (instance, database, login, name, item.schema, item.name)
        return int(column_permissions.column_allows(*asked, column))
    return int(permissions.database_allows(instance, database, login, name, item.schema, item.name))


def _has_access(runtime: Any, name: str | None) -> int | None:
    found = runtime.instance.database(name) if name is not None else None
    return None if found is None else int(permissions.user_of(runtime.instance, found, runtime.session.login) is not None)


def nullary(names: str, sql_type: SqlType, read: Callable[[Any], Any]) -> None:
    """A function of the runtime alone."""

    @builder(names, 0)
    def build(compiler: Any, call: Any, args: list[Expr]) -> Expr:
        return Expr(lambda frame: read(frame[0]), sql_type)


def keyed(
    names: str, sql_type: SqlType, read: Callable[..., Any], least: int = 1, most: int | None = None, kinds: str = "s"
) -> None:
    """A function of the runtime and arguments (NULL arguments are passed as None)."""

    @builder(names, least, most)
    def build(compiler: Any, call: Any, args: list[Expr]) -> Expr:
        functions = [prepare(compiler, call, i, arg, kinds[min(i, len(kinds) - 1)]).fn for i, arg in enumerate(args)]
        refs = frozenset().union(*(arg.refs for arg in args)) if args else frozenset()
        return Expr(lambda frame: read(frame[0], *[fn(frame) for fn in functions]), sql_type, refs)


def _error(attribute: str) -> Callable[[Any], Any]:
    return lambda runtime: getattr(runtime.catching[-1], attribute) if runtime.catching else None


nullary("ERROR_NUMBER", INT, _error("number"))
nullary("ERROR_SEVERITY", INT, _error("severity"))
nullary("ERROR_STATE", INT, _error("state"))
nullary("ERROR_MESSAGE", nvarchar(4000), _error("text"))
nullary("ERROR_LINE", INT, _error("line"))
nullary("ERROR_PROCEDURE", _SYSNAME, lambda r: (r.catching[-1].procedure or None) if r.catching else None)


def _xact_state(runtime: Any) -> int:
    session = runtime.session
    if session.transaction is None or not session.trancount:
        return 0
    return -1 if session.transaction.doomed else 1


nullary("XACT_STATE", SMALLINT, _xact_state)
nullary(
    "SCOPE_IDENTITY", SqlType("numeric", precision=38), lambda r: None if r.scope_identity is None else Decimal(r.scope_identity)
)
nullary("ROWCOUNT_BIG", SqlType("bigint"), lambda r: r.session.row_count)
nullary("HOST_NAME", _SYSNAME, lambda r: r.session.host_name)
nullary("HOST_ID", SqlType("char", length=10), lambda r: "0000000001")
nullary("APP_NAME PROGRAM_NAME", _SYSNAME, lambda r: r.session.program_name)
nullary("ORIGINAL_LOGIN", _SYSNAME, lambda r: r.session.impersonated[0][0] if r.session.impersonated else r.session.login)
nullary("SYSTEM_USER", _SYSNAME, lambda r: r.session.login)
nullary("CURRENT_USER SESSION_USER USER", _SYSNAME, lambda r: _user(r))
nullary("CURRENT_TRANSACTION_ID", SqlType("bigint"), lambda r: r.session.transaction.id if r.session.transaction else 0)
nullary("CONTEXT_INFO", SqlType("varbinary", length=128), lambda r: r.session.context_info)
nullary("GETANSINULL", SMALLINT, lambda r: 1)
nullary("CURRENT_REQUEST_ID", SMALLINT, lambda r: 0)
nullary("CURRENT_TIMEZONE", _SYSNAME, lambda r: "(UTC) Coordinated Universal Time")


def _login_by(key: str) -> Callable[..., str | None]:
    """The name of the login whose ``key`` (sid, principal_id) is the argument; the session's own without one."""

    def name(runtime: Any, *arguments: Any) -> str | None:
        if not arguments:
            return str(runtime.session.login)
        found = (
            login for login in runtime.instance.logins.values() if arguments[0] is not None and login.get(key) == arguments[0]
        )
        return next((str(login["name"]) for login in found), None)

    return name


def _login_fact(key: str) -> Callable[..., Any]:
    """A fact about the login of that name, the session's own without one; NULL for a stranger."""
    return lambda r, *a: (r.instance.logins.get(str(a[0] if a else r.session.login).lower()) or {}).get(key)


keyed("SUSER_SNAME", _SYSNAME, _login_by("sid"), 0, 1, "a")
keyed("SUSER_NAME", _SYSNAME, _login_by("principal_id"), 0, 1, "a")
keyed("SUSER_ID", INT, _login_fact("principal_id"), 0, 1)
keyed("SUSER_SID", SqlType("varbinary", length=85), _login_fact("sid"), 0, 2, "si")
keyed(
    "USER_NAME",
    _SYSNAME,
    lambda r, *a: _user(r) if not a else {1: "dbo", 2: "guest", 3: "INFORMATION_SCHEMA", 4: "sys"}.get(a[0]) or _name(r, a[0]),
    0,
    1,
    "i",
)
keyed("USER_ID DATABASE_PRINCIPAL_ID", INT, lambda r, *a: _user_id(r, a[0] if a else _user(r)), 0, 1)
keyed("IS_SRVROLEMEMBER", INT, lambda r, role, *a: _in_server_role(r, role, *a), 1, 2)
keyed("IS_MEMBER IS_ROLEMEMBER", INT, lambda r, role, *a: _in_role(r, role, *a), 1, 2)
keyed("HAS_PERMS_BY_NAME", INT, lambda r, *a: _has_permission(r, *a), 3, 5, "s")
keyed("HAS_DBACCESS", INT, lambda r, name: _has_access(r, name))
keyed("SESSION_CONTEXT", SQL_VARIANT, lambda r, key: r.session.session_context.get((key or "").lower()))
keyed("SESSIONPROPERTY", SQL_VARIANT, lambda r, name: _session_property(r, name))
keyed(
    "CONNECTIONPROPERTY",
    SQL_VARIANT,
    lambda r, name: {
        "net_transport": "TCP",
        "protocol_type": "TSQL",
        "auth_scheme": "SQL",
        "client_net_address": "127.0.0.1",
        "local_net_address": "127.0.0.1",
        "physical_net_transport": "TCP",
    }.get((name or "").lower()),
)
keyed("SERVERPROPERTY", SQL_VARIANT, lambda r, name: server_property(r, name))


def _cursor_status(runtime: Any, source: str | None, name: str | None) -> int | None:
    """1 open with rows, 0 open without, -1 closed, -2 a variable without a cursor, -3 no such name ("CURSOR_STATUS")."""
    where, key = (source or "").lower(), (name or "").lower()
    if where not in ("local", "global", "variable"):
        return None
    known = {"local": runtime.cursors, "global": runtime.session.cursors, "variable": runtime.cursor_variables}[where]
    if key not in known:
        return -3
    return -2 if known[key] is None else known[key].status


keyed("CURSOR_STATUS", SMALLINT, lambda r, source, name: _cursor_status(r, source, name), 2)


def _session_property(runtime: Any, name: str | None) -> Any:
    attribute = (name or "").lower()
    value = getattr(runtime.session.options, attribute, None)
    return int(value) if isinstance(value, bool) else None


def server_property(runtime: Any, name: str | None) -> Any:
    """SERVERPROPERTY: the node's answer, else the instance's, else that of a Developer edition 2022."""
    if name is None:
        return None
    value = runtime.host.server_property(name)
    if value is not None:
        return value
    instance = runtime.instance
    for key, own in instance.properties.items():
        if key.lower() == name.lower():
            return own
    return SERVER_PROPERTIES.get(name.lower(), lambda i: None)(instance)


SERVER_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "servername": lambda i: i.name,
    "machinename": lambda i: i.name,
    "computernamephysicalnetbios": lambda i: i.name,
    "instancename": lambda i: None,
    "productversion": lambda i: "16.0.4135.4",
    "productmajorversion": lambda i: "16",
    "productminorversion": lambda i: "0",
    "productbuild": lambda i: "4135",
    "productlevel": lambda i: "RTM",
    "productupdatelevel": lambda i: "CU14",
    "productupdatereference": lambda i: "KB5038325",
    "edition": lambda i: "Developer Edition (64-bit)",
    "editionid": lambda i: -2117995310,
    "engineedition": lambda i: 3,
    "collation": lambda i: "SQL_Latin1_General_CP1_CI_AS",
    "collationid": lambda i: 872468488,
    "sqlcharset": lambda i: 1,
    "sqlcharsetname": lambda i: "iso_1",
    "sqlsortorder": lambda i: 52,
    "sqlsortordername": lambda i: "nocase_iso",
    "lcid": lambda i: 1033,
    "comparisonstyle": lambda i: 196609,
    "buildclrversion": lambda i: "v4.0.30319",
    "isclustered": lambda i: 0,
    "ishadrenabled": lambda i: i.configurations["hadr enabled"].value_in_use,
    "hadrmanagerstatus": lambda i: 1 if i.configurations["hadr enabled"].value_in_use else 2,
    "isintegratedsecurityonly": lambda i: 0,
    "issingleuser": lambda i: 0,
    "isfulltextinstalled": lambda i: 0,
    "isxtpsupported": lambda i: 1,
    "ispolybaseinstalled": lambda i: 0,
    "isadvancedanalyticsinstalled": lambda i: 0,
    "islocaldb": lambda i: 0,
    "istempdbmetadatamemoryoptimized": lambda i: 0,
    "licensetype": lambda i: "DISABLED",
    "numlicenses": lambda i: None,
    "processid": lambda i: 1,
    "filestreamsharename": lambda i: "MSSQLSERVER",
    "filestreamconfiguredlevel": lambda i: 0,
    "filestreameffectivelevel": lambda i: 0,
    "instancedefaultdatapath": lambda i: "/var/opt/mssql/data/",
    "instancedefaultlogpath": lambda i: "/var/opt/mssql/data/",
    "instancedefaultbackuppath": lambda i: "/var/opt/mssql/data/",
    "errorlogfilename": lambda i: "/var/opt/mssql/log/errorlog",
    "pathseparator": lambda i: "/",
    "suspendeddatabasecount": lambda i: 0,
}
