"""One word for each concept: the book's prose uses the glossary's terms."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import book_site
import pytest

PROSE = sorted((book_site.ROOT / "book").glob("*.md"))


READ = ("README.md", "CONTRIBUTING.md", "book", "docker", "instructor", "labs", "notebooks")
NOT_MISSPELT = "iif,simpy,wher"  # T-SQL's IIF, SimPy, text that a DMV cuts


def test_what_a_learner_reads_is_spelt_right() -> None:
    """codespell knows no misspelt word in the prose, the labs and the notebooks, outputs included."""
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", NOT_MISSPELT, "--skip", "_build,_ext,*.svg,*.png"]
    said = subprocess.run([*command, *READ], capture_output=True, text=True, cwd=book_site.ROOT, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_a_misspelt_word_is_found(tmp_path: object) -> None:
    """The checker is there and does find one."""
    (tmp_path / "page.md").write_text("The log is recieved.", encoding="utf-8")
    said = subprocess.run([sys.executable, "-m", "codespell_lib", str(tmp_path)], capture_output=True, text=True, check=False)
    assert said.returncode != 0 and "received" in said.stdout


def glossary_terms() -> set[str]:
    """Terms the glossary defines: lines at the left margin inside its directive."""
    text = (book_site.ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    body = text.split(":::{glossary}", 1)[1].rsplit(":::", 1)[0]
    return {line.strip().lower() for line in body.splitlines() if line.strip() and not line.startswith(" ")}


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.stem)
def test_words_to_avoid_are_avoided(page: object) -> None:
    """No page uses a second word for a concept that has a term."""
    avoid = tomllib.loads((book_site.ROOT / "book" / "words.toml").read_text(encoding="utf-8"))["avoid"]
    text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8")).lower()
    assert {word: term for word, term in avoid.items() if re.search(rf"\b{re.escape(word.lower())}\b", text)} == {}


def test_terms_to_use_are_defined() -> None:
    """Every term that words.toml recommends is explained in the glossary, at least by its last word."""
    avoid = tomllib.loads((book_site.ROOT / "book" / "words.toml").read_text(encoding="utf-8"))["avoid"]
    terms = glossary_terms()
    for term in avoid.values():
        for single in term.split(" or "):
            head = re.sub(r" -k$", "", single.lower())
            assert head in terms or head.rstrip("s") in terms, single


def test_glossary_is_in_order_and_without_doubles() -> None:
    """Terms stand in alphabetical order, each once."""
    text = (book_site.ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    body = text.split(":::{glossary}", 1)[1].rsplit(":::", 1)[0]
    listed = [line.strip().lower() for line in body.splitlines() if line.strip() and not line.startswith(" ")]
    assert listed == sorted(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.stem)
def test_no_page_shows_unfinished_text(page: object) -> None:
    """No page holds a note to its author."""
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:TODO|FIXME|TBD|XXX|lorem ipsum|placeholder)\b", text, flags=re.IGNORECASE) == []
