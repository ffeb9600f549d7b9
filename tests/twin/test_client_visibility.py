"""What a login without permissions sees, passes on and may steer."""

import contextlib

import pytest
from twin_client import fails, run

PASSWORD = "Str0ng-Password"


def limited(own, login, database="OLTP"):
    """A connection of a login."""
    return contextlib.closing(own.connect("sql1", database, password=PASSWORD, user=login))


@pytest.fixture
def two(own):
    """Logins and users ann and bob in OLTP; tables dbo.mine and dbo.hidden, procedure dbo.p."""
    for login in ("ann", "bob"):
        own.sql(f"CREATE LOGIN {login} WITH PASSWORD = N'{PASSWORD}', CHECK_POLICY = OFF")
        own.sql(f"CREATE USER {login} FOR LOGIN {login}", database="OLTP")
    own.sql("CREATE TABLE dbo.mine (a int); CREATE TABLE dbo.hidden (b int)", database="OLTP")
    own.sql("CREATE PROCEDURE dbo.p AS SELECT 1 AS one", database="OLTP")
    own.sql("GRANT SELECT ON dbo.mine TO ann; GRANT EXECUTE ON dbo.p TO ann", database="OLTP")
    return own


def names(link, view, column="name"):
    """One column of a view."""
    return {row[column] for row in run(link, f"SELECT {column} FROM {view}")[-1]}


def test_objects_without_permission_are_not_seen(two):
    """Tables, columns and INFORMATION_SCHEMA show what one has a permission on; VIEW DEFINITION shows all and the texts."""
    with limited(two, "ann") as link:
        assert names(link, "sys.tables") == {"mine"} and "b" not in names(link, "sys.columns")
        assert names(link, "INFORMATION_SCHEMA.TABLES", "TABLE_NAME") == {"mine"}
        assert names(link, "sys.sql_modules", "definition") == {None}
        two.sql("GRANT VIEW DEFINITION TO ann", database="OLTP")
        assert {"mine", "hidden"} <= names(link, "sys.tables")
        assert "CREATE PROCEDURE" in next(iter(names(link, "sys.sql_modules", "definition")))
    assert {"mine", "hidden"} <= {row["name"] for row in two.rows("SELECT name FROM sys.tables", database="OLTP")}


def test_principals_of_others_are_not_seen(two):
    """Oneself, sa and the fixed roles; ALTER ANY LOGIN shows the other logins."""
    with limited(two, "ann") as link:
        assert "bob" not in names(link, "sys.database_principals") and "ann" in names(link, "sys.database_principals")
        logins = "sys.server_principals WHERE type = 'S'"
        assert names(link, logins) == {"sa", "ann"}
        two.sql("GRANT ALTER ANY LOGIN TO ann")
        assert "bob" in names(link, logins)


def test_a_grant_with_grant_option_can_be_passed_on(two):
    """Only what was granted so, on just that object; GRANT OPTION FOR takes the option back and leaves the permission."""
    with limited(two, "ann") as ann, limited(two, "bob") as bob:
        assert "Grantor does not have GRANT permission" in fails(ann, "GRANT SELECT ON dbo.mine TO bob")
        two.sql("GRANT SELECT ON dbo.mine TO ann WITH GRANT OPTION", database="OLTP")
        states = "SELECT state_desc FROM sys.database_permissions WHERE class = 1 AND permission_name = N'SELECT'"
        assert two.value(states, database="OLTP") == "GRANT_WITH_GRANT_OPTION"
        run(ann, "GRANT SELECT ON dbo.mine TO bob")
        assert run(bob, "SELECT COUNT(*) AS n FROM dbo.mine")[-1] == [{"n": 0}]
        assert "Grantor" in fails(ann, "GRANT SELECT ON SCHEMA::dbo TO bob")
        two.sql("REVOKE GRANT OPTION FOR SELECT ON dbo.mine FROM ann", database="OLTP")
        assert "Grantor" in fails(ann, "GRANT SELECT ON dbo.mine TO bob") and run(ann, "SELECT a FROM dbo.mine") == [[]]


def test_what_one_may_do_is_listed(two):
    """fn_my_permissions of an object, a schema and a thing that is not there."""
    with limited(two, "ann") as link:
        mine = run(link, "SELECT permission_name AS p FROM fn_my_permissions(N'dbo.mine', N'OBJECT')")[-1]
        assert [row["p"] for row in mine] == ["SELECT"]
        assert run(link, "SELECT * FROM fn_my_permissions(N'dbo', N'SCHEMA')")[-1] == []
        assert run(link, "SELECT * FROM fn_my_permissions(N'dbo.nothing', N'OBJECT')")[-1] == []


def test_the_simulator_is_steered_by_administrators(two):
    """Schema twin: looking needs VIEW SERVER STATE, steering CONTROL SERVER; one's own place at the clock is one's own."""
    with limited(two, "ann") as link:
        assert "VIEW SERVER STATE permission was denied" in fails(link, "EXEC twin.snapshots")
        two.sql("GRANT VIEW SERVER STATE TO ann")
        run(link, "EXEC twin.snapshots")
        assert "CONTROL SERVER permission was denied" in fails(link, "EXEC twin.start_workload")
        run(link, "EXEC twin.enroll; EXEC twin.leave")


def test_impersonation_without_return(two):
    """WITH NO REVERT: REVERT changes nothing; without it the session is itself again."""
    with contextlib.closing(two.connect(database="OLTP")) as link:
        run(link, "EXECUTE AS LOGIN = 'ann'")
        assert names(link, "sys.tables") == {"mine"}
        run(link, "REVERT")
        assert run(link, "SELECT SUSER_SNAME() AS n")[-1] == [{"n": "sa"}]
        run(link, "EXECUTE AS LOGIN = 'ann' WITH NO REVERT")
        run(link, "REVERT")
        assert run(link, "SELECT SUSER_SNAME() AS n")[-1] == [{"n": "ann"}]


def test_a_permission_on_a_column_shows_the_table(two):
    """A grant on one column is a permission on its table."""
    two.sql("REVOKE SELECT ON dbo.mine FROM ann", database="OLTP")
    with limited(two, "ann", "OLTP") as link:
        assert names(link, "sys.tables") == set()
        two.sql("GRANT SELECT (a) ON dbo.mine TO ann", database="OLTP")
        assert names(link, "sys.tables") == {"mine"}
