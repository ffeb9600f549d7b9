"""CREATE, ALTER and DROP of logins and of users in databases, as far as endpoints and clients need them.

A login can come in over TDS and do everything: permissions beside CONNECT on the endpoint have no mechanism here. Passwords are
kept as salted digests.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session
from aglab.tsql.messages import not_implemented
from aglab.twin.clauses import Clauses
from aglab.twin.contained import seen
from aglab.twin.keeping import keep_principals
from aglab.twin.principals import shipped
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import check_policy, clauses_of

if TYPE_CHECKING:
    from aglab.twin.node import Node

FIRST_LOGIN_ID = 260
FIRST_USER_ID = 5
_WITHOUT_EFFECT = {
    "CHECK_POLICY": Clauses.switch,
    "CHECK_EXPIRATION": Clauses.switch,
    "DEFAULT_LANGUAGE": Clauses.text_or_name,
}


def digest(password: str, salt: str) -> str:
    """What is kept of a login's password."""
    return hashlib.scrypt(password.encode("utf-8"), salt=bytes.fromhex(salt), n=1024, r=8, p=1).hex()


def fits(login: dict[str, Any], password: str) -> bool:
    """Whether a password is the login's."""
    kept, salt = str(login.get("password") or ""), str(login.get("salt") or "")
    return bool(kept and salt) and hmac.compare_digest(kept, digest(password, salt))


def _password(login: dict[str, Any], text: str, policy: bool) -> None:
    if policy:
        check_policy(text)
    login["salt"] = secrets.token_hex(16)
    login["password"] = digest(text, login["salt"])


def _options(reader: Clauses, what: str) -> dict[str, Any]:
    known: dict[str, Any] = {
        **_WITHOUT_EFFECT,
        "PASSWORD": Clauses.text,
        "SID": Clauses.binary,
        "DEFAULT_DATABASE": Clauses.name,
        "NAME": Clauses.name,
    }
    return reader.parts(known, what)


def create_login(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE LOGIN name WITH PASSWORD = '...' [, options]"""
    reader = clauses_of(command)
    name = reader.name()
    if not reader.accept("WITH"):
        raise not_implemented("CREATE LOGIN ... FROM (SQL logins with a password are known)")
    said = _options(reader, "CREATE LOGIN")
    reader.end()
    if "PASSWORD" not in said:
        raise reader.wrong()
    logins = seen(node, session).logins
    if name.lower() in logins:
        raise refusal(15025, name)
    used = {one["principal_id"] for one in logins.values()}
    number = next(n for n in range(FIRST_LOGIN_ID, FIRST_LOGIN_ID + len(used) + 1) if n not in used)
    login = {"name": name, "principal_id": number, "sid": said.get("SID") or secrets.token_bytes(16), "type": "S"}
    login["create_date"] = login["modify_date"] = node.now().replace(microsecond=0)
    login["default_database_name"] = said.get("DEFAULT_DATABASE", "master")
    _password(login, said["PASSWORD"], said.get("CHECK_POLICY", True))
    logins[name.lower()] = login
    return _kept(node)


def alter_login(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER LOGIN name ENABLE | DISABLE | WITH PASSWORD = '...'"""
    reader = clauses_of(command)
    login = _login(node, session, reader.name(), "alter")
    if reader.accept("ENABLE") or reader.accept("DISABLE"):
        login["is_disabled"] = str(reader.tokens[reader.place - 1].value).upper() == "DISABLE"
    else:
        reader.expect("WITH")
        said = _options(reader, "ALTER LOGIN")
        if "PASSWORD" in said:
            if login["name"].lower() == "sa":
                raise not_implemented("ALTER LOGIN sa WITH PASSWORD (its password is in the state directory)")
            _password(login, said["PASSWORD"], said.get("CHECK_POLICY", True))
        login["default_database_name"] = said.get("DEFAULT_DATABASE", login.get("default_database_name", "master"))
    reader.end()
    return _kept(node)


def drop_login(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP LOGIN name"""
    reader = clauses_of(command)
    login = _login(node, session, reader.name(), "drop")
    reader.end()
    if login["name"].lower() == "sa":
        raise refusal(15151, "drop", "login", "sa")
    del seen(node, session).logins[login["name"].lower()]
    if session.environment is None:
        node.trust.granted.pop(login["name"].lower(), None)
    return _kept(node)


def _login(node: Node, session: Session, name: str, verb: str) -> dict[str, Any]:
    found = seen(node, session).logins.get(name.lower())
    if found is None:
        raise refusal(15151, verb, "login", name)
    return found


def create_user(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE USER name [FOR LOGIN login | WITHOUT LOGIN] [WITH DEFAULT_SCHEMA = name]"""
    reader = clauses_of(command)
    name = reader.name()
    login: dict[str, Any] | None = None
    if not reader.accept("WITHOUT", "LOGIN"):
        given = reader.name() if reader.accept("FOR", "LOGIN") or reader.accept("FROM", "LOGIN") else name
        login = seen(node, session).logins.get(given.lower())
        if login is None:
            raise refusal(15007, given)
    if reader.accept("WITH"):
        reader.parts({"DEFAULT_SCHEMA": Clauses.name}, "CREATE USER")
    reader.end()
    database = seen(node, session).database(session.database)
    assert database is not None
    node.check_access(database.name, session, True)
    if name.lower() in database.principals or name.lower() in ("dbo", "guest", "sys", "information_schema", "public"):
        raise refusal(15023, name)
    if login is not None and any(one.get("sid") == login["sid"] for one in database.principals.values()):
        raise refusal(15063)
    used = {one["principal_id"] for one in database.principals.values()}
    number = next(n for n in range(FIRST_USER_ID, FIRST_USER_ID + len(used) + 1) if n not in used)
    database.principals[name.lower()] = {
        "name": name,
        "principal_id": number,
        "sid": login["sid"] if login is not None else secrets.token_bytes(28),
        "default_schema_name": "dbo",
    }
    return _kept(node)


def drop_user(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP USER [IF EXISTS] name"""
    reader = clauses_of(command)
    quietly = reader.accept("IF", "EXISTS")
    name = reader.name()
    reader.end()
    database = seen(node, session).database(session.database)
    assert database is not None
    if name.lower() not in database.principals:
        if quietly:
            return _kept(node)
        raise refusal(15151, "drop", "user", name)
    if database.name == "master" and any(one.owner.lower() == name.lower() for one in node.trust.certificates.values()):
        raise refusal(15138, "certificate")
    del database.principals[name.lower()]
    return _kept(node)


def _kept(node: Node) -> Iterator[Any]:
    node.cluster.dirty_rows = True  # logins and users lie with the rows
    keep_principals(node)
    node.cluster.groups.trust_changed()
    yield from ()


COMMANDS = {
    "CREATE LOGIN": shipped(create_login),
    "ALTER LOGIN": shipped(alter_login),
    "DROP LOGIN": shipped(drop_login),
    "CREATE USER": shipped(create_user),
    "DROP USER": shipped(drop_user),
}
