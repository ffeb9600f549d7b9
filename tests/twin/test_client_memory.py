"""In-Memory OLTP as a client sees it: filegroup and container, tables, versions instead of locks, native procedures, memory."""

import contextlib

from twin_client import fails, run

CONTAINER = """ALTER DATABASE OLTP ADD FILEGROUP fx CONTAINS MEMORY_OPTIMIZED_DATA;
ALTER DATABASE OLTP ADD FILE (NAME = N'fx1', FILENAME = N'/var/opt/mssql/data/fx1') TO FILEGROUP fx;"""
TABLE = """CREATE TABLE dbo.m (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = {buckets}),
note varchar(100) NULL) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = {durability})"""
NATIVE = """CREATE PROCEDURE dbo.{name} {parameters} WITH NATIVE_COMPILATION, SCHEMABINDING, EXECUTE AS OWNER AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
{body}
END"""


def set_up(own, buckets=1000, durability="SCHEMA_AND_DATA"):
    """A container and a table with two rows in OLTP, which is in the group."""
    own.sql(CONTAINER)
    own.sql(TABLE.format(buckets=buckets, durability=durability), database="OLTP")
    own.sql("INSERT INTO dbo.m VALUES (1, 'one'), (2, 'two')", database="OLTP")


def test_rows_reach_secondaries_and_outlive_a_restart(own):
    """A durable table is replicated and there after a restart; SCHEMA_ONLY keeps its shape alone, here and on a secondary."""
    set_up(own)
    own.sql(TABLE.format(buckets=8, durability="SCHEMA_ONLY").replace("dbo.m", "dbo.s"), database="OLTP")
    own.sql("INSERT INTO dbo.s VALUES (1, 'gone')", database="OLTP")
    own.sql("EXEC twin.advance @seconds = 5")
    assert own.rows("SELECT id FROM dbo.m ORDER BY id", node="sql2", database="OLTP") == [{"id": 1}, {"id": 2}]
    assert own.rows("SELECT id FROM dbo.s", node="sql2", database="OLTP") == []
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql3")
    own.sql("EXEC twin.advance @seconds = 60")
    assert own.value("SELECT COUNT(*) FROM dbo.m", database="OLTP") == 2
    assert own.value("SELECT COUNT(*) FROM dbo.s", database="OLTP") == 0
    shapes = "SELECT name, durability_desc FROM sys.tables WHERE is_memory_optimized = 1 ORDER BY name"
    assert [row["durability_desc"] for row in own.rows(shapes, database="OLTP")] == ["SCHEMA_AND_DATA", "SCHEMA_ONLY"]


def test_catalogue_and_memory(own):
    """Container, hash index with the next power of two, and memory: 8 bytes a bucket, 64 KB pages of rows."""
    set_up(own, buckets=1_000_000)
    container = own.rows("SELECT type_desc, size FROM sys.database_files WHERE name = N'fx1'", database="OLTP")
    assert container == [{"type_desc": "FILESTREAM", "size": 0}]
    group = own.value("SELECT type_desc FROM sys.filegroups WHERE type = 'FX'", database="OLTP")
    assert group == "MEMORY_OPTIMIZED_DATA_FILEGROUP"
    assert own.rows("SELECT type_desc, bucket_count FROM sys.hash_indexes", database="OLTP") == [
        {"type_desc": "NONCLUSTERED HASH", "bucket_count": 1 << 20}
    ]
    memory = own.rows("SELECT * FROM sys.dm_db_xtp_table_memory_stats WHERE object_id = OBJECT_ID('dbo.m')", database="OLTP")[0]
    assert (memory["memory_allocated_for_table_kb"], memory["memory_allocated_for_indexes_kb"]) == (64, 8192)
    own.sql("INSERT INTO dbo.m SELECT 10 + value, REPLICATE('x', 100) FROM GENERATE_SERIES(1, 1000)", database="OLTP")
    grown = own.rows("SELECT * FROM sys.dm_db_xtp_table_memory_stats", database="OLTP")[0]
    assert grown["memory_used_by_table_kb"] * 1024 > 1000 * 100 and grown["memory_allocated_for_table_kb"] % 64 == 0
    stats = own.rows("SELECT * FROM sys.dm_db_xtp_hash_index_stats", database="OLTP")[0]
    assert stats["total_bucket_count"] == 1 << 20 and (1 << 20) - 1002 <= stats["empty_bucket_count"] < (1 << 20) - 900
    heaps = own.rows("SELECT memory_consumer_desc, allocated_bytes FROM sys.dm_db_xtp_memory_consumers", database="OLTP")
    assert [row["memory_consumer_desc"] for row in heaps] == ["Table heap", "Hash index"]
    assert heaps[1]["allocated_bytes"] == 8 << 20
    assert own.rows("SELECT * FROM sys.dm_xtp_system_memory_consumers") == []


def test_few_buckets_make_long_chains(own):
    """A bucket count that is too low shows in the chain length."""
    set_up(own, buckets=16)
    own.sql("INSERT INTO dbo.m (id) SELECT 10 + value FROM GENERATE_SERIES(1, 1598)", database="OLTP")
    stats = own.rows("SELECT * FROM sys.dm_db_xtp_hash_index_stats", database="OLTP")[0]
    assert stats["empty_bucket_count"] == 0 and stats["avg_chain_length"] == 100 and stats["max_chain_length"] > 100


def test_writers_conflict_instead_of_waiting(own):
    """Readers see the committed version; a second writer ends with 41302 at once and its transaction is lost (3998)."""
    set_up(own)
    with contextlib.closing(own.connect(database="OLTP")) as first, contextlib.closing(own.connect(database="OLTP")) as second:
        run(first, "BEGIN TRAN; UPDATE dbo.m WITH (SNAPSHOT) SET note = 'mine' WHERE id = 1")
        assert run(second, "SELECT note FROM dbo.m WHERE id = 1")[-1] == [{"note": "one"}]
        assert "updated since this transaction started" in fails(second, "UPDATE dbo.m SET note = 'yours' WHERE id = 1")
        run(second, "UPDATE dbo.m SET note = 'other row' WHERE id = 2")
        words = "BEGIN TRAN; UPDATE dbo.m WITH (SNAPSHOT) SET note = 'yours' WHERE id = 1"
        assert "updated since this transaction started" in fails(second, words)
        assert run(second, "SELECT @@TRANCOUNT AS open_now")[-1] == [{"open_now": 0}]
        run(first, "COMMIT")
        assert run(second, "SELECT note FROM dbo.m WHERE id = 1")[-1] == [{"note": "mine"}]


def test_a_commit_after_the_start_conflicts_too(own):
    """A row that another transaction committed since this one began cannot be written (41302)."""
    set_up(own)
    with contextlib.closing(own.connect(database="OLTP")) as early, contextlib.closing(own.connect(database="OLTP")) as late:
        run(early, "BEGIN TRAN; SELECT COUNT(*) FROM dbo.m WITH (SNAPSHOT)")
        run(late, "UPDATE dbo.m SET note = 'late' WHERE id = 1")
        assert "41302" in caught(early, "UPDATE dbo.m WITH (SNAPSHOT) SET note = 'early' WHERE id = 1")
        run(early, "BEGIN TRAN; UPDATE dbo.m WITH (SNAPSHOT) SET note = 'again' WHERE id = 1; COMMIT")
        assert run(late, "SELECT note FROM dbo.m WHERE id = 1")[-1] == [{"note": "again"}]


def test_two_inserts_of_one_key(own):
    """The second transaction that inserts a key which the first has not committed fails with 41325."""
    set_up(own)
    with contextlib.closing(own.connect(database="OLTP")) as first, contextlib.closing(own.connect(database="OLTP")) as second:
        run(first, "BEGIN TRAN; INSERT INTO dbo.m WITH (SNAPSHOT) VALUES (7, 'first')")
        assert "serializable validation failure" in fails(second, "INSERT INTO dbo.m VALUES (7, 'second')")
        run(first, "COMMIT")


def caught(connection, text):
    """Number and words of the error that a statement meets, as TRY ... CATCH sees it."""
    inside = f"BEGIN TRY {text} END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK; SELECT ERROR_NUMBER() AS n END CATCH"
    return str(run(connection, inside)[-1][0]["n"])


def test_isolation_levels(own):
    """41368 in an explicit READ COMMITTED transaction, 41332 under SNAPSHOT, 41333 under SERIALIZABLE; elevation helps."""
    set_up(own)
    read = "SELECT COUNT(*) AS n FROM dbo.m"
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        assert caught(connection, f"BEGIN TRAN; {read}; COMMIT") == "41368"
        run(connection, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT")
        assert caught(connection, read) == "41332"
        run(connection, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        assert caught(connection, read) == "41333"
        assert run(connection, f"{read} WITH (SNAPSHOT)")[-1] == [{"n": 2}]
        run(connection, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        run(connection, "ALTER DATABASE OLTP SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON")
        assert run(connection, f"BEGIN TRAN; {read}; COMMIT")[0] == [{"n": 2}]


def test_native_procedure_is_atomic(own):
    """The block runs under SNAPSHOT; an error takes all of it back; a caller's transaction goes on."""
    set_up(own)
    body = "UPDATE dbo.m SET note = 'changed' WHERE id = 1; DECLARE @x int = 1 / @divisor;"
    own.sql(NATIVE.format(name="p", parameters="@divisor int", body=body), database="OLTP")
    note = "SELECT note FROM dbo.m WHERE id = 1"
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        assert "Divide by zero" in fails(connection, "EXEC dbo.p @divisor = 0")
        assert run(connection, note)[-1] == [{"note": "one"}]
        run(connection, "EXEC dbo.p @divisor = 1")
        assert run(connection, note)[-1] == [{"note": "changed"}]
        run(connection, "BEGIN TRAN; INSERT INTO dbo.m WITH (SNAPSHOT) VALUES (3, 'kept')")
        assert caught_only(connection, "EXEC dbo.p @divisor = 0") == 8134
        run(connection, "COMMIT")
        assert run(connection, "SELECT COUNT(*) AS n FROM dbo.m")[-1] == [{"n": 3}]
        assert run(connection, "SELECT uses_native_compilation AS u FROM sys.sql_modules")[-1] == [{"u": True}]
        assert run(connection, "SELECT transaction_isolation_level AS i FROM sys.dm_exec_sessions WHERE session_id = @@SPID")[
            -1
        ] == [{"i": 2}]


def caught_only(connection, text):
    """The number of the error, with the transaction left as it is."""
    return run(connection, f"BEGIN TRY {text} END TRY BEGIN CATCH SELECT ERROR_NUMBER() AS n END CATCH")[-1][0]["n"]


def test_transactions_of_memory_only_are_not_counted(own):
    """Databases:Transactions/sec leaves out transactions that changed nothing but memory-optimized rows; their log counts."""
    set_up(own)
    own.sql("CREATE TABLE dbo.d (id int)", database="OLTP")
    counters = """SELECT RTRIM(counter_name) AS c, cntr_value AS v FROM sys.dm_os_performance_counters
        WHERE instance_name = N'OLTP' AND counter_name IN (N'Transactions/sec', N'Log Bytes Flushed/sec')"""

    def totals():
        return {row["c"]: row["v"] for row in own.rows(counters)}

    before = totals()
    for number in range(5):
        own.sql(f"INSERT INTO dbo.m VALUES ({10 + number}, 'x')", database="OLTP")
    middle = totals()
    own.sql("INSERT INTO dbo.d VALUES (1)", database="OLTP")
    after = totals()
    assert middle["Transactions/sec"] == before["Transactions/sec"] < after["Transactions/sec"]
    assert middle["Log Bytes Flushed/sec"] > before["Log Bytes Flushed/sec"]


MADE = "CREATE TABLE dbo.x ({}) WITH (MEMORY_OPTIMIZED = ON{})"
KEY = "id int NOT NULL PRIMARY KEY NONCLUSTERED"
REFUSED = [
    ("ALTER DATABASE OLTP ADD FILEGROUP fx2 CONTAINS MEMORY_OPTIMIZED_DATA", "Only one MEMORY_OPTIMIZED_DATA filegroup"),
    ("ALTER DATABASE OLTP REMOVE FILE fx1", "cannot be removed because it is not empty"),
    (MADE.format("id int NOT NULL PRIMARY KEY", ""), "Clustered indexes, which are the default for primary keys"),
    (MADE.format("id int NOT NULL INDEX i CLUSTERED", ""), "Clustered indexes, which are the default for primary keys"),
    (MADE.format("id int NOT NULL", ""), "'x' with DURABILITY=SCHEMA_AND_DATA must have a primary key"),
    (MADE.format("id int NOT NULL", ", DURABILITY = SCHEMA_ONLY"), "'x' must have at least one index or a primary key"),
    (MADE.format(KEY, ", DURABILITY = LATER"), "Incorrect syntax near 'LATER'"),
    ("CREATE TABLE dbo.x (id int) WITH (MEMORY_OPTIMIZED = SOON)", "Incorrect syntax near 'SOON'"),
    (MADE.format(f"{KEY} HASH", ""), "The option 'BUCKET_COUNT' must be specified for index"),
    (MADE.format(f"{KEY} HASH WITH (BUCKET_COUNT = 0)", ""), "it must be 1 to 1073741824"),
    (MADE.format(f"{KEY} WITH (BUCKET_COUNT = 8)", ""), "'BUCKET_COUNT' can be specified only for hash indexes"),
    (MADE.format(f"{KEY}, x xml", ""), "The type 'xml' is not supported with memory optimized tables."),
    (MADE.format("id int IDENTITY(5,1) NOT NULL PRIMARY KEY NONCLUSTERED", ""), "seed and increment values other than 1"),
    (MADE.format(f"{KEY}, d int REFERENCES dbo.d (id)", ""), "Foreign key relationships between memory optimized"),
    (MADE.format(KEY, "") + " ON [PRIMARY]", "lie in the database's own filegroup"),
    (f"BEGIN TRAN; {MADE.format(KEY, '')}", "DDL statements ALTER, DROP and CREATE inside user transactions"),
    (
        "CREATE TABLE dbo.x (id int NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 8))",
        "Hash indexes are permitted only",
    ),
    ("CREATE TABLE dbo.x (id int NOT NULL PRIMARY KEY WITH (BUCKET_COUNT = 8))", "can be specified only for hash indexes"),
    ("CREATE TABLE dbo.x (id int) WITH (DURABILITY = SCHEMA_ONLY)", "supported only with memory optimized tables"),
    ("CREATE TABLE dbo.x (id int REFERENCES dbo.m (id))", "Foreign key relationships between memory optimized"),
    ("CREATE INDEX i ON dbo.m (note)", "The operation 'CREATE INDEX' is not supported with memory optimized tables."),
    ("ALTER INDEX ALL ON dbo.m REBUILD", "The operation 'ALTER INDEX' is not supported with memory optimized tables."),
    ("DROP INDEX i ON dbo.m", "The operation 'DROP INDEX' is not supported with memory optimized tables."),
    ("TRUNCATE TABLE dbo.m", "The statement 'TRUNCATE TABLE' is not supported with memory optimized tables."),
]
NATIVE_REFUSED = [
    ("SELECT id FROM dbo.d", "Object 'dbo.d' is not a memory optimized table"),
    ("SELECT id FROM dbo.nosuch", "Invalid object name 'dbo.nosuch'"),
    ("SELECT id FROM #t", "Temporary tables are not supported with natively compiled modules."),
    ("WITH c AS (SELECT id FROM dbo.m) SELECT id FROM c", "Common Table Expressions (CTE) are not supported"),
    ("DECLARE c CURSOR FOR SELECT id FROM dbo.m", "Cursors are not supported with natively compiled modules."),
    ("TRUNCATE TABLE dbo.m", "The statement 'TRUNCATE TABLE' is not supported with natively compiled modules."),
    (
        "MERGE dbo.m AS t USING dbo.m AS s ON s.id = t.id WHEN MATCHED THEN DELETE;",
        "The statement 'MERGE' is not supported with natively compiled modules.",
    ),
]


def test_refusals(own):
    """What memory-optimized tables and native modules do not take is refused with the message that names it."""
    with contextlib.closing(own.connect(database="OLTP")) as connection:
        assert "must have a MEMORY_OPTIMIZED_FILEGROUP" in fails(connection, MADE.format(KEY, ""))
        assert "create natively compiled modules" in fails(connection, native("SELECT 1 AS one"))
    with contextlib.closing(own.connect(database="tempdb")) as connection:
        assert "Memory optimized tables cannot be created in system databases." in fails(connection, MADE.format(KEY, ""))
    set_up(own)
    own.sql("CREATE TABLE dbo.d (id int NOT NULL PRIMARY KEY)", database="OLTP")
    plain = native("SELECT id FROM dbo.m")
    more = [
        (plain.replace("NATIVE_COMPILATION, ", ""), "BEGIN ATOMIC is supported only in natively compiled modules."),
        (plain.replace("SCHEMABINDING, ", ""), "The SCHEMABINDING option is supported only for natively compiled modules"),
        (plain.replace(", LANGUAGE = N'us_english'", ""), "must specify a value for the option 'language'"),
        (plain.replace("TRANSACTION ISOLATION LEVEL = SNAPSHOT, ", ""), "for the option 'transaction isolation level'"),
        (plain.replace("= SNAPSHOT", "= CHAOS"), "Incorrect syntax near 'CHAOS'"),
        ("CREATE PROCEDURE dbo.q WITH NATIVE_COMPILATION, SCHEMABINDING AS SELECT 1", "must be an ATOMIC block"),
        *((native(body), words) for body, words in NATIVE_REFUSED),
    ]
    for statement, words in [*REFUSED, *more]:
        with contextlib.closing(own.connect(database="OLTP")) as connection:
            assert words in fails(connection, statement), statement
    assert own.value("SELECT COUNT(*) FROM sys.tables", database="OLTP") == 2
    assert own.value("SELECT COUNT(*) FROM sys.procedures", database="OLTP") == 0


def native(body):
    """A native procedure with a body."""
    return NATIVE.format(name="q", parameters="", body=body)
