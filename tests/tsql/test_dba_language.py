"""What the scripts that DBAs bring need of the language: FOR XML, changes through queries, GOTO, batches, JSON, statistics."""

from __future__ import annotations

import pytest

from .fakes import Client


def text(client: Client, query: str) -> str:
    """The one value of a query."""
    result = client.run(query)
    assert result.errors == [], result.errors
    return result.value


ROWS = "(VALUES (1, 'a<b', NULL), (2, 'c', 'x')) AS t(id, name, more)"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT id AS [@id], name, more AS [deep/more] FROM {ROWS} FOR XML PATH('r')", None),
        ("SELECT 1 AS [a/b], 2 AS [a/c], 3 AS [d] FOR XML PATH('')", "<a><b>1</b><c>2</c></a><d>3</d>"),
        (f"SELECT name AS [data()] FROM {ROWS} FOR XML PATH('')", "a&lt;bc"),
        ("SELECT 'x' AS [data()], 'y' AS [data()] FOR XML PATH('')", "x y"),
        ("SELECT 'say' AS [comment()], 'q?' AS [processing-instruction(pi)] FOR XML PATH('')", "<!--say--><?pi q??>"),
        (f"SELECT id, name FROM {ROWS} WHERE id = 2 FOR XML RAW('one'), ROOT('all')", '<all><one id="2" name="c"/></all>'),
        (f"SELECT id, more FROM {ROWS} FOR XML RAW, ELEMENTS", "<row><id>1</id></row><row><id>2</id><more>x</more></row>"),
        ("SELECT (SELECT 1 AS [@n] FOR XML PATH('in'), TYPE) FOR XML PATH('out')", '<out><in n="1"/></out>'),
        ("SELECT (SELECT 1 AS [@n] FOR XML PATH('in')) FOR XML PATH('out')", '<out>&lt;in n="1"/&gt;</out>'),
        ("SELECT '' AS e FOR XML PATH(''), TYPE", "<e/>"),
        ("SELECT STUFF((SELECT ', ' + name FROM (VALUES ('a'), ('b&c')) t(name) FOR XML PATH(''), TYPE)"
         ".value('.', 'nvarchar(max)'), 1, 2, '')", "a, b&c"),
    ],
)  # fmt: skip
def test_for_xml(query: str, expected: str | None) -> None:
    """Each form gives the document that its page describes; TYPE keeps it xml inside another."""
    first = '<r id="1"><name>a&lt;b</name></r><r id="2"><name>c</name><deep><more>x</more></deep></r>'
    assert text(Client(), query) == (expected or first)


def test_for_xml_auto_names_the_table() -> None:
    """The element is the table's alias; more than one table is refused by name."""
    client = Client()
    client.run("CREATE TABLE dbo.t (a int); INSERT dbo.t VALUES (5)")
    assert text(client, "SELECT a FROM dbo.t AS x FOR XML AUTO") == '<x a="5"/>'
    assert client.run("SELECT x.a FROM dbo.t AS x CROSS JOIN dbo.t AS y FOR XML AUTO").errors == [59001]
    assert client.run("SELECT 1 AS a FOR XML EXPLICIT").errors == [59001]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("SELECT 1, 2 AS b FOR XML RAW", 6809),
        ("SELECT 1 AS a, 2 AS [@b] FOR XML PATH('x')", 6852),
        ("SELECT 1 AS [@a] FOR XML PATH('')", 6864),
        ("SELECT CHAR(1) AS a FOR XML PATH('x')", 6841),
    ],
)
def test_for_xml_errors(query: str, number: int) -> None:
    """What no document can be made of is an error with SQL Server's number."""
    assert Client().run(query).errors == [number]


@pytest.fixture
def table() -> Client:
    """dbo.t with two rows for a = 1 and one for a = 2."""
    client = Client()
    client.run("CREATE TABLE dbo.t (a int, b int); INSERT dbo.t VALUES (1, 1), (1, 2), (2, 5)")
    return client


def test_duplicates_go_through_a_numbered_query(table: Client) -> None:
    """DELETE from a common table expression with ROW_NUMBER leaves the first of each."""
    numbered = "WITH d AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS n FROM dbo.t)"
    assert table.run(f"{numbered} DELETE FROM d OUTPUT deleted.b WHERE n > 1").rows == [(2,)]
    assert table.run("SELECT a, b FROM dbo.t ORDER BY a").rows == [(1, 1), (2, 5)]


def test_update_through_a_query(table: Client) -> None:
    """TOP and ORDER BY inside say which row changes; column lists and derived tables too; a query may have its table's name."""
    assert table.run("WITH u (x, y) AS (SELECT TOP (1) a, b FROM dbo.t ORDER BY b DESC) UPDATE u SET y += 10").errors == []
    assert table.run("UPDATE q SET b = q.b + v.n FROM (SELECT a, b FROM dbo.t) AS q JOIN (VALUES (2, 100)) v(a, n) ON v.a = q.a"
                     ).errors == []  # fmt: skip
    assert table.run("SELECT a, b FROM dbo.t ORDER BY a, b").rows == [(1, 1), (1, 2), (2, 115)]
    assert table.run("WITH t AS (SELECT b FROM dbo.t WHERE a = 1) DELETE t").errors == []
    assert table.run("SELECT COUNT(*) FROM dbo.t").value == 1


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("WITH d AS (SELECT a, COUNT(*) AS n FROM dbo.t GROUP BY a) DELETE d", 4403),
        ("WITH d AS (SELECT x.a FROM dbo.t x JOIN dbo.t y ON x.a = y.a) DELETE d", 4405),
        ("WITH d AS (SELECT a, b + 1 AS c FROM dbo.t) UPDATE d SET c = 1", 4406),
        ("WITH d AS (SELECT a FROM dbo.t) UPDATE d SET b = 1", 207),
        ("WITH d AS (SELECT a FROM dbo.t), e AS (SELECT a FROM d) DELETE e", 59001),
        ("WITH d AS (SELECT x.a FROM dbo.t x JOIN dbo.t y ON x.a = y.a) UPDATE d SET a = 1", 59001),
        ("WITH d AS (SELECT a FROM dbo.t) DELETE d FROM dbo.t AS x", 59001),
    ],
)
def test_queries_that_cannot_be_changed(table: Client, statement: str, number: int) -> None:
    """Aggregates, joins and computed columns have no row of the table behind them."""
    assert table.run(statement).errors == [number]
    assert table.run("SELECT COUNT(*) FROM dbo.t").value == 3


def test_goto_leaves_nested_blocks() -> None:
    """A label in an enclosing block is found from an inner one, also back to the start and out of a loop."""
    rounds = """DECLARE @n int = 0; IF 1 = 1 BEGIN AGAIN:; SET @n += 1; IF @n < 5 BEGIN GOTO AGAIN; END; END; SELECT @n"""
    assert Client().run(rounds).value == 5
    assert Client().run("WHILE 1 = 1 BEGIN GOTO out_of_it END; out_of_it: SELECT 7").value == 7
    assert Client().run("DECLARE @n int = 0; L: SET @n += 1; IF @n < 500 GOTO L; SELECT @n").value == 500


@pytest.mark.parametrize(
    ("batch", "number", "words"),
    [
        ("SELECT 1; CREATE PROCEDURE dbo.p AS SELECT 1", 111, "'CREATE/ALTER PROCEDURE' must be the first statement"),
        ("SET NOCOUNT ON; CREATE OR ALTER VIEW dbo.v AS SELECT 1 AS a", 111, "'CREATE VIEW' must be the first"),
        ("PRINT 'x'; ALTER FUNCTION dbo.f() RETURNS int AS BEGIN RETURN 1 END", 111, "'ALTER FUNCTION' must be"),
        ("BEGIN CREATE PROC dbo.p AS SELECT 1 END", 156, "near the keyword 'PROC'"),
        ("SELECT 1 AS a WITH x AS (SELECT 2 AS b) SELECT b FROM x", 319, "terminated with a semicolon"),
        ("BEGIN SELECT 1 END WITH x AS (SELECT 2 AS b) SELECT b FROM x", 319, "terminated with a semicolon"),
        ("BREAK", 135, "BREAK statement outside"),
        ("IF 1 = 1 CONTINUE", 136, "CONTINUE statement outside"),
        ("IF 1 = 0 GOTO nowhere", 133, "'nowhere'"),
        ("a: SELECT 1; BEGIN a: SELECT 2 END", 132, "'a' has already been declared"),
        ("PRINT (SELECT 1)", 1046, "Subqueries are not allowed"),
        ("CREATE VIEW dbo.v AS SELECT 1", 4511, "no column name was specified for column 1"),
        ("SELECT TOP (-1) 1 AS a", 127, "may not be negative"),
        ("SELECT TOP (101) PERCENT 1 AS a", 1031, "between 0 and 100"),
        ("DECLARE @v varchar(9000)", 131, "(9000) given to the type 'varchar'"),
        ("RAISERROR(60001, 16, 2)", 18054, "Error 60001, severity 16, state 2 was raised"),
        ("RAISERROR(100, 16, 1)", 2732, "from 13000"),
        ("SELECT 1 AS n FROM sys.databases a, sys.tables a", 1011, "correlation name 'a' is specified multiple"),
        ("SELECT 1 AS n FROM sys.databases a JOIN (SELECT 1 AS b) A ON 1 = 1", 1011, "specified multiple times"),
    ],
)  # fmt: skip
def test_mistakes_of_batches(batch: str, number: int, words: str) -> None:
    """The number and the words that SQL Server gives."""
    result = Client().run(batch)
    assert result.errors == [number] and any(words in m.text for m in result.messages)


def test_with_may_follow_what_ended() -> None:
    """After a semicolon, a label, BEGIN or a condition WITH starts a statement; hints stay hints."""
    query = "WITH x AS (SELECT 2 AS b) SELECT b FROM x"
    for batch in (
        query,
        f"SELECT 1; {query}",
        f"here: {query}",
        f"BEGIN {query} END",
        f"IF 1 = 1 {query}",
        f"SELECT 1 ;;{query}",
    ):
        assert Client().run(batch).errors == [], batch
    assert Client().run("CREATE TABLE #t (a int); SELECT a FROM #t WITH (NOLOCK)").errors == []


def test_openjson() -> None:
    """Members with their kinds; WITH brings values to types, AS JSON keeps objects; 13609 for what is no JSON."""
    client = Client()
    kinds = client.run(
        """SELECT [key], value, type FROM OPENJSON('{"a":1,"b":"x","c":null,"d":true,"e":[1],"f":{"g":2}}')"""
    ).rows
    assert kinds == [("a", "1", 2), ("b", "x", 1), ("c", None, 0), ("d", "true", 3), ("e", "[1]", 4), ("f", '{"g":2}', 5)]
    typed = """SELECT * FROM OPENJSON('{"r":[{"a":1,"b":{"c":"x"}},{"a":"2"}]}', '$.r')
        WITH (a int, c varchar(5) '$.b.c', b nvarchar(max) AS JSON) AS j"""
    assert client.run(typed).rows == [(1, "x", '{"c":"x"}'), (2, None, None)]
    assert client.run("SELECT * FROM OPENJSON('{')").errors == [13609]
    assert client.run("SELECT * FROM OPENJSON()").errors == [313]


def test_statistics_are_kept(table: Client) -> None:
    """Made, shown with their columns, updated, dropped; temporary tables too; names are unique on a table."""
    seen = "SELECT s.name, s.no_recompute, c.column_id FROM sys.stats s JOIN sys.stats_columns c ON c.object_id = s.object_id "
    seen += "AND c.stats_id = s.stats_id WHERE s.user_created = 1 ORDER BY c.stats_column_id"
    assert table.run("CREATE STATISTICS s ON dbo.t (b, a) WHERE a > 1 WITH SAMPLE 10 PERCENT, NORECOMPUTE").errors == []
    assert table.run(seen).rows == [("s", True, 2), ("s", True, 1)]
    assert table.run("SELECT filter_definition FROM sys.stats WHERE name = 's'").value == "(a > 1)"
    assert table.run("CREATE STATISTICS S ON dbo.t (b)").errors == [1927]
    assert table.run("CREATE STATISTICS x ON dbo.t (c)").errors == [1911]
    assert table.run("CREATE STATISTICS x ON dbo.none (c)").errors == [1088]
    assert table.run("UPDATE STATISTICS dbo.t s WITH FULLSCAN").errors == []
    assert table.run(seen).rows[0][1] is False
    assert table.run("DROP STATISTICS s").errors == [1053] and table.run("DROP STATISTICS dbo.t.other").errors == [3701]
    assert table.run("DROP STATISTICS dbo.t.s").errors == [] and table.run(seen).rows == []
    assert table.run("CREATE TABLE #t (a int); CREATE STATISTICS s ON #t (a) WITH FULLSCAN").errors == []


def test_hashes_and_messages() -> None:
    """HASHBYTES of known inputs (the digests are those of RFC 1321 and FIPS 180), COMPRESS, FORMATMESSAGE, TRIM ... FROM."""
    client = Client()
    assert client.run("SELECT HASHBYTES('MD5', 'abc')").value.hex() == "900150983cd24fb0d6963f7d28e17f72"
    assert client.run("SELECT HASHBYTES('SHA2_256', 'abc')").value.hex().startswith("ba7816bf8f01cfea")
    assert client.run("SELECT HASHBYTES('none', 'abc')").value is None
    assert client.run("SELECT HASHBYTES('MD5', 5)").errors == [8116]
    assert client.run("SELECT CAST(DECOMPRESS(COMPRESS(N'héllo')) AS nvarchar(9))").value == "héllo"
    assert client.run("SELECT DECOMPRESS(0x01)").value is None
    assert client.run("SELECT FORMATMESSAGE('%s has %d', 'x', 3)").value == "x has 3"
    assert client.run("SELECT FORMATMESSAGE(99999)").value is None
    assert client.run("SELECT sys.fn_varbintohexstr(0x1AF0), master.dbo.fn_varbintohexstr(NULL)").rows == [("0x1af0", None)]
    assert client.run("SELECT TRIM('.x' FROM '..ax'), TRIM(LEADING '0' FROM '0010'), TRIM('  a ')").rows == [("a", "10", "a")]


def test_null_beside_another_query_has_its_type() -> None:
    """NULL in one branch of UNION, EXCEPT or INTERSECT takes the other's type; two NULLs are int; order does not matter."""
    client = Client()
    assert client.run("SELECT N'x' AS t, 1 AS n UNION ALL SELECT NULL, NULL").rows == [("x", 1), (None, None)]
    assert client.run("SELECT NULL AS t UNION ALL SELECT NULL UNION ALL SELECT 'a'").rows == [(None,), (None,), ("a",)]
    one = client.run("SELECT NULL AS t UNION ALL SELECT CONVERT(xml, '<a/>')")
    assert one.types == ["xml"] and one.rows == [(None,), ("<a/>",)]
    top = "SELECT TOP (1) t FROM (SELECT N'txt' AS t, 0 AS n UNION ALL SELECT NULL, 1) AS x ORDER BY n"
    assert client.run(top).value == "txt"
    assert client.run("SELECT NULL AS a UNION SELECT NULL").types == ["int"]


def test_parts_of_a_version() -> None:
    """PARSENAME takes a version apart, and names with brackets as before."""
    client = Client()
    parts = "SELECT PARSENAME('16.0.4135.4', 4), PARSENAME('16.0.4135.4', 3), PARSENAME('a.b', 1), PARSENAME('[x.y].[z]', 2)"
    assert client.run(parts).rows == [("16", "0", "b", "x.y")]
