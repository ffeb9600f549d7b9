"""A profile is read whole, tagged and checked: a wrong field is one clear line."""

from __future__ import annotations

import dataclasses

import pytest

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.core.quantity import Tag, parse_tag
from aglab.hardware import Cpu, DiskArray, Memory, Profile, Volume, profile_names
from aglab.hardware.array_volume import ArrayVolume, array_volume

DL380 = "hpe-dl380-gen9-ssd"
SSD = {
    "read_iops": 1e5,
    "write_iops": 68e3,
    "read_mb_s": 1080,
    "write_mb_s": 580,
    "read_latency_us": 120,
    "write_latency_us": 60,
    "capacity_gb": 800,
}


def text() -> str:
    """The bundled profile as a file."""
    return bundle_path("data", "profiles", f"{DL380}.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", profile_names())
def test_every_value_of_a_bundled_profile_has_a_tag(name):
    """No number stands in a profile without saying where it comes from."""
    profile = Profile.load(name)
    assert all(row["tag"] != "[user]" for row in profile.rows())
    assert all(profile.tags[key].kind in ("doc", "spec", "assumed", "fitted", "computed") for key in profile.tags)
    assert profile.name == name and profile.title


def test_the_paper_machine_has_the_rates_of_its_data_sheet():
    """Six mirrored SSDs of 580 MB/s write 1,740 MB/s: 212,402 pages a second."""
    profile = Profile.load(DL380)
    assert profile.cpu.cores == 32 and profile.cpu.threads == 64
    assert 1 / profile.data.write_s_per_page == pytest.approx(212_402, rel=1e-4)
    assert 1 / profile.data.read_s_per_page == pytest.approx(600_000, rel=1e-4)
    assert profile.data.usable_gb == 2400
    assert profile.memory.buffer_pool_pages == 235_814 * 128


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("sockets          = { value = 2", "sockets          = { value = 0", "sockets=0 must be >= 1 sockets"),
        ("cores_per_socket = { value = 16", "cores_per_socket = { value = 0", "cores_per_socket=0 must be >= 1 cores"),
        ("cores_per_socket = { value = 16", "cores_per_socket = { value = 1.5", "must be a whole number"),
        ("devices          = { value = 6", "devices          = { value = 3", "RAID 10 of 3 devices is not possible"),
        ("read_iops        = { value = 100000", "read_iops        = { value = -5", "read_iops=-5 must be >= 1 IOPS"),
        ("ghz              = { value = 2.6", 'ghz              = { value = "fast"', "must be a number of GHz"),
        ("ghz              = { value = 2.6", "ghz              = { value = nan", "must be finite"),
        ("ghz              = { value = 2.6", "ghz              = { value = true", "must be a number"),
        ("ghz              = { value = 2.6", "ghz              = { value = 900", "must be <= 7 GHz"),
        ('raid             = { value = "10"', 'raid             = { value = "7"', "raid (volume) '7' is not known"),
        ("rtt_us           = { value = 50", "rtt_us           = { value = -1", "rtt_us=-1 must be >= 0 us"),
        ("rtt_us           = { value = 50,", "rtt_us           = { valeu = 50,", "has neither value nor constant"),
        ("rtt_us           =", "rtt_ms           =", "did you mean 'rtt_us'?"),
        ('tag = "assumed", source = "the reference core"', 'tag = "guessed"', "'guessed' is not known"),
        ("[network]", "[netwrok]", "did you mean 'network'?"),
        ('{ constant = "users" }', '{ constant = "usres" }', "did you mean 'users'?"),
        ("max_server_memory_mb = { value = 235814", "max_server_memory_mb = { value = 999999", "must be <= installed_mb"),
        ("title =", "title ==", "is not valid TOML"),
    ],
)
def test_a_wrong_field_is_one_clear_error(tmp_path, old, new, expected):
    """Each field says what is wrong, with its value and limit."""
    assert old in text()
    path = tmp_path / "mine.toml"
    path.write_text(text().replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as error:
        Profile.load(path)
    assert expected in str(error.value)
    assert "\n" not in str(error.value).replace("\\n", "") or "TOML" in expected
    assert ";" in str(error.value)


def test_a_missing_section_or_field_is_named(tmp_path):
    """A profile without a network, or a processor without a clock, says so."""
    path = tmp_path / "mine.toml"
    path.write_text(text().split("[network]")[0], encoding="utf-8")
    with pytest.raises(UsageError, match=r"section \[network\] is missing"):
        Profile.load(path)
    path.write_text("\n".join(line for line in text().splitlines() if not line.startswith("ghz")), encoding="utf-8")
    with pytest.raises(UsageError, match=r"cpu.ghz is missing"):
        Profile.load(path)


def test_a_bare_number_is_the_users_own(tmp_path):
    """A profile may be written without tags; its values are then tagged [user]."""
    path = tmp_path / "mine.toml"
    path.write_text(
        text().replace('{ value = 50, tag = "assumed", source = "one switch, 40 Gb/s Ethernet" }', "25"), encoding="utf-8"
    )
    profile = Profile.load(str(path))
    assert profile.network.rtt_us == 25 and profile.tags["network.rtt_us"] == Tag("user")


def test_unknown_profile_and_missing_file():
    """An unknown name gets the nearest; a missing file is said to be missing; a folder is no file."""
    with pytest.raises(UsageError, match="did you mean 'hpe-dl380-gen9-ssd'"):
        Profile.load("hpe-dl380-gen9")
    with pytest.raises(UsageError, match="does not exist"):
        Profile.load("nowhere.toml")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    """Bytes that are no UTF-8 are a clear error."""
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        Profile.load(path)


@pytest.mark.parametrize(
    ("raid", "devices", "possible"),
    [("0", 1, 1), ("1", 2, 1), ("1", 4, 0), ("10", 2, 0), ("10", 5, 0), ("5", 2, 0), ("5", 3, 1), ("50", 6, 1), ("6", 3, 0)],
)
def test_raid_levels_need_their_devices(raid, devices, possible):
    """Each RAID level has its fewest devices and its multiple."""
    if possible:
        assert Volume(devices=devices, raid=raid, **SSD).write_penalty >= 1.0
    else:
        with pytest.raises(UsageError, match=f"RAID {raid} of {devices} devices"):
            Volume(devices=devices, raid=raid, **SSD)


def test_a_cap_of_controller_or_cloud_binds():
    """max_mb_s and max_iops lower the rates, never raise them."""
    free = Volume(devices=6, raid="10", **SSD)
    capped = dataclasses.replace(free, max_mb_s=100, max_iops=3000)
    assert 1 / capped.read_s_per_page == pytest.approx(3000)
    assert capped.write_bytes_s == 100e6
    assert capped.write_s_per_page > free.write_s_per_page


def test_speed_of_a_core_is_relative_to_the_reference():
    """A core of twice the clock does twice the work; without hyper-threading threads are cores."""
    cpu = Cpu(sockets=1, cores_per_socket=4, threads_per_core=1, ghz=5.2)
    assert cpu.speed == 2.0 and cpu.threads == cpu.cores == 4
    assert Memory(installed_mb=1024, max_server_memory_mb=512).buffer_pool_pages == 65536


def test_tags_print_and_parse():
    """A tag prints as the profile's comments write it."""
    assert str(parse_tag("fitted: Table 6", "here")) == "[fitted: Table 6]"
    assert str(Tag("doc")) == "[doc]"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "read_iops        = { value = 100000",
            "read_iops        = { value = 300000",
            "read_iops=300000 must be <= 263,672 IOPS",
        ),
        ("write_mb_s       = { value = 580", "write_mb_s       = { value = 58", "would carry 279 MB/s, more than write_mb_s=58"),
    ],
)
def test_rates_that_contradict_each_other_are_refused(tmp_path, old, new, expected):
    """In a profile's file, random requests that would carry more than sequential ones: both values, the limit, the section."""
    assert old in text()
    path = tmp_path / "mine.toml"
    path.write_text(text().replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as error:
        Profile.load(path)
    assert expected in str(error.value) and "[data]" in str(error.value) and "one device" in str(error.value)


def test_a_limit_of_iops_counts_writes():
    """Checkpoint writes and log writes are I/Os too, for a limit and for the devices; without a limit nothing changes."""
    free = Volume(devices=6, raid="10", **SSD)
    capped = dataclasses.replace(free, max_iops=1000)
    assert free.gathered_write_s(4) == free.write_s_per_page and free.log_write_s == pytest.approx(60e-6)
    assert 1 / capped.gathered_write_s(4) == pytest.approx(4000)
    slow = dataclasses.replace(free, write_iops=500)
    assert 1 / slow.gathered_write_s(4) == pytest.approx(3 * 500 * 4)  # three mirrored pairs
    assert capped.log_write_s == pytest.approx(1e-3)


ARRAY_PROFILE = "dell-r710-ps6100xv-1-raid50"


def array_text() -> str:
    """A bundled profile whose volumes are on an array."""
    return bundle_path("data", "profiles", f"{ARRAY_PROFILE}.toml").read_text(encoding="utf-8")


def test_a_volume_on_an_array_is_computed_from_its_drives():
    """The rates that the profiles with two arrays spell out are what the drives give; RAID and fill change them as they must."""
    array = DiskArray.load("dell-ps6100xv")
    found = array_volume(array, ArrayVolume(arrays=2, fill=0.62))
    spelled = Profile.load("dell-r710-ps6100xv-2").data
    for name in ("devices", "read_iops", "write_mb_s", "read_latency_us", "write_latency_us", "capacity_gb", "max_mb_s"):
        assert getattr(found, name) == pytest.approx(getattr(spelled, name), rel=0.01), name
    rates = [array_volume(array, ArrayVolume(raid=raid)).write_bytes_s for raid in ("0", "10", "50", "6")]
    assert rates == sorted(rates, reverse=True)
    emptier, fuller = (array_volume(array, ArrayVolume(fill=fill)) for fill in (0.4, 0.85))
    assert emptier.read_iops > fuller.read_iops and emptier.write_mb_s > fuller.write_mb_s
    for raid in ("10", "50", "6"):
        one = array_volume(array, ArrayVolume(raid=raid))
        assert one.usable_gb == pytest.approx(dataclasses.replace(array, raid=raid).usable_gb)
    tag = Profile.load(ARRAY_PROFILE).tags["data.read_iops"]
    assert tag == Tag("computed", "computed from array dell-ps6100xv: 1 x 50, 47 % full")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('array  = "dell-ps6100xv"', 'array  = "dell-ps6100"', "did you mean 'dell-ps6100xv'?"),
        ('array  = "dell-ps6100xv"', "array  = 3", "data.array=3 must be a name"),
        ("arrays = { value = 1", "arrays = { value = 0", "arrays=0 must be >= 1 arrays"),
        ('raid   = { value = "50"', 'raid   = { value = "51"', "'51' is not known"),
        ("fill   = { value = 0.47", "fill   = { value = 1.5", "fill=1.5 must be <= 1"),
        ("fill   =", "full   =", "did you mean 'fill'?"),
    ],
)
def test_a_wrong_array_volume_is_one_clear_error(tmp_path, old, new, expected):
    """Each mistake in a table with an array is named with the section it stands in."""
    assert old in array_text()
    path = tmp_path / "mine.toml"
    path.write_text(array_text().replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as error:
        Profile.load(path)
    assert expected in str(error.value) and "data" in str(error.value)
