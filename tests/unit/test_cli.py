"""Every command answers in words and in JSON, with the right exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_help import run

from aglab import __version__
from aglab.lab import lab_slugs
from aglab.record import Run

COMMANDS = (
    "demo", "simulate", "sweep", "bench", "check", "up", "status", "down", "sql", "doctor", "bundle",
    "lab", "lab list", "lab show", "lab run", "class summary", "class reset",
    "published list", "published show", "published score",
    "profile list", "profile show", "profile copy", "profile measure",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(capsys, command):
    """Help says what a command does, and every command takes --json."""
    said = run(capsys, *command.split(), "--help")
    assert said.code == 0
    assert "--json" in said.out


def test_version_and_no_arguments(capsys):
    """--version prints the version; without arguments there is help and exit code 2."""
    assert run(capsys, "--version").out.strip() == f"aglab {__version__}"
    said = run(capsys)
    assert "Usage: aglab" in said.out + said.err
    assert said.code == 2


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One real demo, shared."""
    from aglab.cli import main

    folder = tmp_path_factory.mktemp("demo") / "out"
    assert main(["demo", "--json", "--out", str(folder)]) == 0
    return folder, json.loads((folder / "demo.json").read_text(encoding="utf-8"))


def test_demo_has_the_promised_shape(demo):
    """The JSON of the demo: comparison rows, counts, runs, a figure, seconds."""
    _, found = demo
    assert {"published", "constants", "rows_fitted", "runs", "figure", "seconds"} <= set(found)
    keys = {"id", "paper", "condition", "counter", "stat", "role", "published", "twin", "unit", "error_pct", "reason"}
    assert all(keys <= set(row) for row in found["published"])
    assert len(found["published"]) == 24
    assert found["label"] == "SIMULATED, profile hpe-dl380-gen9-ssd"


def test_demo_saves_runs_that_load_and_a_page_that_stands_alone(demo):
    """Every run named can be loaded; the page asks no other host for anything."""
    folder, found = demo
    assert len(found["runs"]) == 6
    for path in found["runs"].values():
        assert Run.load(path).series("Transactions/sec").mean() > 0
    page = (folder / "demo.html").read_text(encoding="utf-8")
    assert 'src="http' not in page
    assert "SIMULATED" in page


def test_demo_prints_what_it_found(capsys, demo, monkeypatch, tmp_path):
    """The table, the counts, the costs, where things lie, and that inputs were changed."""
    import aglab.published
    from aglab.published import demo as real

    runs = {name: Run.load(path) for name, path in demo[1]["runs"].items()}
    result = {**demo[1], "runs": runs, "settings": {"k": 500}}
    monkeypatch.setattr(aglab.published, "demo", lambda **_: dict(result))
    said = run(capsys, "demo", "--set", "k=500", "--out", tmp_path / "x")
    assert callable(real)
    assert said.code == 0, said.err
    for words in ("Table 6", "predicted", "constants were fitted on", "recovery", "Inputs changed: k=500", str(tmp_path / "x")):
        assert words in said.out


def test_labs_are_listed_and_shown(capsys):
    """The list names every lab; a lab shows its question and its T-SQL."""
    labs = run(capsys, "lab", "list", "--json").json["labs"]
    assert [lab["slug"] for lab in labs] == lab_slugs()
    assert all(lab["minutes"] >= 20 for lab in labs), "reading and lab together"
    assert "16-checkpoint-throttle" in run(capsys, "lab", "list").out
    shown = run(capsys, "lab", "show", "16-checkpoint-throttle", "--json").json
    assert any("TARGET_RECOVERY_TIME" in text for text in shown["steps"].values())
    assert "01_which_checkpoint.sql" in run(capsys, "lab", "show", "16-checkpoint-throttle").out


def test_published_numbers_are_listed_shown_and_scored(capsys):
    """Tables are named, a table is printed as it stands, the score has roles and medians."""
    listed = run(capsys, "published", "list", "--json").json["tables"]
    assert {"paper": "000", "table": "Table 6"}.items() <= next(t for t in listed if t["table"] == "Table 6").items()
    assert "Table 6" in run(capsys, "published", "list", "--paper", "000").out
    shown = run(capsys, "published", "show", "Table 6", "--json").json["rows"]
    assert "hpe380-t6-tps-k750-avg" in [row["id"] for row in shown]
    assert "99,149" in run(capsys, "published", "show", "table 6").out
    scored = run(capsys, "published", "score", "--paper", "000", "--json").json
    assert {"rows", "fitted_constants", "median_abs_error_pct"} <= set(scored)
    assert scored["rows"]


def test_profiles_are_listed_and_shown(capsys):
    """A profile prints every value with its tag."""
    names = [p["name"] for p in run(capsys, "profile", "list", "--json").json["profiles"]]
    assert "hpe-dl380-gen9-ssd" in names
    assert "laptop-generic" in run(capsys, "profile", "list").out
    rows = run(capsys, "profile", "show", "laptop-generic", "--json").json["rows"]
    assert all({"key", "value", "unit", "tag"} <= set(row) for row in rows)
    assert "cpu.cores_per_socket" in run(capsys, "profile", "show", "laptop-generic").out


def test_simulate_runs_a_scenario_file(capsys, tmp_path):
    """A scenario file gives summary, events, warnings, provenance and a saved run; --set goes on top of the file."""
    file = tmp_path / "two.toml"
    file.write_text(
        'profile = "laptop-generic"\n[settings]\nduration_s = 20\nwarmup_s = 5\n[ag]\nreplicas = 2\n', encoding="utf-8"
    )
    found = run(capsys, "simulate", file, "--out", tmp_path / "run", "--set", "users=3", "--json").json
    assert {"summary", "events", "warnings", "provenance", "out"} <= set(found)
    assert set(found["summary"]) == {"sql1", "sql2"}
    assert Run.load(tmp_path / "run").provenance["profile"] == "laptop-generic"
    said = run(capsys, "simulate", file)
    assert said.code == 0
    assert "SIMULATED, profile laptop-generic" in said.out


def test_simulate_says_how_long_a_transaction_took(capsys, tmp_path):
    """Users = throughput x response time (Little's law); waits have the names of sys.dm_os_wait_stats."""
    file = tmp_path / "two.toml"
    text = 'profile = "laptop-generic"\n[settings]\nduration_s = 20\nwarmup_s = 0\nusers = 5\n[ag]\nreplicas = 2\nmode = "sync"\n'
    file.write_text(text, encoding="utf-8")
    found = run(capsys, "simulate", file, "--json").json
    times = found["transaction_ms"]["OLTP"]
    rate = next(stats["avg"] for name, stats in found["summary"]["sql1"].items() if name.endswith("Transactions/sec"))
    assert rate * times["response"] / 1e3 == pytest.approx(5, rel=0.01)
    assert 0 < times["HADR_SYNC_COMMIT"] < times["response"] and 0 < times["WRITELOG"] < times["response"]
    said = run(capsys, "simulate", file).out
    assert f"A transaction of OLTP took {times['response']:,.3g} ms" in said and "HADR_SYNC_COMMIT" in said
    file.write_text(text.replace("users = 5", "users = 0"), encoding="utf-8")
    assert run(capsys, "simulate", file, "--json").json["transaction_ms"] == {}


def test_sweep_gives_a_row_for_each_point(capsys):
    """Two values of k give two rows with averages."""
    found = run(capsys, "sweep", "16-checkpoint-throttle", "--over", "k=250:750:2", "--seconds", "30", "--json").json
    assert [row["k"] for row in found["rows"]] == [250, 750]
    assert all("transactions_per_s.avg" in row for row in found["rows"])


def test_sweep_is_kept_as_parquet(capsys, tmp_path):
    """--out holds the rows that were printed, labelled as simulated; a folder with something else is refused."""
    import pandas as pd

    words = ("sweep", "16-checkpoint-throttle", "--over", "k=250:750:2", "--seconds", "20", "--json", "--out")
    found = run(capsys, *words, str(tmp_path / "o")).json
    kept = pd.read_parquet(tmp_path / "o" / "sweep.parquet")
    assert kept.to_dict("records") == found["rows"] and found["out"] == str(tmp_path / "o")
    assert kept.attrs["label"].startswith("SIMULATED, profile")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    assert "holds other files" in run(capsys, *words, str(tmp_path / "full")).err


def test_status_and_down_without_nodes(capsys):
    """Nothing runs: both say so and succeed, status with an empty list of nodes."""
    assert run(capsys, "status", "--json").json["nodes"] == []
    assert "aglab up" in run(capsys, "status").out
    assert run(capsys, "down", "--json").json == {"ended": False}
    assert "No nodes" in run(capsys, "down").out


def test_doctor_looks_and_says_what_to_do(capsys, monkeypatch):
    """Findings and modes in JSON; what is missing has a remedy and exit code 3."""
    import aglab.live

    found = run(capsys, "doctor", "--json").json
    assert {"findings", "modes", "home"} <= set(found)
    finding = {"what": "Python", "ok": False, "found": "3.9", "modes": "twin", "remedy": "install Python 3.11 or later"}
    monkeypatch.setattr(aglab.live, "examine", lambda seat=False: {"findings": [finding], "modes": {"twin": False}})
    run(capsys, "doctor").is_one_clear_line(3, "Python 3.9", "install Python 3.11")


def test_a_seat_promises_nothing_of_what_was_not_looked_at():
    """A seat needs the twin; containers and servers are not examined, so nothing is said of them, neither yes nor no."""
    from aglab.live import examine

    looked = examine(seat=True)
    assert looked["modes"] == {"twin": True}
    assert {finding["modes"] for finding in looked["findings"]} == {"twin"}


@pytest.mark.parametrize("state", [None, "running healthy"])
def test_connection_strings_are_whole_lines_to_copy(capsys, monkeypatch, state):
    """In a terminal of 80 columns, for nodes of the twin and for containers, which have a state."""
    from aglab.cli import containers

    monkeypatch.setenv("COLUMNS", "80")
    text = "Server=127.0.0.1,14331;UID=sa;TrustServerCertificate=yes;Encrypt=yes;ApplicationIntent=ReadOnly;Database=OLTP"
    node = {"name": "sql1", "role": None, "server": "127.0.0.1,14331", "connection_string": text}
    if state:
        node["state"] = state
    containers.print_nodes("three nodes", {"nodes": [node], "password_file": "here/sa_password.txt"})
    printed = capsys.readouterr().out.splitlines()
    assert text in printed and "Login sa; the password is in here/sa_password.txt" in printed
    assert any("running healthy" in line for line in printed) == bool(state)


def test_doctor_looks_at_the_file_of_servers(monkeypatch, tmp_path):
    """Mode remote needs a right file; why it is not right, and what to do, is a finding."""
    from aglab.live import examine

    def found():
        looked = examine()
        return next(one for one in looked["findings"] if one["modes"] == "remote"), looked["modes"]["remote"]

    monkeypatch.delenv("AGLAB_SERVERS", raising=False)
    finding, able = found()
    assert not finding["ok"] and not able and "AGLAB_SERVERS" in finding["remedy"]
    monkeypatch.setenv("AGLAB_SERVERS", str(tmp_path / "servers.toml"))
    finding, able = found()
    assert not able and "does not exist" in finding["found"] and finding["found"].count(finding["remedy"]) == 0
    text = 'user = "u"\npassword_env = "P"\n[[server]]\nname = "sql1"\nserver = "db01"\n'
    (tmp_path / "servers.toml").write_text(text, encoding="utf-8")
    finding, able = found()
    assert finding["ok"] and able and finding["found"] == "sql1"


def _collected(folder):
    """The records of two learners, and a file that is none."""
    for name, choice, passed in (("ada", "lower", True), ("bob", "much higher", False)):
        record = {"format": 1, "slug": "16-checkpoint-throttle", "predictions": {"main": {"choice": choice, "reason": "r"}}}
        record["checks"] = [{"passed": passed, "seen": ""}]
        (folder / name).mkdir()
        (folder / name / "16-checkpoint-throttle.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "cy.json").write_text("{", encoding="utf-8")
    return folder


def test_class_summary_counts_a_class(capsys, tmp_path):
    """Predictions and tries of each learner, a bar for each choice, and which file is left out."""
    said = run(capsys, "class", "summary", _collected(tmp_path), "--json")
    assert [(row["learner"], row["passed"]) for row in said.json["rows"]] == [("ada", True), ("bob", False)]
    assert said.json["skipped"] == [{"file": "cy.json", "reason": "not JSON"}] and said.json["figure"] is None
    said = run(capsys, "class", "summary", tmp_path)
    assert "1 of 2 passed" in said.out and "cy.json is left out: not JSON" in said.err
    assert re.search(r"about the same +0\n", said.out) and re.search(r"lower +# 1\n", said.out)


def test_class_summary_draws_the_predictions(capsys, tmp_path):
    """One page with a picture for each lab; a folder or another kind of file is refused."""
    _collected(tmp_path)
    page = tmp_path / "class.html"
    assert run(capsys, "class", "summary", tmp_path, "--out", page, "--json").json["figure"] == str(page)
    assert "Checkpoint throttling with -k" in page.read_text(encoding="utf-8")
    assert "Figure:" in run(capsys, "class", "summary", tmp_path, "--out", page).out
    run(capsys, "class", "summary", tmp_path, "--out", tmp_path).is_one_clear_line(2, "is a folder")
    run(capsys, "class", "summary", tmp_path, "--out", tmp_path / "x.png").is_one_clear_line(2, "not as '.png'")


def test_a_seat_is_reset_without_losing_anything(capsys, tmp_path, monkeypatch):
    """Progress and the changed copy lie aside, with fresh files in their place."""
    from aglab.cli.workcopy import bring_up_to_date
    from aglab.core.paths import bundle_root

    home, copy = tmp_path / "home", tmp_path / "copy"
    monkeypatch.setenv("AGLAB_HOME", str(home))
    bring_up_to_date(bundle_root(), copy)
    mine = copy / "notebooks" / "16_checkpoint_throttle.ipynb"
    mine.write_text("mine", encoding="utf-8")
    (home / "progress").mkdir(parents=True)
    (home / "progress" / "x.json").write_text("{}", encoding="utf-8")
    done = run(capsys, "class", "reset", "--folder", copy, "--yes", "--json").json
    assert mine.read_text(encoding="utf-8") != "mine" and not (home / "progress").exists()
    aside = Path(done["aside"])
    assert (aside / "copy" / "notebooks" / mine.name).read_text(encoding="utf-8") == "mine"
    assert (aside / "progress" / "x.json").is_file() and len(done["moved"]) == 2
    assert "Moved aside" in run(capsys, "class", "reset", "--folder", copy, "--yes").out
    assert "nothing to move aside" in run(capsys, "class", "reset", "--folder", tmp_path / "new", "--yes").out


def test_a_seat_is_not_reset_by_mistake(capsys, tmp_path, monkeypatch):
    """A folder that is no copy, no answer, and a folder that cannot be moved: nothing changes."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))
    (tmp_path / "mine").mkdir()
    run(capsys, "class", "reset", "--folder", tmp_path / "mine", "--yes").is_one_clear_line(2, "is no copy")
    run(capsys, "class", "reset", "--folder", tmp_path / "copy").is_one_clear_line(2, "say --yes")
    run(capsys, "class", "reset", "--folder", tmp_path / "copy", "--yes")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda text: False)
    assert run(capsys, "class", "reset", "--folder", tmp_path / "copy").code == 1
    monkeypatch.setattr("shutil.move", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    run(capsys, "class", "reset", "--folder", tmp_path / "copy", "--yes").is_one_clear_line(3, "Permission denied")
    assert not list((tmp_path / "home").rglob("copy"))


class _Verdict:
    def __init__(self, passed):
        self.passed, self.seen, self.hint = passed, "measured", "" if passed else "look at reads"

    def __repr__(self):
        return f"{self.passed}: {self.hint}"


def test_check_exits_one_until_the_answer_is_right(capsys, monkeypatch, tmp_path):
    """A right answer exits 0, a wrong one 1 with its hint; TOML and JSON are read."""
    import aglab.lab

    monkeypatch.setattr(aglab.lab, "check", lambda slug, answer, mode=None, progress=None: _Verdict(answer["k_mb_s"] == 500))
    right, wrong = tmp_path / "a.toml", tmp_path / "b.json"
    right.write_text("k_mb_s = 500\n", encoding="utf-8")
    wrong.write_text('{"k_mb_s": 5}', encoding="utf-8")
    assert run(capsys, "check", "16-checkpoint-throttle", "--answer", right).code == 0
    said = run(capsys, "check", "16-checkpoint-throttle", "--answer", wrong, "--json")
    assert (said.code, said.json["hint"]) == (1, "look at reads")


def test_lab_run_saves_every_arm(capsys, monkeypatch, tmp_path, demo):
    """The arms' runs are saved under names every system takes; --set changes the load; the JSON has what simulate's has."""
    import aglab.lab

    some = Run.load(next(iter(demo[1]["runs"].values())))

    class Lab:
        def __init__(self):
            self.about = {"load": {"seconds": 600}}

        def run(self, progress):
            assert self.about["load"] == {"seconds": 30, "users": 8}
            return {"automatic": some, "-k750: b/c": some}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(aglab.lab, "open_lab", lambda *a, **k: Lab())
    words = ("lab", "run", "16-checkpoint-throttle", "--set", "seconds=30", "--set", "users=8", "--out", tmp_path / "o")
    found = run(capsys, *words, "--json").json
    assert {"summary", "events", "warnings", "provenance", "out"} <= set(found)
    assert set(found["arms"]) == {"automatic", "-k750: b/c"}
    assert Run.load(tmp_path / "o" / "-k750__b_c").label == some.label
    assert "automatic" in run(capsys, *words).out


def test_bench_reports_rows(capsys, monkeypatch):
    """The measured speeds in words and in JSON."""
    import aglab.cli.benchmarks as benchmarks

    monkeypatch.setattr(benchmarks, "_wire", lambda: [benchmarks._row("wire", 1.0, "x")])
    monkeypatch.setattr(benchmarks, "_beside", lambda: [])
    assert [row["what"] for row in run(capsys, "bench", "--json").json["rows"]][-1] in ("SimPy, timeouts", "wire")
    monkeypatch.setattr(benchmarks, "_engine", lambda: [])
    assert "On this machine" in run(capsys, "bench").out


def test_bench_history_tells_a_slowdown(capsys, monkeypatch, tmp_path):
    """Ratios are appended; one that is more than 1.3 times worse than its median is told, with exit code 1."""
    import aglab.cli.benchmarks as benchmarks

    ratio = {"flow_over_c": 1.0, "mm8_over_simpy": 90.0}
    rows = lambda what, progress: [benchmarks._row(name, value, "x") | {"ratio": name} for name, value in ratio.items()]  # noqa: E731
    monkeypatch.setattr(benchmarks, "measure", rows)
    path = tmp_path / "history.jsonl"
    for _ in range(3):
        assert run(capsys, "bench", "--history", str(path)).code == 0
    ratio["flow_over_c"] = 1.29
    assert run(capsys, "bench", "--history", str(path), "--json").json["warnings"] == []
    ratio.update(flow_over_c=1.31, mm8_over_simpy=60.0)
    found = run(capsys, "bench", "--history", str(path))
    assert found.code == 1 and "flow_over_c is 1.31, 1.31 times worse" in found.err and "mm8_over_simpy is 60" in found.err
    assert len(path.read_text().splitlines()) == 5
    path.write_text("{}\n")
    found = run(capsys, "bench", "--history", str(path))
    assert found.code == 2 and "line 1 of" in found.err
    ratio.clear()
    assert "no ratio was measured" in run(capsys, "bench", "--history", str(path)).err
    ratio["flow_over_c"] = 1.0
    assert "cannot be written" in run(capsys, "bench", "--history", str(tmp_path / "absent" / "file")).err


def test_bench_ablation_names_mechanisms(capsys, monkeypatch):
    """Mechanisms in words, and the same rows in JSON."""
    import aglab.published.ablation as module
    from aglab.published import removals

    short = module.ablation
    monkeypatch.setattr(module, "ablation", lambda progress: short(progress, ("redo",), 60.0, 0))
    monkeypatch.setattr(removals, "REMOVALS", removals.REMOVALS[-2:])
    told = run(capsys, "bench", "ablation", "--json").json
    assert [row["name"] for row in told["rows"]] == ["none", "redo"]
    assert [row["name"] for row in told["removals"]] == ["penalty", "cache"]
    text = run(capsys, "bench", "ablation").out
    assert "redo bound by its dispatcher" in text and "a write costs what RAID asks" in text
