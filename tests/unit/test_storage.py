"""The spindle model: mechanics, RAID, cache, links, and the published rows of the array it describes."""

from __future__ import annotations

import dataclasses
import math

import pytest

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.hardware import DiskArray, Profile, Spindle, array_names
from aglab.hardware.spindles import operations_per_write, read_latency_ms, service_ms, stroke, sustained
from aglab.published import score

PS = DiskArray.load("dell-ps6100xv")


def test_every_value_of_a_bundled_array_has_a_tag():
    """No number without its source; none of them is fitted."""
    for name in array_names():
        array = DiskArray.load(name)
        assert array.title and array.name == name
        assert len(array.tags) == 18 and all(tag.kind in ("doc", "spec", "assumed") for tag in array.tags.values())


def test_a_single_random_read_is_seek_half_a_turn_and_transfer():
    """Over the whole disk: 0.35 + 4.4 * 8/15 + 2 ms and 8 KB at the mean rate."""
    expected = 0.35 + 4.4 * 8 / 15 + 2.0 + 8 * 1.024 / 163.5
    assert service_ms(PS.spindle, 1.0, 1, 8) == pytest.approx(expected, rel=1e-9)


def test_data_on_the_outer_tracks_is_reached_sooner():
    """The outer zone holds more than its share of data: 40 % of the data lie on less than 40 % of the tracks."""
    assert stroke(PS.spindle, 0.4) < 0.4 < 0.4 / stroke(PS.spindle, 0.4)
    assert stroke(PS.spindle, 1.0) == pytest.approx(1.0)
    flat = dataclasses.replace(PS.spindle, inner_mb_s=202.0)
    assert stroke(flat, 0.4) == pytest.approx(0.4)


def test_the_published_array_within_its_band():
    """8 KB within 10 %, 64 KB within 30 %, in the right order; no constant was fitted on them."""
    rows = {row["id"]: row for row in score("004")["rows"]}
    for percent in (40, 62, 85):
        assert abs(rows[f"eql-iops-8k-{percent}pct"]["error_pct"]) < 10
        assert abs(rows[f"eql-iops-64k-{percent}pct"]["error_pct"]) < 30
    assert rows["eql-iops-8k-40pct"]["twin"] > rows["eql-iops-8k-62pct"]["twin"] > rows["eql-iops-8k-85pct"]["twin"]
    assert abs(rows["eql-raid10-vs-50"]["error_pct"]) < 15
    assert [row["id"] for row in rows.values() if row["twin"] is None] == ["eql-tps"]  # its demands are not printed


def test_parity_shared_in_the_cache_costs_less_than_the_write_penalty():
    """RAID 6 costs six operations a small write without a cache, and fewer when writes of a stripe meet in it."""
    six = dataclasses.replace(PS, raid="6")
    assert operations_per_write(dataclasses.replace(six, cache_gb=0), 8, 0.5) == 6
    assert 4 < operations_per_write(six, 8, 0.5) < 6
    assert operations_per_write(PS, 8, 0.5) == 2
    assert operations_per_write(dataclasses.replace(PS, raid="0"), 8, 0.5) == 1
    assert operations_per_write(dataclasses.replace(PS, raid="5", cache_gb=0), 8, 0.5) == 4


def test_arrays_of_a_group_add_up_and_spread_data_makes_them_emptier():
    """Two arrays filled alike give twice the IOPS; the same data on two gives more than twice."""
    one = sustained(PS, 8, 0.7, 0.85)
    assert sustained(PS, 8, 0.7, 0.85, arrays=2).iops == pytest.approx(2 * one.iops)
    assert sustained(PS, 8, 0.7, 0.85, arrays=2, spread=True).iops > 2 * one.iops


def test_links_cap_large_requests():
    """One port of 1 Gb/s carries 116 MB/s whatever the disks could do."""
    thin = dataclasses.replace(PS, links=1)
    found = sustained(thin, 256, 1.0, 0.5)
    assert found.limit == "links"
    assert found.mb_s == pytest.approx(1e9 / 8 * 0.93 / 1e6, rel=1e-9)
    assert sustained(PS, 8, 0.0, 0.5).read_ms == 0.0


def test_latency_rises_to_infinity():
    """An idle array answers in one service time; beyond what drives can do it never answers."""
    assert read_latency_ms(PS, 8, 0.7, 0.5, 0.0) == pytest.approx(service_ms(PS.spindle, 0.5, 1, 8 / 1.1171875), rel=1e-6)
    assert math.isinf(read_latency_ms(PS, 8, 0.7, 0.5, 1e6))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_profiles_of_the_array_carry_the_models_rates(count):
    """The volumes of the bundled profiles are what the model says, within rounding."""
    volume = Profile.load(f"dell-r710-ps6100xv-{count}").data
    assert volume.devices == 22 * count
    assert volume.read_iops == pytest.approx(sustained(PS, 8, 1.0, 0.62).iops / 22, rel=0.01)
    assert volume.write_iops == pytest.approx(1000 / service_ms(PS.spindle, 0.62, 64, 30), rel=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sustained(PS, 0, 0.7, 0.5), "io_kb=0 must be >= 0.5 KB"),
        (lambda: sustained(PS, 8, 1.2, 0.5), "read_share=1.2 must be <= 1"),
        (lambda: sustained(PS, 8, 0.7, 1.5), "fill=1.5 must be <= 1"),
        (lambda: sustained(PS, 8, 0.7, 0.5, arrays=0), "arrays=0 must be >= 1"),
        (lambda: sustained(PS, 8, 0.7, 0.5, cap_ms=1), "cap_ms=1 must be >= 3.* one read of 8 KB"),
        (lambda: DiskArray.load("dell-ps6100x"), "did you mean 'dell-ps6100xv'"),
        (lambda: dataclasses.replace(PS, spares=3), "RAID 10 of 21 devices is not possible"),
        (lambda: Spindle(inner_mb_s=300), "inner_mb_s=300 must be <= outer_mb_s=202"),
    ],
)
def test_impossible_input_is_refused(call, message):
    """Field, value, limit and remedy."""
    with pytest.raises(UsageError, match=message):
        call()


def test_files_of_arrays_are_checked(tmp_path):
    """A missing or unknown section is named."""
    text = bundle_path("data", "arrays", "dell-ps6100xv.toml").read_text(encoding="utf-8")
    good = tmp_path / "mine.toml"
    good.write_text(text, encoding="utf-8")
    assert DiskArray.load(good).drives == 24
    bad = tmp_path / "bad.toml"
    bad.write_text(text.replace("[spindle]", "[spindel]"), encoding="utf-8")
    with pytest.raises(UsageError, match="did you mean 'spindle'"):
        DiskArray.load(bad)
    bad.write_text("title = 'x'", encoding="utf-8")
    with pytest.raises(UsageError, match=r"section \[spindle\] is missing"):
        DiskArray.load(str(bad))
