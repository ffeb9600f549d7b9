"""The judge: holds a group to its promises from what is seen, with its own account of every copy's content.

It shares no rule with the model. For each copy it keeps the list of commits that log movement brought there, hardened or in
memory, and compares: what the model acknowledges, claims and reports as lost must agree with those lists.

Promises:

1. An acknowledgement comes from a node in the primary role whose own log holds the commit; each secondary that was marked
   synchronized holds it hardened, and REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT of them do.
2. A planned or automatic failover keeps every acknowledged commit; so does any failover to a replica that was synchronized
   when each of its commits was acknowledged.
3. A forced failover loses exactly what its target had not hardened: the target's content does not change.
4. Along a copy sent >= received >= hardened >= redone, and none goes back except in a :class:`~aglab.ag.effects.Rewound`,
   whose ``lost`` are exactly the commits given up and unknown to the primary, and at the end of an instance (memory only).
5. Two primaries never serve clients at once, except with CLUSTER_TYPE = NONE or after a
   :class:`~aglab.ag.effects.SplitBrainRisk`.
6. Queues are never negative, and a copy marked failover ready holds every acknowledged commit.
7. A contained group holds its master and its msdb as long as it is there: they are in it, its primary has copies that belong to
   it, and every replica that joins gets them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from aglab.ag import effects as fx
from aglab.ag import events as ev

MOVEMENT = ev.Send | ev.Receive | ev.Harden | ev.Redo | ev.Progress | ev.CatchUp


class Violation(AssertionError):
    """A promise was broken; the text says which, where and when."""


@dataclass
class Content:
    """Commits (lsn, id) that one copy holds, by what kind of memory."""

    hardened: list[tuple[int, int]] = field(default_factory=list)
    memory: list[tuple[int, int]] = field(default_factory=list)
    hardened_lsn: int = 0
    received_lsn: int = 0
    sent_lsn: int = 0
    redone_lsn: int = 0

    def ids(self) -> set[int]:
        """Commits that survive a crash of this copy."""
        return {one for _, one in self.hardened}


@dataclass
class Acknowledged:
    """An acknowledged commit and the secondaries that were marked synchronized at that time."""

    lsn: int
    node: str
    database: str
    synchronized: frozenset[str]


class Checker:
    """Follows one group: call :meth:`observe` after every :meth:`Group.apply`."""

    def __init__(self, group: Any) -> None:
        self.cluster_type = group.spec.cluster_type.value
        self.contents: dict[tuple[str, str], Content] = {}
        self.acknowledged: dict[int, Acknowledged] = {}
        self.forfeited: set[int] = set()  # acknowledged commits that a forced failover was allowed to lose
        self.lost_by_force: set[int] = set()
        self.two_allowed = self.cluster_type == "NONE"
        self.step = 0
        name = group.spec.name
        self.contained = {f"{name}_master", f"{name}_msdb"} if group.spec.contained else set()
        self.let_go: set[tuple[str, str]] = set()  # copies of them that were taken out on a secondary, until it joins again
        for name, node in group.nodes.items():
            for database, copy in node.databases.items():
                self.contents[name, database] = Content(
                    hardened_lsn=copy.hardened, received_lsn=copy.received, sent_lsn=copy.sent, redone_lsn=copy.redone
                )
        self.ready = self._ready(group)

    def fail(self, promise: str, detail: str) -> None:
        """Raise with the step number."""
        raise Violation(f"step {self.step}: {promise}: {detail}")

    def require(self, condition: bool, promise: str, detail: str) -> None:
        """Raise unless the condition holds."""
        if not condition:
            self.fail(promise, detail)

    # --- one step ------------------------------------------------------------------------------------------------------

    def observe(self, group: Any, event: Any, effects: list[Any]) -> None:
        """Check one event's effects and the state after it."""
        self.step += 1
        if isinstance(event, ev.Crash):
            for (name, _), content in self.contents.items():
                if name == event.node:
                    content.memory = []
        rewound: set[tuple[str, str]] = set()
        moved = isinstance(event, MOVEMENT)
        self._copy_movement(group, event, effects)
        for effect in effects:
            if isinstance(effect, fx.CommitLogged):
                self._content(effect.node, effect.database).hardened.append((effect.lsn, effect.id))
            elif isinstance(effect, fx.Rewound):
                rewound.add((effect.node, effect.database))
                self._rewound(group, effect)
            elif isinstance(effect, fx.DatabaseJoined):
                rewound.add((effect.node, effect.database))
                self._joined(group, effect)
            elif isinstance(effect, fx.DatabaseLeft):
                self._left(effect)
            elif isinstance(effect, fx.SplitBrainRisk):
                self.two_allowed = True
            elif isinstance(effect, fx.FailedOver):
                self._failed_over(group, effect)
            elif isinstance(effect, fx.CommitAcknowledged):
                self._acknowledged(group, effect)
        self._positions(group, rewound, moved)
        self._primaries(group)
        self._marks(group)
        if self.contained:
            self._contained(group, event, effects)

    def _contained(self, group: Any, event: Any, effects: list[Any]) -> None:
        self.let_go |= {(one.node, one.database) for one in effects if isinstance(one, fx.DatabaseLeft)}
        if isinstance(event, ev.Join) and not any(isinstance(one, fx.Refused) for one in effects):
            self.let_go -= {(event.node, one) for one in self.contained}
        for one in sorted(self.contained):
            self.require(one in group.spec.databases, "a contained group lost a system database", one)
            for name, node in group.nodes.items():
                if not node.member or name not in group.replicas or not group.replicas[name].holds_data:
                    continue
                copy = node.databases.get(one)
                known = copy is not None and (copy.joined or copy.seeding is not None or (name, one) in self.let_go)
                self.require(known, "a replica of a contained group has no system database and gets none", f"{name} {one}")

    def _content(self, node: str, database: str) -> Content:
        return self.contents.setdefault((node, database), Content())

    def _copy_movement(self, group: Any, event: Any, effects: list[Any]) -> None:
        """Follow log from the primary into memory, and from memory to disk, before anything else that happened."""
        if not isinstance(event, MOVEMENT):
            return
        for (name, database), content in self.contents.items():
            node = group.nodes.get(name)
            copy = node.databases.get(database) if node is not None else None
            if node is None or copy is None or node.role.value == "PRIMARY":
                continue
            if copy.received > content.received_lsn:
                source = self.contents.get((node.view.primary or "", database), Content())
                low, high = content.received_lsn, copy.received
                content.memory += [one for one in source.hardened if low < one[0] <= high]
            if copy.hardened > content.hardened_lsn:
                content.hardened += [one for one in content.memory if one[0] <= copy.hardened]
                content.memory = [one for one in content.memory if one[0] > copy.hardened]

    # --- promises ------------------------------------------------------------------------------------------------------

    def _acknowledged(self, group: Any, effect: fx.CommitAcknowledged) -> None:
        node = group.nodes[effect.node]
        where = f"commit {effect.id} of {effect.database} on {effect.node}"
        self.require(node.up and node.role.value == "PRIMARY", "acknowledged by a replica that is not primary", where)
        self.require(effect.id in self._content(effect.node, effect.database).ids(), "acknowledged but not logged", where)
        before = self.ready.get(effect.node, frozenset())
        now = self._ready(group).get(effect.node, frozenset())
        marked = {name for name, database in before & now if database == effect.database} | set(effect.hardened_on)
        for name in marked:
            held = self._content(name, effect.database).ids()
            self.require(effect.id in held, "acknowledged while a synchronized replica had not hardened it", f"{where}, {name}")
        required = group.spec.required_synchronized_secondaries_to_commit
        held_by = [name for name in marked if effect.id in self._content(name, effect.database).ids()]
        self.require(len(held_by) >= required, "acknowledged with too few synchronized secondaries", where)
        self.acknowledged[effect.id] = Acknowledged(effect.lsn, effect.node, effect.database, frozenset(marked))

    def _failed_over(self, group: Any, effect: fx.FailedOver) -> None:
        if effect.claims_no_loss:
            for database in group.spec.databases:
                opened = database in effect.start_lsn
                self.require(opened, "a failover that claims no loss left a database behind", f"{effect.new} {database}")
        for database, start in effect.start_lsn.items():
            content = self._content(effect.new, database)
            content.memory = []
            held = content.ids()
            detail = f"{effect.kind} failover to {effect.new}, {database}"
            self.require(start == content.hardened_lsn, "a failover changed what its target had hardened", detail)
            missing = [one for one, record in self.acknowledged.items() if record.database == database and one not in held]
            missing = [one for one in missing if one not in self.forfeited]
            if effect.claims_no_loss:
                # What the old primary does not hold either was acknowledged by another primary, or lost before.
                given_away = self._content(effect.old or "", database).ids().intersection(missing)
                promise = "acknowledged commits lost by a failover that claims no loss"
                self.require(not given_away, promise, f"{detail}: {sorted(given_away)[:5]}")
            for one in missing:
                safe = effect.new in self.acknowledged[one].synchronized
                self.require(not safe, "lost although the target was synchronized when it was acknowledged", f"{detail}: {one}")
            self.forfeited.update(missing)
            self.lost_by_force.update(missing)
            # A commit may also live on: a later failover back to a copy that kept it brings it back.
            self.forfeited -= {one for one in self.forfeited if one in held}

    def _rewound(self, group: Any, effect: fx.Rewound) -> None:
        content = self._content(effect.node, effect.database)
        given_up = {one for lsn, one in content.hardened if lsn > effect.to_lsn}
        detail = (
            f"{effect.node} {effect.database} to {effect.to_lsn}: reported {sorted(effect.lost)[:5]}, held {sorted(given_up)[:5]}"
        )
        self.require(given_up == set(effect.lost), "a rewind reported other lost commits than it gave up", detail)
        self.require(effect.from_lsn >= effect.to_lsn, "a rewind went forward", detail)
        shared = given_up & self._content(group.nodes[effect.node].view.primary or "", effect.database).ids()
        self.require(not shared, "a rewind gave up what the primary holds", f"{detail}: {sorted(shared)[:5]}")
        content.hardened = [one for one in content.hardened if one[0] <= effect.to_lsn]
        content.memory = []
        self._release(effect.node, effect.database, given_up)
        for attribute in ("hardened_lsn", "received_lsn", "sent_lsn", "redone_lsn"):
            setattr(content, attribute, min(getattr(content, attribute), effect.to_lsn))

    def _joined(self, group: Any, effect: fx.DatabaseJoined) -> None:
        content = self._content(effect.node, effect.database)
        primary = group.nodes[effect.node].view.primary
        if primary is not None and primary != effect.node:
            source = self._content(primary, effect.database)
            content.hardened = [one for one in source.hardened if one[0] <= effect.lsn]
        content.memory = []
        content.hardened_lsn = content.received_lsn = content.sent_lsn = content.redone_lsn = effect.lsn

    def _left(self, effect: fx.DatabaseLeft) -> None:
        """A copy that left the group is replaced when it joins again: promises about the old one end."""
        self._release(effect.node, effect.database, set(self.acknowledged))

    def _release(self, node: str, database: str, commits: set[int]) -> None:
        """A copy was replaced, or gave commits up to a newer primary (which was judged when it took over)."""
        for one in commits & self.acknowledged.keys():
            record = self.acknowledged[one]
            if record.database == database and node in record.synchronized:
                self.acknowledged[one] = replace(record, synchronized=record.synchronized - {node})

    def _positions(self, group: Any, rewound: set[tuple[str, str]], moved: bool) -> None:
        for name, node in group.nodes.items():
            for database, copy in node.databases.items():
                content = self._content(name, database)
                detail = f"{name} {database}: {copy.sent} {copy.received} {copy.hardened} {copy.redone}"
                ordered = copy.sent >= copy.received >= copy.hardened >= copy.redone >= 0
                self.require(ordered, "not sent >= received >= hardened >= redone", detail)
                if (name, database) not in rewound:
                    self.require(copy.hardened >= content.hardened_lsn, "hardened went back", detail)
                    self.require(copy.redone >= content.redone_lsn, "redone went back", detail)
                    grew = copy.hardened > content.hardened_lsn and node.role.value != "PRIMARY"
                    self.require(moved or not grew, "log hardened by itself", detail)
                if copy.received < content.received_lsn:
                    content.memory = [one for one in content.memory if one[0] <= copy.received]
                content.hardened_lsn, content.received_lsn = copy.hardened, copy.received
                content.sent_lsn, content.redone_lsn = copy.sent, copy.redone
                if node.connected and copy.moving and node.view.primary in group.nodes:
                    source = group.nodes[node.view.primary].databases.get(database)
                    if source is not None and source.fork == copy.fork:
                        self.require(source.hardened >= copy.sent, "the send queue is negative", detail)

    def _primaries(self, group: Any) -> None:
        serving = [
            name
            for name, node in group.nodes.items()
            if node.up
            and node.role.value == "PRIMARY"
            and any(copy.available and copy.joined for copy in node.databases.values())
        ]
        if len(serving) > 1:
            self.require(self.two_allowed, "two primaries serve clients", ", ".join(serving))
        elif len(serving) == 1 and self.cluster_type != "NONE" and not group.forced_quorum and len(self._claimants(group)) <= 1:
            self.two_allowed = False

    @staticmethod
    def _claimants(group: Any) -> set[str]:
        """Nodes that some instance, running or not, takes for the primary."""
        return {node.view.primary for node in group.nodes.values() if node.member}

    def _ready(self, group: Any) -> dict[str, frozenset[tuple[str, str]]]:
        return {name: node.view.ready for name, node in group.nodes.items() if node.up and node.role.value == "PRIMARY"}

    def _marks(self, group: Any) -> None:
        now = self._ready(group)
        for primary, ready in now.items():
            new_marks = ready - self.ready.get(primary, frozenset())
            own = {one for key, content in self.contents.items() if key[0] == primary for one in content.ids()}
            for name, database in new_marks:
                held = self._content(name, database).ids()
                for one, record in self.acknowledged.items():
                    if record.database == database and one in own:
                        self.require(
                            one in held, "marked failover ready without an acknowledged commit", f"{name} {database}: {one}"
                        )
        self.ready = now
