"""ODBC's catalogue functions through pyodbc, with Microsoft's driver and with FreeTDS; MARS, which is not carried."""

import contextlib

import pytest
from odbc_calls import connection_text

pyodbc = pytest.importorskip("pyodbc")

STATEMENTS = [
    "CREATE SCHEMA s1",
    "CREATE TABLE dbo.parent (a int NOT NULL, b nvarchar(20) NOT NULL, c decimal(9,2) NULL DEFAULT (1.5), d datetime2(3) NULL, "
    "e varchar(max) NULL, f bit NOT NULL, g date NULL, CONSTRAINT pk_parent PRIMARY KEY (a, b), CONSTRAINT uq_c UNIQUE (c))",
    "CREATE TABLE s1.child (id int IDENTITY CONSTRAINT pk_child PRIMARY KEY, pa int NULL, pb nvarchar(20) NULL, n money NULL, "
    "CONSTRAINT fk_child FOREIGN KEY (pa, pb) REFERENCES dbo.parent (a, b) ON DELETE CASCADE)",
    "CREATE INDEX ix_n ON s1.child (n DESC)",
    "CREATE VIEW dbo.v AS SELECT a, b FROM dbo.parent",
    "CREATE PROCEDURE dbo.p @x int, @y nvarchar(30) = N'z', @o decimal(8,3) OUTPUT AS SELECT @x AS x",
]


@pytest.fixture(scope="module")
def made(shared):
    """A database with objects of each kind."""
    shared.sql("CREATE DATABASE catalogue")
    for text in STATEMENTS:
        shared.sql(text, database="catalogue")
    yield shared
    shared.sql("ALTER DATABASE catalogue SET SINGLE_USER WITH ROLLBACK IMMEDIATE; DROP DATABASE catalogue")


@pytest.fixture(params=["microsoft", "freetds"])
def cursor(request, made):
    """A cursor of a connection in that database."""
    pyodbc.pooling = False
    with contextlib.closing(pyodbc.connect(connection_text(request.param, made, database="catalogue"), autocommit=True)) as one:
        found = one.cursor()
        yield found


def cells(result, *names):
    """The named columns of a result."""
    places = [[column[0] for column in result.description].index(name) for name in names]
    return [tuple(row[place] for place in places) for row in result.fetchall()]


def test_tables(cursor):
    """By pattern and kind; databases and kinds of tables where only % is given for them."""
    assert cells(cursor.tables(), "table_schem", "table_name", "table_type") == [
        ("dbo", "parent", "TABLE"),
        ("s1", "child", "TABLE"),
        ("dbo", "v", "VIEW"),
    ]
    assert cells(cursor.tables(table="par%", tableType="TABLE"), "table_name") == [("parent",)]
    assert ("catalogue",) in cells(cursor.tables(catalog="%", schema="", table="", tableType=""), "table_cat")
    kinds = cells(cursor.tables(catalog="", schema="", table="", tableType="%"), "table_type")
    assert kinds in ([("SYSTEM TABLE",), ("TABLE",), ("VIEW",)], [])  # FreeTDS asks for tables of a kind called %


def test_columns(cursor):
    """Types by ODBC's numbers, sizes, NULLs, defaults."""
    found = cells(cursor.columns(table="parent"), "column_name", "data_type", "column_size", "nullable")
    assert found == [
        ("a", 4, 10, 0),
        ("b", -9, 20, 0),
        ("c", 3, 9, 1),
        ("d", 93, 23, 1),
        ("e", 12, 0, 1),
        ("f", -7, 1, 0),
        ("g", 91, 10, 1),
    ]
    assert cells(cursor.columns(table="child", schema="s1", column="id"), "type_name") == [("int identity",)]


def test_keys_and_indexes(cursor):
    """SQLPrimaryKeys, SQLForeignKeys both ways, SQLStatistics."""
    assert cells(cursor.primaryKeys(table="parent"), "column_name", "key_seq", "pk_name") == [
        ("a", 1, "pk_parent"),
        ("b", 2, "pk_parent"),
    ]
    expected = [("a", "pa", 0, "fk_child"), ("b", "pb", 0, "fk_child")]
    for which in ({"table": "parent"}, {"foreignTable": "child"}):
        assert cells(cursor.foreignKeys(**which), "pkcolumn_name", "fkcolumn_name", "delete_rule", "fk_name") == expected
    assert cells(cursor.statistics("child", schema="s1"), "index_name", "column_name", "asc_or_desc", "non_unique")[1:] == [
        ("pk_child", "id", "A", 0),
        ("ix_n", "n", "D", 1),
    ]


def test_procedures_and_types(cursor):
    """SQLProcedures, SQLProcedureColumns (after the return value), SQLGetTypeInfo."""
    assert cells(cursor.procedures(procedure="p"), "procedure_name", "procedure_type") == [("p;1", 1)]
    assert cells(cursor.procedureColumns(procedure="p"), "column_name", "column_type", "data_type", "column_size") == [
        ("@RETURN_VALUE", 5, 4, 10),
        ("@x", 1, 4, 10),
        ("@y", 1, -9, 30),
        ("@o", 2, 3, 8),
    ]
    types = dict(cells(cursor.getTypeInfo(), "type_name", "data_type"))
    assert (types["date"], types["datetime2"], types["time"], types["uniqueidentifier"]) == (91, 93, -154, -11)


def test_privileges_and_descriptions(made):
    """sp_table_privileges, sp_column_privileges; a statement described, and one that cannot be."""
    rows = made.rows("EXEC sp_table_privileges 'parent'", database="catalogue")
    assert [(row["GRANTEE"], row["PRIVILEGE"]) for row in rows] == [
        ("dbo", word) for word in ("DELETE", "INSERT", "REFERENCES", "SELECT", "UPDATE")
    ]
    assert len(made.rows("EXEC sp_column_privileges 'parent', @column_name = 'a'", database="catalogue")) == 4
    ask = "SELECT name, system_type_name, error_number FROM sys.dm_exec_describe_first_result_set(N'{}', N'@p int', 0)"
    found = made.rows(ask.format("SELECT a, c FROM dbo.parent WHERE a = @p"), database="catalogue")
    assert [tuple(row.values()) for row in found] == [("a", "int", None), ("c", "decimal(9,2)", None)]
    assert made.rows(ask.format("SELECT nothing FROM dbo.parent"), database="catalogue")[0]["error_number"] == 207
    of_object = "SELECT name FROM sys.dm_exec_describe_first_result_set_for_object(OBJECT_ID('dbo.p'), 0)"
    assert made.rows(of_object, database="catalogue") == [{"name": "x"}]


def test_a_wish_for_mars_is_not_granted(made):
    """Microsoft's driver connects, and says itself that a second result has to wait; after the first it goes on."""
    pyodbc.pooling = False
    text = connection_text("microsoft", made, MARS_Connection="yes")
    with contextlib.closing(pyodbc.connect(text, autocommit=True)) as connection:
        first, second = connection.cursor(), connection.cursor()
        first.execute("SELECT value FROM GENERATE_SERIES(1, 100000)")
        assert first.fetchone()[0] == 1
        with pytest.raises(pyodbc.Error, match="Connection is busy"):
            second.execute("SELECT 2")
        first.close()
        assert second.execute("SELECT 2").fetchone()[0] == 2
