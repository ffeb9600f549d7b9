"""The judge of a distributed availability group, with its own account of the commits that every copy holds.

Promises:

1. A commit that is acknowledged while the other group is marked synchronized is on the forwarder's disk; so is every one while
   REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT is 1.
2. Only the group in the primary role takes changes, and only one group has it, except after a
   :class:`~aglab.ag.effects.SplitBrainRisk`.
3. The forwarder holds nothing that its source does not hold, once it follows the source's recovery fork.
4. A failover does not change what its target had hardened; after SET (ROLE = SECONDARY) and with equal positions on both sides
   it loses nothing that was acknowledged; no failover loses what was acknowledged while its target was marked synchronized.
5. A group that is marked synchronized holds every acknowledged commit of its source.
6. A rewind reports exactly the commits that it gives up.
"""

from __future__ import annotations

from typing import Any

from aglab.ag import effects as fx
from aglab.ag.checker import Violation

Key = tuple[str, str]  # (node, database)


class DistributedChecker:
    """Follows one distributed group: :meth:`observe` after every step, with the effects of both groups."""

    def __init__(self, distributed: Any) -> None:
        self.dag = distributed
        self.held: dict[Key, list[tuple[int, int]]] = {}  # (lsn, commit) on disk
        self.ends: dict[Key, int] = {}
        self.acknowledged: dict[int, tuple[str, set[str]]] = {}  # commit -> database, nodes that it was safe on
        self.two_allowed = False
        self.marked: set[str] = set()
        self.step = 0
        for group in self._groups():
            for name, node in group.nodes.items():
                for database, copy in node.databases.items():
                    self.ends[name, database] = copy.hardened

    def require(self, condition: bool, promise: str, detail: object) -> None:
        """Raise unless the condition holds."""
        if not condition:
            raise Violation(f"step {self.step}: {promise}: {detail}")

    def observe(self, effects: list[tuple[str, Any]]) -> None:
        """Check one step."""
        self.step += 1
        before = dict(self.ends)
        for _, one in effects:
            if isinstance(one, fx.CommitLogged):
                self._logged(one)
            elif isinstance(one, fx.SplitBrainRisk):
                self.two_allowed = True
        self._copy()
        for name, one in effects:
            if isinstance(one, fx.Rewound):
                self._rewound(one)
            elif isinstance(one, fx.DatabaseJoined):
                self._joined(one)
            elif isinstance(one, fx.CommitAcknowledged):
                self._acknowledged(name, one)
            elif isinstance(one, fx.FailedOver) and one.kind == "distributed":
                self._failed_over(name, one, before)
        self._copy()
        self.ends = {
            (name, database): copy.hardened
            for group in self._groups()
            for name, node in group.nodes.items()
            for database, copy in node.databases.items()
        }
        self._roles()
        self._forwarder()
        self.marked = set(self.dag.synchronized)

    # -- the account -------------------------------------------------------------------------------------------------
    def _groups(self) -> list[Any]:
        return [side.group for side in self.dag.sides.values() if side.group is not None]

    def _source_of(self, group: Any, node: str) -> str | None:
        """Where a copy's log comes from."""
        primary = group.nodes[node].view.primary
        if primary is not None and primary != node:
            return str(primary)
        side = self.dag.side(group.name)
        source = self.dag.source
        return source.primary if side.fed() and source is not None and source is not side else None

    def _copy(self) -> None:
        """Log that has reached a disk since: from the source to the forwarder first, then to its secondaries."""
        rows = [
            (self._source_of(group, name) is not None and group.primary() != name, group, name, database, copy)
            for group in self._groups()
            for name, node in group.nodes.items()
            for database, copy in node.databases.items()
        ]
        for _, group, name, database, copy in sorted(rows, key=lambda row: row[0]):
            key = (name, database)
            low, high = self.ends.get(key, 0), copy.hardened
            source = self._source_of(group, name)
            if high > low and source is not None:
                new = [one for one in self.held.get((source, database), []) if low < one[0] <= high]
                known = {one for _, one in self.held.setdefault(key, [])}
                self.held[key] += [one for one in new if one[1] not in known]
            self.ends[key] = max(low, high)

    def _ids(self, node: str | None, database: str) -> set[int]:
        return {one for _, one in self.held.get((node or "", database), [])}

    def _logged(self, effect: fx.CommitLogged) -> None:
        self.held.setdefault((effect.node, effect.database), []).append((effect.lsn, effect.id))
        self.ends[effect.node, effect.database] = effect.lsn
        sides = [side for side in self.dag.sides.values() if side.group is not None and side.primary == effect.node]
        takes = any(not side.joined or side.role.value == "PRIMARY" for side in sides)
        self.require(takes, "a group that is not primary took a change", effect)

    def _rewound(self, effect: fx.Rewound) -> None:
        key = (effect.node, effect.database)
        given_up = {one for lsn, one in self.held.get(key, []) if lsn > effect.to_lsn}
        self.require(given_up == set(effect.lost), "a rewind reported other commits than it gave up", (effect, given_up))
        self.held[key] = [one for one in self.held.get(key, []) if one[0] <= effect.to_lsn]
        self.ends[key] = effect.to_lsn
        for database, nodes in self.acknowledged.values():
            if database == effect.database:
                nodes.discard(effect.node)

    def _joined(self, effect: fx.DatabaseJoined) -> None:
        group = next(one for one in self._groups() if effect.node in one.nodes and one.nodes[effect.node].member)
        source = self._source_of(group, effect.node)
        if source is not None:
            self.held[effect.node, effect.database] = [
                one for one in self.held.get((source, effect.database), []) if one[0] <= effect.lsn
            ]
        self.ends[effect.node, effect.database] = effect.lsn

    # -- promises ------------------------------------------------------------------------------------------------------
    def _acknowledged(self, name: str, effect: fx.CommitAcknowledged) -> None:
        side, target = self.dag.side(name), self.dag.target
        self.require(effect.id in self._ids(effect.node, effect.database), "acknowledged but not logged", effect)
        forwarder = target.primary if target is not None else None
        newest = side.role.value == "PRIMARY" and side.primary == effect.node  # where nobody arbitrates, an old primary goes on
        safe = {effect.node}
        if newest and (side.required or effect.database in self.marked & self.dag.synchronized):
            held = effect.id in self._ids(forwarder, effect.database)
            self.require(held, "acknowledged while the synchronized forwarder did not have it", (effect, forwarder))
            safe.add(forwarder or "")
        self.acknowledged[effect.id] = (effect.database, safe)

    def _failed_over(self, name: str, effect: fx.FailedOver, before: dict[Key, int]) -> None:
        for database, start in effect.start_lsn.items():
            end = before.get((effect.new, database))
            self.require(end is None or start >= end, "a failover changed what its target had hardened", (effect, end))
            held, old = self._ids(effect.new, database), self._ids(effect.old, database)
            lost = {one for one, (where, _) in self.acknowledged.items() if where == database} - held
            for one in lost:
                nodes = self.acknowledged[one][1]
                self.require(effect.new not in nodes, "lost although the target was synchronized", (effect, one))
            if self.prepared == (name, database):
                self.require(not lost & old, "a prepared failover lost acknowledged commits", (effect, sorted(lost & old)))

    prepared: tuple[str, str] | None = None  # what the next failover may claim: the target group and the database

    def prepare(self, target: str, database: str) -> None:
        """Before a failover: does it claim to lose nothing? (Both groups SECONDARY, both primaries at one position.)"""
        sides = list(self.dag.sides.values())
        copies = [side.held(database) for side in sides]
        same = all(copies) and len({(copy.fork, copy.hardened) for copy in copies}) == 1
        closed = all(side.joined and side.role.value == "SECONDARY" for side in sides)
        self.prepared = (target, database) if same and closed else None

    def _roles(self) -> None:
        primaries = [side.name for side in self.dag.sides.values() if side.joined and side.role.value == "PRIMARY"]
        if len(primaries) > 1:
            self.require(self.two_allowed, "both groups are primary", primaries)
        else:
            self.two_allowed = False

    def _forwarder(self) -> None:
        source, target = self.dag.source, self.dag.target
        if source is None or target is None or not self.dag.connected or target.group is None:
            return
        for database in target.group.spec.databases:
            copy, original = target.held(database), source.held(database)
            if copy is None or original is None or copy.fork != original.fork:
                continue
            self.require(copy.hardened <= original.hardened, "the forwarder is ahead of its source", (database, copy.hardened))
            extra = self._ids(target.primary, database) - self._ids(source.primary, database)
            self.require(not extra, "the forwarder holds what its source does not", (database, sorted(extra)[:5]))
            if database in self.dag.synchronized:
                known = {one for one, (where, _) in self.acknowledged.items() if where == database}
                missing = known & self._ids(source.primary, database) - self._ids(target.primary, database)
                self.require(not missing, "marked synchronized without acknowledged commits", (database, sorted(missing)[:5]))
