"""Tokens of a response other than rows (MS-TDS 2.2.7): each function returns the bytes of one token."""

from __future__ import annotations

import struct
from typing import Any

from aglab.core.sqltypes import SqlType
from aglab.tds import constants as c
from aglab.tds.encode import codec, utf16

MESSAGE_CHARACTERS_MAX = 16000  # the token's length is a USHORT of bytes
NAME_CHARACTERS_MAX = 128
DIFFERENT_NAME = 0x20  # status bit of COLINFO


def b_varchar(text: str) -> bytes:
    """Text with a one-byte length in characters."""
    data = utf16(text)[:510]
    return bytes((len(data) // 2,)) + data


def us_varchar(text: str) -> bytes:
    """Text with a two-byte length in characters."""
    data = utf16(text)
    return struct.pack("<H", len(data) // 2) + data


def done(token: int, status: int, command: int, rowcount: int) -> bytes:
    """DONE, DONEPROC or DONEINPROC."""
    return struct.pack("<BHHQ", token, status, command, rowcount)


def message(number: int, state: int, severity: int, text: str, server: str, procedure: str, line: int) -> bytes:
    """ERROR (severity above 10) or INFO."""
    body = (
        struct.pack("<iBB", number, state & 0xFF, severity & 0xFF)
        + us_varchar(text[:MESSAGE_CHARACTERS_MAX])
        + b_varchar(server[:NAME_CHARACTERS_MAX])
        + b_varchar(procedure[:NAME_CHARACTERS_MAX])
        + struct.pack("<i", line)
    )
    return struct.pack("<BH", c.TOKEN_ERROR if severity > 10 else c.TOKEN_INFO, len(body)) + body


def _envchange(kind: int, body: bytes) -> bytes:
    return struct.pack("<BHB", c.TOKEN_ENVCHANGE, len(body) + 1, kind) + body


def envchange_text(kind: int, new: str, old: str) -> bytes:
    """ENVCHANGE of database, language or packet size."""
    return _envchange(kind, b_varchar(new[:NAME_CHARACTERS_MAX]) + b_varchar(old[:NAME_CHARACTERS_MAX]))


def envchange_bytes(kind: int, new: bytes, old: bytes) -> bytes:
    """ENVCHANGE of collation or transaction."""
    return _envchange(kind, bytes((len(new),)) + new + bytes((len(old),)) + old)


def envchange_routing(host: str, port: int) -> bytes:
    """ENVCHANGE 20: connect to this host and port instead."""
    value = struct.pack("<BH", 0, port) + us_varchar(host)
    return _envchange(c.ENV_ROUTING, struct.pack("<H", len(value)) + value + b"\x00\x00")


def login_ack(tds_version: int, program: str, version: tuple[int, int, int, int]) -> bytes:
    """LOGINACK: interface SQL_TSQL, version (big endian here), name and version of the server program."""
    major, minor, build, _revision = version
    body = b"\x01" + struct.pack(">I", tds_version) + b_varchar(program) + struct.pack(">BBH", major, minor, build)
    return struct.pack("<BH", c.TOKEN_LOGINACK, len(body)) + body


def feature_ack(features: dict[int, bytes]) -> bytes:
    """FEATUREEXTACK."""
    body = b"".join(struct.pack("<BI", feature, len(data)) + data for feature, data in features.items())
    return bytes((c.TOKEN_FEATUREEXTACK,)) + body + b"\xff"


def return_status(value: int) -> bytes:
    """RETURNSTATUS."""
    return struct.pack("<Bi", c.TOKEN_RETURNSTATUS, value)


def return_value(ordinal: int, name: str, declared: SqlType, value: Any, version: int) -> bytes:
    """RETURNVALUE of an output parameter."""
    wire = codec(declared, version)
    head = struct.pack("<BH", c.TOKEN_RETURNVALUE, ordinal) + b_varchar(name[:NAME_CHARACTERS_MAX])
    if wire.is_blob:  # text, ntext and image cannot be output parameters; their max forms can
        wire = codec(SqlType({"text": "varchar", "ntext": "nvarchar", "image": "varbinary"}[declared.name], length=-1), version)
    return head + struct.pack("<BIH", 1, 0, 0x01) + wire.type_info + wire.encode(value)


def order(columns: list[int]) -> bytes:
    """ORDER: the numbers, from 1, of the columns a result is sorted by."""
    return struct.pack("<BH", c.TOKEN_ORDER, 2 * len(columns)) + struct.pack(f"<{len(columns)}H", *columns)


def browse(tables: tuple[tuple[str, ...], ...], columns: tuple[tuple[int, int, str], ...]) -> bytes:
    """TABNAME and COLINFO of a cursor's result: table names in parts, and for each column its table, status and name there."""
    names = b"".join(bytes((len(parts),)) + b"".join(us_varchar(part) for part in parts) for parts in tables)
    info = b"".join(
        bytes((number & 0xFF, table, status)) + (b_varchar(name) if status & DIFFERENT_NAME else b"")
        for number, (table, status, name) in enumerate(columns, 1)
    )
    head = struct.pack("<BH", c.TOKEN_TABNAME, len(names)) + names if tables else b""
    return head + struct.pack("<BH", c.TOKEN_COLINFO, len(info)) + info
