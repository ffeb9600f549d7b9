"""Lab 3: its judge, its hooks and its HammerDB scripts, on a cluster that only remembers what it was asked."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

from aglab.core.errors import AglabError
from aglab.core.paths import bundle_path
from aglab.lab import labs
from aglab.lab.cluster import Cluster, Node
from aglab.lab.results import Result

SLUG = "03-workloads"
GOALS = {"victims_max": 0, "orders_share": 0.9, "payment_min": 43, "other_min": 4}
AS_IT_CAME = {"deadlock_victims": 3, "orders_a_minute": 7000.0}


class Session:
    """A connection that answers every batch with one row of counts."""

    def __init__(self, cluster):
        self.cluster = cluster

    def run(self, text):
        self.cluster.asked.append(text)
        if self.cluster.fails:
            raise AglabError("Msg 208: Invalid object name 'dbo.run_mix'.")
        one = {"new_orders": 5, "others": 6, "rolled_back": 1, "deadlock_victims": 0, "elapsed_ms": 1000}
        return Result([pd.DataFrame([one])], [])

    def close(self):
        self.cluster.closed += 1


class Small(Cluster):
    """One node that keeps what it was told."""

    mode = "fake"

    def __init__(self, violations=0, fails=False):
        super().__init__([Node("sql1", "127.0.0.1", 1)], "none")
        self.asked, self.violations, self.fails, self.closed = [], violations, fails, 0

    def connect(self, node=None, database="master"):
        return Session(self)

    def sql(self, script, node=None, database="master"):
        self.asked.append(script)
        return Result([pd.DataFrame({"condition": ["a"], "violations": [self.violations]})], [])

    def restart(self, node, startup_options=()):
        self.asked.append(("restart", tuple(startup_options)))

    def start_load(self, users=None):
        self.asked.append("start")

    def stop_load(self):
        self.asked.append("stop")

    def wait(self, seconds):
        self.asked.append("wait")

    def _password(self):
        return ""

    def provenance(self):
        return {"mode": "fake"}


@pytest.fixture
def lab():
    """The lab on a cluster that remembers."""
    return labs.Lab(SLUG, Small())


def test_every_session_runs_the_mix_with_its_own_number(lab):
    """As many sessions as lab.toml says, one seed, weights and order as asked, every connection closed."""
    rows = lab.do("mix", sort_lines=True, new_order=10, payment=78)
    told = [text for text in lab.cluster.asked if "run_mix @user" in text]
    assert len(rows) == len(told) == lab.cluster.closed == lab.about["mix"]["sessions"]
    assert len({text.split("@user = ")[1].split(",")[0] for text in told}) == len(told)
    assert all("@new_order = 10, @payment = 78" in text and "@sort_lines = 1" in text for text in told)
    assert lab.do("sums", rows)["orders_a_minute"] == pytest.approx(60 * 5 * len(told))


def test_a_session_that_fails_ends_the_mix_with_its_error(lab):
    """An error of one session is the caller's error, and nothing stays open."""
    lab.cluster.fails = True
    with pytest.raises(AglabError, match="Msg 208"):
        lab.do("mix")
    assert lab.cluster.closed == lab.about["mix"]["sessions"]


@pytest.mark.parametrize(
    ("victims", "orders", "passed", "hint"),
    [
        (0, 6900.0, True, ""),
        (3, 7000.0, False, "the other way round"),
        (1, 7000.0, False, "Fewer, not none"),
        (0, 3000.0, False, "too few orders"),
    ],
)
def test_the_judge_tells_why(lab, victims, orders, passed, hint):
    """Victims first, then the work that was lost; each with a hint of its own."""
    verdict = lab._hook("judge")({"deadlock_victims": victims, "orders_a_minute": orders}, AS_IT_CAME, GOALS)
    assert bool(verdict) is passed and hint in verdict.hint


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ({"new_order": None, "payment": 43, "sort_lines": 1}, "new_order in percent"),
        ({"new_order": 45, "payment": 143, "sort_lines": 1}, "payment in percent"),
        ({"new_order": 45, "payment": 43, "sort_lines": 7}, "1 sorts the items"),
        ({"new_order": 50, "payment": 43, "sort_lines": 1}, "The specification wants"),
        ({"new_order": 40, "payment": 40, "sort_lines": 1}, "The specification wants"),
    ],
)
def test_answers_that_cannot_run_are_told_before_anything_runs(lab, answer, hint):
    """Percent, 0 or 1, and the specification's least shares."""
    verdict = lab._hook("check")(lab, answer, None)
    assert not verdict and hint in verdict.hint and lab.cluster.asked == []


def test_a_sound_answer_runs_the_mix_twice_and_the_reference_once(lab):
    """The mix as it came is measured once for all answers."""
    answer = {"new_order": 45, "payment": 43, "sort_lines": 1}
    assert lab._hook("check")(lab, answer, None) and lab._hook("check")(lab, answer, None)
    told = [text for text in lab.cluster.asked if "run_mix @user" in text]
    assert len(told) == 3 * lab.about["mix"]["sessions"]


def test_repair_needs_rows_that_add_up(lab):
    """A quick mix over broken rows is not repaired."""
    lab.break_it()
    assert any("DROP CONSTRAINT pk_stock" in str(text) for text in lab.cluster.asked)
    assert lab.repaired()
    lab.cluster.violations = 1
    assert "1 conditions broken" in lab.repaired().seen


def test_run_and_reset_go_through_verbs(lab, monkeypatch):
    """Both arms of the load are measured, both of the mix run; reset stops the load and loads anew."""
    measured = []
    monkeypatch.setattr(lab, "measure", lambda name, **more: measured.append(name))
    lab.run()
    assert measured == ["default", "-k750"]
    assert [one for one in lab.cluster.asked if one[0] == "restart"] == [("restart", ()), ("restart", ("-k750",))]
    lab.reset()
    assert "stop" in lab.cluster.asked


def test_hammerdb_scripts_are_those_that_the_tiers_give():
    """The scripts in the lab folders are what scripts/hammerdb_scripts.py writes."""
    folder = str(bundle_path("scripts"))
    sys.path.insert(0, folder)
    try:
        import hammerdb_scripts
    finally:
        sys.path.remove(folder)
    for slug in hammerdb_scripts.LABS:
        for name, text in hammerdb_scripts.scripts(slug).items():
            assert bundle_path("labs", slug, name).read_text(encoding="utf-8") == text, "run scripts/hammerdb_scripts.py"
