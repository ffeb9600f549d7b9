"""What a client asked, one event for each request; values are Python values as in :mod:`aglab.core.sqltypes`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aglab.core.sqltypes import Column, SqlType


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """LOGIN7 (MS-TDS 2.2.6.4). Answer with ``accept_login``, ``reject_login`` or ``route``."""

    user: str
    password: str = field(repr=False)
    database: str = ""
    app: str = ""
    host: str = ""
    library: str = ""
    server: str = ""  # the name the client typed
    language: str = ""
    attach_file: str = ""
    new_password: str = field(default="", repr=False)
    process_id: int = 0
    packet_size: int = 0  # the client's wish; 0: no wish
    tds_version: int = 0x74000004
    read_only_intent: bool = False
    integrated_security: bool = False
    user_instance: bool = False
    change_password: bool = False
    odbc: bool = False
    encrypted: bool = False
    features: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Request:
    """What every request carries.

    ``reset``: the client takes the connection from a pool: reset the session before running this
    (``reset_keep_transaction``: but keep its transaction). The acknowledgement goes out by itself.
    ``transaction`` is the descriptor of the ALL_HEADERS, 0 outside a transaction.
    """

    reset: bool = field(default=False, kw_only=True)
    reset_keep_transaction: bool = field(default=False, kw_only=True)
    transaction: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class SqlBatch(Request):
    """A batch of T-SQL text."""

    text: str


@dataclass(frozen=True, slots=True)
class RpcParam:
    """A parameter of a call. ``name`` keeps its @ and is empty for a positional one."""

    name: str
    type: SqlType
    value: Any
    is_output: bool = False
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class Rpc(Request):
    """One procedure call. ``name`` is the procedure's name also where the client sent a number (``proc_id``).

    ``more`` is true where the same message holds another call: run it after ``end_response()`` of this one. After an
    attention the rest of the message is dropped.
    """

    name: str
    params: tuple[RpcParam, ...] = ()
    proc_id: int | None = None
    with_recompile: bool = False
    no_metadata: bool = False
    reuse_metadata: bool = False
    more: bool = False


@dataclass(frozen=True, slots=True)
class TransactionRequest(Request):
    """Transaction manager request (MS-TDS 2.2.6.9).

    ``kind``: "begin", "commit", "rollback", "save". ``begin_after`` (commit, rollback): start a transaction named
    ``begin_name`` at once. ``isolation``: 0 unchanged, 1 READ UNCOMMITTED, 2 READ COMMITTED, 3 REPEATABLE READ,
    4 SERIALIZABLE, 5 SNAPSHOT; of the new transaction where ``begin_after``.
    """

    kind: str
    isolation: int = 0
    name: str = ""
    begin_after: bool = False
    begin_name: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that the wire met; whoever runs the request raises it."""

    number: int
    severity: int
    state: int
    text: str


@dataclass(frozen=True, slots=True)
class BulkLoad(Request):
    """The rows that follow an INSERT BULK statement, with the columns as the client declared them.

    With a ``problem`` there are no rows: the load fails with it.
    """

    columns: tuple[Column, ...] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Attention:
    """The client cancels what runs, or (``idle``) what has just ended. Answer with ``acknowledge_attention()``."""

    idle: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is over: send what ``data_to_send`` still holds, close the socket. No ``reason``: end of file."""

    reason: str = ""


Event = LoginRequest | SqlBatch | Rpc | TransactionRequest | BulkLoad | Attention | Closed
