"""A real browser for the built book: Chromium from disk, no flags that hide problems, no network."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book"))

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


def chromium() -> str | None:
    """The browser's path: AGLAB_CHROMIUM, or one that is installed."""
    given = os.environ.get("AGLAB_CHROMIUM")
    return given or next((path for path in map(shutil.which, NAMES) if path), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for the whole run; without one the tests are skipped, except in CI, where that is a failure."""
    path = chromium()
    if path is None:
        text = "no Chromium was found: install it (Debian: apt-get install chromium) or set AGLAB_CHROMIUM to its path"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)
    from playwright.sync_api import sync_playwright

    # Root in a container may not use Chromium's sandbox; this flag changes nothing about what a page may load.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=path, args=arguments)
        yield made
        made.close()


@pytest.fixture(scope="session")
def site() -> Path:
    """The built book."""
    import book_site

    return book_site.site()


class Watched:
    """A page that notes every console error, uncaught exception, failed file and request to another host."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", lambda message: message.type == "error" and self.problems.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("requestfailed", lambda request: self.problems.append(f"failed: {request.url}"))
        page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if request.url.split(":", 1)[0] not in ("file", "data", "blob"):
            self.problems.append(f"other host: {request.url}")

    def open(self, path: Path, fragment: str = "") -> Any:
        """Open a file from disk and wait until every block of the page has come to life."""
        self.page.goto(path.as_uri() + fragment)
        self.page.wait_for_function("() => [...document.querySelectorAll('[data-aglab]')].every((b) => b.dataset.aglabReady)")
        plots = "[...document.querySelectorAll('.aglab-plot')].filter((plot) => plot.offsetParent !== null)"
        self.page.wait_for_function(f"() => {plots}.every((plot) => plot.querySelector('svg.main-svg'))")
        return self.page


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """``open_page(path, width=1280, theme="light")`` -> a :class:`Watched` with the page loaded."""
    contexts = []

    def opened(path: Path, width: int = 1280, theme: str = "light", scripts: bool = True) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme, java_script_enabled=scripts)
        contexts.append(context)
        watched = Watched(context.new_page())
        if scripts:
            watched.open(path)
        else:
            watched.page.goto(path.as_uri())
        return watched

    yield opened
    for context in contexts:
        context.close()
