"""Transparent data encryption: the database encryption key, the scan that encrypts or decrypts, and its progress.

The scan reads and writes every page of the data files at the sequential rates of the data volume, in virtual time; it takes
nothing from the load. A group's copies get the key with the primary's statement. Sources: CREATE DATABASE ENCRYPTION KEY, ALTER
DATABASE SET ENCRYPTION, sys.dm_database_encryption_keys (SQL Server documentation); messages from "Database Engine events and
errors (31000 to 41399)". Left out: SUSPEND and RESUME of a scan, encrypted tempdb, certificates of secondaries, encrypted
backups. The errorlog has the end of a scan (33113) when somebody looks after it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aglab.tsql import Command, Session, TsqlError
from aglab.tsql.messages import error, info
from aglab.twin.clock import EPOCH
from aglab.twin.security_messages import refusal
from aglab.twin.security_statements import clauses_of

if TYPE_CHECKING:
    from aglab.twin.node import Node

ALGORITHMS = {"AES_128": 128, "AES_192": 192, "AES_256": 256, "TRIPLE_DES_3KEY": 168}
UNENCRYPTED, ENCRYPTING, ENCRYPTED, DECRYPTING = 1, 2, 3, 5
_STATES = {1: "UNENCRYPTED", 2: "ENCRYPTION_IN_PROGRESS", 3: "ENCRYPTED", 5: "DECRYPTION_IN_PROGRESS"}
Row = dict[str, Any]


@dataclass
class Key:
    """A database encryption key; a scan runs from ``begun_s`` to ``until_s``."""

    algorithm: str
    certificate: str
    thumbprint: str
    created_s: float
    on: bool = False
    set_s: float | None = None
    begun_s: float = 0.0
    until_s: float = 0.0
    told: bool = True  # the errorlog has the end of the last scan

    def scanning(self, now_s: float) -> bool:
        """Whether a scan is under way."""
        return self.until_s > now_s

    def state(self, now_s: float) -> int:
        """encryption_state."""
        if self.scanning(now_s):
            return ENCRYPTING if self.on else DECRYPTING
        return ENCRYPTED if self.on else UNENCRYPTED

    def percent(self, now_s: float) -> float:
        """percent_complete: 0 without a scan."""
        return 100.0 * (now_s - self.begun_s) / (self.until_s - self.begun_s) if self.scanning(now_s) else 0.0


def _holders(node: Node, database: str) -> list[Node]:
    group = node.cluster.groups.of(database)
    return list(node.cluster.nodes.values()) if group is not None and node.name == group.primary else [node]


def _place(node: Node, session: Session) -> str:
    """The current database, as the key's statements want it. Error 33102."""
    database = node.instance.database(session.database)
    assert database is not None
    if database.id <= 4:
        raise error(33102)
    node.check_access(database.name, session, True)
    return database.name


def _certificate(node: Node, name: str) -> Any:
    found = node.trust.certificates.get(name.lower())
    if found is None:
        raise refusal(15151, "find", "certificate", name)
    if not found.has_key:
        raise error(33101, "certificate", found.name)
    return found


def create_key(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = ... ENCRYPTION BY SERVER CERTIFICATE name"""
    name = _place(node, session)
    reader = clauses_of(command)
    reader.expect("WITH", "ALGORITHM", "=")
    algorithm = reader.choice(*ALGORITHMS)
    reader.expect("ENCRYPTION", "BY", "SERVER", "CERTIFICATE")
    certificate = _certificate(node, reader.name())
    reader.end()
    if name.lower() in node.encryption:
        raise error(33103)
    for holder in _holders(node, name):
        made = Key(algorithm, certificate.name, certificate.thumbprint, node.now_s())
        holder.encryption[name.lower()] = made
    return _kept(node, [info(33091)])


def alter_key(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER DATABASE ENCRYPTION KEY REGENERATE WITH ALGORITHM = ... | ENCRYPTION BY SERVER CERTIFICATE name"""
    name = _place(node, session)
    reader, key = clauses_of(command), _key(node, name)
    if key.scanning(node.now_s()):
        raise error(33110)
    if reader.accept("REGENERATE"):
        reader.expect("WITH", "ALGORITHM", "=")
        changes = {"algorithm": reader.choice(*ALGORITHMS)}
    else:
        reader.expect("ENCRYPTION", "BY", "SERVER", "CERTIFICATE")
        certificate = _certificate(node, reader.name())
        changes = {"certificate": certificate.name, "thumbprint": certificate.thumbprint}
    reader.end()
    for holder in _holders(node, name):
        vars(_key(holder, name)).update(changes)
    return _kept(node)


def drop_key(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """DROP DATABASE ENCRYPTION KEY"""
    name = _place(node, session)
    clauses_of(command).end()
    key = _key(node, name)
    if key.on or key.scanning(node.now_s()):
        raise error(33105)
    for holder in _holders(node, name):
        holder.encryption.pop(name.lower(), None)
    return _kept(node)


def _key(node: Node, database: str) -> Key:
    found = node.encryption.get(database.lower())
    if found is None:
        raise error(33104)
    return found


def set_encryption(node: Node, command: Command, session: Session) -> Iterator[Any]:
    """ALTER DATABASE name SET ENCRYPTION ON | OFF: begins a scan. Errors 33102, 33106 to 33109, each followed by 5069."""
    on, now_s = bool(command.options["ON"]), node.now_s()
    database = node.instance.database(command.target)
    key = node.encryption.get(command.target.lower())
    problem: TsqlError | None = None
    assert database is not None
    if database.id <= 4:
        problem = error(33102)
    elif key is None:
        problem = error(33106)
    elif key.scanning(now_s):
        problem = error(33109)
    elif key.on == on:
        problem = error(33107 if on else 33108)
    if problem is not None:
        problem.followed_by = error(5069)  # type: ignore[attr-defined]
        raise problem
    for holder in _holders(node, database.name):
        _begin(holder, database.name, on)
    return _kept(node)


def _begin(node: Node, name: str, on: bool) -> None:
    database, key = node.instance.database(name), node.encryption.get(name.lower())
    if database is None or key is None:
        return
    key.on, key.set_s, key.begun_s, key.told = on, node.now_s(), node.now_s(), False
    key.until_s = node.now_s() + scan_s(node, sum(one.size for one in database.files if one.type == 0) * 8192)
    node.log_line(f"Beginning database encryption scan for database '{database.name}'.", "spid20s")


def scan_s(node: Node, size_bytes: float) -> float:
    """Seconds to read and write so many bytes one after another on the data volume."""
    volume = node.profile.data
    limit = volume.max_mb_s or float("inf")
    read, write = (min(limit, one * volume.devices) for one in (volume.read_mb_s, volume.write_mb_s))
    return size_bytes / 1e6 * (1.0 / read + 1.0 / write)


def _kept(node: Node, messages: list[Any] | None = None) -> Iterator[Any]:
    node.cluster.dirty = True
    yield from messages or ()


def forget(node: Node, database: str) -> None:
    """The key goes with its database."""
    node.encryption.pop(database.lower(), None)


def to_dict(keys: dict[str, Key]) -> dict[str, Any]:
    """For the state file."""
    return {name: asdict(key) for name, key in keys.items()}


def from_dict(content: dict[str, Any]) -> dict[str, Key]:
    """The inverse."""
    return {name: Key(**key) for name, key in content.items()}


def keys_view(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.dm_database_encryption_keys"""
    now_s = node.now_s()
    for name, key in node.encryption.items():
        database = node.instance.database(name)
        if database is None:
            continue
        scanning = key.scanning(now_s)
        if not scanning and not key.told:
            key.told = True
            node.log_line(f"Database encryption scan for database '{database.name}' is complete.", "spid20s")
        state, created = key.state(now_s), _date(key.created_s)
        scan = (1, "RUNNING") if scanning else (4, "COMPLETE") if key.on else (0, "NONE")
        yield {
            "database_id": database.id,
            "encryption_state": state,
            "create_date": created,
            "regenerate_date": created,
            "modify_date": created,
            "set_date": None if key.set_s is None else _date(key.set_s),
            "opened_date": created,
            "key_algorithm": key.algorithm.partition("_")[0] if key.algorithm.startswith("AES") else key.algorithm,
            "key_length": ALGORITHMS[key.algorithm],
            "encryptor_thumbprint": bytes.fromhex(key.thumbprint),
            "encryptor_type": "CERTIFICATE",
            "percent_complete": key.percent(now_s),
            "encryption_state_desc": _STATES[state],
            "encryption_scan_state": scan[0],
            "encryption_scan_state_desc": scan[1],
            "encryption_scan_modify_date": None if key.set_s is None else _date(key.until_s if not scanning else key.set_s),
        }


def _date(seconds: float) -> dt.datetime:
    return EPOCH + dt.timedelta(seconds=seconds)


COMMANDS: dict[str, Callable[[Node, Command, Session], Iterator[Any]]] = {
    "CREATE DATABASE ENCRYPTION KEY": create_key,
    "ALTER DATABASE ENCRYPTION KEY": alter_key,
    "DROP DATABASE ENCRYPTION KEY": drop_key,
    "ALTER DATABASE SET ENCRYPTION": set_encryption,
}
VIEWS: dict[str, Callable[[Node, tuple[Any, ...]], Iterator[Row]]] = {"sys.dm_database_encryption_keys": keys_view}
