"""The built book as files: complete, light, without other hosts and without dead links."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlsplit

import book_site
import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.timeout(300)
PAGE_BYTES_MAX = 6 * 1024 * 1024
SHARED = ("plotly.min.js",)


@pytest.fixture(scope="module")
def site() -> Path:
    return book_site.site()


@pytest.fixture(scope="module")
def soups(site: Path) -> dict[Path, BeautifulSoup]:
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in book_site.pages(site)}


def test_pages_of_the_contents_are_there(site: Path) -> None:
    """Every file of _toc.yml has become a page."""
    names = re.findall(r"(?:root|file): (\S+)", (book_site.ROOT / "_toc.yml").read_text(encoding="utf-8"))
    assert names
    assert [name for name in names if not (site / f"{name}.html").is_file()] == []


def test_every_link_inside_the_book_leads_somewhere(soups: dict[Path, BeautifulSoup]) -> None:
    """No page links to a file or an anchor that does not exist."""
    anchors = {page: {tag["id"] for tag in soup.find_all(id=True)} for page, soup in soups.items()}
    dead = []
    for page, soup in soups.items():
        for tag in soup.find_all("a", href=True):
            parts = urlsplit(tag["href"])
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            known = anchors.get(target)
            if not target.exists() or (parts.fragment and known is not None and unquote(parts.fragment) not in known):
                dead.append(f"{page.name}: {tag['href']}")
    assert dead == []


def test_no_page_loads_anything_from_another_host(soups: dict[Path, BeautifulSoup]) -> None:
    """Scripts, styles, images and frames come from the book's own folder."""
    foreign = []
    for page, soup in soups.items():
        for name, attribute in (("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")):
            for tag in soup.find_all(name, attrs={attribute: True}):
                if re.match(r"(https?:)?//", tag[attribute]) and tag.get("rel") != ["canonical"]:
                    foreign.append(f"{page.name}: {tag[attribute]}")
    assert foreign == []


def test_pages_are_light(site: Path) -> None:
    """A page weighs at most 6 MB without the libraries that all pages share."""
    heavy = {page.name: page.stat().st_size for page in book_site.pages(site) if page.stat().st_size > PAGE_BYTES_MAX}
    assert heavy == {}
    assert all((site / "_static" / name).is_file() for name in SHARED)


def test_plotly_is_loaded_only_where_something_is_drawn(soups: dict[Path, BeautifulSoup]) -> None:
    """A page of text does not pay for a chart library, a page with charts has it."""
    for page, soup in soups.items():
        draws = bool(soup.select('[data-aglab="figure"], [data-aglab="explorable"]'))
        loads = any("plotly.min.js" in tag["src"] for tag in soup.find_all("script", src=True))
        assert loads == draws, page.name


def test_figures_carry_label_text_alternative_and_table(soups: dict[Path, BeautifulSoup]) -> None:
    """Every figure says that it is simulated, describes itself in words, and has its numbers in a table."""
    figures = [(page, block) for page, soup in soups.items() for block in soup.select('[data-aglab="figure"]')]
    assert figures
    for page, block in figures:
        assert "SIMULATED, profile" in block.select_one(".aglab-spec").string, page.name
        assert "SIMULATED, profile" in block.select_one(".aglab-alt").get_text(), page.name
        assert len(block.select_one(".aglab-alt").get_text()) > 80, page.name
        assert block.select("details table tbody tr"), page.name


def test_explorable_is_inside_the_page_with_questions_and_table(soups: dict[Path, BeautifulSoup]) -> None:
    """Chapter 16 carries its whole response surface, two questions at least, and a table for readers without scripts."""
    found = [
        block for soup in soups.values() for block in soup.select('[data-aglab="explorable"][data-slug="16-checkpoint-throttle"]')
    ]
    assert found
    for block in found:
        assert '"surface"' in block.select_one(".aglab-spec").string
        assert len(block.select(".aglab-questions > li")) >= 2
        assert len(block.select("details table tbody tr")) >= 10


def test_no_reference_is_left_unresolved(soups: dict[Path, BeautifulSoup]) -> None:
    """A notebook's reference to an explorable has been replaced, and no directive stands on a page as text."""
    for page, soup in soups.items():
        assert not soup.select(".aglab-explorable-ref"), page.name
        for code in soup.find_all(["code", "pre", "script"]):
            code.extract()
        text = soup.get_text()
        assert ":::" not in text and "```" not in text and "{published}" not in text, page.name


def test_every_picture_and_page_says_what_it_is(soups: dict[Path, BeautifulSoup]) -> None:
    """Pages have one main heading, a language and a title; images have a text."""
    for page, soup in soups.items():
        if soup.find("meta", attrs={"http-equiv": True}):
            continue  # the redirect in the root folder
        assert soup.html.get("lang"), page.name
        assert soup.title and soup.title.get_text().strip(), page.name
        assert page.name == "search.html" or len(soup.select("article h1")) == 1, page.name
        assert [image.get("src") for image in soup.find_all("img") if image.get("alt") is None] == [], page.name


def test_answer_keys_are_not_in_the_book(site: Path) -> None:
    """No file of the built book is an answer key, or quotes a line with which one begins."""
    keys = [path.read_text(encoding="utf-8") for path in (book_site.ROOT / "instructor").glob("*.toml")]
    assert keys
    for path in site.rglob("*"):
        if path.suffix in (".html", ".txt", ".toml", ".md", ".ipynb", ".json", ".js"):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not [key for key in keys if key in text or key.splitlines()[0] in text], path.name


def test_map_of_chapters_agrees_with_the_contents() -> None:
    """Chapters that the start page calls finished are in the contents and have a lab; the map has all 26 chapters in order."""
    outline = tomllib.loads((book_site.ROOT / "book" / "outline.toml").read_text(encoding="utf-8"))
    chapters = [chapter for part in outline["part"] for chapter in part["chapter"]]
    assert [chapter["number"] for chapter in chapters] == list(range(1, 27))
    contents = (book_site.ROOT / "_toc.yml").read_text(encoding="utf-8")
    for chapter in chapters:
        if "file" in chapter:
            assert f"book/{chapter['file']}\n" in contents
            assert (book_site.ROOT / "labs" / chapter["lab"]).is_dir()
