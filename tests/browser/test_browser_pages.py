"""Every built page in a real browser: silent console, no other host, drawn figures, both themes, a phone's width, no barrier."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))
import book_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

SERIOUS = ("serious", "critical")
# axe reads colours through the page; what the theme itself does wrong and we cannot style is listed here with the reason.
NOT_OURS: dict[str, str] = {}


def all_pages() -> list[Path]:
    return [path for path in book_site.pages(book_site.site()) if path != book_site.site() / "index.html"]


def test_pages_open_in_silence_with_their_figures(open_page: Any) -> None:
    """No page logs an error, fails to load a file or asks another host; each figure is drawn with lines, markers or bars."""
    for path in all_pages():
        watched = open_page(path)
        empty = watched.page.evaluate(
            """() => [...document.querySelectorAll('.aglab-plot')].filter((plot) => plot.offsetParent !== null
                 && !plot.querySelector('.scatterlayer .trace path, .barlayer .trace path')).length"""
        )
        assert empty == 0, path.name
        assert watched.problems == [], path.name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_fit_a_phone(open_page: Any, theme: str) -> None:
    """At 360 pixels no page scrolls sideways, and nothing logs an error."""
    for path in all_pages():
        watched = open_page(path, width=360, theme=theme)
        wide = watched.page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 360, f"{path.name} is {wide} px wide"
        assert watched.problems == [], path.name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_barrier_for_assistive_technology(open_page: Any, theme: str) -> None:
    """axe finds no serious or critical violation on any page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python").Axe()
    found = []
    for path in all_pages():
        watched = open_page(path, theme=theme)
        for violation in axe.run(watched.page).response["violations"]:
            if violation["impact"] in SERIOUS and violation["id"] not in NOT_OURS:
                nodes = "; ".join(str(node["target"]) for node in violation["nodes"][:4])
                found.append(f"{path.name}: {violation['id']} ({violation['impact']}) {nodes}")
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
