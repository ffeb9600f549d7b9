"""T-SQL cursors: types, directions, positioned changes, scope, what the catalogue shows. As "DECLARE CURSOR", "FETCH",
"CURSOR_STATUS", "@@CURSOR_ROWS" and "sys.dm_exec_cursors" (SQL Server documentation) have it."""

from __future__ import annotations

import pytest

from .fakes import Client

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v varchar(10)); INSERT t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"


def client() -> Client:
    """A session with four rows."""
    one = Client()
    assert one.run(TABLE).errors == []
    return one


def neighbour(one: Client) -> Client:
    """Another session on the same node."""
    return Client(one.host)


def walk(one: Client, name: str) -> list[int]:
    """What FETCH NEXT gives until there is no more."""
    found = []
    while True:
        rows = one.run(f"FETCH NEXT FROM {name}").rows
        if not rows:
            return found
        found.append(rows[0][0])


@pytest.mark.parametrize(
    ("asked", "properties", "rows"),
    [
        ("c CURSOR FOR SELECT id FROM t", "Dynamic | Optimistic | Global (0)", -1),
        ("c SCROLL CURSOR FOR SELECT id FROM t", "Keyset | Optimistic | Global (0)", 4),
        ("c INSENSITIVE CURSOR FOR SELECT id FROM t", "Snapshot | Read Only | Global (0)", 4),
        ("c CURSOR KEYSET SCROLL_LOCKS FOR SELECT id FROM t", "Keyset | Scroll Locks | Global (0)", 4),
        ("c CURSOR FAST_FORWARD FOR SELECT id FROM t", "Fast_Forward | Read Only | Global (0)", -1),
        ("c CURSOR DYNAMIC FOR SELECT TOP 3 id FROM t", "Keyset | Optimistic | Global (0)", 3),
        ("c CURSOR DYNAMIC FOR SELECT id FROM t ORDER BY v", "Keyset | Optimistic | Global (0)", 4),
        ("c CURSOR DYNAMIC FOR SELECT id FROM t ORDER BY id DESC", "Dynamic | Optimistic | Global (0)", -1),
        ("c CURSOR DYNAMIC FOR SELECT COUNT(*) FROM t GROUP BY v", "Snapshot | Read Only | Global (0)", 4),
        ("c CURSOR KEYSET FOR SELECT n FROM heap", "Snapshot | Read Only | Global (0)", 1),
        ("c CURSOR KEYSET FOR SELECT a.id FROM t a JOIN t b ON b.id = a.id FOR READ ONLY", "Keyset | Read Only | Global (0)", 4),
    ],
)
def test_a_cursor_is_of_the_type_that_its_query_allows(asked: str, properties: str, rows: int) -> None:
    """Asked for and got, with @@CURSOR_ROWS."""
    one = client()
    one.run("CREATE TABLE heap (n int); INSERT heap VALUES (5)")
    assert one.run(f"DECLARE {asked}; OPEN c; SELECT @@CURSOR_ROWS").value == rows
    assert one.run("SELECT properties FROM sys.dm_exec_cursors(@@SPID)").value == "TSQL | " + properties


def test_a_type_warning_is_given_when_asked_for() -> None:
    """16956 tells of the conversion."""
    one = client()
    messages = one.run("DECLARE c CURSOR DYNAMIC TYPE_WARNING FOR SELECT DISTINCT v FROM t").messages
    assert [m.number for m in messages] == [16956]


def test_every_direction() -> None:
    """FIRST, LAST, PRIOR, ABSOLUTE from both ends, RELATIVE, and the two ends of the result."""
    one = client()
    one.run("DECLARE c CURSOR STATIC FOR SELECT id FROM t; OPEN c")
    for where, expected in [
        ("LAST", 4),
        ("NEXT", None),
        ("PRIOR", 4),
        ("FIRST", 1),
        ("RELATIVE 2", 3),
        ("RELATIVE -1", 2),
        ("ABSOLUTE -1", 4),
        ("ABSOLUTE 2", 2),
        ("RELATIVE 0", 2),
        ("ABSOLUTE 9", None),
        ("ABSOLUTE 0", None),
        ("PRIOR", None),
        ("NEXT", 1),
    ]:
        result = one.run(f"FETCH {where} FROM c; SELECT @@FETCH_STATUS")
        assert (result.sets[0], result.value) == (([(expected,)], 0) if expected else ([], -1)), where
    assert one.run("DECLARE @n int = -2 FETCH ABSOLUTE @n FROM c").rows == [(3,)]


def test_a_keyset_keeps_its_members_and_reads_their_values() -> None:
    """A changed value shows, a new row does not, a deleted row and one whose key changed are missing (-2)."""
    one = client()
    other = neighbour(one)
    one.run("DECLARE c CURSOR KEYSET FOR SELECT id, v FROM t WHERE v < 'd'; OPEN c")
    other.run(
        "UPDATE t SET v = 'z' WHERE id = 1; DELETE t WHERE id = 2; UPDATE t SET id = 30 WHERE id = 3; INSERT t VALUES (5, 'b')"
    )
    seen = [one.run("FETCH NEXT FROM c; SELECT @@FETCH_STATUS") for _ in range(4)]
    assert [(result.sets[0], result.value) for result in seen] == [([(1, "z")], 0), ([], -2), ([], -2), ([], -1)]


def test_a_dynamic_cursor_sees_what_others_commit() -> None:
    """Rows ahead that are new, gone or changed, and the place it had when its row is deleted."""
    one = client()
    other = neighbour(one)
    one.run("DECLARE c CURSOR DYNAMIC FOR SELECT id FROM t WHERE v < 'x'; OPEN c")
    assert one.run("FETCH NEXT FROM c FETCH NEXT FROM c").rows == [(2,)]
    other.run("DELETE t WHERE id IN (2, 3); INSERT t VALUES (5, 'e'), (6, 'x')")
    assert one.run("FETCH NEXT FROM c").rows == [(4,)]
    assert one.run("FETCH PRIOR FROM c").rows == [(1,)]
    assert walk(one, "c") == [4, 5]
    assert one.run("FETCH ABSOLUTE 1 FROM c").errors == [16925]


def test_a_dynamic_cursor_goes_on_where_its_deleted_row_stood() -> None:
    """Delete the current row, then go either way."""
    one = client()
    one.run("DECLARE c CURSOR DYNAMIC FOR SELECT id FROM t; OPEN c; FETCH NEXT FROM c; FETCH NEXT FROM c; FETCH NEXT FROM c")
    one.run("DELETE t WHERE CURRENT OF c")
    assert one.run("FETCH PRIOR FROM c").rows == [(2,)]
    assert walk(one, "c") == [4]


def test_positioned_update_and_delete() -> None:
    """Through a join the named table only; FOR UPDATE OF limits the columns; a cursor without a row has none to change."""
    one = client()
    one.run("DECLARE c CURSOR FOR SELECT a.id FROM t a WHERE id > 1 FOR UPDATE OF v; OPEN c")
    assert one.run("UPDATE t SET v = 'n' WHERE CURRENT OF c").errors == [16931]
    one.run("FETCH NEXT FROM c")
    assert one.run("UPDATE t SET id = 9 WHERE CURRENT OF c").errors == [16932]
    assert one.run("UPDATE t SET v = v + '!' WHERE CURRENT OF c; SELECT @@ROWCOUNT").value == 1
    assert one.run("UPDATE t SET v += '!' OUTPUT inserted.id, inserted.v WHERE CURRENT OF c").rows == [(2, "b!!")]
    one.run("CREATE TABLE other (id int PRIMARY KEY)")
    assert one.run("DELETE other WHERE CURRENT OF c").errors == [16933]
    one.run("DELETE FROM t WHERE CURRENT OF c")
    assert one.run("DELETE FROM t WHERE CURRENT OF c").errors == [16947]
    assert one.run("SELECT id FROM t").rows == [(1,), (3,), (4,)]
    assert one.run("DELETE t WHERE CURRENT OF nobody").errors == [16916]


def test_optimistic_concurrency() -> None:
    """A row that another changed since the fetch is not changed: 16947, then 16934."""
    one = client()
    one.run("DECLARE c CURSOR KEYSET FOR SELECT id FROM t; OPEN c; FETCH NEXT FROM c")
    neighbour(one).run("UPDATE t SET v = 'mine' WHERE id = 1")
    assert [m.number for m in one.run("UPDATE t SET v = 'yours' WHERE CURRENT OF c").messages][:2] == [16947, 16934]
    assert one.run("FETCH FIRST FROM c UPDATE t SET v = 'now' WHERE CURRENT OF c SELECT v FROM t WHERE id = 1").value == "now"


def test_scroll_locks_hold_the_fetched_row_until_the_next_fetch() -> None:
    """Another session cannot change it; it can once the cursor moved or closed."""
    one = client()
    other = neighbour(one)
    other.run("SET LOCK_TIMEOUT 0")
    one.run("DECLARE c CURSOR KEYSET SCROLL_LOCKS FOR SELECT id FROM t; OPEN c; FETCH NEXT FROM c")
    one.run("SELECT COUNT(*) FROM t")  # the end of another statement does not give the lock up
    assert other.run("UPDATE t SET v = 'x' WHERE id = 1").errors == [1222]
    assert other.run("UPDATE t SET v = 'x' WHERE id = 2").errors == []
    one.run("FETCH NEXT FROM c")
    assert other.run("UPDATE t SET v = 'x' WHERE id = 1").errors == []
    assert other.run("UPDATE t SET v = 'x' WHERE id = 2").errors == [1222]
    assert one.run("UPDATE t SET v = 'sure' WHERE CURRENT OF c").errors == []
    one.run("CLOSE c")
    assert other.run("UPDATE t SET v = 'x' WHERE id = 2").errors == []


def test_a_fetch_waits_for_another_transaction() -> None:
    """READ COMMITTED: a row that is being changed is not read."""
    one = client()
    other = neighbour(one)
    one.run("SET LOCK_TIMEOUT 0; DECLARE c CURSOR KEYSET FOR SELECT v FROM t; OPEN c")
    other.run("BEGIN TRAN; UPDATE t SET v = 'dirty' WHERE id = 1")
    assert one.run("FETCH NEXT FROM c").errors == [1222]
    other.run("ROLLBACK")
    assert one.run("FETCH NEXT FROM c").rows == [("a",)]


def test_variables_in_the_query_have_the_values_of_the_declaration() -> None:
    """A later SET does not matter."""
    one = client()
    text = "DECLARE @n int = 2 DECLARE c CURSOR FOR SELECT id FROM t WHERE id > @n SET @n = 0 OPEN c FETCH c"
    assert one.run(text).rows == [(3,)]


def test_local_and_global() -> None:
    """LOCAL ends with its batch and hides a GLOBAL of its name; CURSOR_DEFAULT decides where neither is said."""
    one = client()
    one.run("DECLARE c CURSOR LOCAL FOR SELECT 1; OPEN c")
    assert one.run("FETCH c").errors == [16916]
    one.run("DECLARE c CURSOR GLOBAL FOR SELECT 2; OPEN c")
    assert one.run("DECLARE c CURSOR LOCAL FOR SELECT 1; OPEN c; FETCH c; FETCH GLOBAL c").sets == [[(1,)], [(2,)]]
    one.run("ALTER DATABASE OLTP SET CURSOR_DEFAULT LOCAL")
    assert one.run("DECLARE d CURSOR FOR SELECT 1; SELECT CURSOR_STATUS('local', 'd'), CURSOR_STATUS('global', 'd')").rows == [
        (-1, -3)
    ]
    assert one.run("OPEN d").errors == [16916]


def test_cursor_status() -> None:
    """1 with rows, 0 without, -1 closed, -2 and -3 as documented."""
    one = client()
    one.run(
        "DECLARE c CURSOR KEYSET FOR SELECT id FROM t WHERE id > 9; DECLARE d CURSOR DYNAMIC FOR SELECT id FROM t WHERE id > 9"
    )
    states = "SELECT CURSOR_STATUS('global', 'c'), CURSOR_STATUS('global', 'd'), CURSOR_STATUS('global', 'e')"
    assert one.run(states).rows == [(-1, -1, -3)]
    assert one.run("OPEN c OPEN d " + states).rows == [(0, 1, -3)]
    assert one.run("DECLARE @c CURSOR SELECT CURSOR_STATUS('variable', '@c'), CURSOR_STATUS('variable', '@d')").rows == [(-2, -3)]


def test_cursor_variables_and_output_parameters() -> None:
    """SET, assignment of a name, a procedure that hands its cursor out, and the errors of variables without one."""
    one = client()
    one.run("CREATE PROCEDURE dbo.p @out CURSOR VARYING OUTPUT AS SET @out = CURSOR STATIC FOR SELECT id FROM t; OPEN @out")
    assert one.run("DECLARE @c CURSOR; EXEC dbo.p @c OUTPUT; FETCH LAST FROM @c; CLOSE @c; DEALLOCATE @c; FETCH @c").sets == [
        [(4,)]
    ]
    assert one.run("DECLARE @c CURSOR; FETCH @c").errors == [16950]
    assert one.run("DECLARE @n int; OPEN @n").errors == [16948]
    one.run("DECLARE g CURSOR FOR SELECT id FROM t; OPEN g")
    assert one.run("DECLARE @c CURSOR; SET @c = g; DEALLOCATE g; FETCH @c").rows == [(1,)]
    assert one.run("FETCH g").errors == [16916]


def test_a_table_that_changed_its_shape_ends_the_cursor() -> None:
    """16943."""
    one = client()
    one.run("DECLARE c CURSOR KEYSET FOR SELECT id FROM t; OPEN c; FETCH c; ALTER TABLE t ADD w int")
    assert one.run("FETCH c").errors == [16943]


def test_close_on_commit() -> None:
    """SET CURSOR_CLOSE_ON_COMMIT ON closes at the end of a transaction; otherwise a cursor stays open."""
    one = client()
    one.run("DECLARE c CURSOR FOR SELECT id FROM t; OPEN c; BEGIN TRAN; COMMIT")
    assert one.run("FETCH c").rows == [(1,)]
    one.run("SET CURSOR_CLOSE_ON_COMMIT ON; BEGIN TRAN; COMMIT")
    assert one.run("FETCH c").errors == [16917]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("DECLARE c CURSOR FORWARD_ONLY SCROLL FOR SELECT 1", 1048),
        ("DECLARE c SCROLL CURSOR STATIC FOR SELECT 1", 1049),
        ("DECLARE c CURSOR STATIC FOR SELECT id FROM t FOR UPDATE", 16957),
        ("DECLARE c CURSOR FOR SELECT 1 DECLARE c CURSOR FOR SELECT 1", 16915),
        ("DECLARE c CURSOR FOR SELECT 1 OPEN c OPEN c", 16905),
        ("DECLARE c CURSOR FOR SELECT 1 FETCH c", 16917),
        ("DECLARE c CURSOR FOR SELECT 1 OPEN c DECLARE @a int, @b int FETCH c INTO @a, @b", 16924),
        ("DECLARE c CURSOR FOR SELECT nothing FROM t", 207),
        ("DECLARE c CURSOR FOR SELECT id FROM t OPEN c FETCH PRIOR FROM c", 16911),
    ],
)
def test_errors(text: str, number: int) -> None:
    """Each with SQL Server's number."""
    assert client().run(text).errors == [number]
