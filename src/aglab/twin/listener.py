"""The listening side: sockets on one event loop, one :class:`~aglab.twin.connection.Connection` for each client.

One thread runs an asyncio loop that moves bytes between sockets and :class:`aglab.tds.ServerConnection`. Requests go to the
world; a batch that is known to be quick runs on this thread at once when the world is idle (:mod:`aglab.twin.quick`), because
handing it to the other thread and back costs more than running it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aglab.core.errors import MissingError
from aglab.tds import ServerConfig
from aglab.twin.connection import Connection

if TYPE_CHECKING:
    from aglab.twin.addresses import Address
    from aglab.twin.node import Node
    from aglab.twin.world import World

LOOPBACK = "127.0.0.1"


class Listener:
    """Every node's socket, on one event loop in one thread."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.loop = asyncio.new_event_loop()
        self.connections: set[Connection] = set()
        self.thread_id = 0
        self._servers: dict[str, asyncio.Server] = {}
        self._thread = threading.Thread(target=self._run, name="aglab-listener", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.thread_id = threading.get_ident()
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def handler(self, node: Node) -> Callable[[], Connection]:
        """What serves one client of ``node``, for asyncio's servers."""
        return lambda: Connection(self, lambda: node)

    def open(self, node: Node, port: int) -> int:
        """Listen for ``node``; the port (chosen by the system if ``port`` is 0).

        Raises
        ------
        MissingError
            The port is taken or may not be used.
        """

        async def bind() -> int:
            server = await self.loop.create_server(self.handler(node), LOOPBACK, port)
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

        async def bind() -> None:
            host, port = address.place
            self._servers[f"{host}:{port}"] = await self.loop.create_server(
                lambda: Connection(self, lambda: address.node, address), host, port
            )

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
                connection.transport.abort()
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
