"""The evidence report: what failed is in it, rates are not, and a simulation is called one."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from aglab.core.errors import AglabError

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "verify_live.py"


@pytest.fixture
def verify():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("verify_live", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Cluster:
    """Who answered."""

    server = "Microsoft SQL Server 2022 (RTM-CU22)"
    simulated = False


def checks_of(verify, *steps):
    made = verify.Checks(Path("unused"))
    made.steps = lambda: steps
    made.cluster = Cluster()
    return made


def holds():
    """a thing that holds"""
    return "second run / first run = 1.02"


def fails():
    """a thing that does not"""
    raise AglabError("not within 120 s: sql2 is back")


def test_a_failed_step_is_in_the_report_and_the_rest_goes_on(verify):
    """One failure: not passed, with its words; the steps after it are tried."""
    made = checks_of(verify, fails, holds)
    results = verify.run(made)
    assert [one["passed"] for one in results] == [False, True]
    found = verify.report(results, made.cluster)
    assert not found["passed"]
    text = verify.as_markdown(found)
    assert "| **failed** | a thing that does not | not within 120 s: sql2 is back |" in text
    assert "second run / first run = 1.02" in text


def test_without_a_group_nothing_else_is_tried(verify):
    """The first step makes the cluster; when it fails there is nothing to look at."""
    made = checks_of(verify, fails, holds)
    made.cluster = None
    assert len(verify.run(made)) == 1
    assert not verify.report([], None)["passed"]


def test_a_simulation_is_no_evidence(verify):
    """Where a twin answered, the report says so first."""
    made = checks_of(verify, holds)
    made.cluster.simulated = True
    text = verify.as_markdown(verify.report(verify.run(made), made.cluster))
    assert "no evidence about SQL Server" in text.split("|")[0]


def test_the_licence_is_the_users_to_accept(verify, monkeypatch, capsys):
    """Without ACCEPT_EULA: exit code 2, nothing started."""
    monkeypatch.delenv("ACCEPT_EULA", raising=False)
    monkeypatch.setattr("sys.argv", ["verify_live.py"])
    assert verify.main() == 2
    assert "ACCEPT_EULA" in capsys.readouterr().err


JUNIT = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" tests="3">
<testcase classname="t.ipynb" name="Cell 0" time="1.6" />
<testcase classname="t.ipynb" name="Cell 1" time="0.1">{failure}</testcase>
<testcase classname="t.ipynb" name="Cell 2" time="0.1" /></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("cells", "passed", "found"),
    [
        (JUNIT.format(failure=""), True, "3 of 3 cells hold"),
        (JUNIT.format(failure='<failure message="16,000 batch requests/s">no</failure>'), False, "2 of 3 cells hold; not: 1"),
        (JUNIT.format(failure='<error message="the kernel died" />'), False, "2 of 3 cells hold; not: 1"),
        ("", False, "0 of 0 cells hold"),
    ],
)
def test_a_notebook_is_counted_by_its_cells(verify, monkeypatch, cells, passed, found):
    """Started as its lab.toml wants; which cells do not hold is said, what they printed is not: it might be a rate."""
    called = []
    monkeypatch.setattr(verify, "aglab", lambda *words: called.append(words))

    def pytest_runs(words, env, **_):
        assert env["AGLAB_MODE"] == "docker"
        [kept] = [word.partition("=")[2] for word in words if word.startswith("--junitxml=")]
        if cells:
            Path(kept).write_text(cells, encoding="utf-8")

    monkeypatch.setattr(verify.subprocess, "run", pytest_runs)
    result = verify.notebook("13_redo_and_failover")
    assert (result["passed"], result["found"]) == (passed, found)
    assert called[0] == ("down", "--mode", "docker", "--delete-data")
    assert called[1][:5] == ("up", "--mode", "docker", "--cluster-type", "NONE")


def test_a_notebook_whose_servers_do_not_start(verify, monkeypatch):
    """The cause is in the report; nothing is run."""

    def fails(*words):
        if words[0] == "up":
            raise AglabError("port 14331 is taken")

    monkeypatch.setattr(verify, "aglab", fails)
    monkeypatch.setattr(verify.subprocess, "run", lambda *_, **__: pytest.fail("was run"))
    result = verify.notebook("16_checkpoint_throttle")
    assert not result["passed"] and result["found"] == "port 14331 is taken"


def test_a_notebook_that_is_not_there(verify, monkeypatch, capsys):
    """Named with those that are, before anything starts."""
    monkeypatch.setattr("sys.argv", ["verify_live.py", "--notebooks", "99_none"])
    with pytest.raises(SystemExit):
        verify.main()
    assert "'99_none'" in capsys.readouterr().err


def test_every_step_says_what_it_looks_at(verify):
    """Each has a sentence for the report, and the last one gives a ratio only."""
    steps = verify.Checks(Path("unused")).steps()
    assert all(step.__doc__ for step in steps)
    assert len(steps) == 11


def test_the_corpus_is_recorded_beside_the_report(verify, tmp_path):
    """Every question answered, who answered in each, an earlier run's recordings gone; the twin asked again says the same."""
    from aglab.core.paths import bundle_path
    from aglab.lab import cluster, corpus
    from aglab.live.corpus import load, load_questions

    questions = load_questions(bundle_path("data", "corpus", "questions.toml"))
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "of-another-day.toml").write_text("")
    made = verify.Checks(tmp_path)
    with cluster("twin", bare=True) as made.cluster:
        corpus.form_group(made.cluster, bundle_path("docker", "sql"))
        said = made.corpus()
    assert said.startswith(f"{len(questions)} asked: {len(questions)} the twin answers the same, 0 it answers otherwise")
    assert {one.evidence for one in load(tmp_path / "corpus")} == {"stand-in"}
    assert (tmp_path / "differences.txt").read_text().strip() == ""


# -- what others call ------------------------------------------------------------------------------------------------------
ROOT = SCRIPT.parent.parent


def test_the_workflow_calls_what_exists():
    """live.yml is YAML with the fields of a workflow; every script, target, file and variable that it names is there."""
    import re

    import yaml

    text = (ROOT / ".github" / "workflows" / "live.yml").read_text(encoding="utf-8")
    content = yaml.load(text, Loader=yaml.BaseLoader)  # "on" stays a word
    inputs = content["on"]["workflow_dispatch"]["inputs"]
    assert set(re.findall(r"inputs\.(\w+)", text)) == set(inputs)
    assert inputs["accept_eula"]["default"] == "N", "the licence is accepted by whoever starts it"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for step in content["jobs"]["verify"]["steps"]:
        assert ("run" in step) != ("uses" in step)
        words = step.get("run", "").split()
        if words[:1] == ["make"]:
            assert re.search(rf"^{words[1]}:", makefile, flags=re.M), words
        elif words and words[0].startswith("scripts/"):
            assert os.access(ROOT / words[0], os.X_OK), words
        elif words[:1] == ["docker"]:
            assert (ROOT / words[words.index("-f") + 1]).is_file()
        elif words:
            assert words[0] == ".venv/bin/aglab", words
        assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])
    upload = content["jobs"]["verify"]["steps"][-1]["with"]["path"]
    assert upload == "runs/verify-live" and upload in str(SCRIPT.read_text()).replace('" / "', "/")
    shell = (ROOT / "scripts" / "bootstrap.sh").read_text(encoding="utf-8")
    assert re.search(r"\btest\b", shell)


def test_the_makefile_calls_the_script():
    """make verify-live and make test-docker run what is here."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in ("verify_live.py", "docker_round.sh"):
        assert f"scripts/{name}" in makefile and (ROOT / "scripts" / name).is_file()
