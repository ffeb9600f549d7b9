"""The node's side: hooks, RPC, the monitoring loop of the DL560 paper, hostile text, determinism, what is known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aglab.core.sqltypes import INT, nvarchar
from aglab.tsql import AdapterParameter, AdapterProcedure, Host, Message, TsqlError, Wait, error, not_implemented
from aglab.tsql.knowledge import knowledge
from aglab.tsql.messages_table import MESSAGES
from aglab.tsql.parser.statements import parse_batch

from .fakes import Client, FakeHost
from .test_fixtures import cases


@dataclass
class Parameter:
    name: str
    value: Any
    type: Any = None
    is_output: bool = False


COUNTERS = "sys.dm_os_performance_counters"
LOOP = """DECLARE @v1 BIGINT, @delay SMALLINT = 300, @time DATETIME, @cnt INT = 0;
WHILE @cnt < 36
BEGIN
    SELECT @time = DATEADD(SECOND, @delay, '00:00:00');
    SELECT @v1 = cntr_value
    FROM master.sys.dm_os_performance_counters
    WHERE counter_name = 'Batch Requests/sec';
    WAITFOR DELAY @time;
    SELECT (cntr_value - @v1)/@delay
    FROM master.sys.dm_os_performance_counters
    WHERE counter_name='Batch Requests/sec';
    SET @cnt = @cnt + 1;
END;"""


def counters(host: FakeHost) -> list[dict[str, Any]]:
    return [
        {
            "object_name": "SQLServer:SQL Statistics",
            "counter_name": "Batch Requests/sec",
            "instance_name": "",
            "cntr_value": int(host.time_s * 1234),
            "cntr_type": 272696576,
        }
    ]


def test_the_fake_is_a_host() -> None:
    """The protocol names everything a node must have."""
    assert isinstance(FakeHost(), Host)


def test_the_batch_requests_loop_runs_as_the_paper_prints_it() -> None:
    """Thirty-six waits of five minutes, a bigint rate each time."""
    client = Client()
    client.host.views["sys.dm_os_performance_counters"] = lambda arguments: counters(client.host)
    result = client.run(LOOP)
    assert result.sets == [[(1234,)]] * 36 and result.types == ["bigint"] and not result.errors
    assert client.host.time_s == 36 * 300 and {w.wait_type for w in result.waits} == {"WAITFOR"}


@pytest.mark.parametrize(
    ("condition", "wanted", "rows"),
    [
        ("counter_name = N'BATCH requests/sec  '", {"counter_name": {"batch requests/sec"}}, 1),
        (
            "'Batch Requests/sec' = p.counter_name AND cntr_type = 5",
            {"counter_name": {"batch requests/sec"}, "cntr_type": {5}},
            0,
        ),
        ("counter_name = @name", {"counter_name": {"batch requests/sec"}}, 1),
        ("counter_name IN (@name, 'x', NULL)", {"counter_name": {"batch requests/sec", "x"}}, 1),
        ("counter_name = @none", {"counter_name": set()}, 0),
        ("counter_name = 'a' AND counter_name = @name", {"counter_name": {"a"}}, 0),
        ("counter_name = instance_name", {}, 0),
        ("counter_name = 'x' OR cntr_value = 0", {}, 1),
        ("counter_name NOT IN ('x')", {}, 1),
        ("counter_name <> 'x'", {}, 1),
        ("cntr_value IN ('0', 1)", {"cntr_value": {0, 1}}, 1),
        ("UPPER(counter_name) = 'BATCH REQUESTS/SEC'", {}, 1),
    ],
)
def test_what_a_query_asks_of_a_view_reaches_the_node(condition: str, wanted: dict[str, set[Any]], rows: int) -> None:
    """Equality with constants, one or several, is told; the condition is tested on the rows that come all the same."""
    client = Client()
    other = {"counter_name": "other", "instance_name": "", "object_name": "", "cntr_value": 7, "cntr_type": 5}
    client.host.views["sys.dm_os_performance_counters"] = lambda arguments: [*counters(client.host), other]
    text = f"""DECLARE @name nvarchar(50) = N'Batch Requests/sec', @none nvarchar(50);
        SELECT counter_name FROM sys.dm_os_performance_counters AS p WHERE cntr_value < 7 AND ({condition})"""
    result = client.run(text)
    assert (client.host.wanted[COUNTERS], len(result.rows), result.errors) == (wanted, rows, [])


def test_a_joined_view_is_asked_for_its_own_columns_only() -> None:
    """A condition between two sources is tested where they meet; a correlated one has another value for each row."""
    client = Client()
    client.host.views["sys.dm_os_performance_counters"] = lambda arguments: counters(client.host)
    text = """SELECT n.name FROM (VALUES ('Batch Requests/sec'), ('x')) AS n(name)
        WHERE EXISTS (SELECT * FROM sys.dm_os_performance_counters AS p WHERE p.counter_name = n.name)"""
    assert client.run(text).rows == [("Batch Requests/sec",)] and client.host.wanted[COUNTERS] == {}
    text = """SELECT d.name FROM sys.databases AS d LEFT JOIN sys.dm_os_performance_counters AS p
        ON p.counter_name = 'none of these' AND p.instance_name = d.name WHERE d.name = 'OLTP'"""
    assert client.run(text).rows == [("OLTP",)] and client.host.wanted[COUNTERS] == {"counter_name": {"none of these"}}


def test_waitfor_time_waits_for_the_hour() -> None:
    """The clock stands at noon; 12:30 is half an hour away, 11:00 is tomorrow."""
    client = Client()
    client.run("waitfor time '12:30'")
    assert client.host.time_s == 1800
    client.run("waitfor time '11:00'")
    assert client.host.time_s == 23 * 3600


def test_settings_reach_the_node() -> None:
    """RECONFIGURE, ALTER DATABASE and trace flags are announced when they take effect."""
    client = Client()
    client.run("exec sp_configure 'show advanced options', 1")
    assert client.host.changes == []
    client.run("reconfigure; alter database OLTP set target_recovery_time = 30 seconds; dbcc traceon(1204, -1)")
    assert [(c.scope, c.name, c.value) for c in client.host.changes] == [
        ("configuration", "show advanced options", 1),
        ("database", "TARGET_RECOVERY_TIME", 30),
        ("trace_flag", "1204", True),
    ]
    assert client.host.instance.trace_flag_on(1204)


def test_commands_reach_the_node_or_are_refused() -> None:
    """A backup arrives with its options; what the node does not know is error 59001 with the statement's name."""
    client = Client()
    client.run("backup database OLTP to disk = 'NUL:', disk = 'NUL:' with maxtransfersize = 65536, compression, stats = 10")
    command = client.host.commands[-1]
    assert command.options == {
        "DEVICES": [("DISK", "NUL:"), ("DISK", "NUL:")],
        "MAXTRANSFERSIZE": 65536,
        "COMPRESSION": True,
        "STATS": 10,
    }
    refused = client.run(
        "create availability group ag1 with (cluster_type = none) for replica on 'sql1' with (endpoint_url = 'x')"
    )
    assert refused.errors == [59001] and "CREATE AVAILABILITY GROUP" in refused.messages[0].text
    assert client.run("backup database nosuch to disk = 'x'").errors == [911]
    assert client.run("kill 51").errors == [6104] and client.run("kill 99").errors == [6106]


def test_the_adapter_schema_calls_registered_procedures() -> None:
    """EXEC twin.name binds parameters by name and position, checks them, passes effects on."""
    client = Client()
    seen: list[Any] = []

    def start(session: Any, users: int, name: str) -> Any:
        seen.append((users, name))
        yield Wait("time", client.host.time_s + 5, "ADAPTER")
        yield Message(0, 0, 1, "started")
        return 3

    parameters = (AdapterParameter("users", INT, required=True), AdapterParameter("name", nvarchar(20), "x"))
    client.host.adapters["start_workload"] = AdapterProcedure("start_workload", parameters, start)
    client.host.adapters["note"] = AdapterProcedure("note", (), lambda session: [Message(0, 0, 1, "noted")])
    result = client.run("declare @r int exec @r = twin.start_workload @users = '50' select @r")
    assert seen == [(50, "x")] and result.value == 3 and client.host.time_s == 5
    assert client.run("exec twin.note").messages[0].text == "noted"
    assert client.run("exec twin.start_workload").errors == [201]
    assert client.run("exec twin.start_workload 1, 'a', 2").errors == [8144]
    assert client.run("exec twin.start_workload 1, @users = 2").errors == [8143]
    assert client.run("exec twin.start_workload @nosuch = 2").errors == [8145]
    assert client.run("exec twin.start_workload 'x'").errors == [8114]
    assert client.run("exec twin.nosuch").errors == [2812]


def test_rpc_executesql_prepexec_and_execute() -> None:
    """Drivers' calls: handles, parameters, return status and output values."""
    client = Client()
    text = nvarchar(4000)
    result = client.rpc(
        "sp_executesql", Parameter("", "select @a + 1", text), Parameter("", "@a int", text), Parameter("@a", 4, INT)
    )
    assert result.value == 5 and result.status == 0 and result.types == ["int"]
    result = client.rpc(
        13,
        Parameter("", None, INT, True),
        Parameter("", "@p int", text),
        Parameter("", "select @p * 2", text),
        Parameter("", 21, INT),
    )
    assert result.value == 42
    handle = result.values[0].value
    assert client.rpc(12, Parameter("", handle, INT), Parameter("", 5, INT)).value == 10
    assert client.rpc(15, Parameter("", handle, INT)).errors == []
    assert client.rpc(12, Parameter("", handle, INT)).errors == [8179]
    client.run("create procedure pp @a int, @b int output as set @b = @a * 3 return 7")
    result = client.rpc("pp", Parameter("@a", 5, INT), Parameter("@b", None, INT, True))
    assert result.status == 7 and result.values[0].value == 15
    assert client.rpc("nosuch").errors == [2812]
    assert client.rpc("sp_executesql", Parameter("", "select @a", text), Parameter("", "@a int", text)).errors == [8178]


def test_catalogue_procedures_answer_drivers() -> None:
    """sp_columns_100, sp_pkeys, sp_statistics_100, sp_tables, sp_datatype_info_100, sp_stored_procedures, describe."""
    client = Client()
    client.run("create table t(id int identity primary key, v nvarchar(20) not null); create index ix on t(v)")
    assert [(r[3], r[4], r[5], r[6]) for r in client.rpc("sp_columns_100", Parameter("", "t", nvarchar(10))).rows] == [
        ("id", 4, "int identity", 10),
        ("v", -9, "nvarchar", 20),
    ]
    assert [r[3:5] for r in client.run("exec sp_pkeys 't'").rows] == [("id", 1)]
    assert [r[5] is None for r in client.run("exec sp_statistics_100 't'").rows] == [True, False, False]
    assert client.run("exec sp_tables").rows[0][2:4] == ("t", "TABLE")
    assert client.run("exec sp_datatype_info_100 12").rows[0][0] == "varchar"
    assert client.run("exec sp_stored_procedures").rows == []
    described = client.run("exec sp_describe_first_result_set N'select id, v from t'").rows
    assert [(r[2], r[5]) for r in described] == [("id", "int"), ("v", "nvarchar(20)")]


def test_transaction_requests() -> None:
    """TM begin, commit with begin after, rollback; error 3902 and 3903 where there is none."""
    client = Client()
    client.run("create table t(i int)")
    begun = client.drive(client.interpreter.transaction_request("begin"))
    assert begun.env[0].kind == "begin_tran" and client.session.trancount == 1
    client.run("insert t values (1)")
    both = client.drive(client.interpreter.transaction_request("commit", begin_after=True))
    assert [e.kind for e in both.env] == ["commit_tran", "begin_tran"]
    client.run("insert t values (2)")
    client.drive(client.interpreter.transaction_request("rollback"))
    assert client.run("select i from t").rows == [(1,)]
    assert client.drive(client.interpreter.transaction_request("commit")).errors == [3902]
    assert client.drive(client.interpreter.transaction_request("rollback")).errors == [3903]


def test_reset_forgets_the_session_state() -> None:
    """RESETCONNECTION: options, temporary tables, handles and the transaction go."""
    client = Client()
    client.run("set nocount on create table #t(i int) begin tran")
    client.drive(client.interpreter.reset())
    assert client.session.trancount == 0 and not client.session.temp_tables and not client.session.options.nocount


def test_reset_returns_to_the_database_of_the_login() -> None:
    """RESETCONNECTION undoes USE, follows a renamed database and falls back to master when it was dropped."""
    client = Client(database="master")
    client.host.instance.add_database("Shop")
    home = client.host.instance.open_session(database="Shop")
    client.run("use Shop")
    client.drive(client.interpreter.reset())
    assert client.session.database == "master"
    client.run("alter database Shop modify name = Store")
    home.database = "master"
    home.reset()
    assert home.database == "Store"
    client.host.instance.drop_database("Store")
    home.reset()
    assert home.database == "master"


def test_the_node_may_refuse_a_database() -> None:
    """A secondary that does not allow connections: 976 on USE and on a query; read-only: 3906 on a write."""
    client = Client(database="master")
    client.host.instance.add_database("Shop")

    def refuse(database: str, session: Any, for_write: bool) -> None:
        if database == "Shop":
            raise error(3906, database) if for_write else error(976, database)

    client.host.refuse = refuse
    assert client.run("use Shop").errors == [976]
    assert client.run("create table Shop.dbo.x(i int)").errors == [3906]


def test_a_view_row_may_leave_columns_out() -> None:
    """Mappings by column name, sequences in order; both come out in the catalogue's order and types."""
    client = Client()
    client.host.views["sys.dm_os_wait_stats"] = [{"wait_type": "WRITELOG", "wait_time_ms": 5}, ("X", 1, 2, 3, 4)]
    result = client.run("select * from sys.dm_os_wait_stats")
    assert result.rows == [("WRITELOG", None, 5, None, None), ("X", 1, 2, 3, 4)]

    def file_rows(arguments: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [{"database_id": arguments[0] or 5, "file_id": arguments[1] or 1}]

    client.host.views["sys.dm_io_virtual_file_stats"] = file_rows
    assert client.run("select file_id from sys.dm_io_virtual_file_stats(db_id('OLTP'), 2)").value == 2
    assert client.run("select database_id from sys.dm_io_virtual_file_stats(null, null)").value == 5
    assert client.run("select 1 from sys.dm_io_virtual_file_stats(1, 2, 3)").errors == [8144]
    assert client.run("select 1 from sys.dm_io_virtual_file_stats").errors == [216]


def test_long_results_come_in_pieces() -> None:
    """No more than 500 rows at a time, or 5,000 numbers; every statement's count is right."""
    client = Client()
    result = client.run("select value, 'x' from generate_series(1, 1234)")
    assert len(result.rows) == 1234 and result.counts == [1234] and result.pieces == [500, 500, 234]
    result = client.run("select value, value + 1 from generate_series(1, 6001)")
    assert len(result.rows) == 6001 and result.counts == [6001] and result.pieces == [2500, 2500, 1001]
    wide = client.run(f"select {', '.join(['value'] * 40)} from generate_series(1, 600)")
    assert wide.pieces == [500, 100]


def test_a_defect_of_the_twin_is_an_error_message() -> None:
    """A provider that fails gives error 59004, a line in the errorlog, and a session that goes on."""
    client = Client()
    client.host.views["sys.dm_os_wait_stats"] = lambda arguments: 1 / 0
    assert client.run("select * from sys.dm_os_wait_stats").errors == [59004]
    assert "ZeroDivisionError" in client.host.log[-1]
    assert client.run("select 1").value == 1


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1",
        "select " + "(" * 5000 + "1" + ")" * 5000,
        "select " + "-" * 3 + "\n" + "~" * 5000 + "1",
        "begin " * 3000 + "select 1",
        "select 1 where " + "not " * 3000 + "1 = 1",
        "select " + " + ".join(["1"] * 20000),
    ],
)
def test_deep_nesting_is_an_error_not_a_crash(text: str) -> None:
    """Error 191 or a syntax error, never an exception."""
    result = Client().run(text)
    assert result.errors and set(result.errors) <= {191, 102, 156, 8115, 59004}


def _words() -> list[str]:
    texts = [text for name in ("queries", "errors", "programs") for _, text in cases(name)]
    return sorted({word for text in texts for word in text.replace("(", " ( ").replace(")", " ) ").split()})


WORDS = _words()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)))
def test_arbitrary_text_gives_only_messages(text: str) -> None:
    """Whatever comes in, effects come out: never a Python exception, never an own failure (59004)."""
    if "waitfor" in text.lower() or "while" in text.lower() or "goto" in text.lower():
        text = text.lower().replace("waitfor", "x").replace("while", "y").replace("goto", "z")
    client = Client()
    client.run("create table t(id int primary key, v varchar(10) not null, g int, n int); insert t values (1, 'a', 1, 10)")
    result = client.run(text)
    assert 59004 not in result.errors, client.host.log


def test_the_same_statements_give_the_same_effects() -> None:
    """Two fresh nodes answer alike, NEWID and RAND included."""
    text = "select newid(), rand(), checksum('a'); select * from sys.databases; create table t(i float default rand());"
    text += "insert t default values; select * from t"
    assert Client().run(text).sets == Client().run(text).sets


def test_every_line_of_the_papers_that_is_valid_sql_parses() -> None:
    """The statements that commands.md lists as T-SQL are accepted (carried out here or by the node)."""
    for text in (
        "ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 1",
        "ALTER DATABASE OLTP SET MIXED_PAGE_ALLOCATION ON",
        "ALTER DATABASE OLTP MODIFY FILEGROUP [PRIMARY] AUTOGROW_ALL_FILES",
        "ALTER DATABASE tpcc_05 ADD LOG FILE (NAME = TOL_05, FILENAME = 'K:\\tail_05.ldf', SIZE = 179200KB, FILEGROWTH = 0)",
        "BACKUP LOG OLTP TO DISK = 'NUL:' WITH MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 16, COMPRESSION, CHECKSUM, STATS = 10",
        "CREATE LOGIN DB01User WITH PASSWORD = 'x', DEFAULT_DATABASE = [master], CHECK_EXPIRATION = OFF, CHECK_POLICY = OFF",
        "ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = dbo.OLTP_Classifier); ALTER RESOURCE GOVERNOR RECONFIGURE",
        "CREATE RESOURCE POOL p WITH (MIN_CPU_PERCENT = 0, AFFINITY NUMANODE = (0))",
        "ALTER SERVER CONFIGURATION SET SOFTNUMA OFF",
        "ALTER INDEX ALL ON t REBUILD WITH (ONLINE = ON, MAXDOP = 8)",
        "ALTER DATABASE OLTP SET HADR AVAILABILITY GROUP = ag1; ALTER DATABASE OLTP SET HADR SUSPEND",
        "ALTER AVAILABILITY GROUP ag1 GRANT CREATE ANY DATABASE; ALTER AVAILABILITY GROUP ag1 SET (ROLE = SECONDARY)",
        "CREATE PARTITION FUNCTION pf (int) AS RANGE LEFT FOR VALUES (1, 100)",
        "CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY])",
    ):
        assert parse_batch(text)


def test_message_helpers() -> None:
    """Every template takes its arguments; the twin's own refusal names the page."""
    for number, (severity, state, text) in MESSAGES.items():
        assert 0 <= severity <= 21 and 0 <= state <= 255 and text.format(*range(9)), number
    assert isinstance(not_implemented("X"), TsqlError) and "What the twin knows" in not_implemented("X").text


def test_knowledge_lists_what_is_there() -> None:
    """Names by kind, sorted, with the views the first chapter needs."""
    known = knowledge()
    assert all(
        names == sorted(names, key=int if kind == "messages" else None) for kind, names in known.items() if kind != "messages"
    )
    for view in ("sys.databases", "sys.dm_tran_locks", "sys.configurations"):
        assert view in known["views"]
    for view in ("sys.dm_os_performance_counters", "sys.dm_hadr_database_replica_states", "sys.dm_io_virtual_file_stats"):
        assert view in known["node views"]
    assert {"SELECT", "WAITFOR", "BACKUP"} <= set(known["statements"]) and "sp_configure" in known["system procedures"]


def test_no_fixture_is_missing() -> None:
    """Each file of statements has its expected results."""
    folder = Path(__file__).parent / "fixtures"
    assert {p.stem for p in folder.glob("*.sql")} == {p.stem for p in folder.glob("*.expected")}


def test_a_function_may_loop_for_long() -> None:
    """A loop in a scalar function is not taken for a wait, however many rounds it makes; WAITFOR in one is still refused."""
    client = Client()
    client.run("CREATE FUNCTION dbo.l() RETURNS int AS BEGIN DECLARE @i int = 0; WHILE @i < 5000 SET @i += 1; RETURN @i END")
    assert client.run("SELECT dbo.l()").rows == [(5000,)]
    client.run("CREATE FUNCTION dbo.w() RETURNS int AS BEGIN WAITFOR DELAY '00:00:01'; RETURN 1 END")
    assert client.run("SELECT dbo.w()").errors == [443]


def test_a_database_made_again_is_another() -> None:
    """A plan for a table of a dropped database is not used for the table of the same name in the next."""
    client = Client()
    for value in (1, 2):
        client.run("CREATE DATABASE again")
        client.run("USE again; CREATE TABLE dbo.t (a int)")
        client.run(f"INSERT dbo.t VALUES ({value})")
        assert client.run("SELECT a FROM dbo.t").rows == [(value,)]
        client.run("USE master; DROP DATABASE again")


def test_order_by_a_qualified_column_of_a_union() -> None:
    """It means the column of the first query's select list; one that is not there is error 104."""
    one = Client()
    one.run("CREATE TABLE t (id int, v varchar(9)); INSERT t VALUES (1, 'a'), (4, 'd')")
    text = "SELECT a.id, a.v FROM t a UNION SELECT b.id, b.v FROM t b ORDER BY {} DESC"
    assert one.run(text.format("a.id")).rows[0] == (4, "d")
    assert one.run(text.format("b.id")).errors == [104]
