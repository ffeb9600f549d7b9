"""Bulk copies of the clients for Python and of FreeTDS: mssql-python's provider in Rust, pymssql, freebcp."""

import contextlib
import datetime as dt
import decimal
import os
import shutil
import socket
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from twin_client import fails, run

D = decimal.Decimal
GUID = uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff")
TYPES = {
    "id": ("int NOT NULL PRIMARY KEY", 1),
    "b": ("bit", True),
    "big": ("bigint", -(2**60)),
    "d": ("decimal(18,4)", D("-1234.5678")),
    "f": ("float", 2.5),
    "m": ("money", D("12.3400")),
    "c": ("char(3)", "abc"),
    "v": ("varchar(20)", "plain"),
    "n": ("nvarchar(20)", "Grüße 漢😀"),
    "long": ("nvarchar(max)", "漢" * 9000),
    "bin": ("varbinary(8)", b"\x01\x02\xff"),
    "blob": ("varbinary(max)", bytes(range(256)) * 50),
    "day": ("date", dt.date(2026, 1, 2)),
    "at": ("datetime2(3)", dt.datetime(2026, 1, 2, 3, 4, 5, 678000)),
    "old": ("datetime", dt.datetime(2026, 1, 2, 3, 4, 5, 10000)),
    "g": ("uniqueidentifier", GUID),
}
CREATE = "CREATE TABLE dbo.kinds (" + ", ".join(f"{name} {text}" for name, (text, _) in TYPES.items()) + ")"
ROW = tuple(value for _, value in TYPES.values())
ITEMS = "CREATE TABLE dbo.items (id int IDENTITY PRIMARY KEY, name nvarchar(10) NOT NULL, n int DEFAULT 7, CHECK (n < 1000))"


def test_the_provider_of_mssql_python_copies_every_type(own):
    """Sixteen types and NULL of each come back as they went."""
    own.sql(CREATE, database="OLTP")
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        done = connection.cursor().bulkcopy("dbo.kinds", [ROW, (2, *[None] * (len(ROW) - 1))], timeout=60)
        assert done["rows_copied"] == 2
        rows = [tuple(row.values()) for row in run(connection, "SELECT * FROM dbo.kinds ORDER BY id")[0]]
    assert [str(value).lower() for value in rows[0]] == [str(value).lower() for value in ROW]
    assert rows[1] == (2, *[None] * (len(ROW) - 1))


def test_batches_of_the_provider_are_transactions_of_their_own(own):
    """Of three batches the second fails on its key: the first stays, and options reach the server."""
    own.sql(ITEMS, database="OLTP")
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        copy = connection.cursor().bulkcopy
        rows = [(1, "a", 1), (2, "b", 2), (3, "c", 3), (3, "d", 4), (5, "e", 5)]
        with pytest.raises(Exception, match="PRIMARY KEY"):
            copy("dbo.items", rows, batch_size=2, keep_identity=True, timeout=60)
        assert run(connection, "SELECT id FROM dbo.items")[0] == [{"id": 1}, {"id": 2}]
        with pytest.raises(Exception, match="CHECK constraint"):
            copy("dbo.items", [(9, "x", 5000)], keep_identity=True, check_constraints=True, timeout=60)
        copy("dbo.items", [(9, "x", None)], keep_identity=True, keep_nulls=True, table_lock=True, timeout=60)
        copy("dbo.items", [("y", None)], column_mappings=["name", "n"], timeout=60)
        shown = run(connection, "SELECT id, n FROM dbo.items WHERE id > 2 ORDER BY id")[0]
    assert shown == [{"id": 9, "n": None}, {"id": 10, "n": 7}]


def test_pymssql_copies_and_is_told_what_is_wrong(own):
    """DB-Library's bulk copy through pymssql: NULL and default, and the server's errors."""
    pymssql = pytest.importorskip("pymssql")
    own.sql(ITEMS, database="OLTP")
    port = str(own.ports["sql1"])
    made = pymssql.connect("127.0.0.1", "sa", own.twin.password(), "OLTP", port=port, autocommit=True)
    with contextlib.closing(made) as connection:
        connection.bulk_copy("dbo.items", [("a", 1), ("b", None)], column_ids=[2, 3])
        with pytest.raises(Exception, match="Cannot insert the value NULL"):
            connection.bulk_copy("dbo.items", [(None, 1)], column_ids=[2, 3])
    assert own.rows("SELECT id, name, n FROM dbo.items", database="OLTP") == [
        {"id": 1, "name": "a", "n": 1},
        {"id": 2, "name": "b", "n": 7},
    ]


def test_freebcp_copies_a_file_in_and_out(own, tmp_path):
    """FreeTDS's freebcp: a file of text into a table, with identity values of its own, and out again."""
    if shutil.which("freebcp") is None:
        pytest.skip("freebcp (package freetds-bin) is not installed")
    own.sql(ITEMS, database="OLTP")
    (tmp_path / "in.txt").write_text("11\tone\t1\n12\ttwo\t\n", encoding="ascii")
    place = ["-S", f"127.0.0.1:{own.ports['sql1']}", "-U", "sa", "-P", own.twin.password(), "-c", "-t", "\t"]
    for way, more in (("in", ["-E"]), ("out", [])):
        command = ["freebcp", "OLTP.dbo.items", way, str(tmp_path / f"{way}.txt"), *place, *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "TDSVER": "7.4"})
        assert done.returncode == 0 and "2 rows copied" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "out.txt").read_text(encoding="ascii") == "11\tone\t1\n12\ttwo\t7\n"


def answered(peer):
    """Read one whole answer of a server."""
    data, last = b"", 0
    while not last & 1:
        while len(data) < 8:
            data += peer.recv(4096)
        last, length = data[1], int.from_bytes(data[2:4], "big")
        while len(data) < length:
            data += peer.recv(4096)
        data = data[length:]


def test_a_client_that_leaves_in_the_middle_leaves_nothing(own, monkeypatch):
    """A driver that dies after some packets of its rows: no row, no lock, and its session is gone."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "wire"))
    import wire_bytes as wire

    own.sql(ITEMS, database="OLTP")
    with socket.create_connection(("127.0.0.1", own.ports["sql1"]), timeout=60) as peer:
        peer.sendall(wire.prelogin())
        answered(peer)
        peer.sendall(wire.packet(16, wire.login7(password=own.twin.password(), database="OLTP", app="leaver")))
        answered(peer)
        peer.sendall(wire.batch("INSERT BULK dbo.items (name nvarchar(10)) WITH (TABLOCK)"))
        answered(peer)
        column = bytes.fromhex("810100 00000000 0900 e7 1400 0904d00034") + wire.b("name")
        peer.sendall(wire.packet(7, column + b"\xd1\x02\x00a\x00" * 500, 0) * 1 + wire.packet(7, b"\xd1\x02\x00a\x00" * 500, 0))
        assert own.value("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = N'leaver'") == 1
    deadline = time.monotonic() + 60
    while own.value("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = N'leaver'"):
        assert time.monotonic() < deadline
    own.sql("SET LOCK_TIMEOUT 0; DELETE FROM dbo.items WITH (TABLOCKX)", database="OLTP")
    assert own.value("SELECT COUNT(*) FROM dbo.items", database="OLTP") == 0


def test_a_secondary_takes_no_bulk_load(own):
    """The announcement is refused where INSERT is."""
    own.sql(ITEMS, database="OLTP")
    with contextlib.closing(own.connect("sql2")) as connection:
        words = [
            fails(connection, text)
            for text in ("INSERT INTO OLTP.dbo.items (name) VALUES (N'a')", "INSERT BULK OLTP.dbo.items (name nvarchar(10))")
        ]
    assert words[0] == words[1] and "OLTP" in words[0]
