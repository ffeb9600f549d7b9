"""What a node answers the T-SQL interpreter: time, identity, rows of views, changes, commits, who may use a database.

:class:`aglab.twin.node.Node` is the :class:`aglab.tsql.Host`; this is the part of it that does not start or stop anything.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from aglab import ag
from aglab.ag import events
from aglab.ag.effects import Refused
from aglab.ag.spec import STATE_CODE
from aglab.core.errors import AglabError
from aglab.tsql import AdapterProcedure, Change, Command, CommitRecord, Session, TsqlError, error
from aglab.tsql.catalog.server import LOG_REUSE
from aglab.tsql.host import NOTHING_WANTED, Wanted
from aglab.tsql.permissions import need_entry
from aglab.twin import (
    encryption,
    persistent_memory,
    rebuilds,
    redo_threads,
    settings,
    views_hadr,
    views_server,
)
from aglab.twin.agent import VIEWS as AGENT_VIEWS
from aglab.twin.backups.history import preferred
from aglab.twin.backups.history import rows as backup_rows
from aglab.twin.backups.restores import note_mark
from aglab.twin.clock import EPOCH
from aglab.twin.keeping import keep_database
from aglab.twin.lazy_commits import LazyCommits
from aglab.twin.page_writes import PageWrites
from aglab.twin.requests import Requests

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.node import Node

ONLINE, RECOVERING = 0, 2  # state of sys.databases
RESTORING = STATE_CODE[ag.DatabaseState.RESTORING]
TAIL_MAX = 20_000  # commits kept for a restore to a point in time
LOG_REUSE_BYTES = 1024 * 1024  # less log than this between the end and what is kept counts as nothing to wait for


class HostAnswers(Requests):
    """The :class:`aglab.tsql.Host` half of :class:`aglab.twin.node.Node`."""

    hadr_enabled: bool
    ordinal: int
    lazy: LazyCommits
    log_tail: dict[str, list[tuple[float, CommitRecord]]]
    page_writes: PageWrites
    database_totals: dict[str, dict[str, float]]
    _moment: tuple[int, dt.datetime]

    @property
    def database_name(self) -> str:
        """The database that the engine's load runs on."""
        raise NotImplementedError

    @property
    def _me(self) -> Node:
        return cast("Node", self)

    def note_log(self, database: str, log_bytes: int, transactions: int = 1) -> None:
        """Count a user transaction's log in a database."""
        raise NotImplementedError

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

    def statement_begins(self) -> None:
        """See :class:`aglab.tsql.Host`."""
        self.cluster.clock.hold()

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

    def view_rows(
        self, view: str, arguments: tuple[Any, ...], session: Session, wanted: Wanted = NOTHING_WANTED
    ) -> Iterable[Any] | None:
        """See :class:`aglab.tsql.Host`."""
        if view == "sys.databases":  # the row itself is the catalogue's
            self.note_log_reuse()
            self.note_recovery()
        if view == "sys.index_resumable_operations":
            return list(rebuilds.rows(self._me, session.database))
        if view == "background tasks":
            return list(redo_threads.tasks(self._me))
        rows = views_server.rows(self._me, view, arguments, wanted)
        if rows is None:
            rows = views_hadr.rows(self._me, view)
        if rows is None:
            rows = backup_rows(self._me, view)
        if rows is None and view in AGENT_VIEWS:
            rows = list(AGENT_VIEWS[view](self._me))
        if rows is None and view in ("sp_readerrorlog", "xp_readerrorlog"):
            rows = self.errorlog.rows(arguments)
        if rows is None and view == "xp_enumerrorlogs":
            rows = self.errorlog.archives()
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
        return preferred(self._me, database)

    def note_log_reuse(self) -> None:
        """Set log_reuse_wait: who needs the oldest log (1 CHECKPOINT, 2 LOG_BACKUP, 9 AVAILABILITY_REPLICA, 13 OLDEST_PAGE)."""
        database = self.instance.database(self.database_name)
        gauges = self.cluster.plant.gauges(self.name)
        self._note_group_log(self.database_name if gauges else "")
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

    def _note_group_log(self, but: str) -> None:
        """The same for the other databases of availability groups, by the rules: log that a copy has yet to redo is kept."""
        for group in self.cluster.groups.here(self.name):
            for name, copy in group.rules.nodes[self.name].databases.items():
                database = self.instance.database(name)
                if database is not None and copy.joined and name.lower() != but.lower():
                    word = ag.log_reuse_wait(group.rules, self.name, name)
                    database.options["log_reuse_wait"] = next(one for one, known in LOG_REUSE.items() if known == word)

    def log_filled(self, at_s: float) -> None:
        """The load's log file is full: what the errorlog says, once."""
        problem = self.log_is_full()
        self.errorlog.write(self._me, f"Error: 9002, Severity: {problem.severity}, State: {problem.state}.", "spid62", at_s)
        self.errorlog.write(self._me, problem.text, "spid62", at_s)

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
            encryption.forget(self._me, change.database)
        try:
            settings.changed(self._me, change, session)
        except AglabError as error:
            raise TsqlError(50010, 16, 1, str(error)) from error
        if change.scope in ("create_database", "drop_database"):
            keep_database(self._me, change.database, gone=change.scope == "drop_database")

    def _leave_before_drop(self, database: str) -> None:
        group = self.cluster.groups.hosting(self.name, database)
        if group is not None:
            group.tell(events.DropCopy(self.name, group.local(self.name, database) or database))

    def administer(self, command: Command, session: Session) -> Any:
        """See :class:`aglab.tsql.Host`."""
        return settings.administer(self._me, command, session)

    def commit(self, record: CommitRecord, session: Session) -> Any:
        """See :class:`aglab.tsql.Host`."""
        group = self.cluster.groups.of(record.database)
        waits = None
        if group is not None and self._serves_copy(group, record.database):
            waits = group.commit(self.name, record)
        else:
            self.lazy.commit(record)
        if record.mark is not None:
            note_mark(self._me, record, session)
        tail = self.log_tail.get(record.database.lower())
        if tail is not None:
            tail.append((self.now_s(), record))
            if len(tail) > TAIL_MAX:
                del self.log_tail[record.database.lower()]
        self.note_log(record.database, record.log_bytes, 0 if record.memory_only else 1)
        self.page_writes.committed(self._me, record)
        return waits

    def volume_kind(self, path: str) -> str | None:
        """See :class:`aglab.tsql.Host`."""
        return persistent_memory.volume_kind(self._me, path)

    def replicates(self, database: str) -> bool:
        """See :class:`aglab.tsql.Host`."""
        return self.cluster.replicates(database)

    def _serves_copy(self, group: Availability, database: str) -> bool:
        """Whether the database here is a copy of the group's (and not one of the same name on a node outside it)."""
        copy = group.rules.nodes[self.name].databases.get(group.holds(database) or "")
        return copy is not None and copy.joined and group.rules.nodes[self.name].member

    def check_access(self, database: str, session: Session, for_write: bool, rows: bool = True) -> None:
        """See :class:`aglab.tsql.Host`."""
        found = self.instance.database(database)
        if found is not None and not session.is_sysadmin:
            need_entry(session.environment or self.instance, session, found)
        if found is not None and found.options["state"] == 1:
            raise TsqlError(927, 14, 2, f"Database '{found.name}' cannot be opened. It is in the middle of a restore.")
        refused = self.refusal(database, bool(getattr(session, "read_only_intent", False)), for_write)
        if refused is not None:
            raise TsqlError(refused.number, refused.severity, refused.state, refused.text)
        mine = database.lower() == self.database_name.lower()
        if for_write and rows and mine and self.cluster.plant.log_full(self.name):
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
        return self.cluster.adapter.procedure(self._me, name)

    def adapter(self, name: str) -> AdapterProcedure | None:
        """See :class:`aglab.tsql.Host`."""
        return self.adapter_procedure(name)

    def batch_started(self, session: Session, text: str) -> None:
        """See :class:`aglab.tsql.Host`."""
        counted = self.database_totals.setdefault("", {})
        counted["batch_requests"] = counted.get("batch_requests", 0.0) + 1

    def log_line(self, text: str, source: str = "Server") -> None:
        """A line of the errorlog at the node's time."""
        self.errorlog.write(self._me, text, source)

    def error_log(self, text: str) -> None:
        """See :class:`aglab.tsql.Host`."""
        self.errorlog.write(self._me, text)

    def kill(self, spid: int) -> None:
        """See :class:`aglab.tsql.Host`."""
        client = self.clients.get(spid)
        if client is not None:
            self.errorlog.write(self._me, f"Process ID {spid} was killed by a user.", source=f"spid{spid}")
            self.drop(client)
