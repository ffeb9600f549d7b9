"""The procedures of schema ``twin``: load, time, faults and snapshots, for any TDS client.

They steer the simulator, not SQL Server; a real server has none of them. The library's ``Cluster`` calls them, a lab never
does. A wrong argument is error 50010 with the value, the limit and a remedy. Steering needs CONTROL SERVER, looking VIEW SERVER
STATE (300).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from aglab.core.errors import AglabError, UsageError, field_error
from aglab.core.sqltypes import FLOAT, INT, SYSNAME, nvarchar
from aglab.tsql import AdapterParameter, AdapterProcedure, Columns, Done, Rows, Session, TsqlError, Wait
from aglab.tsql.permissions import need_server
from aglab.twin import settings
from aglab.twin.adapter_results import message, recording_columns, recording_rows, table
from aglab.twin.clock import EPOCH, checked_seconds
from aglab.twin.faults import Faults
from aglab.twin.governor_limits import load_logs_in
from aglab.twin.recording import checked_every, checked_users
from aglab.twin.statedir import checked_snapshot_name

if TYPE_CHECKING:
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

ERROR = 50010
PARTY_MAX = 64
OWN_SESSION = frozenset({"enroll", "leave"})  # how the clock treats the session that calls: anybody's own business
READING = frozenset({"recording", "snapshots"})  # these show; every other steers the cluster
_Effects = Generator[Any, Any, Any]


class Adapter:
    """Builds the procedures for a node."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.faults = Faults(cluster)
        number, text, name = FLOAT, nvarchar(4000), SYSNAME
        # name -> (method, [(parameter, type, default, required)], summary)
        self._table: dict[str, tuple[Callable[..., _Effects], list[tuple[str, Any, Any, bool]], str]] = {
            "start_workload": (self.start_workload, [("users", number, None, False)], "let users work from now on"),
            "stop_workload": (self.stop_workload, [], "send every user home"),
            "run_workload": (
                self.run_workload,
                [("seconds", number, None, True), ("users", number, None, False)],
                "run the load for a time, then stop it",
            ),
            "recording": (
                self.recording,
                [("seconds", number, None, False), ("every_s", number, 1.0, False)],
                "time series of the load: one row for each step and node, PerfMon names as columns",
            ),
            "set_pace": (self.set_pace, [("pace", text, None, True)], "fast, 1x, 60x"),
            "advance": (self.advance, [("seconds", number, None, True)], "move the clock"),
            "enroll": (self.enroll, [("sessions", INT, 1, False)], "the clock waits for this session when it is idle"),
            "leave": (self.leave, [], "the clock no longer waits for this session"),
            "restart_node": (
                self.restart_node,
                [("node", name, None, True), ("startup_options", text, None, False)],
                "restart a node with startup options",
            ),
            "set_hadr": (
                self.set_hadr,
                [("node", name, None, True), ("enabled", INT, 1, False)],
                "HADR on or off from the node's next start, as mssql-conf set hadr.hadrenabled",
            ),
            "set_profile": (self.set_profile, [("profile", text, None, True)], "other machines under every node"),
            "snapshot": (self.snapshot, [("name", text, None, True)], "keep the whole cluster under a name"),
            "restore": (self.restore, [("name", text, None, True)], "bring the whole cluster back to a snapshot"),
            "snapshots": (self.snapshots, [], "the snapshots that are kept"),
            "cut": (self.faults.cut, [("node", name, None, True)], "cut a replica's link"),
            "heal": (self.faults.heal, [("node", name, None, True)], "join a cut link again"),
            "crash": (self.faults.crash, [("node", name, None, True)], "end a node at once"),
            "stop": (self.faults.stop, [("node", name, None, True)], "stop a node's service"),
            "start": (self.faults.start, [("node", name, None, True)], "start a node that has ended"),
            "force_quorum": (
                self.faults.force_quorum,
                [("node", name, None, True)],
                "start the cluster without a majority",
            ),
            "sicken": (
                self.faults.sicken,
                [("node", name, None, True), ("component", text, None, True)],
                "a component of sp_server_diagnostics reports an error",
            ),
            "cure": (self.faults.cure, [("node", name, None, True)], "every component is well again"),
            "delay": (self.faults.delay, [("rtt_us", number, None, True)], "round trip between replicas"),
            "status": (self.status, [], "clock, pace, load, profile"),
            "shutdown": (self.shutdown, [], "end the twin"),
        }

    def procedure(self, node: Node, name: str) -> AdapterProcedure | None:
        """The procedure by its bare name in lower case, bound to the node that was asked."""
        entry = self._table.get(name)
        if entry is None:
            return None
        method, parameters, summary = entry

        def call(session: Session, **arguments: Any) -> _Effects:
            return self._guarded(method, node, session, arguments)

        made = tuple(AdapterParameter(one, kind, default, required) for one, kind, default, required in parameters)
        return AdapterProcedure(name, made, call, summary)

    def names(self) -> list[str]:
        """Every procedure's name."""
        return sorted(self._table)

    def _guarded(self, method: Callable[..., _Effects], node: Node, session: Session, arguments: dict[str, Any]) -> _Effects:
        name = method.__name__
        if name not in OWN_SESSION:
            need_server(node.instance, session, "VIEW SERVER STATE" if name in READING else "CONTROL SERVER")
        try:
            status = yield from method(node, session, **arguments)
        except AglabError as error:
            raise TsqlError(ERROR, 16, 1, str(error), procedure=method.__name__) from error
        return status or 0

    # -- load ----------------------------------------------------------------------------------------------------
    def start_workload(self, here: Node, session: Session, /, users: Any = None) -> _Effects:
        """EXEC twin.start_workload [@users]"""
        plant = self.cluster.plant
        self.cluster.load_errors = []
        plant.start_load(checked_users(users, plant.default_users))
        load_logs_in(self.cluster, session.login)
        self.cluster.dirty = True
        yield message(f"The load runs with {plant.users:g} users (SIMULATED, profile {plant.machine.name}).")

    def stop_workload(self, here: Node, session: Session, /) -> _Effects:
        """EXEC twin.stop_workload"""
        self.cluster.plant.stop_load()
        self.cluster.dirty = True
        yield from self._told()
        yield message("The load has stopped.")

    def _told(self) -> _Effects:
        """What the load's users were told, with the time of the cluster's clock."""
        for at_s, text in self.cluster.load_errors:
            yield message(f"{EPOCH + dt.timedelta(seconds=round(at_s, 1)):%Y-%m-%d %H:%M:%S} {text}")

    def run_workload(self, here: Node, session: Session, /, seconds: Any = None, users: Any = None) -> _Effects:
        """EXEC twin.run_workload @seconds [, @users]"""
        span = self._span("seconds", seconds, "twin.run_workload")
        plant = self.cluster.plant
        ran_before = plant.users > 0
        if not ran_before:
            self.cluster.load_errors = []
        if users is not None or not ran_before:
            plant.start_load(checked_users(users, plant.default_users))
            load_logs_in(self.cluster, session.login)
        try:
            yield self._until(span)
            plant.sync()
        finally:
            if not ran_before:
                plant.stop_load()
        self.cluster.dirty = True
        yield from self._told()
        yield message(f"The load ran for {span:g} seconds (SIMULATED, profile {plant.machine.name}).")

    def recording(self, here: Node, session: Session, /, seconds: Any = None, every_s: Any = 1.0) -> _Effects:
        """EXEC twin.recording [@seconds] [, @every_s]: the last seconds of the load"""
        every = checked_every(every_s)
        plant = self.cluster.plant
        plant.sync()
        now = self.cluster.clock.now_s
        start = -1.0 if seconds is None else now - self._span("seconds", seconds, "twin.recording")
        columns = recording_columns(plant.recording, self.cluster.nodes[self.cluster.primary].database_name)
        yield Columns(columns)
        sent = 0
        for chunk in recording_rows(plant.recording, start, now, every):
            sent += len(chunk)
            yield Rows(chunk)
        yield Done(sent, "SELECT", in_procedure=True)

    # -- time ----------------------------------------------------------------------------------------------------
    def set_pace(self, here: Node, session: Session, /, pace: Any = None) -> _Effects:
        """EXEC twin.set_pace @pace"""
        self.cluster.clock.set_pace(str(pace))
        self.cluster.dirty = True
        yield message(f"The clock's pace is {self.cluster.clock.pace}.")

    def advance(self, here: Node, session: Session, /, seconds: Any = None) -> _Effects:
        """EXEC twin.advance @seconds"""
        yield self._until(self._span("seconds", seconds, "twin.advance"))
        self.cluster.plant.sync()

    def _span(self, field: str, value: Any, where: str) -> float:
        return checked_seconds(field, value, where)

    def _until(self, span_s: float) -> Wait:
        return Wait("time", self.cluster.clock.now_s + span_s, wait_type="", detail={"rush": True})

    def enroll(self, here: Node, session: Session, /, sessions: Any = 1) -> _Effects:
        """EXEC twin.enroll [@sessions]: join; with @sessions = n, wait until n sessions have joined"""
        count = int(1 if sessions is None else sessions)
        if not 1 <= count <= PARTY_MAX:
            raise field_error("sessions", count, f"must be 1 to {PARTY_MAX}", "twin.enroll", "say how many sessions act together")
        world = self.cluster.world
        world.enroll(here.clients[session.spid])
        if count > 1:
            yield Wait("operation", done=lambda: len(world.parties) >= count)

    def leave(self, here: Node, session: Session, /) -> _Effects:
        """EXEC twin.leave"""
        self.cluster.world.leave(here.clients[session.spid])
        yield from ()

    # -- nodes, profile, snapshots -----------------------------------------------------------------------------------
    def restart_node(self, here: Node, session: Session, /, node: Any = None, startup_options: Any = None) -> _Effects:
        """EXEC twin.restart_node @node [, @startup_options]"""
        target = self.cluster.node(node)
        options = None if startup_options is None else settings.split_options(str(startup_options))
        target.restart(options, caller=session)
        shown = " ".join(target.startup_options) or "none"
        yield message(f"Node {target.name} has restarted; startup options: {shown}.")

    def set_hadr(self, here: Node, session: Session, /, node: Any = None, enabled: Any = 1) -> _Effects:
        """EXEC twin.set_hadr @node [, @enabled]"""
        target = self.cluster.node(node)
        target.hadr_at_next_start = bool(enabled)
        self.cluster.dirty = True
        word = "on" if target.hadr_at_next_start else "off"
        yield message(f"HADR of node {target.name} is {word} from its next start.")

    def set_profile(self, here: Node, session: Session, /, profile: Any = None) -> _Effects:
        """EXEC twin.set_profile @profile"""
        self.cluster.set_profile(str(profile), session)
        yield message(f"Every node now stands on profile {profile} and has restarted.")

    def snapshot(self, here: Node, session: Session, /, name: Any = None) -> _Effects:
        """EXEC twin.snapshot @name"""
        self.cluster.on_snapshot(checked_snapshot_name(str(name or "")))
        yield message(f"Snapshot {name} has been kept.")

    def restore(self, here: Node, session: Session, /, name: Any = None) -> _Effects:
        """EXEC twin.restore @name"""
        wanted = checked_snapshot_name(str(name or ""))
        if session.transaction is not None and session.transaction.entries:
            raise UsageError("this session has uncommitted changes", "commit or roll back, then restore")
        self.cluster.drop_others(session)
        self.cluster.on_restore(wanted)
        yield message(f"The cluster is as it was at snapshot {name}.")

    def snapshots(self, here: Node, session: Session, /) -> _Effects:
        """EXEC twin.snapshots"""
        columns = [("name", SYSNAME), ("clock_s", FLOAT), ("profile", nvarchar(260)), ("size_kb", FLOAT)]
        kept = self.cluster.on_snapshots()
        yield from table(columns, [(name, clock_s, profile, size / 1024) for name, clock_s, profile, size in kept])

    def status(self, here: Node, session: Session, /) -> _Effects:
        """EXEC twin.status"""
        cluster = self.cluster
        yield from table(
            [
                ("clock_s", FLOAT),
                ("pace", SYSNAME),
                ("users", FLOAT),
                ("profile", nvarchar(260)),
                ("primary", SYSNAME),
                ("label", nvarchar(400)),
            ],
            [
                (
                    cluster.clock.now_s,
                    cluster.clock.pace,
                    cluster.plant.users,
                    cluster.plant.profile,
                    cluster.primary,
                    f"SIMULATED, profile {cluster.plant.machine.name}",
                )
            ],
        )

    def shutdown(self, here: Node, session: Session, /) -> _Effects:
        """EXEC twin.shutdown"""
        yield message("The twin is ending.")
        self.cluster.on_shutdown()


__all__ = ["ERROR", "Adapter", "UsageError"]
