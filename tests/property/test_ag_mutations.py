"""Broken rules that the checker must catch: each class below breaks one rule of the model."""

from __future__ import annotations

from typing import Any

import pytest
from test_ag_schedules import run_seed

from aglab.ag import Group, Violation

SEEDS_MAX = 400


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
    WritesWithoutQuorum,
    EverybodyHasQuorum,
    ForgetfulWitness,
    FailsOverUnchecked,
    PromotesUnready,
    OldPrimaryStays,
    LosesUnredoneLog,
    KeepsDivergedLog,
    RewindsTooFar,
    HidesLostCommits,
    IgnoresForks,
    RedoesAhead,
    SendsAhead,
    MemorySurvivesCrash,
    DiskLostInCrash,
    ForgetsCatchUp,
    CountsUnjoinedCopies,
    DroppedReplicasVote,
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
