"""The listening side: sockets, one :class:`Connection` for each client, no T-SQL and no simulation.

One thread runs an asyncio loop that only moves bytes between sockets and :class:`aglab.tds.ServerConnection`. Requests go to
the world thread as messages; results come back as lists of effects. A reader that is slow holds at most a few chunks here:
the world parks its batch until they are gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from aglab.core.errors import MissingError
from aglab.tds import Attention, Closed, LoginRequest, ServerConfig, ServerConnection
from aglab.tsql.effects import Done, Message
from aglab.twin.security import LOGIN_DELAY_S_MAX

if TYPE_CHECKING:
    from aglab.twin.addresses import Address
    from aglab.twin.node import Node
    from aglab.twin.world import World

READ_BYTES = 65536
CONNECTIONS_MAX = 400  # for the whole cluster; more are closed at once
PENDING_REQUESTS_MAX = 20000
LOGIN_SECONDS_MAX = 30.0  # a peer that has not logged in by then is dropped
LOOPBACK = "127.0.0.1"
BUFFER_BYTES_MAX = 256 * 1024  # more than this in the socket's buffer counts as a slow reader
SEND_ERROR = 50002
_SERIALS = count(1)


class Connection:
    """One client: the socket, the wire state, and the session in the world once it has logged in.

    It is the :class:`~aglab.twin.world.Sink` of its session: ``post``, ``attention_done`` and ``hang_up`` are called on the
    world thread, the rest runs on the event loop.
    """

    def __init__(
        self,
        listener: Listener,
        node: Node,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        via: Address | None = None,
    ) -> None:
        self.listener = listener
        self.node = node
        self.via = via  # the availability group's listener that the client came in through
        self.reader = reader
        self.writer = writer
        self.wire = ServerConnection(node.server_config)
        self.session: Any = None  # set by the world at login
        self.requests: deque[Any] = deque()
        self.running = False
        self.closing = False
        self.serial = next(_SERIALS)

    @property
    def peer(self) -> tuple[str, int]:
        """Address and port of the client."""
        name = self.writer.get_extra_info("peername") or ("", 0)
        return str(name[0]), int(name[1])

    # -- event loop ---------------------------------------------------------------------------------------------
    async def serve(self) -> None:
        """Read until the client leaves."""
        deadline = asyncio.get_running_loop().time() + LOGIN_SECONDS_MAX
        try:
            while not self.closing and not self.wire.closed:
                if self.session is None:
                    left_s = deadline - asyncio.get_running_loop().time()
                    data = await asyncio.wait_for(self.reader.read(READ_BYTES), max(left_s, 0.01) + LOGIN_DELAY_S_MAX)
                else:
                    data = await self.reader.read(READ_BYTES)
                for event in self.wire.receive(data):
                    self._take(event)
                self._write()
                await self.writer.drain()
                if not data:
                    break
        except (OSError, TimeoutError):
            pass
        finally:
            self.closing = True
            self.requests.clear()
            self.listener.world.call(lambda: self.node.disconnected(self))
            await self._close()

    def _take(self, event: Any) -> None:
        world = self.listener.world
        if isinstance(event, LoginRequest):
            world.call(lambda: self.node.login(self, event))
        elif isinstance(event, Attention):
            self.requests.clear()
            if event.idle or not self.running:
                self.wire.acknowledge_attention()
            else:
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
            self.listener.world.call(lambda: self.node.request(self, request))

    def _write(self) -> None:
        while data := self.wire.data_to_send():
            self.writer.write(data)

    async def _close(self) -> None:
        with contextlib.suppress(OSError, TimeoutError, asyncio.TimeoutError):
            self._write()
            await asyncio.wait_for(self.writer.drain(), 5.0)
            self.writer.close()
            await asyncio.wait_for(self.writer.wait_closed(), 5.0)
        self.listener.connections.discard(self)

    def _deliver(self, effects: list[Any], done: bool, acknowledge: bool) -> None:
        try:
            if self.wire.closed:
                return
            for effect in effects:
                self.wire.send(effect)
            if done:
                self.wire.end_response()
                self.running = False
                self._next_request()
            else:
                self.wire.flush()
            self._write()
        except Exception as failure:  # noqa: BLE001  an effect that cannot be encoded must not kill the listener
            self.listener.world.call(partial(self.listener.world.note_defect, failure))
            self._encoding_failed(failure, done)
        finally:
            if acknowledge:
                if self.writer.transport.get_write_buffer_size() > BUFFER_BYTES_MAX:
                    self.listener.spawn(self._drained_later())
                else:
                    self._drained()

    def _drained(self) -> None:
        self.listener.world.call(lambda: self.node.drained(self))

    async def _drained_later(self) -> None:
        try:
            await self.writer.drain()
        except OSError:
            self.closing = True
        finally:
            self._drained()

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
        self.closing = True
        with contextlib.suppress(OSError):
            self._write()
            self.writer.close()

    # -- called from the world thread -----------------------------------------------------------------------------
    def _later(self, action: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            self.listener.loop.call_soon_threadsafe(action, *arguments)

    def post(self, effects: list[Any], done: bool, acknowledge: bool) -> None:
        """See :class:`aglab.twin.world.Sink`."""
        self._later(self._deliver, effects, done, acknowledge)

    def attention_done(self) -> None:
        """See :class:`aglab.twin.world.Sink`."""
        self._later(self._confirm_attention)

    def _confirm_attention(self) -> None:
        self.running = False
        if not self.wire.closed:
            self.wire.acknowledge_attention()
            self._write()
            self._next_request()

    def hang_up(self) -> None:
        """See :class:`aglab.twin.world.Sink`."""
        self._later(self._end)

    def accept(self, database: str, language: str, spid: int) -> None:
        """The login is good."""
        self._later(self._accept, database, language, spid)

    def _accept(self, database: str, language: str, spid: int) -> None:
        if not self.wire.closed:
            self.wire.spid = spid
            self.wire.accept_login(database, language)
            self._write()
            self._next_request()

    def reject(self, messages: list[Message], delay_s: float) -> None:
        """The login is refused, after ``delay_s`` wall seconds."""

        async def send() -> None:
            await asyncio.sleep(delay_s)
            if not self.wire.closed:
                self.wire.reject_login(*messages)
            self._end()

        self._later(lambda: self.listener.spawn(send()))

    def route(self, host: str, port: int) -> None:
        """Send the client to another node (read-only routing)."""
        self._later(self._route, host, port)

    def _route(self, host: str, port: int) -> None:
        self.wire.route(host, port)
        self._write()


class Listener:
    """Every node's socket, on one event loop in one thread."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.loop = asyncio.new_event_loop()
        self.connections: set[Connection] = set()
        self._servers: dict[str, asyncio.Server] = {}
        self._jobs: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._run, name="aglab-listener", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def spawn(self, work: Any) -> None:
        """Run a coroutine on the loop (called on the loop's thread), keeping it alive."""
        job = self.loop.create_task(work)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    def handler(self, node: Node) -> Callable[..., Any]:
        """What serves one client of ``node``, for asyncio's servers."""

        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if len(self.connections) >= CONNECTIONS_MAX or not node.accepting:
                writer.close()
                return
            connection = Connection(self, node, reader, writer)
            self.connections.add(connection)
            await connection.serve()

        return client

    def open(self, node: Node, port: int) -> int:
        """Listen for ``node``; the port (chosen by the system if ``port`` is 0).

        Raises
        ------
        MissingError
            The port is taken or may not be used.
        """

        async def bind() -> int:
            server = await asyncio.start_server(self.handler(node), LOOPBACK, port, reuse_address=None, limit=READ_BYTES)
            self._servers[node.name] = server
            return int(server.sockets[0].getsockname()[1])

        try:
            return asyncio.run_coroutine_threadsafe(bind(), self.loop).result(timeout=30.0)
        except OSError as error:
            raise MissingError(
                f"port={port} of node {node.name!r} cannot be opened ({error.strerror or error})",
                "stop what listens there, or leave --port-base out to have free ports chosen",
            ) from error

    def open_address(self, address: Address) -> None:
        """Listen at an availability group's address; clients are led to the node it points to when they come.

        Raises
        ------
        MissingError
            The address or port cannot be had.
        """

        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            node = address.node
            if node is None or len(self.connections) >= CONNECTIONS_MAX or not node.accepting:
                writer.close()
                return
            connection = Connection(self, node, reader, writer, address)
            self.connections.add(connection)
            await connection.serve()

        async def bind() -> None:
            host, port = address.place
            self._servers[f"{host}:{port}"] = await asyncio.start_server(client, host, port, limit=READ_BYTES)

        try:
            asyncio.run_coroutine_threadsafe(bind(), self.loop).result(timeout=30.0)
        except OSError as error:
            raise MissingError(
                f"listener address {address.place[0]}, port {address.place[1]} cannot be opened ({error.strerror or error})",
                "stop what listens there, or name another loopback address or port",
            ) from error

    def close_address(self, place: tuple[str, int]) -> None:
        """Listen there no more."""
        server = self._servers.pop(f"{place[0]}:{place[1]}", None)
        if server is not None:
            self._later_close(server)

    def _later_close(self, server: asyncio.Server) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(server.close)

    def close_node(self, name: str) -> None:
        """Drop a node's clients (its port stays open; ``node.accepting`` decides about new ones)."""
        for connection in list(self.connections):
            if connection.node.name == name:
                connection.hang_up()

    def stop(self) -> None:
        """Close every socket and end the thread."""

        async def close() -> None:
            for server in self._servers.values():
                server.close()
            for connection in list(self.connections):
                connection.closing = True
                with contextlib.suppress(OSError):
                    connection.writer.close()
            current = asyncio.current_task()
            for job in [one for one in asyncio.all_tasks() if one is not current]:
                job.cancel()
            await asyncio.sleep(0)

        if not self._thread.is_alive():
            return
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(close(), self.loop).result(timeout=10.0)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=10.0)


def make_config(name: str, tls: Any, strict: Any) -> ServerConfig:
    """The wire settings of one node."""
    return ServerConfig(server_name=name, tls_context=tls, strict_context=strict)
