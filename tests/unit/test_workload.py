"""A workload's demands are checked, and memory turns cold touches into reads."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.workload import Workload, workload_names


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
