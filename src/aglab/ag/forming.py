"""Making a group: CREATE AVAILABILITY GROUP, and a group that is formed already."""

from __future__ import annotations

import copy as copying
from typing import Self

from aglab.ag import events as ev
from aglab.ag.configure import ConfigurationRules
from aglab.ag.effects import DatabaseJoined, Effect
from aglab.ag.ledger import Ledger
from aglab.ag.messages import AgRefusal
from aglab.ag.spec import (
    BASIC_DATABASES_MAX,
    BASIC_REPLICAS_MAX,
    REPLICAS_MAX,
    GroupSpec,
    Role,
    Timing,
)
from aglab.ag.state import DatabaseReplica, View
from aglab.core.errors import field_error


class FormingRules(ConfigurationRules):
    """How a group begins."""

    def apply(self, event: ev.Event, now_s: float) -> list[Effect]:
        """Take an event; see :class:`aglab.ag.group.Group`."""
        raise NotImplementedError

    def _settle(self) -> None:
        raise NotImplementedError

    # --- making one ----------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        spec: GroupSpec,
        node: str,
        now_s: float = 0.0,
        nodes: list[str] | None = None,
        timing: Timing | None = None,
        witness: bool = False,
        managed: bool = True,
    ) -> tuple[Self | None, list[Effect]]:
        """CREATE AVAILABILITY GROUP on ``node``: the group and its effects, or None and the refusal.

        ``nodes``: the cluster's nodes (at least the replicas). Secondaries still have to :class:`~aglab.ag.events.Join`.
        """
        names = list(dict.fromkeys([*(nodes or []), *(one.name for one in spec.replicas)]))
        group = cls(copying.deepcopy(spec), names, timing, witness, managed)
        group.include_system_databases()
        group.now_s = now_s
        for name in names:
            group.nodes[name].up = nodes is None or name in nodes  # a replica on a machine that the cluster does not have
        try:
            group._check_new(node)
        except AgRefusal as refusal:
            return None, [refusal.effect]
        group._begin(node)
        group._settle()
        return group, group.effects

    @classmethod
    def form(
        cls,
        spec: GroupSpec,
        primary: str | None = None,
        now_s: float = 0.0,
        nodes: list[str] | None = None,
        timing: Timing | None = None,
        witness: bool = False,
        managed: bool = True,
        log_bytes: int = 1 << 20,
    ) -> Self:
        """A group that is already formed: all replicas joined, all databases seeded and synchronized (what ``aglab up`` has)."""
        group, effects = cls.create(spec, primary or spec.replicas[0].name, now_s, nodes, timing, witness, managed)
        if group is None:
            raise field_error("spec", spec.name, f"is refused: {effects[0]}", "availability group", "correct the group's options")
        for one in list(group.replicas):
            group.apply(ev.GrantCreateDatabase(one), now_s)
            group.apply(ev.Join(one, spec.cluster_type.value), now_s)
            group.apply(ev.GrantCreateDatabase(one), now_s)
            for database in group.spec.databases:
                group.apply(ev.SeedDone(one, database), now_s)
                if not group.nodes[one].databases.get(database, DatabaseReplica(joined=True)).joined:
                    group.apply(ev.JoinDatabase(one, database, 0), now_s)
        for database in group.spec.databases:
            group.apply(ev.WriteLog(group.primaries()[0], database, log_bytes), now_s)
            group.apply(ev.LogBackup(group.primaries()[0], database), now_s)
        group.apply(ev.CatchUp(), now_s)
        group.effects = []
        return group

    def include_system_databases(self) -> None:
        """A contained group has a master and an msdb of its own, in front of the databases that the statement names."""
        self.spec.databases[:0] = [one for one in self.spec.system if one not in self.spec.databases]

    def _check_new(self, node: str) -> None:
        names = [one.name for one in self.spec.replicas]
        for name in names:
            self.check(names.count(name) == 1, 35235, name)
        most = BASIC_REPLICAS_MAX if self.spec.basic else REPLICAS_MAX
        self.check(len(names) <= most, 35233, len(names), self.name, most)
        self.check(node in self.replicas, 35237, self.name)
        for one in self.spec.replicas:
            self.check_replica(one, "CREATE")
        self.check_limits(self.replicas, "CREATE")
        self.check(self.replicas[node].holds_data and any(one.holds_data for one in self.replicas.values()), 47121, node)
        required = self.spec.required_synchronized_secondaries_to_commit
        possible = len([one for one in self.replicas.values() if one.synchronous and one.name != node])
        self.check(0 <= required <= possible, 35248, "CREATE", required, possible, self.name)
        self.check(1 <= self.spec.failure_condition_level <= 5, 35228, self.name, 1, 5)
        if self.spec.basic and len(self.spec.databases) > BASIC_DATABASES_MAX:
            raise AgRefusal(35200, self.spec.databases[-1], self.name, BASIC_DATABASES_MAX)

    def _begin(self, name: str) -> None:
        node = self.nodes[name]
        node.member, node.joined_once, node.may_create_databases = True, True, True
        node.view = View(1, 1, name)
        self.log(name, 41058, self.name)
        self.set_role(name, Role.RESOLVING, "startup")
        for database in self.spec.databases:
            self.ledgers[database] = Ledger()
            node.databases[database] = DatabaseReplica(joined=True)
            self.emit(DatabaseJoined(name, database, 0))
        self.set_role(name, Role.PRIMARY, "online")
