"""Resumable index rebuilds: paused from another session, resumed, aborted, stopped by MAX_DURATION, kept over a restart."""

import contextlib
import threading
from types import SimpleNamespace

import pytest
from twin_client import fails, run, until

from aglab.tsql import TsqlError
from aglab.twin.rebuilds import PAUSED, Rebuild, minutes, work

START = "ALTER INDEX pk ON dbo.big REBUILD WITH (ONLINE = ON, RESUMABLE = ON, MAXDOP = 4)"
VIEW = "SELECT state_desc AS s, percent_complete AS p, last_max_dop AS d, sql_text AS t FROM sys.index_resumable_operations"


def set_up(own):
    """A table of some hundred pages."""
    own.sql(
        "CREATE TABLE dbo.big (id int NOT NULL, pad char(8000) NOT NULL DEFAULT 'x', CONSTRAINT pk PRIMARY KEY (id))",
        database="OLTP",
    )
    own.sql("INSERT INTO dbo.big (id) SELECT value FROM GENERATE_SERIES(1, 400)", database="OLTP")


@contextlib.contextmanager
def running(own, statement=START):
    """The rebuild in a session of its own, while this one holds the clock; gives the words of its error at the end."""
    words = []
    with contextlib.closing(own.connect(database="OLTP")) as holder, contextlib.closing(own.connect(database="OLTP")) as worker:
        run(holder, "EXEC twin.enroll")
        thread = threading.Thread(target=lambda: words.extend((fails(worker, statement), fails(worker, "SELECT 1"))))
        thread.start()
        try:
            until(lambda: [row["s"] for row in run(holder, VIEW)[-1]] == ["RUNNING"])
            yield holder, words
        finally:
            run(holder, "EXEC twin.leave")
            thread.join(20)
        assert not thread.is_alive()


def test_pause_resume_and_the_end(own):
    """PAUSE ends the session that rebuilds (1219); the operation is shown, refuses others (10637), and RESUME ends it."""
    set_up(own)
    with running(own) as (holder, words):
        run(holder, "ALTER INDEX pk ON dbo.big PAUSE")
    assert "disconnected because of a high priority DDL operation" in words[0] and len(words) == 2  # the session has ended
    row = own.rows(VIEW, database="OLTP")[0]
    assert row["s"] == PAUSED and 0 <= row["p"] < 100 and row["d"] == 4 and row["t"] == START
    assert own.rows(VIEW, database="master") == []
    assert own.rows("EXEC sys.sp_readerrorlog 0, 1, N'was paused'")
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        assert "currently in resumable index rebuild state" in fails(connection, "ALTER INDEX ALL ON dbo.big REBUILD")
        assert "no actively running" in fails(connection, "ALTER INDEX pk ON dbo.big PAUSE")
    own.sql("ALTER INDEX pk ON dbo.big RESUME WITH (MAXDOP = 2, MAX_DURATION = 10 MINUTES)", database="OLTP")
    assert own.rows(VIEW, database="OLTP") == []


def test_abort_forgets(own):
    """ABORT ends a running operation; nothing is left to resume (10638)."""
    set_up(own)
    with running(own) as (holder, words):
        run(holder, "ALTER INDEX pk ON dbo.big ABORT")
    assert "high priority DDL" in words[0]
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        assert "'RESUME' failed. There is no pending" in fails(connection, "ALTER INDEX pk ON dbo.big RESUME")
        assert "'ABORT' failed. There is no pending" in fails(connection, "ALTER INDEX pk ON dbo.big ABORT")


def test_the_same_statement_goes_on(own):
    """A paused operation outlives a restart of the instance; the same REBUILD resumes it."""
    set_up(own)
    with running(own) as (holder, _):
        run(holder, "ALTER INDEX pk ON dbo.big PAUSE")
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert own.rows(VIEW, database="OLTP")[0]["s"] == PAUSED
    own.sql(START, database="OLTP")
    assert own.rows(VIEW, database="OLTP") == []


def test_max_duration_pauses():
    """At its limit the operation is paused and the statement ends with 3643; resumed it works only what is left."""
    clock = SimpleNamespace(now=100.0)
    node = SimpleNamespace(now_s=lambda: clock.now, log_line=lambda text: None)
    session = SimpleNamespace(progress=None)
    one = Rebuild("OLTP", "dbo.big", "pk", START, 0, None, 10_000, 300.0, 100.0)
    steps = work(node, session, one, minutes("2 MINUTES") * 60.0)
    wait = next(steps)
    assert wait.until_s == 220.0 and not wait.done() and session.progress() == (0.0, 300_000.0)
    clock.now = 220.0
    assert wait.done()
    with pytest.raises(TsqlError, match="3643"):
        next(steps)
    assert one.state == PAUSED and one.percent(clock.now) == 40.0 and session.progress is None
    clock.now = 1000.0
    steps = work(node, session, one, float("inf"))
    wait = next(steps)
    assert wait.until_s == 1180.0
    clock.now = 1090.0
    steps.close()  # the session is gone
    assert one.state == PAUSED and one.percent(clock.now) == 70.0
    with pytest.raises(TsqlError, match="102"):
        minutes("SOON")


def test_refusals(own):
    """What does not go together is refused."""
    set_up(own)
    wrong = [
        ("ALTER INDEX pk ON dbo.big REBUILD WITH (RESUMABLE = ON)", "it goes with ONLINE = ON"),
        ("ALTER INDEX pk ON dbo.big REBUILD WITH (ONLINE = ON, MAX_DURATION = 5)", "it goes with RESUMABLE = ON"),
        ("ALTER INDEX ALL ON dbo.big REBUILD WITH (ONLINE = ON, RESUMABLE = ON)", "name one index"),
        (f"BEGIN TRAN; {START}", "cannot be used inside a user transaction"),
        ("CREATE TABLE #t (id int CONSTRAINT k PRIMARY KEY); ALTER INDEX k ON #t PAUSE", "of a temporary table"),
    ]
    for statement, words in wrong:
        with contextlib.closing(own.connect(database="OLTP")) as connection:
            assert words in fails(connection, statement), statement
