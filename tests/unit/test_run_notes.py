"""A run in which the log file was full says so, and what would have helped."""

from __future__ import annotations

from aglab.engine import Flow
from aglab.engine.run_notes import run_warnings
from aglab.scenario import Scenario

BASE = Scenario.default("hpe-dl380-gen9-ssd", 2).with_settings({"log_gb": 10, "duration_s": 120, "warmup_s": 0})


def test_a_full_log_is_told_with_time_and_remedy():
    """Ten gigabytes last less than a minute without log backups; the run says since when and what to do."""
    run = Flow(BASE).run()
    assert run.series("Transactions/sec", "sql1").min() == 0
    first, *_ = run_warnings(BASE, run)
    assert "the log file of sql1 (10 GB) was full for" in first and "9002" in first and "log_backup_every_s=0" in first


def test_a_log_that_is_backed_up_is_no_warning():
    """With log backups in time nothing is said."""
    kept = BASE.with_settings({"log_backup_every_s": 10, "version": "2022"})
    assert run_warnings(kept, Flow(kept).run()) == []
