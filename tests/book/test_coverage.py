"""Every row of the papers' list has a home in the book, and what the table promises exists."""

from __future__ import annotations

import sys

import book_site
import pytest

sys.path.insert(0, str(book_site.ROOT / "book" / "_ext"))

from aglab_book import coverage

ROOT = book_site.ROOT


@pytest.fixture
def rows() -> list[dict[str, str]]:
    return coverage.read(ROOT)


def test_every_row_has_a_home_and_every_promise_is_kept(rows: list[dict[str, str]]) -> None:
    """No row, anchor or check is gone or doubled."""
    assert coverage.problems(rows, ROOT) == []


def test_a_written_chapter_teaches_something_of_the_list(rows: list[dict[str, str]]) -> None:
    """A chapter that the outline calls written, and that is the home of rows, has at least one of them taught and checked."""
    for number, chapter in coverage.chapters(ROOT).items():
        mine = [row for row in rows if row["chapter"] == number]
        if "file" in chapter and mine:
            assert any(row["anchor"] for row in mine), (
                f"chapter {number} is written and no row of it is filled in data/coverage.csv"
            )


def test_what_is_taught_stands_in_its_own_chapter(rows: list[dict[str, str]]) -> None:
    """The anchor of a row lies in the page of the chapter that the row names."""
    known = coverage.chapters(ROOT)
    for row in rows:
        if row["anchor"]:
            assert row["anchor"].split("#")[0] == known[row["chapter"]].get("file"), row["row"]


CHECK = "labs/16-checkpoint-throttle/quiz.toml::unit"


@pytest.mark.parametrize(
    ("number", "change", "says"),
    [
        (34, {"anchor": "16_checkpoint_throttle#no-such-heading"}, "no-such-heading does not exist"),
        (34, {"anchor": "99_nothing#exercise"}, "99_nothing#exercise does not exist"),
        (34, {"check": "labs/16-checkpoint-throttle/quiz.toml::nothing"}, "quiz.toml::nothing does not exist"),
        (34, {"check": "tests/book/test_coverage.py::test_nothing"}, "test_nothing does not exist"),
        (34, {"check": "tests/book/test_coverage.py::rows"}, "rows does not exist"),
        (34, {"check": "notebooks/16_checkpoint_throttle.ipynb::no such text"}, "no such text does not exist"),
        (34, {"check": "instructor/16-checkpoint-throttle.toml::nobody"}, "nobody does not exist"),
        (34, {"check": "README.md::aglab"}, "README.md::aglab does not exist"),
        (34, {"check": ""}, "an anchor needs a check"),
        (34, {"anchor": "16_checkpoint_throttle#exercise", "check": f"{CHECK} | {CHECK}"}, "the proof of 2 rows"),
        (34, {"chapter": "99"}, "chapter '99' is not in book/outline.toml"),
        (34, {"row": "35"}, "row 34 is gone"),
        (34, {"row": "35"}, "row 35 stands 2 times"),
        (34, {"row": "167"}, "row 167 is not from 1 to 166"),
        (34, {"item": ""}, "section, item or outcome is missing"),
    ],
)
def test_what_no_longer_holds_is_named(rows: list[dict[str, str]], number: int, change: dict[str, str], says: str) -> None:
    """A broken row is told with its number and what is missing."""
    rows[number - 1] = {**rows[number - 1], **change}
    assert any(says in problem for problem in coverage.problems(rows, ROOT)), coverage.problems(rows, ROOT)


def test_a_table_of_another_shape_is_refused(rows: list[dict[str, str]]) -> None:
    """Other columns, or none, are told at once."""
    assert coverage.problems([{"row": "1"}], ROOT) == coverage.problems([], ROOT)
    assert "columns must be" in coverage.problems([], ROOT)[0]
