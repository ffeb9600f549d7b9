"""Between commands and the terminal: errors on one line, tables and JSON, progress bars, output folders."""

from __future__ import annotations

import _thread
import contextlib
import dataclasses
import errno
import json
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from aglab.core.errors import AglabError, MissingError, UsageError
from aglab.core.paths import user_home

INTERRUPTED = 130
BAR_AFTER_S = 1.0  # work that ends sooner draws no bar

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Profile = Annotated[str | None, typer.Option("--profile", help="Hardware profile by name, or a .toml file of your own.")]
Mode = Annotated[str | None, typer.Option("--mode", help="twin (default), docker or remote.")]
Servers = Annotated[Path | None, typer.Option("--servers", help="Mode remote: TOML file of your servers (or AGLAB_SERVERS).")]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="KIND", help="Mode remote: a kind of change a lab may make; may be repeated."),
]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change an input; may be repeated.")]
Seed = Annotated[int, typer.Option("--seed", help="Same seed, same result.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for what is saved.")]


def settings_of(pairs: Sequence[str] | None) -> dict[str, str]:
    """``["k=500"]`` -> ``{"k": "500"}``; the scenario checks names and values.

    Raises
    ------
    UsageError
        An entry without ``=``, or the same key twice.
    """
    found: dict[str, str] = {}
    for pair in pairs or []:
        key, separator, value = pair.partition("=")
        key = key.strip()
        if not separator or not key or not value.strip():
            raise UsageError(f"--set {pair!r} must have the form KEY=VALUE", "for example --set k=500")
        if key in found:
            raise UsageError(f"--set names {key!r} twice ({found[key]} and {value.strip()})", "keep one of them")
        found[key] = value.strip()
    return found


def typed(settings: dict[str, str]) -> dict[str, Any]:
    """Settings with numbers where the text is a number."""
    result: dict[str, Any] = {}
    for key, text in settings.items():
        try:
            result[key] = int(text)
        except ValueError:
            try:
                result[key] = float(text)
            except ValueError:
                result[key] = text
    return result


def checked_seed(seed: int) -> int:
    """The seed, if it is one."""
    if not 0 <= seed < 2**63:
        raise UsageError(f"seed={seed} must be >= 0 and < 2^63 (--seed)", "use 1, or leave it out")
    return seed


def home() -> Path:
    """Where a user's files lie: ``AGLAB_HOME``, or the system's place for a user's data."""
    return user_home()


# -- output ------------------------------------------------------------------------------------------------------------
def plain(value: Any) -> Any:
    """A value as JSON can hold it: no NaN, no NumPy, paths as text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, bool) or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return plain(value.item())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(plain(value), indent=1, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def console(stderr: bool = False) -> Any:
    """A rich console; colours only where a terminal shows them."""
    from rich.console import Console

    wide = None if sys.stdout.isatty() else 160
    return Console(stderr=stderr, width=wide, soft_wrap=False, highlight=False)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = ()) -> None:
    """A table on standard output; columns in ``right`` are aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", header_style="bold", pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console().print(table)


def say(text: str = "") -> None:
    """A line on standard output."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """A line on standard error: a warning or a hint that is no part of the result."""
    sys.stderr.write(f"aglab: {text}\n")
    sys.stderr.flush()


@contextlib.contextmanager
def progress_bar(label: str) -> Iterator[Callable[..., None]]:
    """A progress callback that draws a bar on standard error once work has taken a second, where that is a terminal.

    A total of None is work of unknown length: the bar moves and shows the time that has passed.
    """
    if not sys.stderr.isatty():
        yield lambda done, total, text="": None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console(stderr=True), transient=True)
    task = bar.add_task(label, total=1.0)
    begin = time.monotonic()
    started = False

    def report(done: float, total: float | None, text: str = "") -> None:
        nonlocal started
        if not started and time.monotonic() - begin > BAR_AFTER_S:
            bar.start()
            started = True
        bar.update(task, completed=done, total=None if total is None else total or 1.0, description=text or label)

    try:
        yield report
    finally:
        if started:
            bar.stop()


# -- errors ------------------------------------------------------------------------------------------------------------
def one_line(text: str) -> str:
    """Text without line ends."""
    return " ".join(part.strip() for part in str(text).splitlines() if part.strip())


def explain(error: BaseException) -> tuple[str, int]:
    """What to print about an error, and the exit code."""
    if isinstance(error, AglabError):
        return one_line(str(error)), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing is left running or half-written", INTERRUPTED
    if isinstance(error, ImportError) and getattr(error, "name", None) and not str(error.name).startswith("aglab"):
        return f"the package {error.name} is missing or broken: {one_line(str(error))}; pip install --force-reinstall aglab", 3
    if isinstance(error, OSError) and not isinstance(error, (ConnectionError, TimeoutError)):
        return _explain_os(error), 3
    if isinstance(error, MemoryError):
        return "there is not enough memory; close programs or choose a smaller run", 3
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        return _explain_usage(error), 2
    place = ""
    frames = traceback.extract_tb(error.__traceback__)
    if frames:
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    kind = type(error).__name__
    return f"a defect of aglab: {kind}: {one_line(str(error))}{place}; run it again with --debug and report what it prints", 1


def _explain_os(error: OSError) -> str:
    what = f" {error.filename}" if error.filename else ""
    reasons = {
        errno.ENOSPC: (f"no space is left on the disk{': ' + str(error.filename) if what else ''}", "free some, or use --out"),
        errno.EDQUOT: (f"the disk quota is used up{what}", "free some space, or use --out"),
        errno.EROFS: (f"a file system is read-only:{what}", "choose a folder you may write with --out or AGLAB_HOME"),
        errno.EACCES: (f"no permission to use{what or ' a file'}", "choose a folder you may write with --out or AGLAB_HOME"),
        errno.EPERM: (f"no permission to use{what or ' a file'}", "choose a folder you may write with --out or AGLAB_HOME"),
        errno.EADDRINUSE: ("the port is in use", "choose another one"),
    }
    text, remedy = reasons.get(
        error.errno or 0, (f"the system refused: {one_line(str(error))}", "see the path and its permissions")
    )
    return f"{text}; {remedy}"


def _explain_usage(error: Any) -> str:
    text = one_line(error.format_message()).rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "aglab"
    return f"{text}; see {command} --help"


def guarded(call: Callable[[], Any], debug: bool, as_json: bool) -> int:
    """Run ``call`` and give the exit code; every error becomes one line on standard error."""
    try:
        with _termination():
            result = call()
        if result == INTERRUPTED:  # the argument parser turned Ctrl-C into this code and said nothing
            raise KeyboardInterrupt
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code))
    except BrokenPipeError:
        with contextlib.suppress(OSError):  # the reader has gone (head, less): nothing more can be said to it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseException as error:  # noqa: BLE001  the last line of defence: no traceback reaches a user
        if type(error).__name__ == "Exit" and hasattr(error, "exit_code"):
            return int(error.exit_code)
        if type(error).__name__ == "Abort":
            error = KeyboardInterrupt()
        if debug:
            traceback.print_exception(error)
        text, code = explain(error)
        sys.stderr.write(f"aglab: {text}\n")
        if as_json:
            with contextlib.suppress(OSError):
                print_json({"error": text, "exit_code": code})
        return code


@contextlib.contextmanager
def _termination() -> Iterator[None]:
    """A polite request to end (SIGTERM, a closed terminal, Ctrl-Break) cleans up as Ctrl-C does."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    kept: list[tuple[Any, Any]] = []
    for name in ("SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None:
            with contextlib.suppress(ValueError, OSError):  # not the main thread
                if signal.getsignal(number) is not signal.SIG_IGN:
                    kept.append((number, signal.signal(number, interrupt)))
    try:
        with _no_interrupt_is_lost():
            yield
    finally:
        for number, handler in kept:
            with contextlib.suppress(ValueError, OSError, TypeError):
                signal.signal(number, handler)


@contextlib.contextmanager
def _no_interrupt_is_lost() -> Iterator[None]:
    """An interrupt that falls into a destructor or a callback from C is given once more.

    Python prints and drops what is raised there: without this a Ctrl-C during compilation was forgotten and the run went on.
    """
    usual = sys.unraisablehook
    again: list[threading.Timer] = []

    def hook(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            usual(lost)
            return
        timer = threading.Timer(0.05, _thread.interrupt_main, args=[signal.SIGTERM])  # later: the hook itself must not be hit
        timer.daemon = True
        again.append(timer)
        timer.start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        for timer in again:
            timer.cancel()
        sys.unraisablehook = usual


__all__ = ["AglabError", "MissingError", "UsageError", "guarded", "note", "print_json", "print_table", "progress_bar", "say"]
