"""Who may come in: the generated password, the node certificate, and the growing delay after failed logins.

Everything secret lies in the state directory, readable by its owner alone (mode 0600 where the system has modes; on
Windows the user's profile folder already is). Nodes listen on loopback only.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import ssl
from pathlib import Path

from aglab.core.errors import MissingError
from aglab.tds import self_signed_certificate, server_context

PASSWORD_FILE = "sa_password.txt"
CERTIFICATE_FILE = "node_certificate.pem"
KEY_FILE = "node_key.pem"
LOGIN_DELAY_S_FIRST = 0.25
LOGIN_DELAY_S_MAX = 8.0
FAILURES_REMEMBERED = 4096

_WORDS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read; whole or not at all.

    Raises
    ------
    MissingError
        No permission, no space.
    """
    temporary = path.with_name(path.name + ".new")
    try:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        temporary.replace(path)
    except OSError as error:
        raise MissingError(
            f"the file {str(path)!r} cannot be written ({error.strerror or error})",
            "free space there, or name another directory (AGLAB_HOME, --state-dir)",
        ) from error


def generate_password(length: int = 20) -> str:
    """A password that meets SQL Server's policy: upper and lower case, a digit and a sign that needs no quoting."""
    while True:
        body = "".join(secrets.choice(_WORDS) for _ in range(length - 1))
        if any(c.isdigit() for c in body) and any(c.isupper() for c in body) and any(c.islower() for c in body):
            return body + "_"


def load_or_make_password(state_dir: Path) -> str:
    """The sa password of this state directory, made at first use."""
    path = state_dir / PASSWORD_FILE
    with contextlib.suppress(FileNotFoundError, UnicodeDecodeError):
        if text := path.read_text(encoding="ascii").strip():
            return text
    password = generate_password()
    write_private(path, (password + "\n").encode("ascii"))
    return password


def load_or_make_contexts(state_dir: Path, names: tuple[str, ...]) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS contexts (inside TDS, strict) over this state directory's certificate, made at first use."""
    certificate, key = state_dir / CERTIFICATE_FILE, state_dir / KEY_FILE
    for attempt in range(2):
        if attempt or not (certificate.is_file() and key.is_file()):
            made = self_signed_certificate(["localhost", *names, "127.0.0.1", "::1"])
            write_private(certificate, made.certificate_pem)
            write_private(key, made.key_pem)
        try:
            return server_context(certificate, key), server_context(certificate, key, strict=True)
        except MissingError:
            if attempt:
                raise
    raise AssertionError("unreachable")


def same_secret(left: str, right: str) -> bool:
    """Whether two passwords are equal, in time that does not tell where they differ."""
    return hmac.compare_digest(left.encode("utf-8"), right.encode("utf-8"))


class LoginGate:
    """Makes guessing slow: each failure of a login in a row doubles the wait before its answer, up to a ceiling.

    A success clears the count. The number of logins remembered is bounded; beyond it unknown names share one count.
    """

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def failed(self, login: str) -> float:
        """Count a failure; the wall seconds to wait before answering."""
        name = login.lower()
        if name not in self._failures and len(self._failures) >= FAILURES_REMEMBERED:
            name = ""
        count = self._failures[name] = self._failures.get(name, 0) + 1
        return min(LOGIN_DELAY_S_MAX, LOGIN_DELAY_S_FIRST * 2.0 ** (min(count, 30) - 1))

    def succeeded(self, login: str) -> None:
        """Forget the failures of a login."""
        self._failures.pop(login.lower(), None)
