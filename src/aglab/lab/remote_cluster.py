"""A user's own servers as a cluster: T-SQL and DMVs; nothing is changed that was not allowed, and it is undone at the end."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import secrets
import signal
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aglab import __version__
from aglab.core.errors import AglabError, MissingError, UsageError, field_error
from aglab.core.paths import user_home
from aglab.core.progress import Progress, no_progress
from aglab.lab.cluster import Cluster, Node, StepNotPossible
from aglab.lab.driver import Connection
from aglab.lab.remote_changes import KINDS, Change, changes, checked_kinds, uses_database
from aglab.lab.remote_probe import Look, look
from aglab.lab.remote_undo import Ledger
from aglab.lab.results import Result, SqlFailed
from aglab.live.hammerdb import HammerDB, Plan, Target, local
from aglab.live.servers import Server, Servers, load_servers
from aglab.record import Run

PROBE_S_MAX = 5.0
LOAD_MINUTES = 10_000  # HammerDB wants an end; stop_load comes before it
WAIT_S_MAX = 86_399  # what WAITFOR DELAY takes
_SIMULATED = re.compile(r"SIMULATED, profile (.+?)\.?$")


def _leave(*_: object) -> None:
    """End with what ``finally`` and atexit do, undoing included."""
    raise SystemExit(143)


class Guarded(Connection):
    """A connection that shows every batch to its cluster before it sends it."""

    def __init__(self, cluster: RemoteCluster, server: Server, password: str, database: str, read_only: bool) -> None:
        self._cluster = cluster
        super().__init__(
            server.server,
            server.port,
            server.user,
            password,
            database,
            server.name,
            read_only,
            server.trust_certificate,
            server.encrypt,
            server.certificate,
        )

    def run(self, batch: str, parameters: Sequence[Any] = (), line: int | None = None) -> Result:
        """As :meth:`Connection.run`; a change that is not allowed is refused before anything is sent."""
        self._cluster.permit(self, batch)
        return super().run(batch, parameters, line)

    def ask(self, batch: str) -> Result:
        """A batch of aglab itself: reads a value, or writes one back."""
        return super().run(batch)

    def cursor(self) -> Any:
        """Not here: what goes through a bare cursor is not looked at."""
        raise UsageError("mode remote gives no bare cursor", "use run(), which looks at each statement first")


class RemoteCluster(Cluster):
    """Servers of a file (:mod:`aglab.live.servers`); connects when first asked.

    Parameters
    ----------
    servers : Servers
        What the file says.
    allow : sequence of str
        Kinds of changes (:data:`~aglab.lab.remote_changes.KINDS`) beyond those that the file allows.
    """

    mode = "remote"

    def __init__(self, servers: Servers, allow: Sequence[str] = ()) -> None:
        super().__init__([Node(one.name, one.server, one.port) for one in servers.servers], "unknown")
        self.file = servers
        self.database = servers.database
        self.allowed = checked_kinds((*servers.allow, *allow))
        self.ledger = Ledger(user_home() / "remote" / f"undo-{os.getpid()}-{secrets.token_hex(4)}.sql")
        self.server, self.simulated = "", False
        self._looks: dict[str, Look] = {}
        self._load: Any = None
        atexit.register(self.close)
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _leave)  # a closed window or a shutdown ends the process the ordinary way too

    @classmethod
    def opened(cls, file: str | Path | None = None, allow: Sequence[str] = ()) -> RemoteCluster:
        """The servers of a file, once each has been reached and looked at.

        Raises
        ------
        UsageError, MissingError, AglabError
            The file is wrong; a server is not reached or takes no login.
        """
        made = cls(load_servers(file), allow)
        try:
            made.looks()
        except BaseException:
            made.close()
            raise
        return made

    # -- looking -----------------------------------------------------------------------------------------------------
    def looks(self) -> list[Look]:
        """What each server is and what this login may do there; reads only."""
        for node in self.nodes:
            if node.name not in self._looks:
                self._looks[node.name] = look(node.name, functools.partial(self.sql, node=node.name))
        first = self._looks[self.nodes[0].name]
        self.server = first.version
        named = []
        with contextlib.suppress(AglabError):  # not every login may read the errorlog; then it is a server as it says
            lines = self.sql("EXEC sp_readerrorlog 0, 1, N'SIMULATED'").tables
            named = [m.group(1) for text in (lines[0]["Text"] if lines else []) if (m := _SIMULATED.search(str(text)))]
        self.simulated = bool(named)
        self.profile = named[-1] if named else self.server
        return [self._looks[node.name] for node in self.nodes]

    # -- T-SQL -------------------------------------------------------------------------------------------------------
    def connect(self, node: str | None = None, database: str = "master", read_only: bool = False) -> Guarded:
        name = self.node(node).name
        server = next(one for one in self.file.servers if one.name == name)
        where = f"{server.server},{server.port}"
        try:
            socket.create_connection((server.server, server.port), timeout=PROBE_S_MAX).close()
        except OSError as error:
            raise MissingError(
                f"server {name} is not reached at {where} ({error.strerror or error})",
                f"check server and port in {self.file.path}, the server's TCP/IP protocol and the firewall",
            ) from error
        password = server.password()
        try:
            return Guarded(self, server, password, database, read_only)
        except SqlFailed as error:
            if error.number != 18456:
                raise
            remedy = f"check {server.secret_from} and user in {self.file.path}"
            raise AglabError(f"server {name} at {where} refuses user {server.user!r}: {error.text}", remedy) from error
        except MissingError as error:
            if "does not answer" not in error.message:
                raise
            remedy = f"check encrypt and trust_certificate in {self.file.path}"
            raise MissingError(f"server {name} at {where} takes no connection: {error.message}", remedy) from error

    def permit(self, connection: Guarded, batch: str) -> None:
        """Refuse a batch that changes what may not be changed; note what replaces what otherwise.

        Raises
        ------
        UsageError
            A change that is not allowed; names the kind that allows it.
        """
        found = changes(batch)
        node = connection.target.name
        for change in found:
            if change.kind not in self.allowed:
                raise UsageError(
                    f"{node}: not run, because it changes the server: {change.text} (kind {change.kind}: {KINDS[change.kind]})",
                    f'allow it with --allow {change.kind} or allow = ["{change.kind}"] in {self.file.path}',
                )
        for change in found:
            self.ledger.note(node, change, self._named(connection, change, batch), connection.ask)

    def _named(self, connection: Guarded, change: Change, batch: str) -> str:
        """The database that ALTER DATABASE means; CURRENT is that of the session."""
        if change.kind != "database-options":
            return ""
        name = str(change.statement.name)
        if name.upper() != "CURRENT":
            return name
        if uses_database(batch):
            raise UsageError(f"{change.text}: CURRENT after USE in one batch is not followed", "name the database")
        return str(connection.ask("SELECT DB_NAME()").value)

    def _password(self) -> str:  # each server has its own; see connect
        raise NotImplementedError

    # -- load and samples --------------------------------------------------------------------------------------------
    def run_load(
        self,
        seconds: float,
        users: float | None = None,
        sample_s: float = 1,
        warm_up_s: float = 0,
        nodes: Sequence[str] | None = None,
        progress: Progress = no_progress,
    ) -> Run:
        names = [self.node(name).name for name in nodes] if nodes else [self.nodes[0].name]
        for seen in self.looks():
            if seen.node in names and not seen.sampling:
                raise AglabError(
                    f"{seen.node}: login {seen.login!r} has too few permissions to sample counters: VIEW SERVER STATE is missing",
                    f"ask for: GRANT VIEW SERVER STATE TO [{seen.login}] (from SQL Server 2022 VIEW SERVER PERFORMANCE STATE)",
                )
        return super().run_load(seconds, users, sample_s, warm_up_s, nodes, progress)

    def start_load(self, users: float | None = None) -> None:
        wanted = self.file.hammerdb
        if not wanted:
            raise StepNotPossible("load", self.mode)
        if "load" not in self.allowed:
            raise UsageError(
                f"the load changes rows of database {self.database} (kind load: {KINDS['load']})",
                f'allow it with --allow load or allow = ["load"] in {self.file.path}',
            )
        self.stop_load()
        primary = next((seen.node for seen in self.looks() if seen.role == "PRIMARY"), self.nodes[0].name)
        server = next(one for one in self.file.servers if one.name == primary)
        if self.sql("SELECT OBJECT_ID(N'dbo.warehouse') AS built", primary, self.database).table.dropna().empty:
            raise AglabError(
                f"database {self.database} on {primary} holds no schema of HammerDB; aglab builds none on your servers",
                "build it with hammerdbcli and the lab's hammerdb_build.tcl",
            )
        most = int(wanted.get("users", 8))
        count = min(most, max(1, round(users))) if users is not None else most
        plan = Plan(max(int(wanted.get("warehouses", 20)), 1), count, ramp_up_min=0, minutes=LOAD_MINUTES)
        if server.encrypt == "strict":
            raise AglabError(
                f'server {primary} is set to encrypt = "strict", which HammerDB cannot do: it knows encrypted or not',
                'take encrypt = "yes" for the load, if the server allows it, or run the load yourself',
            )
        target = Target(server.server, server.port, self.database, server.user, trust_certificate=server.trust_certificate)
        self._load = HammerDB(local, target, server.password(), str(wanted["home"])).background(plan)
        self._load.__enter__()

    def stop_load(self) -> None:
        if self._load is not None:
            load, self._load = self._load, None
            load.__exit__(None, None, None)

    # -- time and faults ---------------------------------------------------------------------------------------------
    def wait(self, seconds: float) -> None:
        if not seconds >= 0:
            raise field_error("seconds", seconds, "must be >= 0", "wait", "use for example 60")
        left = round(seconds)
        while left > 0:
            step = min(left, WAIT_S_MAX)
            left -= step
            self.sql(f"WAITFOR DELAY '{step // 3600:02d}:{step % 3600 // 60:02d}:{step % 60:02d}'")

    def restart(self, node: str, startup_options: Sequence[str] = ()) -> None:
        raise StepNotPossible("restart", self.mode)

    # -- origin ------------------------------------------------------------------------------------------------------
    def provenance(self) -> dict[str, Any]:
        """No address, user or password: names of the nodes, the server's version, and what was changed."""
        changed = [{"node": one.node, "kind": one.kind, "statement": one.change} for one in self.ledger.changes]
        found: dict[str, Any] = {"mode": "remote", "profile": self.profile, "server": self.server, "simulated": self.simulated}
        return {**found, "nodes": [node.name for node in self.nodes], "changed": changed, "versions": {"aglab": __version__}}

    def close(self) -> None:
        """End the load, write back what was changed, close the connections."""
        atexit.unregister(self.close)
        try:
            self.stop_load()
        finally:
            super().close()  # a session that waits or holds a transaction must not stand in the way
            self.ledger.undo(self._write_back)

    def __enter__(self) -> RemoteCluster:
        return self

    def _write_back(self, node: str, text: str) -> None:
        with contextlib.closing(self.connect(node)) as connection:
            connection.ask(text)
