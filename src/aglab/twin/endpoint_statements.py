"""CREATE, ALTER and DROP ENDPOINT of kind DATABASE_MIRRORING, and GRANT, DENY, REVOKE CONNECT ON ENDPOINT.

Sources: the statements' pages in the SQL Server documentation; the messages are in :mod:`aglab.twin.security_messages`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session
from aglab.tsql.messages import not_implemented
from aglab.twin.clauses import Clauses
from aglab.twin.endpoints import ALGORITHMS, Endpoint
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import certificate_of, changed, clauses_of, expiry

if TYPE_CHECKING:
    from aglab.twin.node import Node


def create_endpoint(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE ENDPOINT name [AUTHORIZATION login] [STATE = ...] AS TCP (...) FOR DATABASE_MIRRORING (...)"""
    reader = clauses_of(command)
    made = Endpoint(reader.name())
    _endpoint_clauses(node, reader, made)
    if node.trust.endpoint is not None:
        raise refusal(7862)
    node.trust.endpoint = made
    _announce(node, made)
    return changed(node)


def alter_endpoint(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER ENDPOINT name STATE = ... | AS TCP (...) | FOR DATABASE_MIRRORING (...)"""
    reader = clauses_of(command)
    found = _endpoint(node, reader.name(), "alter")
    if reader.token is None or reader.at(";"):
        raise refusal(7863)
    before = found.state
    draft = Endpoint(**vars(found))
    _endpoint_clauses(node, reader, draft)
    node.trust.endpoint = draft
    if draft.state != before:
        _announce(node, draft)
    return changed(node)


def drop_endpoint(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP ENDPOINT name"""
    reader = clauses_of(command)
    _endpoint(node, reader.name(), "drop")
    reader.end()
    node.trust.endpoint = None
    node.trust.granted.clear()
    return changed(node)


def _endpoint(node: Node, name: str, verb: str) -> Endpoint:
    found = node.trust.endpoint
    if found is None or found.name.lower() != name.lower():
        raise refusal(15151, verb, "endpoint", name)
    return found


def _announce(node: Node, endpoint: Endpoint) -> None:
    if endpoint.state == "STARTED":
        node.log_line("The Database Mirroring endpoint is now listening for connections.", "spid14s")
        node.log_line(f"Server is listening on [ 'any' <ipv4> {endpoint.port}].", "spid14s")
    else:
        node.log_line("The Database Mirroring endpoint is in disabled or stopped state.", "spid14s")


def _endpoint_clauses(node: Node, reader: Clauses, made: Endpoint) -> None:
    if reader.accept("AUTHORIZATION"):
        made.owner = reader.name()
    while reader.token is not None and not reader.at(";"):
        if reader.accept("STATE"):
            reader.expect("=")
            made.state = reader.choice("STARTED", "STOPPED", "DISABLED")
        elif reader.accept("AS"):
            if not reader.accept("TCP"):
                raise not_implemented("an ENDPOINT that is not AS TCP")
            known = {"LISTENER_PORT": Clauses.number, "LISTENER_IP": _address}
            made.port = reader.options(known, "ENDPOINT").get("LISTENER_PORT", made.port)
        elif reader.accept("FOR"):
            if not (reader.accept("DATABASE_MIRRORING") or reader.accept("DATA_MIRRORING")):
                raise not_implemented("an ENDPOINT that is not FOR DATABASE_MIRRORING")
            _mirroring(node, reader, made)
        else:
            raise reader.wrong()
    reader.end()


def _address(reader: Clauses) -> str:
    if reader.accept("ALL"):
        return "ALL"
    if reader.accept("("):
        address = reader.text()
        reader.expect(")")
        return address
    return reader.text()


def _authentication(reader: Clauses) -> str:
    if reader.accept("CERTIFICATE"):
        return reader.name()
    raise not_implemented("ENDPOINT ... AUTHENTICATION = WINDOWS (SQL Server on Linux has certificates only)")


def _encryption(reader: Clauses) -> tuple[str, str]:
    word, algorithm = reader.choice("REQUIRED", "SUPPORTED", "DISABLED"), "AES"
    if word != "DISABLED" and reader.accept("ALGORITHM"):
        algorithm = reader.choice("AES", "RC4")
        if reader.accept("AES") or reader.accept("RC4"):
            algorithm = f"{algorithm} {'RC4' if algorithm == 'AES' else 'AES'}"
    return word, "NONE" if word == "DISABLED" else algorithm


def _mirroring(node: Node, reader: Clauses, made: Endpoint) -> None:
    known = {
        "ROLE": lambda one: one.choice("ALL", "PARTNER", "WITNESS"),
        "AUTHENTICATION": _authentication,
        "ENCRYPTION": _encryption,
    }
    said = reader.options(known, "ENDPOINT")
    made.role = said.get("ROLE", made.role)
    made.encryption, made.algorithm = said.get("ENCRYPTION", (made.encryption, made.algorithm))
    assert made.algorithm in ALGORITHMS
    if "AUTHENTICATION" in said:
        certificate = certificate_of(node, said["AUTHENTICATION"], "find")
        if not certificate.has_key or expiry(node, certificate) <= node.now():
            raise refusal(28055, certificate.name)
        made.certificate = certificate.name
    if not made.certificate:
        raise not_implemented("ENDPOINT ... without AUTHENTICATION = CERTIFICATE")


# -- GRANT, DENY, REVOKE -------------------------------------------------------------------------------------------------
def grant(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """GRANT, DENY or REVOKE CONNECT ON ENDPOINT::name TO login (:mod:`aglab.twin.permissions` has the others)."""
    reader = clauses_of(command)
    verb = command.name.upper()
    reader.expect("CONNECT", "ON", "ENDPOINT", "::")
    name = reader.name()
    reader.choice(*(("TO", "FROM") if verb == "REVOKE" else ("TO",)))
    logins = reader.listed(reader.name)
    reader.end()
    _endpoint(node, name, "find")
    for login in logins:
        if login.lower() not in node.instance.logins:
            raise refusal(15151, "find", "login", login)
    for login in logins:
        if verb == "REVOKE":
            node.trust.granted.pop(login.lower(), None)
        else:
            node.trust.granted[login.lower()] = verb == "GRANT"
    return changed(node)


COMMANDS = {
    "CREATE ENDPOINT": create_endpoint,
    "ALTER ENDPOINT": alter_endpoint,
    "DROP ENDPOINT": drop_endpoint,
}
