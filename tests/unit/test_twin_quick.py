"""Requests that run on the listener's thread: which ones, and that nothing else about them differs."""

import contextlib
import threading

import mssql_python
import pytest

from aglab.twin import Twin, quick

COUNT = "SELECT COUNT(*) FROM sys.dm_os_performance_counters"


@pytest.fixture(scope="module")
def twin(tmp_path_factory):
    """A twin in this process."""
    mssql_python.pooling(enabled=False)
    made = Twin.start(profile="laptop-generic", state_dir=tmp_path_factory.mktemp("quick") / "s")
    yield made
    made.stop()


@pytest.fixture
def connection(twin):
    """A client of sql1."""
    text = f"Server={twin.nodes[0].server};UID=sa;PWD={twin.password_file.read_text().strip()};"
    with contextlib.closing(mssql_python.connect(text + "TrustServerCertificate=yes;Encrypt=yes", autocommit=True)) as made:
        yield made


def ask(connection, text, *parameters):
    """The rows of a batch."""
    cursor = connection.cursor()
    cursor.execute(text, parameters) if parameters else cursor.execute(text)
    return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


@pytest.fixture
def threads(twin, monkeypatch):
    """The threads that requests ran on, oldest first."""
    seen = []
    node = twin.cluster.nodes["sql1"]
    run = node.request
    monkeypatch.setattr(node, "request", lambda *given: (seen.append(threading.get_ident()), run(*given)))
    return seen


def becomes_quick(twin, connection, threads, text, *parameters):
    """Ask again until the request meets an idle world: it may still be tidying up after the one before."""
    for _ in range(500):
        before = len(threads)
        rows = ask(connection, text, *parameters)
        if twin.listener.thread_id in threads[before:]:
            return rows
    raise AssertionError(f"{text} never ran on the listener's thread")


def test_a_repeated_read_runs_where_its_bytes_arrive(twin, connection, threads):
    """A SELECT runs in the world's thread first, then on the listener's; so does one that is sent as a prepared call."""
    assert ask(connection, "SELECT 41 + 1") == [(42,)]
    assert threads == [twin.cluster.world._thread.ident]
    assert becomes_quick(twin, connection, threads, "SELECT 41 + 1") == [(42,)]
    assert becomes_quick(twin, connection, threads, "SELECT ? + 1", 7) == [(8,)]


def test_writes_waits_and_procedures_stay_with_the_world(twin, connection, threads):
    """Whatever does more than read never runs on the listener's thread, however short."""
    ask(connection, "CREATE TABLE #t (n int)")
    for _ in range(3):
        for text in (
            "INSERT #t VALUES (1)",
            "EXEC sp_who2",
            "WAITFOR DELAY '00:00:01'",
            "SELECT n INTO #c FROM #t; DROP TABLE #c",
        ):
            ask(connection, text)
    assert twin.listener.thread_id not in threads


def test_an_engine_that_is_behind_is_not_run_on_the_listener(twin, connection, threads):
    """After an hour of waiting a query of counters goes to the world first, which brings the engine up to date."""
    becomes_quick(twin, connection, threads, COUNT)
    ask(connection, "WAITFOR DELAY '01:00:00'")
    ask(connection, COUNT)
    assert threads[-1] != twin.listener.thread_id
    becomes_quick(twin, connection, threads, COUNT)


def test_a_text_that_was_slow_once_goes_back_to_the_world(twin, connection, threads, monkeypatch):
    """What a text is known for is its last run."""
    becomes_quick(twin, connection, threads, "SELECT 'slow'")
    monkeypatch.setattr(quick, "QUICK_S", -1.0)
    for _ in range(2):
        ask(connection, "SELECT 'slow'")
    assert threads[-1] != twin.listener.thread_id


def test_a_busy_world_is_waited_for(twin):
    """While the world's thread works, nobody else does its work."""
    inside, leave = threading.Event(), threading.Event()
    world = twin.cluster.world
    world.call(lambda: (inside.set(), leave.wait(20)))
    assert inside.wait(20)
    assert world.at_once(lambda: pytest.fail("ran beside the world")) is False
    leave.set()
    assert world.ask(lambda: 7) == 7


def test_old_texts_are_forgotten(twin, connection, monkeypatch):
    """No more texts are kept than the limit."""
    twin.cluster.quick.texts.clear()
    monkeypatch.setattr(quick, "TEXTS_KEPT", 5)
    for number in range(20):
        ask(connection, f"SELECT {number} AS n")
    assert len(twin.cluster.quick.texts) == 5
