"""``aglab profile measure``: this machine as a hardware profile, and its storage matrix as a picture."""

from __future__ import annotations

import dataclasses
import datetime as dt
import platform
from pathlib import Path
from typing import Annotated, Any

import typer

from aglab.cli import shell
from aglab.core.errors import UsageError, field_error

RUN_S = (0.2, 60.0)


def profile_measure(
    out: Annotated[Path | None, typer.Option("--out", help="Profile file (.toml) to write; the picture lies beside it.")] = None,
    folder: Annotated[Path, typer.Option("--folder", help="A folder on the storage to measure.")] = Path(),
    seconds: Annotated[float, typer.Option("--seconds", help="Length of each of some hundred runs.")] = 1.0,
    quick: Annotated[bool, typer.Option("--quick", help="Two block sizes and two mixes only.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file.")] = False,
    as_json: shell.Json = False,
) -> None:
    """Measure this machine's storage with fio, its log writes, processor and loopback; about three minutes."""
    from aglab.hardware import Profile
    from aglab.live.measure import measure
    from aglab.live.measure_profile import profile_text
    from aglab.record.files import write_text

    if not RUN_S[0] <= seconds <= RUN_S[1]:
        raise field_error("seconds", seconds, f"must be from {RUN_S[0]:g} to {RUN_S[1]:g}", "profile measure", "use 1")
    path = _target(out, force)
    with shell.progress_bar("measuring") as progress:
        found = measure(folder.expanduser().absolute(), seconds, quick, progress)
    write_text(path, profile_text(found, f"{platform.node() or 'this machine'}, measured {dt.date.today():%Y-%m-%d}"))
    profile = Profile.load(path)  # what was written is what --profile reads
    points = _points(found.matrix)
    picture = _draw(points, path, found.folder)
    for text in found.notes:
        shell.note(text)
    if as_json:
        shell.print_json({**dataclasses.asdict(found), "matrix": points, "profile": str(path), "figure": str(picture)})
        return
    heads = ("block KB", "reads %", "outstanding", "IOPS", "read us", "write us")
    rows = [
        (p["block_kb"], p["read_percent"], p["depth"], *(f"{p[key]:,.0f}" for key in ("iops", "read_us", "write_us")))
        for p in points
    ]
    shell.print_table(f"{found.folder}: the deepest queue within 20 ms", heads, rows, right=heads)
    for text in _summary(found):
        shell.say(text)
    shell.say(f"Profile: {path} ({profile.cpu.cores} cores; use it with --profile {path})")
    shell.say(f"Figure:  {picture}")
    shell.say(f"{found.seconds:.0f} s")


def _target(out: Path | None, force: bool) -> Path:
    """The profile's file.

    Raises
    ------
    UsageError
        Not a .toml name, a folder, or a file that is there already.
    """
    if out is None:
        return shell.home() / "profiles" / f"measured-{dt.datetime.now():%Y%m%d-%H%M%S}.toml"
    if out.suffix != ".toml" or out.is_dir():
        raise UsageError(f"--out {str(out)!r} must be a file that ends in .toml", "for example --out mine.toml")
    if out.exists() and not force:
        raise UsageError(f"--out {str(out)!r} exists", "choose another name, or say --force")
    return out.expanduser().absolute()


def _points(matrix: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "block_kb": point.block_kb,
            "read_percent": point.read_percent,
            "depth": point.depth,
            "iops": round(point.answer.iops, 1),
            "read_us": round(point.answer.read_us, 1),
            "write_us": round(point.answer.write_us, 1),
            "limited": point.limited,
        }
        for point in matrix
    ]


def _draw(points: list[dict[str, Any]], path: Path, folder: str) -> Path:
    from aglab.viz import io_matrix

    figure = io_matrix(points, title="Storage matrix of this machine", label=f"MEASURED with fio in {folder}")
    return figure.save(path.with_suffix(".html"))


def _summary(found: Any) -> list[str]:
    lines = []
    if found.log_disk:
        lines.append(f"Log write of 60 KB, durable: {found.log_disk.write_us:,.0f} us on this storage")
    if found.log_memory:
        lines[-1] += f", {found.log_memory.write_us:,.0f} us in memory"
    clock = f"{found.ghz:g} GHz" if found.ghz else "clock not told"
    lines.append(f"{found.cores} cores, {found.threads} threads, {clock}; loopback round trip {found.rtt_us:.0f} us")
    return lines
