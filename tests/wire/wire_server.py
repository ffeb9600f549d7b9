"""A small asyncio server around ServerConnection, in a thread, for tests with real clients."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wire_canned import Session, answer

from aglab.core.errors import AglabError
from aglab.tds import (
    Attention,
    Closed,
    LoginRequest,
    ServerConfig,
    ServerConnection,
    self_signed_certificate,
    server_context,
)
from aglab.tsql.effects import Message

PASSWORD = "Pässw0rd!漢"
HIGH_WATER = 1 << 20


class WireServer:
    """Listens on a free loopback port; ``logins`` and ``sessions`` record what came."""

    def __init__(self, directory: Path, route_to: int = 0, **settings: Any) -> None:
        made = self_signed_certificate(["localhost", "127.0.0.1", "sql1"])
        certificate, key = directory / "c.pem", directory / "k.pem"
        if not certificate.exists():
            certificate.write_bytes(made.certificate_pem)
            key.write_bytes(made.key_pem)
        self.certificate = certificate
        settings.setdefault("tls_context", server_context(certificate, key))
        settings.setdefault("strict_context", server_context(certificate, key, strict=True))
        self.config = ServerConfig(**settings)
        self.route_to = route_to
        self.logins: list[LoginRequest] = []
        self.sessions: list[Session] = []
        self.closed: list[str] = []
        self.failures: list[BaseException] = []
        self.port = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> WireServer:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conn = ServerConnection(self.config, spid=51 + len(self.sessions))
        session = Session(conn)
        self.sessions.append(session)
        queue: asyncio.Queue[Any] = asyncio.Queue()
        worker = asyncio.create_task(self._work(conn, session, queue, writer))
        try:
            while not conn.closed:
                data = await reader.read(65536)
                for event in conn.receive(data):
                    if isinstance(event, Attention):
                        worker.cancel()
                        with contextlib.suppress(asyncio.CancelledError):
                            await worker
                        conn.acknowledge_attention()
                        queue = asyncio.Queue()
                        worker = asyncio.create_task(self._work(conn, session, queue, writer))
                    elif isinstance(event, Closed):
                        self.closed.append(event.reason)
                    else:
                        queue.put_nowait(event)
                await self._flush(conn, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        except BaseException as error:
            self.failures.append(error)
            raise
        finally:
            worker.cancel()
            writer.close()

    async def _flush(self, conn: ServerConnection, writer: asyncio.StreamWriter) -> None:
        data = conn.data_to_send()
        if data:
            writer.write(data)
            await writer.drain()
        if conn.closed:
            writer.close()

    async def _work(
        self, conn: ServerConnection, session: Session, queue: asyncio.Queue[Any], writer: asyncio.StreamWriter
    ) -> None:
        while True:
            event = await queue.get()
            try:
                if isinstance(event, LoginRequest):
                    self._login(conn, event)
                else:
                    effects = answer(session, event)
                    if effects is None:
                        await asyncio.Event().wait()
                    await self._send(conn, effects, writer)
                await self._flush(conn, writer)
            except (asyncio.CancelledError, ConnectionError):
                raise
            except BaseException as error:
                self.failures.append(error)
                writer.close()
                raise

    async def _send(self, conn: ServerConnection, effects: Iterator[Any], writer: asyncio.StreamWriter) -> None:
        try:
            for effect in effects:
                conn.send(effect)
                if conn.pending_bytes > HIGH_WATER:
                    await self._flush(conn, writer)
        except AglabError as error:
            conn.send(Message(50000, 16, 1, str(error)))
            self.failures.append(error)
        conn.end_response()

    def _login(self, conn: ServerConnection, login: LoginRequest) -> None:
        self.logins.append(login)
        if login.user != "sa" or login.password != PASSWORD:
            conn.reject_login(Message(18456, 14, 1, f"Login failed for user '{login.user}'."))
        elif self.route_to and login.read_only_intent:
            conn.route("127.0.0.1", self.route_to)
        else:
            conn.accept_login(login.database or "master")


def main() -> None:
    """Serve in a process of its own until stdin closes: some clients hold the interpreter lock while they wait.

    Prints two ports (the second routes read-only clients to the first) and the certificate's path.
    """
    directory = Path(sys.argv[1])
    with WireServer(directory) as server, WireServer(directory, route_to=server.port) as listener:
        print(server.port, listener.port, flush=True)
        sys.stdin.read()
        for error in server.failures + listener.failures:
            print(repr(error), flush=True)


if __name__ == "__main__":
    main()
