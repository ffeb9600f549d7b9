"""Automatic seeding: the whole database travels through the endpoints in virtual time, then the copy joins with its rows.

The slowest of three limits a stream: reading the source's data volume, the link between the replicas, writing the target's
data volume. Streams that leave one node at a time share its reads and its link. Left out: compression of the stream (off by
default: trace flag 9567), and what seeding and the load cost each other.

The states shown in sys.dm_hadr_physical_seeding_stats are those seen on servers; the documentation lists no values.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aglab.ag import events as ev
from aglab.ag.base import identifier
from aglab.twin.clock import EPOCH

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.cluster import Cluster
    from aglab.twin.node import Node

PAGE_BYTES = 8192
EXISTS = "Database already exists on the secondary"


@dataclass
class Stream:
    """One database on its way to one replica; ``done_bytes`` at ``at_s``."""

    group: str
    node: str
    database: str
    source: str
    started_s: float
    size_bytes: float
    done_bytes: float = 0.0
    at_s: float = 0.0
    rate_bytes_s: float = 1.0

    @property
    def ends_s(self) -> float:
        """When the last byte arrives, at today's rate."""
        return self.at_s + max(0.0, self.size_bytes - self.done_bytes) / self.rate_bytes_s

    def moved_bytes(self, now_s: float) -> float:
        """How much has arrived."""
        return min(self.size_bytes, self.done_bytes + max(0.0, now_s - self.at_s) * self.rate_bytes_s)


class Seeding:
    """The streams of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.streams: list[Stream] = []
        self._tending = False

    def due_s(self) -> float | None:
        """When the next stream ends."""
        return min((one.ends_s for one in self.streams), default=None)

    def find(self, group: Availability, node: str, database: str) -> Stream | None:
        """The stream that fills a copy."""
        return next(
            (one for one in self.streams if (one.group, one.node, one.database) == (group.name, node, database)),
            None,
        )

    # -- course ----------------------------------------------------------------------------------------------------
    def tend(self) -> None:
        """Begin what may begin, end what has lost its session."""
        if self._tending:
            return
        self._tending = True
        try:
            before = len(self.streams)
            wanted = {(group.name, name, database) for group, name, database in self._seeding()}
            self.streams = [one for one in self.streams if (one.group, one.node, one.database) in wanted]
            begun = [self._begin(*one) for one in self._seeding()]
            if any(begun) or len(self.streams) != before:
                self._share()
        finally:
            self._tending = False

    def _seeding(self) -> list[tuple[Availability, str, str]]:
        return [
            (group, name, database)
            for group in self.cluster.groups
            for name, node in group.rules.nodes.items()
            for database, copy in list(node.databases.items())
            if copy.seeding == "SEEDING" and node.connected and group.rules.primary() is not None
        ] + self.cluster.groups.distributed.seeding()

    def _begin(self, group: Availability, name: str, database: str) -> bool:
        if self.find(group, name, database) is not None:
            return False
        cluster, source = self.cluster, group.rules.primary() or ""
        if source == name:  # a forwarder
            source = cluster.groups.distributed.source_node(group) or ""
        if cluster.nodes[name].instance.database(database) is not None:
            group.apply(ev.SeedFailed(name, database, EXISTS))
            cluster.nodes[name].log_line(
                f"Automatic seeding of availability database '{database}' in availability group '{group.name}' failed with a "
                "transient error. The operation will be retried.",
                "spid40s",
            )
            return False
        origin = cluster.nodes[source].instance.database(database)
        if origin is None:
            return False
        size_bytes = float(sum(one.size for one in origin.files if one.type == 0) * PAGE_BYTES)
        now_s = group.now_s()
        self.streams.append(Stream(group.name, name, database, source, now_s, size_bytes, at_s=now_s))
        cluster.nodes[source].log_line(
            f"Availability database '{database}', in availability group '{group.name}', is being seeded to replica '{name}'.",
            "spid40s",
        )
        return True

    def _share(self) -> None:
        now_s = self.cluster.clock.now_s
        profile = self.cluster.plant.machine
        for one in self.streams:
            one.done_bytes, one.at_s = one.moved_bytes(now_s), max(now_s, one.at_s)
        for one in self.streams:
            beside = sum(1 for other in self.streams if other.source == one.source)
            read = volume_bytes_s(profile.data, "read") / beside
            link = profile.network.bytes_s / beside
            one.rate_bytes_s = max(1.0, min(read, link, volume_bytes_s(profile.data, "write")))

    def finish(self, now_s: float) -> None:
        """Streams that have ended: the copy gets its rows and joins."""
        ended = [one for one in self.streams if one.ends_s <= now_s + 1e-6]
        for one in ended:
            self.streams.remove(one)
            group = next((group for group in self.cluster.groups.named(one.group) if one.node in group.rules.replicas), None)
            if group is None:
                continue
            nodes = self.cluster.nodes
            nodes[one.source].note_membership()
            self.cluster.copy_database(nodes[one.source], nodes[one.node], one.database)
            group.apply(ev.SeedDone(one.node, one.database), now_s=now_s)
            nodes[one.node].note_membership()
        if ended:
            self._share()

    # -- views -----------------------------------------------------------------------------------------------------
    def rows(self, node: Node) -> Iterator[dict[str, Any]]:
        """sys.dm_hadr_physical_seeding_stats: streams from or to a node"""
        now_s = self.cluster.clock.now_s
        for one in self.streams:
            if node.name not in (one.node, one.source):
                continue
            sends = node.name == one.source
            database = node.instance.database(one.database)
            moved = one.moved_bytes(now_s)
            yield {
                "local_physical_seeding_id": identifier("physical seeding", node.name, one.group, one.node, one.database),
                "remote_physical_seeding_id": identifier(
                    "physical seeding", one.node if sends else one.source, one.group, one.node, one.database
                ),
                "local_database_id": database.id if database is not None else None,
                "local_database_name": one.database,
                "remote_machine_name": one.node if sends else one.source,
                "role_desc": "Source" if sends else "Destination",
                "internal_state_desc": "ReadingAndSendingData" if sends else "WaitingForRestoreToFinish",
                "transfer_rate_bytes_per_second": int(one.rate_bytes_s),
                "transferred_size_bytes": int(moved),
                "database_size_bytes": int(one.size_bytes),
                "start_time_utc": EPOCH + dt.timedelta(seconds=round(one.started_s, 2)),
                "estimate_time_complete_utc": EPOCH + dt.timedelta(seconds=round(one.ends_s, 2)),
                "total_disk_io_wait_time_ms": 0,
                "total_network_wait_time_ms": 0,
                "is_compression_enabled": False,
            }

    # -- keeping -----------------------------------------------------------------------------------------------------
    def to_list(self) -> list[dict[str, Any]]:
        """For the state file."""
        return [asdict(one) for one in self.streams]

    def put(self, content: list[dict[str, Any]]) -> None:
        """The inverse of :meth:`to_list`."""
        self.streams = [Stream(**one) for one in content]


def volume_bytes_s(volume: Any, direction: str) -> float:
    """What a volume's devices read or write together, bytes a second."""
    rate = volume.devices * getattr(volume, f"{direction}_mb_s") * 1e6
    return float(min(rate, volume.max_mb_s * 1e6) if volume.max_mb_s else rate)
