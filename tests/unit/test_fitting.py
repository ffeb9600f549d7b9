"""Fits from several starts: derivatives that roughness does not drown, bounds, seeded starts, and what the calibration keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aglab.published import calibrate
from aglab.published.fitting import all_of, hypercube, jacobian, minimise, square

scipy = pytest.importorskip("scipy", reason="the calibration's extra")


def rough(point):
    """A bowl around (1, -2, 0.02) with steps of a thousandth on it: derivatives over less than a step say nothing."""
    away = point - np.array([1.0, -2.0, 0.02])
    return np.array([10.0 * away[0], away[0] + 5.0 * away[1], 20.0 * away[2]]) + 1e-3 * np.floor(1e4 * point)


def test_derivatives_are_taken_over_the_same_share_of_every_constant():
    """Whatever the size of its logarithm: one near 0 is not measured over nothing."""
    found = jacobian(rough, np.array([1.0, -2.0, 1e-6]))
    assert np.diag(found) == pytest.approx([20.0, 15.0, 30.0], rel=0.02)


def test_a_fit_finds_the_bottom_of_a_rough_bowl_and_stays_within_its_bounds():
    """From far away; where the bottom lies outside, it ends at the edge."""
    far = np.array([3.0, 3.0, 3.0])
    wide = (np.full(3, -9.0), np.full(3, 9.0))
    smooth = lambda point: rough(point) - 1e-3 * np.floor(1e4 * point)  # noqa: E731
    assert minimise(smooth, far, wide, 20).x == pytest.approx([1.0, -2.0, 0.02], abs=1e-3)
    narrow = (np.full(3, 0.0), np.full(3, 9.0))
    found = minimise(smooth, far, narrow, 20).x
    assert found[1] == pytest.approx(0.02, abs=1e-3) and np.all(found >= 0.0)


def test_starts_are_seeded_and_fill_every_part_of_every_range():
    """The same seed gives the same points; each constant is in each part of its range once."""
    low, high = np.array([0.0, 10.0]), np.array([1.0, 20.0])
    found = hypercube(low, high, 5, seed=3)
    assert np.array_equal(found, hypercube(low, high, 5, seed=3)) and not np.array_equal(found, hypercube(low, high, 5, seed=4))
    parts = np.floor(5 * (found - low) / (high - low))
    assert all(sorted(column) == [0, 1, 2, 3, 4] for column in parts.T)
    points = calibrate.starts(6)
    assert [*points][:2] == ["kept", "priors"] and len(points) == 8
    low, high = calibrate.bounds()
    assert all(np.all(low <= point) and np.all(point <= high) for point in points.values())


def test_results_come_in_the_order_asked_and_work_is_told():
    """On one worker and on two."""
    seen = []
    for workers in (1, 2):
        found = all_of(math.pow, [(2.0, 3.0), (3.0, 2.0)], lambda done, total, label="": seen.append((done, total)), "x", workers)
        assert found == [8.0, 9.0] and seen[-1] == (2, 2)


def test_the_kept_constants_stay_unless_a_start_is_better(monkeypatch):
    """A gain within the roughness is none; a clear one is taken, and every start is told with what is furthest off."""
    size = len(calibrate.FREE)
    kept, other = np.zeros(size), np.full(size, 0.5)
    bottom = {"at": kept}
    monkeypatch.setattr(calibrate, "fitted_rows", lambda: [("a", "avg", 1.0)])
    monkeypatch.setattr(calibrate, "residuals", lambda point, rows: 2.0 * (point - bottom["at"]))

    class End:
        def __init__(self, x):
            self.x, self.fun, self.nfev = x, calibrate.residuals(x, []), 3

    def ends(work, arguments, progress, label):
        return [End(kept), End(other)]

    monkeypatch.setattr(calibrate, "all_of", ends)
    for at, best in ((kept, kept), (kept + 0.01, kept), (other, other)):
        bottom["at"] = at
        found = calibrate.fit(begin={"kept": kept, "far": other})
        assert [value for value, _ in found.constants.values()] == pytest.approx(list(np.exp(best)))
        assert found.loss == pytest.approx(square(calibrate.residuals(best, [])), abs=0.01)
    assert [one["start"] for one in found.starts] == ["kept", "far"]
    assert found.starts[0]["away"] == pytest.approx(0.5 * 2.0) and found.starts[1]["rise"] == 0


def test_the_stored_starts_belong_to_the_kept_constants(tmp_path):
    """Their loss is that of the constants as they are; what is written reads back; the best start did not rise."""
    found = calibrate.stored_starts()
    now = square(calibrate.residuals(calibrate.calibrated(), calibrate.fitted_rows()))
    assert found["loss"] == pytest.approx(now, abs=0.05), "run: make calibrate"
    assert min(one["rise"] for one in found["start"]) == pytest.approx(0.0, abs=calibrate.ROUGH)
    assert sum(map(calibrate.same_optimum, found["start"])) > len(found["start"]) / 2
    path = tmp_path / "starts.toml"
    calibrate.write_starts(path, calibrate.Fit({}, found["loss"], tuple(found["start"])))
    assert calibrate.load_toml(path, "test") == found
