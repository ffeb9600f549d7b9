"""Ablation takes mechanisms out one at a time and says what breaks."""

from __future__ import annotations

import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.core.quantity import constants
from aglab.published.ablation import MECHANISMS, ablation, moved, stored


def test_every_mechanism_is_a_scenario_and_holds_known_constants():
    """Its settings are accepted, and what it holds is a constant of the calibration."""
    from aglab.scenario import Scenario

    for mechanism in MECHANISMS:
        assert Scenario.default().with_settings(mechanism.settings) and mechanism.title
        assert set(mechanism.held) <= set(constants())


def test_the_whole_model_is_better_than_without_a_mechanism():
    """Without refitting (no steps), taking out redo's bound breaks the redo rows and nothing else is needed to see it."""
    seen = []
    rows = ablation(lambda done, total, label="": seen.append(label), names=("redo", "backoff"), run_s=300, steps_max=0)
    assert [row["name"] for row in rows] == ["none", "redo", "backoff"]
    assert rows[0]["loss"] < rows[1]["loss"] and rows[0]["loss"] < rows[2]["loss"]
    assert rows[1]["worst_id"] == "hpe380-f10-sec-redone"
    assert seen[0] == "the whole model" and seen[-1] == "done"


def test_a_refit_is_no_worse_than_none():
    """One step of the fit with a mechanism taken out lowers its loss."""
    held = ablation(names=("overhead",), run_s=120, steps_max=0)[1]["loss"]
    assert ablation(names=("overhead",), run_s=120, steps_max=2)[1]["loss"] <= held


def test_unknown_mechanisms_and_a_missing_scipy_are_told(monkeypatch):
    """The nearest name; exit code 3 and how to install."""
    import sys

    with pytest.raises(UsageError, match="did you mean 'backoff'"):
        ablation(names=("backof",))
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingError, match="pip install"):
        ablation(names=("redo",))


def test_the_kept_table_belongs_to_this_engine_and_calibration():
    """Every mechanism's loss before refitting is the kept one; a table that has outlived its engine is named stale."""
    kept = stored()
    assert [row["name"] for row in kept] == ["none", *(mechanism.name for mechanism in MECHANISMS)]
    stale = moved(kept, ablation(steps_max=0))
    assert stale == {}, f"data/calibration/ablation.toml is stale for {stale}: run `make ablation`"


def test_a_moved_loss_is_seen():
    """Another loss, and a mechanism that one of the two tables lacks, are named; noise of a platform is not."""
    kept = [{"name": "a", "loss_not_refitted": 100.0}, {"name": "b", "loss_not_refitted": 5.0}]
    assert moved(kept, [{"name": "a", "loss_not_refitted": 100.05}, {"name": "b", "loss_not_refitted": 5.0}]) == {}
    assert set(moved(kept, [{"name": "a", "loss_not_refitted": 90.0}, {"name": "c", "loss_not_refitted": 1.0}])) == {
        "a",
        "b",
        "c",
    }


def test_the_table_is_written_and_read_back(tmp_path, monkeypatch):
    """What `make ablation` writes is what the book reads."""
    import aglab.published.ablation as module

    rows = [{"name": "none", "title": "the whole model", "loss": 1.0, "loss_not_refitted": 1.0}]
    monkeypatch.setattr(module, "ablation", lambda progress: rows)
    monkeypatch.setattr(module, "bundle_path", lambda *parts: tmp_path / "ablation.toml")
    assert module.main() == 0
    assert module.stored() == rows
    (tmp_path / "ablation.toml").unlink()
    with pytest.raises(UsageError, match="does not exist"):
        module.stored()
