"""One client's connection, server side, without sockets: bytes in, events out; effects in, bytes out.

Use::

    conn = ServerConnection(config)
    for event in conn.receive(data_from_socket): ...
    conn.send(effect); conn.end_response()
    socket.write(conn.data_to_send())

A client has one request under way at a time. What it may send next is a matter of the connection's phase; anything else
closes the connection, and :meth:`ServerConnection.receive` says so with :class:`~aglab.tds.events.Closed` instead of raising.
On a closed connection every answer (``send``, ``end_response``, ``accept_login``...) does nothing: the client is gone, and
whoever runs its request need not know yet.
Waiting (for a login that never comes, for a reader that is slow) is the caller's: only it has a clock and a socket.
"""

from __future__ import annotations

import struct
from typing import Any

from aglab.core.errors import UsageError
from aglab.tds import constants as c
from aglab.tds import tokens
from aglab.tds.bulk import BulkReader
from aglab.tds.channel import PACKET_SIZE_DEFAULT, Channel
from aglab.tds.config import ServerConfig
from aglab.tds.errors import ProtocolError, RequestRefused
from aglab.tds.events import Attention, Closed, Event, LoginRequest
from aglab.tds.framing import Message
from aglab.tds.login import Prelogin, choose_encryption, parse_login, parse_prelogin, prelogin_answer
from aglab.tds.requests import parse_batch, parse_rpc, parse_transaction
from aglab.tds.response import Response

PRELOGIN, LOGIN, DECIDING, READY, CLOSED = range(5)
PHASES = ("PRELOGIN", "LOGIN7", "a login decision", "a request", "nothing")
PACKET_SIZE_MIN, PACKET_SIZE_MAX = 512, 32767
STREAM_INCORRECT = 4002


class ServerConnection:
    """The state of one connection.

    Attributes
    ----------
    login : LoginRequest or None
    encrypted : bool
        Whether requests travel encrypted (sys.dm_exec_connections.encrypt_option).
    packet_size : int
        Negotiated bytes of a packet.
    transaction : int
        Descriptor of the open transaction as the client was told, 0 for none.
    """

    def __init__(self, config: ServerConfig, spid: int = 51) -> None:
        self.config = config
        self.login: LoginRequest | None = None
        self.encrypted = False
        self.packet_size = config.packet_size
        self.transaction = 0
        self._transactions = 0
        self._phase = PRELOGIN
        self._channel = Channel(config, spid)
        self._writer = self._channel.writer
        self._login_only = False
        self._response: Response | None = None
        self._calls_left = 0
        self._attention = False
        self._reset_owed = 0
        self._events: list[Event] = []

    @property
    def spid(self) -> int:
        """Session number in packet headers."""
        return self._writer.spid

    @spid.setter
    def spid(self, value: int) -> None:
        self._writer.spid = value

    @property
    def busy(self) -> bool:
        """Whether a request waits for ``end_response``."""
        return self._response is not None

    @property
    def closed(self) -> bool:
        """Whether the connection is over."""
        return self._phase == CLOSED

    @property
    def bytes_received(self) -> int:
        """Bytes from the socket."""
        return self._channel.bytes_received

    @property
    def bytes_sent(self) -> int:
        """Bytes to the socket."""
        return self._channel.bytes_sent

    @property
    def packets_received(self) -> int:
        """Packets from the client (num_reads)."""
        return self._channel.reader.packets

    @property
    def packets_sent(self) -> int:
        """Packets to the client (num_writes)."""
        return self._writer.packets

    @property
    def tds_version(self) -> int:
        """The version spoken, as LOGIN7 gives it: the client's, at most 7.4 (or 8.0)."""
        asked = self.login.tds_version if self.login else c.TDS74
        return asked if asked == c.TDS80 else min(asked, c.TDS74)

    @property
    def pending_bytes(self) -> int:
        """Bytes that are encoded and not yet taken: stop producing rows while this is large."""
        return self._channel.pending

    def data_to_send(self) -> bytes:
        """Bytes to write to the socket now: complete packets (see ``flush``). None, and closed, where TLS takes no more."""
        try:
            return self._channel.take()
        except ProtocolError as error:  # a record of the peer's broke the session: nothing can be said through it
            if self._phase != CLOSED:
                self._phase = CLOSED
                self._response = None
                self._events.append(Closed(error.message))
            return b""

    def receive(self, data: bytes) -> list[Event]:
        """Take bytes from the socket (``b""`` is end of file). Never raises for what a peer sent: see ``Closed``."""
        if self._phase == CLOSED:
            return []
        if not data:
            self._close("")
        else:
            try:
                self._channel.feed(data)
                while self._phase != CLOSED and (message := self._channel.next_message()) is not None:
                    self._message(message)
            except ProtocolError as error:
                self._close(error.message)
        events, self._events = self._events, []
        return events

    def _close(self, reason: str) -> None:
        """End the connection; a logged-in client that broke the protocol is told why."""
        self._channel.close()
        if reason and self._phase == READY:
            response = self._response or self._respond("batch", False)
            text = f"The incoming tabular data stream (TDS) protocol stream is incorrect: {reason}."
            response.error(STREAM_INCORRECT, 20, 1, text)
            response.break_off()
            self._writer.end_message()
        self._phase = CLOSED
        self._response = None
        self._events.append(Closed(reason))

    # --- messages -----------------------------------------------------------------------------------------------------

    def _message(self, message: Message) -> None:
        if self._phase == READY:
            self._request(message)
        elif self._phase == PRELOGIN and message.type == c.PRELOGIN:
            self._answer_prelogin(parse_prelogin(message.payload))
        elif message.type == c.LOGIN7 and self._phase in (PRELOGIN, LOGIN):
            if self._phase == PRELOGIN and not self._may_skip_prelogin():
                raise ProtocolError("LOGIN7 without PRELOGIN")
            self._take_login(message.payload)
        else:
            raise ProtocolError(f"message of type {message.type} while {PHASES[self._phase]} is due")

    def _may_skip_prelogin(self) -> bool:
        return self._channel.encrypted or (self.config.allow_plain and not self.config.force_encryption)

    def _answer_prelogin(self, asked: Prelogin) -> None:
        strict = self._channel.encrypted  # the client does not read the answer to its wish
        choice, refusal = (c.ENCRYPT_ON, "") if strict else choose_encryption(asked.encryption, self.config)
        self._writer.write(prelogin_answer(self.config, asked, choice))
        self._writer.end_message()
        if refusal:
            raise ProtocolError(refusal)
        self._phase = LOGIN
        self._channel.reader.message_bytes_max = self.config.limits.login_bytes
        if not strict and choice != c.ENCRYPT_NOT_SUP:
            self._channel.start_tls()
            self._login_only = choice == c.ENCRYPT_OFF

    def _take_login(self, payload: bytes) -> None:
        self.login = parse_login(payload, self._channel.encrypted)
        if self._login_only:
            self._channel.stop_tls()
        self.encrypted = self._channel.encrypted
        self._phase = DECIDING
        self._events.append(self.login)

    def _request(self, message: Message) -> None:
        if message.type == c.ATTENTION:
            if not self._attention:
                self._attention = True
                self._events.append(Attention(idle=self._response is None))
            return
        if self._response is not None:
            raise ProtocolError(f"message of type {message.type} while a request runs (multiple active result sets are off)")
        if message.status & c.IGNORE_MESSAGE:
            self._writer.write(tokens.done(c.TOKEN_DONE, c.DONE_ERROR, c.COMMAND_OTHER, 0))
            self._writer.end_message()
            return
        kind = _KINDS.get(message.type)
        if kind is None:
            raise ProtocolError(f"message of type {message.type} is not a request")
        asked = (message.status & (c.RESET_CONNECTION | c.RESET_CONNECTION_SKIP_TRAN)) or self._reset_owed
        if kind == "bulk":  # belongs to the INSERT BULK before it
            asked = 0
        keep = bool(asked & c.RESET_CONNECTION_SKIP_TRAN)
        reset = bool(asked)
        self._response = self._respond(kind, reset)
        self._calls_left = 0
        try:
            events = self._parse(message, reset, keep)
        except RequestRefused as refusal:
            self._reset_owed = asked
            self._refuse(refusal)
            return
        self._reset_owed = 0
        if kind == "rpc":
            self._calls_left = len(events) - 1
            self._response.more = self._calls_left > 0
        self._events.extend(events)

    def _parse(self, message: Message, reset: bool, keep: bool) -> list[Event]:
        limits = self.config.limits
        if message.type == c.SQL_BATCH:
            return [parse_batch(message.payload, reset, keep)]
        if message.type == c.RPC:
            return list(parse_rpc(message.payload, limits, reset, keep))
        if message.type == c.TRANSACTION_MANAGER:
            return [parse_transaction(message.payload, reset, keep)]
        bulk: BulkReader = message.stream
        return [bulk.finish()]

    def _refuse(self, refusal: RequestRefused) -> None:
        assert self._response is not None
        self._response.error(refusal.number, refusal.severity, refusal.state, refusal.message)
        self.end_response()

    # --- the login's answer -------------------------------------------------------------------------------------------

    def _deciding(self) -> LoginRequest | None:
        if self._phase == CLOSED:
            return None
        if self._phase != DECIDING or self.login is None:
            raise UsageError("no login waits for an answer", "answer each LoginRequest once")
        return self.login

    def accept_login(self, database: str = "master", language: str = "us_english") -> None:
        """Let the client in: ENVCHANGEs (database, collation, language, packet size), the two INFOs, LOGINACK, DONE."""
        login = self._deciding()
        if login is None:
            return
        write, name = self._writer.write, self.config.server_name
        write(tokens.envchange_text(c.ENV_DATABASE, database, "master"))
        write(tokens.message(5701, 2, 0, f"Changed database context to '{database}'.", name, "", 1))
        write(tokens.envchange_bytes(c.ENV_COLLATION, c.COLLATION, b""))
        write(tokens.envchange_text(c.ENV_LANGUAGE, language, ""))
        write(tokens.message(5703, 1, 0, f"Changed language setting to {language}.", name, "", 1))
        write(tokens.login_ack(self.tds_version, self.config.program_name, self.config.version))
        wish = login.packet_size or self.config.packet_size
        self.packet_size = min(max(wish, PACKET_SIZE_MIN), PACKET_SIZE_MAX)
        write(tokens.envchange_text(c.ENV_PACKET_SIZE, str(self.packet_size), str(PACKET_SIZE_DEFAULT)))
        if c.FEATURE_UTF8 in login.features:
            write(tokens.feature_ack({c.FEATURE_UTF8: b"\x01"}))
        self._end_login()
        self._writer.packet_size = self.packet_size
        self._channel.reader.message_bytes_max = self.config.limits.message_bytes
        self._channel.reader.streamed[c.BULK_LOAD] = lambda: BulkReader(self.config.limits)
        self._phase = READY

    def route(self, host: str, port: int) -> None:
        """Send the client to another node (ENVCHANGE 20, read-only routing); the connection is then over."""
        if self._deciding() is None:
            return
        if not 0 < port < 65536 or not host:
            raise UsageError(f"routing target {host!r}:{port} needs a host and a port of 1 to 65535")
        self._writer.write(tokens.login_ack(self.tds_version, self.config.program_name, self.config.version))
        self._writer.write(tokens.envchange_routing(host, port))
        self._end_login()
        self._phase = CLOSED

    def reject_login(self, *messages: Any) -> None:
        """Send error messages (effects ``Message``: number, severity, state, text) and close; ``closed`` is true after."""
        if self._deciding() is None:
            return
        for m in messages:
            self._writer.write(tokens.message(m.number, m.state, m.severity, m.text, self.config.server_name, "", 1))
        self._writer.write(tokens.done(c.TOKEN_DONE, c.DONE_ERROR, 0, 0))
        self._writer.end_message()
        self._phase = CLOSED

    def _end_login(self) -> None:
        self._writer.write(tokens.done(c.TOKEN_DONE, 0, 0, 0))
        self._writer.end_message()

    # --- effects out --------------------------------------------------------------------------------------------------

    def _respond(self, kind: str, reset: bool) -> Response:
        return Response(self._writer.write, kind, self.tds_version, self.config.server_name, self._descriptor, reset)

    def _descriptor(self, kind: str, given: bytes) -> bytes:
        """The eight bytes that name a transaction in an ENVCHANGE: those given, or the connection's own count."""
        if kind == "begin_tran":
            self._transactions += 1
            self.transaction = int.from_bytes(given, "little") or (self.spid << 32) | self._transactions
            return struct.pack("<Q", self.transaction)
        ended, self.transaction = self.transaction, 0
        return given or struct.pack("<Q", ended)

    def _running(self, action: str) -> Response | None:
        if self._response is None and self._phase != CLOSED:
            raise UsageError(f"{action}: no request is running", "call it once for each request, before end_response")
        return self._response

    def send(self, effect: Any) -> None:
        """Encode one effect (Columns, Rows, Done, Message, EnvChange, ReturnStatus, ReturnValue) of the running request."""
        if (response := self._running("send")) is not None:
            response.send(effect)

    def flush(self) -> None:
        """Make what was sent so far visible in ``data_to_send`` though no packet is full (RAISERROR WITH NOWAIT)."""
        if self._running("flush") is not None:
            self._writer.flush()

    def end_response(self) -> None:
        """The running request (or call of a message) is over. An error of severity 20 or more also ends the connection."""
        response = self._running("end_response")
        if response is None:
            return
        response.finish()
        if self._calls_left and not response.fatal:
            self._calls_left -= 1
            self._response = self._respond("rpc", False)
            self._response.more = self._calls_left > 0
            return
        self._finish_message()
        if response.fatal:
            self._phase = CLOSED

    def _finish_message(self) -> None:
        self._writer.end_message()
        self._response = None
        self._calls_left = 0

    @property
    def attention_waits(self) -> bool:
        """The client has sent an Attention that has no answer yet."""
        return self._attention

    def acknowledge_attention(self) -> None:
        """End the request that the attention broke, if one still runs, and send DONE_ATTN in a message of its own."""
        if self._phase == CLOSED:
            return
        if not self._attention:
            raise UsageError("no attention waits for an answer", "answer each Attention once")
        if self._response is not None:
            self._response.break_off()
            self._finish_message()
        self._attention = False
        self._writer.write(tokens.done(c.TOKEN_DONE, c.DONE_ATTN, c.COMMAND_OTHER, 0))
        self._writer.end_message()


_KINDS = {c.SQL_BATCH: "batch", c.RPC: "rpc", c.TRANSACTION_MANAGER: "transaction", c.BULK_LOAD: "bulk"}
