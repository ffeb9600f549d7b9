"""Explorables and quizzes: declaration, surface, files of a lab, the kernel's answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from aglab.core.errors import AglabError, UsageError
from aglab.viz import Answer, Explorable, Option, Output, Parameter, Question, Quiz, QuizQuestion, load_arms, load_explorable
from aglab.viz.labs import from_table
from aglab.viz.surface import STEPS, pack, unpack
from aglab.viz.widget import _serve, reply


def make(**more: object) -> Explorable:
    """Two parameters and a sum: every answer can be checked by hand."""

    def compute(setting: dict[str, object]) -> Answer:
        total = 10.0 * float(setting["a"]) + (1.0 if setting["b"] == "on" else 0.0)
        return Answer({"sum": total}, {"line": np.array([total, 2 * total])})

    base: dict[str, object] = {
        "slug": "demo",
        "title": "Demo",
        "parameters": (
            Parameter("a", "A", (1.0, 2.0, 3.0), "MB/s", 2.0, live_values=(1.0, 1.5, 2.0)),
            Parameter("b", "B", ("off", "on"), default="off"),
        ),
        "outputs": (Output("sum", "Sum", "KB"),),
        "series": (Output("line", "Line", "tx/s"),),
        "time_s": (1.0, 2.0),
        "questions": (Question("Which `a`?", "The second."),),
        "compute": compute,
        "label": "SIMULATED, profile test",
    }
    return Explorable(**{**base, **more})


def spec_of(html: str) -> dict[str, object]:
    return json.loads(re.search(r'class="aglab-spec">(.*?)</script>', html, flags=re.DOTALL).group(1))


def test_surface_runs_last_parameter_fastest_and_survives_packing() -> None:
    """The packed surface gives back every answer within half a step."""
    explorable = make()
    surface = explorable.surface()
    assert surface.outputs[:, 0].tolist() == [10, 11, 20, 21, 30, 31]
    packed = explorable.spec()["surface"]
    assert packed["shape"] == [3, 2]
    assert np.allclose(unpack(packed["outputs"][0]), surface.outputs[:, 0], atol=21 / STEPS)
    assert np.allclose(unpack(packed["series"][0]).reshape(6, 2), surface.series[:, 0], atol=52 / STEPS)
    assert explorable.surface() is surface


def test_packing_constants_and_refusing_gaps() -> None:
    """A constant packs exactly; a value that is not finite is refused."""
    assert unpack(pack(np.full(3, 7.5))).tolist() == [7.5] * 3
    with pytest.raises(AglabError, match="holds nan at point 1"):
        pack(np.array([1.0, np.nan]))


def test_static_block_has_the_surface_and_live_block_asks() -> None:
    """The page's block embeds answers, questions and a table; the kernel's block has finer positions and no surface."""
    html = make().html()
    assert "surface" in spec_of(html) and "<code>a</code>" in html and "<table" in html
    live = spec_of(make().html(live=True))
    assert "surface" not in live and live["live"] is True
    assert live["parameters"][0]["values"] == [1.0, 1.5, 2.0] and live["parameters"][0]["index"] == 2
    assert live["parameters"][1]["kind"] == "choice"


def test_kernel_answers_points_and_reports_errors() -> None:
    """An ask message gets numbers for each point; an unknown parameter comes back as text."""
    answered = reply(make(), {"kind": "ask", "id": 7, "points": [{"a": 1.5, "b": "on"}, {"a": 3.0}], "series": True})
    assert answered["id"] == 7 and answered["outputs"] == [[16], [30]] and answered["series"][0] == [[16, 32]]
    assert "did you mean" in reply(make(), {"id": 8, "points": [{"bb": 1.0}]})["error"]


def test_widget_sends_plotly_only_when_asked() -> None:
    """Five megabytes travel as a message, not in the widget's state."""
    sent = []

    class Fake:
        def send(self, content: dict[str, object], buffers: list[bytes] | None = None) -> None:
            sent.append((content["kind"], len(buffers[0]) if buffers else 0))

    _serve(Fake(), {"kind": "plotly"}, None)
    _serve(Fake(), {"kind": "ask", "id": 1, "points": [{}]}, make())
    _serve(Fake(), {"kind": "unknown"}, None)
    assert [kind for kind, _ in sent] == ["plotly", "answer"] and sent[0][1] > 1_000_000


def test_widget_and_mime_bundle() -> None:
    """The widget holds the block; the stored form is a reference that the book resolves."""
    explorable = make()
    assert 'data-slug="demo"' in explorable.widget().html
    bundle = explorable._repr_mimebundle_()
    assert bundle["text/html"] == (
        '<div class="aglab-explorable-ref" data-slug="demo">Run this cell: its sliders ask the kernel.</div>'
    )
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] == "Explorable('demo', 2 parameters, 6 points)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Parameter("a", "A", (1.0,), default=1.0), "has 1 values, must be >= 2"),
        (lambda: Parameter("a", "A", (1.0, 2.0), default=3.0), "default 3.0 is not one"),
        (lambda: Parameter("a", "A", (1.0, 2.0), default=1.0, texts=("one",)), "1 texts for 2 values"),
        (lambda: make(curve_over="c"), "parameter 'c' is not known"),
        (lambda: make(curve_outputs=("nothing",)), "output 'nothing' is not known"),
        (lambda: make(parameters=(Parameter("a", "A", tuple(range(30_000)), default=0),)), "30000 grid points"),
        (lambda: make().answer({"c": 1}), "parameter 'c' is not known"),
        (lambda: load_explorable("no-such-lab"), "explorable 'no-such-lab' is not known"),
        (lambda: Quiz.load("no-such-lab"), "quiz 'no-such-lab' is not known"),
        (lambda: QuizQuestion("q", "?", kind="essay"), "kind of question 'essay'"),
        (lambda: QuizQuestion("q", "?", options=(Option("a"), Option("b"))), "0 right of 2"),
        (lambda: QuizQuestion("q", "?", kind="many", options=(Option("a"), Option("b"))), "at least 1"),
        (lambda: QuizQuestion("q", "?", kind="number", tolerance=1.5), "tolerance=1.5 must be"),
    ],
)
def test_wrong_declarations_are_named(call: object, message: str) -> None:
    """Each wrong declaration is an error that says what and which limit."""
    with pytest.raises(UsageError, match=message):
        call()


def test_missing_answers_are_named() -> None:
    """A compute function that leaves out an output is reported by the output's name."""
    with pytest.raises(AglabError, match="compute gave no 'sum'"):
        make(compute=lambda setting: Answer({}, {"line": np.zeros(2)})).answer({})


TABLE = {
    "title": "T",
    "engine": {"profile": "hpe-dl380-gen9-ssd", "run_s": 20, "sample_s": 2, "show_s": 10},
    "parameter": [
        {"key": "k", "label": "-k", "values": [500, 0], "default": 0, "live": {"from": 100, "to": 300, "step": 100, "then": [0]}}
    ],
    "output": [{"key": "tps", "label": "Transactions/sec", "counter": "transactions_per_s"}],
    "series": [{"key": "tps", "label": "Transactions/sec", "counter": "transactions_per_s"}],
}


def test_declaration_in_a_file_asks_the_engine() -> None:
    """A table of names becomes an explorable whose answers are the engine's."""
    explorable = from_table("demo", TABLE)
    answer = explorable.answer({"k": 500})
    assert answer.outputs["tps"] > 1_000 and answer.series["tps"].shape == (5,)
    assert explorable.parameters[0].live_values == (100, 200, 300, 0)
    assert explorable.label == "SIMULATED, profile hpe-dl380-gen9-ssd"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine": {**TABLE["engine"], "run_s": 1}}, "run_s=1 must be >= sample_s"),
        ({"output": [{"key": "x", "label": "X", "counter": "tps"}]}, "counter of 'x' in explorable 'demo'"),
        ({"output": [{"key": "x", "label": "X", "counter": "cpu_percent", "stat": "p99"}]}, "statistic of 'x'"),
        ({"output": [{"key": "x", "label": "X", "counter": "log_used_kb", "per_constant": "pi"}]}, "constant of 'x'"),
    ],
)
def test_wrong_files_are_named(change: dict[str, object], message: str) -> None:
    """A name in the file that does not exist is reported with the lab and the key."""
    with pytest.raises(UsageError, match=message):
        from_table("demo", {**TABLE, **change})


def test_damaged_files_of_a_lab_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are not TOML, lack a field or declare no arms are errors with the lab's name."""
    (tmp_path / "labs" / "x").mkdir(parents=True)
    monkeypatch.setattr("aglab.viz.labs.bundle_path", lambda *parts: tmp_path.joinpath(*parts))
    monkeypatch.setattr("aglab.viz.quiz.bundle_path", lambda *parts: tmp_path.joinpath(*parts))
    file, quiz = tmp_path / "labs" / "x" / "explorable.toml", tmp_path / "labs" / "x" / "quiz.toml"
    file.write_text("title = ", encoding="utf-8")
    with pytest.raises(UsageError, match="'x' is not TOML"):
        load_explorable("x")
    file.write_text("title = 'T'", encoding="utf-8")
    with pytest.raises(UsageError, match="lacks 'engine'"):
        load_explorable("x")
    with pytest.raises(UsageError, match=r"declares no \[\[arms.arm\]\]"):
        load_arms("x")
    quiz.write_text("title = ", encoding="utf-8")
    with pytest.raises(UsageError, match="is not TOML"):
        Quiz.load("x")
    quiz.write_text("title = 'T'", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no \[\[question\]\]"):
        Quiz.load("x")


def test_quiz_takes_numbers_from_the_readers_run(tmp_path: Path) -> None:
    """An answer in braces comes from the values given; a missing one is named."""
    path = tmp_path / "quiz.toml"
    path.write_text(
        "[[question]]\nkey='q'\ntext='How many?'\nkind='number'\nanswer='{tps}'\nunit='tx/s'\nwhy='As measured.'",
        encoding="utf-8",
    )
    quiz = Quiz.read(path, "demo", {"tps": 99149.0})
    assert spec_of(quiz.html())["questions"][0]["answer"] == 99149.0
    assert "99,149 tx/s. As measured." in quiz.html()
    assert repr(quiz) == "Quiz('demo', 1 questions)" and "text/html" in quiz._repr_mimebundle_()
    with pytest.raises(UsageError, match="'tps' is not known"):
        Quiz.read(path, "demo")


def test_chapter_16_teaches_what_it_says() -> None:
    """The flagship's explorable: -k helps under automatic checkpoints, costs recovery, and does nothing under indirect ones."""
    explorable = load_explorable("16-checkpoint-throttle")
    off, capped = explorable.answer({"k": 0}).outputs, explorable.answer({"k": 750}).outputs
    low = explorable.answer({"k": 100}).outputs
    assert capped["tps"] > 1.5 * off["tps"] and capped["tps_min"] > 5 * off["tps_min"]
    assert low["recovery"] > 3 * capped["recovery"] > 3 * off["recovery"]
    indirect = [explorable.answer({"k": k, "target_recovery_s": 60}).outputs for k in (0, 300)]
    assert indirect[0] == indirect[1]
    assert len(load_arms("16-checkpoint-throttle").settings) == 3
