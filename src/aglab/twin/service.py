"""A running twin inside this process: nodes on loopback ports, state in a directory, one world, one listener."""

from __future__ import annotations

import contextlib
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError
from aglab.twin.cluster import NODE_NAMES, Cluster, checked_cluster_type, checked_port_base, checked_profile
from aglab.twin.keeper import DamagedState, Keeper
from aglab.twin.listener import LOOPBACK, Listener, make_config
from aglab.twin.node import Node
from aglab.twin.node_info import NodeInfo
from aglab.twin.plant import DEFAULT_PROFILE
from aglab.twin.security import PASSWORD_FILE, load_or_make_contexts, load_or_make_password
from aglab.twin.statedir import RUNNING_FILE, StateDir, checked_snapshot_name
from aglab.twin.warm import compile_kernels_first, read_kernels_meanwhile

SWITCH_INTERVAL_S = 0.001  # the world must not keep the listener waiting for the interpreter lock


class Twin:
    """Three simulated nodes; use :meth:`start` and :meth:`stop`.

    Attributes
    ----------
    nodes : list of NodeInfo
    password_file : Path
        Holds sa's password, readable by its owner only.
    state_dir : Path
    set_aside : Path or None
        Where a state directory that could not be understood went.
    """

    def __init__(self, cluster: Cluster, directory: StateDir, keeper: Keeper, listener: Listener) -> None:
        self.cluster = cluster
        self.directory = directory
        self.keeper = keeper
        self.listener = listener
        self.nodes: list[NodeInfo] = []
        self.state_dir = directory.path
        self.password_file = directory.path / PASSWORD_FILE
        self.set_aside = directory.set_aside
        self.ended = threading.Event()
        self._own_dir: tempfile.TemporaryDirectory[str] | None = None
        self._stopped = False

    @classmethod
    def start(
        cls,
        profile: str | None = None,
        state_dir: str | Path | None = None,
        pace: str | None = None,
        bare: bool = False,
        port_base: int = 0,
        seed: int = 1,
        cluster_type: str = "EXTERNAL",
        snapshot: str = "",
        listen: Callable[[Listener, Node, int], int] = Listener.open,
    ) -> Twin:
        """Start three nodes.

        Parameters
        ----------
        profile, pace : str, optional
            The saved state's, or ``hpe-dl380-gen9-ssd`` and ``fast``.
        state_dir : path, optional
            Where state lies; a private directory that goes at the end when omitted.
        bare : bool
            No availability group.
        cluster_type : str
            Of a group that is formed now: EXTERNAL, or NONE (no cluster manager).
        port_base : int
            sql1 listens here, sql2 and sql3 on the next two; 0 lets the system choose.
        snapshot : str
            Begin as the cluster was at this snapshot of the state directory.
        listen : callable
            Opens a node's door and returns its port; a loopback port by default.

        Raises
        ------
        UsageError
            Unknown profile, pace or snapshot, a port base out of range.
        MissingError
            A port in use, no permission, no space.
        """
        checked_port_base(port_base)
        if profile is not None:
            checked_profile(profile)
        own = tempfile.TemporaryDirectory(prefix="aglab-twin-", ignore_cleanup_errors=True) if state_dir is None else None
        directory = StateDir(Path(own.name if own else str(state_dir)))
        tls, strict = load_or_make_contexts(directory.path, NODE_NAMES)
        cluster, keeper = _open_state(directory, profile, pace, bare, seed, cluster_type)
        if snapshot:
            keeper.restore(checked_snapshot_name(snapshot))
        password = load_or_make_password(directory.path)
        compile_kernels_first()
        listener = Listener(cluster.world)
        twin = cls(cluster, directory, keeper, listener)
        twin._own_dir = own
        try:
            for number, (name, node) in enumerate(cluster.nodes.items()):
                node.sa_password = password
                node.server_config = make_config(name, tls, strict)
                node.port = listen(listener, node, port_base + number if port_base else 0)
        except BaseException:
            listener.stop()
            twin._stopped = True
            if own:
                own.cleanup()
            raise
        cluster.addresses.listener = listener
        cluster.addresses.reopen()
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        cluster.world.on_quiet = keeper.quiet
        cluster.on_shutdown = twin.ended.set
        cluster.world.start()
        twin.nodes = twin.describe()
        read_kernels_meanwhile()
        return twin

    def describe(self) -> list[NodeInfo]:
        """The nodes as they are now, with their roles."""
        groups = self.cluster.groups
        return [NodeInfo(name, LOOPBACK, node.port, groups.role(name)) for name, node in self.cluster.nodes.items()]

    def ready_line(self) -> dict[str, Any]:
        """What the server process prints when it is ready."""
        return {
            "nodes": [{**asdict(one), "server": one.server, "connection_string": one.connection_string} for one in self.nodes],
            "password_file": str(self.password_file),
            "profile": self.cluster.plant.profile,
            "pace": self.cluster.clock.pace,
            "mode": "twin",
            "state_dir": str(self.state_dir),
            "set_aside": str(self.set_aside) if self.set_aside else None,
        }

    def announce(self, process_id: int) -> dict[str, Any]:
        """Note in the state directory who serves it; the note."""
        note = {**self.ready_line(), "process_id": process_id, "started_at": time.time(), "token": secrets.token_hex(8)}
        self.directory.write_json(RUNNING_FILE, note)
        return note

    def password(self) -> str:
        """sa's password."""
        return self.password_file.read_text(encoding="ascii").strip()

    def stop(self) -> None:
        """Roll back what is open, save, close every socket. May be called twice."""
        if self._stopped:
            return
        self._stopped = True
        try:
            with contextlib.suppress(Exception):
                self.cluster.world.ask(self._end_sessions, timeout_s=10.0)
            self.cluster.world.stop()
            with contextlib.suppress(AglabError):
                self.keeper.close()
        finally:
            self.listener.stop()
            with contextlib.suppress(OSError):
                self.directory.remove(RUNNING_FILE)
            if self._own_dir:
                self._own_dir.cleanup()
            self.ended.set()

    def _end_sessions(self) -> None:
        for node in self.cluster.nodes.values():
            node.accepting = False
            for client in list(node.clients.values()):
                node.drop(client)
            node.lazy.flush()

    def __enter__(self) -> Twin:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _open_state(
    directory: StateDir, profile: str | None, pace: str | None, bare: bool, seed: int, cluster_type: str
) -> tuple[Cluster, Keeper]:
    for attempt in range(2):
        cluster = Cluster(profile or DEFAULT_PROFILE, pace or "fast", bare, seed, checked_cluster_type(cluster_type))
        keeper = Keeper(cluster, directory)
        try:
            keeper.open()
        except DamagedState as damage:
            if attempt:
                raise AglabError(f"the state directory {str(directory.path)!r} cannot be used ({damage})") from damage
            directory.put_aside()
            continue
        if profile is not None and cluster.plant.profile != profile:
            cluster.set_profile(profile)
        if pace is not None:
            cluster.clock.set_pace(pace)
        return cluster, keeper
    raise AssertionError("unreachable")
