"""Typed values: what the server encodes, its own decoder (written from the request side) reads back; plus literals and limits."""

from __future__ import annotations

import datetime as dt
import decimal
import struct
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_canned import TYPES, VARIANTS

from aglab.core import sqltypes as t
from aglab.core.errors import UsageError
from aglab.core.sqltypes import Column, SqlType
from aglab.tds import temporal
from aglab.tds.collation import encoding_of
from aglab.tds.cursor import Cursor
from aglab.tds.decode import read_type
from aglab.tds.encode import EncodingError, codec
from aglab.tds.rows import RowEncoder, row_encoder

D = decimal.Decimal
V74, V72 = 0x74000004, 0x72090002
DATES = st.datetimes(min_value=dt.datetime(1753, 1, 1), max_value=dt.datetime(9999, 12, 30))
TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


def back(declared: SqlType, value, version: int = V74):
    """Encode a value and read it again with the request-side decoder."""
    wire = codec(declared, version)
    cursor = Cursor(wire.type_info + wire.encode(value)[25 if wire.is_blob and value is not None else 0 :], "test")
    reader = read_type(cursor)
    if wire.is_blob and value is None:
        assert wire.encode(None) == b"\0"
        return None
    result = reader.read(cursor)
    assert cursor.remaining == 0
    return result


def decimals(precision: int, scale: int):
    """Decimals that fit exactly."""
    limit = 10**precision - 1
    return st.integers(-limit, limit).map(lambda n: D(n).scaleb(-scale, decimal.Context(prec=80)))


STRATEGIES = {
    "bit": st.booleans(),
    "tinyint": st.integers(0, 255),
    "smallint": st.integers(-(2**15), 2**15 - 1),
    "int": st.integers(-(2**31), 2**31 - 1),
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "real": st.floats(width=32, allow_nan=False),
    "float": st.floats(allow_nan=False),
    "money": decimals(18, 4),
    "smallmoney": decimals(9, 4),
    "date": st.dates(),
    "uniqueidentifier": st.uuids(),
    "datetime2": st.datetimes(),
    "time": st.times(),
    "xml": TEXT.filter(lambda s: not s.startswith("\ufeff")),
    "image": st.binary(max_size=50),
    "ntext": TEXT,
}


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_values_come_back(name):
    """Every value of a type survives encoding and decoding."""

    @given(STRATEGIES[name])
    @settings(max_examples=60, deadline=None)
    def check(value):
        assert back(SqlType(name, scale=7 if name in ("time", "datetime2") else 0), value) == value

    check()


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_decimals_strings_and_offsets_come_back(data):
    """Sized and scaled types come back too, for any precision, scale and length."""
    precision = data.draw(st.integers(1, 38))
    scale = data.draw(st.integers(0, precision))
    value = data.draw(decimals(precision, scale))
    assert back(t.decimal(precision, scale), value) == value
    text = data.draw(TEXT)
    assert back(t.nvarchar(), text) == text
    assert back(t.nvarchar(80), text) == text
    assert back(t.varbinary(), text.encode("utf-8", "surrogatepass")) == text.encode("utf-8", "surrogatepass")
    zone = dt.timezone(dt.timedelta(minutes=data.draw(st.integers(-840, 840))))
    moment = data.draw(st.datetimes(min_value=dt.datetime(2, 1, 1), max_value=dt.datetime(9998, 1, 1))).replace(tzinfo=zone)
    assert back(SqlType("datetimeoffset", scale=7), moment) == moment


@given(DATES)
@settings(max_examples=60, deadline=None)
def test_datetime_is_within_its_resolution(value):
    """datetime comes back within 1.67 ms (1/300 s rounded to ms), smalldatetime within half a minute."""
    assert abs(back(t.DATETIME, value) - value) <= dt.timedelta(microseconds=2167)
    if dt.datetime(1900, 1, 1) <= value < dt.datetime(2079, 6, 6):
        assert abs(back(SqlType("smalldatetime"), value) - value) <= dt.timedelta(seconds=30, milliseconds=2)


@pytest.mark.parametrize(("declared", "value"), TYPES, ids=[str(d) for d, _v in TYPES])
def test_canned_types_and_null(declared, value):
    """The values that real clients are shown come back, and NULL of every type."""
    assert back(declared, value) == value
    assert back(declared, None) is None


@pytest.mark.parametrize("value", VARIANTS, ids=repr)
def test_variants_come_back(value):
    """sql_variant chooses its base type by the Python value."""
    assert back(t.SQL_VARIANT, value) == value


def test_variant_of_a_declared_base_type():
    """A value that names its type keeps it inside sql_variant where drivers expect it."""

    class Typed:
        def __init__(self, declared, value):
            self.type, self.value = declared, value

    assert (
        codec(t.SQL_VARIANT, V74).encode(Typed(t.DATETIME, dt.datetime(1900, 1, 1)))
        == struct.pack("<I", 10) + b"\x3d\0" + b"\0" * 8
    )
    assert back(t.SQL_VARIANT, Typed(t.TINYINT, 5)) == 5
    assert back(t.SQL_VARIANT, Typed(t.varchar(3), "abc")) == "abc"
    assert back(t.SQL_VARIANT, Typed(t.nvarchar(3), "abc")) == "abc"
    aware = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert back(t.SQL_VARIANT, aware) == aware


def test_literals():
    """Bytes of single values, from MS-TDS 2.2.5.5."""
    assert codec(t.MONEY, V74).encode(D("1.0000")) == bytes.fromhex("08 00000000 10270000")
    assert codec(t.decimal(5, 2), V74).encode(D("-1.23")) == bytes.fromhex("05 00 7b000000")
    assert codec(t.DATETIME, V74).encode(dt.datetime(1900, 1, 2, 0, 0, 1)) == bytes.fromhex("08 01000000 2c010000")
    assert codec(t.DATE, V74).encode(dt.date(1, 1, 2)) == bytes.fromhex("03 010000")
    assert codec(t.UNIQUEIDENTIFIER, V74).encode(uuid.UUID(int=1)) == b"\x10" + b"\0" * 15 + b"\x01"
    assert codec(t.nvarchar(), V74).encode("") == b"\0" * 12
    assert codec(t.varchar(3), V74).encode("漢") == b"\x01\x00?"


def test_rounding_and_ranges_of_time():
    """Times round to their scale; the last instant of a day and of year 9999 does not overflow."""
    assert temporal.encode_time(dt.time(23, 59, 59, 999999), 0) == (86399).to_bytes(3, "little")
    assert temporal.encode_datetime2(dt.datetime(9999, 12, 31, 23, 59, 59, 999999), 0)[:3] == (86399).to_bytes(3, "little")
    assert temporal.encode_datetime2(dt.datetime(2026, 1, 1, 23, 59, 59, 999999), 0)[:3] == b"\0\0\0"
    assert back(t.DATETIME, dt.datetime(2026, 1, 1, 23, 59, 59, 999999)) == dt.datetime(2026, 1, 2)
    assert back(t.DATETIME, dt.date(2026, 1, 1)) == dt.datetime(2026, 1, 1)
    assert back(SqlType("smalldatetime"), dt.datetime(2026, 1, 1, 23, 59, 30)) == dt.datetime(2026, 1, 2)


def test_lengths_are_kept():
    """Fixed types are padded, longer values are cut at the declared length: the wire has no room for more."""
    assert back(t.char(3), "a") == "a  "
    assert back(SqlType("nchar", length=3), "a") == "a  "
    assert back(SqlType("binary", length=3), b"a") == b"a\0\0"
    assert back(t.nvarchar(2), "abc") == "ab"
    assert back(t.varchar(2), "abc") == "ab"


def test_old_clients_get_dates_as_text():
    """Before TDS 7.3 there is no date type: text as SQL Server prints it."""
    assert back(t.DATE, dt.date(2026, 1, 2), V72) == "2026-01-02"
    assert back(t.DATETIME2, dt.datetime(2026, 1, 2, 3, 4, 5), V72) == "2026-01-02 03:04:05"
    assert back(SqlType("time", scale=7), dt.time(3, 4), V72) == "03:04:00"
    zone = dt.timezone(dt.timedelta(hours=2))
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=zone)
    assert back(SqlType("datetimeoffset", scale=7), moment, V72) == "2026-01-02 03:04:05 +02:00"


def test_collations():
    """Code pages by locale, and the UTF-8 flag."""
    pages = {"0904d00034": "cp1252", "0904d00434": "utf-8", "1904d00000": "cp1251", "1104d00000": "cp932", "0404d00000": "cp950"}
    assert {c: encoding_of(bytes.fromhex(c)) for c in pages} == pages


def test_rows_fast_road_and_null_road():
    """A chunk with NULL among fixed widths is encoded value by value, with NBCROW where that is shorter."""
    three = (Column("a", t.INT), Column("b", t.nvarchar(5)), Column("c", t.BIGINT))
    encoder = row_encoder(three, V74)
    assert encoder.encode([(1, "x", 2)]) == bytes.fromhex("d1 04 01000000 0200 7800 08 0200000000000000")
    assert encoder.encode([(None, "x", 2)]) == bytes.fromhex("d1 00 0200 7800 08 0200000000000000")
    assert encoder.encode([(None, None, 2)]) == bytes.fromhex("d2 03 08 0200000000000000")
    assert RowEncoder(three, V72).encode([(None, None, 2)]) == bytes.fromhex("d1 00 ffff 08 0200000000000000")
    assert encoder.encode([(None, None, None)]) == bytes.fromhex("d2 07")
    assert row_encoder((Column("b", t.nvarchar(5)),), V74).encode([("x",), (None,)]) == bytes.fromhex("d1 0200 7800 d1 ffff")
    assert encoder.encode([]) == b""


FIXED_FORMS = [
    (t.BIT, "32", True, "01"),
    (t.TINYINT, "30", 7, "07"),
    (t.SMALLINT, "34", -2, "feff"),
    (t.INT, "38", 7, "07000000"),
    (t.BIGINT, "7f", 7, "0700000000000000"),
    (SqlType("real"), "3b", 1.0, "0000803f"),
    (t.FLOAT, "3e", 1.0, "000000000000f03f"),
    (t.MONEY, "3c", D("1.5"), "00000000983a0000"),
    (SqlType("smallmoney"), "7a", D("1.5"), "983a0000"),
    (t.DATETIME, "3d", dt.datetime(1900, 1, 2), "0100000000000000"),
    (SqlType("smalldatetime"), "3a", dt.datetime(1900, 1, 2, 0, 5), "01000500"),
]


@pytest.mark.parametrize(
    ("declared", "code", "value", "wire"), FIXED_FORMS, ids=lambda x: str(x) if isinstance(x, SqlType) else ""
)
def test_a_column_that_promises_no_null_has_the_fixed_type(declared, code, value, wire):
    """MS-TDS 2.2.5.4.1: no length byte; .NET's SqlClient reads none where the flag is off. A broken promise is NBCROW's."""
    encoder = RowEncoder((Column("n", declared, nullable=False), Column("s", t.nvarchar(5))), V74)
    assert encoder.metadata[9 : 9 + len(code) // 2].hex() == code
    assert encoder.encode([(value, "x")]).hex() == f"d1{wire}02007800"
    assert encoder.encode([(None, "x"), (value, None)]).hex() == f"d20102007800d1{wire}ffff"
    assert row_encoder((Column("n", declared), Column("s", t.nvarchar(5))), V74).metadata[9:11].hex() != code


def test_metadata_flags():
    """Nullability, identity and the table name of text columns stand in COLMETADATA."""
    meta = RowEncoder((Column("i", t.INT, nullable=False, identity=True), Column("t", SqlType("text"))), V74).metadata
    assert meta == bytes.fromhex("81 0200 00000000 1800 38 01 6900 00000000 0900 23 ffffff7f 0904d00034 01 0000 01 7400")


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (t.INT, 2**31),
        (t.INT, "x"),
        (t.decimal(3, 0), 1000),
        (t.DATE, "2026"),
        (t.DATETIME, "2026"),
        (t.UNIQUEIDENTIFIER, "x"),
        (t.MONEY, D(10) ** 30),
        (t.decimal(5, 2), D("NaN")),
    ],
)
def test_values_that_do_not_fit_are_named(declared, value):
    """A producer's wrong value is an error that names column, type and value."""
    encoder = row_encoder((Column("k", t.INT), Column("wrong", declared)), V74)
    with pytest.raises(EncodingError, match="column 'wrong'"):
        encoder.encode([(1, value)])


def test_rows_of_the_wrong_width_and_unknown_types():
    """A row with too few values and a type that does not exist are told."""
    with pytest.raises(EncodingError, match="1 values for 2"):
        row_encoder((Column("a", t.INT), Column("b", t.INT)), V74).encode([(1,)])
    with pytest.raises(UsageError, match="hierarchyid"):
        codec(SqlType("hierarchyid"), V74)
