"""The WITH clause of BACKUP and RESTORE as checked values, refused with SQL Server's own errors.

Ranges: BACKUP (Transact-SQL). A word that the documentation does not list, or that the twin does not carry out, is error
3032; one that it accepts without a mechanism is in :data:`KEPT`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aglab.core.errors import UsageError
from aglab.scenario.jobs import BLOCK_SIZES, BackupJob
from aglab.tsql import Command, TsqlError, error

if TYPE_CHECKING:
    from aglab.twin.node import Node

DEVICES_MAX = 64
NAME_MAX, DESCRIPTION_MAX, PATH_MAX = 128, 255, 259
_BACKUP = (
    "COMPRESSION NO_COMPRESSION CHECKSUM NO_CHECKSUM COPY_ONLY DIFFERENTIAL INIT NOINIT FORMAT NOFORMAT NORECOVERY STATS "
    "MAXTRANSFERSIZE BUFFERCOUNT BLOCKSIZE NAME DESCRIPTION MEDIANAME MEDIADESCRIPTION"
).split()
_RESTORE = (
    "FILE RECOVERY NORECOVERY STANDBY STOPAT STOPATMARK STOPBEFOREMARK REPLACE MOVE STATS CHECKSUM NO_CHECKSUM "
    "MAXTRANSFERSIZE BUFFERCOUNT BLOCKSIZE MEDIANAME PARTIAL RESTRICTED_USER KEEP_REPLICATION KEEP_CDC"
).split()
KEPT = (
    "STOP_ON_ERROR CONTINUE_AFTER_ERROR SKIP NOSKIP REWIND NOREWIND UNLOAD NOUNLOAD EXPIREDATE RETAINDAYS RESTART LOADHISTORY "
    "ENABLE_BROKER NEW_BROKER ERROR_BROKER_CONVERSATIONS KEEP_REPLICATION KEEP_CDC"
).split()
_CONFLICTS = (
    ("COMPRESSION", "NO_COMPRESSION"),
    ("CHECKSUM", "NO_CHECKSUM"),
    ("INIT", "NOINIT"),
    ("FORMAT", "NOFORMAT"),
    ("RECOVERY", "NORECOVERY"),
    ("RECOVERY", "STANDBY"),
    ("NORECOVERY", "STANDBY"),
    ("COPY_ONLY", "DIFFERENTIAL"),
    ("KEEP_REPLICATION", "NORECOVERY"),
    ("KEEP_CDC", "NORECOVERY"),
)
_RANGES = {
    "MAXTRANSFERSIZE": ("MaxTransferSize", 65536, 4194304),
    "BUFFERCOUNT": ("BufferCount", 1, 100000),
    "BLOCKSIZE": ("BlockSize", 512, 65536),
}
MARKS = ("STOPATMARK", "STOPBEFOREMARK")
_TEXTS: tuple[str, ...] = ("NAME", "DESCRIPTION", "MEDIANAME", "MEDIADESCRIPTION", "STANDBY", "STOPAT", *MARKS)
_NUMBERS: tuple[str, ...] = ("MAXTRANSFERSIZE", "BUFFERCOUNT", "BLOCKSIZE", "FILE")
_OURS = ("DEVICES", "MIRROR", "FILES", "FILEGROUPS", "PAGES", "READ_WRITE_FILEGROUPS")


@dataclass(frozen=True)
class Ask:
    """What a statement asks for."""

    devices: list[str]
    words: frozenset[str] = frozenset()
    values: dict[str, Any] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    filegroups: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # logical names
    pages: list[str] = field(default_factory=list)
    read_write: bool = False  # READ_WRITE_FILEGROUPS
    job: BackupJob = field(default_factory=BackupJob)
    stats: int = 0  # percent between progress messages; 0 for none

    @property
    def in_part(self) -> bool:
        """Whether the statement names a part of the database."""
        return bool(self.filegroups or self.files or self.pages or self.read_write)

    @property
    def to_nul(self) -> bool:
        """Whether everything is thrown away."""
        return all(is_nul(one) for one in self.devices)


def is_nul(path: str) -> bool:
    """Whether a device is the null device, under one of its names."""
    return path.strip().rstrip(":").lower() in ("nul", "/dev/null")


def ask_of(node: Node, command: Command) -> Ask:
    """Read a statement.

    Raises
    ------
    TsqlError
        3011, 3031, 3032, 3044, 3057, 3205, 3206, 3207, 3217, 3218, 3250, 3253.
    """
    options = command.options
    verb = command.name.split()[0]
    known = _BACKUP if verb == "BACKUP" else _RESTORE
    for word in options:
        if word not in known and word not in KEPT and word not in _OURS:
            raise error(3032, word.lower())
    for one, other in _CONFLICTS:
        if options.get(one) and options.get(other):
            raise error(3031, one.lower(), other.lower())
    if options.get("MIRROR"):
        raise error(3218)
    devices = _devices(options.get("DEVICES", [("DISK", "NUL")]))
    words = {word for word, value in options.items() if value is True}
    texts: dict[str, Any] = {word: _text(options[word], word) for word in _TEXTS if word in options}
    stats = options.get("STATS", 0)
    numbers = {word: _number(options[word], word) for word in _NUMBERS if word in options}
    return Ask(
        devices=devices,
        words=frozenset(words),
        values={**texts, **numbers},
        moves=dict(options.get("MOVE", {})),
        filegroups=[str(one) for one in options.get("FILEGROUPS", [])],
        files=[str(one) for one in options.get("FILES", [])],
        pages=[str(one) for one in options.get("PAGES", [])],
        read_write="READ_WRITE_FILEGROUPS" in options,
        job=_job(node, verb, len(devices), words, options, numbers),
        stats=10 if stats is True else min(100, max(0, _number(stats, "STATS"))) if stats else 0,
    )


def _job(node: Node, verb: str, devices: int, words: set[str], options: dict[str, Any], numbers: dict[str, int]) -> BackupJob:
    default = node.instance.configuration
    compression = "COMPRESSION" in options or ("NO_COMPRESSION" not in words and bool(default("backup compression default")))
    checksum = "CHECKSUM" in words or ("NO_CHECKSUM" not in words and bool(default("backup checksum default")))
    if verb == "RESTORE":
        compression = False  # the media says
    _in_range(numbers)
    try:
        return BackupJob(
            devices=max(1, devices),
            maxtransfersize=numbers.get("MAXTRANSFERSIZE", 0),
            buffercount=numbers.get("BUFFERCOUNT", 0),
            blocksize=str(numbers.get("BLOCKSIZE", 65536)),
            compression=compression,
            checksum=checksum,
        )
    except UsageError as problem:  # not a multiple of 64 KB
        raise error(3217, "MAXTRANSFERSIZE") from problem


def _in_range(numbers: dict[str, int]) -> None:
    for word, (name, low, high) in _RANGES.items():
        if word in numbers and not low <= numbers[word] <= high:
            raise error(3250, numbers[word], name)
    if "BLOCKSIZE" in numbers and str(numbers["BLOCKSIZE"]) not in BLOCK_SIZES:
        raise error(3253)


def _devices(given: list[tuple[str, Any]]) -> list[str]:
    if not given:
        raise error(3207)
    if len(given) > DEVICES_MAX:
        raise error(3205, DEVICES_MAX)
    if len({kind for kind, _ in given}) > 1:
        raise error(3011)
    kind, first = given[0]
    if kind == "DEVICE":
        raise error(3206, first)
    if kind != "DISK":
        raise TsqlError(50004, 16, 1, f"aglab twin: {kind} is not a device it knows; use DISK = 'path' or DISK = 'NUL'.")
    paths = [str(path or "").strip() for _, path in given]
    for path in paths:
        if not path:
            raise error(3044)
        if len(path) > PATH_MAX:
            raise error(3057, PATH_MAX)
    return paths


def _number(value: Any, word: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            return int(str(value))
        except ValueError:
            raise error(3217, word) from None
    return value


def _text(value: Any, word: str) -> str:
    return str(value)[: DESCRIPTION_MAX if "DESCRIPTION" in word else NAME_MAX]
