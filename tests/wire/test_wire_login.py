"""PRELOGIN, encryption negotiation and LOGIN7, by bytes."""

from __future__ import annotations

import dataclasses
import struct

import pytest
from wire_bytes import PASSWORD, batch, body, logged_in, login7, packet, prelogin, tokens

from aglab.core.errors import AglabError, UsageError
from aglab.tds import Closed, Limits, LoginRequest, ServerConfig, ServerConnection, self_signed_certificate, server_context
from aglab.tds.errors import ProtocolError
from aglab.tds.login import choose_encryption, parse_login
from aglab.tsql.effects import Message

SAMPLE_LOGIN = bytes.fromhex(
    "88000000020009720010000000000007000100000000 0000e003000000000000090400005e0008006e000200720000007200070080000000"
    "8000000080000400880000008800000000508be2b78f8800000088000000880000000000000073006b006f00730074006f0076003100730061"
    "004f00530051004c002d00330032004f00440042004300".replace(" ", "")
)  # MS-TDS 4.2


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """A TLS context on a throw-away certificate."""
    directory = tmp_path_factory.mktemp("tls")
    made = self_signed_certificate()
    (directory / "c").write_bytes(made.certificate_pem)
    (directory / "k").write_bytes(made.key_pem)
    return server_context(directory / "c", directory / "k")


def test_sample_login_of_the_specification():
    """The LOGIN7 printed in MS-TDS 4.2 is read as described there."""
    login = parse_login(SAMPLE_LOGIN, encrypted=False)
    assert (login.host, login.user, login.app, login.library) == ("skostov1", "sa", "OSQL-32", "ODBC")
    assert (login.tds_version, login.packet_size, login.process_id, login.password) == (0x72090002, 4096, 256, "")


def test_login_fields_password_intent_and_features():
    """Every field, the scrambled password, the read-only bit and feature ids arrive."""
    features = bytes((0x0A,)) + struct.pack("<I", 1) + b"\x01" + bytes((0x01,)) + struct.pack("<I", 3) + b"abc" + b"\xff"
    conn = ServerConnection(ServerConfig())
    conn.receive(prelogin())
    events = conn.receive(
        packet(16, login7(password="Pä漢", database="OLTP", type_flags=0x20, features=features, app="bench", language="Deutsch"))
    )
    (login,) = events
    assert isinstance(login, LoginRequest)
    assert (login.user, login.password, login.database, login.app, login.language) == ("sa", "Pä漢", "OLTP", "bench", "Deutsch")
    assert login.read_only_intent and login.features == {0x0A, 0x01} and not login.encrypted
    assert "Pä漢" not in repr(login)


def test_greeting_tokens():
    """A login is answered with the ENVCHANGEs that drivers need, LOGINACK and DONE; UTF8 is acknowledged when asked for."""
    conn = ServerConnection(ServerConfig())
    conn.receive(prelogin())
    conn.receive(packet(16, login7(packet_size=8000, features=bytes((0x0A,)) + struct.pack("<I", 1) + b"\x01\xff")))
    conn.data_to_send()
    conn.accept_login("OLTP")
    got = tokens(body(conn.data_to_send()))
    assert [t[0] for t in got] == ["ENV", "INFO", "ENV", "ENV", "INFO", "LOGINACK", "ENV", "FEATURES", "DONE"]
    assert [t[1] for t in got if t[0] == "ENV"] == [1, 7, 2, 4]
    assert got[1][4] == "Changed database context to 'OLTP'."
    assert got[2][2] == bytes.fromhex("05 0904d00034 00")
    assert got[5][1].startswith(bytes.fromhex("01 74000004"))
    assert got[6][2] == b"\x04" + "8000".encode("utf-16-le") + b"\x04" + "4096".encode("utf-16-le")
    assert got[7][1] == bytes.fromhex("0a 01000000 01")
    assert conn.packet_size == 8000


@pytest.mark.parametrize(("wish", "size"), [(0, 4096), (100, 512), (65535, 32767), (4096, 4096)])
def test_packet_size_is_clamped(wish, size):
    """LOGIN7's packet size 0 is the default; others are brought into 512 to 32767."""
    assert logged_in(packet_size=wish).packet_size == size


@pytest.mark.parametrize(
    ("asked", "spoken"), [(0x72090002, 0x72090002), (0x74000004, 0x74000004), (0x75000000, 0x74000004), (0x08000000, 0x08000000)]
)
def test_tds_versions(asked, spoken):
    """The client's version is spoken, at most 7.4; JDBC, go and Rust say 0x08000000 for 8.0."""
    assert logged_in(version=asked).tds_version == spoken


def test_encryption_table(tls):
    """The answers of MS-TDS 2.2.6.5 for every wish and policy."""
    with_tls, without = ServerConfig(tls_context=tls), ServerConfig()
    forced = ServerConfig(tls_context=tls, force_encryption=True)
    closed = ServerConfig(tls_context=tls, allow_plain=False)
    assert [choose_encryption(w, with_tls) for w in (0, 1, 3, 2)] == [(0, ""), (1, ""), (1, ""), (2, "")]
    assert [choose_encryption(w, forced)[0] for w in (0, 1, 3, 2)] == [3, 1, 1, 3]
    assert [choose_encryption(w, without)[0] for w in (0, 1, 3, 2)] == [2, 2, 2, 2]
    assert choose_encryption(0x80, with_tls) == (0, "")
    assert "requires encryption" in choose_encryption(1, without)[1]
    assert "requires encryption" in choose_encryption(2, closed)[1]
    conn = ServerConnection(closed)
    assert isinstance(conn.receive(prelogin(2))[0], Closed)
    assert conn.data_to_send()[8:].endswith(b"\x03\x00\x00")


def test_rejected_login_closes():
    """An 18456 goes out and the connection is over."""
    conn = ServerConnection(ServerConfig())
    conn.receive(prelogin())
    conn.receive(packet(16, login7()))
    conn.data_to_send()
    conn.reject_login(Message(18456, 14, 1, "Login failed for user 'sa'."))
    assert [t[:2] for t in tokens(body(conn.data_to_send()))] == [("ERROR", 18456), ("DONE", 2)]
    assert conn.closed and conn.receive(b"x") == []


def test_routing():
    """ENVCHANGE 20 names protocol, port and host after LOGINACK."""
    conn = ServerConnection(ServerConfig())
    conn.receive(prelogin())
    conn.receive(packet(16, login7(type_flags=0x20)))
    conn.data_to_send()
    with pytest.raises(UsageError, match="port of 1 to 65535"):
        conn.route("sql2", 0)
    conn.route("sql2", 1434)
    got = tokens(body(conn.data_to_send()))
    assert [t[0] for t in got] == ["LOGINACK", "ENV", "DONE"]
    assert got[1][1:] == (20, bytes.fromhex("0d00 00 9a05 0400 730071006c003200 0000"))
    assert conn.closed


def test_login_without_prelogin_is_plain_only(tls):
    """Old clients begin with LOGIN7; a node that demands encryption refuses them."""
    conn = ServerConnection(ServerConfig())
    assert isinstance(conn.receive(packet(16, login7()))[0], LoginRequest)
    conn = ServerConnection(ServerConfig(tls_context=tls, force_encryption=True))
    assert conn.receive(packet(16, login7())) == [Closed("LOGIN7 without PRELOGIN")]


def test_strict_is_refused_without_a_context():
    """A TLS record as the first byte needs a strict context."""
    (event,) = ServerConnection(ServerConfig()).receive(b"\x16\x03\x01\x00\x05hello")
    assert "TDS 8" in event.reason


def _broken_logins():
    good = login7(features=b"\xff")
    yield "fixed part", good[:50]
    yield "and carries", struct.pack("<I", 5000) + good[4:]
    yield "older than 7.2", login7(version=0x71000001)
    yield "big-endian", good[:24] + b"\xe1" + good[25:]
    yield "limit is 128", good[:42] + struct.pack("<H", 129) + good[44:]
    yield "outside the message", good[:40] + struct.pack("<HH", 60000, 2) + good[44:]
    yield "points nowhere", good[:56] + struct.pack("<HH", 60000, 4) + good[60:]
    yield "no terminator", login7(features=b"\x0a" + struct.pack("<I", 4000) + b"x")
    yield "is cut off", login7(features=b"\x0a\x01")
    yield "more than 64 features", login7(features=b"".join(bytes((i,)) + b"\0\0\0\0" for i in range(70)) + b"\xff")


@pytest.mark.parametrize(("why", "payload"), list(_broken_logins()), ids=lambda v: v if isinstance(v, str) else "")
def test_broken_logins_close_with_a_reason(why, payload):
    """Each malformed LOGIN7 ends the connection and says why."""
    conn = ServerConnection(ServerConfig())
    conn.receive(prelogin())
    (event,) = conn.receive(packet(16, payload))
    assert isinstance(event, Closed) and why in event.reason


@pytest.mark.parametrize(
    ("why", "payload"),
    [
        ("terminator", b"\x00\x00\x05\x00\x00"),
        ("cut off", b"\x00\x00\x06"),
        ("ends at byte", b"\x00\x00\x06\x00\x63\xff"),
        ("twice", b"\0\0\0\0\0\0\0\0\0\0\xff"),
    ],
)
def test_broken_prelogins(why, payload):
    """A PRELOGIN whose options do not add up ends the connection."""
    (event,) = ServerConnection(ServerConfig()).receive(packet(18, payload))
    assert why in event.reason


def test_fedauth_and_mars_are_answered_off():
    """FEDAUTHREQUIRED is answered 0, MARS with off."""
    conn = ServerConnection(ServerConfig(version=(16, 0, 4135, 4)))
    conn.receive(prelogin(2, ((6, b"\x01"),)))
    assert conn.data_to_send()[8:] == bytes.fromhex(
        "00001f0006 0100250001 0200260001 0300270000 0400270001 0600280001 ff 100010270004 02 00 00 00"
    )


@pytest.mark.parametrize(
    ("client", "answer"),
    [
        (17, "0000150006 01001b0001 02001c0001 03001d0000 ff 100010270004 02 00"),
        (4, "00001a0006 0100200001 0200210001 0300220000 0400220001 ff 100010270004 02 00 00"),
    ],
)
def test_a_wish_for_mars_is_not_granted(client, answer):
    """Off to SqlClient; Microsoft's ODBC driver would give up at that and finds no answer instead."""
    conn = ServerConnection(ServerConfig(version=(16, 0, 4135, 4)))
    conn.receive(prelogin(2, mars=True).replace(b"\x11\0\0\0\0\0", bytes((client, 0, 0, 0, 0, 0))))
    assert conn.data_to_send()[8:] == bytes.fromhex(answer)


def test_out_of_turn_calls_and_messages():
    """Requests before login, answers without a login and a second login are refused."""
    conn = ServerConnection(ServerConfig())
    for call in (conn.accept_login, conn.reject_login, lambda: conn.route("a", 1)):
        with pytest.raises(UsageError, match="no login waits"):
            call()
    assert "type 1 while PRELOGIN is due" in conn.receive(batch("SELECT 1"))[0].reason
    assert "is not a request" in logged_in().receive(packet(16, login7()))[0].reason


def test_login_message_has_its_own_limit():
    """LOGIN7 beyond its ceiling is cut off before it is kept."""
    conn = ServerConnection(ServerConfig(limits=Limits(login_bytes=1000)))
    conn.receive(prelogin())
    reasons = [e.reason for _ in range(4) for e in conn.receive(packet(16, b"x" * 500, 0))]
    assert reasons == ["message of more than 1000 bytes (type 16)"]


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Limits)])
def test_limits_must_be_positive(field):
    """A limit below 1 is a usage error that names it."""
    with pytest.raises(UsageError, match=field):
        Limits(**{field: 0})


def test_config_and_certificate_errors(tmp_path):
    """Wrong settings are told: packet size, names, validity, a file that is not there."""
    with pytest.raises(UsageError, match="packet_size=100"):
        ServerConfig(packet_size=100)
    with pytest.raises(UsageError, match="names"):
        self_signed_certificate([])
    with pytest.raises(UsageError, match="days=0"):
        self_signed_certificate(days=0)
    with pytest.raises(AglabError, match="cannot be loaded"):
        server_context(tmp_path / "no", tmp_path / "no")
    assert isinstance(ProtocolError("x"), AglabError)
    assert PASSWORD == "secret"
