"""The questions of management tools run unmodified on a primary, on a secondary, and on a server without a group."""

import contextlib
import re
from pathlib import Path

import pytest
from twin_client import PROFILE, Link, run

from aglab.twin import spawn_child

BATCHES = [
    batch
    for name in ("tool_statements.sql", "dba_statements.sql")
    for batch in re.split(r"(?m)^GO$", (Path(__file__).parent / name).read_text(encoding="utf-8"))
]


def ask_all(link, node):
    """Every batch on one connection."""
    with contextlib.closing(link.connect(node)) as connection:
        for batch in BATCHES:
            try:
                run(connection, batch)
            except Exception as error:
                raise AssertionError(f"{node}: {batch.strip()[:300]}\n{error}") from error


@pytest.mark.parametrize("node", ["sql1", "sql2"])
def test_tools_are_answered_in_a_group(link, node):
    """Primary and secondary answer every question."""
    ask_all(link, node)


def test_tools_are_answered_without_a_group(tmp_path):
    """A server without availability groups answers them too."""
    with spawn_child(tmp_path / "s", profile=PROFILE, bare=True) as twin:
        ask_all(Link(twin), "sql1")


def test_what_tools_learn_about_objects(own):
    """Columns, checks, foreign keys and statistics of a table are there under the names that tools look for."""
    own.sql(
        """CREATE TABLE dbo.parent (id int NOT NULL PRIMARY KEY, half AS id / 2);
        CREATE TABLE dbo.child (n int NOT NULL CONSTRAINT positive CHECK (n > 0),
            id int CONSTRAINT to_parent REFERENCES dbo.parent (id))""",
        database="OLTP",
    )
    names = own.rows(
        """SELECT c.name FROM sys.all_columns c JOIN sys.all_objects o ON o.object_id = c.object_id
        WHERE o.name = N'child' ORDER BY c.column_id""",
        database="OLTP",
    )
    assert [row["name"] for row in names] == ["n", "id"]
    assert (
        own.value("SELECT definition FROM sys.check_constraints WHERE name = N'positive'", database="OLTP").replace(" ", "")
        == "(n>0)"
    )
    keys = """SELECT OBJECT_NAME(k.constraint_object_id) AS k, COL_NAME(k.parent_object_id, k.parent_column_id) AS here,
        COL_NAME(k.referenced_object_id, k.referenced_column_id) AS there FROM sys.foreign_key_columns k"""
    assert [row["here"] + row["there"] for row in own.rows(keys, database="OLTP")] == ["idid"]
    assert own.value("SELECT COUNT(*) FROM sys.computed_columns WHERE name = N'half'", database="OLTP") == 1
    assert own.value("SELECT COUNT(*) FROM sys.stats s WHERE s.object_id = OBJECT_ID(N'dbo.parent')", database="OLTP") == 1


def test_properties_of_files_logins_and_collations(link):
    """Space used is within the file; an unknown property is NULL."""
    row = link.rows(
        """SELECT FILEPROPERTY(name, 'SpaceUsed') AS used, size, FILEPROPERTY(name, 'IsPrimaryFile') AS first,
        FILEPROPERTY(name, 'nothing') AS unknown FROM sys.database_files WHERE file_id = 1""",
        database="OLTP",
    )[0]
    assert 0 < row["used"] <= row["size"] and row["first"] == 1 and row["unknown"] is None
    row = link.rows(
        """SELECT LOGINPROPERTY('sa', 'IsLocked') AS locked, LOGINPROPERTY('nobody', 'IsLocked') AS nobody,
        COLLATIONPROPERTY('SQL_Latin1_General_CP1_CI_AS', 'CodePage') AS page, ORIGINAL_DB_NAME() AS began""",
        database="OLTP",
    )[0]
    assert row == {"locked": 0, "nobody": None, "page": 1252, "began": "OLTP"}


def test_the_local_server_and_its_role_members(link):
    """sys.servers shows the node itself; sa is a sysadmin."""
    assert [row["name"] for row in link.rows("SELECT name FROM sys.servers WHERE server_id = 0", node="sql2")] == ["sql2"]
    members = """SELECT r.name AS role, m.name AS member FROM sys.server_role_members x JOIN sys.server_principals r
        ON r.principal_id = x.role_principal_id JOIN sys.server_principals m ON m.principal_id = x.member_principal_id"""
    assert {"role": "sysadmin", "member": "sa"} in link.rows(members)
    assert len({row["database_guid"] for row in link.rows("SELECT database_guid FROM sys.database_recovery_status")}) >= 4


def test_what_tools_read_from_the_registry(link):
    """Values that the node has; one that it has not leaves the parameter alone, and says so unless no_output is given."""
    read = """DECLARE @v nvarchar(500) = N'as it was';
        EXEC master.dbo.xp_instance_regread N'HKEY_LOCAL_MACHINE', N'Software', N'{}', @v OUTPUT{}; SELECT @v AS v"""
    assert link.rows(read.format("LoginMode", ""))[0]["v"] == "2"
    assert link.rows(read.format("DefaultData", ""))[0]["v"] == link.value("SELECT SERVERPROPERTY('InstanceDefaultDataPath')")
    assert link.rows(read.format("NumErrorLogs", ", N'no_output'"))[0]["v"] == "as it was"
    row = link.rows("EXEC xp_instance_regread N'HKEY_LOCAL_MACHINE', N'Software', N'AuditLevel'")[0]
    assert (row["Value"], row["Data"]) == ("AuditLevel", 2)
    facts = {row["Name"]: row["Character_Value"] for row in link.rows("EXEC master.dbo.xp_msver")}
    assert facts["ProductVersion"] == link.value("SELECT SERVERPROPERTY('ProductVersion')")
    assert int(facts["ProcessorCount"]) == link.value("SELECT cpu_count FROM sys.dm_os_sys_info")


def test_types_of_variants_and_bytes_as_text(link):
    """SQL_VARIANT_PROPERTY by the value's type; bytes read as nvarchar are UTF-16, as varchar single bytes."""
    row = link.rows(
        """SELECT SQL_VARIANT_PROPERTY(CAST(1.5 AS decimal(9,3)), 'Scale') AS scale,
        SQL_VARIANT_PROPERTY(N'ab', 'BaseType') AS base,
        SQL_VARIANT_PROPERTY(SERVERPROPERTY('EngineEdition'), 'BaseType') AS held, SQL_VARIANT_PROPERTY(1, 'nothing') AS none,
        CAST(0x41004200 AS nvarchar(9)) AS wide, CAST(0x4142 AS varchar(9)) AS narrow, CAST(0x41 AS nvarchar(9)) AS odd,
        sys.fn_varbintohexsubstring(1, 0x0102FF, 2, 0) AS hex, sys.fn_varbintohexstr(0x0A) AS whole"""
    )[0]
    assert row == {
        "scale": 3,
        "base": "nvarchar",
        "held": "int",
        "none": None,
        "wide": "AB",
        "narrow": "AB",
        "odd": "A",
        "hex": "0x02ff",
        "whole": "0x0a",
    }


def test_names_and_sids_of_logins(own):
    """SUSER_SID gives the SID that sys.server_principals shows, SUSER_SNAME leads back, SUSER_NAME goes by number."""
    own.sql("CREATE LOGIN reader WITH PASSWORD = 'Long3nough#'")
    row = own.rows(
        """SELECT p.principal_id AS number, SUSER_ID(p.name) AS id, SUSER_NAME(p.principal_id) AS by_number,
        SUSER_SNAME(SUSER_SID(p.name)) AS by_sid, CASE WHEN SUSER_SID(p.name, 0) = p.sid THEN 1 ELSE 0 END AS same,
        SUSER_SNAME(0x01) AS first, SUSER_SID('nobody') AS nobody, SUSER_SNAME(0x99) AS stranger
        FROM sys.server_principals p WHERE p.name = 'reader'"""
    )[0]
    assert row.pop("number") == row.pop("id")
    assert row == {"by_number": "reader", "by_sid": "reader", "same": 1, "first": "sa", "nobody": None, "stranger": None}


def test_statistics_columns_and_old_views_of_columns(own):
    """sys.stats_columns names the key columns of an index, syscolumns the columns with their lengths."""
    own.sql("CREATE TABLE dbo.two (a int NOT NULL, b nvarchar(10) NULL, CONSTRAINT two_key PRIMARY KEY (a))", database="OLTP")
    names = (
        """SELECT COL_NAME(s.object_id, s.column_id) AS c FROM sys.stats_columns s WHERE s.object_id = OBJECT_ID(N'dbo.two')"""
    )
    assert [row["c"] for row in own.rows(names, database="OLTP")] == ["a"]
    old = "SELECT name, length, isnullable FROM syscolumns WHERE id = OBJECT_ID(N'dbo.two') ORDER BY colid"
    assert [tuple(row.values()) for row in own.rows(old, database="OLTP")] == [("a", 4, 0), ("b", 20, 1)]
