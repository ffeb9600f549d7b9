"""A twin in a process of its own: found, ended, gone with its parent; clear words when it cannot start."""

import json
import os
import socket
import subprocess
import sys
import time

import psutil
import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.twin import attach, shutdown, spawn_child, spawn_detached
from aglab.twin.statedir import RUNNING_FILE

PROFILE = "laptop-generic"


def gone(process_id, limit_s=60.0):
    """Whether a process has ended within a bounded time."""
    deadline = time.monotonic() + limit_s
    while psutil.pid_exists(process_id) and psutil.Process(process_id).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_child_is_found_and_ends(tmp_path):
    """A child tells its ports, is found through its state directory, and leaves nothing running."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        assert [one.name for one in twin.nodes] == ["sql1", "sql2", "sql3"] and twin.alive
        for node in twin.nodes:
            socket.create_connection((node.host, node.port), timeout=5).close()
        found = attach(tmp_path / "s")
        assert found is not None and found.nodes == twin.nodes and found.password() == twin.password()
        with pytest.raises(UsageError, match="already serves"):
            spawn_child(tmp_path / "s")
    assert gone(twin.process_id) and attach(tmp_path / "s") is None


def test_child_dies_with_its_parent(tmp_path):
    """When the parent is killed without a word, the child ends by itself."""
    code = (
        "import sys, time\nfrom aglab.twin import spawn_child\n"
        f"twin = spawn_child({str(tmp_path / 's')!r}, profile={PROFILE!r})\nprint(twin.process_id, flush=True)\ntime.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    assert psutil.pid_exists(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(child)


def test_detached_goes_on_and_is_shut_down(tmp_path):
    """A detached twin is found from elsewhere and ends when told, keeping its ports note clean."""
    twin = spawn_detached(tmp_path / "s", profile=PROFILE)
    try:
        assert attach(tmp_path / "s").process_id == twin.process_id
        assert shutdown(tmp_path / "s") and gone(twin.process_id)
    finally:
        twin.stop()
    assert attach(tmp_path / "s") is None and not shutdown(tmp_path / "s")
    assert not (tmp_path / "s" / RUNNING_FILE).exists()


def test_a_stale_note_is_not_believed(tmp_path):
    """A note left by a crash, or of a process that is no twin, does not count as a running twin."""
    (tmp_path / "s").mkdir()
    note = {
        "nodes": [{"name": "sql1", "host": "127.0.0.1", "port": 1}],
        "password_file": "x",
        "profile": "p",
        "pace": "fast",
        "state_dir": str(tmp_path),
        "process_id": 1,
    }
    for text in (json.dumps(note), json.dumps({**note, "process_id": os.getpid()}), "{", "[]"):
        (tmp_path / "s" / RUNNING_FILE).write_text(text)
        assert attach(tmp_path / "s") is None


def started(*arguments):
    """Run the server process to its end: exit code and what it said on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "aglab.twin", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--profile", "hpe-dl380-gen9-sd"], 2, "did you mean 'hpe-dl380-gen9-ssd'"),
        (["--pace", "warp"], 2, "use fast, 1x or 60x"),
        (["--port-base", "-5"], 2, "must be 1024 to 65533"),
        (["--port-base", "70000"], 2, "must be 1024 to 65533"),
    ],
)
def test_wrong_use_is_one_line(tmp_path, arguments, code, words):
    """Unknown or absurd arguments end with exit code 2 and one line that says what would do."""
    status, said = started("--state-dir", str(tmp_path / "s"), *arguments)
    assert status == code and words in said and said.count("\n") == 1 and "Traceback" not in said


def test_a_port_in_use_is_one_line(tmp_path):
    """A taken port: exit code 3, the port and the node in one line, nothing left behind."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        if port > 65533:
            pytest.skip("the system chose one of the last ports")
        status, said = started("--state-dir", str(tmp_path / "s"), "--port-base", str(port))
        assert status == 3 and f"port={port}" in said and "sql1" in said and said.count("\n") == 1
        with pytest.raises(MissingError, match=f"port={port}"):
            spawn_child(tmp_path / "s", port_base=port)
        with pytest.raises(MissingError, match=f"port={port}"):
            spawn_detached(tmp_path / "s", port_base=port)


def test_a_foreign_directory_is_one_line(tmp_path):
    """A directory that is not ours is refused with exit code 2 and not touched."""
    (tmp_path / "letter.txt").write_text("dear")
    status, said = started("--state-dir", str(tmp_path))
    assert status == 2 and "letter.txt" in said and [one.name for one in tmp_path.iterdir()] == ["letter.txt"]


def test_damaged_state_is_set_aside_and_the_twin_starts(tmp_path):
    """A damaged state directory is renamed, the twin starts anew and says where the old one is."""
    with spawn_child(tmp_path / "s", profile=PROFILE):
        pass
    (tmp_path / "s" / "cluster.json").write_text("damaged")
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        assert (
            twin.set_aside == str(tmp_path / "s.set-aside-1")
            and (tmp_path / "s.set-aside-1" / "cluster.json").read_text() == "damaged"
        )
        assert twin.password()
