"""GRANT, DENY, REVOKE; and which permission an administrative statement asks for.

What a permission means is in :mod:`aglab.tsql.permissions`. Sources: the statements' pages in the SQL Server documentation and
their sections "Permissions". GRANT CONNECT ON ENDPOINT is kept with the endpoint (:mod:`aglab.twin.endpoint_statements`), roles
are in :mod:`aglab.twin.roles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session, column_permissions, permissions
from aglab.tsql.messages import error, not_implemented
from aglab.tsql.store.database import Database
from aglab.twin.clauses import Clauses
from aglab.twin.contained import check as check_contained
from aglab.twin.contained import seen
from aglab.twin.endpoint_statements import grant as grant_endpoint
from aglab.twin.keeping import keep_principals
from aglab.twin.principals import shipped
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.twin.node import Node

# First words of a statement -> the server permission that it needs, the longest match first.
_SERVER = {
    "CREATE AVAILABILITY GROUP": "CREATE AVAILABILITY GROUP",
    "CREATE LOGIN": "ALTER ANY LOGIN",
    "ALTER LOGIN": "ALTER ANY LOGIN",
    "DROP LOGIN": "ALTER ANY LOGIN",
    "CREATE ENDPOINT": "CREATE ENDPOINT",
    "CREATE RESOURCE": "CONTROL SERVER",
    "ALTER RESOURCE": "CONTROL SERVER",
    "DROP RESOURCE": "CONTROL SERVER",
    "CREATE WORKLOAD GROUP": "CONTROL SERVER",
    "ALTER WORKLOAD GROUP": "CONTROL SERVER",
    "DROP WORKLOAD GROUP": "CONTROL SERVER",
    "ALTER SERVER CONFIGURATION": "ALTER SETTINGS",
    "ALTER SERVER ROLE": "ALTER ANY SERVER ROLE",
    "CREATE EVENT SESSION": "ALTER ANY EVENT SESSION",
    "ALTER EVENT SESSION": "ALTER ANY EVENT SESSION",
    "DROP EVENT SESSION": "ALTER ANY EVENT SESSION",
    "DBCC SQLPERF CLEAR": "ALTER SERVER STATE",
    "RESTORE": "CREATE ANY DATABASE",
}
_IN_DATABASE = {
    "BACKUP DATABASE": "BACKUP DATABASE",
    "BACKUP LOG": "BACKUP LOG",
    "CHECKPOINT": "CHECKPOINT",
    "CREATE USER": "ALTER ANY USER",
    "DROP USER": "ALTER ANY USER",
    "CREATE ROLE": "ALTER ANY ROLE",
    "ALTER ROLE": "ALTER ANY ROLE",
    "DROP ROLE": "ALTER ANY ROLE",
    "CREATE MASTER KEY": "CONTROL",
    "DROP MASTER KEY": "CONTROL",
    "CREATE CERTIFICATE": "CONTROL",
    "DROP CERTIFICATE": "CONTROL",
    "BACKUP CERTIFICATE": "CONTROL",
}


def check(node: Node, command: Command, session: Session) -> None:
    """Refuse a statement that the session's login may not run. Errors 15151, 15247, 262, 300, 6004."""
    check_contained(command, session)
    if session.is_sysadmin:
        return
    instance, name, login = seen(node, session), command.name.upper(), session.login
    if name in ("ALTER AVAILABILITY GROUP", "DROP AVAILABILITY GROUP", "ALTER DATABASE SET HADR"):
        if not permissions.server_allows(instance, login, "ALTER ANY AVAILABILITY GROUP"):
            group = clauses_of(command).name() if "GROUP" in name else command.target
            raise refusal(15151, name.split()[0].lower(), "availability group" if "GROUP" in name else "database", group)
        return
    if name == "SHUTDOWN":
        if not permissions.server_allows(instance, login, "SHUTDOWN"):
            raise error(6004)
        return
    wanted = next((permission for words, permission in _SERVER.items() if name.startswith(words)), None)
    if wanted is not None:
        if not permissions.server_allows(instance, login, wanted):
            raise error(262, name, "master") if name.startswith(("CREATE", "RESTORE")) else error(15247)
        return
    if name in _IN_DATABASE:
        where = command.target if name.startswith("BACKUP ") and "CERT" not in name else session.database
        database = instance.database(where) or instance.database(session.database)
        assert database is not None
        permissions.need_entry(instance, session, database)
        if not permissions.database_allows(instance, database, login, _IN_DATABASE[name]):
            raise error(262, name, database.name) if name.startswith(("BACKUP", "CHECKPOINT")) else error(15247)


# -- GRANT, DENY, REVOKE -------------------------------------------------------------------------------------------------------
def grant(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """GRANT | DENY | REVOKE permission [(column, ...)] [, ...] [ON [class::]securable [(column, ...)]] TO | FROM name"""
    reader = clauses_of(command)
    if reader.at("CONNECT", "ON", "ENDPOINT"):
        if not permissions.may(seen(node, session), session, "ALTER ANY ENDPOINT"):
            raise error(15151, "find", "endpoint", "")
        yield from grant_endpoint(node, command, session)
        return
    verb = command.name.upper()
    only_option = verb == "REVOKE" and reader.accept("GRANT", "OPTION", "FOR")
    named = _names(reader)
    names = [name for name, _ in named]
    securable = _securable(reader) if reader.accept("ON") else None
    behind = _columns(reader) if securable is not None else []
    columns = {name: own or behind for name, own in named if own or behind}
    reader.choice(*(("TO", "FROM") if verb == "REVOKE" else ("TO",)))
    principals = reader.listed(reader.name)
    with_option = verb == "GRANT" and reader.accept("WITH", "GRANT", "OPTION")
    reader.accept("CASCADE")
    reader.end()
    state = "W" if with_option else "G" if only_option else {"GRANT": "G", "DENY": "D"}.get(verb)
    if securable is None and all(one in permissions.SERVER_TYPES for one in names):
        _on_server(node, session, names, principals, state)
    else:
        _in_database(node, session, names, securable, principals, state, columns)
    node.cluster.dirty_rows = True
    keep_principals(node)
    yield from ()


def _names(reader: Clauses) -> list[tuple[str, list[str]]]:
    """Permissions, each with its columns. ALL is refused by name."""

    def one() -> tuple[str, list[str]]:
        words = [reader.word()]
        while not any(reader.at(word) for word in (",", "ON", "TO", "FROM", "(")):
            words.append(reader.word())
        name = " ".join(word for word in words if word != "PRIVILEGES")
        return "EXECUTE" if name == "EXEC" else name, _columns(reader)

    return reader.listed(one)


def _columns(reader: Clauses) -> list[str]:
    if not reader.accept("("):
        return []
    found = reader.listed(reader.name)
    reader.expect(")")
    return found


def _securable(reader: Clauses) -> tuple[str, tuple[str, ...]]:
    kind = ""
    for word in ("OBJECT", "SCHEMA", "DATABASE"):
        if reader.accept(word, "::"):
            kind = word
    parts = [reader.name()]
    while reader.accept("."):
        parts.append(reader.name())
    return kind or "OBJECT", tuple(parts)


def _set(kept: dict[Any, str], key: Any, state: str | None) -> None:
    if state is None:
        kept.pop(key, None)
    else:
        kept[key] = state


def _on_server(node: Node, session: Session, names: list[str], principals: list[str], state: str | None) -> None:
    instance = seen(node, session)
    here = instance.database(session.database)
    if here is None or here.system != "master":
        raise refusal(4621)
    own = (instance.logins.get(session.login.lower()) or {}).get("permissions", {})
    if not permissions.may(seen(node, session), session, "CONTROL SERVER") and any(own.get(name) != "W" for name in names):
        raise refusal(4613)
    for one in principals:
        login = instance.logins.get(one.lower())
        if login is None:
            raise refusal(15151, "find", "login", one)
        if one.lower() in ("sa", session.login.lower()):
            raise refusal(4624)
        kept = login.setdefault("permissions", {})
        for name in names:
            _set(kept, name, state)


def _in_database(
    node: Node,
    session: Session,
    names: list[str],
    securable: tuple[str, tuple[str, ...]] | None,
    principals: list[str],
    state: str | None,
    columns: dict[str, list[str]],
) -> None:
    database = seen(node, session).database(session.database)
    assert database is not None
    node.check_access(database.name, session, True)
    for name in names:
        if name not in permissions.DATABASE_TYPES:
            raise error(102, name.split(" ")[0])
    kind, place = _place(database, securable)
    if any(kind != "OBJECT" or name not in column_permissions.ON_COLUMNS for name in columns):
        raise error(1020)
    places = {name: _column_places(database, place, columns.get(name, [])) for name in names}
    instance, login = seen(node, session), session.login
    owns = session.is_sysadmin or permissions.database_allows(instance, database, login, "CONTROL")
    if not owns and not all(permissions.may_pass_on(instance, database, login, one, kind, place) for one in names):
        raise refusal(4613)
    for one in principals:
        principal = _principal(database, one)
        kept = principal.setdefault("permissions", {})
        for name in names:
            for key in places[name]:
                _set(kept, ("COLUMN", key, name), state)
            if name in columns:
                continue
            _set(kept, (kind, place, name), state)
            if kind == "OBJECT" and state is None:  # REVOKE on the object takes what was said of its columns along
                for key in [one for one in kept if one[0] == "COLUMN" and one[1].startswith(place + "\t") and one[2] == name]:
                    del kept[key]


def _place(database: Database, securable: tuple[str, tuple[str, ...]] | None) -> tuple[str, str]:
    if securable is None or securable[0] == "DATABASE":
        return "DATABASE", ""
    kind, parts = securable
    if kind == "SCHEMA":
        known = database.schema_name(parts[-1])
        if known is None:
            raise refusal(15151, "find", "schema", parts[-1])
        return "SCHEMA", known.lower()
    item = database.find(parts[-2] if len(parts) > 1 else "", parts[-1])
    if item is None:
        raise refusal(15151, "find", "object", parts[-1])
    return "OBJECT", f"{item.schema}.{item.name}".lower()


def _column_places(database: Database, place: str, columns: list[str]) -> list[str]:
    """Keys of columns. Error 1911 where a table has none of that name."""
    if not columns:
        return []
    schema, _, name = place.partition(".")
    names = column_permissions.columns_of(database.find(schema, name))
    if names is None:
        raise not_implemented("permissions on columns of a view whose text does not name them")
    known = {one.lower() for one in names}
    for one in columns:
        if one.lower() not in known:
            raise error(1911, one)
    return [column_permissions.place_of(schema, name, one) for one in columns]


def _principal(database: Database, name: str) -> dict[str, Any]:
    if name.lower() == "public":
        return database.principals.setdefault("public", {"name": "public", "principal_id": 0, "type": "R"})
    found = database.principals.get(name.lower())
    if found is None:
        raise refusal(15151, "find", "user", name)
    return found


COMMANDS = dict.fromkeys(("GRANT", "DENY", "REVOKE"), shipped(grant))
