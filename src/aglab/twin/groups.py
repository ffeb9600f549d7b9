"""Every availability group of the cluster: which one a database belongs to, their timers, what reaches them all.

A node can host replicas of several groups. The group that holds the load's database also tells the engine which machines ship
log to which; user databases of the others are in step as soon as their session stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.ag import events as ev
from aglab.twin.availability import Availability
from aglab.twin.distributed import DistributedGroups
from aglab.twin.endpoints import accepts, closed_pairs, started
from aglab.twin.security_messages import text_of
from aglab.twin.seeding import Seeding

if TYPE_CHECKING:
    from aglab.tsql import Session
    from aglab.twin.cluster import Cluster


class Groups:
    """The groups of one cluster (world thread)."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.all: list[Availability] = []
        self.seeding = Seeding(cluster)
        self.distributed = DistributedGroups(cluster)
        self.created: dict[str, int] = {}  # how often a group of this name has been created
        self.cuts: set[frozenset[str]] = set()  # links that are cut, also for groups still to be made
        self._matching = False
        cluster.plant.due_s = self.due_s
        cluster.plant.fire = self.fire

    def __iter__(self) -> Iterator[Availability]:
        return iter(list(self.all))

    def __bool__(self) -> bool:
        return bool(self.all)

    # -- finding -------------------------------------------------------------------------------------------------
    def of(self, database: str) -> Availability | None:
        """The group that a database belongs to; of two under a distributed group the one that takes changes."""
        found = [one for one in self.all if one.holds(database) is not None]
        return next((one for one in found if not one.rules.beyond.fed()), found[0] if found else None)

    def hosting(self, node: str, database: str) -> Availability | None:
        """The group of which a node has a copy of a database, in the group or left behind by it."""
        found = [one for one in self.all if one.local(node, database) is not None]
        return next((one for one in found if one.rules.nodes[node].member), found[0] if found else None)

    def on(self, node: str, name: str) -> Availability | None:
        """The group of this name that a node hosts a replica of."""
        return next((one for one in self.named(name) if one.rules.nodes[node].member), None)

    def named(self, name: str) -> list[Availability]:
        """Groups of this name; more than one where an old one was not dropped everywhere."""
        return [one for one in self.all if one.name.lower() == name.lower()]

    def here(self, node: str) -> list[Availability]:
        """The groups that a node hosts a replica of."""
        return [one for one in self.all if one.rules.nodes[node].member]

    @property
    def main(self) -> Availability | None:
        """The group of the load's database, else the first."""
        return self.of(self.cluster.load_database) or (self.all[0] if self.all else None)

    def role(self, node: str) -> str:
        """What a node is in the main group, else in the first group it hosts; STANDALONE where it hosts none."""
        main = self.main
        known = ([main] if main is not None and main.rules.nodes[node].member else []) + self.here(node)
        return known[0].role(node) if known else "STANDALONE"

    # -- coming and going ------------------------------------------------------------------------------------------
    def add(self, rules: ag.Group) -> Availability:
        """Another group, with what is so now: nodes that are down, links that are cut, endpoints that do not fit."""
        cluster = self.cluster
        name = rules.name.lower()
        self.created[name] = max([self.created.get(name, 0), *(one.rules.incarnation for one in self.named(name))]) + 1
        rules.incarnation = self.created[name]
        made = Availability(cluster, rules, max((one.serial for one in self.all), default=0) + 1)
        self.all.append(made)
        down = [name for name, node in cluster.nodes.items() if not node.accepting]
        cuts = sorted(sorted(pair) for pair in self.cuts)
        for event in [ev.Crash(name) for name in down] + [ev.Cut(*pair) for pair in cuts]:
            made.apply(event)
        made.apply(self._endpoints(made))
        return made

    def clear(self) -> None:
        """Forget every group (another state is about to be read)."""
        for group in self.all:
            self.cluster.addresses.close(group)
        self.all = []
        self.distributed.all = []

    def sweep(self) -> None:
        """Forget groups that no node hosts any more."""
        for group in self:
            if not any(one.member for one in group.rules.nodes.values()):
                name = group.name.lower()
                self.created[name] = max(self.created.get(name, 0), group.rules.incarnation)
                self.all.remove(group)
                self.cluster.addresses.close(group)

    # -- time ------------------------------------------------------------------------------------------------------
    def due_s(self) -> float | None:
        """When a group's timer or a seeding is next due."""
        times = [one.rules.next_timer_s() for one in self.all] + [self.seeding.due_s(), self.distributed.due_s()]
        return min((one for one in times if one is not None), default=None)

    def fire(self, due_s: float) -> None:
        """Something is due; the engine stands at that moment."""
        for group in self:
            timer = group.rules.next_timer_s()
            if timer is not None and timer <= due_s:
                group.fire(due_s)
        self.seeding.finish(due_s)
        self.distributed.settle()

    def sync(self) -> None:
        """Bring engine, timers and positions to the clock's time."""
        self.cluster.plant.sync()
        for group in self:
            group.move()
        self.distributed.settle()

    def catch_up(self) -> None:
        """A database whose seeding has ended by now is there for whoever asks next."""
        due_s = self.seeding.due_s()
        if due_s is not None and due_s <= self.cluster.clock.now_s + 1e-6:
            self.sync()

    # -- what reaches all --------------------------------------------------------------------------------------------
    def act(self, *happened: Any, caller: Session | None = None) -> None:
        """Events of machines and links."""
        for event in happened:
            if isinstance(event, ev.Cut):
                self.cuts.add(frozenset((event.one, event.other)))
            elif isinstance(event, ev.Heal):
                self.cuts.discard(frozenset((event.one, event.other)))
        for group in self:
            group.act(*happened, caller=caller)

    def notice(self, caller: Session | None = None) -> None:
        """The clusters notice now what they would notice after their detection time."""
        for group in self:
            group.notice(caller)

    def _endpoints(self, group: Availability) -> ev.Endpoints:
        urls = {name: one.endpoint_url for name, one in group.rules.replicas.items()}
        return ev.Endpoints(closed_pairs(self.cluster.nodes, urls))

    def trust_changed(self) -> None:
        """Endpoints, certificates or permissions have changed."""
        for group in self:
            event = self._endpoints(group)
            if event.closed != frozenset(group.rules.closed):
                self._log_refusals(event.closed - group.rules.closed)
                group.act(event)

    def _log_refusals(self, pairs: Iterable[frozenset[str]]) -> None:
        """What the errorlog of the node that refuses a peer says."""
        nodes = self.cluster.nodes
        for one, other in [tuple(sorted(pair)) for pair in sorted(pairs, key=sorted)]:
            for here, peer in ((nodes[one], nodes[other]), (nodes[other], nodes[one])):
                reason = accepts(here, peer) if started(here) and started(peer) else None
                if reason is not None:
                    here.log_line(text_of(28047, reason, "[CLIENT: 127.0.0.1]"), "Logon")

    def settled(self) -> None:
        """After every event of any group: what it is to a distributed group, seedings, the engine's replicas, addresses."""
        self.distributed.settle()
        self.seeding.tend()
        self.match_engine()
        self.cluster.addresses.follow()

    def match_engine(self) -> None:
        """The engine ships log to the replicas that have a joined copy of the load's database."""
        group = self.of(self.cluster.load_database)
        plant = self.cluster.plant
        if self._matching:
            return
        self._matching = True
        try:
            if group is None:
                plant.set_replicas([plant.flow.primary])
                plant.hold(False)
                return
            name = group.holds(self.cluster.load_database) or ""
            copies = group.rules.copies(name)
            joined = [one for one, copy in copies.items() if copy.joined and group.rules.nodes[one].member]
            joined += [one for _, one in self.distributed.followers(group, name)]
            wanted = [one for one in self.cluster.nodes if one in joined or one == plant.flow.primary]
            if plant.set_replicas(wanted):
                group.engine_renewed()
        finally:
            self._matching = False
