"""``aglab bench wire``: what it says where a tool is missing, and how its figures are put together."""

import pytest

from aglab.cli import wire_speed
from aglab.core.errors import AglabError, MissingError


def test_without_go_it_says_what_to_install(tmp_path, monkeypatch):
    """No Go, or no source beside the package."""
    monkeypatch.setattr(wire_speed.shutil, "which", lambda name: None)
    with pytest.raises(MissingError, match="Go is not on the PATH"):
        wire_speed._load_program(tmp_path)
    monkeypatch.setattr(wire_speed.shutil, "which", lambda name: "/bin/false")
    with pytest.raises(MissingError, match="not in this installation"):
        wire_speed._load_program(tmp_path)


def test_without_cargo_there_is_no_mock_server(tmp_path, monkeypatch):
    """The comparison is left out, not guessed."""
    monkeypatch.setattr(wire_speed.shutil, "which", lambda name: None)
    assert wire_speed._mock_program(tmp_path) is None


def test_a_build_that_fails_names_its_last_line(tmp_path):
    """What the compiler said last is in the error."""
    import sys

    with pytest.raises(MissingError, match="no such module"):
        wire_speed._built([sys.executable, "-c", "import sys; sys.exit('no such module')"], tmp_path)


def test_errors_under_load_fail_the_measurement(tmp_path):
    """A rate with errors in it is no rate."""

    class Node:
        port = 1

    class FakeTwin:
        nodes = (Node(),)
        process_id = __import__("os").getpid()

        def password(self):
            return "x"

    got = {"errors": 2, "first_error": "broken pipe", "count": 1, "p50_ms": 1.0, "p99_ms": 1.0, "per_second": 1.0}
    with pytest.raises(AglabError, match="2 errors, the first: broken pipe"):
        wire_speed._of_node(lambda *_, **__: got, FakeTwin(), [])
