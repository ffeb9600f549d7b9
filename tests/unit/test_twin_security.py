"""Password, certificate and login delay of the twin."""

import os
import stat

import pytest

from aglab.core.errors import MissingError
from aglab.twin import security as sec


def test_password_is_made_once_and_kept_private(tmp_path):
    """The generated password meets the policy, stays the same, and only its owner can read it."""
    password = sec.load_or_make_password(tmp_path)
    assert sec.load_or_make_password(tmp_path) == password
    assert len(password) >= 16 and any(c.isupper() for c in password) and any(c.isdigit() for c in password)
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / sec.PASSWORD_FILE).stat().st_mode) == 0o600


def test_passwords_differ():
    """No two twins share a password."""
    assert len({sec.generate_password() for _ in range(50)}) == 50


def test_an_empty_password_file_is_replaced(tmp_path):
    """A password file without a password gets one."""
    (tmp_path / sec.PASSWORD_FILE).write_text("\n")
    assert sec.load_or_make_password(tmp_path)


def test_certificate_is_kept_and_a_damaged_one_is_made_anew(tmp_path):
    """The certificate stays the same from start to start; a damaged one does not stop the twin."""
    sec.load_or_make_contexts(tmp_path, ("sql1",))
    first = (tmp_path / sec.CERTIFICATE_FILE).read_bytes()
    sec.load_or_make_contexts(tmp_path, ("sql1",))
    assert (tmp_path / sec.CERTIFICATE_FILE).read_bytes() == first
    (tmp_path / sec.CERTIFICATE_FILE).write_bytes(b"damaged")
    sec.load_or_make_contexts(tmp_path, ("sql1",))
    assert b"BEGIN CERTIFICATE" in (tmp_path / sec.CERTIFICATE_FILE).read_bytes()


def test_delay_after_failed_logins_grows_and_is_forgotten():
    """Each failure doubles the wait up to a ceiling; a success clears it; other logins are not slowed."""
    gate = sec.LoginGate()
    delays = [gate.failed("sa") for _ in range(10)]
    assert delays[0] == sec.LOGIN_DELAY_S_FIRST and delays == sorted(delays) and delays[-1] == sec.LOGIN_DELAY_S_MAX
    assert gate.failed("other") == sec.LOGIN_DELAY_S_FIRST
    gate.succeeded("SA")
    assert gate.failed("sa") == sec.LOGIN_DELAY_S_FIRST


def test_the_gate_remembers_a_bounded_number_of_names():
    """A flood of invented names shares one count and cannot fill memory."""
    gate = sec.LoginGate()
    for number in range(sec.FAILURES_REMEMBERED + 100):
        last = gate.failed(f"user{number}")
    assert len(gate._failures) == sec.FAILURES_REMEMBERED + 1 and last == sec.LOGIN_DELAY_S_MAX


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path):
    """No space or no permission names the file and a remedy, and leaves nothing half-written."""
    with pytest.raises(MissingError, match="cannot be written"):
        sec.write_private(tmp_path / "nowhere" / "file", b"x")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """A disk that fills while a file is written leaves the old content and no temporary file."""
    path = tmp_path / "file"
    sec.write_private(path, b"old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sec.os, "fsync", full)
    with pytest.raises(MissingError, match="No space left"):
        sec.write_private(path, b"new")
    assert path.read_bytes() == b"old" and [one.name for one in tmp_path.iterdir()] == ["file"]
