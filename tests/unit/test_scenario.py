"""A scenario takes every input by name, refuses wrong ones in one line, and reads its file."""

from __future__ import annotations

import pytest

from aglab.core.errors import UsageError
from aglab.hardware import profile_names
from aglab.scenario import CHANGES, Change, Scenario, check_change, key_rows


@pytest.fixture
def base() -> Scenario:
    """The three-replica default."""
    return Scenario.default()


@pytest.mark.parametrize(
    ("settings", "read", "expected"),
    [
        ({"k": 750}, lambda s: s.settings.k_pages_s, 96_000),
        ({"k": "750"}, lambda s: s.settings.k_mb_s, 750),
        ({"users": 100}, lambda s: s.settings.users, 100),
        ({"cores": 16}, lambda s: s.profile.cpu.cores, 16),
        ({"cores": 44, "sockets": 4}, lambda s: (s.profile.cpu.cores, s.profile.cpu.sockets), (44, 4)),
        ({"ssds": 8}, lambda s: s.profile.data.devices, 8),
        ({"data_ssds": 8}, lambda s: s.profile.data.devices, 8),
        ({"log_ssds": 2, "hardware.log.raid": "1"}, lambda s: (s.profile.log.devices, s.profile.log.raid), (2, "1")),
        ({"hot_pages": 1e6}, lambda s: s.workload.hot_pages, 1e6),
        ({"rtt_us": 500}, lambda s: s.profile.network.rtt_us, 500),
        ({"checkpoint": "indirect"}, lambda s: s.settings.target_recovery_s, 60),
        ({"checkpoint": "automatic"}, lambda s: s.settings.target_recovery_s, 0),
        ({"target_recovery_s": 30}, lambda s: s.settings.target_recovery_s, 30),
        ({"replicas": 2}, lambda s: s.node_names, ("sql1", "sql2")),
        ({"mode": "async"}, lambda s: s.replicas[2].availability_mode, "ASYNCHRONOUS_COMMIT"),
        ({"mode": "async", "replicas": 5}, lambda s: s.replicas[4].availability_mode, "ASYNCHRONOUS_COMMIT"),
        ({"log_bytes_per_tx": 1000}, lambda s: s.workload.log_bytes_per_tx, 1000),
        ({"memory": 512}, lambda s: s.profile.memory.max_server_memory_mb, 512 * 1024),
        ({"workload.batches_per_tx": 4}, lambda s: s.workload.batches_per_tx, 4),
        ({"constants.sync_overhead_us": 0}, lambda s: s.constant("sync_overhead_us"), 0),
        ({"version": "2022"}, lambda s: s.settings.sql_version, "2022"),
        ({"profile": "laptop-generic"}, lambda s: (s.profile.name, s.workload.warehouses), ("laptop-generic", 150)),
        ({"workload": "tpcc-like"}, lambda s: s.workload.name, "tpcc-like"),
        ({"tick_s": 0.05, "sample_s": 0.5}, lambda s: s.settings.sample_s, 0.5),
    ],
)
def test_each_key_sets_its_input(base, settings, read, expected):
    """Short names and dotted keys reach the field they name."""
    assert read(base.with_settings(settings)) == pytest.approx(expected) if isinstance(expected, float) else True
    assert read(base.with_settings(settings)) == expected


def test_every_documented_key_is_taken(base):
    """A number in range goes in under every key of the schema."""
    for row in key_rows():
        if row["low"] is not None and row["key"] not in ("tick_s", "sample_s", "settings.tick_s", "settings.sample_s"):
            middle = row["high"] if row["low"] == 0 and row["high"] <= 1 else max(row["low"], min(row["high"], 4))
            try:
                base.with_settings({row["key"]: middle})
            except UsageError as error:
                assert "is not known" not in str(error)
        assert row["meaning"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"usres": 5}, "did you mean 'users'?"),
        ({"users": -1}, "users=-1 must be >= 0 users"),
        ({"users": "many"}, "must be a number"),
        ({"users": 1e9}, "must be <= 1e+06"),
        ({"k": -750}, "k_mb_s=-750 must be >= 0 MB/s"),
        ({"cores": 0}, "cores=0 must be >= 1 cores"),
        ({"cores": 33}, "must be a multiple of the 2 sockets"),
        ({"cores": 1e6}, "cores=1000000.0 must be <= 4096 cores"),
        ({"ssds": 3}, "RAID 10 of 3 devices"),
        ({"ssds": 2}, "RAID 10 of 2 devices"),
        ({"hot_pages": 0}, "hot_pages=0 must be >= 1 pages"),
        ({"hot_pages": 1e11}, "must be <="),
        ({"rtt_us": -1}, "rtt_us=-1 must be >= 0 us"),
        ({"checkpoint": "auto"}, "did you mean 'automatic'?"),
        ({"replicas": 0}, "replicas=0 must be >= 1"),
        ({"replicas": 12}, "replicas=12 must be <= 9"),
        ({"mode": "synch"}, "did you mean 'sync'?"),
        ({"memory": 0}, "memory=0 must be >= 0.25 GB"),
        ({"constants.users_": 1}, "did you mean 'users'?"),
        ({"constants.sync_overhead_us": -1}, "must be >= 0 us"),
        ({"constants.log_block_kb": 0}, "constants.log_block_kb=0 must be >= 4 KB"),
        ({"constants.decompress_gain": 0}, "constants.decompress_gain=0 must be >= 1 x"),
        ({"workload.cpu": 1}, "setting 'workload.cpu' is not known"),
        ({"settings.kk": 1}, "setting 'settings.kk' is not known"),
        ({"version": "2015"}, "sql_version (settings) '2015' is not known"),
        ({"warehouses": 100000}, "does not fit the data volume"),
        ({"tick_s": 0.3}, "sample_s=1 must be a whole multiple of tick_s=0.3"),
        ({"recovery_model": "SIMPLE"}, "must be FULL with 3 replicas"),
        ({"profile": "hpe"}, "profile 'hpe' is not known"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(base, settings, expected):
    """Unknown, negative and absurd values name field, value and limit, and change nothing."""
    with pytest.raises(UsageError) as error:
        base.with_settings(settings)
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_a_scenario_does_not_change(base):
    """with_settings gives a copy."""
    changed = base.with_settings(k=750)
    assert base.settings.k_mb_s == 0 and changed.settings.k_mb_s == 750


@pytest.mark.parametrize("replicas", [0, 10, True, 2.5])
def test_replicas_must_be_one_to_nine(replicas):
    """No group of nothing, none beyond SQL Server's limit."""
    with pytest.raises(UsageError, match="replicas="):
        Scenario.default(replicas=replicas)


def test_constants_carry_their_overrides(base):
    """A changed constant keeps its tag; an unknown one is refused."""
    changed = base.with_settings({"constants.page_write_us": 3})
    assert changed.constants()["page_write_us"].value == 3
    assert base.constants()["page_write_us"].tag.kind == "assumed"
    with pytest.raises(UsageError, match="is not known"):
        base.constant("nothing")


def test_warnings_name_what_to_know(base):
    """A hot set beyond memory and a coarse tick are said."""
    assert base.warnings() == []
    assert "does not fit max server memory" in base.with_settings(memory=8).warnings()[0]
    assert "coarse" in base.with_settings(tick_s=0.5).warnings()[0]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"hardware.log.max_mb_s": 99999}, "hardware.log.max_mb_s=99999 is more than 4 devices move (4,320): it limits nothing"),
        ({"hardware.data.max_iops": 1e7}, "hardware.data.max_iops=1e+07 is more than 6 devices do (600,000): it limits nothing"),
        ({"hardware.data.read_iops": 100}, "less than one reader alone does at read_latency_us=120 (8,333/s)"),
        ({"hardware.data.write_mb_s": 50}, "hardware.data.write_iops=68000 must be <= 12,207 IOPS: random writes of 4 KB would"),
        ({"log_gb": 5000}, "log_file_gb=5000 is more than the log volume holds (1,600 GB after RAID 10)"),
        ({"tail_of_log_us": 3}, "puts the tail of the log on persistent memory, and profile hpe-dl380-gen9-ssd has none"),
    ],
)
def test_inputs_that_do_not_go_together_are_said(base, settings, expected):
    """What is accepted but contradicts itself, or does nothing, is a warning with field, value and limit."""
    (only,) = base.with_settings(settings).warnings()
    assert expected in only


def test_no_bundled_profile_contradicts_itself():
    """Their default scenarios warn of memory at most."""
    for name in profile_names():
        assert [note for note in Scenario.default(name, 1).warnings() if "does not fit" not in note] == [], name


FILE = """
title = "My server"
profile = "laptop-generic"
database = "Sales"
[workload]
name = "tpcc-like"
read_only_share = 0.5
[hardware.cpu]
cores_per_socket = 4
[settings]
users = 10
[constants]
page_write_us = 5
[set]
k = 100
[ag]
replicas = 2
mode = "async"
[[timeline]]
at_s = 20
node = "sql2"
connected = false
[[timeline]]
at_s = 10
k_mb_s = 50
"""


def test_a_scenario_file_is_read(tmp_path):
    """Profile, workload, overrides, layout and timeline come from one file; the timeline is in time order."""
    path = tmp_path / "mine.toml"
    path.write_text(FILE, encoding="utf-8")
    scenario = Scenario.load(path)
    assert (scenario.title, scenario.database, scenario.node_names) == ("My server", "Sales", ("sql1", "sql2"))
    assert scenario.profile.cpu.cores == 4 and scenario.workload.read_only_share == 0.5
    assert scenario.settings.users == 10 and scenario.settings.k_mb_s == 100
    assert scenario.constant("page_write_us") == 5
    assert scenario.timeline == (Change(10.0, {"k_mb_s": 50}, None), Change(20.0, {"connected": False}, "sql2"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("title =", "titel =", "did you mean 'title'?"),
        ("title =", "users = 7\ntitle =", "users stands outside a table (scenario mine.toml); write it below [set]: users = 7"),
        (
            "users = 10",
            'checkpoint = "indirect"',
            "checkpoint is a short name, and [settings] of",
        ),
        ("users = 10", "usres = 10", "setting 'settings.usres' is not known"),
        ("at_s = 10", "at = 10", "write at_s = seconds from the start; this entry has at, k_mb_s"),
        ("replicas = 2", "replica = 2", "did you mean 'replicas'?"),
        ("at_s = 10", "at_s = -1", "at_s=-1 must be a time >= 0 s"),
        ("at_s = 10", "when = 10", "at_s=None must be a time"),
        ("k_mb_s = 50", "", "changes nothing"),
        ("k_mb_s = 50", "k_mbs = 50", "did you mean 'k_mb_s'?"),
        ('node = "sql2"', 'node = "sql7"', "did you mean 'sql2'?"),
        ('node = "sql2"', "", "connected changes one node and none is named"),
        ("[hardware.cpu]\ncores_per_socket = 4", "[hardware]\ncpu = 3", "setting 'hardware.cpu' is not known"),
    ],
)
def test_a_wrong_scenario_file_is_one_clear_error(tmp_path, old, new, expected):
    """Each mistake in a file is named."""
    assert old in FILE
    path = tmp_path / "mine.toml"
    path.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as error:
        Scenario.load(path)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"), [("timeline = 3", "must be a list of tables"), ("hardware = 3", "must be a table")]
)
def test_a_scenario_file_of_the_wrong_shape(tmp_path, text, expected):
    """A number where a table belongs is said."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=expected):
        Scenario.load(path)


def test_a_profile_beside_the_scenario_is_found(tmp_path):
    """A path in a scenario file is relative to that file."""
    path = tmp_path / "mine.toml"
    path.write_text('profile = "box.toml"', encoding="utf-8")
    with pytest.raises(UsageError, match=r"box[.]toml does not exist"):
        Scenario.load(path)


@pytest.mark.parametrize(
    ("name", "value", "node", "expected"),
    [
        ("user", 3, None, "did you mean 'users'?"),
        ("users", -3, None, "users=-3 must be >= 0"),
        ("users", 3, "sql2", "belongs to the cluster"),
        ("primary", "sql9", None, "did you mean 'sql"),
        ("connected", True, None, "changes one node and none is named"),
        ("connected", 7, "sql2", "must be true or false"),
        ("connected", True, "sq2", "did you mean 'sql2'?"),
        ("availability_mode", "SYNC", "sql2", "availability_mode 'SYNC' is not known"),
        ("checkpoint", False, None, "must be true"),
    ],
)
def test_a_wrong_change_is_refused(name, value, node, expected):
    """What can change while running has names, ranges and a scope."""
    with pytest.raises(UsageError) as error:
        check_change(name, value, node, ("sql1", "sql2", "sql3"))
    assert expected in str(error.value)
    assert all(kind.meaning for kind in CHANGES.values())
