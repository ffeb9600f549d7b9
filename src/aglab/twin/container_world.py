"""The ``world`` container of the twin's node image: clock, machines, nodes and state, behind sockets in a shared folder.

Each node container (:mod:`aglab.twin.container_node`) keeps one line to this process open, over ``control.sock``. While it stands
the node is up; when it breaks, the node has crashed; ``bye`` means that the service was stopped. Over the line come the
startup options and, every second, which other nodes the container reaches on the replication network: what it does not reach
is cut.
Clients' bytes come through ``sqlN.sock``. There is no TCP port here: the container needs no network at all.

Messages, one JSON object on a line. From a node: ``{"node", "startup_options"}``, then ``{"links": {peer: bool}, "attached"}``,
``{"delay_us": number or null}`` (what leaves this node for the others is delayed by so much) and ``{"bye": true}``. To it:
``{"ready": true}`` or ``{"error": text}``, then ``{"log": line}`` for each line of the errorlog, and ``{"delay_us": ...}`` when a
delay is in force. The replicas' network has one round trip: that of the two nodes which are farthest away.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from aglab.ag import events
from aglab.core.errors import AglabError, UsageError
from aglab.twin import settings
from aglab.twin.errorlog import Line
from aglab.twin.listener import Listener
from aglab.twin.node import Node
from aglab.twin.security import PASSWORD_FILE, write_private
from aglab.twin.service import Twin

CONTROL = "control.sock"
TDS_PORT = 1433  # where a node container listens for clients
GRACE_S = 2.0  # wall seconds after a node's start in which other nodes may not have found it yet


def socket_path(folder: Path, node: str) -> Path:
    """Where a node's clients come in."""
    return folder / f"{node}.sock"


def line_text(line: Line) -> str:
    """A line of the errorlog as the file has it."""
    moment, source, text = line
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 10000:02d} {source:<12}{text}"


class ContainerWorld:
    """Joins node containers to a running twin.

    Parameters
    ----------
    twin : Twin
        Started with ``listen=open_socket``.
    folder : Path
        The shared folder.
    """

    def __init__(self, twin: Twin, folder: Path) -> None:
        self.cluster = twin.cluster
        self.listener = twin.listener
        self.folder = folder
        self.lines: dict[str, asyncio.StreamWriter] = {}  # node -> its container
        self.reached: dict[str, dict[str, bool]] = {}  # node -> what it says about the others
        self.off: set[str] = set()  # nodes that lost their own address on the replicas' network
        self.cut: set[tuple[str, str]] = set()
        self.delays: dict[str, float] = {}  # node -> what delays it, in microseconds each way
        self._near_us = float(twin.cluster.plant.scenario.profile.network.rtt_us)
        self._begun_s: dict[str, float] = {}

    def open(self) -> None:
        """Every node is down until its container comes; then listen for containers."""
        self.cluster.world.ask(self._all_down)
        path = self.folder / CONTROL
        path.unlink(missing_ok=True)
        serve = asyncio.start_unix_server(self._serve, path)
        asyncio.run_coroutine_threadsafe(serve, self.listener.loop).result(timeout=30.0)

    def _all_down(self) -> None:
        for node in self.cluster.nodes.values():
            if node.accepting:
                node.end()

    # -- the listener's loop ---------------------------------------------------------------------------------------
    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name, clean = "", False
        try:
            hello = json.loads(await reader.readline())
            name = await self._welcome(hello, writer)
            while name and (line := await reader.readline()):
                said = json.loads(line)
                if "links" in said:
                    on = bool(said.get("attached", True))
                    self.cluster.world.call(lambda links=said["links"], on=on: self._heard(name, links, on))  # type: ignore[misc]
                if "delay_us" in said:
                    self.cluster.world.call(lambda far=said["delay_us"]: self._delay(name, far))  # type: ignore[misc]
                clean = clean or bool(said.get("bye"))
        except (OSError, ValueError, asyncio.CancelledError):
            pass  # a container that ended in the middle of a line, or the world's own end
        finally:
            if name:
                self.lines.pop(name, None)
                self.cluster.world.call(lambda: self._ended(name, clean))
            writer.close()

    async def _welcome(self, hello: dict[str, Any], writer: asyncio.StreamWriter) -> str:
        """The node's name once it runs; empty if it may not."""
        name = str(hello.get("node", ""))
        options = [str(one) for one in hello.get("startup_options", [])]
        try:
            if name in self.lines:
                raise UsageError(f"node {name!r} already has a container", "stop that one first")
            self.cluster.node(name)
            self.lines[name] = writer
            ask = self.cluster.world.ask
            await self.listener.loop.run_in_executor(None, lambda: ask(lambda: self._begin(name, options)))
        except AglabError as error:
            if self.lines.get(name) is writer:
                del self.lines[name]
            self._send(writer, {"error": str(error)})
            return ""
        self._send(writer, {"ready": True})
        return name

    def _send(self, writer: asyncio.StreamWriter, said: dict[str, Any]) -> None:
        if not writer.is_closing():
            writer.write((json.dumps(said) + "\n").encode())

    # -- the world's thread ----------------------------------------------------------------------------------------
    def _begin(self, name: str, options: list[str]) -> None:
        node = self.cluster.nodes[name]
        node.startup_options = settings.checked_options(options)
        node.on_log_line = lambda line: self._follow(name, line)
        self.off.discard(name)
        self._rejoin(name)
        if not node.accepting:
            node.begin()

    def _rejoin(self, name: str) -> None:
        """A node that starts, or has its address again, is on the network: a cut from before is over.

        Until the others have found it again, what they say of it is about its earlier life. To a node that is off the network
        itself, or that another one misses, it stays cut.
        """
        self._begun_s[name] = self.cluster.world.wall()
        for pair in [pair for pair in self.cut if name in pair]:
            peer = next(one for one in pair if one != name)
            others = [said for other, said in self.reached.items() if other != name and other not in self.off]
            missed = any(not said.get(peer, True) for said in others)
            if peer not in self.off and not missed:
                self.cluster.groups.act(events.Heal(*pair))
                self.cut.discard(pair)

    def _follow(self, name: str, line: Line) -> None:
        writer = self.lines.get(name)
        if writer is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self.listener.loop.call_soon_threadsafe(self._send, writer, {"log": line_text(line)})

    def _delay(self, name: str, delay_us: float | None) -> None:
        if delay_us is None:
            self.delays.pop(name, None)
        else:
            self.delays[name] = max(0.0, float(delay_us))
        farthest = sorted(self.delays.values())[-2:]
        self.cluster.plant.tune(rtt_us=sum(farthest) if farthest else self._near_us)
        self.cluster.dirty = True
        writer = self.lines.get(name)
        if writer is not None:
            self.listener.loop.call_soon_threadsafe(self._send, writer, {"delay_us": self.delays.get(name)})

    def _ended(self, name: str, clean: bool) -> None:
        self.reached.pop(name, None)
        if name in self.delays:
            self._delay(name, None)  # a container's network goes with it
        node = self.cluster.nodes[name]
        if node.accepting:
            node.end(clean=clean)
        self._apply()

    def _heard(self, name: str, links: dict[str, bool], attached: bool) -> None:
        if attached and name in self.off:
            self._rejoin(name)
        (self.off.discard if attached else self.off.add)(name)
        self.reached[name] = {str(peer): bool(up) for peer, up in links.items()}
        self._apply()
        self.cluster.groups.sync()  # the group's timers are heard when they are due, not only when somebody asks

    def _apply(self) -> None:
        """Tell the availability group which links are cut: those that one of their ends does not reach."""
        now_s = self.cluster.world.wall()
        running = {one for one in self.reached if now_s - self._begun_s.get(one, now_s) >= GRACE_S}
        for pair in combinations(self.cluster.nodes, 2):
            if not running.issuperset(pair):
                continue
            here, there = pair
            whole = self.reached[here].get(there, True) and self.reached[there].get(here, True)
            if whole is (pair not in self.cut):
                continue
            self.cluster.groups.act(events.Heal(here, there) if whole else events.Cut(here, there))
            (self.cut.discard if whole else self.cut.add)(pair)


def open_socket(folder: Path) -> Any:
    """What :meth:`Twin.start` takes as ``listen``: a node's clients come through a socket in ``folder``."""

    def listen(listener: Listener, node: Node, port: int) -> int:
        path = socket_path(folder, node.name)
        path.unlink(missing_ok=True)
        serve = listener.loop.create_unix_server(listener.handler(node), path)
        asyncio.run_coroutine_threadsafe(serve, listener.loop).result(timeout=30.0)
        return TDS_PORT

    return listen


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m aglab.twin.container_world", description="The world of three node containers."
    )
    parser.add_argument("--state-dir", type=Path, required=True, help="where state lies")
    parser.add_argument("--sockets", type=Path, required=True, help="folder shared with the node containers")
    parser.add_argument(
        "--sa-password-file", type=Path, default=None, help="sa's password at the first start; later ones are ignored"
    )
    parser.add_argument("--profile", default=None, help="hardware profile of the nodes")
    parser.add_argument("--pace", default="1x", help="1x (default), 60x")
    parser.add_argument("--seed", type=int, default=1, help="seed of the engine")
    return parser.parse_args(argv)


def serve(argv: Sequence[str] | None = None) -> int:
    """Run until told to end; the exit code."""
    options = arguments(argv)
    twin: Twin | None = None
    try:
        _keep_password(options.state_dir, options.sa_password_file)
        twin = Twin.start(
            profile=options.profile or None,
            state_dir=options.state_dir,
            pace=options.pace or None,
            bare=True,
            seed=options.seed,
            listen=open_socket(options.sockets),
        )
        ended = twin.ended
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: ended.set())
        ContainerWorld(twin, options.sockets).open()
        print(
            f"aglab twin: the world of {', '.join(twin.cluster.nodes)} (SIMULATED, profile {twin.cluster.plant.machine.name})",
            flush=True,
        )
        while not ended.wait(timeout=0.5):
            pass
    except AglabError as error:
        print(f"aglab twin: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    finally:
        with contextlib.suppress(OSError):
            (options.sockets / CONTROL).unlink()
        if twin is not None:
            twin.stop()
    return 0


def _keep_password(state_dir: Path, given: Path | None) -> None:
    """At the first start sa gets the password of the file; a state that exists keeps its own, as SQL Server's volume does."""
    if given is None or (state_dir / PASSWORD_FILE).exists():
        return
    try:
        password = given.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--sa-password-file {str(given)!r} cannot be read ({error})", "check the volume it lies on") from error
    state_dir.mkdir(parents=True, exist_ok=True)
    write_private(state_dir / PASSWORD_FILE, (password + "\n").encode("ascii"))


if __name__ == "__main__":
    sys.exit(serve())
