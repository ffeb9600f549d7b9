"""Who becomes primary: planned, automatic and forced failover, quorum loss, and the return of an old primary.

Decisions where the documentation leaves room, all of them tested:

* WSFC: roles follow the configuration record of the part of the cluster that has quorum; without quorum a replica is
  RESOLVING. A forced failover to a synchronized replica of a healthy cluster is a planned one (documented).
* EXTERNAL: FAILOVER and FORCE_FAILOVER_ALLOW_DATA_LOSS need the session context ``external_cluster`` (else Msg 47104). With a
  manager (Pacemaker) an old primary is demoted when a newer one is known; without one it keeps the primary role, closed to
  clients, until ALTER AVAILABILITY GROUP ... OFFLINE and SET (ROLE = SECONDARY).
* NONE: nobody arbitrates. Forcing failover while the old primary runs leaves two primaries that both serve clients, and an old
  primary that restarts takes the primary role again; both documented as the administrator's risk.
* SET (ROLE = SECONDARY) on a replica in the primary role gives Msg 41104 since SQL Server 2019: take it OFFLINE first.
"""

from __future__ import annotations

from dataclasses import replace

from aglab.ag.effects import DatabaseStateChanged, SplitBrainRisk
from aglab.ag.election import ElectionRules
from aglab.ag.spec import ClusterType, DatabaseState, Role, SuspendReason, SyncState
from aglab.ag.state import NodeState


class FailoverRules(ElectionRules):
    """Failover statements, and replicas that follow."""

    # --- statements ------------------------------------------------------------------------------------------------------

    def member(self, name: str) -> NodeState:
        """The node of a statement; 41100 where it hosts no replica."""
        node = self.nodes[name]
        self.check(node.up and node.member, 41100, self.name)
        return node

    def planned_failover(self, name: str, external_cluster: bool) -> None:
        """FAILOVER on the target."""
        node = self.member(name)
        self.check(node.role != Role.PRIMARY, 41122, self.name)
        self.check(self.cluster_type != ClusterType.NONE, 47122, self.name)
        self.check(self.cluster_type != ClusterType.EXTERNAL or external_cluster, 47104, self.name)
        spec = self.spec_of(name)
        self.check(spec is not None and spec.holds_data, 47109, self.name)
        self.regroup()
        self.check(node.role != Role.PRIMARY, 41122, self.name)
        if self.cluster_type == ClusterType.WSFC:
            self.check(self.has_majority(self.part_of(name)), 41131, self.name)
            self.check(not self.forced_quorum & self.part_of(name), 41125, self.name)
        self.check(self.may_fail_over(node), 41142, self.name)
        self.promote(node, "planned")

    def may_fail_over(self, node: NodeState) -> bool:
        """The lossless promise can be kept: the record is current, and it marks every database synchronized here."""
        view = node.view
        primary = view.primary
        mine, theirs = self.spec_of(node.name), self.spec_of(primary) if primary else None
        if mine is None or theirs is None or not (mine.synchronous and theirs.synchronous):
            return False
        return self.failover_ready(view, node.name) and self.record_is_current(node) and self._data_intact(node)

    def record_is_current(self, node: NodeState) -> bool:
        """Whether no primary can have changed the record since this node last saw it."""
        if self.arbitrated():
            return self.has_majority(self.part_of(node.name))
        primary = node.view.primary
        if primary is not None and primary in self.part_of(node.name):
            return True
        fenced = primary is not None and not self.nodes[primary].up
        enough = self.spec.required_synchronized_secondaries_to_commit >= 1
        return fenced and enough and node.view.version == self.newest

    def forced_failover(self, name: str, external_cluster: bool) -> None:
        """FORCE_FAILOVER_ALLOW_DATA_LOSS on the target."""
        node = self.member(name)
        self.check(node.role != Role.PRIMARY, 41122, self.name)
        self.check(self.cluster_type != ClusterType.EXTERNAL or external_cluster, 47104, self.name)
        spec = self.spec_of(name)
        self.check(spec is not None and spec.holds_data, 47109, self.name)
        if self.cluster_type != ClusterType.NONE:
            self.regroup()
            self.check(node.role != Role.PRIMARY, 41122, self.name)
        majority = self.has_majority(self.part_of(name))
        if self.cluster_type == ClusterType.WSFC:
            self.check(majority, 41131, self.name)
            if not self.forced_quorum & self.part_of(name) and self.may_fail_over(node):
                self.promote(node, "planned")
                return
        exclusive = self.force_is_exclusive(node, majority) and not self.islands(name)
        if not exclusive:
            self.emit(SplitBrainRisk(f"forced failover to {name} while {node.view.primary} may still serve clients"))
            if self.cluster_type == ClusterType.EXTERNAL:
                self.forced_quorum |= self.part_of(name)
                node.has_quorum = True
        self.promote(node, "forced", exclusive)

    def force_is_exclusive(self, node: NodeState, majority: bool) -> bool:
        """Whether a forced failover also stops the old primary."""
        if self.cluster_type == ClusterType.NONE:
            return False
        if not self.arbitrated():
            part = self.part_of(node.name)
            return all(name in part for name in self.replicas)
        return majority and not self.forced_quorum & self.part_of(node.name)

    def islands(self, name: str) -> list[str]:
        """Primaries out of reach that serve clients because a majority was forced there."""
        part = self.part_of(name)
        return [one.name for one in self.nodes.values() if one.serves and one.name not in part and one.has_quorum]

    def take_offline(self, name: str) -> None:
        """OFFLINE: the group (WSFC) or this replica (EXTERNAL, NONE) goes to RESOLVING."""
        node = self.member(name)
        if self.cluster_type == ClusterType.WSFC:
            self.check(node.role == Role.PRIMARY, 41140, self.name)
            self.check(self.store_writable(name), 41150, self.name)
            self.check(self._all_synchronized(node), 19416, self.name)
            self.write_view(node, node.view.next(offline=True))
            for one in self.nodes.values():
                if one.member and one.up and one.view.offline:
                    self.demote(one, "offline")
            return
        node.offline = True
        if node.role != Role.RESOLVING:
            self.demote(node, "offline")

    def _all_synchronized(self, primary: NodeState) -> bool:
        if not self.spec_of(primary.name) or not self.spec_of(primary.name).synchronous:  # type: ignore[union-attr]
            return True
        partners = self.expected_partners(primary.name)
        return all((one, name) in primary.view.ready for one in partners for name in self.spec.databases)

    def set_role_secondary(self, name: str) -> None:
        """SET (ROLE = SECONDARY): what a cluster manager or the documented manual procedure says to an old primary."""
        node = self.member(name)
        self.check(self.cluster_type != ClusterType.WSFC, 41190, self.name, "ALTER", "SET ROLE")
        self.check(node.role != Role.PRIMARY, 41104, self.name)
        node.offline = False
        self.spread_views()
        if node.role == Role.RESOLVING:
            self.become_secondary(node, "joining")

    def force_quorum(self, name: str) -> None:
        """The Windows cluster is started with /forcequorum: this part has quorum, whatever its size."""
        if self.cluster_type != ClusterType.WSFC or not self.nodes[name].up:
            return
        part = self.part_of(name)
        if self.has_majority(part):
            return
        self.forced_quorum = set(part)
        for one in part:
            self.nodes[one].has_quorum = True
        if any(one.serves and one.name not in part for one in self.nodes.values()):
            self.emit(SplitBrainRisk(f"quorum forced on {name} while the other part of the cluster serves clients"))
        self.emit(SplitBrainRisk(f"quorum forced on {name}"))

    # --- following ----------------------------------------------------------------------------------------------------------

    def settle_roles(self) -> None:
        """Replicas in RESOLVING follow a primary where they know one; pending suspensions are carried out."""
        for node in self.nodes.values():
            if not node.up or not node.member:
                continue
            if node.role == Role.RESOLVING and self.may_follow(node):
                self.become_secondary(node)
            if node.role == Role.SECONDARY:
                self._suspend_pending(node)

    def may_follow(self, node: NodeState) -> bool:
        """A replica without a role becomes secondary when it knows a primary other than itself."""
        gone = self.dropped or node.orphan is not None or node.name not in self.replicas
        if gone or node.offline or node.view.offline or node.view.primary is None:
            return False
        if self.cluster_type == ClusterType.WSFC and not node.has_quorum:
            return False
        return node.view.primary != node.name

    def _suspend_pending(self, node: NodeState) -> None:
        mine = [key for key in node.view.pending_suspend if key[0] == node.name]
        if not mine:
            return
        primary = self.primary_of(node)
        if primary is None or not primary.serves or not self.linked(primary.name, node.name):
            return
        for _, database in mine:
            if database in node.databases and node.databases[database].joined:
                self.suspend_copy(node, database, SuspendReason.PARTNER)
        view = primary.view.next(pending_suspend=primary.view.pending_suspend - set(mine))
        if not self.write_view(primary, view):
            node.view = replace(node.view, pending_suspend=node.view.pending_suspend - set(mine))

    def health_fault(self, name: str, level: int) -> None:
        """FAILURE_CONDITION_LEVEL: a fault at or below the configured level takes the primary down for the cluster."""
        node = self.nodes[name]
        if level > self.spec.failure_condition_level or not node.serves or self.cluster_type == ClusterType.NONE:
            return
        if self.cluster_type == ClusterType.EXTERNAL and not self.managed:
            return
        self.fail_over_from(node)

    def fail_over_from(self, node: NodeState) -> None:
        """The cluster moves the group away from a sick primary if it can; else it restarts it in place."""
        part = self.part_of(node.name)
        if not self.has_majority(part):
            return
        members = [self.nodes[name] for name in part if self.nodes[name].member and self.nodes[name] is not node]
        self.spread_views()
        target = self.automatic_target(members, node, node.view)
        self.demote(node, "offline")
        if target is not None:
            self.promote(target, "automatic")
        else:
            self._resume_primary(node)

    def database_fault(self, name: str, database: str, state: DatabaseState) -> None:
        """A database leaves ONLINE; DB_FAILOVER = ON takes that for a failure of the primary."""
        node = self.nodes[name]
        copy = node.databases.get(database)
        if copy is None or not node.up:
            return
        if copy.database_state != state:
            self.emit(DatabaseStateChanged(name, database, copy.database_state, state))
            copy.database_state = state
        if state == DatabaseState.SUSPECT and node.role == Role.SECONDARY:
            copy.sync_state = SyncState.NOT_SYNCHRONIZING
            self.suspend_copy(node, database, SuspendReason.REDO)
        if state != DatabaseState.ONLINE and node.serves and self.spec.db_failover and self.cluster_type != ClusterType.NONE:
            self.fail_over_from(node)
