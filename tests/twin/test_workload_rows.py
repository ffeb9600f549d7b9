"""A TPC-C-like schema with real rows: concurrent sessions, deadlock victims, roll-backs, a killed process, a failover.

The T-SQL is that of chapter 3's lab, as it stands in the folder.
"""

from __future__ import annotations

import contextlib
import threading
import xml.etree.ElementTree as ET

import psutil
import pytest
from twin_client import PROFILE, Link, run

from aglab.core.paths import bundle_path
from aglab.lab.batches import split_batches
from aglab.twin import spawn_child

SCHEMA = bundle_path("labs", "03-workloads", "schema")
GRAPH = "SELECT target_data FROM sys.dm_xe_session_targets WHERE target_name = N'ring_buffer'"


def script(link, name, node="sql1"):
    """Run one of the lab's scripts; its last result set."""
    with contextlib.closing(link.connect(node, "OLTP")) as connection:
        sets = [run(connection, batch) for batch in split_batches((SCHEMA / f"{name}.sql").read_text(encoding="utf-8"))]
    return sets[-1][-1] if sets[-1] else []


def load(link):
    """Tables, procedures, rows."""
    for name in ("01_tables", "02_procedures", "03_load"):
        rows = script(link, name)
    return rows[0]


def mix(link, sessions=12, transactions=12, options=""):
    """Sessions that run the mix together; one row of counts for each."""
    rows, failures = {}, []
    connections = [link.connect(database="OLTP") for _ in range(sessions)]  # in order: their numbers decide who wakes first

    def user(number, connection):
        text = f"""EXEC twin.enroll @sessions = {sessions}
            WAITFOR DELAY '00:00:01'
            EXEC dbo.run_mix @user = {number}, @transactions = {transactions}, @seed = 42, @pause = '00:00:00.002'{options}
            EXEC twin.leave"""
        try:
            rows[number] = run(connection, text)[-1][0]
        except Exception as error:
            failures.append(str(error))

    threads = [threading.Thread(target=user, args=pair) for pair in enumerate(connections, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    for connection in connections:
        connection.close()
    assert not failures, failures[0]
    return [rows[number] for number in sorted(rows)]


def total(rows, name):
    """The sum of one count over all sessions."""
    return sum(row[name] for row in rows)


def broken(link, node="sql1"):
    """Consistency conditions that do not hold."""
    return [row["condition"] for row in script(link, "04_consistency", node) if row["violations"]]


@pytest.fixture
def loaded(own):
    """A twin with one small warehouse."""
    load(own)
    return own


def test_the_load_has_the_shape_that_was_asked_for(own):
    """A hundredth of the specification's customers and items, ten districts, and every condition holds."""
    assert load(own) == {"items": 1000, "stock": 1000, "customers": 300, "orders": 300, "order_lines": 2997}
    assert len(script(own, "04_consistency")) == 10 and broken(own) == []


def test_the_conditions_see_damage(loaded):
    """The check can fail: one lost payment breaks the sums that hold it."""
    loaded.sql("UPDATE dbo.district SET d_ytd = d_ytd - 1 WHERE d_w_id = 1 AND d_id = 3", database="OLTP")
    loaded.sql("DELETE FROM dbo.order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 1 AND ol_number = 1", database="OLTP")
    assert [name.split(" ")[0] for name in broken(loaded)] == ["1", "4", "6", "9"]


def test_concurrent_sessions_keep_every_condition(loaded):
    """Deadlock victims and rolled-back orders leave no trace in the rows, and the order ids count what was committed."""
    rows = mix(loaded)
    assert total(rows, "new_orders") + total(rows, "others") + total(rows, "rolled_back") + total(rows, "deadlock_victims") == 144
    assert total(rows, "deadlock_victims") > 0, "the mix as it is locks stock in any order"
    grown = loaded.value("SELECT SUM(d_next_o_id) - 310 FROM dbo.district", database="OLTP")
    assert grown == total(rows, "new_orders")
    assert broken(loaded) == []


def test_a_rolled_back_order_leaves_nothing(loaded):
    """An item that does not exist rolls the order back: no order, no line, no stock, and the number is given again."""
    before = loaded.rows(
        "SELECT SUM(s_ytd) AS y, (SELECT SUM(d_next_o_id) FROM dbo.district) AS n FROM dbo.stock", database="OLTP"
    )
    seed = next(seed for seed in range(11, 10_000_000, 4096) if seed // 4096 % 100 == 0)
    text = f"DECLARE @c int; EXEC @c = dbo.new_order 1, 1, 1, {seed}; SELECT @c AS code"
    assert loaded.value(text, database="OLTP") == 1
    after = loaded.rows(
        "SELECT SUM(s_ytd) AS y, (SELECT SUM(d_next_o_id) FROM dbo.district) AS n FROM dbo.stock", database="OLTP"
    )
    assert after == before and broken(loaded) == []


def test_the_same_seed_gives_the_same_run(loaded):
    """Counts and times of every session repeat: the twin has no luck in it."""
    loaded.sql("EXEC twin.snapshot @name = 'loaded'")
    first = mix(loaded, sessions=6, transactions=8)
    loaded.sql("EXEC twin.restore @name = 'loaded'")
    assert mix(loaded, sessions=6, transactions=8) == first


def test_locking_the_stock_in_one_order_ends_deadlocks(loaded):
    """Orders that lock their items by number cannot wait in a circle."""
    rows = mix(
        loaded, options=", @new_order = 92, @payment = 8, @order_status = 0, @delivery = 0, @stock_level = 0, @sort_lines = 1"
    )
    assert total(rows, "deadlock_victims") == 0 and total(rows, "new_orders") > 120


def test_a_deadlock_is_written_where_a_dba_looks(loaded):
    """Trace flags 1222 and 1204 write it to the errorlog, system_health keeps it as XML, and all name the same victim."""
    loaded.sql("DBCC TRACEON (1222, 1204, -1) WITH NO_INFOMSGS")
    rows = mix(loaded)
    lines = [row["Text"] for row in loaded.rows("EXEC sys.sp_readerrorlog 0, 1")]
    start = lines.index("deadlock-list")
    victim = lines[start + 1].split("victim=")[1]
    processes = [line for line in lines[start:] if line.startswith("   process id=")]
    assert any(f"id={victim} " in line and "isolationlevel=read committed (2)" in line for line in processes)
    assert any("frame procname=OLTP.dbo." in line for line in lines) and any("UPDATE dbo." in line for line in lines)
    assert any("keylock" in line and "objectname=OLTP.dbo." in line for line in lines)
    assert "Wait-for graph" in lines and "Victim Resource Owner:" in lines
    events = ET.fromstring(loaded.value(GRAPH)).findall("event")
    assert len(events) == total(rows, "deadlock_victims") == lines.count("deadlock-list")
    graph = events[0].find("data/value/deadlock")
    assert graph.find("victim-list/victimProcess").get("id") == victim
    assert {one.get("id") for one in graph.findall("process-list/process")} >= {victim}
    assert all(one.findall("owner-list/owner") and one.findall("waiter-list/waiter") for one in graph.find("resource-list"))


def test_without_the_trace_flags_the_errorlog_stays_quiet(loaded):
    """Only system_health keeps a deadlock by itself."""
    rows = mix(loaded)
    assert total(rows, "deadlock_victims") > 0
    assert not [row for row in loaded.rows("EXEC sys.sp_readerrorlog 0, 1, N'deadlock'") if "deadlock-list" in row["Text"]]
    assert loaded.value(GRAPH).count("<event ") == total(rows, "deadlock_victims")


def test_rows_hold_after_a_failover_to_a_synchronised_replica(loaded):
    """What the primary acknowledged is on the new primary, whole transactions only."""
    rows = mix(loaded)
    loaded.sql("EXEC sp_set_session_context N'external_cluster', N'yes'; ALTER AVAILABILITY GROUP ag1 FAILOVER", "sql2")
    assert broken(loaded, "sql2") == []
    grown = loaded.value("SELECT SUM(d_next_o_id) - 310 FROM dbo.district", "sql2", "OLTP")
    assert grown == total(rows, "new_orders")


def test_rows_hold_after_the_process_was_killed(tmp_path):
    """A twin that dies between two transactions and starts again has every row that was committed, and no half order."""
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        load(link)
        rows = mix(link, sessions=6, transactions=10)
        connection = link.connect(database="OLTP", autocommit=False)
        run(connection, "EXEC dbo.payment 1, 1, 1, 77; UPDATE dbo.warehouse SET w_ytd = w_ytd + 1000000")
        psutil.Process(twin.process_id).kill()
    with spawn_child(tmp_path / "s", profile=PROFILE) as twin:
        link = Link(twin)
        assert broken(link) == []
        assert link.value("SELECT SUM(d_next_o_id) - 310 FROM dbo.district", database="OLTP") == total(rows, "new_orders")
