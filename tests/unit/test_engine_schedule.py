"""What a scenario file plans: repeated entries, the ramp-up of users, several databases."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.engine import Flow, simulate
from aglab.scenario import Change, Scenario
from aglab.scenario.files import scenario_from

SHORT = {"duration_s": 40, "warmup_s": 10}


def test_log_backups_on_schedule_are_jobs():
    """Each reads the log volume, is told at its end, and frees the log; none begins before the last has ended."""
    entry = {"at_s": 5, "every_s": 10, "backup": {"volume": "log"}}
    table = {"settings": {**SHORT, "target_recovery_s": 1}, "ag": {"replicas": 1}, "timeline": [entry]}
    result = simulate(scenario_from(table, "test"))
    names = [event["event"] for event in result["events"]]
    assert names == ["backup", "backup_ended"] * 4
    assert [event["time_s"] for event in result["events"] if event["event"] == "backup"] == [5, 15, 25, 35]
    slow = {**entry, "every_s": 1, "backup": {"volume": "log", "target_mb_s": 60}}
    names = [event["event"] for event in simulate(scenario_from({**table, "timeline": [slow]}, "test"))["events"]]
    assert "skipped" in names and names.count("backup") < 20


def test_a_repeated_entry_ends_with_the_run():
    """From its time on, again and again, before the end; once without an interval."""
    assert Change(5, {"checkpoint": True}, every_s=10).times(30) == [5, 15, 25]
    assert Change(5, {"checkpoint": True}, every_s=10).times(25) == [5, 15]
    assert Change(5, {"checkpoint": True}).times(30) == [5] and Change(5, {"checkpoint": True}).times(5) == []


def test_users_log_in_one_after_the_other():
    """Throughput rises with them and is then what it would have been."""
    base = Scenario.default("hpe-dl380-gen9-ssd", 1).with_settings(
        {"noise": 0, "k": 750, "duration_s": 180, "warmup_s": 0, "checkpoint": "indirect"}
    )
    ramped = Flow(base.with_settings(ramp_up_s=30)).run().series("Transactions/sec")
    full = Flow(base).run().series("Transactions/sec")
    assert ramped.iloc[0] < 0.1 * full.iloc[0]
    assert ramped.iloc[:28].is_monotonic_increasing
    assert ramped.iloc[-10:].mean() == pytest.approx(full.iloc[-10:].mean(), rel=0.01)


@pytest.mark.parametrize("rest_s", [0, 60])
def test_users_who_come_all_at_once_leave_no_waves_in_page_writes(rest_s):
    """The background writer writes as much in the first half minute as later, on every node: it keeps pace from the start."""
    base = Scenario.default("hpe-dl380-gen9-ssd", 2).with_settings({"noise": 0, "checkpoint": "indirect"})
    flow = Flow(base)
    flow.change(users=0)
    flow.advance(rest_s)
    flow.change(users=base.settings.users)
    flow.advance(5)
    block = flow.advance(115)
    for node in flow.names:
        pages = block.values[:, block.columns.index((node, "background_writer_pages_per_s"))]
        assert pages.min() > 0.95 * pages.mean() and pages.max() < 1.05 * pages.mean()


TWO = {
    "settings": SHORT,
    "ag": {"replicas": 2},
    "set": {"users": 20, "warehouses": 1000, "log_gb": 1000},
    "databases": [{"name": "Sales"}, {"name": "Stock", "users": 40, "workload": "in-memory-update"}],
    "timeline": [
        {"at_s": 10, "database": "Stock", "primary": "sql2"},
        {"at_s": 20, "checkpoint": True},
        {"at_s": 25, "database": "Sales", "integrity_check": {"gb": 5}},
    ],
}


def test_a_file_describes_several_databases():
    """Each has its own users, workload and part of the timeline; counters and reuse waits are by database."""
    scenario = scenario_from(TWO, "test")
    sales, stock = scenario.each()
    assert (sales.settings.users, stock.settings.users) == (20, 40)
    assert stock.workload.name == "in-memory-update" and sales.workload.name == "tpcc-like"
    assert len(sales.timeline) == 2 and len(stock.timeline) == 2
    result = simulate(scenario)
    assert set(result["log_reuse_wait"]) == {"Sales", "Stock"}
    counters = result["summary"]["sql1"]
    assert counters["SQLServer:Databases(Sales)\\Transactions/sec"]["avg"] > 0
    assert counters["SQLServer:Databases(Stock)\\Transactions/sec"]["avg"] > 0
    told = {(event["event"], event["database"]) for event in result["events"]}
    assert ("primary", "Stock") in told and ("primary", "Sales") not in told
    assert ("integrity_check_ended", "Sales") in told
    assert {("checkpoint", "Sales"), ("checkpoint", "Stock")} <= told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"databases": 3}, "must be a list of tables"),
        ({"databases": [{"users": 3}]}, "entry 1 of databases in test has no name"),
        ({"databases": [{"name": "A"}, {"name": "A"}]}, "must differ, and are A, A"),
        ({"databases": [{"name": "A", "usres": 1}], "timeline": []}, "did you mean 'users'"),
        ({"timeline": [{"at_s": 1, "database": "Salse", "checkpoint": True}]}, "did you mean 'Sales'"),
        ({"timeline": [{"at_s": 1, "every_s": -1, "checkpoint": True}]}, "every_s=-1 must be >= 0"),
        ({"databases": [], "timeline": [{"at_s": 1, "database": "Sales", "checkpoint": True}]}, "database"),
    ],
)
def test_a_wrong_plan_is_refused(change, message):
    """Entry, key, and the nearest name."""
    with pytest.raises(UsageError, match=message):
        scenario_from({**TWO, **change}, "test")


@pytest.mark.parametrize("name", sorted(path.name for path in bundle_path("data", "scenarios").glob("*.toml")))
def test_every_bundled_scenario_runs(name):
    """Each file of a scenario that the book shows is taken; a short run of it gets through."""
    path = bundle_path("data", "scenarios", name)
    if "[cpu]" in path.read_text(encoding="utf-8"):
        return  # a machine
    result = simulate(path, {"duration_s": 20, "warmup_s": 5})
    assert any(stats["avg"] > 0 for counter, stats in result["summary"]["sql1"].items() if counter.endswith("Transactions/sec"))
