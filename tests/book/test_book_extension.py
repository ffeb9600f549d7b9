"""The book's extension refuses what does not exist: a build never shows a hole."""

from __future__ import annotations

import sys
from pathlib import Path

import book_site
import pytest

sys.path.insert(0, str(book_site.ROOT / "book" / "_ext"))

from aglab_book import html, ledger, numbers, reasons
from aglab_book.offline import _copy_what_changed, _mentions


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


def test_published_table_tells_servers_apart() -> None:
    """Figure 10 prints the same counters of primary and secondary: they stand side by side."""
    rows = [row for key, row in numbers.published_rows().items() if key.startswith("hpe380-f10-")]
    text = numbers.table_html(rows, "Figure 10")
    assert '<th scope="col">primary</th><th scope="col">secondary</th>' in text
    assert "89.815" in text and "7.42" in text and "Redone Bytes/sec (B/s)" in text


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


def test_a_role_is_found_in_every_file_of_roles() -> None:
    """A row of a backup, of an array and of the NVDIMM carries its role in the text."""
    rows = numbers.published_rows()
    for key, role in (("dl560-t10-2s-default-mbps", "fitted"), ("eql-raid10-vs-6", "residual"), ("nvdimm-ssd-pmm", "predicted")):
        assert rows[key]["role"] == role


def test_label_names_the_profile_that_the_rows_share() -> None:
    """One profile, two, or the remark that each row names its own."""
    assert ledger.label_of_rows([{"id": "hpe380-t3-tps"}]) == "SIMULATED, profile hpe-dl380-gen9-ssd"
    assert "4p" in ledger.label_of_rows([{"id": "dl560-t13-dop01-duration"}])
    mixed = [{"id": "hpe380-t3-tps"}, {"id": "eql-raid10-vs-50"}, {"id": "nvdimm-ssd-pmm"}]
    assert ledger.label_of_rows(mixed) == "SIMULATED, profile named in each row"


def test_worst_rows_share_a_reason_once() -> None:
    """Two rows with one reason are one failing; a row without a reason says that none is known; fitted rows are left out."""
    row = {"subject": "s", "condition": "c", "counter": "n", "stat": "avg", "published": 1.0, "twin": 2.0}
    rows = [
        {**row, "id": "hpe380-a", "role": "residual", "reason": "why", "error_pct": -50.0},
        {**row, "id": "hpe380-b", "role": "residual", "reason": "why", "error_pct": 90.0},
        {**row, "id": "hpe380-c", "role": "predicted", "reason": "", "error_pct": 60.0},
        {**row, "id": "hpe380-d", "role": "fitted", "reason": "", "error_pct": 99.0},
    ]
    lines = ledger.worst(rows).rows
    assert [line[4] for line in lines] == [90.0, 60.0]
    assert [line[5] for line in lines] == ["why", "not known"]


def test_predictions_that_are_far_off_come_worst_first() -> None:
    """Role predicted, more than 25 % off either way; not residuals, rows printed twice or rows without a value."""
    row = {"subject": "s", "condition": "", "counter": "n", "stat": "avg", "published": 1.0, "twin": 2.0, "reason": "why"}
    rows = [
        {**row, "id": "hpe380-a", "role": "predicted", "error_pct": 26.0},
        {**row, "id": "hpe380-b", "role": "predicted", "error_pct": -60.0},
        {**row, "id": "hpe380-c", "role": "predicted", "error_pct": 24.9},
        {**row, "id": "hpe380-d", "role": "residual", "error_pct": 99.0},
        {**row, "id": "hpe380-e", "role": "predicted", "error_pct": None},
        {**row, "id": "hpe380-f", "role": "predicted", "error_pct": 70.0, "repeats": "hpe380-b"},
    ]
    assert [found["id"] for found in reasons.far_off(rows)] == ["hpe380-b", "hpe380-a"]


def test_constants_of_jobs_are_listed_too() -> None:
    """The page counts the constants that `aglab published score` counts."""
    from aglab.published.rows import all_fitted_constants

    assert {name for name, _, _, tag, _ in ledger.constants() if tag.startswith("fitted")} == set(all_fitted_constants())


def test_a_changed_script_is_copied_when_no_page_changed(tmp_path: Path) -> None:
    """After a build the pages have the static files as they are now, in subfolders too; what is current is left alone."""

    class Config:
        html_static_path = ["shared"]  # noqa: RUF012

    class App:
        confdir, outdir, config = str(tmp_path), str(tmp_path / "html"), Config()

    source, target = tmp_path / "shared", tmp_path / "html" / "_static"
    (source / "more").mkdir(parents=True)
    target.mkdir(parents=True)
    (source / "aglab.js").write_text("new", encoding="utf-8")
    (source / "more" / "logo.svg").write_text("logo", encoding="utf-8")
    (target / "aglab.js").write_text("old", encoding="utf-8")
    _copy_what_changed(App(), None)
    assert (target / "aglab.js").read_text(encoding="utf-8") == "new"
    assert (target / "more" / "logo.svg").is_file()
    kept = (target / "aglab.js").stat().st_mtime_ns
    _copy_what_changed(App(), None)
    assert (target / "aglab.js").stat().st_mtime_ns == kept
