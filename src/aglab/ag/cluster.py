"""Who can reach whom, who has a majority, and when the cluster notices.

WSFC is emulated as node majority over all nodes, with an optional witness that sides with the largest part (then with the part
of the current primary). Nodes that reach each other through a third are in one part. EXTERNAL with three or more
configuration replicas needs a majority of those that have joined ("High availability and data protection for availability group
configurations": with both partners gone the primary is not available); with fewer, and with NONE, nobody arbitrates.
"""

from __future__ import annotations

from collections.abc import Iterable

from aglab.ag.base import GroupBase
from aglab.ag.spec import ClusterType, Role
from aglab.ag.state import NodeState


class ClusterRules(GroupBase):
    """Links, parts, majorities."""

    def tell_witness(self, node: str, version: tuple[int, int]) -> None:
        """The witness remembers the version of a record that was written with its vote."""
        if self.witness and version > self.witness_version and self._witness_sides_with(self.part_of(node)):
            self.witness_version = version

    def linked(self, one: str, other: str) -> bool:
        """Both instances run and messages pass between them."""
        return self.nodes[one].up and self.nodes[other].up and (not self.cuts or frozenset((one, other)) not in self.cuts)

    def reachable(self, one: str, other: str) -> bool:
        """Linked, and the mirroring endpoints of both accept each other: what sessions and JOIN need."""
        return self.linked(one, other) and (not self.closed or frozenset((one, other)) not in self.closed)

    def part_of(self, node: str) -> set[str]:
        """The running nodes that a running node reaches, itself included, directly or through others."""
        if not self.nodes[node].up:
            return set()
        if not self.cuts:
            return {name for name, one in self.nodes.items() if one.up}
        found, queue = {node}, [node]
        while queue:
            here = queue.pop()
            for name in self.nodes:
                if name not in found and self.linked(here, name):
                    found.add(name)
                    queue.append(name)
        return found

    def parts(self) -> list[set[str]]:
        """All parts of the cluster."""
        rest = [name for name, one in self.nodes.items() if one.up]
        parts = []
        while rest:
            part = self.part_of(rest[0])
            parts.append(part)
            rest = [name for name in rest if name not in part]
        return parts

    def arbitrated(self) -> bool:
        """Whether a majority decides at all."""
        if self.cluster_type == ClusterType.WSFC:
            return True
        return self.cluster_type == ClusterType.EXTERNAL and len(self.replicas) >= 3

    def has_majority(self, part: Iterable[str]) -> bool:
        """Whether a part of the cluster may change the configuration record."""
        here = set(part)
        if not here:
            return False
        if here & self.forced_quorum:
            return True
        if self.cluster_type == ClusterType.WSFC:
            votes, total = len(here), len(self.nodes)
            if self.witness:
                total += 1
                votes += self.witness_votes_for(here)
            return 2 * votes > total
        if not self.arbitrated():
            return True
        holders = [name for name in here if name in self.replicas and self.nodes[name].member and self.nodes[name].orphan is None]
        return 2 * len(holders) > len([name for name in self.replicas if self.nodes[name].joined_once])

    def witness_votes_for(self, part: set[str]) -> bool:
        """A file share witness keeps no record, but it knows how new the newest is that it voted for.

        So nodes that were away when the record changed cannot come up with the witness alone ("partition in time").
        """
        newest = max((self.nodes[name].view.version for name in part), default=(0, 0))
        return newest >= self.witness_version and self._witness_sides_with(part)

    def _witness_sides_with(self, part: set[str]) -> bool:
        primary = self.believed_primary()
        best = max(self.parts(), key=lambda one: (len(one), primary in one, min(one)))
        return part == best

    def believed_primary(self) -> str | None:
        """The primary of the newest configuration record."""
        return max((one.view for one in self.nodes.values()), key=lambda view: view.version).primary

    def store_writable(self, node: str) -> bool:
        """Whether a primary can change the configuration record right now."""
        return self.has_majority(self.part_of(node))

    def followers(self, node: str) -> list[NodeState]:
        """Nodes that learn of a change made by the primary on ``node`` at once."""
        if self.cluster_type == ClusterType.NONE:
            return [
                one
                for name, one in self.nodes.items()
                if name != node and one.member and one.role != Role.PRIMARY and self.reachable(node, name)
            ]
        return [self.nodes[name] for name in self.part_of(node) if name != node and self.nodes[name].role != Role.PRIMARY]

    def note_failure(self) -> None:
        """A node or link changed: the cluster will notice after its detection time."""
        if self.regroup_at_s is None:
            self.regroup_at_s = self.now_s + self.timing.failure_detection_s
