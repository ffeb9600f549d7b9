"""Hostile bytes: whatever arrives, the connection answers, waits or closes; it never raises, and holds no more than its limits.

``AGLAB_FUZZ_EXAMPLES`` raises the number of examples of each test (a soak run).
"""

from __future__ import annotations

import itertools
import os
import ssl
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_wire_requests import REFUSED, TYPED
from test_wire_tls import Client
from wire_bytes import HEADERS, INT7, by_id, by_name, logged_in, login7, packet, packets, param, prelogin

from aglab.tds import (
    Attention,
    Closed,
    Limits,
    LoginRequest,
    Rpc,
    ServerConfig,
    ServerConnection,
    self_signed_certificate,
    server_context,
)
from aglab.tsql.effects import Done, Message

EXAMPLES = int(os.environ.get("AGLAB_FUZZ_EXAMPLES", "150"))
FUZZ = settings(max_examples=EXAMPLES, deadline=None)
SMALL = {"bulk_rows": 200, "bulk_values": 500, "bulk_bytes": 50_000, "table_values": 300}
LIMITS = Limits(message_bytes=100_000, parameters=50, calls_per_message=50, columns=20, **SMALL)
CONFIG = ServerConfig(limits=LIMITS)
BYTES = st.binary(max_size=300)
KINDS = st.sampled_from([0, 1, 2, 3, 4, 6, 7, 8, 14, 16, 17, 18, 255])


def survive(conn: ServerConnection, data: bytes, cuts: list[int]) -> None:
    """Feed bytes in pieces, answering every event; check what must always hold."""
    edges = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    for start, end in itertools.pairwise(edges):
        events = conn.receive(data[start:end])
        for event in events:
            if isinstance(event, LoginRequest):
                conn.accept_login()  # does nothing where the same bytes broke the connection
            elif isinstance(event, Attention):
                conn.acknowledge_attention()
            elif isinstance(event, Closed):
                assert conn.closed and event is events[-1] and event.reason
            elif conn.busy:
                conn.send(Done(1, "SELECT"))
                conn.end_response()
                assert conn.busy == (isinstance(event, Rpc) and event.more)
        assert conn._channel.reader.buffered <= LIMITS.message_bytes + LIMITS.packet_bytes + 300
        conn.data_to_send()
        if conn.closed:
            assert conn.receive(b"more") == []
            return


@given(BYTES, st.lists(st.integers(0, 400), max_size=5))
@FUZZ
def test_any_bytes_from_the_start(data, cuts):
    """Arbitrary bytes on a new connection."""
    survive(ServerConnection(CONFIG), data, cuts)


@given(
    st.lists(st.tuples(KINDS, BYTES, st.integers(0, 31)), max_size=6), st.lists(st.integers(0, 2000), max_size=5), st.booleans()
)
@FUZZ
def test_any_packets(parts, cuts, ready):
    """Well-framed packets of any type and status, before and after a login."""
    conn = logged_in(CONFIG) if ready else ServerConnection(CONFIG)
    survive(conn, b"".join(packet(kind, payload, status) for kind, payload, status in parts), cuts)


@given(st.data())
@FUZZ
def test_mutated_logins(data):
    """A valid PRELOGIN and LOGIN7 with bytes changed, cut or repeated."""
    features = b"\x0a" + struct.pack("<I", 1) + b"\x01\xff"
    stream = bytearray(prelogin(data.draw(st.integers(0, 3))) + packet(16, login7(features=features, database="OLTP")))
    survive(ServerConnection(CONFIG), mutate(data, stream), data.draw(st.lists(st.integers(0, 400), max_size=3)))


def mutate(data: st.DataObject, stream: bytearray) -> bytes:
    """Change a few bytes, perhaps cut the end off or repeat a slice."""
    for _ in range(data.draw(st.integers(0, 5))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(stream)))
    repeat = data.draw(st.booleans())
    return bytes(stream + stream[cut:]) if repeat else bytes(stream[: max(cut, 1)])


@given(st.data())
@FUZZ
def test_mutated_calls(data):
    """Valid RPC payloads of every parameter type, mutated inside intact packets."""
    picks = data.draw(st.lists(st.sampled_from(TYPED + REFUSED), min_size=1, max_size=4))
    params = [param("@p", bytes.fromhex(pick[0]), data.draw(st.integers(0, 3))) for pick in picks]
    calls = [by_name("p", *params), by_id(10, *params), by_id(data.draw(st.integers(0, 20)), param("", INT7))]
    payload = bytearray(HEADERS + b"\xff".join(data.draw(st.permutations(calls))))
    survive(logged_in(CONFIG), packets(3, mutate(data, payload), data.draw(st.sampled_from([64, 512, 4096]))), [])


@given(st.data())
@FUZZ
def test_mutated_bulk_loads(data):
    """A valid bulk load, mutated inside intact packets."""
    known = [pick for pick in TYPED if not pick[0].startswith(("1f", "22", "23", "63"))]
    picks = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
    meta, row = struct.pack("<BH", 0x81, len(picks)), b"\xd1"
    for hexed, declared, _value in picks:
        raw = bytes.fromhex(hexed)
        size = info_bytes(raw)
        meta += struct.pack("<IH", 0, 9) + raw[:size] + b"\x01c\x00"
        row += raw[size:]
        assert declared
    payload = bytearray(meta + row * data.draw(st.integers(0, 3)) + b"\xfd" + b"\0" * 12)
    survive(logged_in(CONFIG), packets(7, mutate(data, payload), 512), [])


@given(st.data())
@FUZZ
def test_mutated_tables(data):
    """Valid table-valued parameters of every column type, mutated inside intact packets."""
    known = [pick for pick in TYPED if not pick[0].startswith(("1f", "22", "23", "63"))]
    picks = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
    payload = bytearray(HEADERS + by_name("p", param("@t", table_value(picks, data.draw(st.integers(0, 3)))), param("@n", INT7)))
    survive(logged_in(CONFIG), packets(3, mutate(data, payload), data.draw(st.sampled_from([64, 512]))), [])


def table_value(picks, rows, order=b""):
    """A table-valued parameter whose columns and values are those of typed values."""
    meta, row = b"\xf3\x00\x03" + "dbo".encode("utf-16-le") + b"\x01T\x00" + struct.pack("<H", len(picks)), b"\x01"
    for hexed, *_ in picks:
        raw = bytes.fromhex(hexed)
        size = info_bytes(raw)
        meta += struct.pack("<IH", 0, 1) + raw[:size] + b"\x00"
        row += raw[size:]
    return meta + order + b"\x00" + row * rows + b"\x00"


def info_bytes(raw: bytes) -> int:
    """How many bytes of a typed value are its TYPE_INFO."""
    code = raw[0]
    if code in (0xA7, 0xAF, 0xE7, 0xEF):
        return 8
    if code in (0xA5, 0xAD):
        return 3
    if code == 0x62:
        return 5
    if code in (0x6A, 0x6C):
        return 4
    if code == 0xF1:
        return 2 if raw[1] == 0 else 6
    return 2 if code in (0x24, 0x26, 0x68, 0x25, 0x27, 0x29) else 1


@given(st.binary(max_size=60), st.sampled_from([1, 14]))
@FUZZ
def test_any_payload_of_batches_and_transactions(data, kind):
    """Arbitrary payloads behind valid headers."""
    survive(logged_in(CONFIG), packet(kind, HEADERS + data), [])


@given(st.text(max_size=50), st.integers(-(2**31), 2**31 - 1), st.integers(0, 255), st.integers(0, 19))
@FUZZ
def test_any_message_can_be_sent(text, number, state, severity):
    """Whatever text an error has, its token is framed."""
    conn = logged_in()
    conn.receive(packet(1, HEADERS))
    conn.send(Message(number, severity, state, text, 1, text))
    conn.end_response()
    assert conn.data_to_send()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A node's certificate file, and its settings with TLS in both places."""
    folder = tmp_path_factory.mktemp("tls")
    made = self_signed_certificate(["sql1"])
    (folder / "c").write_bytes(made.certificate_pem)
    (folder / "k").write_bytes(made.key_pem)
    contexts = [server_context(folder / "c", folder / "k", strict) for strict in (False, True)]
    return folder / "c", ServerConfig(tls_context=contexts[0], strict_context=contexts[1], limits=LIMITS)


def met(sealed, strict: bool) -> tuple[ServerConnection, Client]:
    """A connection that a client has begun, up to its first TLS byte."""
    certificate, config = sealed
    conn = ServerConnection(config)
    if not strict:
        conn.receive(prelogin(1))
        conn.data_to_send()
    return conn, Client(certificate, wrap=not strict, alpn=strict)


@given(data=st.data(), strict=st.booleans())
@FUZZ
def test_mutated_handshakes(sealed, data, strict):
    """Flights of a TLS handshake with bytes changed, cut or repeated, in the records or in the packets around them."""
    conn, client = met(sealed, strict)
    for _ in range(4):
        try:
            client.object.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            return  # the client had enough
        flight = client.outgoing.read()
        if not flight:
            return  # the client waits for what it broke itself
        spoil = data.draw(st.sampled_from(["nothing", "records", "packets"]))  # nothing: the next flight is reached
        flight = mutate(data, bytearray(flight)) if spoil == "records" else flight
        flight = flight if strict else packet(18, flight)
        flight = mutate(data, bytearray(flight)) if spoil == "packets" else flight
        survive(conn, flight, data.draw(st.lists(st.integers(0, 600), max_size=3)))
        if conn.closed:
            return
        client.take(conn)


@given(data=st.data(), strict=st.booleans())
@FUZZ
def test_mutated_records(sealed, data, strict):
    """Records of an established session with bytes changed, cut or repeated: refused whole, since they are authenticated."""
    conn, client = met(sealed, strict)
    client.handshake(conn)
    stream = client.seal(prelogin(1)) if strict else b""
    stream += client.seal(packet(16, login7(version=0x08000000 if strict else 0x74000004))) + client.seal(packet(1, b"x\0" * 40))
    survive(conn, mutate(data, bytearray(stream)), data.draw(st.lists(st.integers(0, 900), max_size=4)))
