"""Joining and leaving: replicas that join or are thrown out, databases that are added, seeded, joined and removed, DROP.

Checks and their error numbers follow ALTER AVAILABILITY GROUP and ALTER DATABASE SET HADR (SQL Server documentation).
"""

from __future__ import annotations

from aglab.ag.effects import DatabaseJoined, DatabaseLeft
from aglab.ag.failover import FailoverRules
from aglab.ag.ledger import Ledger
from aglab.ag.spec import BASIC_DATABASES_MAX, ClusterType, DatabaseState, ReplicaSpec, Role
from aglab.ag.state import DatabaseReplica, NodeState


class MembershipRules(FailoverRules):
    """Who and what belongs to the group."""

    def primary_member(self, name: str) -> NodeState:
        """The node of a statement that only a primary takes, while the record can be written."""
        node = self.member(name)
        self.check(node.role == Role.PRIMARY and not node.superseded, 41140, self.name)
        self.check(self.store_writable(name), 41190, self.name, "ALTER", "SET")
        return node

    def settle_orphans(self) -> None:
        """Removed replicas that reach the group again leave it.

        On WSFC the local replica goes at once. Otherwise the instance keeps the group in its metadata, without a role, until DROP
        AVAILABILITY GROUP runs there; an old primary keeps even its role.
        """
        for node in self.nodes.values():
            if self.dropped and node.member and node.up and node.has_quorum:
                self.log(node.name, 41096, self.name)
                self.leave(node)
            if node.orphan is None or not node.up or node.role == Role.PRIMARY:
                continue
            if any(one.serves and one.name in self.replicas and self.linked(one.name, node.name) for one in self.nodes.values()):
                if self.cluster_type == ClusterType.WSFC:
                    self.log(node.name, 41096, self.name)
                    self.leave(node)
                else:
                    self._strand(node)

    def _strand(self, node: NodeState) -> None:
        if node.connected:
            self.disconnect(node, timed_out=False)
        for database, copy in node.databases.items():
            if copy.joined:
                self.unjoin(node, database)
        self.set_role(node.name, Role.RESOLVING, "removed")

    def leave(self, node: NodeState) -> None:
        """The instance hosts no replica any more; its copies are left RESTORING."""
        if node.connected:
            self.disconnect(node, timed_out=False)
        self.break_connections(node)
        for database in list(node.databases):
            self.unjoin(node, database)
        self.set_role(node.name, Role.NONE, "removed")
        node.member, node.orphan, node.offline, node.may_create_databases = False, None, False, False

    # --- joining and leaving -------------------------------------------------------------------------------------------

    def join(self, name: str, cluster_type: str) -> None:
        """JOIN on a secondary."""
        node = self.nodes[name]
        self.check(not node.member, 41106, self.name)
        self.check(not self.dropped, 41100, self.name)
        fits = (cluster_type or ClusterType.WSFC.value).upper() == self.cluster_type.value
        self.check(fits, 47100, self.name)
        primary = self._reachable_primary(node)
        if self.cluster_type == ClusterType.WSFC:
            self.check(name in self.replicas, 41100, self.name)
            self.check(primary is not None, 35250)
        self.check(primary is not None and name in self.replicas, 47106, self.name)
        assert primary is not None
        node.member, node.joined_once, node.orphan, node.offline = True, True, None, False
        node.view, node.has_quorum = primary.view, primary.has_quorum
        self.log(name, 41058, self.name)
        self.set_role(name, Role.RESOLVING, "startup")
        for database, copy in node.databases.items():
            if database in self.spec.databases and copy.seeding is None and not copy.joined:
                self._rejoin(node, database)
        self.set_role(name, Role.SECONDARY, "joining")
        self.start_seeding()

    def _rejoin(self, node: NodeState, database: str) -> None:
        """A copy left RESTORING by an earlier membership catches up instead of being copied again."""
        copy = node.databases[database]
        if copy.database_state == DatabaseState.RESTORING and (self.replicas[node.name].seeding_mode == "AUTOMATIC"):
            copy.joined, copy.suspended = True, None
            self.set_database_state(node, database, DatabaseState.ONLINE)

    def _reachable_primary(self, node: NodeState) -> NodeState | None:
        serving = [
            one for one in self.nodes.values() if one.serves and one.name in self.replicas and self.reachable(one.name, node.name)
        ]
        return max(serving, key=lambda one: one.view.version, default=None)

    def grant_create_database(self, name: str, grant: bool) -> None:
        """GRANT or DENY CREATE ANY DATABASE: automatic seeding needs it on the secondary."""
        node = self.member(name)
        node.may_create_databases = grant
        self.start_seeding()

    def add_database(self, name: str, database: str, size_bytes: int) -> None:
        """ADD DATABASE on the primary."""
        node = self.primary_member(name)
        self.check(database not in self.spec.databases, 35280, database, self.name)
        self.check(not (self.spec.basic and len(self.spec.databases) >= BASIC_DATABASES_MAX), 35200, database, self.name, 1)
        self.spec.databases.append(database)
        self.ledgers.setdefault(database, Ledger())
        node.databases[database] = DatabaseReplica(joined=True, size_bytes=size_bytes)
        node.databases[database].fork = len(self.ledgers[database].forks) - 1
        start = max((one.hardened for one in self.copies(database).values()), default=0)
        for field_name in ("sent", "received", "hardened", "redone", "known_hardened"):
            setattr(node.databases[database], field_name, start)
        self.emit(DatabaseJoined(name, database, start))
        self.write_view(node, node.view.next())
        self.start_seeding()

    def remove_database(self, name: str, database: str) -> None:
        """REMOVE DATABASE on the primary: secondary copies are left RESTORING."""
        node = self.primary_member(name)
        self.check(database in self.spec.databases, 35281, database, self.name)
        self.check(self.may_leave(database), 47135, database, self.name)
        self.spec.databases.remove(database)
        for commit in [one for one in self.pending if one.database == database and one.node == name]:
            self.fail_commit(commit, 0, "The database left the availability group.")
            self.pending.remove(commit)
        view = node.view.next(
            ready=frozenset(key for key in node.view.ready if key[1] != database),
            pending_suspend=frozenset(key for key in node.view.pending_suspend if key[1] != database),
        )
        self.write_view(node, view)
        for one in self.nodes.values():
            if database in one.databases:
                self.unjoin(one, database)
                if one is node:
                    self.set_database_state(one, database, DatabaseState.ONLINE)
                    del one.databases[database]

    def may_leave(self, database: str) -> bool:
        """The system databases of a contained group stay as long as it does."""
        return database not in self.spec.system

    def unjoin(self, node: NodeState, database: str) -> None:
        """A copy leaves; on a secondary it is left RESTORING."""
        copy = node.databases[database]
        if copy.moving:
            self.stop_movement(node, database)
        was_joined, copy.joined, copy.seeding = copy.joined, False, None
        copy.suspended = None
        self.set_database_state(node, database, DatabaseState.RESTORING)
        if was_joined:
            self.emit(DatabaseLeft(node.name, database))

    def seeds(self, replica: ReplicaSpec, database: str) -> bool:
        """Whether a replica's copy comes by automatic seeding: the system databases of a contained group always do."""
        return replica.seeding_mode == "AUTOMATIC" or database in self.spec.system

    def start_seeding(self) -> None:
        """Automatic seeding begins wherever a replica lacks a copy and may create databases."""
        for node in self.nodes.values():
            spec = self.replicas.get(node.name)
            if spec is None or not spec.holds_data or not node.member or node.role == Role.PRIMARY:
                continue
            for database in self.spec.databases:
                copy = node.databases.get(database)
                if copy is not None and (copy.joined or copy.seeding == "SEEDING"):
                    continue
                copy = node.databases.setdefault(database, DatabaseReplica(database_state=DatabaseState.RESTORING))
                if self.seeds(spec, database):
                    copy.seeding = "SEEDING" if node.may_create_databases else "FAILED"
                    copy.seeding_started_s = copy.seeding_ended_s = self.now_s
                    copy.seeding_attempts += 1
                    copy.seeding_failure = None
                    if not node.may_create_databases:
                        copy.seeding_failure = "Seeding Check Message Timeout"
                        self.log(node.name, 19506, self.name)

    def seed_done(self, name: str, database: str) -> None:
        """The last byte has arrived: the copy holds the primary's log up to now and joins."""
        node = self.nodes[name]
        copy, primary = node.databases.get(database), self._reachable_primary(node)
        if node.role == Role.PRIMARY and copy is not None and copy.seeding == "SEEDING":
            self.beyond.seeded(self, database)
            return
        source = primary.databases.get(database) if primary is not None else None
        if copy is None or copy.seeding != "SEEDING" or primary is None or not node.connected:
            return
        if source is None or not source.joined:  # a forwarder that waits for its own copy
            return
        copy.seeding, copy.seeding_ended_s = "COMPLETED", self.now_s
        self._join_copy(node, primary, database, primary.databases[database].hardened)

    def seed_failed(self, name: str, database: str, text: str) -> None:
        """The copy cannot be made there now; GRANT CREATE ANY DATABASE or MODIFY REPLICA ... SEEDING_MODE starts it again."""
        copy = self.nodes[name].databases.get(database)
        if copy is not None and copy.seeding == "SEEDING":
            copy.seeding, copy.seeding_ended_s, copy.seeding_failure = "FAILED", self.now_s, text

    def drop_copy(self, name: str, database: str) -> None:
        """The database is gone from an instance; a joined copy cannot be dropped (3752)."""
        node = self.nodes[name]
        copy = node.databases.get(database)
        if copy is None:
            return
        self.check(not (node.member and copy.joined), 3752, database)
        del node.databases[database]

    def _join_copy(self, node: NodeState, primary: NodeState, database: str, lsn: int) -> None:
        copy, source = node.databases[database], primary.databases[database]
        copy.joined, copy.fork, copy.suspended = True, source.fork, None
        copy.sent = copy.received = copy.hardened = copy.redone = copy.known_hardened = lsn
        copy.revert_done_s = copy.undo_lsn = None
        self.set_database_state(node, database, DatabaseState.ONLINE)
        self.emit(DatabaseJoined(node.name, database, lsn))

    def join_database(self, name: str, database: str, restored_lsn: int | None) -> None:
        """ALTER DATABASE ... SET HADR AVAILABILITY GROUP = on a secondary, after backups were restored WITH NORECOVERY."""
        node = self.member(name)
        self.check(node.role != Role.PRIMARY, 35240, database, self.name)
        self.check(database in self.spec.databases, 41132, database, self.name)
        copy = node.databases.setdefault(database, DatabaseReplica(database_state=DatabaseState.RESTORING))
        self.check(not copy.joined, 41145, database, self.name)
        primary = self._reachable_primary(node)
        self.check(primary is not None and node.connected, 35250)
        assert primary is not None
        source = primary.databases[database]
        lsn = source.backed_up if restored_lsn is None else restored_lsn
        self.check(lsn <= source.hardened, 1412, database)
        self.check(lsn >= min(source.backed_up, source.hardened), 1408, database, state=211)
        self._join_copy(node, primary, database, lsn)

    def unjoin_database(self, name: str, database: str) -> None:
        """ALTER DATABASE ... SET HADR OFF on a secondary."""
        node = self.member(name)
        self.check(node.role != Role.PRIMARY, 35240, database, self.name)
        copy = node.databases.get(database)
        self.check(copy is not None and copy.joined, 35242, database)
        self.unjoin(node, database)
        primary = self.primary_of(node)
        if primary is not None and primary.serves and self.linked(primary.name, name):
            key = (name, database)
            view = primary.view.next(ready=primary.view.ready - {key}, pending_suspend=primary.view.pending_suspend - {key})
            self.write_view(primary, view)

    def drop(self, name: str) -> None:
        """DROP AVAILABILITY GROUP: everywhere on WSFC, on this instance only otherwise."""
        node = self.member(name)
        self.log(name, 41076, self.name)
        leaving = [node]
        if self.cluster_type == ClusterType.WSFC:
            self.check(self.has_majority(self.part_of(name)), 41190, self.name, "DROP", "GROUP")
            leaving = [self.nodes[one] for one in self.part_of(name) if self.nodes[one].member]
            self.dropped = True
        for one in leaving:
            was_primary = one.role == Role.PRIMARY
            self.leave(one)
            if was_primary:
                for database in one.databases:
                    self.set_database_state(one, database, DatabaseState.ONLINE)
