"""Faults that a class can cause: cut and heal a node's links, stretch the round trip, crash, stop and start a node.

Each is an event of the availability group's rules; what follows (the session time-out, roles, synchronization) is theirs.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from aglab.ag import events
from aglab.core.errors import UsageError, field_error, unknown_name
from aglab.tsql import Session
from aglab.twin import diagnostics
from aglab.twin.adapter_results import message

if TYPE_CHECKING:
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

RTT_US_MAX = 1e6


class Faults:
    """The procedures that break things."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def _member(self, name: Any) -> Node:
        target = self.cluster.node(name)
        if not self.cluster.groups.here(target.name):
            raise UsageError(f"node {target.name!r} is in no availability group", "form one, or start the twin without --bare")
        return target

    def _links(self, name: str, kind: type) -> list[Any]:
        return [kind(name, other) for other in self.cluster.nodes if other != name]

    def cut(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.cut @node: no message of other nodes reaches it; sessions end after SESSION_TIMEOUT, quorum may be lost"""
        target = self._member(node)
        self.cluster.groups.act(*self._links(target.name, events.Cut), caller=session)
        yield message(f"The link to {target.name} is cut.")

    def heal(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.heal @node"""
        target = self._member(node)
        self.cluster.groups.act(*self._links(target.name, events.Heal), caller=session)
        yield message(f"The link to {target.name} is joined.")

    def _other(self, here: Node, name: Any, word: str) -> Node:
        target = self.cluster.node(name)
        if target is here:
            raise UsageError(f"node {target.name!r} runs this session", f"{word} it from another node")
        return target

    def crash(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.crash @node: the instance is gone at once"""
        target = self._other(here, node, "crash")
        if target.accepting:
            target.end(session)
        yield message(f"Node {target.name} has crashed.")

    def stop(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.stop @node: the service is stopped"""
        target = self._other(here, node, "stop")
        if target.accepting:
            target.end(session, clean=True)
        yield message(f"Node {target.name} has stopped.")

    def start(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.start @node"""
        target = self.cluster.node(node)
        if not target.accepting:
            target.begin()
        yield message(f"Node {target.name} runs.")

    def force_quorum(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.force_quorum @node: the cluster is started there without a majority, as Start-ClusterNode -FixQuorum does"""
        target = self._member(node)
        if not target.accepting:
            raise UsageError(f"node {target.name!r} is down", "start it, then force the quorum there")
        self.cluster.groups.act(events.ForceQuorum(target.name), caller=session)
        self.cluster.groups.notice(session)
        yield message(f"The cluster runs on {target.name} and the nodes that it reaches, without a majority.")

    def sicken(self, here: Node, session: Session, /, node: Any = None, component: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.sicken @node, @component: sp_server_diagnostics reports an error, until twin.cure or a restart"""
        target, name = self.cluster.node(node), str(component).lower()
        if name not in diagnostics.LEVELS:
            raise unknown_name("component", str(component), list(diagnostics.LEVELS))
        target.ill.add(name)
        self._found(target)
        self.cluster.groups.act(events.HealthFault(target.name, diagnostics.LEVELS[name]), caller=session)
        yield message(f"{name} of {target.name} is ill.")

    def cure(self, here: Node, session: Session, /, node: Any = None) -> Generator[Any, Any, None]:
        """EXEC twin.cure @node: every component is well again"""
        target = self.cluster.node(node)
        target.ill.clear()
        self._found(target)
        self.cluster.groups.act(events.HealthFault(target.name, 0), caller=session)
        yield message(f"{target.name} is well.")

    def _found(self, target: Node) -> None:
        """The next health check finds what is so: its events; an instance that does not answer leaves none."""
        if "unresponsive" in target.ill:
            return
        at_s = self.cluster.clock.now_s
        for row in diagnostics.rows(target):
            fields = diagnostics.event_fields(row)
            target.system_health.note("sp_server_diagnostics_component_result", fields, at_s)
            if row["state"] == diagnostics.ERROR:  # the predicate of AlwaysOn_health
                target.note_event("sp_server_diagnostics_component_result", fields, at_s)
        self.cluster.dirty = True

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
