"""Which code page a collation's char and varchar use (MS-TDS 2.2.5.1.2)."""

from __future__ import annotations

import struct

UTF8_FLAG = 1 << 26
LCID_BITS = 0xFFFFF

# Windows locales whose ANSI code page is not 1252, by language (the low ten bits of the LCID).
_CODE_PAGES = {
    0x01: "cp1256",  # Arabic
    0x02: "cp1251",  # Bulgarian
    0x04: "gbk",  # Chinese
    0x05: "cp1250",  # Czech
    0x08: "cp1253",  # Greek
    0x0D: "cp1255",  # Hebrew
    0x0E: "cp1250",  # Hungarian
    0x11: "cp932",  # Japanese
    0x12: "cp949",  # Korean
    0x15: "cp1250",  # Polish
    0x18: "cp1250",  # Romanian
    0x19: "cp1251",  # Russian
    0x1A: "cp1250",  # Croatian
    0x1E: "cp874",  # Thai
    0x1F: "cp1254",  # Turkish
    0x22: "cp1251",  # Ukrainian
    0x25: "cp1257",  # Estonian
    0x26: "cp1257",  # Latvian
    0x27: "cp1257",  # Lithuanian
    0x2A: "cp1258",  # Vietnamese
}
_TRADITIONAL_CHINESE = (0x0404, 0x0C04)


def encoding_of(collation: bytes) -> str:
    """Python's name of the code page of five collation bytes."""
    (bits,) = struct.unpack("<I", collation[:4])
    if bits & UTF8_FLAG:
        return "utf-8"
    lcid = bits & 0xFFFF
    if lcid in _TRADITIONAL_CHINESE:
        return "cp950"
    return _CODE_PAGES.get(lcid & 0x3FF, "cp1252")
