"""Limits of Resource Governor and process affinity: what they do to the load, to sessions and to rebuilds."""

import contextlib
import threading
from types import SimpleNamespace

import pytest
from twin_client import run, until

from aglab.twin.governor import DEFAULT, Governor
from aglab.twin.governor_limits import effective_dop

PASSWORD = "Passwd-1234"
CLASSIFIER = """CREATE FUNCTION dbo.whose() RETURNS sysname WITH SCHEMABINDING AS
BEGIN RETURN CASE WHEN SUSER_NAME() = N'guest1' THEN N'narrow' ELSE N'loads' END END"""
COUNT = """SELECT cntr_value FROM sys.dm_os_performance_counters
WHERE counter_name = 'Transactions/sec' AND instance_name = 'OLTP'"""
RECONFIGURE = "ALTER RESOURCE GOVERNOR RECONFIGURE"


def transactions(link, seconds=4):
    """Transactions of the load in a while."""
    before = link.value(COUNT)
    link.sql(f"EXEC twin.run_workload @seconds = {seconds}")
    return link.value(COUNT) - before


@pytest.fixture
def governed(own):
    """The load in a group of its own, and a group for one login that runs one request at a time."""
    own.sql("CREATE RESOURCE POOL bounded; CREATE WORKLOAD GROUP loads USING bounded")
    own.sql("CREATE WORKLOAD GROUP narrow WITH (GROUP_MAX_REQUESTS = 1, MAX_DOP = 2)")
    own.sql(CLASSIFIER)
    own.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = dbo.whose)")
    own.sql(RECONFIGURE)
    own.sql(
        f"CREATE LOGIN guest1 WITH PASSWORD = N'{PASSWORD}', CHECK_POLICY = OFF; ALTER SERVER ROLE sysadmin ADD MEMBER guest1"
    )
    return own


@pytest.mark.parametrize(
    ("limit", "share"),
    [
        ("ALTER RESOURCE POOL bounded WITH (CAP_CPU_PERCENT = 25)", 0.25),
        ("ALTER RESOURCE POOL bounded WITH (AFFINITY SCHEDULER = (0 TO 31))", 0.5),
        ("ALTER RESOURCE POOL bounded WITH (CAP_CPU_PERCENT = 50, AFFINITY NUMANODE = (0))", 0.25),
        ("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY NUMANODE = 1", 0.5),
    ],
)
def test_processors_of_the_load(governed, limit, share):
    """A load that the processors bound does that share of its work, within a fifth of it."""
    free = transactions(governed)
    governed.sql(limit)
    governed.sql(RECONFIGURE)
    assert transactions(governed) == pytest.approx(free * share, rel=0.2)
    governed.sql("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO; ALTER RESOURCE GOVERNOR DISABLE")
    assert transactions(governed) == pytest.approx(free, rel=0.1)


def test_other_limits_of_the_load(governed):
    """Fewer requests at a time and fewer reads per second leave less; time and reads stand in the load's pool."""
    free = transactions(governed)
    governed.sql("ALTER WORKLOAD GROUP loads WITH (GROUP_MAX_REQUESTS = 2)")
    governed.sql(RECONFIGURE)
    few = transactions(governed)
    governed.sql("ALTER WORKLOAD GROUP loads WITH (GROUP_MAX_REQUESTS = 0)")
    governed.sql("ALTER RESOURCE POOL bounded WITH (MAX_IOPS_PER_VOLUME = 500)")
    governed.sql(RECONFIGURE)
    reads = "SELECT name, read_io_completed_total AS n FROM sys.dm_resource_governor_resource_pools"
    before = {row["name"]: row["n"] for row in governed.rows(reads)}
    slow = transactions(governed)
    after = {row["name"]: row["n"] for row in governed.rows(reads)}
    assert 0 < few < free / 4 and 0 < slow < free / 4
    assert 0 < after["bounded"] - before["bounded"] <= 500 * 4 * 1.5 and after["default"] == before["default"]
    spent = governed.rows("SELECT name, total_cpu_usage_ms AS ms FROM sys.dm_resource_governor_workload_groups")
    assert {row["name"]: row["ms"] > 0 for row in spent}["loads"]


def test_max_cpu_percent_counts_while_others_work(governed):
    """Alone the load may have all; while a session of another pool backs up it has MAX_CPU_PERCENT."""
    governed.sql("ALTER RESOURCE POOL bounded WITH (MAX_CPU_PERCENT = 20)")
    governed.sql(RECONFIGURE)
    free = transactions(governed)
    governed.sql(
        "CREATE RESOURCE POOL backups; CREATE WORKLOAD GROUP idle USING backups; ALTER WORKLOAD GROUP narrow USING backups"
    )
    governed.sql(RECONFIGURE)
    governed.sql("EXEC twin.start_workload")
    with contextlib.closing(governed.connect(user="guest1", password=PASSWORD)) as connection:
        before = run(connection, COUNT.replace("cntr_value", "cntr_value AS n, SYSDATETIME() AS t"))[-1][0]
        run(connection, "BACKUP DATABASE OLTP TO DISK = N'NUL'")
        after = run(connection, COUNT.replace("cntr_value", "cntr_value AS n, SYSDATETIME() AS t"))[-1][0]
    governed.sql("EXEC twin.stop_workload")
    seconds = (after["t"] - before["t"]).total_seconds()
    assert seconds > 1 and (after["n"] - before["n"]) / seconds < free / 4 / 2
    assert transactions(governed) == pytest.approx(free, rel=0.1)


def test_a_request_waits_for_its_group(governed):
    """GROUP_MAX_REQUESTS = 1: the second request waits with RESMGR_THROTTLED until the first has ended."""
    governed.sql("CREATE TABLE dbo.q (a int); INSERT dbo.q VALUES (1)", database="OLTP")
    done = []

    def ask(name):
        with contextlib.closing(governed.connect(database="OLTP", user="guest1", password=PASSWORD)) as connection:
            done.append((name, run(connection, "SELECT a FROM dbo.q")[-1][0]["a"]))

    holder = governed.connect(database="OLTP")
    run(holder, "BEGIN TRAN; UPDATE dbo.q SET a = 2")
    threads = [threading.Thread(target=ask, args=(name,)) for name in ("one", "two")]
    state = "SELECT active_request_count AS runs, queued_request_count AS waits, total_queued_request_count AS waited "
    state += "FROM sys.dm_resource_governor_workload_groups WHERE name = N'narrow'"
    try:
        for thread in threads:
            thread.start()
        until(lambda: governed.rows(state)[0]["waits"] == 1)
        row = governed.rows(state)[0]
        assert (row["runs"], row["waits"]) == (1, 1) and row["waited"] >= 1
        waits = "SELECT wait_type FROM sys.dm_os_waiting_tasks WHERE wait_type = N'RESMGR_THROTTLED'"
        assert len(governed.rows(waits)) == 1
    finally:
        run(holder, "COMMIT")
        holder.close()
        for thread in threads:
            thread.join(60)
    assert sorted(done) == [("one", 2), ("two", 2)]


@pytest.mark.parametrize(
    ("of_group", "of_server", "asked", "wanted"),
    [(2, 0, 8, 2), (2, 0, 1, 1), (2, 4, 0, 2), (0, 4, 0, 4), (0, 4, 8, 8), (0, 0, 0, 0)],
)
def test_max_dop_of_the_group_bounds_a_rebuild(of_group, of_server, asked, wanted):
    """MAXDOP counts within MAX_DOP of the group; without it the group's counts, then the server's; 0 is every processor."""
    governor = Governor()
    governor.active.groups["default"].settings["max_dop"] = of_group
    node = SimpleNamespace(governor=governor, instance=SimpleNamespace(configuration=lambda name: of_server))
    assert effective_dop(node, SimpleNamespace(group_id=DEFAULT), asked) == wanted


def test_fewer_processors_make_a_rebuild_longer(governed):
    """A rebuild of one login's group (MAX_DOP = 2) takes as long as MAXDOP = 2 asks for, and longer than one with all."""
    governed.sql(
        """CREATE TABLE dbo.r (a int NOT NULL CONSTRAINT pk_r PRIMARY KEY, t char(8000) NOT NULL DEFAULT '');
        INSERT dbo.r (a) SELECT value FROM GENERATE_SERIES(1, 1500)""",
        database="OLTP",
    )

    def seconds(user, more=""):
        with contextlib.closing(
            governed.connect(database="OLTP", user=user, password=PASSWORD if user != "sa" else None)
        ) as connection:
            text = f"""DECLARE @t datetime2 = SYSDATETIME();
            ALTER INDEX pk_r ON dbo.r REBUILD WITH (ONLINE = ON, RESUMABLE = ON{more});
            SELECT DATEDIFF(MICROSECOND, @t, SYSDATETIME()) AS us"""
            return run(connection, text)[-1][0]["us"]

    all_of_them, two, one = seconds("sa"), seconds("guest1"), seconds("sa", ", MAXDOP = 1")
    assert seconds("sa", ", MAXDOP = 2") == pytest.approx(two, rel=0.05)
    assert all_of_them < two < one


def test_process_affinity_is_shown_and_kept(own):
    """Schedulers go offline, a restart keeps it, a range outside the machine is an error."""
    own.sql("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 0 TO 3, 8")
    online = "SELECT COUNT(*) FROM sys.dm_os_schedulers WHERE status = N'VISIBLE ONLINE'"
    assert own.value(online) == 5
    assert own.rows("SELECT scheduler_count AS n, affinity_type_desc AS d FROM sys.dm_os_sys_info") == [{"n": 5, "d": "MANUAL"}]
    own.sql("EXEC twin.snapshot @name = 'bound'; ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO")
    assert own.value(online) == own.value("SELECT cpu_count FROM sys.dm_os_sys_info")
    own.sql("EXEC twin.restore @name = 'bound'")
    assert own.value(online) == 5
    with contextlib.closing(own.connect()) as connection:
        with pytest.raises(Exception, match="ascending range"):
            run(connection, "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 0 TO 4096")
        with pytest.raises(Exception, match="Incorrect syntax"):
            run(connection, "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = MANY")
