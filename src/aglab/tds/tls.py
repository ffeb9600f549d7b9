"""TLS without sockets: an ssl object between two memory buffers."""

from __future__ import annotations

import ssl

from aglab.tds.errors import ProtocolError

READ_BYTES = 16384  # what one record holds at most


class TlsLayer:
    """The server side of one TLS session; raises ProtocolError for whatever a peer gets wrong."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.established = False

    def handshake(self, data: bytes) -> bytes:
        """Take handshake bytes; the bytes to answer. ``established`` says whether it is done."""
        self._incoming.write(data)
        try:
            self._object.do_handshake()
            self.established = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            raise ProtocolError(f"TLS handshake failed: {error.reason or error}") from error
        return self._outgoing.read()

    def decrypt(self, data: bytes) -> bytes:
        """Records in, plain text out."""
        if data:
            self._incoming.write(data)
        parts = []
        try:
            while True:
                part = self._object.read(READ_BYTES)
                if not part:
                    break
                parts.append(part)
                if not self._incoming.pending and not self._object.pending():
                    break
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            pass
        except ssl.SSLError as error:
            raise ProtocolError(f"TLS record refused: {error.reason or error}") from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def encrypt(self, data: bytes) -> bytes:
        """Plain text in, records out."""
        try:
            self._object.write(data)
        except ssl.SSLError as error:
            raise ProtocolError(f"TLS write failed: {error.reason or error}") from error
        return self._outgoing.read()

    def pending_output(self) -> bytes:
        """Alerts that TLS wants to send."""
        return self._outgoing.read()
