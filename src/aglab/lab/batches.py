"""Scripts into batches: ``GO`` is a client's word, not T-SQL.

A line that holds nothing but ``GO``, or ``GO`` and a count, ends a batch, as in sqlcmd and SSMS, unless it lies inside a block
comment,
a string or a delimited identifier. ``GO 3`` sends the batch three times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aglab.core.errors import UsageError

GO_COUNT_MAX = 100_000

_GO_LINE = re.compile(r"[ \t]*GO(?:[ \t]+(\d+))?[ \t]*;?[ \t]*(?:--.*)?", re.IGNORECASE)
_OPENER = re.compile(r"--|/\*|['\"\[]")
_IN_COMMENT = re.compile(r"/\*|\*/")
_CLOSERS = {"'": "'", '"': '"', "[": "]"}


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: its text, how often it is sent, and the line of the script on which it begins (1-based)."""

    text: str
    count: int = 1
    line: int = 1


def batches(script: str) -> list[Batch]:
    """The batches of a script; empty ones are left out.

    Raises
    ------
    UsageError
        A count after ``GO`` beyond 100,000.

    >>> [(b.text, b.count, b.line) for b in batches("SELECT 1\\nGO 2\\nPRINT 'GO'\\ngo")]
    [('SELECT 1', 2, 1), ("PRINT 'GO'", 1, 3)]
    """
    lines = script.replace("\r\n", "\n").split("\n")
    plain = _starts_plain(lines)
    found: list[Batch] = []
    kept: list[str] = []
    first = 1
    for number, line in enumerate(lines, start=1):
        match = _GO_LINE.fullmatch(line) if plain[number - 1] else None
        if match is None:
            kept.append(line)
            continue
        count = int(match.group(1) or 1)
        if count > GO_COUNT_MAX:
            raise UsageError(f"GO {count} on line {number} repeats a batch more than {GO_COUNT_MAX:,} times", "use a WHILE loop")
        _keep(found, kept, count, first)
        kept, first = [], number + 1
    _keep(found, kept, 1, first)
    return found


def _keep(batches: list[Batch], kept: list[str], count: int, first: int) -> None:
    text = "\n".join(kept)
    if text.strip() and count > 0:
        lead = len(text) - len(text.lstrip("\n"))
        batches.append(Batch(text.strip("\n"), count, first + lead))


def _starts_plain(lines: list[str]) -> list[bool]:
    """For each line, whether it begins outside comments, strings and delimited identifiers."""
    plain = []
    depth, closer = 0, ""  # block comments nest in T-SQL
    for line in lines:
        plain.append(not depth and not closer)
        position = 0
        while position < len(line):
            if closer:
                end = line.find(closer, position)
                if end < 0:
                    break
                position, closer = end + 1, ""
                continue
            match = (_IN_COMMENT if depth else _OPENER).search(line, position)
            if match is None or match.group() == "--":
                break
            position = match.end()
            if match.group() in _CLOSERS:
                closer = _CLOSERS[match.group()]
            else:
                depth += 1 if match.group() == "/*" else -1
    return plain


def split_batches(script: str) -> list[str]:
    """The texts to send, one after the other: ``GO 3`` gives the batch before it three times."""
    return [batch.text for batch in batches(script) for _ in range(batch.count)]
