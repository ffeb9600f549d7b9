"""Faults that a class can cause: cut and heal a replica's link, stretch the round trip.

Each maps to something the engine and the availability group know; more come with the group's full rules.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from aglab.core.errors import UsageError, field_error
from aglab.tsql import Session
from aglab.twin.adapter_results import message

if TYPE_CHECKING:
    from aglab.twin.availability import Replica
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

RTT_US_MAX = 1e6


class Faults:
    """The procedures that break things."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def _secondary(self, name: Any) -> tuple[Node, Replica]:
        target = self.cluster.node(name)
        group = self.cluster.group
        replica = group.replica(target.name) if group else None
        if group is None or replica is None:
            raise UsageError(f"node {target.name!r} is in no availability group", "start the twin without --bare")
        if target.name == group.primary:
            raise UsageError(f"node {target.name!r} is the primary", "name a secondary: cutting it isolates it from the primary")
        return target, replica

    def _link(self, target: Node, replica: Replica, up: bool) -> None:
        cluster = self.cluster
        replica.connected = up
        cluster.plant.change(target.name, connected=up and not replica.suspended)
        if up:
            self._catch_up(target)
        primary = cluster.nodes[cluster.primary]
        name = cluster.group.name if cluster.group else ""
        if up:
            text = (
                f"A connection for availability group '{name}' from availability replica '{primary.name}' to '{target.name}' has "
                "been successfully established. This is an informational message only. No user action is required."
            )
        else:
            text = (
                "A connection timeout has occurred on a previously established connection to availability replica "
                f"'{target.name}'. Either a networking or a firewall issue exists or the availability replica has transitioned "
                "to the resolving role."
            )
        primary.errorlog.write(primary, text, "spid33s")
        cluster.dirty = True

    def _catch_up(self, target: Node) -> None:
        """User rows committed while the link was cut reach the replica."""
        cluster = self.cluster
        group = cluster.group
        source = cluster.nodes[cluster.primary]
        if group is not None:
            cluster.copy_database(source, target, group.database)

    def cut(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.cut @node"""
        target, replica = self._secondary(node)
        if replica.connected:
            self._link(target, replica, up=False)
        yield message(f"The link to {target.name} is cut.")

    def heal(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.heal @node"""
        target, replica = self._secondary(node)
        if not replica.connected:
            self._link(target, replica, up=True)
        yield message(f"The link to {target.name} is joined.")

    def delay(self, here: Node, session: Session, /, rtt_us: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.delay @rtt_us"""
        try:
            value = float(rtt_us)
        except (TypeError, ValueError):
            raise field_error("rtt_us", rtt_us, "must be a number", "twin.delay", "use microseconds, for example 200") from None
        if not 0 <= value <= RTT_US_MAX:
            raise field_error("rtt_us", rtt_us, f"must be 0 to {RTT_US_MAX:g}", "twin.delay", "use microseconds, for example 200")
        self.cluster.plant.tune(rtt_us=value)
        self.cluster.dirty = True
        yield message(f"The round trip between replicas is {value:g} microseconds.")
