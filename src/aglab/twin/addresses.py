"""Listeners of availability groups as TCP addresses on loopback: they lead to the primary and follow it.

CLUSTER_TYPE = WSFC and EXTERNAL: the cluster moves the address, so it leads to whoever is primary. CLUSTER_TYPE = NONE: nobody
moves it; it stays with the instance where it was made and is created anew after a failover, as documented. A listener at the very
address of its instance needs no socket of its own: clients that come in there come through the listener.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aglab import ag
from aglab.core.errors import MissingError
from aglab.tsql import TsqlError
from aglab.twin.endpoints import node_of_host, parsed_url

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

CANNOT_OPEN = 50014


@dataclass
class Address:
    """One bound address; ``node`` is where a client is led now (None: nobody serves)."""

    group: Availability
    place: tuple[str, int]
    node: Node | None = None


class Addresses:
    """The bound listener addresses of a cluster. ``listener`` is the socket side; None while nothing listens (tests of rules)."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.listener: Any = None
        self.open_ones: list[Address] = []

    def own(self, node: Node, place: tuple[str, int]) -> bool:
        """Whether an address is the one that the instance listens on anyway."""
        return place == ("127.0.0.1", node.port)

    def check(self, place: tuple[str, int]) -> None:
        """Refuse an address that is not on loopback."""
        try:
            loopback = ipaddress.ip_address(place[0]).is_loopback
        except ValueError:
            loopback = False
        if not loopback:
            raise TsqlError(
                CANNOT_OPEN,
                16,
                1,
                f"aglab twin: listener address {place[0]!r} is not on loopback; nodes of the twin listen there only. Use an "
                "address such as 127.0.0.10 (on macOS 127.0.0.1) with a free port.",
            )

    def open(self, group: Availability, listener: ag.Listener, here: Node) -> None:
        """Bind the addresses of a listener. Error 50014 where one cannot be had; then none is."""
        made: list[Address] = []
        for ip, _ in listener.addresses:
            place = (ip, listener.port)
            self.check(place)
            if self.listener is None or self.own(here, place) or any(one.place == place for one in self.of(group)):
                continue
            address = Address(group, place)
            try:
                self.listener.open_address(address)
            except MissingError as error:
                for one in made:
                    self.listener.close_address(one.place)
                raise TsqlError(CANNOT_OPEN, 16, 2, f"aglab twin: {error}") from error
            made.append(address)
        kept = {(ip, listener.port) for ip, _ in listener.addresses}
        self._close([one for one in self.of(group) if one.place not in kept])
        self.open_ones += made
        self.follow()

    def of(self, group: Availability) -> list[Address]:
        """The bound addresses of a group."""
        return [one for one in self.open_ones if one.group is group]

    def close(self, group: Availability) -> None:
        """The group's listener is gone."""
        self._close(self.of(group))

    def _close(self, gone: list[Address]) -> None:
        for one in gone:
            self.open_ones.remove(one)
            if self.listener is not None:
                self.listener.close_address(one.place)

    def follow(self) -> None:
        """Lead each address to where it belongs now."""
        for one in self.open_ones:
            name = self.target(one.group)
            one.node = self.cluster.nodes[name] if name is not None else None

    def target(self, group: Availability) -> str | None:
        """The node that a group's listener leads to."""
        rules, home = group.rules, group.listener_home
        if group.rules.cluster_type != ag.ClusterType.NONE:
            return rules.primary()
        return home if home in rules.nodes and rules.nodes[home].serves else None

    def reopen(self) -> None:
        """After a start: bind what the saved groups have; what cannot be bound is a line in the errorlog."""
        for group in self.cluster.groups:
            spec = group.rules.spec.listener
            home = self.cluster.nodes.get(group.listener_home or "")
            if spec is None or home is None:
                continue
            try:
                self.open(group, spec, home)
            except TsqlError as error:
                home.log_line(f"The listener '{spec.dns_name}' is offline. {error.text}")

    # -- routing -----------------------------------------------------------------------------------------------------
    def through(self, node: Node, via: Address | None, database: str) -> Availability | None:
        """The group through whose listener a client of a database came in, or None."""
        if via is not None:
            return via.group
        for group in self.cluster.groups.here(node.name):
            spec = group.rules.spec.listener
            if spec is None or group.holds(database) is None:
                continue
            if any(self.own(node, (ip, spec.port)) for ip, _ in spec.addresses) and self.target(group) == node.name:
                return group
        return None

    def route(self, node: Node, via: Address | None, database: str, read_only: bool) -> tuple[str, int] | None:
        """Where a login is sent instead: read-only routing at a listener, read-write routing at a secondary."""
        groups = self.cluster.groups
        if read_only:
            group = self.through(node, via, database)
            name = group.holds(database) if group is not None else None
            url = ag.read_only_route(group.rules, node.name, name) if group is not None and name is not None else None
        else:
            group = groups.of(database)
            url = ag.read_write_route(group.rules, node.name) if group is not None else None
        place = parsed_url(url) if url else None
        if place is None:
            return None
        target = node_of_host(place[0], list(self.cluster.nodes))
        return ("127.0.0.1", self.cluster.nodes[target].port) if target is not None else place
