"""The instructor's plans: minutes come from the chapters, and a plan that does not fit stops the build."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import book_site
import pytest

sys.path.insert(0, str(book_site.ROOT / "book" / "_ext"))

from aglab_book import minutes, plans

BOOK = book_site.ROOT / "book"
OUTLINE = tomllib.loads((BOOK / "outline.toml").read_text(encoding="utf-8"))
WRITTEN = [chapter for part in OUTLINE["part"] for chapter in part["chapter"] if "file" in chapter]


@pytest.mark.parametrize("chapter", WRITTEN, ids=lambda chapter: chapter["lab"])
def test_the_card_shows_the_minutes_of_the_lab(chapter: dict) -> None:
    """Reading and lab minutes on a chapter's card are those of its lab.toml."""
    card = (BOOK / f"{chapter['file']}.md").read_text(encoding="utf-8").split(":::", 2)[1]
    shown = re.search(r"\*\*Reading\*\* (\d+) minutes · \*\*Lab\*\* (\d+) minutes", card)
    assert shown, "the card must say **Reading** n minutes · **Lab** n minutes"
    about = tomllib.loads((book_site.ROOT / "labs" / chapter["lab"] / "lab.toml").read_text(encoding="utf-8"))
    assert [int(shown[1]), int(shown[2])] == [about["reading_minutes"], about["lab_minutes"]]


@pytest.mark.parametrize("chapter", WRITTEN, ids=lambda chapter: chapter["lab"])
def test_the_minutes_are_counted_from_text_and_notebook(chapter: dict) -> None:
    """A chapter that grew says so on its card, and the instructor's minutes add up to the card's."""
    about = tomllib.loads((book_site.ROOT / "labs" / chapter["lab"] / "lab.toml").read_text(encoding="utf-8"))
    text = BOOK / f"{chapter['file']}.md"
    counted = [minutes.reading_minutes(text), minutes.lab_minutes(book_site.ROOT / "notebooks" / f"{chapter['file']}.ipynb")]
    given = [about["reading_minutes"], about["lab_minutes"]]
    assert all(abs(count - card) <= 1 for count, card in zip(counted, given, strict=True)), f"counted {counted}, given {given}"
    plan = re.search(r"\*\*Time\*\* (\d+) minutes: (.*?)\.", text.read_text(encoding="utf-8"))
    assert plan, "the instructor's block says **Time** n minutes: a what, b what."
    assert int(plan[1]) == sum(given) == sum(int(part) for part in re.findall(r"\d+", plan[2]))


@pytest.mark.parametrize("key", plans.keys(BOOK))
def test_a_plan_fits_and_adds_up(key: str) -> None:
    """Lines follow each other without a gap, chapters have the minutes of their labs, and the whole fits."""
    _, length, lines = plans.items(BOOK, key)
    now = 0
    for item in lines:
        assert item.start == now
        now += item.minutes
    assert 0 < now <= length
    chapters = {chapter["file"]: chapter["lab"] for chapter in WRITTEN}
    assert {item.page for item in lines if item.page} <= set(chapters)
    assert all(item.minutes == plans.chapter_minutes(chapters[item.page]) for item in lines if item.page)


def test_the_day_has_every_written_chapter() -> None:
    """No chapter that is written is missing from the longest plan."""
    _, _, lines = plans.items(BOOK, "one-day")
    assert {item.page for item in lines if item.page} == {chapter["file"] for chapter in WRITTEN}


def folder(tmp_path: Path, length: int) -> Path:
    """A book folder with one plan of one chapter that is written and one that is not."""
    (tmp_path / "outline.toml").write_text((BOOK / "outline.toml").read_text(encoding="utf-8"), encoding="utf-8")
    lines = '{ what = "Break", minutes = 15 }, { chapter = 16 }, { chapter = 99 }'
    (tmp_path / "plans.toml").write_text(
        f'[[plan]]\nkey = "a"\ntitle = "A"\nminutes = {length}\nitem = [{lines}]\n', encoding="utf-8"
    )
    return tmp_path


def test_what_is_not_written_is_left_out_and_what_does_not_fit_is_told(tmp_path: Path) -> None:
    """A chapter to come has no line; too little time names the plan, its minutes and its length; so does another name."""
    _, _, lines = plans.items(folder(tmp_path, 60), "a")
    assert [item.what for item in lines] == ["Break", "16. Checkpoint throttling with -k"]
    with pytest.raises(ValueError, match=r"plan 'a' takes \d+ minutes and has 20"):
        plans.items(folder(tmp_path, 20), "a")
    with pytest.raises(ValueError, match="known: a"):
        plans.items(folder(tmp_path, 60), "b")
