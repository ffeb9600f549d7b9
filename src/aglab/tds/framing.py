"""Packets (MS-TDS 2.2.3): joining a client's packets into messages, cutting a response into packets.

Limits come first: a packet's length is checked before its bytes are awaited, a message's bytes before they are kept.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from aglab.tds.constants import END_OF_MESSAGE, HEADER_BYTES, IGNORE_MESSAGE, TABULAR_RESULT
from aglab.tds.errors import ProtocolError

_HEADER = struct.Struct(">BBHHBB")


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message: packet type, status bits of its first packet (with IGNORE of any), payload.

    ``stream`` has taken the payload where the message's type is read as it arrives.
    """

    type: int
    status: int
    payload: bytes
    stream: Any = None


class Stream(Protocol):
    """What takes the payload of a message while it arrives."""

    @property
    def held(self) -> int:
        """Bytes that it keeps undecoded."""

    def feed(self, data: bytes) -> None:
        """Take a packet's payload."""


class PacketReader:
    """Bytes in, messages out.

    Parameters
    ----------
    packet_bytes_max, message_bytes_max : int
        Ceilings; ``message_bytes_max`` may be changed between messages.

    Attributes
    ----------
    streamed : dict
        Packet type -> what makes the :class:`Stream` that reads such a message and keeps to its own limits.
    """

    def __init__(self, packet_bytes_max: int, message_bytes_max: int) -> None:
        self.packet_bytes_max = packet_bytes_max
        self.message_bytes_max = message_bytes_max
        self.packets = 0
        self._buffer = bytearray()
        self._parts: list[bytes] = []
        self._size = 0
        self._type = 0
        self._status = 0
        self.streamed: dict[int, Callable[[], Stream]] = {}
        self._stream: Stream | None = None

    @property
    def buffered(self) -> int:
        """Bytes held: of incomplete packets and of an incomplete message."""
        return len(self._buffer) + self._size + (self._stream.held if self._stream is not None else 0)

    def feed(self, data: bytes) -> None:
        """Add bytes from the peer."""
        self._buffer += data

    def take_raw(self) -> bytes:
        """Give back the bytes that are not consumed (TLS records that follow the handshake)."""
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    def next_message(self) -> Message | None:
        """The next complete message, or None until more bytes come."""
        while (packet := self.next_packet()) is not None:
            kind, status, body = packet
            if not self._parts and self._stream is None:
                self._type, self._status = kind, status
                self._stream = self.streamed[kind]() if kind in self.streamed else None
            elif kind != self._type:
                raise ProtocolError(f"packet of type {kind} inside a message of type {self._type}")
            if self._stream is not None:
                stream = self._stream
                stream.feed(body)
                if status & END_OF_MESSAGE:
                    self._stream = None
                    return Message(self._type, self._status | (status & IGNORE_MESSAGE), b"", stream)
                continue
            self._size += len(body)
            if self._size > self.message_bytes_max:
                raise ProtocolError(f"message of more than {self.message_bytes_max} bytes (type {self._type})")
            self._parts.append(body)
            if status & END_OF_MESSAGE:
                payload = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
                self._parts, self._size = [], 0
                return Message(self._type, self._status | (status & IGNORE_MESSAGE), payload)
            if len(body) == 0:
                self._parts.pop()
                if not self._parts:
                    raise ProtocolError("a message begins with an empty packet that is not its last")
        return None

    def next_packet(self) -> tuple[int, int, bytes] | None:
        """Type, status and payload of the next complete packet (for the TLS handshake, which has no messages)."""
        buffer = self._buffer
        if len(buffer) < HEADER_BYTES:
            return None
        kind, status, length, _spid, _id, _window = _HEADER.unpack_from(buffer)
        if not HEADER_BYTES <= length <= self.packet_bytes_max:
            raise ProtocolError(f"packet length {length} must be {HEADER_BYTES} to {self.packet_bytes_max} (type {kind})")
        if len(buffer) < length:
            return None
        body = bytes(buffer[HEADER_BYTES:length])
        del buffer[:length]
        self.packets += 1
        return kind, status, body


class PacketWriter:
    """Tokens in, packets out. A packet leaves when it is full, at the end of a message, or on ``flush``."""

    def __init__(self, packet_size: int, spid: int) -> None:
        self.packet_size = packet_size
        self.spid = spid
        self.packets = 0
        self.type = TABULAR_RESULT
        self._id = 0
        self._buffer = bytearray()
        self._ready: list[bytes] = []
        self._ready_bytes = 0

    @property
    def pending(self) -> int:
        """Bytes of packets that are ready or being filled."""
        return self._ready_bytes + len(self._buffer)

    def write(self, data: bytes) -> None:
        """Append tokens to the running message."""
        self._buffer += data
        if len(self._buffer) > self.packet_size - HEADER_BYTES:
            self._cut()

    def _cut(self) -> None:
        """Emit every packet that is full; keep the rest, at least one byte, for the packet that ends the message."""
        body = self.packet_size - HEADER_BYTES
        view = bytes(self._buffer)
        start = 0
        last = len(view) - body
        while start < last:
            self._emit(view[start : start + body], 0)
            start += body
        self._buffer = bytearray(view[start:])

    def _emit(self, body: bytes, status: int) -> None:
        self._id = (self._id + 1) & 0xFF
        length = len(body) + HEADER_BYTES
        self._ready.append(_HEADER.pack(self.type, status, length, self.spid, self._id, 0))
        self._ready.append(body)
        self._ready_bytes += length
        self.packets += 1

    def flush(self) -> None:
        """Send what there is, in a short packet."""
        if self._buffer:
            self._emit(bytes(self._buffer), 0)
            self._buffer.clear()

    def end_message(self) -> None:
        """Close the running message."""
        self._emit(bytes(self._buffer), END_OF_MESSAGE)
        self._buffer.clear()
        self._id = 0

    def take(self) -> bytes:
        """Packets that may leave now."""
        data = b"".join(self._ready)
        self._ready.clear()
        self._ready_bytes = 0
        return data
