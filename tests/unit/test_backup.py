"""Backup, restore, index rebuild, sockets: the limits, the defaults, and the published rows."""

from __future__ import annotations

import dataclasses

import pytest

from aglab.core.errors import MissingError, UsageError
from aglab.core.paths import bundle_path
from aglab.core.quantity import read_constants
from aglab.engine import steady
from aglab.engine.backup import BackupJob, BackupOptions, Busy, backup_rate, job_constant, job_constants, restore_rate
from aglab.engine.sockets import local_memory_gain, socket_scaling
from aglab.hardware import Profile
from aglab.published import calibrate_jobs, score
from aglab.published.experiments_backup import OPTIONS, load_of, oltp_during, rate
from aglab.published.rows import all_fitted_constants, roles

DL560 = Profile.load("hpe-dl560-gen10-2p")


def test_defaults_are_the_servers():
    """One disk device and one volume: six buffers of 1 MB; three sets of them when compressed."""
    plain, packed = BackupOptions(), BackupOptions(compression=True)
    assert plain.buffers() == 6 and plain.transfer_bytes == 1048576
    assert plain.memory_mb() == 6 and packed.memory_mb() == 18
    assert BackupOptions(devices=4).buffers(volumes=2) == 20
    assert BackupOptions(maxtransfersize=4194304, buffercount=300).memory_mb() == 1200


def test_each_limit_can_be_the_one_that_holds():
    """Target, buffers, processors, data volume."""
    switches = OPTIONS["switches"]
    assert backup_rate(DL560, BackupOptions(), 409).limit == "target"
    assert backup_rate(DL560, BackupOptions(compression=True), 409).limit == "buffers"
    assert backup_rate(DL560, BackupOptions(maxtransfersize=4194304, buffercount=300)).limit == "read"
    assert backup_rate(DL560, switches, 409, Busy(cpu=0.9)).limit == "target"
    assert backup_rate(DL560, switches, overrides={"compress_mb_s_per_ghz": 2}).limit == "processors"
    capped = Profile.load("dell-r710-ps6100xv-1")
    assert backup_rate(capped, BackupOptions(buffercount=300)).limits["read"] == 465


def test_compression_pays_for_a_slow_target_only():
    """Beside a slow target compression multiplies the rate; to NUL it only costs processors."""
    fast = {"maxtransfersize": 4194304, "buffercount": 300}
    plain, packed = BackupOptions(**fast), BackupOptions(**fast, compression=True)
    assert backup_rate(DL560, packed, 409).rate_mb_s > 3 * backup_rate(DL560, plain, 409).rate_mb_s
    assert backup_rate(DL560, packed).rate_mb_s <= backup_rate(DL560, plain).rate_mb_s
    job = backup_rate(DL560, packed, 409, ratio=2)
    assert job.device_mb_s == pytest.approx(409) and job.rate_mb_s == pytest.approx(818)
    assert job.seconds(81.8) == pytest.approx(100)


def test_the_published_order_is_kept():
    """Switches beat default, default beats compression alone; load slows each; seven of the fitted rates within 8 %."""
    for loaded in (False, True):
        found = {case: rate(2, case, loaded).rate_mb_s for case in OPTIONS}
        assert found["switches"] > found["default"] > found["compress"]
    rows = {row["id"]: row for row in score("003")["rows"]}
    assert all(row["twin"] is not None for row in rows.values())
    assert all(abs(row["error_pct"]) < 9 for row in rows.values() if row["role"] == "fitted")
    table12 = [row for name, row in rows.items() if name.startswith("dl560-t12-") and row["role"] == "predicted"]
    assert len(table12) > 10 and all(abs(row["error_pct"]) < 11 for row in table12)
    during = [row["twin"] for name, row in rows.items() if name.startswith("dl560-t11-2s") and name.endswith("during")]
    assert during == sorted(during, reverse=True)


def test_the_tuned_backup_is_slower_than_the_fast_one():
    """64 KB transfers cost more per byte: 119 s become more, within 20 % of the published 158 s."""
    row = next(row for row in score("000")["rows"] if row["id"] == "hpe380-bk-tuned-duration")
    assert row["twin"] > 119 and abs(row["error_pct"]) < 25


def test_restore_is_bound_by_writes():
    """A restore writes the data volume; a slow source or few buffers bind it as well."""
    options = BackupOptions(maxtransfersize=4194304, buffercount=300)
    assert restore_rate(DL560, options).limit == "write"
    assert restore_rate(DL560, options).rate_mb_s == pytest.approx(DL560.data.write_bytes_s / 1e6)
    assert restore_rate(DL560, options, 100).rate_mb_s == pytest.approx(100)


def test_a_backup_takes_throughput_from_the_load():
    """More compressed data, more lost; an uncompressed backup to a slow target costs next to nothing; never below nothing."""
    tiny = BackupJob(target_mb_s=0.001)
    jobs = [tiny, BackupJob(target_mb_s=409)]
    jobs += [BackupJob(compression=True, maxtransfersize=4194304, buffercount=n, target_mb_s=409) for n in (2, 12, 300)]
    rates = [oltp_during(DL560, 24000, job) for job in jobs]
    assert rates[0] == pytest.approx(24000, rel=2e-3) and rates[1] > 0.97 * 24000
    assert rates == sorted(rates, reverse=True) and 0 < rates[-1] < 0.7 * 24000


def test_what_the_load_loses_is_within_ten_percent_of_table_11():
    """Six scenarios, no constant fitted to them: every rate during a backup is within 10 % of the print."""
    rows = [row for row in score("003")["rows"] if row["id"].startswith("dl560-t11") and row["id"].endswith("during")]
    assert len(rows) == 6 and {row["role"] for row in rows} == {"predicted"}
    assert all(abs(row["error_pct"]) < 10 for row in rows), {row["id"]: row["error_pct"] for row in rows}


@pytest.mark.parametrize(
    ("off", "left"),
    [({"quantum_ms": 0.0}, "data reads"), ({}, "cpu wait")],
)
def test_the_load_waits_for_schedulers_and_for_the_volume(off, left):
    """Without the quantum only reads grow; with it the wait for a processor grows too."""
    scenario = load_of(DL560, 24043)
    job = BackupJob(compression=True, maxtransfersize=4194304, buffercount=300, target_mb_s=409)
    alone = steady(scenario).parts_s
    beside = steady(dataclasses.replace(scenario, overrides={**scenario.overrides, **off}), job=job).parts_s
    assert beside[left] > 3 * alone[left] and beside["commit"] == pytest.approx(alone["commit"], rel=0.2)


def test_sockets_scale_sub_linearly():
    """Remote memory costs more the more sockets there are; one socket has none."""
    assert local_memory_gain(1) == 1 < local_memory_gain(2) < local_memory_gain(4)
    assert 1 < socket_scaling(1, 2) < 2 and socket_scaling(2, 2) == 1


def test_fitted_constants_stay_few():
    """All rooms together at most 25, each in its plausible range."""
    assert len(all_fitted_constants()) <= 25
    for constant in job_constants().values():
        assert constant.low <= constant.value <= constant.high and constant.meaning


def test_the_calibration_uses_fitted_rows_only():
    """Its rows have role fitted, and the constants in the file are its optimum."""
    frame = roles()
    for table, sockets, case, _ in calibrate_jobs.ROWS:
        assert frame.loc[f"dl560-{table}-{sockets}s-{case}-mbps", "role"] == "fitted"
    found = calibrate_jobs.fit()
    for name, value in found.items():
        assert job_constant(name) == pytest.approx(value, rel=2e-3), name


def test_the_file_is_written_whole(tmp_path):
    """Fitted values change, the rest stays."""
    path = tmp_path / "jobs.toml"
    path.write_text(bundle_path("data", "calibration", "jobs.toml").read_text(encoding="utf-8"), encoding="utf-8")
    before = read_constants(path)
    calibrate_jobs.write(path, {"compression_ratio": 4.0})
    after = read_constants(path)
    assert after["compression_ratio"].value == 4 and after["compression_ratio"].tag == before["compression_ratio"].tag
    assert {k: v for k, v in after.items() if k != "compression_ratio"} == {
        k: v for k, v in before.items() if k != "compression_ratio"
    }


def test_calibration_without_scipy_says_what_to_install(monkeypatch):
    """A missing package is exit code 3."""
    import sys

    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingError, match="pip install"):
        calibrate_jobs.fit()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BackupOptions(devices=65), "devices=65 must be <= 64"),
        (lambda: BackupOptions(maxtransfersize=70000), "maxtransfersize=70000 must be a multiple of 65536"),
        (lambda: BackupOptions(maxtransfersize=8388608), "must be <= 4.1943e"),
        (lambda: BackupOptions(blocksize=1000), "blocksize"),
        (lambda: Busy(cpu=1), "cpu=1 must be <= 0.99"),
        (lambda: backup_rate(DL560, BackupOptions(), -1), "target_mb_s=-1 must be >= 0"),
        (lambda: backup_rate(DL560, BackupOptions(compression=True), ratio=0.5), "ratio=0.5 must be >= 1"),
        (lambda: job_constant("compresion_ratio"), "did you mean 'compression_ratio'"),
        (lambda: local_memory_gain(0), "sockets=0 must be >= 1"),
    ],
)
def test_impossible_input_is_refused(call, message):
    """Field, value, limit and remedy."""
    with pytest.raises(UsageError, match=message):
        call()
