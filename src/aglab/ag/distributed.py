"""Distributed availability groups: one group of databases over two availability groups, failed over by hand.

Roles of the two groups, as the documentation's procedures need them: CREATE makes the local group primary, JOIN makes the other
one secondary; SET (ROLE = SECONDARY) on the global primary closes its databases, and the distributed group is not available until
FORCE_FAILOVER_ALLOW_DATA_LOSS runs on the forwarder (failover) or on the former global primary (back). That statement is the
only failover there is: without the steps before it, it loses what the forwarder has not hardened. Configuration is kept on each
side by itself, so MODIFY runs on both.

Decisions where the documentation leaves room: a forced failover that reaches a global primary still in its role takes the role
away and suspends its databases, as a forced failover inside a group does; one that does not reach it leaves two groups that take
changes, until SET (ROLE = SECONDARY) runs on the old one. Errors 19507 to 19513 and 35277: "Database engine events and errors";
41122 and 41140 are those of local groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aglab.ag import events as ev
from aglab.ag.base import identifier
from aglab.ag.beyond import NOTHING
from aglab.ag.effects import Effect, FailedOver, SplitBrainRisk
from aglab.ag.forwarding import Forwarding
from aglab.ag.group import Group
from aglab.ag.ledger import Ledger
from aglab.ag.messages import AgRefusal
from aglab.ag.sides import Participant, Side
from aglab.ag.spec import AvailabilityMode, FailoverMode, Role, SuspendReason

PARTICIPANTS = 2
Said = list[tuple[str, Effect]]


class Distributed(Forwarding):
    """One distributed availability group. Statements raise nothing: a refusal is an effect of the group that was asked."""

    @property
    def id(self) -> Any:
        """group_id"""
        return identifier("distributed group", self.name)

    def replica_id(self, group: str) -> Any:
        """replica_id of one of the two groups."""
        return identifier("distributed group", self.name, "replica", group.lower())

    # -- making and ending ---------------------------------------------------------------------------------------------
    @classmethod
    def create(
        cls, name: str, participants: list[Participant], groups: list[Group], node: str, now_s: float = 0.0
    ) -> tuple[Distributed | None, Said]:
        """CREATE AVAILABILITY GROUP ... WITH (DISTRIBUTED) on ``node``, the primary of one of ``groups``."""
        made = cls(name, [Side(one.group) for one in participants])
        for group in groups:
            side = made.side(group.name)
            if side is not None:
                side.group = group
        try:
            local = made.local(node, participants)
        except AgRefusal as refusal:
            return None, [(name, refusal.effect)]
        made._admit(local, participants, Role.PRIMARY)
        made.upstream = local.name.lower()
        return made, made.settle(now_s)

    def local(self, node: str, participants: list[Participant]) -> Side:
        """The side whose primary replica runs on a node; what SQL Server asks of it. Errors 35277, 41140, 19513, 19507."""
        for one in participants:
            if one.failover_mode != FailoverMode.MANUAL:
                raise AgRefusal(35277)
        for one in participants:
            side = self.side(one.group)
            if side is None or side.group is None or not self.hosts(side.group, node):
                continue
            if side.primary != node:
                raise AgRefusal(41140, side.name)
            if side.group.spec.basic:
                raise AgRefusal(19513, side.name)
            if side.group.beyond is not NOTHING and side.group.beyond is not side:
                raise AgRefusal(19507, side.name)
            return side
        raise AgRefusal(41100, participants[0].group)

    @staticmethod
    def hosts(group: Group, node: str) -> bool:
        """Whether a node hosts a replica of a group."""
        return node in group.nodes and group.nodes[node].member and node in group.replicas

    def _admit(self, side: Side, participants: list[Participant], role: Role) -> None:
        assert side.group is not None
        side.joined, side.role = True, role
        side.participants = {one.group.lower(): one for one in participants}
        side.group.beyond = side

    def join(self, node: str, participants: list[Participant], groups: list[Group], now_s: float) -> Said:
        """ALTER AVAILABILITY GROUP ... JOIN AVAILABILITY GROUP ON, on the forwarder. Errors 19508, 19511."""
        for one in groups:
            side = self.side(one.name)
            if side is not None and side.group is None:
                side.group = one

        def work() -> None:
            for one in participants:
                if self.side(one.group) is None:
                    raise AgRefusal(19508, one.group, self.name)
            side = self.local(node, participants)
            if side.joined:
                raise AgRefusal(41106, self.name)
            assert side.group is not None
            if side.group.spec.databases:
                raise AgRefusal(19511, self.name, side.name)
            self._admit(side, participants, Role.SECONDARY)

        return self._do(node, work, now_s)

    def drop(self, node: str, now_s: float) -> Said:
        """DROP AVAILABILITY GROUP: this side forgets it; a group that followed keeps its databases, closed as RESTORING."""

        def work() -> None:
            side = self.asked(node)
            assert side.group is not None
            group = side.group
            if side.role != Role.PRIMARY:
                for one in group.nodes.values():
                    for database in list(one.databases):
                        group.unjoin(one, database)
                group.spec.databases.clear()
            self.effects += [(group.name, one) for one in group.effects]
            self._separate(group)
            side.joined, side.role, side.participants, side.required = False, Role.NONE, {}, 0
            group.beyond = NOTHING
            if self.upstream == side.name.lower():
                self.upstream = None

        return self._do(node, work, now_s)

    @staticmethod
    def _separate(group: Group) -> None:
        """The group's log is its own again."""
        for database, ledger in group.ledgers.items():
            group.ledgers[database] = Ledger([replace(one) for one in ledger.forks], [replace(one) for one in ledger.commits])

    @property
    def over(self) -> bool:
        """No side knows of it any more."""
        return not any(one.joined for one in self.sides.values())

    # -- statements --------------------------------------------------------------------------------------------------
    def asked(self, node: str) -> Side:
        """The side of a statement: only the primary replica of a group takes it. Errors 19510, 41140."""
        for side in self.sides.values():
            if side.joined and side.group is not None and self.hosts(side.group, node):
                if side.primary != node:
                    raise AgRefusal(41140, self.name)
                return side
        raise AgRefusal(19510, self.name)

    def _do(self, node: str, work: Any, now_s: float) -> Said:
        self.effects, self.now_s = [], max(self.now_s, now_s)
        for side in self.sides.values():
            if side.group is not None:
                side.group.effects = []
        try:
            work()
        except AgRefusal as refusal:
            return [(self.name, refusal.effect)]
        said = self.effects
        return said + self.settle(self.now_s)

    def modify(self, node: str, changes: dict[str, dict[str, Any]], now_s: float) -> Said:
        """MODIFY AVAILABILITY GROUP ON: fields of :class:`Participant` by group, for the side asked.

        Errors 19508, 35277, 19530.
        """

        def work() -> None:
            side = self.asked(node)
            kept = dict(side.participants)
            for name, fields in changes.items():
                if name.lower() not in kept:
                    raise AgRefusal(19508, name, self.name)
                if fields.get("failover_mode", FailoverMode.MANUAL) != FailoverMode.MANUAL:
                    raise AgRefusal(35277)
                if fields.get("availability_mode") == AvailabilityMode.ASYNCHRONOUS and side.required:
                    raise AgRefusal(19530, "MODIFY AVAILABILITY GROUP")
                kept[name.lower()] = replace(kept[name.lower()], **fields)
            side.participants = kept

        return self._do(node, work, now_s)

    def set_required(self, node: str, required: int, now_s: float) -> Said:
        """SET (REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT = 0 or 1). Error 35248."""

        def work() -> None:
            side = self.asked(node)
            if not 0 <= required <= PARTICIPANTS - 1:
                raise AgRefusal(35248, "SET", required, PARTICIPANTS - 1, self.name)
            side.required = required

        return self._do(node, work, now_s)

    def set_secondary(self, node: str, now_s: float) -> Said:
        """SET (ROLE = SECONDARY) on the global primary: its databases close, nothing is primary until FORCE. Error 41140."""

        def work() -> None:
            side = self.asked(node)
            if side.role != Role.PRIMARY:
                raise AgRefusal(41140, self.name)
            assert side.group is not None
            side.group.break_connections(side.group.nodes[node])
            side.role = Role.SECONDARY
            self.effects += [(side.group.name, one) for one in side.group.effects]

        return self._do(node, work, now_s)

    def force(self, node: str, now_s: float) -> Said:
        """FORCE_FAILOVER_ALLOW_DATA_LOSS: the group of this replica takes the primary role. Error 41122."""

        def work() -> None:
            side = self.asked(node)
            if side.role == Role.PRIMARY:
                raise AgRefusal(41122, self.name)
            other, group = self.other(side), side.group
            assert group is not None
            exclusive = self._take_role(side, other)
            starts = {}
            for database in group.spec.databases:
                copy = group.nodes[node].databases[database]
                starts[database] = self.opens_at(copy.hardened)
                self._place(copy, starts[database])
                copy.fork = group.ledgers[database].branch(copy.fork, copy.hardened)
                copy.recovery_lsn, copy.suspended = copy.hardened, None
                copy.backed_up = min(copy.backed_up, copy.hardened)
                for below in group.nodes.values():
                    if database in below.databases and below.databases[database].moving:
                        group.stop_movement(below, database)
            side.role, self.upstream = Role.PRIMARY, side.name.lower()
            self.synchronized.clear()
            self.effects += [(group.name, one) for one in group.effects]
            old = other.primary if other.joined else None
            self.effects.append((group.name, FailedOver("distributed", old, node, starts, exclusive)))

        return self._do(node, work, now_s)

    @staticmethod
    def opens_at(hardened_lsn: int) -> int:
        """A new global primary keeps all that it has hardened."""
        return hardened_lsn

    def _take_role(self, side: Side, other: Side) -> bool:
        """Take the primary role from the other group where it still has it; False where it cannot be reached."""
        if other.role != Role.PRIMARY or other.group is None:
            return True
        if not (self.connected and self.silent_since_s is None and other.primary is not None):
            self.effects.append((side.name, SplitBrainRisk(f"{side.name} takes changes while {other.name} may still do")))
            return False
        node = other.group.nodes[other.primary]
        other.group.break_connections(node)
        other.role = Role.SECONDARY
        for database, copy in node.databases.items():
            if copy.joined:
                other.group.suspend_copy(node, database, SuspendReason.PARTNER)
        self.effects += [(other.name, one) for one in other.group.effects]
        return True

    def join_database(self, node: str, database: str, restored_lsn: int | None, now_s: float) -> Said:
        """ALTER DATABASE ... SET HADR AVAILABILITY GROUP = on a forwarder, after backups were restored WITH NORECOVERY.

        Errors 35240, 41132, 41145, 35250, 1412, 1408.
        """

        def work() -> None:
            side, source = self.asked(node), self.source
            if side.role == Role.PRIMARY:
                raise AgRefusal(35240, database, self.name)
            original = source.held(database) if source is not None else None
            if source is None or source.group is None or original is None or database not in source.group.spec.databases:
                raise AgRefusal(41132, database, self.name)
            copy = side.copy(database)
            assert side.group is not None
            if copy is not None and copy.joined:
                raise AgRefusal(41145, database, self.name)
            if not self.connected:
                raise AgRefusal(35250)
            lsn = original.backed_up if restored_lsn is None else restored_lsn
            if lsn > original.hardened:
                raise AgRefusal(1412, database)
            if lsn < min(original.backed_up, original.hardened):
                raise AgRefusal(1408, database, state=211)
            self.seeded(side.group, database, lsn)
            self.effects += [(side.group.name, one) for one in side.group.effects]

        return self._do(node, work, now_s)

    def tick(self, now_s: float) -> Said:
        """Time has passed."""
        for side in self.sides.values():
            if side.group is not None and side.joined:
                self.effects += [(side.name, one) for one in side.group.apply(ev.Tick(), max(now_s, side.group.now_s))]
        return self.settle(now_s)
