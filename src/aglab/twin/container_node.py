"""A node container of the twin's node image: the outside of a SQL Server, the inside of which lives in the ``world`` container.

Stands where a SQL Server image has ``/opt/mssql/bin/sqlservr``: the same environment, ports (1433 for clients, 5022 for
replicas), refusals at the start, errorlog on standard output and in ``/var/opt/mssql/log``. Clients' bytes pass unread.
On port 5022 node containers ask each other for a sign of life twice a second, so that what Docker does to the network is what
the replicas feel; a node whose own address is taken away knows it at once. The process and the node live and die together.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

TDS_PORT, ENDPOINT_PORT = 1433, 5022
BEAT_S = 0.5  # between signs of life
LOOK_S = 0.1  # between two looks at the node's own address on the replicas' network
ANSWER_S_MAX = 1.0
MISSED_MAX = 2  # beats in a row; then the peer counts as out of reach
CONTROL_S_MAX = 20.0
BYTES = 65536
MEMORY_BYTES_MIN = 2_000_000_000
PASSWORD_MIN = 8
LOGS = Path("/var/opt/mssql/log")
SOCKETS = Path("/run/aglab-twin")
NETWORK = "\0aglab-twin-network"  # in the container's network namespace: whoever shares it may change the node's network
CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def refusal(environment: Mapping[str, str], limits: Sequence[Path] = CGROUP_LIMITS) -> str | None:
    """Why SQL Server would not start here, or None: licence, password policy, memory. The wording is the twin's own."""
    if environment.get("ACCEPT_EULA", "").lower() not in ("y", "yes", "accept"):
        return "ACCEPT_EULA is not set. SQL Server's image does not start without it, so its stand-in does not either."
    password = environment.get("MSSQL_SA_PASSWORD", "")
    kinds = sum(any(map(test, password)) for test in (str.isupper, str.islower, str.isdigit, lambda c: not c.isalnum()))
    if len(password) < PASSWORD_MIN or kinds < 3:
        return (
            f"MSSQL_SA_PASSWORD has {len(password)} characters of {kinds} kinds; at least {PASSWORD_MIN} of three kinds "
            "(upper case, lower case, digits, signs) are needed."
        )
    for path in limits:
        with contextlib.suppress(OSError, ValueError):
            limit = int(path.read_text().strip())
            if limit < MEMORY_BYTES_MIN:
                return f"this container has {limit // 1_000_000} MB of memory; SQL Server needs at least 2000 MB (mem_limit)."
    return None


def peers_of(text: str) -> dict[str, str]:
    """``"sql1=sql1-ag sql2=sql2-ag"`` as node -> host name.

    >>> peers_of("sql1=sql1-ag sql2=10.0.0.2")
    {'sql1': 'sql1-ag', 'sql2': '10.0.0.2'}
    """
    return dict(pair.split("=", 1) for pair in text.split() if "=" in pair)


class FrontEnd:
    """One node container.

    Parameters
    ----------
    name : str
        The node; the container's host name.
    sockets : Path
        Folder shared with the world.
    peers : mapping
        node -> host name on the replication network; without this node.
    options : sequence of str
        Startup options.
    ports : (int, int)
        For clients and for replicas; 0 lets the system choose.
    own : str
        This node's host name on the replication network; empty: nobody looks whether it is still on it.
    network : str
        Where the stand-in for ``tc`` says how far away this node is; empty for nowhere.
    """

    def __init__(
        self,
        name: str,
        sockets: Path,
        peers: Mapping[str, str],
        options: Sequence[str] = (),
        logs: Path = LOGS,
        address: str = "",
        ports: tuple[int, int] = (TDS_PORT, ENDPOINT_PORT),
        own: str = "",
        network: str = "",
    ) -> None:
        self.name = name
        self.sockets = sockets
        self.peers = dict(peers)
        self.options = list(options)
        self.logs = logs
        self.address = address or None
        self.ports = ports
        self.own = own
        self.attached = True
        self.network = network
        self.delay_us: float | None = None
        self._delayed = asyncio.Event()
        self.reached = dict.fromkeys(self.peers, True)
        self.stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []

    async def run(self) -> int:
        """Serve until the world or the container ends; the exit code."""
        try:
            path = str(self.sockets / "control.sock")
            reader, writer = await asyncio.wait_for(asyncio.open_unix_connection(path), CONTROL_S_MAX)
        except (OSError, TimeoutError) as error:
            print(f"aglab twin: the world container does not answer ({error}).", file=sys.stderr, flush=True)
            return 1
        self._say(writer, {"node": self.name, "startup_options": self.options})
        self._rotate()
        try:
            code = await self._opened(reader, writer)
            with contextlib.suppress(OSError):
                await writer.drain()
            return code
        finally:
            for task in self._tasks:
                task.cancel()
            for server in self._servers:
                server.close()
            writer.close()

    async def _opened(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        stopped = asyncio.ensure_future(self.stopping.wait())
        with (self.logs / "errorlog").open("a", encoding="utf-8") as log:
            while True:
                line = asyncio.ensure_future(reader.readline())
                await asyncio.wait({line, stopped}, return_when=asyncio.FIRST_COMPLETED)
                if stopped.done():
                    line.cancel()
                    self._say(writer, {"bye": True})
                    return 0
                try:
                    said = json.loads(line.result())
                except (OSError, ValueError):
                    print("aglab twin: the world container has ended.", file=sys.stderr, flush=True)
                    return 1
                if "error" in said:
                    print(f"sqlservr: {said['error']}", file=sys.stderr, flush=True)
                    return 1
                if "log" in said:
                    print(said["log"], flush=True)
                    print(said["log"], file=log, flush=True)
                if "delay_us" in said:
                    self.delay_us = said["delay_us"]
                    self._delayed.set()
                if said.get("ready"):
                    await self._open_ports(writer)

    async def _open_ports(self, writer: asyncio.StreamWriter) -> None:
        clients = await asyncio.start_server(self._client, self.address, self.ports[0])
        replicas = await asyncio.start_server(self._echo, self.address, self.ports[1])
        self._servers += [clients, replicas]
        self.ports = (clients.sockets[0].getsockname()[1], replicas.sockets[0].getsockname()[1])
        if self.network:
            self._servers.append(await asyncio.start_unix_server(lambda *line: self._network(writer, *line), self.network))
        for work in (*(self._probe(peer, host) for peer, host in self.peers.items()), self._watch(writer), self._report(writer)):
            self._tasks.add(asyncio.ensure_future(work))

    @staticmethod
    def _say(writer: asyncio.StreamWriter, said: Mapping[str, object]) -> None:
        writer.write((json.dumps(said) + "\n").encode())

    def _rotate(self) -> None:
        """Each start begins a new errorlog; six old ones are kept."""
        self.logs.mkdir(parents=True, exist_ok=True)
        for number in range(5, -1, -1):
            old = self.logs / (f"errorlog.{number}" if number else "errorlog")
            if old.exists():
                old.replace(self.logs / f"errorlog.{number + 1}")

    # -- clients ---------------------------------------------------------------------------------------------------
    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner, outer = await asyncio.open_unix_connection(str(self.sockets / f"{self.name}.sock"))
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pump(reader, outer), _pump(inner, writer))

    # -- distance --------------------------------------------------------------------------------------------------
    async def _network(self, world: asyncio.StreamWriter, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """``{"delay_us": number or null}`` from the stand-in for tc goes to the world; the answer is the delay in force."""
        with contextlib.suppress(OSError, ValueError, TimeoutError):
            asked = json.loads(await reader.readline())
            if "delay_us" in asked:
                self._delayed.clear()
                self._say(world, {"delay_us": asked["delay_us"]})
                await asyncio.wait_for(self._delayed.wait(), CONTROL_S_MAX)
            self._say(writer, {"delay_us": self.delay_us})
            await writer.drain()
        writer.close()

    # -- signs of life -----------------------------------------------------------------------------------------------
    async def _echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _pump(reader, writer)

    async def _probe(self, peer: str, host: str) -> None:
        link: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        missed = 0
        while True:
            try:
                if link is None:
                    link = await asyncio.wait_for(asyncio.open_connection(*_host_and_port(host)), ANSWER_S_MAX)
                link[1].write(b".")
                if not await asyncio.wait_for(link[0].read(1), ANSWER_S_MAX):
                    raise ConnectionResetError
                missed = 0
            except (OSError, TimeoutError):
                missed += 1
                if link is not None:
                    link[1].close()
                    link = None
            self.reached[peer] = missed < MISSED_MAX
            await asyncio.sleep(BEAT_S)

    async def _watch(self, writer: asyncio.StreamWriter) -> None:
        """A socket can be bound to an address only while the container has it."""
        if not self.own:
            return
        address = (await asyncio.get_running_loop().getaddrinfo(self.own, None))[0][4][0]
        while True:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.bind((address, 0))
                    attached = True
                except OSError:
                    attached = False
            if attached is not self.attached:
                self.attached = attached
                self._say_links(writer)
            await asyncio.sleep(LOOK_S)

    def _say_links(self, writer: asyncio.StreamWriter) -> None:
        links = {peer: up and self.attached for peer, up in self.reached.items()}
        self._say(writer, {"links": links, "attached": self.attached})

    async def _report(self, writer: asyncio.StreamWriter) -> None:
        while True:
            self._say_links(writer)
            await asyncio.sleep(2 * BEAT_S)


def _host_and_port(text: str) -> tuple[str, int]:
    host, _, port = text.partition(":")
    return host, int(port or ENDPOINT_PORT)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes from one side to the other until one of them ends."""
    with contextlib.suppress(OSError):
        while data := await reader.read(BYTES):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


async def _main(front: FrontEnd) -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, front.stopping.set)
    return await front.run()


def serve(argv: Sequence[str] | None = None) -> int:
    """What ``sqlservr [options]`` does in a node container; the exit code."""
    options = list(sys.argv[1:] if argv is None else argv)
    reason = refusal(os.environ)
    if reason is not None:
        print(f"sqlservr (aglab twin): {reason}", file=sys.stderr, flush=True)
        return 1
    name = os.environ.get("HOSTNAME", "")
    peers = peers_of(os.environ.get("AGLAB_PEERS", ""))
    own = peers.pop(name, "")

    async def main() -> int:
        return await _main(FrontEnd(name, SOCKETS, peers, options, own=own, network=NETWORK))

    return asyncio.run(main())


if __name__ == "__main__":
    sys.exit(serve())
