"""Results of the adapter procedures: messages, small tables, recordings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aglab.core.counters import BY_KEY
from aglab.core.sqltypes import FLOAT, SYSNAME, Column, SqlType
from aglab.tsql import Columns, Done, Message, Rows

if TYPE_CHECKING:
    from aglab.twin.recording import Recording

ROWS_A_CHUNK = 500


def message(text: str) -> Message:
    """A line for the client's message pane."""
    return Message(0, 0, 1, text)


def table(columns: list[tuple[str, SqlType]], rows: list[tuple[Any, ...]]) -> Iterator[Any]:
    """A small result set."""
    yield Columns(tuple(Column(name, kind) for name, kind in columns))
    yield Rows(rows)
    yield Done(len(rows), "SELECT", in_procedure=True)


def _keys(recording: Recording) -> list[str]:
    return list(dict.fromkeys(key for _, key in recording.columns))


def recording_columns(recording: Recording, database: str) -> tuple[Column, ...]:
    """time_s, node, then one column for each counter, named by its PerfMon path."""
    named = [Column(BY_KEY[key].path(database) if key in BY_KEY else key, FLOAT) for key in _keys(recording)]
    return (Column("time_s", FLOAT), Column("node", SYSNAME), *named)


def recording_rows(recording: Recording, from_s: float, to_s: float, every_s: float) -> Iterator[list[tuple[Any, ...]]]:
    """Rows in chunks; a counter that a node does not have is NULL."""
    keys = _keys(recording)
    nodes = list(dict.fromkeys(node for node, _ in recording.columns))
    at = {column: position for position, column in enumerate(recording.columns)}
    chunk: list[tuple[Any, ...]] = []
    for moment, values in recording.between(from_s, to_s, every_s):
        for node in nodes:
            cells = [float(values[at[node, key]]) if (node, key) in at else None for key in keys]
            chunk.append((moment, node, *cells))
        if len(chunk) >= ROWS_A_CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
