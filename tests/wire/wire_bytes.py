"""A client's bytes for the wire tests, and a reader of the tokens that come back. Written apart from the server's code."""

from __future__ import annotations

import struct
from typing import Any

from aglab.tds import ServerConfig, ServerConnection

PASSWORD = "secret"
EMPTY = 0x74000004


def packet(kind: int, payload: bytes = b"", status: int = 1) -> bytes:
    """One packet."""
    return struct.pack(">BBHHBB", kind, status, len(payload) + 8, 0, 1, 0) + payload


def packets(kind: int, payload: bytes, size: int = 512, status: int = 0) -> bytes:
    """A message cut into packets of at most ``size`` bytes."""
    parts = [payload[i : i + size - 8] for i in range(0, len(payload), size - 8)] or [b""]
    flags = [(status if i == 0 else 0) | (i == len(parts) - 1) for i in range(len(parts))]
    return b"".join(packet(kind, part, flag) for part, flag in zip(parts, flags, strict=True))


def prelogin(encryption: int = 2, extra: tuple[tuple[int, bytes], ...] = (), mars: bool = False) -> bytes:
    """A PRELOGIN packet."""
    options = [(0, b"\x11\x00\x00\x00\x00\x00"), (1, bytes((encryption,))), (4, bytes((mars,))), *extra]
    offset = 5 * len(options) + 1
    head, body = b"", b""
    for token, value in options:
        head += struct.pack(">BHH", token, offset + len(body), len(value))
        body += value
    return packet(18, head + b"\xff" + body)


def scramble(text: str) -> bytes:
    """A password as LOGIN7 carries it: nibbles swapped, then XOR 0xA5."""
    return bytes(((b << 4 & 0xF0) | b >> 4) ^ 0xA5 for b in text.encode("utf-16-le"))


def login7(
    user: str = "sa",
    password: str = PASSWORD,
    database: str = "",
    version: int = EMPTY,
    packet_size: int = 4096,
    type_flags: int = 0,
    flags3: int = 0,
    features: bytes = b"",
    **names: str,
) -> bytes:
    """A LOGIN7 payload."""
    texts = [names.get("host", "h"), user, None, names.get("app", "app"), names.get("server", "srv"), None]
    texts += [names.get("library", "lib"), names.get("language", ""), database]
    data = b""
    table = b""
    for index, text in enumerate(texts):
        if index == 5:
            size = 4 if features else 0
            table += struct.pack("<HH", 94 + len(data), size)
            extension = 94 + len(data)
            data += b"\0" * size
            continue
        value = scramble(password) if index == 2 else text.encode("utf-16-le")
        table += struct.pack("<HH", 94 + len(data), len(value) // 2)
        data += value
    table += b"\0" * 6 + struct.pack("<HHHHHHI", 94 + len(data), 0, 94 + len(data), 0, 94 + len(data), 0, 0)
    if features:
        at = extension - 94
        data = data[:at] + struct.pack("<I", 94 + len(data)) + data[at + 4 :] + features
        flags3 |= 0x10
    fixed = struct.pack("<IIIIIIBBBBiI", 94 + len(data), version, packet_size, 7, 99, 0, 0xE0, 3, type_flags, flags3, 0, 0x409)
    return fixed + table + data


HEADERS = bytes.fromhex("16000000120000000200 0000000000000000 01000000".replace(" ", ""))


def batch(text: str, status: int = 1) -> bytes:
    """An SQL batch packet."""
    return packet(1, HEADERS + text.encode("utf-16-le"), status)


def us(text: str) -> bytes:
    """US_VARCHAR."""
    return struct.pack("<H", len(text)) + text.encode("utf-16-le")


def b(text: str) -> bytes:
    """B_VARCHAR."""
    return bytes((len(text),)) + text.encode("utf-16-le")


def param(name: str, typed: bytes, status: int = 0) -> bytes:
    """One RPC parameter: ``typed`` is TYPE_INFO and value."""
    return b(name) + bytes((status,)) + typed


def rpc(*calls: bytes) -> bytes:
    """An RPC packet of several calls."""
    return packet(3, HEADERS + b"\xff".join(calls))


def by_name(name: str, *params: bytes, flags: int = 0) -> bytes:
    """A call by name."""
    return us(name) + struct.pack("<H", flags) + b"".join(params)


def by_id(number: int, *params: bytes) -> bytes:
    """A call by number."""
    return struct.pack("<HHH", 0xFFFF, number, 0) + b"".join(params)


INT7 = bytes.fromhex("26040407000000")  # INTN(4), value 7


def logged_in(config: ServerConfig | None = None, **fields: Any) -> ServerConnection:
    """A connection past its login, its greeting taken."""
    conn = ServerConnection(config or ServerConfig())
    conn.receive(prelogin())
    conn.receive(packet(16, login7(**fields)))
    conn.accept_login()
    conn.data_to_send()
    return conn


def body(data: bytes) -> bytes:
    """The payload of the packets in ``data``; they must be one message or several, all of type 4."""
    out = b""
    while data:
        kind, _status, length = struct.unpack_from(">BBH", data)
        assert kind == 4
        out += data[8:length]
        data = data[length:]
    return out


def statuses(data: bytes) -> list[int]:
    """The status byte of each packet."""
    out = []
    while data:
        _kind, status, length = struct.unpack_from(">BBH", data)
        out.append(status)
        data = data[length:]
    return out


def tokens(data: bytes) -> list[tuple[Any, ...]]:
    """Tokens of a payload without rows: (name, fields...)."""
    out: list[tuple[Any, ...]] = []
    at = 0
    while at < len(data):
        token = data[at]
        if token in (0xFD, 0xFE, 0xFF):
            status, command, count = struct.unpack_from("<HHQ", data, at + 1)
            out.append(({0xFD: "DONE", 0xFE: "DONEPROC", 0xFF: "DONEINPROC"}[token], status, command, count))
            at += 13
        elif token == 0x79:
            out.append(("STATUS", struct.unpack_from("<i", data, at + 1)[0]))
            at += 5
        elif token == 0xAE:
            end = data.index(b"\xff", at)
            out.append(("FEATURES", data[at + 1 : end]))
            at = end + 1
        elif token in (0xE3, 0xAA, 0xAB, 0xAD, 0xA9):
            (length,) = struct.unpack_from("<H", data, at + 1)
            value = data[at + 3 : at + 3 + length]
            if token == 0xE3:
                out.append(("ENV", value[0], value[1:]))
            elif token in (0xAA, 0xAB):
                number, state, severity, size = struct.unpack_from("<iBBH", value)
                text = value[8 : 8 + 2 * size].decode("utf-16-le")
                out.append(("ERROR" if token == 0xAA else "INFO", number, severity, state, text))
            else:
                out.append(({0xAD: "LOGINACK", 0xA9: "ORDER"}[token], value))
            at += 3 + length
        else:
            raise AssertionError(f"token 0x{token:02X} at {at} of {data.hex()}")
    return out
