"""When a commit may be acknowledged, which secondaries count as synchronized, and when the primary lets no one in.

The rule that keeps the promises: a primary acknowledges a commit only when every secondary database that is marked
synchronized in the configuration record has hardened it. To acknowledge alone it first has to mark the silent one as not
synchronized, which takes a writable record (cluster quorum). That is why a commit acknowledged while a replica was
SYNCHRONIZED survives a failover to it, and why after SESSION_TIMEOUT the primary goes on alone, exposed.

REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT: with fewer synchronized secondaries the database cannot be accessed at all (Msg
988, "lacks a quorum of nodes for high availability"), and commits that were waiting fail.
"""

from __future__ import annotations

from dataclasses import replace

from aglab.ag.effects import AvailabilityChanged, CommitAcknowledged, CommitFailed
from aglab.ag.messages import text_of
from aglab.ag.movement import MovementRules
from aglab.ag.spec import DatabaseState, SyncState
from aglab.ag.state import DatabaseReplica, NodeState, PendingCommit, View

BROKEN = "The connection is broken: the database changed its role or the instance ended."


class CommitRules(MovementRules):
    """Synchronization marks and commit acknowledgement."""

    def write_view(self, primary: NodeState, view: View) -> bool:
        """Change the configuration record if it can be written now; reachable nodes learn it at once."""
        if not self.store_writable(primary.name):
            return False
        primary.view = view
        self.newest = max(self.newest, view.version)
        self.tell_witness(primary.name, view.version)
        for one in self.followers(primary.name):
            if one.view.version < view.version:
                self.adopt(one, view)
        return True

    def settle_marks(self, primary: NodeState) -> None:
        """Mark secondary databases synchronized or not, as far as the record can be written."""
        ready = set(primary.view.ready)
        for node in self.nodes.values():
            follows = node.connected and node.view.primary == primary.name
            if node is primary or (follows and not self.linked(primary.name, node.name)):
                continue  # of a replica behind a cut link the primary learns nothing until the session times out
            for database, copy in node.databases.items():
                key = (node.name, database)
                source = primary.databases.get(database)
                if follows and copy.moving and source is not None:
                    self.acknowledge_hardening(node, copy)
                    self.note_catching_up(node, copy, source)
                known = source is not None and (key in ready or self.holds_all(copy, source))
                if follows and copy.moving and known and self.is_synchronized(node, copy):
                    ready.add(key)
                else:
                    ready.discard(key)
        ready = {key for key in ready if key[1] in primary.databases and key[0] in self.replicas}
        if ready != primary.view.ready:
            self.write_view(primary, primary.view.next(ready=frozenset(ready)))

    @staticmethod
    def holds_all(copy: DatabaseReplica, source: DatabaseReplica) -> bool:
        """The primary knows that a copy has hardened its whole log."""
        return copy.known_hardened >= source.hardened

    def note_catching_up(self, node: NodeState, copy: DatabaseReplica, source: DatabaseReplica) -> None:
        """A copy has caught up once it has hardened the end of log; a change to asynchronous commit makes it start over.

        It is then marked if the record can be written at that moment; a mark that could not be written waits for the next
        time that it has all of the log.
        """
        if self.holds_all(copy, source):
            copy.caught_up = True
            copy.caught_up_s = self.now_s
        if not self.commits_synchronously(node):
            copy.caught_up = False

    def is_synchronized(self, node: NodeState, copy: DatabaseReplica) -> bool:
        """A synchronous-commit copy that has caught up since its session began."""
        return copy.caught_up and copy.revert_done_s is None and self._undo_complete(copy) and self.commits_synchronously(node)

    @staticmethod
    def _undo_complete(copy: DatabaseReplica) -> bool:
        return copy.undo_lsn is None or copy.hardened >= copy.undo_lsn

    def synchronized_secondaries(self, primary: NodeState, database: str) -> list[str]:
        """Names of the replicas whose copy is marked synchronized: the commit participants."""
        return [node for node, name in primary.view.ready if name == database]

    def has_hardened(self, node: str, database: str, lsn: int) -> bool:
        """Whether the primary knows that a secondary has log on disk up to ``lsn``."""
        return self.nodes[node].databases[database].known_hardened >= lsn

    def may_acknowledge(self, primary: NodeState, commit: PendingCommit) -> bool:
        """The commit rule; see the module's text."""
        participants = self.synchronized_secondaries(primary, commit.database)
        here = all(self.has_hardened(one, commit.database, commit.lsn) for one in participants) and self.enough(participants)
        return here and self.beyond.hardened(commit.node, commit.database, commit.lsn)

    def enough(self, participants: list[str]) -> bool:
        """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT is met."""
        return len(participants) >= self.spec.required_synchronized_secondaries_to_commit

    def settle_commits(self) -> None:
        """Acknowledge or fail what waits; open or close the primary databases."""
        for name in self.primaries():
            self._settle_availability(self.nodes[name])
        if not self.pending:
            return
        waiting = []
        for commit in self.pending:
            node = self.nodes[commit.node]
            if not node.serves:
                self.fail_commit(commit, 0, BROKEN)
            elif not node.databases[commit.database].available:
                self.fail_commit(commit, 988, text_of(988, commit.database))
            elif self.may_acknowledge(node, commit):
                participants = tuple(sorted(self.synchronized_secondaries(node, commit.database)))
                waited_s = self.now_s - commit.since_s
                self.emit(CommitAcknowledged(commit.id, commit.node, commit.database, commit.lsn, waited_s, participants))
            else:
                waiting.append(commit)
        self.pending = waiting

    def break_connections(self, node: NodeState) -> None:
        """Clients of a node lose their connections, and with them what they waited for."""
        for commit in self.pending:
            if commit.node == node.name:
                self.fail_commit(commit, 0, BROKEN)
        self.pending = [one for one in self.pending if one.node != node.name]

    def fail_commit(self, commit: PendingCommit, number: int, text: str) -> None:
        """The client gets an error; the record is in the log and may survive."""
        self.emit(CommitFailed(commit.id, commit.node, commit.database, number, text))

    def _settle_availability(self, node: NodeState) -> None:
        for database, copy in node.databases.items():
            if copy.database_state == DatabaseState.RECOVERING and copy.redone >= copy.hardened:
                self.set_database_state(node, database, DatabaseState.ONLINE)
            met = self.enough(self.synchronized_secondaries(node, database)) and self.beyond.open(database)
            available = not node.superseded and met and self.not_alone(node)
            if available != copy.available:
                copy.available = available
                self.emit(AvailabilityChanged(node.name, database, available))

    def not_alone(self, node: NodeState) -> bool:
        """EXTERNAL with a majority rule: once the cluster has noticed, a primary without a majority serves nobody."""
        return node.has_quorum

    def drop_marks(self, view: View, node: str) -> View:
        """A view without the marks of one node."""
        return replace(view, ready=frozenset(key for key in view.ready if key[0] != node))

    def exposed(self, primary: NodeState, database: str) -> bool:
        """The primary acknowledges alone although synchronous secondaries are configured."""
        return bool(self.expected_partners(primary.name)) and not self.synchronized_secondaries(primary, database)

    def expected_partners(self, primary: str) -> list[str]:
        """Replicas that would take part in synchronous commit with this primary."""
        own = self.spec_of(primary)
        if own is None or not own.synchronous:
            return []
        return [one.name for one in self.replicas.values() if one.name != primary and one.synchronous]

    def failover_ready(self, view: View, node: str) -> bool:
        """Every database of the group is marked synchronized on a replica."""
        databases = self.spec.databases
        return bool(databases) and all((node, name) in view.ready for name in databases)

    def synchronization_health(self, node: NodeState) -> int:
        """0 not healthy, 1 partially, 2 healthy: the least healthy database of a replica."""
        spec = self.spec_of(node.name)
        if spec is None:
            return 0
        if not spec.holds_data:
            return 2 if node.up and (node.connected or node.role == node.role.PRIMARY) else 0
        health = [self.database_health(node, name) for name in self.spec.databases]
        return min(health, default=2 if node.connected or node.serves else 0)

    def database_health(self, node: NodeState, database: str) -> int:
        """synchronization_health of one copy."""
        copy, spec = node.databases.get(database), self.spec_of(node.name)
        if copy is None or spec is None:
            return 0
        if copy.sync_state == SyncState.SYNCHRONIZED:
            return 2
        if copy.sync_state == SyncState.SYNCHRONIZING:
            return 1 if spec.synchronous else 2
        return 0 if copy.sync_state == SyncState.NOT_SYNCHRONIZING else 1
