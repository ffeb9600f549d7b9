"""A scenario file runs with its timeline and tells what a reader should know."""

from __future__ import annotations

import json

import pytest

from aglab.core.errors import UsageError
from aglab.engine import simulate
from aglab.record import Run
from aglab.scenario import Scenario

FILE = """
title = "a link is lost"
profile = "hpe-dl380-gen9-ssd"
[settings]
duration_s = 120
warmup_s = 10
[ag]
replicas = 3
[[timeline]]
at_s = 30
node = "sql3"
connected = false
[[timeline]]
at_s = 60
node = "sql3"
connected = true
"""


def test_a_file_runs_with_its_timeline(tmp_path):
    """Summary, events, warnings, gauges and the saved run come back in the command's shape."""
    path = tmp_path / "lost.toml"
    path.write_text(FILE, encoding="utf-8")
    result = simulate(path, {"k": 750}, out=tmp_path / "run")
    assert [(event["time_s"], event["value"]) for event in result["events"]] == [(30, False), (60, True)]
    assert result["summary"]["sql1"]["SQLServer:Databases(OLTP)\\Transactions/sec"]["avg"] > 70_000
    assert any("recovery queue" in note for note in result["warnings"])
    assert Run.load(result["out"]).counters.shape[0] == 120
    del result["run"]
    json.dumps(result)


def test_a_full_log_is_said():
    """Averages over a stopped server would mislead: the warning names the error and the remedy."""
    small = Scenario.default(replicas=1).with_settings(log_gb=5, warmup_s=0, duration_s=60, k=750)
    result = simulate(small)
    assert "9002" in result["warnings"][0] and result["out"] is None


def test_a_wrong_setting_runs_nothing(tmp_path):
    """An unknown key is refused before anything is written."""
    with pytest.raises(UsageError, match="did you mean 'users'"):
        simulate(Scenario.default(), {"userz": 1}, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
