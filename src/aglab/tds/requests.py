"""Requests of a logged-in client: SQL batch, RPC, transaction manager (MS-TDS 2.2.6.6, .7, .9). Bulk load: aglab.tds.bulk."""

from __future__ import annotations

from aglab.core.sqltypes import SqlType
from aglab.tds.config import Limits
from aglab.tds.constants import PROCEDURES, TRANSACTION_KINDS
from aglab.tds.cursor import Cursor
from aglab.tds.decode import read_type
from aglab.tds.errors import ProtocolError, RequestRefused
from aglab.tds.events import Rpc, RpcParam, SqlBatch, TransactionRequest
from aglab.tds.table_values import TVP_TYPE, Budget, read_table_value

TRANSACTION_DESCRIPTOR = 2
HEADERS_MAX = 3
USUAL_HEADERS = bytes.fromhex("16000000 12000000 0200")  # 22 bytes: one transaction descriptor of 18
SEPARATOR = 0xFF
SEPARATOR_71 = 0x80
NO_EXECUTE = 0xFE
PROC_NAME_CHARACTERS_MAX = 523  # 1046 bytes
BY_REFERENCE, DEFAULT_VALUE, ENCRYPTED = 0x01, 0x02, 0x08
ISOLATION_MAX = 5


def read_headers(cursor: Cursor) -> int:
    """Skip ALL_HEADERS; the transaction descriptor it carries, or 0."""
    if cursor.data.startswith(USUAL_HEADERS) and cursor.end >= 22:  # the one header that nearly every request has
        cursor.position = 22
        return int.from_bytes(cursor.data[10:18], "little")
    total = cursor.u32()
    if not 4 <= total <= cursor.end:
        raise ProtocolError(f"{cursor.what} ALL_HEADERS of {total} bytes in a message of {cursor.end}")
    descriptor = 0
    count = 0
    while cursor.position < total:
        start = cursor.position
        length, kind = cursor.u32(), cursor.u16()
        count += 1
        if length < 6 or start + length > total or count > HEADERS_MAX:
            raise ProtocolError(f"{cursor.what} header {count} of type {kind} and {length} bytes does not fit ALL_HEADERS")
        if kind == TRANSACTION_DESCRIPTOR:
            if length < 18:
                raise ProtocolError(f"{cursor.what} transaction descriptor header of {length} bytes")
            descriptor = cursor.u64()
        cursor.position = start + length
    return descriptor


def parse_batch(payload: bytes, reset: bool, keep: bool) -> SqlBatch:
    """SQL batch: headers, then UTF-16 text."""
    cursor = Cursor(payload, "SQL batch")
    descriptor = read_headers(cursor)
    if cursor.remaining & 1:
        raise ProtocolError("SQL batch text has an odd number of bytes")
    text = payload[cursor.position :].decode("utf-16-le", "surrogatepass")
    return SqlBatch(text, reset=reset, reset_keep_transaction=keep, transaction=descriptor)


def parse_rpc(payload: bytes, limits: Limits, reset: bool, keep: bool) -> list[Rpc]:
    """The calls of an RPC message. Refused as a whole where one parameter has a type that is not carried."""
    cursor = Cursor(payload, "RPC")
    descriptor = read_headers(cursor)
    calls: list[Rpc] = []
    budget = Budget(limits.table_values)
    while cursor.remaining:
        if len(calls) >= limits.calls_per_message:
            raise RequestRefused(f"An RPC message holds more than {limits.calls_per_message} calls.")
        name, proc_id, flags, params, executes = _call(cursor, limits, budget)
        if not executes:
            raise RequestRefused(f"Call {len(calls) + 1} of the message ({name}) is marked as not to be executed.")
        first = not calls
        calls.append(
            Rpc(
                name,
                tuple(params),
                proc_id,
                with_recompile=bool(flags & 1),
                no_metadata=bool(flags & 2),
                reuse_metadata=bool(flags & 4),
                more=cursor.remaining > 0,
                reset=reset and first,
                reset_keep_transaction=keep and first,
                transaction=descriptor,
            )
        )
    if not calls:
        raise ProtocolError("RPC message without a call")
    return calls


def _call(cursor: Cursor, limits: Limits, budget: Budget) -> tuple[str, int | None, int, list[RpcParam], bool]:
    """One call: procedure, number, option flags, parameters, whether it is to run (NoExecFlag)."""
    length = cursor.u16()
    proc_id: int | None = None
    if length == 0xFFFF:
        proc_id = cursor.u16()
        name = PROCEDURES.get(proc_id, "")
        if not name:
            raise RequestRefused(f"Procedure number {proc_id} is unknown.", 2812)
    else:
        if not 0 < length <= PROC_NAME_CHARACTERS_MAX:
            raise ProtocolError(f"RPC procedure name of {length} characters")
        name = cursor.text(length)
    flags = cursor.u16()
    params: list[RpcParam] = []
    while cursor.remaining:
        separator = cursor.data[cursor.position]
        if separator in (SEPARATOR, NO_EXECUTE, SEPARATOR_71):
            cursor.position += 1
            return name, proc_id, flags, params, separator != NO_EXECUTE
        if len(params) >= limits.parameters:
            raise RequestRefused(
                "The incoming request has too many parameters. The server supports a maximum of "
                f"{limits.parameters} parameters. Reduce the number of parameters and resend the request.",
                8003,
            )
        params.append(_parameter(cursor, budget, len(params) + 1))
    return name, proc_id, flags, params, True


def _parameter(cursor: Cursor, budget: Budget, ordinal: int) -> RpcParam:
    name = cursor.b_varchar()
    status = cursor.u8()
    if cursor.remaining and cursor.data[cursor.position] == TVP_TYPE:
        cursor.position += 1
        table = read_table_value(cursor, f'{ordinal} ("{name}")', budget)
        return RpcParam(name, SqlType("table"), table, False, bool(status & DEFAULT_VALUE))
    if status & ENCRYPTED:
        raise RequestRefused(f"Parameter {name or '(positional)'} is encrypted; Always Encrypted is not carried.")
    declared = read_type(cursor)
    value = declared.read(cursor)
    return RpcParam(name, declared.type, value, bool(status & BY_REFERENCE), bool(status & DEFAULT_VALUE))


def parse_transaction(payload: bytes, reset: bool, keep: bool) -> TransactionRequest:
    """Transaction manager request. Distributed transactions are refused; an unknown type ends the connection."""
    cursor = Cursor(payload, "transaction manager")
    descriptor = read_headers(cursor)
    kind = cursor.u16()
    if kind in (0, 1, 6):
        raise RequestRefused("MSDTC on this server is unavailable: distributed transactions are not carried.", 8501)
    if kind not in TRANSACTION_KINDS:
        raise ProtocolError(f"transaction manager request {kind} is unknown")
    name, isolation, begin_after, begin_name = "", 0, False, ""
    if kind == 5:
        isolation, name = cursor.u8(), _name(cursor)
    elif kind == 9:
        name = _name(cursor)
        if not name:
            raise RequestRefused("A savepoint needs a name.", 3903)
    else:
        name = _name(cursor)
        begin_after = bool(cursor.u8() & 1)
        if begin_after and cursor.remaining:
            isolation, begin_name = cursor.u8(), _name(cursor)
    if isolation > ISOLATION_MAX:
        raise ProtocolError(f"isolation level {isolation} is unknown")
    return TransactionRequest(
        TRANSACTION_KINDS[kind],
        isolation,
        name,
        begin_after,
        begin_name,
        reset=reset,
        reset_keep_transaction=keep,
        transaction=descriptor,
    )


def _name(cursor: Cursor) -> str:
    """B_VARBYTE holding UTF-16 text."""
    data = cursor.take(cursor.u8())
    return data[: len(data) & ~1].decode("utf-16-le", "surrogatepass")
