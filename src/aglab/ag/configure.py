"""Statements that change the configuration: replicas, options, the listener, suspend and resume.

Checks and their error numbers follow ALTER AVAILABILITY GROUP and ALTER DATABASE SET HADR (SQL Server documentation).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aglab.ag.membership import MembershipRules
from aglab.ag.messages import AgRefusal
from aglab.ag.spec import (
    AUTOMATIC_MAX,
    BACKUP_PRIORITY_MAX,
    BASIC_REPLICAS_MAX,
    HEALTH_CHECK_TIMEOUT_MS_MIN,
    REPLICAS_MAX,
    SESSION_TIMEOUT_S_MIN,
    SYNCHRONOUS_MAX,
    AvailabilityMode,
    ClusterType,
    FailoverMode,
    Listener,
    ReplicaSpec,
    Role,
    SuspendReason,
)
from aglab.ag.state import NodeState

# The error of a replica whose failover mode does not go with the cluster type.
_FAILOVER_MODES = {ClusterType.NONE: 47101, ClusterType.EXTERNAL: 47102, ClusterType.WSFC: 47103}


class ConfigurationRules(MembershipRules):
    """Configuration statements."""

    # --- replicas ------------------------------------------------------------------------------------------------------

    def check_replica(self, one: ReplicaSpec, operation: str) -> None:
        """The rules about one replica's options."""
        if not one.holds_data:
            others = [other for other in self.replicas.values() if not other.holds_data and other.name != one.name]
            self.check(self.cluster_type != ClusterType.WSFC, 47114, one.name, self.name)
            self.check(not others, 47107, operation, self.name)
        else:
            wanted = {ClusterType.EXTERNAL: FailoverMode.EXTERNAL, ClusterType.NONE: FailoverMode.MANUAL}.get(self.cluster_type)
            fits = one.failover_mode == wanted if wanted is not None else one.failover_mode != FailoverMode.EXTERNAL
            self.check(fits, _FAILOVER_MODES[self.cluster_type], self.name)
        asynchronous = one.availability_mode == AvailabilityMode.ASYNCHRONOUS
        self.check(not (asynchronous and one.failover_mode == FailoverMode.AUTOMATIC), 35211, operation, one.name)
        self.check(one.session_timeout_s >= SESSION_TIMEOUT_S_MIN, 35214, operation, one.name, SESSION_TIMEOUT_S_MIN)
        self.check(0 <= one.backup_priority <= BACKUP_PRIORITY_MAX, 35209, operation, one.name, 0, BACKUP_PRIORITY_MAX)
        listed = [name for part in one.read_only_routing_list for name in ((part,) if isinstance(part, str) else part)]
        for name in listed:
            self.check(listed.count(name) == 1, 19402, name, one.name)
            target = one if name == one.name else self.replicas.get(name)
            self.check(target is not None, 19403, name, one.name, self.name)
            self.check(target is not None and target.read_only_routing_url is not None, 19404, name, one.name)

    def check_limits(self, replicas: dict[str, ReplicaSpec], operation: str) -> None:
        """The rules about all replicas together."""
        synchronous = [one for one in replicas.values() if one.synchronous]
        automatic = [one for one in replicas.values() if one.failover_mode == FailoverMode.AUTOMATIC]
        self.check(len(synchronous) <= SYNCHRONOUS_MAX, 35212, operation, self.name, SYNCHRONOUS_MAX)
        self.check(len(automatic) <= AUTOMATIC_MAX, 35213, operation, self.name, AUTOMATIC_MAX)

    def add_replica(self, name: str, one: ReplicaSpec) -> None:
        """ADD REPLICA ON."""
        node = self.primary_member(name)
        self.check(one.name not in self.replicas, 35282, one.name, self.name)
        most = BASIC_REPLICAS_MAX if self.spec.basic else REPLICAS_MAX
        self.check(len(self.replicas) < most, 35223, 1, self.name, len(self.replicas), most)
        self.check_replica(one, "ADD REPLICA")
        self.check_limits({**self.replicas, one.name: one}, "ADD REPLICA")
        if one.name not in self.nodes:
            self.nodes[one.name] = NodeState(one.name, up=False)
        self.replicas[one.name] = one
        self.spec.replicas = list(self.replicas.values())
        self.write_view(node, node.view.next())

    def remove_replica(self, name: str, target: str) -> None:
        """REMOVE REPLICA ON: a replica that cannot be reached finds out when it comes back."""
        node = self.primary_member(name)
        self.check(target in self.replicas, 35283, target, self.name)
        self.check(target != name, 35284, target, self.name)
        other = self.nodes[target]
        view = node.view.next(
            ready=frozenset(key for key in node.view.ready if key[0] != target),
            pending_suspend=frozenset(key for key in node.view.pending_suspend if key[0] != target),
        )
        self.write_view(node, view)
        spec = self.replicas.pop(target)
        other.joined_once = False
        self.spec.replicas = list(self.replicas.values())
        if other.member:
            other.orphan = spec

    def modify_replica(self, name: str, target: str, changes: dict[str, Any]) -> None:
        """MODIFY REPLICA ON."""
        node = self.primary_member(name)
        self.check(target in self.replicas, 35210, target, self.name)
        old = self.replicas[target]
        mode = changes.get("availability_mode", old.availability_mode)
        if not old.holds_data:
            self.check(set(changes) <= {"session_timeout_s"}, 47112)
        self.check(
            mode == old.availability_mode or mode != AvailabilityMode.CONFIGURATION_ONLY, 47113, "AVAILABILITY_MODE", target
        )
        new = replace(old, **changes)
        self.check_replica(new, "MODIFY REPLICA")
        replicas = {**self.replicas, target: new}
        self.check_limits(replicas, "MODIFY REPLICA")
        required = self.spec.required_synchronized_secondaries_to_commit
        turns_asynchronous = old.synchronous and new.availability_mode == AvailabilityMode.ASYNCHRONOUS
        self.check(not (turns_asynchronous and required > 0), 19530, "MODIFY REPLICA")
        self.replicas[target] = new
        self.spec.replicas = list(self.replicas.values())
        self.write_view(node, node.view.next())
        if "seeding_mode" in changes:
            self.start_seeding()

    # --- options -------------------------------------------------------------------------------------------------------

    def set_options(self, name: str, changes: dict[str, Any]) -> None:
        """SET (option = value)."""
        node = self.primary_member(name)
        if "required_synchronized_secondaries_to_commit" in changes:
            required = int(changes["required_synchronized_secondaries_to_commit"])
            possible = len([one for one in self.replicas.values() if one.synchronous and one.name != name])
            self.check(0 <= required <= possible, 35248, "SET", required, possible, self.name)
        if "failure_condition_level" in changes:
            self.check(1 <= int(changes["failure_condition_level"]) <= 5, 35228, self.name, 1, 5)
        if "health_check_timeout_ms" in changes:
            least = HEALTH_CHECK_TIMEOUT_MS_MIN
            self.check(int(changes["health_check_timeout_ms"]) >= least, 35229, self.name, least)
        for key, value in changes.items():
            setattr(self.spec, key, value)
        self.write_view(node, node.view.next())
        if "failure_condition_level" in changes and name in self.ill:
            self.health_fault(name, self.ill[name])  # what was only reported until now may count

    def set_listener(self, name: str, listener: Listener | None) -> None:
        """ADD, MODIFY, REMOVE LISTENER."""
        self.primary_member(name)
        old = self.spec.listener
        if listener is not None:
            self.check(1 <= len(listener.dns_name) <= 63, 19485, listener.dns_name)
            self.check(1 <= listener.port <= 65535, 19482, listener.port)
            if old is not None and old.dns_name.lower() != listener.dns_name.lower():
                raise AgRefusal(19477, self.name, old.dns_name)
        self.spec.listener = listener

    # --- suspend and resume -------------------------------------------------------------------------------------------

    def suspend(self, name: str, database: str) -> None:
        """SET HADR SUSPEND: on a secondary only its own copy stops, on the primary every secondary's."""
        node = self.member(name)
        copy = node.databases.get(database)
        self.check(copy is not None and copy.joined and node.role != Role.RESOLVING, 35239, database, self.name)
        self.suspend_copy(node, database, SuspendReason.USER)

    def resume(self, name: str, database: str) -> None:
        """SET HADR RESUME: only where it was suspended; the primary does not resume a locally suspended secondary."""
        node = self.member(name)
        copy = node.databases.get(database)
        self.check(copy is not None and copy.joined and node.role != Role.RESOLVING, 35239, database, self.name)
        self.resume_copy(node, database)
