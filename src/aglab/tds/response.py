"""The token stream of one request: which DONE goes where, and which bits it carries.

The last DONE of a response must not carry DONE_MORE, and nobody knows that a DONE is the last until the request ends; so the
newest DONE is held back until the next token or :meth:`Response.finish`.

Kinds of request: ``"batch"`` ends in DONE; a call (``"rpc"``) turns its statements' ends into DONEINPROC and ends in RETURNSTATUS
and DONEPROC; ``"transaction"`` and ``"bulk"`` end in DONE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aglab.core.errors import UsageError
from aglab.tds import constants as c
from aglab.tds import tokens
from aglab.tds.rows import RowEncoder, row_encoder

SEVERITY_FATAL = 20
_TRANSACTION = {"begin_tran": c.ENV_BEGIN_TRAN, "commit_tran": c.ENV_COMMIT_TRAN, "rollback_tran": c.ENV_ROLLBACK_TRAN}


class Response:
    """Encodes the effects of one request.

    Parameters
    ----------
    write : callable
        Takes token bytes.
    kind : str
        ``"batch"``, ``"rpc"``, ``"transaction"`` or ``"bulk"``.
    version : int
        The client's TDS version.
    server_name : str
        For ERROR and INFO.
    descriptor : callable
        Kind ("begin_tran", "commit_tran", "rollback_tran") and descriptor as given (or empty) to the eight bytes to send.
    reset : bool
        Acknowledge RESETCONNECTION first.

    Attributes
    ----------
    more : bool
        Another call of the same message follows.
    fatal : bool
        An error of severity 20 or more was sent.
    """

    def __init__(
        self,
        write: Callable[[bytes], None],
        kind: str,
        version: int,
        server_name: str,
        descriptor: Callable[[str, bytes], bytes],
        reset: bool = False,
    ) -> None:
        self.kind = kind
        self.more = False
        self._descriptor = descriptor
        self.fatal = False
        self._write = write
        self._version = version
        self._server_name = server_name
        self._rows: RowEncoder | None = None
        self._held: tuple[int, int, int, int] | None = None
        self._failed = False
        self._any_error = False
        self._status_sent = False
        if reset:
            write(tokens.envchange_bytes(c.ENV_RESET_ACK, b"", b""))

    def send(self, effect: Any) -> None:
        """Encode one effect, told by the name of its class. UsageError for one that the wire does not know."""
        handler = _HANDLERS.get(type(effect).__name__)
        if handler is None:
            raise UsageError(f"effect {type(effect).__name__} has no form on the wire", f"send one of {sorted(_HANDLERS)}")
        handler(self, effect)

    def _release(self) -> None:
        """Write the DONE that was held back: something follows it."""
        if self._held is not None:
            token, status, command, rowcount = self._held
            self._held = None
            self._write(tokens.done(token, status | c.DONE_MORE, command, rowcount))

    def _send_columns(self, effect: Any) -> None:
        self._release()
        self._rows = row_encoder(tuple(effect.columns), self._version)
        self._write(self._rows.metadata)
        if (browse := getattr(effect, "browse", None)) is not None:
            self._write(tokens.browse(browse.tables, browse.columns))

    def _send_rows(self, effect: Any) -> None:
        if self._rows is None:
            raise UsageError("rows come before columns", "send Columns first")
        if effect.rows:
            self._write(self._rows.encode(effect.rows))

    def _send_order(self, effect: Any) -> None:
        self._write(tokens.order(list(effect.columns)))

    def _send_done(self, effect: Any) -> None:
        self._release()
        command = c.COMMANDS.get(effect.command, c.COMMAND_OTHER)
        if self.kind == "rpc" or effect.in_procedure:
            token = c.TOKEN_DONEINPROC
        elif effect.command == "EXECUTE":
            token = c.TOKEN_DONEPROC
        else:
            token = c.TOKEN_DONE
        status = (c.DONE_ERROR if self._failed else 0) | (c.DONE_COUNT if effect.rowcount is not None else 0)
        self._failed = False
        self._rows = None
        self._held = (token, status, command, effect.rowcount or 0)

    def _send_message(self, effect: Any) -> None:
        self.error(effect.number, effect.severity, effect.state, effect.text, effect.procedure, effect.line)

    def error(self, number: int, severity: int, state: int, text: str, procedure: str = "", line: int = 1) -> None:
        """An ERROR or INFO token."""
        self._release()
        if severity > 10:
            self._failed = self._any_error = True
            self.fatal = self.fatal or severity >= SEVERITY_FATAL
        self._write(tokens.message(number, state, severity, text, self._server_name, procedure, line))

    def _send_envchange(self, effect: Any) -> None:
        kind = effect.kind
        if kind == "reset":  # the acknowledgement went out when the response began
            return
        self._release()
        if kind == "database":
            self._write(tokens.envchange_text(c.ENV_DATABASE, str(effect.new), str(effect.old)))
        elif kind == "language":
            self._write(tokens.envchange_text(c.ENV_LANGUAGE, str(effect.new), str(effect.old)))
        elif kind in _TRANSACTION:
            given = effect.new if kind == "begin_tran" else effect.old
            value = self._descriptor(kind, given if isinstance(given, bytes) else b"")
            new, old = (value, b"") if kind == "begin_tran" else (b"", value)
            self._write(tokens.envchange_bytes(_TRANSACTION[kind], new, old))
        else:
            known = ["database", "language", "reset", *_TRANSACTION]
            raise UsageError(f"environment change {kind!r} has no form on the wire", f"use one of {known}")

    def _send_return_status(self, effect: Any) -> None:
        self._release()
        self._status_sent = True
        self._write(tokens.return_status(effect.value))

    def _send_return_value(self, effect: Any) -> None:
        self._release()
        if self.kind == "rpc" and not self._status_sent:
            self._status_sent = True
            self._write(tokens.return_status(0))
        self._write(tokens.return_value(effect.ordinal, effect.name, effect.type, effect.value, self._version))

    def finish(self) -> None:
        """Write the end of the request."""
        error = c.DONE_ERROR if self._failed else 0  # not DONE_SRVERROR: Microsoft's ODBC driver then hides the message
        if self.kind == "rpc":
            self._release()
            if not self._status_sent and not self._any_error:
                self._write(tokens.return_status(0))
            following = c.DONE_MORE | c.DONE_RPCINBATCH if self.more and not self.fatal else 0
            self._write(tokens.done(c.TOKEN_DONEPROC, error | following, c.COMMANDS["EXECUTE"], 0))
        elif self._held is not None and not self._failed:
            token, status, command, rowcount = self._held
            self._held = None
            self._write(tokens.done(token, status, command, rowcount))
        else:
            self._release()
            self._write(tokens.done(c.TOKEN_DONE, error, c.COMMAND_OTHER, 0))

    def break_off(self) -> None:
        """Write the end of a request that an attention cancelled."""
        self._release()
        self._write(tokens.done(c.TOKEN_DONE, c.DONE_ERROR, c.COMMAND_OTHER, 0))


_HANDLERS: dict[str, Callable[[Response, Any], None]] = {
    "Columns": Response._send_columns,
    "Done": Response._send_done,
    "EnvChange": Response._send_envchange,
    "Message": Response._send_message,
    "Order": Response._send_order,
    "ReturnStatus": Response._send_return_status,
    "ReturnValue": Response._send_return_value,
    "Rows": Response._send_rows,
}
