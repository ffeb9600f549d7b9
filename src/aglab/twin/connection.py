"""One client's socket: bytes between the event loop and :class:`aglab.tds.ServerConnection`, requests to the world, effects back.

The callbacks of asyncio's protocol run on the listener's thread. A reader that is slow holds at most a few chunks here: the
world parks its batch until they are gone. A client that sends on while it reads nothing is not read from either.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from aglab.tds import Attention, Closed, LoginRequest, ServerConnection
from aglab.tsql.effects import Done, Message
from aglab.twin.security import LOGIN_DELAY_S_MAX

if TYPE_CHECKING:
    from aglab.twin.addresses import Address
    from aglab.twin.listener import Listener
    from aglab.twin.node import Node

CONNECTIONS_MAX = 400  # for the whole cluster; more are closed at once
PENDING_REQUESTS_MAX = 20000
LOGIN_SECONDS_MAX = 30.0  # a peer that has not logged in by then is dropped
CLOSE_SECONDS_MAX = 5.0  # what a peer has not read by then is lost
READ_BYTES = 16 * 1024 + 512  # a TLS record
BUFFER_BYTES_MAX = 256 * 1024  # more than this in the socket's buffer counts as a slow reader
SEND_ERROR = 50002
_SERIALS = count(1)


class Connection(asyncio.BufferedProtocol):
    """One client: the socket, the wire state, and the session in the world once it has logged in.

    It is the :class:`~aglab.twin.task.Sink` of its session: ``post``, ``attention_done`` and ``hang_up`` are called by whoever
    runs the world (its own thread, or the listener's for a batch known to be quick), the rest by the event loop.

    Parameters
    ----------
    listener : Listener
    find : callable
        Gives the node that clients of this door come to now, or None.
    via : Address, optional
        The availability group's listener that the client came in through.
    """

    node: Node

    def __init__(self, listener: Listener, find: Callable[[], Node | None], via: Address | None = None) -> None:
        self.listener = listener
        self.find = find
        self.via = via
        self.session: Any = None  # set by the world at login
        self.requests: deque[Any] = deque()
        self.running = False
        self.closing = False
        self.clogged = False  # the client is slow to read
        self.serial = next(_SERIALS)
        self._buffer = bytearray(READ_BYTES)
        self._undrained = 0
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def peer(self) -> tuple[str, int]:
        """Address and port of the client."""
        name = self.transport.get_extra_info("peername") or ("", 0)
        return str(name[0]), int(name[1])

    # -- event loop ---------------------------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        self.transport = cast("asyncio.Transport", transport)
        node = self.find()
        if node is None or not node.accepting or len(self.listener.connections) >= CONNECTIONS_MAX:
            self.closing = True
            self.transport.close()
            return
        self.node = node
        self.wire = ServerConnection(node.server_config)
        self.transport.set_write_buffer_limits(BUFFER_BYTES_MAX)
        self.listener.connections.add(self)
        self._deadline = self.listener.loop.call_later(LOGIN_SECONDS_MAX + LOGIN_DELAY_S_MAX, self._too_late)

    def _too_late(self) -> None:
        if self.session is None:
            self._end()

    def get_buffer(self, sizehint: int) -> bytearray:
        """See :class:`asyncio.BufferedProtocol`."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """See :class:`asyncio.BufferedProtocol`."""
        if self.closing:
            return
        for event in self.wire.receive(bytes(self._buffer[:nbytes])):
            self._take(event)
        self._write()
        if self.closing:
            self._end()

    def eof_received(self) -> None:
        """See :class:`asyncio.Protocol`: the client has gone, what it asked for has no reader."""
        if not self.closing:
            self.wire.receive(b"")
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        self.closing = True
        self.requests.clear()
        if self._deadline is not None:
            self._deadline.cancel()
            self._stop_computing()
            self.listener.connections.discard(self)
            self.resume_writing()
            self.listener.world.call(lambda: self.node.disconnected(self))

    def _stop_computing(self) -> None:
        # the world takes no message while a statement computes: the statement itself looks at this
        if self.session is not None:
            self.session.session.stop_asked = True

    def pause_writing(self) -> None:
        """See :class:`asyncio.Protocol`."""
        self.clogged = True

    def resume_writing(self) -> None:
        """See :class:`asyncio.Protocol`: what waited for the client to read goes on."""
        self.clogged = False
        while self._undrained:
            self._undrained -= 1
            self._drained()
        if not self.closing:
            self.transport.resume_reading()

    def _take(self, event: Any) -> None:
        world = self.listener.world
        if isinstance(event, LoginRequest):
            world.call(lambda: self.node.login(self, event))
        elif isinstance(event, Attention):
            self.requests.clear()
            if event.idle or not self.running:
                self.wire.acknowledge_attention()
            else:
                self._stop_computing()
                world.call(lambda: self.node.cancel(self))
        elif isinstance(event, Closed) or len(self.requests) >= PENDING_REQUESTS_MAX:
            self.closing = True
        else:
            self.requests.append(event)
            self._next_request()

    def _next_request(self) -> None:
        if self.requests and not self.running and not self.closing:
            self.running = True
            request = self.requests.popleft()
            if not self.node.at_once(self, request):
                self.listener.world.call(lambda: self.node.request(self, request))

    def _write(self) -> None:
        if data := self.wire.data_to_send():
            self.transport.write(data)
        if self.wire.closed and not self.closing:  # by what came, by a fatal error, or because TLS takes no more
            self._end()
            return
        if self.clogged and not self.running:  # nothing but an attention may come while a request runs
            self.transport.pause_reading()

    def _deliver(self, effects: list[Any], done: bool, acknowledge: bool) -> None:
        try:
            if self.closing or self.wire.closed:
                return
            for effect in effects:
                self.wire.send(effect)
            if done:
                self.wire.end_response()
                self.running = False
            else:
                self.wire.flush()
            self._write()
            if done:
                self._next_request()
        except Exception as failure:  # noqa: BLE001  an effect that cannot be encoded must not kill the listener
            self.listener.world.call(partial(self.listener.world.note_defect, failure))
            self._encoding_failed(failure, done)
        finally:
            if acknowledge:
                if self.clogged and not self.closing:
                    self._undrained += 1
                else:
                    self._drained()

    def _drained(self) -> None:
        self.listener.world.call(lambda: self.node.drained(self))

    def _encoding_failed(self, failure: Exception, done: bool) -> None:
        text = f"aglab twin: a result could not be sent ({type(failure).__name__}: {failure})."
        try:
            self.wire.send(Message(SEND_ERROR, 16, 1, text))
            self.wire.send(Done())
            if done and self.running:
                self.wire.end_response()
                self.running = False
            self._write()
        except Exception:  # noqa: BLE001  the stream is beyond repair: close it
            self._end()

    def _end(self) -> None:
        """Close after what is left to say."""
        self.closing = True
        with contextlib.suppress(OSError):
            self._write()
        if not self.transport.is_closing():
            self.transport.close()
            self.listener.loop.call_later(CLOSE_SECONDS_MAX, self.transport.abort)

    # -- called by whoever runs the world ---------------------------------------------------------------------------
    def _later(self, action: Callable[..., object], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            self.listener.loop.call_soon_threadsafe(action, *arguments)

    def post(self, effects: list[Any], done: bool, acknowledge: bool) -> None:
        """See :class:`aglab.twin.task.Sink`."""
        if threading.get_ident() == self.listener.thread_id:
            self._deliver(effects, done, acknowledge)
        else:
            self._later(self._deliver, effects, done, acknowledge)

    def attention_done(self) -> None:
        """See :class:`aglab.twin.task.Sink`."""
        self._later(self._confirm_attention)

    def _confirm_attention(self) -> None:
        self.running = False
        if not self.closing and not self.wire.closed:
            if self.wire.attention_waits:  # a request is also cancelled for a client that has gone
                self.wire.acknowledge_attention()
            self._write()
            self._next_request()

    def hang_up(self) -> None:
        """See :class:`aglab.twin.task.Sink`."""
        self._later(self._end)

    def accept(self, database: str, language: str, spid: int) -> None:
        """The login is good."""
        self._later(self._accept, database, language, spid)

    def _accept(self, database: str, language: str, spid: int) -> None:
        if not self.closing and not self.wire.closed:
            self.wire.spid = spid
            self.wire.accept_login(database, language)
            self._write()
            self._next_request()

    def reject(self, messages: list[Message], delay_s: float) -> None:
        """The login is refused, after ``delay_s`` wall seconds."""

        def send() -> None:
            if not self.closing and not self.wire.closed:
                self.wire.reject_login(*messages)
            self._end()

        self._later(lambda: self.listener.loop.call_later(delay_s, send))

    def route(self, host: str, port: int) -> None:
        """Send the client to another node (read-only routing)."""
        self._later(self._route, host, port)

    def _route(self, host: str, port: int) -> None:
        if not self.closing:
            self.wire.route(host, port)
            self._end()
