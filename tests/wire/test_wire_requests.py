"""Requests by bytes: SQL batch, RPC, transaction manager, bulk load, and their refusals."""

from __future__ import annotations

import datetime as dt
import decimal
import struct

import pytest
from wire_bytes import HEADERS, INT7, b, batch, body, by_id, by_name, logged_in, packet, packets, param, rpc, tokens

from aglab.core import sqltypes as t
from aglab.core.sqltypes import Column, SqlType
from aglab.tds import BulkLoad, Closed, Limits, Rpc, RpcParam, ServerConfig, SqlBatch, TransactionRequest
from aglab.tsql.effects import Done

D = decimal.Decimal


def only(events):
    """The single event."""
    (event,) = events
    return event


def test_batch_text_transaction_and_reset_bits():
    """A batch carries its text, its transaction descriptor and the reset bits of its first packet."""
    conn = logged_in()
    headers = HEADERS[:10] + struct.pack("<Q", 77) + HEADERS[18:]
    event = only(conn.receive(packet(1, headers + "SELECT '漢😀'".encode("utf-16-le"), 0x09)))
    assert event == SqlBatch("SELECT '漢😀'", reset=True, transaction=77)
    conn.end_response()
    event = only(conn.receive(batch("x", 0x11)))
    assert event.reset and event.reset_keep_transaction


def test_batch_over_many_packets_and_byte_by_byte():
    """Packets join, whatever the sizes in which bytes arrive."""
    conn = logged_in()
    text = "SELECT 1 -- " + "x" * 3000
    data = packets(1, HEADERS + text.encode("utf-16-le"))
    events = [e for i in range(len(data)) for e in conn.receive(data[i : i + 1])]
    assert events == [SqlBatch(text)]


def test_trace_activity_header_is_skipped():
    """ALL_HEADERS may hold more than the transaction descriptor."""
    trace = struct.pack("<IH", 26, 3) + b"\x01" * 20
    headers = struct.pack("<I", 22 + 26) + HEADERS[4:] + trace
    assert only(logged_in().receive(packet(1, headers + "x".encode("utf-16-le")))).text == "x"


def test_sample_rpc_of_the_specification():
    """The RPC printed in MS-TDS 4.8: procedure foo3 with one defaulted smallint."""
    data = bytes.fromhex(
        "0301002f00000100160000001200000002000000000000000001000000000400 66006f006f003300 0000 00 02 26 02 00".replace(" ", "")
    )
    event = only(logged_in().receive(data))
    assert event == Rpc("foo3", (RpcParam("", t.SMALLINT, None, False, True),), transaction=1 << 56)


def test_rpc_by_number_flags_and_output():
    """sp_executesql by number, an output parameter, and the option bits."""
    value = "SELECT 1".encode("utf-16-le")
    text = bytes.fromhex("e7ffff0904d00034") + struct.pack("<QI", 16, 16) + value + b"\0\0\0\0"
    event = only(logged_in().receive(rpc(by_id(10, param("", text), param("@o", INT7, 1)))))
    assert (event.name, event.proc_id, event.more) == ("sp_executesql", 10, False)
    assert event.params == (RpcParam("", t.nvarchar(), "SELECT 1"), RpcParam("@o", t.INT, 7, is_output=True))
    event = only(logged_in().receive(rpc(by_name("dbo.p", flags=7))))
    assert event.with_recompile and event.no_metadata and event.reuse_metadata and event.proc_id is None


def test_batched_calls_finish_with_rpcinbatch():
    """Each call of a message ends in DONEPROC with RPCINBATCH and MORE, the last without; one end of message."""
    conn = logged_in()
    events = conn.receive(rpc(by_id(12, param("", INT7)), by_id(12, param("", INT7)), by_id(15, param("", INT7))))
    assert [(e.name, e.more) for e in events] == [("sp_execute", True), ("sp_execute", True), ("sp_unprepare", False)]
    for event in events:
        assert conn.busy
        if event.name == "sp_execute":
            conn.send(Done(1, "INSERT"))
        conn.end_response()
    data = conn.data_to_send()
    assert not conn.busy and data[1] == 1
    assert tokens(body(data)) == [
        ("DONEINPROC", 0x11, 0xC3, 1),
        ("STATUS", 0),
        ("DONEPROC", 0x81, 0xE0, 0),
        ("DONEINPROC", 0x11, 0xC3, 1),
        ("STATUS", 0),
        ("DONEPROC", 0x81, 0xE0, 0),
        ("STATUS", 0),
        ("DONEPROC", 0x00, 0xE0, 0),
    ]


TYPED = [
    ("1f", t.INT, None),
    ("30 07", t.TINYINT, 7),
    ("32 01", t.BIT, True),
    ("34 ffff", t.SMALLINT, -1),
    ("38 01000000", t.INT, 1),
    ("7f ffffffffffffffff", t.BIGINT, -1),
    ("3b 0000c03f", t.REAL, 1.5),
    ("3e 000000000000f83f", t.FLOAT, 1.5),
    ("3c ffffffff ffffffff", t.MONEY, D("-0.0001")),
    ("7a 10270000", SqlType("smallmoney"), D("1.0000")),
    ("26 08 00", t.BIGINT, None),
    ("68 01 01 01", t.BIT, True),
    ("6a 05 09 02 05 01 7b000000", t.decimal(9, 2), D("1.23")),
    ("6c 11 26 0a 00", SqlType("numeric", precision=38, scale=10), None),
    ("6c 11 04 02 03 00 7b00", SqlType("numeric", precision=4, scale=2), D("-1.23")),
    ("e7 0800 0904d00034 0400 6100 6f6f", t.nvarchar(4), "a\u6f6f"),
    ("e7 0800 0904d00034 ffff", t.nvarchar(4), None),
    ("e7 ffff 0904d00034 ffffffffffffffff", t.nvarchar(), None),
    ("e7 ffff 0904d00034 feffffffffffffff 02000000 6100 02000000 6200 00000000", t.nvarchar(), "ab"),
    ("a7 0500 0904d00034 0200 4be4", t.varchar(5), "Kä"),
    ("a7 0500 0904d00434 0200 c3a4", t.varchar(5), "ä"),  # UTF-8 collation
    ("a7 0500 1904d00000 0100 c4", t.varchar(5), "Д"),  # Russian
    ("af 0200 0904d00034 0200 6120", t.char(2), "a "),
    ("a5 0400 0200 0001", t.varbinary(4), b"\x00\x01"),
    ("a5 ffff 0000000000000000 00000000", t.varbinary(), b""),
    ("ad 0200 0200 0102", SqlType("binary", length=2), b"\x01\x02"),
    ("27 05 03 616263", t.varchar(5), "abc"),
    ("25 05 00", t.varbinary(5), None),
    ("63 ffffff7f 0904d00034 04000000 6100 6200", SqlType("ntext"), "ab"),
    ("23 ffffff7f 0904d00034 ffffffff", SqlType("text"), None),
    ("22 ffffff7f 02000000 0001", SqlType("image"), b"\x00\x01"),
    ("f1 00 ffffffffffffffff", SqlType("xml"), None),
    ("f1 01 00 00 0000 0400000000000000 04000000 fffe3c00 00000000", SqlType("xml"), "<"),
    ("62 401f0000 00000000", t.SQL_VARIANT, None),
    ("62 401f0000 06000000 3800 07000000", t.SQL_VARIANT, 7),
    ("62 401f0000 0b000000 e707 0904d00034 0200 6100", t.SQL_VARIANT, "a"),
    ("62 401f0000 09000000 6c02 0502 01 7b000000", t.SQL_VARIANT, D("1.23")),
    ("62 401f0000 05000000 2800 000000", t.SQL_VARIANT, dt.date(1, 1, 1)),
    ("62 401f0000 06000000 2901 00 000000", t.SQL_VARIANT, dt.time(0)),
]


@pytest.mark.parametrize(("hexed", "declared", "value"), TYPED, ids=[h[:24] for h, _d, _v in TYPED])
def test_parameter_types(hexed, declared, value):
    """Every TYPE_INFO form gives its SQL type and its Python value."""
    event = only(logged_in().receive(rpc(by_name("p", param("@p", bytes.fromhex(hexed)), param("@end", INT7)))))
    assert event.params == (RpcParam("@p", declared, value), RpcParam("@end", t.INT, 7))
    assert type(event.params[0].value) is type(value)


REFUSED = [
    (
        "f3 00 00 00 0000",
        8050,
        'parameter 1 ("@p"), row 0, column 0: Data type 0xF3 (user-defined table type) has an invalid column',
    ),
    ("f3 01 6400 00 00 ffff 00 00", 8047, "has a non-zero length database name"),
    ("f3 00 00 00 ffff 02", 8029, "unexpected token"),
    ("f3 00 00 00 0100 00000000 0100 26 04 00 00 ff", 8029, "row 1, column 0"),
    ("f3 00 00 00 0100 00000000 0100 26 04 00 11 0100 0200 00 00", 8055, "invalid column ordering"),
    ("f3 00 00 00 0100 00000000 0100 f3 00 00 00 ffff 00 00 00", 50500, "nested table-valued"),
    ("f0 00 00 00", 50500, "CLR user-defined"),
    ("f4", 50500, "json"),
    ("f5", 50500, "vector"),
    ("99", 8009, "0x99 is unknown"),
    ("26 03 00", 8009, "invalid data length 3"),
    ("26 04 02 0000", 8023, "2 bytes instead of 4"),
    ("6a 05 27 02 00", 8009, "not a valid precision"),
    ("6a 05 05 06 00", 8009, "not a valid precision"),
    ("6a 11 26 00 01 00", 8023, "1 bytes"),
    ("6a 11 26 00 11 01 ffffffffffffffffffffffffffffffff", 8023, "38 digits"),
    ("29 08 00", 8009, "exceeds 7"),
    ("29 07 04 00000000", 8023, "4 bytes instead of 5"),
    ("29 00 03 ffffff", 8023, "exceed a day"),
    ("28 03 ffffff", 8023, "outside years"),
    ("3d 00000000 ffffffff", 8023, "exceed a day"),
    ("3a 0000 a005", 8023, "exceed a day"),
    ("2b 00 08 000000 000000 ff7f", 8023, "14 hours"),
    ("e7 421f 0904d00034 0000", 8009, "exceeds 8000"),
    ("e7 0200 0904d00034 0400 61006100", 8023, "exceed the declared 2"),
    ("e7 0300 0904d00034 0300 610061", 8023, "odd number"),
    ("22 ffffff7f feffffff", 8023, "length of -2"),
    ("62 401f0000 01000000 38", 8023, "1 bytes"),
    ("62 401f0000 05000000 3800 070000", 8023, "3 bytes"),
    ("62 401f0000 03000000 2901 09", 8023, "Scale 9"),
    ("62 401f0000 02000000 6200", 8009, "inside sql_variant"),
]


TABLE_HEAD = bytes.fromhex("f3 00 00 01 7400")
TWO_COLUMNS = bytes.fromhex("0200 00000000 0100 26 04 00  00000000 0900 e7 0800 0904d00034 00")


@pytest.mark.parametrize(
    ("tail", "columns", "rows", "defaults"),
    [
        ("ffff 00 00", 0, (), set()),
        ("{} 00 00", 2, (), set()),
        ("{} 00 01 04 05000000 0200 6100 01 00 ffff 00", 2, ((5, "a"), (None, None)), set()),
        ("{} 10 0100 0100 01 00 01 04 05000000 ffff 00", 2, ((5, None),), set()),
        ("{} 11 0200 0200 0100 00 01 0200 6100 04 05000000 00", 2, ((5, "a"),), set()),
        ("0200 00000000 0102 26 04 00 00000000 0900 e7 0800 0904d00034 00 00 01 0200 6100 00", 2, ((None, "a"),), {0}),
    ],
)
def test_table_valued_parameters(tail, columns, rows, defaults):
    """No columns, no rows, NULL, keys and sorting, columns in another order, columns that take their default."""
    typed = TABLE_HEAD + bytes.fromhex(tail.format(TWO_COLUMNS.hex()))
    (first, second) = only(logged_in().receive(rpc(by_name("p", param("@t", typed), param("@n", INT7))))).params
    assert (first.name, first.type, second.value) == ("@t", SqlType("table"), 7)
    value = first.value
    assert (value.type_name, len(value.columns), value.rows, value.defaults) == ("t", columns, rows, frozenset(defaults))


def test_values_of_tables_are_counted_over_a_message():
    """Two tables that fit alone are refused together, and rows without columns count too; the connection goes on."""
    conn = logged_in(ServerConfig(limits=Limits(table_values=3)))
    row = bytes.fromhex("01 00 ffff")
    one = TABLE_HEAD + TWO_COLUMNS + b"\0" + row + b"\0"
    conn.receive(rpc(by_name("p", param("", one), param("", one))))
    assert "more than 3 values" in tokens(body(conn.data_to_send()))[0][4]
    conn.receive(rpc(by_name("p", param("", TABLE_HEAD + b"\xff\xff\0" + b"\x01" * 9 + b"\0"))))
    assert "more than 3 values" in tokens(body(conn.data_to_send()))[0][4]
    assert only(conn.receive(rpc(by_name("p", param("", one))))).params[0].value.rows == ((None, None),)


@pytest.mark.parametrize(("hexed", "number", "text"), REFUSED, ids=[h[:20] for h, _n, _t in REFUSED])
def test_refused_parameters_leave_the_connection_usable(hexed, number, text):
    """A type or value that cannot be taken is an error of that request only."""
    conn = logged_in()
    assert conn.receive(rpc(by_name("p", param("@p", bytes.fromhex(hexed))))) == []
    got = tokens(body(conn.data_to_send()))
    assert got[0][0] == "ERROR" and got[0][1] == number and text in got[0][4]
    assert got[1] == ("DONEPROC", 2, 0xE0, 0)
    assert only(conn.receive(batch("SELECT 1"))).text == "SELECT 1"


def test_refused_request_owes_its_reset():
    """A reset asked for with a refused request is handed on with the next one."""
    conn = logged_in()
    data = rpc(by_name("p", param("@p", b"\xf4")))
    conn.receive(data[:1] + b"\x09" + data[2:])
    assert only(conn.receive(batch("x"))).reset


def test_rpc_limits_and_marks():
    """Too many parameters or calls, encrypted parameters, unknown numbers and NoExec calls are refused by name."""
    config = ServerConfig(limits=Limits(parameters=2, calls_per_message=2))
    one = param("", INT7)
    for data, text in (
        (rpc(by_name("p", one, one, one)), "maximum of 2 parameters"),
        (rpc(by_name("p"), by_name("p"), by_name("p")), "more than 2 calls"),
        (rpc(by_name("p", param("@e", INT7, 8))), "Always Encrypted"),
        (rpc(by_id(99)), "Procedure number 99"),
        (packet(3, HEADERS + by_name("p") + b"\xfe" + by_name("q")), "not to be executed"),
    ):
        conn = logged_in(config)
        assert conn.receive(data) == []
        got = tokens(body(conn.data_to_send()))
        assert got[0][0] == "ERROR" and text in got[0][4]


LYING_PLP = bytes.fromhex("e7ffff0904d00034 0500000000000000 02000000 6100 00000000")
BROKEN = [
    (packet(3, HEADERS), "without a call"),
    (packet(3, HEADERS + b"\x00\x00\x00\x00"), "name of 0 characters"),
    (packet(3, HEADERS + by_name("p", b"\x01")), "ends at byte"),
    (packet(3, HEADERS + by_name("p", param("@p", LYING_PLP))), "announced as 5"),
    (packet(1, b"\x03\x00\x00\x00"), "ALL_HEADERS of 3"),
    (packet(1, b"\xff\xff\x00\x00"), "ALL_HEADERS of 65535"),
    (packet(1, struct.pack("<IIH", 10, 5, 2)), "does not fit"),
    (packet(1, struct.pack("<IIH", 10, 6, 2)), "descriptor header of 6"),
    (packet(1, HEADERS + b"x"), "odd number"),
    (packet(14, HEADERS + b"\x16\x00"), "request 22 is unknown"),
    (packet(14, HEADERS + b"\x05\x00\x06\x00"), "isolation level 6"),
    (packet(7, b"\x99"), "does not begin with COLMETADATA"),
    (packet(7, bytes.fromhex("8101000000000005003202630031 00 99")), "token 0x99"),
    (packet(99), "is not a request"),
    (packet(1, b"x", 0) + packet(3, b"y"), "packet of type 3 inside"),
    (packet(1, b"", 0), "begins with an empty packet"),
    (b"\x01\x01\x00\x07\x00\x00\x01\x00", "packet length 7"),
    (b"\x01\x01\xff\xff\x00\x00\x01\x00", "packet length 65535"),
    (batch("a") + batch("b"), "while a request runs"),
]


@pytest.mark.parametrize(("data", "why"), BROKEN, ids=[w for _d, w in BROKEN])
def test_broken_streams_close_and_say_why(data, why):
    """What cannot be trusted ends the connection: the client gets error 4002, the caller gets Closed."""
    conn = logged_in()
    events = conn.receive(data)
    assert isinstance(events[-1], Closed) and why in events[-1].reason
    assert conn.closed and not conn.busy
    got = tokens(body(conn.data_to_send()))
    assert got[0][:3] == ("ERROR", 4002, 20) and got[-1][0] == "DONE"


def test_message_limit():
    """A request beyond the limit is cut off while it arrives."""
    conn = logged_in(ServerConfig(limits=Limits(message_bytes=2000)))
    events = [e for _ in range(6) for e in conn.receive(packet(1, b"x" * 500, 0))]
    assert [e.reason for e in events] == ["message of more than 2000 bytes (type 1)"]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("0500 02 00", TransactionRequest("begin", 2)),
        ("0500 00 04 74003100", TransactionRequest("begin", 0, "t1")),
        ("0700 00 00", TransactionRequest("commit")),
        ("0700 00 01 05 02 7800", TransactionRequest("commit", 5, "", True, "x")),
        ("0700 00 01", TransactionRequest("commit", begin_after=True)),
        ("0800 02 7300 01 00 00", TransactionRequest("rollback", 0, "s", True)),
        ("0900 02 7300", TransactionRequest("save", 0, "s")),
    ],
)
def test_transaction_requests(payload, expected):
    """Begin, commit, rollback and save with their names, isolation and the begin that may follow."""
    assert only(logged_in().receive(packet(14, HEADERS + bytes.fromhex(payload)))) == expected


@pytest.mark.parametrize(("payload", "number"), [("0000", 8501), ("0100", 8501), ("0600", 8501), ("0900 00", 3903)])
def test_distributed_transactions_and_nameless_savepoints_are_refused(payload, number):
    """MSDTC is not there, and a savepoint needs a name."""
    conn = logged_in()
    conn.receive(packet(14, HEADERS + bytes.fromhex(payload)))
    got = tokens(body(conn.data_to_send()))
    assert got[0][1] == number and got[1][:2] == ("DONE", 2)


def test_sample_bulk_load_of_the_specification():
    """The bulk load printed in MS-TDS 4.12: one bit column, one row."""
    data = bytes.fromhex("070100260000010081010000000000050032026300 3100 d100 fd000000000000000000000000".replace(" ", ""))
    assert only(logged_in().receive(data)) == BulkLoad((Column("c1", t.BIT),), [(False,)])


TEXT_COLUMN = bytes.fromhex("810100 00000000 0900 23 ffffff7f 0904d00034 01 0100 7400") + b("c")
TEXT_ROW = b"\xd1\x10" + b"p" * 16 + b"t" * 8 + struct.pack("<i", 2) + b"ab"
SHORT_COLUMN = bytes.fromhex("810100 00000000 0900 a7 0400 0904d00034") + b("c")
NULL_ROWS = b"\xd1\xff\xff" * 3


def test_bulk_load_blobs_and_missing_done():
    """text columns carry a pointer, DONE may be missing, and metadata without a row is a load of no rows."""
    event = only(logged_in().receive(packet(7, TEXT_COLUMN + TEXT_ROW + b"\xd1\x00")))
    assert event == BulkLoad((Column("c", SqlType("text")),), [("ab",), (None,)])
    assert only(logged_in().receive(packet(7, TEXT_COLUMN + b"\xfd" + b"\0" * 12))).rows == []


@pytest.mark.parametrize(
    ("payload", "number", "words"),
    [
        (b"", 4804, "premature end-of-message"),
        (b"\xfd" + b"\0" * 12, 4804, "premature end-of-message"),
        (b"\x81\xff\xff", 4804, "premature end-of-message"),
        (SHORT_COLUMN[:-1], 4804, "premature end-of-message"),
        (SHORT_COLUMN + b"\xd1\x03\x00ab", 4804, "premature end-of-message"),
        (SHORT_COLUMN + b"\xd1\x05\x00abcde", 4815, "invalid column length from the bcp client for colid 1"),
        (
            bytes.fromhex("810100 00000000 0900 26 04") + b("c") + b"\xd1\x03abc",
            4896,
            "Invalid column value from bcp client for colid 1",
        ),
        (SHORT_COLUMN + NULL_ROWS, 50500, "more than 2 rows"),
        (
            SHORT_COLUMN.replace(b"\x01\x00", b"\x02\x00", 1) + SHORT_COLUMN[3:] + b"\xd1\xff\xff\xff\xff" * 2,
            50500,
            "more than 3 values",
        ),
        (SHORT_COLUMN + b"\xd1\x04\x00abcd" * 20, 50500, "more than 100 bytes"),
        (b"\x81\x03\x00", 50500, "3 columns exceeds 2"),
        (bytes.fromhex("810100 00000000 0900 f0"), 50500, "CLR user-defined"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bulk_load_that_fails_keeps_nothing_and_reads_on(payload, number, words):
    """The first error of a load stays with it, its rows are dropped, and the rest of the message does not matter."""
    conn = logged_in(ServerConfig(limits=Limits(bulk_rows=2, bulk_values=3, bulk_bytes=100, columns=2)))
    event = only(conn.receive(packet(7, payload, 0) + packet(7, b"\0" * 300) if number != 4804 else packet(7, payload)))
    assert (event.problem.number, event.rows) == (number, []) and words in event.problem.text
    conn.end_response()
    assert only(conn.receive(batch("x"))) == SqlBatch("x") and conn._channel.reader.buffered == 0


def test_rows_of_a_bulk_load_are_decoded_as_they_arrive():
    """A message of many packets leaves no bytes behind but those of its unfinished row."""
    conn = logged_in()
    head = bytes.fromhex("810100 00000000 0900 e7 ffff 0904d00034") + b("c")
    value = "x" * 100_000
    chunk = struct.pack("<QI", 200_000, 200_000) + value.encode("utf-16-le") + b"\0" * 4
    for data in [head, b"\xd1", *(chunk[i : i + 4000] for i in range(0, len(chunk), 4000))]:
        assert conn.receive(packet(7, data, 0)) == []
        assert conn._channel.reader.buffered <= len(chunk) + 1
    for _ in range(200):
        conn.receive(packet(7, (b"\xd1" + struct.pack("<Q", 2**64 - 1)) * 100, 0))
    assert conn._channel.reader.buffered < 1000
    event = only(conn.receive(packet(7, b"\xfd" + b"\0" * 12)))
    assert event.problem is None and len(event.rows) == 20_001 and event.rows[0] == (value,)


@pytest.mark.parametrize("payload", [b"\xff", TEXT_COLUMN + b"\xd3"])
def test_bytes_that_are_no_bulk_load_end_the_connection(payload):
    """Another token than the one that is due: the stream cannot be trusted."""
    (event,) = logged_in().receive(packet(7, payload))
    assert isinstance(event, Closed) and event.reason


def test_an_abandoned_bulk_load_answers_with_a_failed_done():
    """SqlBulkCopy ends a load that it gives up with the IGNORE bit: nothing is loaded."""
    conn = logged_in()
    assert conn.receive(packet(7, SHORT_COLUMN, 0) + packet(7, b"", 3)) == []
    assert tokens(body(conn.data_to_send()))[0][:2] == ("DONE", 2)
