"""Extended Events as a client sees them: sessions with predicates and targets, and the four events of the paper's trace."""

import contextlib
import xml.etree.ElementTree as ET
from types import SimpleNamespace

from twin_client import fails

from aglab.tsql.effects import Cancelled, Wait
from aglab.twin.traces.raising import traced
from aglab.twin.traces.sessions import Traces

FOUR = """CREATE EVENT SESSION heavy ON SERVER
ADD EVENT sqlserver.sp_statement_completed (ACTION (sqlserver.client_app_name, sqlserver.sql_text)
    WHERE ([sqlserver].[database_name] = N'OLTP')),
ADD EVENT sqlserver.sql_batch_starting (ACTION (sqlserver.session_id)),
ADD EVENT sqlserver.sql_batch_completed (SET collect_batch_text = (1)
    ACTION (sqlserver.client_app_name, sqlserver.database_name)
    WHERE (logical_reads > 0 AND NOT [sqlserver].[like_i_sql_unicode_string]([batch_text], N'%sys.%'))),
ADD EVENT sqlserver.query_post_execution_showplan
ADD TARGET package0.ring_buffer (SET max_events_limit = (500)),
ADD TARGET package0.event_file (SET filename = N'heavy.xel')
WITH (MAX_MEMORY = 8 MB, EVENT_RETENTION_MODE = ALLOW_MULTIPLE_EVENT_LOSS, MAX_DISPATCH_LATENCY = 5 SECONDS,
STARTUP_STATE = OFF)"""
RING = """SELECT t.target_data FROM sys.dm_xe_session_targets AS t JOIN sys.dm_xe_sessions AS s
ON s.address = t.event_session_address WHERE s.name = N'heavy' AND t.target_name = N'ring_buffer'"""
FILE = "SELECT object_name, event_data FROM sys.fn_xe_file_target_read_file(N'heavy*.xel', NULL, NULL, NULL)"


STATS = """SELECT q.total_logical_reads, t.text FROM sys.dm_exec_query_stats AS q
CROSS APPLY sys.dm_exec_sql_text(q.sql_handle) AS t"""


def set_up(own):
    """A table with rows, a procedure that reads it, the session running."""
    own.sql("CREATE TABLE dbo.trade (id int NOT NULL PRIMARY KEY, pad char(4000) NOT NULL DEFAULT 'x')", database="OLTP")
    own.sql("INSERT INTO dbo.trade (id) SELECT value FROM GENERATE_SERIES(1, 200)", database="OLTP")
    own.sql("CREATE PROCEDURE dbo.scan AS SELECT COUNT(*) AS n FROM dbo.trade WHERE pad = 'x'", database="OLTP")
    own.sql(FOUR)
    own.sql("ALTER EVENT SESSION heavy ON SERVER STATE = START")


def events(own):
    """The events of the ring buffer: name, fields, actions."""
    root = ET.fromstring(own.value(RING))
    assert int(root.get("eventCount")) == len(root)
    return [
        (
            one.get("name"),
            {part.get("name"): part.find("value") for part in one.findall("data")},
            {part.get("name"): part.find("value").text for part in one.findall("action")},
        )
        for one in root
    ]


def test_the_four_profiler_events(own):
    """Batch starting and completed, a procedure's statement and its plan; the costs agree with sys.dm_exec_query_stats."""
    set_up(own)
    own.sql("EXEC dbo.scan", database="OLTP")
    found = events(own)
    names = [name for name, _, _ in found]
    assert {"sql_batch_starting", "sql_batch_completed", "sp_statement_completed", "query_post_execution_showplan"} <= set(names)
    start = names.index("sql_batch_starting")
    assert found[start][1]["batch_text"].text == "EXEC dbo.scan" and int(found[start][2]["session_id"]) >= 51
    _, statement, actions = next(one for one in found if one[0] == "sp_statement_completed")
    assert statement["object_name"].text == "scan" and statement["statement"].text.startswith("SELECT COUNT(*)")
    assert actions["sql_text"] == "EXEC dbo.scan"
    reads = own.value(f"{STATS} WHERE t.text LIKE N'CREATE PROCEDURE%'", database="OLTP")
    assert int(statement["logical_reads"].text) == reads > 100
    _, batch, _ = next(one for one in found if one[0] == "sql_batch_completed")
    assert batch["result"].text == "OK" and int(batch["logical_reads"].text) == reads
    _, plan, _ = next(one for one in found if one[0] == "query_post_execution_showplan")
    assert plan["showplan_xml"][0].tag.endswith("ShowPlanXML")


def test_the_trace_names_the_heaviest_table(own):
    """The trace read into a table and ordered by reads gives the statement that query_stats gives."""
    set_up(own)
    own.sql("DBCC FREEPROCCACHE")
    for text in ("EXEC dbo.scan", "SELECT id FROM dbo.trade WHERE id = 7", "EXEC dbo.scan"):
        own.sql(text, database="OLTP")
    own.sql("ALTER EVENT SESSION heavy ON SERVER STATE = STOP")
    read = f"{FILE} WHERE object_name = N'sp_statement_completed'"
    heavy = [{part.get("name"): part[0].text for part in ET.fromstring(row["event_data"])} for row in own.rows(read)]
    heavy.sort(key=lambda one: -int(one["logical_reads"]))
    top = own.rows(f"{STATS} WHERE t.text LIKE N'CREATE PROCEDURE%'")[0]
    assert len(heavy) == 2 and heavy[0]["statement"] in top["text"]
    assert sum(int(one["logical_reads"]) for one in heavy) == top["total_logical_reads"]


def test_predicates_keep_events_out(own):
    """Another database, a batch without reads, a text that the predicate leaves out: no event."""
    set_up(own)
    own.sql("SELECT 1 AS one")
    own.sql("SELECT COUNT(*) AS n FROM sys.tables", database="OLTP")
    names = [name for name, _, _ in events(own)]
    assert "sql_batch_completed" not in names and "sp_statement_completed" not in names
    assert names.count("sql_batch_starting") >= 2


def test_errors_and_rpc(own):
    """A failed batch says Error and its error is an event; a parameterised statement is a remote procedure call."""
    own.sql(
        """CREATE EVENT SESSION heavy ON SERVER ADD EVENT sqlserver.error_reported (WHERE severity >= 11),
        ADD EVENT sqlserver.sql_batch_completed, ADD EVENT sqlserver.rpc_completed, ADD EVENT sqlserver.sql_statement_completed
        ADD TARGET package0.ring_buffer; ALTER EVENT SESSION heavy ON SERVER STATE = START"""
    )
    with contextlib.closing(own.connect()) as connection:
        fails(connection, "SELECT 1 / 0 AS x")
    own.sql("SELECT ? AS given", parameters=(5,))
    own.sql("PRINT N'a'; SELECT 2 AS two")
    found = events(own)
    failed = next(fields for name, fields, _ in found if name == "error_reported")
    assert failed["error_number"].text == "8134"
    results = [fields["result"].text for name, fields, _ in found if name == "sql_batch_completed"]
    assert "Error" in results and "OK" in results
    assert any(name == "rpc_completed" for name, _, _ in found)
    texts = [fields["statement"].text for name, fields, _ in found if name == "sql_statement_completed"]
    assert "PRINT N'a'" in texts and "SELECT 2 AS two" in texts


def test_ring_buffer_and_file(own):
    """A ring buffer keeps the newest events and is empty after a stop; the file outlives a stop and a restart."""
    set_up(own)
    own.sql("ALTER EVENT SESSION heavy ON SERVER DROP TARGET package0.ring_buffer")
    own.sql("ALTER EVENT SESSION heavy ON SERVER ADD TARGET package0.ring_buffer (SET max_events_limit = 3)")
    for _ in range(5):
        own.sql("EXEC dbo.scan", database="OLTP")
    assert len(events(own)) == 3
    own.sql("ALTER EVENT SESSION heavy ON SERVER STATE = STOP")
    assert own.rows(RING) == []
    kept = len(own.rows(FILE))
    own.sql("ALTER EVENT SESSION heavy ON SERVER STATE = START")
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert own.rows(RING) == [] and len(own.rows(FILE)) >= kept >= 5
    own.sql("ALTER EVENT SESSION heavy ON SERVER WITH (STARTUP_STATE = ON)")
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert own.rows(RING) != []


def test_an_attention_reaches_the_batch():
    """What is thrown into a traced request is thrown into the batch itself, and a closed one is closed."""
    node = SimpleNamespace(traces=Traces(), cluster=SimpleNamespace(clock=SimpleNamespace(now_us=0)))
    session = SimpleNamespace(reads=0, logical_reads=0, writes=0, row_count=0)
    seen = []

    def batch():
        try:
            yield Wait("time", 1.0)
        except Cancelled:
            seen.append("cancelled")
            yield Wait("time", 2.0)
        finally:
            seen.append("ended")

    effects = traced(node, session, batch(), "SELECT 1")
    next(effects)
    assert effects.throw(Cancelled()).until_s == 2.0
    effects.close()
    assert seen == ["cancelled", "ended"]


def test_catalogue(own):
    """What a session collects stands in the catalogue views."""
    set_up(own)
    row = own.rows("SELECT * FROM sys.server_event_sessions WHERE name = N'heavy'")[0]
    assert (row["max_memory"], row["max_dispatch_latency"], row["event_retention_mode"]) == (8192, 5, "M")
    names = own.rows(
        """SELECT e.name FROM sys.server_event_session_events AS e JOIN sys.server_event_sessions AS s
        ON s.event_session_id = e.event_session_id WHERE s.name = N'heavy' ORDER BY e.event_id"""
    )
    assert names[0]["name"] == "sp_statement_completed" and len(names) == 4
    assert own.value("SELECT COUNT(*) FROM sys.server_event_session_actions") == 5
    targets = own.rows("SELECT name FROM sys.server_event_session_targets ORDER BY target_id")
    assert targets == [{"name": "ring_buffer"}, {"name": "event_file"}]
    assert own.value("SELECT COUNT(*) FROM sys.dm_xe_objects WHERE object_type = N'target'") == 2
    own.sql("DROP EVENT SESSION heavy ON SERVER")
    assert own.value("SELECT COUNT(*) FROM sys.server_event_sessions") == 2


NEW = "CREATE EVENT SESSION x ON SERVER ADD EVENT sqlserver."
REFUSED = [
    ("CREATE EVENT SESSION heavy ON SERVER ADD EVENT sqlserver.rpc_completed", "Choose a unique name for the event session."),
    ("CREATE EVENT SESSION system_health ON SERVER ADD EVENT sqlserver.rpc_completed", "Choose a unique name"),
    ("CREATE EVENT SESSION x ON SERVER", "Incorrect syntax near"),
    ("CREATE EVENT SESSION x ON DATABASE ADD EVENT sqlserver.rpc_completed", "ON DATABASE"),
    (NEW + "nosuch", 'event name, "sqlserver.nosuch", is invalid'),
    (
        NEW + "rpc_completed (ACTION (sqlserver.nosuch))",
        'action name, "sqlserver.nosuch"',
    ),
    (NEW + "rpc_completed (WHERE nosuch = 1)", '"nosuch", could not be found'),
    (
        NEW + "rpc_completed (WHERE duration ~ 1)",
        "Failed to parse an event predicate",
    ),
    (
        NEW + "rpc_completed (WHERE duration > x)",
        "Failed to parse an event predicate",
    ),
    (
        NEW + "rpc_completed (WHERE package0.nosuch(duration, 1))",
        'comparator, "nosuch", could not be found',
    ),
    (NEW + "rpc_completed (SET speed = 1)", '"speed", does not exist.'),
    (
        NEW + "rpc_completed ADD TARGET package0.event_file",
        'attributes are missing for target, "event_file"',
    ),
    (
        NEW + "rpc_completed ADD TARGET package0.ring_buffer (SET speed = 1)",
        '"speed", does not exist.',
    ),
    (NEW + "rpc_completed WITH (SPEED = 1)", "'SPEED' is not a recognized"),
    ("ALTER EVENT SESSION heavy ON SERVER ADD EVENT sqlserver.sql_batch_starting", "already exists in the event session"),
    ("ALTER EVENT SESSION heavy ON SERVER ADD TARGET package0.ring_buffer", "already exists in the event session"),
    ("ALTER EVENT SESSION heavy ON SERVER DROP EVENT sqlserver.rpc_completed", "does not exist in the event session"),
    ("ALTER EVENT SESSION heavy ON SERVER", "Incorrect syntax near"),
    ("ALTER EVENT SESSION heavy ON SERVER MODIFY", "Incorrect syntax near"),
    ("ALTER EVENT SESSION heavy ON SERVER STATE = START", "The event session has already been started."),
    ("ALTER EVENT SESSION nosuch ON SERVER STATE = START", "Cannot alter the event session 'nosuch'"),
    ("DROP EVENT SESSION nosuch ON SERVER", "Cannot drop the event session 'nosuch'"),
    ("DROP EVENT SESSION system_health ON SERVER", "a session of the instance itself"),
]


def test_refusals(own):
    """Each wrong statement ends with the message that names what is wrong."""
    set_up(own)
    for statement, words in REFUSED:
        with contextlib.closing(own.connect()) as connection:
            assert words in fails(connection, statement), statement
    own.sql("ALTER EVENT SESSION heavy ON SERVER STATE = STOP")
    with contextlib.closing(own.connect()) as connection:
        assert "already been stopped" in fails(connection, "ALTER EVENT SESSION heavy ON SERVER STATE = STOP")
