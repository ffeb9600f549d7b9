"""The wire: Tabular Data Stream 7.2 to 7.4 and 8.0, server side, sans-IO. Source: [MS-TDS], Microsoft Open Specifications.

Bytes in, events out (:mod:`aglab.tds.events`); effects in, bytes out. Left out: MARS (not granted), session recovery,
Always Encrypted, federated and integrated authentication, table-valued and CLR parameters (refused by name).
"""

from aglab.tds.certificate import Certificate, self_signed_certificate, server_context
from aglab.tds.config import Limits, ServerConfig
from aglab.tds.connection import ServerConnection
from aglab.tds.errors import ProtocolError, RequestRefused
from aglab.tds.events import (
    Attention,
    BulkLoad,
    Closed,
    Event,
    LoginRequest,
    Rpc,
    RpcParam,
    SqlBatch,
    TransactionRequest,
)

__all__ = [
    "Attention",
    "BulkLoad",
    "Certificate",
    "Closed",
    "Event",
    "Limits",
    "LoginRequest",
    "ProtocolError",
    "RequestRefused",
    "Rpc",
    "RpcParam",
    "ServerConfig",
    "ServerConnection",
    "SqlBatch",
    "TransactionRequest",
    "self_signed_certificate",
    "server_context",
]
