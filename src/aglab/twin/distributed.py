"""Distributed availability groups of a twin: the rules of :mod:`aglab.ag.distributed` over live nodes, rows and the engine.

The engine ships the load's log from the global primary to every node of the other group; how far the forwarder is behind is what
the engine says of its machine. Left out: that the forwarder's secondaries take their log from it, on its link.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.ag import AvailabilityMode, Role, effects, saving
from aglab.ag.distributed import Distributed
from aglab.ag.sides import Side
from aglab.tsql import Session, TsqlError
from aglab.twin.endpoints import closed_pairs, node_of_host, parsed_url

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.cluster import Cluster

KIB = 1024.0
IN_STEP_BYTES = 1.0  # what the engine rounds


class DistributedGroups:
    """The distributed groups of one cluster (world thread)."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.all: list[Distributed] = []
        self._settling = False

    def __iter__(self) -> Iterator[Distributed]:
        return iter(list(self.all))

    # -- finding -----------------------------------------------------------------------------------------------------
    def named(self, name: str) -> Distributed | None:
        """The distributed group of a name."""
        return next((one for one in self.all if one.name.lower() == name.lower()), None)

    def over(self, group: Availability) -> Distributed | None:
        """The distributed group that an availability group takes part in."""
        return next(
            (one for one in self.all if any(side.joined and side.group is group.rules for side in one.sides.values())), None
        )

    def known(self, node: str) -> list[Distributed]:
        """Those that an instance knows of, as a replica of one of the groups."""
        return [
            one
            for one in self.all
            for side in one.sides.values()
            if side.joined and side.group is not None and one.hosts(side.group, node)
        ]

    def followers(self, group: Availability, database: str) -> list[tuple[Availability, str]]:
        """Nodes of the partner group that get their log of a database from a group, with that partner."""
        dag = self.over(group)
        target = dag.target if dag is not None and dag.source is not None and dag.source.group is group.rules else None
        partner = self.availability(target)
        if partner is None or partner is group:
            return []
        return [
            (partner, name)
            for name, node in partner.rules.nodes.items()
            if node.member and (copy := node.databases.get(database)) is not None and copy.joined
        ]

    def availability(self, side: Side | None) -> Availability | None:
        """The live group of a side."""
        return next((one for one in self.cluster.groups if side is not None and one.rules is side.group), None)

    def source_node(self, group: Availability) -> str | None:
        """The global primary that a group's forwarder gets its log from; None where it gets none."""
        dag = self.over(group)
        if dag is None or dag.target is None or dag.target.group is not group.rules or dag.source is None:
            return None
        return dag.source.primary

    def seeding(self) -> list[tuple[Availability, str, str]]:
        """Copies on forwarders that are being seeded."""
        found = []
        for dag in self.all:
            target, group = dag.target, self.availability(dag.target)
            name = target.primary if target is not None else None
            if group is None or name is None or not dag.connected:
                continue
            found += [(group, name, one) for one, copy in group.rules.nodes[name].databases.items() if copy.seeding == "SEEDING"]
        return found

    def waits(self, group: Availability) -> bool:
        """Whether the load of a group waits for a silent partner."""
        dag = self.over(group)
        return dag is not None and dag.silent_since_s is not None and group.load in dag.synchronized

    # -- course ------------------------------------------------------------------------------------------------------
    def due_s(self) -> float | None:
        """When a silent session ends."""
        return min((due for one in self.all if (due := one.next_timer_s()) is not None), default=None)

    def carry_out(self, said: list[tuple[str, Any]], caller: Session | None = None) -> None:
        """What follows from effects; a refusal becomes the statement's error."""
        for name, effect in said:
            if isinstance(effect, effects.Refused):
                raise TsqlError(effect.number, effect.severity, effect.state, effect.text)
            for group in self.cluster.groups.named(name):
                group.carry_out(effect, caller)

    def settle(self) -> None:
        """After every event of any group, and whenever the clock has moved."""
        if self._settling or not self.all:
            return
        self._settling = True
        try:
            now_s = self.cluster.clock.now_s
            for dag in self.all:
                dag.linked = self._linked(dag)
                self.carry_out(dag.settle(now_s))
                self._forward(dag, now_s)
                partner = self.availability(dag.target)
                if partner is not None:  # the forwarder passes it on
                    partner.move()
                    self.carry_out(dag.settle(now_s))
                self._tell_engine(dag)
                for side in dag.sides.values():
                    group = self.availability(side)
                    if group is not None:
                        group.rows.settle()
        finally:
            self._settling = False

    def _forward(self, dag: Distributed, now_s: float) -> None:
        target = dag.target
        for database in list(target.group.spec.databases) if target is not None and target.group is not None else ():
            source = dag.source
            original = source.held(database) if source is not None else None
            if original is None or target is None:
                continue
            behind = 0.0
            if database.lower() == self.cluster.load_database.lower() and target.primary in self.cluster.plant.flow.names:
                behind = self.cluster.plant.flow.gauges(target.primary).get("log_send_queue_kb", 0.0) * KIB
            self.carry_out(dag.forward(database, original.hardened - (int(behind) if behind > IN_STEP_BYTES else 0), now_s))

    def _linked(self, dag: Distributed) -> bool:
        """Messages pass between the two primaries: no cut link, endpoints that fit, listener URLs that lead to them."""
        nodes, sides = self.cluster.nodes, list(dag.sides.values())
        names = [side.primary for side in sides]
        here = [nodes[name] for name in names if name is not None and name in nodes]
        if len(here) < len(sides) or not all(one.accepting for one in here):
            return False
        pair = frozenset(one.name for one in here)
        if pair in self.cluster.groups.cuts or (len(pair) > 1 and closed_pairs({one.name: one for one in here}, {})):
            return False
        return all(self._leads(side, participant.listener_url) for one in sides for participant in one.participants.values()
                   if (side := dag.side(participant.group)) is not None)  # fmt: skip

    def _leads(self, side: Side, url: str) -> bool:
        """Whether a LISTENER_URL means the primary of a group: its listener's name or its own, with its endpoint's port."""
        place, primary = parsed_url(url), self.cluster.nodes.get(side.primary or "")
        if place is None or primary is None or side.group is None or primary.trust.endpoint is None:
            return False
        listener = side.group.spec.listener
        named = listener is not None and place[0].split(".")[0] == listener.dns_name.lower()
        leads = named or node_of_host(place[0], list(self.cluster.nodes)) == primary.name
        return leads and place[1] == primary.trust.endpoint.port

    def _tell_engine(self, dag: Distributed) -> None:
        """The machines of the partner group, as the engine has to treat them."""
        plant, group = self.cluster.plant, self.availability(dag.source)
        if not any(side.role == Role.PRIMARY for side in dag.sides.values()):
            if group is not None and group.holds(self.cluster.load_database) is not None:
                plant.hold(True)
            return
        load = group.load if group is not None else None
        if group is None or load is None:
            return
        for partner, name in self.followers(group, load):
            if not plant.carries(name) or name == plant.flow.primary:
                continue
            copy = partner.rules.nodes[name].databases[load]
            mode = AvailabilityMode.SYNCHRONOUS if load in dag.synchronized else AvailabilityMode.ASYNCHRONOUS
            wanted = {
                "connected": dag.connected and dag.silent_since_s is None,
                "suspended": copy.suspended is not None,
                "availability_mode": mode.value,
            }
            for key, value in wanted.items():
                default = {"connected": True, "suspended": False}.get(key, "SYNCHRONOUS_COMMIT")
                if plant.node_settings.get((name, key), default) != value:
                    plant.change(name, **{key: value})

    # -- keeping -----------------------------------------------------------------------------------------------------
    def to_list(self) -> list[dict[str, Any]]:
        """For the state file."""
        return [saving.distributed_to_dict(one) for one in self.all]

    def put(self, content: list[dict[str, Any]]) -> None:
        """The inverse, once the groups are there."""
        groups = [one.rules for one in self.cluster.groups]
        self.all = [saving.distributed_from_dict(one, groups) for one in content]
