"""Virtual time and the simulated load, through real clients."""

import contextlib
import threading
import time

import pytest
from twin_client import fails, run, until

from aglab.lab.driver import Connection

DL560_LOOP = """
DECLARE @v1 BIGINT, @delay SMALLINT = 300, @time DATETIME, @cnt INT = 0;
WHILE @cnt < 36
BEGIN
    SELECT @time = DATEADD(SECOND, @delay, '00:00:00');
    SELECT @v1 = cntr_value FROM master.sys.dm_os_performance_counters WHERE counter_name = 'Batch Requests/sec';
    WAITFOR DELAY @time;
    SELECT (cntr_value - @v1)/@delay FROM master.sys.dm_os_performance_counters WHERE counter_name='Batch Requests/sec';
    SET @cnt = @cnt + 1;
END;
"""


def test_waitfor_takes_virtual_time(own):
    """Two virtual hours pass to the second, and nobody waits for them."""
    begun = time.monotonic()
    seconds = own.value(
        "DECLARE @t datetime2 = SYSDATETIME(); WAITFOR DELAY '02:00:00'; SELECT DATEDIFF(SECOND, @t, SYSDATETIME()) AS s"
    )
    assert seconds == 7200 and time.monotonic() - begun < seconds / 60


def test_batch_requests_loop_agrees_with_the_engine(own):
    """The monitoring loop of the DL560 paper, 36 x 5 minutes while a load runs: far faster than the wall, and every value is the
    engine's own."""
    with contextlib.closing(own.connect()) as connection:
        run(connection, "EXEC twin.start_workload @users = 10")
        start = run(connection, "EXEC twin.status")[-1][0]["clock_s"]
        begun = time.monotonic()
        sets = run(connection, DL560_LOOP)
        took_s = time.monotonic() - begun
        values = [next(iter(rows[0].values())) for rows in sets if rows]
        assert len(values) == 36 and took_s < 36 * 300 / 60
        recorded = run(connection, f"EXEC twin.recording @seconds = {36 * 300}, @every_s = 300")[-1]
        run(connection, "EXEC twin.stop_workload")
    engine = [row["SQLServer:SQL Statistics\\Batch Requests/sec"] for row in recorded if row["node"] == "sql1"]
    assert len(engine) == 36 and recorded[0]["time_s"] == pytest.approx(start + 300)
    for value, rate in zip(values, engine, strict=True):
        assert value > 0 and value == pytest.approx(rate, rel=0.002, abs=1.5)


def test_same_start_same_numbers(tmp_path):
    """Two twins that start alike print the same clock and the same counters."""
    from twin_client import Link

    from aglab.twin import spawn_child

    seen = []
    for name in ("a", "b"):
        with spawn_child(tmp_path / name, profile="laptop-generic") as twin:
            link = Link(twin)
            link.sql("EXEC twin.run_workload @seconds = 60, @users = 8")
            text = """SELECT cntr_value, SYSDATETIME() AS at FROM sys.dm_os_performance_counters
                      WHERE counter_name = 'Transactions/sec' AND instance_name = 'OLTP'"""
            seen.append(link.rows(text))
    assert seen[0] == seen[1] and seen[0][0]["cntr_value"] > 0


def test_counters_are_cumulative_and_stand_still_without_load(own):
    """Totals grow while the load runs and stop with it."""
    text = """SELECT cntr_value FROM sys.dm_os_performance_counters
              WHERE counter_name = 'Log Bytes Flushed/sec' AND instance_name = 'OLTP'"""
    own.sql("EXEC twin.run_workload @seconds = 10")
    first = own.value(text)
    own.sql("EXEC twin.advance @seconds = 60")
    assert first > 0 and own.value(text) == first


def test_deadlock_of_two_sessions(own):
    """Two enrolled sessions that lock two rows in opposite order: exactly one is the victim (1205), the other goes on."""
    own.sql("CREATE TABLE dbo.d (id int NOT NULL PRIMARY KEY, v int)", database="OLTP")
    own.sql("INSERT INTO dbo.d VALUES (1, 0), (2, 0)", database="OLTP")
    outcome = {}

    def session(name, first, second):
        with contextlib.closing(own.connect(database="OLTP")) as connection:
            text = f"""
                EXEC twin.enroll @sessions = 2
                BEGIN TRAN
                UPDATE dbo.d SET v = v + 1 WHERE id = {first}
                WAITFOR DELAY '00:00:05'
                UPDATE dbo.d SET v = v + 1 WHERE id = {second}
                COMMIT
                EXEC twin.leave"""
            try:
                run(connection, text)
                outcome[name] = "committed"
            except Exception as error:
                outcome[name] = str(error)

    threads = [threading.Thread(target=session, args=one) for one in (("a", 1, 2), ("b", 2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    victims = [text for text in outcome.values() if text != "committed"]
    assert len(outcome) == 2 and len(victims) == 1 and "deadlock victim" in victims[0]
    assert own.rows("SELECT v FROM dbo.d", database="OLTP") == [{"v": 1}, {"v": 1}]
    assert own.value("SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'Number of Deadlocks/sec'") == 1


def test_a_blocked_session_waits_for_the_commit(own):
    """A reader that meets an uncommitted row waits (LCK), and reads the committed value when it is there."""
    own.sql("CREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY, v int); INSERT INTO dbo.b VALUES (1, 0)", database="OLTP")
    seen = []
    with contextlib.closing(own.connect(database="OLTP")) as writer:
        run(writer, "BEGIN TRAN; UPDATE dbo.b SET v = 7 WHERE id = 1")
        reader = threading.Thread(target=lambda: seen.append(own.value("SELECT v FROM dbo.b WHERE id = 1", database="OLTP")))
        reader.start()
        until(lambda: run(writer, "SELECT COUNT(*) AS n FROM sys.dm_exec_requests WHERE blocking_session_id > 0")[0][0]["n"] == 1)
        run(writer, "COMMIT")
        reader.join(20)
    assert seen == [7]


def test_a_loop_without_end_costs_others_nothing(own):
    """A WHILE 1 = 1 that does nothing lets others work, and ends when its client cancels it."""
    with contextlib.closing(own.connect()) as looping, contextlib.closing(own.connect()) as other:
        looping.timeout = 5
        said = []
        thread = threading.Thread(target=lambda: said.append(fails(looping, "DECLARE @i int = 0; WHILE 1 = 1 SET @i = 1")))
        thread.start()
        until(lambda: run(other, "SELECT COUNT(*) AS n FROM sys.dm_exec_requests WHERE status <> 'background'")[0][0]["n"] > 1)
        assert run(other, "SELECT 1 AS one") == [[{"one": 1}]] and thread.is_alive()
        thread.join(20)
        assert "imeout" in said[0] and run(looping, "SELECT 2 AS two") == [[{"two": 2}]]


def test_a_join_of_everything_ends_when_its_client_gives_up(own):
    """One statement that computes on and on hears its client's attention; the node then serves as before."""
    endless = (
        "SELECT COUNT(*) FROM GENERATE_SERIES(1, 4000) AS a CROSS JOIN GENERATE_SERIES(1, 4000) AS b WHERE a.value + b.value = 0"
    )
    with contextlib.closing(own.connect()) as computing:
        computing.timeout = 1
        assert "imeout" in fails(computing, endless)
        assert run(computing, "SELECT 2 AS two") == [[{"two": 2}]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("twin.start_workload @users = -5", "users=-5"),
        ("twin.start_workload @users = 1e12", "must be 1 to"),
        ("twin.run_workload @seconds = 0", "must be > 0"),
        ("twin.advance @seconds = -1", "must be > 0"),
        ("twin.advance @seconds = 100000000", "in several steps"),
        ("twin.set_pace @pace = 'warp'", "use fast, 1x or 60x"),
        ("twin.restart_node @node = 'sql9'", "did you mean"),
        ("twin.restart_node @node = 'sql2', @startup_options = '-q9'", "startup option '-q9'"),
        ("twin.restart_node @node = 'sql2', @startup_options = '-k0'", "-k=0"),
        ("twin.set_profile @profile = 'cray'", "profile 'cray' is not known"),
        ("twin.snapshot @name = '../x'", "snapshot name"),
        ("twin.restore @name = 'never'", "snapshot 'never' is not known"),
        ("twin.cut @node = 'sql9'", "did you mean"),
        ("twin.delay @rtt_us = -1", "must be 0 to"),
        ("twin.recording @every_s = 0", "every_s"),
        ("twin.enroll @sessions = 0", "sessions=0"),
        ("twin.nosuch", "twin.nosuch"),
    ],
)
def test_bad_arguments_are_one_clear_error(link, call, words):
    """A wrong argument names the value, the limit and a remedy; nothing changes."""
    with contextlib.closing(link.connect()) as connection:
        assert words in fails(connection, f"EXEC {call}")


def test_pace_of_the_wall(own):
    """At 60x a minute of WAITFOR takes a second of wall time; advance still jumps."""
    with contextlib.closing(own.connect()) as connection:
        run(connection, "EXEC twin.set_pace @pace = '60x'")
        begun = time.monotonic()
        run(connection, "WAITFOR DELAY '00:01:00'")
        assert 0.9 < time.monotonic() - begun < 30
        begun = time.monotonic()
        run(connection, "EXEC twin.advance @seconds = 36000")
        assert time.monotonic() - begun < 36000 / 60 / 10


def test_a_connection_closed_while_another_thread_uses_it(own):
    """Closing under a running batch, as Ctrl-C in a notebook does, cancels the batch; the process lives and the session goes."""
    connection = Connection("127.0.0.1", own.ports["sql1"], "sa", own.twin.password(), node="sql1")
    session = int(connection.run("SELECT @@SPID AS id").tables[0]["id"][0])
    said = []

    def loop():
        try:
            connection.run("DECLARE @i int = 0; WHILE 1 = 1 SET @i = 1")
        except Exception as error:
            said.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    busy = f"SELECT COUNT(*) AS n FROM sys.dm_exec_requests WHERE session_id = {session}"
    until(lambda: own.value(busy) == 1)
    connection.close()
    thread.join(60)
    assert not thread.is_alive() and len(said) == 1
    until(lambda: own.value("SELECT COUNT(*) AS n FROM sys.dm_exec_requests WHERE session_id > 50") == 1)  # who asks
    connection.close()
