"""Broken rules that the checker must catch: each class below breaks one rule of the model."""

from __future__ import annotations

from typing import Any

import pytest
from test_ag_schedules import run_seed

from aglab.ag import AvailabilityMode, Checker, ClusterType, FailoverMode, Group, GroupSpec, ReplicaSpec, Timing, Violation
from aglab.ag import events as ev

SEEDS_MAX = 400
FOUR_SECONDS = [ev.Tick()] * 4


class AcknowledgesAtOnce(Group):
    """Commits do not wait for anybody."""

    def may_acknowledge(self, primary: Any, commit: Any) -> bool:
        return True


class AcknowledgesOnReceipt(Group):
    """Log in a secondary's memory counts as hardened."""

    def has_hardened(self, node: str, database: str, lsn: int) -> bool:
        return self.nodes[node].databases[database].received >= lsn


class AcknowledgesWhatIsSent(Group):
    """Log on the wire counts as hardened."""

    def has_hardened(self, node: str, database: str, lsn: int) -> bool:
        return self.nodes[node].databases[database].sent >= lsn


class IgnoresRequired(Group):
    """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT does nothing."""

    def enough(self, participants: list[str]) -> bool:
        return True


class SynchronizedTooEarly(Group):
    """A copy counts as synchronized as soon as log moves to it."""

    @staticmethod
    def holds_all(copy: Any, source: Any) -> bool:
        return True


class SkipsSilentPartners(Group):
    """A primary goes on without a silent partner before it has marked it as not synchronized."""

    def has_hardened(self, node: str, database: str, lsn: int) -> bool:
        return self.nodes[node].silent_since_s is not None or super().has_hardened(node, database, lsn)


class WritesWithoutQuorum(Group):
    """The configuration record can be changed anywhere."""

    def store_writable(self, node: str) -> bool:
        return True


class EverybodyHasQuorum(Group):
    """Every part of the cluster thinks that it has a majority."""

    def has_majority(self, part: Any) -> bool:
        return bool(set(part))


class ForgetfulWitness(Group):
    """The witness votes for a part that missed the last changes."""

    def witness_votes_for(self, part: set[str]) -> bool:
        return self._witness_sides_with(part)


class FailsOverUnchecked(Group):
    """A planned failover goes to any secondary."""

    def may_fail_over(self, node: Any) -> bool:
        return all(copy.joined for copy in node.databases.values())


class PromotesUnready(Group):
    """Automatic failover takes any partner."""

    def automatic_target(self, members: list[Any], owner: Any, view: Any) -> Any:
        return next((one for one in members if one is not owner and one.databases and self._data_intact(one)), None)


class OldPrimaryStays(Group):
    """A change of primary does not reach the old one."""

    def must_yield(self, old: Any, new: Any) -> bool:
        return False

    def _meet(self, node: Any, newest: Any) -> None:
        if node.role.value != "PRIMARY":
            super()._meet(node, newest)


class LosesUnredoneLog(Group):
    """A new primary opens at its redo position and drops hardened log."""

    def _open_as_primary(self, node: Any, database: str) -> None:
        copy = node.databases[database]
        copy.hardened = copy.redone
        super()._open_as_primary(node, database)


class KeepsDivergedLog(Group):
    """A returning copy is not rewound."""

    def rewind(self, node: Any, database: str, to_lsn: int) -> None:
        return None


class RewindsTooFar(Group):
    """A rewind gives up log that both copies share."""

    def rewind(self, node: Any, database: str, to_lsn: int) -> None:
        super().rewind(node, database, max(0, to_lsn - 50_000))


class HidesLostCommits(Group):
    """A rewind does not report what it lost."""

    def rewind(self, node: Any, database: str, to_lsn: int) -> None:
        ledger = self.ledgers[database]
        kept, ledger.commits = ledger.commits, []
        super().rewind(node, database, to_lsn)
        ledger.commits = kept


class IgnoresForks(Group):
    """The common log point is the smaller position."""

    def start_movement(self, primary: Any, node: Any, database: str) -> None:
        copy, source = node.databases[database], primary.databases[database]
        if copy.hardened <= source.hardened:
            copy.fork = source.fork
        super().start_movement(primary, node, database)


class LetsSystemDatabasesGo(Group):
    """REMOVE DATABASE takes a contained group's own master out."""

    def may_leave(self, database: str) -> bool:
        return True


class ForgetsMsdb(Group):
    """A contained group is made with a master alone."""

    def include_system_databases(self) -> None:
        self.spec.databases[:0] = self.spec.system[:1]


class SeedsUserDatabasesOnly(Group):
    """The system databases of a contained group are left to the administrator."""

    def seeds(self, replica: Any, database: str) -> bool:
        return database not in self.spec.system and super().seeds(replica, database)


class RedoesAhead(Group):
    """Redo passes what is on disk."""

    @staticmethod
    def redo_limit(copy: Any) -> int:
        return copy.received


class SendsAhead(Group):
    """More is sent than was written."""

    @staticmethod
    def _clamp(to_lsn: int | None, now: int, limit: int) -> int:
        return max(now, limit if to_lsn is None else to_lsn)


class MemorySurvivesCrash(Group):
    """Received log counts as hardened after a crash."""

    def _lose_memory(self, node: Any, database: str, copy: Any) -> None:
        copy.hardened = copy.received


class DiskLostInCrash(Group):
    """Hardened log that was not redone is gone after a crash."""

    def _lose_memory(self, node: Any, database: str, copy: Any) -> None:
        super()._lose_memory(node, database, copy)
        copy.sent = copy.received = copy.hardened = copy.redone


class ForgetsCatchUp(Group):
    """After a change from asynchronous to synchronous commit a copy counts as caught up."""

    def note_catching_up(self, node: Any, copy: Any, source: Any) -> None:
        copy.caught_up = True

    @staticmethod
    def holds_all(copy: Any, source: Any) -> bool:
        return copy.caught_up


class CountsUnjoinedCopies(Group):
    """A replica whose copy left the group may still take over."""

    def _data_intact(self, node: Any) -> bool:
        return True


class DroppedReplicasVote(Group):
    """A replica that was dropped locally still confirms the configuration record (EXTERNAL)."""

    def has_majority(self, part: Any) -> bool:
        members = {name: one.member for name, one in self.nodes.items()}
        for name in self.replicas:
            self.nodes[name].member = True
        try:
            return super().has_majority(part)
        finally:
            for name, member in members.items():
                self.nodes[name].member = member


MUTANTS = [
    AcknowledgesAtOnce,
    AcknowledgesOnReceipt,
    AcknowledgesWhatIsSent,
    IgnoresRequired,
    SynchronizedTooEarly,
    SkipsSilentPartners,
    EverybodyHasQuorum,
    FailsOverUnchecked,
    PromotesUnready,
    OldPrimaryStays,
    LosesUnredoneLog,
    KeepsDivergedLog,
    HidesLostCommits,
    IgnoresForks,
    LetsSystemDatabasesGo,
    ForgetsMsdb,
    RedoesAhead,
    SendsAhead,
    MemorySurvivesCrash,
    DiskLostInCrash,
    ForgetsCatchUp,
]


def first_catch(mutant: type[Group], seeds_max: int = SEEDS_MAX) -> int | None:
    """The first seed whose schedule exposes a broken rule."""
    for seed in range(seeds_max):
        try:
            run_seed(seed, mutant)
        except Violation:
            return seed
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.__name__)
def test_the_checker_catches_a_broken_rule(mutant: type[Group]) -> None:
    """Some schedule breaks a promise when a rule is broken."""
    assert first_catch(mutant) is not None


# Rules whose breach needs a rare sequence: the events are given, one second apart.
COMMIT = [ev.Commit("sql1", "OLTP", 1), ev.CatchUp()]
AWAY = [ev.Cut("sql1", "sql2"), ev.Cut("sql1", "sql3")]
DIRECTED: list[tuple[type[Group], ClusterType, str, bool, list[ev.Event]]] = [
    # The primary in the minority marks its partners away and acknowledges alone; the majority takes over.
    (
        WritesWithoutQuorum,
        ClusterType.WSFC,
        "SSS",
        False,
        [*AWAY, ev.Commit("sql1", "OLTP", 1), *FOUR_SECONDS, *FOUR_SECONDS, *FOUR_SECONDS]),
    # Two nodes and a witness: sql2 was away when sql1 went on alone.
    (
        ForgetfulWitness,
        ClusterType.WSFC,
        "SS",
        True,
        [
            ev.Cut("sql1", "sql2"), *FOUR_SECONDS, *FOUR_SECONDS, ev.Commit("sql1", "OLTP", 1), ev.Crash("sql1"),
            *FOUR_SECONDS, *FOUR_SECONDS, *FOUR_SECONDS,
        ],
    ),
    # The old primary returns from a forced failover and gives up more than diverged.
    (
        RewindsTooFar,
        ClusterType.NONE,
        "SS",
        False,
        [*COMMIT, ev.ForceFailover("sql2"), ev.Commit("sql1", "OLTP", 2), ev.Offline("sql1"), ev.SetRoleSecondary("sql1"),
         ev.Resume("sql1", "OLTP"), ev.CatchUp(), ev.Crash("sql2"), ev.ForceFailover("sql1")],
    ),
    # sql2's copy is taken out of the group while no primary is there to notice.
    (
        CountsUnjoinedCopies,
        ClusterType.WSFC,
        "SSS",
        False,
        [*COMMIT, ev.Crash("sql1"), ev.UnjoinDatabase("sql2", "OLTP"), *FOUR_SECONDS, *FOUR_SECONDS, *FOUR_SECONDS],
    ),
    # sql3 left; sql2, which missed everything since, finds it and counts two of three.
    (
        DroppedReplicasVote,
        ClusterType.EXTERNAL,
        "SSA",
        False,
        [ev.Cut("sql2", "sql1"), ev.Cut("sql2", "sql3"), *FOUR_SECONDS, *FOUR_SECONDS, ev.Commit("sql1", "OLTP", 1),
         ev.Drop("sql3"), ev.Cut("sql1", "sql3"), ev.Heal("sql2", "sql3"), ev.Failover("sql2", external_cluster=True)],
    ),
]  # fmt: skip


def run_events(group_class: type[Group], cluster_type: ClusterType, modes: str, witness: bool, events: list[ev.Event]) -> None:
    """A formed group takes the events, one a second, under the checker."""
    failover = {ClusterType.WSFC: FailoverMode.AUTOMATIC, ClusterType.EXTERNAL: FailoverMode.EXTERNAL}
    replicas = []
    for number, mode in enumerate(modes, start=1):
        availability = AvailabilityMode.SYNCHRONOUS if mode == "S" else AvailabilityMode.ASYNCHRONOUS
        one = failover.get(cluster_type, FailoverMode.MANUAL)
        replicas.append(ReplicaSpec(f"sql{number}", "", availability, one, session_timeout_s=5, seeding_mode="AUTOMATIC"))
    group = group_class.form(GroupSpec("ag1", cluster_type, replicas, ["OLTP"]), timing=Timing(9.0, 1.0), witness=witness)
    checker = Checker(group)
    for second, event in enumerate(events, start=1):
        checker.observe(group, event, group.apply(event, float(second)))


@pytest.mark.parametrize("case", DIRECTED, ids=lambda one: one[0].__name__)
def test_the_checker_catches_a_broken_rule_in_a_given_sequence(case: tuple[Any, ...]) -> None:
    """The sequence is harmless with the rule and breaks a promise without it."""
    mutant, *rest = case
    run_events(Group, *rest)
    with pytest.raises(Violation):
        run_events(mutant, *rest)


def join_contained(group_class: type[Group]) -> Group:
    """A contained group whose second replica joins with SEEDING_MODE = MANUAL, under the checker."""
    replicas = [ReplicaSpec("sql1"), ReplicaSpec("sql2")]
    group, _ = group_class.create(GroupSpec("ag1", ClusterType.NONE, replicas, ["Shop"], contained=True), "sql1")
    assert group is not None
    checker = Checker(group)
    for second, event in enumerate([ev.Join("sql2", "NONE"), ev.GrantCreateDatabase("sql2"), ev.Tick()], start=1):
        checker.observe(group, event, group.apply(event, float(second)))
    return group


def test_the_system_databases_of_a_contained_group_are_seeded_whatever_the_mode() -> None:
    """With SEEDING_MODE = MANUAL a user's database waits for a restore; master and msdb of the group come by themselves."""
    copies = join_contained(Group).nodes["sql2"].databases
    assert {name: one.seeding for name, one in copies.items()} == {"ag1_master": "SEEDING", "ag1_msdb": "SEEDING", "Shop": None}
    with pytest.raises(Violation, match="gets none"):
        join_contained(SeedsUserDatabasesOnly)
