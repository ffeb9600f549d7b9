"""The bytes under the messages: packets, and TLS in its two places.

Up to TDS 7.4 the TLS handshake travels inside PRELOGIN packets and plain records follow it; where both sides chose encryption
"off", TLS ends again after LOGIN7. TDS 8 ("strict") is TLS from the first byte. See MS-TDS 2.2.6.5 and 3.3.5.1.
"""

from __future__ import annotations

import struct

from aglab.tds.config import ServerConfig
from aglab.tds.constants import HEADER_BYTES, PRELOGIN, TLS_HANDSHAKE_RECORD
from aglab.tds.errors import ProtocolError
from aglab.tds.framing import Message, PacketReader, PacketWriter
from aglab.tds.tls import TlsLayer

PACKET_SIZE_DEFAULT = 4096


class Channel:
    """Raw bytes on one side, messages on the other.

    Attributes
    ----------
    reader, writer : PacketReader, PacketWriter
    encrypted : bool
        Whether TLS is on now.
    bytes_received, bytes_sent : int
        As the socket counts them.
    """

    def __init__(self, config: ServerConfig, spid: int) -> None:
        self.reader = PacketReader(config.limits.packet_bytes, config.limits.prelogin_bytes)
        self.writer = PacketWriter(PACKET_SIZE_DEFAULT, spid)
        self.encrypted = False
        self.bytes_received = self.bytes_sent = 0
        self._config = config
        self._tls: TlsLayer | None = None
        self._handshake = ""  # "strict", "inside TDS" or none
        self._handshake_bytes = 0
        self._raw_out: list[bytes] = []

    @property
    def pending(self) -> int:
        """Bytes that wait for :meth:`take`."""
        return self.writer.pending + sum(map(len, self._raw_out))

    def feed(self, data: bytes) -> None:
        """Take bytes from the socket."""
        if not self.bytes_received and data[0] == TLS_HANDSHAKE_RECORD:
            if self._config.strict_context is None:
                raise ProtocolError("the client asks for TDS 8 (strict encryption), which this node does not offer")
            self._tls = TlsLayer(self._config.strict_context)
            self._handshake = "strict"
        self.bytes_received += len(data)
        if self._handshake == "strict":
            self._shake(data)
            data = b""
        if self.encrypted and self._tls is not None:
            data = self._tls.decrypt(data)
        self.reader.feed(data)

    def next_message(self) -> Message | None:
        """The next complete message, or None until more bytes come."""
        while self._handshake:
            if self._handshake == "strict" or not self._handshake_packet():
                return None
        return self.reader.next_message()

    def start_tls(self) -> None:
        """A handshake inside TDS begins; what was written before it goes out plain."""
        assert self._config.tls_context is not None
        self._raw_out.append(self.writer.take())
        self._tls = TlsLayer(self._config.tls_context)
        self._handshake = "inside TDS"

    def stop_tls(self) -> None:
        """Encryption of the login alone: from here on plain."""
        self.encrypted = False

    def take(self) -> bytes:
        """Bytes to write to the socket now."""
        data = self.writer.take()
        if data and self.encrypted and self._tls is not None:
            data = self._tls.encrypt(data)
        if self._raw_out:
            data = b"".join(self._raw_out) + data
            self._raw_out.clear()
        self.bytes_sent += len(data)
        return data

    def close(self) -> None:
        """Let a failed handshake send its alert."""
        if self._handshake and self._tls is not None:
            self._raw_out.append(self._wrap(self._tls.pending_output()))
            self._handshake = ""

    def _shake(self, data: bytes) -> None:
        assert self._tls is not None
        self._handshake_bytes += len(data)
        if self._handshake_bytes > self._config.limits.handshake_bytes:
            raise ProtocolError(f"TLS handshake of more than {self._config.limits.handshake_bytes} bytes")
        self._raw_out.append(self._wrap(self._tls.handshake(data)))
        if self._tls.established:
            self.encrypted = True
            self._handshake = ""

    def _handshake_packet(self) -> bool:
        """Feed one packet of the handshake inside TDS; false until more bytes come."""
        packet = self.reader.next_packet()
        if packet is None:
            return False
        kind, _status, body = packet
        if kind != PRELOGIN:
            raise ProtocolError(f"packet of type {kind} during the TLS handshake")
        self._shake(body)
        if self.encrypted and self._tls is not None:
            self.reader.feed(self._tls.decrypt(self.reader.take_raw()))
        return True

    def _wrap(self, data: bytes) -> bytes:
        """Handshake bytes in packets of type PRELOGIN; as they are for a strict client."""
        if self._handshake != "inside TDS":
            return data
        size = PACKET_SIZE_DEFAULT - HEADER_BYTES
        parts = [data[i : i + size] for i in range(0, len(data), size)]
        return b"".join(
            struct.pack(">BBHHBB", PRELOGIN, i == len(parts) - 1, len(part) + HEADER_BYTES, 0, i & 0xFF, 0) + part
            for i, part in enumerate(parts)
        )
