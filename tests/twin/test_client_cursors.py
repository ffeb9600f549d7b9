"""Scrollable and updatable results of ODBC: Microsoft's driver and FreeTDS open server cursors for them (sp_cursoropen)."""

import contextlib

import pytest
from odbc_calls import DELETE, LOCK, READ_ONLY, UPDATE, VALUES, Odbc, OdbcError, connection_text

DRIVERS = ["microsoft", "freetds"]


@pytest.fixture(params=DRIVERS)
def odbc(request, link):
    """A connection whose table has four rows."""
    with contextlib.closing(Odbc(connection_text(request.param, link))) as made:
        made.driver = request.param
        link.sql(
            "DROP TABLE IF EXISTS tempdb.dbo.odbc_rows; CREATE TABLE tempdb.dbo.odbc_rows (id int PRIMARY KEY, v varchar(10)); "
            "INSERT tempdb.dbo.odbc_rows VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"
        )
        yield made
        link.sql("DROP TABLE tempdb.dbo.odbc_rows")


QUERY = "SELECT id, v FROM tempdb.dbo.odbc_rows"


@pytest.mark.parametrize(("kind", "concurrency"), [("keyset", VALUES), ("dynamic", LOCK), ("static", READ_ONLY)])
def test_every_direction(odbc, kind, concurrency):
    """SQLFetchScroll goes where it is told; Microsoft's driver makes ABSOLUTE of FIRST and RELATIVE where a cursor is dynamic."""
    with odbc.statement(QUERY, kind, concurrency) as rows:
        assert [rows.fetch("next"), rows.fetch("next")] == [(1, "a"), (2, "b")]
        assert rows.fetch("last") == (4, "d")
        assert rows.fetch("next") is None
        assert rows.fetch("first") == (1, "a")
        assert rows.fetch("absolute", 3) == (3, "c")
        assert rows.fetch("relative", -1) == (2, "b")
        assert rows.fetch("prior") == (1, "a")
        assert rows.fetch("prior") is None


@pytest.mark.parametrize(("kind", "concurrency"), [("keyset", VALUES), ("dynamic", LOCK)])
def test_changes_by_position(odbc, kind, concurrency, link):
    """SQLSetPos updates and deletes the current row; SQLBulkOperations adds one where the driver has it."""
    with odbc.statement(QUERY, kind, concurrency) as rows:
        rows.fetch("first")
        rows.put(word="new")
        rows.change(UPDATE)
        rows.fetch("last")
        rows.change(DELETE)
        added = ""
        if odbc.driver == "microsoft":
            rows.put(9, "ins")
            rows.add()
            added = ",9ins"
    seen = link.value("SELECT STRING_AGG(CONCAT(id, v), ',') WITHIN GROUP (ORDER BY id) AS t FROM tempdb.dbo.odbc_rows")
    assert seen == "1new,2b,3c" + added


def test_a_row_that_changed_since_is_not_overwritten(odbc, link):
    """SQL_CONCUR_VALUES: the driver raises what the server said."""
    with odbc.statement(QUERY, "keyset", VALUES) as rows:
        rows.fetch("first")
        link.sql("UPDATE tempdb.dbo.odbc_rows SET v = 'theirs' WHERE id = 1")
        rows.put(word="mine")
        with pytest.raises(OdbcError) as caught:
            rows.change(UPDATE)
    assert caught.value.args[1] in (16947, 16934)


def test_forward_only_does_not_scroll(odbc):
    """The driver or the server refuses; the rows go on."""
    with odbc.statement(QUERY) as rows:
        assert rows.fetch("next") == (1, "a")
        with pytest.raises(OdbcError):
            rows.fetch("last")
