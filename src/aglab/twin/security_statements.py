"""CREATE, ALTER, DROP and BACKUP of master keys and certificates.

Endpoints are in :mod:`aglab.twin.endpoint_statements`, logins and users in :mod:`aglab.twin.logins`. Keys and certificates are
those of master: that is what endpoints use. Sources: the statements' pages in the SQL Server documentation; the messages are in
:mod:`aglab.twin.security_messages`.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session
from aglab.tsql.messages import error, not_implemented
from aglab.twin.clauses import Clauses
from aglab.twin.clock import EPOCH
from aglab.twin.endpoints import Certificate
from aglab.twin.security_messages import refusal

if TYPE_CHECKING:
    from aglab.twin.node import Node


def clauses_of(command: Command) -> Clauses:
    """The tokens after the statement's first words."""
    return Clauses(list(command.options.get("TOKENS", ())))


def in_master(session: Session, what: str) -> None:
    """Keys of other databases have no mechanism here."""
    if session.database.lower() != "master":
        raise not_implemented(f"{what} in a database other than master")


def changed(node: Node) -> Iterator[Any]:
    """A change of trust reaches the groups at once."""
    node.cluster.dirty = True
    node.cluster.groups.trust_changed()
    yield from ()


def password_digest(text: str) -> str:
    """What is kept of a password of a key file."""
    return hashlib.scrypt(text.encode("utf-8"), salt=b"aglab key file", n=1024, r=8, p=1).hex()


def check_policy(password: str) -> None:
    """Eight characters from three of four kinds ("Password policy", SQL Server documentation). Error 15118."""
    kinds = [str.isupper, str.islower, str.isdigit, lambda one: not one.isalnum()]
    if len(password) < 8 or sum(any(kind(one) for one in password) for kind in kinds) < 3:
        raise refusal(15118)


# -- master key ----------------------------------------------------------------------------------------------------------
def create_master_key(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE MASTER KEY [ENCRYPTION BY PASSWORD = '...']"""
    in_master(session, "CREATE MASTER KEY")
    reader = clauses_of(command)
    if reader.accept("ENCRYPTION", "BY", "PASSWORD", "="):
        check_policy(reader.text())
    reader.end()
    if node.trust.master_key:
        raise refusal(15578)
    node.trust.master_key = True
    return changed(node)


def drop_master_key(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP MASTER KEY"""
    in_master(session, "DROP MASTER KEY")
    clauses_of(command).end()
    if not node.trust.master_key:
        raise refusal(15151, "drop", "symmetric key", "##MS_DatabaseMasterKey##")
    for one in node.trust.certificates.values():
        if one.has_key:
            raise refusal(15580, "master key", "certificate", one.name)
    node.trust.master_key = False
    return changed(node)


# -- certificates --------------------------------------------------------------------------------------------------------
def create_certificate(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE CERTIFICATE name [AUTHORIZATION user] WITH SUBJECT ... | FROM FILE ... [WITH PRIVATE KEY (...)]"""
    in_master(session, "CREATE CERTIFICATE")
    reader = clauses_of(command)
    name, owner, trust = reader.name(), "dbo", node.trust
    if reader.accept("AUTHORIZATION"):
        owner = reader.name()
        master = node.instance.database("master")
        if owner.lower() != "dbo" and (master is None or owner.lower() not in master.principals):
            raise refusal(15151, "find", "user", owner)
    if name.lower() in trust.certificates:
        raise refusal(15232, name)
    if reader.accept("FROM", "FILE", "="):
        made = _read_certificate(node, reader, name)
    else:
        made = _new_certificate(node, reader, name)
    if any(one.thumbprint == made.thumbprint for one in trust.certificates.values()):
        raise refusal(15232, name)
    made.owner = owner
    made.created_s = node.now_s()
    trust.certificates[name.lower()] = made
    return changed(node)


def _new_certificate(node: Node, reader: Clauses, name: str) -> Certificate:
    if reader.accept("ENCRYPTION", "BY", "PASSWORD", "="):
        raise not_implemented("CREATE CERTIFICATE ... ENCRYPTION BY PASSWORD")
    reader.expect("WITH")
    known = {"SUBJECT": Clauses.text, "START_DATE": Clauses.text, "EXPIRY_DATE": Clauses.text}
    said = reader.parts(known, "CREATE CERTIFICATE")
    if reader.accept("ACTIVE", "FOR", "BEGIN_DIALOG", "="):
        reader.switch()
    reader.end()
    if "SUBJECT" not in said:
        raise reader.wrong()
    if not node.trust.master_key:
        raise refusal(15581)
    expires = said.get("EXPIRY_DATE", "")
    for date in (expires, said.get("START_DATE", "")):
        _date(date)
    thumbprint = node.trust.new_thumbprint(node.name, name)
    return Certificate(name, node.trust.next_number(), thumbprint, said["SUBJECT"], True, expires=expires)


def _date(text: str) -> dt.datetime | None:
    if not text:
        return None
    try:
        return dt.datetime.strptime(text.replace("-", "").replace("/", "")[:8], "%Y%m%d" if text[:4].isdigit() else "%m%d%Y")
    except ValueError:
        raise error(241) from None


def expiry(node: Node, certificate: Certificate) -> dt.datetime:
    """expiry_date: what was said, else a year after it was made."""
    return _date(certificate.expires) or EPOCH + dt.timedelta(seconds=certificate.created_s, days=365)


def _read_certificate(node: Node, reader: Clauses, name: str) -> Certificate:
    path, key = reader.text(), None
    if reader.accept("WITH", "PRIVATE", "KEY"):
        reader.expect("(")
        reader.expect("FILE", "=")
        key = [reader.text(), ""]
        while reader.accept(","):
            kind = reader.choice("DECRYPTION", "ENCRYPTION")
            reader.expect("BY", "PASSWORD", "=")
            password = reader.text()
            if kind == "ENCRYPTION":
                raise not_implemented("CREATE CERTIFICATE ... ENCRYPTION BY PASSWORD")
            key[1] = password
        reader.expect(")")
    reader.end()
    content = node.cluster.files.read(node.name, path)
    if content is None or content.get("kind") != "certificate":
        raise refusal(15208)
    if key is not None:
        if not node.trust.master_key:
            raise refusal(15581)
        lock = node.cluster.files.read(node.name, key[0])
        if lock is None or lock.get("kind") != "key" or lock["thumbprint"] != content["thumbprint"]:
            raise refusal(15208)
        if lock["password"] != password_digest(key[1]):
            raise refusal(15465)
    facts = {field: content[field] for field in ("thumbprint", "subject", "expires")}
    return Certificate(name, node.trust.next_number(), has_key=key is not None, **facts)


def drop_certificate(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP CERTIFICATE name"""
    in_master(session, "DROP CERTIFICATE")
    reader = clauses_of(command)
    name = reader.name()
    reader.end()
    certificate_of(node, name, "drop")
    endpoint = node.trust.endpoint
    if endpoint is not None and endpoint.certificate.lower() == name.lower():
        raise refusal(15352, "certificate")
    if any(key.certificate.lower() == name.lower() for key in node.encryption.values()):
        raise refusal(15352, "certificate")
    del node.trust.certificates[name.lower()]
    return changed(node)


def certificate_of(node: Node, name: str, verb: str) -> Certificate:
    """A certificate of master. Error 15151."""
    found = node.trust.certificates.get(name.lower())
    if found is None:
        raise refusal(15151, verb, "certificate", name)
    return found


def backup_certificate(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """BACKUP CERTIFICATE name TO FILE = '...' [WITH PRIVATE KEY (FILE = '...', ENCRYPTION BY PASSWORD = '...')]"""
    in_master(session, "BACKUP CERTIFICATE")
    reader = clauses_of(command)
    found = certificate_of(node, reader.name(), "find")
    reader.expect("TO", "FILE", "=")
    path, key = reader.text(), None
    if reader.accept("WITH", "PRIVATE", "KEY"):
        reader.expect("(")
        reader.expect("FILE", "=")
        key = [reader.text(), ""]
        while reader.accept(","):
            reader.expect("ENCRYPTION", "BY", "PASSWORD", "=")
            key[1] = reader.text()
        reader.expect(")")
        check_policy(key[1])
    reader.end()
    if key is not None and not found.has_key:
        raise refusal(15246, found.name)
    facts = {"thumbprint": found.thumbprint, "subject": found.subject, "expires": found.expires}
    _write(node, path, {"kind": "certificate", **facts})
    if key is not None:
        _write(node, key[0], {"kind": "key", "thumbprint": found.thumbprint, "password": password_digest(key[1])})
    return changed(node)


def _write(node: Node, path: str, content: dict[str, Any]) -> None:
    if not node.cluster.files.write(node.name, path, content):
        raise refusal(15240, path)


COMMANDS = {
    "CREATE MASTER KEY": create_master_key,
    "DROP MASTER KEY": drop_master_key,
    "CREATE CERTIFICATE": create_certificate,
    "DROP CERTIFICATE": drop_certificate,
    "BACKUP CERTIFICATE": backup_certificate,
}

__all__ = ["COMMANDS", "check_policy", "clauses_of", "expiry"]
