"""The cursors of drivers, as their RPCs: what each procedure gives and refuses (the pages of sp_cursoropen and its kin)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aglab.tds.tokens import browse

from .fakes import Client, Result

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v varchar(10)); INSERT t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"
KEYSET, DYNAMIC, FORWARD_ONLY, STATIC, FAST_FORWARD = 1, 2, 4, 8, 16
READ_ONLY, SCROLL_LOCKS, OPTIMISTIC, ALLOW_DIRECT = 1, 2, 4, 0x2000
FIRST, NEXT, PRIOR, LAST, ABSOLUTE, RELATIVE, REFRESH, INFO = 1, 2, 4, 8, 16, 32, 0x80, 0x100


class Driver(Client):
    """A session whose requests are RPCs."""

    def call(self, name: str | int, *values: Any, out: tuple[int, ...] = (), names: dict[int, str] | None = None) -> Result:
        """``values`` by position; those numbered in ``out`` are output parameters."""
        given = [
            SimpleNamespace(name=(names or {}).get(n, ""), value=value, type=None, is_output=n in out)
            for n, value in enumerate(values)
        ]
        return self.rpc(name, *given)

    def open(self, text: str, scroll: int = KEYSET, control: int = OPTIMISTIC, rows: int = 0, *more: Any) -> tuple[Any, Result]:
        """(cursor, scrollopt, ccopt, rowcount) as they came back, and the result."""
        result = self.call("sp_cursoropen", 0, text, scroll, control, rows, *more, out=(0, 2, 3, 4))
        return tuple(value.value for value in result.values), result

    def fetch(self, cursor: int, kind: int = NEXT, row: int = 0, count: int = 1) -> list[tuple[Any, ...]]:
        """The rows with their ROWSTAT."""
        result = self.call(7, cursor, kind, row, count)
        assert result.errors == []
        return result.rows


@pytest.fixture
def driver() -> Driver:
    """Four rows."""
    one = Driver()
    one.run(TABLE)
    return one


@pytest.mark.parametrize(
    ("text", "asked", "got"),
    [
        ("SELECT id FROM t", (KEYSET, OPTIMISTIC), (KEYSET, OPTIMISTIC, 4)),
        ("SELECT id FROM t", (DYNAMIC, SCROLL_LOCKS), (DYNAMIC, SCROLL_LOCKS, -1)),
        ("SELECT id FROM t", (FORWARD_ONLY, 8), (FORWARD_ONLY, 8, -1)),
        ("SELECT id FROM t", (STATIC, OPTIMISTIC), (STATIC, READ_ONLY, 4)),
        ("SELECT id FROM t", (FAST_FORWARD, OPTIMISTIC), (FAST_FORWARD, READ_ONLY, -1)),
        ("SELECT DISTINCT v FROM t", (KEYSET, OPTIMISTIC), (STATIC, READ_ONLY, 4)),
        ("SELECT id FROM t ORDER BY v", (DYNAMIC, OPTIMISTIC), (KEYSET, OPTIMISTIC, 4)),
        ("SELECT n FROM heap", (KEYSET, OPTIMISTIC), (KEYSET, OPTIMISTIC, 0)),  # a driver's keyset needs no index
    ],
)
def test_options_come_back_as_they_could_be_met(driver: Driver, text: str, asked: Any, got: Any) -> None:
    """scrollopt, ccopt and rowcount are outputs."""
    driver.run("CREATE TABLE heap (n int)")
    assert driver.open(text, *asked)[0][1:] == got
    assert driver.run("SELECT LEFT(properties, 3) FROM sys.dm_exec_cursors(@@SPID)").value == "API"


def test_the_result_names_its_tables_and_has_a_row_status(driver: Driver) -> None:
    """COLINFO: key, other name, expression; ROWSTAT is the last column, hidden."""
    result = driver.open("SELECT id, v AS word, id + 1 FROM t")[1]
    found = driver.drive(driver.interpreter.run_rpc("sp_cursorfetch", []))  # no cursor given
    assert found.errors == [16903]
    assert [c.name for c in result.columns[0]] == ["id", "word", "", "ROWSTAT"]
    tables, columns = (("OLTP", "dbo", "t"),), ((1, 8, "id"), (1, 0x20, "v"), (0, 4, ""), (0, 0x14, ""))
    assert browse(tables, columns) == (
        b"\xa4\x17\x00\x03" + b"".join(bytes((len(p), 0)) + p.encode("utf-16-le") for p in tables[0])
        + b"\xa5\x0f\x00" + b"\x01\x01\x08" + b"\x02\x01\x20\x01v\x00" + b"\x03\x00\x04" + b"\x04\x00\x14"
    )  # fmt: skip


def test_fetch_buffers(driver: Driver) -> None:
    """Blocks of rows in every direction; PREV that reaches beyond the first row begins at it and returns status 2."""
    cursor = driver.open("SELECT id FROM t")[0][0]
    assert driver.fetch(cursor, NEXT, 0, 3) == [(1, 1), (2, 1), (3, 1)]
    assert driver.fetch(cursor, NEXT, 0, 3) == [(4, 1)]
    back = driver.call(7, cursor, PRIOR, 0, 3)
    assert (back.rows, back.status) == ([(1, 1), (2, 1), (3, 1)], 0)
    assert driver.fetch(cursor, ABSOLUTE, 3, 1) == [(3, 1)]
    moved = driver.call(7, cursor, PRIOR, 0, 3)
    assert (moved.rows, moved.status) == ([(1, 1), (2, 1), (3, 1)], 2)
    assert driver.fetch(cursor, ABSOLUTE, -2, 5) == [(3, 1), (4, 1)]
    assert driver.fetch(cursor, 0x200, 0, 5) == [(1, 1), (2, 1)]
    assert driver.fetch(cursor, RELATIVE, 1, 2) == [(2, 1), (3, 1)]
    assert driver.fetch(cursor, LAST, 0, 2) == [(3, 1), (4, 1)]
    assert [v.value for v in driver.call(7, cursor, INFO, 0, 0, out=(2, 3)).values] == [3, 4]
    assert driver.call(7, cursor, FIRST, 0, 0).sets == []  # a position, no result
    assert driver.fetch(cursor, RELATIVE, 2) == [(2, 1)]


def test_missing_rows_have_fillers(driver: Driver) -> None:
    """ROWSTAT 2: NULL where there may be one, a blank value of the type elsewhere."""
    driver.run(
        "CREATE TABLE wide (id int PRIMARY KEY, d date NOT NULL, g uniqueidentifier NOT NULL, b binary(2) NOT NULL, n money)"
    )
    driver.run("INSERT wide VALUES (1, '2026-01-02', NEWID(), 0x01, 5)")
    cursor = driver.open("SELECT d, b, n, id FROM wide")[0][0]
    driver.run("DELETE wide")
    row = driver.fetch(cursor)[0]
    assert (str(row[0]), row[2:]) == ("1900-01-01", (None, 0, 2))


def test_positioned_changes(driver: Driver) -> None:
    """UPDATE, DELETE and INSERT by values named after columns of the select list, by text, for one row or all of the buffer."""
    cursor = driver.open("SELECT id AS key_, v FROM t")[0][0]
    driver.fetch(cursor, NEXT, 0, 3)
    assert driver.call(1, cursor, 33, 2, "", "B", names={4: "@v"}).errors == []
    assert driver.call(1, cursor, 1, 1, "dbo.t", "v = v + '!'").errors == []
    assert driver.call(1, cursor, 2, 3, "").errors == []
    assert driver.call(1, cursor, 4, 0, "", 7, "new", names={4: "@key_", 5: "@v"}).errors == []
    assert driver.call(1, cursor, 4, 0, "", "(8, 'text')").errors == []
    assert driver.run("SELECT * FROM t").rows == [(1, "a!"), (2, "B"), (4, "d"), (7, "new"), (8, "text")]
    driver.fetch(cursor, FIRST, 0, 2)
    assert driver.call(1, cursor, 1, 0, "", "SET v = 'all'").errors == []
    assert driver.fetch(cursor, REFRESH, 0, 0) == [(1, "all", 1), (2, "all", 1)]


@pytest.mark.parametrize(
    ("values", "number"),
    [
        ((99, 1), 16930),
        ((1, 1, "other"), 16933),
        ((1, 1), 16935),
        ((1, 0x41 & ~1), 16904),
        ((1, 0x400), 16902),
    ],
)
def test_positioned_changes_that_are_refused(driver: Driver, values: Any, number: int) -> None:
    """Row, table, values, options: each with its number."""
    cursor = driver.open("SELECT id, v FROM t")[0][0]
    driver.fetch(cursor)
    row, kind, *table = values
    assert driver.call(1, cursor, kind, row, *(table or [""])).errors == [number]


def test_optimistic_and_read_only(driver: Driver) -> None:
    """16947 where the row changed since, 16929 through a read-only cursor, 16931 with nothing fetched."""
    cursor = driver.open("SELECT id, v FROM t")[0][0]
    assert driver.call(1, cursor, 2, 1, "").errors == [16931]
    driver.fetch(cursor)
    Client(driver.host).run("UPDATE t SET v = 'theirs' WHERE id = 1")
    assert driver.call(1, cursor, 2, 1, "").errors == [16947]
    static = driver.open("SELECT id FROM t", STATIC)[0][0]
    driver.fetch(static)
    assert driver.call(1, static, 2, 1, "").errors == [16929]


def test_a_named_cursor_is_reached_by_where_current_of(driver: Driver) -> None:
    """sp_cursoroption 2 names it (SQLSetCursorName); SETPOSITION says which row of the buffer is meant."""
    cursor = driver.open("SELECT id, v FROM t")[0][0]
    driver.fetch(cursor, NEXT, 0, 3)
    assert driver.call(8, cursor, 2, "SQL_CUR1").errors == []
    driver.call(1, cursor, 0x20, 3, "")
    assert driver.run("UPDATE t SET v = 'third' WHERE CURRENT OF SQL_CUR1; SELECT v FROM t WHERE id = 3").value == "third"
    told = [driver.call(8, cursor, code, 0, out=(2,)).values[0].value for code in (4, 5, 6)]
    assert told == [KEYSET, OPTIMISTIC, 4]
    assert driver.call(8, cursor, 9, 0).errors == [16902]


def test_auto_fetch_and_auto_close(driver: Driver) -> None:
    """The first rows come with the open; a fast-forward cursor that gave its last row is closed (status 16)."""
    got, result = driver.open("SELECT id + @n FROM t", FAST_FORWARD + 0x7000, READ_ONLY, 10, "@n int", 10)
    assert (result.rows, result.status, got[3]) == ([(11, 1), (12, 1), (13, 1), (14, 1)], 16, 4)
    assert driver.call(9, got[0]).errors == [16909]
    got, result = driver.open("SELECT id FROM t", FAST_FORWARD + 0x6000, READ_ONLY, 3)
    assert (result.rows, result.status) == ([(1, 1), (2, 1), (3, 1)], 0)
    assert driver.fetch(got[0]) == [(4, 1)]


def test_statements_that_no_cursor_can_be_opened_on(driver: Driver) -> None:
    """Run directly with note 16954 where that is allowed, else 16937; a procedure's rows become a snapshot."""
    got, result = driver.open("UPDATE t SET v = 'x' WHERE id = 1 SELECT 5", STATIC, READ_ONLY + ALLOW_DIRECT)
    assert (got[0], result.rows, result.messages[0].number) == (0, [(5,)], 16954)
    assert driver.open("SELECT 1 SELECT 2")[1].errors == [16937]
    driver.run("CREATE PROCEDURE dbo.p @n int AS SELECT id FROM t WHERE id > @n")
    got, result = driver.open("EXEC dbo.p 2", KEYSET + 0x1000, OPTIMISTIC, 0, "", *())
    assert got[1:] == (STATIC, READ_ONLY, 2)
    assert driver.fetch(got[0], LAST) == [(4, 1)]


def test_types_that_a_client_does_not_take(driver: Driver) -> None:
    """CHECK_ACCEPTED_TYPES with only KEYSET_ACCEPTABLE: a query that gives a snapshot is refused (16955)."""
    assert driver.open("SELECT DISTINCT v FROM t", KEYSET + 0x8000 + 0x10000)[1].errors == [16955]
    assert driver.open("SELECT DISTINCT v FROM t", KEYSET + 0x8000 + 0x90000)[0][1] == STATIC


def test_prepared_cursors(driver: Driver) -> None:
    """Prepare, execute twice, prepare and execute in one, give up."""
    made = driver.call(3, None, "@n int", "SELECT id FROM t WHERE id > @n", 1, KEYSET, OPTIMISTIC, out=(0, 4, 5))
    assert [c.name for c in made.columns[0]] == ["id", "ROWSTAT"]
    handle = made.values[0].value
    for least, rows in ((1, 3), (3, 1)):
        values = [v.value for v in driver.call(4, handle, 0, 0, 0, 0, least, out=(1, 2, 3, 4)).values]
        assert values[1:] == [KEYSET, OPTIMISTIC, rows]
        assert driver.fetch(values[0]) == [(least + 1, 1)]
    text = "SELECT id FROM t WHERE id = @n"
    both = driver.call(5, None, None, "@n int", text, STATIC + 0x1000, READ_ONLY, 0, 2, out=(0, 1, 4, 5, 6))
    assert driver.fetch(both.values[1].value) == [(2, 1)]
    assert driver.call(6, handle).errors == []
    assert driver.call(6, handle).errors == [8179]
    assert driver.call(4, handle, 0, out=(1,)).errors == [8179]


@pytest.mark.parametrize(
    ("call", "number"),
    [
        ((7, 12345), 16909),
        ((9, 12345), 16909),
        ((2,), 16903),
        ((2, 0, None), 16902),
        ((2, 0, "SELECT nothing FROM t"), 207),
        ((2, 0, "SELECT 1", "scroll"), 8114),
        ((2, 0, "SELECT 1", 1, 4, "rows"), 8114),
        ((2, 0, "SELECT (", 1, 4), 102),
        ((2, 0, "SELECT @a", 0x1001, 4, 0, "@a nonsense", 1), 2715),
        ((2, 0, "SELECT @a", 0x1001, 4, 0, "@a int"), 8178),
        ((3, 0, "@a int"), 16903),
        ((5, 0, 0, 5, "SELECT 1"), 214),
        ((7, "x"), 8114),
        ((7, 1.5), 16909),
        ((8, 7), 16909),
        ((1, 7, 1), 16909),
    ],
)
def test_calls_that_are_refused(driver: Driver, call: Any, number: int) -> None:
    """Handles, missing parameters, statements."""
    assert driver.call(*call).errors == [number]


def test_fetches_that_are_refused(driver: Driver) -> None:
    """Kinds and numbers of rows that do not exist (16902); PREV where there is only forward (16911)."""
    cursor = driver.open("SELECT id FROM t")[0][0]
    for values in ((0,), (3,), (0x40,), (NEXT, 0, 0), (NEXT, 0, -1), (ABSOLUTE, 1, 2**31 - 1)):
        assert driver.call(7, cursor, *values).errors == [16902], values
    forward = driver.open("SELECT id FROM t", FORWARD_ONLY)[0][0]
    assert driver.call(7, forward, PRIOR, 0, 1).errors == [16911]
    assert driver.run("DELETE t WHERE CURRENT OF [\x01none]").errors == [16916]


def test_everything_is_closed(driver: Driver) -> None:
    """sp_cursorclose -1, and the reset of a pooled connection."""
    first, second = (driver.open("SELECT id FROM t")[0][0] for _ in range(2))
    assert driver.call(9, -1).errors == []
    assert driver.call(7, first).errors == driver.call(7, second).errors == [16909]
    third = driver.open("SELECT id FROM t")[0][0]
    driver.drive(driver.interpreter.reset())
    assert driver.call(7, third).errors == [16909]


def test_reports_on_cursors(driver: Driver) -> None:
    """sp_describe_cursor and its kin hand a cursor out, as documented."""
    driver.run("DECLARE abc SCROLL CURSOR FOR SELECT v, id FROM t ORDER BY id; OPEN abc; FETCH LAST FROM abc")
    call = "DECLARE @r CURSOR; EXEC {} @r OUTPUT, N'global', N'abc'; FETCH @r"
    row = driver.run(call.format("master.dbo.sp_describe_cursor")).rows[0]
    assert row[:8] == ("abc", "abc", 2, 1, 2, 3, 1, 1) and [int(v) for v in row[8:13]] == [4, 0, 2, 1, 2]
    assert [r[0] for r in driver.run(call.format("sp_describe_cursor_columns") + " FETCH @r").sets[1]] == ["id"]
    assert driver.run(call.format("sp_describe_cursor_tables")).rows[0][:2] == ("dbo", "t")
    assert driver.run("DECLARE @r CURSOR; EXEC sp_cursor_list @r OUTPUT, 2; FETCH @r").rows[0][0] == "abc"
    assert driver.run("DECLARE @r CURSOR; EXEC sp_describe_cursor @r OUTPUT, N'local', N'abc'").errors == [16916]
    assert driver.run("DECLARE @n int; EXEC sp_cursor_list @n OUTPUT, 2").errors == [16948]
