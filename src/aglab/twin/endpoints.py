"""What lets two instances trust each other: master key, certificates, logins, the database mirroring endpoint, exchanged files.

Rules of the handshake ("Use certificates for a database mirroring endpoint", SQL Server documentation): both endpoints are
started; each side shows the certificate its endpoint is bound to; the other side has that certificate in master, owned by a user
whose login may CONNECT to the endpoint (sa and the endpoint's owner always may). A certificate copied with its private key to
every node makes each side know the other in the same way. No cryptography: a thumbprint stands for a key pair.

Files lie on the node that wrote them; those below :data:`SHARED_FOLDER` are seen by every node, as on a network share.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aglab.ag.base import identifier

if TYPE_CHECKING:
    from aglab.twin.node import Node

SHARED_FOLDER = "/var/opt/aglab/"
SHARE_VARIABLE = "AGLAB_TWIN_SHARE"  # set where that folder exists for real, in containers: its content is read from the disk
ENDPOINT_ID = 65536
FIRST_CERTIFICATE_ID = 256
MIRRORING_PORT = 5022
ALGORITHMS = {"RC4": 1, "AES": 2, "NONE": 0, "RC4 AES": 3, "AES RC4": 4}
_URL = re.compile(r"tcp://(?P<host>[A-Za-z0-9_.\-]+|\[[0-9A-Fa-f:]+\]):(?P<port>\d{1,5})/?", re.IGNORECASE)


@dataclass
class Certificate:
    """A certificate in master. ``has_key``: with its private key; ``owner``: a user of master."""

    name: str
    number: int
    thumbprint: str  # hex
    subject: str
    has_key: bool
    owner: str = "dbo"
    expires: str = ""
    created_s: float = 0.0


@dataclass
class Endpoint:
    """The database mirroring endpoint; ``certificate`` is a name in master, or "" for Windows authentication."""

    name: str
    port: int = MIRRORING_PORT
    state: str = "STOPPED"  # STARTED, STOPPED, DISABLED
    role: str = "ALL"
    certificate: str = ""
    encryption: str = "REQUIRED"
    algorithm: str = "AES"
    owner: str = "sa"


@dataclass
class Trust:
    """The keys of one instance."""

    master_key: bool = False
    certificates: dict[str, Certificate] = field(default_factory=dict)  # by name in lower case
    endpoint: Endpoint | None = None
    granted: dict[str, bool] = field(default_factory=dict)  # login in lower case -> CONNECT granted (True) or denied
    made: int = 0  # certificates ever made here

    def to_dict(self) -> dict[str, Any]:
        """For the state file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Trust:
        """The inverse of :meth:`to_dict`."""
        certificates = {name: Certificate(**one) for name, one in content["certificates"].items()}
        endpoint = Endpoint(**content["endpoint"]) if content["endpoint"] is not None else None
        return cls(content["master_key"], certificates, endpoint, dict(content["granted"]), content["made"])

    def next_number(self) -> int:
        """certificate_id of the next certificate."""
        used = {one.number for one in self.certificates.values()}
        return next(n for n in range(FIRST_CERTIFICATE_ID, FIRST_CERTIFICATE_ID + len(used) + 1) if n not in used)

    def new_thumbprint(self, node: str, name: str) -> str:
        """Of a new key pair: the same course of events gives the same one."""
        self.made += 1
        return (
            hashlib.sha1(identifier("certificate", node, name, str(self.made)).bytes, usedforsecurity=False).hexdigest().upper()
        )


class Files:
    """What BACKUP CERTIFICATE wrote, by node and path; one copy for all nodes below :data:`SHARED_FOLDER`."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    @staticmethod
    def _key(node: str, path: str) -> str:
        return path if path.startswith(SHARED_FOLDER) else f"{node}:{path}"

    @staticmethod
    def _on_disk(path: str) -> Path | None:
        share = os.environ.get(SHARE_VARIABLE)
        return Path(path) if share and path.startswith(SHARED_FOLDER) and ".." not in path else None

    def read(self, node: str, path: str) -> dict[str, Any] | None:
        """The content, or None where there is no such file (or it is none of ours)."""
        place = self._on_disk(path)
        if place is None:
            return self.kept.get(self._key(node, path))
        try:
            content = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return content if isinstance(content, dict) else None

    def write(self, node: str, path: str, content: dict[str, Any]) -> bool:
        """Write a new file; False where it exists already or cannot be written."""
        place = self._on_disk(path)
        if place is None:
            key = self._key(node, path)
            if key in self.kept or not path.strip():
                return False
            self.kept[key] = content
            return True
        try:
            with place.open("x", encoding="utf-8") as file:
                json.dump(content, file)
        except OSError:
            return False
        return True


def parsed_url(url: str) -> tuple[str, int] | None:
    """Host (lower case) and port of ``TCP://host:port``; None where it is written otherwise.

    >>> parsed_url("TCP://sql1.lab.local:5022")
    ('sql1.lab.local', 5022)
    """
    match = _URL.fullmatch(url.strip())
    if match is None or not 0 < int(match["port"]) < 65536:
        return None
    return match["host"].lower(), int(match["port"])


def node_of_host(host: str, names: list[str]) -> str | None:
    """The node that a host name stands for: its name, with a domain or a suffix such as ``-ag`` after it.

    >>> node_of_host("sql2-ag", ["sql1", "sql2"])
    'sql2'
    """
    return next((one for one in names if re.fullmatch(rf"{re.escape(one.lower())}([.\-].*)?", host.lower())), None)


def accepts(here: Node, peer: Node) -> str | None:
    """Why ``here`` refuses the certificate that ``peer``'s endpoint shows, in SQL Server's words for its "
    "errorlog; None: accepted."""
    from aglab.twin.security_messages import text_of

    mine, theirs = here.trust, peer.trust
    shown = theirs.certificates.get(theirs.endpoint.certificate.lower()) if theirs.endpoint is not None else None
    if mine.endpoint is None or theirs.endpoint is None or shown is None:
        return None
    known = next((one for one in mine.certificates.values() if one.thumbprint == shown.thumbprint), None)
    if known is None:
        return text_of(28035, "Certificate not found", 89)
    login = _login_of(here, known.owner)
    if login is None:
        return text_of(28034, known.owner, 84)
    if login in ("sa", mine.endpoint.owner.lower()) or mine.granted.get(login):
        return None
    return text_of(28034, here.instance.logins[login]["name"], 84)


def _login_of(node: Node, user: str) -> str | None:
    """The login (lower case) that a user of master is mapped to."""
    if user.lower() == "dbo":
        return "sa"
    master = node.instance.database("master")
    principal = master.principals.get(user.lower()) if master is not None else None
    sid = principal.get("sid") if principal is not None else None
    return next((name for name, login in node.instance.logins.items() if sid is not None and login["sid"] == sid), None)


def started(node: Node) -> bool:
    """Whether the endpoint of an instance takes connections."""
    return node.trust.endpoint is not None and node.trust.endpoint.state == "STARTED"


def closed_pairs(nodes: dict[str, Node], urls: dict[str, str]) -> frozenset[frozenset[str]]:
    """Pairs of nodes that cannot form a session. ``urls``: ENDPOINT_URL of each replica."""
    shut = set()
    for name, node in nodes.items():
        for other, peer in nodes.items():
            if name >= other:
                continue
            fit = all(_leads_to(urls.get(one.name), one, nodes) for one in (node, peer))
            encrypted = _same_encryption(node, peer)
            if not (started(node) and started(peer) and fit and encrypted) or accepts(node, peer) or accepts(peer, node):
                shut.add(frozenset((name, other)))
    return frozenset(shut)


def _leads_to(url: str | None, node: Node, nodes: dict[str, Node]) -> bool:
    if url is None:
        return True
    place = parsed_url(url)
    endpoint = node.trust.endpoint
    return place is not None and endpoint is not None and place[1] == endpoint.port and _host_is(place[0], node, list(nodes))


def _host_is(host: str, node: Node, names: list[str]) -> bool:
    return host in ("127.0.0.1", "localhost", "[::1]") or node_of_host(host, names) == node.name


def _same_encryption(one: Node, other: Node) -> bool:
    ends = [node.trust.endpoint for node in (one, other)]
    words = {end.encryption for end in ends if end is not None}
    if "DISABLED" in words and "REQUIRED" in words:
        return False
    algorithms = [set(end.algorithm.split()) for end in ends if end is not None and end.encryption != "DISABLED"]
    return len(algorithms) < 2 or bool(algorithms[0] & algorithms[1])


def trust_each_other(nodes: dict[str, Node]) -> None:
    """What ``aglab up`` leaves on every node: a master key, its own certificate, the others' certificates, a started endpoint."""
    for name, node in nodes.items():
        trust = node.trust = Trust(master_key=True)
        trust.certificates[f"{name}_certificate"] = Certificate(
            f"{name}_certificate",
            FIRST_CERTIFICATE_ID,
            trust.new_thumbprint(name, f"{name}_certificate"),
            f"Database mirroring endpoint of {name}",
            has_key=True,
        )
        trust.endpoint = Endpoint("Hadr_endpoint", state="STARTED", certificate=f"{name}_certificate")
    for name, node in nodes.items():
        for other, peer in nodes.items():
            if other != name:
                theirs = peer.trust.certificates[f"{other}_certificate"]
                number = node.trust.next_number()
                node.trust.certificates[theirs.name] = Certificate(theirs.name, number, theirs.thumbprint, theirs.subject, False)


__all__ = [
    "ALGORITHMS",
    "ENDPOINT_ID",
    "MIRRORING_PORT",
    "SHARED_FOLDER",
    "Certificate",
    "Endpoint",
    "Files",
    "Trust",
    "accepts",
    "closed_pairs",
    "node_of_host",
    "parsed_url",
    "started",
    "trust_each_other",
]
