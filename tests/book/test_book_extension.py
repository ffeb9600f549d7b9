"""The book's extension refuses what does not exist: a build never shows a hole."""

from __future__ import annotations

import sys
from pathlib import Path

import book_site
import pytest

sys.path.insert(0, str(book_site.ROOT / "book" / "_ext"))

from aglab_book import html, ledger, numbers
from aglab_book.offline import _mentions


def test_shown_numbers_lose_no_digit() -> None:
    """Printed numbers get separators and nothing else."""
    assert [numbers.shown(text) for text in ("53756", "77.9", "0.5", "213463921", "RAID 10")] == [
        "53,756",
        "77.9",
        "0.5",
        "213,463,921",
        "RAID 10",
    ]


def test_published_table_has_the_range_of_each_cell() -> None:
    """A table cell shows average, minimum and maximum as the paper prints them; a missing one says so."""
    rows = [row for key, row in numbers.published_rows().items() if key.startswith("hpe380-t6-")]
    text = numbers.table_html(rows, "Table 6")
    assert "53,756<small> (6,891 to 99,474)</small>" in text
    assert "Transactions/sec (tx/s)" in text
    assert "not printed" in numbers.table_html([row for row in rows if "tps-default" not in row["id"]], "Table 6")


def test_file_outside_the_bundle_is_refused() -> None:
    """A directive cannot read a file that does not belong to the labs."""
    with pytest.raises(FileNotFoundError, match="does not exist"):
        html.bundle_file("labs/16-checkpoint-throttle/nothing.sql")
    with pytest.raises(FileNotFoundError):
        html.bundle_file("../pyproject.toml")


def test_computed_block_is_kept_until_its_input_changes(tmp_path: Path) -> None:
    """A block that takes seconds is computed once for the same inputs, and again when one changes."""

    class App:
        doctreedir = str(tmp_path / "_build" / ".doctrees")

    calls: list[int] = []

    def compute() -> str:
        calls.append(1)
        return f"block {len(calls)}"

    source = tmp_path / "explorable.toml"
    source.write_text("a = 1", encoding="utf-8")
    assert html.computed(App(), "x", [source], compute) == "block 1"
    assert html.computed(App(), "x", [source], compute) == "block 1"
    source.write_text("a = 2", encoding="utf-8")
    assert html.computed(App(), "x", [source], compute) == "block 2"
    assert len(list((tmp_path / "_build" / "aglab_cache").glob("x-*.html"))) == 1


def test_scripts_for_other_hosts_are_recognised() -> None:
    """thebe is found by file name and by attribute."""

    class Script:
        filename = "sphinx-thebe.js"
        attributes: dict[str, str] = {}  # noqa: RUF012

    assert _mentions(Script(), "thebe")
    assert _mentions("https://unpkg.com/thebe@latest/lib/index.js", "thebe")
    assert not _mentions("aglab.js", "thebe")


def test_assumed_values_are_found_in_profiles() -> None:
    """What a profile calls assumed is listed, nested tables included."""
    found = dict(ledger._assumed({"cpu": {"ht_yield": {"value": 1.3, "tag": "assumed"}, "ghz": {"value": 2.6, "tag": "doc"}}}))
    assert list(found) == ["cpu: ht yield"]
