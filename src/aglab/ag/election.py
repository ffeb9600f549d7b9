"""Taking and leaving the primary role, and the cluster's reaction to failures: quorum, records that meet, automatic failover."""

from __future__ import annotations

from aglab.ag.commits import CommitRules
from aglab.ag.effects import FailedOver, SessionEvent
from aglab.ag.ledger import lsn_text
from aglab.ag.spec import ClusterType, DatabaseState, FailoverMode, OperationalState, Role
from aglab.ag.state import NodeState, View


class ElectionRules(CommitRules):
    """Roles as the cluster decides them."""

    # --- becoming primary ------------------------------------------------------------------------------------------

    def promote(self, node: NodeState, kind: str, exclusive: bool = True) -> None:
        """Make a node primary: a new epoch, a new recovery fork at the end of its log."""
        old_view = node.view
        old = self.nodes[old_view.primary] if old_view.primary else None
        if node.connected:
            self.disconnect(node, timed_out=False)
        if old is not None and old is not node and self.must_yield(old, node):
            self.demote(old, "offline")
        self.epochs += 1
        names = [one for one in self.replicas if one != node.name]
        pending = {(one, name) for one in names for name in self.spec.databases} if kind == "forced" else set()
        kept = {key for key in old_view.pending_suspend if key[0] != node.name and key[0] in self.replicas}
        view = View(self.epochs, 1, node.name, frozenset(), frozenset(pending | kept))
        node.view, node.offline, node.superseded = view, False, False
        self.newest = max(self.newest, view.version)
        self.tell_witness(node.name, view.version)
        starts = {}
        for name, copy in node.databases.items():
            if copy.joined:
                starts[name] = copy.hardened
                self._open_as_primary(node, name)
        self.set_role(node.name, Role.PRIMARY, "online")
        self.emit(FailedOver(kind, old.name if old is not None else None, node.name, starts, exclusive))
        for one in self.followers(node.name):
            if one.view.version < view.version:
                self.adopt(one, view)

    def _open_as_primary(self, node: NodeState, database: str) -> None:
        copy, ledger = node.databases[database], self.ledgers[database]
        broken = self.unfit_to_open(node, database)
        copy.fork = ledger.branch(copy.fork, copy.hardened)
        copy.received = copy.sent = copy.known_hardened = copy.hardened
        copy.recovery_lsn = copy.hardened
        copy.suspended, copy.moving, copy.caught_up = None, False, False
        copy.revert_done_s = copy.undo_lsn = None
        copy.available = True
        copy.backed_up = min(copy.backed_up, copy.hardened)
        if broken is not None:
            self.log(node.name, 35253, database)
            number = 35269 if broken == DatabaseState.SUSPECT else 35268
            self.log(node.name, number, database, lsn_text(copy.hardened))
            self.set_database_state(node, database, broken)
            return
        self.set_database_state(node, database, DatabaseState.RECOVERING if copy.redone < copy.hardened else DatabaseState.ONLINE)

    def unfit_to_open(self, node: NodeState, database: str) -> DatabaseState | None:
        """A copy in the middle of its undo cannot be started as primary (documented): restore it from backups."""
        copy = node.databases[database]
        if copy.database_state in (DatabaseState.SUSPECT, DatabaseState.RESTORING, DatabaseState.RECOVERY_PENDING):
            return copy.database_state
        if copy.revert_done_s is not None:
            return DatabaseState.SUSPECT
        if copy.undo_lsn is not None and copy.hardened < copy.undo_lsn:
            return DatabaseState.RESTORING
        return None

    # --- stepping down -----------------------------------------------------------------------------------------------

    def must_yield(self, old: NodeState, new: NodeState) -> bool:
        """Whether a change of primary reaches the old one and takes its role away."""
        if old.role != Role.PRIMARY or not old.up:
            return False
        if self.cluster_type == ClusterType.NONE:
            return False
        if self.cluster_type == ClusterType.EXTERNAL and not self.managed:
            if old.name in self.part_of(new.name):
                old.superseded = True
            return False
        return old.name in self.part_of(new.name) or not self.has_majority(self.part_of(old.name))

    def demote(self, node: NodeState, reason: str) -> None:
        """The primary (or a secondary) goes to RESOLVING; its databases close."""
        no_quorum = not node.has_quorum
        state = OperationalState.FAILED_NO_QUORUM if no_quorum else OperationalState.OFFLINE
        if node.connected:
            self.disconnect(node, timed_out=False)
        self.break_connections(node)
        self.set_role(node.name, Role.RESOLVING, reason, state)

    def become_secondary(self, node: NodeState, reason: str = "restart") -> None:
        """Follow the primary of the node's configuration record."""
        self.set_role(node.name, Role.SECONDARY, reason)
        node.offline = False

    # --- the cluster's reaction ----------------------------------------------------------------------------------------

    def regroup(self) -> None:
        """The cluster notices failures: quorum, the newest configuration record, roles, automatic failover."""
        self.regroup_at_s = None
        for part in self.parts():
            quorum = self.has_majority(part)
            for name in part:
                self.nodes[name].has_quorum = quorum
            if part & self.forced_quorum and self._natural_majority(part):
                self.forced_quorum = set()
        for node in self.nodes.values():
            if node.member and not node.has_quorum and node.up and node.role in (Role.PRIMARY, Role.SECONDARY):
                self._lose_quorum(node)
        self.spread_views()
        if self.cluster_type == ClusterType.WSFC or (self.cluster_type == ClusterType.EXTERNAL and self.managed):
            for part in self.parts():
                if self.has_majority(part):
                    self._elect(part)

    def _natural_majority(self, part: set[str]) -> bool:
        forced, self.forced_quorum = self.forced_quorum, set()
        natural = self.has_majority(part)
        self.forced_quorum = forced
        return natural

    def _lose_quorum(self, node: NodeState) -> None:
        if self.cluster_type == ClusterType.WSFC:
            if node.role == Role.PRIMARY:
                self.log(node.name, 19407, self.name)
                self.log(node.name, 41091, self.name)
                self.demote(node, "lease")
            else:
                self.demote(node, "cluster")
        elif self.cluster_type == ClusterType.EXTERNAL and self.managed and node.role == Role.PRIMARY:
            self.demote(node, "offline")

    def spread_views(self) -> None:
        """Nodes that meet compare configuration records; the newest wins."""
        for part in self.parts():
            members = [self.nodes[name] for name in part if self.nodes[name].member]
            if self.cluster_type == ClusterType.NONE:
                self._spread_by_link(members)
                continue
            if not members or (self.cluster_type == ClusterType.WSFC and not self.has_majority(part)):
                continue
            newest = max((one.view for one in members), key=lambda view: view.version)
            for one in members:
                if one.view.version < newest.version:
                    self._meet(one, newest)

    def _spread_by_link(self, members: list[NodeState]) -> None:
        for one in members:
            if one.role == Role.PRIMARY:
                continue
            known = [other.view for other in members if other is not one and self.reachable(one.name, other.name)]
            newest = max(known, key=lambda view: view.version, default=one.view)
            if one.view.version < newest.version:
                self._meet(one, newest)

    def _meet(self, node: NodeState, newest: View) -> None:
        """A node learns a newer record; a primary of an older epoch loses its role."""
        if node.role == Role.PRIMARY and newest.epoch > node.view.epoch:
            if self.cluster_type == ClusterType.EXTERNAL and not self.managed:
                node.superseded = True
                return
            self.demote(node, "offline")
        self.adopt(node, newest)

    def _elect(self, part: set[str]) -> None:
        """Bring the group online in a part that has a majority."""
        members = [self.nodes[name] for name in part if self.nodes[name].member and self.nodes[name].up]
        if not members:
            return
        view = max((one.view for one in members), key=lambda one: one.version)
        if self.dropped or view.offline or view.primary is None or part & self.forced_quorum:
            return
        owner = self.nodes[view.primary]
        if owner.up and owner.role == Role.PRIMARY and owner.name in part:
            return
        if owner in members and self.resumes_primary(owner):
            self._resume_primary(owner)
            return
        target = self.automatic_target(members, owner, view)
        if target is not None:
            self.promote(target, "automatic")

    def resumes_primary(self, node: NodeState) -> bool:
        """A former primary that comes back first takes its role again."""
        if not self.arbitrated() and node.view.version != self.newest:
            return False  # the cluster manager knows of a newer primary that is out of reach
        return node.member and node.role == Role.RESOLVING and node.view.primary == node.name and not node.offline

    def _resume_primary(self, node: NodeState) -> None:
        for name, copy in node.databases.items():
            if copy.joined and copy.database_state in (DatabaseState.ONLINE, DatabaseState.RECOVERING):
                copy.received = copy.sent = copy.hardened
                recovering = copy.redone < copy.hardened
                self.set_database_state(node, name, DatabaseState.RECOVERING if recovering else DatabaseState.ONLINE)
        self.set_role(node.name, Role.PRIMARY, "online")

    def automatic_target(self, members: list[NodeState], owner: NodeState, view: View) -> NodeState | None:
        """The replica that an automatic failover goes to, if the documented conditions hold."""
        for node in sorted(members, key=lambda one: one.name):
            if node is owner or node.view.version != view.version or node.name not in self.replicas or node.offline:
                continue
            checks = (
                bool(self.forced_quorum & self.part_of(node.name)),
                self.failover_ready(view, node.name) and self._data_intact(node),
                self.in_automatic_set(owner.name, node.name),
            )
            self._tell_validation(node.name, *checks)
            if checks[1] and checks[2]:
                return node
        return None

    def _tell_validation(self, node: str, forced: bool, ready: bool, target: bool) -> None:
        """availability_replica_automatic_failover_validation: why a replica may or may not take over by itself."""
        said = {
            "forced_quorum": forced,
            "joined_and_synchronized": ready,
            "previous_primary_or_automatic_failover_target": target,
        }
        words: dict[str, object] = {key: str(value).upper() for key, value in said.items()}
        self.emit(SessionEvent(node, "availability_replica_automatic_failover_validation", words))

    def in_automatic_set(self, owner: str, target: str) -> bool:
        """Both replicas are set to fail over by themselves (WSFC), or the cluster manager may promote (EXTERNAL)."""
        mine, theirs = self.spec_of(target), self.spec_of(owner)
        if mine is None or theirs is None or not mine.holds_data:
            return False
        if self.cluster_type == ClusterType.WSFC:
            modes = {mine.failover_mode, theirs.failover_mode}
            return modes == {FailoverMode.AUTOMATIC}
        with_witness = any(not one.holds_data for one in self.replicas.values())
        return self.arbitrated() and (self.spec.required_synchronized_secondaries_to_commit >= 1 or with_witness)

    def _data_intact(self, node: NodeState) -> bool:
        copies = [node.databases.get(name) for name in self.spec.databases]
        if not all(copy is not None and copy.joined for copy in copies):
            return False
        return all(self.unfit_to_open(node, name) is None for name in self.spec.databases)
