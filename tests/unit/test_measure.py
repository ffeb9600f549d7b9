"""Measuring this machine: the matrix ends at 20 ms, everything is cleaned up, and the profile is one that the twin takes.

Errors are tried with a stand-in for fio; the real one runs where it is installed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import sys
from pathlib import Path

import pytest
from cli_help import run, start, until

from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.engine import Flow
from aglab.hardware import Profile
from aglab.live import measure as measuring
from aglab.live.fio import Answer, Fio, Job
from aglab.live.measure import Measured, loopback_rtt_us, measure
from aglab.live.measure_profile import profile_text
from aglab.scenario import Scenario
from aglab.viz import io_matrix

FAKE = Path(__file__).with_name("fake_fio.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a POSIX script")


@pytest.fixture
def fio(tmp_path, monkeypatch):
    """The stand-in on the PATH; ``fio.calls()`` lists how it was called."""
    place = tmp_path / "bin"
    place.mkdir()
    script = place / "fio"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    calls = tmp_path / "calls"
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FIO_CALLS", str(calls))
    monkeypatch.setenv("AGLAB_HOME", str(tmp_path / "home"))

    class Called:
        folder = tmp_path / "storage"

        def calls(self):
            return [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()] if calls.exists() else []

    Called.folder.mkdir()
    return Called()


def quick(folder, **more):
    """The short matrix."""
    return measure(folder, 0.2, quick=True, file_bytes=16 * 2**20, **more)


def test_matrix_log_writes_and_machine_are_measured(fio):
    """Every cell has its depth; a log write is durable and 60 KB; progress ends at the end; nothing is left in the folder."""
    seen = []
    found = quick(fio.folder, progress=lambda done, total, label="": seen.append((done, total, label)))
    assert [(point.block_kb, point.read_percent) for point in found.matrix] == [(8, 100), (8, 70), (64, 100), (64, 70)]
    assert found.rtt_us > 0 and found.cores >= 1 and found.memory_mb > 0
    assert seen[-1][0] == seen[-1][1] and seen[-1][2] == "measured" and seen == sorted(seen, key=lambda one: one[0])
    durable = [call for call in fio.calls() if call.get("sync") == "dsync"]
    assert durable and all((call["bs"], call["rw"], call["iodepth"]) == ("60k", "write", "1") for call in durable)
    assert {call["runtime"] for call in fio.calls()} == {"200ms"}
    assert list(fio.folder.iterdir()) == []


def test_the_ramp_ends_at_20_ms_or_when_depth_brings_nothing(fio, monkeypatch):
    """A device with ten channels gains nothing beyond them; a slow one is stopped by its latency, one step before."""
    fast = quick(fio.folder).matrix[0]
    assert fast.depth in (16, 32) and not fast.limited
    monkeypatch.setenv("FIO_SERVICE_MS", "15")
    slow = quick(fio.folder).matrix[0]
    assert slow.limited and slow.depth == 8 and slow.answer.read_us == pytest.approx(15_000)
    monkeypatch.setenv("FIO_SERVICE_MS", "50")
    assert quick(fio.folder).matrix[0].limited


def test_a_folder_without_direct_io_is_measured_and_said(fio, monkeypatch):
    """The cache answers then, and the notes say so; the profile carries the note."""
    monkeypatch.setenv("FIO_SAYS", "no direct")
    found = quick(fio.folder)
    assert any("no direct I/O" in note for note in found.notes)
    assert "no direct I/O" in profile_text(found, "x")


@pytest.mark.parametrize(
    ("says", "error", "words"),
    [
        ("garbage", AglabError, "fio failed"),
        ("job error", AglabError, "fio failed"),
        ("No space left on device", MissingError, "no space left"),
        ("Permission denied", MissingError, "cannot be written"),
        ("Read-only file system", MissingError, "cannot be written"),
        ("sync=dsync is not known", AglabError, "sync=dsync is not known"),
    ],
)
def test_what_fio_says_becomes_a_cause(fio, monkeypatch, says, error, words):
    """Each failure has its own words, and the folder is clean after it."""
    monkeypatch.setenv("FIO_SAYS", says)
    with pytest.raises(error, match=words):
        quick(fio.folder)
    assert list(fio.folder.iterdir()) == []


def test_a_run_that_does_not_end_is_ended(fio, monkeypatch):
    """The limit is the runtime and a margin."""
    monkeypatch.setenv("FIO_SAYS", "hang")
    monkeypatch.setattr("aglab.live.fio.SLACK_S", 0.5)
    with pytest.raises(AglabError, match="did not end within 1 s"):
        quick(fio.folder)
    assert list(fio.folder.iterdir()) == []


def test_missing_program_folder_and_space_are_told(fio, tmp_path, monkeypatch):
    """How fio is installed; a name that is no folder; a full disk; a folder that refuses; a program that cannot start."""
    with pytest.raises(UsageError, match="is not a folder"):
        quick(tmp_path / "none")
    with monkeypatch.context() as patch:
        usage = shutil.disk_usage(tmp_path)
        patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=20 * 2**20))
        with pytest.raises(MissingError, match="64 MiB are needed"):
            quick(fio.folder)
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.mkdtemp", lambda **_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
        with pytest.raises(MissingError, match="cannot be written"):
            quick(fio.folder)
    with pytest.raises(MissingError, match="could not be started"):
        Fio(str(tmp_path), tmp_path / "f", 4096, 0.2).run(Job("read", 8))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match=r"fio, which measures storage, is not installed; install"):
        quick(fio.folder)


def test_memory_is_optional(fio, monkeypatch):
    """Without a file system in memory, or when it refuses, that is a note and no failure."""
    monkeypatch.setattr(measuring, "memory_folder", lambda: None)
    found = quick(fio.folder)
    assert found.log_memory is None and any("no file system in memory" in note for note in found.notes)
    monkeypatch.setattr(measuring, "memory_folder", lambda: fio.folder / "gone")
    assert any("were not measured" in note for note in quick(fio.folder).notes)


def test_the_profile_is_one_that_engine_and_twin_take(fio, tmp_path, capsys):
    """Tags say what was measured; a scenario on it runs; a name that is a file works where a name of ours does."""
    path = tmp_path / "mine.toml"
    said = run(capsys, "profile", "measure", "--folder", fio.folder, "--out", path, "--quick", "--seconds", "0.2", "--json").json
    assert said["profile"] == str(path) and Path(said["figure"]).is_file() and len(said["matrix"]) == 4
    profile = Profile.load(path)
    assert profile.tags["log.write_latency_us"].kind == "measured" and profile.tags["network.bandwidth_gbit_s"].kind == "assumed"
    assert profile.log.write_latency_us == pytest.approx(500)
    run_of = Flow(Scenario.default(path, 3)).run(20.0)
    assert run_of.series("Transactions/sec").mean() > 0
    from aglab.lab import cluster

    with cluster(profile=str(path), bare=True) as nodes:
        assert nodes.sql("SELECT cpu_count FROM sys.dm_os_sys_info").value > 0
    with pytest.raises(UsageError, match="does not exist"):
        cluster(profile=str(tmp_path / "none.toml"))


def test_commands_words_and_refusals(fio, tmp_path, capsys):
    """A table and where the files are; no overwriting unasked; names and lengths that do not fit are refused."""
    path = tmp_path / "mine.toml"
    words = ("profile", "measure", "--folder", fio.folder, "--quick", "--seconds", "0.2", "--out")
    out = run(capsys, *words, path).out
    assert "deepest queue within 20 ms" in out and f"Profile: {path}" in out and "loopback round trip" in out
    run(capsys, *words, path).is_one_clear_line(2, "exists", "--force")
    assert run(capsys, *words, path, "--force").code == 0
    run(capsys, *words, tmp_path / "mine.txt").is_one_clear_line(2, "ends in .toml")
    run(capsys, "profile", "measure", "--seconds", "0").is_one_clear_line(2, "seconds=0.0 must be from 0.2 to 60")
    assert "home" in run(capsys, *words[:-1], "--json").json["profile"]


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
def test_ctrl_c_leaves_nothing(fio, monkeypatch):
    """Neither a folder nor a running fio stays behind."""
    monkeypatch.setenv("FIO_SAYS", "hang")
    process = start("profile", "measure", "--folder", fio.folder, "--quick", home=fio.folder.parent / "home")
    until(lambda: list(fio.folder.rglob("aglab.bin")))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in err
    assert list(fio.folder.iterdir()) == []


def test_an_incomplete_measurement_is_no_profile():
    """Half a measurement writes nothing."""
    with pytest.raises(ValueError, match="not complete"):
        profile_text(Measured("x"), "x")


def test_picture_of_a_matrix_needs_points():
    """Lines by block size, and the numbers in the table."""
    point = {"block_kb": 8, "depth": 4, "iops": 1000.0, "read_us": 300.0, "write_us": 0.0, "limited": False}
    figure = io_matrix([{**point, "read_percent": 70}, {**point, "read_percent": 100, "limited": True}], title="t", label="l")
    assert figure.data[0]["x"] == [70, 100] and [row[6][:5] for row in figure.tables[0].rows] == ["no mo", "20 ms"]
    with pytest.raises(UsageError, match="no measured point"):
        io_matrix([], title="t", label="l")


def test_loopback_takes_some_microseconds():
    """A round trip on loopback is more than nothing and less than 50 ms."""
    assert 1 < loopback_rtt_us(50) < 50_000


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_the_real_fio_is_understood(tmp_path):
    """One read and one durable write of the installed fio come back as rates and latencies."""
    fio = Fio(str(shutil.which("fio")), tmp_path / "f.bin", 16 * 2**20, 0.2, direct=False)
    read, write = fio.run(Job("randread", 8)), fio.run(Job("write", 60, durable=True))
    assert isinstance(read, Answer) and read.read_iops > 0 and read.read_us > 0 and read.write_iops == 0
    assert write.write_iops > 0 and write.write_us > 0 and write.write_bytes_s == pytest.approx(write.write_iops * 61440, rel=0.2)
