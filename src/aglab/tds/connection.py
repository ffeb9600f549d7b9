"""One client's connection, server side, without sockets: bytes in, events out; effects in, bytes out.

Use::

    conn = ServerConnection(config)
    for event in conn.receive(data_from_socket): ...
    conn.send(effect); conn.end_response()
    socket.write(conn.data_to_send())
"""

from __future__ import annotations

from typing import Any

from aglab.tds.config import ServerConfig
from aglab.tds.events import Event, LoginRequest


class ServerConnection:
    """The state of one connection.

    Attributes
    ----------
    login : LoginRequest or None
    encrypted : bool
        Whether requests travel encrypted now (sys.dm_exec_connections.encrypt_option).
    packet_size : int
        Negotiated bytes of a packet.
    bytes_received, bytes_sent, packets_received, packets_sent : int
    """

    def __init__(self, config: ServerConfig, spid: int = 51) -> None:
        self.config = config
        self.spid = spid
        self.login: LoginRequest | None = None
        self.encrypted = False
        self.packet_size = config.packet_size
        self.bytes_received = self.bytes_sent = self.packets_received = self.packets_sent = 0

    @property
    def busy(self) -> bool:
        """Whether a request waits for ``end_response``."""
        raise NotImplementedError

    @property
    def closed(self) -> bool:
        """Whether the connection is over."""
        raise NotImplementedError

    @property
    def pending_bytes(self) -> int:
        """Bytes that ``data_to_send`` would return: stop producing rows while this is large."""
        raise NotImplementedError

    def receive(self, data: bytes) -> list[Event]:
        """Take bytes from the socket (``b""`` is end of file). Never raises for what a peer sent: see ``Closed``."""
        raise NotImplementedError

    def data_to_send(self) -> bytes:
        """Bytes to write to the socket now (complete packets; see ``flush``)."""
        raise NotImplementedError

    def accept_login(self, database: str = "master", language: str = "us_english") -> None:
        """LOGINACK, ENVCHANGEs (database, collation, language, packet size), the two INFOs, DONE."""
        raise NotImplementedError

    def route(self, host: str, port: int) -> None:
        """Accept the login and send the client to another node (ENVCHANGE 20, read-only routing)."""
        raise NotImplementedError

    def reject_login(self, *messages: Any) -> None:
        """Send error messages (effect ``Message``: number, severity, state, text) and close; state ``closed`` follows."""
        raise NotImplementedError

    def send(self, effect: Any) -> None:
        """Encode one effect (Columns, Rows, Done, Message, EnvChange, ReturnStatus, ReturnValue) of the running request."""
        raise NotImplementedError

    def flush(self) -> None:
        """Make what was sent so far visible in ``data_to_send`` though no packet is full (RAISERROR WITH NOWAIT, progress)."""
        raise NotImplementedError

    def end_response(self) -> None:
        """The running request is over: final DONE/DONEPROC, end of message (or the next call of the same message)."""
        raise NotImplementedError

    def acknowledge_attention(self) -> None:
        """End a broken response, if any, and send DONE_ATTN."""
        raise NotImplementedError
