"""Two sessions over the same rows: waiting, deadlock, time-out, isolation, what a commit ships."""

from __future__ import annotations

import pytest

from aglab.tsql import RowChange, SchemaChange
from aglab.tsql.effects import Cancelled
from aglab.tsql.locks import LockManager, Resource, join
from aglab.tsql.store.database import Database

from .fakes import Client, FakeHost, World

ROWS = "create table t(id int primary key, v int); insert t values (1, 10), (2, 20)"


def two() -> tuple[FakeHost, Client, Client]:
    host = FakeHost("OLTP")
    a, b = Client(host), Client(host)
    a.run(ROWS)
    return host, a, b


CROSS_A = "begin tran update t set v = v + 1 where id = 1 waitfor delay '00:00:01' update t set v = v + 1 where id = 2 commit"
CROSS_B = "begin tran update t set v = v + 100 where id = 2 waitfor delay '00:00:01' update t set v = v + 100 where id = 1 commit"


def test_a_deadlock_has_one_victim_with_error_1205() -> None:
    """Two sessions that update two rows in opposite order: one is rolled back, the other commits."""
    host, a, b = two()
    world = World(host)
    first, second = world.start(a, CROSS_A), world.start(b, CROSS_B)
    world.run()
    assert [first.errors, second.errors] == [[], [1205]]
    message = second.messages[0]
    assert (message.severity, message.state) == (13, 51)
    assert message.text.startswith(f"Transaction (Process ID {b.session.spid}) was deadlocked on lock resources")
    assert a.run("select v from t order by id").rows == [(11,), (21,)]
    assert host.instance.locks.deadlocks[-1].victim == b.session.spid
    assert list(host.instance.locks.rows()) == []


def test_deadlock_priority_decides_before_cost() -> None:
    """The session with the lower DEADLOCK_PRIORITY dies even if it closed no cycle."""
    host, a, b = two()
    a.run("set deadlock_priority low")
    world = World(host)
    first, second = world.start(a, CROSS_A), world.start(b, CROSS_B)
    world.run()
    assert [first.errors, second.errors] == [[1205], []]


def test_a_caught_deadlock_leaves_a_doomed_transaction() -> None:
    """In TRY the victim keeps an uncommittable transaction until it rolls back, and the other waits that long."""
    host, a, b = two()
    world = World(host)
    text = CROSS_B.replace("begin tran", "begin try begin tran", 1) + " end try"
    text += " begin catch select error_number(), xact_state() rollback end catch"
    first, second = world.start(a, CROSS_A), world.start(b, text)
    world.run()
    assert second.rows == [(1205, -1)] and first.errors == [] and second.errors == []


def test_a_reader_waits_for_a_writer_and_then_sees_the_commit() -> None:
    """READ COMMITTED reads block on an uncommitted row."""
    host, a, b = two()
    world = World(host)
    world.start(a, "begin tran update t set v = 99 where id = 1 waitfor delay '00:00:05' commit")
    reader = world.start(b, "select v from t where id = 1 select getdate()")
    world.run()
    assert reader.sets[0] == [(99,)]
    assert [w.wait_type for w in reader.waits] == ["LCK_M_S"]
    assert host.time_s == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select v from t where id = 2", 20),
        ("select v from t with (nolock) where id = 1", 99),
        ("set transaction isolation level read uncommitted select v from t where id = 1", 99),
        ("select max(v) from t with (readpast)", 20),
    ],
)
def test_readers_that_do_not_wait(text: str, expected: int) -> None:
    """Another row, dirty reads and READPAST go on beside a writer."""
    _, a, b = two()
    a.run("begin tran update t set v = 99 where id = 1")
    assert b.run(text).value == expected


def test_row_versioning_reads_the_committed_value() -> None:
    """With READ_COMMITTED_SNAPSHOT readers see the row before the open transaction, deleted and inserted rows too."""
    _, a, b = two()
    a.run("alter database OLTP set read_committed_snapshot on")
    a.run("begin tran update t set v = 99 where id = 1 delete t where id = 2 insert t values (3, 30)")
    assert b.run("select id, v from t order by id").rows == [(1, 10), (2, 20)]
    assert a.run("select id, v from t order by id").rows == [(1, 99), (3, 30)]


def test_lock_timeout_is_error_1222_and_the_batch_goes_on() -> None:
    """SET LOCK_TIMEOUT in milliseconds; 0 does not wait at all."""
    host, a, b = two()
    a.run("begin tran update t set v = 99 where id = 1")
    result = b.run("set lock_timeout 0 update t set v = 1 where id = 1 select 'next'")
    assert result.errors == [1222] and result.value == "next"
    world = World(host)
    later = world.start(b, "set lock_timeout 1500 select v from t where id = 1")
    world.run()
    assert later.errors == [1222] and host.time_s == 1.5


def test_repeatable_read_keeps_its_rows() -> None:
    """A row read under REPEATABLE READ cannot be updated until the reader ends."""
    host, a, b = two()
    a.run("set transaction isolation level repeatable read begin tran select v from t where id = 1")
    assert b.run("set lock_timeout 0 update t set v = 0 where id = 1").errors == [1222]
    assert b.run("update t set v = 0 where id = 2").errors == []
    a.run("commit")
    assert b.run("update t set v = 0 where id = 1").errors == []
    _ = host


def test_serializable_keeps_new_rows_out() -> None:
    """A phantom cannot be inserted while a serializable reader is open."""
    _, a, b = two()
    a.run("set transaction isolation level serializable begin tran select count(*) from t")
    assert b.run("set lock_timeout 0 insert t values (3, 30)").errors == [1222]


def test_an_insert_waits_for_an_uncommitted_duplicate() -> None:
    """The same key, not yet committed elsewhere: wait, then 2627 after a commit, success after a rollback."""
    for end, errors in (("commit", [2627]), ("rollback", [])):
        host, a, b = two()
        world = World(host)
        world.start(a, f"begin tran insert t values (5, 1) waitfor delay '00:00:01' {end}")
        second = world.start(b, "insert t values (5, 2)")
        world.run()
        assert second.errors == errors


def test_a_scan_blocks_where_a_seek_does_not() -> None:
    """Without an index on the filtered column an update looks at every row, the locked one too."""
    _, a, b = two()
    a.run("begin tran update t set v = 99 where id = 1")
    assert b.run("set lock_timeout 0 update t set v = 5 where v = 20").errors == [1222]
    assert b.run("update t set v = 5 where id = 2").errors == []


def test_holdlock_updlock_and_tablockx() -> None:
    """Hints keep locks until the end of the transaction."""
    _, a, b = two()
    a.run("begin tran select v from t with (updlock) where id = 1")
    assert b.run("set lock_timeout 0 select v from t where id = 1").errors == []
    assert b.run("update t set v = 0 where id = 1").errors == [1222]
    a.run("rollback begin tran select v from t with (tablockx)")
    assert b.run("select v from t where id = 2").errors == [1222]


def test_attention_cancels_a_lock_wait_and_keeps_the_transaction() -> None:
    """Cancelled is thrown into the waiting batch: the request leaves the queue, the open transaction stays."""
    _, a, b = two()
    a.run("begin tran update t set v = 99 where id = 1")
    b.run("begin tran update t set v = 5 where id = 2")
    generator = b.interpreter.run_batch("select v from t where id = 1")
    wait = next(generator)
    assert b.session.status == "suspended" and wait.wait_type == "LCK_M_S"
    with pytest.raises(Cancelled):
        generator.throw(Cancelled())
    assert b.session.trancount == 1 and b.session.status == "sleeping"
    assert [row[3] for row in b.host.instance.locks.rows() if row[3] != "GRANT"] == []


def test_a_client_that_leaves_rolls_back() -> None:
    """Closing the session undoes its transaction and frees its rows."""
    _, a, b = two()
    a.run("begin tran update t set v = 99 where id = 1")
    a.interpreter.close()
    assert b.run("select v from t where id = 1").value == 10


def test_blocking_shows_in_the_views() -> None:
    """sys.dm_tran_locks, sys.dm_exec_requests and sp_who2 name the blocker."""
    host, a, b = two()
    watcher = Client(host)
    a.run("begin tran update t set v = 99 where id = 1")
    generator = b.interpreter.run_batch("update t set v = 1 where id = 1")
    next(generator)
    found = watcher.run(
        "select session_id, blocking_session_id, wait_type from sys.dm_exec_requests where wait_type like 'LCK%'"
    ).rows
    assert found == [(b.session.spid, a.session.spid, "LCK_M_U")]
    assert watcher.run("select count(*) from sys.dm_tran_locks where request_status = 'WAIT'").value == 1
    assert str(a.session.spid) in {row[4].strip() for row in watcher.run("exec sp_who2").rows}
    generator.close()


def test_a_commit_ships_its_rows_in_order_to_a_secondary() -> None:
    """Records hold the rows before and after in log order, a rolled-back part not at all."""
    host, a, _ = two()
    host.commits.clear()
    text = "begin tran insert t values (3, 30) save tran s insert t values (4, 40) rollback tran s"
    a.run(text + " update t set v = 11 where id = 1 delete t where id = 2 commit")
    (record,) = host.commits
    assert [(c.before, c.after) for c in record.changes if isinstance(c, RowChange)] == [
        (None, (3, 30)),
        ((1, 10), (1, 11)),
        ((2, 20), None),
    ]
    assert record.log_bytes > 500 and record.database == "OLTP" and record.session_id == a.session.spid


def test_a_secondary_that_applies_every_record_has_the_same_rows() -> None:
    """Tables, identity, truncation and drops follow."""
    host = FakeHost("OLTP")
    a = Client(host)
    a.run("create table t(id int identity primary key, v varchar(20)); insert t values ('a'), ('b'); create table gone(i int)")
    a.run("alter table t add n int; update t set n = 1; drop table gone")
    a.run("create schema s2")
    a.run("create table e(i int); insert e values (1); truncate table e")
    a.run("create procedure pp as select 1")
    secondary = Database("OLTP", 5)
    for record in host.commits:
        secondary.apply(record)
    source = host.instance.database("OLTP")
    assert source is not None
    for key, item in source.objects.items():
        assert getattr(secondary.objects[key], "rows", None) == getattr(item, "rows", None)
    assert set(secondary.objects) == set(source.objects) and "s2" in secondary.schemas
    table = secondary.find("dbo", "t")
    assert table is not None and table.identity_next == 3
    assert any(isinstance(change, SchemaChange) for record in host.commits for change in record.changes)


def test_a_commit_may_wait_for_the_log() -> None:
    """The node's commit hook yields a wait; locks are held until it ends."""
    host, a, _ = two()
    host.commit_wait_s = 0.25
    result = a.run("update t set v = 0 where id = 1")
    assert [w.wait_type for w in result.waits] == ["WRITELOG"] and host.time_s == 0.25


def test_implicit_transactions_open_by_themselves() -> None:
    """IMPLICIT_TRANSACTIONS: the first statement begins, COMMIT ends."""
    _, a, b = two()
    a.run("set implicit_transactions on update t set v = 1 where id = 1")
    assert a.session.trancount == 1
    assert b.run("set lock_timeout 0 select v from t where id = 1").errors == [1222]
    a.run("commit")
    assert b.run("select v from t where id = 1").value == 1


def test_modes_join_and_queues_are_fair() -> None:
    """S and IX make SIX; a new S waits behind a queued X; conversions go first."""
    assert join("S", "IX") == "SIX" and join("U", "S") == "U" and join("X", "S") == "X" and join("S", "S") == "S"
    locks = LockManager()
    row = Resource("KEY", 5, 1, 7)
    assert locks.request(1, row, "S").state == "granted"
    waiting = locks.request(2, row, "X")
    behind = locks.request(3, row, "S")
    assert (waiting.state, behind.state) == ("waiting", "waiting")
    assert locks.blocker(2) == 1 and locks.blocker(3) == 2
    locks.release_all(1)
    assert (waiting.state, behind.state) == ("granted", "waiting")
    locks.release(2, row)
    assert behind.settled() and locks.mode_held(3, row) == "S"
    locks.release_all(3)
    assert list(locks.rows()) == []


def test_application_locks() -> None:
    """sp_getapplock grants, times out and releases."""
    _, a, b = two()
    take = "declare @r int exec @r = sp_getapplock 'job', 'Exclusive', 'Session', 0 select @r"
    assert a.run(take).value == 0
    assert b.run(take).value == -1
    assert a.run("declare @r int exec @r = sp_releaseapplock 'job' select @r").value == 0
    assert b.run("declare @r int exec @r = sp_releaseapplock 'job' select @r").value == -999


def test_escalation_takes_the_table() -> None:
    """Beyond five thousand rows one table lock replaces the row locks."""
    host, a, _ = two()
    a.run("create table big(i int); insert big select value from generate_series(1, 6000)")
    a.run("begin tran update big set i = i + 1")
    assert {(r.kind, mode) for _, r, mode, _ in host.instance.locks.rows()} == {("OBJECT", "X")}
