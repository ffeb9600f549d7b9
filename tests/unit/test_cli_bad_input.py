"""Wrong use and a lacking machine: one clear line, the right exit code, nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys

import pytest
from cli_help import run

LAB = "16-checkpoint-throttle"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lab", "show", "16-chekpoint-throttle"), ("lab '16-chekpoint-throttle'", f"did you mean '{LAB}'")),
        (("lab", "run", "nope"), ("lab 'nope' is not known",)),
        (("check", "nope", "--answer", "x.toml"), ("answer file 'x.toml' does not exist",)),
        (("check", "nope"), ("lab 'nope' is not known",)),
        (("sweep", "nope", "--over", "k=1:2:2"), ("lab 'nope' is not known",)),
        (("profile", "show", "hpe-dl380"), ("profile 'hpe-dl380' is not known", "did you mean 'hpe-dl380-gen9-ssd'")),
        (("up", "--profile", "nope"), ("profile 'nope' is not known",)),
        (("up", "--mode", "cloud"), ("mode 'cloud' is not known", "twin, docker, remote")),
        (("up", "--pace", "quick"), ("pace='quick'", "60x")),
        (("up", "--port-base", "80"), ("port_base=80", "1024")),
        (("up", "--seed", "-1"), ("seed=-1 must be >= 0",)),
        (("lab", "--port", "80"), ("port=80 must be 1024 to 65535",)),
        (("demo", "--set", "q=1"), ("setting 'q' is not known", "nearest of")),
        (("demo", "--set", "usrs=5"), ("did you mean 'users'",)),
        (("demo", "--set", "k"), ("--set 'k' must have the form KEY=VALUE",)),
        (("demo", "--set", "k="), ("--set 'k=' must have the form KEY=VALUE",)),
        (("demo", "--set", "k=1", "--set", "k=2"), ("--set names 'k' twice",)),
        (("demo", "--set", "k=-5"), ("k_mb_s=-5", "must be >= 0")),
        (("demo", "--set", "users=1e12"), ("users=", "must be <=")),
        (("demo", "--set", "users=many"), ("users='many'", "must be a number")),
        (("demo", "--set", "users=nan"), ("users=nan", "must be finite")),
        (("demo", "--seed", "-3"), ("seed=-3 must be >= 0",)),
        (("demo", "--seed", "x"), ("'--seed'", "integer", "aglab demo --help")),
        (("demo", "--nope"), ("No such option: --nope", "aglab demo --help")),
        (("dem",), ("No such command 'dem'", "aglab --help")),
        (("simulate", "nope.toml"), ("nope.toml does not exist",)),
        (("sweep", LAB, "--over", "k=1:2"), ("--over 'k=1:2' is not KEY=FIRST:LAST:COUNT",)),
        (("sweep", LAB, "--over", "k=1:2:2", "--over", "k=3:4:2"), ("--over names 'k' twice",)),
        (("sweep", LAB, "--over", "k=1:2:2", "--seconds", "0"), ("seconds=0.0 must be > 0",)),
        (("sweep", LAB, "--over", "k=1:2:2", "--scheduler", "udp://x"), ("scheduler='udp://x'",)),
        (("published", "show", "Table 99"), ("table 'Table 99' is not known",)),
        (("published", "score", "--paper", "009"), ("paper '009' is not known",)),
        (("published", "list", "--paper", "9"), ("paper '9' is not known",)),
        (("class", "summary", "no-such-folder"), ("no-such-folder is not a folder",)),
        (("lab", "run", LAB, "--set", "k=5"), ("setting of a lab 'k' is not known", "seconds")),
        (("lab", "run", LAB, "--set", "users=-5"), ("users=-5 must be a number from 0",)),
        (("lab", "run", LAB, "--profile", "nope"), ("profile 'nope' is not known",)),
        (("lab", "run", LAB, "--mode", "cloud"), ("mode 'cloud' is not known",)),
        (("up", "--from", "x", "--profile", "laptop-generic"), ("--from 'x' does not go with --profile",)),
        (("bench", "nope"), ("benchmark 'nope' is not known", "speed")),
        (("sql", "sql1"), ("there is no T-SQL to run",)),
        (("sql", "sql1", "SELECT 1", "-i", "x.sql"), ("T-SQL is given twice",)),
        (("sql", "sql1", "-i", "nope.sql"), ("-i 'nope.sql' does not exist",)),
        (("sql", "sql1", "  \nGO\n"), ("there is no T-SQL to run",)),
        (("sql", "sql1", "SELECT 1\nGO 1000000"), ("GO 1000000 on line 2", "100,000")),
    ],
)
def test_wrong_use_exits_two(capsys, words, said):
    """What is wrong, with its value, and what to do, in one line; exit code 2."""
    run(capsys, *words).is_one_clear_line(2, *said)


@pytest.mark.parametrize("mode", ["remote"])
def test_servers_of_your_own_are_not_started(capsys, mode):
    """aglab starts no servers of the user's own, and says what to do instead."""
    run(capsys, "up", "--mode", mode).is_one_clear_line(2, "neither starts nor ends", "aglab status --mode remote")


def test_errors_come_as_json_too(capsys):
    """A script that asked for JSON finds the error there."""
    said = run(capsys, "demo", "--set", "q=1", "--json")
    said.is_one_clear_line(2, "setting 'q'")
    assert said.json["exit_code"] == 2
    assert "setting 'q'" in said.json["error"]


def test_no_nodes_are_up(capsys):
    """T-SQL without nodes: what is missing and how to start it."""
    run(capsys, "sql", "sql1", "SELECT 1").is_one_clear_line(3, "no nodes are up", "aglab up")


class _Twin:
    def __init__(self):
        from aglab.twin import NodeInfo

        self.nodes = [NodeInfo("sql1", "127.0.0.1", 1)]

    def password(self):
        return "x"


def test_unknown_node(capsys, monkeypatch):
    """A node that is not in the cluster is named, with those that are."""
    import aglab.twin.process as process

    monkeypatch.setattr(process, "attach", lambda *_: _Twin())
    run(capsys, "sql", "sql9", "SELECT 1").is_one_clear_line(2, "node 'sql9' is not known", "sql1")


def test_a_node_that_does_not_answer(capsys, monkeypatch):
    """A dead port is said with node and address, exit code 3."""
    import aglab.twin.process as process

    monkeypatch.setattr(process, "attach", lambda *_: _Twin())
    run(capsys, "sql", "sql1", "SELECT 1").is_one_clear_line(3, "node", "127.0.0.1,1", "aglab status")


@pytest.fixture
def busy_port():
    """A port that somebody else listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_in_use_for_jupyter(capsys, busy_port, tmp_path):
    """JupyterLab's port is taken: it is named, and nothing was copied."""
    said = run(capsys, "lab", "--no-browser", "--port", busy_port, "--folder", tmp_path / "mine")
    said.is_one_clear_line(3, f"port {busy_port} is in use", "--port")
    assert not (tmp_path / "mine").exists()


def test_a_port_in_use_for_nodes(capsys, busy_port):
    """A node's port is taken: it is named and no node stays."""
    if busy_port > 65533:
        pytest.skip("the system gave a port that cannot be the first of three")
    run(capsys, "up", "--port-base", busy_port).is_one_clear_line(3, str(busy_port))
    assert run(capsys, "status", "--json").json["nodes"] == []


def test_a_missing_package(capsys, monkeypatch, tmp_path):
    """JupyterLab, the driver or another package that is not there is named with the command that gets it."""
    import importlib.util

    import aglab.twin.process as process

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "jupyterlab" else real(name, *a))
    run(capsys, "lab", "--no-browser", "--folder", tmp_path / "x").is_one_clear_line(3, "jupyterlab is missing", "pip install")
    monkeypatch.setattr(process, "attach", lambda *_: _Twin())
    monkeypatch.setitem(sys.modules, "mssql_python", None)
    run(capsys, "sql", "sql1", "SELECT 1").is_one_clear_line(3, "mssql-python", "install")
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)


def test_an_import_that_fails_is_no_traceback(capsys, monkeypatch):
    """A package found missing in the middle of a command is named too."""
    import aglab.live

    def broken(seat=False):
        raise ModuleNotFoundError("No module named 'psutil'", name="psutil")

    monkeypatch.setattr(aglab.live, "examine", broken)
    run(capsys, "doctor").is_one_clear_line(3, "package psutil is missing")


def test_unknown_driver(capsys, monkeypatch):
    """AGLAB_DRIVER takes two names only."""
    import aglab.twin.process as process

    monkeypatch.setattr(process, "attach", lambda *_: _Twin())
    monkeypatch.setenv("AGLAB_DRIVER", "odbc99")
    run(capsys, "sql", "sql1", "SELECT 1").is_one_clear_line(2, "odbc99", "mssql-python, pyodbc")


@pytest.fixture
def scenario(tmp_path):
    """A short scenario."""
    file = tmp_path / "short.toml"
    file.write_text('profile = "laptop-generic"\n[settings]\nduration_s = 5\nwarmup_s = 1\n', encoding="utf-8")
    return file


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only"), (errno.EIO, "error")])
def test_a_full_disk_leaves_nothing_half_written(capsys, monkeypatch, scenario, tmp_path, number, words):
    """The disk fills while a run is saved: one line, exit code 3, and the folder is as it was before."""

    def full(*_):
        raise OSError(number, os.strerror(number))

    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", full)
    run(capsys, "simulate", scenario, "--out", tmp_path / "deep" / "out").is_one_clear_line(3, words, "--out")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_full_disk_keeps_the_earlier_result(capsys, monkeypatch, scenario, tmp_path):
    """A second run that cannot be written leaves the first one whole."""
    out = tmp_path / "out"
    assert run(capsys, "simulate", scenario, "--out", out).code == 0
    first = (out / "run.json").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    run(capsys, "simulate", scenario, "--out", out).is_one_clear_line(3, "No space left")
    assert (out / "run.json").read_bytes() == first
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_result_replaces_an_earlier_result_only(capsys, scenario, tmp_path):
    """--out takes a new folder, or one with an earlier result, but never someone's other files, and no file."""
    out = tmp_path / "out"
    assert run(capsys, "simulate", scenario, "--out", out).code == 0
    assert run(capsys, "simulate", scenario, "--out", out).code == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine", encoding="utf-8")
    run(capsys, "simulate", scenario, "--out", other).is_one_clear_line(2, "holds other files")
    assert (other / "thesis.txt").read_text(encoding="utf-8") == "mine"
    run(capsys, "simulate", scenario, "--out", scenario).is_one_clear_line(2, "is a file")


def test_no_permission_to_write(capsys, monkeypatch, scenario, tmp_path):
    """A folder that cannot be made is said with its path and a remedy."""
    run(capsys, "simulate", scenario, "--out", scenario / "below-a-file").is_one_clear_line(3, "cannot be made", "--out")
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o500)
        run(capsys, "simulate", scenario, "--out", closed / "x").is_one_clear_line(3, "cannot be made", "--out")
    monkeypatch.setenv("AGLAB_HOME", str(scenario))
    run(capsys, "simulate", scenario).is_one_clear_line(3, "cannot be made")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/secret"), 3, "no permission to use /secret"),
        (OSError(errno.ENOSPC, "No space left on device"), 3, "no space is left"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), 3, "quota"),
        (OSError(errno.EADDRINUSE, "in use"), 3, "port is in use"),
        (OSError(errno.EROFS, "Read-only file system", "/x"), 3, "read-only"),
        (OSError(errno.EMFILE, "Too many open files"), 3, "the system refused"),
        (MemoryError(), 3, "not enough memory"),
        (KeyError("x"), 1, "a defect of aglab: KeyError"),
        (ValueError("two\nlines"), 1, "two lines"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_whatever_happens_is_one_line(capsys, monkeypatch, error, code, words):
    """No exception reaches a user as a traceback."""
    import aglab.live

    def broken(seat=False):
        raise error

    monkeypatch.setattr(aglab.live, "examine", broken)
    run(capsys, "doctor").is_one_clear_line(code, words)


def test_debug_shows_the_traceback(capsys, monkeypatch):
    """--debug, or AGLAB_DEBUG=1, shows where a defect lies."""
    import aglab.live

    monkeypatch.setattr(aglab.live, "examine", lambda seat=False: 1 / 0)
    assert "Traceback" in run(capsys, "doctor", "--debug").err
    monkeypatch.setenv("AGLAB_DEBUG", "1")
    assert "ZeroDivisionError" in run(capsys, "doctor").err
    monkeypatch.setenv("AGLAB_DEBUG", "0")
    assert "Traceback" not in run(capsys, "doctor").err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.toml", "k = \n", "is not valid"),
        ("a.json", "[1]", "must hold a table"),
        ("a.json", "{", "is not valid"),
        ("a.toml", b"\xff\xfe\xff", "cannot be read"),
    ],
)
def test_answers_that_cannot_be_read(capsys, tmp_path, name, content, words):
    """A damaged answer file is said with its path."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    run(capsys, "check", LAB, "--answer", path).is_one_clear_line(2, words, name)


def test_scripts_that_cannot_be_read(capsys, tmp_path, monkeypatch):
    """T-SQL must be text in UTF-8 or UTF-16, in a file, of a size that makes sense."""
    from aglab.cli import nodes

    binary = tmp_path / "x.sql"
    binary.write_bytes(b"SELECT \xe4\xff")
    run(capsys, "sql", "sql1", "-i", binary).is_one_clear_line(2, "is not text in UTF-8 or UTF-16")
    run(capsys, "sql", "sql1", "-i", tmp_path).is_one_clear_line(2, "is a folder")
    monkeypatch.setattr(nodes, "SCRIPT_BYTES_MAX", 3)
    run(capsys, "sql", "sql1", "-i", binary).is_one_clear_line(2, "limit 3")
    assert nodes._decoded("SELECT N'ä'".encode("utf-16"), binary) == "SELECT N'ä'"
    assert nodes._decoded("\ufeffSELECT 1".encode(), binary) == "SELECT 1"


def test_class_folder_without_records(capsys, tmp_path):
    """A folder without progress files is said, and where they lie."""
    (tmp_path / "x.json").write_text(json.dumps({"other": 1}), encoding="utf-8")
    run(capsys, "class", "summary", tmp_path).is_one_clear_line(2, "holds no progress files")


def test_a_scenario_that_is_not_toml(capsys, tmp_path):
    """The line that is wrong is named."""
    file = tmp_path / "x.toml"
    file.write_text("profile = \n", encoding="utf-8")
    run(capsys, "simulate", file).is_one_clear_line(2, "not valid TOML")
