"""The catalogue procedures that JDBC and ODBC drivers call for their users' tools, and SET inside a text that is executed."""

import contextlib

import pytest
from twin_client import run

TABLES = """CREATE TABLE dbo.parent (id int IDENTITY NOT NULL CONSTRAINT parent_key PRIMARY KEY, word nvarchar(20) NULL);
    CREATE TABLE dbo.child (n int NOT NULL, pid int CONSTRAINT to_parent REFERENCES dbo.parent (id) ON DELETE CASCADE)"""
PROCEDURE = "CREATE PROCEDURE dbo.both @a int, @b nvarchar(10) OUTPUT AS RETURN 7"


@pytest.fixture
def tables(own):
    """A node with two tables and a procedure."""
    own.sql(TABLES, database="OLTP")
    own.sql(PROCEDURE, database="OLTP")
    return own


def test_foreign_keys(tables):
    """sp_fkeys names both sides; rule 0 is CASCADE, 1 NO ACTION."""
    row = tables.rows("EXEC sp_fkeys @fktable_name = N'child'", database="OLTP")[0]
    names = ("PKTABLE_NAME", "PKCOLUMN_NAME", "FKCOLUMN_NAME", "FK_NAME", "PK_NAME", "DELETE_RULE", "UPDATE_RULE")
    assert [row[name] for name in names] == ["parent", "id", "pid", "to_parent", "parent_key", 0, 1]
    assert tables.rows("EXEC sp_fkeys @pktable_name = N'child'", database="OLTP") == []


def test_parameters_and_best_row_identifier(tables):
    """sp_sproc_columns: return value (5), input (1), output (2); sp_special_columns: the primary key's columns."""
    rows = tables.rows("EXEC sp_sproc_columns_100 @procedure_name = N'both', @ODBCVer = 3", database="OLTP")
    seen = [(row["COLUMN_NAME"], row["COLUMN_TYPE"], row["TYPE_NAME"], row["PRECISION"]) for row in rows]
    assert seen == [("@RETURN_VALUE", 5, "int", 10), ("@a", 1, "int", 10), ("@b", 2, "nvarchar", 10)]
    row = tables.rows("EXEC sp_special_columns_100 @table_name = N'parent'", database="OLTP")[0]
    assert (row["COLUMN_NAME"], row["TYPE_NAME"]) == ("id", "int identity")


def test_columns_as_jdbc_takes_them(tables):
    """mssql-jdbc keeps sp_columns_100's rows in a table with a column named PRECISION, a keyword that is none there."""
    found = tables.rows("EXEC sp_columns_100 @table_name = N'parent'", database="OLTP")
    assert [(row["COLUMN_NAME"], row["SS_IS_IDENTITY"]) for row in found] == [("id", 1), ("word", 0)]
    assert len(found[0]) == 29 and list(found[0])[-1] == "SS_DATA_TYPE"
    assert (
        tables.value(
            "DECLARE @t TABLE (PRECISION int, x double precision); INSERT @t (PRECISION) VALUES (3); SELECT PRECISION FROM @t"
        )
        == 3
    )


def test_set_within_a_text_ends_with_it(link):
    """Options set by sp_executesql and EXECUTE are as before when the text ends ("SET Statements (Transact-SQL)")."""
    with contextlib.closing(link.connect("sql1")) as connection:
        run(connection, "EXEC sp_executesql N'SET FMTONLY ON SELECT name FROM sys.databases'")
        run(connection, "EXEC ('SET LOCK_TIMEOUT 77')")
        assert run(connection, "SELECT @@LOCK_TIMEOUT AS t")[0] == [{"t": -1}]
        run(connection, "SET LOCK_TIMEOUT 55")
        assert run(connection, "EXEC sp_executesql N'SELECT @@LOCK_TIMEOUT AS t'")[0] == [{"t": 55}]
