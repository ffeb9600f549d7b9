"""``aglab class reset``: a seat for the next learner. What the last one made is moved aside, never deleted."""

from __future__ import annotations

import datetime as dt
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from aglab.cli import shell
from aglab.cli.workcopy import LIST, bring_up_to_date
from aglab.core.errors import MissingError, UsageError
from aglab.core.paths import bundle_root


def reset(
    folder: Annotated[Path | None, typer.Option("--folder", help="The learner's copy (default: aglab in your home).")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: shell.Json = False,
) -> None:
    """Make this seat ready for the next learner: progress and changed notebooks are moved aside, fresh ones put in place."""
    copy = (folder or Path.home() / "aglab").expanduser().absolute()
    if copy.exists() and not (copy / LIST).is_file():
        raise UsageError(f"{copy} is no copy that `aglab lab` made", "name the learner's copy with --folder")
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise UsageError("aglab class reset moves the learner's work aside and would ask first", "say --yes")
        if not typer.confirm(f"Move predictions, progress and {copy} aside and start afresh?"):
            raise typer.Exit(1)
    begin = time.perf_counter()
    result = _reset(shell.home(), copy)
    result["seconds"] = round(time.perf_counter() - begin, 3)
    if as_json:
        shell.print_json(result)
        return
    shell.say(f"Fresh notebooks and labs: {result['folder']} ({result['seconds']:.2f} s)")
    shell.say(f"Moved aside: {result['aside']}" if result["moved"] else "There was nothing to move aside.")


def _reset(home: Path, copy: Path) -> dict[str, Any]:
    """Move both aside, then give out a fresh copy.

    Raises
    ------
    MissingError
        A folder cannot be moved: a program holds a file in it, or permission is missing.
    """
    stamp = dt.datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    aside = home / "earlier" / stamp
    moved = []
    for name, source in (("progress", home / "progress"), ("copy", copy)):
        if source.exists():
            try:
                aside.mkdir(parents=True, exist_ok=True)
                shutil.move(source, aside / name)
            except OSError as error:
                raise MissingError(
                    f"{source} cannot be moved to {aside / name} ({error.strerror or error})", "end JupyterLab, then try again"
                ) from error
            moved.append(str(aside / name))
    bring_up_to_date(bundle_root(), copy)
    return {"folder": str(copy), "aside": str(aside), "moved": moved}
