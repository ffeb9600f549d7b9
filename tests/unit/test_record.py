"""A Run survives saving, PerfMon export and damage."""

from __future__ import annotations

import errno
import json
import os

import pandas as pd
import pytest

from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.record import Run, read_perfmon
from aglab.record.files import write_atomic

TPS = "SQLServer:Databases(OLTP)\\Transactions/sec"
CPU = "Processor(_Total)\\% Processor Time"


@pytest.fixture
def run() -> Run:
    """Two nodes, three samples, one gap."""
    columns = pd.MultiIndex.from_tuples([("sql1", TPS), ("sql1", CPU), ("sql2", TPS)])
    frame = pd.DataFrame([[1.0, 2.0, 3.0], [4.0, 5.0, None], [7.0, 8.0, 9.5]], index=[0.0, 1.0, 2.0], columns=columns)
    return Run(frame, [{"time_s": 1.0, "node": "sql1", "event": "checkpoint"}], {"mode": "twin", "profile": "x", "seed": 1})


def test_save_and_load_give_the_same_run(run, tmp_path):
    """What was saved is what is loaded, to the bit."""
    back = Run.load(run.save(tmp_path / "r"))
    pd.testing.assert_frame_equal(back.counters, run.counters)
    assert back.events == run.events and back.provenance == run.provenance


def test_saving_leaves_no_temporary_file(run, tmp_path):
    """Only the two named files remain."""
    assert sorted(p.name for p in run.save(tmp_path / "r").iterdir()) == ["counters.parquet", "run.json"]


def test_perfmon_round_trip(run, tmp_path):
    """A PerfMon CSV log written by us reads back with hosts as nodes, gaps as NaN."""
    path = run.to_perfmon_csv(tmp_path / "log.csv")
    first = path.read_bytes().split(b"\r\n")[0].decode()
    assert first.startswith('"(PDH-CSV 4.0) (UTC)(0)","\\\\SQL1\\SQLServer:Databases(OLTP)\\Transactions/sec"')
    back = read_perfmon(path)
    pd.testing.assert_frame_equal(back.counters, run.counters)


def test_perfmon_reads_blank_first_sample_of_a_rate(tmp_path):
    """PerfMon writes a blank where a rate has no earlier sample."""
    path = tmp_path / "real.csv"
    path.write_text(
        '"(PDH-CSV 4.0) (Pacific Standard Time)(480)","\\\\DPL-1\\Processor(_Total)\\% Processor Time"\r\n'
        '"08/03/2016 10:00:00.123"," "\r\n"08/03/2016 10:00:15.123","89.8"\r\n',
        encoding="utf-8-sig",
    )
    series = read_perfmon(path).series("% Processor Time", node="dpl-1")
    assert series.isna().tolist() == [True, False] and series.index.tolist() == [0.0, 15.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,a\n1,2\n", "PDH-CSV"),
        ("", "PDH-CSV"),
        ('"(PDH-CSV 4.0) (UTC)(0)","plain"\n', "not a PerfMon counter path"),
        ('"(PDH-CSV 4.0) (UTC)(0)","\\\\A\\b\\c"\n', "no samples"),
        ('"(PDH-CSV 4.0) (UTC)(0)","\\\\A\\b\\c"\n"01/01/2026 00:00:00.000","x"\n', "line 2"),
        ('"(PDH-CSV 4.0) (UTC)(0)","\\\\A\\b\\c"\n"yesterday","1"\n', "line 2"),
    ],
)
def test_perfmon_refuses_what_it_cannot_read(tmp_path, text, words):
    """Each unreadable log is refused with the place and a remedy."""
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(AglabError, match=words):
        read_perfmon(path)


def test_perfmon_missing_file(tmp_path):
    """A missing file is wrong use."""
    with pytest.raises(UsageError, match="is not a file"):
        read_perfmon(tmp_path / "none.csv")


def test_empty_run_is_not_exported(run, tmp_path):
    """An empty run has nothing to export."""
    with pytest.raises(UsageError, match="no samples"):
        Run(run.counters.iloc[:0]).to_perfmon_csv(tmp_path / "x.csv")


def test_series_by_short_name_and_errors(run):
    """A counter is found by its last part; an unknown one is named with its nearest."""
    assert run.series("Transactions/sec", node="sql2").iloc[0] == 3.0
    assert run.series(TPS).iloc[0] == 1.0
    with pytest.raises(UsageError, match="counter 'Transaction/sec' is not known"):
        run.series("Transaction/sec")
    with pytest.raises(UsageError, match="node 'sql9' is not known"):
        run.series("Transactions/sec", node="sql9")


def test_ambiguous_counter_names_the_candidates():
    """Where two objects have the counter, both are named."""
    columns = pd.MultiIndex.from_tuples([("a", "X\\Bytes/sec"), ("a", "Y\\Bytes/sec")])
    with pytest.raises(UsageError, match="is in 2 objects"):
        Run(pd.DataFrame([[1.0, 2.0]], columns=columns)).series("Bytes/sec")


def test_counters_need_two_levels():
    """A frame without nodes is refused."""
    with pytest.raises(UsageError, match="two column levels"):
        Run(pd.DataFrame({"a": [1.0]}))


def test_summary_and_between(run):
    """Summary has avg, min, max per node and counter; between keeps times and events inside."""
    assert run.summary()["sql1"][TPS] == {"avg": 4.0, "min": 1.0, "max": 7.0}
    part = run.between(1, 2)
    assert part.counters.index.tolist() == [1.0, 2.0] and len(part.events) == 1


def test_label_is_honest(run):
    """A twin's run says SIMULATED; another says where it was measured."""
    assert run.label == "SIMULATED, profile x"
    assert Run(run.counters, [], {"mode": "docker"}).label == "measured on docker"


def test_load_refuses_no_run_damage_and_newer_format(run, tmp_path):
    """A folder without a run, a damaged one and a newer one are three clear errors."""
    with pytest.raises(UsageError, match="holds no run"):
        Run.load(tmp_path)
    folder = run.save(tmp_path / "r")
    manifest = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**manifest, "format": 99}))
    with pytest.raises(AglabError, match="format 99"):
        Run.load(folder)
    (folder / "counters.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(AglabError, match="damaged"):
        Run.load(folder)


def test_full_disk_keeps_the_old_file(tmp_path):
    """When the disk is full the old file stays, nothing half-written remains, and the message says so."""
    path = tmp_path / "f.txt"
    path.write_text("old")

    def full(temporary):
        temporary.write_text("ne")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(MissingError, match="No space left"):
        write_atomic(path, full)
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["f.txt"]


def test_interrupted_write_keeps_the_old_file(tmp_path):
    """Ctrl-C in the middle leaves the old file and no temporary one."""
    path = tmp_path / "f.txt"
    path.write_text("old")

    def interrupted(temporary):
        temporary.write_text("ne")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, interrupted)
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["f.txt"]
