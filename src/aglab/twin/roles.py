"""Server and database roles: CREATE, ALTER and DROP ROLE, ALTER SERVER ROLE; and EXECUTE AS with REVERT.

Sources: the statements' pages in the SQL Server documentation. EXECUTE AS USER takes the place of the user's login; a user
without login cannot be impersonated here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session, permissions
from aglab.tsql.messages import not_implemented
from aglab.twin.contained import seen
from aglab.twin.keeping import keep_principals
from aglab.twin.logins import FIRST_USER_ID
from aglab.twin.principals import shipped
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.twin.node import Node


def alter_server_role(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER SERVER ROLE role ADD | DROP MEMBER login"""
    reader = clauses_of(command)
    role, verb = reader.name(), reader.choice("ADD", "DROP")
    reader.expect("MEMBER")
    member = reader.name()
    reader.end()
    known = next((one for one in permissions.SERVER_ROLES if one.lower() == role.lower()), None)
    if known is None:
        raise refusal(15151, "alter", "server role", role)
    login = seen(node, session).logins.get(member.lower())
    if login is None:
        raise refusal(15151, "add" if verb == "ADD" else "drop", "principal", member)
    _member(login, known, verb)
    for client in node.clients.values():
        if client.session.login.lower() == member.lower() and client.session.environment is session.environment:
            client.session.is_sysadmin = permissions.is_sysadmin(seen(node, session), member)
    node.cluster.dirty_rows = True
    keep_principals(node)
    yield from ()


def _member(principal: dict[str, Any], role: str, verb: str) -> None:
    roles = [one for one in principal.get("roles", ()) if one != role]
    principal["roles"] = [*roles, role] if verb == "ADD" else roles


def create_role(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE ROLE name [AUTHORIZATION dbo]"""
    reader = clauses_of(command)
    name = reader.name()
    if reader.accept("AUTHORIZATION"):
        reader.name()
    reader.end()
    database = seen(node, session).database(session.database)
    assert database is not None
    node.check_access(database.name, session, True)
    taken = {*database.principals, *permissions.DATABASE_ROLES, "dbo", "guest", "public", "sys", "information_schema"}
    if name.lower() in taken:
        raise refusal(15023, name)
    used = {one["principal_id"] for one in database.principals.values()}
    number = next(n for n in range(FIRST_USER_ID, FIRST_USER_ID + len(used) + 1) if n not in used)
    database.principals[name.lower()] = {"name": name, "principal_id": number, "type": "R", "type_desc": "DATABASE_ROLE"}
    node.cluster.dirty_rows = True
    keep_principals(node)
    yield from ()


def drop_role(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP ROLE [IF EXISTS] name"""
    reader = clauses_of(command)
    quietly = reader.accept("IF", "EXISTS")
    name = reader.name()
    reader.end()
    database = seen(node, session).database(session.database)
    assert database is not None
    found = database.principals.get(name.lower())
    if found is None or found.get("type") != "R":
        if not quietly:
            raise refusal(15151, "drop", "role", name)
        return
    if any(found["name"] in one.get("roles", ()) for one in database.principals.values()):
        raise refusal(15144)
    del database.principals[name.lower()]
    node.cluster.dirty_rows = True
    keep_principals(node)
    yield from ()


def alter_role(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER ROLE role ADD | DROP MEMBER user"""
    reader = clauses_of(command)
    role, verb = reader.name(), reader.choice("ADD", "DROP", "WITH")
    if verb == "WITH":
        raise not_implemented("ALTER ROLE ... WITH NAME")
    reader.expect("MEMBER")
    member = reader.name()
    reader.end()
    database = seen(node, session).database(session.database)
    assert database is not None
    node.check_access(database.name, session, True)
    made = database.principals.get(role.lower())
    known = next((one for one in permissions.DATABASE_ROLES if one == role.lower()), None)
    if known is None and (made is None or made.get("type") != "R"):
        raise refusal(15151, "alter", "role", role)
    found = database.principals.get(member.lower())
    if found is None:
        raise refusal(15151, "add" if verb == "ADD" else "drop", "principal", member)
    _member(found, known or str(made and made["name"]), verb)
    node.cluster.dirty_rows = True
    keep_principals(node)
    yield from ()


# -- EXECUTE AS ----------------------------------------------------------------------------------------------------------------
def execute_as(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """EXECUTE AS LOGIN | USER = 'name': the session is that login until REVERT."""
    reader = clauses_of(command)
    kind = reader.choice("LOGIN", "USER")
    reader.expect("=")
    name = reader.text()
    for_good = reader.accept("WITH", "NO", "REVERT")
    if reader.at("WITH"):
        raise not_implemented("EXECUTE AS ... WITH COOKIE")
    reader.end()
    login = _login_of(node, session, kind, name)
    number = 15406 if kind == "LOGIN" else 15517
    may = permissions.may(seen(node, session), session, "CONTROL SERVER")
    if login is None or not (may or login.lower() == session.login.lower()):
        raise refusal(number, name)
    if for_good:
        session.impersonated.clear()  # REVERT finds nothing any more
    else:
        session.impersonated.append((session.login, session.is_sysadmin))
    session.login, session.is_sysadmin = login, permissions.is_sysadmin(seen(node, session), login)
    yield from ()


def _login_of(node: Node, session: Session, kind: str, name: str) -> str | None:
    logins = seen(node, session).logins
    if kind == "LOGIN":
        return str(logins[name.lower()]["name"]) if name.lower() in logins else None
    database = seen(node, session).database(session.database)
    user = database.principals.get(name.lower()) if database is not None else None
    if user is None:
        return "sa" if name.lower() == "dbo" else None
    found = next((one for one in logins.values() if one.get("sid") == user.get("sid")), None)
    if found is None:
        raise not_implemented("EXECUTE AS USER of a user without login")
    return str(found["name"])


def revert(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """REVERT: one EXECUTE AS back; nothing happens without one."""
    clauses_of(command).end()
    if session.impersonated:
        session.login, session.is_sysadmin = session.impersonated.pop()
    yield from ()


COMMANDS = {
    "ALTER SERVER ROLE": shipped(alter_server_role),
    "CREATE ROLE": shipped(create_role),
    "DROP ROLE": shipped(drop_role),
    "ALTER ROLE": shipped(alter_role),
    "EXECUTE AS": execute_as,
    "REVERT": revert,
}
