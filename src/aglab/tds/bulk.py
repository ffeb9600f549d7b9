"""Bulk load, message type 0x07 (MS-TDS 2.2.6.1): COLMETADATA, rows, DONE, read while the packets arrive.

A client may send everything it has in one message. Its bytes are therefore not kept: rows are decoded as they come, and what is
held is the rows so far and the bytes of one unfinished row. Beyond a limit, or once a value is wrong, nothing more is kept; the
rest of the message is read and dropped, and the load ends with the error that was met first.

Numbers and texts: "Database engine events and errors, 4000 to 4999". 4804 is listed there with severity 21; reports of
clients show 16 and an open connection for a stream that does not fit its INSERT BULK, which is what this does.
"""

from __future__ import annotations

from typing import Any

from aglab.core.sqltypes import Column
from aglab.tds.config import Limits
from aglab.tds.constants import TOKEN_COLMETADATA, TOKEN_DONE, TOKEN_ROW
from aglab.tds.cursor import Cursor
from aglab.tds.decode import TypeReader, read_type
from aglab.tds.errors import BAD_VALUE, NOT_CARRIED, ProtocolError, RequestRefused, TooLong, Truncated
from aglab.tds.events import BulkLoad, Problem

PREMATURE_END, BAD_LENGTH, BAD_COLUMN_VALUE = 4804, 4815, 4896
_PREMATURE = (
    "While reading current row from host, a premature end-of-message was encountered--an incoming data stream was interrupted "
    "when the server expected to see more data. The host program may have terminated. Ensure that you are using a supported "
    "client application programming interface (API)."
)
NO_METADATA, UNFINISHED = 2, 1  # states of 4804


class BulkReader:
    """The decoder of one message.

    Attributes
    ----------
    held : int
        Bytes that are kept undecoded.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffer = bytearray()
        self._try_at = 1  # bytes to wait for before an unfinished row is looked at again: a long value is not read over and over
        self._columns: tuple[Column, ...] = ()
        self._readers: list[Any] = []
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = self._cells = 0
        self._over = False
        self._problem: Problem | None = None

    @property
    def held(self) -> int:
        """Bytes that are kept undecoded."""
        return len(self._buffer)

    def feed(self, data: bytes) -> None:
        """Take a packet's payload. ProtocolError: the stream cannot be a bulk load."""
        if self._over:
            return
        self._buffer += data
        self._bytes += len(data)
        if self._bytes > self._limits.bulk_bytes:
            text = f"Bulk load of more than {self._limits.bulk_bytes} bytes in a batch; use a smaller batch size."
            self._fail(Problem(NOT_CARRIED, 16, 1, text))
        elif len(self._buffer) >= self._try_at:
            self._decode()

    def finish(self) -> BulkLoad:
        """The message is complete."""
        if not self._over and self._buffer:
            self._decode()
        if not self._over and (self._buffer or not self._columns):
            self._fail(Problem(PREMATURE_END, 16, UNFINISHED if self._columns else NO_METADATA, _PREMATURE))
        return BulkLoad(self._columns, self._rows, self._problem)

    def _fail(self, problem: Problem) -> None:
        """Keep the error and nothing else."""
        self._problem = problem
        self._over = True
        self._buffer.clear()
        self._rows = []

    def _decode(self) -> None:
        """Read what is complete."""
        cursor = Cursor(bytes(self._buffer), "bulk load")
        done = 0
        try:
            if not self._columns:
                self._metadata(cursor)
                done = cursor.position
            while not self._over and cursor.remaining:
                self._row(cursor)
                done = cursor.position
        except Truncated:
            pass
        except RequestRefused as refused:
            self._fail(Problem(refused.number, refused.severity, refused.state, refused.message))
        if self._over:
            self._buffer.clear()
            return
        del self._buffer[:done]
        self._try_at = 2 * len(self._buffer) + 1

    def _metadata(self, cursor: Cursor) -> None:
        token = cursor.u8()
        if token == TOKEN_DONE:  # tedious has nothing else to say about no rows
            self._fail(Problem(PREMATURE_END, 16, NO_METADATA, _PREMATURE))
            return
        if token != TOKEN_COLMETADATA:
            raise ProtocolError("bulk load does not begin with COLMETADATA")
        count = cursor.u16()
        if count in (0, 0xFFFF):
            self._fail(Problem(PREMATURE_END, 16, NO_METADATA, _PREMATURE))
            return
        if count > self._limits.columns:
            raise RequestRefused(f"Bulk load of {count} columns exceeds {self._limits.columns}.")
        declared = [_column(cursor) for _ in range(count)]
        self._columns = tuple(column for column, _ in declared)
        self._readers = [_blob_reader(reader) if reader.is_blob else reader.read for _, reader in declared]

    def _row(self, cursor: Cursor) -> None:
        token = cursor.u8()
        if token == TOKEN_DONE:
            self._over = True
            return
        if token != TOKEN_ROW:
            raise ProtocolError(f"token 0x{token:02X} among bulk rows")
        row: list[Any] = []
        try:
            for read in self._readers:
                row.append(read(cursor))
        except TooLong as refused:
            text = f"Received an invalid column length from the bcp client for colid {len(row) + 1}."
            raise RequestRefused(text, BAD_LENGTH) from refused
        except RequestRefused as refused:
            if refused.number != BAD_VALUE:
                raise
            raise RequestRefused(f"Invalid column value from bcp client for colid {len(row) + 1}.", BAD_COLUMN_VALUE) from refused
        self._cells += len(row)
        for what, count, most in (
            ("rows", len(self._rows) + 1, self._limits.bulk_rows),
            ("values", self._cells, self._limits.bulk_values),
        ):
            if count > most:
                raise RequestRefused(f"Bulk load of more than {most} {what} in a batch; use a smaller batch size.")
        self._rows.append(tuple(row))


def _column(cursor: Cursor) -> tuple[Column, TypeReader]:
    cursor.u32()
    flags = cursor.u16()
    declared = read_type(cursor)
    if declared.is_blob:
        for _ in range(cursor.u8()):
            cursor.us_varchar()
    return Column(cursor.b_varchar(), declared.type, nullable=bool(flags & 1), identity=bool(flags & 0x10)), declared


def _blob_reader(declared: TypeReader) -> Any:
    """text, ntext and image in rows: a text pointer and a time stamp come first, an empty pointer is NULL."""

    def read(cursor: Cursor) -> Any:
        pointer = cursor.u8()
        if pointer == 0:
            return None
        cursor.take(pointer + 8)
        return declared.read(cursor)

    return read
