"""Which replica has which committed rows: records wait until the replica has redone the log that they are in.

A copy that gave up log (undo after a forced failover), or that an interrupted commit left in doubt, is *stale*: it gets the
primary's tables once it is connected again and nobody has uncommitted changes there. Records that wait are kept with the
rows, in the state file's journal too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aglab.ag import Group, Role, events
from aglab.tsql import CommitRecord

if TYPE_CHECKING:
    from aglab.twin.availability import Availability
    from aglab.twin.cluster import Cluster

WAITING_MAX = 20_000  # records for one replica; beyond that its tables are copied when it is back
_NEVER = 1 << 62

Waiting = tuple[str, int, int, CommitRecord]  # database, fork, end of the record in the log, the record


class Shipping:
    """Committed rows on their way to the replicas."""

    def __init__(self, cluster: Cluster, group: Availability) -> None:
        self.cluster = cluster
        self.group = group
        self.waiting: dict[str, list[Waiting]] = {}
        self.stale: set[tuple[str, str]] = set()
        self.gaps: dict[tuple[str, str], int] = {}  # copies that let records of another log go, and the fork they were on then

    def commit(self, source: str, database: str, record: CommitRecord, lsn: int) -> None:
        """A transaction is in the log of ``source`` up to ``lsn``: apply it where it is redone, let it wait elsewhere."""
        rules = self.group.rules
        fork = rules.nodes[source].databases[database].fork
        now, later = [source], []
        for name, node in rules.nodes.items():
            copy = node.databases.get(database)
            if name == source or copy is None or not copy.joined or (name, database) in self.stale:
                continue
            if node.role == Role.PRIMARY:
                self.stale.add((name, database))
            elif not self.waiting.get(name) and copy.fork == fork and copy.redone >= lsn:
                now.append(name)
            else:
                later.append(name)
        for partner, name in self.cluster.groups.distributed.followers(self.group, database):
            if (name, database) not in partner.rows.stale:
                later.append(name)
        self.cluster.journal(now + [f"{name}@{fork}@{lsn}" for name in later], record)
        for name in later:
            self._queue(name, (database, fork, lsn, record))
        self.cluster.ship(now, record)

    def _queue(self, name: str, one: Waiting) -> None:
        queue = self.waiting.setdefault(name, [])
        queue.append(one)
        if len(queue) > WAITING_MAX:
            self.rewound(name, one[0])

    def requeue(self, marked: str, record: CommitRecord) -> None:
        """A record that waited when the journal was written (``node@fork@lsn``)."""
        name, fork, lsn = marked.split("@")
        self._queue(name, (self.group.holds(record.database) or record.database, int(fork), int(lsn), record))

    def applied(self, name: str, record: CommitRecord) -> None:
        """The journal says that a record that waited has been applied."""
        queue = self.waiting.get(name)
        if queue and queue[0][3].transaction_id == record.transaction_id and queue[0][3].database == record.database:
            queue.pop(0)

    def withdraw(self, source: str, database: str, record: CommitRecord) -> None:
        """The commit was interrupted and is rolled back on ``source``; replicas must not differ from their primary."""
        self.cluster.dirty_rows = True
        rules = self.group.rules
        if not rules.nodes[source].serves:
            self.stale.add((source, database))
            return
        for name, node in rules.nodes.items():
            queue = self.waiting.get(name, [])
            kept = [one for one in queue if one[3] is not record]
            if name != source and len(kept) == len(queue) and database in node.databases:
                self.stale.add((name, database))
            self.waiting[name] = kept
        for partner, name in self.cluster.groups.distributed.followers(self.group, database):
            partner.rows.stale.add((name, database))

    def rewound(self, name: str, database: str) -> None:
        """A copy has to be made anew from its primary."""
        self._home(name, database).stale.add((name, database))
        self._forget(name, database)

    def _forget(self, name: str, database: str) -> None:
        """No record waits for a copy any more, whichever group it was committed in."""
        for group in self.cluster.groups:
            if name in group.rows.waiting:
                group.rows.waiting[name] = [one for one in group.rows.waiting[name] if one[0] != database]
        self.cluster.dirty = True

    def _home(self, name: str, database: str) -> Shipping:
        """Who looks after a copy: this, or the shipping of its partner group in a distributed group."""
        rules = self._rules_of(name, database)
        return next((one.rows for one in self.cluster.groups if one.rules is rules), self)

    def promoted(self, name: str) -> None:
        """What a new primary holds is what counts from now on."""
        self.stale = {one for one in self.stale if one[0] != name}

    def settle(self) -> None:
        """Apply what has been redone; copy tables where that is due."""
        for name, queue in self.waiting.items():
            if queue:
                self._apply(name, queue)
        for key, fork in self.gaps.items():
            copy = self._rules_of(*key).nodes[key[0]].databases.get(key[1])
            if copy is not None and copy.fork != fork:  # it follows another log now, which may be the one let go
                self.gaps[key] = copy.fork
                self._home(*key).stale.add(key)
        for name, database in sorted(self.stale):
            self._renew(name, database)

    def _rules_of(self, name: str, database: str) -> Group:
        """The rules of the group whose copy a node has: this one's, or those of its partner in a distributed group."""
        rules = self.group.rules
        if database in rules.nodes[name].databases:
            return rules
        hosting = self.cluster.groups.hosting(name, database)
        return hosting.rules if hosting is not None else rules

    def _apply(self, name: str, queue: list[Waiting]) -> None:
        while queue:
            database, fork, lsn, record = queue[0]
            rules = self._rules_of(name, database)
            copy = rules.nodes[name].databases.get(database)
            if copy is None or not copy.joined:
                queue.pop(0)
                continue
            ledger = rules.ledgers[database]
            if lsn > ledger.extents(copy.fork, copy.redone).get(fork, -1):
                if self._may_come(name, database, fork, lsn):
                    return  # not yet
                queue.pop(0)  # lost: neither this copy's log nor its primary's holds it
                self.gaps[name, database] = copy.fork
                self.cluster.dirty_rows = True
                continue
            queue.pop(0)
            self.cluster.journal([name], record)
            self.cluster.ship(["", name], record)

    def _may_come(self, name: str, database: str, fork: int, lsn: int) -> bool:
        """Whether a record lies in the log that a copy follows, or in that of the primary it is about to follow."""
        rules = self._rules_of(name, database)
        ledger, node = rules.ledgers[database], rules.nodes[name]
        primary = rules.primary_of(node)
        source = primary.databases.get(database) if primary is not None else None
        forks = [one.fork for one in (node.databases[database], source) if one is not None]
        dag = self.cluster.groups.distributed.over(self.group)
        original = dag.source.held(database) if dag is not None and dag.source is not None else None
        if original is not None:
            forks.append(original.fork)
        return any(lsn <= ledger.extents(one, _NEVER).get(fork, -1) for one in forks)

    def _renew(self, name: str, database: str) -> None:
        rules = self.group.rules
        node = rules.nodes[name]
        copy = node.databases.get(database)
        if copy is None:
            self.stale.discard((name, database))
            return
        origin = self.cluster.groups.distributed.source_node(self.group)
        if node.serves and rules.beyond.fed() and origin is not None and copy.joined:
            if not self.cluster.writers_in(origin, database):
                self._copy(origin, name, database)
            return
        if node.serves:
            return  # two primaries: it has to be made anew when it follows the other
        primary = rules.primary_of(node)
        seeding = copy.seeding == "SEEDING"
        if primary is None or not primary.serves or not node.connected or not (copy.moving or seeding):
            return
        if self.cluster.writers_in(primary.name, database):
            return
        self._copy(primary.name, name, database)

    def _copy(self, source: str, name: str, database: str) -> None:
        self.cluster.copy_database(self.cluster.nodes[source], self.cluster.nodes[name], database)
        self.stale.discard((name, database))
        self._forget(name, database)

    def regrow(self) -> None:
        """After a start from the journal: the primary's log reaches as far as the records that wait."""
        rules = self.group.rules
        for node in rules.nodes.values():
            for database, copy in node.databases.items():
                ends = [
                    lsn
                    for queue in self.waiting.values()
                    for name, fork, lsn, _ in queue
                    if (name, fork) == (database, copy.fork)
                ]
                missing = max(ends, default=0) - copy.hardened
                if node.serves and missing > 0:
                    rules.apply(events.WriteLog(node.name, database, missing), rules.now_s)

    # -- keeping -------------------------------------------------------------------------------------------------
    def content(self) -> dict[str, Any]:
        """What waits, for the rows' file."""
        return {name: list(queue) for name, queue in self.waiting.items() if queue}

    def put(self, content: dict[str, Any]) -> None:
        """The inverse of :meth:`content`."""
        self.waiting = {name: list(queue) for name, queue in content.items()}
