"""Options and hints: each is known and does what the page says, or is an error that names it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from aglab.tsql import TsqlError
from aglab.tsql.knowledge import knowledge, options
from aglab.tsql.parser.hints import QUERY_HINTS, TABLE_HINTS
from aglab.tsql.parser.modules import MODULE_OPTIONS
from aglab.tsql.parser.option_lists import OPTION_LISTS
from aglab.tsql.parser.statements import parse_batch

from .fakes import Client

# One statement for each list of options; {} is the list without its parentheses.
SAMPLES = {
    "CREATE TABLE": "CREATE TABLE dbo.t (a int) WITH ({})",
    "CREATE INDEX": "CREATE INDEX i ON dbo.t (a) WITH ({})",
    "CREATE TABLE constraint": "CREATE TABLE dbo.t (a int, PRIMARY KEY (a) WITH ({}))",
    "ALTER INDEX REBUILD": "ALTER INDEX i ON dbo.t REBUILD WITH ({})",
    "ALTER INDEX REBUILD PARTITION": "ALTER INDEX i ON dbo.t REBUILD PARTITION = 1 WITH ({})",
    "ALTER INDEX REORGANIZE": "ALTER INDEX i ON dbo.t REORGANIZE WITH ({})",
    "ALTER INDEX RESUME": "ALTER INDEX i ON dbo.t RESUME WITH ({})",
    "ALTER INDEX SET": "ALTER INDEX i ON dbo.t SET ({})",
    "ALTER TABLE REBUILD": "ALTER TABLE dbo.t REBUILD WITH ({})",
    "ALTER TABLE SWITCH": "ALTER TABLE dbo.t SWITCH TO dbo.u WITH ({})",
    "DROP INDEX": "DROP INDEX i ON dbo.t WITH ({})",
    "CREATE DATABASE": "CREATE DATABASE d WITH {}",
    "CREATE STATISTICS": "CREATE STATISTICS s ON dbo.t (a) WITH {}",
    "UPDATE STATISTICS": "UPDATE STATISTICS dbo.t WITH {}",
    "CREATE TYPE": "CREATE TYPE dbo.t AS TABLE (a int) WITH ({})",
    "INSERT BULK": "INSERT BULK dbo.t (a int) WITH ({})",
    "COMMIT": "COMMIT TRANSACTION WITH ({})",
    "BEGIN ATOMIC": "CREATE PROCEDURE dbo.p AS BEGIN ATOMIC WITH ({}) SELECT 1 END",
}
VALUES: tuple[Any, ...] = ("ON", "OFF", "1", "10", "NONE", "PAGE", "COLUMNSTORE", "DATABASE_DEFAULT", "'x'")


def numbers(text: str) -> list[int]:
    """The error of parsing a text, if any."""
    try:
        parse_batch(text)
    except TsqlError as problem:
        return [problem.number]
    return []


def test_every_list_has_a_sample() -> None:
    """A new list of options comes with a statement that reads it."""
    assert set(SAMPLES) == set(OPTION_LISTS)


@given(
    some.sampled_from(sorted(SAMPLES)),
    some.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", min_size=3, max_size=24).filter(lambda word: not word.startswith("_")),
    some.sampled_from(VALUES),
)
@settings(max_examples=150, deadline=None)
def test_an_unknown_option_is_an_error_that_names_it(statement: str, word: str, value: str) -> None:
    """Whatever is written in the list: known there, or refused (155; a reserved word may be a syntax error)."""
    known = word in OPTION_LISTS[statement]
    found = numbers(SAMPLES[statement].format(f"{word} = {value}"))
    assert known or found in ([155], [156], [102], [319])


@pytest.mark.parametrize("statement", sorted(SAMPLES))
def test_an_option_of_another_statement_is_unknown(statement: str) -> None:
    """Every word of every list, in every other list: 155 with the word."""
    words = {name for known in OPTION_LISTS.values() for name in known if " " not in name} - set(OPTION_LISTS[statement])
    for word in sorted(words):
        with pytest.raises(TsqlError) as caught:
            parse_batch(SAMPLES[statement].format(f"{word} = ON"))
        assert caught.value.number == 155 and f"'{word}'" in caught.value.text


@pytest.mark.parametrize("statement", sorted(SAMPLES))
def test_a_known_option_is_taken_or_refused_by_name(statement: str) -> None:
    """No option of the tables is out of reach: some value parses, or the refusal names the option."""
    for name, option in OPTION_LISTS[statement].items():
        values = [value for value in VALUES if option.fits(int(value) if value.isdigit() else value.strip("'"))]
        tried = [numbers(SAMPLES[statement].format(f"{name} = {value}")) for value in values]
        flag = numbers(SAMPLES[statement].format(name))
        low = numbers(SAMPLES[statement].format(f"{name} (MAX_DURATION = 1, ABORT_AFTER_WAIT = SELF)"))
        assert [] in (*tried, flag, low) or [59001] in (*tried, flag), name


def test_an_option_twice_and_a_value_out_of_range() -> None:
    """Each says what it is."""
    assert numbers("CREATE INDEX i ON t (a) WITH (FILLFACTOR = 80, FILLFACTOR = 90)") == [59005]
    assert numbers("CREATE INDEX i ON t (a) WITH (FILLFACTOR = 0)") == [102]
    assert numbers("CREATE INDEX i ON t (a) WITH FILLFACTOR = 101") == [102]
    assert numbers("CREATE INDEX i ON t (a) WITH (MAXDOP = 65)") == [102]
    assert numbers("CREATE INDEX i ON t (a) WITH (PAD_INDEX = MAYBE)") == [102]
    assert numbers("ALTER INDEX i ON t REBUILD PARTITION = 1 WITH (FILLFACTOR = 80)") == [155]
    assert numbers("ALTER INDEX i ON t REBUILD WITH (ONLINE = ON (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES)))") == [102]
    complete = "WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF)"
    assert numbers(f"ALTER INDEX i ON t REBUILD WITH (ONLINE = ON ({complete}))") == []
    assert numbers("CREATE TABLE t (a int) WITH (DATA_COMPRESSION = PAGE ON PARTITIONS (1))") == [59001]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE DATABASE d ON PRIMARY (NAME = a, FILENAME = '/a', SIZE = 1, SIZE = 2)",
        "CREATE DATABASE d ON (NAME = a, FILENAME = '/a'), FILEGROUP f CONTAINS FILESTREAM (NAME = b, FILENAME = '/b')",
        "DECLARE c CURSOR QUICK FOR SELECT 1",
        "BEGIN TRANSACTION WITH (DELAYED_DURABILITY = ON)",
        "MERGE TOP (1) INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE;",
        "SELECT 1 OPTION (HURRY)",
        "SELECT 1 OPTION (MAXDOP 'x')",
        "SELECT 1 OPTION (USE PLAN N'<x/>')",
        "SELECT 1 OPTION (OPTIMIZE FOR (a = 1))",
        "SELECT * FROM t WITH (INDEX)",
        "ALTER TABLE t REBUILD PARTITION = 1",
    ],
)
def test_what_was_once_passed_over_is_an_error(text: str) -> None:
    """Words that no rule reads are not read over."""
    assert numbers(text)


@pytest.mark.parametrize("name", sorted(QUERY_HINTS))
def test_every_query_hint_is_taken(name: str) -> None:
    """In its documented form, or it is refused by name."""
    kind = QUERY_HINTS[name][0]
    tail = {"n": " 1", "=n": " = 12.5", "=text": " = 'x'", "": "", "text": " N'x'"}.get(kind)
    if tail is None:
        tail = " ('RECOMPILE_NOT')" if name == "USE HINT" else " (@p = 1, @q UNKNOWN)"
    expected = [10715] if name == "USE HINT" else [59001] if QUERY_HINTS[name][1] == "refused" else []
    assert numbers(f"SELECT 1 OPTION ({name}{tail})") == expected
    assert numbers("SELECT 1 OPTION (USE HINT ('DISABLE_OPTIMIZER_ROWGOAL', 'QUERY_PLAN_PROFILE'), RECOMPILE)") == []


def test_table_hints_that_contradict_each_other() -> None:
    """1047 for two of one group, 1065 for dirty reads of what is changed, 321 for a word that is no hint."""
    for name in TABLE_HINTS:
        assert numbers(f"SELECT * FROM t WITH ({name}{' (i)' if name == 'INDEX' else ''})") == []
    assert numbers("SELECT * FROM t WITH (NOLOCK, HOLDLOCK)") == [1047]
    assert numbers("SELECT * FROM t WITH (NOLOCK, UPDLOCK)") == [1047]
    assert numbers("SELECT * FROM t WITH (ROWLOCK, TABLOCK)") == [1047]
    assert numbers("SELECT * FROM t WITH (UPDLOCK, HOLDLOCK, ROWLOCK)") == []
    assert numbers("UPDATE t WITH (NOLOCK) SET a = 1") == [1065]
    assert numbers("SELECT * FROM t WITH (FASTER)") == [321]


@pytest.mark.parametrize("kind", sorted(MODULE_OPTIONS))
def test_options_of_modules(kind: str) -> None:
    """155 names a word that a module does not take."""
    tail = {"FUNCTION": "RETURNS int WITH {} AS BEGIN RETURN 1 END"}.get(kind, "WITH {} AS SELECT 1 AS a")
    name = "dbo.m()" if kind == "FUNCTION" else "dbo.m"
    assert numbers(f"CREATE {kind} {name} {tail.format('SPEED')}") == [155]
    assert numbers(f"CREATE {kind} {name} {tail.format('SCHEMABINDING')}") == []


def test_options_that_the_catalogue_shows() -> None:
    """Kept by CREATE and ALTER INDEX, taken back with the transaction."""
    client = Client()
    client.run("""CREATE TABLE dbo.t (a int NOT NULL CONSTRAINT pk PRIMARY KEY WITH (FILLFACTOR = 70, PAD_INDEX = ON)) WITH
        (DATA_COMPRESSION = PAGE)""")
    shown = """SELECT fill_factor, is_padded, ignore_dup_key, allow_row_locks, allow_page_locks, optimize_for_sequential_key
        FROM sys.indexes WHERE name = 'pk'"""
    assert client.run(shown).rows == [(70, True, False, True, True, False)]
    stored = "SELECT data_compression_desc FROM sys.partitions WHERE object_id = OBJECT_ID('dbo.t')"
    assert client.run(stored).value == "PAGE"
    client.run("BEGIN TRAN; ALTER INDEX pk ON dbo.t REBUILD WITH (FILLFACTOR = 90, DATA_COMPRESSION = ROW)")
    assert client.run(shown).rows[0][0] == 90 and client.run(stored).value == "ROW"
    client.run("ROLLBACK")
    assert client.run(shown).rows[0][0] == 70 and client.run(stored).value == "PAGE"
    client.run("ALTER INDEX pk ON dbo.t SET (ALLOW_PAGE_LOCKS = OFF, OPTIMIZE_FOR_SEQUENTIAL_KEY = ON, IGNORE_DUP_KEY = ON)")
    assert client.run(shown).rows == [(70, True, True, True, False, True)]


def test_ignore_dup_key_leaves_rows_out() -> None:
    """INSERT goes on with message 3604; UPDATE is still refused."""
    client = Client()
    client.run("CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY WITH (IGNORE_DUP_KEY = ON))")
    result = client.run("INSERT dbo.t VALUES (1), (1), (2)")
    assert [m.number for m in result.messages] == [3604] and result.counts[-1] == 2
    assert client.run("UPDATE dbo.t SET a = 1").errors[0] == 2627
    assert client.run("INSERT dbo.t SELECT a FROM dbo.t; SELECT COUNT(*) FROM dbo.t").value == 2


def test_nowait_does_not_wait() -> None:
    """Error 1222 at once where another session holds the row."""
    first = Client()
    first.run("CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY); INSERT dbo.t VALUES (1); BEGIN TRAN; UPDATE dbo.t SET a = 2")
    second = Client(first.host)
    assert second.run("SELECT * FROM dbo.t WITH (NOWAIT)").errors == [1222]
    assert second.run("SELECT a FROM dbo.t WITH (READPAST)").rows == []


def test_set_options_with_a_meaning_of_their_own() -> None:
    """PARSEONLY runs nothing; a date format that would change results is refused by name."""
    client = Client()
    assert client.run("SET PARSEONLY ON; SELECT 1; SET PARSEONLY OFF; SELECT 2").sets == [[(2,)]]
    assert client.run("SET DATEFORMAT mdy").errors == []
    assert client.run("SET DATEFORMAT dmy").errors == [59001]
    assert client.run("DBCC CHECKDB WITH HASTE").errors == [2526]
    assert client.run("DBCC CHECKDB (N'OLTP') WITH PHYSICAL_ONLY, MAXDOP = 4, NO_INFOMSGS").errors == []


def test_create_database_with_its_words() -> None:
    """TRUSTWORTHY, DB_CHAINING and DEFAULT are kept where the catalogue shows them."""
    client = Client()
    client.run("""CREATE DATABASE d ON PRIMARY (NAME = a, FILENAME = '/d/a.mdf'),
        FILEGROUP f DEFAULT (NAME = b, FILENAME = '/d/b.ndf')
        LOG ON (NAME = l, FILENAME = '/d/l.ldf') WITH TRUSTWORTHY ON, DB_CHAINING ON""")
    flags = "SELECT is_trustworthy_on, is_db_chaining_on FROM sys.databases WHERE name = 'd'"
    assert client.run(flags).rows == [(True, True)]
    assert client.run("USE d; SELECT name FROM sys.filegroups WHERE is_default = 1").value == "f"
    assert client.run("CREATE DATABASE e WITH LEDGER = ON").errors == [59001]


def test_cursors_that_go_forward_only() -> None:
    """16911 for another direction; SCROLL has them all."""
    client = Client()
    client.run("DECLARE c CURSOR FOR SELECT 1 UNION ALL SELECT 2; OPEN c")
    assert client.run("FETCH PRIOR FROM c").errors == [16911]
    client.run("DECLARE s SCROLL CURSOR FOR SELECT 1 UNION ALL SELECT 2; OPEN s")
    assert client.run("FETCH LAST FROM s").rows == [(2,)]


def test_modules_with_encryption_show_no_text() -> None:
    """Nowhere."""
    client = Client()
    client.run("CREATE PROCEDURE dbo.p WITH ENCRYPTION AS SELECT 1")
    assert client.run("SELECT OBJECT_DEFINITION(OBJECT_ID('dbo.p')), definition FROM sys.sql_modules").rows == [(None, None)]
    assert "encrypted" in client.run("EXEC sp_helptext 'dbo.p'").messages[0].text
    assert client.run("EXEC dbo.p").value == 1


def test_update_statistics_is_noted() -> None:
    """NORECOMPUTE shows; a table or an index that is not there is an error."""
    client = Client()
    client.run("CREATE TABLE dbo.t (a int NOT NULL CONSTRAINT pk PRIMARY KEY)")
    assert client.run("UPDATE STATISTICS dbo.t (pk) WITH FULLSCAN, NORECOMPUTE, MAXDOP = 2").errors == []
    assert client.run("SELECT no_recompute FROM sys.stats WHERE object_id = OBJECT_ID('dbo.t')").value is True
    assert client.run("UPDATE STATISTICS dbo.none").errors == [2706]
    assert client.run("UPDATE STATISTICS dbo.t wrong").errors == [2767]
    assert client.run("UPDATE STATISTICS dbo.t WITH QUICKLY").errors == [155]


def test_the_page_says_of_each_word_what_it_drives() -> None:
    """No empty cell, no word twice in one place."""
    rows = options()
    assert all(place and word and drives for place, word, drives in rows)
    assert len({(place, word) for place, word, _ in rows}) == len(rows)
    assert "CREATE INDEX: FILLFACTOR" in knowledge()["options by statement"]


def test_statistics_time_and_io_in_order() -> None:
    """Parse time before the batch, then for each statement its reads and its time."""
    client = Client()
    client.run("CREATE TABLE dbo.t (a int); INSERT dbo.t VALUES (1); SET STATISTICS TIME ON; SET STATISTICS IO ON")
    result = client.run("SELECT a FROM dbo.t")
    assert [m.number for m in result.messages] == [3613, 3615, 3612]
    assert client.run("SET STATISTICS TIME OFF; SELECT 1").messages[-1].number == 3613


def test_properties_of_types_columns_and_objects() -> None:
    """Known names have values, others NULL."""
    client = Client()
    client.run("CREATE TABLE dbo.t (a int IDENTITY, v varchar(20), CONSTRAINT c CHECK (a > 0))")
    row = client.run("""SELECT TYPEPROPERTY('int', 'Precision'), TYPEPROPERTY('sysname', 'AllowsNull'),
        TYPEPROPERTY('nothing', 'Scale'), COLUMNPROPERTY(OBJECT_ID('dbo.t'), 'v', 'CharMaxLen'),
        COLUMNPROPERTY(OBJECT_ID('dbo.t'), 'v', 'Nothing'), OBJECTPROPERTY(OBJECT_ID('dbo.t'), 'TableHasCheckCnst'),
        OBJECTPROPERTYEX(OBJECT_ID('dbo.t'), 'BaseType'), INDEXPROPERTY(OBJECT_ID('dbo.t'), 'none', 'IsUnique'),
        STATS_DATE(OBJECT_ID('dbo.t'), 1)""").rows[0]
    assert row == (10, 0, None, 20, None, 1, "U ", None, None)
