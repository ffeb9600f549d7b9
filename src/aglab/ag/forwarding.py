"""How log gets from the global primary to the forwarder of a distributed availability group, and what waits for it.

Documented and modelled: the global primary sends its log to its own secondaries and to the forwarder, the primary replica of
the other group, which passes it on to its secondaries. Synchronous commit needs SYNCHRONOUS_COMMIT for both groups in the
configuration of both; then a commit waits until all synchronous copies of the other group have it too. Automatic seeding fills
the forwarder. The session ends SESSION_TIMEOUT (10 s, the default) after the link went silent, at once where an instance ended.
Log goes on to the forwarder after SET (ROLE = SECONDARY), so that both groups can reach one last_hardened_lsn.
Source: "Distributed availability groups", "Configure a distributed availability group" (SQL Server documentation).

Both groups share one ledger for a database: its recovery forks tell what a copy has that its source never had. Local failover of
either group is followed by itself. Left out: the forwarder's own redo queue (it redoes what it hardens).
"""

from __future__ import annotations

from dataclasses import fields

from aglab.ag import events as ev
from aglab.ag.effects import DatabaseJoined, Effect
from aglab.ag.group import Group
from aglab.ag.sides import Side
from aglab.ag.spec import AvailabilityMode, DatabaseState, Role
from aglab.ag.state import DatabaseReplica

SESSION_TIMEOUT_S = 10.0


class Forwarding:
    """The session between two groups and what it carries; :class:`aglab.ag.distributed.Distributed` adds the statements."""

    def __init__(self, name: str, sides: list[Side]) -> None:
        self.name = name
        self.sides = {one.name.lower(): one for one in sides}
        for one in sides:
            one.over = self
        self.upstream: str | None = None  # the side whose log counts: the newest that had the primary role
        self.linked = True  # messages pass between the two primaries, and their endpoints accept each other
        self.connected = False
        self.silent_since_s: float | None = None
        self.synchronized: set[str] = set()  # databases that a commit waits for on the other side
        self.pair: tuple[str | None, str | None] = (None, None)  # the primaries of the session
        self.now_s = 0.0
        self.effects: list[tuple[str, Effect]] = []

    # -- reading -----------------------------------------------------------------------------------------------------
    def side(self, group: str) -> Side | None:
        """The side of a group."""
        return self.sides.get(group.lower())

    def other(self, side: Side) -> Side:
        """The partner of a side."""
        return next(one for one in self.sides.values() if one is not side)

    @property
    def source(self) -> Side | None:
        """The side that log comes from."""
        return self.sides.get(self.upstream or "")

    @property
    def target(self) -> Side | None:
        """The side that follows, where one does."""
        source = self.source
        found = self.other(source) if source is not None else None
        return found if found is not None and found.joined and found.role == Role.SECONDARY else None

    def synchronous(self) -> bool:
        """Both groups are set to synchronous commit on both sides."""
        modes = {one.availability_mode for side in self.sides.values() for one in side.participants.values()}
        return all(side.joined for side in self.sides.values()) and modes == {AvailabilityMode.SYNCHRONOUS}

    def known_hardened(self, database: str) -> int:
        """Up to where every copy that a synchronous commit waits for has the source's log."""
        target = self.target
        copy = target.copy(database) if target is not None else None
        if target is None or target.group is None or copy is None:
            return 0
        primary = target.group.nodes[target.primary or ""]
        below = [
            target.group.nodes[name].databases[database].known_hardened
            for name in target.group.synchronized_secondaries(primary, database)
        ]
        return min([copy.hardened, *below])

    def hardened_beyond(self, database: str, lsn: int) -> bool:
        """Whether a commit that ends at ``lsn`` is safe on the other side."""
        return self.known_hardened(database) >= lsn

    def enough(self, side: Side, database: str) -> bool:
        """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT of the global primary is met."""
        return side.required == 0 or database in self.synchronized

    def next_timer_s(self) -> float | None:
        """When the silent session ends."""
        return None if self.silent_since_s is None else self.silent_since_s + SESSION_TIMEOUT_S

    def share_ledgers(self) -> None:
        """Both groups know a database's log by one ledger."""
        source, target = self.source, self.target
        if source is None or source.group is None or target is None or target.group is None:
            return
        for database, ledger in source.group.ledgers.items():
            if database in target.group.ledgers and database in target.group.spec.databases:
                target.group.ledgers[database] = ledger

    # -- settling ----------------------------------------------------------------------------------------------------
    def settle(self, now_s: float) -> list[tuple[str, Effect]]:
        """Let session, databases, recovery forks and marks follow from what is so; effects by group."""
        self.effects = []
        self._settle(now_s)
        return self.effects

    def _settle(self, now_s: float) -> None:
        self.now_s = max(self.now_s, now_s)
        self._session()
        source, target = self.source, self.target
        if source is None or target is None or source.group is None or target.group is None:
            self.synchronized.clear()
            return
        if self.connected and self.silent_since_s is None:
            self._databases(source, target)
            for database in target.group.spec.databases:
                self._follow_fork(source, target, database)
        self._marks(source, target)
        for side in (source, target):
            self.tell(side, ev.Tick())

    def tell(self, side: Side, event: ev.Event) -> None:
        """An event of one of the groups."""
        assert side.group is not None
        self.effects += [(side.group.name, one) for one in side.group.apply(event, max(self.now_s, side.group.now_s))]

    def _session(self) -> None:
        source, target = self.source, self.target
        both = source is not None and target is not None and source.primary is not None and target.primary is not None
        pair = (source.primary, target.primary) if source is not None and target is not None else (None, None)
        if pair != self.pair:  # a local failover: the old session has ended
            self.pair, self.connected, self.silent_since_s = pair, False, None
            for database in list(self.synchronized):
                self.distrust(database)
        if not both:
            self.connected, self.silent_since_s = False, None
        elif self.linked:
            self.connected, self.silent_since_s = True, None
        elif self.connected and self.silent_since_s is None:
            self.silent_since_s = self.now_s
        elif self.silent_since_s is not None and self.now_s - self.silent_since_s >= SESSION_TIMEOUT_S:
            self.connected, self.silent_since_s = False, None

    def _databases(self, source: Side, target: Side) -> None:
        """Databases that the source has and the forwarder has not are seeded; those that left the source leave."""
        assert source.group is not None and target.group is not None
        group, node = target.group, target.group.nodes[target.primary or ""]
        for database in source.group.spec.databases:
            copy = node.databases.get(database)
            automatic = source.participants[target.name.lower()].seeding_mode == "AUTOMATIC"
            if automatic and (copy is None or not (copy.joined or copy.seeding)):
                copy = node.databases.setdefault(database, DatabaseReplica(database_state=DatabaseState.RESTORING))
                copy.seeding, copy.seeding_started_s, copy.seeding_attempts = "SEEDING", self.now_s, copy.seeding_attempts + 1
            elif copy is not None and copy.seeding == "SEEDING" and not automatic:
                copy.seeding, copy.seeding_ended_s, copy.seeding_failure = "FAILED", self.now_s, "Seeding was cancelled"
        for database in [one for one in group.spec.databases if one not in source.group.spec.databases]:
            for one in group.nodes.values():
                if database in one.databases:
                    group.unjoin(one, database)
            group.spec.databases.remove(database)

    def seeded(self, group: Group, database: str, lsn: int | None = None) -> None:
        """A forwarder's copy holds the source's log up to ``lsn`` (now: all of it) and joins."""
        source, target = self.source, self.target
        original = source.held(database) if source is not None else None
        if source is None or source.group is None or target is None or target.group is not group or original is None:
            return
        node = group.nodes[target.primary or ""]
        end = original.hardened if lsn is None else lsn
        copy = node.databases.setdefault(database, DatabaseReplica())
        started = (copy.seeding_started_s, copy.seeding_attempts)
        seeding = "COMPLETED" if copy.seeding == "SEEDING" else None
        blank = DatabaseReplica(joined=True, fork=original.fork, seeding=seeding, seeding_ended_s=self.now_s)
        for one in fields(blank):
            setattr(copy, one.name, getattr(blank, one.name))
        copy.seeding_started_s, copy.seeding_attempts = started
        self._place(copy, end)
        group.ledgers[database] = source.group.ledgers[database]
        if database not in group.spec.databases:
            group.spec.databases.append(database)
        group.emit(DatabaseJoined(node.name, database, end))
        group.write_view(node, node.view.next())
        group.start_seeding()

    def _place(self, copy: DatabaseReplica, lsn: int) -> None:
        copy.sent = copy.received = copy.hardened = copy.redone = copy.known_hardened = lsn
        copy.hardened_s = copy.received_s = copy.redone_s = self.now_s

    def _follow_fork(self, source: Side, target: Side, database: str) -> None:
        """Give up what the source never had, then follow its recovery fork; the forwarder's secondaries do so after it."""
        assert target.group is not None
        group, copy, original = target.group, target.held(database), source.held(database)
        if copy is None or original is None or copy.suspended is not None or copy.fork == original.fork:
            return
        ledger = group.ledgers[database]
        common = ledger.common_lsn(copy.fork, copy.hardened, original.fork, original.hardened)
        for node in group.nodes.values():
            below = node.databases.get(database)
            if below is not None and below.moving:
                group.stop_movement(node, database)
        if common < copy.hardened:
            self.rewind(group, target.primary or "", database, common)
        copy.fork = original.fork
        self.distrust(database)

    def rewind(self, group: Group, node: str, database: str, to_lsn: int) -> None:
        """The forwarder gives up log that its source does not have."""
        group.effects = []
        group.rewind(group.nodes[node], database, to_lsn)
        self.effects += [(group.name, one) for one in group.effects]
        copy = group.nodes[node].databases[database]
        copy.revert_done_s = None  # pages come from the source at once
        self._place(copy, to_lsn)

    def _marks(self, source: Side, target: Side) -> None:
        assert target.group is not None
        if not self.connected or not self.synchronous():
            self.synchronized.clear()
        self.synchronized &= set(target.group.spec.databases)
        for database in target.group.spec.databases if self.connected and self.silent_since_s is None else ():
            copy, original = target.held(database), source.held(database)
            if copy is None or original is None or copy.suspended is not None or copy.fork != original.fork:
                self.synchronized.discard(database)
            elif self.synchronous() and self.known_hardened(database) >= original.hardened:
                self.synchronized.add(database)

    def distrust(self, database: str) -> None:
        """After a failover in either group the forwarder has to show again that it has all of the log."""
        self.synchronized.discard(database)

    # -- movement ----------------------------------------------------------------------------------------------------
    def forward(self, database: str, to_lsn: int | None, now_s: float) -> list[tuple[str, Effect]]:
        """The forwarder has hardened the source's log up to ``to_lsn`` (None: all of it)."""
        self.effects = []
        self.now_s = max(self.now_s, now_s)
        source, target = self.source, self.target
        copy = target.held(database) if target is not None else None
        original = source.held(database) if source is not None else None
        carries = self.connected and self.silent_since_s is None and copy is not None and copy.suspended is None
        if carries and copy is not None and original is not None and copy.fork == original.fork:
            end = self.limit(original.hardened, to_lsn)
            if end > copy.hardened:
                self._place(copy, end)
        self._settle(now_s)
        return self.effects

    @staticmethod
    def limit(end_lsn: int, to_lsn: int | None) -> int:
        """Nothing is forwarded that the source has not hardened."""
        return end_lsn if to_lsn is None else min(to_lsn, end_lsn)
