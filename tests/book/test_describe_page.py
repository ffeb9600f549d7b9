"""The page on describing one's own system is made from the code, and its examples run."""

from __future__ import annotations

import re
import sys

import book_site
import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(book_site.ROOT / "book" / "_ext"))

from aglab_book import describe

from aglab.cli.app import app
from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.scenario import CHANGES, Scenario, key_rows

PAGE = book_site.ROOT / "book" / "describe_your_own_system.md"
EXAMPLES = re.findall(r"\{scenario-runs\} (\S+)\n(.*?):::", PAGE.read_text(encoding="utf-8"), re.S)


def cells(tables) -> list[tuple[str, ...]]:
    """Every row of some tables, as text."""
    return [tuple(str(cell) for cell in row) for table in tables for row in table.rows]


def test_every_key_is_on_the_page_with_its_range():
    """Key, short names, unit, range and default are those that the code checks; no key of the code is missing."""
    rules, *groups = describe.key_tables({})
    shown = {f"{table.caption[1:-1]}.{row[0]}": row for table in groups for row in table.rows}
    short = {name for row in shown.values() for name in row[1].split(", ")}
    for row in key_rows():
        if "." not in row["key"]:
            assert row["key"] in short | {line[0] for line in rules.rows}, row["key"]
            continue
        line = shown[row["key"]]
        assert line[4] == row["meaning"] and line[3] != "", row["key"]
        if row["low"] is not None:
            assert line[2] == f"{row['low']:g} to {row['high']:g} {row['unit']}".strip()


def test_a_value_beyond_the_printed_range_is_refused():
    """The range on the page is the range of the check, for every key that has one."""
    base = Scenario.default("laptop-generic", 2)
    for row in key_rows():
        if row["low"] is not None and "." in row["key"]:
            name = row["key"].rpartition(".")[2]
            with pytest.raises(UsageError, match=rf"{name}.* must be (>=|<=)"):
                base.with_settings({row["key"]: row["high"] * 2 + 1})


def test_every_change_of_a_timeline_is_on_the_page():
    """Names of CHANGES, and the fields of each job, with ranges."""
    changes, backup, *jobs = describe.timeline_tables()
    assert [row[0] for row in changes.rows] == list(CHANGES)
    assert [table.caption.split(" = ")[0] for table in jobs] == list(describe.JOBS) and all(table.rows for table in jobs)
    assert {"devices", "maxtransfersize", "buffercount", "compression", "target_mb_s"} <= {row[0] for row in backup.rows}
    ranges = {row[0]: row[2] for row in backup.rows}
    assert ranges["devices"] == "1 to 64" and ranges["compression"] == "true, false"
    assert {"fill", "stripe_kb", "rotation_ms"} <= {row[0] for row in cells(describe.profile_tables())}


def test_what_moves_comes_from_runs():
    """A faster log write moves throughput; a constant of another version moves nothing."""
    moves = describe.what_moves()
    assert "Transactions/sec" in moves["hardware.log.write_latency_us"]
    assert moves["constants.transport_bytes_s_2014"] == []
    assert moves["settings.log_file_gb"] == ["Percent Log Used"]


@pytest.mark.parametrize(("path", "lines"), EXAMPLES, ids=[path for path, _ in EXAMPLES])
def test_each_variant_of_an_example_runs(path, lines):
    """The examples on the page are files that load without a warning, and each variant answers with numbers."""
    assert Scenario.load(bundle_path(*path.split("/"))).warnings() == []
    variants = [tuple(part.strip() for part in line.split(":", 1)) for line in lines.splitlines() if line.strip()]
    found = [describe.answer(str(bundle_path(*path.split("/"))), label, text) for label, text in variants]
    assert len(found) >= 4 and all(one["warnings"] == [] for one in found)
    assert len({tuple(one["values"]) for one in found}) == len(found)  # each variant changes something
    (table,) = describe.run_tables("x", found)
    assert "SIMULATED, profile" in table.caption and len(table.rows) == len(found)
    assert len(describe.run_tables("x", [{**found[0], "warnings": ["odd"]}])) == 2


def test_the_command_points_to_the_page():
    """Someone at a terminal finds it, and a machine to start from."""
    text = CliRunner().invoke(app, ["simulate", "--help"]).output
    assert "Describe your own system" in text.replace("\n", " ").replace("  ", " ")
    assert PAGE.read_text(encoding="utf-8").startswith("# Describe your own system")


def test_a_profile_to_start_from(tmp_path):
    """profile copy writes a bundled profile that loads and runs; it does not write over a file unasked."""
    mine = tmp_path / "mine.toml"
    run = CliRunner().invoke
    assert run(app, ["profile", "copy", "cloud-vm-capped", str(mine)]).exit_code == 0
    (tmp_path / "s.toml").write_text('profile = "mine.toml"', encoding="utf-8")
    assert Scenario.load(tmp_path / "s.toml").profile.data.max_iops == 5000
    mine.write_text("mine", encoding="utf-8")
    again = run(app, ["profile", "copy", "cloud-vm-capped", str(mine)])
    assert "exists" in str(again.exception) and mine.read_text(encoding="utf-8") == "mine"
    assert run(app, ["profile", "copy", "cloud-vm-capped", str(mine), "--force", "--json"]).exit_code == 0
    for name, target, expected in (
        ("cloud-vm", "x.toml", "did you mean 'cloud-vm-capped'"),
        ("cloud-vm-capped", "x.txt", "must end in .toml"),
        (str(mine), "y.toml", "is a file already"),
    ):
        refused = run(app, ["profile", "copy", name, str(tmp_path / target)])
        assert isinstance(refused.exception, UsageError) and expected in str(refused.exception)
        assert not (tmp_path / target).exists()
