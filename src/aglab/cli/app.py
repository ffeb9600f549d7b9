"""The commands, joined; ``main`` is what the ``aglab`` script calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from aglab import __version__
from aglab.cli import doctor, experiments, labs, nodes, numbers
from aglab.cli.shell import guarded

app = typer.Typer(
    name="aglab",
    help="A flight simulator and a textbook for SQL Server Always On performance.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aglab {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error (or set AGLAB_DEBUG=1).")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """A flight simulator and a textbook for SQL Server Always On performance."""


for room in (experiments, labs, nodes, numbers, doctor):
    room.register(app)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code. The script of the same name exits with it."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words or os.environ.get("AGLAB_DEBUG", "") not in ("", "0")
    words = [word for word in words if word != "--debug"]
    _plain_output()
    command: Any = typer.main.get_command(app)
    return guarded(
        lambda: command.main(args=words, prog_name="aglab", standalone_mode=False), debug=debug, as_json="--json" in words
    )


def _plain_output() -> None:
    """A console that cannot print a character shows a replacement instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
