"""What a lab changes on servers that are not ours, kept so that it can be taken back.

Before an allowed change the value it replaces is read; :meth:`Ledger.undo` writes these values back, the latest first. The same
statements lie in a file of T-SQL meanwhile, for the case that this process is killed or a server does not answer at the end.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aglab.core.errors import AglabError
from aglab.lab.remote_changes import Change
from aglab.tsql import ast

# option of ALTER DATABASE SET -> column of sys.databases, and how its value is written back
_COLUMNS = {
    "TARGET_RECOVERY_TIME": ("target_recovery_time_in_seconds", "TARGET_RECOVERY_TIME = {} SECONDS"),
    "DELAYED_DURABILITY": ("delayed_durability_desc", "DELAYED_DURABILITY = {}"),
    "RECOVERY": ("recovery_model_desc", "RECOVERY {}"),
    "PAGE_VERIFY": ("page_verify_option_desc", "PAGE_VERIFY {}"),
    "ALLOW_SNAPSHOT_ISOLATION": ("snapshot_isolation_state_desc", "ALLOW_SNAPSHOT_ISOLATION {}"),
    "COMPATIBILITY_LEVEL": ("compatibility_level", "COMPATIBILITY_LEVEL = {}"),
    "AUTO_UPDATE_STATISTICS": ("is_auto_update_stats_on", "AUTO_UPDATE_STATISTICS {}"),
    "AUTO_UPDATE_STATISTICS_ASYNC": ("is_auto_update_stats_async_on", "AUTO_UPDATE_STATISTICS_ASYNC {}"),
    "AUTO_CREATE_STATISTICS": ("is_auto_create_stats_on", "AUTO_CREATE_STATISTICS {}"),
}
Ask = Callable[[str], Any]  # T-SQL -> Result, on the server that is about to be changed


@dataclass(frozen=True)
class Undo:
    """One change: where, what was run, and the T-SQL that takes it back ("" where nothing does)."""

    node: str
    kind: str
    change: str
    back: str


class Ledger:
    """Changes in the order they were made."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.changes: list[Undo] = []  # everything, for the record
        self._open: dict[tuple[str, str], Undo] = {}  # what must be taken back, under (node, the thing changed)

    def note(self, node: str, change: Change, database: str, ask: Ask) -> None:
        """Read what a change replaces and keep how to write it back.

        Raises
        ------
        AglabError
            The value before cannot be read, so the change could not be undone.
        """
        found = list(_backs(change, database, ask))
        for thing, back in found:
            undo = Undo(node, change.kind, change.text, back)
            self._open.setdefault((node, thing), undo)  # the first value is the one the owner had
            self.changes.append(undo)
        if not found:
            self.changes.append(Undo(node, change.kind, change.text, ""))
        self._write()

    def undo(self, run: Callable[[str, str], Any]) -> None:
        """Write every value back with ``run(node, T-SQL)``; Ctrl-C waits until it is done.

        Raises
        ------
        AglabError
            A server did not take its value back; names the file that holds the T-SQL.
        """
        failures = []
        with _undisturbed():
            for key, one in reversed(list(self._open.items())):
                try:
                    run(one.node, one.back)
                except AglabError as error:
                    failures.append(f"{one.node}: {error}")
                else:
                    del self._open[key]
            self._write()
        if failures:
            raise AglabError(
                f"{len(failures)} of what was changed could not be undone ({'; '.join(failures)})", f"run {self.file} by hand"
            )

    def _write(self) -> None:
        if not self._open:
            self.file.unlink(missing_ok=True)
            return
        lines = ["-- Takes back what a lab changed; aglab runs it and deletes it when the lab ends."]
        lines += [f"-- on {one.node}, after: {one.change}\n{one.back}\nGO" for one in reversed(list(self._open.values()))]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        part = self.file.with_suffix(".part")
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
        part.replace(self.file)


def _backs(change: Change, database: str, ask: Ask) -> Iterator[tuple[str, str]]:
    if change.kind == "database-options":
        yield from _of_database(change, database, ask)
    elif change.kind == "server-options":
        yield from _of_server(change, ask)
    elif change.kind == "trace-flags" and -1 in change.statement.args:  # without -1 it ends with the session
        shown = ask("DBCC TRACESTATUS(-1) WITH NO_INFOMSGS").tables
        on = {int(flag) for flag in shown[0]["TraceFlag"]} if shown else set()
        for flag in change.statement.args:
            if flag != -1:
                yield f"trace flag {flag}", f"DBCC {'TRACEON' if flag in on else 'TRACEOFF'}({flag}, -1) WITH NO_INFOMSGS;"


def _of_database(change: Change, database: str, ask: Ask) -> Iterator[tuple[str, str]]:
    if "TERMINATION" in change.statement.detail:
        raise AglabError(f"{change.text} ends other sessions: that cannot be undone", "run it yourself, outside of aglab")
    for option, _ in change.statement.options:
        if option not in _COLUMNS:
            raise AglabError(
                f"{change.text}: aglab cannot read what {option} was before, so it could not undo it",
                f"run it yourself, outside of aglab; it undoes {', '.join(_COLUMNS)}",
            )
        column, words = _COLUMNS[option]
        value = ask(f"SELECT {column} FROM sys.databases WHERE name = N'{database.replace(chr(39), chr(39) * 2)}'").value
        if value is None:
            raise AglabError(f"{change.text}: database {database!r} is not there, or this login may not see it", "check its name")
        written = ("ON" if value else "OFF") if column.startswith("is_") else str(value)
        quoted = database.replace("]", "]]")
        yield f"{database}.{option}".lower(), f"ALTER DATABASE [{quoted}] SET {words.format(written)};"


def _of_server(change: Change, ask: Ask) -> Iterator[tuple[str, str]]:
    if not hasattr(change.statement, "args"):  # RECONFIGURE: what it puts in force was noted at sp_configure
        return
    given = change.statement.args[0][1]
    name = str(given.value) if isinstance(given, ast.Literal) else ""
    quoted = name.replace("'", "''")
    query = "SELECT name, CAST(value AS bigint) AS value, CAST(is_advanced AS int) AS advanced FROM sys.configurations"
    table = ask(f"{query} WHERE name IN (N'{quoted}', N'show advanced options')").table
    values = {str(row.name).lower(): row for row in table.itertuples(index=False)}
    if name.lower() not in values:
        raise AglabError(
            f"{change.text}: no option of sys.configurations has exactly this name, so what it was cannot be read",
            "write the whole name as a literal, for example N'max degree of parallelism'",
        )
    own, shown = values[name.lower()], values.get("show advanced options")
    back = f"EXEC sp_configure N'{quoted}', {int(own.value)}; RECONFIGURE;"
    if own.advanced and shown is not None and name.lower() != "show advanced options":
        door = "EXEC sp_configure N'show advanced options', {}; RECONFIGURE;"
        back = f"{door.format(1)} {back} {door.format(int(shown.value))}"
    yield name.lower(), back


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C waits until the servers are as they were."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)
