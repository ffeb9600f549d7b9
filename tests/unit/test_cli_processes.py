"""Commands that start processes: what Ctrl-C leaves behind (nothing), and what stays when it should."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest
from cli_help import run, start, until

from aglab.cli.shell import guarded

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals; the code under test does not need them")


def interrupt(process):
    """Ctrl-C, as a terminal sends it: to the whole process group."""
    os.killpg(process.pid, signal.SIGINT)


def ended(process, seconds=60):
    """Exit code, output and errors of a process that ends."""
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def of_home(home):
    """Processes that were started with this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("AGLAB_HOME") == str(home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_in_a_long_run_leaves_no_trace(tmp_path, how):
    """Interrupted in the middle of a simulation: one line, exit code 130, no folder, no process."""
    file, home, out = tmp_path / "long.toml", tmp_path / "home", tmp_path / "results" / "out"
    file.write_text('profile = "laptop-generic"\n[settings]\nduration_s = 50000000\nsample_s = 100\n', encoding="utf-8")
    process = start("simulate", str(file), "--out", str(out), home=home)
    until(lambda: out.parent.is_dir() and any(out.parent.iterdir()))
    os.killpg(process.pid, how)
    code, said, err = ended(process)
    assert (code, said) == (130, "")
    assert err.strip().splitlines() == ["aglab: interrupted; nothing is left running or half-written"]
    assert not out.parent.exists()
    assert of_home(home) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_inside_a_destructor_is_not_forgotten(capsys, how):
    """Python drops an exception raised in a destructor (a compiler has many): the command ends all the same."""

    class Module:
        def __del__(self):
            signal.raise_signal(how)
            sum(range(10))  # the handler runs between these instructions

    def command():
        module = Module()
        del module
        end = time.monotonic() + 60
        while time.monotonic() < end:
            time.sleep(0.01)
        return 0

    before = sys.unraisablehook
    assert guarded(command, debug=False, as_json=False) == 130
    assert capsys.readouterr().err.strip() == "aglab: interrupted; nothing is left running or half-written"
    assert sys.unraisablehook is before


def test_nodes_stay_until_they_are_told_to_end(capsys, monkeypatch, tmp_path):
    """up starts three nodes that another command finds; a second up is refused; down ends them."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path))
    try:
        found = run(capsys, "up", "--bare", "--json").json
        assert {"mode", "profile", "nodes", "password_file"} <= set(found)
        assert [node["name"] for node in found["nodes"]] == ["sql1", "sql2", "sql3"]
        assert all({"name", "server", "port", "role", "connection_string"} <= set(node) for node in found["nodes"])
        password = Path(found["password_file"]).read_text(encoding="ascii").strip()
        assert password not in json.dumps(found)
        run(capsys, "up").is_one_clear_line(2, "already serves")
        assert [node["port"] for node in run(capsys, "status", "--json").json["nodes"]] == [n["port"] for n in found["nodes"]]
        assert "aglab" not in run(capsys, "status").err
    finally:
        assert run(capsys, "down", "--json").json == {"ended": True}
    assert of_home(tmp_path) == []
    assert run(capsys, "down", "--json").json == {"ended": False}


def test_a_damaged_state_is_set_aside(capsys, monkeypatch, tmp_path):
    """State that cannot be read is kept under another name, said on standard error, and the nodes start afresh."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path))
    (tmp_path / "twin").mkdir()
    (tmp_path / "twin" / "format.json").write_text('{"format": 999}', encoding="utf-8")
    try:
        said = run(capsys, "up", "--bare")
        assert said.code == 0
        assert len(list(tmp_path.glob("twin.set-aside-*"))) == 1
    finally:
        run(capsys, "down")


def _get(found, path, method="GET"):
    base, _, token = found["lab"].partition("/lab?token=")
    request = urllib.request.Request(f"{base}/{path}", method=method, headers={"Authorization": f"token {token}"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
        return json.loads(answer.read() or "null")


def test_jupyterlab_starts_and_ctrl_c_ends_it_with_its_kernels(tmp_path):
    """Addresses are printed, a kernel runs; after Ctrl-C neither JupyterLab nor the kernel is there."""
    home = tmp_path / "home"
    process = start("lab", "--no-browser", "--json", "--folder", str(tmp_path / "mine"), home=home)
    lines = []
    while not (lines and lines[-1] == "}\n"):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        lines.append(line)
    found = json.loads("".join(lines))
    assert set(found) == {"book", "notebook", "lab", "folder"}
    assert (tmp_path / "mine" / "labs" / "16-checkpoint-throttle" / "lab.toml").is_file()
    assert _get(found, "api/kernels", "POST")["name"]
    until(lambda: any("ipykernel" in " ".join(p.cmdline()) for p in of_home(home)))
    interrupt(process)
    code, _, err = ended(process)
    assert code == 130
    assert "interrupted" in err
    assert of_home(home) == []


def test_sql_prints_results_and_messages_and_fails_on_an_error(capsys, monkeypatch, tmp_path):
    """Result sets, PRINT, GO with a count, a file, JSON; a T-SQL error exits 1 with its number, and later batches still run."""
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path))
    script = tmp_path / "script.sql"
    script.write_text("SELECT 2 AS two;\nGO 2\nPRINT 'done';\nGO\n", encoding="utf-8")
    try:
        assert run(capsys, "up", "--bare").code == 0
        said = run(capsys, "sql", "sql1", "SELECT name FROM sys.databases WHERE name = N'OLTP'; PRINT 'hello';")
        assert said.code == 0, said.err
        assert "OLTP" in said.out
        assert "(1 row)" in said.out
        assert "hello" in said.out
        found = run(capsys, "sql", "SQL2", "-i", script, "--json").json
        assert [result["rows"] for result in found["results"]] == [[[2]], [[2]]]
        assert (found["messages"], found["error"]) == (["done"], None)
        said = run(capsys, "sql", "sql1", "SELECT 1 AS a\nGO\nSELECT * FROM nowhere\nGO\nSELECT NULL AS c", "--json")
        assert said.code == 1
        assert said.json["error"]["number"] == 208
        assert "nowhere" in said.json["error"]["message"]
        assert [result["columns"] for result in said.json["results"]] == [["a"], ["c"]]
        run(capsys, "sql", "sql1", "SELEC 1").is_one_clear_line(1, "Msg")
        run(capsys, "sql", "sql9", "SELECT 1").is_one_clear_line(2, "node 'sql9' is not known", "sql1, sql2, sql3")
        assert "NULL" in run(capsys, "sql", "sql1", "SELECT NULL AS c").out
    finally:
        run(capsys, "down")
