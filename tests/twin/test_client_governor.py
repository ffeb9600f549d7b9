"""Resource Governor as a client sees it: pools, groups, the classifier, what is stored and what is in use."""

import contextlib

import pytest
from twin_client import fails, run

WHOSE = """SELECT g.name FROM sys.dm_exec_sessions AS s JOIN sys.dm_resource_governor_workload_groups AS g
ON g.group_id = s.group_id WHERE s.session_id = {}"""
CLASSIFIER = """CREATE FUNCTION dbo.classifier() RETURNS sysname WITH SCHEMABINDING AS
BEGIN
    DECLARE @group sysname;
    IF SUSER_NAME() = N'DB01User' SET @group = N'gDB01QueryStream';
    IF SUSER_NAME() = N'lost' SET @group = N'no such group';
    RETURN @group;
END"""
PASSWORD = "Passwd-1234"


def set_up(own):
    """One pool on NUMA node 0 with one group, a login for it, the classifier in force."""
    for login in ("DB01User", "lost", "other"):
        own.sql(f"CREATE LOGIN {login} WITH PASSWORD = N'{PASSWORD}', CHECK_POLICY = OFF")
    own.sql("CREATE RESOURCE POOL pDB01Queries WITH (cap_cpu_percent = 40, AFFINITY NUMANODE = (0), max_iops_per_volume = 900)")
    own.sql("CREATE WORKLOAD GROUP gDB01QueryStream WITH (importance = High, MAX_DOP = 1) USING pDB01Queries")
    own.sql(CLASSIFIER)
    own.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = dbo.classifier)")
    own.sql("ALTER RESOURCE GOVERNOR RECONFIGURE")


def group_of(own, user):
    """The workload group of a new session."""
    with contextlib.closing(own.connect(user=user, password=PASSWORD)) as connection:
        return group_now(own, connection)


def group_now(own, connection):
    """The workload group of an open session, as an administrator sees it."""
    return own.value(WHOSE.format(run(connection, "SELECT @@SPID AS spid")[-1][0]["spid"]))


def test_sessions_are_classified_when_they_log_in(own):
    """The classifier's name decides; NULL, an unknown group, a disabled governor give default; open sessions stay."""
    set_up(own)
    assert group_of(own, "DB01User") == "gDB01QueryStream"
    assert group_of(own, "other") == "default"  # the function returns NULL
    assert group_of(own, "lost") == "default"  # a group that does not exist
    with contextlib.closing(own.connect(user="DB01User", password=PASSWORD)) as early:
        own.sql("ALTER RESOURCE GOVERNOR DISABLE")
        assert group_now(own, early) == "gDB01QueryStream"
        assert group_of(own, "DB01User") == "default"
    assert own.value("SELECT is_enabled FROM sys.resource_governor_configuration") is False


def test_a_failing_classifier_leaves_sessions_in_default(own):
    """A division by zero or a loop without end costs the login nothing but its group; the errorlog says so (10982)."""
    set_up(own)
    own.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = NULL); ALTER RESOURCE GOVERNOR RECONFIGURE")
    for body in (
        "DECLARE @n int = 0; SET @n = 1 / @n; RETURN N'gDB01QueryStream';",
        "DECLARE @n int; WHILE 1 = 1 SET @n = 1; RETURN N'x';",
    ):
        own.sql(f"ALTER FUNCTION dbo.classifier() RETURNS sysname WITH SCHEMABINDING AS BEGIN {body} END")
        own.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = dbo.classifier); ALTER RESOURCE GOVERNOR RECONFIGURE")
        assert group_of(own, "DB01User") == "default"
        own.sql("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = NULL); ALTER RESOURCE GOVERNOR RECONFIGURE")
    log = own.rows("EXEC sys.sp_readerrorlog 0, 1, N'Failed to run resource governor classifier'")
    assert {row["Text"].partition("Last error ")[2].partition(",")[0] for row in log} == {"8134", "59003"}


def test_stored_and_in_use(own):
    """Catalogue views show what is stored, DMVs what RECONFIGURE put in use; a pending change is flagged."""
    set_up(own)
    limits = (
        "SELECT cap_cpu_percent, max_iops_per_volume FROM sys.{}resource_governor_resource_pools WHERE name = N'pDB01Queries'"
    )
    pending = "SELECT is_reconfiguration_pending FROM sys.dm_resource_governor_configuration"
    own.sql("ALTER RESOURCE POOL pDB01Queries WITH (CAP_CPU_PERCENT = 20)")
    assert own.rows(limits.format("")) == [{"cap_cpu_percent": 20, "max_iops_per_volume": 900}]
    assert own.rows(limits.format("dm_")) == [{"cap_cpu_percent": 40, "max_iops_per_volume": 900}]
    assert own.value(pending) is True
    own.sql("ALTER RESOURCE GOVERNOR RECONFIGURE")
    assert own.rows(limits.format("dm_")) == [{"cap_cpu_percent": 20, "max_iops_per_volume": 900}]
    assert own.value(pending) is False
    group = own.rows(
        "SELECT importance, max_dop, effective_max_dop FROM sys.dm_resource_governor_workload_groups WHERE name LIKE N'gDB01%'"
    )
    assert group == [{"importance": "High", "max_dop": 1, "effective_max_dop": 1}]
    nodes = own.value("SELECT numa_node_count FROM sys.dm_os_sys_info")
    threads = own.value("SELECT cpu_count FROM sys.dm_os_sys_info")
    mask = own.value("SELECT scheduler_mask FROM sys.dm_resource_governor_resource_pool_affinity")
    assert bin(mask).count("1") == threads // nodes


def test_requests_are_counted_until_statistics_are_reset(own):
    """total_request_count grows with the batches of a group's sessions; RESET STATISTICS begins anew."""
    set_up(own)
    count = "SELECT total_request_count FROM sys.dm_resource_governor_workload_groups WHERE name = N'gDB01QueryStream'"
    with contextlib.closing(own.connect(user="DB01User", password=PASSWORD)) as connection:
        before = own.value(count)
        for _ in range(5):
            run(connection, "SELECT 1")
        assert own.value(count) == before + 5
    own.sql("ALTER RESOURCE GOVERNOR RESET STATISTICS")
    assert own.value(count) == 0


def test_configuration_outlives_a_restart(own):
    """What is stored comes in use with the instance when Resource Governor is on; a disabled one starts with its defaults."""
    set_up(own)
    names = "SELECT name FROM sys.dm_resource_governor_resource_pools ORDER BY pool_id"
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert [row["name"] for row in own.rows(names)] == ["internal", "default", "pDB01Queries"]
    assert group_of(own, "DB01User") == "gDB01QueryStream"
    own.sql("ALTER RESOURCE GOVERNOR DISABLE")
    own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    assert [row["name"] for row in own.rows(names)] == ["internal", "default"]
    assert own.value("SELECT COUNT(*) FROM sys.resource_governor_resource_pools") == 3


def test_sessions_hold_their_group(own):
    """A group cannot be dropped under its sessions (10904); when they have gone it can."""
    set_up(own)
    with contextlib.closing(own.connect(user="DB01User", password=PASSWORD)):
        own.sql("DROP WORKLOAD GROUP gDB01QueryStream")
        with contextlib.closing(own.connect()) as connection:
            assert "There are active sessions in workload groups" in fails(connection, "ALTER RESOURCE GOVERNOR RECONFIGURE")
        own.sql("EXEC twin.restart_node @node = 'sql1'", node="sql2")
    own.sql("DROP RESOURCE POOL pDB01Queries; ALTER RESOURCE GOVERNOR RECONFIGURE")
    assert own.value("SELECT COUNT(*) FROM sys.dm_resource_governor_workload_groups") == 2


REFUSED = [
    ("CREATE RESOURCE POOL pDB01Queries", "Cannot create resource pool 'pDB01Queries' because it already exists."),
    ("CREATE RESOURCE POOL #p", "The name of the resource pool '#p' cannot begin with # of ##."),
    ("CREATE RESOURCE POOL p WITH (MIN_CPU_PERCENT = 60, MAX_CPU_PERCENT = 50)", "'min_cpu_percent' with value of 60 is greater"),
    ("CREATE RESOURCE POOL p WITH (MAX_CPU_PERCENT = 0)", "it must be 1 to 100"),
    ("CREATE RESOURCE POOL p WITH (SPEED = 1)", "'SPEED' is not a recognized CREATE RESOURCE POOL option."),
    ("CREATE RESOURCE POOL p WITH (AFFINITY NUMANODE = (9))", "A NUMA node with id 9 does not exist on this system."),
    ("CREATE RESOURCE POOL p WITH (AFFINITY SCHEDULER = (0 TO 999))", "scheduler range that specifies scheduler 999"),
    ("CREATE RESOURCE POOL p WITH (AFFINITY SCHEDULER = (3 TO 2))", "The lower bound 3 must be less than the upper bound 2."),
    ("CREATE RESOURCE POOL p WITH (AFFINITY SCHEDULER = (1, 0 TO 2))", "specified more than one time"),
    ("ALTER RESOURCE POOL nosuch WITH (CAP_CPU_PERCENT = 1)", "the resource pool 'nosuch' does not exist."),
    ("ALTER RESOURCE POOL internal WITH (CAP_CPU_PERCENT = 1)", "Altering 'internal' resource pool is not allowed."),
    ("ALTER RESOURCE POOL pDB01Queries", "Incorrect syntax near"),
    ("DROP RESOURCE POOL [default]", "Dropping predefined resource pool is not allowed."),
    ("DROP RESOURCE POOL pDB01Queries", "because it contains workload group 'gDB01QueryStream'"),
    ("CREATE WORKLOAD GROUP g USING nosuch", "the resource pool 'nosuch' does not exist."),
    ("CREATE WORKLOAD GROUP g USING internal", "Users are not allowed to create the workload group 'g' in the 'internal'"),
    ("CREATE WORKLOAD GROUP g WITH (MAX_DOP = 65)", "it must be 0 to 64"),
    ("CREATE WORKLOAD GROUP g USING EXTERNAL e", "external resource pools"),
    ("ALTER WORKLOAD GROUP gDB01QueryStream", "Either a 'WITH' or 'USING' clause must be specified."),
    ("ALTER WORKLOAD GROUP internal WITH (MAX_DOP = 1)", "Altering 'internal' workload group is not allowed."),
    ("ALTER WORKLOAD GROUP [default] USING pDB01Queries", "cannot be moved out of 'default' resource pool."),
    ("DROP WORKLOAD GROUP [default]", "Dropping predefined workload group is not allowed."),
    ("DROP WORKLOAD GROUP nosuch", "Cannot drop the workload group 'nosuch'"),
    ("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = lab.f)", "The specified schema name 'lab' for classifier"),
    ("ALTER RESOURCE GOVERNOR WITH (CLASSIFIER_FUNCTION = dbo.plain)", "'dbo'.'plain' is not a valid resource governor"),
    ("DROP FUNCTION dbo.classifier", "Cannot drop user-defined function 'classifier'. It is being used"),
    (CLASSIFIER.replace("CREATE", "ALTER", 1), "Cannot alter user-defined function 'classifier'. It is being used"),
    ("BEGIN TRAN; ALTER RESOURCE GOVERNOR RECONFIGURE", "cannot be used inside a user transaction"),
]


def test_refusals(own):
    """Each wrong statement ends with the message that names what is wrong, and changes nothing."""
    set_up(own)
    own.sql("CREATE FUNCTION dbo.plain() RETURNS sysname AS BEGIN RETURN N'x' END")
    own.sql("CREATE RESOURCE POOL half WITH (MIN_CPU_PERCENT = 70)")
    before = own.rows("SELECT * FROM sys.resource_governor_resource_pools")
    sum_too_high = ("CREATE RESOURCE POOL p WITH (MIN_CPU_PERCENT = 40)", "on scheduler 0 to exceed 100 percent")
    for statement, words in [*REFUSED, sum_too_high]:
        with contextlib.closing(own.connect()) as connection:
            assert words in fails(connection, statement), statement
    assert own.rows("SELECT * FROM sys.resource_governor_resource_pools") == before


def test_sixty_four_pools(own):
    """Two are predefined; the sixty-fifth is refused (10909)."""
    own.sql(" ".join(f"CREATE RESOURCE POOL p{number};" for number in range(62)))
    with contextlib.closing(own.connect()) as connection:
        assert "cannot exceed current limit of 64" in fails(connection, "CREATE RESOURCE POOL one_more")


@pytest.mark.parametrize("statement", ["CREATE RESOURCE POOL p", "ALTER RESOURCE GOVERNOR RECONFIGURE"])
def test_configuration_is_for_those_who_may(statement):
    """A session that is no system administrator gets 10901."""
    from types import SimpleNamespace

    from aglab.tsql import Command, TsqlError
    from aglab.twin.governor_statements import COMMANDS

    command = Command(statement.rpartition(" ")[0], options={"TOKENS": []})
    with pytest.raises(TsqlError, match="10901"):
        COMMANDS[command.name](None, command, SimpleNamespace(trancount=0, is_sysadmin=False))
