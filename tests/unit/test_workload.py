"""A workload's demands are checked, and memory turns cold touches into reads."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.engine import Flow, steady
from aglab.scenario import Scenario
from aglab.scenario.files import scenario_from
from aglab.workload import Workload, mixed, workload_names


@pytest.fixture
def job() -> Workload:
    """The bundled TPC-C-like workload."""
    return Workload.load("tpcc-like")


@pytest.mark.parametrize("name", workload_names())
def test_every_demand_has_a_tag(name):
    """No demand stands without its source."""
    assert all(row["tag"] != "[user]" and row["meaning"] for row in Workload.load(name).rows())


def test_more_memory_reads_less_down_to_nothing(job):
    """Physical reads fall with the buffer pool and end when the database fits."""
    pools = [1e6, 1e7, 2e7, 4e7, job.data_pages * 1.01]
    reads = [job.page_reads_per_tx(pool) for pool in pools]
    assert all(a >= b for a, b in itertools.pairwise(reads))
    assert reads[-1] == 0.0
    assert reads[0] > job.cold_touches_per_tx


def test_a_hot_set_alone_is_no_cold_data(job):
    """A database that is hot as a whole has no cold misses."""
    small = dataclasses.replace(job, data_mb_per_warehouse=job.hot_pages_per_warehouse / 128)
    assert small.cold_miss_ratio(1.0) == 0.0


def test_the_hot_set_cannot_be_larger_than_the_database(job):
    """Contradictory inputs are refused with both numbers."""
    with pytest.raises(UsageError, match=r"hot_pages=.* must be <= .* the pages of the database"):
        dataclasses.replace(job, hot_pages_per_warehouse=1e6)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("cpu_us", 0, "cpu_us=0 must be >= 0.01 core-us"),
        ("log_bytes_per_tx", -1, "log_bytes_per_tx=-1 must be >= 0 B"),
        ("read_only_share", 1.5, "read_only_share=1.5 must be <= 1"),
        ("warehouses", 2.5, "must be a whole number"),
        ("think_us", float("inf"), "must be finite"),
    ],
)
def test_a_wrong_demand_is_refused(job, field, value, expected):
    """Each demand has its range."""
    with pytest.raises(UsageError) as error:
        dataclasses.replace(job, **{field: value})
    assert expected in str(error.value)


def test_a_workload_file_of_your_own(tmp_path):
    """A copied file with a changed number is a workload; an unknown key or name is not."""
    text = bundle_path("data", "workloads", "tpcc-like.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(
        text.replace('cpu_us                     = { constant = "cpu_us_per_tx" }', "cpu_us = 1000"), encoding="utf-8"
    )
    mine = Workload.load(path)
    assert mine.cpu_us == 1000 and mine.name == "mine"
    path.write_text(text + "\ncpu_ms = 3\n", encoding="utf-8")
    with pytest.raises(UsageError, match="did you mean 'cpu_us'"):
        Workload.load(path)
    with pytest.raises(UsageError, match="did you mean 'tpcc-like'"):
        Workload.load("tpcc")


@pytest.mark.parametrize("name", workload_names())
def test_every_bundled_workload_runs(name):
    """A standalone server gets through with each, and no more than its stations allow."""
    scenario = Scenario.default("hpe-dl380-gen9-ssd", 1, name)
    found = steady(scenario)
    assert found.throughput_s * found.response_s == pytest.approx(scenario.settings.users)
    assert 0 < found.cpu_util < 1 and found.data_util < 1


def test_in_memory_rows_touch_no_page_and_wait_for_the_log_only():
    """No data read, no dirty page; its commits are its wait, and delayed durability takes that away."""
    scenario = Scenario.default("hpe-dl380-gen9-ssd", 1, "in-memory-update").with_settings({"noise": 0, "users": 20})
    flow = Flow(scenario)
    flow.advance(30)
    totals = flow.totals("sql1")
    assert totals["page_reads"] == totals["page_writes"] == totals["pages_dirtied"] == 0 < totals["log_bytes_flushed"]
    waiting = steady(scenario)
    assert waiting.commit_s > 0.5 * (waiting.response_s - waiting.think_s)
    lazy = steady(scenario.with_settings(delayed_durability="FORCED"))
    assert lazy.commit_s == 0 and lazy.throughput_s > 1.2 * waiting.throughput_s


def test_a_mix_has_the_demands_of_its_parts():
    """Averages over all transactions, over those that write, and sums of the sets of pages."""
    one, other = Workload.load("tpcc-like"), Workload.load("tpce-like")
    both = mixed({"tpcc-like": 0.75, "tpce-like": 0.25})
    assert both.cpu_us == pytest.approx(0.75 * one.cpu_us + 0.25 * other.cpu_us)
    log = [job.log_bytes_per_tx * (1 - job.read_only_share) for job in (one, other, both)]
    assert log[2] == pytest.approx(0.75 * log[0] + 0.25 * log[1])
    assert both.hot_pages == pytest.approx(one.hot_pages + other.hot_pages)
    assert both.data_pages == pytest.approx(one.data_pages + other.data_pages)
    alone = mixed({"tpcc-like": 1})
    assert all(
        getattr(alone, spec.name) == pytest.approx(getattr(one, spec.name)) for spec in dataclasses.fields(one) if spec.metadata
    )


def test_a_scenario_file_takes_a_mix():
    """``[workload] mix`` makes the workload; what else stands there changes it."""
    table = {"profile": "hpe-dl380-gen9-ssd", "workload": {"mix": {"tpcc-like": 0.9, "tpce-like": 0.1}, "think_us": 5}}
    scenario = scenario_from(table, "test")
    assert scenario.workload.name == "tpcc-like + tpce-like" and scenario.workload.think_us == 5
    assert scenario.workload.read_only_share == pytest.approx(0.0769)


@pytest.mark.parametrize(
    ("mix", "message"),
    [
        ({"tpcc-like": 0.5}, "add up to 0.5 and must add up to 1"),
        ({"tpcc-like": 1.5}, "mix.tpcc-like=1.5 must be <= 1"),
        ({"tpcc": 1}, "did you mean 'tpcc-like'"),
        ({}, "must be a table"),
        (3, "must be a table"),
    ],
)
def test_a_wrong_mix_is_refused(mix, message):
    """Name, share, sum."""
    with pytest.raises(UsageError, match=message):
        mixed(mix)


def test_a_workload_is_named_or_mixed():
    """Both at once would hide one."""
    with pytest.raises(UsageError, match="exclude each other"):
        scenario_from({"workload": {"name": "tpcc-like", "mix": {"tpcc-like": 1}}}, "test")
