"""The difference corpus: format, what is left out, comparing, and the recordings replayed against the twin."""

from __future__ import annotations

import datetime as dt
import decimal
import importlib.util
import json
import uuid
from pathlib import Path

import pytest

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.lab import cluster, corpus
from aglab.live import corpus as kept
from aglab.live.corpus import Answer, Column, Question, Recording, ResultSet

FOLDER = bundle_path("data", "corpus", "recorded")
QUESTIONS = bundle_path("data", "corpus", "questions.toml")
SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "corpus.py"


@pytest.fixture(scope="module")
def twin():
    """Three nodes and their group, formed by the containers' own scripts."""
    with cluster("twin", bare=True) as made:
        corpus.form_group(made, bundle_path("docker", "sql"))
        yield made


@pytest.fixture
def script():
    """scripts/corpus.py as a module."""
    spec = importlib.util.spec_from_file_location("corpus_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(rows=((1, "a"),), error=None, messages=(), columns=(("id", "int"), ("name", "nvarchar(10)"))):
    made = [Column(name, kind, True) for name, kind in columns]
    return Answer([ResultSet(made, [list(row) for row in rows])], error, list(messages))


# -- the format --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("statement", ["SELECT 1;", "SELECT N'it''s';\nGO", "PRINT '''';", 'SELECT "a\\b";'])
def test_a_recording_is_read_as_it_was_written(tmp_path, statement):
    """Statement, types, rows with quotes and accents, error and messages survive the file."""
    question = Question("a-question", "errors", statement, "sql2", "OLTP", ("name",))
    said = answer(
        [[1, 'q"uo\te'], [True, "ä ☃ \\"], [1.5, kept.NULL]], {"number": 208, "severity": 16, "text": 'a "b"'}, ["x\ny"]
    )
    path = kept.write(tmp_path, Recording(question, kept.STAND_IN, "a server", "2026-01-02", said))
    assert kept.read(path) == Recording(question, kept.STAND_IN, "a server", "2026-01-02", said)


def test_what_differs_by_nature_is_not_written():
    """Times, GUIDs, bytes, LSNs, hosts and what the question names become placeholders; NULL stays apart from its name."""
    columns = [Column(name, "x", True) for name in ("at", "id", "key", "last_sent_lsn", "text", "host", "none", "flag", "n")]
    row = [
        dt.datetime(2026, 1, 1),
        uuid.uuid4(),
        b"\x01",
        12,
        "died 2026-01-02 03:04:05.67 at 10.1.2.3, PK__t__3213E83F",
        "h",
        None,
    ]
    found = kept.scrubbed(Answer([ResultSet(columns, [[*row, True, decimal.Decimal("1.50")]])]), ("host",)).results[0].rows[0]
    assert found == [
        "<time>", "<guid>", "<binary>", "<lsn>", "died <time> at <address>, PK__t__<id>", "<varies>", "<null>", True, "1.50"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["cntr_value", "wait_time_ms", "log_send_rate", "redo_queue_size", "bytes_per_second"])
def test_measured_performance_is_never_written(name):
    """Licence terms: a number in a column that measures is replaced whatever the question says."""
    said = "processed 2 pages in 0.010 seconds (4119.873 MB/sec)."
    assert kept.scrubbed(answer(messages=[said])).messages == [
        "processed <measured> pages in <measured> seconds (<measured> MB/sec)."
    ]
    made = kept.scrubbed(answer([[123456, "a"]], columns=((name, "bigint"), ("id", "x"))))
    assert made.results[0].rows == [["<measured>", "a"]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("format = 1", "format = 9"), "format 9"),
        (lambda text: text.replace('"stand-in"', '"hearsay"'), "hearsay"),
        (lambda text: text.replace("server = ", "serve = "), "'server'"),
        (lambda text: text[: len(text) // 2] + '"', "cannot be read"),
    ],
)
def test_a_damaged_recording_is_named(tmp_path, change, said):
    """The file, and what is wrong with it."""
    path = kept.write(tmp_path, Recording(Question("a-question", "x", "SELECT 1;"), kept.STAND_IN, "s", "2026-01-02", answer()))
    path.write_text(change(path.read_text()))
    with pytest.raises(UsageError, match=said):
        kept.read(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no \\[\\[question\\]\\]"),
        ("[[question]]\nname = 'A b'\narea = 'x'\nstatement = 'SELECT 1'", "small letters"),
        ("[[question]]\nname = 'one'\narea = 'x'\nstatement = ' '", "must hold T-SQL"),
        ("[[question]]\nname = 'one'\narea = 'x'\nstatment = 'SELECT 1'", "'statment' is not known"),
        ("[[question]]\nname = 'one'\narea = 'x'", "incomplete"),
        ("[[question]]\nname = 'one'\narea = 'x'\nstatement = 'SELECT 1'\n" * 2, "comes twice"),
    ],
)
def test_wrong_questions(tmp_path, text, said):
    """A slip in the list of questions is told with the field."""
    path = tmp_path / "questions.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        kept.load_questions(path)


# -- comparing ---------------------------------------------------------------------------------------------------------
ERROR = {"number": 208, "severity": 16, "state": 1, "line": 1, "text": "Invalid object name 'x'."}


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (answer([[2, "a"]]), "row 1, id: recorded 1, now 2"),
        (answer([]), "rows: recorded 1, now 0"),
        (answer(columns=(("id", "bigint"), ("name", "nvarchar(10)"))), "column id: recorded int null, now bigint null"),
        (answer([[1]], columns=(("id", "int"),)), "column name: not there now"),
        (answer([["a", 1]], columns=(("name", "nvarchar(10)"), ("id", "int"))), "in the order id, name, now name, id"),
        (answer(messages=["x"]), "messages: recorded"),
        (Answer(), "result sets: recorded 1, now 0"),
        (answer(error={**ERROR, "number": 547}), "error: recorded none, now 547"),
    ],
)
def test_every_kind_of_difference_is_told(now, said):
    """Values, rows, types, columns, their order, messages, errors."""
    found = kept.compare(answer(), now, "a-question")
    assert found.outcome == "differs"
    assert any(said in text for text in found.differences), found


@pytest.mark.parametrize("key", ["number", "severity", "state", "text"])
def test_each_part_of_an_error_counts(key):
    """Number, severity, state and text; the line does not."""
    found = kept.compare(Answer(error=ERROR), Answer(error={**ERROR, key: "other", "line": 7}))
    assert [text.split(":")[0] for text in found.differences] == [f"error {key}"]
    assert kept.compare(Answer(error=ERROR), Answer(error={**ERROR, "line": 7})).outcome == "same"


def test_what_the_twin_lacks_is_not_a_difference():
    """59001, or a name that the recorded server has; an error that was recorded too is compared like any other."""
    lacks = Answer(error={**ERROR, "number": 59001, "text": "does not implement"})
    assert kept.compare(answer(), lacks).outcome == "not known"
    assert kept.compare(Answer(error=ERROR), lacks).outcome == "not known"
    assert kept.compare(answer(), Answer(error=ERROR)).outcome == "not known"
    assert kept.compare(Answer(error={**ERROR, "number": 4902}), Answer(error=ERROR)).outcome == "differs"


# -- the corpus that is kept, and the twin ---------------------------------------------------------------------------------
def test_every_question_is_recorded_as_it_is_asked():
    """The recordings belong to these questions; each says who answered, and no stand-in calls itself SQL Server."""
    recordings = kept.load(FOLDER)
    assert {one.question.name: one.question for one in recordings} == {q.name: q for q in kept.load_questions(QUESTIONS)}
    for one in recordings:
        assert ("aglab" in one.server.lower()) is (one.evidence == kept.STAND_IN)


def test_the_twin_is_asked_again(twin):
    """Every recording of the stand-in: it may have learned what it lacked, and changes no answer unseen."""
    recordings = [one for one in kept.load(FOLDER) if one.evidence == kept.STAND_IN]
    lacked = {one.question.name for one in recordings if (one.answer.error or {}).get("number") in kept.LACKS}
    changed = [one for one in corpus.replay(twin, recordings) if one.outcome != "same" and one.name not in lacked]
    assert changed == [], "meant? then record again: scripts/corpus.py record"


def test_a_deliberate_difference_is_reported(twin, tmp_path, script, capsys, monkeypatch):
    """A recording that was changed by hand: told with row, column and both values; exit code 1; the evidence is named."""
    name = "error-8134"
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    (tmp_path / f"{name}.toml").write_text(text.replace("state = 1", "state = 42"), encoding="utf-8")
    lost = (FOLDER / "hadr.toml").read_text(encoding="utf-8").replace("N'IsHadrEnabled'", "N'NotAProperty'")
    (tmp_path / "hadr.toml").write_text(lost, encoding="utf-8")

    class Kept:
        def __enter__(self):
            return twin

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(script, "opened", lambda mode: Kept())
    assert script.main(["replay", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "differs   error-8134" in said and "error state: recorded 42, now 1" in said
    assert "row 1, is_enabled: recorded 1, now '<null>'" in said
    assert "no evidence about SQL Server" in said
    assert script.main(["replay", str(tmp_path), "--json"]) == 1
    assert [one["outcome"] for one in json.loads(capsys.readouterr().out)["verdicts"]] == ["differs", "differs"]


def test_a_recording_says_who_answered(twin, tmp_path):
    """The recorder looks it up; errors come with severity and state, types as T-SQL writes them."""
    asked = [
        Question("one-error", "errors", "RAISERROR (N'no', 14, 9);"),
        Question("one-row", "types", "PRINT N'said'; SELECT CAST(1 AS decimal(5, 2)) AS d, CAST(NULL AS nvarchar(max)) AS text;"),
    ]
    error, row = (kept.read(path) for path in corpus.record(twin, asked, tmp_path))
    assert error.evidence == kept.STAND_IN and "aglab" in error.server
    assert (error.answer.error["number"], error.answer.error["severity"], error.answer.error["state"]) == (50000, 14, 9)
    assert row.answer.messages == ["said"]
    assert [one.type for one in row.answer.results[0].columns] == ["decimal(5,2)", "nvarchar(max)"]
    assert row.answer.results[0].rows == [["1.00", "<null>"]]


def test_a_folder_without_recordings(script, tmp_path, capsys):
    """Told, exit code 2."""
    assert script.main(["replay", str(tmp_path)]) == 2
    assert "holds no recording" in capsys.readouterr().err


def test_another_driver_names_no_types(twin, monkeypatch):
    """AGLAB_DRIVER=pyodbc is refused, not recorded with other types."""
    monkeypatch.setenv("AGLAB_DRIVER", "pyodbc")
    with pytest.raises(UsageError, match="does not name types"):
        corpus.ask(twin, Question("one", "x", "SELECT 1 AS a;"))


def test_the_lab_builds_the_group_that_the_containers_have():
    """Chapter 10's steps and docker/sql say the same: so do the answers about the group, but for the replicas' own network."""
    from aglab.lab import Lab

    recordings = [one for one in kept.load(FOLDER) if one.question.area == "groups"]
    with cluster("twin", bare=True) as made:
        Lab("10-build-the-group", made).do("build")
        verdicts = corpus.replay(made, recordings)
    assert len(recordings) > 20
    told = [text for one in verdicts for text in one.differences]
    assert told and all(", endpoint_url: recorded 'tcp://sql" in text for text in told), told
