"""Ablation takes mechanisms out one at a time and says what breaks."""

from __future__ import annotations

import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.core.quantity import constants
from aglab.engine import Flow
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
    assert "-redo" in rows[1]["worst_id"]  # what breaks without the bound on redo is a rate of redo
    assert seen[0] == "the whole model" and seen[-1] == "done"


def test_a_refit_is_no_worse_than_none():
    """One step of the fit with a mechanism taken out lowers its loss."""
    held = ablation(names=("overhead",), run_s=120, steps_max=0)[1]["loss"]
    refitted = ablation(names=("overhead",), run_s=120, steps_max=2, workers=1)
    assert refitted[1]["loss"] <= held
    assert all(row["loss"] <= row["other_loss"] and row["loss"] <= row["loss_not_refitted"] for row in refitted)


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
    """Another loss, another number of rows, and a mechanism that one table lacks are named; noise of a platform is not."""

    def table(**losses):
        return [{"name": name, "loss_not_refitted": loss, "rows": 9} for name, loss in losses.items()]

    kept = table(a=100.0, b=5.0)
    assert moved(kept, table(a=100.05, b=5.0)) == {}
    assert set(moved(kept, table(a=90.0, c=1.0))) == {"a", "b", "c"}
    assert moved(kept, [kept[0], {**kept[1], "rows": 10}]) == {"b": ((5.0, 9), (5.0, 10))}


def test_the_table_is_written_and_read_back(tmp_path, monkeypatch):
    """What `make ablation` writes is what the book reads."""
    import aglab.published.ablation as module

    rows = [{"name": "none", "title": "the whole model", "loss": 1.0, "loss_not_refitted": 1.0, "rows": 9}]
    monkeypatch.setattr(module, "ablation", lambda progress: rows)
    monkeypatch.setattr(module, "bundle_path", lambda *parts: tmp_path / "ablation.toml")
    assert module.main() == 0
    assert module.stored() == rows
    (tmp_path / "ablation.toml").unlink()
    with pytest.raises(UsageError, match="does not exist"):
        module.stored()


def test_a_log_file_that_redo_keeps_up_with_never_fills():
    """Without a bound on redo there is no time until the log is full: no answer, and no error either."""
    from aglab.published.experiments import EXPERIMENTS
    from aglab.published.experiments_redo import FROM_RUN

    experiment = EXPERIMENTS["ag-k750"]
    bound = Flow(experiment.scenario({"noise": 0.0})).run(60.0)
    free = Flow(experiment.scenario({"noise": 0.0, "constants.redo_bytes_s_2016": 1e9})).run(60.0)
    assert FROM_RUN["hpe380-logfill-duration"](bound) > 0
    assert FROM_RUN["hpe380-logfill-duration"](free) is None
