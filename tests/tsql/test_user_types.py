"""CREATE TYPE: alias types, table types, variables and READONLY parameters of them, and what the catalogue shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aglab.core.sqltypes import INT, Column, SqlType, TableValue, nvarchar
from aglab.twin import freeze

from .fakes import Client, Result

ITEMS = """create type dbo.Items as table
    (id int identity primary key, name nvarchar(10) not null default N'x', n int unique, twice as n * 2, check (n > 0))"""
TAKE = """create procedure take @rows dbo.Items readonly, @least int = 1 as
    select count(*), sum(n), sum(twice) from @rows where n >= @least"""


def client() -> Client:
    """A session whose database has a table type, a procedure that takes it, and an alias type."""
    made = Client()
    for text in (ITEMS, TAKE, "create type Code from varchar(4) not null"):
        assert made.run(text).errors == []
    return made


def test_a_variable_of_a_table_type_has_its_constraints() -> None:
    """PRIMARY KEY, UNIQUE, CHECK, DEFAULT, IDENTITY and computed columns hold inside."""
    one = client()
    rows = one.run(
        "declare @i dbo.Items, @n int = 3, @j Items; insert @i (n) values (1), (@n); select * from @i; select * from @j"
    )
    assert rows.sets == [[(1, "x", 1, 2), (2, "x", 3, 6)], []]
    for values, number in (("(1), (1)", 2627), ("(0)", 547)):
        assert one.run(f"declare @i Items; insert @i (n) values {values}").errors == [number]
    assert one.run("declare @i Items; insert @i (name, n) values (null, 1)").errors == [515]


def test_a_procedure_takes_a_table_and_leaves_it_as_it_is() -> None:
    """By position, by name, left out; twice with other rows: the plan is not of one caller's table."""
    one = client()
    text = "declare @i Items; insert @i (n) values (1), (2), (3); exec take @i; exec take @least = 2, @rows = @i"
    assert one.run(text).sets == [[(3, 6, 12)], [(2, 5, 10)]]
    assert one.run("declare @i Items; insert @i (n) values (9); exec take @i").sets == [[(1, 9, 18)]]
    assert one.run("exec take; exec take default").sets == [[(0, None, None)]] * 2
    inner = "create procedure outside @rows Items readonly as exec take @rows"
    assert one.run(inner).errors == []
    assert one.run("declare @i Items; insert @i (n) values (4); exec outside @i").sets == [[(1, 4, 8)]]


def test_text_takes_a_table_too() -> None:
    """sp_executesql with a READONLY parameter, in the text of which the table cannot be changed."""
    one = client()
    call = "declare @i Items; insert @i (n) values (5); exec sp_executesql N'{}', N'@r dbo.Items readonly, @k int', @i, @k = 7"
    assert one.run(call.format("select n + @k from @r")).rows == [(12,)]
    for change in ("delete @r", "insert @r (n) values (1)", "update @r set n = 9"):
        assert one.run(call.format(change)).errors == [10700]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("exec take 5", 206),
        ("declare @j table (id int); exec take @j", 206),
        ("declare @i Items; exec sp_executesql N'select @a', N'@a int', @i", 206),
        ("create procedure q @rows dbo.Items as select 1", 352),
        ("create procedure q @rows int readonly as select 1", 346),
        ("create procedure q @rows dbo.Items readonly = null as select 1", 102),
        ("create procedure q @rows dbo.Items readonly as delete @rows", 10700),
        ("create procedure q @rows dbo.Items readonly as delete t output deleted.a into @rows", 10700),
        ("create function f (@rows dbo.Items readonly) returns int as begin return 1 end", 59001),
        ("exec sp_executesql N'select 1', N'@r dbo.Items', null", 352),
        ("create table u (x dbo.Items)", 350),
        ("select cast(1 as dbo.Code)", 243),
        ("declare @x dbo.Nowhere", 2715),
        ("declare @x nowhere.Code", 2715),
        ("declare @i Items = 1", 102),
        ("create type z as table (a int constraint x check (a > 1))", 156),
        ("create type z as table (a int references t (a))", 156),
        ("create type z as table (a int, a int)", 2705),
        ("create type z from int external name x", 156),
        ("create type z external name x", 59001),
        ("create type a.b.c from int", 117),
        ("create type nowhere.z from int", 2760),
        ("create type Items from int", 219),
        ("drop type nowhere", 218),
        ("create type z from int; declare @z z", 2715),
    ],
)
def test_what_is_refused(text: str, number: int) -> None:
    """Each with SQL Server's number where there is one."""
    assert client().run(text).errors == [number]


def test_an_alias_type_gives_type_and_nullability() -> None:
    """A column takes the alias's NOT NULL unless it says otherwise; a text may create a type and a table of it."""
    one = client()
    one.run("create table dbo.t (a Code, b dbo.Code null, c Code not null)")
    shown = one.run("select is_nullable, max_length, type_name(user_type_id) from sys.columns where object_id = object_id('t')")
    assert shown.rows == [(False, 4, "Code"), (True, 4, "Code"), (False, 4, "Code")]
    assert one.run("declare @c Code = 'longer than four'; select @c").value == "long"
    assert one.run("create type Money2 from decimal(9,2); create table u (m Money2)").errors == []
    assert one.run("insert u values (1.239); select m from u").rows[0][0] == one.run("select cast(1.24 as decimal(9,2))").value


def test_types_go_when_nobody_needs_them() -> None:
    """3732 names who does; IF EXISTS; a rolled back CREATE or DROP leaves things as they were."""
    one = client()
    one.run("create table t (a Code)")
    assert (
        one.run("drop type dbo.Items")
        .messages[0]
        .text.startswith("Cannot drop type 'dbo.Items' because it is being referenced by object 'take'")
    )
    assert one.run("drop type Code").errors == [3732]
    one.run("drop procedure take; drop table t; begin transaction; drop type Items, dbo.Code; create type z from int; rollback")
    assert one.run("select name from sys.types where is_user_defined = 1 order by name").rows == [("Code",), ("Items",)]
    assert one.run("drop type Items, Code; drop type if exists Items").errors == []
    assert one.run("declare @x Code").errors == [2715]


def test_a_text_is_read_again_where_its_types_are_others() -> None:
    """The same words in another database, or after the type has changed, mean the type that is there."""
    one = Client()
    other = one.host.instance.add_database("Other")
    one.run("create type T from varchar(2)")
    one.run("use Other; create type T from varchar(5)")
    text = "declare @t T = 'abcdefgh'; select @t"
    assert one.run(f"use OLTP; {text}").value == "ab" and one.run(f"use Other; {text}").value == "abcde"
    one.session.database = "OLTP"
    assert one.run(text).value == "ab"
    one.run("drop type T")
    one.run("create type T from varchar(3)")
    assert one.run(text).value == "abc" and other.types


def test_the_catalogue_shows_types() -> None:
    """sys.types, sys.table_types with the object that has its columns and indexes, sys.objects, sys.parameters."""
    one = client()
    kinds = one.run("select name, system_type_id, is_table_type, is_nullable from sys.types where is_user_defined = 1").rows
    assert kinds == [("Items", 243, True, False), ("Code", 167, False, False)]
    columns = "select c.name from sys.table_types t join sys.columns c on c.object_id = t.type_table_object_id order by column_id"
    assert [name for (name,) in one.run(columns).rows] == ["id", "name", "n", "twice"]
    assert (
        one.run("select type, type_desc, is_ms_shipped from sys.objects where name like 'TT[_]Items%'").rows[0][1] == "TYPE_TABLE"
    )
    assert one.run("select count(*) from sys.tables").value == 0
    assert one.run("select type_name(user_type_id), is_readonly from sys.parameters where name = '@rows'").rows == [
        ("Items", True)
    ]
    assert one.run("select type_id('dbo.Items') - type_id('Items'), type_id('nowhere')").rows == [(0, None)]


def test_types_reach_secondaries_and_the_state_file() -> None:
    """A commit record carries them; a database that is read from disk has them."""
    one, two = Client(), Client()
    one.run(ITEMS)
    for record in one.host.commits:
        two.host.instance.database("OLTP").apply(record)
    assert two.run("declare @i Items; insert @i (n) values (1); select name from @i").rows == [("x",)]
    databases = freeze.load(freeze.dump(one.host.instance.databases))
    one.host.instance.databases.update(databases)
    assert one.run("declare @i Items; insert @i (n) values (2); select n from @i").rows == [(2,)]


SENT = (Column("", INT), Column("", nvarchar(10)), Column("", INT), Column("", INT))


def sent(rows: list[Any], name: str = "dbo.Items", columns: Any = SENT, defaults: Any = (0, 3)) -> Any:
    """A parameter as the wire gives it."""
    value = TableValue(name, tuple(columns), tuple(rows), frozenset(defaults))
    return SimpleNamespace(name="@rows", value=value, type=SqlType("table"), is_output=False)


def call(rows: list[Any], **more: Any) -> Result:
    """A call of the procedure with rows from a client."""
    return client().rpc("take", sent(rows, **more))


def test_rows_from_a_client() -> None:
    """Columns with the default flag take their default; many rows let others run; no rows are an empty table."""
    assert call([(None, "a", 1, None), (None, "b", 2, None)]).rows == [(2, 3, 6)]
    assert call([(None, "a", 1, None)], name="").rows == [(1, 1, 2)]
    assert call([(None, "a", 1, None)], defaults=(1, 3)).rows == [(1, 1, 2)]  # NULL is the next number where the column counts
    many = call([(None, "a", n, None) for n in range(1, 1001)])
    assert many.rows == [(1000, 500500, 1001000)] and many.waits
    assert call([], columns=(), name="Items").rows == [(0, None, None)]
    assert client().rpc("take", SimpleNamespace(name="", value=None, type=INT, is_output=False)).rows == [(0, None, None)]


@pytest.mark.parametrize(
    ("rows", "more", "number"),
    [
        ([(1, "a", 1, None)], {"defaults": (3,)}, 1077),
        ([(None, "a", 1, None), (None, "a", 1, None)], {}, 2627),
        ([(None, "a", 0, None)], {}, 547),
        ([(None, None, 1, None)], {}, 515),
        ([(None, "longer than ten", 1, None)], {"columns": (SENT[0], Column("", nvarchar(50)), *SENT[2:])}, 2628),
        ([(None, "a")], {"columns": SENT[:2], "defaults": (0,)}, 500),
        ([], {"name": "dbo.Nowhere"}, 2715),
        ([], {"name": "Code"}, 206),
    ],
)
def test_rows_that_do_not_fit(rows: list[Any], more: dict[str, Any], number: int) -> None:
    """Errors of the type, of its constraints and of the name that the client gave."""
    assert call(rows, **more).errors == [number]


def test_a_parameter_of_another_kind() -> None:
    """A table for a number, in a call as in prepared text."""
    one = client()
    assert one.rpc(
        "take", SimpleNamespace(name="@least", value=sent([]).value, type=SqlType("table"), is_output=False)
    ).errors == [206]
    texts = [
        SimpleNamespace(name="", value=text, type=nvarchar(), is_output=False)
        for text in ("select sum(n) from @rows", "@rows Items readonly")
    ]
    assert one.rpc("sp_executesql", *texts, sent([(None, "a", 7, None)])).rows == [(7,)]
    handle = SimpleNamespace(name="", value=None, type=INT, is_output=True)
    assert one.rpc("sp_prepexec", handle, texts[1], texts[0], sent([(None, "a", 8, None)])).rows == [(8,)]
