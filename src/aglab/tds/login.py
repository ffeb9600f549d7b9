"""PRELOGIN (MS-TDS 2.2.6.5) and LOGIN7 (2.2.6.4): what a client says before it may ask anything."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from aglab.tds.config import ServerConfig
from aglab.tds.constants import ENCRYPT_NOT_SUP, ENCRYPT_OFF, ENCRYPT_ON, ENCRYPT_REQ, TDS72, TDS80
from aglab.tds.errors import ProtocolError
from aglab.tds.events import LoginRequest

VERSION, ENCRYPTION, INSTANCE, THREAD, MARS, TRACE, FEDAUTH = range(7)
ODBC_MAJOR = 11  # the first version of Microsoft's ODBC driver
TERMINATOR = 0xFF

LOGIN_FIXED_BYTES = 94
NAME_CHARACTERS_MAX = 128
FILE_CHARACTERS_MAX = 260
FEATURES_MAX = 64
_UNSCRAMBLE = bytes(((b ^ 0xA5) >> 4 | ((b ^ 0xA5) << 4 & 0xF0)) for b in range(256))


@dataclass(frozen=True, slots=True)
class Prelogin:
    """The options that matter to a server."""

    encryption: int
    mars: bool
    fedauth: bool
    version: int  # major, as the client gives its own


def parse_prelogin(data: bytes) -> Prelogin:
    """Read PRELOGIN options: token, offset and length (big endian), up to the terminator."""
    options: dict[int, bytes] = {}
    position = 0
    while True:
        if position >= len(data):
            raise ProtocolError("PRELOGIN has no terminator")
        token = data[position]
        if token == TERMINATOR:
            break
        if position + 5 > len(data):
            raise ProtocolError("PRELOGIN option is cut off")
        offset, length = struct.unpack_from(">HH", data, position + 1)
        if offset + length > len(data):
            raise ProtocolError(f"PRELOGIN option {token} ends at byte {offset + length} of {len(data)}")
        if token in options:
            raise ProtocolError(f"PRELOGIN option {token} comes twice")
        options[token] = data[offset : offset + length]
        position += 5
    encryption = options.get(ENCRYPTION, b"")[:1] or bytes((ENCRYPT_NOT_SUP,))
    return Prelogin(
        encryption=encryption[0],
        mars=options.get(MARS, b"")[:1] == b"\x01",
        fedauth=options.get(FEDAUTH, b"") == b"\x01",
        version=(options.get(VERSION) or b"\0")[0],
    )


def choose_encryption(wish: int, config: ServerConfig) -> tuple[int, str]:
    """The server's answer to a client's wish, and why the connection ends (empty: it goes on).

    The table of 2.2.6.5: "off" means that only the login is encrypted.
    """
    wish &= 0x7F  # the high bit asks for a client certificate, which nothing here checks
    if config.tls_context is None:
        refused = wish in (ENCRYPT_ON, ENCRYPT_REQ)
        return ENCRYPT_NOT_SUP, "the client requires encryption and this node has no certificate" if refused else ""
    if wish == ENCRYPT_NOT_SUP:
        if config.force_encryption or not config.allow_plain:
            return ENCRYPT_REQ, "this node requires encryption and the client has none"
        return ENCRYPT_NOT_SUP, ""
    if wish == ENCRYPT_OFF:
        return (ENCRYPT_REQ if config.force_encryption else ENCRYPT_OFF), ""
    return ENCRYPT_ON, ""


def prelogin_answer(config: ServerConfig, asked: Prelogin, encryption: int) -> bytes:
    """The PRELOGIN message of the server. MARS is "off": sessions within a connection are not carried.

    .NET's SqlClient, which asks for them with MultipleActiveResultSets=true, goes on without and refuses a second reader itself.
    Microsoft's ODBC driver gives up the connection without a word when its wish is answered "off", but goes on, and says that
    the connection is busy, where the answer leaves the option out, as a server older than MARS does; SqlClient then takes the
    wish for granted. They are told apart by the version that the client gives: ODBC drivers count
    11, 13, 17, 18, SqlClient is below.
    """
    major, minor, build, revision = config.version
    options = [
        (VERSION, struct.pack(">BBHH", major, minor, build, revision)),
        (ENCRYPTION, bytes((encryption,))),
        (INSTANCE, b"\x00"),
        (THREAD, b""),
    ]
    if not (asked.mars and asked.version >= ODBC_MAJOR):
        options.append((MARS, b"\x00"))
    if asked.fedauth:
        options.append((FEDAUTH, b"\x00"))
    offset = 5 * len(options) + 1
    head, body = bytearray(), bytearray()
    for token, value in options:
        head += struct.pack(">BHH", token, offset + len(body), len(value))
        body += value
    return bytes(head) + bytes((TERMINATOR,)) + bytes(body)


def parse_login(data: bytes, encrypted: bool) -> LoginRequest:
    """Read LOGIN7. Raises ProtocolError for a version below 7.2, a field outside the message or over its length."""
    if len(data) < LOGIN_FIXED_BYTES:
        raise ProtocolError(f"LOGIN7 of {len(data)} bytes; its fixed part alone takes {LOGIN_FIXED_BYTES}")
    length, version, packet_size, _program, process, _connection = struct.unpack_from("<IIIIII", data)
    if not LOGIN_FIXED_BYTES <= length <= len(data):
        raise ProtocolError(f"LOGIN7 says {length} bytes and carries {len(data)}")
    if version != TDS80 and version < TDS72 & 0xFF000000:
        raise ProtocolError(f"TDS version 0x{version:08X} is older than 7.2")
    flags1, flags2, type_flags, flags3 = data[24:28]
    if flags1 & 0x01:
        raise ProtocolError("LOGIN7 asks for big-endian numbers, which are not carried")

    def chars(at: int, name: str, limit: int = NAME_CHARACTERS_MAX) -> bytes:
        offset, count = struct.unpack_from("<HH", data, at)
        if count == 0:
            return b""
        if count > limit:
            raise ProtocolError(f"LOGIN7 {name} of {count} characters; the limit is {limit}")
        if offset + 2 * count > length:
            raise ProtocolError(f"LOGIN7 {name} lies outside the message")
        return data[offset : offset + 2 * count]

    def text(at: int, name: str, limit: int = NAME_CHARACTERS_MAX) -> str:
        return chars(at, name, limit).decode("utf-16-le", "surrogatepass")

    def secret(at: int, name: str) -> str:
        return chars(at, name).translate(_UNSCRAMBLE).decode("utf-16-le", "surrogatepass")

    return LoginRequest(
        user=text(40, "user name"),
        password=secret(44, "password"),
        database=text(68, "database"),
        app=text(48, "application name"),
        host=text(36, "host name"),
        library=text(60, "client library"),
        server=text(52, "server name"),
        language=text(64, "language"),
        attach_file=text(82, "database file", FILE_CHARACTERS_MAX),
        new_password=secret(86, "new password"),
        process_id=process,
        packet_size=packet_size,
        tds_version=version,
        read_only_intent=bool(type_flags & 0x20),
        integrated_security=bool(flags2 & 0x80),
        odbc=bool(flags2 & 0x02),
        change_password=bool(flags3 & 0x01),
        user_instance=bool(flags3 & 0x02),
        encrypted=encrypted,
        features=_features(data, length) if flags3 & 0x10 else frozenset(),
    )


def _features(data: bytes, length: int) -> frozenset[int]:
    """Feature identifiers asked for (FeatureExt): id, length, data, up to the terminator."""
    pointer, size = struct.unpack_from("<HH", data, 56)
    if size < 4 or pointer + 4 > length:
        raise ProtocolError("LOGIN7 says it has feature extensions and points nowhere")
    (position,) = struct.unpack_from("<I", data, pointer)
    found: set[int] = set()
    while True:
        if position >= length:
            raise ProtocolError("LOGIN7 feature extensions have no terminator")
        feature = data[position]
        if feature == TERMINATOR:
            return frozenset(found)
        if position + 5 > length:
            raise ProtocolError(f"LOGIN7 feature 0x{feature:02X} is cut off")
        (size,) = struct.unpack_from("<I", data, position + 1)
        position += 5 + size
        found.add(feature)
        if len(found) > FEATURES_MAX:
            raise ProtocolError(f"LOGIN7 asks for more than {FEATURES_MAX} features")
