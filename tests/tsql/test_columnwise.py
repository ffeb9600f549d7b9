"""Select lists that are computed column by column give what the same lists give row by row, errors included."""

from __future__ import annotations

import pytest

from aglab.tsql.query import columnwise

from .fakes import Client

SETUP = """CREATE TABLE t (k int PRIMARY KEY, n int NULL, s smallint NOT NULL, b bit NOT NULL, w varchar(20));
INSERT t SELECT value, NULLIF(value % 7, 3), value % 100, value % 2, CONCAT('w', value) FROM GENERATE_SERIES(1, 100);
DECLARE @two int = 2, @none int;
"""


@pytest.fixture
def forms(monkeypatch):
    """Runs a text row by row, then by whole columns; the second with the number of select lists that were computed so."""
    found = []

    def zipped(*columns, strict):
        found.append(len(columns))
        return zip(*columns, strict=strict)

    monkeypatch.setattr(columnwise, "zip", zipped, raising=False)

    def run(text):
        result = []
        for least in (10**9, 1):
            monkeypatch.setattr(columnwise, "ROWS_MIN", least)
            answer = Client().run(SETUP + text)
            result.append((answer.sets, answer.types if answer.columns else [], answer.errors))
        by_rows, by_columns = result
        assert by_rows == by_columns
        return by_columns[0], by_columns[2], len(found)

    return run


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("SELECT k + 1, k * @two - 5, 'x', w FROM t", True),
        ("SELECT CAST(k AS int) AS a, CAST(s * 3 AS smallint) FROM t WHERE w > 'w4'", False),  # a conversion that may fail
        ("SELECT CAST(k AS int) AS a, s * 3 FROM t WHERE w > 'w4'", True),
        ("SELECT k + 1 FROM t WHERE k > 12", False),  # a seek
        ("SELECT TOP (5) k + 1, w FROM t", True),
        ("SELECT DISTINCT s * 0, b FROM t", True),
        ("SELECT n + 1, k FROM t", False),  # NULL in between
        ("SELECT k + @none FROM t", False),
        ("SELECT k / 2, k % 3 FROM t", False),
        ("SELECT k * 30000000 FROM t", False),  # 8115 at the 72nd row
        ("SELECT k + 2147483600, 1 / (k - 60) FROM t", False),  # 8115 at the 48th row, before 8134 at the 60th
        ("SELECT v * 2 FROM GENERATE_SERIES(10, 1, -3) AS g(v)", True),
        ("SELECT (SELECT MAX(x.value + t.k) FROM GENERATE_SERIES(1, 3) AS x), k + 1 FROM t", False),
        ("SELECT k, (SELECT t.k + x.k FROM t AS x WHERE x.k = 1) FROM t", False),
        ("SELECT y.p FROM t CROSS APPLY (SELECT t.k + x.value AS p FROM GENERATE_SERIES(1, 2) AS x) AS y", True),
    ],
)
def test_whole_columns_are_what_the_rows_are(forms, text, whole):
    """Values, types and the first error; the faster way is taken where it applies and nowhere else."""
    sets, errors, found = forms(text)
    assert (found > 0) is whole
    assert any(sets) or errors


def test_the_first_row_with_an_error_decides(forms):
    """Overflow comes first here, though division by zero stands in the first column."""
    assert forms("SELECT 1 / (k - 60), k + 2147483600 FROM t")[1] == [8115]
    assert forms("SELECT k + 2147483580, 1 / (k - 60) FROM t")[1] == [8134]


def test_a_long_result_leaves_while_the_rest_is_computed():
    """The first rows are handed on before a later one fails; a client sees them, then the error."""
    from aglab.tsql import Interpreter, Message, Rows

    client = Client()
    seen = list(
        Interpreter(client.host, client.session).run_batch("SELECT CAST(value AS int) * 50000 FROM GENERATE_SERIES(1, 100000)")
    )
    sent = [row[0] for effect in seen if isinstance(effect, Rows) for row in effect.rows]
    assert sent == [value * 50000 for value in range(1, len(sent) + 1)] and 30_000 < len(sent) < 42_950
    assert [effect.number for effect in seen if isinstance(effect, Message) and effect.severity > 10] == [8115]


def test_rows_that_are_still_to_leave_are_those_that_were_read():
    """Another session deletes the table while half of it is on its way."""
    from aglab.tsql import Interpreter, Rows

    client = Client()
    client.run("CREATE TABLE t (k int); INSERT t SELECT value FROM GENERATE_SERIES(1, 20000)")
    other = Interpreter(client.host, client.host.instance.open_session(login="sa", database="OLTP", is_sysadmin=True))
    count = 0
    for effect in Interpreter(client.host, client.session).run_batch("SELECT k + 1, k FROM t"):
        if isinstance(effect, Rows):
            if not count:
                list(other.run_batch("DELETE t"))
            count += len(effect.rows)
    assert count == 20_000
    assert client.run("SELECT COUNT(*) FROM t").sets == [[(0,)]]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM t AS a CROSS JOIN t AS b",
        "SELECT a.k FROM t AS a JOIN t AS b ON a.g = b.g",
        "SELECT (SELECT COUNT(*) FROM t AS b WHERE b.k > a.k) FROM t AS a",
        "SELECT k, dbo.f(k) FROM t",
        "DELETE a FROM t AS a CROSS JOIN t AS b",
    ],
)
def test_a_statement_that_goes_through_too_many_rows_is_stopped(monkeypatch, text):
    """Everything joined with everything ends with an error that names the limit; the session goes on."""
    from aglab.tsql import runtime

    monkeypatch.setattr(runtime, "VISITED_MAX", 5000)
    client = Client()
    client.run("CREATE TABLE t (k int, g int); INSERT t SELECT value, 1 FROM GENERATE_SERIES(1, 100)")
    client.run("CREATE FUNCTION dbo.f(@k int) RETURNS int AS BEGIN RETURN (SELECT COUNT(*) FROM t WHERE k < @k) END")
    answer = client.run(text)
    assert answer.errors == [59003] and "5000" in answer.messages[-1].text
    assert client.run("SELECT COUNT(*) FROM t").sets == [[(100,)]]


def test_a_wide_result_is_never_whole_in_memory(monkeypatch):
    """Values are made as the rows leave: a client that reads slowly holds up the making of them too."""
    from aglab.tsql import Interpreter, Rows
    from aglab.tsql.query import columnwise

    made = []
    one_by_one = columnwise.one_by_one

    def counted(slot, project):
        run = one_by_one(slot, project)
        return lambda frame, rows: made.append(len(rows)) or run(frame, rows)

    monkeypatch.setattr(columnwise, "one_by_one", counted)
    client = Client()
    left = Interpreter(client.host, client.session).run_batch("SELECT value, REPLICATE('x', 8000) FROM GENERATE_SERIES(1, 50000)")
    next(effect for effect in left if isinstance(effect, Rows))
    assert sum(made) == 500
    left.close()
