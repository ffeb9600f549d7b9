"""The step of the engine is judged by what halving it changes, not by habit."""

from __future__ import annotations

import json
import statistics

import pytest
from typer.testing import CliRunner

from aglab.cli.app import app
from aglab.engine import Flow
from aglab.engine.tick_error import tick_change_percent, tick_warnings
from aglab.scenario import Scenario
from aglab.scenario.jobs import BackupJob

BASE = Scenario.default("hpe-dl380-gen9-nvdimm", 1).with_settings(duration_s=120)


def test_a_coarse_tick_says_how_much_it_moves():
    """At one second the average of an unthrottled checkpoint is off by more than at 0.1 s, and the warning has both numbers."""
    coarse, _ = tick_change_percent(BASE.with_settings(tick_s=1))
    fine, _ = tick_change_percent(BASE.with_settings(tick_s=0.1))
    assert abs(fine) < 1 < abs(coarse)
    (warning,) = tick_warnings(BASE.with_settings(tick_s=1))
    assert f"by {coarse:+.1f} % on average" in warning and "0.1 or less is safe" in warning
    assert tick_warnings(BASE) == []


def test_nothing_to_compare_is_no_error():
    """Without users there is no rate to move."""
    assert tick_change_percent(BASE.with_settings(users=0, tick_s=1)) == (0.0, 0.0)


def test_the_command_prints_the_estimate(tmp_path):
    """aglab simulate adds the measured change to its warnings."""
    path = tmp_path / "mine.toml"
    path.write_text('profile = "hpe-dl380-gen9-nvdimm"\n[settings]\nduration_s = 30\ntick_s = 1\n', encoding="utf-8")
    result = CliRunner().invoke(app, ["simulate", str(path), "--json", "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    warnings = json.loads(result.stdout)["warnings"]
    assert any("coarse" in line for line in warnings) and any("beside tick_s=0.5" in line for line in warnings)


@pytest.mark.parametrize("backup", [None, BackupJob()])
def test_the_background_writer_does_not_swing_with_the_tick(backup):
    """Under TARGET_RECOVERY_TIME, alone and beside a backup: half the tick gives the same rates, and no tick differs much."""
    means = []
    for tick_s in (0.1, 0.05):
        flow = Flow(
            Scenario.default(replicas=1).with_settings({"checkpoint": "indirect", "noise": 0, "log_gb": 1e5, "tick_s": tick_s})
        )
        flow.advance(300)
        if backup is not None:
            flow.change(backup=backup)
            flow.advance(30)
        rates = []
        for _ in range(int(4 / tick_s)):
            before = flow.totals("sql1")["transactions"]
            flow.advance(tick_s)
            rates.append((flow.totals("sql1")["transactions"] - before) / tick_s)
        means.append(statistics.mean(rates))
        assert statistics.stdev(rates) < 0.04 * means[-1]
    assert means[0] == pytest.approx(means[1], rel=0.01)
