"""The fields every rule of the room works on, and the small helpers they share."""

from __future__ import annotations

import uuid
from functools import lru_cache

from aglab.ag.beyond import NOTHING, Beyond
from aglab.ag.effects import Effect, LogLine, RoleChanged, SessionEvent
from aglab.ag.ledger import Ledger
from aglab.ag.messages import REASONS, AgRefusal, text_of
from aglab.ag.spec import ClusterType, GroupSpec, OperationalState, ReplicaSpec, Role, Timing
from aglab.ag.state import DatabaseReplica, NodeState, PendingCommit

NAMESPACE = uuid.UUID("5f3c1e0a-7a52-4d57-9a44-1f3a6f8d2b10")
_NORMAL = {Role.PRIMARY: "PRIMARY_NORMAL", Role.SECONDARY: "SECONDARY_NORMAL", Role.RESOLVING: "RESOLVING_NORMAL"}


@lru_cache(maxsize=4096)
def identifier(*parts: str) -> uuid.UUID:
    """A GUID that follows from names, so that two runs print the same."""
    return uuid.uuid5(NAMESPACE, "/".join(parts))


class GroupBase:
    """State of an availability group; :class:`aglab.ag.group.Group` adds the rules."""

    def __init__(
        self, spec: GroupSpec, nodes: list[str], timing: Timing | None = None, witness: bool = False, managed: bool = True
    ) -> None:
        self.spec = spec
        self.nodes = {name: NodeState(name) for name in nodes}
        self.replicas: dict[str, ReplicaSpec] = {one.name: one for one in spec.replicas}
        self.ledgers: dict[str, Ledger] = {}
        self.timing = timing or Timing()
        self.incarnation = 1  # how often a group of this name has been created: each has identifiers of its own
        self.witness = witness
        self.witness_version = (0, 0)  # of the newest configuration record written with the witness's vote
        self.managed = managed  # EXTERNAL: a cluster manager (Pacemaker) watches and fails over
        self.cuts: set[frozenset[str]] = set()
        self.closed: set[frozenset[str]] = set()  # pairs whose mirroring endpoints do not accept each other
        self.pending: list[PendingCommit] = []
        self.forced_quorum: set[str] = set()
        self.dropped = False  # WSFC: the group is gone from the cluster's database
        self.regroup_at_s: float | None = None
        self.faults: dict[str, tuple[int, float]] = {}  # node -> level of a health fault, and since when
        self.ill: dict[str, int] = {}  # node -> the lowest level that one of its lasting faults has
        self.epochs = 1
        self.newest = (1, 1)  # newest version of the configuration record ever written
        self.now_s = 0.0
        self.routing_turn: dict[str, int] = {}
        self.effects: list[Effect] = []
        self.beyond: Beyond = NOTHING  # the distributed group on top of this one

    @property
    def cluster_type(self) -> ClusterType:
        """WSFC, EXTERNAL or NONE."""
        return self.spec.cluster_type

    @property
    def name(self) -> str:
        """The group's name."""
        return self.spec.name

    @property
    def _key(self) -> str:
        return self.name if self.incarnation == 1 else f"{self.name}#{self.incarnation}"

    @property
    def id(self) -> uuid.UUID:
        """group_id."""
        return identifier("group", self._key)

    def replica_id(self, node: str) -> uuid.UUID:
        """replica_id."""
        return identifier("group", self._key, "replica", node)

    def database_id(self, database: str) -> uuid.UUID:
        """group_database_id."""
        return identifier("group", self._key, "database", database)

    def spec_of(self, node: str) -> ReplicaSpec | None:
        """A replica's options, also where it was removed and does not know yet."""
        return self.replicas.get(node) or self.nodes[node].orphan

    def emit(self, effect: Effect) -> None:
        """Something has happened."""
        self.effects.append(effect)

    def log(self, node: str, number: int, *args: object) -> None:
        """A line in a running node's errorlog."""
        if self.nodes[node].up:
            self.effects.append(LogLine(node, number, text_of(number, *args)))

    def primaries(self) -> list[str]:
        """Nodes in the primary role (running)."""
        return [name for name, one in self.nodes.items() if one.up and one.role == Role.PRIMARY]

    def copies(self, database: str) -> dict[str, DatabaseReplica]:
        """The copies of a database by node."""
        return {name: one.databases[database] for name, one in self.nodes.items() if database in one.databases}

    def set_role(self, node: str, role: Role, reason: str, operational: OperationalState | None = None) -> None:
        """Change a node's role, with the errorlog lines of the change."""
        state = self.nodes[node]
        state.operational = operational or (OperationalState.OFFLINE if role == Role.RESOLVING else OperationalState.ONLINE)
        old = state.role
        if old == role:
            return
        if state.up:
            self._log_role(node, old, role, reason)
        state.role = role
        state.role_since_s = self.now_s
        state.superseded = False
        self.emit(RoleChanged(node, old, role))

    def _log_role(self, node: str, old: Role, new: Role, reason: str) -> None:
        before = _NORMAL.get(old, "NOT_AVAILABLE")
        after = _NORMAL.get(new, "NOT_AVAILABLE")
        steps = [(before, after)]
        if new == Role.PRIMARY:
            if old == Role.SECONDARY:
                steps = [(before, "RESOLVING_PENDING_FAILOVER"), ("RESOLVING_PENDING_FAILOVER", "RESOLVING_NORMAL")]
            else:
                steps = []
            self.log(node, 41074, self.name)
            steps += [("RESOLVING_NORMAL", "PRIMARY_PENDING"), ("PRIMARY_PENDING", "PRIMARY_NORMAL")]
        elif new == Role.RESOLVING:
            self.log(node, 41075, self.name)
        elif old == Role.PRIMARY and new == Role.SECONDARY:
            steps = [(before, "RESOLVING_NORMAL"), ("RESOLVING_NORMAL", after)]
        for one, other in steps:
            self.log(node, 19406, self.name, one, other, REASONS[reason])
            self.emit(
                SessionEvent(
                    node,
                    "availability_replica_state_change",
                    {"availability_group_name": self.name, "previous_state": one, "current_state": other},
                )
            )
        words = {Role.NONE: "RESOLVING"}
        for database in self.nodes[node].databases:
            self.log(node, 1480, database, words.get(old, old.value), words.get(new, new.value), "role synchronization")

    def check(self, condition: bool, number: int, *args: object, state: int | None = None) -> None:
        """Refuse the statement unless the condition holds."""
        if not condition:
            raise AgRefusal(number, *args, state=state)
