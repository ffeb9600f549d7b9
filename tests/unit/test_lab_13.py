"""Lab 13: its judge, its repair and its hooks, on a group of servers that follows a few rules of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.lab import labs, store
from aglab.lab.cluster import Cluster, Node, StepNotPossible
from aglab.lab.results import Result
from aglab.record import Run

SLUG = "13-redo-and-failover"
TPS = "SQLServer:Databases(OLTP)\\Transactions/sec"
GOALS = {"rate_min": 15000, "recovery_s_max": 120, "tolerance": 0.2, "tolerance_s": 10, "seconds": 300}


def table(**columns):
    """One result set of one row."""
    return Result([pd.DataFrame({name: [value] for name, value in columns.items()})], [])


class Group(Cluster):
    """Three servers without a manager: roles change by statements, a queue drains as time passes."""

    mode = "fake"

    def __init__(self, kind="NONE", faults=True):
        super().__init__([Node(name, "127.0.0.1", 1) for name in ("sql1", "sql2", "sql3")], "none")
        self.kind, self.faults, self.asked = kind, faults, []
        self.roles = {"sql1": "PRIMARY", "sql2": "SECONDARY", "sql3": "SECONDARY"}
        self.suspended = dict.fromkeys(self.roles, False)
        self.queue_kb, self.rate_kb_s, self.rate = 0.0, 50_000.0, 16_000.0

    def sql(self, script, node=None, database="master"):
        self.asked.append((node, script.strip().splitlines()[-1]))
        assert database == "master", "a session in the database would not outlive a change of role"
        if "cluster_type_desc" in script:
            return table(cluster_type_desc=self.kind.lower())
        if "FORCE_FAILOVER" in script:
            self.suspended = {name: name != node for name in self.roles}
            self.roles[node] = "PRIMARY"
            return table(new_primary=node, recovery_s=int(self.queue_kb / self.rate_kb_s), state_desc="ONLINE")
        if "OFFLINE;" in script:
            self.roles[node] = "RESOLVING"
        if "ROLE = SECONDARY" in script:
            self.roles[node] = "SECONDARY"
        if "HADR RESUME" in script:
            self.suspended[node] = False
        if "role_desc" in script and "SET (ROLE" not in script:
            return table(role_desc=self.roles[node])
        if "redo_queue_size, redo_rate" in script:
            return table(redo_queue_size=self.queue_kb, redo_rate=self.rate_kb_s)
        if "is_suspended" in script:
            rows = [(name, "NOT SYNCHRONIZING" if off else "SYNCHRONIZED", off) for name, off in self.suspended.items()]
            return Result([pd.DataFrame(rows, columns=["replica_server_name", "synchronization_state_desc", "is_suspended"])], [])
        return Result([], [])

    def run_load(self, seconds, users=None, **more):
        self.asked.append(("load", users))
        columns = pd.MultiIndex.from_tuples([("sql1", TPS)])
        return Run(pd.DataFrame({0: np.full(10, self.rate)}).set_axis(columns, axis=1))

    def fault(self, kind, node=None, **arguments):
        if not self.faults:
            raise StepNotPossible("fault", self.mode)
        self.asked.append((kind, node))

    def start_load(self, users=None):
        self.asked.append(("start", users))

    def stop_load(self):
        self.asked.append(("stop", None))

    def restart(self, node, startup_options=()):
        self.asked.append(("restart", tuple(startup_options)))

    def wait(self, seconds):
        self.queue_kb = max(0.0, self.queue_kb - seconds * self.rate_kb_s)

    def _password(self):
        return ""

    def provenance(self):
        return {}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A learner's folder of its own."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("rate", "real_s", "said_s", "passed", "hint"),
    [
        (16_000, 0, 0, True, ""),
        (16_000, 0, 10, True, ""),
        (19_800, 50, 60, True, ""),
        (71_000, 950, 950, False, "the difference piles up"),
        (10_000, 0, 0, False, "the business needs 15,000"),
        (19_800, 50, 20, False, "the time is not"),
        (19_800, 50, 2_500_000, False, "Is that KB?"),
    ],
)
def test_each_wrong_answer_gets_its_own_hint(rate, real_s, said_s, passed, hint):
    """No queue and a known queue pass; too much load, too little, a wrong time and a wrong unit are told apart."""
    verdict = labs.Lab(SLUG, Group())._hook("judge")(rate, real_s, said_s, GOALS)
    assert bool(verdict) is passed and hint in verdict.hint


def test_goals_are_those_of_the_lab():
    """What the tests judge by is what lab.toml says."""
    assert {key: labs.describe(SLUG)["exercise"][key] for key in GOALS} == GOALS


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"users": None, "recovery_s": None}, "users is still None"),
        ({"users": 24}, "recovery_s is still None"),
        ({"users": "many", "recovery_s": 0}, "must be a number"),
        ({"users": 24, "recovery_s": -1}, "recovery_s=-1 must be"),
    ],
)
def test_unfinished_and_impossible_answers_do_not_touch_the_cluster(kept, answer, words):
    """A blank or absurd answer is refused before anything is loaded, and the try is kept."""
    lab = labs.Lab(SLUG, Group())
    verdict = lab.check(answer)
    assert not verdict and words in verdict.seen + verdict.hint and lab.cluster.asked == []
    assert store.read(SLUG)["checks"] == [{"passed": False, "seen": verdict.seen}]


def test_check_drains_the_queue_before_it_loads(kept):
    """What an earlier try has queued is not held against the answer."""
    cluster = Group()
    cluster.queue_kb = 10_000_000.0
    assert labs.Lab(SLUG, cluster).check({"users": 24, "recovery_s": 0})
    assert ("load", 24) in cluster.asked and cluster.queue_kb == 0


def test_run_loads_and_fails_over_by_the_book():
    """The experiment ends with sql2 primary, everybody following it, and commits that insist on nobody."""
    cluster = Group()
    runs = labs.Lab(SLUG, cluster).run()
    assert list(runs) == ["three minutes of load"]
    assert cluster.roles == {"sql1": "SECONDARY", "sql2": "PRIMARY", "sql3": "SECONDARY"} and not any(cluster.suspended.values())
    said = [str(text) for _, text in cluster.asked]
    order = ["TO_COMMIT = 1)", "OFFLINE;", "AS state_desc;", "ROLE = SECONDARY", "TO_COMMIT = 0)"]
    places = [next(place for place, text in enumerate(said) if one in text) for one in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "roles",
    [
        {"sql1": "PRIMARY", "sql2": "SECONDARY", "sql3": "SECONDARY"},
        {"sql1": "SECONDARY", "sql2": "PRIMARY", "sql3": "SECONDARY"},
        {"sql1": "RESOLVING", "sql2": "PRIMARY", "sql3": "SECONDARY"},
        {"sql1": "PRIMARY", "sql2": "SECONDARY", "sql3": "PRIMARY"},
    ],
)
def test_reset_brings_the_group_back_from_any_state(roles):
    """After a failover, half a failover and a split brain sql1 is the one primary and all copies move."""
    cluster = Group()
    cluster.roles, cluster.queue_kb = dict(roles), 3_000_000.0
    labs.Lab(SLUG, cluster).reset()
    assert cluster.roles == {"sql1": "PRIMARY", "sql2": "SECONDARY", "sql3": "SECONDARY"}
    assert not any(cluster.suspended[name] for name in ("sql2", "sql3")) and cluster.queue_kb == 0
    assert ("heal", "sql3") in cluster.asked and ("restart", ("-k750",)) in cluster.asked


def test_reset_goes_on_where_faults_are_not_ours():
    """A mode that cannot start or heal has nothing to start or heal."""
    cluster = Group(faults=False)
    labs.Lab(SLUG, cluster).reset()
    assert cluster.roles["sql1"] == "PRIMARY"


def test_reset_refuses_a_group_with_a_manager():
    """The procedures of this lab are for CLUSTER_TYPE = NONE; another type is named, with the remedy."""
    with pytest.raises(UsageError, match=r"CLUSTER_TYPE = EXTERNAL.*aglab up --cluster-type NONE"):
        labs.Lab(SLUG, Group(kind="EXTERNAL")).reset()


def test_half_a_failover_is_broken_until_the_missing_steps_are_done():
    """Each missing step has its own hint; the verdict follows the servers' state."""
    cluster = Group()
    lab = labs.Lab(SLUG, cluster)
    lab.break_it()
    assert "never told whom to follow" in lab.repaired().hint
    cluster.roles["sql1"] = "SECONDARY"
    assert "no log moves to sql1, sql3" in lab.repaired().hint
    cluster.suspended = dict.fromkeys(cluster.roles, False)
    assert lab.repaired()


def test_two_primaries_and_a_late_copy_are_not_healthy():
    """A split brain, a group without a primary, and a copy that still catches up are told apart."""
    judge = labs.Lab(SLUG, Group())._hook("judge_states")
    two = {"sql1": "PRIMARY", "sql2": "PRIMARY", "sql3": "SECONDARY"}
    none = {"sql1": "RESOLVING", "sql2": "SECONDARY", "sql3": "SECONDARY"}
    assert "one primary" in judge(two, None).hint and "one primary" in judge(none, None).hint
    states = pd.DataFrame(
        {"replica_server_name": ["sql2"], "synchronization_state_desc": ["SYNCHRONIZING"], "is_suspended": [False]}
    )
    one = {"sql1": "PRIMARY", "sql2": "SECONDARY", "sql3": "SECONDARY"}
    assert "sql2 still catches up" in judge(one, states).hint


def test_steps_name_the_server_they_run_on():
    """A step of a procedure that runs on the wrong server does harm: the first lines say where."""
    for path in sorted(bundle_path("labs", SLUG).glob("*.sql")):
        head = " ".join(path.read_text(encoding="utf-8").splitlines()[:3]).lower()
        assert any(
            word in head for word in ("on the primary", "primary.", "secondary", "server that takes over", "run it there")
        ), path
