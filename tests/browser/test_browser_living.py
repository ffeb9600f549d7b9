"""The living picture in a browser, from disk: slider, play button, keyboard, reduced motion, a phone, the dark theme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aglab.engine import Flow
from aglab.scenario import Scenario
from aglab.viz import cluster_picture, save_page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

STATUS = ".aglab-living [role=status]"
SLIDER = ".aglab-living input[type=range]"


@pytest.fixture(scope="module")
def living(tmp_path_factory: Any) -> Path:
    """A page with a minute of load and five minutes of little: the recovery queue grows, then drains."""
    flow = Flow(Scenario.default("hpe-dl380-gen9-ssd", 3).with_settings({"k": 750, "warmup_s": 0}))
    busy = flow.run(60)
    flow.change(users=2)
    picture = cluster_picture([busy, flow.run(300)], title="A minute of load")
    return save_page(tmp_path_factory.mktemp("living") / "living.html", "Living", [picture.html()])


def redo_height(page: Any) -> float:
    """How full the first secondary's recovery tank is, in pixels."""
    return float(page.locator(".aglab-fill-redo").first.get_attribute("height"))


def test_slider_moves_tanks_words_and_text(living: Path, open_page: Any) -> None:
    """Each position shows its own moment: the tank is fullest where the load ends, and the status line says the queue."""
    watched = open_page(living)
    page = watched.page
    heights, texts = [], []
    for position in ("0", "20", "119"):
        page.locator(SLIDER).fill(position)
        heights.append(redo_height(page))
        texts.append(page.locator(STATUS).inner_text())
        assert page.locator(SLIDER).get_attribute("aria-valuetext") == page.locator(".aglab-living .aglab-value").inner_text()
    assert heights[1] > heights[0] and heights[1] > heights[2]
    assert len(set(texts)) == 3 and all("to be redone" in text and "sql3" in text for text in texts)
    assert "SIMULATED, profile hpe-dl380-gen9-ssd" in page.locator(".aglab-living").inner_text()
    assert watched.problems == []


def test_keyboard_alone_is_enough(living: Path, open_page: Any) -> None:
    """The slider takes focus by its label and moves with the keys; the button plays and pauses with the space bar."""
    page = open_page(living).page
    page.get_by_label("Time").focus()
    page.keyboard.press("Home")
    assert page.locator(SLIDER).input_value() == "0"
    page.keyboard.press("ArrowRight")
    assert page.locator(SLIDER).input_value() == "1"
    page.get_by_role("button", name="Play").focus()
    page.keyboard.press("Space")
    page.wait_for_function(f"() => Number(document.querySelector('{SLIDER}').value) > 5")
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Play").is_visible()
    stopped = page.locator(SLIDER).input_value()
    page.wait_for_function("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    assert page.locator(SLIDER).input_value() == stopped


def test_log_moves_while_it_plays_and_not_at_rest(living: Path, open_page: Any) -> None:
    """The dashes of the line move during play; at rest nothing on the page moves."""
    page = open_page(living).page
    offset = "() => document.querySelector('.aglab-moving').getAttribute('stroke-dashoffset')"
    assert page.evaluate(offset) is None
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"() => Number(({offset})()) < -1")


def test_reduced_motion_steps_instead_of_flowing(living: Path, browser: Any) -> None:
    """Who asked the system for less motion gets single steps and no moving dashes."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(living.as_uri())
    page.get_by_role("button", name="Play").click()
    page.wait_for_function(f"() => Number(document.querySelector('{SLIDER}').value) > 5")
    assert page.evaluate("() => document.querySelector('.aglab-moving').getAttribute('stroke-dashoffset')") is None
    assert int(page.locator(SLIDER).input_value()) % 12 == 0
    context.close()


@pytest.mark.parametrize(("width", "theme"), [(360, "light"), (1280, "dark")])
def test_phone_and_dark_theme(living: Path, open_page: Any, width: int, theme: str) -> None:
    """Nothing runs out of the page, words keep their size, and the colours are the theme's."""
    page = open_page(living, width=width, theme=theme).page
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    outside = """() => { const box = document.querySelector('.aglab-stage').getBoundingClientRect();
      return [...document.querySelectorAll('.aglab-stage text')].filter((one) => { const here = one.getBoundingClientRect();
        return here.width && (here.right > box.right + 1 || here.left < box.left - 1); }).map((one) => one.textContent); }"""
    assert page.evaluate(outside) == []
    ink = page.evaluate("() => getComputedStyle(document.querySelector('.aglab-say')).fill")
    assert ink == ("rgb(230, 235, 241)" if theme == "dark" else "rgb(27, 36, 48)")


def test_without_scripts_the_text_and_the_table_stand(living: Path, open_page: Any) -> None:
    """A page whose scripts do not run still says what happened."""
    page = open_page(living, scripts=False).page
    assert "the recovery queue goes from" in page.locator(".aglab-alt").inner_text()
    assert page.locator(".aglab-data tbody tr").count() == 24
