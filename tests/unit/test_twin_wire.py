"""Sockets, back-pressure and limits of the twin, with a real driver and a stand-in for the T-SQL interpreter."""

import contextlib
import socket
import time

import mssql_python
import pytest

from aglab.core.sqltypes import INT, Column, nvarchar
from aglab.tsql import Columns, Done, EnvChange, ReturnStatus, Rows, Wait
from aglab.twin import Twin, clients, connection, requests

ROWS = 1_500_000


class StandIn:
    """Understands four words; everything else returns one row."""

    def __init__(self, host, session):
        self.host, self.session = host, session

    def run_batch(self, text, parameters=None):
        self.host.batch_started(self.session, text)
        word, _, rest = text.partition(" ")
        if word == "WAIT":
            yield Wait("time", self.host.now_s() + float(rest), "WAITFOR")
        if word == "HOLD":
            self.host.cluster.world.enroll(self.host.clients[self.session.spid])
        if word == "BROKEN":
            raise RuntimeError("a defect")
        yield Columns((Column("n", INT), Column("t", nvarchar(200))))
        count = int(rest) if word == "MANY" else 1
        if word == "UNSENDABLE":
            yield Rows([(object(), "x")])
        for start in range(0, count, 500):
            yield Rows([(start + i, "x" * 200) for i in range(min(500, count - start))])
        yield Done(count, "SELECT")

    def run_rpc(self, name, params):
        yield from self.run_batch(str(params[0].value) if params else name)
        yield ReturnStatus(0)

    def transaction_request(self, kind, **more):
        yield EnvChange({"begin": "begin_tran", "commit": "commit_tran"}.get(kind, "rollback_tran"), b"\1" * 8, b"")

    def close(self):
        self.host.instance.close_session(self.session)


@pytest.fixture
def twin(tmp_path, monkeypatch):
    """A twin in this process with the stand-in."""
    monkeypatch.setattr(clients, "Interpreter", StandIn)
    mssql_python.pooling(enabled=False)
    made = Twin.start(profile="laptop-generic", state_dir=tmp_path / "s")
    yield made
    made.stop()


def connect(twin, password=None, **more):
    """A connection to sql1."""
    text = twin.nodes[0].connection_string + f";PWD={password or twin.password()};Database=master"
    return mssql_python.connect(text, autocommit=True, **more)


def ask(connection, text):
    """The rows of a batch."""
    cursor = connection.cursor()
    cursor.execute(text)
    return cursor.fetchall()


def until(condition, limit_s=60.0):
    """Wait, bounded, until a condition holds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def sessions(twin):
    """Sessions of sql1."""
    return twin.cluster.world.ask(lambda: dict(twin.cluster.nodes["sql1"].clients))


def test_a_request_cancelled_without_an_attention(twin, caplog):
    """A session whose request was cancelled for another reason than an Attention goes on, and no loop complains."""
    client = connect(twin)
    assert len(ask(client, "ONE")) == 1
    sink = sessions(twin)[51].sink
    twin.cluster.world.ask(sink.attention_done)
    assert len(ask(client, "ONE")) == 1
    client.close()
    assert [record.getMessage() for record in caplog.records] == []


def test_a_slow_reader_costs_others_nothing(twin):
    """A client that stops reading a huge result parks its batch after a few chunks; others are answered; when it leaves, its
    session goes."""
    slow, quick = connect(twin), connect(twin)
    cursor = slow.cursor()
    cursor.execute(f"MANY {ROWS}")
    cursor.fetchmany(10)
    task = sessions(twin)[51].task
    until(lambda: twin.cluster.world.ask(lambda: task.state) == "output")
    assert twin.cluster.world.ask(lambda: task.in_flight) <= 5
    assert len(ask(quick, "ONE")) == 1
    until(lambda: twin.cluster.world.ask(lambda: task.state) == "output")  # buffers on the way may take one more chunk
    slow.close()
    until(lambda: list(sessions(twin)) == [52])
    quick.close()
    until(lambda: not sessions(twin))


def test_a_time_out_of_the_client_cancels(twin):
    """The driver's query time-out sends an attention; the batch ends, and the connection is usable."""
    holder, waiter = connect(twin), connect(twin)
    waiter.timeout = 1
    ask(holder, "HOLD")  # virtual time stands still: the wait would never end
    cursor = waiter.cursor()
    with pytest.raises(Exception, match=r"[Tt]imeout"):
        cursor.execute("WAIT 3600")
    assert len(ask(waiter, "ONE")) == 1
    holder.close()
    waiter.close()


def test_a_client_that_vanishes_in_a_wait_leaves_nothing(twin):
    """A connection that is cut while its batch waits is rolled back and forgotten."""
    holder = connect(twin)
    ask(holder, "HOLD")
    import threading

    lost = connect(twin)
    failed = []

    def wait():
        try:
            ask(lost, "WAIT 3600")
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: len(sessions(twin)) == 2 and sessions(twin)[52].task is not None)
    connection = sessions(twin)[52].sink
    twin.listener.loop.call_soon_threadsafe(connection.transport.abort)
    until(lambda: list(sessions(twin)) == [51])
    thread.join(20)
    assert failed
    holder.close()


def test_a_defect_is_an_error_not_a_lost_connection(twin):
    """A failure inside a batch, or of a value that cannot be sent, is an error; the connection stays."""
    connection = connect(twin)
    with pytest.raises(Exception, match="a defect"):
        ask(connection, "BROKEN")
    with pytest.raises(Exception, match="could not be sent"):
        ask(connection, "UNSENDABLE")
    assert len(ask(connection, "ONE")) == 1
    connection.close()


def test_session_limit(twin, monkeypatch):
    """A node with all its sessions taken says so."""
    monkeypatch.setattr(requests, "SESSIONS_MAX", 1)
    first = connect(twin)
    with pytest.raises(Exception, match="its limit"):
        connect(twin)
    first.close()


def test_connection_limit_and_paused_node(twin, monkeypatch):
    """Beyond the connection limit, and while a node is down, clients are turned away and the rest goes on."""
    first = connect(twin)
    monkeypatch.setattr(connection, "CONNECTIONS_MAX", 1)
    with pytest.raises(mssql_python.Error):
        connect(twin)
    monkeypatch.setattr(connection, "CONNECTIONS_MAX", 100)
    twin.cluster.nodes["sql1"].accepting = False
    with pytest.raises(mssql_python.Error):
        connect(twin)
    twin.cluster.nodes["sql1"].accepting = True
    assert len(ask(first, "ONE")) == 1
    first.close()


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.0\r\n\r\n", b"\x00" * 4096, b"\x12\x01\xff\xff" + b"\xff" * 70000, b"\x16\x03\x01\x00\x05hello"]
)
def test_garbage_is_shut_out(twin, data):
    """Bytes that are not TDS close that connection and touch nothing else."""
    with socket.create_connection(("127.0.0.1", twin.nodes[0].port), timeout=5) as peer, contextlib.suppress(OSError):
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(65536):
            pass
    until(lambda: not twin.listener.connections)
    connection = connect(twin)
    assert len(ask(connection, "ONE")) == 1
    connection.close()


def test_a_peer_that_never_logs_in_is_dropped(twin, monkeypatch):
    """A silent peer does not hold a connection for ever."""
    monkeypatch.setattr(connection, "LOGIN_SECONDS_MAX", 0.05)
    monkeypatch.setattr(connection, "LOGIN_DELAY_S_MAX", 0.05)
    with socket.create_connection(("127.0.0.1", twin.nodes[0].port), timeout=5) as peer:
        assert peer.recv(10) == b""


def test_failed_logins_are_slowed(twin):
    """The second wrong password is answered later than the first; the right one still works."""
    for least_s in (0.25, 0.5):
        begun = time.monotonic()
        with pytest.raises(Exception, match="Login failed for user 'sa'"):
            connect(twin, password="wrong")
        assert time.monotonic() - begun >= least_s
    connect(twin).close()


def test_drop_and_stop_hang_up(twin):
    """A node that drops a client, and a twin that stops, close the sockets; stop may be called twice."""
    first, second = connect(twin), connect(twin)
    client = sessions(twin)[51]
    twin.cluster.world.ask(lambda: twin.cluster.nodes["sql1"].drop(client))
    with pytest.raises(mssql_python.Error):
        ask(first, "ONE")
    twin.stop()
    twin.stop()
    with pytest.raises(mssql_python.Error):
        ask(second, "ONE")
    assert twin.ended.is_set()
