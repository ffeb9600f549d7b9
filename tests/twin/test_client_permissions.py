"""Logins other than sa may do what they were granted, and are refused the rest in SQL Server's words."""

import contextlib

import pytest
from twin_client import fails, run

PASSWORD = "Str0ng-Password"


def limited(own, login, database="master", node="sql1"):
    """A connection of a login."""
    return contextlib.closing(own.connect(node, database, password=PASSWORD, user=login))


@pytest.fixture
def ann(own):
    """Login and user ann, who may do nothing yet; table dbo.t and procedure dbo.p in OLTP."""
    own.sql(f"CREATE LOGIN ann WITH PASSWORD = N'{PASSWORD}'")
    own.sql("CREATE USER ann FOR LOGIN ann; CREATE TABLE dbo.t (id int); INSERT INTO dbo.t VALUES (1)", database="OLTP")
    own.sql("CREATE PROCEDURE dbo.p AS INSERT INTO dbo.t VALUES (2)", database="OLTP")
    own.sql("CREATE VIEW dbo.v AS SELECT id FROM dbo.t", database="OLTP")
    return own


def test_a_login_without_a_user_stays_out(own):
    """A database without a user for the login is closed to it (916); the errorlog says state 38."""
    own.sql(f"CREATE LOGIN bob WITH PASSWORD = N'{PASSWORD}'")
    with pytest.raises(Exception, match="Login failed"):
        own.connect(database="OLTP", password=PASSWORD, user="bob")
    assert own.rows("EXEC sp_readerrorlog 0, 1, N'State: 38'")
    with limited(own, "bob") as link:
        assert "is not able to access the database" in fails(link, "USE OLTP")
        assert run(link, "SELECT HAS_DBACCESS('OLTP') AS a, IS_SRVROLEMEMBER('sysadmin') AS b")[0] == [{"a": 0, "b": 0}]


def test_failed_logins_say_why_in_the_errorlog_only(own):
    """Unknown login, wrong password, disabled: the client sees 18456 or 18470, the errorlog the state."""
    own.sql(f"CREATE LOGIN bob WITH PASSWORD = N'{PASSWORD}'")
    for user, password, state in (("nobody", PASSWORD, 5), ("bob", "wrong", 8)):
        with pytest.raises(Exception, match="Login failed"):
            own.connect(password=password, user=user)
        assert own.rows(f"EXEC sp_readerrorlog 0, 1, N'Error: 18456, Severity: 14, State: {state}.'")
    own.sql("ALTER LOGIN bob DISABLE")
    with pytest.raises(Exception, match="The account is disabled"):
        own.connect(password=PASSWORD, user="bob")
    own.sql("ALTER LOGIN bob ENABLE; DENY CONNECT SQL TO bob")
    with pytest.raises(Exception, match="Login failed"):
        own.connect(password=PASSWORD, user="bob")
    assert own.rows("EXEC sp_readerrorlog 0, 1, N'State: 12.'")


@pytest.mark.parametrize(
    ("grant", "text", "denied"),
    [
        ("GRANT SELECT ON dbo.t TO ann", "SELECT id FROM dbo.t", "The SELECT permission was denied on the object 't'"),
        ("GRANT SELECT ON SCHEMA::dbo TO ann", "SELECT id FROM dbo.v", "The SELECT permission was denied on the object 'v'"),
        ("GRANT INSERT ON OBJECT::dbo.t TO ann", "INSERT INTO dbo.t VALUES (3)", "The INSERT permission was denied"),
        ("ALTER ROLE db_datawriter ADD MEMBER ann", "DELETE FROM dbo.t", "The DELETE permission was denied"),
        ("GRANT EXECUTE ON dbo.p TO ann", "EXEC dbo.p", "The EXECUTE permission was denied on the object 'p'"),
        ("GRANT EXECUTE TO ann", "EXEC dbo.p", "The EXECUTE permission was denied on the object 'p'"),
        ("ALTER ROLE db_ddladmin ADD MEMBER ann", "CREATE TABLE dbo.x (i int)", "CREATE TABLE permission denied in database"),
        ("ALTER ROLE db_owner ADD MEMBER ann", "CREATE TABLE dbo.x (i int)", "CREATE TABLE permission denied in database"),
        ("ALTER ROLE db_backupoperator ADD MEMBER ann", "BACKUP DATABASE OLTP TO DISK = N'NUL'", "BACKUP DATABASE permission"),
        ("GRANT VIEW DATABASE STATE TO ann", "SELECT * FROM sys.dm_db_file_space_usage", "VIEW DATABASE PERFORMANCE STATE"),
    ],
)
def test_what_is_granted_in_a_database(ann, grant, text, denied):
    """Refused before, allowed after the grant, refused again after it is taken back or denied."""
    with limited(ann, "ann", "OLTP") as link:
        assert denied in fails(link, text)
        ann.sql(grant, database="OLTP")
        run(link, text)
        back = grant.replace("GRANT", "REVOKE").replace(" ADD ", " DROP ")
        ann.sql(back.replace(" TO ", " FROM ") if "REVOKE" in back else back, database="OLTP")
        assert denied in fails(link, text)


def test_a_denial_wins(ann):
    """DENY on the object beats a role; a role's member has what the role was granted."""
    ann.sql("CREATE ROLE readers; GRANT SELECT ON dbo.t TO readers; ALTER ROLE readers ADD MEMBER ann", database="OLTP")
    with limited(ann, "ann", "OLTP") as link:
        assert run(link, "SELECT id FROM dbo.t") == [[{"id": 1}]]
        assert run(link, "SELECT IS_MEMBER('readers') AS a, HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT') AS b")[0] == [
            {"a": 1, "b": 1}
        ]
        ann.sql("DENY SELECT ON dbo.t TO ann", database="OLTP")
        assert "was denied" in fails(link, "SELECT id FROM dbo.t")
        assert run(link, "SELECT HAS_PERMS_BY_NAME('dbo.t', 'OBJECT', 'SELECT') AS b")[0] == [{"b": 0}]
    rows = ann.rows("SELECT permission_name AS p, state_desc AS s FROM sys.database_permissions WHERE class = 1", database="OLTP")
    assert {(row["p"], row["s"]) for row in rows} == {("SELECT", "GRANT"), ("SELECT", "DENY")}


@pytest.mark.parametrize(
    ("grant", "text", "denied"),
    [
        (
            "GRANT VIEW SERVER STATE TO ann",
            "SELECT * FROM sys.dm_os_wait_stats",
            "VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'",
        ),
        (
            "ALTER SERVER ROLE ##MS_ServerStateReader## ADD MEMBER ann",
            "SELECT * FROM sys.dm_hadr_database_replica_states",
            "permission was denied on object 'server'",
        ),
        (
            "ALTER SERVER ROLE dbcreator ADD MEMBER ann",
            "CREATE DATABASE X",
            "CREATE DATABASE permission denied in database 'master'",
        ),
        (
            "GRANT ALTER ANY AVAILABILITY GROUP TO ann",
            "ALTER AVAILABILITY GROUP ag1 SET (DB_FAILOVER = ON)",
            "Cannot alter the availability group 'ag1', because it does not exist or you do not have permission",
        ),
        ("ALTER SERVER ROLE securityadmin ADD MEMBER ann", f"CREATE LOGIN x WITH PASSWORD = N'{PASSWORD}'", "permission denied"),
        ("ALTER SERVER ROLE serveradmin ADD MEMBER ann", "RECONFIGURE", "do not have permission to run the RECONFIGURE"),
        (
            "ALTER SERVER ROLE sysadmin ADD MEMBER ann",
            "ALTER DATABASE OLTP SET RECOVERY FULL",
            "does not have permission to alter",
        ),
    ],
)
def test_what_is_granted_on_the_server(ann, grant, text, denied):
    """Refused before the grant, allowed after it."""
    with limited(ann, "ann") as link:
        assert denied in fails(link, text)
        ann.sql(grant)
        run(link, text)


def test_kill_and_own_sessions(ann):
    """Without permission a login sees its own session only and kills nobody; processadmin may."""
    with limited(ann, "ann") as link, contextlib.closing(ann.connect()) as other:
        own_id = run(link, "SELECT @@SPID AS n")[0][0]["n"]
        assert run(link, "SELECT session_id AS n FROM sys.dm_exec_sessions") == [[{"n": own_id}]]
        victim = run(other, "SELECT @@SPID AS n")[0][0]["n"]
        assert "permission to use the KILL statement" in fails(link, f"KILL {victim}")
        ann.sql("ALTER SERVER ROLE processadmin ADD MEMBER ann")
        assert len(run(link, "SELECT session_id FROM sys.dm_exec_sessions")[0]) > 1
        run(link, f"KILL {victim}")


def test_execute_as_and_back(ann):
    """EXECUTE AS takes a login's place until REVERT; only who controls the server may."""
    with contextlib.closing(ann.connect(database="OLTP")) as link:
        run(link, "EXECUTE AS LOGIN = N'ann'")
        assert run(link, "SELECT SUSER_SNAME() AS a, ORIGINAL_LOGIN() AS b, USER_NAME() AS c") == [
            [{"a": "ann", "b": "sa", "c": "ann"}]
        ]
        assert "was denied" in fails(link, "SELECT id FROM dbo.t")
        assert "Cannot execute as the server principal" in fails(link, "EXECUTE AS LOGIN = N'sa'")
        run(link, "REVERT")
        assert run(link, "SELECT id FROM dbo.t") == [[{"id": 1}]]
        run(link, "EXECUTE AS USER = N'ann'")
        assert "was denied" in fails(link, "SELECT id FROM dbo.t")
        run(link, "REVERT")
        assert "does not exist" in fails(link, "EXECUTE AS USER = N'nobody'")


def test_views_of_roles_and_permissions(ann):
    """Members, grants and one's own permissions are shown."""
    ann.sql("ALTER SERVER ROLE dbcreator ADD MEMBER ann; GRANT VIEW SERVER STATE TO ann")
    members = """SELECT r.name AS r, m.name AS m FROM sys.server_role_members AS x
        JOIN sys.server_principals AS r ON r.principal_id = x.role_principal_id
        JOIN sys.server_principals AS m ON m.principal_id = x.member_principal_id"""
    assert {(row["r"], row["m"]) for row in ann.rows(members)} == {("sysadmin", "sa"), ("dbcreator", "ann")}
    shown = ann.rows("SELECT permission_name AS p FROM sys.server_permissions WHERE class = 100")
    assert {"VIEW SERVER STATE", "CONNECT SQL"} <= {row["p"] for row in shown}
    mine = "SELECT permission_name AS p FROM sys.fn_my_permissions(NULL, 'SERVER')"
    assert {row["p"] for row in ann.rows(mine)} >= {"CONTROL SERVER", "SHUTDOWN"}
    with limited(ann, "ann") as link:
        held = {row["p"] for row in run(link, mine)[0]}
        assert "VIEW SERVER STATE" in held and "CREATE ANY DATABASE" in held and "CONTROL SERVER" not in held


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GRANT VIEW SERVER STATE TO nobody", "Cannot find the login 'nobody'"),
        ("GRANT VIEW SERVER STATE TO sa", "Cannot grant, deny, or revoke permissions to sa"),
        ("USE OLTP; GRANT VIEW SERVER STATE TO ann", "can only be granted when the current database is master"),
        ("USE OLTP; GRANT SELECT ON dbo.none TO ann", "Cannot find the object 'none'"),
        ("USE OLTP; GRANT SELECT ON SCHEMA::none TO ann", "Cannot find the schema 'none'"),
        ("USE OLTP; GRANT SELECT TO nobody", "Cannot find the user 'nobody'"),
        ("USE OLTP; GRANT DELETE (id) ON dbo.t TO ann", "Sub-entity lists"),
        ("USE OLTP; GRANT SELECT (nosuch) ON dbo.t TO ann", "Column name 'nosuch' does not exist"),
        ("USE OLTP; GRANT FLY TO ann", "FLY"),
        ("ALTER SERVER ROLE nosuch ADD MEMBER ann", "Cannot alter the server role 'nosuch'"),
        ("ALTER SERVER ROLE dbcreator ADD MEMBER nobody", "Cannot add the principal 'nobody'"),
        ("USE OLTP; ALTER ROLE nosuch ADD MEMBER ann", "Cannot alter the role 'nosuch'"),
        ("USE OLTP; ALTER ROLE db_owner DROP MEMBER nobody", "Cannot drop the principal 'nobody'"),
        ("USE OLTP; ALTER ROLE db_owner WITH NAME = x", "does not implement"),
        ("USE OLTP; CREATE ROLE db_owner", "already exists"),
        ("USE OLTP; DROP ROLE nosuch", "Cannot drop the role 'nosuch'"),
        ("USE OLTP; CREATE ROLE r; ALTER ROLE r ADD MEMBER ann; DROP ROLE r", "has members"),
        ("EXECUTE AS LOGIN = N'nobody'", "Cannot execute as the server principal"),
        ("EXECUTE AS LOGIN = N'ann' WITH COOKIE INTO @c", "does not implement"),
        ("USE OLTP; CREATE USER w WITHOUT LOGIN; EXECUTE AS USER = N'w'", "does not implement"),
    ],
)
def test_refusals(ann, text, words):
    """Each wrong statement names what is wrong."""
    with contextlib.closing(ann.connect()) as link:
        for one in text.split("; ")[:-1]:
            run(link, one)
        assert words in fails(link, text.split("; ")[-1])


def test_permissions_survive_a_restart_of_the_twin(ann):
    """Grants, roles and denials are in a snapshot."""
    ann.sql("GRANT VIEW SERVER STATE TO ann")
    ann.sql("GRANT SELECT ON dbo.t TO ann", database="OLTP")
    ann.sql("EXEC twin.snapshot @name = 'granted'")
    ann.sql("REVOKE VIEW SERVER STATE FROM ann")
    ann.sql("EXEC twin.restore @name = 'granted'")
    with limited(ann, "ann", "OLTP") as link:
        run(link, "SELECT * FROM sys.dm_os_wait_stats; SELECT id FROM dbo.t")


def test_permissions_on_columns(ann):
    """Columns that were granted are read and changed, others are 230; a DENY on a column beats a GRANT on the table."""
    ann.sql("CREATE TABLE dbo.pay (id int NOT NULL PRIMARY KEY, name varchar(20), salary int)", database="OLTP")
    ann.sql("INSERT dbo.pay VALUES (1, 'ann', 10)", database="OLTP")
    ann.sql("CREATE VIEW dbo.open_pay AS SELECT id, salary FROM dbo.pay", database="OLTP")
    denied = "The SELECT permission was denied on the column 'salary' of the object 'pay', database 'OLTP', schema 'dbo'."
    with limited(ann, "ann", "OLTP") as link:
        assert "denied on the object 'pay'" in fails(link, "SELECT id FROM dbo.pay")
        ann.sql("GRANT SELECT (id, name), UPDATE (name) ON dbo.pay TO ann", database="OLTP")
        assert run(link, "SELECT id, name FROM dbo.pay") == [[{"id": 1, "name": "ann"}]]
        assert run(link, "SELECT COUNT(*) AS n FROM dbo.pay") == [[{"n": 1}]]
        for text in (
            "SELECT * FROM dbo.pay",
            "SELECT id FROM dbo.pay WHERE salary > 1",
            "SELECT MAX(p.salary) FROM dbo.pay AS p",
        ):
            assert denied in fails(link, text)
        run(link, "UPDATE dbo.pay SET name = 'Ann' WHERE id = 1")
        assert "UPDATE permission was denied on the column 'salary'" in fails(link, "UPDATE dbo.pay SET salary = 99")
        assert "DELETE permission was denied on the object" in fails(link, "DELETE dbo.pay")
        asked = "SELECT HAS_PERMS_BY_NAME('dbo.pay', 'OBJECT', 'SELECT', '{}', 'COLUMN') AS a"
        assert [run(link, asked.format(name))[0][0]["a"] for name in ("name", "salary", "nosuch")] == [1, 0, None]
        said = "SELECT minor_id, permission_name AS p, state_desc AS s FROM sys.database_permissions WHERE minor_id > 0"
        shown = sorted(tuple(row.values()) for row in ann.rows(said, database="OLTP"))
        assert shown == [(1, "SELECT", "GRANT"), (2, "SELECT", "GRANT"), (2, "UPDATE", "GRANT")]
        ann.sql(
            "REVOKE SELECT ON dbo.pay FROM ann; GRANT SELECT ON dbo.pay TO ann; DENY SELECT ON dbo.pay (salary) TO ann",
            database="OLTP",
        )
        assert run(link, "SELECT id, name FROM dbo.pay") == [[{"id": 1, "name": "Ann"}]]
        assert denied in fails(link, "SELECT salary FROM dbo.pay")
        ann.sql("GRANT SELECT ON dbo.open_pay TO ann", database="OLTP")
        assert run(link, "SELECT salary FROM dbo.open_pay") == [[{"salary": 10}]]
        ann.sql("DENY SELECT ON dbo.open_pay TO ann; GRANT SELECT ON dbo.open_pay (id) TO ann", database="OLTP")
        assert run(link, "SELECT id FROM dbo.open_pay") == [[{"id": 1}]]
        ann.sql(
            "GRANT CREATE TABLE TO ann; GRANT ALTER ON SCHEMA::dbo TO ann; GRANT REFERENCES (name) ON dbo.pay TO ann",
            database="OLTP",
        )
        child = "CREATE TABLE dbo.child (id int REFERENCES dbo.pay (id))"
        assert "REFERENCES permission was denied on the column 'id'" in fails(link, child)
        ann.sql("GRANT REFERENCES (id) ON dbo.pay TO ann", database="OLTP")
        run(link, child)
