"""Answer keys on a running cluster: right answers pass, wrong ones get their own hint, faults are mended by T-SQL alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from aglab.lab import lab_slugs, open_lab

ROOT = Path(__file__).resolve().parents[2]
KEYS = ROOT / "instructor"


def key_of(slug):
    """The answer key of a lab."""
    return tomllib.loads((KEYS / f"{slug}.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=lab_slugs())
def lab(request, tmp_path_factory):
    """A lab on a cluster of its own, with a learner's folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGLAB_HOME", str(tmp_path_factory.mktemp("home")))
        with open_lab(request.param) as opened:
            opened.reset()
            yield opened


def test_every_lab_has_two_right_answers_and_three_wrong_ones(lab):
    """An exercise with one right answer is a riddle; a wrong answer without its own hint teaches nothing."""
    key = key_of(lab.slug)
    assert len(key["right"]) >= 2 and len(key["wrong"]) >= 3
    assert len({wrong["hint"] for wrong in key["wrong"]}) == len(key["wrong"])


def test_right_answers_pass_and_wrong_ones_get_their_hint(lab):
    """The key is applied to the cluster, loaded and measured, answer by answer."""
    key = key_of(lab.slug)
    for answer in key["right"]:
        verdict = lab.check(answer)
        assert verdict, f"{answer}: {verdict!r}"
    for wrong in key["wrong"]:
        answer = {name: value for name, value in wrong.items() if name != "hint"}
        verdict = lab.check(answer)
        assert not verdict and wrong["hint"] in verdict.hint, f"{answer}: {verdict!r}"


def test_the_fault_is_there_until_t_sql_mends_it(lab):
    """Broken stays broken by itself; the key's T-SQL, and nothing else, makes it healthy."""
    lab.break_it()
    assert not lab.repaired()
    repair = key_of(lab.slug)["repair"]
    for node in repair.get("nodes", ["sql1"]):
        lab.sql(repair["sql"], node)
    lab.cluster.wait(repair.get("wait_s", 0))
    assert lab.repaired()


CALIBRATED = [
    path for path in sorted((ROOT / "labs").glob("*/lab.toml")) if "the calibration found" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", CALIBRATED, ids=lambda path: path.parent.name)
def test_a_lab_with_the_calibration_s_users_has_as_many(path):
    """A calibration that finds another number of users changes these labs too, or the lab and the ledger show different twins."""
    found = tomllib.loads((ROOT / "data" / "calibration" / "constants.toml").read_text(encoding="utf-8"))
    users = tomllib.loads(path.read_text(encoding="utf-8"))["load"]["users"]
    assert users == round(found["constants"]["users"]["value"])
