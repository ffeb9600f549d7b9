"""The stored evidence belongs to the model as it is, and its parts say what they claim."""

from __future__ import annotations

import copy

import pytest

from aglab.published import evidence
from aglab.published.calibrate import FREE, fitted_rows

scipy = pytest.importorskip("scipy", reason="the calibration's extra")


def test_the_stored_evidence_is_of_this_model():
    """Constants, published rows and the model's own answers are those the evidence was computed from."""
    assert evidence.stale(evidence.stored()["basis"], evidence.basis()) == [], "run: python -m aglab.published.evidence"


def test_a_changed_model_a_changed_row_and_a_changed_constant_are_stale():
    """Each of the three is named; a change below a thousandth is none."""
    was = evidence.stored()["basis"]
    now = copy.deepcopy(was)
    row = next(iter(now["twin"]))
    now["twin"][row] *= 1.0005
    assert evidence.stale(was, now) == []
    now["twin"][row] *= 1.01
    now["constants"]["users"] += 1
    now["published"][row] = ["predicted", 1.0]
    assert sorted(evidence.stale(was, now)) == ["constants: users", f"published: {row}", f"twin: {row}"]


def test_every_constant_has_a_profile_and_says_what_it_is_known_from():
    """A constant that the rows pin down has a profile that rises on both sides; each is marked by the rows' part alone."""
    found = {entry["name"]: entry for entry in evidence.stored()["profiles"]}
    assert set(found) == {free.name for free in FREE}
    for entry in found.values():
        rises = [point["rows_rise"] for point in (entry["points"][0], entry["points"][-1])]
        assert (entry["known_from"] == "rows") == (min(rises) > 1.0)
        assert all(point["rise"] > -0.5 for point in entry["points"]), entry["name"]


def test_coverage_counts_the_rows_inside_their_intervals():
    """The counts by role are those of the rows, and an interval holds its bounds in order."""
    found = evidence.stored()["intervals"]
    assert all(row["low"] < row["high"] for row in found["rows"])
    for role, counted in found["coverage"].items():
        mine = [row["inside"] for row in found["rows"] if row["role"] == role]
        assert counted == {"rows": len(mine), "inside": sum(mine)}


def test_leaving_a_table_out_fits_without_its_rows_and_predicts_them(monkeypatch):
    """The fit sees every row but the table's; errors are those at the point it finds, beside those at the whole fit's."""
    rows, best, seen = fitted_rows(), evidence.calibrated(), []
    redo = [free.name for free in FREE].index("redo_bytes_s_2016")

    class Found:
        x = best.copy()

    Found.x[redo] += 0.1  # a fit that never saw redo might end here

    monkeypatch.setattr(evidence, "refit", lambda some, start: seen.append(some) or Found)
    tables = evidence.by_table(rows)
    assert sorted(row for table in tables.values() for row in table) == sorted(rows)
    left = evidence.left_out("Figure 10", best, rows)
    assert sorted(seen[0]) == sorted(row for row in rows if row not in tables["Figure 10"])
    redone = next(error for error in left["errors"] if error["id"] == "hpe380-f10-sec-redone")
    assert redone["without_pct"] - redone["with_pct"] == pytest.approx(10.5, abs=1.0)


def test_a_refit_comes_no_further_from_the_rows():
    """From the calibrated constants with one moved, the fit ends at a lower loss than it began."""
    rows, start = [row for row in fitted_rows() if row[0].startswith("hpe380-t6")], evidence.calibrated()
    start[[free.name for free in FREE].index("log_bytes_per_tx")] += 0.1
    before = float((evidence.residuals(start, rows, evidence.RUN_S) ** 2).sum())
    assert float((evidence.refit(rows, start).fun ** 2).sum()) < 0.2 * before


def test_a_missing_scipy_is_told(monkeypatch):
    """Exit code 3 with how to install."""
    import sys

    from aglab.core.errors import MissingError

    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingError, match="scipy is not installed"):
        evidence.refit(fitted_rows(), evidence.calibrated())
