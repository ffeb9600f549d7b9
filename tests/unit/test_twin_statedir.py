"""The state directory: made, understood, set aside, never deleted."""

import json

import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.twin import statedir as sd


def test_a_new_directory_is_made_and_marked(tmp_path):
    """A missing directory is made with its format version."""
    state = sd.StateDir(tmp_path / "a" / "b")
    assert json.loads((state.path / sd.FORMAT_FILE).read_text())["format"] == sd.FORMAT and state.set_aside is None


def test_an_understood_directory_is_kept(tmp_path):
    """Opening twice changes nothing."""
    sd.StateDir(tmp_path / "s").write_json("cluster.json", {"x": 1})
    again = sd.StateDir(tmp_path / "s")
    assert again.read_json("cluster.json") == {"x": 1} and again.set_aside is None and again.read_json("none.json") is None


@pytest.mark.parametrize("marker", ['{"format": 999}', "not json", "[]", ""])
def test_an_unknown_or_damaged_format_is_set_aside(tmp_path, marker):
    """A directory of another format is renamed with all its files, and a new one begins."""
    old = sd.StateDir(tmp_path / "s")
    old.write_json("cluster.json", {"precious": True})
    (old.path / sd.FORMAT_FILE).write_text(marker)
    new = sd.StateDir(tmp_path / "s")
    assert new.set_aside is not None and json.loads((new.set_aside / "cluster.json").read_text()) == {"precious": True}
    assert new.read_json("cluster.json") is None


def test_state_without_a_marker_is_set_aside(tmp_path):
    """A state file whose format nobody can tell is set aside."""
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "cluster.json").write_text("{}")
    assert sd.StateDir(tmp_path / "s").set_aside is not None


def test_several_are_set_aside_side_by_side(tmp_path):
    """Setting aside never overwrites what was set aside before."""
    names = set()
    for _ in range(3):
        state = sd.StateDir(tmp_path / "s")
        names.add(state.put_aside().name)
    assert names == {"s.set-aside-1", "s.set-aside-2", "s.set-aside-3"}


def test_a_foreign_directory_is_refused(tmp_path):
    """A directory with other people's files is not taken over."""
    (tmp_path / "thesis.docx").write_text("x")
    with pytest.raises(UsageError, match=r"thesis\.docx"):
        sd.StateDir(tmp_path)
    assert (tmp_path / "thesis.docx").exists()


def test_a_file_in_the_way_is_refused(tmp_path):
    """A state directory that is a file is one clear error."""
    (tmp_path / "f").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        sd.StateDir(tmp_path / "f")


def test_no_permission_is_one_clear_error(tmp_path, monkeypatch):
    """A place that may not be written names itself and the remedy."""
    (tmp_path / "f").write_text("x")
    with pytest.raises(MissingError, match="cannot be made"):
        sd.StateDir(tmp_path / "f" / "below")
    monkeypatch.setattr(sd.os, "access", lambda *_: False)
    with pytest.raises(MissingError, match="not writable"):
        sd.StateDir(tmp_path / "s")


def test_a_damaged_directory_that_cannot_be_renamed(tmp_path, monkeypatch):
    """When even setting aside fails, the error says so and nothing is deleted."""
    state = sd.StateDir(tmp_path / "s")

    def refuse(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sd.Path, "rename", refuse)
    with pytest.raises(MissingError, match="cannot be renamed"):
        state.put_aside()
    assert state.path.exists()


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 65, "a b", "nul\x00"])
def test_snapshot_names_cannot_leave_the_directory(name):
    """A snapshot's name is a plain word."""
    with pytest.raises(UsageError, match="snapshot name"):
        sd.checked_snapshot_name(name)
    assert sd.checked_snapshot_name("chapter_16.start-1") == "chapter_16.start-1"


def test_default_place_is_the_users_data_folder():
    """Without --state-dir the state lies in the user's data folder."""
    assert sd.default_state_dir().name == "twin" and sd.default_state_dir().is_absolute()
