"""Partition functions and schemes, SWITCH, TRUNCATE of partitions, files and filegroups, on real rows."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from .fakes import Client, FakeHost

LAYOUT = """ALTER DATABASE OLTP ADD FILEGROUP fg2
ALTER DATABASE OLTP ADD FILEGROUP fg3
ALTER DATABASE OLTP ADD FILE (NAME = f2, FILENAME = '/v2/f2.ndf', SIZE = 8MB) TO FILEGROUP fg2
ALTER DATABASE OLTP ADD FILE (NAME = f3, FILENAME = '/v3/f3.ndf', SIZE = 8MB) TO FILEGROUP fg3
CREATE PARTITION FUNCTION pf (bigint) AS RANGE LEFT FOR VALUES (100, 200)
CREATE PARTITION SCHEME ps AS PARTITION pf TO ([PRIMARY], fg2, fg3)
CREATE TABLE dbo.trade (id bigint NOT NULL, account int NOT NULL, qty int NOT NULL,
    CONSTRAINT pk PRIMARY KEY CLUSTERED (id)) ON ps(id)
CREATE INDEX by_account ON dbo.trade(account)"""
ROWS = """DECLARE @i int = 1
WHILE @i <= 300 BEGIN INSERT dbo.trade VALUES (@i, @i % 7, @i * 2); SET @i += 1 END"""
COUNTS = """SELECT partition_number, rows FROM sys.partitions
WHERE object_id = OBJECT_ID(N'dbo.trade') AND index_id <= 1 ORDER BY partition_number"""


@pytest.fixture
def client() -> Client:
    """A database with three filegroups and a table in three partitions, 300 rows."""
    made = Client(FakeHost("OLTP"))
    for text in (LAYOUT, ROWS):
        assert not [m for m in made.run(text).messages if m.is_error]
    return made


def rows(client: Client, text: str) -> list[tuple[Any, ...]]:
    """Rows of the last result set, and no error."""
    result = client.run(text)
    assert not [m for m in result.messages if m.is_error], result.messages
    return result.sets[-1]


def refused(client: Client, text: str) -> tuple[int, str]:
    """Number and text of the first error."""
    found = [m for m in client.run(text).messages if m.is_error]
    assert found, f"no error: {text}"
    return found[0].number, found[0].text


def test_rows_are_counted_by_partition_and_index(client: Client) -> None:
    """sys.partitions follows inserts, updates of the partitioning column, deletes and rollbacks."""
    assert rows(client, COUNTS) == [(1, 100), (2, 100), (3, 100)]
    client.run("DELETE dbo.trade WHERE id <= 10; UPDATE dbo.trade SET id = 1000 WHERE id = 150")
    assert rows(client, COUNTS) == [(1, 90), (2, 99), (3, 101)]
    client.run("BEGIN TRAN; DELETE dbo.trade; ROLLBACK")
    assert rows(client, COUNTS) == [(1, 90), (2, 99), (3, 101)]
    by_index = rows(client, "SELECT SUM(rows) FROM sys.partitions WHERE object_id = OBJECT_ID(N'dbo.trade') AND index_id = 2")
    assert by_index == [(290,)]


@pytest.mark.parametrize(
    ("side", "expected"), [("LEFT", [1, 1, 2, 2, 3, 1]), ("RIGHT", [1, 2, 2, 3, 3, 1])], ids=["left", "right"]
)
def test_a_boundary_belongs_to_its_side(side: str, expected: list[int]) -> None:
    """RANGE LEFT puts the boundary itself into the lower range, RIGHT into the upper one; NULL lies in the first."""
    client = Client(FakeHost("OLTP"))
    client.run(f"CREATE PARTITION FUNCTION f (int) AS RANGE {side} FOR VALUES (100, 200)")
    found = rows(client, "SELECT " + ", ".join(f"$PARTITION.f({v})" for v in (99, 100, 101, 200, 201, "NULL")))
    assert list(found[0]) == expected


@pytest.mark.parametrize("name", ["int", "bigint", "smallint", "date", "datetime2", "datetime", "nvarchar(20)"])
def test_types_that_cut(name: str) -> None:
    """Numbers, dates and text can be cut; a boundary is converted to the function's type."""
    client = Client(FakeHost("OLTP"))
    values = "'2024-01-01', '2025-01-01'" if "date" in name else "'G', 'P'" if "char" in name else "10, 20"
    client.run(f"CREATE PARTITION FUNCTION f ({name}) AS RANGE RIGHT FOR VALUES ({values})")
    probe = "'2024-06-01'" if "date" in name else "'k'" if "char" in name else "15"
    assert rows(client, f"SELECT $PARTITION.f({probe})") == [(2,)]
    assert rows(client, "SELECT COUNT(*) FROM sys.partition_range_values") == [(2,)]


def test_split_and_merge_move_rows_and_filegroups(client: Client) -> None:
    """SPLIT puts the range that holds the boundary on NEXT USED; MERGE drops the range that held it."""
    destinations = "SELECT destination_id, data_space_id FROM sys.destination_data_spaces ORDER BY destination_id"
    client.run("ALTER PARTITION SCHEME ps NEXT USED fg2")
    assert rows(client, destinations) == [(1, 1), (2, 2), (3, 3), (4, 2)]
    client.run("ALTER PARTITION FUNCTION pf() SPLIT RANGE (250)")
    assert rows(client, destinations) == [(1, 1), (2, 2), (3, 2), (4, 3)]
    assert rows(client, COUNTS) == [(1, 100), (2, 100), (3, 50), (4, 50)]
    client.run("ALTER PARTITION FUNCTION pf() MERGE RANGE (100)")
    assert rows(client, destinations) == [(1, 2), (2, 2), (3, 3)]
    assert rows(client, COUNTS) == [(1, 200), (2, 50), (3, 50)]


def test_split_of_a_right_function_makes_the_upper_range_new() -> None:
    """With RANGE RIGHT the boundary begins the new range."""
    client = Client(FakeHost("OLTP"))
    client.run("ALTER DATABASE OLTP ADD FILEGROUP fg2; CREATE PARTITION FUNCTION f (int) AS RANGE RIGHT FOR VALUES (10)")
    client.run("CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY]); ALTER PARTITION SCHEME s NEXT USED fg2")
    client.run("ALTER PARTITION FUNCTION f() SPLIT RANGE (20)")
    assert rows(client, "SELECT data_space_id FROM sys.destination_data_spaces ORDER BY destination_id") == [(1,), (1,), (2,)]


def test_all_to_keeps_a_filegroup_for_the_next_split() -> None:
    """ALL TO marks its filegroup as next used; a list that is one longer marks its last, with message 7712."""
    client = Client(FakeHost("OLTP"))
    client.run("CREATE PARTITION FUNCTION f (int) AS RANGE LEFT FOR VALUES (10)")
    client.run("CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY])")
    assert rows(client, "SELECT COUNT(*) FROM sys.destination_data_spaces") == [(3,)]
    told = client.run("CREATE PARTITION SCHEME s2 AS PARTITION f TO ([PRIMARY], [PRIMARY], [PRIMARY], [PRIMARY])")
    assert [m.number for m in told.messages] == [7712, 7713]
    assert not [m for m in client.run("ALTER PARTITION FUNCTION f() SPLIT RANGE (20)").messages if m.is_error]
    assert refused(client, "ALTER PARTITION FUNCTION f() SPLIT RANGE (30)")[0] == 7710
    assert [m.number for m in client.run("ALTER PARTITION SCHEME s2 NEXT USED").messages] == [7710]


def test_unsorted_boundaries_are_sorted_with_a_warning() -> None:
    """Boundaries may come in any order."""
    client = Client(FakeHost("OLTP"))
    assert [m.number for m in client.run("CREATE PARTITION FUNCTION f (int) AS RANGE FOR VALUES (20, 10)").messages] == [7709]
    assert rows(client, "SELECT value FROM sys.partition_range_values ORDER BY boundary_id") == [(10,), (20,)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (1)", 2714),
        ("CREATE PARTITION FUNCTION f (xml) AS RANGE LEFT FOR VALUES ()", 7704),
        ("CREATE PARTITION FUNCTION f (varchar(max)) AS RANGE LEFT FOR VALUES ('a')", 7704),
        ("CREATE PARTITION FUNCTION f (int) AS RANGE LEFT FOR VALUES (1, 2, 1)", 7708),
        ("CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY])", 2714),
        ("CREATE PARTITION SCHEME s AS PARTITION nosuch ALL TO ([PRIMARY])", 15151),
        ("CREATE PARTITION SCHEME s AS PARTITION pf TO ([PRIMARY], fg2)", 7707),
        ("CREATE PARTITION SCHEME s AS PARTITION pf ALL TO (fg2, fg3)", 7723),
        ("CREATE PARTITION SCHEME s AS PARTITION pf ALL TO (nosuch)", 1921),
        ("ALTER PARTITION FUNCTION pf() SPLIT RANGE (100)", 7721),
        ("ALTER PARTITION FUNCTION pf() SPLIT RANGE (150)", 7710),
        ("ALTER PARTITION FUNCTION pf() SPLIT", 102),
        ("ALTER PARTITION FUNCTION pf() MERGE RANGE (150)", 7715),
        ("ALTER PARTITION FUNCTION nosuch() MERGE RANGE (150)", 15151),
        ("ALTER PARTITION SCHEME nosuch NEXT USED fg2", 15151),
        ("DROP PARTITION FUNCTION pf", 7706),
        ("DROP PARTITION SCHEME ps", 7717),
        ("DROP PARTITION SCHEME nosuch", 15151),
        ("CREATE TABLE t (a int) ON ps(a)", 7726),
        ("CREATE TABLE t (a bigint) ON ps(b)", 1911),
        ("CREATE TABLE t (a bigint) ON ps", 2726),
        ("CREATE TABLE t (a bigint) ON nosuch(a)", 1921),
        ("CREATE TABLE t (a bigint, b int PRIMARY KEY) ON ps(a)", 1908),
        ("CREATE UNIQUE INDEX u ON dbo.trade(account)", 1908),
        ("CREATE INDEX nosuch ON dbo.trade(account) WITH (DROP_EXISTING = ON)", 7999),
        ("CREATE UNIQUE CLUSTERED INDEX pk ON dbo.trade(account) WITH (DROP_EXISTING = ON)", 1907),
        ("ALTER INDEX by_account ON dbo.trade REBUILD PARTITION = 4", 7722),
        ("TRUNCATE TABLE dbo.trade WITH (PARTITIONS (4))", 7722),
        ("TRUNCATE TABLE dbo.trade WITH (PARTITIONS (3 TO 2))", 7728),
        ("CREATE TABLE t (a int); TRUNCATE TABLE t WITH (PARTITIONS (1))", 7729),
        ("CREATE INDEX apart ON dbo.trade(qty) ON fg3; TRUNCATE TABLE dbo.trade WITH (PARTITIONS (1))", 3756),
        ("ALTER TABLE dbo.trade DROP COLUMN id", 5074),
        ("SELECT $PARTITION.nosuch(1)", 208),
        ("SELECT nosuch.$PARTITION.pf(1)", 911),
        ("SELECT $PARTITION.pf(1, 2)", 174),
    ],
)
def test_what_is_refused(client: Client, text: str, number: int) -> None:
    """Each refusal has SQL Server's number, and changes nothing."""
    assert refused(client, text)[0] == number
    assert rows(client, COUNTS) == [(1, 100), (2, 100), (3, 100)]


def test_truncate_of_partitions_keeps_the_others(client: Client) -> None:
    """Single numbers and ranges; a rollback brings the rows back."""
    client.run("BEGIN TRAN; TRUNCATE TABLE dbo.trade WITH (PARTITIONS (1, 2 TO 3)); ROLLBACK")
    assert rows(client, COUNTS) == [(1, 100), (2, 100), (3, 100)]
    client.run("TRUNCATE TABLE dbo.trade WITH (PARTITIONS (1, 3))")
    assert rows(client, COUNTS) == [(1, 0), (2, 100), (3, 0)]
    assert rows(client, "SELECT MIN(id), MAX(id) FROM dbo.trade WHERE account >= 0") == [(101, 200)]


STAGING = """CREATE TABLE dbo.staging (id bigint NOT NULL, account int NOT NULL, qty int NOT NULL,
    CONSTRAINT pk_staging PRIMARY KEY CLUSTERED (id), INDEX by_account (account)) ON fg3"""


def test_switch_out_and_in(client: Client) -> None:
    """A partition leaves for a table in its filegroup and comes back once a CHECK proves where its rows belong."""
    client.run(STAGING)
    client.run("ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.staging")
    assert rows(client, COUNTS) == [(1, 100), (2, 100), (3, 0)]
    assert rows(client, "SELECT MIN(id), MAX(id), COUNT(*) FROM dbo.staging") == [(201, 300, 100)]
    number, text = refused(client, "ALTER TABLE dbo.staging SWITCH TO dbo.trade PARTITION 3")
    assert number == 4982
    assert text.endswith("not allowed by range defined by partition 3 on target table 'OLTP.dbo.trade'.")
    for wrong in ("id >= 200", "id > 100", "id < 300", "id = account"):
        client.run(f"ALTER TABLE dbo.staging WITH NOCHECK ADD CONSTRAINT ck CHECK ({wrong})")
        assert refused(client, "ALTER TABLE dbo.staging SWITCH TO dbo.trade PARTITION 3")[0] == 4982
        client.run("ALTER TABLE dbo.staging DROP CONSTRAINT ck")
    client.run("ALTER TABLE dbo.staging ADD CONSTRAINT ck CHECK (id > 200 AND id <= 1000)")
    client.run("ALTER TABLE dbo.staging SWITCH TO dbo.trade PARTITION 3")
    assert rows(client, COUNTS) == [(1, 100), (2, 100), (3, 100)]
    assert rows(client, "SELECT id FROM dbo.trade WHERE account = 5 AND id > 290") == [(292,), (299,)]


@pytest.mark.parametrize(
    ("setup", "text", "number"),
    [
        (STAGING, "ALTER TABLE dbo.trade SWITCH PARTITION 2 TO dbo.staging", 4939),
        (STAGING, "ALTER TABLE dbo.trade SWITCH TO dbo.staging", 4911),
        (STAGING, "ALTER TABLE dbo.trade SWITCH PARTITION 9 TO dbo.staging", 4950),
        (STAGING, "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.trade PARTITION 2", 4955),
        (STAGING + " INSERT dbo.staging VALUES (1, 1, 1)", "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.staging", 4905),
        (STAGING + " INSERT dbo.staging VALUES (1, 1, 1)", "ALTER TABLE dbo.staging SWITCH TO dbo.trade PARTITION 3", 4904),
        ("CREATE TABLE dbo.s (id bigint)", "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.s", 4943),
        ("CREATE TABLE dbo.s (id bigint, account int, n int)", "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.s", 4985),
        (
            "CREATE TABLE dbo.s (id bigint NOT NULL, account int NOT NULL, n int NOT NULL)",
            "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.s",
            4942,
        ),
        (
            "CREATE TABLE dbo.s (id bigint NOT NULL, account int NOT NULL, qty bigint NOT NULL)",
            "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.s",
            4944,
        ),
        (
            "CREATE TABLE dbo.s (id bigint NOT NULL, account int NOT NULL, qty int NOT NULL) ON fg3",
            "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.s",
            4913,
        ),
        (
            STAGING + " CREATE INDEX more ON dbo.staging(qty)",
            "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.staging",
            4947,
        ),
        (
            STAGING + " CREATE INDEX apart ON dbo.trade(qty) ON fg3",
            "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.staging",
            7733,
        ),
        (
            STAGING + " ALTER TABLE dbo.staging ADD CONSTRAINT ck CHECK (qty > 0)",
            "ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.staging",
            4970,
        ),
        (
            "CREATE TABLE dbo.other (id bigint NOT NULL, account int NOT NULL, qty int NOT NULL,"
            " CONSTRAINT pk_other PRIMARY KEY (id), INDEX by_account (account)) ON ps(id) DELETE dbo.trade WHERE id <= 200",
            "ALTER TABLE dbo.other SWITCH PARTITION 1 TO dbo.trade PARTITION 2",
            4938,
        ),
        (
            "CREATE PARTITION SCHEME flat AS PARTITION pf ALL TO (fg2) CREATE TABLE dbo.other (id bigint NOT NULL,"
            " account int NOT NULL, qty int NOT NULL, CONSTRAINT pk_other PRIMARY KEY (id),"
            " INDEX by_account (account)) ON flat(id)"
            " DELETE dbo.trade WHERE id <= 200",
            "ALTER TABLE dbo.other SWITCH PARTITION 1 TO dbo.trade PARTITION 2",
            4973,
        ),
    ],
)
def test_what_switch_refuses(client: Client, setup: str, text: str, number: int) -> None:
    """SWITCH moves no row, so it refuses whatever would need one to move or be checked."""
    assert not [m for m in client.run(setup).messages if m.is_error]
    assert refused(client, text)[0] == number


def test_switch_ignores_a_number_for_a_plain_table(client: Client) -> None:
    """Message 4903 and not an error, as on a real server."""
    client.run(STAGING)
    told = client.run("ALTER TABLE dbo.trade SWITCH PARTITION 3 TO dbo.staging PARTITION 1")
    assert [m.number for m in told.messages] == [4903]
    assert rows(client, "SELECT COUNT(*) FROM dbo.staging") == [(100,)]


def test_rebuilding_the_clustered_key_moves_the_table(client: Client) -> None:
    """DROP_EXISTING with ON takes the rows along and keeps the primary key; nonclustered indexes stay where they are."""
    client.run("CREATE UNIQUE CLUSTERED INDEX pk ON dbo.trade(id) WITH (DROP_EXISTING = ON) ON fg2")
    assert rows(client, COUNTS) == [(1, 300)]
    shown = rows(
        client,
        """SELECT i.name, d.name, i.is_primary_key FROM sys.indexes AS i
        JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
        WHERE i.object_id = OBJECT_ID(N'dbo.trade') ORDER BY i.index_id""",
    )
    assert shown == [("pk", "fg2", True), ("by_account", "ps", False)]
    client.run("BEGIN TRAN; CREATE UNIQUE CLUSTERED INDEX pk ON dbo.trade(id) WITH (DROP_EXISTING = ON) ON ps(id); ROLLBACK")
    assert rows(client, COUNTS) == [(1, 300)]


def test_the_partitioning_column_is_in_every_aligned_index(client: Client) -> None:
    """sys.index_columns marks it with partition_ordinal 1, a key column of the index or not."""
    found = rows(
        client,
        """SELECT index_id, column_id, key_ordinal, partition_ordinal FROM sys.index_columns
        WHERE object_id = OBJECT_ID(N'dbo.trade') ORDER BY index_id, index_column_id""",
    )
    assert found == [(1, 1, 1, 1), (2, 2, 1, 0), (2, 1, 0, 1)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("ALTER DATABASE OLTP ADD FILEGROUP fg2", 5035),
        ("ALTER DATABASE OLTP REMOVE FILEGROUP nosuch", 5014),
        ("ALTER DATABASE OLTP REMOVE FILEGROUP fg2", 5042),
        ("ALTER DATABASE OLTP REMOVE FILE f2", 5042),
        ("ALTER DATABASE OLTP REMOVE FILE nosuch", 5009),
        ("ALTER DATABASE OLTP REMOVE FILE OLTP", 5020),
        ("ALTER DATABASE OLTP MODIFY FILEGROUP fg2 DEFAULT; ALTER DATABASE OLTP REMOVE FILE f2", 5031),
        ("ALTER DATABASE OLTP MODIFY FILEGROUP [PRIMARY] DEFAULT", 5045),
        ("ALTER DATABASE OLTP ADD FILEGROUP fg4; ALTER DATABASE OLTP MODIFY FILEGROUP fg4 DEFAULT", 5050),
        ("ALTER DATABASE OLTP MODIFY FILEGROUP [PRIMARY] NAME = other", 5012),
        ("ALTER DATABASE OLTP MODIFY FILEGROUP [PRIMARY] READ_ONLY", 5047),
        ("ALTER DATABASE OLTP MODIFY FILE (NAME = f2, SIZE = 4MB)", 5039),
        ("ALTER DATABASE OLTP MODIFY FILE (NAME = f2, SIZE = 40MB, MAXSIZE = 20MB)", 5040),
        ("ALTER DATABASE OLTP MODIFY FILE (NAME = nosuch, SIZE = 40MB)", 5041),
        ("ALTER DATABASE OLTP MODIFY FILE (SIZE = 40MB)", 5036),
        ("ALTER DATABASE OLTP MODIFY FILE (NAME = f2)", 5038),
        ("ALTER DATABASE OLTP ADD FILE (NAME = f9, FILENAME = '/v2/f2.ndf') TO FILEGROUP fg2", 5104),
        ("ALTER DATABASE OLTP ADD FILE (NAME = f2, FILENAME = '/v9/f9.ndf') TO FILEGROUP fg2", 1828),
        ("ALTER DATABASE OLTP ADD FILE (NAME = f9, FILENAME = '/v9/f9.ndf') TO FILEGROUP nosuch", 1921),
    ],
)
def test_what_files_and_filegroups_refuse(client: Client, text: str, number: int) -> None:
    """Numbers of ALTER DATABASE's refusals."""
    assert refused(client, text)[0] == number


def test_the_default_filegroup_takes_new_tables(client: Client) -> None:
    """DEFAULT moves, AUTOGROW_ALL_FILES shows in the catalogue, and a new table follows."""
    client.run("ALTER DATABASE OLTP MODIFY FILEGROUP fg2 DEFAULT; ALTER DATABASE OLTP MODIFY FILEGROUP fg2 AUTOGROW_ALL_FILES")
    client.run("CREATE TABLE dbo.newer (a int)")
    shown = rows(
        client,
        """SELECT f.name, f.is_autogrow_all_files FROM sys.indexes AS i
        JOIN sys.filegroups AS f ON f.data_space_id = i.data_space_id
        WHERE i.object_id = OBJECT_ID(N'dbo.newer') AND f.is_default = 1""",
    )
    assert shown == [("fg2", True)]


def test_an_empty_file_and_its_filegroup_can_go(client: Client) -> None:
    """MERGE empties a filegroup; then its file, and the filegroup, are removed."""
    client.run("ALTER PARTITION FUNCTION pf() MERGE RANGE (200)")
    told = client.run("ALTER DATABASE OLTP REMOVE FILE f2; ALTER DATABASE OLTP REMOVE FILEGROUP fg2")
    assert [(m.number, m.is_error) for m in told.messages] == [(5044, False), (5044, False)]


def test_partitioning_is_kept(client: Client) -> None:
    """A database that was written to disk and read again still knows its partitions."""
    instance = client.host.instance
    kept = pickle.loads(pickle.dumps(instance.databases["oltp"].partition_schemes))
    assert kept == instance.databases["oltp"].partition_schemes
    other = Client(FakeHost("OLTP"))
    for record in client.host.commits:
        other.host.instance.databases["oltp"].filegroups = dict(instance.databases["oltp"].filegroups)
        other.host.instance.databases["oltp"].apply(record)
    assert rows(other, COUNTS) == [(1, 100), (2, 100), (3, 100)]
    client.run("ALTER PARTITION SCHEME ps NEXT USED fg2; ALTER PARTITION FUNCTION pf() SPLIT RANGE (250)")
    client.run("DROP TABLE dbo.trade; DROP PARTITION SCHEME ps; DROP PARTITION FUNCTION pf")
    for record in client.host.commits[-5:]:
        other.host.instance.databases["oltp"].apply(record)
    assert rows(other, "SELECT COUNT(*) FROM sys.partition_functions") == [(0,)]


def test_a_filegroup_without_a_file_takes_no_rows() -> None:
    """A table may be created there; rows wait for a file (622)."""
    client = Client(FakeHost("OLTP"))
    client.run("ALTER DATABASE OLTP ADD FILEGROUP fg9")
    client.run("CREATE TABLE dbo.homeless (a int) ON fg9")
    assert refused(client, "INSERT INTO dbo.homeless VALUES (1)")[0] == 622
    client.run("ALTER DATABASE OLTP ADD FILE (NAME = N'f9', FILENAME = N'/var/opt/mssql/data/f9.ndf') TO FILEGROUP fg9")
    client.run("INSERT INTO dbo.homeless VALUES (1)")
    assert rows(client, "SELECT COUNT(*) FROM dbo.homeless") == [(1,)]
