"""What ``aglab bench`` measures beside C and SimPy can be measured."""

from __future__ import annotations

import bench_engine
import pytest
from c_version import compiler


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
def test_every_ratio_of_the_history_is_measured(tmp_path):
    """One turn each: all ratios are there and none is absurd."""
    rows = bench_engine.flow_rows(tmp_path, turns=1) + bench_engine.event_rows(tmp_path, turns=1)
    ratios = {row["ratio"]: row["value"] for row in rows if "ratio" in row}
    assert set(ratios) == {"flow_over_c", "pipeline_over_simpy", "pipeline_over_c", "mm8_over_simpy", "mm8_over_c"}
    assert all(0.0 < value < 1e4 for value in ratios.values())


def test_without_a_compiler_the_engine_is_measured_alone(tmp_path, monkeypatch):
    """The hour stays, its ratio goes, and the note says why."""
    monkeypatch.setattr(bench_engine.c_version, "compiler", lambda: None)
    row, unlike = bench_engine.flow_rows(tmp_path, turns=1)
    assert "ratio" not in row and "no C compiler" in row["note"]
    assert "ratio" not in unlike and "real time" in unlike["note"]
