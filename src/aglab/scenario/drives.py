"""Drives that fail and are replaced: ``drive_failure = { volume = "data", drive = 3 }`` and ``drive_replaced = "data"``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aglab.core.errors import UsageError, unknown_name
from aglab.core.quantity import check, choice, number

VOLUMES = ("data", "log")


@dataclass(frozen=True)
class Drive:
    """A drive of a volume: drives count from 1; mirrors are drives 1 and 2, 3 and 4, ..., RAID 50 is two halves."""

    volume: str = choice(VOLUMES, "the volume it is in", default="data")
    drive: int = number("", 0, 1000, "its number; 0: the first that works, or the first that failed", default=0, integer=True)

    def __post_init__(self) -> None:
        check(self, "drive")


def drive_of(name: str, value: Any, where: str) -> Drive:
    """The drive that a change names.

    Raises
    ------
    UsageError
        Neither a volume nor a table, an unknown key, or a value out of its range.
    """
    if isinstance(value, Drive):
        return value
    if isinstance(value, str):
        return Drive(volume=value)
    if not isinstance(value, Mapping):
        raise UsageError(
            f"{name}={value!r} must be a volume or a table ({where})", f'write {name} = {{ volume = "data", drive = 1 }}'
        )
    known = tuple(spec.name for spec in dataclasses.fields(Drive))
    for key in value:
        if key not in known:
            raise unknown_name(f"key of {name} ({where})", str(key), known)
    return Drive(**value)
