"""tempdb: allocation pages, sorts that spill, row versions."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.engine import Flow, simulate, steady
from aglab.engine.tempdb import merges, page_changes
from aglab.scenario import Scenario

TABLES = {"noise": 0, "k": 200, "log_gb": 1e4, "workload.tempdb_objects_per_tx": 1, "tempdb_kb_per_tx": 16, "version": "2017"}
SORTS = {"noise": 0, "k": 200, "log_gb": 1e4, "workload.sort_kb_per_tx": 512, "tempdb.sort_grant_kb": 256, "users": 20}
VERSIONS = {"noise": 0, "k": 200, "log_gb": 1e4, "workload.version_kb_per_tx": 4, "tempdb.row_versioning": "on"}


def machine(settings, **more) -> Scenario:
    """A standalone server whose transactions use tempdb."""
    return Scenario.default(replicas=1).with_settings({**settings, **more})


def test_nobody_who_leaves_tempdb_alone_waits_for_it():
    """Files, latch time and grants change nothing where transactions ask nothing of tempdb."""
    plain = steady(Scenario.default(replicas=1))
    odd = {"tempdb.files": 1, "tempdb.latch_us": 500, "tempdb.sort_grant_kb": 1, "tempdb.devices": 2}
    assert steady(machine(odd)) == plain


@pytest.mark.parametrize(
    ("version", "mixed", "changes"),
    [
        ("2014", "by version", (4, 0, 4)),  # both pages one by one, PFS and SGAM, taken and given back
        ("2014", "off", (4, 2, 0)),  # trace flag 1118: an extent for the object
        ("2017", "by version", (4, 2, 0)),
        ("2019", "by version", (0, 2, 0)),  # PFS pages change side by side
        ("2022", "by version", (0, 0, 0)),
    ],
)
def test_pages_that_a_small_table_changes_follow_the_version(version, mixed, changes):
    """One table of two pages: which allocation pages it holds alone."""
    scenario = machine({"version": version, "tempdb.mixed_extents": mixed, "workload.tempdb_objects_per_tx": 1})
    assert page_changes(scenario) == changes


def test_one_file_is_a_queue_and_its_wait_is_shown():
    """With one file sessions wait PAGELATCH_UP and throughput stays below what the page lets through; eight files end it."""
    one, eight = (Flow(machine(TABLES, **{"tempdb.files": files, "tempdb.latch_us": 4})) for files in (1, 8))
    for flow in (one, eight):
        flow.advance(5)
    waits = [flow.totals("sql1") for flow in (one, eight)]
    most = 1 / (4 * 4e-6)  # four changes of the PFS page, 4 us each
    assert 0.9 * most < waits[0]["transactions"] / 5 <= most
    assert waits[1]["transactions"] > 1.2 * waits[0]["transactions"]
    share = [wait["wait_ms.PAGELATCH_UP"] / wait["response_ms"] for wait in waits]
    assert share[0] > 0.2 > share[1] > 0


def test_waits_are_those_of_a_single_server():
    """A page's wait is that of M/M/1 at its utilisation."""
    result = steady(machine(TABLES, users=1, **{"tempdb.files": 2}))
    x, held = result.throughput_s, 2e-6
    pfs, gam = 4 * held / 2 * x, 2 * held / 2 * x
    assert result.tempdb_s == pytest.approx(held * (4 * pfs / (1 - pfs) + 2 * gam / (1 - gam)), rel=1e-6)


@pytest.mark.parametrize(("sort", "grant", "passes"), [(100, 0, 0), (100, 100, 0), (101, 100, 1), (1e6, 1024, 3), (5, 1, 3)])
def test_a_sort_goes_through_tempdb_as_often_as_merges_need(sort, grant, passes):
    """A grant of 1 MB merges 16 runs at once, a tiny one two."""
    assert merges(sort, grant) == passes


def test_a_spill_costs_io_on_its_volume():
    """A sort beyond its grant reads and writes the data volume; a volume of tempdb's own takes that away."""
    fits, shared, own = (Flow(machine(SORTS, **more)) for more in ({"tempdb.sort_grant_kb": 0}, {}, {"tempdb.devices": 4}))
    for flow in (fits, shared, own):
        flow.advance(5)
    none, here, away = (flow.totals("sql1") for flow in (fits, shared, own))
    assert none["wait_ms.IO_COMPLETION"] == 0 < here["wait_ms.IO_COMPLETION"]
    assert here["tempdb_spilled_bytes"] == pytest.approx(here["transactions"] * 512 * 1024)
    assert (
        here["data_bytes_written"] >= here["tempdb_spilled_bytes"] and away["data_bytes_written"] < away["tempdb_spilled_bytes"]
    )
    assert none["transactions"] > away["transactions"] > 0 < here["transactions"] < none["transactions"]


def test_the_version_store_is_cleaned_unless_a_snapshot_is_open():
    """It saws between nothing and a minute's versions, grows while a snapshot transaction is open, and falls after its end."""
    flow = Flow(machine(VERSIONS, users=5))
    flow.advance(59)
    minute = flow.gauges("sql1")["version_store_kb"]
    assert minute == pytest.approx(flow.totals("sql1")["transactions"] * 4, rel=1e-9)
    flow.advance(2)
    assert flow.gauges("sql1")["version_store_kb"] < 0.05 * minute
    flow.change(snapshot_transaction=True)
    flow.advance(180)
    assert flow.gauges("sql1")["version_store_kb"] > 2.5 * minute
    flow.change(snapshot_transaction=False)
    flow.advance(61)
    assert flow.gauges("sql1")["version_store_kb"] < 1.1 * minute


def test_an_online_rebuild_keeps_versions_until_its_end():
    """Without snapshot isolation too; an offline one makes none."""
    for online in (True, False):
        flow = Flow(machine(VERSIONS, users=5, **{"tempdb.row_versioning": "off"}))
        flow.advance(1)
        flow.change(index_rebuild={"gb": 200, "maxdop": 1, "online": online})
        flow.advance(130)
        assert flow.state.jb[0, 0, 0] > 0, "the rebuild has ended too soon for this test"
        kept = flow.gauges("sql1")["version_store_kb"]
        assert (kept > 1e5) if online else (kept == 0)


def test_a_full_tempdb_ends_the_snapshot_and_says_so():
    """3967 for the transaction that keeps versions; a database of its own size goes on."""
    scenario = machine(VERSIONS, users=5, duration_s=200, warmup_s=0, **{"tempdb.size_gb": 3})
    flow = Flow(scenario)
    flow.change(snapshot_transaction=True)
    flow.advance(200)
    assert flow.totals("sql1")["snapshot_victims"] == 1 and flow.gauges("sql1")["version_store_kb"] * 1024 < 3e9
    told = simulate(scenario.with_settings({"tempdb.size_gb": 0.5}))
    assert any("3959" in note for note in told["warnings"])


def test_a_restart_makes_tempdb_anew():
    """Neither versions nor snapshot transactions outlive the instance, or the primary role."""
    for change in ({"restart": True}, {"primary": "sql2"}):
        flow = Flow(Scenario.default(replicas=2).with_settings({**VERSIONS, "users": 5}))
        flow.change(snapshot_transaction=True)
        flow.advance(30)
        assert flow.gauges("sql1")["version_store_kb"] > 0
        flow.change(**change)
        assert flow.gauges("sql1")["version_store_kb"] == 0
        flow.advance(130)
        assert flow.gauges(flow.primary)["version_store_kb"] < 0.6 * 4 * flow.totals(flow.primary)["transactions"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tempdb.mixed_extents": "on", "version": "2019"}, "mixed_extents='on' needs version 2014, not 2019"),
        ({"tempdb.devices": 3, "tempdb.raid": "10"}, "RAID 10 of 3 devices is not possible"),
        ({"tempdb.read_mb_s": 500}, "of a volume that tempdb does not have"),
        ({"tempdb_files": 0}, "files=0 must be >= 1"),
        ({"tempdb.fils": 2}, "did you mean 'tempdb.files'"),
    ],
)
def test_what_tempdb_cannot_be_is_refused(settings, words):
    """Field, value, limit and remedy."""
    with pytest.raises(UsageError) as error:
        machine(settings)
    assert words in str(error.value)


def test_trace_flag_1118_goes_with_its_version_in_any_order():
    """Keys of tempdb are checked against the version that the same settings name."""
    for names in (("tempdb.mixed_extents", "version"), ("version", "tempdb.mixed_extents")):
        settings = {"tempdb.mixed_extents": "on", "version": "2014"}
        assert machine({name: settings[name] for name in names}).tempdb.mixed("2014")


def test_a_snapshot_needs_versions():
    """A snapshot transaction in a database without row versioning is refused."""
    with pytest.raises(UsageError, match="row_versioning is off"):
        Flow(machine({})).change(snapshot_transaction=True)


def test_a_doubt_names_versions_nobody_makes():
    """Row versions of a transaction, and row versioning off."""
    warnings = machine(TABLES, **{"workload.version_kb_per_tx": 1}).warnings()
    assert any("row_versioning is off" in one for one in warnings)
