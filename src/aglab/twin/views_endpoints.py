"""Rows of the catalogue views about endpoints, certificates, the master key and permissions on endpoints.

Columns and codes: the views' pages in the SQL Server documentation. Serial numbers, sids and key lengths of certificates, which
have no cryptography behind them here, are NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aglab.ag.base import identifier
from aglab.tsql.permissions import SERVER_TYPES
from aglab.twin.clock import EPOCH
from aglab.twin.endpoints import ALGORITHMS, ENDPOINT_ID, Endpoint
from aglab.twin.security_statements import expiry

if TYPE_CHECKING:
    from aglab.twin.node import Node

Row = dict[str, Any]
_STATES = ("STARTED", "STOPPED", "DISABLED")
_ROLES = {"PARTNER": 1, "WITNESS": 2, "ALL": 3}
_KEY_TYPES = {True: ("MK", "ENCRYPTED_BY_MASTER_KEY"), False: ("NA", "NO_PRIVATE_KEY")}
PUBLIC, SA = 2, 1
_CREATED = EPOCH.replace(microsecond=0)


def _head(name: str, number: int, kind: tuple[int, str], state: str, owner: int) -> Row:
    return {
        "name": name,
        "endpoint_id": number,
        "principal_id": owner,
        "protocol": 2,
        "protocol_desc": "TCP",
        "type": kind[0],
        "type_desc": kind[1],
        "state": _STATES.index(state),
        "state_desc": state,
        "is_admin_endpoint": False,
    }


def _owner(node: Node, endpoint: Endpoint) -> int:
    return int(node.instance.logins.get(endpoint.owner.lower(), {"principal_id": SA})["principal_id"])


def _mirroring(node: Node, endpoint: Endpoint) -> Row:
    return _head(endpoint.name, ENDPOINT_ID, (4, "DATABASE_MIRRORING"), endpoint.state, _owner(node, endpoint))


def mirroring_endpoints(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.database_mirroring_endpoints"""
    endpoint = node.trust.endpoint
    if endpoint is None:
        return
    certificate = node.trust.certificates.get(endpoint.certificate.lower())
    yield {
        **_mirroring(node, endpoint),
        "role": _ROLES[endpoint.role],
        "role_desc": endpoint.role,
        "is_encryption_enabled": endpoint.encryption != "DISABLED",
        "connection_auth": 4,
        "connection_auth_desc": "CERTIFICATE",
        "certificate_id": certificate.number if certificate is not None else 0,
        "encryption_algorithm": ALGORITHMS[endpoint.algorithm],
        "encryption_algorithm_desc": endpoint.algorithm.replace(" ", ", "),
    }


def tcp_endpoints(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.tcp_endpoints"""
    rest = {"is_dynamic_port": False, "ip_address": None}
    yield {**_head("TSQL Default TCP", 4, (2, "TSQL"), "STARTED", SA), "port": node.port, **rest}
    endpoint = node.trust.endpoint
    if endpoint is not None:
        yield {**_mirroring(node, endpoint), "port": endpoint.port, **rest}


def endpoints(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.endpoints"""
    yield _head("TSQL Default TCP", 4, (2, "TSQL"), "STARTED", SA)
    if node.trust.endpoint is not None:
        yield _mirroring(node, node.trust.endpoint)


def certificates(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.certificates of master"""
    master = node.instance.database("master")
    for one in sorted(node.trust.certificates.values(), key=lambda each: each.number):
        user = master.principals.get(one.owner.lower()) if master is not None else None
        code, words = _KEY_TYPES[one.has_key]
        yield {
            "name": one.name,
            "certificate_id": one.number,
            "principal_id": user["principal_id"] if user is not None else 1,
            "pvt_key_encryption_type": code,
            "pvt_key_encryption_type_desc": words,
            "is_active_for_begin_dialog": True,
            "issuer_name": one.subject,
            "subject": one.subject,
            "expiry_date": expiry(node, one),
            "start_date": _CREATED,
            "thumbprint": bytes.fromhex(one.thumbprint),
        }


def symmetric_keys(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.symmetric_keys of master: its master key"""
    if node.trust.master_key:
        yield {
            "name": "##MS_DatabaseMasterKey##",
            "principal_id": 1,
            "symmetric_key_id": 101,
            "key_length": 256,
            "key_algorithm": "A3",
            "algorithm_desc": "AES_256",
            "create_date": _CREATED,
            "modify_date": _CREATED,
            "key_guid": identifier("master key", node.name),
        }


def server_permissions(node: Node, arguments: tuple[Any, ...]) -> Iterator[Row]:
    """sys.server_permissions: CONNECT SQL of every login, CONNECT of those who may use the endpoint"""
    for name, login in node.instance.logins.items():
        grant = {"grantee_principal_id": login["principal_id"], "grantor_principal_id": SA, "minor_id": 0}
        allowed = {"state": "G", "state_desc": "GRANT"}
        if name != "sa":
            words = {"class": 100, "class_desc": "SERVER", "major_id": 0, "type": "COSQ", "permission_name": "CONNECT SQL"}
            yield {**grant, **words, **allowed}
        for permission, state in login.get("permissions", {}).items():
            kind = {"type": SERVER_TYPES[permission], "permission_name": permission}
            words = {"class": 100, "class_desc": "SERVER", "major_id": 0, **kind}
            yield {**grant, **words, **(allowed if state == "G" else {"state": "D", "state_desc": "DENY"})}
        if name in node.trust.granted:
            said = allowed if node.trust.granted[name] else {"state": "D", "state_desc": "DENY"}
            words = {"class": 105, "class_desc": "ENDPOINT", "major_id": ENDPOINT_ID, "type": "CO", "permission_name": "CONNECT"}
            yield {**grant, **words, **said}


VIEWS: dict[str, Callable[[Node, tuple[Any, ...]], Iterable[Row]]] = {
    "sys.database_mirroring_endpoints": mirroring_endpoints,
    "sys.tcp_endpoints": tcp_endpoints,
    "sys.endpoints": endpoints,
    "sys.certificates": certificates,
    "sys.symmetric_keys": symmetric_keys,
    "sys.server_permissions": server_permissions,
}
