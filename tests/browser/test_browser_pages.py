"""Every built page in a real browser: silent console, no other host, drawn figures, both themes, a phone's width, no barrier."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))
import book_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

SERIOUS = ("serious", "critical")
# axe reads colours through the page; what the theme itself does wrong and we cannot style is listed here with the reason.
NOT_OURS: dict[str, str] = {}


def page_names() -> list[str]:
    """Pages by the table of contents, so that they are known before the book is built, and the search page."""
    toc = yaml.safe_load((book_site.ROOT / "_toc.yml").read_text(encoding="utf-8"))

    def files(entry: dict[str, Any]) -> Iterator[str]:
        if "file" in entry:
            yield str(entry["file"])
        for key in ("parts", "chapters", "sections"):
            for below in entry.get(key, []):
                yield from files(below)

    return [toc["root"], *files(toc), "search"]


def test_every_built_page_is_looked_at() -> None:
    """No page of the built book is missing in the list that the tests below go through."""
    site = book_site.site()
    built = {path.relative_to(site).with_suffix("").as_posix() for path in book_site.pages(site)}
    assert built - {"index"} == set(page_names())


each_page = pytest.mark.parametrize("name", page_names())
each_theme = pytest.mark.parametrize("theme", ["light", "dark"])


@each_page
def test_page_opens_in_silence_with_its_figures(open_page: Any, site: Path, name: str) -> None:
    """A page logs no error, loads every file and asks no other host; each figure is drawn with lines, markers or bars."""
    watched = open_page(site / f"{name}.html")
    empty = watched.page.evaluate(
        """() => [...document.querySelectorAll('.aglab-plot')].filter((plot) => plot.offsetParent !== null
             && !plot.querySelector('.scatterlayer .trace path, .barlayer .trace path')).length"""
    )
    assert empty == 0
    assert watched.problems == []


@each_theme
@each_page
def test_page_fits_a_phone(open_page: Any, site: Path, name: str, theme: str) -> None:
    """At 360 pixels a page does not scroll sideways, and nothing logs an error."""
    watched = open_page(site / f"{name}.html", width=360, theme=theme)
    assert watched.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert watched.problems == []


@each_theme
@each_page
def test_no_barrier_for_assistive_technology(open_page: Any, site: Path, name: str, theme: str) -> None:
    """axe finds no serious or critical violation on a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python").Axe()
    watched = open_page(site / f"{name}.html", theme=theme)
    found = []
    for violation in axe.run(watched.page).response["violations"]:
        if violation["impact"] in SERIOUS and violation["id"] not in NOT_OURS:
            nodes = "; ".join(str(node["target"]) for node in violation["nodes"][:4])
            found.append(f"{violation['id']} ({violation['impact']}) {nodes}")
    assert found == []


def test_dark_theme_reaches_figures(open_page: Any, site: Path) -> None:
    """Switching the theme on an open page redraws its figures in the other palette."""
    watched = open_page(site / "book" / "16_checkpoint_throttle.html")
    colour = "() => getComputedStyle(document.querySelector('.aglab-plot .scatterlayer .js-line')).stroke"
    light = watched.page.evaluate(colour)
    watched.page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    watched.page.wait_for_function(f"(before) => ({colour})() !== before", arg=light)
    assert watched.problems == []


def test_search_works_from_disk(open_page: Any, site: Path) -> None:
    """The book's own search finds a chapter without a server."""
    watched = open_page(site / "search.html")
    watched.page.goto((site / "search.html").as_uri() + "?q=checkpoint")
    watched.page.wait_for_selector("#search-results li a")
    assert "16_checkpoint_throttle" in " ".join(
        watched.page.eval_on_selector_all("#search-results li a", "(links) => links.map((link) => link.href)")
    )
    assert watched.problems == []


def test_pages_say_everything_without_scripts(open_page: Any, site: Path) -> None:
    """Without JavaScript the chapter still shows its quiz with answers and the table behind each figure."""
    page = open_page(site / "book" / "16_checkpoint_throttle.html", scripts=False).page
    assert page.locator(".aglab-quiz .aglab-body > li").count() >= 5
    assert page.locator(".aglab-quiz details").count() >= 5
    assert page.locator(".aglab-figure details table tbody tr").count() > 10
