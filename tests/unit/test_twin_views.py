"""What a node answers to the interpreter: views, changes, commands, adapter procedures; driven without a wire."""

import datetime as dt
from types import SimpleNamespace

import pytest

from aglab.core.errors import UsageError
from aglab.tsql import Change, Command, Host, Interpreter, Message, Rows, Session, TsqlError, Wait
from aglab.tsql.catalog import registry
from aglab.twin import views_hadr, views_server
from aglab.twin.clock import EPOCH
from aglab.twin.cluster import Cluster, checked_port_base

PROFILE = "laptop-generic"


@pytest.fixture
def cluster():
    """A cluster on a small machine, with a fast clock that the test moves."""
    return Cluster(PROFILE)


def go(cluster, seconds):
    """Let virtual time pass."""
    cluster.clock.set_time(cluster.clock.now_us + round(seconds * 1e6))


def drive(cluster, generator):
    """Run effects to their end, letting each wait pass; the messages and other effects."""
    out = []
    for effect in generator or ():
        if isinstance(effect, Wait):
            if effect.until_s is not None:
                cluster.clock.set_time(max(cluster.clock.now_us, round(effect.until_s * 1e6)))
            assert effect.done is None or effect.done()
        else:
            out.append(effect)
    return out


def suspended(cluster):
    """Whether the load's database is suspended, by node."""
    return [one.databases["OLTP"].suspended is not None for one in cluster.group.rules.nodes.values()]


def call(cluster, name, /, on="sql1", session=None, **arguments):
    """EXEC twin.name on a node."""
    host = cluster.nodes[on]
    session = session or Session(51)
    return drive(cluster, host.adapter(name).call(session, **arguments))


def as_dicts(name, rows):
    """Rows of a view by column name; a provider may give them as tuples in the order of the columns."""
    registry.load()
    schema, _, bare = name.partition(".")
    names = registry.VIEWS[schema, bare].names
    for row in rows:
        assert not isinstance(row, tuple) or len(row) == len(names), name
        yield dict(zip(names, row, strict=True)) if isinstance(row, tuple) else row


def counters(node):
    """(object, instance, counter) -> value, trimmed."""
    name = "sys.dm_os_performance_counters"
    rows = list(as_dicts(name, node.view_rows(name, (), None)))
    table = {(r["object_name"].strip(), r["instance_name"].strip(), r["counter_name"].strip()): r for r in rows}
    assert len(table) == len(rows), "no counter is there twice"
    return table


def test_a_node_is_a_host(cluster):
    """A node answers everything that the interpreter may ask."""
    assert isinstance(cluster.nodes["sql1"], Host)
    assert (
        cluster.nodes["sql2"].server_property("ServerName") == "sql2" and cluster.nodes["sql2"].server_property("Edition") is None
    )


def test_counters_asked_for_by_name_are_those_of_the_whole_view(cluster):
    """For every name: the same rows, in the same order, as the whole view has under it; another name has none."""
    name = "sys.dm_os_performance_counters"
    for node in cluster.nodes.values():
        every = list(node.view_rows(name, (), None))
        for wanted in {row[1].strip().lower() for row in every}:
            own = list(node.view_rows(name, (), None, {"counter_name": frozenset({wanted})}))
            assert own == [row for row in every if row[1].strip().lower() == wanted], wanted
        pair = {"counter_name": frozenset({"user connections", "batch requests/sec"})}
        assert [row[1].strip() for row in node.view_rows(name, (), None, pair)] == ["Batch Requests/sec", "User Connections"]
        assert list(node.view_rows(name, (), None, {"counter_name": frozenset({"no such counter"})})) == []


def test_a_counter_of_sessions_does_not_look_at_the_engine(cluster):
    """What a query does not ask for is not read."""
    node, before = cluster.nodes["sql1"], cluster.plant.looks
    assert list(node.view_rows("sys.dm_os_performance_counters", (), None, {"counter_name": frozenset({"user connections"})}))
    assert cluster.plant.looks == before
    assert counters(node) and cluster.plant.looks > before


def test_counters_are_the_engines(cluster):
    """Each cumulative counter is the engine's total, whole, and the instance _Total covers the database."""
    cluster.plant.start_load(8)
    go(cluster, 30)
    node = cluster.nodes["sql1"]
    table, totals = counters(node), cluster.plant.totals("sql1")
    for counter, key in (("Transactions/sec", "transactions"), ("Log Bytes Flushed/sec", "log_bytes_flushed")):
        row = table["SQLServer:Databases", "OLTP", counter]
        assert row["cntr_value"] == int(totals[key]) > 0 and row["cntr_type"] == 272696576
        assert table["SQLServer:Databases", "_Total", counter]["cntr_value"] == row["cntr_value"]
    assert table["SQLServer:SQL Statistics", "", "Batch Requests/sec"]["cntr_value"] == int(totals["batch_requests"])
    sent = [
        table["SQLServer:Availability Replica", f"ag1:{one}", "Bytes Sent to Transport/sec"]["cntr_value"]
        for one in ("sql2", "sql3")
    ]
    assert sum(sent) == pytest.approx(totals["bytes_sent_to_transport"], abs=2) and sent[0] == sent[1]


def test_a_bare_cluster_has_no_group(tmp_path):
    """Without an availability group its views are empty, its counters absent, and the second node idle."""
    bare = Cluster(PROFILE, bare=True)
    node = bare.nodes["sql1"]
    bare.plant.start_load(4)
    go(bare, 5)
    assert all(list(node.view_rows(view, (), None)) == [] for view in views_hadr.VIEWS)
    assert not any(key[0].startswith("SQLServer:Availability") for key in counters(node))
    assert counters(node)["SQLServer:Databases", "OLTP", "Transactions/sec"]["cntr_value"] > 0
    assert counters(bare.nodes["sql2"])["SQLServer:Databases", "OLTP", "Transactions/sec"]["cntr_value"] == 0
    with pytest.raises(TsqlError, match="in no availability group"):
        call(bare, "cut", node="sql2")


def test_waits_and_files_add_up(cluster):
    """Waits of the load and of sessions share one view; file reads and writes are the engine's, spread over data files."""
    cluster.plant.start_load(8)
    go(cluster, 30)
    node = cluster.nodes["sql1"]
    node.waits.add("WAITFOR", 5_000_000)
    waits = {row["wait_type"]: row for row in node.view_rows("sys.dm_os_wait_stats", (), None)}
    assert waits["WAITFOR"]["wait_time_ms"] == 5000 and waits["WAITFOR"]["max_wait_time_ms"] == 5000
    assert waits["PAGELATCH_UP"]["wait_time_ms"] == waits["PAGELATCH_UP"]["waiting_tasks_count"] == 0  # nothing asked of tempdb
    assert waits["HADR_SYNC_COMMIT"]["waiting_tasks_count"] > 0 and waits["WRITELOG"]["wait_time_ms"] >= 0
    number = node.instance.database("OLTP").id
    files = list(node.view_rows("sys.dm_io_virtual_file_stats", (number, None), None))
    totals = cluster.plant.totals("sql1")
    assert [row["file_id"] for row in files] == [1, 2]
    assert files[0]["num_of_writes"] == int(totals["data_writes"]) and files[1]["num_of_bytes_written"] == int(
        totals["log_bytes_written"]
    )
    assert len(list(node.view_rows("sys.dm_io_virtual_file_stats", (None, None), None))) >= 10


def test_cleared_waits_start_again(cluster):
    """DBCC SQLPERF CLEAR empties the view, sessions' waits and the load's; later waits count from there."""
    node, session = cluster.nodes["sql1"], Session(51)
    cluster.plant.start_load(8)
    go(cluster, 10)
    node.waits.add("WAITFOR", 1_000_000)
    drive(cluster, node.administer(Command("DBCC SQLPERF CLEAR", "SYS.DM_OS_WAIT_STATS"), session))
    assert all(row["wait_time_ms"] == 0 for row in node.view_rows("sys.dm_os_wait_stats", (), None))
    go(cluster, 10)
    assert any(row["wait_time_ms"] > 0 for row in node.view_rows("sys.dm_os_wait_stats", (), None))


def test_unknown_views_are_left_to_the_interpreter(cluster):
    """A view that the node has no rows for is None, not empty."""
    assert cluster.nodes["sql1"].view_rows("sys.nosuch", (), None) is None
    for view in (*views_server.VIEWS, *views_hadr.VIEWS, *views_hadr.EMPTY):
        assert cluster.nodes["sql1"].view_rows(view, (), None) is not None


def test_rows_fit_the_catalogues_columns(cluster):
    """Every row of every view has only columns that the catalogue declares, and a value where NULL is not allowed."""
    registry.load()
    node = cluster.nodes["sql1"]
    for name in (*views_server.VIEWS, *views_hadr.VIEWS, *views_hadr.EMPTY):
        schema, _, bare = name.partition(".")
        view = registry.VIEWS[schema, bare]
        arguments = tuple("OLTP" if "nvarchar" in str(kind) else None for kind in view.parameters or ())
        arguments = (node.instance.database("OLTP").id,) if name == "sys.dm_db_log_stats" else arguments
        for row in as_dicts(name, node.view_rows(name, arguments, None)):
            assert {key.lower() for key in row} <= set(view.names), name
            assert not [column.name for column in view.columns if not column.nullable and row.get(column.name) is None], name


def test_log_reuse_wait_names_who_needs_the_log(cluster):
    """Nothing at rest; LOG_BACKUP once the log has grown without a backup."""
    node = cluster.nodes["sql1"]
    node.view_rows("sys.databases", (), None)
    options = node.instance.database("OLTP").options
    assert options["log_reuse_wait"] == 0
    cluster.plant.start_load(4)
    go(cluster, 60)
    node.view_rows("sys.databases", (), None)
    assert options["log_reuse_wait"] == 2


def test_settings_reach_the_engine(cluster):
    """TARGET_RECOVERY_TIME on the primary reaches every replica; max server memory and recovery interval reach the machines."""
    node = cluster.nodes["sql1"]
    node.instance.database("OLTP").options["target_recovery_time_in_seconds"] = 0
    node.changed(Change("database", "TARGET_RECOVERY_TIME", 0, "OLTP"), SimpleNamespace(spid=51, is_sysadmin=True))
    assert all(one.instance.database("OLTP").options["target_recovery_time_in_seconds"] == 0 for one in cluster.nodes.values())
    told = cluster.plant.node_settings
    assert [told[name, "target_recovery_s"] for name in cluster.nodes] == [0, 0, 0]
    memory = node.instance.configurations["max server memory (mb)"]
    memory.value = memory.value_in_use = 1024
    node.changed(Change("configuration", "max server memory (MB)", 1024), SimpleNamespace(spid=51, is_sysadmin=True))
    assert cluster.plant.scenario.profile.memory.max_server_memory_mb == 1024
    interval = node.instance.configurations["recovery interval (min)"]
    interval.value = interval.value_in_use = 5
    node.changed(Change("configuration", "recovery interval (min)", 5), SimpleNamespace(spid=51, is_sysadmin=True))
    assert cluster.plant.scenario.settings.recovery_interval_min == 5
    node.changed(Change("trace_flag", "1222", True), SimpleNamespace(spid=51, is_sysadmin=True))
    assert any("DBCC TRACEON 1222" in line[2] for line in node.errorlog.logs[0])


def test_a_value_the_engine_refuses_is_a_tsql_error(cluster):
    """A setting beyond what the model takes is an error to its client, with the limit."""
    node = cluster.nodes["sql1"]
    interval = node.instance.configurations["recovery interval (min)"]
    interval.value = interval.value_in_use = 32767
    with pytest.raises(TsqlError, match="recovery_interval_min"):
        node.changed(Change("configuration", "recovery interval (min)", 32767), SimpleNamespace(spid=51, is_sysadmin=True))


def test_backups_take_time_and_free_the_log(cluster):
    """A log backup takes virtual time, prints SQL Server's messages and lets the log be reused."""
    node, session = cluster.nodes["sql1"], Session(51, database="OLTP")
    cluster.plant.start_load(4)
    go(cluster, 60)
    drive(cluster, node.administer(Command("CHECKPOINT"), session))
    go(cluster, 120)
    before, used = cluster.clock.now_s, cluster.plant.gauges("sql1")["log_used_kb"]
    cluster.plant.stop_load()
    out = drive(cluster, node.administer(Command("BACKUP LOG", "OLTP"), session))
    assert [one.number for one in out if isinstance(one, Message)] == [4035, 3014]
    assert cluster.clock.now_s > before and cluster.plant.gauges("sql1")["log_used_kb"] < used
    assert drive(cluster, node.administer(Command("BACKUP DATABASE", "master"), session))
    for target, number, change in (("nosuch", 911, {}), ("OLTP", 3021, {"trancount": 1})):
        with pytest.raises(TsqlError) as caught:
            drive(cluster, node.administer(Command("BACKUP LOG", target), SimpleNamespace(**{**vars(session), **change})))
        assert caught.value.number == number
    with pytest.raises(TsqlError, match="recovery model is SIMPLE"):
        drive(cluster, node.administer(Command("BACKUP LOG", "master"), session))
    with pytest.raises(TsqlError, match="no current database backup"):
        drive(cluster, node.administer(Command("BACKUP LOG", "model"), session))


def test_suspend_and_resume(cluster):
    """Suspended on the primary, data movement stops to every replica; on a secondary, to that one; a database outside says so."""
    session = Session(51, database="OLTP")
    drive(cluster, cluster.nodes["sql3"].administer(Command("ALTER DATABASE SET HADR", "OLTP", {"HADR": "SUSPEND"}), session))
    assert suspended(cluster) == [False, False, True]
    drive(cluster, cluster.nodes["sql3"].administer(Command("ALTER DATABASE SET HADR", "OLTP", {"HADR": "RESUME"}), session))
    assert not any(suspended(cluster))
    with pytest.raises(TsqlError) as caught:
        drive(cluster, cluster.nodes["sql1"].administer(Command("ALTER DATABASE SET HADR", "msdb", {"HADR": "SUSPEND"}), session))
    assert caught.value.number == 35242


def test_checkpoint_and_unknown_commands(cluster):
    """CHECKPOINT starts one in the engine; a command that the node does not know is None, never a silent success."""
    node, session = cluster.nodes["sql1"], Session(51, database="OLTP")
    cluster.plant.start_load(8)
    go(cluster, 20)
    drive(cluster, node.administer(Command("CHECKPOINT", ""), session))
    go(cluster, 5)
    assert cluster.plant.totals("sql1")["checkpoint_pages"] > 0
    assert node.administer(Command("CREATE CREDENTIAL", "x"), session) is None


def test_access_to_a_secondary(cluster):
    """A readable secondary reads and refuses writes (3906); one that allows no connections refuses both (976)."""
    node = cluster.nodes["sql2"]
    node.check_access("OLTP", SimpleNamespace(is_sysadmin=True), False)
    cluster.nodes["sql1"].check_access("OLTP", SimpleNamespace(is_sysadmin=True), True)
    with pytest.raises(TsqlError) as caught:
        node.check_access("OLTP", SimpleNamespace(is_sysadmin=True), True)
    assert caught.value.number == 3906
    cluster.group.rules.replicas["sql2"].secondary_connections = "NO"
    with pytest.raises(TsqlError) as caught:
        node.check_access("OLTP", SimpleNamespace(is_sysadmin=True), False)
    assert caught.value.number == 976


def test_load_procedures(cluster):
    """start, stop and run move the engine; a run ends by itself and keeps a load that ran before."""
    call(cluster, "start_workload", users=8)
    call(cluster, "advance", seconds=10)
    first = cluster.plant.totals("sql1")["transactions"]
    assert first > 0 and cluster.plant.users == 8
    call(cluster, "run_workload", seconds=10)
    assert cluster.plant.users == 8
    call(cluster, "stop_workload")
    call(cluster, "run_workload", seconds=5)
    assert cluster.plant.users == 0
    status = call(cluster, "status")
    assert status[1].rows[0][0] == 25.0 and "SIMULATED" in status[1].rows[0][-1]


def test_recording_is_the_time_series(cluster):
    """A recording has one row for each second and node, named by PerfMon paths, and agrees with the totals."""
    call(cluster, "run_workload", seconds=20, users=8)
    effects = call(cluster, "recording", seconds=20)
    names = [column.name for column in effects[0].columns]
    rows = [row for effect in effects[1:-1] for row in effect.rows]
    at = names.index("SQLServer:Databases(OLTP)\\Transactions/sec")
    mine = [row for row in rows if row[1] == "sql1"]
    assert len(mine) == 20 and names[:2] == ["time_s", "node"] and effects[-1].rowcount == len(rows) == 60
    assert sum(row[at] for row in mine) == pytest.approx(cluster.plant.totals("sql1")["transactions"], rel=1e-6)


def test_profiles_and_delays(cluster):
    """Another profile gives other machines and file sizes and restarts counters; a longer round trip slows commits."""
    call(cluster, "run_workload", seconds=10, users=8)
    quick = cluster.plant.totals("sql1")["transactions"]
    call(cluster, "delay", rtt_us=20000)
    call(cluster, "run_workload", seconds=10, users=8)
    assert cluster.plant.totals("sql1")["transactions"] - quick < quick / 2
    call(cluster, "set_profile", profile="hpe-dl380-gen9-ssd")
    node = cluster.nodes["sql1"]
    assert node.profile.cpu.cores == 36 or node.profile.cpu.cores > 4
    assert node.instance.database("OLTP").files[0].size == cluster.plant.data_pages() and node.totals()["transactions"] == 0


@pytest.mark.parametrize("value", ["far", -1, 2e6])
def test_bad_delay(cluster, value):
    """A round trip that is no number or absurd is refused."""
    with pytest.raises(TsqlError, match="rtt_us"):
        call(cluster, "delay", rtt_us=value)


def test_adapter_knows_its_names(cluster):
    """Every procedure has a summary; an unknown one is None."""
    names = cluster.adapter.names()
    assert {"run_workload", "advance", "restart_node", "snapshot", "restore", "enroll", "leave"} <= set(names)
    node = cluster.nodes["sql1"]
    assert all(node.adapter(name).summary for name in names) and node.adapter("nosuch") is None


def test_restore_refuses_uncommitted_work(cluster):
    """A session with uncommitted changes cannot pull the cluster from under itself."""
    session = SimpleNamespace(spid=51, is_sysadmin=True, transaction=SimpleNamespace(entries=[1]))
    with pytest.raises(TsqlError, match="uncommitted changes"):
        call(cluster, "restore", session=session, name="x")


def test_errorlog_cycles_and_is_searched(cluster):
    """A restart begins a new errorlog, keeps six old ones, and sp_readerrorlog's two texts must both occur."""
    node = cluster.nodes["sql1"]
    for number in range(1, 10):
        node.restart([f"-k{number}"])
    assert len(node.errorlog.logs) == 7
    current = node.view_rows("sp_readerrorlog", (0, 1, "startup parameters", "-k9"), None)
    assert len(current) == 1 and node.view_rows("sp_readerrorlog", (1, 1, "-k8"), None)
    for arguments in ((0, 2), (99, 1), (0, 1, "nothing like it")):
        assert node.view_rows("sp_readerrorlog", arguments, None) == []


def test_errorlog_is_bounded(cluster, monkeypatch):
    """An errorlog that is never cycled does not fill memory."""
    from aglab.twin import errorlog

    monkeypatch.setattr(errorlog, "LINES_MAX", 50)
    for number in range(500):
        cluster.nodes["sql1"].error_log(str(number))
    assert len(cluster.nodes["sql1"].errorlog.logs[0]) <= 51


def test_ports_are_checked():
    """A port base outside the ports of users is refused."""
    for port in (1, 1023, 65534, -1):
        with pytest.raises(UsageError, match="port_base"):
            checked_port_base(port)
    assert checked_port_base(0) == 0 and checked_port_base(14330) == 14330


class SlowWall:
    """A wall clock on a machine that takes a while for everything: each look finds 50 ms more."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 0.05
        return self.now


@pytest.mark.parametrize("columns", ["SYSDATETIME(), cntr_value", "cntr_value, SYSDATETIME()"])
def test_a_statement_reads_counters_and_time_of_one_moment(columns):
    """However long computing takes: rates would be wrong by that, times the pace, if the time were taken after the counters."""
    slow = Cluster(PROFILE, pace="60x", bare=True, wall=SlowWall())
    call(slow, "start_workload", users=8)
    node, session = slow.nodes["sql1"], Session(51)
    query = f"SELECT {columns} FROM sys.dm_os_performance_counters WHERE counter_name = N'Batch Requests/sec'"
    for _ in range(3):
        rows = [row for effect in Interpreter(node, session).run_batch(query) if isinstance(effect, Rows) for row in effect.rows]
        [at] = [value for value in rows[0] if isinstance(value, dt.datetime)]
        counted_s = slow.plant.start_us / 1e6 + slow.plant.flow.now_s
        assert 0.0 <= (at - EPOCH).total_seconds() - counted_s < slow.plant.scenario.settings.tick_s + 1e-3
        slow.clock.release()
