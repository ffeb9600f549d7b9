"""Canned answers for the wire tests: what a client asks is matched by a few fixed texts; nothing here is T-SQL."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Iterator
from typing import Any

from aglab.core import sqltypes as t
from aglab.core.sqltypes import Column, SqlType
from aglab.tds import BulkLoad, Rpc, SqlBatch, TransactionRequest
from aglab.tsql.effects import Columns, Done, EnvChange, Message, ReturnStatus, ReturnValue, Rows

CHUNK = 500
D = decimal.Decimal
TYPES: list[tuple[SqlType, Any]] = [
    (t.BIT, True),
    (t.TINYINT, 200),
    (t.SMALLINT, -30000),
    (t.INT, -2_000_000_000),
    (t.BIGINT, 9_000_000_000_000_000_000),
    (t.REAL, 1.5),
    (t.FLOAT, 3.141592653589793),
    (t.MONEY, D("-922337203685477.5808")),
    (SqlType("smallmoney"), D("214748.3647")),
    (t.decimal(9, 2), D("-1234567.89")),
    (t.decimal(38, 10), D("1234567890123456789012345678.0123456789")),
    (SqlType("numeric", precision=18, scale=0), D("999999999999999999")),
    (t.DATE, dt.date(9999, 12, 31)),
    (SqlType("time", scale=7), dt.time(23, 59, 59, 999999)),
    (t.DATETIME, dt.datetime(2026, 1, 2, 3, 4, 5, 7000)),
    (SqlType("smalldatetime"), dt.datetime(2026, 1, 2, 3, 4)),
    (t.DATETIME2, dt.datetime(1, 1, 1, 0, 0, 0, 1)),
    (SqlType("datetime2", scale=3), dt.datetime(2026, 1, 2, 3, 4, 5, 678000)),
    (
        SqlType("datetimeoffset", scale=7),
        dt.datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=dt.timezone(dt.timedelta(hours=-5, minutes=-30))),
    ),
    (t.UNIQUEIDENTIFIER, uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff")),
    (t.char(5), "abc  "),
    (t.varchar(20), "Käse"),
    (SqlType("nchar", length=4), "né  "),
    (t.nvarchar(30), "Ünïcödé 漢字 😀"),
    (t.nvarchar(), "max 漢字 " * 5000),
    (t.varchar(), "x" * 20000),
    (SqlType("binary", length=4), b"\x01\x02\x00\x00"),
    (t.varbinary(10), b"\x00\xff"),
    (t.varbinary(), bytes(range(256)) * 100),
    (SqlType("text"), "some text"),
    (SqlType("ntext"), "ntext 漢字"),
    (SqlType("image"), b"\x00image"),
    (SqlType("xml"), "<a b='1'>x</a>"),
]
VARIANTS: list[Any] = [
    True,
    7,
    2**40,
    2.5,
    D("-12.345"),
    "text 漢",
    b"\x01\x02",
    uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"),
    dt.date(2026, 1, 2),
    dt.time(1, 2, 3, 450000),
    dt.datetime(2026, 1, 2, 3, 4, 5, 600000),
    None,
]


class Session:
    """Prepared handles and the rows that came by bulk load."""

    def __init__(self, conn: Any = None) -> None:
        self.conn = conn
        self.handles: dict[int, str] = {}
        self.loaded: list[tuple[Any, ...]] = []
        self.log: list[Any] = []


def answer(session: Session, request: Any) -> Iterator[Any] | None:
    """Effects of a request; None never answers (until the client's attention)."""
    session.log.append(request)
    if isinstance(request, SqlBatch):
        return _batch(session, request.text)
    if isinstance(request, Rpc):
        return _rpc(session, request)
    if isinstance(request, TransactionRequest):
        return _transaction(request)
    assert isinstance(request, BulkLoad)
    session.loaded += request.rows
    return iter([Done(len(request.rows), "BULK INSERT")])


def one(name: str, declared: SqlType, value: Any) -> Iterator[Any]:
    """A result of one value."""
    yield Columns((Column(name, declared),))
    yield Rows([(value,)])
    yield Done(1, "SELECT")


def _batch(session: Session, text: str) -> Iterator[Any] | None:
    words = text.strip().rstrip(";").split()
    upper = " ".join(words).upper()
    if upper == "WAIT":
        return None
    if upper == "SELECT 1":
        return one("", t.INT, 1)
    if upper == "TYPES":
        return _types()
    if upper == "VARIANTS":
        return _variants()
    if upper.startswith("COUNT "):
        return _count(int(words[1]))
    if upper.startswith("BIG "):
        return one("big", t.nvarchar(), "漢" * int(words[1]))
    if upper == "ERROR":
        return iter([Message(208, 16, 1, "Invalid object name 'nowhere'.", 3, "dbo.p"), Done()])
    if upper == "PRINT":
        return iter([Message(0, 0, 1, "hello from the server"), Done()])
    if upper == "FATAL":
        return iter([Message(596, 21, 1, "Cannot continue the execution because the session is in the kill state.")])
    if upper == "TWO":
        return iter([*one("a", t.INT, 1), Done(7, "UPDATE"), *one("b", t.nvarchar(10), "two")])
    if upper == "HALF":
        return iter([*one("a", t.INT, 1), Message(8134, 16, 1, "Divide by zero error encountered.", 2), Done()])
    if upper == "WHOAMI":
        return _whoami(session)
    if upper == "RESETS":
        return one("n", t.INT, sum(request.reset for request in session.log))
    if upper == "KINDS":
        return one("k", t.nvarchar(), " ".join(getattr(r, "kind", type(r).__name__) for r in session.log))
    if upper == "LOADED":
        return one("n", t.INT, len(session.loaded))
    if upper.startswith("SP_DATATYPE_INFO"):
        return _datatype_info(int(words[1].split(",")[0]))
    if "SP_TABLECOLLATIONS_100" in upper:
        return _bulk_metadata()
    if "SERVERPROPERTY('PRODUCTVERSION')" in upper:
        return one("", t.nvarchar(128), "16.0.4135.4")
    if "SCHEMA_NAME()" in upper:
        return one("", t.SYSNAME, "dbo")
    if "@@VERSION" in upper:
        return one("", t.nvarchar(300), "Microsoft SQL Server 2022 (RTM) - 16.0.4135.4 (X64) canned")
    if upper.startswith("SELECT"):
        return one("", t.nvarchar(4000), text[:4000])
    return iter([Done()])


def _types() -> Iterator[Any]:
    yield Columns(tuple(Column(f"c{i}_{d.name}", d) for i, (d, _v) in enumerate(TYPES)))
    yield Rows([tuple(v for _d, v in TYPES), (None,) * len(TYPES), tuple(v for _d, v in TYPES)])
    yield Done(3, "SELECT")


def _variants() -> Iterator[Any]:
    yield Columns((Column("i", t.INT), Column("v", t.SQL_VARIANT)))
    yield Rows(list(enumerate(VARIANTS)))
    yield Done(len(VARIANTS), "SELECT")


def _whoami(session: Session) -> Iterator[Any]:
    login = session.conn.login
    names = ["user", "database", "app", "server", "encrypted", "read_only", "version"]
    yield Columns(tuple(Column(n, t.nvarchar(200)) for n in names))
    texts = (login.user, login.database, login.app, login.server, session.conn.encrypted, login.read_only_intent)
    yield Rows([(*map(str, texts), f"{login.tds_version:08X}")])
    yield Done(1, "SELECT")


def _bulk_metadata() -> Iterator[Any]:
    """What a bulk copy asks first: transaction count, the table's columns (FMTONLY), their collations."""
    yield from one("", t.INT, 0)
    yield Columns((Column("id", t.INT), Column("name", t.nvarchar(50)), Column("x", t.FLOAT), Column("d", t.decimal(18, 4))))
    yield Done(0, "SELECT")
    yield Columns(
        (
            Column("colid", t.INT),
            Column("name", t.SYSNAME),
            Column("tds_collation", t.varbinary(5)),
            Column("collation", t.SYSNAME),
        )
    )
    yield Rows([(2, "name", bytes.fromhex("0904D00034"), "SQL_Latin1_General_CP1_CI_AS")])
    yield Done(1, "SELECT")


def _count(rows: int) -> Iterator[Any]:
    yield Columns((Column("a", t.INT), Column("b", t.INT)))
    for start in range(0, rows, CHUNK):
        yield Rows([(i, 2 * i) for i in range(start, min(start + CHUNK, rows))])
    yield Done(rows, "SELECT")


def _echo(params: list[Any]) -> Iterator[Any]:
    """The parameters as a row, typed as they were declared."""
    if not params:
        yield from one("", t.INT, 1)
        return
    yield Columns(tuple(Column(f"p{i}", p.type) for i, p in enumerate(params)))
    yield Rows([tuple(p.value for p in params)])
    yield Done(1, "SELECT")


def _rpc(session: Session, call: Rpc) -> Iterator[Any]:
    name = call.name.lower().replace("[", "").replace("]", "").removeprefix("sys.")
    values = list(call.params)
    if name == "sp_executesql":
        if values[0].value.strip().upper().startswith("ERROR"):
            yield Message(8134, 16, 1, "Divide by zero error encountered.")
            yield Done()
            yield ReturnStatus(8134)
            return
        yield from _echo(values[2:])
        yield ReturnStatus(0)
        return
    if name in ("sp_prepexec", "sp_prepare"):
        handle = len(session.handles) + 1
        session.handles[handle] = values[2].value
        if name == "sp_prepexec":
            yield from _statement(session, handle, values[3:])
        yield ReturnStatus(0)
        yield ReturnValue(values[0].name, t.INT, handle, 0)
        return
    if name == "sp_execute":
        yield from _statement(session, values[0].value, values[1:])
        return
    if name == "sp_describe_undeclared_parameters":
        yield from _undeclared()
        return
    if name == "out":
        yield ReturnValue(values[0].name, values[0].type, 42, 0)
        return
    if name in ("sp_unprepare", "sp_reset_connection"):
        return
    if name.startswith("sp_datatype_info"):
        yield from _datatype_info(values[0].value if values else 0)
        return
    yield Message(2812, 16, 62, f"Could not find stored procedure '{call.name}'.")


def _datatype_info(code: int) -> Iterator[Any]:
    """The sizes that pyodbc asks for before it binds text and bytes."""
    names = {12: ("varchar", 8000), -9: ("nvarchar", 4000), -3: ("varbinary", 8000), 93: ("datetime2", 27)}
    name, size = names.get(code, ("int", 10))
    yield Columns((Column("TYPE_NAME", t.SYSNAME), Column("DATA_TYPE", t.SMALLINT), Column("PRECISION", t.INT)))
    yield Rows([(name, code, size)])
    yield Done(1, "SELECT")


def _statement(session: Session, handle: int, params: list[Any]) -> Iterator[Any]:
    text = session.handles[handle].strip().upper()
    if text.startswith("INSERT"):
        session.loaded.append(tuple(p.value for p in params))
        yield Done(1, "INSERT")
    elif text.startswith("ERROR"):
        yield Message(8134, 16, 1, "Divide by zero error encountered.")
        yield Done()
    else:
        yield from _echo(params)


def _undeclared() -> Iterator[Any]:
    names = "parameter_ordinal name suggested_system_type_id suggested_system_type_name suggested_max_length suggested_precision "
    names += "suggested_scale suggested_user_type_id suggested_user_type_database suggested_user_type_schema "
    names += "suggested_user_type_name suggested_assembly_qualified_type_name suggested_xml_collection_id "
    names += "suggested_xml_collection_database suggested_xml_collection_schema suggested_xml_collection_name "
    names += "suggested_is_xml_document suggested_is_case_sensitive suggested_is_fixed_length_clr_type suggested_is_input "
    names += "suggested_is_output formal_parameter_name suggested_tds_type_id suggested_tds_length"
    text = ("name", "database", "schema", "qualified")
    row: dict[str, Any] = dict.fromkeys(names.split())
    row |= {"parameter_ordinal": 1, "name": "@P1", "suggested_system_type_id": 56, "suggested_system_type_name": "int"}
    row |= {"suggested_max_length": 4, "suggested_precision": 10, "suggested_scale": 0, "suggested_tds_type_id": 56}
    row |= {"suggested_tds_length": 4, "suggested_is_input": True, "suggested_is_output": False}
    yield Columns(tuple(Column(n, t.SYSNAME if any(w in n for w in text) else t.INT) for n in row))
    yield Rows([tuple(row.values())])
    yield Done(1, "SELECT")


def _transaction(request: TransactionRequest) -> Iterator[Any]:
    if request.kind == "begin":
        yield EnvChange("begin_tran")
    elif request.kind != "save":
        yield EnvChange(f"{request.kind}_tran")
        if request.begin_after:
            yield EnvChange("begin_tran")
    yield Done()
