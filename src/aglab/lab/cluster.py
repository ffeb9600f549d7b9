"""A cluster of SQL Server nodes, the same from the outside whatever it is made of.

Everything that T-SQL can say goes over TDS with the one driver. What T-SQL cannot say (let users work, restart a node with
startup options, cut a cable, move the clock) are the verbs below; each mode answers them in its own way or refuses with a
recorded reason.
"""

from __future__ import annotations

import abc
import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aglab.core.errors import AglabError, UsageError, field_error, unknown_name
from aglab.core.progress import Progress, no_progress
from aglab.lab import sampler
from aglab.lab.batches import split_batches
from aglab.lab.commit_client import CommitClient
from aglab.lab.driver import Connection
from aglab.lab.results import Result
from aglab.record import Run, label_of


class StepNotPossible(AglabError):
    """This mode cannot do a step; ``reason`` is one of the reviewed list in :data:`REASONS`."""

    def __init__(self, verb: str, mode: str) -> None:
        super().__init__(
            f"{verb} is not possible in mode {mode}: {REASONS[verb]}", "see the chapter's card for the modes that can"
        )


# verb -> why a mode that cannot do it cannot; reviewed: a verb that is not here must work everywhere
REASONS = {
    "time": "the clock of a real server cannot be moved, only waited for",
    "snapshot": "real servers are brought back by restoring a backup",
    "fault": "the network and disks of these servers are not ours to break",
    "restart": "restarting these servers is not ours to do",
    "hardware": "these servers have the hardware they have; a profile can only limit containers when they are started",
    "load": "no HammerDB is configured for these servers",
    "delay": "the kernel of the Docker host has no netem, which is what delays a network (modprobe sch_netem)",
}


@dataclass(frozen=True)
class Node:
    """One node: its name in the cluster and where it listens."""

    name: str
    server: str
    port: int


class Cluster(abc.ABC):
    """Three nodes, one availability group unless bare."""

    mode = ""
    user = "sa"
    database = "OLTP"

    def __init__(self, nodes: Sequence[Node], profile: str) -> None:
        self.nodes = list(nodes)
        self.profile = profile
        self._open: dict[tuple[str, str], Connection] = {}
        self.load_errors: list[str] = []  # what the load's users were told, at the end of the last load

    # -- T-SQL -----------------------------------------------------------------------------------------------
    def node(self, name: str | None = None) -> Node:
        """A node by name; the first one by default."""
        if name is None:
            return self.nodes[0]
        for node in self.nodes:
            if node.name == name:
                return node
        raise unknown_name("node", name, [node.name for node in self.nodes])

    def connect(self, node: str | None = None, database: str = "master", read_only: bool = False) -> Connection:
        """A new connection; close it, or use it in a ``with`` block. ``read_only``: with ApplicationIntent=ReadOnly."""
        where = self.node(node)
        return Connection(where.server, where.port, self.user, self._password(), database, where.name, read_only)

    def sql(self, script: str, node: str | None = None, database: str = "master") -> Result:
        """Run a script (batches separated by GO) on a node and return all its result sets and messages."""
        key = (self.node(node).name, database)
        connection = self._open.get(key)
        if connection is None:
            connection = self._open[key] = self.connect(*key)
        whole = Result()
        try:
            for batch in split_batches(script):
                result = connection.run(batch)
                whole.tables += result.tables
                whole.messages += result.messages
        except AglabError:
            self._drop(key)  # a broken batch may leave a transaction open; the next script starts clean
            raise
        return whole

    def _drop(self, key: tuple[str, str]) -> None:
        connection = self._open.pop(key, None)
        if connection is not None:
            connection.close()

    def _forget(self, node: str | None = None) -> None:
        for key in [key for key in self._open if node is None or key[0] == node]:
            self._drop(key)

    # -- load and samples ------------------------------------------------------------------------------------
    def run_load(
        self,
        seconds: float,
        users: float | None = None,
        sample_s: float = 1,
        warm_up_s: float = 0,
        nodes: Sequence[str] | None = None,
        progress: Progress = no_progress,
    ) -> Run:
        """Let users work, sample every node named, stop, and return the Run.

        Parameters
        ----------
        seconds, sample_s, warm_up_s : float
            Length, distance of samples (whole seconds), and how long to load before the first sample.
        users : float, optional
            Sessions without think time; the lab's own number by default.
        nodes : sequence of str, optional
            Where to sample; the first node by default.
        """
        if warm_up_s < 0:
            raise field_error("warm_up_s", warm_up_s, "must be >= 0", "run_load", "use 0 for none")
        names = [self.node(name).name for name in nodes] if nodes else [self.nodes[0].name]
        text = sampler.script(seconds, sample_s, self.database)
        progress(0, seconds + warm_up_s, "load starts")
        with contextlib.ExitStack() as opened:
            # logins before the users come: afterwards each would be time in which they work and nobody looks
            connections = [opened.enter_context(self.connect(name)) for name in names]
            self.start_load(users)
            try:
                if warm_up_s:
                    self.wait(warm_up_s)
                progress(warm_up_s, seconds + warm_up_s, "sampling")
                frames = self._sample_all(names, connections, text, sample_s)
            finally:
                opened.close()  # a sampler that still runs ends before its users go
                self.stop_load()
        progress(seconds + warm_up_s, seconds + warm_up_s, "done")
        counters = frames[0].join(frames[1:]) if len(frames) > 1 else frames[0]
        events = [{"event": "load error", "node": names[0], "text": text} for text in self.load_errors]
        return Run(counters, events, self.provenance())

    def _sample_all(self, names: list[str], connections: list[Connection], text: str, sample_s: float) -> list[Any]:
        answers: dict[str, Result] = {}
        failures: list[BaseException] = []

        def work(name: str, connection: Connection) -> None:
            try:
                answers[name] = connection.run(text)
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
                failures.append(error)
            finally:
                self.leave(connection)  # an idle session of a group would hold the clock for the others

        for connection in connections:
            self.enroll(connection)
        threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in zip(names, connections, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # so that Ctrl-C is heard
        if failures:
            raise failures[0]
        return [sampler.frame(name, answers[name].tables, sample_s, self.database) for name in names]

    def commit_client(self, every_s: float = 0.5) -> CommitClient:
        """A client that commits one row at a time and reconnects: for outages. Close it, or use it in a ``with`` block.

        Parameters
        ----------
        every_s : float
            Pause between two commits.
        """
        return CommitClient(self, every_s)

    # -- verbs that a mode answers ---------------------------------------------------------------------------
    @abc.abstractmethod
    def start_load(self, users: float | None = None) -> None:
        """Let users work from now on."""

    @abc.abstractmethod
    def stop_load(self) -> None:
        """Send every user home."""

    @abc.abstractmethod
    def restart(self, node: str, startup_options: Sequence[str] = ()) -> None:
        """Restart a node with exactly these startup options, e.g. ``["-k750"]``."""

    @abc.abstractmethod
    def wait(self, seconds: float) -> None:
        """Let time pass on the servers."""

    def time(self, pace: str) -> None:
        """Set the pace of the servers' clock ("fast", "1x", "60x")."""
        raise StepNotPossible("time", self.mode)

    def fault(self, kind: str, node: str | None = None, **arguments: Any) -> None:
        """Break something, or mend it: "cut", "heal", "delay", "crash", "stop", "start"."""
        raise StepNotPossible("fault", self.mode)

    def snapshot(self, name: str) -> None:
        """Keep the state of the whole cluster under a name."""
        raise StepNotPossible("snapshot", self.mode)

    def restore(self, name: str) -> None:
        """Bring the whole cluster back to a snapshot."""
        raise StepNotPossible("snapshot", self.mode)

    @contextlib.contextmanager
    def together(self, *connections: Connection) -> Iterator[None]:
        """Sessions that act as one group: no clock may run ahead of any of them."""
        for connection in connections:
            self.enroll(connection)
        try:
            yield
        finally:
            for connection in connections:
                self.leave(connection)

    def enroll(self, connection: Connection) -> None:  # noqa: B027 - real servers have nothing to do
        """The clock waits for this session when it is idle. Nothing to do on real servers."""

    def leave(self, connection: Connection) -> None:  # noqa: B027 - real servers have nothing to do
        """The clock no longer waits for this session. Nothing to do on real servers."""

    @property
    def label(self) -> str:
        """The honest label of everything measured here."""
        return label_of(self.provenance())

    @abc.abstractmethod
    def _password(self) -> str: ...

    @abc.abstractmethod
    def provenance(self) -> dict[str, Any]:
        """Where a Run's numbers come from."""

    def close(self) -> None:
        """Close connections; a private cluster ends with it."""
        self._forget()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def checked_options(options: Sequence[str]) -> list[str]:
    """Startup options as a list; a single string is a common slip and is refused."""
    if isinstance(options, str):
        raise UsageError(f"startup_options={options!r} must be a list", f"write [{options!r}]")
    for option in options:
        if not option.startswith("-"):
            raise field_error("startup_options", option, "must start with -", "restart", "write for example '-k750' or '-T1222'")
    return list(options)
