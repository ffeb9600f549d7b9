"""One node: its instance, its clients, its errorlog, and the answers that the T-SQL interpreter asks for.

A node implements :class:`aglab.tsql.Host`. Settings that have a mechanism in the engine reach it here: TARGET_RECOVERY_TIME,
``-k``, CHECKPOINT, max server memory, recovery interval.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag import events
from aglab.ag.spec import STATE_CODE
from aglab.tsql import CommitRecord, Instance, Session
from aglab.twin import (
    deadlocks,
    encryption,
    health_events,
    procedures,
    rebuilds,
    settings,
)
from aglab.twin.agent import Agent
from aglab.twin.availability import identifier
from aglab.twin.backups.record import BackupSet
from aglab.twin.clients import Client, WaitBook
from aglab.twin.clock import EPOCH
from aglab.twin.endpoints import Trust
from aglab.twin.errorlog import ErrorLog, Line
from aglab.twin.governor import Governor
from aglab.twin.health_session import HealthSession
from aglab.twin.lazy_commits import LazyCommits
from aglab.twin.node_host import HostAnswers
from aglab.twin.page_writes import PageWrites
from aglab.twin.traces.raising import STATEMENTS, Cost, statement
from aglab.twin.traces.sessions import Traces

if TYPE_CHECKING:
    from aglab.hardware import Profile
    from aglab.tds import ServerConfig
    from aglab.tsql.environment import Environment
    from aglab.twin.cluster import Cluster


assert procedures  # registers what only a node can answer


class Node(HostAnswers):
    """One simulated SQL Server.

    Attributes
    ----------
    name : str
        sql1, sql2, sql3.
    instance : Instance
        Databases, configurations, logins, sessions and locks.
    startup_options : list of str
        ``-k750``, ``-T1204``; in force since the last start.
    """

    def __init__(self, cluster: Cluster, name: str, ordinal: int) -> None:
        self.cluster = cluster
        self.name = name
        self.ordinal = ordinal
        self.server_id: uuid.UUID = identifier("server", name)
        carries = not cluster.bare or ordinal == 1
        self.instance = Instance(name, (self.database_name,) if carries else ())
        self.trust = Trust()
        self.hadr_enabled = True
        self.hadr_at_next_start = True  # mssql-conf set hadr.hadrenabled: in force from the next start
        self.health = HealthSession()
        self.system_health = HealthSession(running=True, startup=True)
        self.ill: set[str] = set()  # components of sp_server_diagnostics that report an error, or "unresponsive"
        self.governor = Governor()
        self.traces = Traces()
        self.encryption: dict[str, encryption.Key] = {}  # by database in lower case
        self.rebuilds: dict[tuple[str, str, str], rebuilds.Rebuild] = {}  # database, table, index, each in lower case
        self.errorlog = ErrorLog()
        self.on_log_line: Callable[[Line], None] | None = None  # hears every new line
        self.waits = WaitBook()
        self.waits_cleared: dict[str, float] = {}
        self.clients: dict[int, Client] = {}
        self.environments: dict[str, Environment] = {}  # of contained availability groups, by name in lower case
        self.startup_options: list[str] = []
        self.started_s = 0.0
        self.accepting = False
        self.ended = False  # stopped or crashed, until it is started
        self.port = 0
        self.server_config: ServerConfig = None  # type: ignore[assignment]  # set before the first client
        self.backups: list[BackupSet] = []
        self.restoring: dict[str, dict[str, Any]] = {}  # databases WITH NORECOVERY: how far they are restored
        self.pieces: dict[str, dict[str, Any]] = {}  # databases with files that a restore has not brought online yet
        self.restores: list[dict[str, Any]] = []  # msdb's restorehistory, oldest first
        self.log_marks: list[dict[str, Any]] = []  # msdb's logmarkhistory
        self.forgotten: list[int] = []  # ids of backup sets that sp_delete_backuphistory took from msdb
        self.agent = Agent()
        self.hybrid_buffer_pool = (False, False)  # as configured, as in force since the last start
        self.soft_numa = (False, False)  # the same
        self.affinity: list[int] | None = None  # schedulers that PROCESS AFFINITY leaves online; None for AUTO
        self.logins = self.logouts = 0
        self.deadlocks_before_restart = 0
        self.deadlock_reports: list[tuple[dt.datetime, str]] = []  # newest last: when, and the graph as XML
        self.user_log_bytes = 0.0  # log of user sessions in the load's database, since the node was made
        self.database_totals: dict[str, dict[str, float]] = {}  # work of user sessions, by database
        self.page_writes = PageWrites()
        self._moment = (0, EPOCH)  # the last answer of now()
        self.lazy = LazyCommits(self)
        self.log_tail: dict[str, list[tuple[float, CommitRecord]]] = {}  # commits since a backup of this process, by database
        self.lay_out_files()
        self._wire_locks()

    # -- identity ------------------------------------------------------------------------------------------------
    @property
    def database_name(self) -> str:
        """The database that the engine's load runs on."""
        return self.cluster.load_database

    @property
    def profile(self) -> Profile:
        """The machine of this node."""
        return self.cluster.plant.machine

    def uptime_s(self) -> float:
        """Seconds since the node's last start."""
        return max(0.0, self.cluster.clock.now_s - self.started_s)

    def memory_mb(self) -> int:
        """What SQL Server may use: max server memory, or the profile's own where that is lower."""
        return int(min(self.instance.configuration("max server memory (mb)"), self.profile.memory.max_server_memory_mb))

    def open_transactions(self, database: str) -> int:
        """Sessions with a transaction in a database."""
        return sum(
            1 for one in self.clients.values() if one.session.trancount and one.session.database.lower() == database.lower()
        )

    # -- start and stop ------------------------------------------------------------------------------------------
    def start(self, first: bool = False) -> None:
        """The instance starts: pending configurations come into use, startup options take effect, the errorlog begins."""
        self.started_s = self.cluster.clock.now_s
        self.hadr_enabled = self.hadr_at_next_start
        self.health.running = self.health.startup
        if not first:
            health_events.manager(self, "Online")
        for option in self.instance.configurations.values():
            option.value_in_use = 16 if option.name == "min server memory (MB)" and option.value < 16 else option.value
        self.instance.startup_parameters = [*settings.BASE_PARAMETERS, *self.startup_options]
        self.instance.trace_flags = settings.trace_flags(self.startup_options)
        self.hybrid_buffer_pool = (self.hybrid_buffer_pool[0],) * 2
        self.soft_numa = (self.soft_numa[0],) * 2
        self.errorlog.cycle(self)
        self.governor.restarted(self.started_s)
        self.traces.restarted(self.started_s)
        self.listen()
        self.waits.clear()
        self.waits_cleared = {}
        self.database_totals = {}
        self.page_writes = PageWrites()
        self.instance.restarted(cold=not first)
        self.ill = set()  # what a class made ill is well after a restart
        if not first:
            self.cluster.plant.node_restarted(self.name)
            self.cluster.plant.change(self.name, restart=True)
        settings.apply_all(self)
        if not first:
            self.cluster.world.call(lambda: self.agent.instance_started(self))
        self.note_membership()
        self.accepting = True

    def note_membership(self) -> None:
        """sys.databases shows which replica and group database a database is."""
        for database in self.instance.databases.values():
            replica = member = None
            for group in self.cluster.groups.here(self.name):
                name = group.holds(database.name)
                here = group.rules.nodes[self.name].databases.get(name) if name is not None else None
                if name is not None and here is not None and here.joined:
                    replica, member = group.rules.replica_id(self.name), group.rules.database_id(name)
            database.options["replica_id"], database.options["group_database_id"] = replica, member

    def note_state(self, name: str, state: ag.DatabaseState) -> None:
        """sys.databases shows a copy that was left behind as RESTORING."""
        database = self.instance.database(name)
        if database is not None and state in (ag.DatabaseState.ONLINE, ag.DatabaseState.RESTORING):
            database.options["state"] = STATE_CODE[state]

    def listen(self) -> None:
        """Have statements observed where a running event session collects them."""
        if not self.traces.watched & STATEMENTS:
            self.instance.observer = None
            return

        def observer(runtime: Any) -> Callable[[Any], None]:
            cost = Cost(self, runtime.session)
            return lambda tree: statement(self, runtime, tree, cost)

        self.instance.observer = observer

    def note_event(self, name: str, fields: dict[str, object], at_s: float) -> None:
        """An event of the AlwaysOn_health session."""
        self.health.note(name, fields, at_s)

    def restart(self, startup_options: list[str] | None = None, caller: Session | None = None) -> None:
        """Stop and start the instance; every client but the caller is dropped now, the caller after its answer.

        Raises
        ------
        UsageError
            A startup option that the twin does not know.
        """
        if startup_options is not None:
            self.startup_options = settings.checked_options(startup_options)
        self.errorlog.write(
            self,
            "SQL Server is terminating in response to a 'stop' request from Service Control Manager. "
            "This is an informational message only. No user action is required.",
        )
        self._hang_up(caller)
        self.agent.arm(self)
        self.lazy.flush()
        self.deadlocks_before_restart = 0
        self.instance.locks.deadlocks = []
        self.deadlock_reports = []
        groups = self.cluster.groups
        groups.act(events.Crash(self.name), caller=caller)
        self.start()
        groups.act(events.Start(self.name), caller=caller)
        groups.notice(caller)
        groups.settled()
        self.cluster.dirty = True

    def _hang_up(self, caller: Session | None) -> None:
        for client in list(self.clients.values()):
            if caller is not None and client.session is caller:
                client.hang_up_after = True
            else:
                self.drop(client)

    def end(self, caller: Session | None = None, clean: bool = False) -> None:
        """The instance ends (``clean``: as by SHUTDOWN) and stays down until :meth:`begin`."""
        if clean:
            self.errorlog.write(self, "SQL Server is terminating because of a system shutdown.")
        self.accepting, self.ended = False, True
        health_events.manager(self, "Offline")
        self._hang_up(caller)
        self.agent.arm(self)
        self.lazy.flush() if clean else self.lazy.lose()
        self.cluster.groups.act(events.Crash(self.name), caller=caller)
        self.cluster.dirty = True

    def begin(self) -> None:
        """Start an instance that has ended."""
        self.start()
        self.ended = False
        self.cluster.groups.act(events.Start(self.name))
        self.cluster.groups.trust_changed()
        self.cluster.dirty = True

    def lay_out_files(self) -> None:
        """Give the load's database the file sizes of the machine."""
        database = self.instance.database(self.database_name)
        if database is None:
            return
        plant = self.cluster.plant
        for file in database.files:
            if file.type == 1 and file.file_id != 2:
                continue  # a second log file or a log buffer has its own size
            file.size = plant.log_pages() if file.type == 1 else plant.data_pages()
        database.options["recovery_model"] = 1

    def _wire_locks(self) -> None:
        def settled(spid: int) -> None:
            client = self.clients.get(spid)
            if client is not None and client.task is not None and client.task.state == "lock":
                client.task.wake()

        self.instance.locks.on_settled = settled
        self.instance.locks.on_deadlock = lambda deadlock: deadlocks.note(self, deadlock)

    # -- totals --------------------------------------------------------------------------------------------------
    def totals(self) -> dict[str, float]:
        """The engine's totals of this node since its start, with the work of user sessions in its database added."""
        totals = self.cluster.plant.totals(self.name)
        for key, value in self.database_totals.get(self.database_name, {}).items():
            totals[key] = totals.get(key, 0.0) + value
        totals["batch_requests"] = totals.get("batch_requests", 0.0) + self.database_totals.get("", {}).get("batch_requests", 0.0)
        return totals

    def note_log(self, database: str, log_bytes: int, transactions: int = 1) -> None:
        """Count a user transaction's log in a database."""
        if database.lower() == self.database_name.lower():
            self.user_log_bytes += log_bytes
        counted = self.database_totals.setdefault(database, {})
        added = {
            "transactions": transactions,
            "log_bytes_flushed": log_bytes,
            "log_flushes": 1,
            "log_writes": 1,
            "log_bytes_written": log_bytes,
        }
        for key, value in added.items():
            counted[key] = counted.get(key, 0.0) + value
