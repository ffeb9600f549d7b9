"""A hardware profile as limits of containers: what fits is given, what does not is scaled or named, and it is read back."""

from __future__ import annotations

import dataclasses
import json
import os

import pytest
from cli_help import run
from test_live_containers import stand  # noqa: F401 - a fixture

from aglab.core.errors import UsageError
from aglab.core.paths import bundle_path
from aglab.hardware import Profile, profile_names
from aglab.live import replica_network
from aglab.live.choices import Choices
from aglab.live.limits import read_back
from aglab.live.profile_limits import NOT_HERE, OVERLAYS, Host, _device, derive, host_of

HOST = Host(processors=12, memory_mb=64 * 1024, kernel="6.8.0", device="/dev/sdb")
NVDIMM = "hpe-dl380-gen9-nvdimm"


def part(limits, name):
    return next(one for one in limits.parts if one.name == name)


@pytest.mark.parametrize("name", profile_names())
@pytest.mark.parametrize("processors", [1, 2, 8, 12, 192])
def test_every_profile_fits_every_machine(name, processors):
    """No node gets more than the profile has or the machine can give; each variable belongs to an overlay that is laid."""
    host = dataclasses.replace(HOST, processors=processors)
    profile = Profile.load(name)
    found = derive(profile, host, {})
    assert 0 < found.scale <= 1
    assert 3 * float(found.variables["AGLAB_LIMIT_MEMORY_MB"]) <= host.memory_mb
    assert 2000 <= float(found.variables["AGLAB_LIMIT_SQL_MEMORY_MB"]) < float(found.variables["AGLAB_LIMIT_MEMORY_MB"])
    for node in ("SQL1", "SQL2", "SQL3"):
        last = int(found.variables[f"AGLAB_LIMIT_CPUSET_{node}"].split("-")[-1])
        assert last < processors
    texts = "".join((bundle_path("docker") / "overlays" / f"{one}.yaml").read_text() for one in found.overlays)
    assert not [key for key in found.variables if key not in texts]
    assert set(found.overlays) <= set(OVERLAYS)


def test_a_machine_that_is_large_enough_gives_what_the_profile_has():
    """Processors of its own for each node, memory and rates as they are in the profile."""
    found = derive(Profile.load("dell-r710-ps6100xv-1"), dataclasses.replace(HOST, memory_mb=256 * 1024), {})
    sets = [found.variables[f"AGLAB_LIMIT_CPUSET_SQL{n}"] for n in (1, 2, 3)]
    assert sets == ["0-3", "4-7", "8-11"] and found.scale == 1
    assert {part(found, name).how for name in ("cpu", "memory", "blkio", "network")} == {"as asked"}
    assert found.variables["AGLAB_LIMIT_MEMORY_MB"] == "34816"
    assert found.variables["AGLAB_LIMIT_WRITE_BPS"] == str(round(22 / 2 * 10.6e6))  # RAID 10 writes twice
    assert found.variables["AGLAB_LIMIT_RATE"] == "1000mbit" and found.variables["AGLAB_LIMIT_DELAY_US"] == "100"


def test_what_is_scaled_keeps_its_proportions():
    """Half the processors: half the memory, half the rates; times stay."""
    profile = Profile.load("dell-r710-ps6100xv-1")
    whole = derive(profile, dataclasses.replace(HOST, memory_mb=256 * 1024), {})
    half = derive(profile, dataclasses.replace(HOST, processors=6, memory_mb=256 * 1024), {})
    assert half.scale == 0.5
    for key in ("AGLAB_LIMIT_WRITE_BPS", "AGLAB_LIMIT_READ_BPS", "AGLAB_LIMIT_MEMORY_MB", "AGLAB_LIMIT_READ_IOPS"):
        assert float(half.variables[key]) == pytest.approx(float(whole.variables[key]) / 2, rel=0.01)
    assert half.variables["AGLAB_LIMIT_DELAY_US"] == whole.variables["AGLAB_LIMIT_DELAY_US"]
    assert part(half, "blkio").how == "scaled" and "0.5" in part(half, "blkio").why


def test_what_cannot_be_done_is_named_with_its_reason():
    """Clock and latency never; throttling, a device that nobody sees, tmpfs by kernel; SQL Server's floor of memory."""
    profile = Profile.load(NVDIMM)
    for host, name, why in (
        (HOST, "clock", "slow a core down"),
        (HOST, "latency", "rates, not times"),
        (dataclasses.replace(HOST, throttles=False), "blkio", "no throttling"),
        (dataclasses.replace(HOST, device="", why_no_device="name it"), "blkio", "name it"),
        (dataclasses.replace(HOST, kernel="5.15.0"), "log_in_memory", "5.15.0"),
        (dataclasses.replace(HOST, kernel=""), "log_in_memory", "unknown kernel"),
    ):
        found = derive(profile, host, {})
        assert part(found, name).how == NOT_HERE and why in part(found, name).why
        assert name not in found.overlays
    small = derive(profile, dataclasses.replace(HOST, processors=1, memory_mb=8192), {})
    assert "shared" in part(small, "cpu").given and "2,000 MB" in part(small, "memory").why
    assert "no room" in part(small, "log_in_memory").why and part(small, "log_in_memory").how == NOT_HERE


def test_persistent_memory_is_a_tmpfs_or_a_dax_folder_of_the_users():
    """The tmpfs counts as the container's memory; a folder named by the user takes its place; what the user sets wins."""
    profile = Profile.load(NVDIMM)
    found = derive(profile, HOST, {})
    assert "log_in_memory" in found.overlays and "stand-in" in part(found, "log_in_memory").why
    without = derive(Profile.load("hpe-dl380-gen9-ssd"), HOST, {})
    assert not [one for one in without.parts if one.name.startswith("log_")]
    dax = derive(profile, HOST, {"AGLAB_LIMIT_LOG_DAX": "/mnt/pmem0", "AGLAB_LIMIT_RATE": "5mbit"})
    assert "log_on_dax" in dax.overlays and "log_in_memory" not in dax.overlays
    assert dax.variables["AGLAB_LIMIT_LOG_DAX"] == "/mnt/pmem0"
    assert dax.variables["AGLAB_LIMIT_RATE"] == "5mbit" and part(dax, "network").how == "yours"


def test_the_host_is_what_docker_says(tmp_path):
    """Processors, memory, throttling; a device is named where it can be seen, and refused where it is none."""
    info = {"NCPU": 4, "MemTotal": 8 << 30, "KernelVersion": "6.8.0", "DockerRootDir": str(tmp_path / "nowhere")}
    host = host_of(info, {})
    assert (host.processors, host.memory_mb, host.throttles, host.device) == (4, 8192, True, "")
    assert "AGLAB_LIMIT_DEVICE" in host.why_no_device
    assert not host_of({**info, "Warnings": ["WARNING: No blkio throttle.write_bps_device support"]}, {}).throttles
    assert not host_of({**info, "KernelVersion": "5.15.0-microsoft-standard-WSL2"}, {}).throttles
    assert host_of(info, {"AGLAB_LIMIT_DEVICE": "/dev/sdc"}).device == "/dev/sdc"
    with pytest.raises(UsageError, match="must be a device"):
        host_of(info, {"AGLAB_LIMIT_DEVICE": "sda; rm"})
    with pytest.raises(UsageError, match="NCPU"):
        host_of({**info, "NCPU": 0}, {})


@pytest.mark.skipif(os.name == "nt", reason="devices of Linux")
def test_a_partition_belongs_to_its_whole_device(tmp_path):
    """Docker limits whole devices; a folder on no device of its own has none."""
    number = tmp_path.stat().st_dev
    numbers, devices = tmp_path / "numbers", tmp_path / "devices" / "sdz"
    (devices / "sdz1").mkdir(parents=True)
    (devices / "sdz1" / "partition").write_text("1")
    numbers.mkdir()
    assert _device(tmp_path, numbers)[0] == "" and "no device of its own" in _device(tmp_path, numbers)[1]
    link = numbers / f"{os.major(number)}:{os.minor(number)}"
    link.symlink_to(devices / "sdz1")
    assert _device(tmp_path, numbers) == ("/dev/sdz", "")
    link.unlink()
    link.symlink_to(devices)
    assert _device(tmp_path, numbers) == ("/dev/sdz", "")


# -- the command ---------------------------------------------------------------------------------------------------------
def test_up_with_a_profile_lays_its_overlays_and_says_what_it_did(stand, capsys, monkeypatch):  # noqa: F811
    """Compose is told overlays and values; the user sees asked, given and why; the next command finds them again."""
    monkeypatch.setenv("AGLAB_LIMIT_DEVICE", "/dev/sdb")
    stand.set("info", {"NCPU": 12, "MemTotal": 64 << 30, "KernelVersion": "6.8.0"})
    words = ("up", "--mode", "docker", "--bare", "--port-base", stand.port_base, "--profile", NVDIMM, "--startup", "-k750 -T834")
    said = run(capsys, *words, "--json").json
    by_name = {one["name"]: one for one in said["profile_limits"]}
    assert by_name["cpu"]["given"] == "4 a node, each its own" and by_name["latency"]["how"] == NOT_HERE
    assert {one["name"] for one in said["limits"]} == {"cpu", "memory", "blkio", "network", "log_in_memory"}
    assert {(one["node"], one["option"], one["taken"]) for one in said["startup"]} == {
        (node, option, False) for node in ("sql1", "sql2", "sql3") for option in ("-k750", "-T834")
    }
    kept = json.loads((stand.home / "docker" / "cluster.json").read_text())
    assert kept["overlays"] == ["cpu", "memory", "blkio", "network", "log_in_memory"]
    assert kept["variables"]["AGLAB_LIMIT_DEVICE"] == "/dev/sdb" and kept["startup"]["sql2"] == ["-k750", "-T834"]
    shown = run(capsys, *words).out
    assert "not possible here" in shown and "limit cpu" in shown and "sql1 -T834: NOT taken" in shown


def test_a_twin_behaves_like_its_profile_without_limits(stand, capsys):  # noqa: F811
    """The twin's image simulates the profile; limits on top are laid only when they are asked for."""
    stand.set("info", {"NCPU": 12, "MemTotal": 64 << 30, "KernelVersion": "6.8.0"})
    stand.set("labels", {"org.aglab.twin": "1"})
    words = ("up", "--mode", "docker", "--bare", "--port-base", stand.port_base, "--profile", NVDIMM, "--json")
    assert run(capsys, *words).json["profile_limits"] == []
    assert run(capsys, *words, "--limit", "profile").json["profile_limits"]


def test_limits_named_by_hand_come_first(stand, capsys):  # noqa: F811
    """A queue that was named by hand is not replaced by the profile's."""
    stand.set("info", {"NCPU": 12, "MemTotal": 64 << 30, "KernelVersion": "6.8.0"})
    words = ("up", "--mode", "docker", "--bare", "--port-base", stand.port_base, "--profile", NVDIMM, "--limit", "rate", "--json")
    assert run(capsys, *words).code == 0
    kept = json.loads((stand.home / "docker" / "cluster.json").read_text())["overlays"]
    assert kept[0] == "rate" and "network" not in kept


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--profile", "no-such"), "profile 'no-such' is not known"),
        (("--profile", "{bad}"), "cores_per_socket"),
        (("--limit", "profile"), "--profile NAME or FILE"),
        (("--limit", "delay", "--limit", "rate"), "--limit network"),
        (("--limit", "dealy"), "did you mean 'delay'"),
        (("--startup", "k750"), "must start with -"),
    ],
)
def test_wrong_words_are_named_before_anything_starts(stand, capsys, tmp_path, words, said):  # noqa: F811
    """The field, its value and a remedy; no container is made."""
    text = (bundle_path("data") / "profiles" / "laptop-generic.toml").read_text()
    (tmp_path / "bad.toml").write_text(text.replace("cores_per_socket = { value = 8", "cores_per_socket = { value = 0"))
    run(capsys, "up", "--mode", "docker", *(word.format(bad=tmp_path / "bad.toml") for word in words)).is_one_clear_line(2, said)
    assert not [call for call in stand.calls if call.startswith("compose up")]


# -- read back -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "variables", "answers", "applied", "said"),
    [
        ("blkio", {"AGLAB_LIMIT_WRITE_BPS": "1048576"}, {"exec": "8:0 rbps=max wbps=1048576"}, True, "8:0"),
        ("blkio", {"AGLAB_LIMIT_WRITE_BPS": "1048576"}, {"exec": "8:0 wbps=10485760"}, False, "WRITE_BPS=1048576"),
        ("network", {}, {"logs": "qdisc netem 8001: root delay 100us rate 1Gbit"}, True, "delay 100us"),
        ("network", {}, {"logs": "qdisc tbf 8001: rate\nnetwork: no delay: not possible here: x"}, True, "no delay"),
        ("network", {}, {"logs": "network: not possible here: no permission"}, False, "no permission"),
        ("log_on_dax", {}, {"exec": "/dev/pmem0 /var/opt/mssql-log xfs rw,dax=always,noatime 0 0"}, True, "pmem0"),
        ("log_on_dax", {}, {"exec": "/dev/sda /var/opt/mssql-log xfs rw,noatime 0 0"}, False, "not mounted with dax"),
    ],
)
def test_limits_of_a_profile_are_read_back(stand, name, variables, answers, applied, said):  # noqa: F811
    """In force only when the kernel holds the very value that was asked for."""
    project = stand.project(overlays=(name,), variables=variables)
    stand.set("containers", {"sql1": "running"})
    stand.set("answers", {key: value for key, value in answers.items() if key != "logs"})
    stand.logs(**{f"{name}1": answers.get("logs", "")})
    [limit] = read_back(project)
    assert limit.applied is applied and said in limit.found


def test_delay_and_rate_come_back_with_a_new_container_or_device(stand):  # noqa: F811
    """A restart, a start and a healed cut end with the node's queue set again; down takes these services away too."""
    project = stand.project(overlays=("cpu", "network"))
    project.up()
    healed = lambda: replica_network.heal(project, "sql2")  # noqa: E731
    for act in (lambda: project.restart("sql2", ["-k1"]), lambda: project.act("start", "sql2"), healed):
        before = len(stand.calls)
        act()
        assert "compose up --no-deps --force-recreate network2" in stand.calls[before:]
    assert {"load", "net"} <= set(project.compose_all("down"))


def test_startup_options_of_the_environment_are_kept(monkeypatch):
    """What docker compose takes by hand holds with aglab up too."""
    monkeypatch.setenv("AGLAB_STARTUP_SQL1", "-k750 -T1222")
    assert Choices.of_environment().startup == {"sql1": ("-k750", "-T1222")}
    assert Choices.of_environment(startup={"sql2": ("-k1",)}).startup == {"sql2": ("-k1",)}
