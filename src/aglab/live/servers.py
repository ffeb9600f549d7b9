"""The file of a user's own servers, and where their passwords come from.

A TOML file names the servers; a password never stands in it. It names an environment variable (``password_env``) or an entry of
the system's keyring (``keyring``, needs the package of that name)::

    database = "OLTP"                 # where labs work
    user = "aglab"                    # user, port, password_env, keyring, encrypt, trust_certificate: for every server,
    password_env = "AGLAB_PASSWORD"   # or in [[server]] for one
    trust_certificate = false         # encrypt = "strict" (TDS 8.0) always checks; certificate = "FILE" pins the server's own
    allow = []                        # kinds of changes that labs may make (aglab.lab.remote_changes)

    [[server]]
    name = "sql1"
    server = "db01.example.com"
    port = 1433

    [hammerdb]                        # only where HammerDB is installed and its schema is built
    home = "/opt/HammerDB-5.0"
    users = 8
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aglab.core.errors import MissingError, UsageError, field_error, unknown_name

SERVERS = "AGLAB_SERVERS"
ENCRYPT = ("yes", "strict")
_SECRET = re.compile(r"^(password|pwd|secret)$", re.IGNORECASE)
_PLAIN = re.compile(r"^[^;{}=\s\"']{1,253}$")  # what cannot break out of a connection string
_COMMON = {"user": str, "port": int, "password_env": str, "keyring": str, "encrypt": str, "trust_certificate": bool}
_COMMON["certificate"] = str
_TOP = {**_COMMON, "database": str, "allow": list, "server": list, "hammerdb": dict}
_SERVER = {**_COMMON, "name": str, "server": str}
_HAMMERDB = {"home": str, "users": int, "warehouses": int}


@dataclass(frozen=True)
class Server:
    """One server as the file has it; holds no password."""

    name: str
    server: str
    user: str
    port: int = 1433
    password_env: str = ""
    keyring: str = ""
    encrypt: str = "yes"
    trust_certificate: bool = False
    certificate: str = ""

    @property
    def secret_from(self) -> str:
        """Where its password comes from, for messages."""
        if self.password_env:
            return f"the environment variable {self.password_env}"
        return f"the keyring's entry {self.keyring!r} of user {self.user!r}"

    def password(self) -> str:
        """Its password, asked for anew each time and kept nowhere.

        Raises
        ------
        MissingError
            The variable is not set, the package keyring is not installed, or it has no such entry.
        """
        if self.password_env:
            found = os.environ.get(self.password_env, "")
            if not found:
                raise MissingError(
                    f"the password of {self.name} is missing: the environment variable {self.password_env} is not set",
                    f"set it, for example: read -rs {self.password_env} && export {self.password_env}",
                )
            return found
        try:
            import keyring  # type: ignore[import-not-found,unused-ignore]
            from keyring.errors import KeyringError  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise MissingError(
                f"{self.name} takes its password from the keyring, and the package keyring is not installed",
                "pip install keyring, or name an environment variable with password_env",
            ) from error
        try:
            kept = keyring.get_password(self.keyring, self.user)
        except KeyringError as error:  # locked, or this system has none
            raise MissingError(
                f"the password of {self.name} is missing: the system's keyring does not answer ({error})",
                "unlock it, or name an environment variable with password_env",
            ) from error
        if not kept:
            remedy = f"store it with: keyring set {self.keyring} {self.user}"
            raise MissingError(f"the password of {self.name} is missing: the keyring has no entry {self.keyring!r}", remedy)
        return str(kept)


@dataclass(frozen=True)
class Servers:
    """What the file says."""

    path: Path
    servers: tuple[Server, ...]
    database: str = "OLTP"
    allow: tuple[str, ...] = ()
    hammerdb: dict[str, Any] = field(default_factory=dict)


def servers_file(path: str | Path | None) -> Path:
    """The file that was named, or that AGLAB_SERVERS names."""
    chosen = path or os.environ.get(SERVERS)
    if not chosen:
        raise UsageError("mode remote needs a file of your servers", f"name it with --servers FILE or {SERVERS}=FILE")
    return Path(chosen)


def load_servers(path: str | Path | None = None) -> Servers:
    """Read and check the file.

    Raises
    ------
    UsageError
        It is missing or no TOML, a key is unknown or of the wrong type, a value is out of range, a password stands in it.
    """
    file = servers_file(path)
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"the file of servers {str(file)!r} does not exist", f"check --servers or {SERVERS}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the file of servers {str(file)!r} cannot be read: {error}", "check path and permissions") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the file of servers {str(file)!r} is not valid TOML: {error}", "correct the line it names") from error
    _checked(found, _TOP, str(file))
    entries = found.get("server", [])
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{file} names no server", "add a table [[server]] with name, server and user")
    common = {key: found[key] for key in _COMMON if key in found}
    servers = tuple(_server(entry, common, file) for entry in entries)
    names = [one.name for one in servers]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{file} names two servers {name!r}", "give each its own name")
    allow = found.get("allow", [])
    if not all(isinstance(kind, str) for kind in allow):
        raise field_error("allow", allow, "must be a list of names", str(file), 'write for example allow = ["database-options"]')
    database = found.get("database", "OLTP")
    _plain("database", database, str(file))
    return Servers(file, servers, database, tuple(allow), _hammerdb(found.get("hammerdb", {}), file))


def _server(entry: dict[str, Any], common: dict[str, Any], file: Path) -> Server:
    where = f"{file}, server {entry.get('name', '?')}"
    _checked(entry, _SERVER, where)
    if "password_env" in entry or "keyring" in entry:  # its own place replaces the common one
        common = {key: value for key, value in common.items() if key not in ("password_env", "keyring")}
    whole = {**common, **entry}
    for key in ("name", "server", "user"):
        if key not in whole:
            raise UsageError(f"{key} is missing ({where})", f'add {key} = "..."')
        _plain(key, whole[key], where)
    if "\\" in whole["server"] or "," in whole["server"]:
        remedy = "write the host alone and the port it listens on as port ="
        raise field_error("server", whole["server"], "must be a host name or an address", where, remedy)
    if not 1 <= whole.get("port", 1433) <= 65535:
        raise field_error("port", whole["port"], "must be 1 to 65535", where, "SQL Server's default is 1433")
    if whole.get("encrypt", "yes") not in ENCRYPT:
        raise field_error("encrypt", whole["encrypt"], f"must be one of {', '.join(ENCRYPT)}", where, 'write encrypt = "yes"')
    if whole.get("encrypt") == "strict" and whole.get("trust_certificate"):
        remedy = 'take the line out; for a certificate that nobody signed add certificate = "FILE"'
        raise field_error("trust_certificate", True, 'cannot be with encrypt = "strict", which always checks', where, remedy)
    if whole.get("certificate"):
        if whole.get("encrypt") != "strict":
            raise field_error("certificate", whole["certificate"], 'is for encrypt = "strict"', where, 'add encrypt = "strict"')
        _plain("certificate", whole["certificate"], where)
        if not Path(whole["certificate"]).is_file():
            raise field_error("certificate", whole["certificate"], "does not exist", where, "name the server's certificate (PEM)")
    if bool(whole.get("password_env")) == bool(whole.get("keyring")):
        raise UsageError(
            f"{where} must name one place for its password", 'add password_env = "NAME_OF_A_VARIABLE" or keyring = "ENTRY"'
        )
    return Server(**whole)


def _plain(key: str, value: str, where: str) -> None:
    if not _PLAIN.match(value):
        raise field_error(key, value, "must not be empty or hold ; { } = quotes or blanks", where, "correct it")


def _checked(found: dict[str, Any], known: dict[str, type], where: str) -> None:
    for key, value in found.items():
        if _SECRET.match(key):
            raise UsageError(
                f"{key} stands in {where}: a password does not belong in a file",
                "delete the line, change the password, and name an environment variable with password_env, or use keyring",
            )
        if key not in known:
            error = unknown_name("key", key, list(known))
            raise UsageError(f"{error.message} ({where})", error.remedy)
        if not isinstance(value, known[key]) or (known[key] is int and isinstance(value, bool)):
            raise UsageError(f"{key}={value!r} must be of type {known[key].__name__} ({where})", "see How to use this book")


def _hammerdb(found: dict[str, Any], file: Path) -> dict[str, Any]:
    where = f"{file}, [hammerdb]"
    _checked(found, _HAMMERDB, where)
    if found and "home" not in found:
        raise UsageError(f"home is missing ({where})", "name the folder that holds hammerdbcli")
    for key in ("users", "warehouses"):
        if key in found and not 1 <= found[key] <= 100_000:
            raise field_error(key, found[key], "must be 1 to 100000", where, "write for example 8")
    return found
