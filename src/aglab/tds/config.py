"""What a listening node tells the wire: its name, certificate, encryption policy, and the limits on every peer."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

from aglab.core.errors import field_error


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings that a client cannot cross; crossing one closes the connection (or refuses the request).

    Bytes are counted after decryption. ``login_bytes`` is MS-TDS's own ceiling for LOGIN7 (2.2.6.4: below 128 KiB);
    ``packet_bytes`` its ceiling for a packet (3.1.5: 32,767).
    """

    packet_bytes: int = 32767
    prelogin_bytes: int = 4096
    handshake_bytes: int = 65536
    login_bytes: int = 131071
    message_bytes: int = 64 * 1024 * 1024
    parameters: int = 2100
    calls_per_message: int = 100_000
    columns: int = 4096
    bulk_rows: int = 1_000_000
    bulk_bytes: int = 256 * 1024 * 1024  # of one message: they are decoded as they come
    bulk_values: int = 8_000_000
    table_values: int = 2_000_000  # of all table-valued parameters of a message

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise field_error(name, getattr(self, name), "must be >= 1", "wire limits", "omit it for the default")


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One listener's settings, shared by all of its connections.

    Parameters
    ----------
    server_name : str
        What ERROR and INFO tokens carry as server.
    tls_context : ssl.SSLContext or None
        From :func:`aglab.tds.server_context`; None answers ENCRYPT_NOT_SUP.
    strict_context : ssl.SSLContext or None
        For TDS 8 (``Encrypt=strict``); None refuses strict clients.
    allow_plain : bool
        Whether a client that cannot encrypt (PRELOGIN 2) is let in.
    force_encryption : bool
        Answer ENCRYPT_REQ to everybody, as SQL Server's "Force Encryption".
    version : tuple of int
        Product version (major, minor, build, revision) for PRELOGIN and LOGINACK.
    program_name : str
        LOGINACK's program name.
    packet_size : int
        Bytes of a packet where the client has no wish (LOGIN7 says 0).
    limits : Limits
        Ceilings on what a client may send.
    """

    server_name: str = "sql1"
    tls_context: ssl.SSLContext | None = None
    strict_context: ssl.SSLContext | None = None
    allow_plain: bool = True
    force_encryption: bool = False
    version: tuple[int, int, int, int] = (16, 0, 4135, 0)
    program_name: str = "Microsoft SQL Server"
    packet_size: int = 4096
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 512 <= self.packet_size <= 32767:
            raise field_error("packet_size", self.packet_size, "must be 512 to 32767", "ServerConfig", "use 4096")
