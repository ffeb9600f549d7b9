"""TLS in its places, with an in-memory client: inside TDS, for the login alone, and strict."""

from __future__ import annotations

import ssl

import pytest
from wire_bytes import batch, body, login7, packet, prelogin, tokens

from aglab.tds import (
    Closed,
    Limits,
    LoginRequest,
    ServerConfig,
    ServerConnection,
    SqlBatch,
    self_signed_certificate,
    server_context,
)
from aglab.tds.errors import ProtocolError
from aglab.tds.tls import TlsLayer
from aglab.tsql.effects import Done


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A certificate and its key on disk."""
    directory = tmp_path_factory.mktemp("tls")
    made = self_signed_certificate(["sql1", "127.0.0.1"])
    (directory / "c").write_bytes(made.certificate_pem)
    (directory / "k").write_bytes(made.key_pem)
    return directory / "c", directory / "k"


@pytest.fixture(scope="module")
def config(files):
    """A node with both contexts."""
    return ServerConfig(tls_context=server_context(*files), strict_context=server_context(*files, strict=True))


class Client:
    """A TLS client between buffers; ``wrap`` puts handshake bytes into PRELOGIN packets."""

    def __init__(self, certificate, wrap: bool, alpn: bool = False) -> None:
        context = ssl.create_default_context(cafile=certificate)
        if alpn:
            context.set_alpn_protocols(["tds/8.0"])
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.object = context.wrap_bio(self.incoming, self.outgoing, server_hostname="sql1")
        self.wrap = wrap

    def handshake(self, conn: ServerConnection, step: int = 10**9) -> None:
        """Run the handshake against a connection, feeding it ``step`` bytes at a time."""
        for _ in range(10):
            done = False
            try:
                self.object.do_handshake()
                done = True
            except ssl.SSLWantReadError:
                pass
            data = self.outgoing.read()
            if data and self.wrap:
                data = packet(18, data)
            for i in range(0, len(data), step):
                assert conn.receive(data[i : i + step]) == []
            self.take(conn)
            if done:
                return
        raise AssertionError("no handshake")

    def take(self, conn: ServerConnection) -> None:
        """Move the server's handshake bytes over."""
        data = conn.data_to_send()
        while data and self.wrap:
            size = int.from_bytes(data[2:4], "big")
            assert data[0] == 18
            self.incoming.write(data[8:size])
            data = data[size:]
        self.incoming.write(data)

    def seal(self, data: bytes) -> bytes:
        """Encrypt."""
        self.object.write(data)
        return self.outgoing.read()

    def open(self, data: bytes) -> bytes:
        """Decrypt."""
        self.incoming.write(data)
        return self.object.read(100_000)


@pytest.mark.parametrize("step", [10**9, 7])
def test_encrypted_connection(config, files, step):
    """Encryption "on": handshake in PRELOGIN packets (TLS 1.2), then everything in records, however the bytes are cut."""
    conn = ServerConnection(config)
    conn.receive(prelogin(1))
    assert body(conn.data_to_send()).find(b"\x01") > 0
    client = Client(files[0], wrap=True)
    client.handshake(conn, step)
    assert client.object.version() == "TLSv1.2"
    record = client.seal(packet(16, login7()))
    events = [e for i in range(0, len(record), step) for e in conn.receive(record[i : i + step])]
    assert isinstance(events[0], LoginRequest) and events[0].encrypted
    conn.accept_login()
    assert tokens(body(client.open(conn.data_to_send())))[-1] == ("DONE", 0, 0, 0)
    assert conn.encrypted
    assert conn.receive(client.seal(batch("x"))) == [SqlBatch("x")]
    conn.end_response()
    assert tokens(body(client.open(conn.data_to_send()))) == [("DONE", 0, 0xFD, 0)]


def test_login_only_encryption(config, files):
    """Encryption "off" on both sides: LOGIN7 is encrypted, the answer and all that follows are not."""
    conn = ServerConnection(config)
    conn.receive(prelogin(0))
    conn.data_to_send()
    client = Client(files[0], wrap=True)
    client.handshake(conn)
    (login,) = conn.receive(client.seal(packet(16, login7())))
    assert login.encrypted and not conn.encrypted
    conn.accept_login()
    assert tokens(body(conn.data_to_send()))[-1] == ("DONE", 0, 0, 0)
    assert conn.receive(batch("x")) == [SqlBatch("x")]


def test_strict_connection(config, files):
    """TDS 8: TLS first, ALPN tds/8.0, PRELOGIN inside."""
    conn = ServerConnection(config)
    client = Client(files[0], wrap=False, alpn=True)
    client.handshake(conn)
    assert client.object.selected_alpn_protocol() == "tds/8.0"
    conn.receive(client.seal(prelogin(1)))
    assert body(client.open(conn.data_to_send()))
    (login,) = conn.receive(client.seal(packet(16, login7(version=0x08000000))))
    assert login.encrypted and conn.tds_version == 0x08000000
    conn.accept_login()
    client.open(conn.data_to_send())
    assert conn.receive(client.seal(batch("x"))) == [SqlBatch("x")]
    conn.send(Done(1, "UPDATE"))
    conn.end_response()
    assert tokens(body(client.open(conn.data_to_send()))) == [("DONE", 0x10, 0xC5, 1)]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (packet(18, b"\x16\x03\x01\x00\x05hello"), "TLS handshake failed"),
        (packet(18, b"GET / HTTP/1.1\r\n\r\n"), "TLS handshake failed"),
        (packet(16, b"x"), "packet of type 16 during the TLS handshake"),
        (packet(18, b"\x16\x03\x01\x40\x00" + b"x" * 900), "more than 800 bytes"),
    ],
)
def test_broken_handshakes(files, data, why):
    """Garbage in a handshake closes the connection with the reason (and an alert to the client)."""
    conn = ServerConnection(ServerConfig(tls_context=server_context(*files), limits=Limits(handshake_bytes=800)))
    conn.receive(prelogin(1))
    (event,) = conn.receive(data)
    assert isinstance(event, Closed) and why in event.reason
    assert conn.data_to_send()


def test_garbage_after_the_handshake(config, files):
    """A record that does not decrypt closes the connection."""
    conn = ServerConnection(config)
    conn.receive(prelogin(1))
    conn.data_to_send()
    client = Client(files[0], wrap=True)
    client.handshake(conn)
    (event,) = conn.receive(b"\x17\x03\x03\x00\x20" + b"z" * 32)
    assert isinstance(event, Closed) and "TLS record refused" in event.reason


def test_end_of_file_and_close_notify(config, files):
    """End of file closes without a reason; a TLS close_notify alone is no event."""
    conn = ServerConnection(config)
    conn.receive(prelogin(1))
    conn.data_to_send()
    client = Client(files[0], wrap=True)
    client.handshake(conn)
    with pytest.raises(ssl.SSLWantReadError):
        client.object.unwrap()
    assert conn.receive(client.outgoing.read()) == []
    assert conn.receive(b"") == [Closed("")] and conn.receive(b"") == []


def test_writing_before_the_handshake_is_told(config):
    """A TLS layer that is not established encrypts nothing."""
    with pytest.raises(ProtocolError, match="TLS write failed"):
        TlsLayer(config.tls_context).encrypt(b"x")
