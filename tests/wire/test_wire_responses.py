"""Responses by bytes: DONE flows, messages, transactions, attention, reset, packets."""

from __future__ import annotations

import struct

import pytest
from wire_bytes import HEADERS, INT7, batch, body, by_name, logged_in, packet, param, rpc, statuses, tokens

from aglab.core import sqltypes as t
from aglab.core.errors import UsageError
from aglab.core.sqltypes import Column
from aglab.tds import Attention
from aglab.tsql.effects import Columns, Done, EnvChange, Message, ReturnStatus, ReturnValue, Rows

ERROR = Message(208, 16, 1, "Invalid object name 'x'.", 3, "dbo.p")


def respond(request, *effects, **fields):
    """The payload that answers a request with these effects."""
    conn = logged_in(**fields)
    conn.receive(request)
    for effect in effects:
        conn.send(effect)
    conn.end_response()
    return body(conn.data_to_send())


def test_sample_rpc_response_of_the_specification():
    """MS-TDS 4.9: DONEINPROC, RETURNSTATUS, DONEPROC of a procedure that selected one row."""
    got = respond(rpc(by_name("p")), Done(1, "SELECT"), ReturnStatus(0))
    assert got == bytes.fromhex("ff1100c1000100000000000000 7900000000 fe0000e0000000000000000000")


def test_sample_result_of_the_specification():
    """MS-TDS 4.7: one varchar(3) column; only the column flags differ (nullable, updatability unknown)."""
    got = respond(batch("x"), Columns((Column("bar", t.varchar(3)),)), Rows([("foo",)]), Done(1, "SELECT"))
    assert got == bytes.fromhex(
        "81 0100 00000000 0900 a7 0300 0904d00034 03 620061007200 d1 0300 666f6f fd 1000 c100 0100000000000000"
    )


IN_BATCH = [("DONEINPROC", 0x11, 0xC3, 1), ("STATUS", 4), ("DONEPROC", 0, 0xE0, 0)]
DONE_FLOWS = [
    ((), [("DONE", 0, 0xFD, 0)]),
    ((Done(),), [("DONE", 0, 0xFD, 0)]),
    ((Done(2, "UPDATE"), Done(3, "DELETE")), [("DONE", 0x11, 0xC5, 2), ("DONE", 0x10, 0xC4, 3)]),
    (
        (Done(1, "INSERT", in_procedure=True), ReturnStatus(4), Done(None, "EXECUTE")),
        IN_BATCH,
    ),
    ((ERROR,), [("ERROR", 208, 16, 1, ERROR.text), ("DONE", 2, 0xFD, 0)]),
    ((ERROR, Done()), [("ERROR", 208, 16, 1, ERROR.text), ("DONE", 2, 0xFD, 0)]),
    ((Done(1, "UPDATE"), ERROR), [("DONE", 0x11, 0xC5, 1), ("ERROR", 208, 16, 1, ERROR.text), ("DONE", 2, 0xFD, 0)]),
    ((ERROR, Done(), Done(1, "UPDATE")), [("ERROR", 208, 16, 1, ERROR.text), ("DONE", 3, 0xFD, 0), ("DONE", 0x10, 0xC5, 1)]),
    ((Message(0, 0, 1, "hello"), Done()), [("INFO", 0, 0, 1, "hello"), ("DONE", 0, 0xFD, 0)]),
    ((Done(0, "MERGE"),), [("DONE", 0x10, 0x117, 0)]),
]


@pytest.mark.parametrize(("effects", "expected"), DONE_FLOWS)
def test_done_flow_of_a_batch(effects, expected):
    """The last DONE has no MORE bit, an error marks the DONE that follows it, counts travel with COUNT."""
    assert tokens(respond(batch("x"), *effects)) == expected


def test_done_flow_of_a_call():
    """A call turns statement ends into DONEINPROC, adds a status where none was sent, and none after an error."""
    assert tokens(respond(rpc(by_name("p")), Done(1, "UPDATE"))) == [
        ("DONEINPROC", 0x11, 0xC5, 1),
        ("STATUS", 0),
        ("DONEPROC", 0, 0xE0, 0),
    ]
    assert tokens(respond(rpc(by_name("p")), ERROR)) == [("ERROR", 208, 16, 1, ERROR.text), ("DONEPROC", 2, 0xE0, 0)]


def test_error_token_bytes():
    """ERROR carries number, state, class, text, server, procedure and line."""
    got = respond(batch("x"), Message(50000, 16, 7, "é", 258, "p"))
    text, server, procedure = "é".encode("utf-16-le"), "sql1".encode("utf-16-le"), "p".encode("utf-16-le")
    value = struct.pack("<iBBH", 50000, 7, 16, 1) + text + b"\x04" + server + b"\x01" + procedure + struct.pack("<i", 258)
    assert got.startswith(b"\xaa" + struct.pack("<H", len(value)) + value)


def test_long_messages_and_names_fit_their_length_fields():
    """A message, a server name and a column name beyond the wire's lengths are cut, not corrupted."""
    got = tokens(respond(batch("x"), Message(50000, 16, 1, "x" * 40000, 1, "p" * 500)))
    assert got[0][0] == "ERROR" and len(got[0][4]) == 16000
    respond(batch("x"), Columns((Column("c" * 600, t.INT),)))


def test_return_values_follow_a_status():
    """RETURNVALUE: ordinal, name, type and value; a status goes before it."""
    got = respond(rpc(by_name("p", param("@o", INT7, 1))), ReturnValue("@o", t.INT, 42, 0))
    assert got == bytes.fromhex(
        "79 00000000 ac 0000 02 40006f00 01 00000000 0100 26 04 04 2a000000 fe 0000 e000 0000000000000000"
    )
    blob = respond(rpc(by_name("p")), ReturnValue("@o", t.SqlType("ntext"), "a", 0))
    assert bytes.fromhex("e7 ffff") in blob


def test_environment_changes():
    """Database, language, and transaction descriptors: the connection's own where none is given."""
    conn = logged_in()
    conn.receive(batch("x"))
    conn.send(EnvChange("database", "OLTP", "master"))
    conn.send(EnvChange("language", "Deutsch", "us_english"))
    conn.send(EnvChange("begin_tran"))
    assert conn.transaction == (51 << 32) | 1
    conn.send(EnvChange("commit_tran"))
    assert conn.transaction == 0
    conn.send(EnvChange("begin_tran", struct.pack("<Q", 5)))
    conn.send(EnvChange("rollback_tran", b"", struct.pack("<Q", 5)))
    conn.send(EnvChange("reset"))
    conn.end_response()
    got = tokens(body(conn.data_to_send()))
    first = struct.pack("<Q", (51 << 32) | 1)
    assert [g[1] for g in got[:-1]] == [1, 2, 8, 9, 8, 10]
    assert [g[2] for g in got[2:6]] == [
        b"\x08" + first + b"\x00",
        b"\x00\x08" + first,
        b"\x08" + struct.pack("<Q", 5) + b"\x00",
        b"\x00\x08" + struct.pack("<Q", 5),
    ]


def test_commit_that_begins_anew():
    """TM commit with fBeginXact: ENVCHANGE 9, then 8, then DONE."""
    request = packet(14, HEADERS + bytes.fromhex("07000001 00 00"))
    got = tokens(respond(request, EnvChange("commit_tran"), EnvChange("begin_tran"), Done()))
    assert [g[:2] for g in got] == [("ENV", 9), ("ENV", 8), ("DONE", 0)]


def test_reset_is_acknowledged_first():
    """The response to a request with RESETCONNECTION begins with ENVCHANGE 18."""
    got = respond(batch("x", 0x09), Done())
    assert got.startswith(bytes.fromhex("e3 0300 12 00 00"))


def test_order_token():
    """An object named Order with column numbers becomes the ORDER token."""

    class Order:
        columns = (2, 1)

    assert tokens(respond(batch("x"), Order()))[0] == ("ORDER", b"\x02\x00\x01\x00")


def test_attention_in_the_middle_of_a_result():
    """The broken response ends in a message of its own; DONE with ATTN comes in the next."""
    conn = logged_in()
    conn.receive(batch("x"))
    conn.send(Columns((Column("a", t.INT),)))
    conn.send(Rows([(1,)]))
    assert conn.receive(packet(6)) == [Attention(idle=False)]
    assert conn.receive(packet(6)) == []
    conn.acknowledge_attention()
    data = conn.data_to_send()
    assert statuses(data) == [1, 1]
    assert data[-13:] == bytes.fromhex("fd 2000 fd00 0000000000000000") and not conn.busy
    with pytest.raises(UsageError, match="no attention waits"):
        conn.acknowledge_attention()


def test_attention_when_idle():
    """An attention that comes too late is answered with DONE_ATTN alone, and the connection goes on."""
    conn = logged_in()
    assert conn.receive(packet(6)) == [Attention(idle=True)]
    conn.acknowledge_attention()
    assert tokens(body(conn.data_to_send())) == [("DONE", 0x20, 0xFD, 0)]
    assert len(conn.receive(batch("SELECT 1"))) == 1


def test_attention_drops_the_rest_of_batched_calls():
    """After an attention no further call of the message is expected."""
    conn = logged_in()
    conn.receive(rpc(by_name("a"), by_name("b")) + packet(6))
    conn.acknowledge_attention()
    assert not conn.busy
    with pytest.raises(UsageError, match="no request is running"):
        conn.end_response()


def test_ignored_message():
    """A request whose last packet says IGNORE is not executed and is answered with DONE and ERROR."""
    conn = logged_in()
    assert conn.receive(packet(1, HEADERS, 0) + packet(1, b"", 3)) == []
    assert tokens(body(conn.data_to_send())) == [("DONE", 2, 0xFD, 0)]


def test_fatal_error_ends_the_connection():
    """After an error of severity 20 and more the connection is closed once its response is out."""
    conn = logged_in()
    conn.receive(rpc(by_name("a"), by_name("b")))
    conn.send(Message(596, 21, 1, "killed"))
    conn.end_response()
    assert conn.closed and tokens(body(conn.data_to_send()))[-1] == ("DONEPROC", 2, 0xE0, 0)


def test_packets_of_a_long_response():
    """Full packets carry no end of message; ids count up; the last one ends it; flush sends a short one early."""
    conn = logged_in(packet_size=512)
    conn.receive(batch("x"))
    conn.send(Columns((Column("a", t.nvarchar()),)))
    conn.flush()
    assert statuses(conn.data_to_send()) == [0]
    conn.send(Rows([("x" * 2000,)]))
    conn.send(Done(1, "SELECT"))
    assert conn.pending_bytes > 4000
    conn.end_response()
    data = conn.data_to_send()
    flags = statuses(data)
    assert flags == [0] * (len(flags) - 1) + [1] and len(data) > 4000
    assert data[512 + 6] == (data[6] + 1) & 0xFF
    assert conn.data_to_send() == b"" and conn.pending_bytes == 0


def test_exactly_full_packet_ends_the_message():
    """A payload that fills a packet to the byte needs no empty packet after it."""
    conn = logged_in(packet_size=512)
    conn.receive(batch("x"))
    overhead = len(respond(batch("x"), Message(1, 0, 1, "")))
    text = "x" * ((512 - 8 - overhead) // 2)
    conn.send(Message(1, 0, 1, text))
    conn.end_response()
    assert statuses(conn.data_to_send()) == [1]


def test_wrong_use_is_told():
    """Rows before columns, unknown effects and changes, calls without a request are usage errors."""
    conn = logged_in()
    for call in (lambda: conn.send(Done()), conn.flush, conn.end_response):
        with pytest.raises(UsageError, match="no request is running"):
            call()
    conn.receive(batch("x"))
    with pytest.raises(UsageError, match="rows come before columns"):
        conn.send(Rows([(1,)]))
    with pytest.raises(UsageError, match="effect object"):
        conn.send(object())
    with pytest.raises(UsageError, match="'colour'"):
        conn.send(EnvChange("colour"))


def test_counters_and_session_number():
    """Bytes and packets are counted both ways; the session number stands in packet headers."""
    conn = logged_in()
    conn.spid = 77
    conn.receive(batch("x"))
    conn.end_response()
    data = conn.data_to_send()
    assert data[4:6] == b"\x00\x4d" and conn.spid == 77
    assert conn.packets_received == 3 and conn.packets_sent == 3
    assert conn.bytes_sent > len(data) and conn.bytes_received > 100


def test_answers_to_a_client_that_is_gone_do_nothing():
    """After Closed, whoever still runs the request may go on sending; nothing is kept."""
    conn = logged_in()
    conn.receive(batch("x"))
    conn.receive(b"")
    conn.send(Done())
    conn.flush()
    conn.end_response()
    conn.acknowledge_attention()
    conn.accept_login()
    conn.reject_login()
    conn.route("a", 1)
    assert conn.data_to_send() == b"" and conn.pending_bytes == 0
