"""Maintenance that shares a machine with the load: index rebuild, integrity check, automatic seeding.

``[[timeline]] index_rebuild = { gb = 90, maxdop = 16 }``, ``integrity_check = { physical_only = true }`` and
``seeding = { to = "sql3", compression = true }`` end here; backups and restores are in :mod:`aglab.scenario.jobs`.
Sources: ALTER INDEX, DBCC CHECKDB (Transact-SQL); "Tune compression for availability group" (trace flag 9567 compresses the
stream of automatic seeding, which is not compressed otherwise).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aglab.core.errors import UsageError, unknown_name
from aglab.core.quantity import check, choice, number
from aglab.scenario.jobs import BackupJob, backup_job

MAXDOP_MOST = 64  # threads of one parallel plan


def _size(of: str) -> Any:
    return number("GB", 0, 1e6, f"{of}; 0 for all data pages of the database", default=0.0)


def _maxdop() -> Any:
    return number("", 0, 32767, "MAXDOP; 0 for every core up to 64", default=0, integer=True)


@dataclass(frozen=True)
class _Job:
    """What all of them share: they take the data volume, and are checked when made."""

    what: ClassVar[str] = ""
    volume: ClassVar[str] = "data"

    def __post_init__(self) -> None:
        check(self, self.what)
        for spec in dataclasses.fields(self):
            if spec.type in ("bool", bool) and not isinstance(getattr(self, spec.name), bool):
                raise UsageError(
                    f"{spec.name}={getattr(self, spec.name)!r} must be true or false ({self.what})",
                    f"leave it out for {str(spec.default).lower()}",
                )


@dataclass(frozen=True)
class IndexRebuild(_Job):
    """ALTER INDEX ... REBUILD: every page is read, sorted into place, written and logged.

    A rebuild in one transaction keeps the log from its beginning; a resumable one (SQL Server 2017 and later, online only) does
    not, and survives a restart. An offline rebuild locks the table: users of it wait until the end.
    """

    what: ClassVar[str] = "index rebuild"
    gb: float = _size("size of the index")
    maxdop: int = _maxdop()
    online: bool = True
    resumable: bool = False
    cached: float = number("", 0, 1, "share of its pages that are in the buffer pool already", default=0.0)
    logged: str = choice(
        ("full", "minimal"), "full: each page goes to the log; minimal: bulk-logged or simple recovery", default="full"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resumable and not self.online:
            raise UsageError("resumable=true goes with online=true (index rebuild)", "leave online out, or resumable")


@dataclass(frozen=True)
class IntegrityCheck(_Job):
    """DBCC CHECKDB: every page is read and checked by MAXDOP threads."""

    what: ClassVar[str] = "integrity check"
    gb: float = _size("data to check")
    maxdop: int = _maxdop()
    physical_only: bool = False


@dataclass(frozen=True)
class Seeding(_Job):
    """Automatic seeding of one secondary: the primary reads, the network carries, the secondary writes."""

    what: ClassVar[str] = "seeding"
    to: str = ""
    gb: float = _size("database bytes to send")
    compression: bool = False
    ratio: float = number("x", 0, 100, "compression ratio of the data; 0 for the calibrated one", default=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.to, str):
            raise UsageError(f"to={self.to!r} must be the name of a node (seeding)", "for example to = 'sql3'")
        if 0 < self.ratio < 1:
            raise UsageError(f"ratio={self.ratio:g} must be >= 1 (seeding)", "database bytes per byte on the network")


Job = BackupJob | IndexRebuild | IntegrityCheck | Seeding
JOBS: dict[str, type[IndexRebuild] | type[IntegrityCheck] | type[Seeding]] = {
    "index_rebuild": IndexRebuild,
    "integrity_check": IntegrityCheck,
    "seeding": Seeding,
}


def job_of(name: str, value: Any, where: str = "timeline") -> Job:
    """The job that a change of this name starts.

    Raises
    ------
    UsageError
        Not a table, an unknown key, or a value out of its range.
    """
    if name == "backup":
        return backup_job(value, where)
    if name == "restore":
        job = backup_job(value, where)
        return dataclasses.replace(job, restore=True)
    kind = JOBS[name]
    if isinstance(value, kind):
        return value
    if value is True:
        return kind()
    if not isinstance(value, Mapping):
        raise UsageError(f"{name}={value!r} must be a table or true ({where})", f"write {name} = {{ gb = 100 }}")
    known = tuple(spec.name for spec in dataclasses.fields(kind))
    for key in value:
        if key not in known:
            raise unknown_name(f"key of {name} ({where})", str(key), known)
    return kind(**value)
