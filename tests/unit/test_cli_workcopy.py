"""The learner's copy: made, renewed where untouched, never written over."""

from __future__ import annotations

import pytest

from aglab.cli.jupyter import addresses, book_start
from aglab.cli.workcopy import LIST, bring_up_to_date
from aglab.core.errors import MissingError, UsageError


@pytest.fixture
def source(tmp_path):
    """What aglab gives out."""
    root = tmp_path / "given"
    for name, text in (("notebooks/16_x.ipynb", "{}"), ("labs/16-x/01_a.sql", "SELECT 1"), ("labs/.gitkeep", "")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_first_copy_holds_everything(source, tmp_path):
    """Notebooks and labs are copied; what is not for learners is not."""
    done = bring_up_to_date(source, tmp_path / "mine")
    assert done.made == ["notebooks/16_x.ipynb", "labs/16-x/01_a.sql"]
    assert (tmp_path / "mine" / "labs" / "16-x" / "01_a.sql").read_text(encoding="utf-8") == "SELECT 1"
    again = bring_up_to_date(source, tmp_path / "mine")
    assert (again.made, again.renewed, again.kept) == ([], [], [])


def test_untouched_files_are_renewed(source, tmp_path):
    """A newer version replaces a file that the learner left as it was."""
    bring_up_to_date(source, tmp_path / "mine")
    (source / "labs/16-x/01_a.sql").write_text("SELECT 2", encoding="utf-8")
    assert bring_up_to_date(source, tmp_path / "mine").renewed == ["labs/16-x/01_a.sql"]
    assert (tmp_path / "mine/labs/16-x/01_a.sql").read_text(encoding="utf-8") == "SELECT 2"


def test_changed_files_are_kept(source, tmp_path):
    """What the learner changed stays, whether or not there is a newer version; only then is it mentioned."""
    bring_up_to_date(source, tmp_path / "mine")
    mine = tmp_path / "mine/labs/16-x/01_a.sql"
    mine.write_text("SELECT 'mine'", encoding="utf-8")
    assert bring_up_to_date(source, tmp_path / "mine").kept == []
    (source / "labs/16-x/01_a.sql").write_text("SELECT 2", encoding="utf-8")
    assert bring_up_to_date(source, tmp_path / "mine").kept == ["labs/16-x/01_a.sql"]
    assert mine.read_text(encoding="utf-8") == "SELECT 'mine'"


def test_a_lost_list_never_costs_a_learner_work(source, tmp_path):
    """Without the list of what was given out, every file that differs counts as changed."""
    bring_up_to_date(source, tmp_path / "mine")
    for damaged in ("[]", "{", None):
        path = tmp_path / "mine" / LIST
        path.unlink() if damaged is None else path.write_text(damaged, encoding="utf-8")
        mine = tmp_path / "mine/notebooks/16_x.ipynb"
        mine.write_text('{"mine": 1}', encoding="utf-8")
        assert bring_up_to_date(source, tmp_path / "mine").kept == ["notebooks/16_x.ipynb"]
        assert mine.read_text(encoding="utf-8") == '{"mine": 1}'


def test_places_that_cannot_hold_a_copy(source, tmp_path):
    """A file, or a path below a file, is refused with the option that chooses another place."""
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="is a file"):
        bring_up_to_date(source, file)
    with pytest.raises(MissingError, match="--folder"):
        bring_up_to_date(source, file / "below")


def test_addresses_name_book_notebook_and_lab(source, tmp_path, monkeypatch):
    """The first notebook is opened; the book's page is named where it has been built."""
    import aglab.cli.jupyter as jupyter

    monkeypatch.setattr(jupyter, "bundle_root", lambda: source)
    bring_up_to_date(source, tmp_path / "mine")
    found = addresses(tmp_path / "mine", 8888, "t")
    assert found["notebook"] == "http://127.0.0.1:8888/lab/tree/notebooks/16_x.ipynb?token=t"
    assert found["book"] is None
    page = source / "_build" / "html" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("<html></html>", encoding="utf-8")
    assert book_start() == page
    assert addresses(tmp_path / "empty", 1, "t")["notebook"] == "http://127.0.0.1:1/lab?token=t"
