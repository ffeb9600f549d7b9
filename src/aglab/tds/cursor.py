"""Reading a complete message from left to right; every read checks what is left."""

from __future__ import annotations

import struct

from aglab.tds.errors import Truncated

_U16 = struct.Struct("<H").unpack_from
_U32 = struct.Struct("<I").unpack_from
_I32 = struct.Struct("<i").unpack_from
_U64 = struct.Struct("<Q").unpack_from


class Cursor:
    """A position in one message.

    Parameters
    ----------
    data : bytes
        The whole message, without packet headers.
    what : str
        Name of the message for errors: ``"RPC"``.
    """

    __slots__ = ("data", "end", "position", "what")

    def __init__(self, data: bytes, what: str) -> None:
        self.data = data
        self.what = what
        self.position = 0
        self.end = len(data)

    @property
    def remaining(self) -> int:
        """Bytes not read yet."""
        return self.end - self.position

    def _advance(self, count: int) -> int:
        start = self.position
        if count > self.end - start:
            raise Truncated(f"{self.what} message ends at byte {self.end}, but {count} bytes are due at byte {start}")
        self.position = start + count
        return start

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        start = self._advance(count)
        return self.data[start : start + count]

    def u8(self) -> int:
        """An unsigned byte."""
        return self.data[self._advance(1)]

    def u16(self) -> int:
        """USHORT, little endian."""
        return _U16(self.data, self._advance(2))[0]

    def u32(self) -> int:
        """ULONG."""
        return _U32(self.data, self._advance(4))[0]

    def i32(self) -> int:
        """LONG."""
        return _I32(self.data, self._advance(4))[0]

    def u64(self) -> int:
        """ULONGLONG."""
        return _U64(self.data, self._advance(8))[0]

    def text(self, characters: int) -> str:
        """``characters`` UTF-16 code units."""
        return self.take(2 * characters).decode("utf-16-le", "surrogatepass")

    def b_varchar(self) -> str:
        """Text with a one-byte length."""
        return self.text(self.u8())

    def us_varchar(self) -> str:
        """Text with a two-byte length."""
        return self.text(self.u16())
