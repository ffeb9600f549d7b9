"""Lab 12: its judge, its repair and its hooks, on a cluster that only remembers what it was asked."""

from __future__ import annotations

import tomllib

import numpy as np
import pandas as pd
import pytest

from aglab.core.paths import bundle_path
from aglab.lab import labs, store
from aglab.lab.cluster import Cluster, Node, StepNotPossible
from aglab.lab.results import Result
from aglab.record import Run

SLUG = "12-synchronous-commit"
USERS = tomllib.loads(bundle_path("labs", SLUG, "lab.toml").read_text(encoding="utf-8"))["load"]["users"]
TPS = "SQLServer:Databases(OLTP)\\Transactions/sec"
LOCAL = "local, 0.05 ms"
GOALS = {"rtt_us_min": 1000, "throughput_share": 0.95, "response_ms_max": 12.5, "seconds": 60, "warm_up_s": 60}


def run_of(rate):
    """A Run of a constant rate."""
    columns = pd.MultiIndex.from_tuples([("sql1", TPS)])
    return Run(pd.DataFrame({0: np.full(10, float(rate))}).set_axis(columns, axis=1))


class Group(Cluster):
    """Three nodes that answer from a list and keep what they were told."""

    mode = "fake"

    def __init__(self, states=None, rate=70_000.0):
        super().__init__([Node(name, "127.0.0.1", 1) for name in ("sql1", "sql2", "sql3")], "none")
        self.asked, self.states, self.rate = [], states, rate

    def sql(self, script, node=None, database="master"):
        self.asked.append((node, script.strip()))
        return Result([self.states] if self.states is not None else [], [])

    def run_load(self, seconds, users=None, **more):
        self.asked.append(("load", users))
        return run_of(self.rate)

    def fault(self, kind, node=None, **arguments):
        self.asked.append((kind, arguments))

    def start_load(self, users=None):
        self.asked.append(("start", users))

    def stop_load(self):
        self.asked.append(("stop", None))

    def restart(self, node, startup_options=()):
        self.asked.append(("restart", tuple(startup_options)))

    def wait(self, seconds):
        self.asked.append(("wait", seconds))

    def _password(self):
        return ""

    def provenance(self):
        return {}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A learner's folder of its own."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("rate", "rtt_us", "users", "passed", "hint"),
    [
        (72_000, 1_000, 200, True, ""),
        (68_400, 10_000, 800, True, ""),
        (10_900, 10_000, 130, False, "too few users"),
        (76_500, 10_000, 1_200, False, "Send some home"),
        (71_800, 40_000, 3_000, False, "Move nearer"),
        (72_000, 12_500, 900, False, "Move nearer"),
    ],
)
def test_each_wrong_answer_gets_its_own_hint(rate, rtt_us, users, passed, hint):
    """A near site and a far one pass; too few users, too many, and too great a distance are told apart."""
    judge = labs.Lab(SLUG, Group())._hook("judge")
    verdict = judge(run_of(rate), run_of(70_000), GOALS, rtt_us, users)
    assert bool(verdict) is passed and hint in verdict.hint


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"rtt_us": None, "users": None}, "rtt_us is still None"),
        ({"rtt_us": 2000}, "users is still None"),
        ({"rtt_us": "2 ms", "users": 200}, "must be a number"),
        ({"rtt_us": True, "users": 200}, "must be a number"),
        ({"rtt_us": 2000, "users": 0}, "users=0 must be"),
        ({"rtt_us": 2e6, "users": 200}, "rtt_us=2000000.0 must be"),
        ({"rtt_us": 10, "users": 800}, "Is that milliseconds?"),
        ({"rtt_us": 200, "users": 200}, "no network is quicker"),
        ({"rtt_us": 0, "users": 200}, "no network is quicker"),
    ],
)
def test_unfinished_and_impossible_answers_do_not_touch_the_cluster(kept, answer, words):
    """A blank, absurd or impossible answer is refused before anything is stretched or loaded, and the try is kept."""
    lab = labs.Lab(SLUG, Group())
    verdict = lab.check(answer)
    assert not verdict and words in verdict.seen + verdict.hint and lab.cluster.asked == []
    assert store.read(SLUG)["checks"] == [{"passed": False, "seen": verdict.seen}]


def test_check_measures_the_local_arm_first_when_it_is_missing(kept):
    """The answer is compared with the local arm: measured once, and not again."""
    lab = labs.Lab(SLUG, Group())
    assert lab.check({"rtt_us": 2000, "users": 250})
    assert lab.cluster.asked == [("delay", {"rtt_us": 50}), ("load", USERS), ("delay", {"rtt_us": 2000}), ("load", 250)]
    lab.cluster.asked.clear()
    assert lab.check({"rtt_us": 2500, "users": 260})
    assert lab.cluster.asked == [("delay", {"rtt_us": 2500}), ("load", 260)]


def test_run_has_one_arm_for_each_distance():
    """The experiment runs the arms of lab.toml, which are those the goals are judged against."""
    lab = labs.Lab(SLUG, Group())
    arms = lab.run()
    assert list(arms) == list(lab.about["arms"]) and LOCAL in arms and len(arms) == 4
    assert {key: lab.about["exercise"][key] for key in GOALS} == GOALS


def states(*rows):
    """What the primary says of its secondaries."""
    return pd.DataFrame(rows, columns=["replica_server_name", "synchronization_state_desc", "log_send_queue_size"])


@pytest.mark.parametrize(
    ("second", "third", "hint"),
    [
        (("sql2", "SYNCHRONIZED", 0), ("sql3", "SYNCHRONIZED", 0), ""),
        (("sql2", "SYNCHRONIZED", 0), ("sql3", "NOT SYNCHRONIZING", 4096), "where the copy is: sql3."),
        (("sql2", "NOT SYNCHRONIZING", 4096), ("sql3", "NOT SYNCHRONIZING", 4096), "where the copy is: sql2, sql3."),
        (("sql2", "SYNCHRONIZED", 0), ("sql3", "SYNCHRONIZING", 500_000), "sql3 must be sent what it missed"),
        (("sql2", "SYNCHRONIZED", 9999), ("sql3", "SYNCHRONIZED", 500_000), "sql2, sql3 must be sent what it missed"),
        (("sql2", "SYNCHRONIZED", None), ("sql3", "SYNCHRONIZED", 12), ""),
    ],
)
def test_repair_is_judged_by_state(second, third, hint):
    """Repaired means that both copies are synchronized and have been sent everything, whatever was typed."""
    lab = labs.Lab(SLUG, Group(states(second, third)))
    verdict = lab.repaired()
    assert bool(verdict) is (hint == "") and hint in verdict.hint
    assert (lab.cluster.asked[-1] == ("stop", None)) is (hint == "")


def test_the_fault_suspends_where_the_copy_is_and_reset_resumes():
    """Breaking suspends data movement on both secondaries; the reset undoes it, and the load is stopped first."""
    lab = labs.Lab(SLUG, Group())
    lab.break_it()
    suspended = [node for node, text in lab.cluster.asked if text == "ALTER DATABASE [OLTP] SET HADR SUSPEND;"]
    assert suspended == ["sql2", "sql3"] and ("start", USERS) in lab.cluster.asked
    lab.cluster.asked.clear()
    lab.reset()
    resumed = [node for node, text in lab.cluster.asked if text == "ALTER DATABASE [OLTP] SET HADR RESUME;"]
    assert resumed == ["sql2", "sql3"] and lab.cluster.asked[0] == ("stop", None)
    assert lab.cluster.asked[-1] == ("delay", {"rtt_us": 50})


def test_a_network_that_is_not_ours_refuses_with_the_reviewed_reason():
    """A cluster without faults lets the refusal through: nothing is measured under a wrong name."""
    group = Group()
    group.fault = lambda kind, node=None, **more: Cluster.fault(group, kind, node, **more)
    with pytest.raises(StepNotPossible, match="not ours to break"):
        labs.Lab(SLUG, group).run()
    assert group.asked == []


def test_explorable_knows_the_commit_delay():
    """A quotient of two counters: the commit delay holds the round trip, and is 0 where no commit waits."""
    from aglab.core.errors import UsageError
    from aglab.viz import load_explorable
    from aglab.viz.labs import from_table

    answer = load_explorable(SLUG).compute
    near, far = (answer({"rtt_us": rtt, "users": 130.0, "mode": "sync"}).outputs for rtt in (50, 10_000))
    assert far["delay"] - near["delay"] == pytest.approx(9.95, abs=0.3) and far["tps"] < 0.2 * near["tps"]
    assert answer({"rtt_us": 10_000, "users": 130.0, "mode": "async"}).outputs["delay"] == 0
    raw = tomllib.loads(bundle_path("labs", SLUG, "explorable.toml").read_text(encoding="utf-8"))
    raw["output"][1]["per_counter"] = "mirrored"
    with pytest.raises(UsageError, match="'mirrored' is not known"):
        from_table(SLUG, raw)
