"""Random schedules over two groups and the distributed group on top of them, judged by its own checker; and broken rules."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

from aglab.ag import AvailabilityMode, ClusterType, Group, GroupSpec, ReplicaSpec, Violation, saving
from aglab.ag import events as ev
from aglab.ag.distributed import Distributed
from aglab.ag.distributed_checker import DistributedChecker
from aglab.ag.sides import Participant

SCHEDULES = int(os.environ.get("AGLAB_AG_SCHEDULES", "200")) // 8
STEPS = 120
SEEDS_MAX = 300
MODES = (AvailabilityMode.SYNCHRONOUS, AvailabilityMode.ASYNCHRONOUS)


def two_groups(rng: random.Random) -> list[Group]:
    """Group ag1 with a database and an empty ag2, each on nodes of its own."""
    groups = []
    for name, first in (("ag1", 1), ("ag2", 3)):
        count = rng.choice([1, 2])
        replicas = [
            ReplicaSpec(f"sql{first + one}", availability_mode=rng.choice(MODES), seeding_mode="AUTOMATIC")
            for one in range(count)
        ]
        groups.append(Group.form(GroupSpec(name, ClusterType.NONE, replicas, ["OLTP"] if name == "ag1" else [])))
    return groups


class Schedule:
    """One random schedule; :meth:`run` raises a :class:`Violation` where a promise is broken."""

    def __init__(self, seed: int, kind: type[Distributed] = Distributed) -> None:
        self.rng = random.Random(seed)
        self.groups = two_groups(self.rng)
        self.now_s = 1.0
        self.commits = 0
        seeding = self.rng.choice(["AUTOMATIC", "AUTOMATIC", "MANUAL"])
        said = [
            Participant(name, f"tcp://{name}:5022", self.rng.choice((MODES[0], *MODES)), seeding_mode=seeding)
            for name in ("ag1", "ag2")
        ]
        made, _ = kind.create("dag", said, self.groups, "sql1", self.now_s)
        assert made is not None
        self.dag = made
        self.checker = DistributedChecker(self.dag)
        self.see(self.dag.join("sql3", said, self.groups, self.now_s))
        assert all(side.joined for side in self.dag.sides.values())

    def see(self, said: list[tuple[str, Any]]) -> None:
        """Let the judge look at a step, then at what follows from it."""
        self.checker.observe(said + self.dag.settle(self.now_s))

    def group(self, group: Group, event: ev.Event) -> None:
        """An event of one of the groups."""
        self.see([(group.name, one) for one in group.apply(event, max(self.now_s, group.now_s))])

    def run(self) -> None:
        """The whole schedule."""
        for _ in range(STEPS):
            self.now_s += self.rng.choice([0.1, 0.5, 2.0, 6.0])
            self.step()

    def step(self) -> None:
        """One random event."""
        rng, dag = self.rng, self.dag
        group = rng.choice(self.groups)
        node = rng.choice(list(group.nodes))
        primary = group.primary()
        kind = rng.choices(list(STEP_WEIGHTS), weights=list(STEP_WEIGHTS.values()))[0]
        if kind == "commit" and primary is not None:
            self.commits += 1
            self.group(group, ev.Commit(primary, "OLTP", self.commits, rng.choice([100, 1000])))
        elif kind == "catch up":
            self.group(group, ev.CatchUp())
        elif kind == "forward":
            source = dag.source
            copy = source.copy("OLTP") if source is not None else None
            to_lsn = None if copy is None or rng.random() < 0.5 else max(0, copy.hardened - rng.choice([0, 150, 2000]))
            self.see(dag.forward("OLTP", to_lsn, self.now_s))
        elif kind == "seed":
            self.group(group, ev.SeedDone(node, "OLTP"))
        elif kind == "cut":
            dag.linked = not dag.linked
            self.see([])
        elif kind == "mode":
            asked = primary or node
            self.see(dag.modify(asked, {rng.choice(["ag1", "ag2"]): {"availability_mode": rng.choice(MODES)}}, self.now_s))
        elif kind == "synchronous" and primary is not None:
            changes = {name: {"availability_mode": MODES[0]} for name in ("ag1", "ag2")}
            for one in self.groups:
                self.see(dag.modify(one.primary() or "", changes, self.now_s))
        elif kind == "required":
            self.see(dag.set_required(primary or node, rng.choice([0, 1, 1, 2]), self.now_s))
        elif kind == "secondary":
            self.see(dag.set_secondary(primary or node, self.now_s))
        elif kind == "force":
            self.checker.prepare(group.name, "OLTP")
            self.see(dag.force(primary or node, self.now_s))
        elif kind == "join database":
            self.see(dag.join_database(primary or node, "OLTP", None, self.now_s))
        elif kind == "local failover":
            self.group(group, ev.ForceFailover(node))
            if len(group.primaries()) > 1:  # as the documentation asks: the old primary is taken offline and follows
                for old in [one for one in group.primaries() if one != node]:
                    self.group(group, ev.Offline(old))
                    self.group(group, ev.SetRoleSecondary(old))
        elif kind == "resume":
            self.group(group, ev.Resume(node, "OLTP"))
        elif kind == "crash":
            self.group(group, ev.Crash(node))
        elif kind == "start":
            for one in self.groups:
                for name in one.nodes:
                    self.group(one, ev.Start(name))


STEP_WEIGHTS = {
    "commit": 30,
    "catch up": 12,
    "forward": 25,
    "seed": 8,
    "cut": 4,
    "mode": 3,
    "synchronous": 6,
    "required": 3,
    "secondary": 4,
    "force": 6,
    "join database": 3,
    "local failover": 3,
    "resume": 8,
    "crash": 2,
    "start": 5,
}


def run_seed(seed: int, kind: type[Distributed] = Distributed) -> None:
    """One schedule."""
    try:
        Schedule(seed, kind).run()
    except Violation as broken:
        raise Violation(f"seed {seed}: {broken}") from broken


def test_saved_in_the_middle_goes_on_alike() -> None:
    """A distributed group that is written and read again takes the same course."""
    one = Schedule(5)
    for _ in range(60):
        one.now_s += 1.0
        one.step()
    groups = [saving.from_dict(json.loads(json.dumps(saving.to_dict(group)))) for group in one.groups]
    read = saving.distributed_from_dict(json.loads(json.dumps(saving.distributed_to_dict(one.dag))), groups)
    assert saving.distributed_to_dict(read) == saving.distributed_to_dict(one.dag)
    for dag, pair in ((one.dag, one.groups), (read, groups)):
        for group in pair:
            group.apply(ev.CatchUp(), one.now_s + 1)
        dag.forward("OLTP", None, one.now_s + 2)
    assert [saving.to_dict(group) for group in groups] == [saving.to_dict(group) for group in one.groups]


def test_distributed_schedules() -> None:
    """Load, failovers of both kinds, cuts, crashes and statements at random: every promise holds."""
    for seed in range(SCHEDULES):
        run_seed(seed)


class AcknowledgesAlone(Distributed):
    """A commit does not wait for the other group."""

    def hardened_beyond(self, database: str, lsn: int) -> bool:
        return True


class MarksTooEarly(Distributed):
    """The other group counts as synchronized at once."""

    def known_hardened(self, database: str) -> int:
        return 1 << 60


class KeepsMarks(Distributed):
    """After a local failover the old marks still count."""

    def distrust(self, database: str) -> None:
        return None


class IgnoresRequired(Distributed):
    """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT does nothing."""

    def enough(self, side: Any, database: str) -> bool:
        return True


class ForwardsTooMuch(Distributed):
    """The forwarder gets log that the source has not written."""

    @staticmethod
    def limit(end_lsn: int, to_lsn: int | None) -> int:
        return end_lsn + 100


class LeavesOldPrimary(Distributed):
    """A forced failover takes no role away."""

    def _take_role(self, side: Any, other: Any) -> bool:
        return True


class OpensEarlier(Distributed):
    """A new global primary forgets the end of its log."""

    @staticmethod
    def opens_at(hardened_lsn: int) -> int:
        return max(0, hardened_lsn - 1000)


class KeepsDivergedLog(Distributed):
    """A former global primary is not rewound."""

    def rewind(self, group: Any, node: str, database: str, to_lsn: int) -> None:
        return None


@pytest.mark.parametrize(
    "broken",
    [
        AcknowledgesAlone,
        MarksTooEarly,
        KeepsMarks,
        IgnoresRequired,
        ForwardsTooMuch,
        LeavesOldPrimary,
        OpensEarlier,
        KeepsDivergedLog,
    ],
)
def test_broken_rules_are_caught(broken: type[Distributed]) -> None:
    """The checker finds each broken rule within some hundred schedules."""
    with pytest.raises(Violation):
        for seed in range(SEEDS_MAX):
            run_seed(seed, broken)
