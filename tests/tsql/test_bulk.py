"""INSERT BULK and its rows: what is checked, what is left aside, and that a load is all or nothing."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import uuid
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as hyp

from aglab.core.sqltypes import (
    BIT,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MONEY,
    REAL,
    SMALLINT,
    UNIQUEIDENTIFIER,
    Column,
    SqlType,
    nvarchar,
    varbinary,
    varchar,
)
from aglab.core.sqltypes import decimal as exact

from .fakes import Client, Result

D = decimal.Decimal
TABLE = """create table dbo.t (id int not null constraint pk primary key, name nvarchar(10) not null, d decimal(9,2) default 7,
    constraint positive check (id > 0))"""
COLUMNS = [("id", INT), ("name", nvarchar(10)), ("d", exact(9, 2))]
ANNOUNCED = "insert bulk dbo.t ([id] int, [name] nvarchar(10) COLLATE SQL_Latin1_General_CP1_CI_AS, [d] decimal(9,2))"


def client(table: str = TABLE) -> Client:
    """A session whose database has the table."""
    made = Client()
    assert made.run(table).errors == []
    return made


def load(one: Client, rows: list[Any], options: str = "", columns: Any = COLUMNS, announced: str = ANNOUNCED) -> Result:
    """INSERT BULK and its rows; the answer to the rows."""
    first = one.run(announced + options)
    assert first.errors == [] and first.counts == [None]
    sent = tuple(Column(name, kind) for name, kind in columns)
    return one.drive(one.interpreter.bulk_load(SimpleNamespace(columns=sent, rows=rows, problem=None)))


def test_rows_arrive_and_are_counted() -> None:
    """The count is that of the load, in @@ROWCOUNT too, and one commit record holds all of it."""
    one = client()
    one.host.commits.clear()
    result = load(one, [(n, f"n{n}", D("1.50")) for n in range(1, 1001)])
    assert (result.errors, result.counts) == ([], [1000])
    assert one.run("select @@rowcount").value == 1000
    assert one.run("select count(*), sum(d), max(name) from t").rows == [(1000, D("1500.00"), "n999")]
    assert [len(record.changes) for record in one.host.commits] == [1001]  # with the word that a check was left aside


def test_others_get_turns_during_a_long_load() -> None:
    """A load of many rows waits for nothing and lets others run in between."""
    result = load(client(), [(n, "x", None) for n in range(1, 1001)])
    assert [wait.kind for wait in result.waits] == ["time"] * 3


@pytest.mark.parametrize(("options", "kept"), [("", D("7.00")), (" with (KEEP_NULLS)", None)])
def test_null_becomes_the_default_unless_kept(options: str, kept: Any) -> None:
    """KEEP_NULLS is what SqlBulkCopyOptions.KeepNulls sends."""
    one = client()
    load(one, [(1, "a", None)], options)
    assert one.run("select d from t").value == kept


def test_constraints_are_left_aside_unless_asked_for_and_then_not_trusted() -> None:
    """Without CHECK_CONSTRAINTS a row that breaks a check comes in; WITH CHECK finds it, and trusts again once it is gone."""
    one = client("create table dbo.p (id int not null primary key)")
    one.run(TABLE + "; alter table dbo.t add constraint parent foreign key (id) references dbo.p (id)")
    trusted = "select (select is_not_trusted from sys.check_constraints), (select is_not_trusted from sys.foreign_keys)"
    assert one.run(trusted).rows == [(False, False)]
    refused = load(one, [(-1, "a", None)], " with (CHECK_CONSTRAINTS)")
    assert refused.errors == [547] and [m.number for m in refused.messages] == [547, 3621]
    assert one.run(trusted).rows == [(False, False)] and one.run("select count(*) from t").value == 0
    assert load(one, [(-1, "a", None)]).errors == []
    assert one.run(trusted).rows == [(True, True)]
    assert one.run("alter table t with check check constraint positive").errors == [547]
    assert one.run("alter table t with check check constraint all").errors == [547]
    one.run("delete from t")
    assert one.run("alter table t with check check constraint all").errors == []
    assert one.run(trusted).rows == [(False, False)]
    one.run("begin transaction")
    load(one, [(-1, "a", None)])
    one.run("rollback")
    assert one.run(trusted).rows == [(False, False)]


def test_a_replica_learns_that_a_constraint_is_not_trusted() -> None:
    """The commit record of a load carries it to the secondaries."""
    one, other = client(), client()
    one.host.commits.clear()
    load(one, [(-1, "a", None)])
    other.host.instance.database("OLTP").apply(one.host.commits[0])
    assert other.run("select is_not_trusted from sys.check_constraints").value is True
    assert other.run("select id from t").rows == [(-1,)]


@pytest.mark.parametrize(
    ("rows", "number", "words"),
    [
        ([(1, None, None)], 515, "Cannot insert the value NULL into column 'name', table 'OLTP.dbo.t'"),
        ([(1, "a", None), (1, "b", None)], 2627, "Violation of PRIMARY KEY constraint 'pk'"),
        ([(1, "a", D("12345678.9"))], 8115, "Arithmetic overflow error"),
    ],
)
def test_a_row_that_fails_takes_the_load_with_it(rows: list[Any], number: int, words: str) -> None:
    """An error in the middle leaves the table as it was, the connection usable and @@ERROR set."""
    one = client()
    columns = [*COLUMNS[:2], ("d", exact(18, 2))]
    good = [(n, "x", D("1")) for n in range(10, 600)]
    result = load(one, good + rows, columns=columns)
    assert result.errors == [number] and result.messages[0].text.startswith(words)
    assert one.run("select @@error").value == number
    assert one.run("select count(*) from t").value == 0


def test_a_load_inside_a_transaction_is_part_of_it() -> None:
    """A failed load leaves the rows before it; ROLLBACK takes all; XACT_ABORT ends the transaction."""
    one = client()
    one.run("begin transaction")
    load(one, [(1, "a", None)])
    assert load(one, [(2, "b", None), (1, "c", None)]).errors == [2627]
    assert one.run("select count(*), @@trancount from t").rows == [(1, 1)]
    one.run("rollback")
    assert one.run("select count(*) from t").value == 0
    one.run("set xact_abort on; begin transaction")
    assert load(one, [(1, None, None)]).env[-1].kind == "rollback_tran"
    assert one.run("select @@trancount").value == 0


@pytest.mark.parametrize(
    ("sent", "number"),
    [
        (COLUMNS[:2], 4804),
        ([("id", SMALLINT), *COLUMNS[1:]], 4816),
        ([COLUMNS[0], ("name", varchar(10)), COLUMNS[2]], 4816),
        ([COLUMNS[0], ("name", nvarchar()), COLUMNS[2]], 4816),
        ([*COLUMNS[:2], ("d", FLOAT)], 4816),
    ],
)
def test_a_stream_that_is_not_what_was_announced(sent: Any, number: int) -> None:
    """Other types, a (max) type for a bounded one, or another number of columns."""
    result = load(client(), [], columns=sent)
    assert result.errors == [number]


def test_an_error_of_the_wire_is_the_loads_own() -> None:
    """What the stream's decoder refused ends the load as any error does, and the plan is gone after it."""
    one = client()
    one.run(ANNOUNCED)
    problem = SimpleNamespace(number=4815, severity=16, state=1, text="Received an invalid column length from the bcp client.")
    assert one.drive(one.interpreter.bulk_load(SimpleNamespace(columns=(), rows=[], problem=problem))).errors == [4815]
    assert one.run("select @@error").value == 4815
    again = SimpleNamespace(columns=(), rows=[], problem=None)
    assert one.drive(one.interpreter.bulk_load(again)).errors == [59001]


def test_rows_come_right_after_their_statement_or_not_at_all() -> None:
    """Another batch between the two forgets the first; a table that changed in between is another table."""
    one = client()
    one.run(ANNOUNCED)
    one.run("select 1")
    empty = SimpleNamespace(columns=(), rows=[], problem=None)
    assert one.drive(one.interpreter.bulk_load(empty)).errors == [59001]
    one.run(ANNOUNCED)
    other = Client(one.host)
    other.run("alter table dbo.t add extra int")
    sent = tuple(Column(name, kind) for name, kind in COLUMNS)
    assert one.drive(one.interpreter.bulk_load(SimpleNamespace(columns=sent, rows=[], problem=None))).errors == [4891]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("insert bulk dbo.nowhere (a int)", 208),
        ("insert bulk dbo.t (nowhere int)", 207),
        ("insert bulk dbo.t (id int, ID int)", 264),
        ("insert bulk dbo.t (id nosuchtype)", 2715),
        ("insert bulk dbo.t (id int) with (NOSUCH)", 155),
        ("insert bulk dbo.t (id int) with (ROWS_PER_BATCH = 1, ROWS_PER_BATCH = 2)", 59005),
        ("insert bulk dbo.t (id int) with (TABLOCK = 1)", 102),
        ("insert bulk dbo.t (id int) with (ORDER (nowhere ASC))", 4817),
        ("insert bulk dbo.t (id int) with (ORDER (id, id DESC))", 4818),
        ("insert bulk dbo.t (id int", 102),
        ("insert bulk sys.objects (name int)", 259),
        ("create table c (a int, b as a + 1); insert bulk c (b int)", 271),
    ],
)
def test_statements_that_are_refused(text: str, number: int) -> None:
    """Before a row has come."""
    assert client().run(text).errors == [number]


def test_identity_values_are_the_clients_where_the_column_is_listed() -> None:
    """Left out, the server numbers the rows; listed, the client does, and numbering goes on behind its largest."""
    one = client("create table dbo.t (id int identity primary key, name nvarchar(10))")
    load(one, [("a",), ("b",)], columns=[("name", nvarchar(10))], announced="insert bulk dbo.t (name nvarchar(10))")
    both = "insert bulk dbo.t (id int, name nvarchar(10))"
    load(one, [(40, "c")], " with (KEEP_IDENTITY, TABLOCK)", COLUMNS[:2], both)
    one.run("insert into t (name) values ('d')")
    assert one.run("select id, name from t").rows == [(1, "a"), (2, "b"), (40, "c"), (41, "d")]


@pytest.mark.parametrize(("rows", "numbers"), [([1, 2, 5], []), ([1, 5, 2], [4819])])
def test_order_is_believed_and_checked(rows: list[int], numbers: list[int]) -> None:
    """ORDER names the clustered index's key: rows out of order are 4819, as is a row after the first turn of rows."""
    one = client()
    assert load(one, [(n, "x", None) for n in rows], " with (ORDER (id ASC))").errors == numbers
    more = [(n, "x", None) for n in range(100, 400)] + ([(50, "x", None)] if numbers else [])
    assert load(one, more, " with (ORDER (id))").errors == numbers
    assert load(one, [(n, "x", None) for n in (32, 31)], " with (ORDER (id DESC))").errors == []  # another order than the index's


def test_tablock_keeps_others_out() -> None:
    """A load with TABLOCK meets a row lock; without it both go on."""
    one = client()
    other = Client(one.host)
    one.run("insert into t (id, name) values (1, 'a'); begin transaction; update t set name = 'b' where id = 1")
    other.run("set lock_timeout 0")
    assert load(other, [(2, "x", None)]).errors == []
    assert load(other, [(3, "x", None)], " with (TABLOCK)").errors == [1222]


def test_a_duplicate_is_left_out_where_the_index_says_so() -> None:
    """IGNORE_DUP_KEY works for loads as it does for INSERT."""
    one = client("create table dbo.t (id int not null); create unique clustered index u on t (id) with (ignore_dup_key = on)")
    result = load(one, [(1,), (1,), (2,)], columns=COLUMNS[:1], announced="insert bulk t (id int)")
    assert result.counts == [2] and [m.number for m in result.messages] == [3604]


def test_a_temporary_table_takes_rows() -> None:
    """SqlBulkCopy into #t, named with or without tempdb."""
    one = client("create table #t (id int)")
    for name in ("#t", "tempdb..#t", "[tempdb]..[#t]"):
        load(one, [(1,)], columns=COLUMNS[:1], announced=f"insert bulk {name} (id int)")
    assert one.run("select count(*) from #t").value == 3


def test_permissions_are_those_of_insert_and_alter() -> None:
    """INSERT always; ALTER where constraints are left aside or identity values given: 229 and 5304."""
    one = client()
    one.session.is_sysadmin = False
    one.session.login = "ann"
    one.host.instance.logins["ann"] = {"name": "ann", "sid": b"\7", "type": "S", "permissions": {}, "roles": []}
    database = one.host.instance.database("OLTP")
    database.principals["ann"] = {"name": "ann", "sid": b"\7", "type": "S", "login": "ann", "permissions": {}, "roles": []}
    assert one.run(ANNOUNCED).errors == [229]
    database.principals["ann"]["permissions"] = {("DATABASE", "", "INSERT"): "G"}
    assert one.run(ANNOUNCED).errors == [5304]
    assert one.run(ANNOUNCED + " with (CHECK_CONSTRAINTS)").errors == []
    database.principals["ann"]["permissions"][("DATABASE", "", "ALTER")] = "G"
    assert one.run(ANNOUNCED).errors == []


def test_sqlbulkcopy_asks_for_collations() -> None:
    """Database and schema of the procedure are left out, as .NET writes it; text columns have the wire's five bytes."""
    rows = client().run("exec ..sp_tablecollations_100 N'.[dbo].[t]'").rows
    assert rows[1] == (2, "name", bytes.fromhex("0904D00034"), "SQL_Latin1_General_CP1_CI_AS") and rows[0][2:] == (None, None)


def test_files_of_the_server_are_not_read() -> None:
    """BULK INSERT asks for the permission and then says, as OPENROWSET(BULK) does, that the twin reads no files."""
    one = client()
    text = "bulk insert dbo.t from '/etc/passwd' with (fieldterminator = ',', formatfile = 'x', order (id))"
    for refused in (text, "select * from openrowset(bulk '/etc/passwd', single_clob) as f"):
        answer = one.run(refused)
        assert answer.errors == [59001] and "reads no files" in answer.messages[0].text
    assert one.run("bulk insert dbo.nowhere from 'x'").errors == [208]
    assert one.run("bulk insert dbo.t from x").errors == one.run("bulk insert dbo.t from 'x' with (a").errors == [102]
    one.session.is_sysadmin, one.session.login = False, "ann"
    assert one.run(text).errors == [4834]


SENDER = Client()
TYPES = [
    INT,
    SMALLINT,
    BIT,
    FLOAT,
    REAL,
    MONEY,
    DATE,
    DATETIME,
    UNIQUEIDENTIFIER,
    exact(9, 2),
    nvarchar(5),
    nvarchar(),
    varchar(5),
]
TYPES += [
    varchar(),
    varbinary(4),
    SqlType("char", length=3),
    SqlType("text"),
    SqlType("datetime2", scale=3),
    SqlType("sql_variant"),
]
VALUES = hyp.one_of(
    hyp.none(),
    hyp.integers(-(2**63), 2**63 - 1),
    hyp.text(max_size=8),
    hyp.binary(max_size=8),
    hyp.booleans(),
    hyp.floats(),
    hyp.decimals(allow_nan=False, allow_infinity=False, places=4),
    hyp.dates().map(lambda day: dt.datetime(day.year, day.month, day.day)),
    hyp.uuids().map(lambda value: uuid.UUID(str(value))),
)


@given(
    hyp.lists(hyp.tuples(hyp.sampled_from(TYPES), hyp.sampled_from(TYPES), VALUES), min_size=1, max_size=4), hyp.integers(0, 3)
)
@settings(max_examples=int(os.environ.get("AGLAB_FUZZ_EXAMPLES", "40")), deadline=None)
def test_whatever_is_sent_is_answered(picks: list[Any], extra: int) -> None:
    """Any value in any declared type, for a column of any other: rows or T-SQL's errors."""
    one = SENDER
    one.run("drop table if exists t")
    names = [f"c{n}" for n in range(len(picks))]
    one.run(f"create table t ({', '.join(f'{n} {kind}' for n, (kind, *_) in zip(names, picks, strict=True))})")
    one.run(f"insert bulk t ({', '.join(f'{n} {kind}' for n, (_, kind, _) in zip(names, picks, strict=True))})")
    rows = [tuple(value if _belongs(value, kind) else None for _, kind, value in picks)] * extra
    sent = tuple(Column(name, kind) for name, (_, kind, _) in zip(names, picks, strict=True))
    result = one.drive(one.interpreter.bulk_load(SimpleNamespace(columns=sent, rows=rows, problem=None)))
    assert 59004 not in result.errors, one.host.log
    assert one.run("select count(*) from t").value == (0 if result.errors else extra)


def _belongs(value: Any, kind: SqlType) -> bool:
    """Whether the wire's decoder could give this value for the type."""
    classes: dict[str, Any] = {
        "int": int, "smallint": int, "bit": bool, "float": float, "real": float, "money": D, "decimal": D, "nvarchar": str,
        "varchar": str, "char": str, "text": str, "varbinary": bytes, "uniqueidentifier": uuid.UUID, "datetime": dt.datetime,
        "datetime2": dt.datetime,
    }  # fmt: skip
    return kind.name == "sql_variant" or (value.__class__ is classes.get(kind.name))
