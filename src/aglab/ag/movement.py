"""Sessions between replicas and the movement of log: sent, received, hardened, redone; and undo of a diverged copy.

What is documented and modelled: a secondary that stops answering is waited for until SESSION_TIMEOUT, then it is DISCONNECTED
and its databases are NOT SYNCHRONIZING; an instance that ends closes its connection at once. A copy whose log goes beyond the
point where the current primary's recovery fork began is rewound: REVERTING while pages come from the primary (only where redo
had passed that point), INITIALIZING until the log is hardened up to the undo LSN, then SYNCHRONIZING. Log that was received
but not hardened is gone when the instance ends.
"""

from __future__ import annotations

from aglab.ag.cluster import ClusterRules
from aglab.ag.effects import Connected, DatabaseStateChanged, Disconnected, Resumed, Rewound, Suspended, SyncStateChanged
from aglab.ag.messages import text_of
from aglab.ag.spec import DatabaseState, Role, SuspendReason, SyncState
from aglab.ag.state import DatabaseReplica, NodeState, View

OPEN_STATES = (DatabaseState.ONLINE, DatabaseState.RECOVERING)
FORKS_TRACKED = 2  # recovery forks a secondary can follow without a log backup on each


class MovementRules(ClusterRules):
    """Sessions, positions, undo."""

    # --- sessions --------------------------------------------------------------------------------------------------

    def primary_of(self, node: NodeState) -> NodeState | None:
        """The node that a secondary takes for its primary."""
        name = node.view.primary
        return self.nodes[name] if name is not None and name != node.name else None

    def session_possible(self, node: NodeState) -> bool:
        """Whether a secondary and its primary agree on each other, messages aside."""
        primary = self.primary_of(node)
        return (
            primary is not None
            and node.up
            and primary.up
            and node.member
            and node.role == Role.SECONDARY
            and primary.role == Role.PRIMARY
            and not primary.superseded
            and node.name in self.replicas
            and node.orphan is None
            and primary.view.epoch == node.view.epoch
        )

    def settle_sessions(self) -> None:
        """Connect what can connect, disconnect what ended; a cut link is only noticed by the timeouts."""
        for node in self.nodes.values():
            if node.role not in (Role.SECONDARY, Role.RESOLVING) and not node.connected:
                continue
            possible = self.session_possible(node)
            primary = self.primary_of(node)
            if node.connected:
                if not possible or (primary is not None and frozenset((primary.name, node.name)) in self.closed):
                    self.disconnect(node, timed_out=False)
                elif primary is not None and not self.linked(primary.name, node.name):
                    if node.silent_since_s is None:
                        node.silent_since_s = self.now_s
                else:
                    node.silent_since_s = None
            if possible and not node.connected and primary is not None and self.reachable(primary.name, node.name):
                self.connect(primary, node)
            if node.connected and primary is not None:
                self._settle_movement(primary, node)

    def adopt(self, node: NodeState, view: View) -> None:
        """A node learns a newer configuration record; a session with another epoch's primary ends."""
        if node.connected and view.epoch != node.view.epoch:
            self.disconnect(node, timed_out=False)
        node.view = view

    def connect(self, primary: NodeState, node: NodeState) -> None:
        """The session begins."""
        node.connected = True
        node.silent_since_s = None
        node.view = primary.view
        node.last_error = None
        self.emit(Connected(primary.name, node.name))
        ids = (str(self.replica_id(primary.name)).upper(), str(self.replica_id(node.name)).upper())
        self.log(primary.name, 35202, self.name, primary.name, ids[0], node.name, ids[1])
        self.log(node.name, 35202, self.name, node.name, ids[1], primary.name, ids[0])

    def disconnect(self, node: NodeState, timed_out: bool) -> None:
        """The session ends; data movement with it."""
        primary = self.primary_of(node)
        node.connected = False
        node.silent_since_s = None
        for database in node.databases:
            self.stop_movement(node, database)
        if primary is None:
            return
        self.emit(Disconnected(primary.name, node.name, timed_out))
        error = (35206, text_of(35206, node.name, str(self.replica_id(node.name)).upper()), self.now_s)
        node.last_error = error
        if timed_out:
            self.log(primary.name, 35206, node.name, error[1].split("[")[1].split("]")[0])
            self.log(node.name, 35206, primary.name, str(self.replica_id(primary.name)).upper())
        for database, copy in node.databases.items():
            if copy.joined:
                replica = str(self.replica_id(node.name)).upper()
                self.log(primary.name, 35267, "secondary", "primary", database, node.name, replica)
                self.log(
                    node.name, 35267, "primary", "secondary", database, primary.name, str(self.replica_id(primary.name)).upper()
                )

    def time_out_sessions(self) -> None:
        """End the sessions that have been silent for the primary's SESSION_TIMEOUT."""
        for node in self.nodes.values():
            if not node.connected or node.silent_since_s is None:
                continue
            primary = self.primary_of(node)
            spec = self.spec_of(primary.name) if primary else None
            if spec is None or self.now_s - node.silent_since_s >= spec.session_timeout_s:
                self.disconnect(node, timed_out=True)

    # --- movement of one database ------------------------------------------------------------------------------------

    def _settle_movement(self, primary: NodeState, node: NodeState) -> None:
        for database, copy in node.databases.items():
            source = primary.databases.get(database)
            if source is None:
                continue
            usable = all(one.joined and one.database_state in OPEN_STATES for one in (copy, source))
            wanted = usable and copy.suspended is None and source.suspended is None and self.holds_data(node.name)
            if copy.moving and not wanted:
                self.stop_movement(node, database)
            elif wanted and not copy.moving and node.silent_since_s is None:
                self.start_movement(primary, node, database)
            elif copy.revert_done_s is not None and self.now_s >= copy.revert_done_s and node.silent_since_s is None:
                self._finish_revert(source, node, database)

    def holds_data(self, node: str) -> bool:
        """False on a CONFIGURATION_ONLY replica."""
        spec = self.spec_of(node)
        return spec is not None and spec.holds_data

    def start_movement(self, primary: NodeState, node: NodeState, database: str) -> None:
        """Agree on the common log point, rewind what the primary never had, and begin to move log."""
        copy, source = node.databases[database], primary.databases[database]
        ledger = self.ledgers[database]
        if copy.fork != source.fork:
            apart = ledger.forks_apart(copy.fork, source.fork)
            common = ledger.common_lsn(copy.fork, copy.hardened, source.fork, source.hardened)
            if common < copy.hardened and self._too_many_forks(database, apart):
                self.suspend_copy(node, database, SuspendReason.REVALIDATION)
                self.log(node.name, 1408, database)
                return
            if common < copy.hardened:
                self.rewind(node, database, common)
            copy.fork = source.fork
        copy.moving = True
        copy.caught_up = False
        copy.received = copy.hardened
        copy.sent = copy.hardened
        copy.known_hardened = copy.hardened
        copy.database_state = self._set_state(node, database, DatabaseState.ONLINE)
        self.log(primary.name, 35266, "secondary", "primary", database, node.name, str(self.replica_id(node.name)).upper())
        self.log(node.name, 35266, "primary", "secondary", database, primary.name, str(self.replica_id(primary.name)).upper())

    def _too_many_forks(self, database: str, apart: list[int]) -> bool:
        forks = self.ledgers[database].forks
        return len(apart) > FORKS_TRACKED and not all(forks[one].backed_up for one in apart[FORKS_TRACKED - 1 :])

    def rewind(self, node: NodeState, database: str, to_lsn: int) -> None:
        """Undo: give up hardened log above ``to_lsn``; pages come from the primary where redo had passed it."""
        copy = node.databases[database]
        lost = self.ledgers[database].commits_between(copy.fork, to_lsn, copy.hardened)
        self.emit(Rewound(node.name, database, copy.hardened, to_lsn, lost))
        self.log(node.name, 35278, database)
        if copy.redone > to_lsn:
            undone_bytes = copy.redone - to_lsn
            delay_s = undone_bytes / self.timing.undo_bytes_s if self.timing.undo_bytes_s > 0 else 0.0
            copy.revert_done_s = self.now_s + delay_s
            copy.redone = to_lsn
        copy.hardened = copy.received = copy.sent = copy.known_hardened = to_lsn
        copy.recovery_lsn = to_lsn

    def _finish_revert(self, source: DatabaseReplica, node: NodeState, database: str) -> None:
        copy = node.databases[database]
        copy.revert_done_s = None
        copy.undo_lsn = source.hardened if source.hardened > copy.hardened else None

    def stop_movement(self, node: NodeState, database: str) -> None:
        """No more log for this copy; what it has in memory reaches its disk or not by itself."""
        copy = node.databases[database]
        copy.moving = False
        copy.caught_up = False
        copy.sent = copy.received
        copy.revert_done_s, copy.undo_lsn = self._interrupted_undo(copy)

    @staticmethod
    def _interrupted_undo(copy: DatabaseReplica) -> tuple[float | None, int | None]:
        """An undo that was interrupted stays open: it goes on when the session is back."""
        return copy.revert_done_s, copy.undo_lsn

    def suspend_copy(self, node: NodeState, database: str, reason: SuspendReason) -> None:
        """Stop a database's movement on this replica until it is resumed here."""
        copy = node.databases[database]
        if copy.suspended is not None:
            return
        copy.suspended = reason
        if copy.moving:
            self.stop_movement(node, database)
        self.emit(Suspended(node.name, database, reason))
        source_id = {SuspendReason.USER: 0, SuspendReason.PARTNER: 1}.get(reason, 2)
        words = {SuspendReason.USER: "user", SuspendReason.PARTNER: "failover from partner"}.get(reason, "system")
        self.log(node.name, 35264, database, words, source_id, reason.value)

    def resume_copy(self, node: NodeState, database: str) -> None:
        """Let a database move again."""
        copy = node.databases[database]
        if copy.suspended is None:
            return
        copy.suspended = None
        self.emit(Resumed(node.name, database))
        self.log(node.name, 35265, database)

    # --- progress ----------------------------------------------------------------------------------------------------

    def send(self, node: NodeState, database: str, to_lsn: int | None) -> None:
        """The primary puts log on the wire."""
        copy, source = node.databases[database], self._source(node, database)
        if source is None or not copy.moving or copy.revert_done_s is not None or not self._carries(node):
            return
        position = self._clamp(to_lsn, copy.sent, source.hardened)
        if position > copy.sent:
            copy.sent, copy.sent_s = position, self.now_s

    def receive(self, node: NodeState, database: str, to_lsn: int | None) -> None:
        """The secondary has it in memory."""
        copy = node.databases[database]
        if not copy.moving or not self._carries(node):
            return
        position = self._clamp(to_lsn, copy.received, copy.sent)
        if position > copy.received:
            copy.received, copy.received_s = position, self.now_s

    def harden(self, node: NodeState, database: str, to_lsn: int | None) -> None:
        """The secondary has it on disk; the primary learns of it if the link carries the answer."""
        copy = node.databases[database]
        if not node.up or node.role == Role.PRIMARY:
            return
        position = self._clamp(to_lsn, copy.hardened, copy.received)
        if position > copy.hardened:
            copy.hardened, copy.hardened_s = position, self.now_s

    def redo(self, node: NodeState, database: str, to_lsn: int | None) -> None:
        """The secondary has applied it; a new primary that has applied everything opens its database."""
        copy = node.databases[database]
        if not node.up or copy.revert_done_s is not None:
            return
        position = self._clamp(to_lsn, copy.redone, self.redo_limit(copy))
        if position > copy.redone:
            copy.redone, copy.redone_s = position, self.now_s

    @staticmethod
    def redo_limit(copy: DatabaseReplica) -> int:
        """Only hardened log is redone."""
        return copy.hardened

    @staticmethod
    def _clamp(to_lsn: int | None, now: int, limit: int) -> int:
        return max(now, limit if to_lsn is None else min(to_lsn, limit))

    def _source(self, node: NodeState, database: str) -> DatabaseReplica | None:
        primary = self.primary_of(node)
        return primary.databases.get(database) if primary is not None else None

    def _carries(self, node: NodeState) -> bool:
        primary = self.primary_of(node)
        return node.connected and primary is not None and self.reachable(primary.name, node.name)

    def acknowledge_hardening(self, node: NodeState, copy: DatabaseReplica) -> None:
        """The primary learns how far a secondary has hardened."""
        if copy.moving and copy.known_hardened != copy.hardened and self._carries(node):
            copy.known_hardened = copy.hardened

    # --- states --------------------------------------------------------------------------------------------------------

    def settle_states(self) -> None:
        """synchronization_state of every copy, from what is so."""
        for node in self.nodes.values():
            for database, copy in node.databases.items():
                new = self.synchronization_state(node, database)
                if new != copy.sync_state:
                    self.emit(SyncStateChanged(node.name, database, copy.sync_state, new))
                    copy.sync_state = new

    def synchronization_state(self, node: NodeState, database: str) -> SyncState:
        """The documented state of a copy as its own instance (and a connected primary) sees it."""
        copy = node.databases[database]
        if not node.up or not copy.joined or copy.database_state == DatabaseState.SUSPECT:
            return SyncState.NOT_SYNCHRONIZING
        if node.role == Role.PRIMARY:
            if copy.suspended is not None or node.superseded:
                return SyncState.NOT_SYNCHRONIZING
            spec = self.spec_of(node.name)
            return SyncState.SYNCHRONIZED if spec is not None and spec.synchronous else SyncState.SYNCHRONIZING
        if not copy.moving:
            return SyncState.NOT_SYNCHRONIZING
        if copy.revert_done_s is not None:
            return SyncState.REVERTING
        if copy.undo_lsn is not None:
            if copy.hardened < copy.undo_lsn:
                return SyncState.INITIALIZING
            copy.undo_lsn = None
        primary = self.primary_of(node)
        ready = primary is not None and (node.name, database) in primary.view.ready
        return SyncState.SYNCHRONIZED if ready and self.commits_synchronously(node) else SyncState.SYNCHRONIZING

    def commits_synchronously(self, node: NodeState) -> bool:
        """Both ends are configured for synchronous commit."""
        primary = self.primary_of(node)
        mine, theirs = self.spec_of(node.name), self.spec_of(primary.name) if primary else None
        return mine is not None and theirs is not None and mine.synchronous and theirs.synchronous

    def _set_state(self, node: NodeState, database: str, new: DatabaseState) -> DatabaseState:
        old = node.databases[database].database_state
        if old != new:
            self.emit(DatabaseStateChanged(node.name, database, old, new))
        return new

    def set_database_state(self, node: NodeState, database: str, new: DatabaseState) -> None:
        """Change a database's state, saying so."""
        node.databases[database].database_state = self._set_state(node, database, new)
