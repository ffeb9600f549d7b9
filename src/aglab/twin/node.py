"""One node: its instance, its clients, its errorlog, and the answers that the T-SQL interpreter asks for.

A node implements :class:`aglab.tsql.Host`. Settings that have a mechanism in the engine reach it here: TARGET_RECOVERY_TIME,
``-k``, CHECKPOINT, max server memory, recovery interval.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag import events
from aglab.ag.effects import Refused
from aglab.ag.spec import STATE_CODE
from aglab.core.errors import AglabError
from aglab.tsql import AdapterProcedure, Change, Command, CommitRecord, Instance, Session, TsqlError, error
from aglab.tsql.catalog.server import LOG_REUSE
from aglab.tsql.permissions import need_entry
from aglab.twin import (
    deadlocks,
    encryption,
    persistent_memory,
    procedures,
    rebuilds,
    redo_threads,
    settings,
    views_hadr,
    views_server,
)
from aglab.twin.availability import identifier
from aglab.twin.backups.history import preferred
from aglab.twin.backups.history import rows as backup_rows
from aglab.twin.backups.record import BackupSet
from aglab.twin.clients import Client, WaitBook
from aglab.twin.clock import EPOCH
from aglab.twin.endpoints import Trust
from aglab.twin.errorlog import ErrorLog, Line
from aglab.twin.governor import Governor
from aglab.twin.health_session import HealthSession
from aglab.twin.keeping import keep_database
from aglab.twin.lazy_commits import LazyCommits
from aglab.twin.page_writes import PageWrites
from aglab.twin.requests import Requests
from aglab.twin.traces.raising import STATEMENTS, Cost, statement
from aglab.twin.traces.sessions import Traces

if TYPE_CHECKING:
    from aglab.hardware import Profile
    from aglab.tds import ServerConfig
    from aglab.twin.availability import Availability
    from aglab.twin.cluster import Cluster

ONLINE, RECOVERING = 0, 2  # state of sys.databases
RESTORING = STATE_CODE[ag.DatabaseState.RESTORING]
LOG_REUSE_BYTES = 1024 * 1024  # less log than this between the end and what is kept counts as nothing to wait for


assert procedures  # registers what only a node can answer


class Node(Requests):
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
        self.governor = Governor()
        self.traces = Traces()
        self.encryption: dict[str, encryption.Key] = {}  # by database in lower case
        self.rebuilds: dict[tuple[str, str, str], rebuilds.Rebuild] = {}  # database, table, index, each in lower case
        self.errorlog = ErrorLog()
        self.on_log_line: Callable[[Line], None] | None = None  # hears every new line
        self.waits = WaitBook()
        self.waits_cleared: dict[str, float] = {}
        self.clients: dict[int, Client] = {}
        self.startup_options: list[str] = []
        self.started_s = 0.0
        self.accepting = False
        self.ended = False  # stopped or crashed, until it is started
        self.port = 0
        self.server_config: ServerConfig = None  # type: ignore[assignment]  # set before the first client
        self.backups: list[BackupSet] = []
        self.restoring: dict[str, dict[str, Any]] = {}  # databases WITH NORECOVERY: how far they are restored
        self.hybrid_buffer_pool = (False, False)  # as configured, as in force since the last start
        self.soft_numa = (False, False)  # the same
        self.logins = self.logouts = 0
        self.deadlocks_before_restart = 0
        self.deadlock_reports: list[tuple[dt.datetime, str]] = []  # newest last: when, and the graph as XML
        self.user_log_bytes = 0.0  # log of user sessions in the load's database, since the node was made
        self.database_totals: dict[str, dict[str, float]] = {}  # work of user sessions, by database
        self.page_writes = PageWrites()
        self._moment = (0, EPOCH)  # the last answer of now()
        self.lazy = LazyCommits(self)
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
        if not first:
            self.cluster.plant.node_restarted(self.name)
            self.cluster.plant.change(self.name, restart=True)
        settings.apply_all(self)
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
        self._hang_up(caller)
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

    # -- Host: time and identity -----------------------------------------------------------------------------------
    def now_s(self) -> float:
        """See :class:`aglab.tsql.Host`."""
        return self.cluster.clock.now_s

    def now(self) -> dt.datetime:
        """See :class:`aglab.tsql.Host`."""
        now_us = self.cluster.clock.now_us
        if now_us != self._moment[0]:
            self._moment = (now_us, EPOCH + dt.timedelta(microseconds=now_us))
        return self._moment[1]

    def server_property(self, name: str) -> Any:
        """See :class:`aglab.tsql.Host`."""
        known = {
            "servername": self.name,
            "machinename": self.name,
            "computernamephysicalnetbios": self.name,
            "ishadrenabled": int(self.hadr_enabled),
            "hadrmanagerstatus": 1 if self.hadr_enabled else 2,
            "processid": 9 + self.ordinal,
        }
        return known.get(name.lower())

    def view_rows(self, view: str, arguments: tuple[Any, ...], session: Session) -> Iterable[Any] | None:
        """See :class:`aglab.tsql.Host`."""
        if view == "sys.databases":  # the row itself is the catalogue's
            self.note_log_reuse()
            self.note_recovery()
        if view == "sys.index_resumable_operations":
            return list(rebuilds.rows(self, session.database))
        if view == "background tasks":
            return list(redo_threads.tasks(self))
        rows = views_server.rows(self, view, arguments)
        if rows is None:
            rows = views_hadr.rows(self, view)
        if rows is None:
            rows = backup_rows(self, view)
        if rows is None and view in ("sp_readerrorlog", "xp_readerrorlog"):
            rows = self.errorlog.rows(arguments)
        return rows

    def note_recovery(self) -> None:
        """Set the state of the group's databases: RECOVERING while a new primary redoes what it had hardened."""
        self.cluster.groups.sync()
        for group in self.cluster.groups.here(self.name):
            for name, copy in group.rules.nodes[self.name].databases.items():
                database = self.instance.database(name)
                if database is not None and database.options["state"] in (ONLINE, RECOVERING):
                    database.options["state"] = RECOVERING if copy.database_state == ag.DatabaseState.RECOVERING else ONLINE

    def backup_preferred(self, database: str) -> bool:
        """sys.fn_hadr_backup_is_preferred_replica."""
        return preferred(self, database)

    def note_log_reuse(self) -> None:
        """Set log_reuse_wait: who needs the oldest log (1 CHECKPOINT, 2 LOG_BACKUP, 9 AVAILABILITY_REPLICA, 13 OLDEST_PAGE)."""
        database = self.instance.database(self.database_name)
        gauges = self.cluster.plant.gauges(self.name)
        if database is None or not gauges:
            return
        end = gauges["lsn_end"]
        indirect = database.options["target_recovery_time_in_seconds"] > 0
        holders = [(gauges["lsn_backup"], 2)] if database.options["recovery_model"] != 3 else []
        holders.append((gauges["lsn_checkpoint"], 13 if indirect else 1))
        for other in self.cluster.plant.flow.names:
            if other != self.name:
                holders.append((self.cluster.plant.gauges(other)["lsn_redone"], 9))
        oldest, reason = min(holders, key=lambda one: one[0])
        database.options["log_reuse_wait"] = reason if end - oldest > LOG_REUSE_BYTES else 0

    def log_filled(self, at_s: float) -> None:
        """The load's log file is full: what the errorlog says, once."""
        problem = self.log_is_full()
        self.errorlog.write(self, f"Error: 9002, Severity: {problem.severity}, State: {problem.state}.", "spid62", at_s)
        self.errorlog.write(self, problem.text, "spid62", at_s)

    def log_is_full(self) -> TsqlError:
        """Error 9002 with the reason that sys.databases shows."""
        self.note_log_reuse()
        database = self.instance.database(self.database_name)
        wait = LOG_REUSE.get(database.options["log_reuse_wait"], "NOTHING") if database is not None else "NOTHING"
        return error(9002, self.database_name, wait)

    # -- Host: changes ---------------------------------------------------------------------------------------------
    def changed(self, change: Change, session: Session) -> Any:
        """See :class:`aglab.tsql.Host`."""
        self.cluster.dirty = True
        if change.scope in ("create_database", "drop_database", "file", "filegroup"):
            self.cluster.dirty_rows = True
        if change.scope == "drop_database":
            self._leave_before_drop(change.database)
            encryption.forget(self, change.database)
        try:
            settings.changed(self, change, session)
        except AglabError as error:
            raise TsqlError(50010, 16, 1, str(error)) from error
        if change.scope in ("create_database", "drop_database"):
            keep_database(self, change.database)

    def _leave_before_drop(self, database: str) -> None:
        group = self.cluster.groups.hosting(self.name, database)
        if group is not None:
            group.tell(events.DropCopy(self.name, group.local(self.name, database) or database))

    def administer(self, command: Command, session: Session) -> Any:
        """See :class:`aglab.tsql.Host`."""
        return settings.administer(self, command, session)

    def commit(self, record: CommitRecord, session: Session) -> Any:
        """See :class:`aglab.tsql.Host`."""
        group = self.cluster.groups.of(record.database)
        waits = None
        if group is not None and self._serves_copy(group, record.database):
            waits = group.commit(self.name, record)
        else:
            self.lazy.commit(record)
        self.note_log(record.database, record.log_bytes, 0 if record.memory_only else 1)
        self.page_writes.committed(self, record)
        return waits

    def volume_kind(self, path: str) -> str | None:
        """See :class:`aglab.tsql.Host`."""
        return persistent_memory.volume_kind(self, path)

    def replicates(self, database: str) -> bool:
        """See :class:`aglab.tsql.Host`."""
        return self.cluster.replicates(database)

    def _serves_copy(self, group: Availability, database: str) -> bool:
        """Whether the database here is a copy of the group's (and not one of the same name on a node outside it)."""
        copy = group.rules.nodes[self.name].databases.get(group.holds(database) or "")
        return copy is not None and copy.joined and group.rules.nodes[self.name].member

    def check_access(self, database: str, session: Session, for_write: bool) -> None:
        """See :class:`aglab.tsql.Host`."""
        found = self.instance.database(database)
        if found is not None and not session.is_sysadmin:
            need_entry(self.instance, session, found)
        if found is not None and found.options["state"] == 1:
            raise TsqlError(927, 14, 2, f"Database '{found.name}' cannot be opened. It is in the middle of a restore.")
        refused = self.refusal(database, bool(getattr(session, "read_only_intent", False)), for_write)
        if refused is not None:
            raise TsqlError(refused.number, refused.severity, refused.state, refused.text)
        if for_write and self.cluster.plant.log_full(self.name) and database.lower() == self.database_name.lower():
            raise self.log_is_full()

    def refusal(self, database: str, read_only_intent: bool = False, for_write: bool = False) -> Refused | None:
        """Why the availability group keeps a client from a database here, or None."""
        self.cluster.groups.sync()
        group = self.cluster.groups.hosting(self.name, database)
        name = group.local(self.name, database) if group is not None else None
        if group is not None and name is not None and group.rules.nodes[self.name].member:
            return ag.check_access(group.rules, self.name, name, read_only_intent, for_write)
        found = self.instance.database(database)
        return ag.refuse(927, found.name) if found is not None and found.options["state"] == RESTORING else None

    def adapter_procedure(self, name: str) -> AdapterProcedure | None:
        """A procedure of schema twin."""
        return self.cluster.adapter.procedure(self, name)

    def adapter(self, name: str) -> AdapterProcedure | None:
        """See :class:`aglab.tsql.Host`."""
        return self.adapter_procedure(name)

    def batch_started(self, session: Session, text: str) -> None:
        """See :class:`aglab.tsql.Host`."""
        counted = self.database_totals.setdefault("", {})
        counted["batch_requests"] = counted.get("batch_requests", 0.0) + 1

    def log_line(self, text: str, source: str = "Server") -> None:
        """A line of the errorlog at the node's time."""
        self.errorlog.write(self, text, source)

    def error_log(self, text: str) -> None:
        """See :class:`aglab.tsql.Host`."""
        self.errorlog.write(self, text)

    def kill(self, spid: int) -> None:
        """See :class:`aglab.tsql.Host`."""
        client = self.clients.get(spid)
        if client is not None:
            self.errorlog.write(self, f"Process ID {spid} was killed by a user.", source=f"spid{spid}")
            self.drop(client)
