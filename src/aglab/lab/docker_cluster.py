"""SQL Server containers as a cluster: T-SQL over published ports, HammerDB as the load, Docker for what T-SQL cannot do.

``aglab up --mode docker`` starts the containers; labs attach to them and leave them running. Time passes on the servers'
clocks: waiting is a WAITFOR there. What a server says of itself decides the label: a node image that is a simulation says so in
its errorlog.
"""

from __future__ import annotations

import contextlib
import os
import re
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from aglab import __version__
from aglab.core.errors import AglabError, MissingError, UsageError, field_error, unknown_name
from aglab.hardware import Profile
from aglab.lab.cluster import Cluster, Node, StepNotPossible, checked_options
from aglab.lab.startup_options import read_back
from aglab.live import machines, replica_network
from aglab.live.choices import Choices
from aglab.live.containers import Containers
from aglab.live.hammerdb import HammerDB, Plan, Target, in_container
from aglab.live.remembered import remembered
from aglab.scenario import Scenario

FAULTS = ("cut", "heal", "delay", "crash", "stop", "start", "freeze", "thaw")
TIERS = {"laptop": (20, 8), "workshop": (100, 32), "server": (1000, 128)}  # warehouses, virtual users
PAPER = "paper"  # AGLAB_TIER: as many users as the lab names, for servers as large as the papers'
RTT_US_MAX = 1e6
BRIDGE_RTT_US = 100  # about the round trip between two containers of one machine
LOAD_MINUTES = 10_000  # HammerDB wants an end; stop_load comes before it
WAIT_S_MAX = 86_399  # what WAITFOR DELAY takes
_SIMULATED = re.compile(r"SIMULATED, profile (.+?)\.?$")
_OPEN: weakref.WeakSet[DockerCluster] = weakref.WeakSet()  # in this process


class DockerCluster(Cluster):
    """Attaches to the containers of ``aglab up --mode docker``.

    Parameters
    ----------
    containers : Containers
        Running.
    bare : bool, optional
        What the caller needs: nodes without an availability group (True) or with one (False); None takes either.
    profile : str, optional
        Hardware that they must have, a name or a file. In place of the twin's nodes others are started that have it, with
        databases of their own; :meth:`close` brings the first ones back.

    Raises
    ------
    UsageError
        The nodes have a group and must not, or the other way round.
    StepNotPossible
        Other hardware was asked for, and these are real servers.
    """

    mode = "docker"

    def __init__(self, containers: Containers, bare: bool | None = None, profile: str | None = None) -> None:
        self._containers = containers
        _OPEN.add(self)
        self._before: Choices | None = None  # what brings the first machines back
        self._load: Any = None
        self.server = ""
        super().__init__([Node(name, "127.0.0.1", containers.port(name)) for name in ("sql1", "sql2", "sql3")], "measured")
        self.tier = os.environ.get("AGLAB_TIER") or "laptop"
        if self.tier != PAPER and self.tier not in TIERS:
            raise unknown_name("tier (AGLAB_TIER)", self.tier, [*TIERS, PAPER])
        self._ask_who_answers()
        if bare is not None:
            self._check_group(bare)
        if profile is not None and not machines.have(containers, profile, self.profile):
            self._equip(profile)

    @classmethod
    def attached(cls, bare: bool | None = None, profile: str | None = None) -> DockerCluster:
        """The containers that ``aglab up --mode docker`` started."""
        found = remembered()
        if found is None or not found.states():
            raise MissingError("no containers are up", "start them with: aglab up --mode docker")
        return cls(found, bare, profile)

    def _equip(self, profile: str) -> None:
        if not self._containers.is_twin:
            raise StepNotPossible("hardware", self.mode)
        Profile.load(profile)  # a name or a field that is wrong is said before anything is stopped
        with self._sessions_end():
            self._before = machines.equip(self._containers, profile)
        self._ask_who_answers()

    @contextlib.contextmanager
    def _sessions_end(self) -> Iterator[None]:
        """Every server starts again: the sessions of all who are attached are gone, also where it goes wrong."""
        try:
            yield
        finally:
            for one in _OPEN:
                one._forget()

    def _ask_who_answers(self) -> None:
        self.server = str(self.sql("SELECT @@VERSION AS version").value).splitlines()[0]
        lines = self.sql("EXEC sp_readerrorlog 0, 1, N'SIMULATED'").table
        named = [match.group(1) for text in lines["Text"] if (match := _SIMULATED.search(str(text)))]
        self.simulated = bool(named)
        self.profile = named[-1] if named else self.server

    def _check_group(self, bare: bool) -> None:
        groups = int(self.sql("SELECT COUNT(*) AS groups FROM sys.availability_groups").value)
        if bare and groups:
            raise UsageError("this lab wants nodes without an availability group", "aglab down; aglab up --mode docker --bare")
        if not bare and not groups:
            raise UsageError("this lab wants availability group ag1, and the nodes have none", "aglab up --mode docker forms it")

    def _password(self) -> str:
        return self._containers.password()

    # -- load --------------------------------------------------------------------------------------------------------
    def start_load(self, users: float | None = None) -> None:
        if self._load is not None:
            self.stop_load()
        plan = self._plan(users)
        primary = self._primary()
        hammerdb = HammerDB(self._in_hammerdb(), Target(primary, database=self.database), self._password())
        built = self.sql("SELECT OBJECT_ID(N'dbo.warehouse') AS built", primary, self.database).value
        if built is None or built != built:  # NaN stands for NULL in a table
            hammerdb.build(plan)
        self._load = hammerdb.background(plan)
        self._load.__enter__()

    def stop_load(self) -> None:
        if self._load is not None:
            load, self._load = self._load, None
            load.__exit__(None, None, None)

    def _plan(self, users: float | None) -> Plan:
        if self.tier == PAPER:
            own = Scenario.default(profile=self.profile).settings.users if self.simulated else TIERS["server"][1]
            wanted = max(1, round(float(users if users is not None else own)))
            return Plan(warehouses=max(wanted, TIERS["laptop"][0]), users=wanted, ramp_up_min=0, minutes=LOAD_MINUTES)
        warehouses, most = TIERS[self.tier]
        wanted = min(most, max(1, round(users))) if users is not None else most
        return Plan(warehouses=warehouses, users=wanted, ramp_up_min=0, minutes=LOAD_MINUTES)

    def _in_hammerdb(self) -> Any:
        docker = self._containers.docker
        docker.ask(*self._containers.compose("--profile", "load", "up", "--detach", "--no-deps", "hammerdb"), timeout_s=3600.0)
        return in_container(self._containers.container("hammerdb"), docker.client)

    def _primary(self) -> str:
        query = "SELECT MAX(role_desc) AS role FROM sys.dm_hadr_availability_replica_states WHERE is_local = 1"
        for node in self.nodes:
            with contextlib.suppress(AglabError):
                if self.sql(query, node.name).value == "PRIMARY":
                    return node.name
        return self.nodes[0].name

    # -- time and faults ---------------------------------------------------------------------------------------------
    def wait(self, seconds: float) -> None:
        if not seconds >= 0:
            raise field_error("seconds", seconds, "must be >= 0", "wait", "use for example 60")
        left = round(seconds)
        while left > 0:
            step = min(left, WAIT_S_MAX)
            left -= step
            delay = f"{step // 3600:02d}:{step % 3600 // 60:02d}:{step % 60:02d}"
            self.sql(f"WAITFOR DELAY '{delay}'", self._answering())

    def _answering(self) -> str:
        states = self._containers.states()
        return next((node.name for node in self.nodes if states.get(node.name, {}).get("state") == "running"), self.nodes[0].name)

    def restart(self, node: str, startup_options: Sequence[str] = ()) -> None:
        options = checked_options(startup_options)
        name = self.node(node).name
        self._forget(name)
        self._containers.restart(name, options)
        self._read_back(name, options)

    def _read_back(self, node: str, options: list[str]) -> None:
        """Startup options are in force when the server itself says so."""
        missing = [one.option for one in read_back(node, options, lambda batch: self.sql(batch, node)) if not one.taken]
        if missing:
            raise AglabError(
                f"{node} runs without {' '.join(missing)}: neither its errorlog nor DBCC TRACESTATUS shows it",
                f"read it with: aglab sql {node} \"EXEC sp_readerrorlog 0, 1, N'startup parameters'\"",
            )

    def fault(self, kind: str, node: str | None = None, **arguments: Any) -> None:
        if kind not in FAULTS:
            raise unknown_name("fault", kind, FAULTS)
        if kind == "delay":
            self._delay(node, **arguments)
            return
        if node is None or arguments:
            raise UsageError(f"fault {kind!r} takes a node and nothing else", f"write for example fault({kind!r}, node='sql2')")
        name = self.node(node).name
        words = {"crash": "kill", "stop": "stop", "start": "start", "freeze": "pause", "thaw": "unpause"}
        if kind in ("crash", "stop", "start"):
            self._forget(name)
        if kind in words:
            self._containers.act(words[kind], name)
        elif kind == "cut":
            replica_network.cut(self._containers, name)
        else:
            replica_network.heal(self._containers, name)

    def _delay(self, node: str | None, rtt_us: Any = None, **unknown: Any) -> None:
        if node is not None or unknown:
            raise UsageError("fault 'delay' takes rtt_us and nothing else", "write fault('delay', rtt_us=1000)")
        if isinstance(rtt_us, bool) or not isinstance(rtt_us, (int, float)) or not 0 <= rtt_us <= RTT_US_MAX:
            raise field_error("rtt_us", rtt_us, f"must be 0 to {RTT_US_MAX:g}", "fault", "use microseconds, for example 1000")
        refused = replica_network.delay(self._containers, float(rtt_us))
        if refused and rtt_us > BRIDGE_RTT_US:  # replicas on one bridge are near already
            raise StepNotPossible("delay", self.mode)

    # -- origin ------------------------------------------------------------------------------------------------------
    def provenance(self) -> dict[str, Any]:
        found: dict[str, Any] = {"mode": "docker", "profile": self.profile, "server": self.server, "tier": self.tier}
        return {**found, "simulated": self.simulated, "versions": {"aglab": __version__}}

    def close(self) -> None:
        self.stop_load()
        super().close()
        if self._before is not None:
            before, self._before = self._before, None
            with self._sessions_end():
                machines.bring_back(self._containers, before)
