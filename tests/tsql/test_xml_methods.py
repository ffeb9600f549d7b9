"""The methods of type xml, on the forms that queries of Extended Events and deadlock graphs use."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aglab.tsql import TsqlError
from aglab.tsql.functions.xml_path import compiled, context

from .fakes import Client, FakeHost

RING = """<RingBufferTarget truncated="0" eventCount="2">
  <event name="error_reported" timestamp="2025-01-06T08:00:01.250Z"><data name="error_number"><value>1480</value></data>
    <data name="message"><value>a &lt; b</value></data></event>
  <event name="xml_deadlock_report" timestamp="2025-01-06T08:00:02.500Z"><data name="xml_report"><value><deadlock>
    <victim-list><victimProcess id="p1"/></victim-list><process-list><process id="p1" spid="51"/><process id="p2" spid="52"/>
    </process-list></deadlock></value></data></event>
</RingBufferTarget>"""
DECLARED = "DECLARE @x xml = N'" + RING.replace("'", "''") + "'; "


@pytest.fixture
def client() -> Client:
    """A session."""
    return Client(FakeHost("OLTP"))


def rows(client: Client, text: str) -> list[tuple[Any, ...]]:
    """Rows of the last result set, and no error."""
    result = client.run(DECLARED + text)
    assert not [m for m in result.messages if m.is_error], result.messages
    return result.sets[-1]


def test_value_of_attributes_elements_and_predicates(client: Client) -> None:
    """value() gives the type asked for: from a document, from a row of nodes(), through the parent axis."""
    text = """SELECT e.n.value('@name', 'sysname'), e.n.value('(data[@name="error_number"]/value)[1]', 'int'),
        e.n.value('(@timestamp)[1]', 'datetime2(3)'), e.n.value('../@eventCount', 'int')
        FROM @x.nodes('RingBufferTarget/event') AS e(n)"""
    found = rows(client, text)
    assert [row[0] for row in found] == ["error_reported", "xml_deadlock_report"]
    assert [row[1] for row in found] == [1480, None]
    assert str(found[0][2]).startswith("2025-01-06 08:00:01.25") and found[0][3] == 2
    assert rows(client, "SELECT @x.value('count(//event)', 'int'), @x.value('(//process/@spid)[2]', 'int')") == [(2, 52)]
    assert rows(client, "SELECT @x.value('(//data[@name=\"message\"]/value/text())[1]', 'varchar(max)')") == [("a < b",)]


def test_query_exist_and_apply(client: Client) -> None:
    """query() cuts a piece out, exist() filters, CROSS APPLY nodes() multiplies rows, casts may be asked too."""
    text = """SELECT xed.query('.').value('(event/@name)[1]', 'varchar(50)'),
        CAST(xed.query('data/value/deadlock/victim-list') AS nvarchar(max))
        FROM (SELECT CAST(@x AS xml) AS Target_Data) AS XML_Data
        CROSS APPLY Target_Data.nodes('RingBufferTarget/event[@name="xml_deadlock_report"]') AS XEventData(xed)"""
    assert rows(client, text) == [("xml_deadlock_report", '<victim-list><victimProcess id="p1"/></victim-list>')]
    text = """SELECT p.value('@id', 'varchar(10)') FROM (SELECT @x AS x) AS d CROSS APPLY d.x.nodes('//process') AS t(p)
        WHERE p.exist('.[@spid > 51]') = 1 AND d.x.exist('//victimProcess[@id="p1"]') = 1"""
    assert rows(client, text) == [("p2",)]
    assert rows(client, "SELECT CAST('<a><b>1</b><b>2</b></a>' AS xml).value('(/a/b)[2]', 'int')") == [(2,)]
    text = "SELECT @x.exist('//nosuch'), CAST(NULL AS xml).value('(/a)[1]', 'int')"
    assert rows(client, text) == [(False, None)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("SELECT @x.value('//event/@name', 'varchar(10)')", 2389),
        ("SELECT CAST('<a><b></a>' AS xml).value('(/a)[1]', 'int')", 9436),
        ("SELECT CAST('<a>' AS xml).value('(/a)[1]', 'int')", 9436),
        ("SELECT n.c FROM (SELECT 'text' AS t) AS q CROSS APPLY q.t.nodes('/a') AS n(c)", 258),
        ("SELECT @x.query('for $i in //event return $i')", 50000),
        ("SELECT @x.value('(//event', 'int')", 50000),
        ("DECLARE @deep xml = REPLICATE(CAST('<a>' AS varchar(max)), 200) + REPLICATE(CAST('</a>' AS varchar(max)), 200)\n"
         "SELECT @deep.exist('/a')", 6335),
    ],
)  # fmt: skip
def test_errors(client: Client, text: str, number: int) -> None:
    """What a path, a type or a document cannot be."""
    result = client.run(DECLARED + text)
    found = [m.number for m in result.messages if m.is_error]
    assert found and (found[0] == number or (number == 50000 and found[0] >= 50000))


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="/.@*[]()ab'\"=<>12, ", max_size=24))
def test_any_path_ends(text: str) -> None:
    """A path gives nodes or values, or an error of its own; never anything else."""
    try:
        compiled(text).select(context("<a><b a='1'>2</b><b/></a>"))
    except TsqlError as refused:
        assert refused.number >= 50000
