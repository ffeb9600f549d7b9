"""Progress of a learner and of a class: what is kept, what is shown, and what is said about files that cannot be used."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import aglab
from aglab.core.errors import UsageError
from aglab.lab import class_summary, lab_slugs, store
from aglab.lab.classes import COLUMNS, RECORD_BYTES_MAX
from aglab.viz import class_predictions
from aglab.viz.widget import SOLVED, told

SLUG = "16-checkpoint-throttle"
KEYS = ["fewer", "indirect", "price", "scarce", "unit"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A learner's folder of its own."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def record(choice="lower", tries=(False,), **more):
    """What the store keeps for a lab."""
    made = {"main": {"choice": choice, "reason": "the disk is scarce"}} if choice else {}
    return {"format": 1, "slug": SLUG, "predictions": made, "checks": [{"passed": one, "seen": ""} for one in tries], **more}


@pytest.fixture
def collected(tmp_path):
    """``collected(learner, content)`` puts a file where an instructor collects them; text goes in as it is."""

    def put(learner, content, name=f"{SLUG}.json"):
        path = tmp_path / "class" / learner / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return tmp_path / "class"

    return put


def test_a_row_for_each_learner_and_lab(collected):
    """Prediction, reason, tries, passed and the quiz, also from a copied folder named progress."""
    collected("ann", record(quiz={"solved": ["unit"], "of": 5}))
    folder = collected("ben", record("much higher", (False, True)), f"progress/{SLUG}.json")
    table = class_summary(folder)
    assert tuple(table.columns) == COLUMNS and table.attrs["skipped"] == []
    assert table.drop(columns=["lab", "reason"]).to_numpy().tolist() == [
        ["ann", "lower", 1, False, 1, 5],
        ["ben", "much higher", 2, True, 0, 0],
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe{}", "not UTF-8 text"),
        (b"[]", "not a progress file of aglab"),
        (json.dumps({"format": 1, "predictions": [], "checks": []}).encode(), "not a progress file of aglab"),
        (json.dumps({"format": 9, "predictions": {}, "checks": []}).encode(), "format 9, this version reads 1"),
        (b" " * (RECORD_BYTES_MAX + 1), "larger than 1,000,000 bytes"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(collected, content, why):
    """The rest of the class is still shown; alone, the file is the error."""
    folder = collected("bad", content)
    with pytest.raises(UsageError, match="holds no progress files"):
        class_summary(folder)
    table = class_summary(collected("ann", record()))
    assert table.attrs["skipped"] == [(f"bad/{SLUG}.json", why)]


def test_a_second_record_of_the_same_learner_is_left_out(collected):
    """A folder that was copied twice does not count twice."""
    collected("ann", record())
    table = class_summary(collected("ann", record("much higher"), f"old/{SLUG}.json"))
    assert len(table) == 1 and "a second record of ann" in table.attrs["skipped"][0][1]


def test_hostile_shapes_inside_a_record_do_no_harm(collected):
    """Choices, tries and quizzes of other types are shown as text or counted as nothing."""
    odd = record(tries=(), quiz={"solved": "all", "of": "five"})
    odd["predictions"] = {"main": {"choice": {"a": 1}, "reason": 7}}
    odd["checks"] = ["yes", {"passed": "true"}]
    row = class_summary(collected("eve", odd)).iloc[0]
    assert (row["prediction"], row["reason"], row["tries"], bool(row["passed"]), row["quiz_of"]) == ("{'a': 1}", "7", 1, False, 0)
    odd["predictions"] = {"main": "lower"}
    assert class_summary(collected("eve", odd)).iloc[0]["prediction"] is None


def test_no_folder_and_an_empty_one_are_told(tmp_path):
    """Both say what to do."""
    with pytest.raises(UsageError, match="is not a folder"):
        class_summary(tmp_path / "none")
    with pytest.raises(UsageError, match="aglab doctor"):
        class_summary(tmp_path)


def test_progress_shows_every_lab_of_the_book(home):
    """Nothing done reads as nothing done; a prediction, a passed exercise and a solved question show."""
    before = aglab.progress()
    assert [row["lab"] for row in before.rows] == lab_slugs()
    assert "predicted not yet; exercise not yet; quiz not yet" in repr(before)
    store.write(SLUG, record("much higher", (False, True), quiz={"solved": ["unit", "price"], "of": 5}))
    after = aglab.progress()
    assert "Checkpoint throttling with -k: predicted much higher; exercise passed; quiz 2 of 5" in repr(after)
    assert "<td style='text-align:left'>much higher</td>" in after._repr_html_()
    store.write(SLUG, record("<b>", (False, False)))
    assert "&lt;b&gt;" in aglab.progress()._repr_html_() and "not yet, 2 tries" in repr(aglab.progress())


def test_a_quiz_in_jupyterlab_is_kept_with_the_predictions(home):
    """What the page says is checked against the quiz and added to what is kept."""
    SOLVED[:] = [store.keep_quiz]
    store.write(SLUG, record())
    told({"kind": "solved", "slug": SLUG, "solved": ["unit", "nonsense"], "of": 99})
    told({"kind": "solved", "slug": SLUG, "solved": ["price"], "of": 5})
    kept = store.read(SLUG)
    assert kept["quiz"] == {"solved": ["price", "unit"], "of": len(KEYS)}
    assert kept["predictions"]["main"]["choice"] == "lower"
    for odd in ({"slug": 3}, {"slug": SLUG, "solved": "unit", "of": 5}, {"slug": "../../etc", "solved": [], "of": 1}):
        told(odd)
    assert store.read(SLUG) == kept


def test_picture_of_a_class_shows_choices_that_nobody_took():
    """Bars in the lab's order, the missing predictions last, and the same in words and in the table."""
    frame = pd.DataFrame({"lab": [SLUG] * 3, "prediction": ["much higher", "much higher", None], "passed": [True, False, False]})
    figure = class_predictions(frame, SLUG, "Throttle", ["lower", "much higher"])
    assert figure.data[0]["y"] == ["lower", "much higher", "no prediction"] and figure.data[0]["x"] == [0, 2, 1]
    assert "much higher: 2" in figure.alt and "1 of 3 passed" in figure.alt
    assert figure.tables[0].rows == (("lower", 0), ("much higher", 2), ("no prediction", 1))
    with pytest.raises(UsageError, match="no learner has a record"):
        class_predictions(frame, "12-synchronous-commit", "x")
