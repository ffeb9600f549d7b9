"""What a run's counters come to, as tables and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from aglab.cli import shell

WAIT_MS_MIN = 0.001  # less is not worth a word


def print_summary(summary: dict[str, dict[str, dict[str, float]]], title: str = "") -> None:
    """Average, minimum and maximum of every counter that is not always zero."""
    rows = [
        (
            node,
            _of_databases(counters)[counter],
            *(f"{stats[stat]:,.4g}" if abs(stats[stat]) < 10 else f"{stats[stat]:,.0f}" for stat in stats),
        )
        for node, counters in summary.items()
        for counter, stats in counters.items()
        if stats["max"] != 0
    ]
    shell.print_table(title, ("node", "counter", "avg", "min", "max"), rows, right=("avg", "min", "max"))


def _short(path: str) -> str:
    """A counter's name, with the disk it is of: two volumes have counters of one name."""
    holder, _, name = path.rpartition("\\")
    disk = holder.rpartition("PhysicalDisk(")[2].rstrip(")") if "PhysicalDisk(" in holder else ""
    return f"{name} ({disk})" if disk else name


def _of_databases(paths: Iterable[str]) -> dict[str, str]:
    """Names of some counters; with the database each is of, where one name stands for several."""
    names = {path: _short(path) for path in paths}
    twice = {name for name, count in Counter(names.values()).items() if count > 1}
    return {
        path: f"{name} ({path.partition('(')[2].partition(')')[0]})" if name in twice else name for path, name in names.items()
    }


def print_transactions(found: dict[str, dict[str, float]]) -> None:
    """How long a transaction of each database took, and its waits (:func:`aglab.engine.run_all.transaction_ms`)."""
    for database, times in found.items():
        waits = ", ".join(f"{wait} {ms:,.3g}" for wait, ms in times.items() if wait != "response" and ms >= WAIT_MS_MIN)
        of_it = f"waits in it, which overlap, in ms: {waits}" if waits else "it waited for nothing"
        shell.say(f"A transaction of {database} took {times['response']:,.3g} ms on average; {of_it}.")
