"""Statements and what they must give, as pairs in files: fixtures/NAME.sql beside fixtures/NAME.expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .fakes import Client, FakeHost, Result

FOLDER = Path(__file__).parent / "fixtures"
SETUP = """create table t(id int primary key, v varchar(10) not null, g int, n int)
insert t values (1, 'a', 1, 10), (2, 'b', 1, 20), (3, 'a', 2, 30), (4, 'c', 2, 40)
create table u(id int, w varchar(20))
insert u values (1, 'one'), (3, 'three'), (9, null)"""


def shown(result: Result) -> list[str]:
    """A result as lines: columns, rows, errors (!), messages (#)."""
    lines: list[str] = []
    for columns, rows in zip(result.columns, result.sets, strict=True):
        lines.append("[" + ", ".join(f"{c.name} {c.type}".strip() for c in columns) + "]")
        lines += [_row(row) for row in rows]
    for m in result.messages:
        lines.append(f"{'!' if m.is_error else '#'} {m.number},{m.severity},{m.state},{m.line} {m.text}")
    return lines


def _row(row: tuple[Any, ...]) -> str:
    return "(" + ", ".join("NULL" if v is None else repr(v) if isinstance(v, (str, bytes)) else str(v) for v in row) + ")"


def cases(name: str) -> list[tuple[str, str]]:
    """(title, statements) of a fixture file."""
    found = []
    for block in (FOLDER / f"{name}.sql").read_text(encoding="utf-8").split("\n==\n"):
        title, _, text = block.partition("\n")
        found.append((title.removeprefix("-- name: "), text))
    return found


def promised(columns: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> list[Any]:
    """The columns that promise no NULL and have one: on the wire their types have no form for it."""
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    return [c for c, column in zip(columns, values, strict=True) if not c.nullable and None in column]


def run_all(name: str) -> list[tuple[str, list[str]]]:
    """Every case of a file, in order, on one database."""
    client = Client(FakeHost("OLTP"))
    client.run(SETUP)
    client.run("create procedure p1 @a int, @b int = 2 as select @a, @b")
    client.run("create view vtext as\nselect 1 as one")
    results = []
    for title, text in cases(name):
        result = client.run(text)
        broken = [c.name for columns, rows in zip(result.columns, result.sets, strict=True) for c in promised(columns, rows)]
        assert not broken, f"{title}: {broken} promised no NULL"
        results.append((title, shown(result)))
        client.run("if @@trancount > 0 rollback set xact_abort off")
    return results


def render(results: list[tuple[str, list[str]]]) -> str:
    """The expected file's text."""
    return "\n".join("-- " + title + "\n" + "\n".join(lines) + ("\n" if lines else "") for title, lines in results)


@pytest.mark.parametrize("name", ["queries", "errors", "programs"])
def test_every_statement_gives_what_its_pair_says(name: str) -> None:
    """Rows, types, error numbers, severities, states, lines and words."""
    expected = (FOLDER / f"{name}.expected").read_text(encoding="utf-8")
    found = render(run_all(name))
    for want, got in zip(expected.split("\n-- "), found.split("\n-- "), strict=True):
        assert got.strip() == want.strip()
