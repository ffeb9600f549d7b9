"""The availability group: :meth:`Group.apply` takes an event and the time, and returns what happened.

Pure rules: no clock, no randomness, no network. The same events at the same times give the same effects. Local flushes are
outside: a :class:`~aglab.ag.events.Commit` says that the record is on the primary's disk.

Distributed groups: :mod:`aglab.ag.distributed`. Left out: pages and rows, the content of log, what the system databases of a
contained group hold (the twin's business; here they are databases that cannot leave),
delays of role changes (they happen within one event; recovery
and undo do take time).
"""

from __future__ import annotations

import copy as copying
from collections.abc import Callable
from typing import Any, ClassVar

from aglab.ag import events as ev
from aglab.ag.effects import CommitLogged, Effect
from aglab.ag.forming import FormingRules
from aglab.ag.messages import AgRefusal
from aglab.ag.spec import (
    ClusterType,
    DatabaseState,
    OperationalState,
    Role,
    SuspendReason,
)
from aglab.ag.state import DatabaseReplica, NodeState, PendingCommit
from aglab.core.errors import field_error, unknown_name

SETTLE_PASSES_MAX = 6


class Group(FormingRules):
    """One availability group on a cluster of nodes."""

    # --- events --------------------------------------------------------------------------------------------------------

    def apply(self, event: ev.Event, now_s: float) -> list[Effect]:
        """Take an event at a time (seconds, never going back) and return its effects.

        A statement that SQL Server refuses gives one :class:`~aglab.ag.effects.Refused` (beside what the cluster did meanwhile).
        Names of nodes that the cluster does not have, and times before the last one, are
        :class:`~aglab.core.errors.UsageError`.
        """
        if now_s < self.now_s:
            raise field_error(
                "now_s", now_s, f"must be >= {self.now_s}", f"group {self.name!r}", "apply events in the order of time"
            )
        self._check_names(event)
        self.now_s = now_s
        self.effects = []
        try:
            self._handlers[type(event)](self, event)
        except AgRefusal as refusal:
            self.effects.append(refusal.effect)
        self._settle()
        return self.effects

    def _check_names(self, event: ev.Event) -> None:
        for attribute in ("node", "one", "other"):
            name = getattr(event, attribute, None)
            if name is not None and name not in self.nodes:
                raise unknown_name("node", name, list(self.nodes))

    def _settle(self) -> None:
        """Let everything follow from what is so: roles, sessions, marks, commits, states."""
        for _ in range(SETTLE_PASSES_MAX):
            before = self._fingerprint()
            self.spread_views()
            self.settle_roles()
            self.settle_sessions()
            self.settle_orphans()
            for name in self.primaries():
                if self.nodes[name].serves:
                    self.settle_marks(self.nodes[name])
            if self._fingerprint() == before:
                break
        self.settle_commits()
        self.settle_states()

    def _fingerprint(self) -> tuple[Any, ...]:
        return tuple((one.role, one.connected, one.view, one.superseded) for one in self.nodes.values())

    def _commit(self, event: ev.Commit) -> None:
        copy = self._writable(event.node, event.database)
        copy_end = self._append(copy, event.database, event.log_bytes)
        self.ledgers[event.database].log_commit(event.id, copy.fork, copy_end, self.now_s)
        self.pending.append(PendingCommit(event.id, event.node, event.database, copy_end, self.now_s))
        self.emit(CommitLogged(event.id, event.node, event.database, copy_end))

    def _write_log(self, event: ev.WriteLog) -> None:
        self._append(self._writable(event.node, event.database), event.database, event.log_bytes)

    def _writable(self, name: str, database: str) -> DatabaseReplica:
        node = self.nodes[name]
        copy = node.databases.get(database)
        self.check(node.up and node.member and copy is not None, 41100, self.name)
        assert copy is not None
        self.check(node.role != Role.RESOLVING, 983, database)
        self.check(node.role == Role.PRIMARY and not self.beyond.fed(), 3906, database)
        self.check(copy.database_state != DatabaseState.RECOVERING, 922, database)
        self.check(copy.database_state == DatabaseState.ONLINE, 945, database)
        self.check(copy.available, 988, database)
        return copy

    def _append(self, copy: DatabaseReplica, database: str, log_bytes: int) -> int:
        if log_bytes <= 0:
            raise field_error(
                "log_bytes", log_bytes, "must be > 0", f"group {self.name!r}", "a commit record alone takes 100 bytes"
            )
        for other in self.copies(database).values():
            if other.moving and self.holds_all(other, copy):
                other.caught_up_s = self.now_s
        end = copy.hardened + log_bytes
        copy.sent = copy.received = copy.hardened = copy.redone = copy.known_hardened = end
        copy.hardened_s = self.now_s
        return end

    def _log_backup(self, event: ev.LogBackup) -> None:
        copy = self._writable(event.node, event.database)
        copy.backed_up = copy.hardened
        ledger = self.ledgers[event.database]
        ledger.forks[copy.fork].backed_up = True
        shared = [
            min(one.redone, ledger.common_lsn(one.fork, one.hardened, copy.fork, copy.hardened))
            for one in [*self.copies(event.database).values(), *self.beyond.copies(event.database)]
        ]
        ledger.forget_below(min(shared))

    def _move(self, event: Any) -> None:
        copy = self.nodes[event.node].databases.get(event.database)
        node = self.nodes[event.node]
        if copy is None or not copy.joined:
            return
        if isinstance(event, ev.Progress):
            steps = (
                (self.send, event.sent_lsn),
                (self.receive, event.received_lsn),
                (self.harden, event.hardened_lsn),
                (self.redo, event.redone_lsn),
            )
            for step, position in steps:
                if position is not None:
                    step(node, event.database, position)
            return
        step = {ev.Send: self.send, ev.Receive: self.receive, ev.Harden: self.harden, ev.Redo: self.redo}[type(event)]
        step(node, event.database, event.to_lsn)

    def _catch_up(self, event: ev.CatchUp) -> None:
        for node in self.nodes.values():
            if event.node not in (None, node.name):
                continue
            for database, copy in node.databases.items():
                if event.database not in (None, database) or not copy.joined:
                    continue
                for step in (self.send, self.receive, self.harden, self.redo):
                    step(node, database, None)

    def _tick(self, event: ev.Tick) -> None:
        self.time_out_sessions()
        for name, (level, since_s) in list(self.faults.items()):
            if self.now_s - since_s >= self.spec.health_check_timeout_ms / 1000:
                del self.faults[name]
                self.health_fault(name, level)
        if self.regroup_at_s is not None and self.now_s >= self.regroup_at_s:
            self.regroup()

    def _crash(self, event: ev.Crash) -> None:
        node = self.nodes[event.node]
        if not node.up:
            return
        if node.connected:
            self.disconnect(node, timed_out=False)
        node.up = False
        self.break_connections(node)
        for database, copy in node.databases.items():
            self._lose_memory(node, database, copy)
        if node.member:
            self.set_role(node.name, Role.RESOLVING, "shutdown", OperationalState.OFFLINE)
        self.faults.pop(node.name, None)
        self.ill.pop(node.name, None)
        self.note_failure()

    def _lose_memory(self, node: NodeState, database: str, copy: DatabaseReplica) -> None:
        """What was only received is gone; a suspended copy stays suspended after the restart."""
        copy.received = copy.sent = copy.hardened
        if copy.suspended is not None:
            copy.suspended = SuspendReason.RESTART if copy.suspended != SuspendReason.USER else copy.suspended

    def _start(self, event: ev.Start) -> None:
        node = self.nodes[event.node]
        if node.up:
            return
        node.up = True
        node.has_quorum = self.has_majority(self.part_of(node.name))
        self.note_failure()
        if not node.member:
            return
        self.log(node.name, 41058, self.name)
        self.set_role(node.name, Role.RESOLVING, "startup")
        if self.cluster_type == ClusterType.NONE and node.view.primary == node.name and not node.offline:
            self._resume_primary(node)
        elif self.cluster_type == ClusterType.EXTERNAL and not self.managed:
            self.spread_views()
            if self.resumes_primary(node) and node.has_quorum:
                self._resume_primary(node)

    def _cut(self, event: ev.Cut) -> None:
        if event.one != event.other:
            self.cuts.add(frozenset((event.one, event.other)))
            self.note_failure()

    def _heal(self, event: ev.Heal) -> None:
        self.cuts.discard(frozenset((event.one, event.other)))
        self.note_failure()

    def _endpoints(self, event: ev.Endpoints) -> None:
        self.closed = set(event.closed)

    def _health_fault(self, event: ev.HealthFault) -> None:
        if event.level == 0:
            self.faults.pop(event.node, None)
            self.ill.pop(event.node, None)
        elif event.level == 2:
            self.faults.setdefault(event.node, (2, self.now_s))
        else:
            self.ill[event.node] = min(event.level, self.ill.get(event.node, event.level))
            self.health_fault(event.node, event.level)

    def _movement_fault(self, event: ev.MovementFault) -> None:
        node = self.nodes[event.node]
        copy = node.databases.get(event.database)
        if copy is not None and copy.joined and node.up and node.role == Role.SECONDARY:
            self.suspend_copy(node, event.database, event.reason)

    def _force_quorum(self, event: ev.ForceQuorum) -> None:
        self.force_quorum(event.node)

    _handlers: ClassVar[dict[type, Callable[[Group, Any], None]]] = {
        ev.Commit: _commit,
        ev.WriteLog: _write_log,
        ev.LogBackup: _log_backup,
        ev.Send: _move,
        ev.Receive: _move,
        ev.Harden: _move,
        ev.Redo: _move,
        ev.Progress: _move,
        ev.CatchUp: _catch_up,
        ev.SeedDone: lambda self, event: self.seed_done(event.node, event.database),
        ev.SeedFailed: lambda self, event: self.seed_failed(event.node, event.database, event.text),
        ev.Tick: _tick,
        ev.Crash: _crash,
        ev.Start: _start,
        ev.Cut: _cut,
        ev.Heal: _heal,
        ev.Endpoints: _endpoints,
        ev.HealthFault: _health_fault,
        ev.DatabaseFault: lambda self, event: self.database_fault(event.node, event.database, event.state),
        ev.MovementFault: _movement_fault,
        ev.ForceQuorum: _force_quorum,
        ev.Suspend: lambda self, event: self.suspend(event.node, event.database),
        ev.Resume: lambda self, event: self.resume(event.node, event.database),
        ev.Failover: lambda self, event: self.planned_failover(event.node, event.external_cluster),
        ev.ForceFailover: lambda self, event: self.forced_failover(event.node, event.external_cluster),
        ev.Offline: lambda self, event: self.take_offline(event.node),
        ev.SetRoleSecondary: lambda self, event: self.set_role_secondary(event.node),
        ev.Join: lambda self, event: self.join(event.node, event.cluster_type),
        ev.GrantCreateDatabase: lambda self, event: self.grant_create_database(event.node, event.grant),
        ev.AddReplica: lambda self, event: self.add_replica(event.node, event.replica),
        ev.RemoveReplica: lambda self, event: self.remove_replica(event.node, event.replica),
        ev.ModifyReplica: lambda self, event: self.modify_replica(event.node, event.replica, event.changes),
        ev.SetOption: lambda self, event: self.set_options(event.node, event.changes),
        ev.AddDatabase: lambda self, event: self.add_database(event.node, event.database, event.size_bytes),
        ev.RemoveDatabase: lambda self, event: self.remove_database(event.node, event.database),
        ev.JoinDatabase: lambda self, event: self.join_database(event.node, event.database, event.restored_lsn),
        ev.UnjoinDatabase: lambda self, event: self.unjoin_database(event.node, event.database),
        ev.DropCopy: lambda self, event: self.drop_copy(event.node, event.database),
        ev.SetListener: lambda self, event: self.set_listener(event.node, event.listener),
        ev.Drop: lambda self, event: self.drop(event.node),
    }

    # --- reading ---------------------------------------------------------------------------------------------------------

    def primary(self) -> str | None:
        """The node that clients of the listener reach: the newest primary that serves."""
        serving = [one for one in self.nodes.values() if one.serves]
        best = max(serving, key=lambda one: one.view.version, default=None)
        return best.name if best is not None else None

    def copy(self) -> Group:
        """An independent copy (a snapshot)."""
        return copying.deepcopy(self)

    def next_timer_s(self) -> float | None:
        """When a :class:`~aglab.ag.events.Tick` would next do something, or None."""
        times = [self.regroup_at_s] if self.regroup_at_s is not None else []
        for node in self.nodes.values():
            if node.connected and node.silent_since_s is not None:
                primary = self.primary_of(node)
                spec = self.spec_of(primary.name) if primary is not None else None
                if spec is not None:
                    times.append(node.silent_since_s + spec.session_timeout_s)
            times += [copy.revert_done_s for copy in node.databases.values() if copy.moving and copy.revert_done_s is not None]
        times += [since_s + self.spec.health_check_timeout_ms / 1000 for _, since_s in self.faults.values()]
        return min(times, default=None)
