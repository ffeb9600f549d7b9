"""Numbers with a unit, a range and a source: how profiles, workloads and scenarios describe and check their fields.

A field is declared once, with :func:`number`; the same declaration validates a value, documents it and tells a
reader of a TOML file where each value comes from (its tag). A file writes either a bare number or a table:

``cores_per_socket = { value = 16, tag = "doc", source = "Table 2" }`` or ``{ constant = "cpu_us" }``, which takes a
calibrated constant by name. Tags: ``doc`` (the vendor's paper or manual), ``spec`` (a part's data sheet),
``fitted: <table>`` (calibrated on published rows), ``assumed`` (our judgement), ``user`` (typed by you), ``computed`` (from other
inputs, by a mechanism).
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from aglab.core.errors import UsageError, field_error, unknown_name
from aglab.core.paths import bundle_path

T = TypeVar("T")
_KINDS = ("doc", "spec", "measured", "fitted", "assumed", "user", "computed")


@dataclass(frozen=True, slots=True)
class Tag:
    """Where a value comes from: a kind and, where there is one, the source."""

    kind: str
    source: str = ""

    def __str__(self) -> str:
        return f"[{self.kind}: {self.source}]" if self.source else f"[{self.kind}]"


@dataclass(frozen=True, slots=True)
class Constant:
    """One calibrated constant: value, unit, meaning, tag and the range in which it is plausible."""

    name: str
    value: float
    unit: str
    meaning: str
    tag: Tag
    low: float
    high: float


def number(
    unit: str,
    low: float,
    high: float,
    meaning: str,
    *,
    default: Any = dataclasses.MISSING,
    integer: bool = False,
    remedy: str = "",
) -> Any:
    """A dataclass field that holds a number in [low, high] of a unit."""
    metadata = {"unit": unit, "low": low, "high": high, "meaning": meaning, "integer": integer, "remedy": remedy}
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def choice(options: tuple[str, ...], meaning: str, *, default: Any = dataclasses.MISSING) -> Any:
    """A dataclass field that holds one of a few words."""
    metadata = {"options": options, "meaning": meaning}
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def check(obj: Any, where: str) -> None:
    """Check every declared field of a dataclass instance; the first wrong one raises a clear error.

    Raises
    ------
    UsageError
        A value is not a number, not finite, not whole where it must be, or out of its range.
    """
    for field in dataclasses.fields(obj):
        if "unit" in field.metadata:
            checked = check_number(field.name, getattr(obj, field.name), field.metadata, where)
            object.__setattr__(obj, field.name, checked)
        elif "options" in field.metadata:
            value = getattr(obj, field.name)
            if value not in field.metadata["options"]:
                raise unknown_name(f"{field.name} ({where})", str(value), field.metadata["options"])


def check_number(name: str, value: Any, declared: Mapping[str, Any], where: str) -> float | int:
    """The value as a number of the declared kind, or a :class:`UsageError` that names field, value, limit and remedy."""
    unit, low, high = declared["unit"], declared["low"], declared["high"]
    unit_text = f" {unit}" if unit else ""
    remedy = declared.get("remedy") or f"{declared['meaning']}: give a value from {low:g} to {high:g}{unit_text}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise field_error(name, value, f"must be a number{' of ' + unit if unit else ''}", where, remedy)
    if not math.isfinite(value):
        raise field_error(name, value, "must be finite", where, remedy)
    if declared.get("integer") and value != int(value):
        raise field_error(name, value, "must be a whole number", where, remedy)
    if value < low:
        raise field_error(name, value, f"must be >= {low:g}{unit_text}", where, remedy)
    if value > high:
        raise field_error(name, value, f"must be <= {high:g}{unit_text}", where, remedy)
    return int(value) if declared.get("integer") else float(value)


def parse_tag(text: str, where: str) -> Tag:
    """A tag from its text: ``doc``, ``spec``, ``measured``, ``assumed``, ``user`` or ``fitted: Table 6``."""
    kind, _, source = text.partition(":")
    if kind.strip() not in _KINDS:
        raise unknown_name(f"tag ({where})", kind.strip(), _KINDS)
    return Tag(kind.strip(), source.strip())


def read_fields(cls: type[T], table: Mapping[str, Any], where: str, prefix: str = "") -> tuple[T, dict[str, Tag]]:
    """Build a declared dataclass from a TOML table, with the tag of each value.

    Raises
    ------
    UsageError
        An unknown key (the nearest known one is named), a missing key, or a value that :func:`check` refuses.
    """
    fields = {field.name: field for field in dataclasses.fields(cls) if field.metadata}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    tags: dict[str, Tag] = {}
    for key, entry in table.items():
        if key not in fields:
            raise unknown_name(f"key {prefix}{key} in {where}: field", key, tuple(fields))
        values[key], tags[prefix + key] = _entry(entry, f"{where}, {prefix}{key}")
    for name, field in fields.items():
        if name not in values and field.default is dataclasses.MISSING:
            raise UsageError(f"{prefix}{name} is missing ({where})", f"add it: {field.metadata['meaning']}")
    return cls(**values), tags


def _entry(entry: Any, where: str) -> tuple[Any, Tag]:
    if not isinstance(entry, dict):
        return entry, Tag("user")
    if "constant" in entry:
        constant = named_constant(entry["constant"])
        return constant.value, constant.tag
    if "value" not in entry:
        raise UsageError(f"{where} has neither value nor constant", 'write { value = 1, tag = "spec", source = "data sheet" }')
    tag = parse_tag(entry.get("tag", "user"), where)
    return entry["value"], Tag(tag.kind, entry.get("source", tag.source))


def load_toml(path: Path, kind: str) -> dict[str, Any]:
    """Read a TOML file, or say in one line what is wrong with it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{kind} file {path} does not exist", "check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{kind} file {path} cannot be read: {error}", "check the path and its permissions") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{kind} file {path} is not valid TOML: {error}", "mend that line") from error


@cache
def constants() -> dict[str, Constant]:
    """The calibrated constants of ``data/calibration/constants.toml``, by name."""
    return read_constants(bundle_path("data", "calibration", "constants.toml"))


@cache
def job_constants() -> dict[str, Constant]:
    """Constants of jobs, sockets and the pipeline's settings (``data/calibration/jobs.toml``), by name."""
    return read_constants(bundle_path("data", "calibration", "jobs.toml"))


@cache
def all_constants() -> dict[str, Constant]:
    """Both files of constants together, by name."""
    return {**constants(), **job_constants()}


def read_constants(path: Path) -> dict[str, Constant]:
    """Read a file of constants (the shape that the calibration writes)."""
    table = load_toml(path, "calibration")["constants"]
    return {
        name: Constant(
            name,
            float(entry["value"]),
            entry["unit"],
            entry["meaning"],
            parse_tag(entry["tag"], f"constant {name}"),
            float(entry["low"]),
            float(entry["high"]),
        )
        for name, entry in table.items()
    }


def named_constant(name: str) -> Constant:
    """One constant, or an error with the nearest known name."""
    known = constants()
    if name not in known:
        raise unknown_name("constant", name, tuple(known))
    return known[name]
