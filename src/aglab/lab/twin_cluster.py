"""The twin as a cluster: a child process with three nodes, steered through the procedures of its schema ``twin``."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aglab import __version__
from aglab.core.errors import AglabError, UsageError, field_error, unknown_name
from aglab.lab.cluster import Cluster, Node, checked_options
from aglab.lab.driver import Connection
from aglab.lab.results import Result
from aglab.twin import RunningTwin, attach, spawn_child

FAULTS = ("cut", "heal", "delay", "crash", "stop", "start")


class TwinCluster(Cluster):
    """Three simulated nodes on loopback.

    Parameters
    ----------
    profile : str
        A hardware profile of data/profiles.
    bare : bool
        No availability group.
    seed : int
        One seed, one result.
    state_dir : path, optional
        Where its state is kept; a temporary folder that goes with it by default.
    cluster_type : str
        Of its availability group: "NONE" for one without a cluster manager.
    running : RunningTwin, optional
        Use this twin instead of starting one; it stays when the cluster is closed.
    """

    mode = "twin"

    def __init__(
        self,
        profile: str | None = None,
        bare: bool = False,
        seed: int = 1,
        state_dir: str | Path | None = None,
        running: RunningTwin | None = None,
        cluster_type: str = "",
    ) -> None:
        self._owned = running is None
        self._temporary = Path(tempfile.mkdtemp(prefix="aglab-")) if self._owned and state_dir is None else None
        try:
            where = state_dir or self._temporary or ""
            self._twin = running or spawn_child(where, profile=profile, bare=bare, seed=seed, cluster_type=cluster_type)
        except BaseException:
            self._remove_temporary()
            raise
        self.seed = seed
        super().__init__([Node(one.name, one.host, one.port) for one in self._twin.nodes], self._twin.profile)
        if self._owned:
            atexit.register(self.close)

    @classmethod
    def attached(cls) -> TwinCluster:
        """The twin that ``aglab up`` started."""
        running = attach()
        if running is None:
            raise UsageError("no cluster is up", "start one with: aglab up")
        return cls(running=running)

    def _password(self) -> str:
        return self._twin.password()

    def _call(self, procedure: str, *parameters: tuple[str, Any]) -> Result:
        names = ", ".join(f"@{name} = ?" for name, _ in parameters)
        ending = dict(parameters).get("node") if procedure in ("crash", "stop") else None
        connection = self._any_node(str(ending))
        return connection.run(f"EXEC twin.{procedure} {names}".strip(), [value for _, value in parameters])

    def _any_node(self, but: str) -> Connection:
        """A connection to a node that answers: any takes a verb, but no node can end itself."""
        failure: AglabError | None = None
        for node in self.nodes:
            key = (node.name, "master")
            if node.name == but:
                continue
            try:
                connection = self._open.get(key) or self.connect(node.name)
            except AglabError as error:
                failure = error
                continue
            self._open[key] = connection
            return connection
        raise failure or UsageError("no node is left to answer", "start one with fault('start', node)")

    def start_load(self, users: float | None = None) -> None:
        self._call("start_workload", *([("users", float(users))] if users is not None else []))

    def stop_load(self) -> None:
        self.load_errors = [one for one in self._call("stop_workload").messages if "Msg " in one]

    def wait(self, seconds: float) -> None:
        if not seconds >= 0:
            raise field_error("seconds", seconds, "must be >= 0", "wait", "use for example 60")
        if seconds:
            self._call("advance", ("seconds", float(seconds)))

    def restart(self, node: str, startup_options: Sequence[str] = ()) -> None:
        options = checked_options(startup_options)
        name = self.node(node).name
        self._call("restart_node", ("node", name), ("startup_options", " ".join(options)))
        self._forget(name)

    def time(self, pace: str) -> None:
        self._call("set_pace", ("pace", pace))

    def fault(self, kind: str, node: str | None = None, **arguments: Any) -> None:
        if kind not in FAULTS:
            raise unknown_name("fault", kind, FAULTS)
        given = [("node", self.node(node).name)] if node else []
        self._call(kind, *given, *arguments.items())
        if kind in ("crash", "stop"):
            self._forget(node)

    def snapshot(self, name: str) -> None:
        self._call("snapshot", ("name", name))

    def restore(self, name: str) -> None:
        self._call("restore", ("name", name))
        self._forget()

    def enroll(self, connection: Connection) -> None:
        connection.run("EXEC twin.enroll")

    def leave(self, connection: Connection) -> None:
        with contextlib.suppress(AglabError):  # a session that is gone has left
            connection.run("EXEC twin.leave")

    def provenance(self) -> dict[str, Any]:
        return {"mode": "twin", "profile": self.profile, "seed": self.seed, "versions": {"aglab": __version__}}

    def close(self) -> None:
        super().close()
        if self._owned:
            self._owned = False
            self._twin.stop()
            atexit.unregister(self.close)
            self._remove_temporary()

    def _remove_temporary(self) -> None:
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
