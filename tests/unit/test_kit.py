"""The kit for a class without internet: whole or not at all, resumed after a failure, checked by its digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from cli_help import run

from aglab.cli import kit
from aglab.core.errors import MissingError


@pytest.fixture
def pip(monkeypatch):
    """pip that makes files instead of fetching them; ``pip.calls`` lists the calls, ``pip.fails`` names one that fails."""

    class Pip:
        calls: list = []  # noqa: RUF012
        fails = ""

        def __call__(self, *words):
            self.calls.append(words)
            if words[0] == self.fails:
                raise MissingError("pip failed: no network", "try again")
            place = Path(words[words.index("-w" if words[0] == "wheel" else "-d") + 1])
            (place / ("aglab-0.1.0-py3-none-any.whl" if words[0] == "wheel" else "numpy-1-any.whl")).write_text(words[0])

    made = Pip()
    made.calls = []
    monkeypatch.setattr(kit, "_pip", made)
    return made


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A built book of one page."""
    page = tmp_path / "html" / "book" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>book", encoding="utf-8")
    (tmp_path / "html" / "index.html").write_text("<p>start", encoding="utf-8")
    monkeypatch.setattr(kit, "book_start", lambda: page)
    return page


def test_a_kit_has_everything_and_its_digests_are_right(pip, book, tmp_path, capsys):
    """Wheels, book, notebooks, labs, images and a README; every digest fits; nothing of the work stays beside it."""
    folder = tmp_path / "kit"
    said = run(capsys, "bundle", folder, "--json").json
    assert said["wheels"] == 2 and said["notes"] == [] and any("mssql/server" in image for image in said["images"])
    lines = (folder / kit.SUMS).read_text(encoding="utf-8").splitlines()
    for line in lines:
        digest, name = line.split("  ", 1)
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    names = {line.split("  ", 1)[1] for line in lines}
    assert {"README.txt", "images.txt", "book/index.html", "book/book/index.html", "wheels/numpy-1-any.whl"} <= names
    assert {"notebooks/16_checkpoint_throttle.ipynb", "labs/16-checkpoint-throttle/lab.toml"} <= names
    assert said["files"] == len(lines) + 1
    assert not [path for path in tmp_path.iterdir() if "kit." in path.name]
    assert not [name for name in names if "instructor" in name]


def test_a_failure_keeps_what_was_fetched_and_leaves_an_earlier_kit_alone(pip, book, tmp_path, capsys):
    """The next try goes on from there; until then the earlier kit stands."""
    folder = tmp_path / "kit"
    assert run(capsys, "bundle", folder).code == 0
    (folder / "wheels" / "old.whl").write_text("old", encoding="utf-8")
    pip.fails = "download"
    run(capsys, "bundle", folder).is_one_clear_line(3, "no network")
    assert (folder / "wheels" / "old.whl").is_file()
    assert (tmp_path / "kit.partial" / "wheels" / "aglab-0.1.0-py3-none-any.whl").is_file()
    pip.fails = ""
    assert "2 wheels" in run(capsys, "bundle", folder).out
    assert not (folder / "wheels" / "old.whl").exists() and not (tmp_path / "kit.partial").exists()


def test_folders_that_hold_something_else_are_left_alone(pip, book, tmp_path, capsys):
    """A file, a folder with other files, and one that cannot be written."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    run(capsys, "bundle", tmp_path / "file").is_one_clear_line(2, "is a file")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").write_text("x", encoding="utf-8")
    run(capsys, "bundle", tmp_path / "mine").is_one_clear_line(2, "holds other files")
    run(capsys, "bundle", tmp_path / "file" / "kit").is_one_clear_line(3, "cannot be written")
    assert pip.calls == []


def test_what_is_not_there_is_said(pip, tmp_path, capsys, monkeypatch):
    """Without a built book, and without a checkout to make aglab's wheel from, the kit says what it lacks."""
    root = tmp_path / "installed"
    for name in ("notebooks", "labs"):
        (root / name).mkdir(parents=True)
    monkeypatch.setattr(kit, "bundle_root", lambda: root)
    monkeypatch.setattr(kit, "book_start", lambda: None)
    monkeypatch.setattr("importlib.metadata.requires", lambda _: ["numpy>=1.26", "scipy; extra == 'calibrate'"])
    said = run(capsys, "bundle", tmp_path / "kit")
    assert said.code == 0 and "book is not built" in said.err and "own wheel" in said.err
    assert pip.calls[0][3:] == ("numpy>=1.26",)
    assert "not built when the kit was made" in (tmp_path / "kit" / "README.txt").read_text(encoding="utf-8")


def test_an_earlier_kit_comes_back_when_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    """The last step is a rename; when it fails, nothing is lost."""
    folder, stage = tmp_path / "kit", tmp_path / "kit.partial"
    folder.mkdir()
    (folder / "x").write_text("x", encoding="utf-8")
    with pytest.raises(OSError):
        kit._put(stage, folder)
    assert (folder / "x").is_file()


def test_pip_s_last_error_is_told():
    """The real pip, asked for what does not exist in an empty folder."""
    with pytest.raises(MissingError, match=r"pip download failed: ERROR: No matching distribution"):
        kit._pip("download", "--no-index", "nothing-of-this-name")
